package handlers

import (
	"net/http"
	"slices"
	"strings"
)

// A Route is an operation of the service. HEAD is served like GET; the HTTP
// server or package lambdahttp drops the body.
type Route struct {
	Method  string
	Pattern string // the path; {id} at its end stands for one segment
	Scope   string // the scope that the operation requires
	serve   func(*Service, *request) (response, error)
}

// routes are the operations of the service. The first that matches counts. To add one, add a row,
// its method in operations.go, and its description in api/openapi.yaml.
var routes = []Route{
	{http.MethodPost, "/plants", "plants/write", (*Service).create},
	{http.MethodGet, "/plants", "plants/read", (*Service).list},
	{http.MethodDelete, "/plants/{id}", "plants/write", (*Service).delete},
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

// find returns the route for a method and a path, and the segment of the path
// that stands for {id}. It returns nil if no route matches.
//
// The path is decoded once and must match exactly: it is not cleaned, and nothing is
// redirected. ([http.ServeMux] redirects //plants, and accepts %2F within an id,
// which API Gateway decodes before the service sees it.)
func find(method, path string) (rt *Route, id string) {
	for i := range routes {
		if segment, ok := routes[i].match(path); ok && slices.Contains(routes[i].methods(), method) {
			return &routes[i], segment
		}
	}
	return nil, ""
}

// allowed returns the methods of a path for the header Allow, or "" if the path is unknown.
func allowed(path string) string {
	var methods []string
	for _, rt := range routes {
		if _, ok := rt.match(path); ok {
			methods = append(methods, rt.methods()...)
		}
	}
	if methods == nil {
		return ""
	}
	methods = append(methods, http.MethodOptions)
	slices.Sort(methods)
	return strings.Join(slices.Compact(methods), ", ")
}

// methods returns the methods that rt serves.
func (rt *Route) methods() []string {
	if rt.Method == http.MethodGet {
		return []string{http.MethodGet, http.MethodHead}
	}
	return []string{rt.Method}
}

// match reports whether path matches the pattern of rt, and returns the segment that
// stands for {id}, if any.
func (rt *Route) match(path string) (id string, ok bool) {
	prefix, hasID := strings.CutSuffix(rt.Pattern, "{id}")
	if !hasID {
		return "", path == rt.Pattern
	}
	id, ok = strings.CutPrefix(path, prefix)
	return id, ok && id != "" && !strings.Contains(id, "/")
}
