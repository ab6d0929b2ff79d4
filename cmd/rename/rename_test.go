package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var orchid = choice{"github.com/you/orchids", "orchid", "orchids", "Orchid House", ""}

// small is a project: a path and a text, and what they become, unless they stay. "" goes.
var small = [][]string{
	{"go.mod", "module example.com/plantstore\n\ngo 1.26\n", "go.mod", "module github.com/you/orchids\n\ngo 1.26\n"},
	{"Makefile", "a:\n# test:drop\nb:\n# drop:end\n", "Makefile", "a:\nb:\n"},
	{"größe-plants.md", "A plant.\r\n<!--rename:drop-->\r\nCopy.\r\n<!--drop:end-->\r\nA\r\nplant's pot, extra plants.\r\n",
		"größe-orchids.md", "An orchid.\r\nAn\r\norchid's pot, extra orchids.\r\n"},
	{"plants/plants.go", "package plants\r\n\r\nimport (\r\n\t\"sort\"\r\n\r\n\t\"example.com/plantstore/a\"\r\n)\r\n\r\n" +
		"// A\r\n// plant has\r\nvar (\r\n\tplant = a.B\r\n\tx     = sort.Ints\r\n)\r\n",
		"orchids/orchids.go", "package orchids\r\n\r\nimport (\r\n\t\"sort\"\r\n\r\n\t\"github.com/you/orchids/a\"\r\n)\r\n\r\n" +
			"// An\r\n// orchid has\r\nvar (\r\n\torchid = a.B\r\n\tx      = sort.Ints\r\n)\r\n"},
	{"text", "PLANTS_1 Plants plantstore Plant Store", "text", "ORCHIDS_1 Orchids orchidhouse Orchid House"},
	{"run plants", "echo a plant\n", "run orchids", "echo an orchid\n"}, {"keep.db", "plant", "keep.db", "orchid"},
	{"test/plant", "createPlant", "test/orchid", "createOrchid"}, {"plant.bin", "plant\x00", "orchid.bin", "plant\x00"},
	{"cmd/rename/main.go", "package main\n", "", ""}, {"docs/page-dark.png", "", "", ""},
	{"a/a.go", "package a\n\nvar B = 1\n"}, {"LICENSE", "plant"}, {"go.sum", "plant"}, {".git/plants", "plant"},
	{"other/.git", "plant"}, {"other/plants", "plant"}, {"bin/plants", "plant"}, {".data/plants", "plant"},
	{"plants.db", "plant"}, {"a/node_modules/plants", "plant"}, {"own part/plants", "plant"},
	{"go.work", "go 1.26\n\nuse ./missing\n"}, {"a/a.db", "plant", "a/a.db", "orchid"},
}

// project makes a folder with the small project, and with more files.
func project(t *testing.T, more [][]string) (dir string) {
	t.Helper()
	ignore, err := os.ReadFile("../../.gitignore")
	files := tree{".gitignore": {0o644, append(ignore, "own part/\r\n/*.db \n!keep.db\n"...)}}
	for _, f := range append(small[:len(small):len(small)], more...) {
		files[f[0]] = file{0o644, []byte(f[1])}
	}
	dir = t.TempDir()
	if err := errors.Join(err, put(dir, files)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// check compares the files of a folder with the small project before or after its renaming.
func check(t *testing.T, dir string, renamed bool) {
	t.Helper()
	for _, f := range small {
		gone, want := f[len(f)-2:], f[:2]
		if renamed {
			gone, want = want, gone
		}
		if text, err := os.ReadFile(filepath.Join(dir, want[0])); want[0] != "" && (err != nil || string(text) != want[1]) {
			t.Errorf("%s is %q, %v; want %q", want[0], text, err, want[1])
		}
		if _, err := os.Lstat(filepath.Join(dir, gone[0])); gone[0] != want[0] && gone[0] != "" && err == nil {
			t.Errorf("%s is there", gone[0])
		}
	}
}

// Everything is renamed once. Modes and line ends stay.
func TestRename(t *testing.T) {
	dir, c := project(t, nil), orchid
	os.Chmod(filepath.Join(dir, "run plants"), 0o777)
	before, err := os.Stat(filepath.Join(dir, "run plants"))
	if err := errors.Join(err, rename(dir, &c, nil)); err != nil {
		t.Fatal(err)
	}
	check(t, dir, true)
	if after, err := os.Stat(filepath.Join(dir, "run orchids")); err != nil || after.Mode() != before.Mode() {
		t.Errorf("the mode changes from %v (%v)", before.Mode(), err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "plants")); err == nil {
		t.Error("an empty folder stays")
	}
	dir, c.without = project(t, nil), "test"
	err = rename(dir, &c, nil)
	makefile, _ := os.ReadFile(filepath.Join(dir, "Makefile"))
	if _, test := os.Lstat(filepath.Join(dir, "test")); err != nil || test == nil || string(makefile) != "a:\n" {
		t.Errorf("without test: %v; the folder test: %v; the Makefile: %q", err, test, makefile)
	}
}

// After a failure everything is as before, and the message names the cause.
func TestFailures(t *testing.T) {
	for want, more := range map[string][][]string{
		"b.go:3":                              {{"a/b.go", "package a\n\nvar plant, orchid = 1, 2\n"}},
		"orchid.txt exists already":           {{"orchid.txt/.git", ""}, {"plant.txt", ""}},
		"not a directory":                     {{".gitignore", "orchids\n"}, {"orchids", "where a folder must be"}},
		"orchids":                             {{"orchids", "where a folder must be"}},
		"ORCHID.txt and plant.txt would both": {{"ORCHID.txt", ""}, {"plant.txt", ""}},
		"b.md, at its end: rename:drop":       {{"b.md", "rename:drop\n"}},
		`b.md, at "# drop:end"`:               {{"b.md", "a\n# drop:end\n"}},
		`b.md, at "test:drop"`:                {{"b.md", "rename:drop\ntest:drop\ndrop:end\ndrop:end\n"}},
	} {
		dir, c := project(t, more), orchid
		if err := rename(dir, &c, nil); err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, errHalf) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
		check(t, dir, false)
	}
}

// If one file can't go back, all others do.
func TestGoingBackFails(t *testing.T) {
	dir := project(t, [][]string{{"my plant", ""}})
	before, err := read(dir)
	after, err2 := orchid.apply(before)
	mine := filepath.Join(dir, "my plant")
	if err := errors.Join(err, err2, os.Remove(mine), os.MkdirAll(filepath.Join(mine, "folder"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := write(dir, before, after); !errors.Is(err, errHalf) || !strings.Contains(err.Error(), "my plant") {
		t.Errorf("the error is %v, want one that says that going back failed, and for which file", err)
	}
	check(t, dir, false)
}

func TestCheck(t *testing.T) {
	files := tree{"a.go": {0, []byte("package a\n\nimport \"sort\"\n")}}
	named := func(name, plural string) choice { return choice{"m", name, plural, "", ""} }
	titled := func(title string) choice { return choice{"m", "orchid", "orchids", title, ""} }
	for want, choices := range map[string][]choice{
		"":                            {{"a.org/~b/v2", "houseplant", "houseplants", "Plant Care", "test"}, titled("St. John-Smith 2")},
		"your own words":              {{}, named("orchid", "")},
		"2 to 40 letters from a to z": {named("Orchid", "orchids"), named("orchid", strings.Repeat("o", 41))},
		"a word of Go, YAML":          {named("func", "funcs"), named("string", "strings"), named("thing", "class")},
		"a package":                   {named("sort", "sorts")},
		"must differ":                 {named("fish", "fish")},
		"3 letters":                   {named("ox", "os")},
		"a path such as":              {{"github.com//you", "orchid", "orchids", "", ""}},
		"letters from A to Z and":     {titled("Дерево"), titled("Trees: all"), titled("No #1"), titled("Bob's")},
		"must be 2 to 32":             {titled("A"), titled("Null"), titled(strings.Repeat("Orchid", 6))},
		"only test":                   {{"m", "orchid", "orchids", "", "tests"}},
	} {
		for _, c := range choices {
			if err := c.check(files); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("for %q the error is %v, want %q", c, err, want)
			}
		}
	}
	if _, err := orchid.apply(tree{"go.mod": {0, []byte("module example.com/other\n")}}); err == nil {
		t.Error("another module is renamed")
	}
	if err := rename(project(t, nil), &orchid, []string{"House"}); err == nil {
		t.Error("part of a title is ignored")
	}
}

func TestArticle(t *testing.T) {
	for _, phrase := range strings.Split("an apple,an elm,an hour,an item,an orchid,an otter,an urchin,an usher,an utensil,"+
		"a euro,a ewe,a house,a one,a plant,a ukulele,a unit,a uranium,a user,a utility", ",") {
		if article, noun, _ := strings.Cut(phrase, " "); takesAn.MatchString(noun) != (article == "an") {
			t.Errorf("want %s", phrase)
		}
	}
}

// Copies of the project have no trace of the original, nor of what they lack.
func TestProject(t *testing.T) {
	before, err := read("../..")
	for without, traces := range map[string]string{
		"":     `(?i)plant|\ba orchid|service to copy|commission|:drop|drop:|cmd/rename`,
		"test": `[^/.\w-]test/|acceptance|make (api-compat|bench|contract|deployment|docker|issuers|snapshot)\b`,
	} {
		c := orchid
		c.without = without
		after, err2 := c.apply(before)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		trace := regexp.MustCompile(traces)
		for name, f := range after {
			if found := trace.FindString(name + "\n" + string(f.text)); found != "" && isText(name, f.text) {
				t.Errorf("without %q, %s still has %q", without, name, found)
			}
		}
	}
}
