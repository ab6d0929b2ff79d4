"""Runs moto, a stand-in for AWS, with what commands need of the stack "plants",
and of "plants-without-pool". The argument is the path of template.yaml. Prints
the address, and stops when standard input ends."""

import json
import sys

import boto3
from moto.server import ThreadedMotoServer
from samcli.yamlhelper import yaml_parse

server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
endpoint = "http://%s:%d" % server.get_host_and_port()


def client(service):
    return boto3.client(service, endpoint_url=endpoint)


with open(sys.argv[1]) as f:
    resources = yaml_parse(f.read())["Resources"]
table = resources["PlantTable"]
del table["Condition"]

# Moto's CloudFormation makes no user pools and aliases.
cognito, functions = client("cognito-idp"), client("lambda")
policies = resources["UserPool"]["Properties"]["Policies"]
pool = cognito.create_user_pool(PoolName="plants", DeletionProtection="ACTIVE", Policies=policies)["UserPool"]["Id"]
people = cognito.create_user_pool_client(UserPoolId=pool, ClientName="people", ExplicitAuthFlows=["ALLOW_USER_PASSWORD_AUTH"])
programs = cognito.create_user_pool_client(UserPoolId=pool, ClientName="programs", GenerateSecret=True)

function = {"Runtime": "provided.al2023", "Handler": "bootstrap", "Role": {"Fn::GetAtt": ["Role", "Arn"]}, "Code": {"ZipFile": "code"}}
outputs = {
    "BaseUrl": "https://plants.example",
    "TableName": {"Ref": "PlantTable"},
    "UserPoolId": pool,
    "ClientId": people["UserPoolClient"]["ClientId"],
    "MachineClientId": programs["UserPoolClient"]["ClientId"],
    "TokenUrl": "https://tokens.example",
}
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
small = {"Resources": {"Role": template["Resources"]["Role"]}, "Outputs": {"BaseUrl": {"Value": outputs["BaseUrl"]}}}
stacks.create_stack(StackName="plants-without-pool", TemplateBody=json.dumps(small))
created = {
    r["LogicalResourceId"]: r["PhysicalResourceId"] for r in stacks.describe_stack_resources(StackName="plants")["StackResources"]
}
name = created["PlantFunction"]
functions.create_alias(FunctionName=name, Name="live", FunctionVersion=functions.publish_version(FunctionName=name)["Version"])
client("dynamodb").put_item(TableName=created["PlantTable"], Item={"id": {"N": "7"}, "owner": {"S": "alice"}})
print(endpoint, flush=True)
sys.stdin.read()
