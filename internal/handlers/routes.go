package handlers

import (
	"net/http"
	"slices"
	"strings"

	"example.com/plantstore/internal/auth"
)

// routes is the whole service. To add an operation, add a row and its function
// in plants.go, and describe it in api/openapi.yaml.
var routes = []Route{
	{http.MethodPost, "/plants", auth.ScopeWrite, (*Service).create},
	{http.MethodGet, "/plants", auth.ScopeRead, (*Service).list},
	{http.MethodDelete, "/plants/{id}", auth.ScopeWrite, (*Service).delete},
}

// A Route is an operation of the service. HEAD is served as GET; net/http or
// the Lambda adapter drops the body.
type Route struct {
	Method  string
	Pattern string // {id} stands for one segment of the path
	Scope   string // required of tokens that name scopes, see package auth
	serve   func(*Service, *request) (response, error)
}

// Routes returns all routes of the service.
func Routes() []Route { return slices.Clone(routes) }

// String returns the name of rt in the log.
func (rt *Route) String() string {
	if rt == nil {
		return "none"
	}
	return rt.Method + " " + rt.Pattern
}

// match finds the route of r by its method and its path, decoded once. Paths
// are never cleaned nor redirected: what no pattern matches to the letter is
// unknown. (http.ServeMux would answer //plants with a redirect, and take
// %2F within an id, which some fronts decode before we see it.)
func (r *request) match() error {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var allowed []string
	for i := range routes {
		rt := &routes[i]
		id, ok := rt.matchPath(r.URL.Path)
		switch {
		case !ok:
		case rt.Method == method:
			r.route, r.id = rt, id
			return nil
		case rt.Method == http.MethodGet:
			allowed = append(allowed, http.MethodGet, http.MethodHead)
		default:
			allowed = append(allowed, rt.Method)
		}
	}
	if allowed == nil {
		return failf(CodeUnknownPath, "no such path; the paths are /plants and /plants/{id}")
	}
	slices.Sort(allowed)
	return methodError(strings.Join(allowed, ", "))
}

// matchPath reports whether path is one of rt's, and the segment that stands
// for {id}, if rt has one.
func (rt *Route) matchPath(path string) (id string, ok bool) {
	prefix, hasID := strings.CutSuffix(rt.Pattern, "{id}")
	if !hasID {
		return "", path == rt.Pattern
	}
	id, ok = strings.CutPrefix(path, prefix)
	return id, ok && id != "" && !strings.Contains(id, "/")
}
