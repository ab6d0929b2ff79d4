//go:build docker && unix

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

// substitute replaces images that can't be pulled. For Go's, it has this machine's Go,
// certificates and source of modules. For Lambda's, it has the folders; a Go program needs
// nothing else, and what sam adds needs a shell, mv and chmod.
const substitute = "go-test-tools/substitute"

const substituteDockerfile = `FROM scratch
COPY busybox /bin/busybox
RUN ["/bin/busybox", "--install", "-s", "/bin"]
COPY ca-certificates.crt /etc/ssl/certs/
COPY VERSION go.env /usr/local/go/
COPY bin /usr/local/go/bin
COPY pkg /usr/local/go/pkg
COPY src /usr/local/go/src
WORKDIR /tmp
WORKDIR /opt
WORKDIR /var/runtime
WORKDIR /var/task
ENV PATH=/usr/local/go/bin:/bin GOTOOLCHAIN=local GOPROXY=%s
`

// findImage returns the name of an image that is there: the given one, or the substitute.
func findImage(t *testing.T, name string) string {
	t.Helper()
	if _, err := harness.Run("docker", "image", "inspect", "--format", "{{.Id}}", name); err == nil {
		return name
	}
	_, pullErr := harness.Run("docker", "pull", "--quiet", name)
	if pullErr == nil {
		return name
	}
	if err := buildSubstitute(t); err != nil {
		harness.Missing(t, fmt.Errorf("no image: pull %s, "+
			"or install a static busybox (Debian: busybox-static) and ca-certificates on Linux: %w",
			name, errors.Join(pullErr, err)))
	}
	return substitute
}

func buildSubstitute(t *testing.T) error {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return err
	}
	env, err := harness.Run("go", "env", "GOROOT", "GOPROXY")
	if err != nil {
		return err
	}
	goroot, proxy, _ := strings.Cut(strings.TrimSpace(env), "\n")
	dir := t.TempDir()
	dockerfile := fmt.Appendf(nil, substituteDockerfile, proxy)
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), dockerfile, 0o600); err != nil {
		return err
	}
	// -h follows links, since /bin may be one.
	tar := exec.Command("tar", "-ch", "-C", dir, "Dockerfile", "-C", filepath.Dir(busybox), "busybox",
		"-C", "/etc/ssl/certs", "ca-certificates.crt", "-C", goroot, "VERSION", "go.env", "bin", "pkg", "src")
	build := exec.Command("docker", "build", "--quiet", "--tag", substitute, "-")
	if build.Stdin, err = tar.StdoutPipe(); err != nil {
		return err
	}
	if err := tar.Start(); err != nil {
		return err
	}
	out, err := build.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return errors.Join(err, tar.Wait())
}
