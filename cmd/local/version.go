package main

import (
	"cmp"
	"runtime/debug"
)

// release is the program's version if it was built without the repository. The Dockerfile
// sets it.
var release string

// version describes the program's build on one line: the release or else the version that
// Go derives from the repository's tags, the commit, whether files had changed since, and
// the Go version. A build without git, or by go run, doesn't know the commit.
func version(info *debug.BuildInfo) string {
	line := info.Main.Path + " " + cmp.Or(release, info.Main.Version, "(devel)")
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
