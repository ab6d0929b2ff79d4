import issuer from './issuer.js' // null if the program has no issuer of its own

// Swagger UI would round integers beyond 2^53, so that a list would show wrong ids. It also
// calls JSON.parse with values that are not text.
const parse = JSON.parse
const keepLarge = (key, value, { source }) =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? JSON.rawJSON(source) : value
JSON.parse = (text, reviver) => {
  const canKeep = typeof text === 'string' && JSON.rawJSON // older browsers can't
  return parse(text, reviver ?? (canKeep ? keepLarge : undefined))
}

// The page shows the document as this server's: with its address, also below a path prefix, and
// with where tokens come from, so that Swagger UI can request them. What only programmers need is
// left out, since it would make the page wider than a phone: they read the document itself.
const here = new URL('..', import.meta.url).href.slice(0, -1)
const adapt = original => {
  const document = structuredClone(original)
  document.info.description = 'Every operation needs an access token: choose **Authorize** first.'
  document.servers = [{ url: here }]
  if (issuer) document.components.securitySchemes = { bearer: issuer }
  const operations = Object.values(document.paths).flatMap(path => Object.values(path))
  for (const { responses } of [document.components, ...operations]) {
    for (const response of Object.values(responses ?? {})) {
      delete response.headers
      delete response.links
    }
  }
  return document
}
const plugin = {
  statePlugins: { spec: { wrapActions: { updateJsonSpec: update => document => update(adapt(document)) } } },
  wrapComponents: { ServersContainer: () => () => null } // a list with one entry
}

SwaggerUIBundle({
  url: here + '/openapi.yaml',
  dom_id: '#ui',
  deepLinking: true,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: -1, // each operation shows its own schemas
  plugins: [plugin]
}).initOAuth({ clientId: 'alice' })
