package dynamolocal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"example.com/plantstore/test/tools"
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
		endpointEnv, tools.OneLine(dockerErr), tools.OneLine(javaErr))
}

func startDocker(image string) (endpoint string, err error) {
	if _, err := exec.LookPath("docker"); err != nil {
		return "", errors.New("no docker command")
	}
	if _, err := tools.Run(engineTimeout, "docker", "version", "--format", "{{.Server.Version}}"); err != nil {
		return "", err
	}
	if _, err := tools.Run(engineTimeout, "docker", "image", "inspect", "--format", "{{.Id}}", image); err != nil {
		if _, err := tools.Run(pullTimeout, "docker", "pull", "--quiet", image); err != nil {
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
		out, err := tools.Run(engineTimeout, "docker", "port", container, "8000/tcp")
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
