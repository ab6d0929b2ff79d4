package auth

import (
	"encoding/json/jsontext"
	"slices"
	"strings"
	"unicode"

	"example.com/plantstore/internal/logging"
)

// A ScopePolicy says what a token may do that names no scope of the service.
type ScopePolicy int

// The zero ScopePolicy depends on the issuer: if its metadata names scopes of the
// service, a client could have asked for some, and may gain no rights by asking for
// none.
const (
	ScopesAsPublished ScopePolicy = iota // nothing if the issuer's metadata names such scopes; else everything, with a warning
	ScopesRequired                       // nothing
	ScopesOptional                       // everything
)

// serviceScopes are the scopes of the service, such as plants/read.
type serviceScopes []string

// include reports whether a name is like one of the scopes: it begins with their
// namespace and one of the separators / : . in whatever case, such as plants:admin or
// Plants.Read; or it has the same words in any order, such as read:plants or
// READ_PLANTS. Other spellings aren't recognized, for example plants_admin, PlantsRead,
// urn:plants:read, or plants alone.
func (s serviceScopes) include(name string) bool {
	return slices.ContainsFunc(s, func(scope string) bool {
		return strings.EqualFold(namespace(name), namespace(scope)) || slices.Equal(words(name), words(scope))
	})
}

// namespace returns what comes before the first separator, or "" without one.
func namespace(name string) string {
	return name[:max(0, strings.IndexAny(name, "/:."))]
}

// words returns the words of a name in lower case, sorted.
func words(name string) []string {
	list := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	slices.Sort(list)
	return list
}

// standardClaims grant scopes: scope is that of RFC 9068 section 2.2.3, scp that of Okta
// and Microsoft Entra ID. A name in otherClaims only restricts a token, since nobody can
// know to what. No other claim does.
var (
	standardClaims = []string{"scope", "scp"}
	otherClaims    = []string{"permissions", "scopes", "roles"}
)

// A restriction is what a token says about the scopes of the service.
type restriction struct {
	restricted bool     // it has a name that include recognizes
	scopes     []string // that it names exactly
	reason     string   // for the log: the first claim and name that restrict it
}

// restriction returns what the claims say. The standard ones must be strings or
// arrays of strings.
func (s serviceScopes) restriction(claims members) (restriction, error) {
	var r restriction
	for _, claim := range standardClaims {
		if !claims.has(claim) {
			continue
		}
		lists, err := claims.texts(claim)
		if err != nil {
			return restriction{}, err
		}
		for _, list := range lists {
			r.note(claim, s.firstIn(list))
			for _, scope := range s.grantedBy(list) {
				if !slices.Contains(r.scopes, scope) {
					r.scopes = append(r.scopes, scope)
				}
			}
		}
	}
	for _, claim := range otherClaims {
		for list := range stringsIn(claims[claim]) {
			r.note(claim, s.firstIn(list))
		}
	}
	return r, nil
}

// note records that a claim has a name that restricts the token, unless it is "".
func (r *restriction) note(claim, name string) {
	if name != "" && !r.restricted {
		r.restricted, r.reason = true, claim+" has "+logging.Quote(name)
	}
}

// firstIn returns the first name in a list that is like one of the scopes, or "". Names
// are separated by spaces. In a list with other separators each part counts, and firstIn
// returns the whole list, to show them.
func (s serviceScopes) firstIn(list string) string {
	if strings.ContainsFunc(list, isOddSeparator) {
		parts := strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || isOddSeparator(r) })
		names := strings.Split(list, " ") // of which plants+read is one
		if slices.ContainsFunc(parts, s.include) || slices.ContainsFunc(names, s.include) {
			return list
		}
		return ""
	}
	for name := range strings.SplitSeq(list, " ") {
		if s.include(name) {
			return name
		}
	}
	return ""
}

// grantedBy returns the scopes that a list names exactly. With other separators than
// spaces nobody can know what it grants, so that is nothing.
func (s serviceScopes) grantedBy(list string) (granted []string) {
	if strings.ContainsFunc(list, isOddSeparator) {
		return nil
	}
	names := strings.Split(list, " ")
	for _, scope := range s { // not the names, which would keep the whole list in memory
		if slices.Contains(names, scope) {
			granted = append(granted, scope)
		}
	}
	return granted
}

// isOddSeparator reports whether r separates the scopes of some issuers. Others, such as
// & or a zero-width space, aren't recognized.
func isOddSeparator(r rune) bool {
	return r != ' ' && (unicode.IsSpace(r) || strings.ContainsRune(",;|+", r))
}

// publishedIn reports whether scopes_supported of an issuer's metadata, which should
// be an array of strings, names one of the scopes.
func (s serviceScopes) publishedIn(supported jsontext.Value) bool {
	for list := range stringsIn(supported) {
		if s.firstIn(list) != "" {
			return true
		}
	}
	return false
}

// grant gives the caller of a verified token its scopes.
func (v *Verifier) grant(caller *Caller, r restriction, keys *KeySet) {
	switch {
	case r.restricted:
		caller.scopes, caller.limit = r.scopes, r.reason
	case v.requiresScopes(keys):
		caller.limit = "it names no scope of this service"
	default:
		v.warnUnscoped()
		caller.scopes = v.scopes
	}
}

// requiresScopes reports whether a token that names no scope may do nothing.
func (v *Verifier) requiresScopes(keys *KeySet) bool {
	switch v.config.ScopePolicy {
	case ScopesRequired:
		return true
	case ScopesOptional:
		return false
	default:
		return keys.scopesPublished
	}
}

// warnUnscoped logs once that tokens that name no scope may do everything, unless
// the policy says so.
func (v *Verifier) warnUnscoped() {
	if v.config.ScopePolicy == ScopesAsPublished {
		v.warned.Do(func() {
			v.log.Warn("tokens without scopes may do everything: set REQUIRE_SCOPES to true or false (in a deployment, the parameter RequireScopes)", "scopes", v.scopes)
		})
	}
}
