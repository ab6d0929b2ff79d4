//go:build deployment

package deployment

import (
	"math"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/plainserver"
)

// fromFile copies the plants of two owners from a file of the plain server to the table.
func fromFile(t *testing.T, a *account) {
	dir := t.TempDir()
	from := plainserver.Start(t, harness.Environ(), dir)
	create := func(owner string, id int64) {
		a.run(t, `curl -sSf -H 'Content-Type: application/json' -d '`+plantstest.CreateJSON(plantstest.Example(id))+`' \
			-H "Authorization: Bearer `+from.Token(t, url.Values{"client_id": {owner}})+`" `+from.Base+`/plants`)
	}
	create("carol", 9)
	create("Dörte", math.MaxInt64)
	from.Stop()
	keys := regexp.MustCompile(`go run \S+/bbolt@\S+ keys --format hex`).FindString(readFile(t, "docs/copy-plants.py"))
	a.runIn(t, dir, keys+" plants.db plants >keys")
	from = plainserver.Start(t, harness.Environ(), dir)
	table := a.output(t, "TableName")
	to := plainserver.Start(t, append(slices.Clone(a.env), "TABLE_NAME="+table), dir, "-store", "dynamodb")
	got := a.run(t, "python3 docs/copy-plants.py "+from.Base+" "+to.Base+" <"+filepath.Join(dir, "keys"))
	if want := "copied 2 of 2 plants"; got != want {
		t.Errorf("copy-plants.py prints %q, want %q", got, want)
	}
	if got := a.run(t, operations+`ids "$(output TableName)" carol; ids "$(output TableName)" Dörte`); !strings.HasSuffix(
		got, "\n9\n9223372036854775807") {
		t.Errorf("in the table, the two owners have the plants %q", got)
	}
	a.expectPlant(t)
}
