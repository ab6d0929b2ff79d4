package e2e

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Run runs the suite. Its parts are subtests that don't depend on one another.
func Run(t *testing.T, target Target) {
	c := newClient(target, "")
	parts := map[string]func(*testing.T, *client){"list-bounds": listBounds, "other-users": otherUsers}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || files == nil {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		s := readScript(t, strings.TrimSuffix(filepath.Base(file), ".txt"))
		parts[s.name] = s.run
	}
	t.Run("suite", func(t *testing.T) { // waits for its parallel subtests
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			t.Run(name, func(t *testing.T) {
				if reason := target.Exceptions[name]; reason != "" {
					t.Skip(reason)
				}
				if target.Subjects == nil {
					t.Parallel()
				}
				parts[name](t, c)
			})
		}
	})
}

// otherUsers checks that each operation on an element of alice's is 404 for bob,
// and changes nothing.
func otherUsers(t *testing.T, c *client) {
	v := newVars(t, c)
	alice, bob, id := v.user("alice"), v.user("bob"), randomID()
	for _, r := range resources() {
		mine := r.largest(id)
		r.postAll(t, alice, mine)
		for _, op := range r.Items {
			if _, err := bob.send(t, op.Request("id", fmt.Sprint(id)), 404); err != nil {
				t.Errorf("%s of another user's: the store must not find what belongs to another owner: %v", op, err)
			}
			r.expect(t, alice, mine)
		}
	}
}

// listBounds checks that a list ends at the limit that the document sets for its body,
// the same for each, and continues exactly where it ended. It lists the resource whose
// elements can be largest, since it takes the fewest of these.
func listBounds(t *testing.T, c *client) {
	alice, id := newVars(t, c).user("alice"), randomID()
	size := func(r resource) int { return len(r.largest(id).String()) }
	r := slices.MaxFunc(resources(), func(a, b resource) int { return size(a) - size(b) })
	limit := r.List.Responses[200].MaxBytes
	var all []element
	for n := range limit/size(r) + 10 {
		all = append(all, r.largest(id+int64(n)))
	}
	r.postAll(t, alice, all...)
	r.expect(t, alice, all...)
	a, err := alice.send(t, request{Method: "GET", Target: r.Path + "?include=id"}, 200)
	if n := len(a.body); err != nil || n > limit || n < limit-2*size(r) {
		t.Errorf("%s: a page of %d bytes, want just under the x-max-bytes of its response 200 in api/openapi.yaml, %d: %v", r, n, limit, err)
	}
}
