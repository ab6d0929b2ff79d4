package template

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// A parameter has the same effect alone as with all others.
func TestAlone(t *testing.T) {
	t.Parallel()
	values, groups := otherValues(t), map[string][]string{}
	for name := range values {
		group := name
		for _, prefix := range []string{"Token", "Domain"} { // these need each other
			if strings.HasPrefix(name, prefix) {
				group = prefix
			}
		}
		groups[group] = append(groups[group], name)
	}
	for group, names := range groups {
		alone, others := map[string]string{}, everythingElse(t)
		if group == "MachineClient" { // it needs the user pool
			others = everything(t)
		}
		for _, name := range names {
			alone[name] = values[name]
			delete(others, name)
		}
		together := maps.Clone(others)
		maps.Copy(together, alone)
		got, want := changes(deploy(t, nil), deploy(t, alone)), changes(deploy(t, others), deploy(t, together))
		for _, change := range slices.Concat(got, want) {
			if !slices.Contains(got, change) || !slices.Contains(want, change) {
				t.Errorf("template.yaml: %s makes %s, but only alone, or only with other parameters", group, change)
			}
		}
	}
}

// changes returns what is different in the second stack, as lines such as
// "PlantFunction.Timeout 11". It leaves out descriptions, since that of the function
// contains all its parameters.
func changes(before, after stack) (lines []string) {
	old, changed := before.values(), after.values()
	for path := range old {
		if _, ok := changed[path]; !ok {
			changed[path] = "nothing"
		}
	}
	for path, value := range changed {
		if old[path] != value {
			lines = append(lines, path+" "+value)
		}
	}
	return lines
}

// values returns the values in a stack by path, and the types of its resources.
func (s stack) values() map[string]string {
	all := map[string]string{}
	var add func(path string, v any)
	add = func(path string, v any) {
		object, ok := v.(map[string]any)
		if !ok {
			all[path] = str(v)
		}
		for name, v := range object {
			if name != "Description" {
				add(path+"."+name, v)
			}
		}
	}
	add("Outputs", s.Outputs)
	for name, r := range s.Resources {
		all[name] = r.Type
		add(name, r.Properties)
	}
	return all
}
