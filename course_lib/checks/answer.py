"""The marking side of `collect`: answer one request from the grader with one bundle and nothing else."""

from __future__ import annotations

import base64
import json
from collections.abc import MutableMapping
from typing import Any

from .collect import collect
from .values import BadRecord, Json

MIME = "application/vnd.course.bundle+json"
MAX_CHARACTERS = 64 * 2**20

_first_seen: dict[str, Any] = {}


def ask(request: Json) -> str:
    """The code that a grader runs in a student's kernel to have a request answered."""
    sent = base64.b64encode(json.dumps(request).encode()).decode()
    # One expression: a statement would bind a name, and a student may have given that name to something.
    return f"__import__('course_lib.checks.answer', fromlist=['answer']).answer('{sent}')"


def answer(sent: str) -> None:
    """Collect what was asked for, and display the bundle. Runs in the student's kernel.

    A request may bring the code of functions to use instead of the student's own ("stand_ins"); the function
    under check is then the one that was collected first, whatever its name means by now.
    """
    from IPython import get_ipython
    from IPython.display import display

    request = json.loads(base64.b64decode(sent))
    namespace = get_ipython().user_ns  # type: ignore[no-untyped-call]
    bundle = answer_in(request, namespace)
    display({MIME: json.dumps(bundle)}, raw=True)


def answer_in(request: Json, namespace: MutableMapping[str, Any]) -> Json:
    """The bundle of a request in a namespace, which is left as it was."""
    name = request["function"]
    stand_ins = request.get("stand_ins")
    if stand_ins is None:
        _first_seen[name] = namespace.get(name)
        return collect(request, namespace)
    correct: dict[str, Any] = {"__name__": "__main__"}
    for code in stand_ins["code"]:
        exec(code, correct)
    bound = {each: correct[each] for each in stand_ins["names"]} | {name: _first_seen.get(name)}
    before = {each: namespace[each] for each in bound if each in namespace}
    namespace.update(bound)
    try:
        return collect(request, namespace)
    finally:
        for each in bound:
            namespace.pop(each, None)
        namespace.update(before)


def read_bundle(outputs: list[Json]) -> Json:
    """The one bundle among a cell's outputs.

    Raises: BadRecord when there is none, more than one, or one that is malformed.
    """
    found = [output["data"][MIME] for output in outputs if MIME in output.get("data", {})]
    if len(found) != 1:
        raise BadRecord(f"{len(found)} bundles instead of one")
    text = found[0]
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
        raise BadRecord("a bundle that is no text, or too long")
    try:
        bundle = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRecord("a bundle that is not JSON") from error
    if not isinstance(bundle, dict) or not isinstance(bundle.get("calls"), list):
        raise BadRecord("a bundle without calls")
    if not isinstance(bundle.get("missing"), (str, type(None))):
        raise BadRecord("a bundle that does not say what is missing")
    if not all(isinstance(record, dict) and isinstance(record.get("id"), str) for record in bundle["calls"]):
        raise BadRecord("a bundle with a call that has no id")
    if len({record["id"] for record in bundle["calls"]}) != len(bundle["calls"]):
        raise BadRecord("a bundle with two answers to one call")
    return bundle
