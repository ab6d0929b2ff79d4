package issuer

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// The Host header decides which hosts get a token.
func TestHosts(t *testing.T) {
	hostname, _ := os.Hostname()
	const always, named, exposed, never = 0, 1, 2, 3
	access := map[int]Access{
		always:  {}, // also for an address such as :8080
		named:   {Host: "Host.Docker.Internal"},
		exposed: {Exposed: true},
	}
	for by, hosts := range map[int]string{
		always:  "localhost LocalHost:8080 a.b.localhost:80 127.0.0.1:8080 127.255.1.2:8080 [::1]:8080 [::ffff:127.0.0.1]:8080",
		named:   "host.docker.internal HOST.docker.internal:8080",
		exposed: "192.168.1.6:8080 [2001:db8::1]:8080 " + hostname + ":8080",
		never: "attacker.test:8080 localhost.attacker.test 127.0.0.1.attacker.test notlocalhost .localhost.attacker.test " +
			"localhost@attacker.test 2130706433 0x7f.1 127.1 docker.internal x" + hostname,
	} {
		for _, host := range append(strings.Fields(hosts), "") {
			for name, a := range access {
				want := host != "" && (by == always || by == name)
				if got := a.allowsHost(host); got != want {
					t.Errorf("%+v: host %q: %v, want %v", a, host, got, want)
				}
			}
		}
	}
}

// A page of another origin gets no token, unless its origin is listed.
func TestOrigins(t *testing.T) {
	const own, listed, other = "http://localhost:8080", "http://localhost:3000", "http://localhost:3001"
	for _, test := range []struct {
		origins, origin, site string
		want                  bool
	}{
		{"", "", "", true}, // curl
		{"", own, "", true},
		{"", own, "same-origin", true},
		{"", other, "", false},
		{"", other, "same-site", false},
		{"", "null", "cross-site", false},
		{"HTTP://LocalHost:3000", listed, "same-site", true},
		{listed, listed, "", true},
		{listed, other, "same-site", false},
		{"*", "https://page.test", "cross-site", true},
	} {
		r := httptest.NewRequest("POST", own+TokenPath, nil)
		r.Header.Set("Origin", test.origin)
		r.Header.Set("Sec-Fetch-Site", test.site)
		if err := (Access{Origins: strings.Fields(test.origins)}).check(r); (err == nil) != test.want {
			t.Errorf("%+v: got %v", test, err)
		}
	}
}
