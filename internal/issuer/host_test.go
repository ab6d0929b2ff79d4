package issuer

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// The Host header alone decides who gets a token.
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
	for allowedBy, hosts := range map[int]string{
		always:  "localhost LocalHost:8080 localhost.:8080 a.b.localhost:80 127.0.0.1:8080 127.255.1.2:8080 [::1]:8080 [::ffff:127.0.0.1]:8080",
		named:   "host.docker.internal HOST.docker.internal:8080 192.168.1.5:8080 [FE80::5]:8080",
		exposed: "192.168.1.6:8080 [2001:db8::1]:8080 " + hostname + ":8080",
		never: "attacker.test:8080 localhost.attacker.test 127.0.0.1.attacker.test notlocalhost .localhost.attacker.test " +
			"localhost@attacker.test 2130706433 0x7f.1 127.1 docker.internal x" + hostname,
	} {
		for host := range strings.FieldsSeq(hosts) {
			for access, s := range servers {
				set := func(r *http.Request) {
					r.Host = host
					r.Header.Set("X-Forwarded-Host", "localhost")
					r.Header.Set("Forwarded", "host=localhost")
					r.Header.Set("Origin", "http://localhost")
				}
				if allowedBy == always || allowedBy == access ||
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
}

// An address such as ":8080" has the host "".
func TestEmptyHost(t *testing.T) {
	if (Access{Hosts: []string{""}}).filter()("") {
		t.Error("a request without a Host header gets a token")
	}
}
