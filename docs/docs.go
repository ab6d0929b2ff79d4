// Package docs holds the page for clients, which the plain server serves beside Swagger UI.
package docs

import _ "embed"

// Interface is interface.md: what clients may rely on. Callers must not change it.
//
//go:embed interface.md
var Interface []byte
