"""A report says of a class what was put into it, in numbers that a reader can work out."""

import csv
import json
import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from course_lib.checks.assignments import MODULES, load
from course_lib.command import main
from course_lib.command.report import write_tables
from course_lib.grading import gradebook
from course_lib.grading.catalogue import read
from course_lib.grading.handed_in import UNREADABLE
from course_lib.term import chapters, report, report_page
from course_lib.term.alike import alike, plain_code
from course_lib.term.items import discrimination, item
from course_lib.term.marks import Marks, Question, read_marks
from course_lib.term.named import names_of
from course_lib.term.teach import teach_again
from marking import Course

ROOT = Path(__file__).resolve().parents[1]
NAME = "01_soft_lookup"
DUE = datetime(2026, 3, 1, 23, 59)
CATALOGUE = read(ROOT, NAME)
RIGHT = "def {name}(x):\n    return x + 1"


def mistake(id):
    return next(each for each in CATALOGUE.mistakes if each.id == id)


def student(id, wrong=(), sentence="", before=timedelta(hours=30)):
    """Marks of somebody who lost all points of some functions, and what was said to that."""
    asked = tuple(
        Question(exercise.function, f"{exercise.function}-{each.slug}", got, each.points, False, False)
        for exercise in load(NAME).exercises
        for each in exercise.behaviours
        for got in [0.0 if exercise.function in wrong else float(each.points)]
    )
    said = tuple((name, f"{name}: 0 of 6 points.\n{sentence}") for name in wrong)
    points = sum(question.points for question in asked)
    return Marks(id, NAME, points, 20.0, 0.0, 0.0, DUE - before, asked, said, said, DUE)


def sample():
    """Twelve students: five right, three with one mistake, one with two at once, one unknown, two stubs."""
    axis, base = mistake("softmax-axis-0").question, mistake("softmax-base-2").question
    far = mistake("gaussian-underflow").question
    marks = [student(f"right{n}") for n in range(5)]
    marks += [student(f"axis{n}", ["softmax"], f"“one row”: Row 0 sums to 0.{n}. {axis}") for n in range(3)]
    marks += [student("both", ["softmax"], f"Two things come together here. {axis} {base}")]
    marks += [student("odd", ["soft_lookup"], "On “two” (keys (3, 2)), output[0] should be 1.5; yours is 2.")]
    marks += [student("stub", ["sharpen"], "sharpen is not written yet.", before=timedelta(hours=-3))]
    marks += [student("far", ["gaussian_lookup"], f"“far keys”: It holds NaN. {far}")]
    right = {each.function: RIGHT.format(name=each.function) for each in load(NAME).exercises}
    codes = {
        each.student: right | {"softmax": f"def softmax(x):\n    return {n}"} for n, each in enumerate(marks)
    }
    codes["axis1"] = codes["axis0"] | {"softmax": "def softmax(y):  # mine\n    return 5"}
    sections = chapters.sections(ROOT, NAME)
    return report.made(marks, codes, names_of(ROOT, NAME), sections)


@pytest.fixture(scope="module")
def made():
    return sample()


def test_mistakes_are_counted_once_for_each_student_and_two_at_once_count_for_both(made):
    found = {each.named.ids[0]: each.students for each in made.mistakes}
    assert found == {
        "softmax-axis-0": ("axis0", "axis1", "axis2", "both"),
        "softmax-base-2": ("both",),
        "gaussian-underflow": ("far",),
    }
    assert next(iter(found)) == "softmax-axis-0"


def test_each_mistake_leads_to_the_section_that_answers_it(made):
    found = {each.named.ids[0]: each.section.heading for each in made.mistakes}
    assert found["softmax-axis-0"] == "How do scores become weights?"
    assert found["gaussian-underflow"] == "What if every score grows by the same number?"


def test_what_names_no_mistake_is_counted_without_its_numbers_and_stubs_apart(made):
    told = {("soft_lookup", "On “two” (keys …), output[…] should be …; yours is ….")}
    assert set(made.unnamed) == told
    assert made.unwritten == {"sharpen": 1}


def test_what_to_teach_again_goes_by_students_who_lost_points_there(made):
    found = [(each.section.cell, len(each.students)) for each in made.teach]
    assert found[0] == ("c1-two", 4)
    assert set(found[1:]) == {("c1-output", 1), ("c1-sharper", 1), ("c1-neighbours", 1)}


def test_mistakes_in_one_function_count_together_whichever_sections_answer_them(links):
    axis, large = mistake("softmax-axis-0").question, mistake("softmax-no-maximum").question
    marks = [student(f"axis{n}", ["softmax"], axis) for n in range(2)]
    marks += [student(f"large{n}", ["softmax"], large) for n in range(2)]
    marks += [student(f"sharp{n}", ["sharpen"]) for n in range(3)]
    found = report.made(marks, {}, names_of(ROOT, NAME), chapters.sections(ROOT, NAME))
    first = found.teach[0]
    assert (first.section.cell, first.functions, len(first.students)) == ("c1-two", ("softmax",), 4)
    assert [(section.cell, count) for section, count in first.also] == [("c1-shift", 2)]
    page = report_page.as_page(found, links)
    assert "4 of 7 students, in <code>softmax</code><br>and for single mistakes: <a href=" in page
    assert report.as_data(found, links)["teach_again"][0]["also"][0]["students"] == 2


def test_functions_that_one_section_teaches_first_count_together():
    name = "05_multi_head"
    lost = {"a": {"split_heads"}, "b": {"join_heads"}, "c": {"split_heads", "count_parameters"}}
    found = teach_again([], lost, chapters.sections(ROOT, name), name)
    assert [(each.section.cell, each.functions, each.students) for each in found] == [
        ("c5-reshape", ("split_heads", "join_heads"), ("a", "b", "c")),
        ("c5-parameters", ("count_parameters",), ("c",)),
    ]


def test_what_was_handed_in_after_marking_is_named(made, links):
    found = replace(made, newer=("axis0", "new"))
    (line, *_) = report.notes(found)
    assert line.startswith("2 handed in what is not marked yet, or ")
    assert line.endswith(f": axis0, new; run course mark {NAME}")
    assert line in report_page.as_page(found, links)
    assert report.as_data(found, links)["newer"] == ("axis0", "new")
    assert not any("not marked yet" in each for each in report.notes(made))


def test_difficulty_is_the_share_of_points_reached(made):
    found = {each.question: each for each in made.items}
    assert found["softmax-ordinary"].difficulty == pytest.approx(8 / 12)
    assert (found["softmax-ordinary"].full, found["softmax-ordinary"].none) == (8, 4)
    assert [each.question for each in made.items][:2] == ["softmax-ordinary", "softmax-large-scores"]


def test_discrimination_is_the_correlation_with_all_other_points():
    points, others = [0, 0, 2, 2, 2], [1, 2, 3, 4, 5]
    mean_x, mean_y = 1.2, 3.0
    covariance = sum((x - mean_x) * (y - mean_y) for x, y in zip(points, others, strict=True))
    spread = (4.8 * 10) ** 0.5  # sums of squares about the means
    assert discrimination(points, others) == pytest.approx(covariance / spread)


@pytest.mark.parametrize(
    ("points", "others"), [([0, 1, 1, 1], [1, 2, 3, 4]), ([1] * 6, range(6)), (range(6), [2] * 6)]
)
def test_where_it_would_mean_nothing_there_is_no_discrimination(points, others):
    assert discrimination(points, others) is None


def test_an_answer_that_waits_for_a_person_does_not_count():
    by_hand = Question("words", "words", 2.0, 4.0, True, False)
    marks = [
        replace(student("a"), questions=(by_hand,)),
        replace(student("b"), questions=(replace(by_hand, points=0.0, waits=True, scored=False),)),
    ]
    found = item(marks, "words", "in words")
    assert (found.difficulty, found.students, found.waits, found.by_hand) == (0.5, 1, 1, True)


def test_answers_in_words_that_are_half_marked_do_not_change_how_questions_discriminate():
    def marks(id, got, words, scored=True):
        rest = (Question("f", "f", got, 4.0, False, False), Question("g", "g", got, 4.0, False, False))
        by_hand = Question("words", "words", words, 9.0, True, not scored, scored)
        return replace(student(id), questions=(*rest, by_hand))

    strong_wait = [marks(f"s{n}", 4.0, 0.0, scored=False) for n in range(3)]
    weak_marked = [marks(f"w{n}", 0.0, 9.0) for n in range(3)]
    assert item([*strong_wait, *weak_marked], "f", "").discrimination == pytest.approx(1)
    all_marked = [marks(f"s{n}", 4.0, 0.0) for n in range(3)]
    assert item([*all_marked, *weak_marked], "f", "").discrimination == pytest.approx(-1)


def test_a_file_that_could_not_be_read_says_nothing_of_what_the_class_knows(links):
    lost = replace(
        student("lost"), points=0.0, said=(("softmax", f"softmax: 0 of 6.\n{UNREADABLE}: an empty file."),)
    )
    found = report.made([lost, student("b")], {}, names_of(ROOT, NAME), chapters.sections(ROOT, NAME))
    assert (dict(found.points), found.unreadable, found.teach) == ({"b": 20.0}, ("lost",), ())
    assert "1 left out, as their file could not be read: lost." in report_page.as_page(found, links)
    assert report.as_data(found, links)["unreadable"] == ("lost",)


def test_who_waits_for_a_person_counts_and_is_named_and_who_was_not_marked_is_named(links):
    again = student("again")
    looked_at = replace(again.questions[0], points=1.0, waits=True)
    none = replace(student("none"), questions=(replace(again.questions[0], points=0.0, scored=False),))
    marks = [replace(again, points=19.0, questions=(looked_at, *again.questions[1:])), student("b"), none]
    found = report.made(marks, {}, names_of(ROOT, NAME), chapters.sections(ROOT, NAME))
    assert dict(found.points) == {"again": 19.0, "b": 20.0}
    assert (found.waiting, found.unmarked) == (("again",), ("none",))
    page = report_page.as_page(found, links)
    assert "answers wait to be marked by hand (1): again." in page
    assert "1 left out, as their marking did not end: none." in page
    assert "have no points yet" not in page
    data = report.as_data(found, links)
    assert (data["summary"]["students"], data["waiting"], data["unmarked"]) == (2, ("again",), ("none",))


def test_points_that_a_person_gave_a_test_cell_count_after_another_marking(tmp_path):
    course = Course.make(tmp_path / "course", NAME)
    with gradebook.AssignmentGradebook(course.db_url, "", NAME) as book:
        names = [cell.name for cell in book.cells]
        marks = gradebook.Marks(dict.fromkeys(names, 1.0), dict.fromkeys(names))
        book.save("ann", marks)
        with gradebook.Gradebook(course.db_url) as nbgraders:
            grade = nbgraders.find_grade("softmax-ordinary", NAME, NAME, "ann")
            grade.manual_score = 0.5
            nbgraders.db.commit()
        points = book.save("ann", marks).points
    (ann,) = read_marks(course.folder, [NAME])
    assert (ann.points, ann.marked, ann.waits) == (points, True, True)
    (asked,) = [each for each in ann.questions if each.waits]
    assert (asked.cell, asked.points, asked.scored) == ("softmax-ordinary", 0.5, True)


def test_times_are_counted_from_the_due_date(made):
    assert {name: count for name, count in made.handed_in.items() if count} == {
        "1 to 2 days before": 11,
        "up to a day late": 1,
    }


def test_the_same_code_under_other_names_is_shown_with_what_is_wrong_in_it(made):
    assert [(each.students, each.functions, each.wrong) for each in made.alike] == [
        (("axis0", "axis1"), 4, 1)
    ]


def test_other_code_and_a_single_short_answer_are_not_alike():
    one = {"f": "def f(x):\n    return x"}
    two = one | {"g": "def g(x):\n    return x + 1"}
    other = one | {"g": "def g(x):\n    return x - 1"}
    assert alike({"a": two, "b": other, "c": one, "d": one}, {}) == ()


@pytest.mark.parametrize(
    "code", ["softmax = lambda x: x", "softmax = np.exp", "from mine import softmax", "a: object = max"]
)
def test_an_answer_that_is_no_def_is_written_too(code):
    assert plain_code(code)
    assert (
        plain_code("g = lambda y: y + 1") == plain_code("f = lambda x: x+1") != plain_code("f = lambda x: x")
    )


@pytest.mark.parametrize("code", ["", "# mine", '"later"', "...", "pass", "import numpy as np"])
def test_a_cell_without_an_answer_is_not_written(code):
    assert plain_code(code) == ""


@pytest.mark.parametrize(
    "code", ["def f(x):\n    return " + "x + " * 1200 + "1", "f = " + "(" * 300, "f = '\0'"]
)
def test_code_that_is_nested_too_deeply_or_no_python_is_compared_as_text(code):
    both = {"f": code, "g": "g = max"}
    assert [each.students for each in alike({"a": both, "b": both}, {"a": ()})] == [("a", "b")]


@pytest.fixture(scope="module")
def links(tmp_path_factory):
    return chapters.Links(ROOT, tmp_path_factory.mktemp("page") / "x.html", "https://course.example/")


@pytest.fixture(scope="module")
def page(made, links):
    return report_page.as_page(made, links)


def test_the_same_report_is_the_same_page(made, links, page):
    assert page == report_page.as_page(made, links)
    assert "https://course.example/01_soft_lookup.html#How-do-scores-become-weights?" in page
    assert page.count("<img alt=") == 3
    assert "not a verdict" in page


def test_few_students_are_warned_of_and_their_words_are_no_markup(made, links, page):
    odd = replace(made, unnamed={("softmax", "it raised <script>alert(1)</script>"): 1})
    small = report_page.as_page(replace(odd, points={"a": 3.0, "b": 5.0}), links)
    assert "Only 2 marked." in small
    assert "Only" not in page
    assert "<script>" not in small
    assert "&lt;script&gt;" in small


def test_data_and_tables_say_the_same(made, links, tmp_path):
    data = json.loads(json.dumps(report.as_data(made, links)))
    assert data["summary"]["students"] == 12
    assert (data["mistakes"][0]["students"], data["mistakes"][0]["ids"]) == (4, ["softmax-axis-0"])
    paths = write_tables(data, tmp_path / "x.html")
    assert [path.name for path in paths] == ["x_questions.csv", "x_mistakes.csv"]
    with paths[1].open(newline="", encoding="utf-8") as file:
        first = next(csv.DictReader(file))
    assert (first["ids"], first["students"], first["section_heading"]) == (
        "softmax-axis-0",
        "4",
        "How do scores become weights?",
    )


@pytest.mark.parametrize("name", MODULES)
def test_every_known_mistake_is_recognised_in_the_sentence_that_asks_it(name):
    names = names_of(ROOT, name)
    for each in read(ROOT, name).mistakes:
        for sentence in (f"It is wrong. {each.question}", f"{each.question.rstrip('.')}: 3."):
            (found,) = names.in_comment(each.function, [sentence])
            assert each.id in found.ids


def test_words_of_the_judge_name_no_mistake_beside_a_question_that_does():
    names = names_of(ROOT, "05_multi_head")
    known = {each.id: each for each in read(ROOT, "05_multi_head").mistakes}
    general, special = known["adds-in-floats"].question, known["adds-order"].question
    for sentence, ids in {f"{general}. {special}": "adds-order", f"{general}.": "adds-in-floats"}.items():
        assert [each.ids for each in names.in_comment("multiply_adds", [sentence])] == [(ids,)]


@pytest.mark.parametrize(
    ("name", "function", "said", "ids"),
    [
        (  # the judge's words are before the question, and are another mistake's where they stand alone
            "04_masking",
            "masked_attention",
            [
                "The weight of a hidden key must be 0; one of yours is 0.2. Your hidden keys have a score "
                "of 0. How much does exp(0) add to the sum?"
            ],
            {"attention-mask-on-scores-as-product"},
        ),
        (  # they are said to another input
            "03_scaling",
            "score_spread",
            [
                "Your distances are taken from 0. From which number does a standard deviation take them?",
                "It is too large on average. From which number is a distance taken, and by what divided?",
            ],
            {"spread-about-zero"},
        ),
        (  # they are all that is said, and fit several
            "03_scaling",
            "score_spread",
            ["Is each entry standard normal, and drawn from `rng` itself?"],
            {"spread-few-seeds", "spread-of-signs", "spread-products-drawn", "spread-uniform-of-variance-1"},
        ),
    ],
)
def test_words_of_the_judge_name_mistakes_only_where_no_question_is_asked(name, function, said, ids):
    found = names_of(ROOT, name).in_comment(function, said)
    assert {id for each in found for id in each.ids} == ids


def test_data_and_tables_together_are_refused_in_one_line(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main(["report", NAME, "--json", "--csv"]) == 2
    assert re.fullmatch(r"course: --csv: .*--json.*\n", capsys.readouterr().err)


def test_an_assignment_that_is_none_is_one_line(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main(["report", "x"]) == 2
    assert re.fullmatch(r"course: x: expected one of the assignments .*\n", capsys.readouterr().err)
