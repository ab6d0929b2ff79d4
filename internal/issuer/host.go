package issuer

import (
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// Access says for which hosts an [Issuer] hands out tokens, by the Host header
// of the request.
//
// Any web page can let a name of its own point to this machine, and then its
// scripts may read what the issuer answers (DNS rebinding). The Host header
// gives it away: it carries that name. So tokens are handed out only for
// localhost and the names under it, for loopback addresses, and for what
// Access adds.
type Access struct {
	// Hosts are further names, without ports, in any case: those that this
	// machine is known by to those who may have tokens.
	Hosts []string

	// Exposed adds all IP addresses, which nobody can let point elsewhere, and
	// the machine's own host name.
	Exposed bool
}

// admits returns the function that tells which Host headers are admitted.
func (a Access) admits() func(hostport string) bool {
	names := []string{"localhost"}
	for _, name := range a.Hosts {
		names = append(names, normalHost(name))
	}
	if name, err := os.Hostname(); a.Exposed && err == nil {
		names = append(names, normalHost(name))
	}
	return func(hostport string) bool {
		host := normalHost(withoutPort(hostport))
		if host == "" {
			return false
		}
		if addr, err := netip.ParseAddr(host); err == nil {
			return a.Exposed || addr.IsLoopback() || slices.Contains(names, host)
		}
		return strings.HasSuffix(host, ".localhost") || slices.Contains(names, host)
	}
}

// normalHost removes what doesn't tell hosts apart: case, the dot of the DNS
// root, and the brackets around an IPv6 address.
func normalHost(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	return host
}

func withoutPort(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return hostport
}
