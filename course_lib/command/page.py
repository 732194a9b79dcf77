"""What `course report` and `course map` have in common: a page in a file, or the same as data."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lib.term.chapters import Links


def add_arguments(parser: argparse.ArgumentParser, name: str) -> None:
    """Declare where the page goes. name: of its file, where the command's user names none."""
    parser.add_argument("--to", metavar="FILE", help=f"the page; default: exports/{name}.html")
    parser.add_argument("--json", action="store_true", help="print the same as data, and write no page")
    parser.add_argument(
        "--site", default="", metavar="ADDRESS", help="where the chapters stand as pages; default: build/site"
    )


def links(args: argparse.Namespace, root: Path, name: str) -> tuple[Path, Links]:
    """The page's file, and the addresses of sections as it needs them."""
    from course_lib.term.chapters import Links

    to = Path(args.to) if args.to else root / "exports" / f"{name}.html"
    return to, Links(root, to, args.site)


def show(data: Any) -> int:
    """Print data. Returns: the exit status."""
    print(json.dumps(data, indent=1, ensure_ascii=False))
    return 0


def write(to: Path, page: str, said: str) -> int:
    """Write the page, and say what is in it. Returns: the exit status."""
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(page, encoding="utf-8", newline="\n")
    print(f"{to}: {said}")
    return 0
