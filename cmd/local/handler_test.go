package main

import (
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/issuer"
	"example.com/plantstore/internal/plants/plantstest"
)

// setUp returns the handler of all requests, with a store in memory.
func setUp(t *testing.T, o options, cfg config.Config, stderr io.Writer, origins ...string) http.Handler {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	var own *issuer.Issuer
	var err error
	if cfg.Tokens.Issuer == "" {
		if own, err = issuer.Open(o.data, handlers.Scopes()); err != nil {
			t.Fatal(err)
		}
	}
	verifier, err := newVerifier(t.Context(), own, cfg.Tokens, log, stderr)
	if err != nil {
		t.Fatal(err)
	}
	return newHandler(o, origins, own, handlers.New(new(plantstest.Memory), verifier, log))
}

// Another issuer's keys are fetched before the first request needs them. If the issuer
// doesn't provide them, the program prints a warning.
func TestKeysAtStart(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	for provided, want := range map[bool]int{true: 200, false: 503} {
		keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if provided {
				w.Write(issuer.JWKS())
			}
		}))
		cfg := config.Config{
			Tokens: auth.Config{Issuer: authtest.IssuerURL, Audiences: []string{authtest.Audience}, KeysURL: keys.URL},
		}
		var stderr strings.Builder
		handler := setUp(t, options{}, cfg, &stderr)
		keys.Close()
		r, w := httptest.NewRequest("GET", "/plants", nil), httptest.NewRecorder()
		r.Header.Set("Authorization", "Bearer "+issuer.Sign(authtest.Claims("alice")))
		handler.ServeHTTP(w, r)
		const warning = "tokens get 503 until"
		if got := stderr.String(); w.Code != want || strings.Contains(got, warning) == provided || provided && got != "" {
			t.Errorf("keys provided: %t: a request gets %d, want %d; it prints %q", provided, w.Code, want, got)
		}
		w = httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", "/docs/issuer.js", nil))
		if !strings.Contains(w.Body.String(), "null") {
			t.Error("the page describes an issuer that the program doesn't have")
		}
	}
}

// The service accepts the create that the start-up messages suggest.
func TestFirstPlant(t *testing.T) {
	issuer := authtest.NewIssuer(t)
	keys, err := auth.ParseKeySet(issuer.JWKS())
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Config{
		Tokens: auth.Config{Issuer: authtest.IssuerURL, Audiences: []string{authtest.Audience}, Keys: keys},
	}
	r, w := httptest.NewRequest("POST", "/plants", strings.NewReader(firstPlant)), httptest.NewRecorder()
	r.Header.Set("Authorization", "Bearer "+issuer.Token("alice", handlers.Scopes()...))
	if setUp(t, options{}, cfg, io.Discard).ServeHTTP(w, r); w.Code != 200 {
		t.Errorf("a create of firstPlant gets %d %s", w.Code, w.Body)
	}
}

// If keys are fetched over https and Go would ignore SSL_CERT_FILE, one line says why.
func TestCertFile(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("Go ignores the variable here")
	}
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	der := server.Certificate().Raw
	valid := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	const noPEM = " contains no certificate in PEM; name a PEM file"
	for _, test := range []struct{ keysURL, content, want string }{
		{"https://127.0.0.1:1", valid, ""},
		{"https://127.0.0.1:1", "a comment\r\n" + strings.ReplaceAll(valid, "\n", "\r\n"), ""},
		{"https://127.0.0.1:1", string(der), noPEM},
		{"https://127.0.0.1:1", "\ufeff" + valid, noPEM},
		{"https://127.0.0.1:1", valid[:len(valid)/2], noPEM},
		{"https://127.0.0.1:1", "", ": no such file or directory; name a PEM file"},
		{"http://127.0.0.1:1", "", ""},
	} {
		name := filepath.Join(t.TempDir(), "ca.pem")
		if test.content != "" {
			if err := os.WriteFile(name, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("SSL_CERT_FILE", name)
		tokens := auth.Config{Issuer: authtest.IssuerURL, Audiences: []string{authtest.Audience}, KeysURL: test.keysURL}
		var stderr strings.Builder
		setUp(t, options{}, config.Config{Tokens: tokens}, &stderr)
		warning, _, _ := strings.Cut(stderr.String(), "\nwarning: tokens get")
		if warned := strings.HasPrefix(warning, "warning: SSL_CERT_FILE"); warned != (test.want != "") ||
			warned && !strings.Contains(warning, name+test.want) {
			t.Errorf("%q: got %q", test, warning)
		}
	}
}

// A client that reaches the program under the host name of -addr gets a token. One that
// reaches it from another machine, or by a page whose host name resolves to this one (DNS
// rebinding), does not, unless -expose-issuer lets other machines.
func TestTokenHosts(t *testing.T) {
	named, exposed := options{addr: "plants.test:8080"}, options{addr: "0.0.0.0:8080", exposeIssuer: true}
	for _, test := range []struct {
		options
		host   string
		status int
	}{
		{named, "plants.test", 200}, {named, "localhost", 200}, {named, "other.test", 403}, {named, "192.0.2.1", 403},
		{exposed, "192.0.2.1", 200}, {exposed, "other.test", 403},
	} {
		test.data = t.TempDir()
		r := httptest.NewRequest("POST", "http://"+test.host+":8080/oauth2/token",
			strings.NewReader("grant_type=client_credentials&client_id=alice"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		if setUp(t, test.options, config.Config{}, io.Discard).ServeHTTP(w, r); w.Code != test.status {
			t.Errorf("%s of %s: %d %s, want status %d", test.host, test.addr, w.Code, w.Body, test.status)
		}
	}
}

// The program says that it serves, at one path that is not in the OpenAPI document.
func TestHealth(t *testing.T) {
	handler := setUp(t, options{data: t.TempDir()}, config.Config{}, io.Discard)
	for _, test := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/healthz", 200}, {"HEAD", "/healthz", 200}, {"POST", "/healthz", 404},
		{"GET", "/healthz/", 404}, {"GET", "/%68ealthz", 404},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(test.method, "http://localhost"+test.path, nil))
		if w.Code != test.status || w.Header().Get("Cache-Control") != "no-store" ||
			(w.Body.String() == "ok\n") != (w.Code == 200) {
			t.Errorf("%s %s: %d %v %q, want status %d", test.method, test.path, w.Code, w.Header(), w.Body, test.status)
		}
	}
}
