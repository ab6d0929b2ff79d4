package issuer

import (
	"strings"
	"testing"
)

// The Host header decides which hosts get a token.
func TestHosts(t *testing.T) {
	hidden, named, exposed := Access{}, Access{Host: "Host.Docker.Internal"}, Access{Exposed: true}
	for hosts, want := range map[string][3]bool{ // from hidden, named and exposed
		"localhost LocalHost:8080 127.0.0.1:8080 127.255.1.2:8080 " +
			"[::1]:8080 [::1] [::ffff:127.0.0.1]:80": {true, true, true},
		"host.docker.internal HOST.docker.internal:8080":                                     {false, true, true},
		"192.168.1.6:8080 [2001:db8::1]:8080":                                                {false, false, true},
		"plantstore:8080 Plants.localhost plants.local:8080 plants.garden.svc.cluster.local": {false, false, true},
		"attacker.test:8080 localhost.attacker.test 127.0.0.1.attacker.test .localhost.attacker.test x.local.attacker.test " +
			"xlocal.test x.notlocal x.cluster.attacker localhost@attacker.test 0x7f.1 127.1 :80": {},
	} {
		for host := range strings.FieldsSeq(hosts) {
			if got := [3]bool{hidden.allows(host), named.allows(host), exposed.allows(host)}; got != want {
				t.Errorf("host %q: %v, want %v", host, got, want)
			}
		}
	}
	if hidden.allows("") {
		t.Error("a request without a host is allowed")
	}
}
