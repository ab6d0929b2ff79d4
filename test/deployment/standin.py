"""Starts MiniStack, a stand-in for AWS, and adds what it lacks for template.yaml:
standin.py PORT TLS_PORT CERTIFICATE KEY. It listens on the loopback interface.

What this file adds proves nothing about AWS, for example that CloudFormation supports a
type, or that API Gateway imports routes from an API's document. Nothing here shifts
traffic, evaluates alarms, limits requests, or serves a custom domain. MiniStack encodes
responses again, adds headers to them, and may change the paths and methods of requests.
This describes the version of MiniStack in requirements.txt.
"""

import asyncio
import os
import sys

port, tls_port, certificate, key = sys.argv[1:]
address = "127.0.0.1:" + port
os.environ.update(
    AUTH="true",  # check what the roles may do
    GATEWAY_PORT=port,
    IOT_MTLS_ENABLED="false",  # it would need a fixed port
    # The function also gets this environment.
    AWS_ENDPOINT_URL="http://" + address,
    SSL_CERT_FILE=certificate,
)

from hypercorn.asyncio import serve
from hypercorn.config import Config
from ministack.app import app
from ministack.services import apigateway
from ministack.services.cloudformation import changesets, engine, handlers, provisioners
from samtranslator.translator import transform

kinds = provisioners._RESOURCE_HANDLERS

# MiniStack runs SAM's transform without the parameters, which the deployment group needs.
parameters = {}
apply, translate = engine._apply_transforms, transform.transform


def apply_transforms(template, provided=None, previous=None):
    parameters.clear()
    parameters.update(engine._transform_parameters(template, provided, previous))
    return apply(template, provided, previous)


changesets._apply_transforms = handlers._apply_transforms = apply_transforms
transform.transform = lambda template, _, policies: translate(template, dict(parameters), policies)

# It lacks AWS::IAM::RolePolicy, which is an AWS::IAM::Policy for one role. A policy with
# another name replaces it.
policy = kinds["AWS::IAM::Policy"]


def of_role(props):
    return {"Roles": [props["RoleName"]], "PolicyName": props["PolicyName"], "PolicyDocument": props["PolicyDocument"]}


def put_policy(logical_id, props, stack):
    policy["create"](logical_id, of_role(props), stack)
    return f"{stack}-{logical_id}-{props['PolicyName']}", {}


kinds["AWS::IAM::RolePolicy"] = {
    "create": put_policy,
    "update": lambda id, old, new, stack, logical_id: put_policy(logical_id, new, stack),
    "update_with_logical_id": True,
    "delete": lambda id, props: policy["delete"](id, of_role(props)),
}

# It lacks CodeDeploy. A new version gets all traffic at once.
for kind in ("Application", "DeploymentGroup"):
    kinds["AWS::CodeDeploy::" + kind] = {
        "create": lambda logical_id, props, stack: (f"{stack}-{logical_id}", {}),
        "update": lambda id, old, new, stack: (id, {}),
        "delete": lambda id, props: None,
    }

# Its user pools lack ProviderURL.
attributes = provisioners._cognito_user_pool_attributes
provisioners._cognito_user_pool_attributes = lambda pool: {
    **attributes(pool), "ProviderURL": "https://" + attributes(pool)["ProviderName"]}

# It rejects alarms on several metrics, so only the first metric is stored.
alarm_record = provisioners._cw_metric_alarm_record


def first_metric(name, props):
    for stat in [m["MetricStat"] for m in props.get("Metrics", []) if "MetricStat" in m][:1]:
        props = {**props, **stat["Metric"], "Period": stat["Period"], "Statistic": stat["Stat"], "Metrics": None}
    return alarm_record(name, props)


provisioners._cw_metric_alarm_record = first_metric

# It ignores the Body of an HTTP API, which contains the CORS settings and the routes. The
# endpoint is a path at this address, since not every resolver knows names below .localhost.
api = dict(kinds["AWS::ApiGatewayV2::Api"])


def with_cors(props):
    return {**props, "CorsConfiguration": props["Body"].get("x-amazon-apigateway-cors")}


def add_routes(id, props):
    apigateway._routes[id], apigateway._integrations[id] = {}, {}
    for path, operations in props["Body"]["paths"].items():
        for method, operation in operations.items():
            uri = operation.get("x-amazon-apigateway-integration", {}).get("uri", "")
            target, _ = provisioners._apigw_v2_integration_create("", {"ApiId": id, "IntegrationUri": uri}, "")
            verb = "ANY" if method.startswith("x-") else method.upper()
            route = path if operation.get("isDefaultRoute") else f"{verb} {path}"
            provisioners._apigw_v2_route_create(
                "", {"ApiId": id, "RouteKey": route, "Target": "integrations/" + target}, "")
    return id, {"ApiId": id, "ApiEndpoint": f"http://{address}/_aws/execute-api/{id}/%24default"}


def create_api(logical_id, props, stack):
    return add_routes(api["create"](logical_id, with_cors(props), stack)[0], props)


def update_api(id, old, new, stack, logical_id):
    return add_routes(api["update"](id, with_cors(old), with_cors(new), stack, logical_id)[0], new)


kinds["AWS::ApiGatewayV2::Api"].update(create=create_api, update=update_api)


# The function fetches the pool's keys from AWS's own address. A proxy redirects that here.
async def connect(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    keys_reader, keys_writer = await asyncio.open_connection("127.0.0.1", int(tls_port))
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    await asyncio.gather(copy(reader, keys_writer), copy(keys_reader, writer))


async def copy(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
    writer.close()


async def main():
    proxy = await asyncio.start_server(connect, "127.0.0.1", 0)
    os.environ["HTTPS_PROXY"] = "http://127.0.0.1:%d" % proxy.sockets[0].getsockname()[1]
    config = Config()
    config.insecure_bind, config.bind = [address], ["127.0.0.1:" + tls_port]
    config.certfile, config.keyfile = certificate, key
    await serve(app, config)


asyncio.run(main())
