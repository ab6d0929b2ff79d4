//go:build contract

package contract

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants"
	"example.com/plantstore/internal/plants/plantstest"
	"example.com/plantstore/internal/testing/harness"
	"example.com/plantstore/test/plainserver"
)

// unusualPlants returns the body of a list of plants with unusual names and tags, in ascending
// order of id. The first and the last id are the smallest and the largest that a client supports.
func unusualPlants(first, last int64) string {
	blank, untagged, control := plantstest.Example(first), plantstest.Example(0), plantstest.Example(last)
	blank.Name, blank.Tag = " Basil", new("")
	untagged.Name, untagged.Tag = strings.Repeat("🌱", plants.MaxNameLength), nil
	control.Name = "\u2028\x00"
	return fmt.Sprintf("[%s,%s,%s]",
		plantstest.CreateJSON(blank), plantstest.CreateJSON(untagged), plantstest.CreateJSON(control))
}

// Generated clients accept what the service accepts, and what it returns.
func TestClients(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]struct {
		bits int // of integers
		run  func(t *testing.T, args ...string)
	}{
		"Python":     {64, runPython},
		"Go":         {64, runGo},
		"TypeScript": {54, runTypeScript},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := int64(1)<<(client.bits-1) - 1
			first := -last - 1
			if client.bits < 64 {
				first = -last // JavaScript's least safe integer
			}
			// Each client has its own server, since their users would share ids.
			server := plainserver.Start(t, harness.Environ(), t.TempDir())
			token := server.Token(t, url.Values{"client_id": {name}})
			client.run(t, startProxy(t, server.Base), token, unusualPlants(first, last))
		})
	}
}

// startProxy starts a proxy in front of the server and returns its address. It replaces
// headers, as proxies do, and adds a member to each object, as a later version may.
func startProxy(t *testing.T, server string) string {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(resp *http.Response) error {
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		body = bytes.ReplaceAll(body, []byte(`{"`), []byte(`{"later":[],"`))
		resp.Body = io.NopCloser(bytes.NewReader(body))
		resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
		resp.Header.Set("Cache-Control", "private")
		resp.Header.Set("X-Request-Id", "the proxy's")
		if resp.StatusCode == http.StatusNoContent {
			resp.Header.Del("Content-Length")
		}
		return nil
	}
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	return front.URL
}

// generate makes a client with openapi-generator.
func generate(t *testing.T, dir, options string) {
	t.Helper()
	installed, err := installJar()
	if err != nil {
		t.Fatalf("openapi-generator can't be installed; it needs Maven: %v", err)
	}
	run(t, dir, harness.Environ(),
		`java -XX:TieredStopAtLevel=1 -jar "$1"/*.jar generate --input-spec openapi.yaml `+options, installed)
}

func runPython(t *testing.T, args ...string) {
	dir := workspace(t, "client.py")
	generate(t, dir, "--generator-name python --output .")
	run(t, dir, harness.Environ(), `"$1" client.py "$2" "$3" "$4"`, append([]string{python(t)}, args...)...)
}

// The options are those of docs/interface.md.
func runGo(t *testing.T, args ...string) {
	dir := workspace(t, "client.go")
	generate(t, dir, "--generator-name go --output openapi --model-name-mappings NewPlant=PlantToCreate "+
		"--additional-properties disallowAdditionalPropertiesIfNotPresent=false --package-name openapi")
	run(t, dir, harness.Environ("GOFLAGS=-mod=mod"), `
		rm -r openapi/go.mod openapi/go.sum openapi/test
		go mod init client
		go vet ./...
		go run . "$@"`, args...)
}

func runTypeScript(t *testing.T, args ...string) {
	dir := workspace(t, "client.ts", "openapi-ts.config.mjs")
	run(t, dir, node(t, dir), `
		openapi-ts
		tsc --strict --target es2022 --module nodenext --moduleResolution nodenext --skipLibCheck --outDir out client.ts
		node out/client.js "$@"`, args...)
}
