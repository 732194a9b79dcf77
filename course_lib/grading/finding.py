"""Find the notebook in a student's folder, whatever browsers and learning platforms have called it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .timestamp import NAME as TIMESTAMP
from .timestamp import read_timestamp

SHOWN = 5  # file names in a sentence


def find_notebook(folder: Path, name: str) -> tuple[Path | None, list[str]]:
    """The file to mark as assignment `name`, and what there is to say about the choice, in words.

    Where there is none, the last sentence says why. Links are never followed.
    """
    if folder.is_symlink():
        return None, ["the folder is a link; submit the notebook itself"]
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        return None, [f"its folder cannot be read ({error.strerror})"]
    collected = read_timestamp(folder) is not None
    files = [path for path in entries if not (path.name == TIMESTAMP and collected)]
    notebooks = [path for path in files if path.suffix.lower() == ".ipynb"]
    others = _listed([path for path in files if path not in notebooks and not path.name.startswith(".")])
    noticed = [f"Besides the notebook there was {others}; it was not looked at."] if others else []
    exact = folder / f"{name}.ipynb"
    if exact in notebooks:
        more = _listed([path for path in notebooks if path != exact])
        return exact, [*noticed, *([f"The notebook {exact.name} counts, not {more}."] if more else [])]
    alike = [path for path in notebooks if is_called(path.stem, name)] or notebooks
    if not alike:
        return None, [f"there is no notebook in the folder{f', only {others}' if others else ''}"]
    chosen = max(alike, key=lambda path: (path.lstat().st_mtime, path.name))
    noticed.append(f"The file was called {shown(chosen)}, not {exact.name}.")
    more = _listed([path for path in notebooks if path != chosen])
    return chosen, [*noticed, *([f"It counts, since it is the newest, and not {more}."] if more else [])]


def everything_but(*names: str) -> Iterator[str]:
    """Patterns, as nbgrader's `ignore` takes them, for all files whose names do not end in one of these.

    >>> list(everything_but(".ab"))
    ['*[!b]', 'b', '*[!a]b', 'ab', '*[!.]ab']
    """
    tails = {name[start:] for name in names for start in range(1, len(name) + 1)}
    for tail in sorted(tails, key=lambda each: (len(each), each)):
        before = sorted({name[-len(tail) - 1] for name in names if name.endswith(tail) and name != tail})
        if before:
            yield from ([tail] if tail else [])
            yield f"*[!{''.join(before)}]{tail}"


def is_called(stem: str, name: str) -> bool:
    """Whether a file's name holds the assignment's name, spaces, hyphens and capitals aside.

    >>> names = ("Copy of 01 soft-lookup (2)", "jdoe_12345_01_Soft_Lookup")
    >>> [is_called(name, "01_soft_lookup") for name in names]
    [True, True]
    >>> is_called("02_queries", "01_soft_lookup")
    False
    """
    return re.sub(r"[^a-z0-9]+", "_", name.lower()) in re.sub(r"[^a-z0-9]+", "_", stem.lower())


def shown(path: Path) -> str:
    """A file's name as it may stand in a sentence.

    >>> shown(Path("a\\nb.ipynb"))
    '“a b.ipynb”'
    """
    return f"“{''.join(letter if letter.isprintable() else ' ' for letter in path.name[:80])}”"


def _listed(paths: list[Path]) -> str:
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(map(shown, paths[:SHOWN])) + more
