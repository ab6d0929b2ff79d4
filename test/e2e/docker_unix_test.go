//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const (
	engineTimeout = 10 * time.Second // for the engine to say what it has
	pullTimeout   = 3 * time.Minute  // for an image of 100 MB over a slow line
	imageTimeout  = time.Minute      // to make one of 2 MB
)

// standIn is the image that takes the place of Lambda's own where that can't be
// had. A Go program needs nothing of an image; what SAM adds to it needs a
// shell, mv and chmod.
const standIn = "plantstore-test/provided"

const standInFile = `FROM scratch
COPY busybox /bin/busybox
RUN ["/bin/busybox", "--install", "-s", "/bin"]
WORKDIR /tmp
WORKDIR /opt
WORKDIR /var/runtime
WORKDIR /var/task
`

// lambdaImage returns the image that sam local is to run the function in: "" if
// it is there already, by the name that SAM itself takes, or else the name of
// the stand-in. The stand-in stays with the engine, where making it again takes
// no time.
func lambdaImage(t *testing.T) (string, error) {
	t.Helper()
	if _, err := docker(t, engineTimeout, "version", "--format", "{{.Server.Version}}"); err != nil {
		return "", fmt.Errorf("no Docker engine for sam local. Install Docker and start it (Debian: docker.io): %w", err)
	}
	name := "public.ecr.aws/lambda/provided:al2023-" + lambdaArchitecture()
	if _, err := docker(t, engineTimeout, "image", "inspect", "--format", "{{.Id}}", name); err == nil {
		return "", nil
	}
	_, pullErr := docker(t, pullTimeout, "pull", "--quiet", name)
	if pullErr == nil {
		return "", nil
	}
	if err := buildStandIn(t); err != nil {
		return "", fmt.Errorf("no image for sam local. Pull %s, or install a static busybox (Debian: busybox-static): %w; %w", name, pullErr, err)
	}
	return standIn, nil
}

func buildStandIn(t *testing.T) error {
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
		os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(standInFile), 0o600),
	); err != nil {
		return err
	}
	_, err = docker(t, imageTimeout, "build", "--quiet", "--tag", standIn, dir)
	return err
}

// lambdaArchitecture is this machine's processor, in the words of SAM.
func lambdaArchitecture() string {
	if runtime.GOARCH == "amd64" {
		return "x86_64"
	}
	return runtime.GOARCH
}

// listenToContainers returns a listener that containers reach at the address
// which --add-host name:host-gateway gives the name. On Linux that is this
// machine's end of the bridge that they are on, where nobody else can reach it;
// elsewhere Docker forwards to the loopback address.
func listenToContainers(t *testing.T) net.Listener {
	t.Helper()
	gateway, err := docker(t, engineTimeout, "network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}")
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{gateway, "127.0.0.1"} {
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort(host, "0")); err == nil {
			return l
		}
	}
	t.Fatal(err)
	return nil
}

// docker runs a docker command to its end and returns what it printed. The
// error has what it complained of.
func docker(t *testing.T, timeout time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), timeout) // cleaning up needs it, too
	defer cancel()
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second // in case a child of its own keeps the pipes
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("no answer within %v", timeout)
	}
	if err != nil {
		return "", fmt.Errorf("docker %s: %w: %.300s", args[0], err, strings.Join(strings.Fields(stderr.String()), " "))
	}
	return strings.TrimSpace(stdout.String()), nil
}
