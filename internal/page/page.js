// Shows the OpenAPI document in Swagger UI.
import { adapt, scopes } from './document.js'
import { fault, format, rows } from './json.js'
import * as token from './token.js'

// remember keeps what is open or closed, for when the page is loaded again.
function remember(getState) {
  const shown = [...getState().getIn(['layout', 'shown'], [])]
  history.replaceState(shown.map(([thing, isShown]) => [thing.toJS(), isShown]), '')
}

const page = ({ React, authSelectors, getComponent, getState, oas3Selectors, specActions, specSelectors }) => {
  const h = React.createElement
  const show = (name, props, ...children) => h(getComponent(name, true), props, ...children)
  const button = (text, onClick, props) => h('button', { className: 'btn', onClick, ...props }, text)

  const executeButton = element => element.closest('.opblock').querySelector('.execute')
  // With a new response the focus is lost: Swagger UI takes it from Execute, and the
  // buttons of the old response are gone. Then finish moves the focus to the button that
  // findNext finds in the new response, or to Execute.
  let findNext
  const executeAgain = (execute, find) => {
    findNext = find
    execute.click()
  }

  // finish shows a new response, and mends what Swagger UI's elements lack for
  // keyboards and screen readers.
  const finish = node => {
    if (!node) return
    for (const button of node.querySelectorAll('.copy-to-clipboard button')) button.ariaLabel = 'Copy'
    for (const pre of node.querySelectorAll('pre')) pre.tabIndex = 0 // so that keys scroll it
    if (document.activeElement === document.body) (findNext?.(node) ?? executeButton(node)).focus({ preventScroll: true })
    findNext = undefined
    node.scrollIntoView({ block: 'nearest' })
  }

  // Rows shows a list as a table, with buttons to delete its elements if they have
  // their ids.
  const Rows = ({ list, path, request }) => {
    const [failure, setFailure] = React.useState({})
    const names = [...new Set(list.flatMap(row => [...row.keys()]))]
    const canDelete = names.includes('id') && specSelectors.specJson().hasIn(['paths', path + '/{id}', 'delete'])
    const remove = async (id, index, deleteButton) => {
      const execute = executeButton(deleteButton) // before another response takes the place of this one
      const fail = (text, retry) => { // without retry, the page offers none
        setFailure({ text, retry })
        deleteButton.focus({ preventScroll: true }) // else it would be lost with the button of the last failure
      }
      const { origin, pathname } = new URL(request.get('url'))
      const accessToken = authSelectors.authorized().getIn(['bearer', 'value'])
      const headers = accessToken && { Authorization: `Bearer ${accessToken}` }
      let response
      try {
        response = await fetch(`${origin}${pathname}/${id}`, { method: 'DELETE', headers })
      } catch {
        fail(token.noServer)
        return
      }
      if (response.ok) {
        executeAgain(execute, node => [...node.querySelectorAll('td .btn')].slice(0, index + 1).pop())
      } else {
        const { message } = await response.json().catch(() => ({})) // a proxy may send something else
        const text = `${id} was not deleted: ${message ?? response.status}`
        if (response.status === 401) {
          fail(text, () => remove(id, index, deleteButton))
        } else {
          fail(text)
        }
      }
    }
    return h(React.Fragment, null,
      h('p', { role: 'alert', ref: node => failure.text && node?.scrollIntoView({ block: 'nearest' }) }, failure.text),
      failure.retry && button(token.renewal, () => token.renew(failure.retry)),
      h('div', { className: 'rows', tabIndex: 0, role: 'region', 'aria-label': 'List' },
        h('table', null,
          h('thead', null, h('tr', null, names.map(name => h('th', { key: name, scope: 'col' }, name)), canDelete && h('td'))),
          h('tbody', null, list.map((row, index) => h('tr', { key: index },
            names.map(name => h('td', { key: name }, row.get(name))),
            canDelete && h('td', null, button('Delete', ({ target }) => remove(row.get('id'), index, target), {
              'aria-label': `Delete ${row.get('id')}`,
            }))))))))
  }

  // Response shows the response to a request: its status, its body, what to do
  // next, and the rest folded.
  const Response = ({ response, path, method }) => {
    const request = specSelectors.mutatedRequestFor(path, method)
    const status = response.get('status')
    const headers = Object.entries(response.get('headers')?.toJS() ?? {})
    const text = response.get('text') // or an empty Blob
    const link = response.getIn(['headers', 'link'])
    const list = rows(text)
    const body = typeof text === 'string' && show('HighlightCode', { language: 'json', canCopy: true }, format(text))
    const turn = cursor => ({ target }) => {
      specActions.changeParam([path, method], 'cursor', 'query', cursor)
      executeAgain(executeButton(target), node => [...node.querySelectorAll('.btn')].find(({ innerText }) => innerText === target.innerText))
    }
    return h('section', { className: 'live-response', ref: finish },
      h('p', { role: 'alert' }, status ? `${status} ${response.get('statusText') ?? ''}` : token.noServer),
      list.length > 0 ? h(Rows, { list, path, request }) : body,
      status === 401 && button(token.renewal, ({ target }) => {
        const execute = executeButton(target) // as in remove
        token.renew(() => execute.click())
      }),
      request.get('url').includes('cursor=') && button('First page', turn()),
      link && button('Next page', turn(/cursor=([^&>]*)/.exec(link)[1])),
      list.length > 0 && h('details', null, h('summary', null, 'JSON'), body),
      h('details', null,
        h('summary', null, 'Request and headers'),
        show('curl', { request }),
        headers.length > 0 && h('div', null,
          h('h5', null, 'Response headers'),
          h('pre', { className: 'microlight' }, headers.map(([name, value]) => `${name}: ${value}\n`)))))
  }

  // DocumentedResponses lists the documented responses, each folded, so that they fit
  // in a window.
  const DocumentedResponses = props => h('details', { className: 'documented-responses' },
    h('summary', null, 'Documented responses'),
    props.responses.entrySeq().map(([code, response]) => h('details', { key: code },
      h('summary', null, code, ' ', show('Markdown', { source: response.get('description') })),
      response.has('content') ? h('table', null, h('tbody', null, show('response', {
        ...props,
        code,
        response,
        specPath: props.specPath.push(code),
        activeExamplesKey: oas3Selectors.activeExamplesMember(props.path, props.method, 'responses', code),
      }))) : 'No body.')),
    h('details', null,
      h('summary', null, 'Headers of every response of the service'),
      show('headers', { headers: specSelectors.specJson().get('x-shared-headers') })))

  let opener // what had the focus when the dialog opened

  return {
    statePlugins: {
      spec: {
        wrapActions: {
          updateJsonSpec: original => doc => {
            token.offer(scopes(doc))
            original(adapt(doc))
          },
          // Execute calls this first. Then the last response is out of date.
          validateParams: original => operation => {
            specActions.clearResponse(...operation)
            return original(operation)
          },
        },
        wrapSelectors: {
          // What the red box lists. The body has errors after validateBeforeExecute below.
          validationErrors: original => (state, operation) => {
            const bodyFault = oas3Selectors.requestBodyErrors(...operation)?.size && fault(oas3Selectors.requestBodyValue(...operation))
            return bodyFault ? [...original(operation), bodyFault] : original(operation)
          },
        },
      },
      oas3: {
        wrapSelectors: {
          // If this is false, Swagger UI sends nothing, and sets requestBodyErrors.
          validateBeforeExecute: original => (state, operation) =>
            original(operation) && !(specSelectors.specJson().hasIn(['paths', ...operation, 'requestBody']) && fault(oas3Selectors.requestBodyValue(...operation))),
        },
      },
      layout: {
        wrapActions: {
          // The address names only what was opened last. Swagger UI changes it after this.
          show: original => (...args) => {
            original(...args)
            queueMicrotask(() => remember(getState))
          },
        },
      },
      auth: {
        wrapActions: {
          authorize: original => grant => {
            original(grant)
            token.renewed()
          },
          // The dialog opens or closes.
          showDefinitions: original => shown => {
            if (shown) opener = document.activeElement
            else token.giveUp()
            original(shown)
            if (!shown) opener?.focus()
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
      ServersContainer: () => {
        token.showState(authSelectors.authorized().size > 0)
        // A second append would take the focus from the form.
        return h('div', { ref: node => node?.contains(token.element) || node?.append(token.element) },
          h('h2', { className: 'unseen' }, 'Try the operations')) // above Swagger UI's h3
      },
      responses: props => h('div', null,
        props.tryItOutResponse && h(Response, { ...props, response: props.tryItOutResponse }),
        h(DocumentedResponses, props)),
      // Swagger UI's Clear drops the focus.
      clear: ({ path, method }) => button('Clear', ({ target }) => {
        executeButton(target).focus()
        specActions.clearResponse(path, method)
        specActions.clearRequest(path, method)
      }, { className: 'btn btn-clear opblock-control__btn' }),
      TryItOutButton: () => null, // every operation can be tried
      // Swagger UI's link is inside a button.
      DeepLink: ({ text }) => h('span', null, text),
    },
    wrapComponents: {
      // Labels, which Swagger UI lacks.
      CloseIcon: Original => () => h(Original, { role: 'img', 'aria-label': 'Close', 'aria-hidden': false }),
      JsonSchemaForm: Original => props => h('label', { 'aria-label': props.description }, h(Original, props)),
      ExamplesSelect: Original => props => h('label', { 'aria-label': 'Example' }, h(Original, props)),
      TextArea: Original => props => h(Original, { 'aria-label': 'Request body', ...props }),
      // The dialog's buttons, whose labels differ from their texts.
      Button: Original => ({ 'aria-label': _, ...props }) => h(Original, props),
    },
  }
}

// A held Enter and a double click act once: a second create would be refused, and a
// second Delete may be that of the next row.
const once = event => {
  if (!(event.repeat || event.detail > 1) || !event.target.closest('.execute, .rows .btn')) return
  event.preventDefault()
  event.stopPropagation()
}
document.addEventListener('keydown', once, true)
document.addEventListener('click', once, true)

const opened = history.state ?? [] // before the page was loaded again
const ui = SwaggerUIBundle({
  url: '/openapi.yaml',
  dom_id: '#ui',
  plugins: [page],
  deepLinking: true,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
  syntaxHighlight: { theme: 'tomorrow-night' }, // whose colors have enough contrast
  onComplete: () => {
    // Not layoutActions.show, which changes the address.
    for (const [thing, shown] of opened) ui.getStore().dispatch({ type: 'layout_show', payload: { thing, shown } })
    remember(ui.getState)
    token.start(ui)
  },
})
