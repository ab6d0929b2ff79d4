// Package page serves the OpenAPI document, a page to try the service in a browser,
// and Swagger UI. All files are embedded.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/swaggest/swgui/v5/static" // only the files of Swagger UI
	"go.yaml.in/yaml/v3"

	"example.com/plantstore/api"
)

// Path is the path of the page. Swagger UI is at /docs. Both also load /openapi.yaml and
// /favicon.ico; their other files are below /docs/.
const Path = "/"

// policy allows only files and requests of the pages' own server (Content
// Security Policy Level 3), and the images in Swagger UI's style sheet (data:).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed *.html *.css *.js
var own embed.FS

var page = template.Must(template.ParseFS(own, "page.html"))

// Handler serves GET and HEAD requests for the document, the pages and the files
// that they load. It passes all other requests to service.
//
// The page requests tokens, with all or one of the scopes, at tokenPath with the client
// credentials grant (RFC 6749 section 4.4). If tokenPath is empty, it asks the user to
// paste one.
func Handler(tokenPath string, scopes []string, service http.Handler) http.Handler {
	var html bytes.Buffer
	if err := page.Execute(&html, struct {
		TokenPath, Example string
		Scopes             []string
	}{tokenPath, example(), scopes}); err != nil {
		panic(err) // only if the build is broken
	}
	files := map[string]file{
		Path:                         newFile("text/html; charset=utf-8", "", html.Bytes()),
		"/docs":                      newFile("text/html; charset=utf-8", "", read(own, "docs.html")),
		"/openapi.yaml":              newFile("application/yaml", "", api.Document), // RFC 9512
		"/docs/page.css":             newFile("text/css; charset=utf-8", "", read(own, "page.css")),
		"/docs/page.js":              newFile("text/javascript; charset=utf-8", "", read(own, "page.js")),
		"/docs/docs.js":              newFile("text/javascript; charset=utf-8", "", read(own, "docs.js")),
		"/docs/swagger-ui.css":       newFile("text/css; charset=utf-8", "gzip", read(static.FS, "swagger-ui.css.gz")),
		"/docs/swagger-ui-bundle.js": newFile("text/javascript; charset=utf-8", "gzip", read(static.FS, "swagger-ui-bundle.js.gz")),
		"/favicon.ico":               newFile("image/png", "", read(static.FS, "favicon-32x32.png")),
	}
	// Where people and tools look for Swagger UI and the document.
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

// example returns an example of a create from the document, as indented JSON: the first
// by name.
func example() string {
	var document struct {
		Paths map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct {
						Examples map[string]struct{ Value map[string]any }
					}
				} `yaml:"requestBody"`
			}
		}
	}
	if err := yaml.Unmarshal(api.Document, &document); err != nil {
		panic(err) // only if the build is broken
	}
	examples := document.Paths["/plants"].Post.RequestBody.Content["application/json"].Examples
	names := slices.Sorted(maps.Keys(examples))
	text, err := json.MarshalIndent(examples[names[0]].Value, "", "  ")
	if err != nil {
		panic(err) // only if the build is broken
	}
	return string(text)
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
