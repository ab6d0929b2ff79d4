import issuer from './issuer.js' // null if the program has no issuer of its own

// Swagger UI would round integers beyond 2^53, so that a list would show wrong ids. It also
// calls JSON.parse with values that are not text.
const parse = JSON.parse
JSON.parse = (text, reviver) => parse(text, reviver ?? (typeof text === 'string' && JSON.rawJSON
  ? (key, value, { source }) => Number.isInteger(value) && !Number.isSafeInteger(value) ? JSON.rawJSON(source) : value
  : undefined))

// The document leaves open where tokens come from. This plugin tells Swagger UI, so that it
// can request them.
const ownIssuer = {
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: update => document =>
          update({ ...document, components: { ...document.components, securitySchemes: { bearer: issuer } } })
      }
    }
  }
}

SwaggerUIBundle({
  url: new URL('../openapi.yaml', import.meta.url).href, // also below a path prefix
  dom_id: '#ui',
  deepLinking: true,
  tryItOutEnabled: true,
  plugins: issuer ? [ownIssuer] : []
}).initOAuth({ clientId: 'alice' })
