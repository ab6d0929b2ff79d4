package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// checkAlways checks what holds for every answer of the service: caches must not
// store it, its body is JSON that ends with a newline, a failure has the Error
// shape, and it has the headers that HTTP requires for its status.
func checkAlways(r request, a answer) error {
	if got := a.header.Values("Cache-Control"); !slices.Equal(got, []string{"no-store"}) {
		return fmt.Errorf("Cache-Control is %q, want no-store", got)
	}
	required := map[int]string{
		http.StatusUnauthorized:       "WWW-Authenticate", // RFC 9110 section 15.5.2
		http.StatusMethodNotAllowed:   "Allow",            // section 15.5.6
		http.StatusServiceUnavailable: "Retry-After",      // section 15.6.4
	}
	if name := required[a.status]; name != "" && a.header.Get(name) == "" {
		return fmt.Errorf("status %d without %s", a.status, name)
	}
	if a.status == http.StatusNoContent {
		if values, ok := a.header["Content-Type"]; ok {
			return fmt.Errorf("status 204 with Content-Type %q", values)
		}
		return nil
	}
	if got := a.header.Values("Content-Type"); !slices.Equal(got, []string{"application/json"}) {
		return fmt.Errorf("Content-Type is %q, want application/json", got)
	}
	if r.method == http.MethodHead {
		return nil
	}
	if !bytes.HasSuffix(a.body, []byte("\n")) || !jsontext.Value(a.body).IsValid() {
		return fmt.Errorf("the body is not JSON with a newline at the end")
	}
	if a.status >= 400 {
		return checkError(a)
	}
	return nil
}

// checkError checks the Error shape, with a code that belongs to the status.
func checkError(a answer) error {
	var body struct {
		Error   int32  `json:"error"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(a.body, &body, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("the body doesn't have the Error shape: %w", err)
	}
	if int(body.Error)/100 != a.status || body.Message == "" {
		return fmt.Errorf("error %d with message %q does not belong to status %d", body.Error, body.Message, a.status)
	}
	return nil
}
