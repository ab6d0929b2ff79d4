//go:build unix

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// What can't pass behind sam local, and what would take minutes.
const (
	slowly    = "sam local waits for the log after each call, for up to a second; the function goes through this behind lambdatest"
	slashes   = "sam local takes slashes at the begin of a path for one"
	ownAnswer = "sam local answers this by itself"
	upperCase = "sam local turns methods to upper case"
)

var samLocalLacks = map[string]string{
	"create-fields": slowly,
	"create-json":   slowly,
	"create-key":    slowly,
	"create-media":  slowly,
	"list-order":    slowly,
	"list-query":    slowly,
	"long-list":     slowly,
	"random-order":  slowly,

	"routes: //plants":   slashes,
	"routes: /%2Fplants": slashes,
	"routes: OPTIONS":    ownAnswer,
	"routes: TRACE":      ownAnswer,
	"routes: PLANT":      ownAnswer,
	"routes: get":        upperCase,
	"routes: Post":       upperCase,
	"routes: delete":     upperCase,
	"delete: 1%0A":       ownAnswer,
	"routes: A browser's question whether it may gets no yes.": ownAnswer,
}

// What README has a developer do: DynamoDB Local, cmd/local, which makes the
// table and issues the tokens, and make start-api. Then the function answers
// over HTTP, in a container.
func TestSAMLocal(t *testing.T) {
	t.Parallel()
	s := startSAMLocal(t)
	t.Run("basics", s.basics)
	target := s.target()
	target.Lag = dynamoLag
	target.Lacks = samLocalLacks
	Run(t, target)
}

func (s *samLocal) target() Target {
	return Target{Base: s.base, Token: s.issuer.token, Amend: func(answer *http.Response) {
		if answer.StatusCode == http.StatusNoContent {
			answer.Header.Del("Content-Type") // that of JSON, which sam local gives to every answer without one
		}
	}}
}

const (
	noPlant  = `{"error":40400,"message":"you have no plant with this id"}` + "\n"
	noToken  = `{"error":40100,"message":"the request needs the header Authorization: Bearer <access token>"}` + "\n"
	noObject = `{"error":40001,"message":"the body must be one JSON object: unexpected end"}` + "\n"
)

// basics checks the answers that everything else builds on, word for word.
func (s *samLocal) basics(t *testing.T) {
	c := newClient(s.target())
	defer c.transport.CloseIdleConnections()
	id := fmt.Sprint(randomID())
	token := bearer(s.issuer.token(t, TokenRequest{Subject: newSubject()}))
	json := append(slices.Clone(token), "Content-Type: application/json")
	for _, x := range []struct {
		r      request
		status int
		body   string
	}{
		{request{"POST", "/plants", json, []byte(`{"id":` + id + `,"name":"Basil","tag":"herb"}`)}, 200, `{"name":"Basil","tag":"herb"}` + "\n"},
		{request{"GET", "/plants?include=id", token, nil}, 200, `[{"id":` + id + `,"name":"Basil","tag":"herb"}]` + "\n"},
		{request{"DELETE", "/plants/" + id, token, nil}, 204, ""},
		{request{"DELETE", "/plants/" + id, token, nil}, 404, noPlant},
		{request{"GET", "/plants", token, nil}, 200, "[]\n"},
		{request{"GET", "/plants", nil, nil}, 401, noToken},
		{request{"POST", "/plants", json, []byte(`{"id":`)}, 400, noObject},
	} {
		a, err := c.send(t, x.r)
		if err != nil {
			t.Fatal(err)
		}
		if a.status != x.status || string(a.body) != x.body {
			t.Errorf("want %d and %q:\n%s%s", x.status, x.body, x.r, a)
		}
	}
}

// Without an engine the test is skipped, and in CI it fails. Both say what to do.
func TestSAMLocalWithoutDocker(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for ci, want := range map[string]string{"": "--- SKIP", "true": "--- FAIL"} {
		cmd := exec.Command(self, "-test.run=^TestSAMLocal$", "-test.v")
		cmd.Env = append(os.Environ(), "CI="+ci, "DOCKER_HOST=tcp://127.0.0.1:1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal to tell
		out, err := cmd.CombinedOutput()
		if (err == nil) != (ci == "") {
			t.Errorf("CI=%s: the test binary ended with %v", ci, err)
		}
		for _, want := range []string{want, "no Docker engine for sam local", "docker.io"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("CI=%s: the output does not mention %q:\n%s", ci, want, out)
			}
		}
	}
}
