// Swagger UI would round integers beyond 2^53, so that a list would show wrong ids. It also
// calls JSON.parse with values that are not text.
const parse = JSON.parse
JSON.parse = (text, reviver) => parse(text, reviver ?? (typeof text === 'string' && JSON.rawJSON
  ? (key, value, { source }) => Number.isInteger(value) && !Number.isSafeInteger(value) ? JSON.rawJSON(source) : value
  : undefined))

SwaggerUIBundle({ url: '/openapi.yaml', dom_id: '#ui', deepLinking: true, tryItOutEnabled: true })
  .initOAuth({ clientId: 'alice' })
