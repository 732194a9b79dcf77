"""Folders of markers: how they are deleted, and those that a killed marker left behind.

Each is named after its process, and is left behind when that is gone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

NAMED = re.compile(r"marking-(\d+)-\w+")


@cache
def remove_leftovers(folder: str | None = None) -> list[str]:
    """Delete the folders of markers that do not run any more, once in this process. Returns: their names."""
    place = Path(folder or tempfile.gettempdir())
    old = [path for path in place.iterdir() if _is_left(path)]
    for path in old:
        remove_folder(path)
    return sorted(path.name for path in old)


def remove_folder(folder: Path) -> None:
    """Delete a folder with all that is in it, as far as one may; of a link, only the link."""
    if os.open not in os.supports_dir_fd:  # as on Windows
        shutil.rmtree(folder, ignore_errors=True)
        return
    try:
        _remove_with_files(str(folder))
    except OSError:  # there are folders in it, or it is a link
        # Not shutil.rmtree: it recurses, and a student can nest folders deeper than Python's stack.
        subprocess.run(["rm", "-rf", "--", str(folder)], stderr=subprocess.DEVNULL, check=False)


def _remove_with_files(folder: str) -> None:
    """Delete a folder with the files in it. Raises: OSError where there is something else.

    It goes by a descriptor: what is exchanged for a link meanwhile is not followed.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for name in os.listdir(descriptor):
            os.unlink(name, dir_fd=descriptor)
    finally:
        os.close(descriptor)
    os.rmdir(folder)


def _is_left(path: Path) -> bool:
    named = NAMED.fullmatch(path.name)
    if named is None or os.name != "posix":
        return False
    try:
        if os.geteuid() not in (0, path.lstat().st_uid):
            return False
        os.kill(int(named[1]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return False
