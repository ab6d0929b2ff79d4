// Package swaggerui serves the OpenAPI document, and Swagger UI to try the service in a
// browser. All files are embedded.
package swaggerui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"time"

	"github.com/swaggest/swgui/v5/static" // only the files of Swagger UI

	"example.com/plantstore/api"
)

// Path is the path of Swagger UI, which is also at /docs.
const Path = "/"

// policy (Content Security Policy Level 3) allows only files from, and requests to, the
// page's own server, and the images in Swagger UI's style sheet (data:).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed page.html page.js issuer.js
var pageFiles embed.FS

// Handler serves GET and HEAD requests for Swagger UI, the document and the files that
// they load. It passes all other requests to service. All links are relative, so that the
// page also works behind a proxy that adds a path prefix.
//
// With ownIssuer, Swagger UI can request tokens from the program's own token issuer.
func Handler(ownIssuer bool, service http.Handler) http.Handler {
	issuer := []byte("export default null\n")
	if ownIssuer {
		issuer = read(pageFiles, "issuer.js")
	}
	swaggerUI := makeFile("text/html; charset=utf-8", "", read(pageFiles, "page.html"))
	files := map[string]file{
		Path:                   swaggerUI,
		"/docs":                swaggerUI,
		"/openapi.yaml":        makeFile("application/yaml", "", document()), // RFC 9512
		"/docs/page.js":        makeFile("text/javascript; charset=utf-8", "", read(pageFiles, "page.js")),
		"/docs/issuer.js":      makeFile("text/javascript; charset=utf-8", "", issuer),
		"/docs/swagger-ui.css": makeFile("text/css; charset=utf-8", "gzip", read(static.FS, "swagger-ui.css.gz")),
		"/docs/swagger-ui-bundle.js": makeFile("text/javascript; charset=utf-8", "gzip",
			read(static.FS, "swagger-ui-bundle.js.gz")),
		"/favicon.ico": makeFile("image/png", "", read(static.FS, "favicon-32x32.png")),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, reads := r.URL.EscapedPath(), r.Method == http.MethodGet || r.Method == http.MethodHead
		if f, ok := files[path]; ok && reads {
			f.serve(w, r)
		} else if path == "/docs/" && reads { // people also look for Swagger UI here
			w.Header().Set("Location", "../docs") // http.Redirect would make it absolute
			w.WriteHeader(http.StatusFound)
		} else {
			service.ServeHTTP(w, r)
		}
	})
}

// document returns the OpenAPI document with this server as the first one, which many clients use.
// Otherwise they would send their tokens to a server of their own machine. The address is relative,
// since a proxy may have changed the host, the scheme and the path.
func document() []byte {
	before, after, _ := bytes.Cut(api.Document, []byte("\n  - url: "))
	return slices.Concat(before, []byte("\n  - url: .\n    description: The server of this document\n  - url: "), after)
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

func makeFile(contentType, encoding string, body []byte) file {
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
