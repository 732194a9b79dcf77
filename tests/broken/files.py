"""Files that are no notebook, or not where one is looked for."""

from __future__ import annotations

import json
import os

from cheats.cheat import NAME, Change, Submission

from .entry import Broken, data, raw

UNREADABLE, JSON_ONLY = "not a notebook", "not a notebook, though it is JSON"


def _renamed(name: str) -> Change:
    def change(submission: Submission) -> None:
        submission.file.rename(submission.folder / name)

    return change


def _folder(submission: Submission) -> None:
    submission.file.unlink()
    submission.file.mkdir()


def _nothing(submission: Submission) -> None:
    submission.file.unlink()
    (submission.folder / "notes.txt").write_text("I had no time.", encoding="utf-8")


def _dangling(submission: Submission) -> None:
    submission.file.unlink()
    submission.file.symlink_to("nowhere.ipynb")


def _pipe(submission: Submission) -> None:
    submission.file.unlink()
    os.mkfifo(submission.file)


def _beside(submission: Submission) -> None:
    os.mkfifo(submission.folder / "pipe")


def _huge(notebook: dict) -> None:
    cell = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 100_000_000}]


def _version_3(notebook: dict) -> dict:
    cells = []
    for cell in notebook["cells"]:
        kept = {"metadata": cell["metadata"], "cell_type": cell["cell_type"]}
        if cell["cell_type"] == "code":
            cells.append(
                kept | {"input": cell["source"], "language": "python", "outputs": [], "collapsed": False}
            )
        else:
            cells.append(kept | {"source": cell["source"]})
    return {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells}]}


def _without_ids(notebook: dict) -> None:
    notebook["nbformat_minor"] = 0
    for cell in notebook["cells"]:
        cell.pop("id")


def _latin_1(text: str) -> bytes:
    return text.replace("Soft", "é").encode("latin-1", "replace")


def _code_alone(text: str) -> bytes:
    return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"]).encode()


FILES = [
    Broken("empty", "an empty file", raw(lambda text: b""), 0, "an empty file"),
    Broken(
        "truncated", "half a file", raw(lambda text: text[: len(text) // 2].encode()), 0, "only the beginning"
    ),
    Broken("latin-1", "another encoding", raw(_latin_1), says="read as Latin-1"),
    Broken("utf-16", "two bytes a letter", raw(lambda text: text.encode("utf-16")), says="was UTF-16"),
    Broken("bom", "a byte order mark in front", raw(lambda text: text.encode("utf-8-sig"))),
    Broken("crlf", "Windows line ends", raw(lambda text: text.replace("\n", "\r\n").encode())),
    Broken("version-3", "the format of 2011", data(_version_3), says="old format 3"),
    Broken("without-ids", "format 4.0, without ids of cells", data(_without_ids)),
    Broken("future-minor", "format 4.9", data(lambda nb: nb.update(nbformat_minor=9))),
    Broken(
        "version-5", "format 5", data(lambda nb: nb.update(nbformat=5, nbformat_minor=0)), 0, "of format 5"
    ),
    Broken("no-version", "no format at all", data(lambda nb: nb.pop("nbformat") and None), 0, JSON_ONLY),
    Broken("huge", "100 MB of output", data(_huge), 0, "95 MB, and at most 20 MB can be read"),
    Broken("no-notebook", "a text file instead", _nothing, 0, "no notebook in the folder, only “notes.txt”"),
    Broken("browser-name", "a second download", _renamed(f"{NAME} (1).ipynb"), says="was called"),
    Broken(
        "lms-name", "a name by a learning platform", _renamed(f"meier_12345_{NAME}.ipynb"), says="was called"
    ),
    Broken("other-name", "a name of the student's own", _renamed("homework.ipynb"), says="was called"),
    Broken("upper-case", "another ending", _renamed(f"{NAME}.IPYNB"), says="was called"),
    Broken("folder", "a folder of that name", _folder, 0, "a folder, not a notebook"),
    Broken("dangling", "a link to nothing", _dangling, 0, "a link, not a file"),
    Broken("pipe", "a named pipe in its place", _pipe, 0, "not a regular file"),
    Broken("pipe-beside", "a named pipe beside it", _beside, says="it was not looked at"),
    Broken("deep", "lists in lists in lists", raw(lambda text: b"[" * 200_000), 0, UNREADABLE),
    Broken("list", "a list of cells", data(lambda nb: nb["cells"]), 0, JSON_ONLY),
    Broken("number", "a number", raw(lambda text: b"42"), 0, JSON_ONLY),
    Broken("not-a-number", "NaN in its metadata", data(lambda nb: nb["metadata"].update(x=float("nan")))),
    Broken("nul", "zero bytes", raw(lambda text: bytes(1000)), 0, "an empty file"),
    Broken("script", "its code alone", raw(_code_alone), 0, UNREADABLE),
]
