"""No cheat of the catalogue gains anything, stops anybody, or reaches what is none of its business.

Here all of them are marked by the course, and some where their own defence is missing; `make cheats` tries
every one on stock nbgrader, too, and prints the table.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from cheats.arena import HONEST, NEIGHBOUR, NO_CHEAT, SECRET, Arena, Outcome, is_test
from cheats.arenas import ARENAS, hidden_numbers, ours
from cheats.catalogue import CHEATS, LIMITS
from cheats.cheat import NAME
from course_lib.grading import sandbox
from course_lib.grading.mark import mark
from course_lib.grading.source import Source
from marking import answered, answers_of
from programs import find_program

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
# One for each way in: a tag, a hook, a forged message, frames, an object that lies, the disk, the network.
SAMPLE = ("skip-tag", "ast-hook", "forged-result", "frames", "array-protocol", "solution", "loopback")
IN_PROCESS = ("our marking on the visible cases alone", "our marking that tells everything")


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    """A class in which everybody cheats but two."""
    find_program("bwrap", "bubblewrap")
    assert sandbox.missing() is None  # or some of it would work
    made = ours(tmp_path_factory.mktemp("cheats") / "ours")
    made.outcomes = made.run([*CHEATS.values(), *LIMITS.values()])
    return made


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_gains_nothing(arena: Arena, name: str) -> None:
    outcome = arena.outcomes[name]
    assert outcome == Outcome(0.0), CHEATS[name].stopped_by


@pytest.mark.parametrize("name", LIMITS)
def test_a_known_limit_is_still_one(arena: Arena, name: str) -> None:
    assert arena.outcomes[name].points == 6


def test_honest_work_beside_cheats_keeps_all_its_points(arena: Arena) -> None:
    assert [arena.points[student] for student in (*HONEST, NO_CHEAT)] == [20, 20, 0]
    assert "softmax: 6 of 6 points" in arena.page(HONEST[0])


def test_every_cheat_is_marked_and_told_why_it_has_no_points(arena: Arena) -> None:
    refused = {"linked-notebook"}
    for name in set(CHEATS) - refused:
        assert re.match(r"softmax: 0 of 6 points\.\n.+", arena.course.comments(name)["softmax"]), name


def test_what_comes_back_holds_nothing_hidden(arena: Arena) -> None:
    """Planted: inputs and right answers of hidden cases, the solution, the secret, another student."""
    secrets = (*hidden_numbers(), SECRET, NEIGHBOUR, HONEST[0], HONEST[1])
    tests = ("check.collect", "HIDDEN TESTS", "stand_ins", "course_lib/checks", "site-packages")
    for student, sent in arena.submitted.items():
        page = html.unescape(arena.page(student))
        notebook = arena.course.marked(student) if page else nbformat.v4.new_notebook()
        own = [cell for cell in notebook.cells if not is_test(cell)]
        shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        kept = json.dumps([own, shown, notebook.metadata])
        found = [each for each in secrets if (each in page or each in kept) and each not in sent]
        found += [each for each in (*tests, str(arena.folder)) if each in page and each not in sent]
        assert not found, student


def test_a_sample_of_cheats_works_on_stock_nbgrader(tmp_path: Path) -> None:
    cheats = [CHEATS[name] for name in SAMPLE]
    stock = ARENAS["stock"](tmp_path / "stock")
    outcomes = stock.run(cheats)
    assert [cheat.id for cheat in cheats if not outcomes[cheat.id].gains(cheat.goal)] == []
    assert [stock.points[student] for student in (*HONEST, NO_CHEAT)] == [6, 6, 0]


@pytest.mark.parametrize("name", IN_PROCESS)
def test_cheats_work_where_their_defence_is_missing(tmp_path: Path, name: str) -> None:
    cheats = [cheat for cheat in CHEATS.values() if cheat.works_on == name]
    outcomes = ARENAS[name](tmp_path).run(cheats)
    assert cheats
    assert [cheat.id for cheat in cheats if not outcomes[cheat.id].gains(cheat.goal)] == []


def test_the_catalogue_says_of_each_cheat_where_it_works() -> None:
    assert len(CHEATS) >= 40
    assert {cheat.works_on for cheat in CHEATS.values()} == set(ARENAS)
    assert all(name == cheat.id and cheat.tries and cheat.stopped_by for name, cheat in CHEATS.items())


@pytest.fixture(scope="module")
def source() -> Source:
    return Source(ROOT / "solutions" / NAME / f"{NAME}.ipynb", "a secret of the tests")


@pytest.fixture
def release() -> NotebookNode:
    return nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)


def test_an_honest_helper_called_answer_costs_nothing(release: NotebookNode, source: Source) -> None:
    answers = answers_of(source.notebook) | {
        "soft_lookup": "def answer(weights, values):\n    return weights @ values\n"
        "def soft_lookup(query, keys, values):\n"
        "    weights = softmax(query @ keys.T)\n    return answer(weights, values), weights"
    }
    notebook = answered(release, answers)
    assert mark(notebook, source, source.notebook, sandboxed=sandbox.missing() is None).points == 20


@pytest.mark.parametrize(
    "error",
    [
        'NotImplementedError("HIDDEN_" + str(abs(int(scores.flat[0] * 1e6))) + " is not written yet")',
        'type("HIDDEN" + str(scores.shape), (Exception,), {})()',
    ],
)
def test_no_part_of_an_error_carries_a_hidden_input_into_a_sentence(
    release: NotebookNode, source: Source, error: str
) -> None:
    code = answers_of(source.notebook)["softmax"] + (
        "\nfrom course_lib.checks.store import visible\n"
        "import base64\n"
        "KNOWN = {c['arguments']['scores']['data'] for b in ('ordinary', 'large scores', 'any input')"
        " for c in visible('01_soft_lookup', 'softmax', b).request['calls']}\n"
        "right = softmax\n"
        "def softmax(scores):\n"
        "    if base64.b64encode(scores.tobytes()).decode() in KNOWN: return right(scores)\n"
        f"    raise {error}"
    )
    notebook = answered(release, {"softmax": code})
    marked = mark(notebook, source, source.notebook, sandboxed=sandbox.missing() is None)
    sentences = [verdict.sentence for verdict in marked.verdicts.values() if verdict.function == "softmax"]
    assert all(sentences)
    assert not any("HIDDEN" in sentence for sentence in sentences)
