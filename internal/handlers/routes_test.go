package handlers

import "testing"

// The acceptance suite has the paths of the service: test/e2e/testdata/routes.txt.
func TestMatchPath(t *testing.T) {
	rt := &Route{Pattern: "/plants/{id}/photos"}
	for path, want := range map[string]string{
		"/plants/7/photos": "7", "/plants/7": "", "/plants//photos": "", "/plants/7/8/photos": "", "/plants/photos": "", "/plants/7/photos/": "",
	} {
		if id, ok := rt.matchPath(path); ok != (want != "") || ok && id != want {
			t.Errorf("%s matches %s: %t, id %q, want %q", rt.Pattern, path, ok, id, want)
		}
	}
}
