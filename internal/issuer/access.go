package issuer

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
)

// Access says which web pages and hosts the token path is open to. Requests that
// no page sends need only an allowed host.
//
// A web page can make its own host name resolve to this machine and then read
// responses from here (DNS rebinding), but its requests carry that name in the
// Host header. So tokens are issued only for localhost, its subdomains, loopback
// addresses, and what Access adds.
type Access struct {
	Host    string   // a further host name or address, without port, or ""
	Exposed bool     // adds all IP addresses, which can't be rebound, and the host name of this machine
	Origins []string // other origins whose pages may request tokens, such as http://localhost:3000, or * for all
}

// checker returns a function that checks requests. It returns an error for the client of
// a request that gets no token.
func (a Access) checker() func(*http.Request) error {
	pages := http.NewCrossOriginProtection()
	for _, origin := range a.Origins {
		// An invalid origin matches no request, and stays untrusted.
		_ = pages.AddTrustedOrigin(strings.ToLower(origin))
	}
	anyOrigin := slices.Contains(a.Origins, "*")
	return func(r *http.Request) error {
		if !a.allowsHost(r.Host) {
			return errors.New("no token for this Host header, which a malicious web page could have caused; " +
				"use localhost, a loopback address or, with -expose-issuer, another IP address of this machine")
		}
		if !anyOrigin && pages.Check(r) != nil {
			return errors.New("no token for a page of another origin; add the origin to CORS_ORIGINS if the page is yours")
		}
		return nil
	}
}

// allowsHost reports whether the host of a Host header is allowed.
func (a Access) allowsHost(hostport string) bool {
	host := strings.ToLower((&url.URL{Host: hostport}).Hostname())
	if host == "" { // a.Host may be "" too
		return false
	}
	if addr, err := netip.ParseAddr(host); err == nil && (a.Exposed || addr.IsLoopback()) {
		return true
	}
	names := []string{"localhost", strings.ToLower(a.Host)}
	if name, err := os.Hostname(); a.Exposed && err == nil {
		names = append(names, strings.ToLower(name))
	}
	return slices.Contains(names, host) || strings.HasSuffix(host, ".localhost")
}
