package config

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestTables(t *testing.T) {
	for value, want := range map[string]string{
		"": "plants", "A-z": "A-z", strings.Repeat("9_.", 85): strings.Repeat("9_.", 85),
		"no!name": "", "ab": "", strings.Repeat("x", 256): "",
	} {
		c, err := FromEnv(env(map[string]string{"TABLE_NAME": value}, nil))
		if c.TableNames[PlantTable] != want {
			t.Errorf("%q: got the table %q, want %q", value, c.TableNames[PlantTable], want)
		}
		if (err == nil) != (want != "") || err != nil && !strings.Contains(err.Error(), "TABLE_NAME") {
			t.Errorf("%q: error %v", value, err)
		}
	}
}

// Variables and Tables have the names of all variables, no others.
func TestVariables(t *testing.T) {
	settings := env(map[string]string{TokenIssuer: "https://issuer.example", TokenAudience: "plants"}, nil)
	read := map[string]bool{}
	if _, err := FromEnv(func(name string) string { read[name] = true; return settings(name) }); err != nil {
		t.Fatal(err)
	}
	for _, table := range Tables {
		delete(read, table.Variable)
	}
	if got := slices.Sorted(maps.Keys(read)); !slices.Equal(got, slices.Sorted(slices.Values(Variables))) {
		t.Errorf("FromEnv reads %q besides the names of the tables; Variables has %q", got, Variables)
	}
}
