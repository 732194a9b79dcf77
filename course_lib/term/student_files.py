"""The files of the students' bundle that are not copies: made from the course's own, or written for it."""

from __future__ import annotations

import re
from pathlib import Path

# Tables of pyproject.toml that a student's installation needs.
TABLES = re.compile(r"\[(build-system|project|project\.scripts|tool\.setuptools\..*)\]")
TARGETS = ("help", "setup", "lab")
VARIABLES = ("CHAPTERS", "NOTEBOOKS")  # which only other targets use

NBGRADER_CONFIG = '''"""What nbgrader needs to know to validate this course's exercises."""

c = get_config()

c.CourseDirectory.course_id = "one_layer_of_attention"
'''


def made(root: Path) -> dict[str, bytes]:
    """The made files, by name."""
    readme = Path(__file__).with_name("student_readme.md")
    texts = {
        "README.md": _text(readme),
        "Makefile": makefile(_text(root / "Makefile")),
        "pyproject.toml": pyproject(_text(root / "pyproject.toml")),
        ".gitignore": _text(root / ".gitignore").split("# Marking:")[0].rstrip() + "\n",
        "nbgrader_config.py": NBGRADER_CONFIG,
    }
    return {name: text.encode() for name, text in texts.items()}


def pyproject(text: str) -> str:
    """The project's declaration without what tests, the site and maintainers need.

    >>> print(pyproject("[project]\\nname = 'x'\\n\\n[tool.ruff]\\nline-length = 110\\n"), end="")
    [project]
    name = 'x'
    """
    tables = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
    return "".join(each for each in tables if TABLES.match(each)).rstrip() + "\n"


def makefile(text: str) -> str:
    """The targets that students need, of what `make` reads."""
    blocks = text.split("\n\n")
    kept = [
        block for block in blocks if (found := re.match(r"([a-z]+):", block)) is None or found[1] in TARGETS
    ]
    lines = [line for line in "\n\n".join(kept).splitlines() if not line.startswith(VARIABLES)]
    phony = f".PHONY: {' '.join(TARGETS)}"
    return "\n".join(phony if line.startswith(".PHONY") else line for line in lines) + "\n"


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8").replace("\r\n", "\n")
