package dynamolocal

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Requests meet the faults of their operation in order.
func TestProxyFaults(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(299) }))
	defer upstream.Close()
	p := NewProxy(t, upstream.URL)
	p.Fail("PutItem", Throttle, nil, Unavailable)
	p.Always("DeleteItem", Cut)

	call := func(operation, body string) int {
		req, err := http.NewRequestWithContext(t.Context(), "POST", p.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	var got []int
	for _, operation := range []string{"PutItem", "PutItem", "DeleteItem", "PutItem", "PutItem", "DeleteItem"} {
		got = append(got, call(operation, `{"TableName":"plants"}`))
	}
	got = append(got, call("Query", `{"TableName":"plants","IndexName":"owner-index"}`))
	p.Always("DeleteItem", nil)
	got = append(got, call("DeleteItem", `{"TableName":"plants"}`))
	if want := []int{400, 299, 0, 503, 299, 0, 299, 299}; !slices.Equal(got, want) {
		t.Errorf("statuses %v, want %v", got, want)
	}

	if got := p.Count("PutItem"); got != 4 {
		t.Errorf("%d PutItem, want 4", got)
	}
	want := map[string][]string{"table": {"dynamodb:DeleteItem", "dynamodb:PutItem"}, "index": {"dynamodb:Query"}}
	if got := p.Actions(); !reflect.DeepEqual(got, want) {
		t.Errorf("actions %v, want %v", got, want)
	}
}
