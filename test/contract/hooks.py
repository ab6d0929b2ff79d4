"""What schemathesis can't know of the service from its document."""

import itertools

import schemathesis

used = set()
unused = itertools.count(1 << 40)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Give a valid create another id where its own is refused by right.

    - An id in use (error 40003). Generated ids are mostly the same few.
    - An id such as 1.0. It is an integer to JSON Schema, but ids are written in
      plain digits, as the document says in words.
    """
    if case.method != "POST" or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if case.body["id"] in used or isinstance(case.body["id"], float):
        case.body["id"] = next(unused)
    used.add(case.body["id"])
