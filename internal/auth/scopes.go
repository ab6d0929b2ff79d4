package auth

import (
	"slices"
	"strings"

	"example.com/plantstore/internal/logging"
)

// scopeClaims name the scopes of a token: scope is that of RFC 9068 section 2.2.3, scp
// that of Okta and Microsoft Entra ID. Each is a string or an array of strings, and each
// string has names separated by spaces.
var scopeClaims = []string{"scope", "scp"}

// newCaller returns the caller with this subject, who has the scopes of the service that
// the claims name exactly. If they name none, [Config.ScopesOptional] decides.
func (v *Verifier) newCaller(subject string, claims members) (Caller, error) {
	var texts []string
	for _, claim := range scopeClaims {
		if !claims.has(claim) {
			continue
		}
		found, err := claims.texts(claim)
		if err != nil {
			return Caller{}, err
		}
		texts = append(texts, found...)
	}
	caller, all := Caller{Subject: subject}, strings.Join(texts, " ")
	names := strings.Split(all, " ")
	for _, scope := range v.scopes { // not the names, which would keep the whole text in memory
		if slices.Contains(names, scope) {
			caller.scopes = append(caller.scopes, scope)
		}
	}
	switch {
	case len(caller.scopes) > 0:
		caller.whyRestricted = "it names " + logging.Quote(all)
	case v.config.ScopesOptional:
		caller.scopes = v.scopes
	default:
		caller.whyRestricted = "it names " + logging.Quote(all) + ", no scope of this service: configure the issuer to include it in scope or scp, or, " +
			"to let such tokens do everything, set REQUIRE_SCOPES=false (in a deployment, RequireScopes=false)"
	}
	return caller, nil
}
