package handlers

import (
	"net/http"
	"slices"
	"strings"

	"example.com/plantstore/internal/auth"
)

// routes is the whole service. An {id} stands for one segment of the path.
var routes = []route{
	{http.MethodPost, "/plants", auth.ScopeWrite, (*Service).create},
	{http.MethodGet, "/plants", auth.ScopeRead, (*Service).list},
	{http.MethodDelete, "/plants/{id}", auth.ScopeWrite, (*Service).delete},
}

// A route is an operation of the service. A HEAD is served as a GET; the front
// leaves out the body.
type route struct {
	method, pattern string
	scope           string // that the caller's token must allow
	serve           func(*Service, *request) (response, error)
}

// String names rt in the log.
func (rt *route) String() string {
	if rt == nil {
		return "none"
	}
	return rt.method + " " + rt.pattern
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
		case rt.method == method:
			r.route, r.id = rt, id
			return nil
		case rt.method == http.MethodGet:
			allowed = append(allowed, http.MethodGet, http.MethodHead)
		default:
			allowed = append(allowed, rt.method)
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
func (rt *route) matchPath(path string) (id string, ok bool) {
	prefix, hasID := strings.CutSuffix(rt.pattern, "{id}")
	if !hasID {
		return "", path == rt.pattern
	}
	id, ok = strings.CutPrefix(path, prefix)
	return id, ok && id != "" && !strings.Contains(id, "/")
}
