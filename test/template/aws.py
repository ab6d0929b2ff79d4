"""Runs the command in its arguments with moto, a stand-in for AWS, that has what
commands need of the stack "plants", and a little of others. The command has
eight minutes."""

import contextlib
import http.server
import io
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading

import awscli.clidriver
import boto3
from moto.server import ThreadedMotoServer
from samcli.yamlhelper import yaml_parse

logging.getLogger("werkzeug").disabled = True
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
os.environ["AWS_ENDPOINT_URL"] = "http://%s:%d" % server.get_host_and_port()


def client(service):
    return boto3.client(service)


with open(os.path.join(os.path.dirname(__file__), "../../template.yaml")) as f:
    resources = yaml_parse(f.read())["Resources"]
table = resources["PlantTable"]
del table["Condition"]

function = {"Runtime": "provided.al2023", "Handler": "bootstrap", "Role": {"Fn::GetAtt": ["Role", "Arn"]}, "Code": {"ZipFile": "code"}}
outputs = {
    "BaseUrl": "https://plants.example",
    "TableName": {"Ref": "PlantTable"},
}
# Moto's CloudFormation makes no user pools and aliases.
cognito = client("cognito-idp")
policies = resources["UserPool"]["Properties"]["Policies"]
pool = cognito.create_user_pool(PoolName="plants", DeletionProtection="ACTIVE", Policies=policies)["UserPool"]["Id"]
people = cognito.create_user_pool_client(UserPoolId=pool, ClientName="people", ExplicitAuthFlows=["ALLOW_USER_PASSWORD_AUTH"])
programs = cognito.create_user_pool_client(UserPoolId=pool, ClientName="programs", GenerateSecret=True)
cognito.admin_create_user(UserPoolId=pool, Username="carol")
outputs["UserPoolId"] = pool
outputs["ClientId"] = people["UserPoolClient"]["ClientId"]
outputs["MachineClientId"] = programs["UserPoolClient"]["ClientId"]
outputs["TokenUrl"] = "https://tokens.example"

template = {
    "Resources": {
        "PlantTable": table,
        "PlantFunction": {"Type": "AWS::Lambda::Function", "Properties": function},
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}}},
    },
    "Outputs": {name: {"Value": value} for name, value in outputs.items()},
}
stacks = client("cloudformation")
stacks.create_stack(StackName="plants", TemplateBody=json.dumps(template))
roles = {"Resources": {"PipelineExecutionRole": template["Resources"]["Role"]}}
stacks.create_stack(StackName="aws-sam-cli-managed-staging-pipeline-resources", TemplateBody=json.dumps(roles))
small = {"Resources": {"Role": template["Resources"]["Role"]}, "Outputs": {"BaseUrl": {"Value": outputs["BaseUrl"]}}}
stacks.create_stack(StackName="plants-without-pool", TemplateBody=json.dumps(small))
scopes = {"Parameters": {"RequireScopes": {"Type": "String", "Default": "true"}}, **small}
scopes["Outputs"] = {name: value for name, value in template["Outputs"].items() if name != "TableName"}
stacks.create_stack(StackName="plants-with-scopes", TemplateBody=json.dumps(scopes))
stacks.create_stack(StackName="plants-production", TemplateBody=json.dumps(small))
created = {
    r["LogicalResourceId"]: r["PhysicalResourceId"] for r in stacks.describe_stack_resources(StackName="plants")["StackResources"]
}
name, functions = created["PlantFunction"], client("lambda")
for n in range(41):  # the version in docs/operations.md
    functions.update_function_code(FunctionName=name, ZipFile=b"%d" % n)
    version = functions.publish_version(FunctionName=name)["Version"]
canary = {"AdditionalVersionWeights": {"1": 0.1}}
functions.create_alias(FunctionName=name, Name="live", FunctionVersion=version, RoutingConfig=canary)
client("dynamodb").put_item(TableName=created["PlantTable"], Item={"id": {"N": "7"}, "owner": {"S": "alice"}})


class AWS(http.server.BaseHTTPRequestHandler):
    """Runs the AWS CLI here, since it takes a second to start."""

    def do_POST(self):
        args = self.rfile.read(int(self.headers["Content-Length"])).decode().split("\0")[:-1]
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            code = awscli.clidriver.create_clidriver().main(args)
        self.send_response(500 if code else 200)
        self.end_headers()
        self.wfile.write(output.getvalue().encode())

    def log_message(self, *args):
        pass


AWS_COMMAND = r"""#!/bin/sh
output=$(printf '%%s\0' "$@" | curl -s --fail-with-body --data-binary @- http://127.0.0.1:%d)
code=$?
[ "$code" = 0 ] || exec >&2 # errors are shown even if a variable takes the output
[ -z "$output" ] || printf '%%s\n' "$output"
exit "$code"
"""

aws = http.server.HTTPServer(("127.0.0.1", 0), AWS)
threading.Thread(target=aws.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory() as bin:
    with open(os.open(bin + "/aws", os.O_CREAT | os.O_WRONLY, 0o700), "w") as f:
        f.write(AWS_COMMAND % aws.server_port)
    os.environ["PATH"] = bin + ":" + os.environ["PATH"]
    sys.exit(subprocess.run(sys.argv[1:], timeout=480).returncode)
