package main

import (
	"cmp"
	"runtime/debug"
)

// version describes the build of the program in one line: the version that Go derives
// from the tags of the repository, the commit, whether files had changed since, and Go's
// own version. Without git, and with go run, there is no commit.
func version(info *debug.BuildInfo) string {
	line := info.Main.Path + " " + cmp.Or(info.Main.Version, "(devel)")
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if commit := settings["vcs.revision"]; commit != "" {
		line += ", commit " + commit
	}
	if settings["vcs.modified"] == "true" {
		line += " with changes"
	}
	return line + ", " + info.GoVersion
}
