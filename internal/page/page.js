// Swagger UI would round integers beyond 2^53: a list would show ids of other plants. It
// also passes values that are not text.
const parse = JSON.parse
JSON.parse = (text, reviver) => parse(text, reviver ?? (typeof text === 'string' && JSON.rawJSON
  ? (key, value, { source }) => Number.isInteger(value) && !Number.isSafeInteger(value) ? JSON.rawJSON(source) : value
  : undefined))

SwaggerUIBundle({ url: '/openapi.yaml', dom_id: '#ui', deepLinking: true, tryItOutEnabled: true })
  .initOAuth({ clientId: 'alice' })
