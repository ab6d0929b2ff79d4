package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// noEnv is an empty environment.
func noEnv(string) string { return "" }

func TestParseFlags(t *testing.T) {
	dynamodb := func(name string) string {
		return map[string]string{endpointVariable: "http://127.0.0.1:8000"}[name]
	}
	for _, test := range []struct {
		args   string
		getenv func(string) string
		want   options
		err    string
	}{
		{"", noEnv, options{addr: "127.0.0.1:8080", data: ".data", store: "bolt"}, ""},
		{"", dynamodb, options{addr: "127.0.0.1:8080", data: ".data", store: "dynamodb", endpoint: "http://127.0.0.1:8000"}, ""},
		{"-store bolt -data d -addr :0 -expose-issuer", dynamodb,
			options{addr: ":0", data: "d", store: "bolt", endpoint: "http://127.0.0.1:8000", exposeIssuer: true}, ""},
		{"-store sqlite", noEnv, options{}, "-store"},
		{"-data=", noEnv, options{}, "-data"},
		{"-version", noEnv, options{}, "-version"},
		{"serve", noEnv, options{}, "serve"},
		{"-addr 8080", noEnv, options{}, "-addr 8080: use HOST:PORT, such as 127.0.0.1:8080, with a port up to 65535; see -help"},
		{"-addr :65536", noEnv, options{}, "-addr :65536: use HOST:PORT"},
	} {
		var stderr bytes.Buffer
		got, err := parseFlags(strings.Fields(test.args), test.getenv, &stderr)
		if test.err == "" && (err != nil || got != test.want) {
			t.Errorf("%q: got %+v, %v, want %+v", test.args, got, err, test.want)
		}
		if test.err != "" && (!errors.Is(err, errUsage) || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%q: got %v, want one line with %q", test.args, err, test.err)
		}
		if stderr.Len() > 0 {
			t.Errorf("%q: printed %q besides its error", test.args, &stderr)
		}
	}
	var help bytes.Buffer
	if _, err := parseFlags([]string{"-help"}, noEnv, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-expose-issuer") {
		t.Errorf("-help: %v, %q", err, &help)
	}
}

// Package e2e has other errors of the address.
func TestAddrError(t *testing.T) {
	const want = "-addr :80: permission denied: choose a port of 1024 or higher"
	if got := addrError(":80", &net.OpError{Op: "listen", Err: addressForbidden}); got.Error() != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// setAWS clears the SDK's variables, and then sets one of them.
func setAWS(t *testing.T, name, value string) {
	for name, value := range map[string]string{
		endpointVariable: "", "AWS_REGION": "eu-central-1", "AWS_PROFILE": "", "AWS_ACCESS_KEY_ID": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "",
		"AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_CONFIG_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	t.Setenv(name, value)
}

// Without credentials, a program that would use AWS says so at once, also if the
// SDK ignores the endpoint. Package e2e has the other settings that stop it.
func TestNoCredentials(t *testing.T) {
	setAWS(t, endpointVariable, "http://127.0.0.1:1")
	t.Setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err := run(ctx, []string{"-addr", "127.0.0.1:0", "-data", t.TempDir()}, os.Getenv, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "set AWS_PROFILE") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one line", err)
	}
}

// A single is a listener that accepts one connection.
type single struct {
	net.Listener
	conn net.Conn
}

func (s *single) Accept() (conn net.Conn, err error) {
	if conn, s.conn = s.conn, nil; conn == nil {
		err = net.ErrClosed
	}
	return conn, err
}

func (*single) Close() error { return nil }

// A request has 9.5 s, and a client that doesn't read its response is cut off.
func TestWriteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, conn := net.Pipe()
		go io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		serve(t.Context(), &single{conn: conn}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
			if deadline, _ := r.Context().Deadline(); time.Until(deadline) != requestTimeout {
				t.Errorf("the context ends in %v, want %v", time.Until(deadline), requestTimeout)
			}
			if _, err := w.Write(make([]byte, 1<<20)); err == nil || time.Since(start) != 30*time.Second {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
		}), io.Discard)
		time.Sleep(time.Minute) // serve doesn't wait for the request
	})
}

// The program waits for credentials and for DynamoDB Local only for a while, and
// only until Ctrl-C.
func TestNoResponse(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections, and no more
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	defer func(d time.Duration) { startTimeout = d }(startTimeout)
	for _, name := range []string{endpointVariable, "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		for _, limits := range [][2]time.Duration{{100 * time.Millisecond, time.Minute}, {time.Minute, 100 * time.Millisecond}} {
			setAWS(t, name, "http://"+silent.Addr().String())
			ctx, cancel := context.WithTimeout(t.Context(), limits[0]) // the user's
			startTimeout = limits[1]
			start := time.Now()
			err := run(ctx, []string{"-addr", "127.0.0.1:0", "-store", "dynamodb"}, os.Getenv, io.Discard, io.Discard)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 30*time.Second {
				t.Errorf("%s, %v: got %v, want an error when the time is up", name, limits, err)
			}
		}
	}
}
