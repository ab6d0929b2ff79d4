package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"example.com/plantstore/internal/issuer"
	"example.com/plantstore/internal/logging"
	"example.com/plantstore/internal/swaggerui"
)

// requestTimeout limits the context of a request. If a request takes longer, the client
// gets 504. The limit is the same as in a deployment, where the context ends 500 ms before
// the function's timeout.
const requestTimeout = 9500 * time.Millisecond

// drainTimeout is longer than requestTimeout, so that requests in flight can finish. After
// it, clients still reading are cut off.
const drainTimeout = 10 * time.Second

// serve serves requests until ctx ends, then waits for those in flight. An error from lost ends it at once.
func serve(ctx context.Context, l net.Listener, handler http.Handler, lost <-chan error, stderr io.Writer) error {
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// Requests end by their time, not with their clients: net/http also cancels the context
			// of a client that only closes its sending side and still waits for the response.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), requestTimeout)
			defer cancel()
			host, _, _ := net.SplitHostPort(r.RemoteAddr)
			ctx = logging.With(ctx, slog.String("source_ip", host)) // in a deployment, API Gateway logs it
			handler.ServeHTTP(w, r.WithContext(ctx))
		}),
		// These limit how long slow clients hold connections. ReadTimeout is less than
		// requestTimeout, so that a slow body gets 400, not 504.
		ReadTimeout:  8 * time.Second,
		WriteTimeout: 30 * time.Second,
		// A proxy must close idle connections first, or it may send a request on one that this
		// server is closing. Caddy keeps them for 2 minutes, and Google's load balancer for 10. A
		// connection that hasn't carried a request yet ends after ReadTimeout.
		IdleTimeout: 11 * time.Minute,
		// API Gateway accepts 10 KiB. Package http allows 4 KiB more than this. In a test, 5,000
		// clients that never finished their headers made the program use 200 MB with this limit,
		// and 680 MB with 64 KiB.
		MaxHeaderBytes: 16 << 10,
		// Pass OPTIONS * to the handler too.
		DisableGeneralOptionsHandler: true,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case err := <-lost:
		return err
	case <-ctx.Done():
	}
	fmt.Fprintf(stderr, "stopping; requests in flight may take up to %v; press Ctrl-C again to stop at once\n",
		drainTimeout)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		return server.Close()
	}
	return nil
}

// baseURL returns an address to open in a browser.
func baseURL(l net.Listener) string {
	addr := l.Addr().(*net.TCPAddr)
	if addr.IP.IsUnspecified() { // listens on all addresses
		return fmt.Sprint("http://localhost:", addr.Port)
	}
	return "http://" + addr.String()
}

// firstPlant is the body of the create that banner prints. README's first create has the same, so that
// both succeed.
const firstPlant = `{"id": 7, "name": "Basil", "tag": "herb"}`

// banner prints how to use the server, with commands for the usual shell of the operating
// system goos.
func banner(w io.Writer, base, where string, ownIssuer bool, goos string) {
	fmt.Fprintf(w, "listening on %s\n", base)
	fmt.Fprintf(w, "plants are kept in %s\n", where)
	fmt.Fprintf(w, "try it in a browser: %s%s\n", base, swaggerui.Path)
	if !ownIssuer {
		return
	}
	tokens, service := base+issuer.TokenPath, base+"/plants"
	getToken := `TOKEN=$(curl -sS -d grant_type=client_credentials -d client_id=alice ` + tokens + ` | cut -d'"' -f4)`
	create := `curl -sS -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" ` +
		`-d '` + firstPlant + `' ` + service
	if goos == "windows" { // PowerShell
		getToken = `$token = (Invoke-RestMethod ` + tokens + ` -Method Post ` +
			`-Body @{ grant_type = "client_credentials"; client_id = "alice" }).access_token`
		create = `Invoke-RestMethod ` + service + ` -Method Post -ContentType application/json ` +
			`-Headers @{ Authorization = "Bearer $token" } -Body '` + firstPlant + `'`
	}
	fmt.Fprintf(w, "get a token, here for alice, valid for %v minutes, and create a plant:\n  %s\n  %s\n\n",
		issuer.Lifetime.Minutes(), getToken, create)
}
