"""Lint the movable figures' JavaScript and CSS; `make lint` runs it as a program.

The JavaScript is linted by oxlint as a page runs it: shared files first, then each figure in a block of its
own, so that names which nobody defines, or nobody uses, are found across files. The CSS must parse without an
error; whether a browser knows every property and value is tested in tests/browser/.
"""

import re
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import tinycss2

FOLDER = Path(__file__).resolve().parents[1] / "course_lib" / "explore"
RULES = [
    *("-D", "correctness", "-D", "suspicious", "-D", "perf"),
    *("-D", "eqeqeq", "-D", "no-undef", "-D", "no-unused-vars", "-D", "no-var", "-D", "prefer-const"),
    *(
        "-A",
        "no-shadow",
        "-A",
        "consistent-function-scoping",
        "-A",
        "no-map-spread",
    ),  # not this house's style
    *("-A", "no-array-sort", "-A", "no-array-reverse"),  # what they propose is too new for older browsers
    *("-A", "no-array-fill-with-reference-type"),  # takes our tables' `fill` for an array's
]
CONFIG = '{"plugins": ["oxc", "unicorn", "jsdoc"], "env": {"browser": true, "es2024": true}}'
FOUND = re.compile(r"whole\.js:(\d+):(\d+): (.*)")


def sources() -> dict[str, str]:
    """The text of every JavaScript file, by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.js"))}


def joined(files: Mapping[str, str]) -> tuple[str, list[str]]:
    """All files as one script, and where each of its lines comes from."""
    shared = {name: text for name, text in files.items() if "function explore(" not in text}
    figures = {name: text for name, text in files.items() if name not in shared}
    lines, origins = ["(() => {"], [""]
    for name, text in [*sorted(shared.items(), key=lambda item: item[0] != "base.js"), *figures.items()]:
        block = ["{", *text.splitlines(), "wake(0, explore, 0); }"] if name in figures else text.splitlines()
        lines += block
        origins += [f"{name}:{number}" for number in range(0 if name in figures else 1, len(block) + 1)]
        origins = origins[: len(lines)]
    return "\n".join([*lines, "})();"]), [*origins, ""]


def javascript(files: Mapping[str, str]) -> list[str]:
    """What oxlint finds, as "file:line: message"."""
    whole, origins = joined(files)
    with TemporaryDirectory() as folder:
        Path(folder, "whole.js").write_text(whole, encoding="utf-8")
        Path(folder, "config.json").write_text(CONFIG, encoding="utf-8")
        program = Path(sysconfig.get_path("scripts")) / "oxlint"
        command = [program, "-c", "config.json", "--format", "unix", *RULES, "whole.js"]
        done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8")
    found = [f"{origins[int(line) - 1]}: {message}" for line, _, message in FOUND.findall(done.stdout)]
    return found or ([] if done.returncode == 0 else [done.stdout + done.stderr])


def css(text: str) -> list[str]:
    """The errors that a parser of CSS finds, within rules of rules as well."""
    rules = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    found = []
    for rule in rules:
        inner = getattr(rule, "content", None) or []
        if rule.type == "at-rule":
            found += css(tinycss2.serialize(inner))
        parts = tinycss2.parse_blocks_contents(inner, skip_comments=True, skip_whitespace=True)
        wrong = [part for part in parts if part.type == "error"] if rule.type == "qualified-rule" else []
        found += [
            f"line {each.source_line}: {each.message}" for each in [rule, *wrong] if each.type == "error"
        ]
    return found


def main() -> int:
    """Print what is wrong; the exit status says whether anything is."""
    found = javascript(sources())
    for path in FOLDER.glob("*.css"):
        found += [f"{path.name}: {each}" for each in css(path.read_text(encoding="utf-8"))]
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
