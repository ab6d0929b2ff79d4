package config

import (
	"cmp"
	"fmt"
	"strings"
)

// PlantTable is the table of plants.
var PlantTable = Table{Resource: "PlantTable", Variable: "TABLE_NAME", Default: "plants"}

// Tables are the DynamoDB tables, one for each resource. DynamoDB Local, the checks
// and the tests of template.yaml go over them.
var Tables = []Table{
	PlantTable,
}

// A Table is a DynamoDB table.
type Table struct {
	Resource string // its logical id in template.yaml
	Variable string // the environment variable with its name
	Default  string // its name if the variable is unset
}

// tables returns the name of each of [Tables].
func tables(getenv func(string) string) (map[Table]string, error) {
	names := map[Table]string{}
	for _, t := range Tables {
		name := cmp.Or(getenv(t.Variable), t.Default)
		if !isTableName(name) {
			return nil, fmt.Errorf("%s: %q is not a valid table name: use 3 to 255 letters, digits, dots, dashes and underscores", t.Variable, name)
		}
		names[t] = name
	}
	return names, nil
}

// isTableName reports whether a DynamoDB table can have the name s. It needs no
// regular expression, whose compilation each cold start of the function would pay.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
func isTableName(s string) bool {
	const valid = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
	isInvalid := func(r rune) bool { return !strings.ContainsRune(valid, r) }
	return 3 <= len(s) && len(s) <= 255 && !strings.ContainsFunc(s, isInvalid)
}
