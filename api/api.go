// Package api holds the contract of the service, an OpenAPI document.
package api

import _ "embed"

// Document is openapi.yaml: the service's OpenAPI 3.1 document in YAML, UTF-8.
// Callers must not change it.
//
//go:embed openapi.yaml
var Document []byte
