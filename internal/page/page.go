// Package page serves the OpenAPI document, and Swagger UI to try the service in a
// browser. All files are embedded.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"github.com/swaggest/swgui/v5/static" // only the files of Swagger UI

	"example.com/plantstore/api"
	"example.com/plantstore/docs"
)

// Path is the path of Swagger UI, which is also at /docs.
const Path = "/"

// policy (Content Security Policy Level 3) allows only files from, and requests to, the
// page's own server, and the images in Swagger UI's style sheet (data:).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed page.html page.js issuer.yaml
var own embed.FS

// Handler serves GET and HEAD requests for Swagger UI, the document and the files that
// they load. It passes all other requests to service.
//
// With ownIssuer, the document describes the program's own token issuer, so that Swagger
// UI can request tokens from it.
func Handler(ownIssuer bool, service http.Handler) http.Handler {
	document := api.Document
	if ownIssuer {
		document = withIssuer(document)
	}
	swaggerUI := newFile("text/html; charset=utf-8", "", read(own, "page.html"))
	files := map[string]file{
		Path:                         swaggerUI,
		"/docs":                      swaggerUI,
		"/openapi.yaml":              newFile("application/yaml", "", document),                // RFC 9512
		"/docs/interface.md":         newFile("text/plain; charset=utf-8", "", docs.Interface), // Browsers don't show text/markdown.
		"/docs/page.js":              newFile("text/javascript; charset=utf-8", "", read(own, "page.js")),
		"/docs/swagger-ui.css":       newFile("text/css; charset=utf-8", "gzip", read(static.FS, "swagger-ui.css.gz")),
		"/docs/swagger-ui-bundle.js": newFile("text/javascript; charset=utf-8", "gzip", read(static.FS, "swagger-ui-bundle.js.gz")),
		"/favicon.ico":               newFile("image/png", "", read(static.FS, "favicon-32x32.png")),
	}
	// People and tools also look for Swagger UI and the document here.
	elsewhere := map[string]string{"/docs/": "/docs", "/openapi.json": "/openapi.yaml"}
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

// withIssuer returns the document with issuer.yaml as its security scheme.
func withIssuer(document []byte) []byte {
	before, schemes, ok1 := bytes.Cut(document, []byte("\n    bearer:\n"))
	_, after, ok2 := bytes.Cut(schemes, []byte("\n\n  parameters:\n"))
	if !ok1 || !ok2 {
		panic("api/openapi.yaml has no scheme bearer before its parameters") // only if the build is broken
	}
	return bytes.Join([][]byte{before, read(own, "issuer.yaml"), []byte("  parameters:"), after}, []byte("\n"))
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
