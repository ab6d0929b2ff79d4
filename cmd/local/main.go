// Command local runs the plant store as a plain HTTP server. By default it needs
// nothing else: it uses an embedded store and issues its own tokens. It can also
// use DynamoDB, and accept the tokens of another issuer.
//
// The flag -help lists the flags. docs/configuration.md describes the environment variables.
// The program prints the server's address to standard error and logs requests to
// standard output. It also serves Swagger UI at / and /docs, and the OpenAPI document at
// /openapi.yaml.
package main

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/issuer"
	"example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/swaggerui"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // or Go would end the program once the reader of its log is gone
	// The first Ctrl-C, SIGTERM or SIGHUP ends ctx, and run then finishes the requests in flight. A
	// second Ctrl-C or SIGTERM kills the process.
	ctx, stopCatching := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		ctx, _ = signal.NotifyContext(ctx, syscall.SIGHUP) // never stopped, since a terminal that closes may send two
	}
	context.AfterFunc(ctx, stopCatching)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	os.Exit(report(ctx, err, os.Stderr))
}

// report prints how run ended, and returns the exit code.
func report(ctx context.Context, err error, stderr io.Writer) int {
	switch {
	case errors.Is(err, errPrinted):
		return 0
	case err == nil, ctx.Err() != nil && errors.Is(err, ctx.Err()): // Ctrl-C, possibly during start-up
		fmt.Fprintln(stderr, "stopped")
		return 0
	}
	// On one line, even if a library's error has several.
	fmt.Fprintln(stderr, "plantstore:", strings.Join(strings.Fields(err.Error()), " "))
	if errors.Is(err, errUsage) {
		return 2
	}
	return 1
}

// release is the version of a program that is built without the repository. The Dockerfile sets it.
var release string

// errPrinted is returned when -help or -version has printed its output.
var errPrinted = errors.New("printed")

// run serves until ctx ends and the requests in flight are done. Its errors are for the
// person who started the program.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	opts, err := parseFlags(args, getenv, stderr)
	if err != nil {
		return err
	}
	if opts.version {
		info, _ := debug.ReadBuildInfo() // nil only if the program isn't built as a module
		fmt.Fprintln(stdout, info.Main.Path, cmp.Or(release, info.Main.Version), info.GoVersion)
		return errPrinted
	}
	cfg, err := config.FromEnv(getenv)
	if err != nil {
		return err
	}
	origins, err := parseOrigins(getenv(envCORSOrigins))
	if err != nil {
		return err
	}
	log := logging.New(stdout, cfg.LogLevel)

	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", opts.addr)
	if err != nil {
		return fmt.Errorf("-addr: %w: use a free HOST:PORT, such as 127.0.0.1:8081", err)
	}
	defer listener.Close()
	ownIssuer := cfg.Tokens.Issuer == ""
	if ownIssuer && !opts.exposeIssuer {
		if err := checkNotExposed(opts.addr, listener.Addr()); err != nil {
			return err
		}
	}
	if ownIssuer || opts.store == "bolt" {
		if err := createData(opts.data); err != nil {
			return err
		}
	}
	store, err := openStore(ctx, opts, cfg.TableName, getenv, log)
	if err != nil {
		return err
	}

	var localIssuer *issuer.Issuer // nil if another issuer is configured
	if ownIssuer {
		if localIssuer, err = issuer.Open(opts.data, handlers.Scopes()); err != nil {
			return err
		}
	}
	verifier, err := newVerifier(ctx, localIssuer, cfg.Tokens, log, stderr)
	if err != nil {
		return err
	}
	banner(stderr, baseURL(listener), store.where, ownIssuer, runtime.GOOS)
	service := handlers.New(store, verifier, log)
	return serve(ctx, listener, newHandler(opts, origins, localIssuer, service), store.lost, stderr)
}

// checkNotExposed returns an error if other machines can reach the program's own issuer, which gives
// anyone a token for any user.
func checkNotExposed(addr string, listening net.Addr) error {
	if listening.(*net.TCPAddr).IP.IsLoopback() {
		return nil
	}
	return fmt.Errorf("-addr %s: other machines can reach this address, and the token issuer gives anyone a token for "+
		"any user; listen on 127.0.0.1, or set %s to another issuer, or add -expose-issuer", addr, config.EnvTokenIssuer)
}

// newVerifier returns a verifier of the tokens from the program's own issuer or, if localIssuer is
// nil, from the configured one. If the configured issuer doesn't respond, newVerifier prints
// a warning to stderr.
func newVerifier(ctx context.Context, localIssuer *issuer.Issuer, tokens auth.Config, log *slog.Logger,
	stderr io.Writer,
) (*auth.Verifier, error) {
	if localIssuer != nil {
		keys, err := auth.ParseKeySet([]byte(localIssuer.JWKS()))
		if err != nil {
			return nil, err
		}
		tokens.Issuer, tokens.Audiences, tokens.Keys = issuer.Name, []string{issuer.Audience}, keys
	}
	verifier, err := auth.New(tokens, handlers.Scopes(), log)
	if err != nil {
		return nil, err
	}
	if tokens.Keys == nil && strings.HasPrefix(cmp.Or(tokens.KeysURL, tokens.Issuer), "https:") {
		checkCertFile(os.Getenv("SSL_CERT_FILE"), stderr) // not getenv: crypto/x509 reads the environment itself
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := verifier.Load(ctx); err != nil { // requests try again
		fmt.Fprintf(stderr, "warning: tokens get 503 until the issuer's keys are fetched: %v\n", err)
	}
	return verifier, nil
}

// checkCertFile warns if Go ignores the file that SSL_CERT_FILE names, and trusts only the system's authorities.
func checkCertFile(name string, stderr io.Writer) {
	if name == "" || runtime.GOOS == "windows" || runtime.GOOS == "darwin" { // there, Go doesn't read the variable
		return
	}
	data, err := os.ReadFile(name)
	if err == nil && !x509.NewCertPool().AppendCertsFromPEM(data) {
		err = fmt.Errorf("%s contains no certificate in PEM", name)
	}
	if err != nil {
		fmt.Fprintf(stderr, "warning: SSL_CERT_FILE is ignored: %v; name a PEM file that this user can read\n", err)
	}
}

// newHandler returns the handler of all requests: health, the program's own issuer if it
// isn't nil, Swagger UI, and the service.
func newHandler(o options, origins []string, localIssuer *issuer.Issuer, service http.Handler) http.Handler {
	handler := allowOrigins(origins, swaggerui.Handler(localIssuer != nil, service))
	if localIssuer != nil {
		host, _, _ := net.SplitHostPort(o.addr) // valid, since the program listens there
		handler = localIssuer.Handler(issuer.Access{Host: host, Exposed: o.exposeIssuer}, handler)
	}
	return withHealth(handler)
}
