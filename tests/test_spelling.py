"""Spelling of what students and contributors read: chapters, exercises, documents and docstrings.

Two tools, since neither is enough: pyspellchecker knows which words exist, in America; typos knows how they
are spelt in Britain. `words.txt` lists the words that pyspellchecker lacks: British ones, and the field's.
"""

import ast
import re
import subprocess
import sysconfig
from functools import cache
from html import unescape
from pathlib import Path

import pytest
from spellchecker import SpellChecker

from course_lib import notebooks
from prose import claims

ROOT = Path(__file__).resolve().parents[1]
LISTED = (ROOT / "tests" / "words.txt").read_text(encoding="utf-8").split()
NOT_PROSE = re.compile(
    r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$]*\$"  # code and formulas
    r"|\]\([^)]*\)|\bhttps?://\S+|</?[a-z][^>\n]*>"  # addresses and tags
    r"|\b[A-Z]\w+ and (?:[A-Z]\w+|others) \(?\d{4}",  # citations
    re.DOTALL,
)
WORD = re.compile(r"(?<![\w.\\/-])[A-Za-z][a-z]+(?:'[a-z]+)?(?![\w(=]|\.\w)")
SHOWN = re.compile(r'<img [^>]*?alt="([^"]*)"|<figcaption>(.*?)</figcaption>', re.DOTALL)


def plain(text: str) -> str:
    """A text without what is not English: its code, formulas, addresses and tags."""
    return NOT_PROSE.sub(" ", text)


def notebook_prose(path: Path) -> str:
    """Markdown but for the references, with their names and titles; questions; alt texts and captions."""
    notebook = notebooks.read(path)
    pieces = [text for where, text in claims(notebook) if "references" not in where]
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    html = "".join(output.get("data", {}).get("text/html", "") for output in outputs)
    return plain("\n\n".join([*pieces, *(unescape(alt or caption) for alt, caption in SHOWN.findall(html))]))


def docstrings(path: Path) -> str:
    """Docstrings up to their doctests; names of parameters with a colon are code."""
    kinds = (ast.Module, ast.FunctionDef, ast.ClassDef)
    nodes = [
        node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, kinds)
    ]
    text = "\n\n".join((ast.get_docstring(node) or "").split(">>>")[0] for node in nodes)
    return re.sub(r"\b\w+(?:, \w+)*:", " ", plain(text))


@cache
def documents() -> dict[str, str]:
    """The prose of every document, by a name without slashes."""
    found = {}
    for name in ("README.md", "CONTRIBUTING.md", "docs/marking_security.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        prose = re.sub(r"^ {4}\S.*$", "", text, flags=re.MULTILINE)  # commands are indented
        found[name.replace("/", "-")] = plain(prose)
    for path in [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("solutions/*/*.ipynb")]:
        found["-".join(path.relative_to(ROOT).with_suffix(".md").parts)] = notebook_prose(path)
    for path in ROOT.glob("course_lib/**/*.py"):
        found["-".join(path.relative_to(ROOT).with_suffix(".md").parts)] = docstrings(path)
    return found


def words(text: str) -> set[str]:
    """The words of a text in lower case, without the genitive's ending."""
    return {found[0].lower().removesuffix("'s") for found in WORD.finditer(text)}


@cache
def dictionary() -> SpellChecker:
    return SpellChecker()


def unknown(text: str) -> set[str]:
    """The words that neither the dictionary nor our list has."""
    return dictionary().unknown(words(text) - set(LISTED))


def misspelt(folder: Path, texts: dict[str, str]) -> list[str]:
    """What typos finds in British English, as "document:line:column: error: `this` should be `that`"."""
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    program = Path(sysconfig.get_path("scripts")) / "typos"
    command = [program, "--locale", "en-gb", "--format", "brief", "--isolated", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8")
    assert done.returncode in (0, 2), done.stderr
    return done.stdout.splitlines()


def test_every_word_is_in_a_dictionary_or_in_our_list():
    wrong = {name: unknown(text) for name, text in documents().items()}
    assert {name: found for name, found in wrong.items() if found} == {}


def test_spelling_is_british_and_known_slips_are_absent(tmp_path):
    assert misspelt(tmp_path, documents()) == []


def test_our_list_is_sorted_and_every_word_of_it_is_needed():
    used = set().union(*map(words, documents().values()))
    assert sorted(set(LISTED)) == LISTED
    assert set(LISTED) - used == set()
    assert set(LISTED) - dictionary().unknown(LISTED) == set()


@pytest.mark.parametrize(
    "slip", ["The wieght is large.", "Ths is one.", "a recieved token", "A qurey's row", "(softmx)"]
)
def test_a_slip_is_found(slip):
    assert len(unknown(plain(slip))) == 1


@pytest.mark.parametrize("slip", ["The color is red.", "Normalize the row.", "We teh wait."])
def test_a_slip_that_is_a_word_elsewhere_is_found(tmp_path, slip):
    assert len(misspelt(tmp_path, {"slip.md": slip})) == 1


def test_code_formulas_and_addresses_are_not_prose():
    text = "See `colr`, $\\sigmod x$, [this](https://example.org/reslt), <b clas>that</b>."
    assert unknown(plain(text)) == set()
