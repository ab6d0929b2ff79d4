package dynamolocal

import (
	_ "embed"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"example.com/plantstore/test/tools"
)

const (
	image = "amazon/dynamodb-local"

	engineTimeout = 5 * time.Second  // for an answer of the Docker engine
	pullTimeout   = 2 * time.Minute  // for an image of 250 MB
	mavenTimeout  = 5 * time.Minute  // for 46 MB over a slow line
	startTimeout  = 30 * time.Second // until DynamoDB Local answers
)

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
	reasons := fmt.Errorf("docker: %s; java: %s", tools.OneLine(dockerErr), tools.OneLine(javaErr))
	return "", fmt.Errorf("no DynamoDB Local: start Docker, or install Maven and Java 17, or set %s: %w", endpointEnv, reasons)
}

func startDocker() (endpoint string, err error) {
	if _, err := tools.Run(engineTimeout, "docker", "version", "--format", "{{.Server.Version}}"); err != nil {
		return "", err
	}
	if _, err := tools.Run(engineTimeout, "docker", "image", "inspect", "--format", "{{.Id}}", image); err != nil {
		if _, err := tools.Run(pullTimeout, "docker", "pull", "--quiet", image); err != nil {
			return "", err
		}
	}
	return start(func(port string) (command, cleanUp []string) {
		name := "dynamodb-local-" + port
		return []string{"docker", "run", "--rm", "--name", name, "--publish", "127.0.0.1:" + port + ":8000", image},
			[]string{"docker", "rm", "--force", "--volumes", name} // the container outlives a killed docker run
	})
}

func startJava() (endpoint string, err error) {
	if _, err := exec.LookPath("java"); err != nil {
		return "", err
	}
	lib, err := libraries()
	if err != nil {
		return "", err
	}
	return start(func(port string) (command, cleanUp []string) {
		return []string{
			"java",
			// Start fast and leave memory for others, since it runs for seconds.
			"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx1g",
			"-Djava.library.path=" + lib,
			"-cp", filepath.Join(lib, "*"),
			"software.amazon.dynamodb.services.local.main.ServerRunner",
			"-inMemory", "-disableTelemetry", "-port", port,
		}, nil
	})
}

//go:embed pom.xml
var pom []byte

// libraryFolder has the version in pom.xml, so that another version goes to
// another folder of the cache.
const libraryFolder = "dynamodb-local-3.0.0"

// libraries returns the folder with the libraries of DynamoDB Local. Maven
// downloads them the first time.
func libraries() (string, error) {
	return tools.Dir(libraryFolder, mavenTimeout, func(dir string) error {
		file := filepath.Join(dir, "pom.xml")
		if err := os.WriteFile(file, pom, 0o600); err != nil {
			return err
		}
		_, err := tools.Run(mavenTimeout, "mvn", "--quiet", "--batch-mode", "--file", file,
			"dependency:copy-dependencies", "-DoutputDirectory="+dir)
		return err
	})
}

// start starts a server with the command for a free port, and returns its
// endpoint once it answers.
func start(commands func(port string) (command, cleanUp []string)) (endpoint string, err error) {
	for range 3 { // another process may take the port first
		if endpoint, err = startOnce(commands); err == nil {
			break
		}
	}
	return endpoint, err
}

func startOnce(commands func(port string) (command, cleanUp []string)) (endpoint string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	s, err := startSupervised(commands(port))
	if err != nil {
		return "", err
	}
	return "http://" + address, s.ready("http://" + address)
}
