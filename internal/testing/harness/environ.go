package harness

import (
	"cmp"
	"os"
	"regexp"
	"strings"
)

// settings are the variables of a shell that change what the programs, make or the
// tools do: of the service and of AWS, of make and the Makefile, of Python and SAM,
// of git in a hook, and the locale, which may not be installed.
var settings = regexp.MustCompile(`^(AWS_|TOKEN_|REQUIRE_SCOPES=|LOG_LEVEL=|CORS_ORIGINS=|([A-Z]+_)?TABLE_NAME=|` +
	`MAKE|MFLAGS=|GNUMAKEFLAGS=|CONFIG_ENV=|STACK=|ARTIFACTS_DIR=|LOCAL_(ISSUER|DYNAMODB)=|` +
	`PYTHON|PIP_(DRY_RUN|PYTHON|ROOT)=|SAM_|GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX)=|LC_|LANG)`)

// shell has the settings of the user's shell.
var shell = map[string]string{}

// The tests and their programs have none of the user's settings. This is where all
// of them get their environment from, so that none is forgotten.
func init() {
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); settings.MatchString(variable) {
			shell[name] = value
			os.Unsetenv(name)
		}
	}
	// A proxy doesn't reach the loopback interface. Go knows that, curl and Python don't.
	direct := strings.Trim(cmp.Or(os.Getenv("no_proxy"), os.Getenv("NO_PROXY"))+",localhost,127.0.0.1", ",")
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
		"LANG": "C.UTF-8", "PYTHONUTF8": "1", "no_proxy": direct, "NO_PROXY": direct,
	} {
		os.Setenv(name, value)
	}
}

// Environ returns the environment of the tests, which has none of the user's settings,
// plus extra.
func Environ(extra ...string) []string { return append(os.Environ(), extra...) }

// FromShell returns the value of a setting in the user's shell.
func FromShell(name string) string {
	os.Getenv(name) // tells the go command that the result depends on it
	return shell[name]
}
