// Shows the OpenAPI document in Swagger UI, and requests tokens.
'use strict'

// adapt makes the document easier to try.
function adapt(doc) {
  // Fill in only required parameters: a first list with the example cursor
  // would be empty.
  for (const parameter of Object.values(doc.components.parameters)) {
    if (!parameter.required) delete parameter.example
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

const page = ({ React, getComponent }) => ({
  statePlugins: { spec: { wrapActions: { updateJsonSpec: original => doc => original(adapt(doc)) } } },
  components: {
    // There is only one server, so show the token in place of the server list.
    ServersContainer: () => React.createElement('div', { ref: node => node?.append(token) }),
  },
  wrapComponents: {
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
  onComplete: () => { token.hidden = false },
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
    output.textContent = `You are ${request.get('client_id')} for ${answer.expires_in / 60} minutes. Open an operation and press Execute.`
  } catch (error) {
    output.textContent = `No token: ${error.message}`
  }
})
