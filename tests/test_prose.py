"""Numbers in prose are numbers that code printed; with fixtures that the checker must refuse."""

from decimal import Decimal
from pathlib import Path

import pytest
from nbformat import v4

from course_lib import notebooks, quiz
from prose import decimals, quoted_facts, supports, unsupported

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
CHAPTERS = sorted(FOLDER.glob("0*.ipynb"))
FACTS = quoted_facts((FOLDER / "quoted_facts.md").read_text(encoding="utf-8"))


def chapter_number(path: Path) -> int:
    return int(path.stem[:2])


def with_output(prose: str, printed: str, tags: list[str] | None = None):
    """A notebook with one sentence, and one cell that printed something."""
    code = v4.new_code_cell("...", outputs=[v4.new_output("stream", name="stdout", text=printed)])
    code.metadata.tags = tags or []
    return v4.new_notebook(cells=[v4.new_markdown_cell(prose, id="prose"), code])


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_each_decimal_in_a_chapter_is_printed_by_it_or_quoted_with_its_source(path):
    quoted = [number for chapter, number, *_ in FACTS if chapter == chapter_number(path)]
    assert unsupported(notebooks.read(path), quoted) == []


def test_each_quoted_fact_has_a_source_and_is_used():
    used = {}
    for path in CHAPTERS:
        prose = "\n".join(cell.source for cell in notebooks.read(path).cells if cell.cell_type == "markdown")
        used[chapter_number(path)] = {value for _, value in decimals(prose)}
    for chapter, number, what, source in FACTS:
        assert what, number
        assert source, number
        assert number in used[chapter], (chapter, number)


@pytest.mark.parametrize(
    "prose",
    [
        "The weight is 0.88.",
        "It is `0.881`, about $0.9$.",
        "$p = 0.8808$",
        "The score is -1.50 (or \N{MINUS SIGN}1.5).",
        "Between 0.881\N{EN DASH}0.8808 and 0.8808-0.881.",
        "It costs 1,234.5 steps, $1{,}234.5$ of them.",
        "The error is 2.3e-05, or 2.3 × 10⁻⁵, or $2.3 \\times 10^{-5}$.",
        "See arXiv:1409.0473, section 3.2, version 2.13.0 and [a page](https://example.org/1.5/).",
        "Nothing decimal: 42, 1e-12, q[1], x.y.",
    ],
)
def test_roundings_of_printed_numbers_are_accepted(prose):
    assert unsupported(with_output(prose, "w = 0.8808, s = -1.5, n = 1,234.5, e = 2.3e-05\n"), []) == []


@pytest.mark.parametrize(
    "prose",
    [
        "The weight is 0.89.",
        "The weight is 0.880.",
        "It is `0.87` in code.",
        "$0.871$",
        "The score is 1.5.",
        "The error is 2.3e-04.",
        "The error is 2.3 × 10⁻⁴.",
        "| table | 0.12 |",
    ],
)
def test_other_numbers_are_refused(prose):
    assert len(unsupported(with_output(prose, "w = 0.8808, s = -1.5, e = 2.3e-05\n"), [])) == 1


def test_the_report_names_the_cell_and_the_number():
    assert unsupported(with_output("It is 0.25.", "0.5"), []) == ["prose: 0.25"]


def test_a_quoted_fact_supports_its_number():
    assert unsupported(with_output("It is 28.4 BLEU.", "nothing"), [Decimal("28.4")]) == []


def test_a_timing_supports_nothing():
    assert unsupported(with_output("It took 0.25 s.", "0.25", tags=["nbval-ignore-output"]), [])


def shown(question):
    """A notebook whose only output is a folded question."""
    bundle = v4.new_output("execute_result", question._repr_mimebundle_(), execution_count=1)
    return v4.new_notebook(cells=[v4.new_code_cell("...", id="quiz", outputs=[bundle])])


def test_typed_answers_of_questions_are_prose_and_support_nothing():
    assert unsupported(shown(quiz.predict("Which?", "It gets 0.25.")), []) == ["quiz: 0.25"]


def test_wrong_options_may_hold_any_number_and_right_ones_may_not():
    options = {"0.1": "No: 0.2 is more.", "0.3": "Yes, 0.4."}
    found = unsupported(shown(quiz.question("How much?", options, right="0.3")), [])
    assert found == ["quiz: 0.3", "quiz: 0.4"]


@pytest.mark.parametrize("printed", ["0.125", "0.13", "0.1250"])
def test_halves_may_be_rounded_either_way(printed):
    assert supports(Decimal(printed), Decimal("0.13"))
    assert not supports(Decimal(printed), Decimal("0.14"))
