"""Rules of the service that schemathesis can't see in the document."""

import itertools

import schemathesis

used = set()
unused = itertools.count(1 << 40)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Replace the id of a valid create that the service would refuse.

    - An id in use (error 40003): schemathesis often repeats ids.
    - An id such as 1.0: JSON Schema accepts it as an integer, but the document
      requires plain digits.
    """
    if case.method != "POST" or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if case.body["id"] in used or isinstance(case.body["id"], float):
        case.body["id"] = next(unused)
    used.add(case.body["id"])
