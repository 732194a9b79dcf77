"""Claims about the page that a student gets back: everything once, and nothing from elsewhere."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_lib.checks.assignments import MODULES
from course_lib.checks.judge import Verdict
from course_lib.grading.feedback_html import LONGEST, FeedbackPage, code, words
from course_lib.grading.feedback_page import FoldTests
from course_lib.grading.verdicts import written

STUDENTS = "<b onclick=x> a*b*c"


def _marked(cell: NotebookNode, name: str, **marks: object) -> NotebookNode:
    flags = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    cell.metadata["nbgrader"] = {"grade_id": name, **flags, **marks}
    return cell


def _test(title: str, score: float, sentence: str = "") -> NotebookNode:
    verdict = Verdict("softmax", title, title, 2, passed=["exists"])
    if sentence:
        verdict.failed, verdict.sentence = "value", sentence
    cell = new_code_cell("check.collect()", outputs=written(verdict))
    return _marked(cell, f"softmax-{title}", grade=True, locked=True, score=score, points=2)


def _notebook(*tests: NotebookNode, comment: str = "softmax: 2 of 6 points.\nOurs.") -> NotebookNode:
    answer = _marked(new_code_cell("softmax = 1 < 2"), "softmax", solution=True, comment=comment)
    words = _marked(new_markdown_cell("It *does*."), "why", grade=True, solution=True, score=1, points=2)
    return new_notebook(cells=[answer, *tests, new_markdown_cell("## 1.2 Why `it` is *so*"), words])


def _page(notebook: NotebookNode, **course: object) -> str:
    notebook.metadata["course"] = course
    marks = {"notebook": "01_soft_lookup", "score": 3.0, "max_score": 8.0, "late_penalty": 0}
    notebook, resources = FoldTests().preprocess(notebook, {"nbgrader": marks})
    return FeedbackPage().from_notebook_node(notebook, resources)[0]


def _text(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", re.sub(r"<style.*?</style>", "", page, flags=re.DOTALL)).split())


def test_contents_name_functions_and_questions_with_their_points() -> None:
    page = _page(_notebook(_test("one", 2), _test("two", 0, "Wrong.")))
    (contents,) = re.findall(r"<nav.*?</nav>", page, re.DOTALL)
    assert _text(contents) == "softmax : 2 of 4 1.2 Why it is so : 1 of 2"
    assert set(re.findall(r'href="#([^"]*)"', contents)) <= set(re.findall(r'id="([^"]*)"', page))
    assert "Test cell" not in page
    assert "check.collect" not in page


def test_a_sentence_is_said_once_with_the_tests_that_it_is_about() -> None:
    tests = [_test("one", 2), _test("two", 0, "Which axis?"), _test("three", 0, "Which axis?")]
    text = _text(_page(_notebook(*tests)))
    assert text.count("Which axis?") == 1
    assert "“two”, “three”: Which axis?" in text
    assert "Ours." not in text
    for row in ("one 2 of 2 ✓ exists", "two 0 of 2 ✓ exists ✗ value", "three 0 of 2 ✓ exists ✗ value"):
        assert row in text


def test_a_sentence_about_all_tests_names_none() -> None:
    text = _text(_page(_notebook(_test("one", 0, "Which axis?"), _test("two", 0, "Which axis?"))))
    assert "”: Which axis?" not in text
    assert text.count("Which axis?") == 1


def test_what_a_person_changed_and_wrote_is_shown() -> None:
    text = _text(_page(_notebook(_test("one", 1.5, "Wrong."), comment="Nearly: *look again*.")))
    assert "one 1.5 of 2 (by hand)" in text
    assert "Comment Nearly: look again ." in text


def test_what_a_student_wrote_is_text_and_never_markup() -> None:
    notebook = _notebook(_test("one", 0, f"It raised {STUDENTS}"))
    notebook.cells[0].outputs = [
        new_output("stream", text=STUDENTS),
        new_output("error", traceback=[STUDENTS]),
    ]
    page = _page(notebook, repairs=[STUDENTS], unreadable=STUDENTS)
    assert "<b" not in page.replace("<body", "")
    assert page.count("&lt;b onclick=x&gt; a*b*c") == 5


@pytest.mark.parametrize(
    "words",
    [
        "[here](javascript:alert(1))",
        "[here](../../notebooks/01_soft_lookup.ipynb)",
        "[here](data:text/html,x)",
        "![here](http://localhost/x.png)",
        "![here](attachment:gone.png)",
        "![here](attachment:empty.png)",
        "![here](empty.png)",
        r"$\href{javascript:alert(1)}{here}$",
    ],
)
def test_nothing_leads_or_asks_anywhere_that_is_not_there(words: str) -> None:
    notebook = _notebook()
    attached = {"attachments": {"empty.png": {}}}  # of a kind that was not kept
    notebook.cells.append(new_markdown_cell(words, **attached))
    page = _page(notebook)
    assert "here" in page
    assert re.findall(r'(?:href|src)="(?!#)[^"]*"', page) == []


def test_of_the_fragments_of_a_class_only_short_ones_are_kept() -> None:
    long = "word " * LONGEST
    assert words("*short*") is words("*short*")
    assert words(long) is not words(long)
    assert code("short = 1") is code("short = 1")
    assert code(f"# {long}") is not code(f"# {long}")
    pasted = {"a.png": {"image/png": "aGk=" * LONGEST}}
    assert words("![](attachment:a.png)", pasted) is not words("![](attachment:a.png)", pasted)


def test_a_link_to_a_chapter_says_where_it_lies() -> None:
    notebook = _notebook()
    notebook.cells.append(
        new_markdown_cell("They go with [chapter 1](../../notebooks/01_soft_lookup.ipynb).")
    )
    assert "They go with chapter 1 ( notebooks/01_soft_lookup.ipynb )." in _text(_page(notebook))


@pytest.mark.parametrize("name", MODULES)
def test_every_formula_of_an_exercise_is_mathml_and_the_page_asks_for_nothing(root, name: str) -> None:
    notebook = nbformat.read(root / "exercises" / name / f"{name}.ipynb", as_version=4)
    formulas = sum(
        len(re.findall(r"\$\$.+?\$\$|(?<!\$)\$[^$\n]+\$(?!\$)", cell.source, re.DOTALL))
        for cell in notebook.cells
        if cell.cell_type == "markdown"
    )
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader", {})
        marks.update(score=0, points=marks.get("points", 0))
    page = _page(notebook)
    assert page.count("<math") == formulas
    assert "$" not in re.sub(r"<pre.*?</pre>|<code.*?</code>", "", page, flags=re.DOTALL)
    assert not re.findall(r"<script|<link|@import|url\(|https?://(?!www.w3.org/1998/Math)", page)
    assert len(page) < 100_000
