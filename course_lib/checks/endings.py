"""The lower rungs of the ladder: is there a function, can it be called, and how do its calls end?"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Sequence

from .calls import Call, Diagnose, first, hint_for, named, place
from .values import ERROR, Json, error_text, readable, receive

KNOWN_ERRORS = {name for name in vars(builtins) if name.endswith("Error")} | {"AxisError", "LinAlgError"}


def existence(name: str, missing: str | None) -> str | None:
    """There is a function of that name."""
    if missing is None or missing.startswith("arguments: "):
        return None
    if missing == "absent":
        return f"There is no {name} yet. Run the cell that defines it. Does that cell end without an error?"
    return f"{name} is {readable(missing)}, not a function. Run the cell that defines {name} again."


def signature_fits(name: str, parameters: Sequence[str], missing: str | None) -> str | None:
    """The function takes as many arguments as it will be given."""
    if missing is None:
        return None
    why = readable(missing.removeprefix("arguments: "))
    return f"It is called as {name}({', '.join(parameters)}), and yours does not take that: {why}."


def endings(
    name: str,
    calls: list[Call],
    reveal: bool,
    diagnose: Diagnose | None,
) -> Iterator[tuple[str, str | None]]:
    """The calls end as they should: without an error, or with ValueError where the statement asks for it."""
    errors = [(call, call.record.get("error")) for call in calls]
    hint = hint_for([(call, {ERROR: error_text(error)}) for call, error in errors if error], diagnose)
    for _, error in errors:
        unwritten = None if error is None else _unwritten(name, error, reveal)
        if unwritten is not None:
            yield "not written", unwritten
    for call, error in errors:
        if error is None and call.raises:
            came = named(receive(call.record["returned"]), reveal)
            yield "runs", f"{place(call, reveal)} it must raise ValueError; yours returned {came}."
        elif error is not None and not (call.raises and error.get("value_error") is True):
            yield "runs", first([_raised(call, error, reveal)], hint)
    yield "runs", None


def _unwritten(name: str, error: Json, reveal: bool) -> str | None:
    """Whether it, or a function that it calls, is still the stub."""
    stub = re.fullmatch(r"(?:(\w{1,60}) is not written yet)?", error["message"])
    if error["type"] != "NotImplementedError" or stub is None:
        return None
    other = (stub[1] or name) if reveal else name
    needs = name if other == name else f"{name} needs {other}, which"
    return f"{needs} is not written yet."


def _raised(call: Call, error: Json, reveal: bool) -> str:
    kind, message, line = (readable(error[key], 300) for key in ("type", "message", "line"))
    if kind == "Refused" and re.fullmatch(r"it calls [\w.]+; [\w ]+", message):
        return f"Not your own work yet: {message if reveal else 'it calls what it should not'}."
    if kind == "Wrong" and reveal:
        return f"{place(call, reveal).removesuffix(',')}: {message}"
    if kind == "KeyboardInterrupt":
        return f"{place(call, reveal)} it was stopped before it came to an end. Is there a loop without end?"
    if not reveal:  # whatever words the student chose could tell the input
        kind, message, line = (kind if kind in KNOWN_ERRORS else "an error"), "", ""
    said = f"{kind}: {message.rstrip('.')}" if message else kind
    where = f" ({line})" if line else ""
    asked = ", not ValueError" if call.raises else ""
    return f"{place(call, reveal)} it raised {said}{where}{asked}."
