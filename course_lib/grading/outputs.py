"""Outputs of a submission's own cells, as far as a notebook file and a feedback page can hold them."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output, output_from_msg

from .bubblewrap import WORK

MAX_CHARACTERS = 100_000  # of one cell
MOST_PARTS = 1_000  # lines of a traceback, kinds of a display
KEPT = ("text/plain", "image/png", "image/jpeg")
FOLDER = re.compile(rf"{re.escape(tempfile.gettempdir())}/marking-\d+-\w+|{re.escape(WORK)}\b")
PLACES = sorted({sys.prefix, sys.base_prefix, str(Path(__file__).parents[2])} - {"/", "/usr"}, key=len)[::-1]
BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")
STOPPED = "Stopped"  # in place of an error's name: the cell was not run, or not to its end
MAX_IN_ALL = 1_000_000  # of one notebook
CUT = f"\n(The rest is left out: more than {MAX_CHARACTERS:,} characters of output, or too much in all.)\n"


class Shown:
    """What the cells of one notebook show, gathered while they run; never more than can be kept."""

    def __init__(self) -> None:
        self.left = MAX_IN_ALL
        self.by_display_id: dict[str, list[NotebookNode]] = {}

    def cell(self) -> CellOutputs:
        """Where to gather the outputs of the next cell."""
        return CellOutputs(self)


class CellOutputs:
    """The outputs of one cell: streams joined, displays updated and cleared as their code asks."""

    def __init__(self, shown: Shown) -> None:
        self.outputs: list[NotebookNode] = []
        self._shown, self._left, self._clear = shown, min(MAX_CHARACTERS, shown.left), False

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take one message of the kernel."""
        kind, content = message["msg_type"], message["content"]
        if kind == "clear_output":
            self._clear = bool(content.get("wait"))
            if not self._clear:
                self._empty()
            return
        sound = _sound(kind, content)
        if sound is None:
            return
        try:
            output = output_from_msg({"header": {"msg_type": kind.removeprefix("update_")}, "content": sound})
        except Exception:  # not an output, or none that a notebook can hold
            return
        transient = content.get("transient")
        name = transient.get("display_id") if isinstance(transient, dict) else None
        name = name if isinstance(name, str) else ""
        if kind == "update_display_data":
            self._update(name, output)
            return
        if self._clear:
            self._empty()
        added = self._add(output)
        if name and added is not None:  # what was cut is held by nobody
            self._shown.by_display_id.setdefault(name, []).append(added)

    def stop(self, reason: str) -> None:
        """Say why the cell did not come to its end."""
        self.outputs.append(stopped(reason))

    def _empty(self) -> None:
        used = min(MAX_CHARACTERS, sum(map(_size, self.outputs)))
        self.outputs, self._clear = [], False
        self._shown.left += used
        self._left = min(MAX_CHARACTERS, self._shown.left)

    def _update(self, name: str, output: NotebookNode) -> None:
        for each in self._shown.by_display_id.get(name, []):
            growth = _size(output) - _size(each)
            if growth <= self._shown.left:
                self._shown.left -= growth
                each.data, each.metadata = output.data, output.metadata

    def _add(self, output: NotebookNode) -> NotebookNode | None:
        """Returns: what was added, as far as there was room."""
        if self._left <= 0:
            return None
        size = _size(output)
        if size > self._left:
            output = _cut(output, self._left)
            size = self._left
        self._left -= size
        self._shown.left -= size
        last = self.outputs[-1] if self.outputs else output
        if last is not output and _same_stream(last, output):
            last.text += output.text
            return last
        self.outputs.append(output)
        return output


def _sound(kind: str, content: Mapping[str, Any]) -> dict[str, Any] | None:
    """Of an output what is kept of it, or None where that is no text: nbformat would look into all of it,
    which takes long where it is much and wrong."""
    if kind == "stream":
        name, text = content.get("name"), content.get("text")
        return {"name": name, "text": text} if isinstance(name, str) and isinstance(text, str) else None
    if kind == "error":
        said = {key: content.get(key) for key in ("ename", "evalue", "traceback")}
        lines = said["traceback"]
        few = isinstance(lines, list) and len(lines) <= MOST_PARTS
        return said if few and all(map(_is_text, [said["ename"], said["evalue"], *lines])) else None
    data = content.get("data")
    if (
        not isinstance(data, dict)
        or len(data) > MOST_PARTS
        or not all(_is_text(data[name]) for name in KEPT if name in data)
    ):
        return None
    count = content.get("execution_count")
    return {
        "data": {name: data[name] if name in KEPT else "" for name in data},
        "metadata": {},
        "execution_count": count if isinstance(count, int) else None,
    }


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def stopped(reason: str) -> NotebookNode:
    """The output that says why a cell did not come to its end."""
    return new_output("error", ename=STOPPED, evalue=reason, traceback=[reason])


def kept(outputs: Sequence[NotebookNode]) -> list[NotebookNode]:
    """The outputs that are valid, and of each only text and pictures: a page that shows others runs what is
    in them. What no file can hold, such as half a letter of UTF-16, is replaced by question marks."""
    return [_harmless(output) for output in map(_whole, outputs) if output is not None]


def without_paths(text: str) -> str:
    """Text without the names of the marker's folders, which tracebacks show.

    >>> without_paths(f"File {sys.prefix}/lib/x.py, {tempfile.gettempdir()}/marking-7-ab_c/y.py")
    'File …/lib/x.py, …/y.py'
    """
    text = FOLDER.sub("…", text)
    for place in PLACES:
        text = text.replace(place, "…")
    return text


def _harmless(output: NotebookNode) -> NotebookNode:
    if "data" not in output:
        return output
    data = {
        kind: "".join(value)  # a valid one may come as a list of lines
        for kind, value in output.data.items()
        if kind == "text/plain" or is_picture(kind, value)
    }
    output.data = nbformat.from_dict(data or {"text/plain": f"(not shown: {', '.join(output.data)[:80]})"})
    output.metadata = nbformat.from_dict({})
    return output


def is_picture(kind: str, value: Any) -> bool:
    """Whether data is a picture that a page shows and does not run."""
    lines = value if isinstance(value, list) else [value]
    return kind in ("image/png", "image/jpeg") and all(
        isinstance(line, str) and BASE64.fullmatch(line) is not None for line in lines
    )


def as_text(markdown: str) -> str:
    """A student's Markdown without HTML of its own, which a page would run.

    >>> as_text("a < b, <b onclick=x>")
    'a < b, &lt;b onclick=x>'
    """
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", markdown)


def clean(text: str) -> str:
    """Text as UTF-8 can hold it.

    >>> clean("half a letter: \\ud800")
    'half a letter: ?'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def _text(output: NotebookNode) -> str:
    return json.dumps(output, ensure_ascii=False, default=str)


def _size(output: NotebookNode) -> int:
    return 40 + len(output.text) if output.output_type == "stream" else len(_text(output))


def _same_stream(one: NotebookNode, other: NotebookNode) -> bool:
    return one.output_type == other.output_type == "stream" and one.name == other.name


def _cut(output: NotebookNode, room: int) -> NotebookNode:
    """As much of an output as there is room for, and that something is missing."""
    if output.output_type == "error":
        name, value = str(output.ename)[:200], str(output.evalue)[:1000]
        return new_output("error", ename=name, evalue=value, traceback=[f"{name}: {value}", CUT])
    shown = str(output.text)[:room] if output.output_type == "stream" else ""
    return new_output("stream", name="stdout", text=shown + CUT)


def _whole(output: NotebookNode) -> NotebookNode | None:
    """An output as a file holds it, or None where it is none, as with objects in objects without end."""
    try:
        whole = nbformat.from_dict(json.loads(without_paths(clean(_text(output)))))
        nbformat.validate(new_notebook(cells=[new_code_cell("", outputs=[whole])]))
    except Exception:
        return None
    return whole
