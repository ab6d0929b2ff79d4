package auth

import (
	"slices"
	"strings"
	"unicode"

	"example.com/plantstore/internal/logging"
)

// serviceScopes are the scopes of the service, such as plants/read.
type serviceScopes []string

// include reports whether a name is one of the scopes, or in their namespace, in any
// spelling: plants/read, plants:admin, Plants.Read or read:plants, but not plants.
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

// setScopes sets the scopes that a token names. Issuers put them into scope (RFC
// 9068 section 2.2.3), scp or both. Names in other claims or in another spelling
// restrict a token too, but nobody can know to what, so they grant nothing.
func (v *Verifier) setScopes(caller *Caller, c *members) {
	for _, claim := range []string{"scope", "scp", "permissions", "scopes", "roles"} {
		if !c.has(claim) {
			continue
		}
		m := members{raw: c.raw} // with its own error, which counts only in standard claims
		names := strings.Join(m.texts(claim), " ")
		standard := claim == "scope" || claim == "scp"
		c.check(m.err == nil || !standard, "%s is neither a string nor an array of strings", claim)
		for name := range strings.SplitSeq(names, " ") {
			if !v.scopes.include(name) {
				continue
			}
			if caller.limit == "" {
				caller.limit = claim + " has " + logging.Quote(name)
			}
			if standard && slices.Contains(v.scopes, name) {
				caller.scopes = append(caller.scopes, name)
			}
		}
	}
}

// requiresScopes reports whether a token that names no scope has none.
func (v *Verifier) requiresScopes(keys *KeySet) bool {
	required := v.config.RequireScopes
	return required != nil && *required || keys.scoped
}

// warnUnscoped logs once that tokens that name no scope are accepted, unless a
// setting says so.
func (v *Verifier) warnUnscoped() {
	if v.config.RequireScopes == nil {
		v.warned.Do(func() {
			v.log.Warn("tokens without scopes may do everything: require scopes, or accept such tokens explicitly", "scopes", v.scopes)
		})
	}
}
