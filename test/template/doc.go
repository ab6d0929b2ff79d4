// Package template tests template.yaml, samconfig.toml and the build of the
// function against the program that they deploy.
package template
