"""Rules of the service that schemathesis can't see in the document."""

import itertools

import schemathesis

used = set()
unused = itertools.count(1 << 40)


def plain(value):
    """Write whole numbers in plain digits, as the document requires: to JSON Schema, 1.0 is an integer too."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {name: plain(v) for name, v in value.items()}
    return value


@schemathesis.hook
def before_call(context, case, kwargs):
    """Repair a valid request that the service would reject. Schemathesis often repeats ids, which
    are then in use (error 40003).
    """
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if case.query and "cursor" in case.query:
        case.query["cursor"] = "AYAAAAAAAAAA"  # only the service can make one
    if not isinstance(case.body, dict):
        return
    case.body = plain(case.body)
    for name, value in case.body.items():
        if isinstance(value, str) and value and not value.strip():
            case.body[name] = "x"  # a pattern like that of names allows non-ASCII white space
    if case.method == "POST" and "id" in case.body:
        if case.body["id"] in used:
            case.body["id"] = next(unused)
        used.add(case.body["id"])
