// Package page serves the OpenAPI document and a page to try the service in a
// browser: Swagger UI, from embedded files only.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"time"

	"github.com/swaggest/swgui/v5/static" // only the files of Swagger UI

	"example.com/plantstore/api"
)

// Path is the path of the page. It also loads /openapi.yaml and /favicon.ico; its other
// files are below /docs/.
const Path = "/"

// policy allows only files and requests of the page's own server (Content
// Security Policy Level 3), and the images in Swagger UI's style sheet (data:).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed *.html *.css *.js
var own embed.FS

var page = template.Must(template.ParseFS(own, "page.html"))

// Handler serves GET and HEAD requests for the document, the page and the files
// that the page loads. It passes all other requests to service.
//
// The page requests tokens at tokenPath with the client credentials grant (RFC
// 6749 section 4.4). If tokenPath is empty, it asks the user to paste one.
func Handler(tokenPath string, service http.Handler) http.Handler {
	var html bytes.Buffer
	if err := page.Execute(&html, tokenPath); err != nil {
		panic(err) // only if the build is broken
	}
	files := map[string]file{
		Path:                         newFile("text/html; charset=utf-8", "", html.Bytes()),
		"/openapi.yaml":              newFile("application/yaml", "", api.Document), // RFC 9512
		"/docs/page.css":             newFile("text/css; charset=utf-8", "", read(own, "page.css")),
		"/docs/page.js":              newFile("text/javascript; charset=utf-8", "", read(own, "page.js")),
		"/docs/document.js":          newFile("text/javascript; charset=utf-8", "", read(own, "document.js")),
		"/docs/json.js":              newFile("text/javascript; charset=utf-8", "", read(own, "json.js")),
		"/docs/token.js":             newFile("text/javascript; charset=utf-8", "", read(own, "token.js")),
		"/docs/swagger-ui.css":       newFile("text/css; charset=utf-8", "gzip", read(static.FS, "swagger-ui.css.gz")),
		"/docs/swagger-ui-bundle.js": newFile("text/javascript; charset=utf-8", "gzip", read(static.FS, "swagger-ui-bundle.js.gz")),
		"/favicon.ico":               newFile("image/png", "", read(static.FS, "favicon-32x32.png")),
	}
	// Where people and tools look for the page and the document.
	elsewhere := map[string]string{"/docs": Path, "/docs/": Path, "/openapi.json": "/openapi.yaml"}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, reads := r.URL.EscapedPath(), r.Method == http.MethodGet || r.Method == http.MethodHead
		if f, ok := files[path]; ok && reads {
			f.serve(w, r)
		} else if location, ok := elsewhere[path]; ok && reads {
			http.Redirect(w, r, location, http.StatusFound)
		} else {
			service.ServeHTTP(w, r)
		}
	})
}

// read returns the content of an embedded file.
func read(from fs.FS, name string) []byte {
	b, err := fs.ReadFile(from, name)
	if err != nil {
		panic(err) // only if the build is broken
	}
	return b
}

// A file is the content at one path.
type file struct {
	contentType string
	encoding    string // of the body: "", or gzip, which every browser accepts
	body        []byte
	etag        string
}

func newFile(contentType, encoding string, body []byte) file {
	return file{contentType, encoding, body, fmt.Sprintf(`"%x"`, sha256.Sum256(body))}
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
	if f.encoding != "" {
		h.Set("Content-Encoding", f.encoding)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body))
}
