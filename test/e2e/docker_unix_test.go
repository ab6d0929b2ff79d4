//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"example.com/plantstore/test/tools"
)

// substituteImage replaces Lambda's own image if that can't be pulled. A Go
// program needs nothing from an image; sam's additions to it need a shell, mv
// and chmod.
const substituteImage = "plantstore-test/provided"

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
	if _, err := tools.Run("docker", "version", "--format", "{{.Server.Version}}"); err != nil {
		return "", fmt.Errorf("no Docker engine for sam local: install and start Docker (Debian: docker.io): %w", err)
	}
	architecture := runtime.GOARCH
	if architecture == "amd64" {
		architecture = "x86_64"
	}
	name := "public.ecr.aws/lambda/provided:al2023-" + architecture
	if _, err := tools.Run("docker", "image", "inspect", "--format", "{{.Id}}", name); err == nil {
		return "", nil
	}
	_, pullErr := tools.Run("docker", "pull", "--quiet", name)
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
	_, err = tools.Run("docker", "build", "--quiet", "--tag", substituteImage, dir)
	return err
}

// listenToContainers returns a listener that containers reach at the address of
// --add-host name:host-gateway. On Linux that is this machine's end of the
// Docker bridge; elsewhere Docker forwards it to the loopback interface.
func listenToContainers(t *testing.T) net.Listener {
	t.Helper()
	gateway, err := tools.Run("docker", "network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}")
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{strings.TrimSpace(gateway), "127.0.0.1"} {
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort(host, "0")); err == nil {
			return l
		}
	}
	t.Fatal(err)
	return nil
}
