"""An issuer for the tests: Authlib with two clients and a user who logs in
without a form. POST /rotate gives it a new key."""

import os
import secrets
import time
from types import SimpleNamespace

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # on the loopback interface

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, grants
from authlib.oauth2.rfc9068 import JWTBearerTokenGenerator
from authlib.oidc.core import OpenIDCode, UserInfo
from flask import Flask, request
from joserfc.jwk import KeySet, RSAKey
from werkzeug.serving import make_server

app = Flask(__name__)
keys = []
codes = {}
alice = SimpleNamespace(get_user_id=lambda: "alice")


class Client(ClientMixin):
    def __init__(self, name, audience, lifetime=3600):
        self.name, self.audience, self.lifetime = name, audience, lifetime

    def get_client_id(self):
        return self.name

    def get_allowed_scope(self, scope):
        return scope

    def check_redirect_uri(self, uri):
        return uri == "http://127.0.0.1/callback"

    def check_client_secret(self, secret):
        return secret == "secret"

    def check_endpoint_auth_method(self, method, endpoint):
        return True

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return True


clients = {
    "web": Client("web", "urn:plants"),
    "job": Client("job", "urn:plants"),
    "other": Client("other", "urn:other"),
    "short": Client("short", "urn:plants", 1),
}


class Tokens(JWTBearerTokenGenerator):
    def get_jwks(self):
        return KeySet(keys[:1])

    def get_audiences(self, client, user, scope):
        return client.audience

    def _get_expires_in(self, client, grant_type):
        return client.lifetime


class CodeGrant(grants.AuthorizationCodeGrant):
    def save_authorization_code(self, code, request):
        data = request.payload.data
        codes[code] = SimpleNamespace(
            code=code,
            client_id=request.client.name,
            get_redirect_uri=lambda: data["redirect_uri"],
            get_scope=lambda: data["scope"],
            get_nonce=lambda: data.get("nonce"),
            get_auth_time=lambda: int(time.time()),
            get_acr=lambda: None,
            get_amr=lambda: None,
        )

    def query_authorization_code(self, code, client):
        return codes.get(code)

    def delete_authorization_code(self, code):
        codes.pop(code.code)

    def authenticate_user(self, code):
        return alice


class IDTokens(OpenIDCode):
    def resolve_client_private_key(self, client):
        return KeySet(keys[:1])

    def get_client_claims(self, client):
        return {"iss": issuer, "aud": [client.name]}

    def get_client_algorithm(self, client):
        return "RS256"

    def get_encode_header(self, client):
        return {"alg": "RS256", "kid": keys[0].kid}

    def exists_nonce(self, nonce, request):
        return False

    def generate_user_info(self, user, scope):
        return UserInfo(sub="alice")


@app.get("/authorize")
def authorize():
    return server.create_authorization_response(grant_user=alice)


@app.post("/token")
def token():
    return server.create_token_response()


@app.get("/jwks")
def jwks():
    return KeySet(keys).as_dict(private=False)


@app.get("/.well-known/oauth-authorization-server")
def metadata():
    return {"issuer": issuer, "jwks_uri": issuer + "/jwks", "authorization_endpoint": issuer + "/authorize",
            "token_endpoint": issuer + "/token"}


@app.post("/rotate")
def rotate():
    keys.insert(0, RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256", "kid": secrets.token_hex(8)}))
    return ""


rotate()
http = make_server("127.0.0.1", 0, app, threaded=True)
issuer = f"http://127.0.0.1:{http.server_port}"
server = AuthorizationServer(app, clients.get, lambda token, request: None)
server.register_token_generator("default", Tokens(issuer))
server.register_grant(CodeGrant, [IDTokens(require_nonce=False)])
server.register_grant(grants.ClientCredentialsGrant)
print("issuer", issuer, flush=True)
http.serve_forever()
