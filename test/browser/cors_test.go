package browser

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"go.yaml.in/yaml/v3"

	"example.com/plantstore/internal/auth/authtest"
	"example.com/plantstore/internal/config"
	"example.com/plantstore/test/dynamolocal"
	"example.com/plantstore/test/lambdalocal"
	"example.com/plantstore/test/program"
)

// A page of a listed origin uses the service on the plain server, and on Lambda
// behind an HTTP API with the CORS configuration of the template. The browser
// keeps a page of another origin from doing so.
func TestOtherOrigin(t *testing.T) {
	for name, start := range map[string]func(t *testing.T, env []string, origin string) (base string){
		"plain server": func(t *testing.T, env []string, origin string) string {
			env = append(program.Environ(env...), config.CORSOrigins+"="+origin)
			return program.Start(t, env, t.TempDir()).Base
		},
		"Lambda": func(t *testing.T, env []string, origin string) string {
			binary, err := lambdalocal.Build("cmd/lambda")
			if err != nil {
				t.Fatal(err)
			}
			_, base := lambdalocal.Start(t, lambdalocal.Options{Binary: binary, Env: env, CORS: templateCORS(t, origin)})
			return base
		},
	} {
		t.Run(name, func(t *testing.T) {
			listed, other := httptest.NewServer(emptyPage), httptest.NewServer(emptyPage)
			defer listed.Close()
			defer other.Close()
			issuer, proxy := authtest.NewIssuer(t), dynamolocal.NewProxy(t, dynamolocal.Endpoint(t))
			_, table := dynamolocal.Table(t)
			env := slices.DeleteFunc(dynamolocal.Environ(proxy.URL, table), func(kv string) bool {
				return !strings.HasPrefix(kv, "AWS_") && !strings.HasPrefix(kv, config.TableName+"=")
			})
			env = append(env, config.TokenIssuer+"="+authtest.IssuerURL, config.TokenAudience+"="+authtest.Audience, config.TokenJWKS+"="+string(issuer.JWKS()))
			p := &page{t, openBrowser(t, func(any) {}), start(t, env, listed.URL), issuer.Token("alice")}
			p.open(listed.URL)
			p.useService(proxy)
			p.open(other.URL)
			p.call("GET", "/plants", "", "TypeError: Failed to fetch")
		})
	}
}

var emptyPage = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<!DOCTYPE html><title>Page</title>") })

// templateCORS returns the CorsConfiguration of template.yaml with one origin.
func templateCORS(t *testing.T, origin string) *lambdalocal.CORS {
	t.Helper()
	text, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources map[string]struct {
			Properties struct {
				CorsConfiguration []yaml.Node `yaml:"CorsConfiguration"` // of Fn::If
			} `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	cors := &lambdalocal.CORS{AllowOrigins: []string{origin}}
	for _, resource := range template.Resources {
		if configuration := resource.Properties.CorsConfiguration; configuration != nil {
			if err := configuration[1].Decode(cors); err != nil {
				t.Fatal(err)
			}
			return cors
		}
	}
	t.Fatal("template.yaml has no CorsConfiguration")
	return nil
}

// A page calls the service at base.
type page struct {
	t           *testing.T
	ctx         context.Context
	base, token string
}

// open opens a page of another origin.
func (p *page) open(url string) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, chromedp.Navigate(url)); err != nil {
		p.t.Fatal(err)
	}
}

// useService creates, lists and deletes plants, and reads the headers that
// clients need.
func (p *page) useService(proxy *dynamolocal.Proxy) {
	p.t.Helper()
	p.call("POST", "/plants", `{"id": 1, "name": "Basil"}`, `200 {"name":"Basil"}`)
	p.call("POST", "/plants", `{"id": 2, "name": "Mint"}`, `200 {"name":"Mint"}`)
	p.call("GET", "/plants?limit=1", "", `200 [{"name":"Basil"}] Link: /plants?limit=1&cursor=AQAAAAAAAAAB`)
	p.call("GET", "/plants?limit=1&cursor=AQAAAAAAAAAB", "", `200 [{"name":"Mint"}]`)
	proxy.Always("Query", dynamolocal.Throttle)
	p.call("GET", "/plants", "", "503 ", "Retry-After: 1")
	proxy.Always("Query", nil)
	p.call("DELETE", "/plants/1", "", "204 ")
	p.call("DELETE", "/plants/2", "", "204 ")
	p.call("GET", "/plants", "", "200 []")
}

// fetchScript calls the service and returns what the page learns: status, body,
// the path of the next page and Retry-After, or the error.
const fetchScript = `fetch(%q, {
	method: %q,
	headers: {"Authorization": "Bearer %s", "Content-Type": "application/json", "Idempotency-Key": "k"},
	body: %q || null,
}).then(async response => {
	const text = response.status + " " + (await response.text()).trim()
	const next = /<(.*)>; rel="next"/.exec(response.headers.get("Link"))
	const url = next && new URL(next[1], response.url)
	const retry = response.headers.get("Retry-After")
	return text + (url ? " Link: " + url.pathname + url.search : "") + (retry ? " Retry-After: " + retry : "")
}, String)`

// call sends a request from the page. What the page learns must start and end as
// given.
func (p *page) call(method, target, body, prefix string, suffix ...string) {
	p.t.Helper()
	script := fmt.Sprintf(fetchScript, p.base+target, method, p.token, body)
	got, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatal(err)
	}
	if !strings.HasPrefix(got, prefix) || suffix == nil && got != prefix || suffix != nil && !strings.HasSuffix(got, suffix[0]) {
		p.t.Errorf("%s %s: got %q, want %q%q", method, target, got, prefix, suffix)
	}
}
