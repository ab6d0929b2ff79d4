package issuer

import (
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// Access lists the hosts that an [Issuer] issues tokens for, by the Host header
// of the request.
//
// A web page can make its own host name resolve to this machine and then read
// responses from here (DNS rebinding), but its requests carry that name in the
// Host header. So tokens are issued only for localhost, its subdomains, loopback
// addresses, and what Access adds.
type Access struct {
	// Hosts are further host names or addresses, without ports.
	Hosts []string

	// Exposed adds all IP addresses, which can't be rebound, and the host name
	// of this machine.
	Exposed bool
}

// filter returns a function that reports whether a Host header is allowed.
func (a Access) filter() func(hostport string) bool {
	names := []string{"localhost"}
	for _, name := range a.Hosts {
		names = append(names, normalHost(name))
	}
	if name, err := os.Hostname(); a.Exposed && err == nil {
		names = append(names, normalHost(name))
	}
	return func(hostport string) bool {
		host := hostport
		if h, _, err := net.SplitHostPort(hostport); err == nil {
			host = h
		}
		host = normalHost(host)
		if addr, err := netip.ParseAddr(host); err == nil && (a.Exposed || addr.IsLoopback()) {
			return true
		}
		return host != "" && slices.Contains(names, host) || strings.HasSuffix(host, ".localhost")
	}
}

// normalHost returns host in lower case, without a trailing dot and without the
// brackets of an IPv6 address.
func normalHost(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	return host
}
