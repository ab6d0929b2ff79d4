package lambdalocal

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// StartAPI starts Lambda's API with one function, which invoke implements, beside
// another API. It returns the address.
// https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
func StartAPI(tb testing.TB, name string, invoke func(context.Context, []byte) ([]byte, error), other http.HandlerFunc) string {
	mux := http.NewServeMux()
	mux.HandleFunc("/", other)
	mux.HandleFunc("POST /2015-03-31/functions/"+name+"/invocations", func(w http.ResponseWriter, r *http.Request) {
		payload, _ := io.ReadAll(r.Body)
		response, err := invoke(r.Context(), payload)
		if err != nil {
			w.Header().Set("X-Amz-Function-Error", "Unhandled")
			response = fmt.Appendf(nil, `{"errorMessage":%q}`, err)
		}
		w.Write(response)
	})
	server := httptest.NewServer(mux)
	tb.Cleanup(server.Close)
	return server.URL
}
