package e2e

import (
	"errors"
	"fmt"
	"strings"
)

// Scripts are text files in the form that curl -v prints:
//
//	# A plant comes back as its name and tag, without its id.
//	> POST /plants
//	> Authorization: Bearer $alice
//	>
//	> {"id": $id, "name": "Basil"}
//	< 200
//	< Content-Type: application/json
//	<
//	< {"name":"Basil"}
//
// Lines of ">" are what is sent: method and path, headers, an empty line, the
// body without a line break at its end. It goes out exactly as it stands, with
// Host and either Content-Length or, where the script shows it,
// Transfer-Encoding added.
//
// Lines of "<" are what must come back: the status, headers, an empty line, the
// body with a line break after each of its lines. A header that is shown must
// have these values and no others; "<! Link" says that it must not be there; of
// the headers that aren't shown nothing is said. Without an empty line nothing
// is said of the body; with nothing after it, the body must be empty.
//
// What holds for every answer is checked of every answer, see checkAlways.
//
// Lines of "|" after an exchange make a table: the exchange takes place once
// for each of them, with the line's text as $each.
//
// # Variables
//
//	$alice, $bob, $carol    a token of a user that no other script has
//	$id, $id2, …, $id99     random ids of 18 digits, $id < $id2 < …
//	$new                    such an id, another one each time
//	$each                   the line of the table
//	$_                      in what must come back: anything
//	$$                      a dollar
//	${forged alice}         alice's token with a signature that isn't its own
//	${expired alice}        a token of alice that has expired
//	${scoped alice a b}     a token of alice that names the scopes a and b
//	${repeat a 3}           aaa
//	${bytes c3 28}          bytes that a text can't carry
//	${fill 9}               as many x as give the body 9 bytes
//
// Any other name, where it comes back for the first time, takes what stands
// there (at least one character, within one line) and keeps it to the end of
// the script.
type script struct {
	name      string // of the file, without .txt
	exchanges []exchange
}

// An exchange is a request and the answer that it must have.
type exchange struct {
	line       int    // of the request
	title      string // the comment above it
	sent, want message
	each       []string // the lines of the table, if there is one
}

// A message is a request or an answer, not yet expanded.
type message struct {
	start   string // method and path, or status
	headers []string
	absent  []string // names of headers
	body    []string // lines
	hasBody bool     // there is an empty line after the headers
}

// parseScript reads a script.
func parseScript(name, text string) (script, error) {
	s := script{name: name}
	var title []string
	for i, line := range strings.Split(text, "\n") {
		if comment, ok := strings.CutPrefix(line, "#"); ok {
			title = append(title, strings.TrimSpace(comment))
			continue
		}
		if line == "" {
			title = nil
			continue
		}
		if line[0] == '>' && s.needsExchange() {
			s.exchanges = append(s.exchanges, exchange{line: i + 1, title: strings.Join(title, " ")})
		}
		if len(s.exchanges) == 0 {
			return script{}, fmt.Errorf("%s:%d: no request stands above", s.path(), i+1)
		}
		if err := s.exchanges[len(s.exchanges)-1].parseLine(line); err != nil {
			return script{}, fmt.Errorf("%s:%d: %w", s.path(), i+1, err)
		}
	}
	for _, x := range s.exchanges {
		if x.want.start == "" {
			return script{}, fmt.Errorf("%s:%d: no answer stands below", s.path(), x.line)
		}
	}
	return s, nil
}

func (s *script) path() string { return "e2e/testdata/" + s.name + ".txt" }

// exchangeNames returns the names by which single exchanges can be lacking.
func (s *script) exchangeNames() (names []string) {
	for _, x := range s.exchanges {
		for _, text := range append([]string{x.title}, x.each...) {
			names = append(names, s.name+": "+text)
		}
	}
	return names
}

// needsExchange reports whether a line of a request is the first of another
// one.
func (s *script) needsExchange() bool {
	n := len(s.exchanges)
	return n == 0 || s.exchanges[n-1].want.start != ""
}

func (x *exchange) parseLine(line string) error {
	kind, rest := line[0], line[1:]
	if !strings.ContainsRune("><|", rune(kind)) {
		return errors.New("the line starts with none of # > < |")
	}
	if name, ok := strings.CutPrefix(rest, "! "); ok && kind == '<' && !x.want.hasBody {
		x.want.absent = append(x.want.absent, name)
		return nil
	}
	text, spaced := strings.CutPrefix(rest, " ")
	if rest != "" && !spaced {
		return fmt.Errorf("no space after %q", kind)
	}
	switch kind {
	case '>':
		return x.sent.add(text)
	case '<':
		return x.want.add(text)
	}
	x.each = append(x.each, text)
	return nil
}

func (m *message) add(text string) error {
	switch {
	case m.hasBody:
		m.body = append(m.body, text)
	case text == "":
		m.hasBody = true
	case m.start == "":
		m.start = text
	case !strings.Contains(text, ":"):
		return fmt.Errorf("%q is no header: an empty line goes before a body", text)
	default:
		m.headers = append(m.headers, text)
	}
	return nil
}

// splitHeader returns the name and the value of a header line.
func splitHeader(line string) (name, value string) {
	name, value, _ = strings.Cut(line, ":")
	return name, strings.TrimSpace(value)
}
