// Swagger UI, with the token of the page at /.

// Swagger UI would round integers beyond 2^53. It also passes values that are not text.
const parse = JSON.parse
JSON.parse = (text, reviver) => parse(text, reviver ?? (typeof text === 'string' && JSON.rawJSON
  ? (key, value, { source }) => Number.isInteger(value) && !Number.isSafeInteger(value) ? JSON.rawJSON(source) : value
  : undefined))

const ui = SwaggerUIBundle({
  url: '/openapi.yaml',
  dom_id: '#ui',
  deepLinking: true,
  tryItOutEnabled: true,
  onComplete: () => {
    const token = sessionStorage.getItem('token')
    if (token) ui.preauthorizeApiKey('bearer', token)
  },
})
