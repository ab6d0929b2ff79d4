package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A choice is what the user has chosen.
type choice struct{ module, name, plural, title, without string }

var (
	validModule = regexp.MustCompile(`^[A-Za-z0-9][\w.~-]*(/[\w.~-]*[\w~-])*$`)
	validName   = regexp.MustCompile(`^[a-z]{2,40}$`)
	validTitle  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*([ .-]{1,3}[A-Za-z0-9]+)*$`)

	// reserved has words of YAML, JavaScript, Python (for the clients in test/contract) and Windows.
	reserved = regexp.MustCompile("^(and|arguments|as|assert|async|aux|await|catch|class|con|debugger|def|del|delete|do|" +
		"elif|enum|eval|except|export|extends|finally|from|function|global|implements|in|init|instanceof|is|lambda|let|no|" +
		"none|nonlocal|not|nul|null|off|on|or|pass|private|prn|protected|public|raise|self|static|super|this|throw|try|" +
		"typeof|void|while|with|yes|yield)$")
)

// check returns an error for the first rule that the choice breaks. It fills in a missing title.
func (c *choice) check(files tree) error {
	if c.module == "" || c.name == "" || c.plural == "" {
		return errors.New("write -module github.com/you/orchids -name orchid -plural orchids, with your own words")
	}
	packages := packagesOf(files)
	for _, word := range []string{c.name, c.plural} {
		switch {
		case !validName.MatchString(word):
			return fmt.Errorf("%q can't be a name: names have 2 to 40 letters from a to z, in lower case", word)
		case isReserved(word):
			return fmt.Errorf("%q can't be a name: it is a word of Go, YAML, JavaScript, Python or Windows", word)
		case packages[word]:
			return fmt.Errorf("%q can't be a name: the code has or imports a package of this name", word)
		}
	}
	if c.title == "" {
		c.title = capitalized(c.name) + " Service"
	}
	switch program := c.program(); {
	case c.name == c.plural:
		return fmt.Errorf("%q can't be both names: the singular and the plural must differ", c.name)
	case len(c.plural) < 3:
		return fmt.Errorf("%q can't be the plural: it names the table, and DynamoDB wants 3 letters or more", c.plural)
	case !validModule.MatchString(c.module):
		return fmt.Errorf("%q can't be the module: it must be a path such as github.com/you/orchids", c.module)
	case !validTitle.MatchString(c.title):
		return fmt.Errorf("%q can't be the title: code and names on AWS contain it, so it has letters from A to Z and "+
			"digits, with spaces, hyphens or dots between them, and begins with a letter", c.title)
	case len(program) < 2 || len(program) > 32 || isReserved(program):
		return fmt.Errorf("%q can't be the title: its letters and digits name the program, so they must be 2 to 32, "+
			"and not null or another word of Go, YAML or Windows: write another -title", c.title)
	case c.without != "" && c.without != "test":
		return fmt.Errorf("%q can't be left out: -without takes only test", c.without)
	}
	return nil
}

func isReserved(word string) bool {
	return token.IsKeyword(word) || types.Universe.Lookup(word) != nil || reserved.MatchString(word)
}

// packagesOf returns the names of the packages that the code has or imports, except plants.
func packagesOf(files tree) map[string]bool {
	packages := map[string]bool{}
	for name, f := range files {
		if path.Ext(name) != ".go" {
			continue
		}
		parsed, _ := parser.ParseFile(token.NewFileSet(), name, f.text, parser.ImportsOnly) // go vet reports errors
		packages[parsed.Name.Name] = true
		for _, i := range parsed.Imports {
			packages[path.Base(strings.Trim(i.Path.Value, `"`))] = true
		}
	}
	delete(packages, "plants")
	return packages
}

// program returns the name of the program, of its image and so on: orchidhouse for Orchid House.
func (c *choice) program() string {
	return regexp.MustCompile("[^a-z0-9]").ReplaceAllString(strings.ToLower(c.title), "")
}

func capitalized(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// original is the module path in go.mod of the original.
const original = "example.com/plantstore"

// apply returns the files of the renamed project.
func (c *choice) apply(before tree) (tree, error) {
	if !bytes.Contains(before["go.mod"].text, []byte("module "+original)) {
		return nil, fmt.Errorf("there is no go.mod here with the module %s: run this in the folder of a fresh copy", original)
	}
	// In one pass, so that nothing is replaced twice. The first match wins.
	renamed := strings.NewReplacer(original, c.module,
		"Plant Store", c.title, "plant store", c.title, "plantstore", c.program(),
		"plants", c.plural, "Plants", capitalized(c.plural), "PLANTS", strings.ToUpper(c.plural),
		"plant", c.name, "Plant", capitalized(c.name), "PLANT", strings.ToUpper(c.name)).Replace
	after, from := tree{}, map[string]string{} // from has the old paths, by the new ones in lower case
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if c.leavesOut(name) {
			continue
		}
		f, to := before[name], renamed(name)
		key := strings.ToLower(to) // macOS and Windows ignore case
		if other, taken := from[key]; taken {
			return nil, fmt.Errorf("%s and %s would both become %s: choose another name, or move one of them", other, name, to)
		}
		from[key] = name
		if isText(name, f.text) {
			text, err := unmark(f.text, c.without)
			if err != nil {
				return nil, fmt.Errorf("%s, %w", name, err)
			}
			if takesAn.MatchString(c.name) {
				text = aPlant.ReplaceAll(text, []byte("${1}n$2"))
			}
			text = []byte(renamed(string(text)))
			if path.Ext(name) == ".go" && !bytes.Equal(text, f.text) {
				text = gofmt(text)
			}
			f.text = text
		}
		after[to] = f
	}
	return after, nil
}

// leavesOut reports whether the copy doesn't get a file.
func (c *choice) leavesOut(name string) bool {
	return strings.HasPrefix(name, "cmd/rename/") ||
		strings.HasPrefix(name, "docs/page") && path.Ext(name) == ".png" ||
		c.without == "test" && strings.HasPrefix(name, "test/")
}

// isText reports whether words in a file are to be replaced. The license keeps its authors.
func isText(name string, text []byte) bool {
	base := path.Base(name)
	return base != "LICENSE" && base != "go.sum" && utf8.Valid(text) && !bytes.ContainsRune(text, 0)
}

var (
	// aPlant matches "a plant", even if a line of a comment ends after the article.
	aPlant = regexp.MustCompile(`\b([Aa])(\s+(?:(?://|#)[ \t]*)?\[?[Pp]lants?\b)`)
	// takesAn matches words such as orchid, item and hour, but not user, unit, ewe or one.
	takesAn = regexp.MustCompile(`^([ai]|e[^uw]|o[^n]|on[^ce]|u[^knrst]|un[^i]|ur[^aeio]|us[^aeu]|ut[^io]|hour|heir|hono)`)
	mark    = regexp.MustCompile(`(rename|test):drop|drop:end`)
)

// unmark drops the lines from rename:drop to drop:end, which only make sense in the original,
// and those from test:drop to drop:end or, if the copy has the folder test, only their marks.
func unmark(text []byte, without string) (kept []byte, err error) {
	section := "" // rename or test, between two marks
	for line := range bytes.Lines(text) {
		switch found := mark.FindSubmatch(line); {
		case found == nil && (section == "" || section == "test" && without != "test"):
			kept = append(kept, line...)
		case found == nil: // dropped
		case (section != "") == (len(found[1]) > 0): // a second start, or an end without one
			return nil, fmt.Errorf("at %q: this mark has no partner", bytes.TrimSpace(line))
		default:
			section = string(found[1]) // "" after drop:end
		}
	}
	if section != "" {
		return nil, fmt.Errorf("at its end: %s:drop has no partner", section)
	}
	return kept, nil
}

// gofmt formats Go code and keeps its line ends. What doesn't parse stays, for go vet to report.
func gofmt(text []byte) []byte {
	formatted, err := format.Source(text)
	if err != nil {
		return text
	}
	if bytes.Contains(text, []byte("\r\n")) {
		return bytes.ReplaceAll(formatted, []byte("\n"), []byte("\r\n"))
	}
	return formatted
}
