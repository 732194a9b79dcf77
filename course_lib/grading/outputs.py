"""Outputs of a submission's own cells, as far as a notebook file and a feedback page can hold them."""

from __future__ import annotations

import json
from collections.abc import Sequence

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

MAX_CHARACTERS = 100_000
CUT = f"\n(The rest is left out: more than {MAX_CHARACTERS:,} characters of output.)\n"


def kept(outputs: Sequence[NotebookNode]) -> list[NotebookNode]:
    """The outputs that are valid, together at most MAX_CHARACTERS long; the first that is longer is cut off.

    What no file can hold, such as half a letter of UTF-16, is replaced by question marks.
    """
    room, result = MAX_CHARACTERS, []
    for output in outputs:
        text = json.dumps(output, ensure_ascii=False, default=str).encode("utf-8", "replace").decode("utf-8")
        output = nbformat.from_dict(json.loads(text))
        if not _valid(output):
            continue
        if len(text) > room:
            shown = output.text[:room] if output.output_type == "stream" else ""
            cut = {"output_type": "stream", "name": "stdout", "text": shown + CUT}
            return [*result, nbformat.from_dict(cut)]
        room -= len(text)
        result.append(output)
    return result


def clean(text: str) -> str:
    """Text as UTF-8 can hold it.

    >>> clean("half a letter: \\ud800")
    'half a letter: ?'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def _valid(output: NotebookNode) -> bool:
    try:
        nbformat.validate(new_notebook(cells=[new_code_cell("", outputs=[output])]))
    except Exception:
        return False
    return True
