// Changes to the OpenAPI document that make it easier to try and to read.

const operations = doc => Object.values(doc.paths).flatMap(Object.values)

// adapt changes the parsed document in place, and returns it.
export function adapt(doc) {
  for (const [name, parameter] of Object.entries(doc.components.parameters)) {
    // Swagger UI fills the form with the examples. Keep those of required parameters,
    // and include=id, which shows the ids to delete. A first list with the example
    // cursor would be empty.
    if (!parameter.required && name !== 'Include') delete parameter.example
    parameter.description = fold(parameter.description)
  }
  for (const operation of operations(doc)) {
    operation.description = fold(operation.description)
  }
  // JavaScript rounds the bounds of 64-bit integers.
  for (const schema of Object.values(doc.components.schemas)) {
    if (schema.format === 'int64') delete schema.minimum, delete schema.maximum
  }
  shareHeaders(doc)
  return doc
}

// scopes returns the names of all scopes that operations need.
export function scopes(doc) {
  return [...new Set(operations(doc).flatMap(operation => operation.security.flatMap(Object.values).flat()))].sort()
}

// fold folds all paragraphs but the first, which only authors of clients need.
function fold(description) {
  return description.replace(/\n\n([^]+)/, '\n\n<details><summary>Details for authors of clients</summary>\n\n$1\n</details>')
}

// shareHeaders moves the headers that all responses of the service have to the
// member x-shared-headers. API Gateway's responses have no documented headers.
function shareHeaders(doc) {
  const responses = [doc.components, ...operations(doc)].flatMap(({ responses }) => Object.values(responses)).filter(({ headers }) => headers)
  doc['x-shared-headers'] = {}
  for (const [name, { $ref }] of Object.entries(responses[0].headers)) {
    if (!responses.every(({ headers }) => headers[name])) continue
    doc['x-shared-headers'][name] = doc.components.headers[$ref.split('/').pop()]
    for (const { headers } of responses) delete headers[name]
  }
}
