package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A node is an object of a template.
type node = map[string]any

// at returns what is at the path below v, whose steps are keys of objects or
// indexes of lists, or nil.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			n, _ := v.(node)
			v = n[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

// object is at, where an object is expected.
func object(v any, path ...any) node {
	n, _ := at(v, path...).(node)
	return n
}

// list is at, where a list is expected.
func list(v any, path ...any) []any {
	l, _ := at(v, path...).([]any)
	return l
}

// str is at, where a string, number or truth value is expected.
func str(v any, path ...any) string {
	switch v := at(v, path...).(type) {
	case nil:
		return ""
	case string, bool, float64:
		return fmt.Sprint(v)
	default:
		b, _ := json.Marshal(v)
		return string(b)
	}
}

// ofType returns the names of the resources of a type, in order.
func ofType(resources node, typ string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		if str(resources, name, "Type") == typ {
			names = append(names, name)
		}
	}
	return names
}

var placeholder = regexp.MustCompile(`\$\{(!?)([^}]+)\}`)

// mentions calls found with the name of each parameter, resource or condition
// that v refers to.
func mentions(v any, found func(name string)) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			mentions(e, found)
		}
	case node:
		for key, arg := range v {
			switch key {
			case "Ref", "Condition":
				if name, ok := arg.(string); ok {
					found(name)
				}
			case "Fn::GetAtt":
				name, _, _ := strings.Cut(attribute(arg), ".")
				found(name)
			case "Fn::If":
				found(str(arg, 0))
			case "Fn::Sub":
				mentionsInSub(arg, found)
			}
			mentions(arg, found)
		}
	}
}

func mentionsInSub(arg any, found func(name string)) {
	text, ok := arg.(string)
	if !ok {
		text = str(arg, 0)
	}
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		name, _, _ := strings.Cut(m[2], ".")
		if _, local := object(arg, 1)[name]; m[1] == "" && !local {
			found(name)
		}
	}
}

// attribute returns the argument of Fn::GetAtt in its short form.
func attribute(arg any) string {
	if s, ok := arg.(string); ok {
		return s
	}
	return str(arg, 0) + "." + str(arg, 1)
}
