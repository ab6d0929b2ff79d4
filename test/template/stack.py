"""Reads jobs from standard input and writes their results to standard output,
one JSON object per line.

{"template": TEXT, "parameters": {NAME: VALUE}, "region": NAME}
    translates a SAM template as CloudFormation does, and evaluates the
    intrinsic functions. A reference to a resource becomes "${Name}" or
    "${Name.Attribute}". The result is {"Resources", "Outputs", "Parameters",
    "CreateOnly", "Refused", "Error"}. CreateOnly lists by resource type the
    properties whose change replaces the resource; Refused has the first invalid
    parameter, or the violated rules. With "snapshot": true the result also has
    "Snapshot", the resources and outputs as YAML.
{"lint": TEXT}
    lints the template with cfn-lint, as it is and translated: {"Findings"}
"""

import contextlib
import copy
import functools
import json
import logging
import re
import sys
import types

import boto3
import yaml
from cfnlint.api import lint
from cfnlint.config import ManualArgs
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER
from cloud_radar.cf.unit import Template, _template
from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.parser.parser import Parser
from samtranslator.translator import translator
from samtranslator.yaml_helper import yaml_parse

UPLOADED = {"Bucket": "deployments", "Key": "code"}  # as sam deploy replaces CodeUri


# For speed: Template uses JSON in place of YAML, and what the translator does for each stack
# is done once: it validates its own policy templates, and makes a session of AWS.
_template.yaml = types.SimpleNamespace(dump=json.dumps, load=lambda text, Loader: json.loads(text), FullLoader=None)
session = boto3.Session()
translator.make_policy_template_for_function_plugin = functools.cache(
    translator.make_policy_template_for_function_plugin)


class Stack(Template):
    AccountId, NoValue = "${AWS::AccountId}", "${AWS::NoValue}"
    StackName, StackId = "plants", "arn:stack/plants/id"


parsed = functools.cache(yaml_parse)


def translate(text, parameters):
    template = copy.deepcopy(parsed(text))
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = UPLOADED
    translated = translator.Translator({}, Parser(), boto_session=session).translate(template, parameters)
    return json.loads(json.dumps(translated))


def without_omitted(v):
    if isinstance(v, list):
        return [without_omitted(e) for e in v if e != Stack.NoValue]
    if isinstance(v, dict):
        return {key: without_omitted(e) for key, e in v.items() if e != Stack.NoValue}
    return v


def evaluate(template, parameters, region):
    text = json.dumps(template)
    for name, resource in template["Resources"].items():
        attributes = re.findall(r'(?:\["%s", "|\$\{%s\.)(\w+)' % (name, name), text)
        values = {attribute: "${%s.%s}" % (name, attribute) for attribute in attributes}
        resource["Metadata"] = {"Cloud-Radar": {"ref": "${%s}" % name, "attribute-values": values}}
    for parameter in template["Parameters"].values():
        parameter.setdefault("Default", "")
    stack = Stack(template)
    stack.Partition = {"cn": "aws-cn", "us-gov": "aws-us-gov"}.get(region.rsplit("-", 2)[0], "aws")
    try:
        resolved = stack.render(parameters, region)
        for name, value in parameters.items():  # which cloud-radar checks for strings alone
            if value not in map(str, template["Parameters"][name].get("AllowedValues", [value])):
                raise ValueError(f"{value} is not an allowed value of {name}")
    except ValueError as e:
        return {"Refused": [str(e)], "Parameters": template["Parameters"]}
    rules = stack.resolve_values(resolved.get("Rules", {})).values()
    refused = [
        a["AssertDescription"]
        for r in rules if r.get("RuleCondition", True)
        for a in r["Assertions"] if not a["Assert"]
    ]
    resources, outputs = without_omitted(resolved["Resources"]), resolved["Outputs"]
    for resource in resources.values():
        del resource["Metadata"]
    kinds = {r["Type"] for r in resources.values()}
    return {
        "Resources": resources,
        "Outputs": outputs,
        "Parameters": template["Parameters"],
        "CreateOnly": {kind: [p.split("/")[2] for p in schema(kind).get("createOnlyProperties", [])] for kind in kinds},
        "Refused": refused,
    }


def schema(kind):
    return PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema  # which has all types


def findings(text, ignore=()):
    config = ManualArgs(include_checks=["I"], ignore_checks=list(ignore))
    return [str(match) for match in lint(text, config=config)]


def expand(text, parameters, region="eu-central-1"):
    return evaluate(translate(text, parameters), parameters, region)


def run(job):
    if "lint" in job:
        # In a SAM template the linter checks fewer values, so the translated
        # one is linted, too. Not its faults: W2001 and W3011 (the translator
        # replaces references to Deployment, and copies UpdateReplacePolicy to
        # other resources).
        translated = json.dumps(translate(job["lint"], {}))
        return {"Findings": findings(job["lint"]) or findings(translated, ["W2001", "W3011"])}
    try:
        stack = expand(job["template"], job["parameters"], job["region"])
    except InvalidDocumentException as e:
        return {"Error": "; ".join(cause.message for cause in e.causes)}
    if job.get("snapshot"):
        content = {**stack["Resources"], "Outputs": stack["Outputs"]}
        stack["Snapshot"] = yaml.safe_dump(content, default_flow_style=None, width=1000)
    return stack


logging.disable(logging.WARNING)
for line in sys.stdin:
    with contextlib.redirect_stdout(sys.stderr):  # cloud-radar prints each template
        result = run(json.loads(line))
    print(json.dumps(result), flush=True)
