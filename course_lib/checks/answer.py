"""The marking side of `collect`: answer the grader's requests with a bundle for each, and nothing else."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import MutableMapping, Sequence
from typing import Any

from .collect import collect
from .values import BadRecord, Json

MIME = "application/vnd.course.bundles+json"
MAX_CHARACTERS = 64 * 2**20

_places: dict[int, tuple[dict[str, Any], Any]] = {}


def ask(requests: Sequence[Json]) -> str:
    """The code that a grader runs in a student's kernel to have requests answered, all in one message: what a
    kernel does for one that it sends takes longer than most answers."""
    sent = base64.b64encode(json.dumps(requests).encode()).decode()
    return _call(f"answer('{sent}')")


def remember(place: int) -> str:
    """The code that a grader runs to have the notebook's names kept as they are at one place of it."""
    return _call(f"keep({place:d})")


def _call(what: str) -> str:
    # One expression: a statement would bind a name, and a student may have given that name to something.
    return f"__import__('course_lib.checks.answer', fromlist=['answer']).{what}"


def keep(place: int) -> None:
    """Keep the names as they are now, for requests with that place. Runs in the student's kernel."""
    _places[place] = dict(notebook()), _settings()


def answer(sent: str) -> None:
    """Collect what was asked for, and display the bundles. Runs in the student's kernel."""
    from IPython.display import display

    requests = json.loads(base64.b64decode(sent))
    bundles = [answer_in(request, notebook()) for request in requests]
    display({MIME: json.dumps(bundles)}, raw=True)


def answer_in(request: Json, namespace: MutableMapping[str, Any]) -> Json:
    """The bundle of a request in a namespace, which is left as it was.

    A request may say at which place of the notebook the names count ("place"), and it may bring the code of
    functions to use instead of the student's own ("stand_ins").
    """
    now = dict(namespace), _settings()
    names, settings = _places.get(request.get("place"), now)
    _become(namespace, names | _correct(request.get("stand_ins")), settings)
    try:
        return collect(request, namespace)
    finally:
        _become(namespace, *now)


def notebook() -> MutableMapping[str, Any]:
    """The names of the notebook that runs in this kernel."""
    from IPython import get_ipython

    return get_ipython().user_ns  # type: ignore[no-untyped-call, no-any-return]


def _correct(stand_ins: Json) -> dict[str, Any]:
    """The functions that a request brings along, by name."""
    if stand_ins is None:
        return {}
    names: dict[str, Any] = {"__name__": "__main__"}
    for code in stand_ins["code"]:
        exec(code, names)
    return {each: names[each] for each in stand_ins["names"]}


def _settings() -> Any:
    """What a cell can set for all of PyTorch, and a later cell may set otherwise."""
    torch = sys.modules.get("torch")
    return None if torch is None else (torch.get_default_dtype(), torch.is_grad_enabled())


def _become(namespace: MutableMapping[str, Any], names: dict[str, Any], settings: Any) -> None:
    """Give a namespace these names and no others: functions look their helpers up in it."""
    namespace.clear()
    namespace.update(names)
    torch = sys.modules.get("torch")
    if torch is not None and settings is not None:
        torch.set_default_dtype(settings[0])
        torch.set_grad_enabled(settings[1])


def read_bundles(outputs: list[Json], count: int) -> list[Json]:
    """So many bundles among a cell's outputs.

    Raises: BadRecord when there are not so many, in one output, or one of them is malformed.
    """
    shown = [output.get("data") for output in outputs]
    found = [data[MIME] for data in shown if isinstance(data, dict) and MIME in data]
    if len(found) != 1:
        raise BadRecord(f"{len(found)} outputs with bundles instead of one")
    text = found[0]
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
        raise BadRecord("bundles that are no text, or too long")
    try:
        bundles = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRecord("bundles that are not JSON") from error
    if not isinstance(bundles, list) or len(bundles) != count:
        raise BadRecord("not as many bundles as there were requests")
    for bundle in bundles:
        _expect_bundle(bundle)
    return bundles


def _expect_bundle(bundle: Json) -> None:
    """Raise BadRecord where it is none."""
    if not isinstance(bundle, dict) or not isinstance(bundle.get("calls"), list):
        raise BadRecord("a bundle without calls")
    if not isinstance(bundle.get("missing", ...), (str, type(None))):
        raise BadRecord("a bundle that does not say what is missing")
    if not all(map(_is_record, bundle["calls"])):
        raise BadRecord("a bundle with something else than a call's id and what became of it")
    if len({record["id"] for record in bundle["calls"]}) != len(bundle["calls"]):
        raise BadRecord("a bundle with two answers to one call")


def _is_record(record: Json) -> bool:
    """Whether it says which call it is of, what came back or which error, and which inputs changed."""
    if not isinstance(record, dict) or not isinstance(record.get("id"), str):
        return False
    changed, error, returned = (record.get(key) for key in ("changed", "error", "returned"))
    if not isinstance(changed, list) or not all(isinstance(name, str) for name in changed):
        return False
    if error is None:
        return isinstance(returned, dict) and isinstance(returned.get("kind"), str)
    return isinstance(error, dict) and all(
        isinstance(error.get(key), str) for key in ("type", "message", "line")
    )
