//go:build unix

package e2e

import (
	"fmt"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/program"
	"example.com/plantstore/test/sam"
	"example.com/plantstore/test/tools"
)

// TestSAMLocal runs the suite on what README tells developers to start:
// DynamoDB Local, cmd/local, which creates the table and issues the tokens, and
// make start-api, which runs the function in a container.
func TestSAMLocal(t *testing.T) {
	t.Parallel()
	s := startSAMLocal(t)
	if findFront(t, s.base) != samLocal {
		t.Error("taken for another front")
	}
	target := samLocal.target(s.base, s.issuer.token)
	target.Lag = dynamoLag
	Run(t, target)
}

// Without the issuer, make says so before it builds.
func TestSAMLocalNeedsIssuer(t *testing.T) {
	tools.Need(t, "make", "curl")
	cmd := exec.Command("make", "start-api", "LOCAL_ISSUER=http://127.0.0.1:1")
	cmd.Dir = copySource(t)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no keys at http://127.0.0.1:1:") || strings.Contains(string(out), "sam build") {
		t.Errorf("%v\n%s", err, out)
	}
}

// samServer is a running make start-api.
type samServer struct {
	*tools.Process
	base   string
	issuer *server
}

func startSAMLocal(t *testing.T) *samServer {
	t.Helper()
	tools.Need(t, "make", "curl")
	image, err := lambdaImage(t)
	if err != nil {
		tools.Missing(t, err)
	}
	cli, endpoint := sam.Open(t).SAM(t.Context()), dynamolocal.Endpoint(t)
	// DynamoDB Local keeps a set of tables for each region.
	env := program.Environ(append(dynamolocal.Environ(endpoint, "plants"), "AWS_REGION="+sam.Region)...)
	s := &samServer{issuer: start(t, env, t.TempDir())}
	port, err := tools.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	s.base = "http://127.0.0.1:" + port

	dir, bin := copySource(t), t.TempDir()
	writeSAM(t, bin, cli.Args, port, image)
	cmd := exec.Command("make", "start-api", "LOCAL_ISSUER="+s.issuer.Base, "LOCAL_DYNAMODB="+reachable(t, endpoint))
	cmd.Dir = dir
	cmd.Env = append(cli.Env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	volume := "volume=" + filepath.Join(dir, ".aws-sam/local/PlantFunction")
	s.Process, err = tools.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop(t, volume) })
	s.Await(t, regexp.QuoteMeta("Running on "+s.base))
	return s
}

// stop stops sam local, and checks what it leaves behind.
func (s *samServer) stop(t *testing.T, volume string) {
	if s.Stop() < 0 {
		t.Errorf("sam local does not exit:\n%s", s.Stderr.String())
	}
	s.checkOutput(t)
	tools.Await(t, func() error { // Docker may not have removed one completely
		left, err := tools.Run("docker", "ps", "--all", "--quiet", "--filter", volume)
		if err == nil && left != "" {
			err = fmt.Errorf("containers left behind: %q", left)
		}
		return err
	})
}

// checkOutput checks the log lines of the function. The other lines are sam
// local's own.
func (s *samServer) checkOutput(t *testing.T) {
	var log strings.Builder
	for line := range strings.Lines(s.Stdout.String() + s.Stderr.String()) {
		if strings.HasPrefix(line, "{") {
			log.WriteString(line)
		}
	}
	s.issuer.checkLog(t, log.String())
	if log.Len() == 0 {
		t.Errorf("the function has logged nothing:\n%s", s.Stderr.String())
	}
}

// copySource copies what the function is built from, so that sam's files don't
// get into a developer's directory. Opening the files also makes the go command
// rerun the test if one has changed.
func copySource(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"api", "cmd", "internal"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join("../..", name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum", "Makefile", "template.yaml", "monitoring.yaml", "samconfig.toml"} {
		b, err := os.ReadFile(filepath.Join("../..", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// writeSAM writes a command sam for the Makefile that adds what only the test
// needs: the port, and an image that is already there.
func writeSAM(t *testing.T, bin string, args []string, port, image string) {
	t.Helper()
	extra := "--port " + port + " --skip-pull-image"
	if image != "" {
		extra += " --invoke-image " + image
	}
	script := fmt.Sprintf("#!/bin/sh\nif [ \"$1 $2\" = \"local start-api\" ]; then set -- \"$@\" %s; fi\nexec '%s' \"$@\"\n",
		extra, strings.Join(args, "' '"))
	if err := os.WriteFile(filepath.Join(bin, "sam"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

// reachable returns an address at which containers reach the endpoint, even if
// it listens only on the loopback interface.
func reachable(t *testing.T, endpoint string) string {
	t.Helper()
	u, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(u))
	front.Listener.Close()
	front.Listener = listenToContainers(t)
	front.Start()
	t.Cleanup(front.Close)
	return fmt.Sprint("http://host.docker.internal:", front.Listener.Addr().(*net.TCPAddr).Port)
}
