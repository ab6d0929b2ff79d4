package handlers

import (
	"net/http"
	"slices"
	"strings"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/records"
)

// newRoutes returns the route table. Each resource has a store and some rows. To add an
// operation, add a row, its function in resource.go, and its description in
// api/openapi.yaml.
func newRoutes(plantStore records.Store[plants.Plant]) []Route {
	return []Route{
		{http.MethodPost, "/plants", "plants/write", create(plantStore)},
		{http.MethodGet, "/plants", "plants/read", list(plantStore)},
		{http.MethodDelete, "/plants/{id}", "plants/write", remove(plantStore, "plant")},
	}
}

// A Route is an operation of the service. HEAD is served like GET; the HTTP
// server or package lambdahttp drops the body.
type Route struct {
	Method  string
	Pattern string // the path; {id} stands for one segment
	Scope   string // the scope that the operation requires, see [auth.Caller.Allows]
	serve   serveFunc
}

// Routes returns all routes of the service.
func Routes() []Route { return newRoutes(nil) }

// Scopes returns the scopes of all routes, sorted, each once.
func Scopes() []string {
	var scopes []string
	for _, rt := range Routes() {
		scopes = append(scopes, rt.Scope)
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// find returns the route for a method and a path, and the segment of the path
// that stands for {id}. It returns nil if no route matches. A literal path wins over
// {id}, whatever the order of the table: /plants/export over /plants/{id}.
//
// The path is decoded once and must match exactly: it is not cleaned, and nothing is
// redirected. ([http.ServeMux] redirects //plants, and accepts %2F within an id,
// which API Gateway decodes before the service sees it.)
func (s *Service) find(method, path string) (found *Route, id string) {
	for i := range s.routes {
		rt := &s.routes[i]
		segment, ok := rt.matchPath(path)
		switch {
		case !ok || !slices.Contains(rt.methods(), method):
		case segment == "":
			return rt, ""
		case found == nil:
			found, id = rt, segment
		}
	}
	return found, id
}

// allowed returns the methods of a path for the header Allow, or "" if the service
// doesn't have the path.
func (s *Service) allowed(path string) string {
	var methods []string
	for _, rt := range s.routes {
		if _, ok := rt.matchPath(path); ok {
			methods = append(methods, rt.methods()...)
		}
	}
	if methods == nil {
		return ""
	}
	methods = append(methods, http.MethodOptions)
	slices.Sort(methods)
	return strings.Join(slices.Compact(methods), ", ") // two routes may match
}

// methods returns the methods that rt serves.
func (rt *Route) methods() []string {
	if rt.Method == http.MethodGet {
		return []string{http.MethodGet, http.MethodHead}
	}
	return []string{rt.Method}
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
