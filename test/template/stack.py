"""Reads jobs from standard input and writes their results to standard output,
one JSON object per line.

{"template": TEXT, "parameters": {NAME: VALUE}}
    translates a SAM template as CloudFormation does, and evaluates the
    intrinsic functions. A reference to a resource becomes "${Name}" or
    "${Name.Attribute}". The result is {"Resources", "Outputs", "Parameters",
    "CreateOnly", "Refused", "Error"}. CreateOnly lists by resource type the
    properties whose change replaces the resource; Refused lists the invalid
    parameters and the violated rules.
{"lint": TEXT, "parameters": {NAME: VALUE}}
    lints the template with cfn-lint, as it is and translated: {"Findings"}
"""

import json
import logging
import re
import sys

from cfnlint.api import lint
from cfnlint.config import ManualArgs
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER
from samcli.lib.intrinsic_resolver.intrinsic_property_resolver import IntrinsicResolver
from samcli.lib.intrinsic_resolver.intrinsics_symbol_table import IntrinsicsSymbolTable
from samcli.yamlhelper import yaml_parse
from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

UPLOADED = {"Bucket": "deployments", "Key": "code"}  # as sam deploy replaces CodeUri


class Symbols(IntrinsicsSymbolTable):
    def __init__(self, values):
        super().__init__()
        self.values = values

    def resolve_symbols(self, logical_id, resource_attribute, ignore_errors=False):
        if logical_id in self.values:
            return self.values[logical_id]
        suffix = "" if resource_attribute == IntrinsicResolver.REF else "." + resource_attribute
        return "${" + logical_id + suffix + "}"


def translate(text, parameters):
    template = yaml_parse(text)
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = UPLOADED
    return Translator({}, Parser()).translate(template, parameters)


def invalid(declared, value):
    return (
        not re.fullmatch(declared.get("AllowedPattern", ".*"), value)
        or value not in map(str, declared.get("AllowedValues", [value]))
        or len(value) > declared.get("MaxLength", 4096)
    )


def without_omitted(v):
    if isinstance(v, list):
        return [without_omitted(e) for e in v if e != "${AWS::NoValue}"]
    if isinstance(v, dict):
        return {key: without_omitted(e) for key, e in v.items() if e != "${AWS::NoValue}"}
    return v


def evaluate(template, parameters):
    values = {name: str(p.get("Default", "")) for name, p in template["Parameters"].items()}
    values |= parameters
    values |= {"AWS::Region": "eu-central-1", "AWS::Partition": "aws", "AWS::StackName": "plants", "AWS::StackId": "arn:stack/plants/id"}
    symbols = Symbols(values)
    resolver = IntrinsicResolver(template, symbols)

    def value(v):
        return without_omitted(resolver.intrinsic_property_resolver(v, ignore_errors=False))

    def substitute(arg, ignore_errors):
        text, local = arg if isinstance(arg, list) else (arg, {})

        def variable(match):
            name, _, attribute = match[1].partition(".")
            if name in local:
                return value(local[name])
            return symbols.resolve_symbols(name, attribute or IntrinsicResolver.REF)

        return re.sub(r"\$\{([^!}]+)\}", variable, text)

    # SAM's own Fn::Sub doesn't know the form with variables of its own.
    resolver.intrinsic_key_function_map[IntrinsicResolver.FN_SUB] = substitute

    def exists(v):
        return "Condition" not in v or value({"Fn::And": [{"Condition": v["Condition"]}]})

    def section(name):
        return {key: value(v) for key, v in template.get(name, {}).items() if exists(v)}

    declared = template["Parameters"]
    refused = [name for name, v in parameters.items() if name not in declared or invalid(declared[name], v)]
    refused += [
        assertion["AssertDescription"]
        for rule in template.get("Rules", {}).values()
        if value(rule.get("RuleCondition", True))
        for assertion in rule["Assertions"]
        if not value(assertion["Assert"])
    ]
    kinds = {r["Type"] for r in template["Resources"].values()}
    return {
        "Resources": section("Resources"),
        "Outputs": section("Outputs"),
        "Parameters": template["Parameters"],
        "CreateOnly": {kind: [p.split("/")[2] for p in schema(kind).get("createOnlyProperties", [])] for kind in kinds},
        "Refused": refused,
    }


def schema(kind):
    return PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema  # which has all types


def findings(text, ignore=()):
    config = ManualArgs(include_checks=["I"], ignore_checks=list(ignore))
    return [str(match) for match in lint(text, config=config)]


def run(job):
    parameters = job.get("parameters") or {}
    if "lint" in job:
        # In a SAM template the linter checks fewer values, so the translated
        # one is linted, too. Not its faults: W2001 and W3011 (the translator
        # replaces references to Deployment, and copies UpdateReplacePolicy to
        # other resources).
        translated = json.dumps(translate(job["lint"], parameters))
        return {"Findings": findings(job["lint"]) or findings(translated, ["W2001", "W3011"])}
    try:
        return evaluate(translate(job["template"], parameters), parameters)
    except InvalidDocumentException as e:
        return {"Error": "; ".join(cause.message for cause in e.causes)}


logging.disable(logging.WARNING)
for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
