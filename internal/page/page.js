// Shows the OpenAPI document in Swagger UI, and requests tokens.
'use strict'

// adapt makes the document easier to try.
function adapt(doc) {
  for (const [name, parameter] of Object.entries(doc.components.parameters)) {
    // Fill in what is required, and what shows the ids to delete. A first list
    // with the example cursor would be empty.
    if (!parameter.required && name !== 'Include') delete parameter.example
    parameter.description = fold(parameter.description)
  }
  for (const operation of Object.values(doc.paths).flatMap(Object.values)) {
    operation.description = fold(operation.description)
  }
  // JavaScript rounds the bounds of 64-bit integers.
  for (const schema of Object.values(doc.components.schemas)) {
    if (schema.format === 'int64') delete schema.minimum, delete schema.maximum
  }
  return doc
}

// fold folds all paragraphs but the first, which only authors of clients need.
function fold(description) {
  return description.replace(/\n\n([^]+)/, '\n\n<details><summary>Details for authors of clients</summary>\n\n$1\n</details>')
}

// format indents JSON without changing its numbers, which JavaScript would round
// above 2^53. It returns other texts as they are.
function format(json) {
  const asWritten = (key, value, { source }) => typeof value === 'number' ? JSON.rawJSON(source) : value
  try {
    return JSON.stringify(JSON.parse(json, asWritten), null, 2)
  } catch { // not JSON, or the browser lacks JSON.rawJSON
    return json
  }
}

const noServer = "The server doesn't respond. Is it running?"
const token = document.getElementById('token') // a form, or a text if the issuer is external
const withoutToken = token.textContent

const page = ({ React, getComponent, specActions, specSelectors }) => {
  const h = React.createElement
  const show = (name, props, ...children) => h(getComponent(name, true), props, ...children)

  // finish shows a new response, and mends what Swagger UI's elements lack for
  // keyboards and screen readers.
  const finish = node => {
    if (!node) return
    for (const button of node.querySelectorAll('.copy-to-clipboard button')) button.ariaLabel = 'Copy'
    for (const pre of node.querySelectorAll('pre')) pre.tabIndex = 0 // so that keys scroll it
    node.scrollIntoView({ block: 'nearest' })
  }

  // Response shows the response to a request: its status, its body, what to do
  // next, and the rest folded.
  const Response = ({ response, path, method }) => {
    const request = specSelectors.mutatedRequestFor(path, method)
    const status = response.get('status')
    const headers = Object.entries(response.get('headers')?.toJS() ?? {})
    const text = response.get('text') // or an empty Blob
    const link = response.getIn(['headers', 'link'])
    const list = cursor => event => {
      specActions.changeParam([path, method], 'cursor', 'query', cursor)
      event.target.closest('.opblock').querySelector('.execute').click()
    }
    return h('section', { className: 'live-response', ref: finish },
      h('p', { role: 'alert' }, status ? `${status} ${response.get('statusText') ?? ''}` : noServer),
      typeof text === 'string' && show('HighlightCode', { language: 'json', canCopy: true }, format(text)),
      status === 401 && h('button', { className: 'btn', onClick: renewToken }, 'Get a new token'),
      request.get('url').includes('cursor=') && h('button', { className: 'btn', onClick: list() }, 'First page'),
      link && h('button', { className: 'btn', onClick: list(/cursor=([^&>]*)/.exec(link)[1]) }, 'Next page'),
      h('details', null,
        h('summary', null, 'Request and headers'),
        show('curl', { request }),
        headers.length > 0 && h('div', null,
          h('h5', null, 'Response headers'),
          h('pre', { className: 'microlight' }, headers.map(([name, value]) => `${name}: ${value}\n`)))))
  }

  return {
    statePlugins: {
      spec: {
        wrapActions: {
          updateJsonSpec: original => doc => original(adapt(doc)),
          // Execute calls this first. Then the last response is out of date.
          validateParams: original => operation => {
            specActions.clearResponse(...operation)
            return original(operation)
          },
        },
      },
    },
    components: {
      InfoContainer: () => {
        const info = specSelectors.info().toJS()
        return h('header', { className: 'info' },
          h('h1', { className: 'title' }, info.title, h('small', null, info.version)),
          h('p', null, info.summary, ' The contract is ', h('a', { href: '/openapi.yaml' }, 'openapi.yaml'), '.'),
          h('details', null,
            h('summary', null, 'Details for authors of clients'),
            show('Markdown', { source: info.description })))
      },
      // There is only one server, so show the token in place of the server list.
      ServersContainer: ({ authSelectors }) => {
        if (token.tagName === 'P') {
          token.textContent = authSelectors.authorized().size ? 'Requests carry the token that you pasted.' : withoutToken
        }
        // A second append would take the focus from the form.
        return h('div', { ref: node => node?.contains(token) || node?.append(token) })
      },
      TryItOutButton: () => null, // every operation can be tried
    },
    wrapComponents: {
      // Labels, which Swagger UI lacks.
      JsonSchemaForm: Original => props => h('label', { 'aria-label': props.description }, h(Original, props)),
      ExamplesSelect: Original => props => h('label', { 'aria-label': 'Example' }, h(Original, props)),
      TextArea: Original => props => h(Original, { 'aria-label': 'Request body', ...props }),
      responses: Original => props => h('div', null,
        props.tryItOutResponse && h(Response, { ...props, response: props.tryItOutResponse }),
        h('details', { className: 'documented-responses' },
          h('summary', null, 'Documented responses'),
          h(Original, { ...props, tryItOutResponse: null }))),
    },
  }
}

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

// renewToken goes to the button for tokens and presses it.
function renewToken() {
  const button = token.querySelector('button') ?? document.querySelector('.btn.authorize')
  button.focus()
  button.click()
}

let holder, minutes // of the token that requests carry

// say shows whom the requests act for, or the given text.
function say(text) {
  const name = token.elements.client_id.value
  token.querySelector('output').textContent = text ??
    (name === holder ? `Requests carry a token for ${holder}, valid for ${minutes} minutes. Any name works: this server is for local use and checks no password.`
      : holder ? `Requests still carry the token for ${holder}. Press “Get a token” to act for another name.` : '')
}

token.addEventListener('input', () => say())

token.addEventListener('submit', async event => {
  event.preventDefault()
  const request = new URLSearchParams(new FormData(token))
  if (!request.get('client_id').trim()) { // required accepts spaces
    logOut('Enter a name, not only spaces.')
    return
  }
  let response, grant
  try {
    response = await fetch(token.action, { method: 'POST', body: request })
    grant = await response.json()
  } catch {
    say(noServer)
    return
  }
  if (response.ok) {
    holder = request.get('client_id')
    minutes = grant.expires_in / 60
    ui.preauthorizeApiKey('bearer', grant.access_token)
    say()
  } else {
    logOut(`No token: ${grant.error_description}`)
  }
})

// logOut drops the token, so that requests don't act under the old name, and says why.
function logOut(reason) {
  holder = undefined
  ui.authActions.logout(['bearer'])
  say(reason)
}
