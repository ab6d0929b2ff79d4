package auth

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

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

// haveOneLike reports whether a name is one of the scopes or like one. A name is like
// them if it begins with their namespace and one of the separators / : . in whatever
// case, such as plants:admin or Plants.Read; or if it has the same words as one of them
// in any order, such as read:plants or READ_PLANTS. Other spellings aren't recognized,
// for example plants_admin, PlantsRead, urn:plants:read, or plants alone.
func (s serviceScopes) haveOneLike(name string) bool {
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
// and Microsoft Entra ID. The otherClaims grant none, since nobody can know what their
// names mean. But a name there that is like one of the scopes shows that the token is
// restricted: it doesn't count as one that names none. All other claims are ignored.
var (
	standardClaims = []string{"scope", "scp"}
	otherClaims    = []string{"permissions", "scopes", "roles"}
)

// namedScopes are the scopes of the service that a token names.
type namedScopes struct {
	any   bool     // the token has a name that is like one of the scopes
	exact []string // the scopes that the standardClaims name exactly
	first string   // for the log: the first of these names, and the claim that has it
}

// namedIn returns the scopes that the claims name. The standard claims must be strings
// or arrays of strings. Each string may have several names.
func (s serviceScopes) namedIn(claims members) (namedScopes, error) {
	var named namedScopes
	for _, claim := range standardClaims {
		if !claims.has(claim) {
			continue
		}
		texts, err := claims.texts(claim)
		if err != nil {
			return namedScopes{}, err
		}
		for _, text := range texts {
			named.note(claim, s.firstLike(text))
			for _, scope := range s.exactlyIn(text) {
				if !slices.Contains(named.exact, scope) {
					named.exact = append(named.exact, scope)
				}
			}
		}
	}
	for _, claim := range otherClaims {
		for _, text := range stringsIn(claims[claim]) {
			named.note(claim, s.firstLike(text))
		}
	}
	return named, nil
}

// note records that a claim has a name that is like one of the scopes. It does nothing
// if the name is "".
func (n *namedScopes) note(claim, name string) {
	if name != "" && !n.any {
		n.any, n.first = true, claim+" has "+logging.Quote(name)
	}
}

// firstLike returns the first name in a text that is like one of the scopes, or "" if
// there is none. Names are separated by spaces. If the text has odd separators, the
// parts between them are tried as well, and firstLike returns the whole text, so that
// the log shows the separators.
func (s serviceScopes) firstLike(text string) string {
	if strings.ContainsFunc(text, isOddSeparator) {
		parts := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || isOddSeparator(r) })
		names := strings.Split(text, " ") // of which plants+read is one
		if slices.ContainsFunc(parts, s.haveOneLike) || slices.ContainsFunc(names, s.haveOneLike) {
			return text
		}
		return ""
	}
	for name := range strings.SplitSeq(text, " ") {
		if s.haveOneLike(name) {
			return name
		}
	}
	return ""
}

// exactlyIn returns the scopes that a text names exactly. It returns none if the text
// has odd separators, since nobody can know what it grants.
func (s serviceScopes) exactlyIn(text string) (exact []string) {
	if strings.ContainsFunc(text, isOddSeparator) {
		return nil
	}
	names := strings.Split(text, " ")
	for _, scope := range s { // not the names, which would keep the whole text in memory
		if slices.Contains(names, scope) {
			exact = append(exact, scope)
		}
	}
	return exact
}

// isOddSeparator reports whether r is a separator, other than the space, that some
// issuers use. Others, such as & or a zero-width space, aren't recognized.
func isOddSeparator(r rune) bool {
	return r != ' ' && (unicode.IsSpace(r) || strings.ContainsRune(",;|+", r))
}

// publishedIn reports whether scopes_supported of an issuer's metadata, which should
// be an array of strings, names one of the scopes.
func (s serviceScopes) publishedIn(supported jsontext.Value) bool {
	for _, text := range stringsIn(supported) {
		if s.firstLike(text) != "" {
			return true
		}
	}
	return false
}

// newCaller returns the caller whose token these keys verified and names these scopes.
func (v *Verifier) newCaller(subject string, named namedScopes, keys *KeySet) Caller {
	switch {
	case named.any:
		return Caller{subject, named.exact, named.first}
	case v.requiresScopes(keys):
		return Caller{subject, nil, "it names no scope of this service"}
	default:
		v.warnUnscoped()
		return Caller{subject, v.scopes, ""}
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
