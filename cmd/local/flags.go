package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strings"

	"example.com/plantstore/internal/config"
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
	var o options
	flags := flag.NewFlagSet("local", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are returned instead, each on one line
	flags.StringVar(&o.addr, "addr", "127.0.0.1:8080", "`HOST:PORT` to listen on; port 0 picks one")
	flags.StringVar(&o.data, "data", ".data",
		"`directory` for the plants (plants.db) and the token key; created if missing")
	flags.StringVar(&o.store, "store", "", "where to keep plants: bolt, the embedded store, or dynamodb;\n"+
		"the default is dynamodb if AWS_ENDPOINT_URL_DYNAMODB is set, else bolt")
	flags.BoolVar(&o.exposeIssuer, "expose-issuer", false,
		"let other machines reach the token issuer, which gives anyone a token for any user")
	flags.BoolVar(&o.version, "version", false, "print the version of the program, and exit")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(stderr, "The plant store as a plain HTTP server.")
		flags.SetOutput(stderr)
		flags.PrintDefaults()
		fmt.Fprintln(stderr, "Environment variables, described in docs/configuration.md:\n  "+
			strings.Join(append(config.Variables, envCORSOrigins), " "))
		fmt.Fprintln(stderr, "With -store dynamodb also these, and others of the AWS SDK:\n  "+
			strings.Join(dynamoDBVariables, " "))
		return options{}, errPrinted
	}
	if err != nil {
		return options{}, fmt.Errorf("%w; %w", err, errUsage)
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q: only flags are allowed; %w", flags.Arg(0), errUsage)
	}
	if _, _, err := net.SplitHostPort(o.addr); err != nil { // the empty address would mean all
		return options{}, fmt.Errorf("-addr %q: must be HOST:PORT, such as 127.0.0.1:8080; %w", o.addr, errUsage)
	}
	if o.store == "" {
		o.store = defaultStore(getenv)
	}
	if o.store != "bolt" && o.store != "dynamodb" {
		return options{}, fmt.Errorf("-store %q: must be bolt or dynamodb; %w", o.store, errUsage)
	}
	return o, nil
}
