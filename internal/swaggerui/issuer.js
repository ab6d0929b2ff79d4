// The security scheme of the program's own token issuer.
export default {
  type: 'oauth2',
  description: 'This server gives anyone a token for any name. Enter a name as the `client_id`, ' +
    'and leave the `client_secret` empty. Each name is a separate user. ' +
    'If you select no scope, the token gets all.',
  flows: {
    clientCredentials: {
      tokenUrl: new URL('../oauth2/token', import.meta.url).href,
      scopes: {
        'plants/read': 'Read plants.',
        'plants/write': 'Create and delete plants.'
      }
    }
  }
}
