// The access token: a form that requests one, or with an external issuer a text
// about the one that the user pastes.
export const element = document.getElementById('token')
const form = element.tagName === 'FORM' && element
const withoutToken = element.textContent

export const noServer = "The server doesn't respond. Is it running?"
export const renewal = form ? 'Get a new token' : 'Paste a token'

let ui
let held // name, scope and minutes of the token that requests carry
let afterRenewal // what to do with a new token

// start shows the element, and requests a token so that one can act at once.
export function start(swaggerUI) {
  ui = swaggerUI
  element.hidden = false
  if (form) form.requestSubmit()
}

// offer fills the form's list of scopes, of which a token has one or all.
export function offer(scopes) {
  if (form) form.elements.scope.append(...scopes.map(scope => new Option('only ' + scope, scope)))
}

// showState shows whether the user has pasted a token.
export function showState(authorized) {
  if (!form) element.textContent = authorized ? 'Requests carry the token that you pasted.' : withoutToken
}

// renew gets another token, or opens the dialog for it, and then calls next.
export function renew(next) {
  afterRenewal = next
  if (form) {
    form.requestSubmit()
  } else {
    drop() // so that the dialog asks for the next
    document.querySelector('.btn.authorize').click()
  }
}

// drop drops the token, if there is one. Without one, Swagger UI's logout fails.
function drop() {
  if (ui.authSelectors.authorized().size > 0) ui.authActions.logout(['bearer'])
}

// renewed is called when requests carry another token.
export function renewed() {
  const next = afterRenewal
  afterRenewal = undefined // next runs only once
  ui.authActions.showDefinitions(false) // closes the dialog
  next?.()
}

// giveUp is called when no token came, so that a later one sends nothing unasked.
export function giveUp() {
  afterRenewal = undefined
}

// say shows a text beside the form.
function say(text) {
  form.querySelector('output').textContent = text
}

// describeToken says whom the requests act for.
function describeToken() {
  if (!held) return ''
  const bearer = held.scope ? `${held.name} with only ${held.scope}` : held.name
  const { client_id: name, scope } = form.elements
  if (held.name !== name.value || held.scope !== scope.value) {
    return `Requests still carry the token for ${bearer}. Press “Get a token” for another.`
  }
  return `Requests carry a token for ${bearer}, valid for ${held.minutes} minutes. Any name works: this server is for local use and checks no password.`
}

// logOut drops the token, so that requests don't act under the old name, and says why.
function logOut(reason) {
  held = undefined
  giveUp()
  drop()
  say(reason)
}

async function request(event) {
  event.preventDefault()
  const fields = new URLSearchParams(new FormData(form))
  if (!fields.get('client_id').trim()) { // required accepts spaces
    logOut('Enter a name, not only spaces.')
    return
  }
  let response, grant
  try {
    response = await fetch(form.action, { method: 'POST', body: fields })
    grant = await response.json()
  } catch {
    giveUp()
    say(noServer)
    return
  }
  if (response.ok) {
    held = { name: fields.get('client_id'), scope: fields.get('scope'), minutes: grant.expires_in / 60 }
    ui.preauthorizeApiKey('bearer', grant.access_token)
    say(describeToken())
    renewed() // preauthorizeApiKey doesn't call the action authorize that page.js wraps
  } else {
    logOut(`No token: ${grant.error_description}`)
  }
}

if (form) {
  form.addEventListener('input', () => say(describeToken()))
  form.addEventListener('submit', request)
}
