package config

import (
	"strings"
	"testing"
)

func TestTables(t *testing.T) {
	for value, want := range map[string]string{
		"": "plants", "A-z": "A-z", strings.Repeat("9_.", 85): strings.Repeat("9_.", 85),
		"no!name": "", "ab": "", strings.Repeat("x", 256): "",
	} {
		c, err := FromEnv(env(map[string]string{"TABLE_NAME": value}, nil))
		if c.Tables[PlantTable] != want {
			t.Errorf("%q: got the table %q, want %q", value, c.Tables[PlantTable], want)
		}
		if (err == nil) != (want != "") || err != nil && !strings.Contains(err.Error(), "TABLE_NAME") {
			t.Errorf("%q: error %v", value, err)
		}
	}
}
