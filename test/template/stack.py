"""Reads jobs from standard input and writes their results to standard output,
one JSON object per line.

{"template": TEXT, "parameters": {NAME: VALUE}, "region": NAME}
    translates a SAM template as CloudFormation does, and evaluates the
    intrinsic functions. A reference to a resource becomes "${Name}" or
    "${Name.Attribute}". The result is {"Resources", "Outputs", "Parameters",
    "Refused"}. Refused has the first invalid parameter, or the violated rules.
    With "snapshot": true the result also has "Snapshot", the resources and
    outputs as YAML.
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


def name_references(template):
    """Tells cloud-radar, in the metadata of each resource, what references to it become."""
    text = json.dumps(template)
    for name, resource in template["Resources"].items():
        attributes = re.findall(r'(?:\["%s", "|\$\{%s\.)(\w+)' % (name, name), text)
        values = {attribute: "${%s.%s}" % (name, attribute) for attribute in attributes}
        resource["Metadata"] = {"Cloud-Radar": {"ref": "${%s}" % name, "attribute-values": values}}


def check_allowed(declared, parameters):
    """Checks AllowedValues. Cloud-radar does, but only for strings."""
    for name, value in parameters.items():
        if value not in map(str, declared[name].get("AllowedValues", [value])):
            raise ValueError(f"{value} is not an allowed value of {name}")


def violated(rules):
    return [
        assertion["AssertDescription"]
        for rule in rules.values() if rule.get("RuleCondition", True)
        for assertion in rule["Assertions"] if not assertion["Assert"]
    ]


def evaluate(template, parameters, region):
    name_references(template)
    stack = Stack(template)
    stack.Partition = "aws-us-gov" if region.startswith("us-gov-") else "aws"
    resolved = stack.render(parameters, region)
    check_allowed(template["Parameters"], parameters)
    rules = stack.resolve_values(resolved["Rules"])  # which cloud-radar leaves as they are
    for resource in resolved["Resources"].values():
        del resource["Metadata"]
    return {
        "Resources": resolved["Resources"],
        "Outputs": resolved["Outputs"],
        "Parameters": template["Parameters"],
        "Refused": violated(rules),
    }


def findings(text, ignore=()):
    config = ManualArgs(include_checks=["I"], ignore_checks=list(ignore))
    return [str(match) for match in lint(text, config=config)]


def run(job):
    if "lint" in job:
        # In a SAM template the linter checks fewer values, so the translated
        # one is linted, too. Not its faults: W2001 and W3011 (the translator
        # replaces references to Deployment, and copies UpdateReplacePolicy to
        # other resources).
        translated = json.dumps(translate(job["lint"], {}))
        return {"Findings": findings(job["lint"]) or findings(translated, ["W2001", "W3011"])}
    try:
        result = evaluate(translate(job["template"], job["parameters"]), job["parameters"], job["region"])
    except InvalidDocumentException as e:
        return {"Refused": [cause.message for cause in e.causes]}
    except ValueError as e:
        return {"Refused": [str(e)]}
    if job.get("snapshot"):
        content = {**result["Resources"], "Outputs": result["Outputs"]}
        result["Snapshot"] = yaml.safe_dump(content, default_flow_style=None, width=1000)
    return result


logging.disable(logging.WARNING)
for line in sys.stdin:
    with contextlib.redirect_stdout(sys.stderr):  # cloud-radar prints each template
        result = run(json.loads(line))
    print(json.dumps(result), flush=True)
