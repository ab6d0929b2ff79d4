package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/plantstore/internal/auth"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/internal/handlers"
	"example.com/plantstore/internal/issuer"
	"example.com/plantstore/internal/page"
	"example.com/plantstore/internal/plants"
)

// options are the command-line flags.
type options struct {
	addr         string
	data         string
	store        string
	exposeIssuer bool
	version      bool
}

// errUsage is part of every error about the command line.
var errUsage = errors.New("see -help")

func parseFlags(args []string, getenv func(string) string, stderr io.Writer) (options, error) {
	o := options{addr: "127.0.0.1:8080"}
	flags := flag.NewFlagSet("local", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are returned instead, each on one line
	flags.Func("addr", "`address` to listen on; port 0 picks one (default "+o.addr+")", func(addr string) error {
		o.addr = addr
		_, _, err := net.SplitHostPort(addr)
		if err == nil {
			_, err = net.ResolveTCPAddr("tcp", addr)
		}
		if err != nil {
			return fmt.Errorf("%w: use HOST:PORT, such as 127.0.0.1:8081", err)
		}
		return nil
	})
	flags.StringVar(&o.data, "data", ".data", "`directory` for the plants (plants.db) and the token key; created if missing")
	flags.StringVar(&o.store, "store", "", "where to keep plants: bolt, the embedded store, or dynamodb, on AWS or at AWS_ENDPOINT_URL_DYNAMODB"+
		"; the default is dynamodb if that is set, else bolt")
	flags.BoolVar(&o.exposeIssuer, "expose-issuer", false, "let other machines reach the token issuer, which gives anyone a token for any user; also allows CORS_ORIGINS=*")
	flags.BoolVar(&o.version, "version", false, "print the version of the program, and exit")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(stderr, "The plant store as a plain HTTP server.")
		flags.SetOutput(stderr)
		flags.PrintDefaults()
		fmt.Fprintln(stderr, "Environment variables, described in docs/configuration.md:\n  "+strings.Join(config.Variables, " "))
		fmt.Fprintln(stderr, "With -store dynamodb also these, and others of the AWS SDK:\n  "+strings.Join(dynamoDBVariables, " "))
		return options{}, errPrinted
	}
	if err != nil {
		return options{}, fmt.Errorf("%w; %w", err, errUsage)
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q: only flags are allowed; %w", flags.Arg(0), errUsage)
	}
	if o.store == "" {
		o.store = defaultStore(getenv)
	}
	if o.store != "bolt" && o.store != "dynamodb" {
		return options{}, fmt.Errorf("-store %q: must be bolt or dynamodb; %w", o.store, errUsage)
	}
	return o, nil
}

// A storage is the store of plants, and what the program needs to close and describe it.
type storage struct {
	plants.Store
	close func() error
	where string // for the start-up messages
}

// newVerifier returns the verifier of tokens. If no other issuer is configured, it also
// returns the program's own issuer, whose key it creates in the data directory. If another
// issuer doesn't respond, it prints a warning to stderr.
func newVerifier(ctx context.Context, dir string, tokens auth.Config, log *slog.Logger, stderr io.Writer) (*auth.Verifier, *issuer.Issuer, error) {
	var own *issuer.Issuer
	if tokens.Issuer == "" {
		var err error
		if own, err = issuer.Open(dir, handlers.Scopes()); err != nil {
			return nil, nil, err
		}
		tokens.Issuer, tokens.Audiences = issuer.Name, []string{issuer.Audience}
		if tokens.Keys, err = auth.ParseKeySet([]byte(own.JWKS())); err != nil {
			return nil, nil, err
		}
	}
	verifier, err := auth.New(tokens, handlers.Scopes(), http.DefaultClient, log)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := verifier.Load(ctx); err != nil { // requests try again
		fmt.Fprintf(stderr, "warning: requests get 503 until the issuer %q provides its keys: %v\n", tokens.Issuer, err)
	}
	return verifier, own, nil
}

// newHandler returns the handler of all requests: health, the program's own issuer if it
// isn't nil, Swagger UI, and the service.
func newHandler(o options, origins []string, own *issuer.Issuer, service http.Handler) http.Handler {
	handler := allowOrigins(origins, page.Handler(own != nil, service))
	if own != nil {
		host, _, _ := net.SplitHostPort(o.addr) // valid, since the program listens there
		handler = own.Handler(issuer.Access{Host: host, Exposed: o.exposeIssuer}, handler)
	}
	return withHealth(handler)
}

// checkNotExposed returns an error if other machines, or all web pages in the
// user's browser, can reach the program's own issuer, which gives anyone a token
// for any user.
func checkNotExposed(addr string, listening net.Addr, origins []string) error {
	const (
		danger = "and the token issuer gives anyone a token for any user"
		remedy = "or set " + config.EnvTokenIssuer + " to another issuer, or add -expose-issuer"
	)
	if !listening.(*net.TCPAddr).IP.IsLoopback() {
		return fmt.Errorf("-addr %s: other machines can reach this address, %s; listen on 127.0.0.1, %s", addr, danger, remedy)
	}
	if slices.Contains(origins, "*") {
		return fmt.Errorf("%s=*: every web page can use this server, %s; list the origins of your pages, %s", config.EnvCORSOrigins, danger, remedy)
	}
	return nil
}
