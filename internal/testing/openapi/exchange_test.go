package openapi

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/plantstore/internal/plants/plantstest"
)

// Validate accepts an exchange without a fault, and detects each fault below. A fault that
// it misses could hide a fault of the service.
func TestValidate(t *testing.T) {
	d := Read()
	fails := func(sent, received string) bool {
		t.Helper()
		req := httptest.NewRequest("POST", "/plants", nil)
		resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(received)), req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		return errors.Join(err, d.Validate(req, []byte(sent), resp, body)) != nil
	}
	allowed, plant := plantstest.CreateJSON(plantstest.Example(7)), plantstest.ResponseJSON(plantstest.Example(7))
	forbidden := strings.Replace(allowed, "7", "7.0", 1)
	const head = "Cache-Control: no-store\nX-Content-Type-Options: nosniff\nX-Request-Id: x\n" +
		"Content-Type: application/json\n\n"
	accepted, refused := "HTTP/1.1 200 OK\n"+head+plant, "HTTP/1.1 400 Bad Request\n"+head+`{"error":40002,"message":"x"}`
	for _, test := range []struct {
		sent, received string
		fails          bool
	}{{allowed, accepted, false}, {forbidden, refused, false}, {allowed, refused, true}, {forbidden, accepted, true}} {
		if fails(test.sent, test.received) != test.fails {
			t.Errorf("Validate returns an error: %t, want %t, for\n%s\n%s", !test.fails, test.fails, test.sent, test.received)
		}
	}
	for _, fault := range [][2]string{
		{"200 OK", "201 Created"}, {"no-store", "no-store\nCache-Control: no-store"},
		{"X-Request", "X-Other: x\nX-Request"}, {"application/json", "text/plain"},
		{`"name":`, `"name":7,"x":`}, {"{", "{}{"}, {"{", `{"name":"x",`},
	} {
		if !fails(allowed, strings.Replace(accepted, fault[0], fault[1], 1)) {
			t.Errorf("%q instead of %q passes", fault[1], fault[0])
		}
	}
	if !fails(forbidden, strings.Replace(refused, "40002", "40006", 1)) {
		t.Error("the error of another operation passes")
	}
	missing := strings.Join(d.Missing(), "\n")
	if !strings.Contains(missing, "GET /plants never has the status 200") ||
		strings.Contains(missing, "POST /plants never has the status 200") {
		t.Errorf("after these exchanges this is missing:\n%s", missing)
	}
}
