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
	if err := buildSubstitute(t, substituteImage, substituteDockerfile); err != nil {
		return "", fmt.Errorf("no image for sam local: pull %s, or install a static busybox (Debian: busybox-static): %w",
			name, errors.Join(pullErr, err))
	}
	return substituteImage, nil
}

// buildSubstitute builds an image from busybox and, in the form of tar's arguments, other files.
func buildSubstitute(t *testing.T, name, dockerfile string, files ...string) error {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return err
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(dockerfile), 0o600); err != nil {
		return err
	}
	// -h follows links, since /bin may be one.
	tar := exec.Command("tar", append([]string{"-ch", "-C", dir, "Dockerfile", "-C", filepath.Dir(busybox), "busybox"},
		files...)...)
	build := exec.Command("docker", "build", "--quiet", "--tag", name, "-")
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
// substitute with this machine's Go, certificates and source of modules.
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
	env, err := harness.Run("go", "env", "GOROOT", "GOPROXY")
	if err != nil {
		return err
	}
	goroot, proxy, _ := strings.Cut(strings.TrimSpace(env), "\n")
	return buildSubstitute(t, substituteGoImage, substituteGoDockerfile+"ENV GOPROXY="+proxy+"\n",
		"-C", "/etc/ssl/certs", "ca-certificates.crt", "-C", goroot, "VERSION", "go.env", "bin", "pkg", "src")
}
