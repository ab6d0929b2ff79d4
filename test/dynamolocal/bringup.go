package dynamolocal

import (
	_ "embed"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"example.com/plantstore/test/tools"
)

const image = "amazon/dynamodb-local"

// bringUp starts DynamoDB Local in the first way that works.
func bringUp() (endpoint string, err error) {
	endpoint, dockerErr := startDocker()
	if dockerErr == nil {
		return endpoint, nil
	}
	endpoint, javaErr := startJava()
	if javaErr == nil {
		return endpoint, nil
	}
	return "", fmt.Errorf("no DynamoDB Local: start Docker, or install Maven and Java 17, or set %s: %w", endpointEnv,
		fmt.Errorf("docker: %w; java: %w", dockerErr, javaErr))
}

func startDocker() (endpoint string, err error) {
	if _, err := tools.Run("docker", "image", "inspect", "--format", "{{.Id}}", image); err != nil {
		if _, err := tools.Run("docker", "pull", "--quiet", image); err != nil {
			return "", err
		}
	}
	return start(func(port string) (command []string) {
		return []string{"docker", "run", "--rm", "--publish", "127.0.0.1:" + port + ":8000", image}
	})
}

func startJava() (endpoint string, err error) {
	if _, err := tools.Run("java", "-version"); err != nil {
		return "", err
	}
	lib, err := libraries()
	if err != nil {
		return "", err
	}
	return start(func(port string) (command []string) {
		return []string{
			"java",
			// Start fast and leave memory for others, since it runs for seconds.
			"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx1g",
			"-Djava.library.path=" + lib,
			"-cp", filepath.Join(lib, "*"),
			"software.amazon.dynamodb.services.local.main.ServerRunner",
			"-inMemory", "-disableTelemetry", "-port", port,
		}
	})
}

//go:embed pom.xml
var pom []byte

// libraries returns the folder with the libraries of DynamoDB Local. Maven
// downloads them the first time.
func libraries() (string, error) {
	return tools.Dir("dynamodb-local", pom, func(dir string) error {
		file := filepath.Join(dir, "pom.xml")
		if err := os.WriteFile(file, pom, 0o600); err != nil {
			return err
		}
		_, err := tools.Run("mvn", "--quiet", "--batch-mode", "--file", file,
			"dependency:copy-dependencies", "-DoutputDirectory="+dir)
		return err
	})
}

// start starts a server with the command for a free port, and returns its
// endpoint once it answers.
func start(commandOn func(port string) (command []string)) (endpoint string, err error) {
	port, err := tools.FreePort()
	if err != nil {
		return "", err
	}
	endpoint = "http://127.0.0.1:" + port
	command := commandOn(port)
	p, err := tools.Start(exec.Command(command[0], command[1:]...))
	if err != nil {
		return "", err
	}
	for deadline := time.Now().Add(tools.Patience); ; time.Sleep(50 * time.Millisecond) {
		err := answers(endpoint)
		select {
		case <-p.Exited:
			return "", fmt.Errorf("%s ended: %s", command[0], p.Stderr.String())
		default:
		}
		if err == nil {
			return endpoint, nil
		}
		if time.Now().After(deadline) {
			p.Stop()
			return "", fmt.Errorf("%s does not answer: %w", command[0], err)
		}
	}
}

// answers returns an error unless an HTTP server answers at the endpoint.
// DynamoDB Local does so as soon as it is ready.
func answers(endpoint string) error {
	resp, err := http.Get(endpoint)
	if err == nil {
		resp.Body.Close()
	}
	return err
}
