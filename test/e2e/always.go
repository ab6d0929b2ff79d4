package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// checkAlways checks what holds for every answer of the service: no cache may
// keep it, its body is JSON on lines of its own, a failure has the Error shape,
// and it carries the header that HTTP demands with its status.
func checkAlways(r request, a answer) error {
	if got := a.header.Values("Cache-Control"); !slices.Equal(got, []string{"no-store"}) {
		return fmt.Errorf("Cache-Control is %q", got)
	}
	demanded := map[int]string{
		http.StatusUnauthorized:       "WWW-Authenticate", // RFC 9110 section 15.5.2
		http.StatusMethodNotAllowed:   "Allow",            // section 15.5.6
		http.StatusServiceUnavailable: "Retry-After",      // section 15.6.4
	}
	if name := demanded[a.status]; name != "" && a.header.Get(name) == "" {
		return fmt.Errorf("status %d without %s", a.status, name)
	}
	if a.status == http.StatusNoContent {
		if values, ok := a.header["Content-Type"]; ok {
			return fmt.Errorf("no content, but its Content-Type is %q", values)
		}
		return nil
	}
	if got := a.header.Values("Content-Type"); !slices.Equal(got, []string{"application/json"}) {
		return fmt.Errorf("Content-Type is %q", got)
	}
	if r.method == http.MethodHead {
		return nil
	}
	if !bytes.HasSuffix(a.body, []byte("\n")) || !json.Valid(a.body) {
		return fmt.Errorf("the body is not JSON with a line break at its end")
	}
	if a.status >= 400 {
		return checkError(a)
	}
	return nil
}

// checkError checks the Error shape: two members and no more, the number of
// which belongs to the status.
func checkError(a answer) error {
	var members map[string]json.RawMessage
	var body struct {
		Error   int32  `json:"error"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(a.body, &members); err != nil {
		return err
	}
	if err := json.Unmarshal(a.body, &body); err != nil {
		return err
	}
	switch {
	case len(members) != 2 || members["error"] == nil || members["message"] == nil:
		return fmt.Errorf("the body has not the Error shape")
	case int(body.Error)/100 != a.status:
		return fmt.Errorf("error %d does not belong to status %d", body.Error, a.status)
	case body.Message == "":
		return fmt.Errorf("the message is empty")
	}
	return nil
}
