package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A stack is what CloudFormation would make of a translated template with the
// given parameters: the intrinsic functions are evaluated, and what a condition
// excludes is left out. What only a real stack knows stays, as ${Resource},
// ${Resource.Attribute} or ${AWS::Region}.
type stack struct {
	template   node // what was evaluated
	parameters map[string]string

	resources node
	outputs   map[string]string

	refused []string // by the template's Rules
	errs    []string // what could not be evaluated
}

// omitted is the value of !Ref AWS::NoValue.
type omitted struct{}

func evaluate(template node, parameters map[string]string) *stack {
	s := &stack{template: template, parameters: map[string]string{}, resources: node{}, outputs: map[string]string{}}
	for name, p := range object(template, "Parameters") {
		s.parameters[name] = str(p, "Default")
	}
	maps.Copy(s.parameters, parameters)

	for name, r := range object(template, "Resources") {
		if s.exists(r) {
			s.resources[name] = s.value(r)
		}
	}
	for name, o := range object(template, "Outputs") {
		if s.exists(o) {
			s.outputs[name] = str(s.value(o), "Value")
		}
	}
	for _, rule := range object(template, "Rules") {
		if when := at(rule, "RuleCondition"); when != nil && !s.condition(when) {
			continue
		}
		for _, a := range list(rule, "Assertions") {
			if !s.condition(at(a, "Assert")) {
				s.refused = append(s.refused, str(a, "AssertDescription"))
			}
		}
	}
	return s
}

func (s *stack) exists(v any) bool {
	name, conditional := at(v, "Condition").(string)
	return !conditional || s.named(name)
}

func (s *stack) fail(format string, args ...any) {
	s.errs = append(s.errs, fmt.Sprintf(format, args...))
}

func (s *stack) value(v any) any {
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, e := range v {
			if e = s.value(e); e != (omitted{}) {
				out = append(out, e)
			}
		}
		return out
	case node:
		if len(v) == 1 {
			for name, arg := range v {
				if name == "Ref" || strings.HasPrefix(name, "Fn::") {
					return s.call(name, arg)
				}
			}
		}
		out := node{}
		for key, e := range v {
			if e = s.value(e); e != (omitted{}) {
				out[key] = e
			}
		}
		return out
	}
	return v
}

func (s *stack) call(function string, arg any) any {
	switch function {
	case "Ref":
		return s.ref(str(arg))
	case "Fn::GetAtt":
		name, _, _ := strings.Cut(attribute(arg), ".")
		s.ref(name) // must be there
		return "${" + attribute(arg) + "}"
	case "Fn::If":
		if s.named(str(arg, 0)) {
			return s.value(at(arg, 1))
		}
		return s.value(at(arg, 2))
	case "Fn::Sub":
		return s.sub(arg)
	case "Fn::Join":
		var parts []string
		for _, e := range s.list(at(arg, 1)) {
			parts = append(parts, str(e))
		}
		return strings.Join(parts, str(arg, 0))
	case "Fn::Split":
		var parts []any
		for part := range strings.SplitSeq(str(s.value(at(arg, 1))), str(arg, 0)) {
			parts = append(parts, part)
		}
		return parts
	case "Fn::Select":
		// What is selected from is known to a real stack alone.
		return fmt.Sprintf("${select %s of %s}", str(arg, 0), str(s.value(at(arg, 1))))
	}
	s.fail("%s is not evaluated by these tests", function)
	return nil
}

func (s *stack) list(v any) []any {
	l, ok := s.value(v).([]any)
	if !ok {
		s.fail("%s is no list", str(v))
	}
	return l
}

func (s *stack) ref(name string) any {
	switch name {
	case "AWS::NoValue":
		return omitted{}
	case "AWS::Partition":
		return "aws"
	}
	if value, ok := s.parameters[name]; ok {
		return value
	}
	if r := at(s.template, "Resources", name); r == nil && !strings.HasPrefix(name, "AWS::") {
		s.fail("nothing is called %s", name)
	} else if !s.exists(r) {
		s.fail("%s is referred to, but its condition is false", name)
	}
	return "${" + name + "}"
}

func (s *stack) sub(arg any) string {
	text, local := str(arg), node{}
	if l, ok := arg.([]any); ok {
		text, local = str(l, 0), object(l, 1)
	}
	return placeholder.ReplaceAllStringFunc(text, func(p string) string {
		m := placeholder.FindStringSubmatch(p)
		if m[1] == "!" {
			return "${" + m[2] + "}"
		}
		if v, ok := local[m[2]]; ok {
			return str(s.value(v))
		}
		name, _, hasAttribute := strings.Cut(m[2], ".")
		if value := s.ref(name); !hasAttribute {
			return str(value)
		}
		return p
	})
}

// named returns the value of a named condition.
func (s *stack) named(name string) bool {
	c := at(s.template, "Conditions", name)
	if c == nil {
		s.fail("no condition is called %s", name)
		return false
	}
	return s.condition(c)
}

func (s *stack) condition(v any) bool {
	for function, arg := range object(v) {
		l := list(arg)
		switch function {
		case "Condition":
			return s.named(str(arg))
		case "Fn::Equals":
			return str(s.value(at(arg, 0))) == str(s.value(at(arg, 1)))
		case "Fn::Not":
			return !s.condition(at(arg, 0))
		case "Fn::And":
			return !slices.ContainsFunc(l, func(c any) bool { return !s.condition(c) })
		case "Fn::Or":
			return slices.ContainsFunc(l, s.condition)
		}
	}
	s.fail("%s is no condition", str(v))
	return false
}
