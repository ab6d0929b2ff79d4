//go:build docker && unix

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"example.com/plantstore/internal/testing/harness"
)

// pull pulls an image, unless it is there.
func pull(name string) error {
	if _, err := harness.Run("docker", "image", "inspect", "--format", "{{.Id}}", name); err == nil {
		return nil
	}
	_, err := harness.Run("docker", "pull", "--quiet", name)
	return err
}

// substituteImage replaces Lambda's own image if that can't be pulled. A Go
// program needs nothing from an image; sam's additions to it need a shell, mv
// and chmod.
const substituteImage = "go-test-tools/provided"

const substituteDockerfile = `FROM scratch
COPY busybox /bin/busybox
RUN ["/bin/busybox", "--install", "-s", "/bin"]
WORKDIR /tmp
WORKDIR /opt
WORKDIR /var/runtime
WORKDIR /var/task
`

// lambdaImage returns the image in which sam local should run the function: ""
// for its default, which it makes sure is there, or else the substitute.
func lambdaImage(t *testing.T) (string, error) {
	t.Helper()
	architecture := runtime.GOARCH
	if architecture == "amd64" {
		architecture = "x86_64"
	}
	name := "public.ecr.aws/lambda/provided:al2023-" + architecture
	pullErr := pull(name)
	if pullErr == nil {
		return "", nil
	}
	if err := buildSubstitute(t); err != nil {
		return "", fmt.Errorf("no image for sam local: pull %s, or install a static busybox (Debian: busybox-static): %w",
			name, errors.Join(pullErr, err))
	}
	return substituteImage, nil
}

func buildSubstitute(t *testing.T) error {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return err
	}
	program, err := os.ReadFile(busybox)
	if err != nil {
		return err
	}
	dir := t.TempDir()
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "busybox"), program, 0o755),
		os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(substituteDockerfile), 0o600),
	); err != nil {
		return err
	}
	_, err = harness.Run("docker", "build", "--quiet", "--tag", substituteImage, dir)
	return err
}

// substituteGoImage replaces Go's own image if that can't be pulled.
const substituteGoImage = "go-test-tools/golang"

const substituteGoDockerfile = `FROM scratch
COPY busybox /bin/busybox
RUN ["/bin/busybox", "--install", "-s", "/bin"]
COPY ca-certificates.crt /etc/ssl/certs/
COPY VERSION go.env /usr/local/go/
COPY bin /usr/local/go/bin
COPY pkg /usr/local/go/pkg
COPY src /usr/local/go/src
WORKDIR /tmp
ENV PATH=/usr/local/go/bin:/bin GOTOOLCHAIN=local
`

// goImage returns the image that the Dockerfile builds from or, if that can't be pulled, a
// substitute with this machine's Go and certificates.
func goImage(t *testing.T) string {
	t.Helper()
	dockerfile, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	arg := regexp.MustCompile(`(?m)^ARG GO_IMAGE=(.+)$`).FindSubmatch(dockerfile)
	if arg == nil {
		t.Fatal("the Dockerfile has no ARG GO_IMAGE")
	}
	name := string(arg[1])
	pullErr := pull(name)
	if pullErr == nil {
		return name
	}
	if err := buildGoSubstitute(t); err != nil {
		harness.Missing(t, fmt.Errorf("no image with Go: pull %s, "+
			"or install a static busybox (Debian: busybox-static) and ca-certificates on Linux: %w",
			name, errors.Join(pullErr, err)))
	}
	return substituteGoImage
}

func buildGoSubstitute(t *testing.T) error {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return err
	}
	goroot, err := harness.Run("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(substituteGoDockerfile), 0o600); err != nil {
		return err
	}
	// A build context of several folders. -h follows links, since /bin may be one.
	tar := exec.Command("tar", "-ch",
		"-C", dir, "Dockerfile",
		"-C", filepath.Dir(busybox), "busybox",
		"-C", "/etc/ssl/certs", "ca-certificates.crt",
		"-C", strings.TrimSpace(goroot), "VERSION", "go.env", "bin", "pkg", "src")
	build := exec.Command("docker", "build", "--quiet", "--tag", substituteGoImage, "-")
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
