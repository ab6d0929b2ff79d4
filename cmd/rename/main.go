// Command rename makes a fresh copy of the project your own. It needs nothing but Go:
//
//	go run ./cmd/rename -module github.com/you/orchids -name orchid -plural orchids
//
// It vets the result in a temporary folder before it changes a file. At the end it is gone,
// like everything that only makes sense in the original: see leavesOut and unmark.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
)

func main() {
	var c choice
	flag.StringVar(&c.module, "module", "", "the module `path`, such as github.com/you/orchids")
	flag.StringVar(&c.name, "name", "", "the `word` that replaces plant, such as orchid")
	flag.StringVar(&c.plural, "plural", "", "the `word` that replaces plants, such as orchids")
	flag.StringVar(&c.title, "title", "", "what replaces Plant Store, such as \"Orchid House\" (default \"Orchid Service\")")
	flag.StringVar(&c.without, "without", "", "leave out a `part`: test, the folder with the tests from outside")
	flag.Parse()
	if err := rename(".", &c, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		if !errors.Is(err, errHalf) {
			fmt.Fprintln(os.Stderr, "Nothing has changed.")
		}
		os.Exit(1)
	}
	next := "make snapshot    (needs Python; updates the snapshots of template.yaml)"
	if c.without == "test" {
		next = "go mod tidy      (drops what only the folder test needed)"
	}
	fmt.Printf(advice, c.title, next)
}

const advice = `This is %s now. Next, run

	%s
	go test -timeout 30m ./...
	git add -A       (and commit; set origin to your repository, and delete the original's tags)

What only you can write:

	README.md        what the service is for; pictures of its page, if you like
	SECURITY.md      how to report a vulnerability to you, who replies and when, and for which versions
	LICENSE          your name; by its terms, the first authors stay in it
	Basil, herb, …   the examples: in the pages, api/openapi.yaml, cmd/local/serve.go and the tests

The folder cmd/rename is gone. To rename again, start from a fresh copy.
`

// rename renames the project in a folder.
func rename(dir string, c *choice, more []string) error {
	if len(more) > 0 {
		return fmt.Errorf("what is %q? Write -name before a name, and quotes around a title with spaces", more[0])
	}
	before, err := read(dir)
	if err != nil {
		return err
	}
	if err := c.check(before); err != nil {
		return err
	}
	after, err := c.apply(before)
	if err != nil {
		return err
	}
	if err := vet(after); err != nil {
		return err
	}
	signal.Ignore(os.Interrupt) // writing takes a moment
	return write(dir, before, after)
}

// vet compiles and vets a copy of the files in a temporary folder, with the tests.
func vet(files tree) error {
	dir, err := os.MkdirTemp("", "rename")
	if err == nil {
		defer os.RemoveAll(dir)
		err = put(dir, files)
	}
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "vet", "-tags", "contract,deployment,docker,issuers", "./...")
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return fmt.Errorf("go vet refuses the renamed files (%w):\n%s\nIf a new name clashes with a name in the code, "+
		"choose another one, or first rename that in the code", err, strings.Join(lines[:min(5, len(lines))], "\n"))
}
