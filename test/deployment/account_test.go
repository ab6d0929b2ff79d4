//go:build deployment

package deployment

import (
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/template"
)

//go:embed requirements.txt
var requirements []byte

//go:embed standin.py
var standIn string

// An account is a stand-in for an AWS account, with a copy of the project to deploy.
type account struct {
	process *harness.Process
	env     []string
	dir     string // the copy
}

// startLimit is for the start of the stand-in, which loads large libraries of Python.
const startLimit = 2 * time.Minute

// newAccount starts the stand-in, on free ports.
func newAccount(t *testing.T) *account {
	t.Helper()
	harness.Need(t, "bash", "make", "curl", "openssl")
	python, err := harness.Python("ministack", requirements)
	if err != nil {
		harness.Missing(t, err)
	}
	port, err1 := harness.FreePort()
	tlsPort, err2 := harness.FreePort()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	certificate, key := makeCertificate(t)
	a := &account{dir: template.CopySource(t)}
	if err := os.CopyFS(filepath.Join(a.dir, "docs"), os.DirFS("../../docs")); err != nil { // the commands
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", standIn, port, tlsPort, certificate, key)
	cmd.Env = harness.Environ("MINISTACK_REGION="+template.Region,
		"AWS_REGION="+template.Region, "AWS_DEFAULT_REGION="+template.Region,
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local")
	if a.process, err = harness.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.process.Stop() })
	a.process.AwaitFor(t, startLimit, "Running on http://")
	// The stand-in runs the function's program on this machine, so it isn't built for the
	// processor that the template names.
	a.env = append(template.Python(t).Env,
		"AWS_ENDPOINT_URL=http://127.0.0.1:"+port,
		"CONFIG_ENV=default",
		"MAKEFLAGS=FUNCTION_ARCH="+runtime.GOARCH)
	return a
}

// makeCertificate makes a certificate for the address of the user pool's keys, and its key.
func makeCertificate(t *testing.T) (certificate, key string) {
	t.Helper()
	certificate, key = filepath.Join(t.TempDir(), "certificate.pem"), filepath.Join(t.TempDir(), "key.pem")
	_, err := harness.Run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
		"-nodes", "-days", "1", "-subj", "/CN=stand-in",
		"-addext", "subjectAltName=DNS:cognito-idp."+template.Region+".amazonaws.com", "-out", certificate, "-keyout", key)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, key
}

// set sets an environment variable for the commands that follow.
func (a *account) set(name, value string) { a.env = append(a.env, name+"="+value) }

// operations defines the functions of docs/operations.sh.
const operations = ". docs/operations.sh\n"

// output returns an output of the stack.
func (a *account) output(t *testing.T, name string) string {
	t.Helper()
	return lastLine(a.run(t, operations+"output "+name))
}

// run runs commands in the copy of the project, and returns their output. It answers all
// questions with y.
func (a *account) run(t *testing.T, script string) string {
	t.Helper()
	return a.runIn(t, a.dir, script)
}

func (a *account) runIn(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, a.env, strings.NewReader(strings.Repeat("y\n", 9))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s\nfails: %v\n%s%s", script, err, out, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// log returns the end of the stand-in's log.
func (a *account) log() string {
	text := a.process.Stderr.String() + a.process.Stdout.String()
	return text[max(0, len(text)-5000):]
}
