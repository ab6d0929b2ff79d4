package dynamotest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	dockerImage = "amazon/dynamodb-local"

	engineTimeout = 5 * time.Second  // for the engine to say that it is there
	pullTimeout   = 2 * time.Minute  // for an image of 250 MB
	startTimeout  = 30 * time.Second // until what was started answers
)

// bringUp starts a DynamoDB Local in the first way that works.
func bringUp() (endpoint string, err error) {
	endpoint, dockerErr := startDocker(dockerImage)
	if dockerErr == nil {
		return endpoint, nil
	}
	endpoint, javaErr := startJava()
	if javaErr == nil {
		return endpoint, nil
	}
	return "", fmt.Errorf("no DynamoDB Local: start Docker, or install Maven and Java 17, or set %s (Docker: %s; Maven: %s)",
		endpointEnv, oneLine(dockerErr), oneLine(javaErr))
}

func startDocker(image string) (endpoint string, err error) {
	if _, err := exec.LookPath("docker"); err != nil {
		return "", errors.New("no docker command")
	}
	if _, err := run(engineTimeout, "docker", "version", "--format", "{{.Server.Version}}"); err != nil {
		return "", err
	}
	if _, err := run(engineTimeout, "docker", "image", "inspect", "--format", "{{.Id}}", image); err != nil {
		if _, err := run(pullTimeout, "docker", "pull", "--quiet", image); err != nil {
			return "", err
		}
	}
	name := "dynamodb-local-" + strings.ToLower(rand.Text())
	child, err := startSupervised(
		[]string{"docker", "run", "--rm", "--name", name, "--publish", "127.0.0.1::8000", image},
		[]string{"docker", "rm", "--force", "--volumes", name}) // ending the command leaves the container
	if err != nil {
		return "", err
	}
	address, err := publishedAddress(name, child)
	if err != nil {
		child.stop()
		return "", err
	}
	return child.ready("http://" + address)
}

// publishedAddress asks which port Docker chose, until the container has one.
func publishedAddress(container string, child *supervised) (string, error) {
	deadline := time.Now().Add(startTimeout)
	for {
		out, err := run(engineTimeout, "docker", "port", container, "8000/tcp")
		if err == nil {
			return strings.TrimSpace(out), nil
		}
		select {
		case <-child.gone:
			return "", child.failure()
		case <-time.After(100 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return "", err
		}
	}
}

func startJava() (endpoint string, err error) {
	for _, command := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(command); err != nil {
			return "", fmt.Errorf("no %s command", command)
		}
	}
	lib, err := libraries()
	if err != nil {
		return "", err
	}
	// Between choosing a port and listening on it another process may take it.
	for range 3 {
		if endpoint, err = startServer(lib); err == nil {
			return endpoint, nil
		}
	}
	return "", err
}

func startServer(lib string) (endpoint string, err error) {
	port, err := freePort()
	if err != nil {
		return "", err
	}
	child, err := startSupervised([]string{
		"java",
		// What is run for seconds needn't be compiled well, or use all memory.
		"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx1g",
		"-Djava.library.path=" + lib,
		"-cp", filepath.Join(lib, "*"),
		"software.amazon.dynamodb.services.local.main.ServerRunner",
		"-inMemory", "-disableTelemetry", "-port", port,
	}, nil)
	if err != nil {
		return "", err
	}
	return child.ready("http://127.0.0.1:" + port)
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// run runs a command to its end, or to that of its time, and returns what it
// printed. The error has what it complained of.
func run(timeout time.Duration, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second // in case a child of its own keeps the pipes
	err := cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("no answer within %v", timeout)
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s%s", name, args[0], err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

// oneLine returns an error as a single line of bounded length.
func oneLine(err error) string {
	s := strings.Join(strings.Fields(err.Error()), " ")
	const most = 300
	if len(s) > most {
		s = s[:most] + "…"
	}
	return s
}
