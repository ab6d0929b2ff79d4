//go:build docker && unix

package e2e

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/testing/dynamolocal"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/session"
	"example.com/plantstore/test/template"
)

// buildLimit is for make start-api, which builds the function, and an image for it, before
// it listens.
const buildLimit = 5 * time.Minute

// TestDockerSAMLocal runs the session on what docs/code.md tells developers to start: DynamoDB
// Local, cmd/local, which creates the table and issues the tokens, and make start-api,
// which runs the function in a container.
func TestDockerSAMLocal(t *testing.T) {
	harness.Need(t, "make", "curl")
	needEngine(t)
	cli, endpoint := template.Python(t, "-m", "samcli"), dynamolocal.Endpoint(t)
	// DynamoDB Local keeps a set of tables for each region.
	env := harness.Environ(append(dynamolocal.Environ(endpoint, ""), "AWS_REGION="+template.Region)...)
	issuer := start(t, env, t.TempDir())
	port, err := harness.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	dir, bin := template.CopySource(t), t.TempDir()
	writeSAM(t, bin, cli.Args, port)
	cmd := exec.Command("make", "start-api", "LOCAL_ISSUER="+issuer.Base, "LOCAL_DYNAMODB="+reachable(t, endpoint))
	cmd.Dir = dir
	cmd.Env = append(cli.Env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	sam, err := harness.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		sam.Stop()
		harness.Await(t, func() error {
			left, err := harness.Run("docker", "ps", "--all", "--quiet",
				"--filter", "volume="+filepath.Join(dir, ".aws-sam/local/PlantFunction"))
			if err == nil && left != "" {
				err = fmt.Errorf("containers left behind: %q", left)
			}
			return err
		})
		log := regexp.MustCompile(`(?m)^\{.*\n`).FindAllString(sam.Stderr.String(), -1) // the other lines are sam's own
		checkLog(t, strings.Join(log, ""))
		if log == nil {
			t.Errorf("the function has logged nothing:\n%s", sam.Stderr.String())
		}
	})
	base := "http://127.0.0.1:" + port
	sam.AwaitFor(t, buildLimit, regexp.QuoteMeta("Running on "+base))
	session.Run(t, session.Front{
		Base:     base,
		Alice:    issuer.token(t, "alice"),
		Bob:      issuer.token(t, "bob"),
		Lag:      dynamoLag,
		SAMLocal: true,
	})
}

// writeSAM writes a command sam for the Makefile that adds what only the test
// needs: the port, and an image that is already there.
func writeSAM(t *testing.T, bin string, args []string, port string) {
	t.Helper()
	extra := "--port " + port + " --skip-pull-image"
	architecture := map[string]string{"amd64": "x86_64"}[runtime.GOARCH]
	if findImage(t, "public.ecr.aws/lambda/provided:al2023-"+cmp.Or(architecture, runtime.GOARCH)) == substitute {
		extra += " --invoke-image " + substitute
	}
	script := fmt.Sprintf("#!/bin/sh\n"+
		"if [ \"$1 $2\" = \"local start-api\" ]; then set -- \"$@\" %s; fi\n"+
		"exec '%s' \"$@\"\n",
		extra, strings.Join(args, "' '"))
	if err := os.WriteFile(filepath.Join(bin, "sam"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

// reachable returns an address at which containers reach the endpoint, which may
// listen only on the loopback interface.
func reachable(t *testing.T, endpoint string) string {
	t.Helper()
	u, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	listener := listenForContainers(t)
	front := &http.Server{Handler: httputil.NewSingleHostReverseProxy(u)}
	go front.Serve(listener)
	t.Cleanup(func() { front.Close() })
	return fmt.Sprint("http://", hostName, ":", listener.Addr().(*net.TCPAddr).Port)
}

// hostName is the name of this machine in containers.
const hostName = "host.docker.internal"

// listenForContainers listens where containers reach this machine. On Linux,
// --add-host name:host-gateway leads to its end of the Docker bridge; elsewhere Docker
// forwards it to the loopback interface.
func listenForContainers(t *testing.T) net.Listener {
	t.Helper()
	gateway, err := harness.Run("docker", "network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(strings.TrimSpace(gateway), "0"))
	if err != nil {
		listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	return listener
}
