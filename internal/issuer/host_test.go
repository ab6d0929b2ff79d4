package issuer

import (
	"net/http"
	"os"
	"testing"
)

func TestHosts(t *testing.T) {
	hostname, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	const always, named, exposed, never = 0, 1, 2, 3
	servers := map[int]*server{
		always:  newServer(t, Access{}),
		named:   newServer(t, Access{Hosts: []string{"Host.Docker.Internal", "192.168.1.5", "[fe80::5]"}}),
		exposed: newServer(t, Access{Exposed: true}),
	}
	for host, allowedBy := range map[string]int{
		"localhost":                 always,
		"LocalHost:8080":            always,
		"localhost.:8080":           always,
		"plants.localhost":          always,
		"a.b.localhost:80":          always,
		"127.0.0.1:8080":            always,
		"127.255.1.2:8080":          always,
		"[::1]:8080":                always,
		"[::ffff:127.0.0.1]:8080":   always,
		"host.docker.internal":      named,
		"HOST.docker.internal:8080": named,
		"192.168.1.5:8080":          named,
		"[FE80::5]:8080":            named,
		"192.168.1.6:8080":          exposed,
		"[2001:db8::1]:8080":        exposed,
		hostname + ":8080":          exposed,
		"attacker.test:8080":        never,
		"localhost.attacker.test":   never,
		"127.0.0.1.attacker.test":   never,
		"notlocalhost":              never,
		".localhost.attacker.test":  never,
		"localhost@attacker.test":   never,
		"2130706433":                never,
		"0x7f.1":                    never,
		"127.1":                     never,
		"x" + hostname:              never,
		"docker.internal":           never,
	} {
		for access, s := range servers {
			set := func(r *http.Request) { r.Host = host }
			if allowedBy == always || allowedBy == access && access != always ||
				access == exposed && (host == "192.168.1.5:8080" || host == "[FE80::5]:8080") {
				s.caller(t, s.token(t, good, set))
				continue
			}
			resp, answer := s.do(t, http.MethodPost, TokenPath, good, set)
			checkFailure(t, resp, answer, http.StatusForbidden, "access_denied")
			if resp, _ := s.do(t, http.MethodGet, KeysPath, "", set); resp.StatusCode != http.StatusOK {
				t.Errorf("Host %s: GET of the public keys: %s", host, resp.Status)
			}
		}
	}
}

func TestForwardedHostIsIgnored(t *testing.T) {
	s := newServer(t, Access{})
	resp, answer := s.do(t, http.MethodPost, TokenPath, good, func(r *http.Request) {
		r.Host = "attacker.test"
		r.Header.Set("X-Forwarded-Host", "localhost")
		r.Header.Set("Forwarded", "host=localhost")
		r.Header.Set("Origin", "http://localhost")
	})
	checkFailure(t, resp, answer, http.StatusForbidden, "access_denied")
}

// An address such as ":8080" has the host "".
func TestEmptyHost(t *testing.T) {
	if (Access{Hosts: []string{""}}).filter()("") {
		t.Error("a request without a Host header gets a token")
	}
}
