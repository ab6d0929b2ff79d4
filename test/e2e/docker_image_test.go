//go:build docker && unix

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
)

// TestDockerImage builds the image and runs it. Its program fetches the keys of the issuer
// over https, without root's rights, and its plants outlive it.
func TestDockerImage(t *testing.T) {
	needEngine(t)
	issuer := authtest.NewIssuer(t)
	port, certificate := serveKeys(t, issuer.JWKS())
	image, volume := buildImage(t, certificate), "plantstore-"+rand.Text()
	t.Cleanup(func() { docker(t, "volume", "rm", volume) })
	if got := docker(t, "run", "--rm", image, "-version"); !strings.Contains(got, " "+imageVersion+" go1.") {
		t.Errorf("-version prints %q", got)
	}
	user := docker(t, "inspect", "--format", "{{.Config.User}}", image)
	if !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(user) {
		t.Errorf("the program runs as %q, want numbers, which Kubernetes can tell from root's", user)
	}
	run := func() (base string, remove func()) {
		id := docker(t, "run", "--detach", "--publish", "127.0.0.1::8080", "--volume", volume+":/data",
			"--add-host", hostName+":host-gateway",
			"--env", config.EnvTokenIssuer+"="+authtest.IssuerURL,
			"--env", config.EnvTokenAudience+"="+authtest.Audience,
			"--env", config.EnvTokenJWKSURL+"=https://"+hostName+":"+port,
			image)
		t.Cleanup(func() { docker(t, "rm", "--force", id) }) // does nothing after remove
		harness.Await(t, func() error {
			if state := docker(t, "inspect", "--format", "{{.State.Status}}", id); state != "running" {
				logs, err := exec.Command("docker", "logs", id).CombinedOutput()
				t.Fatalf("the container is %s: %s %v", state, logs, err)
			}
			base = "http://" + docker(t, "port", id, "8080")
			resp, err := http.Get(base + "/healthz")
			if err == nil {
				resp.Body.Close()
			}
			return err
		})
		return base, func() {
			docker(t, "stop", id)
			if code := docker(t, "inspect", "--format", "{{.State.ExitCode}}", id); code != "0" {
				t.Errorf("exit code %s after docker stop", code)
			}
			docker(t, "rm", id)
		}
	}
	token, basil := issuer.Token("alice"), plantstest.Example(7)
	base, remove := run()
	newClient(t, base, token).Create(basil)
	remove()
	base, remove = run()
	newClient(t, base, token).Owns(basil)
	remove()
}

// needEngine skips the test without a Docker engine, or fails it with CI=true.
func needEngine(t *testing.T) {
	t.Helper()
	if _, err := harness.Run("docker", "version", "--format", "{{.Server.Version}}"); err != nil {
		harness.Missing(t, fmt.Errorf("no Docker engine: install and start Docker (Debian: docker.io): %w", err))
	}
}

// docker runs a command of docker and returns what it prints.
func docker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := harness.Run("docker", args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

const imageVersion = "1.2.3-test"

// buildImage builds the image from the Dockerfile. Its program trusts the certificate too.
func buildImage(t *testing.T, certificate []byte) (id string) {
	t.Helper()
	proxy, err := harness.Run("go", "env", "GOPROXY")
	if err != nil {
		t.Fatal(err)
	}
	dockerfile := fmt.Appendf(nil, trustingDockerfile, goImage(t), trustingImage, strings.TrimSpace(proxy))
	dir := t.TempDir()
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "certificate.crt"), certificate, 0o600),
		os.WriteFile(filepath.Join(dir, "Dockerfile"), dockerfile, 0o600),
	); err != nil {
		t.Fatal(err)
	}
	docker(t, "build", "--quiet", "--tag", trustingImage, dir)
	t.Cleanup(func() { // the image, and those that some builders leave behind
		docker(t, "image", "rm", "--no-prune", trustingImage)
		docker(t, "image", "prune", "--force", "--filter", "label="+trustingImage)
	})
	id = docker(t, "build", "--quiet", "--network", "host",
		"--build-arg", "GO_IMAGE="+trustingImage, "--build-arg", "VERSION="+imageVersion, "../..")
	t.Cleanup(func() { docker(t, "image", "rm", id) })
	return id
}

// trustingImage is an image with Go that trusts the test's certificate and uses this
// machine's source of modules.
const trustingImage = "go-test-tools/golang-trusting"

const trustingDockerfile = `FROM %s
LABEL %s=
ENV GOPROXY=%s
COPY certificate.crt /
RUN cat /certificate.crt >>/etc/ssl/certs/ca-certificates.crt
`

// serveKeys serves a key set to containers over https. It returns the port, and the
// server's certificate as PEM.
func serveKeys(t *testing.T, keys []byte) (port string, certificate []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		DNSNames:     []string{hostName},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	listener := listenForContainers(t)
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Write(keys)
		}),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
	}
	go server.ServeTLS(listener, "", "")
	t.Cleanup(func() { server.Close() })
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	return port, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
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
