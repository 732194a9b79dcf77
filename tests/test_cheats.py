"""Submissions that try to gain points, to see what is hidden, or to break their own marking."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from course_lib.grading import sandbox
from course_lib.grading.mark import Marked, mark
from course_lib.grading.plugins import as_markdown
from course_lib.grading.source import Source
from marking import answered, answers_of

ROOT = Path(__file__).resolve().parents[1]
NAME = "01_soft_lookup"
WRONG = "def softmax(scores):\n    return scores / scores.sum(axis=-1, keepdims=True)"


@pytest.fixture(scope="module")
def source() -> Source:
    return Source(ROOT / "solutions" / NAME / f"{NAME}.ipynb", "a secret of the tests")


@pytest.fixture
def release() -> NotebookNode:
    return nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)


def _mark(notebook: NotebookNode, source: Source) -> Marked:
    return mark(notebook, source, source.notebook, sandboxed=sandbox.missing() is None)


def test_an_honest_helper_called_answer_costs_nothing(release: NotebookNode, source: Source) -> None:
    answers = answers_of(source.notebook) | {
        "soft_lookup": "def answer(weights, values):\n    return weights @ values\n"
        "def soft_lookup(query, keys, values):\n"
        "    weights = softmax(query @ keys.T)\n    return answer(weights, values), weights"
    }
    assert _mark(answered(release, answers), source).points == 20


FORGED_RESULT = "from IPython.display import display\nget_ipython().displayhook(2.0)"
PATCHED = """
import json, numpy as np, course_lib.checks.answer as a, course_lib.checks.collect as c
np.testing.assert_allclose = lambda *args, **kwargs: None
np.allclose = np.isclose = lambda *args, **kwargs: True
a.collect = lambda request, namespace: {"function": request["function"], "missing": None, "calls": []}
"""
TWO_BUNDLES = """
import course_lib.checks.answer as a
from IPython.display import display
original = a.answer
def twice(sent):
    original(sent)
    original(sent)
a.answer = twice
"""
HOOKS = """
class DropErrors(__import__("ast").NodeTransformer):
    def visit_Assert(self, node):
        return None
get_ipython().ast_transformers.append(DropErrors())
get_ipython().input_transformers_post.append(lambda lines: ["2.0"])
"""


@pytest.mark.parametrize(
    "trick", [FORGED_RESULT, PATCHED, TWO_BUNDLES, HOOKS], ids=["result", "patch", "two", "hook"]
)
def test_a_trick_gains_no_point(release: NotebookNode, source: Source, trick: str) -> None:
    notebook = answered(release, {"softmax": WRONG})
    notebook.cells.insert(2, new_code_cell(trick))
    assert _mark(notebook, source).points == 0


def test_a_tag_or_a_changed_test_cell_gains_no_point(release: NotebookNode, source: Source) -> None:
    for cell in release.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.metadata["tags"] = ["skip-execution"]
            cell.source = "20.0"
    assert _mark(release, source).points == 0


def test_no_solution_and_no_hidden_input_reaches_what_a_student_gets_back(
    release: NotebookNode, source: Source
) -> None:
    spy = """
import base64, json, course_lib.checks.answer as a
from IPython.display import display
shown = display("x", display_id="leak")
original = a.answer
def spying(sent):
    request = json.loads(base64.b64decode(sent))
    shown.update("LEAK " + repr(request.get("stand_ins")) + sent)
    original(sent)
a.answer = spying
"""
    notebook = answered(
        release, {"softmax": WRONG, "soft_lookup": answers_of(source.notebook)["soft_lookup"]}
    )
    notebook.cells.insert(2, new_code_cell(spy))
    _mark(notebook, source)
    shown = json.dumps([cell.get("outputs", []) for cell in notebook.cells])
    assert "text/plain" in shown
    assert "LEAK" not in shown
    assert "BEGIN SOLUTION" not in shown


TELL = """
class Wrong(Exception):
    pass
def softmax(scores):
    raise {error}
"""


@pytest.mark.parametrize(
    "error",
    [
        'Wrong("HIDDEN" + repr(scores.tolist()))',
        'NotImplementedError("HIDDEN_" + str(abs(int(scores.flat[0] * 1e6))) + " is not written yet")',
        'type("HIDDEN" + str(scores.shape), (Exception,), {})()',
    ],
)
def test_an_error_cannot_carry_a_hidden_input_into_a_sentence(
    release: NotebookNode, source: Source, error: str
) -> None:
    right = answers_of(source.notebook)["softmax"].replace("def softmax", "def right")
    known = (
        "KNOWN = {r['arguments']['scores']['data'] for b in STORED.values() for r in b['request']['calls']}"
    )
    code = (
        right
        + "\nimport base64, json\nfrom importlib import resources\n"
        + "STORED = json.loads((resources.files('course_lib.checks') / 'data' / '01_soft_lookup.json')"
        + ".read_text())['softmax']\n"
        + known
        + TELL.format(error=error).replace(
            "    raise",
            "    if base64.b64encode(scores.tobytes()).decode() in KNOWN: return right(scores)\n    raise",
        )
    )
    marked = _mark(answered(release, {"softmax": code}), source)
    sentences = [verdict.sentence for verdict in marked.verdicts.values() if verdict.function == "softmax"]
    assert all(sentences)
    assert not any("HIDDEN" in sentence for sentence in sentences)


BREAK = {
    "surrogate": "print('half a letter: \\ud800')",
    "flood": "print('x' * 3_000_000)",
    "invalid": "from IPython.display import display\ndisplay({'image/png': None}, raw=True)",
    "deep": "import os\nfor _ in range(3000):\n    os.mkdir('d')\n    os.chdir('d')",
}


@pytest.mark.parametrize("name", BREAK)
def test_a_submission_cannot_break_its_own_marking(release: NotebookNode, source: Source, name: str) -> None:
    notebook = answered(release, answers_of(source.notebook))
    notebook.cells.append(new_code_cell(BREAK[name]))
    marked = _mark(notebook, source)
    assert marked.points == 20
    nbformat.validate(notebook)
    assert len(nbformat.writes(copy.deepcopy(notebook)).encode("utf-8")) < 300_000


def test_a_dead_kernel_costs_what_ended_it_and_nothing_else(release: NotebookNode, source: Source) -> None:
    answers = answers_of(source.notebook) | {
        "gaussian_lookup": "import os\ndef gaussian_lookup(query, keys, values, width):\n    os._exit(1)"
    }
    marked = _mark(answered(release, answers), source)
    assert marked.points == 15
    assert "kernel ended" in marked.verdicts["gaussian_lookup-any-input"].sentence


def test_a_comment_shows_a_students_words_as_they_are() -> None:
    assert as_markdown("<img src=x onerror=alert(1)> a*b*c") == "&lt;img src=x onerror=alert(1)&gt; a\\*b\\*c"
