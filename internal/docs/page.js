// Shows the document in Swagger UI, and gets tokens for it.
'use strict'

// ready makes of the document one that is easier to try.
function ready(doc) {
  // Only what a request can't do without is filled in: a first list with the
  // example of a cursor would be empty.
  for (const parameter of Object.values(doc.components.parameters)) {
    if (!parameter.required) delete parameter.example
  }
  // The operations come before the small print.
  const fold = '<details><summary>What the author of a client should know</summary>'
  doc.info.description = doc.info.description.replace(/^## /m, fold + '\n\n$&') + '\n</details>'
  return doc
}

// exact breaks JSON into lines and leaves its numbers as they are, which
// JavaScript would round beyond 2^53.
function exact(json) {
  const asWritten = (key, value, { source }) => typeof value === 'number' ? JSON.rawJSON(source) : value
  return JSON.stringify(JSON.parse(json, asWritten), null, 2)
}

const token = document.getElementById('token') // a form or, with another issuer, a text

const page = ({ React, getComponent }) => ({
  statePlugins: { spec: { wrapActions: { updateJsonSpec: original => doc => original(ready(doc)) } } },
  components: {
    // There is no choice of servers, so the token has their place.
    ServersContainer: () => React.createElement('div', { ref: node => node?.append(token) }),
  },
  wrapComponents: {
    responseBody: Original => props => {
      let text
      try {
        text = exact(props.content)
      } catch { // not JSON, or an older browser
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
