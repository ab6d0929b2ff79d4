//go:build docker && unix

package e2e

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/session"
)

const imageVersion = "1.2.3-test"

// TestDockerImage builds the image and runs it. It has root certificates, with which its program
// could fetch an issuer's keys, and not root's rights. Its plants outlive it.
func TestDockerImage(t *testing.T) {
	needEngine(t)
	dockerfile, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	arg := regexp.MustCompile(`(?m)^ARG GO_IMAGE=(.+)$`).FindSubmatch(dockerfile)
	if arg == nil {
		t.Fatal("the Dockerfile has no ARG GO_IMAGE")
	}
	image := docker(t, "build", "--quiet", "--network", "host",
		"--build-arg", "GO_IMAGE="+findImage(t, string(arg[1])), "--build-arg", "VERSION="+imageVersion, "../..")
	volume := "plantstore-" + rand.Text()
	t.Cleanup(func() {
		docker(t, "volume", "rm", volume)
		docker(t, "image", "rm", image)
	})
	if got := docker(t, "run", "--rm", image, "-version"); !strings.Contains(got, " "+imageVersion+" go1.") {
		t.Errorf("-version prints %q", got)
	}
	user := docker(t, "inspect", "--format", "{{.Config.User}}", image)
	if !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(user) {
		t.Errorf("the program runs as %q, want numbers, which Kubernetes can tell from root's", user)
	}
	issuer := authtest.NewIssuer(t)
	run := func() (id string, alice session.Client) {
		id = docker(t, "run", "--detach", "--publish", "127.0.0.1::8080", "--volume", volume+":/data",
			"--env", config.EnvTokenIssuer+"="+authtest.IssuerURL,
			"--env", config.EnvTokenAudience+"="+authtest.Audience,
			"--env", staticKeys(issuer),
			image)
		t.Cleanup(func() { docker(t, "rm", "--force", id) }) // does nothing after stop
		alice = newClient(t, "http://"+docker(t, "port", id, "8080"), issuer.Token("alice"))
		harness.Await(t, func() error {
			if state := docker(t, "inspect", "--format", "{{.State.Status}}", id); state != "running" {
				logs, err := exec.Command("docker", "logs", id).CombinedOutput()
				t.Fatalf("the container is %s: %s %v", state, logs, err)
			}
			_, _, err := alice.Do("GET", "/healthz").Send()
			return err
		})
		return id, alice
	}
	stop := func(id string) {
		docker(t, "stop", id)
		if code := docker(t, "inspect", "--format", "{{.State.ExitCode}}", id); code != "0" {
			t.Errorf("exit code %s after docker stop", code)
		}
		docker(t, "rm", id)
	}
	id, alice := run()
	alice.Create(plantstest.Example(7))
	roots := docker(t, "cp", id+":/etc/ssl/certs/ca-certificates.crt", "-")
	if !strings.Contains(roots, "BEGIN CERTIFICATE") {
		t.Errorf("the image has no root certificates: %.100q", roots)
	}
	stop(id)
	id, alice = run()
	alice.Owns(plantstest.Example(7))
	stop(id)
}

// needEngine skips the test without a Docker engine, or fails it with CI=true.
func needEngine(t *testing.T) {
	t.Helper()
	if _, err := harness.Run("docker", "version", "--format", "{{.Server.Version}}"); err != nil {
		harness.Missing(t, fmt.Errorf("no Docker engine: install and start Docker (Debian: docker.io): %w", err))
	}
}

// docker runs a command of docker and returns what it prints.
func docker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := harness.Run("docker", args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}
