package handlers

import (
	"net/http"
	"slices"
	"strings"
)

// routes is the route table. To add an operation, add a row beside those of the
// same path, its function in plants.go, and its description in api/openapi.yaml.
var routes = []Route{
	{http.MethodPost, "/plants", "plants/write", (*Service).create},
	{http.MethodGet, "/plants", "plants/read", (*Service).list},
	{http.MethodDelete, "/plants/{id}", "plants/write", (*Service).delete},
}

// A Route is an operation of the service. HEAD is served like GET; the HTTP
// server or the Lambda adapter drops the body.
type Route struct {
	Method  string
	Pattern string // the path; {id} stands for one segment
	Scope   string // the scope that the operation requires, see [auth.Caller.Allows]
	serve   func(*Service, *request) (response, error)
}

// Routes returns all routes of the service.
func Routes() []Route { return slices.Clone(routes) }

// Scopes returns the scopes of all routes, sorted, each once.
func Scopes() []string {
	var scopes []string
	for _, rt := range routes {
		scopes = append(scopes, rt.Scope)
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// match finds the route of r by its method and path. The path is decoded once
// and must match exactly: it is not cleaned, and nothing is redirected.
// ([http.ServeMux] redirects //plants, and accepts %2F within an id, which some
// fronts decode before the service sees it.)
//
// OPTIONS has no route: match returns the methods that the path allows (RFC 9110
// section 9.3.7).
func (r *request) match() (allow string, err error) {
	var allowed, patterns []string
	for i := range routes {
		rt := &routes[i]
		patterns = append(patterns, rt.Pattern)
		id, ok := rt.matchPath(r.URL.Path)
		if !ok {
			continue
		}
		methods := []string{rt.Method}
		if rt.Method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
		if slices.Contains(methods, r.Method) {
			r.route, r.id = rt, id
			return "", nil
		}
		allowed = append(allowed, methods...)
	}
	if allowed == nil {
		return "", failf(CodeUnknownPath, "no such path; the paths are %s", strings.Join(slices.Compact(patterns), " and "))
	}
	allowed = append(allowed, http.MethodOptions)
	slices.Sort(allowed)
	allow = strings.Join(allowed, ", ")
	if r.Method == http.MethodOptions {
		return allow, nil
	}
	return "", &failure{CodeMethod, "method not allowed; this path allows " + allow, http.Header{"Allow": {allow}}}
}

// matchPath reports whether path matches the pattern of rt, and returns the
// segment that stands for {id}, if any.
func (rt *Route) matchPath(path string) (id string, ok bool) {
	prefix, suffix, hasID := strings.Cut(rt.Pattern, "{id}")
	if !hasID {
		return "", path == rt.Pattern
	}
	path, okPrefix := strings.CutPrefix(path, prefix)
	id, okSuffix := strings.CutSuffix(path, suffix)
	return id, okPrefix && okSuffix && id != "" && !strings.Contains(id, "/")
}
