// The page at /: it sends requests, and shows each with its response.
const [tokenForm, create, list, next, log] = ['token', 'create', 'list', 'next', 'log'].map(id => document.getElementById(id))
const pasted = tokenForm.elements.pasted // if another issuer is configured

const element = (name, ...children) => {
  const e = document.createElement(name)
  e.append(...children)
  return e
}
const say = (form, text, failed = false) => {
  const output = form.querySelector('output')
  output.textContent = text
  output.classList.toggle('failed', failed)
}

// The token is also for /docs, and gone when the tab is closed.
const getToken = () => sessionStorage.getItem('token') ?? ''
const setToken = token => sessionStorage.setItem('token', token)

// JSON as it was sent: JavaScript would round integers beyond 2^53.
const exact = (key, value, { source }) => typeof value === 'number' ? JSON.rawJSON(source) : value
const show = value => typeof value === 'string' ? value : JSON.stringify(value) ?? ''

// curl returns the command of a request, for a POSIX shell. authorization is already quoted.
function curl(method, url, authorization, body, type) {
  const quote = text => `'${text.replaceAll("'", "'\\''")}'`
  const data = body === undefined ? '' : ` --data-raw ${quote(body)}`
  return `curl -sS${method === 'DELETE' ? ' -X DELETE' : ''}${authorization ? ` -H ${authorization}` : ''}` +
    `${type ? ` -H ${quote(`Content-Type: ${type}`)}` : ''}${data} ${quote(url)}`
}

// send sends a request, says in a form what came of it, and returns the response with its text.
async function send(form, method, path, { body, type, isToken } = {}) {
  const url = new URL(path, location).href
  const token = isToken ? '' : getToken()
  const headers = { ...token && { Authorization: `Bearer ${token}` }, ...type && { 'Content-Type': type } }
  let result = {}, text = '', status = "The server doesn't respond. Is it running?"
  try {
    const response = await fetch(url, { method, headers, body })
    text = await response.text()
    status = `${response.status} ${response.statusText}`
    result = { ok: response.ok, headers: response.headers, text }
  } catch { } // result stays empty
  let message
  try {
    const parsed = JSON.parse(text)
    message = parsed.message ?? parsed.error_description
  } catch { } // no JSON, such as the response of a proxy
  say(form, !result.ok && message ? `${status}: ${message}` : status, !result.ok)

  const entry = document.querySelector('template').content.cloneNode(true).firstElementChild
  const [summary, shown, copy, answer] = entry.children
  summary.append(`${method} ${new URL(url).pathname}${new URL(url).search} `, element('strong', result.ok === undefined ? 'no response' : status))
  shown.textContent = curl(method, url, token && '"Authorization: Bearer $TOKEN"', body?.toString(), isToken ? '' : type)
  copy.onclick = () => navigator.clipboard.writeText(curl(method, url, token && `'Authorization: Bearer ${token}'`, body?.toString(), isToken ? '' : type))
  copy.hidden = !navigator.clipboard // on plain HTTP from another machine
  answer.textContent = text
  answer.hidden = !text
  log.prepend(entry)
  entry.open = true // which closes the others
  log.children[20]?.remove()
  return result
}

async function showList(path) {
  const { ok, headers, text } = await send(list, 'GET', path)
  const rows = ok ? JSON.parse(text, exact) : [] // no other user's
  const names = [...new Set(rows.flatMap(Object.keys))]
  const link = /<(.*?)>; rel="next"/.exec(headers?.get('Link'))
  next.hidden = !link
  next.onclick = inTurn(() => showList(new URL(link[1], new URL(path, location))))
  if (ok) say(list, `${list.querySelector('output').textContent}: ${rows.length || 'none'} on this page${link ? ', more on the next' : ''}`)
  list.querySelector('table').replaceChildren(
    element('thead', element('tr', ...names.map(name => element('th', name)), ...names.length ? [element('td')] : [])),
    element('tbody', ...rows.map(row => {
      const id = show(row.id), button = element('button', 'Delete')
      button.type = 'button'
      button.ariaLabel = `Delete ${id}`
      button.onclick = inTurn(async () => {
        if (button.ariaDisabled || !(await send(list, 'DELETE', `/plants/${id}`)).ok) return
        button.ariaDisabled = 'true' // The row stays, so that a second click doesn't delete another.
        button.textContent = button.ariaLabel = 'Deleted'
      })
      return element('tr', ...names.map(name => element('td', show(row[name]))), element('td', button))
    })))
}
const showFirst = () => {
  const limit = list.elements.limit.value.trim()
  return showList(`/plants?include=id${limit && `&limit=${encodeURIComponent(limit)}`}`)
}

async function requestToken() {
  setToken('') // so that no request acts for the last user
  if (pasted) {
    const token = pasted.value.trim()
    // RFC 6750 allows no other characters, and some would end the quotes in the copied command.
    if (!/^[\w.~+/=-]+$/.test(token)) return say(tokenForm, 'Paste one access token, without spaces, quotes and “Bearer”.', true)
    setToken(token)
    pasted.value = ''
    say(tokenForm, 'Requests carry the token that you pasted.')
  } else {
    const name = tokenForm.elements.client_id.value
    const { ok, text } = await send(tokenForm, 'POST', tokenForm.getAttribute('action'), { body: new URLSearchParams(new FormData(tokenForm)), isToken: true })
    if (ok) {
      const grant = JSON.parse(text)
      setToken(grant.access_token)
      say(tokenForm, `You are ${name} with ${grant.scope}, for ${grant.expires_in / 60} minutes.`)
    }
  }
  await showFirst()
}

// inTurn returns a handler of events that does one thing after the other.
let last = Promise.resolve()
function inTurn(action) {
  return event => {
    event?.preventDefault()
    last = last.finally(action) // also after an exception
  }
}
tokenForm.onsubmit = inTurn(requestToken)
list.onsubmit = inTurn(showFirst)
create.onsubmit = inTurn(async () => {
  const { ok } = await send(create, 'POST', '/plants', { body: create.elements.body.value, type: 'application/json' })
  if (ok) await showFirst()
})

// A held Enter and a double click act once: a second create would be refused.
for (const type of ['keydown', 'click']) {
  addEventListener(type, event => {
    if ((event.repeat || event.detail > 1) && event.target.closest('button')) event.preventDefault()
  }, true)
}

if (!pasted) {
  tokenForm.requestSubmit()
} else if (getToken()) {
  say(tokenForm, 'Requests carry the token that you pasted.')
  inTurn(showFirst)()
}
