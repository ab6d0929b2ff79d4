// Package page serves the OpenAPI document and a page to try the service in a
// browser: Swagger UI, from embedded files only.
package page

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

	"github.com/swaggest/swgui/v5/static" // only the files of Swagger UI

	"example.com/plantstore/api"
)

// Path is the path of the page. The files that it loads are below /docs/.
const Path = "/"

// policy allows only files and requests of the page's own server (Content
// Security Policy Level 3), and the images in Swagger UI's style sheet (data:).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed page.html page.css page.js
var own embed.FS

var page = template.Must(template.ParseFS(own, "page.html"))

// Handler serves GET and HEAD requests for the document, the page and the files
// that the page loads. It passes all other requests to service.
//
// The page requests tokens at tokenPath with the client credentials grant (RFC
// 6749 section 4.4). If tokenPath is empty, it asks the user to paste one.
func Handler(tokenPath string, service http.Handler) http.Handler {
	files := map[string]func() file{
		Path:                         sync.OnceValue(func() file { return newFile("text/html; charset=utf-8", render(tokenPath)) }),
		"/openapi.yaml":              sync.OnceValue(func() file { return newFile("application/yaml", api.Document) }), // RFC 9512
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

// A file is the content at one path.
type file struct {
	contentType string
	etag        string
	body        []byte
}

func newFile(contentType string, body []byte) file {
	sum := sha256.Sum256(body)
	return file{contentType, fmt.Sprintf(`"%x"`, sum[:16]), body}
}

// serve serves f. Browsers revalidate it each time (no-cache), so that users see
// a new version of the program at once.
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

// embedded returns a function that loads a file on first use: decompressing all
// of them would take longer than the rest of the program's start.
func embedded(contentType string, from fs.FS, name string) func() file {
	return sync.OnceValue(func() file {
		body, err := fs.ReadFile(from, name)
		if err == nil && path.Ext(name) == ".gz" {
			var r io.Reader
			if r, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
				body, err = io.ReadAll(r)
			}
		}
		if err != nil {
			panic(err) // only if the build is broken
		}
		return newFile(contentType, body)
	})
}

func render(tokenPath string) []byte {
	var b bytes.Buffer
	if err := page.Execute(&b, tokenPath); err != nil {
		panic(err)
	}
	return b.Bytes()
}
