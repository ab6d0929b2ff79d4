"""Reads jobs from standard input, a JSON array, and writes their results to
standard output, an array of the same length.

{"translate": TEMPLATE, "parameters": {NAME: VALUE}}
    what CloudFormation makes of a SAM template: {"template": ...} or {"error": ...}
{"lint": TEXT, "ignore": [RULE]}
    what cfn-lint has to say of a template, information included: {"findings": [...]}
{"yaml": TEXT}, {"toml": TEXT}
    what the text says: {"value": ...}
{"schema": RESOURCE TYPE}
    CloudFormation's schema of a resource type: {"value": ...}
"""

import json
import logging
import sys

import tomlkit
from cfnlint.api import lint
from cfnlint.config import ManualArgs
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER
from samcli.yamlhelper import yaml_parse
from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

# Where no code is built and uploaded, the translator still demands a place.
UPLOADED = {"Bucket": "deployments", "Key": "code"}


def translate(template, parameters):
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = UPLOADED
    try:
        return {"template": Translator({}, Parser()).translate(template, parameters)}
    except InvalidDocumentException as e:
        return {"error": "; ".join(cause.message for cause in e.causes)}


def run(job):
    if "translate" in job:
        return translate(job["translate"], job.get("parameters") or {})
    if "lint" in job:
        config = ManualArgs(include_checks=["I"], ignore_checks=job.get("ignore") or [])
        return {"findings": [str(match) for match in lint(job["lint"], config=config)]}
    if "yaml" in job:
        return {"value": yaml_parse(job["yaml"])}
    if "toml" in job:
        return {"value": tomlkit.parse(job["toml"]).unwrap()}
    if "schema" in job:
        return {"value": PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", job["schema"]).schema}
    raise ValueError(f"no such job: {job}")


logging.disable(logging.WARNING)
json.dump([run(job) for job in json.load(sys.stdin)], sys.stdout)
