package lambdalocal

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
)

// The events are the same as the service's fixtures, which follow captures of live ones.
func TestEvents(t *testing.T) {
	for name, sent := range map[string]struct {
		method, target, body string
		header               []string // names and values
	}{
		"create.json": {"POST", "/plants", `{"id":9007199254740993,"name":"Fern, “wild”","tag":""}`, []string{
			"Content-Type", "application/json", "X-Probe", "first", "X-Probe", "second",
			"Cookie", "session=abc123; theme=dark",
		}},
		"delete.json": {"DELETE", "/plants/a%20value%2525?repeat=one&repeat=two" +
			"&redirect=https%3A%2F%2Fexample.com%2Fa&literalPlus=a+b&encodedPlus=a%2Bb&empty=", "", nil},
	} {
		fixture, err := os.ReadFile("../../lambdahttp/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		want := fixed(t, fixture)
		r := httptest.NewRequest(sent.method, sent.target, strings.NewReader(sent.body))
		r.RemoteAddr = "203.0.113.7:49152"
		for _, name := range []string{"accept", "authorization", "user-agent"} {
			r.Header.Set(name, want["headers"].(object)[name].(string))
		}
		for i := 0; i < len(sent.header); i += 2 {
			r.Header.Add(sent.header[i], sent.header[i+1])
		}
		event, err := newEvent(r, []byte(sent.body), want["requestContext"].(object)["requestId"].(string))
		if err != nil {
			t.Fatal(err)
		}
		if got := fixed(t, event); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got\n%v\nwant\n%v", name, got, want)
		}
	}
}

// fixed decodes an event without the members that differ for each request, or are empty.
func fixed(t *testing.T, text []byte) (event object) {
	t.Helper()
	if err := json.Unmarshal(text, &event); err != nil {
		t.Fatal(err)
	}
	delete(event["headers"].(object), "x-amzn-trace-id")
	for _, name := range []string{"time", "timeEpoch", "authentication", "authorizer"} {
		delete(event["requestContext"].(object), name)
	}
	return event
}
