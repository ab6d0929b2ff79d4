// An issuer for the tests: oidc-provider with two clients and a user who logs in
// without a form. POST /rotate gives it a new key.
import { randomUUID, webcrypto } from 'node:crypto'
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'

const keys = []
let issuer, provider, serve

// rotate doesn't use generateKeyPairSync, which has been seen to deadlock in Node 20.
async function rotate() {
  const rs256 = { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }
  const { privateKey } = await webcrypto.subtle.generateKey(rs256, true, ['sign', 'verify'])
  const { kty, n, e, d, p, q, dp, dq, qi } = await webcrypto.subtle.exportKey('jwk', privateKey)
  keys.unshift({ kty, n, e, d, p, q, dp, dq, qi, kid: randomUUID(), use: 'sig', alg: 'RS256' })
  provider = new Provider(issuer, {
    jwks: { keys },
    clients: [
      { client_id: 'web', client_secret: 'secret', grant_types: ['authorization_code'], redirect_uris: ['http://127.0.0.1/callback'] },
      { client_id: 'job', client_secret: 'secret', grant_types: ['client_credentials'], redirect_uris: [], response_types: [] },
    ],
    pkce: { required: () => false },
    interactions: { url: (_, interaction) => `/login/${interaction.uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => ({
          scope: 'plants/read plants/write',
          audience: resource.replace(/:short$/, ''),
          accessTokenFormat: 'jwt',
          accessTokenTTL: resource.endsWith(':short') ? 1 : 3600,
        }),
      },
    },
  })
  serve = provider.callback()
}

// login answers every question that oidc-provider asks the user.
async function login(req, res) {
  const { prompt, params } = await provider.interactionDetails(req, res)
  if (prompt.name === 'login') {
    return provider.interactionFinished(req, res, { login: { accountId: 'alice' } })
  }
  const grant = new provider.Grant({ accountId: 'alice', clientId: params.client_id })
  grant.addOIDCScope('openid')
  if (params.resource) grant.addResourceScope(params.resource, params.scope)
  return provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true })
}

const server = createServer((req, res) => {
  if (req.url === '/rotate') {
    rotate().then(() => res.end())
  } else if (req.url.startsWith('/login/')) {
    login(req, res).catch((err) => res.writeHead(500).end(String(err)))
  } else {
    serve(req, res)
  }
})
server.listen(0, '127.0.0.1', async () => {
  issuer = `http://127.0.0.1:${server.address().port}`
  await rotate()
  console.log(`issuer ${issuer}`)
})
