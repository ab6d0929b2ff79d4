// Package docs serves the service's OpenAPI document, and a page where a person
// can try what it describes: Swagger UI, from files that the program carries.
// Nothing is loaded from elsewhere.
package docs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"path"
	"sync"
	"time"

	"github.com/swaggest/swgui/v5/static" // the files of Swagger UI, without code

	"example.com/plantstore/api"
)

// The paths that a person is told; what the page loads lies below /docs/.
const (
	PagePath     = "/"
	DocumentPath = "/openapi.yaml"
)

// policy lets the page run its own files and talk to its own server, and do
// nothing else (Content Security Policy Level 3). Swagger UI has some images in
// its style sheet, hence data:.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed page.html page.css page.js
var own embed.FS

var page = template.Must(template.ParseFS(own, "page.html"))

// Handler answers a GET or HEAD of the document, of the page and of what the
// page loads, and leaves all other requests to service, whatever their path.
//
// TokenPath is where the page gets tokens, with the client credentials grant
// (RFC 6749 section 4.4). If it is empty, the page asks for one to be pasted.
func Handler(tokenPath string, service http.Handler) http.Handler {
	files := map[string]func() file{
		PagePath:                     sync.OnceValue(func() file { return newFile("text/html; charset=utf-8", render(tokenPath)) }),
		DocumentPath:                 sync.OnceValue(func() file { return newFile("application/yaml", api.Document) }), // RFC 9512
		"/docs/page.css":             embedded("text/css; charset=utf-8", own, "page.css"),
		"/docs/page.js":              embedded("text/javascript; charset=utf-8", own, "page.js"),
		"/docs/swagger-ui.css":       embedded("text/css; charset=utf-8", static.FS, "swagger-ui.css.gz"),
		"/docs/swagger-ui-bundle.js": embedded("text/javascript; charset=utf-8", static.FS, "swagger-ui-bundle.js.gz"),
		"/docs/favicon-32x32.png":    embedded("image/png", static.FS, "favicon-32x32.png"),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		get, ok := files[r.URL.Path]
		if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
			service.ServeHTTP(w, r)
			return
		}
		get().serve(w, r)
	})
}

// A file is what is served at one path.
type file struct {
	contentType string
	etag        string
	body        []byte
}

func newFile(contentType string, body []byte) file {
	sum := sha256.Sum256(body)
	return file{contentType, fmt.Sprintf(`"%x"`, sum[:16]), body}
}

// serve answers a GET or HEAD. A browser asks each time whether the file is
// still the same, so that a new version of the program is seen at once.
func (f file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", f.etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body))
}

// embedded returns the file of that name, unpacked when it is first wanted: the
// largest takes longer than all else that the program does when it starts.
func embedded(contentType string, from fs.FS, name string) func() file {
	return sync.OnceValue(func() file {
		body, err := fs.ReadFile(from, name)
		if err == nil && path.Ext(name) == ".gz" {
			body, err = gunzip(body)
		}
		if err != nil {
			panic(err) // only a fault in the making of the program
		}
		return newFile(contentType, body)
	})
}

func gunzip(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func render(tokenPath string) []byte {
	var b bytes.Buffer
	if err := page.Execute(&b, tokenPath); err != nil {
		panic(err)
	}
	return b.Bytes()
}
