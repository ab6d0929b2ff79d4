package e2e

import (
	"errors"
	"fmt"
	"strings"
)

// Scripts are text files in the format that curl -v prints:
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
// Lines that start with ">" are the request: method and path, headers, an empty
// line, and the body without a final newline. It is sent exactly as written,
// plus Host and either Content-Length or, if the script has it,
// Transfer-Encoding.
//
// Lines that start with "<" are the expected answer: status, headers, an empty
// line, and the body with a newline after each line. A listed header must have
// exactly these values; "<! Link" means that Link must be absent; other headers
// don't matter. Without an empty line, the body doesn't matter; with nothing
// after the empty line, the body must be empty.
//
// What holds for every answer is checked for every answer: see checkAlways.
//
// Lines that start with "|" are rows: the exchange is repeated for each row,
// with the text of the row as $each.
//
// # Variables
//
//	$alice, $bob            tokens of two users without plants
//	$id, $id2, …, $id99     random ids of 18 digits, $id < $id2 < …
//	$new                    another such id each time
//	$each                   the row
//	$_                      in an expected answer: anything
//	$$                      a dollar sign
//	${forged alice}         alice's token with an invalid signature
//	${expired alice}        a token of alice that has expired
//	${scoped alice a b}     a token of alice with the scopes a and b
//	${repeat a 3}           aaa
//	${percent abc}          %61%62%63
//	${bytes c3 28}          these bytes, which need not be text
//	${fill 9}               as many x as make the body 9 bytes long
//
// Any other name takes its value where it first occurs in an expected answer
// (at least one character, within one line), and keeps it until the end of the
// script.
type script struct {
	name      string // of the file, without .txt
	exchanges []exchange
}

// An exchange is a request and the expected answer.
type exchange struct {
	line       int    // of the request
	title      string // the comment above it
	sent, want message
	rows       []string
}

// A message is a request or an answer with its variables.
type message struct {
	start   string // method and path, or status
	headers []string
	absent  []string // names of headers
	body    []string // lines
	hasBody bool     // there is an empty line after the headers
}

// parseScript parses a script.
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
		n := len(s.exchanges)
		if line[0] == '>' && (n == 0 || s.exchanges[n-1].want.start != "") {
			s.exchanges = append(s.exchanges, exchange{line: i + 1, title: strings.Join(title, " ")})
			n++
		}
		if n == 0 {
			return script{}, fmt.Errorf("%s:%d: no request above this line", s.path(), i+1)
		}
		if err := s.exchanges[n-1].parseLine(line); err != nil {
			return script{}, fmt.Errorf("%s:%d: %w", s.path(), i+1, err)
		}
	}
	for _, x := range s.exchanges {
		if x.want.start == "" {
			return script{}, fmt.Errorf("%s:%d: no answer to this request", s.path(), x.line)
		}
	}
	return s, nil
}

func (s *script) path() string { return "test/e2e/testdata/" + s.name + ".txt" }

func (x *exchange) parseLine(line string) error {
	kind, rest := line[0], line[1:]
	if !strings.ContainsRune("><|", rune(kind)) {
		return errors.New("a line must start with # or > or < or |")
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
	x.rows = append(x.rows, text)
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
		return fmt.Errorf("%q is not a header: put an empty line before a body", text)
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
