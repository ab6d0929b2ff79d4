package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFacts compares facts that several files state. See testdata/facts.txt.
func TestFacts(t *testing.T) {
	const list = "test/docs/testdata/facts.txt"
	digits := map[string]string{"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6"}
	for block := range strings.SplitSeq(read(t, list), "\n\n") {
		found := map[string][]string{} // the places of each value
		for line := range strings.Lines(block) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			files, pattern, _ := strings.Cut(strings.TrimSpace(line), " ")
			fact := regexp.MustCompile("(?m)" + strings.ReplaceAll(pattern, " ", `\s+`))
			matched := false
			names, _ := filepath.Glob("../../" + files)
			for _, name := range names {
				name, _ = filepath.Rel("../..", name)
				for _, m := range fact.FindAllStringSubmatch(read(t, name), -1) {
					value := strings.ToLower(m[1])
					if digit, ok := digits[value]; ok {
						value = digit
					}
					found[value] = append(found[value], name)
					matched = true
				}
			}
			if !matched {
				t.Errorf("%s has no %q: change the pattern in %s, or remove it if the fact is gone", files, pattern, list)
			}
		}
		if len(found) > 1 {
			t.Errorf("a fact has these values in these files: %q; see %s:\n%s", found, list, block)
		}
	}
}
