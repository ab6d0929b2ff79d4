package template

import (
	"fmt"
	"strings"
	"testing"
)

func TestEvaluate(t *testing.T) {
	when := func(c string, a, b any) node { return node{"Fn::If": []any{c, a, b}} }
	template := node{
		"Parameters": node{"P": node{"Default": "a,b"}, "Q": node{"Default": 3.0}},
		"Conditions": node{
			"Yes": node{"Fn::Equals": []any{node{"Ref": "P"}, "a,b"}},
			"No":  node{"Fn::Not": []any{node{"Condition": "Yes"}}},
			"All": node{"Fn::And": []any{node{"Condition": "Yes"}, node{"Condition": "No"}}},
			"One": node{"Fn::Or": []any{node{"Condition": "All"}, node{"Condition": "Yes"}}},
		},
		"Rules": node{
			"Kept":   node{"Assertions": []any{node{"Assert": node{"Fn::Equals": []any{"1", "1"}}, "AssertDescription": "kept"}}},
			"Broken": node{"Assertions": []any{node{"Assert": node{"Fn::Equals": []any{"1", "2"}}, "AssertDescription": "broken"}}},
			"Idle": node{"RuleCondition": node{"Fn::Equals": []any{"1", "2"}},
				"Assertions": []any{node{"Assert": node{"Fn::Equals": []any{"1", "2"}}, "AssertDescription": "idle"}}},
		},
		"Resources": node{
			"R": node{"Type": "T", "Properties": node{
				"ref":    node{"Ref": "Q"},
				"itself": node{"Ref": "R"},
				"att":    node{"Fn::GetAtt": []any{"R", "Arn"}},
				"sub":    node{"Fn::Sub": "${P}/${R}/${R.Arn}/${AWS::Region}/${!kept}"},
				"local":  node{"Fn::Sub": []any{"${X}", node{"X": node{"Ref": "P"}}}},
				"split":  node{"Fn::Split": []any{",", node{"Ref": "P"}}},
				"join":   node{"Fn::Join": []any{"-", []any{node{"Ref": "Q"}, "x"}}},
				"if":     []any{when("Yes", 1.0, 2.0), when("All", 1.0, 2.0), when("One", 1.0, node{"Ref": "AWS::NoValue"})},
				"gone":   when("No", 1.0, node{"Ref": "AWS::NoValue"}),
			}},
			"Absent": node{"Type": "T", "Condition": "No"},
		},
		"Outputs": node{"Out": node{"Value": node{"Ref": "P"}}, "None": node{"Condition": "No", "Value": "x"}},
	}
	s := evaluate(template, map[string]string{"Q": "4"})
	want := node{"R": node{"Type": "T", "Properties": node{
		"ref": "4", "itself": "${R}", "att": "${R.Arn}", "sub": "a,b/${R}/${R.Arn}/${AWS::Region}/${kept}", "local": "a,b",
		"split": []any{"a", "b"}, "join": "4-x", "if": []any{1.0, 2.0, 1.0},
	}}}
	if got, want := str(s.resources), str(want); got != want {
		t.Errorf("resources\n%s, want\n%s", got, want)
	}
	if got := fmt.Sprint(s.outputs, s.refused, s.errs); got != "map[Out:a,b] [broken] []" {
		t.Errorf("outputs, refusals and errors are %s", got)
	}

	for name, v := range map[string]any{
		"nothing is called X":       node{"Ref": "X"},
		"nothing is called Y":       node{"Fn::Sub": "${Y.Arn}"},
		"its condition is false":    node{"Fn::GetAtt": "Absent.Arn"},
		"no condition is called X":  when("X", 1.0, 2.0),
		"Fn::Cidr is not evaluated": node{"Fn::Cidr": []any{}},
	} {
		s := evaluate(template, nil)
		if s.value(v); !strings.Contains(strings.Join(s.errs, "\n"), name) {
			t.Errorf("%s: errors %q", name, s.errs)
		}
	}
}
