"""Read what a student submitted, whatever it is: a notebook, or one line that says why there is none.

Of a file only the kind, text and exercise id of its cells are taken: metadata of Colab, Kaggle or VS Code,
missing or double cell ids, outputs and newer minor versions of the format make no difference.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from course_lib.errors import CourseError

from .cells import code_cell, markdown_cell, notebook_of
from .files import MAX_BYTES, read_bytes, too_large
from .outputs import clean, is_picture

MAX_CELLS = 2000
ENCODINGS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
# What a file that is no notebook begins with.
OTHERS = {b"PK\x03\x04": "a ZIP archive", b"%PDF": "a PDF", b"<": "a web page", b"\x1f\x8b": "an archive"}
AGAIN = "save the notebook again in JupyterLab and submit that file"


def read_submission(path: Path) -> NotebookNode:
    """The notebook in a file, with what was noticed in its metadata. Raises: CourseError in one line."""
    data = read_bytes(path)
    try:
        return parse_submission(data)
    except CourseError as error:
        raise CourseError(f"{path}: {error}") from None


def parse_submission(data: bytes) -> NotebookNode:
    """The notebook in the bytes of a file.

    Returns: its cells; `metadata.noticed` lists in words what was odd about the file.
    Raises: CourseError with one line that says what it is instead.
    """
    if len(data) > MAX_BYTES:
        raise CourseError(too_large(len(data)))
    text, noticed = _text(data)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise CourseError(f"not a notebook{_instead(data)}; {AGAIN}") from None
    if not isinstance(content, dict) or type(content.get("nbformat")) is not int:
        raise CourseError(f"not a notebook, though it is JSON; {AGAIN}")
    if content["nbformat"] > 4:
        version = str(content["nbformat"])[:20]
        raise CourseError(f"a notebook of format {version}, newer than can be read; {AGAIN}")
    if content["nbformat"] < 4:
        noticed.append(f"The notebook was in the old format {content['nbformat']} and was converted.")
        content = _converted(text)
    cells = content.get("cells")
    if not isinstance(cells, list) or not cells:
        raise CourseError("a notebook without cells")
    if len(cells) > MAX_CELLS:
        raise CourseError(f"a notebook of {len(cells)} cells; {MAX_CELLS} can be read")
    read = [cell for cell in map(_cell, cells) if cell is not None]
    if len(read) < len(cells):
        noticed.append(f"{len(cells) - len(read)} of its cells could not be read and were left out.")
    made = notebook_of(read)
    made.metadata["noticed"] = noticed
    return made


def _text(data: bytes) -> tuple[str, list[str]]:
    """The text of a file in the encoding it has, and what was odd about that."""
    if not data.strip(b"\x00 \t\r\n"):
        raise CourseError(f"an empty file; {AGAIN}")
    encoding = next((name for mark, name in ENCODINGS.items() if data.startswith(mark)), None)
    if encoding is None and data[1:2] == b"\x00":
        encoding = "utf-16-le"
    try:
        text = data.decode(encoding or "utf-8")
        noticed = (
            [f"The file was {encoding.upper()}, not UTF-8."] if encoding not in (None, "utf-8-sig") else []
        )
    except UnicodeDecodeError:
        text, noticed = data.decode("latin-1"), ["The file was not UTF-8 and was read as Latin-1."]
    return text, noticed


def _converted(text: str) -> dict[str, Any]:
    try:
        return dict(nbformat.reads(text, as_version=4))
    except Exception:
        raise CourseError(f"a notebook of an old format that cannot be converted; {AGAIN}") from None


def _cell(cell: Any) -> NotebookNode | None:
    """One cell with its text and exercise id, or None for what is no cell."""
    if not isinstance(cell, dict):
        return None
    source, kind = cell.get("source", ""), cell.get("cell_type")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str) or not isinstance(kind, str):
        return None
    made = code_cell(source) if kind == "code" else markdown_cell(source)
    marks = cell["metadata"].get("nbgrader") if isinstance(cell.get("metadata"), dict) else None
    if isinstance(marks, dict) and isinstance(marks.get("grade_id"), str):
        made.metadata["nbgrader"] = {key: _plain(value) for key, value in marks.items()}
    if kind == "markdown" and isinstance(cell.get("attachments"), dict):
        made["attachments"] = _pictures(cell["attachments"])
    if kind not in ("code", "markdown"):
        made["cell_type"] = "raw"
    return made


def _plain(value: Any) -> Any:
    """A text, number or null, as nbgrader's marks are: all else can be nested deeper than Python goes."""
    return value if value is None or isinstance(value, (str, int, float)) else "neither text nor number"


def _pictures(attachments: dict[str, Any]) -> dict[str, Any]:
    """Of a cell's attachments those that are pictures."""
    return {
        clean(name): {kind: value for kind, value in data.items() if is_picture(kind, value)}
        for name, data in attachments.items()
        if isinstance(data, dict)
    }


def _instead(data: bytes) -> str:
    what = next((name for start, name in OTHERS.items() if data.lstrip().startswith(start)), None)
    cut = re.match(rb"\s*\{", data) is not None
    return f" but {what}" if what else ", or only the beginning of one" if cut else ""
