// Shows the OpenAPI document in Swagger UI, and requests tokens.
'use strict'

// adapt makes the document easier to try.
function adapt(doc) {
  // Fill in only required parameters: a first list with the example cursor
  // would be empty.
  for (const parameter of Object.values(doc.components.parameters)) {
    if (!parameter.required) delete parameter.example
  }
  // JavaScript rounds the bounds of 64-bit integers.
  for (const schema of Object.values(doc.components.schemas)) {
    if (schema.format === 'int64') delete schema.minimum, delete schema.maximum
  }
  // Fold the details, so that the operations are visible at once.
  const fold = '<details><summary>Details for authors of clients</summary>'
  doc.info.description = doc.info.description.replace(/^## /m, fold + '\n\n$&') + '\n</details>'
  return doc
}

// format indents JSON without changing its numbers, which JavaScript would round
// above 2^53.
function format(json) {
  const asWritten = (key, value, { source }) => typeof value === 'number' ? JSON.rawJSON(source) : value
  return JSON.stringify(JSON.parse(json, asWritten), null, 2)
}

const token = document.getElementById('token') // a form, or a text if the issuer is external
const withoutToken = token.textContent

const page = ({ React, getComponent }) => ({
  statePlugins: { spec: { wrapActions: { updateJsonSpec: original => doc => original(adapt(doc)) } } },
  components: {
    // There is only one server, so show the token in place of the server list.
    ServersContainer: ({ authSelectors }) => {
      if (token.tagName === 'P') {
        token.textContent = authSelectors.authorized().size ? 'Requests carry the token that you pasted.' : withoutToken
      }
      // A second append would take the focus from the form.
      return React.createElement('div', { ref: node => node?.contains(token) || node?.append(token) })
    },
  },
  wrapComponents: {
    // The style sheet hides the documented responses while the details are closed.
    responses: Original => props => React.createElement('div', { className: 'folded-responses' },
      React.createElement('details', null, React.createElement('summary', null, 'Documented responses')),
      React.createElement(Original, props)),
    responseBody: Original => props => {
      let text
      try {
        text = format(props.content)
      } catch { // not JSON, or the browser lacks JSON.rawJSON
        return React.createElement(Original, props)
      }
      const code = getComponent('HighlightCode', true)
      return React.createElement('div', null,
        React.createElement('h5', null, 'Response body'),
        React.createElement(code, { language: 'json', canCopy: true }, text))
    },
  },
})

const ui = SwaggerUIBundle({
  url: '/openapi.yaml',
  dom_id: '#ui',
  plugins: [page],
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
  syntaxHighlight: { theme: 'tomorrow-night' }, // whose colors have enough contrast
  onComplete: () => {
    token.hidden = false
    token.requestSubmit?.() // so that one can act at once
  },
})

token.addEventListener('submit', async event => {
  event.preventDefault()
  const request = new URLSearchParams(new FormData(token))
  const output = token.querySelector('output')
  try {
    const response = await fetch(token.action, { method: 'POST', body: request })
    const answer = await response.json()
    if (!response.ok) throw new Error(answer.error_description)
    ui.preauthorizeApiKey('bearer', answer.access_token)
    output.textContent = `Requests carry a token for ${request.get('client_id')}, valid for ${answer.expires_in / 60} minutes. ` +
      'Any name works: this server is for local use and checks no password.'
  } catch (error) {
    ui.authActions.logout(['bearer']) // not to act under the old name
    output.textContent = `No token: ${error.message}`
  }
})
