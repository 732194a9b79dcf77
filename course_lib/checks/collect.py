"""Call a function on every case of a request and record what it gave, as plain JSON: the bundle.

This runs in the student's kernel, so nothing here decides anything, and nothing here knows a right answer.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import traceback
import warnings
from collections.abc import Callable, MutableMapping
from typing import Any

import numpy as np

from .refuse import refusing
from .values import Json, decode, encode

MAX_WORDS = 300


def collect(request: Json, namespace: MutableMapping[str, Any]) -> Json:
    """The bundle of a request: for each call what came back, which error, which inputs changed.

    Parameters: request as `spec.request` makes it; namespace, the names of the notebook.
    Returns: {"function", "missing", "calls"}; missing says why nothing could be called, or is None.
    """
    function = namespace.get(request["function"])
    bundle = {"function": request["function"], "missing": _missing(function, request), "calls": []}
    if bundle["missing"] is None:
        for call in request["calls"]:
            with _quiet(), refusing(request["refused"], namespace):
                record = _record(function, call, request["parameters"])
            bundle["calls"].append({"id": call["id"], **record})
    return bundle


def _missing(function: Any, request: Json) -> str | None:
    if function is None:
        return "absent"
    if not callable(function):
        return f"a {type(function).__name__}, not a function"
    for call in request["calls"]:
        try:
            inspect.signature(function).bind(*_in_order(call["arguments"], request["parameters"]))
        except TypeError as error:
            return f"arguments: {error}"
        except ValueError:  # a built-in without a signature: the call itself will tell
            return None
    return None


def _record(function: Callable[..., Any], call: Json, parameters: list[str]) -> Json:
    """What one call gave; the inputs are decoded anew for every call, so calls cannot disturb each other."""
    names = [name for name in parameters if name in call["arguments"]]
    arguments = _in_order(call["arguments"], parameters)
    values = [decode(argument) for argument in arguments]
    record = _outcome(function, values)
    record["changed"] = [
        name
        for name, value, argument in zip(names, values, arguments, strict=True)
        if argument["kind"] in ("array", "tensor") and encode(value) != argument
    ]
    if call["twice"]:
        again = _outcome(function, [decode(argument) for argument in arguments])
        record["again"] = again == {key: record[key] for key in again}
    return record


def _outcome(function: Callable[..., Any], values: list[Any]) -> Json:
    try:
        returned = function(*values)
    except Exception as error:
        return {
            "error": {"type": type(error).__name__, "message": str(error)[:MAX_WORDS], "line": _line(error)}
        }
    return {"returned": encode(returned)}


def _in_order(arguments: Json, parameters: list[str]) -> list[Any]:
    return [arguments[name] for name in parameters if name in arguments]


def _line(error: Exception) -> str:
    """Where in the notebook's own code an error came from, as "line 3 of softmax", or "" elsewhere."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        code = frame.f_code
        if frame.f_globals.get("__name__") == "__main__" and code.co_name != "<module>":
            return f"line {line - code.co_firstlineno + 1} of {code.co_name}"
    return ""


@contextlib.contextmanager
def _quiet() -> Any:
    """Keep what the function prints or warns about out of the notebook while it is judged."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
    ):
        warnings.simplefilter("ignore")
        yield
