package template

import (
	"maps"
	"strings"
	"testing"
)

// Each parameter has its effect alone, for example Tracing without AlarmTopic: what all of
// them change together is what each changes alone.
func TestAlone(t *testing.T) {
	t.Parallel()
	all, defaults := everything(t), deploy(t, nil).values()
	alone, together := maps.Clone(defaults), deploy(t, all).values()
	for name, value := range all {
		parameters := map[string]string{name: value}
		if strings.HasPrefix(name, "Domain") { // these need each other
			parameters["DomainName"], parameters["DomainCertificate"] = all["DomainName"], all["DomainCertificate"]
		}
		for path, value := range deploy(t, parameters).values() {
			if value != defaults[path] {
				alone[path] = value
			}
		}
	}
	for path, value := range alone {
		if together[path] == value {
			delete(alone, path)
			delete(together, path)
		}
	}
	if len(alone)+len(together) > 0 {
		t.Errorf("template.yaml: alone, parameters make\n%v\ntogether, they make\n%v", alone, together)
	}
}

// values returns the values in a stack by their paths, such as PlantFunction.Properties.Timeout.
// It leaves out descriptions, since that of the function contains all its parameters.
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
