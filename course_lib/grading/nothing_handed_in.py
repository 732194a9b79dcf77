"""What `nbgrader autograde` says where there is no notebook at all: one line, and what to do.

nbgrader stops there before it makes our exporter; its settings for logging are what reaches its words.
"""

from __future__ import annotations

import logging
from pathlib import Path

NOTHING = "No notebooks were matched by"
GUESS = "Did you mean"


class NothingHandedIn(logging.Filter):
    """Replaces nbgrader's lines about missing notebooks by one of ours."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is logged, perhaps in other words."""
        said = str(record.msg)
        if said.startswith(GUESS):  # of an assignment that is called otherwise; not of the same one again
            return Path(str(record.args[0])).name != self.asked if record.args else True
        if not said.startswith(NOTHING):
            return True
        if (
            record.levelno < logging.ERROR
        ):  # one folder; the submission is marked, with 0 points and the reason
            return False
        folders = Path(said.split("'")[1])
        self.asked = folders.name
        record.msg = nothing_in(folders)
        return True

    asked = ""


def nothing_in(folders: Path) -> str:
    """Why nothing is marked, where a pattern of submitted folders holds no notebook."""
    shown = "/".join(folders.parts[-3:])
    students = len(list(folders.parents[1].glob(f"{folders.parent.name}/{folders.name}")))
    if students == 0:
        return f"nothing was handed in: there is no folder {shown}; collect submissions first"
    which = "the only folder" if students == 1 else f"none of the {students} folders"
    holds = "holds no notebook" if students == 1 else "holds a notebook"
    return (
        f"nothing to mark: {which} {shown} {holds} (.ipynb); `course mark {folders.name}` would give them 0"
    )
