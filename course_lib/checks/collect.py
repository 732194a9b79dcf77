"""Call a function on every case of a request and record what it gave, as plain JSON: the bundle.

This runs in the student's kernel, so nothing here decides anything, and nothing here knows a right answer.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import MutableMapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from .probes import PROBES, parameters_of
from .quiet import quiet
from .refuse import Refusing
from .values import Json, decode_named, encode, receive

MAX_WORDS = 300
INTERRUPTED = {"type": "KeyboardInterrupt", "message": "", "line": ""}


def collect(request: Json, namespace: MutableMapping[str, Any]) -> Json:
    """The bundle of a request: for each call what came back, which error, which inputs changed.

    It raises nothing, whatever the function does. Where the function is interrupted, as one must interrupt a
    loop without end, the calls that remain are not made.

    Parameters: request as `spec.request` makes it; namespace, the names of the notebook.
    Returns: {"function", "missing", "calls"}; missing says why nothing could be called, or is None.
    """
    name, wanted = request["function"], request["calls"]
    missing = _missing(namespace.get(name), request)
    if missing is not None:
        return {"function": name, "missing": missing, "calls": []}
    calls: list[Json] = []
    refusing = Refusing(request["refused"], namespace)
    try:
        with refusing:
            for call in wanted:
                refusing.look_again()
                with quiet():
                    record = _record(namespace.get(name), call, request["parameters"])
                calls.append({"id": call["id"], **record})
    except KeyboardInterrupt:
        refusing.allow()
    calls += [{"id": call["id"], "error": INTERRUPTED, "changed": []} for call in wanted[len(calls) :]]
    return {"function": name, "missing": None, "calls": calls}


def _missing(function: Any, request: Json) -> str | None:
    if function is None:
        return "absent"
    if not callable(function):
        return f"a value of type {type(function).__name__}"
    if not request["calls"]:
        return None
    try:
        signature, parameters = inspect.signature(function), request["parameters"]
        given = [parameters if "probe" in call else names_in(call, parameters) for call in request["calls"]]
        for names in dict.fromkeys(map(tuple, given)):  # in their order, as the first that fails is told
            signature.bind(*names)
    except TypeError as error:
        return f"arguments: {error}"
    except Exception:  # no signature, as of some built-ins: the call itself will tell
        return None
    return None


def names_in(call: Json, parameters: Sequence[str]) -> list[str]:
    """The names of a call's arguments in the order in which the function, or its probe, takes them."""
    order = (parameters_of(call["probe"]) if "probe" in call else None) or parameters
    return [name for name in order if name in call["arguments"]]


def _record(function: Any, call: Json, parameters: list[str]) -> Json:
    """What one call gave; the inputs are decoded anew for every call, so calls cannot disturb each other."""
    names = names_in(call, parameters)
    arguments = [call["arguments"][name] for name in names]
    values = list(decode_named(call["arguments"], names).values())
    if "probe" in call:
        function = partial(PROBES[call["probe"]], function)
    record = _outcome(function, values)
    record["changed"] = [
        name
        for name, value, argument in zip(names, values, arguments, strict=True)
        if argument["kind"] in ("array", "tensor", "list", "mapping") and encode(value) != argument
    ]
    if call["twice"]:
        again = _outcome(function, list(decode_named(call["arguments"], names).values()))
        record["again"] = all(_alike(record.get(key), again[key]) for key in again)
    return record


def _outcome(function: Any, values: list[Any]) -> Json:
    try:
        returned = function(*values)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit, too: a check goes on
        return {"error": _described(error)}
    return {"returned": encode(returned)}


def _described(error: BaseException) -> Json:
    try:
        return {
            "type": type(error).__name__,
            "message": " ".join(str(error)[:MAX_WORDS].split()),
            "line": _line(error),
            "value_error": isinstance(error, ValueError),
        }
    except Exception:  # an exception class of the student's own that cannot be printed
        return {"type": "Exception", "message": "", "line": ""}


def _alike(first: Json, second: Json) -> bool:
    """Whether two records say the same up to rounding, which depends on where an array lies in memory."""
    if first == second:
        return True
    if not (isinstance(first, dict) and isinstance(second, dict)):
        return False
    if "kind" not in first or first["kind"] != second.get("kind"):
        return False
    if first["kind"] in ("tuple", "list"):
        pairs = zip(first["items"], second["items"], strict=False)
        return len(first["items"]) == len(second["items"]) and all(_alike(a, b) for a, b in pairs)
    a, b = receive(first).value, receive(second).value
    if isinstance(a, str) or a is None or np.shape(a) != np.shape(b):
        return False
    return bool(np.allclose(a, b, rtol=1e-6, atol=1e-6, equal_nan=True))


def _line(error: BaseException) -> str:
    """Where in the notebook's own code an error came from, as "line 3 of softmax", or "" elsewhere."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        code = frame.f_code
        named = not code.co_name.startswith("<") or code.co_name == "<lambda>"
        if frame.f_globals.get("__name__") == "__main__" and named:
            return f"line {line - code.co_firstlineno + 1} of {code.co_name}"
    return ""
