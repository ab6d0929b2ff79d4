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
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/sam"
	"example.com/plantstore/test/tools"
)

const (
	samStartTimeout = 3 * time.Minute  // to build the function, perhaps with nothing cached, and to listen
	samStopTimeout  = 45 * time.Second // to end the containers
)

// samLocal is a running make start-api.
type samLocal struct {
	base   string
	issuer *server
	output tools.Buffer
	exited chan struct{}
}

func startSAMLocal(t *testing.T) *samLocal {
	t.Helper()
	for _, name := range []string{"make", "curl"} { // what the target takes
		if _, err := exec.LookPath(name); err != nil {
			tools.Missing(t, fmt.Errorf("no sam local: %w", err))
		}
	}
	image, err := lambdaImage(t)
	if err != nil {
		tools.Missing(t, err)
	}
	cli, endpoint := sam.Open(t).SAM(t.Context()), dynamolocal.Endpoint(t)
	// Tables are kept apart by region, and this is what the tools are in.
	env := append(dynamolocal.Environ(endpoint, "plants"), "AWS_REGION="+sam.Region)
	s := &samLocal{issuer: start(t, env, t.TempDir()), exited: make(chan struct{})}
	port := freePort(t)
	s.base = "http://127.0.0.1:" + port

	dir, bin := copySource(t), t.TempDir()
	writeSAM(t, bin, cli.Args, port, image)
	cmd := exec.Command("/bin/sh", "-c", samSupervisor, "sh", filepath.Join(dir, ".aws-sam"),
		"make", "start-api", "LOCAL_ISSUER="+s.issuer.Base, "LOCAL_DYNAMODB="+reachable(t, endpoint))
	cmd.Dir = dir
	cmd.Env = append(cli.Env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr = &s.output, &s.output
	s.run(t, cmd)
	s.await(t, "Running on "+s.base)
	return s
}

// samSupervisor runs the command in $2 and on. When its standard input ends, as
// it does with the test process, however that ends, it stops the command and
// removes the containers that have a folder within $1 mounted.
const samSupervisor = `
built=$1; shift
exec 3<&0
trap : TERM
"$@" </dev/null 3<&- &
command=$!
exec >/dev/null 2>&1 # a word to a reader that is gone would be the end of it
{ cat <&3; kill -TERM 0; } &
wait $command || wait $command
docker ps --all --quiet --filter "volume=$built/local/PlantFunction" | xargs -r docker rm --force
`

// run starts the supervisor, in a session of its own: what stops the test by
// the keyboard doesn't stop what cleans up after it. In the end it must have
// removed everything.
func (s *samLocal) run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	alive, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		cmd.Wait() // what has gone wrong is in its output
		close(s.exited)
	}()
	t.Cleanup(func() {
		alive.Close()
		select {
		case <-s.exited:
		case <-time.After(samStopTimeout):
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			t.Errorf("sam local does not end:\n%s", s.output.String())
		}
		s.checkOutput(t)
		left, err := docker(t, engineTimeout, "ps", "--all", "--quiet", "--filter", "volume="+filepath.Join(cmd.Dir, ".aws-sam/local/PlantFunction"))
		if err != nil || left != "" {
			t.Errorf("containers left behind: %q, %v", left, err)
		}
	})
}

// await waits until the output has the text.
func (s *samLocal) await(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(samStartTimeout); !strings.Contains(s.output.String(), text); time.Sleep(20 * time.Millisecond) {
		select {
		case <-s.exited:
			t.Fatalf("sam local has ended:\n%s", s.output.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("sam local does not say %q:\n%s", text, s.output.String())
		}
	}
}

// checkOutput checks that the function has written a line for each request, and
// nothing that has gone wrong in it, nor a token.
func (s *samLocal) checkOutput(t *testing.T) {
	s.issuer.mu.Lock()
	defer s.issuer.mu.Unlock()
	requests := 0
	for line := range strings.Lines(s.output.String()) {
		if !strings.HasPrefix(line, "{") {
			continue // sam local's own, with the queries of requests
		}
		requests++
		for _, sign := range []string{"stack", `"status":500`} {
			if strings.Contains(line, sign) {
				t.Errorf("the log holds %q: %s", sign, line)
			}
		}
		for _, token := range s.issuer.tokens {
			if i := strings.LastIndexByte(token, '.'); strings.Contains(line, token[i:]) {
				t.Errorf("the log holds a token: %s", line)
			}
		}
	}
	if requests == 0 {
		t.Errorf("the function has logged nothing:\n%s", s.output.String())
	}
}

// copySource copies what the function is built from: what SAM makes would be in
// the way of a developer's own. That the go command sees the files opened makes
// it run the test again when one has changed.
func copySource(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"api", "cmd", "internal"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join("../..", name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum", "Makefile", "template.yaml", "samconfig.toml"} {
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

// writeSAM writes the command sam, as the Makefile calls it. What it adds a
// user has no need of.
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

// reachable returns an address at which containers reach the endpoint, which
// may listen on the loopback address alone.
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
	_, port, err := net.SplitHostPort(front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return "http://host.docker.internal:" + port
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
