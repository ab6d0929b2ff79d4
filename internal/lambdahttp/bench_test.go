package lambdahttp

import (
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
)

// BenchmarkInvoke compares a call through this package with one through the
// adapter alone, in a handler that does nothing.
func BenchmarkInvoke(b *testing.B) {
	event := fixture(b, create)
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		w.Write([]byte(`{"name":"Fern"}`))
	})
	for _, bm := range []struct {
		name    string
		handler lambda.Handler
	}{
		{"adapter", bare(h)},
		{"lambdahttp", ours(h)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bm.handler.Invoke(b.Context(), event); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
