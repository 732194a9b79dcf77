"""Marks and feedback come out as platforms take them; no text in them is quoted wrongly or computed."""

import csv
import os
import sys
import warnings
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course_lib.command import main
from course_lib.grading.handed_in import UNREADABLE
from course_lib.term import tables
from course_lib.term.marks import Marks, Question, read_marks

ROSTER = """id,first_name,last_name,email,login,lms_user_id
s1,Ann,"Lee, Jr.",ann@uni.example,alee,501
s2,Zoë,=HYPERLINK(“x”),zoe@uni.example,@zoe,502
s3,Łukasz,Żak,lukasz@uni.example,,
"""
COMMENTS = {"s1": 'softmax: 2 of 2 points, "well done"\nNext: a < b', "s2": "=1+1"}
WORDS = {"s1": "Good, but why?"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A gradebook with two assignments: s1 has done both, s2 the first, late and partly marked, s3 none."""
    root = tmp_path_factory.mktemp("course")
    config = 'c = get_config()\nc.CourseDirectory.course_id = "x"\n'
    (root / "nbgrader_config.py").write_text(config, encoding="utf-8")
    (root / "roster.csv").write_text(ROSTER, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:  # nbgrader calls the program `alembic` by name
        patch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
        Gradebook(f"sqlite:///{root / 'gradebook.db'}", "x").close()
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "x") as gradebook:
        for name in ("a1", "a2"):
            gradebook.add_assignment(name, duedate=datetime(2026, 3, 1, tzinfo=UTC))
            gradebook.add_notebook(name, name)
            gradebook.add_grade_cell("softmax-ordinary", name, name, max_score=2, cell_type="code")
            gradebook.add_grade_cell("words", name, name, max_score=3, cell_type="markdown")
            gradebook.add_solution_cell("softmax", name, name)
            gradebook.add_solution_cell("words", name, name)
        for id, name in (("s1", "a1"), ("s1", "a2"), ("s2", "a1")):
            gradebook.update_or_create_student(id)
            with warnings.catch_warnings():  # nbgrader's own session handling; see nbgrader_config.py
                warnings.filterwarnings("ignore", message="Object of type <Submitted")
                submission = gradebook.add_submission(name, id)
            if id == "s2":
                submission.timestamp = datetime(2026, 3, 1, 1, 0)
                submission.notebooks[0].late_submission_penalty = 0.25
            grade = gradebook.find_grade("softmax-ordinary", name, name, id)
            grade.auto_score, grade.needs_manual_grade = (2 if id == "s1" else 1 / 3 + 0.5), False
            words = gradebook.find_grade("words", name, name, id)
            words.needs_manual_grade = id == "s2"
            words.manual_score = 3 if name == "a2" else 1 if id == "s1" else None
            gradebook.find_comment("softmax", name, name, id).auto_comment = COMMENTS[id]
            gradebook.find_comment("words", name, name, id).manual_comment = WORDS.get(id)
        gradebook.db.commit()
    return root


@pytest.fixture
def course(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


def exported(course, *words):
    """The rows of an exported CSV, read back."""
    assert main(["export", *words, "--to", "out/x.csv"]) == 0
    with open(course / "out/x.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_canvas_gets_maxima_and_marks_by_its_own_number_and_leaves_others_alone(course):
    rows = exported(course, "canvas", "a1", "--roster", "roster.csv", "--title", "Soft lookup (1234)")
    assert list(rows[0]) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Soft lookup (1234)"]
    assert (rows[0]["Student"], rows[0]["Soft lookup (1234)"]) == ("    Points Possible", "5")
    assert [(row["ID"], row["SIS User ID"], row["Soft lookup (1234)"]) for row in rows[1:]] == [
        ("501", "s1", "3"),
        ("502", "s2", "0.58"),
        ("", "s3", ""),
    ]
    assert rows[1]["Student"] == "Ann Lee, Jr."
    assert rows[2]["SIS Login ID"] == "'@zoe"


def test_canvas_gets_all_assignments_when_none_is_named(course):
    rows = exported(course, "canvas", "--roster", "roster.csv")
    assert [(row["a1"], row["a2"]) for row in rows] == [("5", "5"), ("3", "5"), ("0.58", ""), ("", "")]


def test_moodle_gets_grade_and_feedback(course):
    rows = exported(course, "moodle", "a1", "--roster", "roster.csv")
    assert [(row["Identifier"], row["ID number"], row["Email address"], row["Grade"]) for row in rows] == [
        ("Participant 501", "s1", "ann@uni.example", "3"),
        ("Participant 502", "s2", "zoe@uni.example", "0.58"),
        ("", "s3", "lukasz@uni.example", ""),
    ]
    first, second, _ = (row["Feedback comments"] for row in rows)
    said = '<p>softmax: 2 of 2 points, "well done"<br>Next: a &lt; b</p>'
    assert first == f"{said}<p>words: 1 of 3 points.<br>Good, but why?</p>"
    assert second == "<p>Late: 0.25 points taken off.</p><p>=1+1</p><p>words: not marked yet.</p>"
    assert rows[1]["Full name"] == "Zoë =HYPERLINK(“x”)"


def test_why_a_file_could_not_be_read_is_told_once():
    sentence = f"{UNREADABLE}: an empty file"
    said = tuple((name, f"{name}: 0 of 6 points.\n{sentence}.") for name in ("softmax", "sharpen"))
    words = Question("words", "words", 0.0, 2.0, True, False)
    marks = Marks("s", "a1", 0.0, 20.0, 0.0, 0.0, None, (words,), said, said)
    assert tables.as_html(marks) == f"<p>{sentence}.</p>"


def test_moodles_own_worksheet_goes_back_as_it_came(course):
    rows = "Identifier,ID number,Last modified (grade)\nTeilnehmer/in 501,s1,-\n"
    rows += 'Teilnehmer/in 502,s2,"Sunday, 1 March 2026, 10:59 PM"\n'
    (course / "worksheet.csv").write_text(rows, encoding="utf-8")
    made = exported(course, "moodle", "a1", "--roster", "worksheet.csv")
    assert [(row["Identifier"], row["Last modified (grade)"], row["Grade"]) for row in made] == [
        ("Teilnehmer/in 501", "-", "3"),
        ("Teilnehmer/in 502", "Sunday, 1 March 2026, 10:59 PM", "0.58"),
    ]


def test_every_question_has_a_row_and_what_waits_is_told(course, capsys):
    rows = exported(course, "questions")
    assert len(rows) == 3 * 2
    first = rows[0]
    assert (first["student"], first["function"], first["points"], first["by_hand"]) == (
        "s1",
        "softmax",
        "2.0",
        "False",
    )
    late = next(row for row in rows if row["student"] == "s2" and row["by_hand"] == "True")
    assert (late["waits"], late["seconds_late"], late["handed_in"]) == (
        "True",
        "3600.0",
        "2026-03-01T01:00:00",
    )
    assert "answers wait to be marked by hand (1): s2 (a1)" in capsys.readouterr().out


def test_the_lowest_assignments_of_each_student_are_left_out(course):
    rows = exported(course, "term", "--roster", "roster.csv", "--drop-lowest", "1")
    assert [(row["dropped"], row["percent"]) for row in rows] == [("a1", "100"), ("a2", "11.67"), ("a1", "0")]
    rows = exported(course, "term")
    assert [(row["student"], row["percent"]) for row in rows] == [("s1", "80"), ("s2", "5.83")]


def test_a_lower_share_is_dropped_not_fewer_points():
    def marks(name, points, most):
        return Marks("s", name, points, most, 0.0, 0.0, None, (), ())

    row = tables.term([marks("small", 2, 2), marks("large", 9, 20)], ["s"], drop=1)[0]
    assert (row["dropped"], row["percent"]) == ("large", "100")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1"])
def test_no_text_is_a_formula_and_none_is_lost(tmp_path, text):
    tables.write_csv([{text: text, "points": -1.5}], tmp_path / "x.csv")
    with open(tmp_path / "x.csv", newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["'" + text, "points"], ["'" + text, "-1.5"]]


@pytest.mark.parametrize("text", ["a,b", 'say "x"', "two\nlines", "Zoë Żak", "a;b", "’", "'"])
def test_what_is_written_is_what_is_read(tmp_path, text):
    tables.write_csv([{"x": text}], tmp_path / "x.csv")
    with open(tmp_path / "x.csv", newline="", encoding="utf-8") as file:
        assert list(csv.DictReader(file)) == [{"x": text}]


def test_parquet_holds_the_same_with_types(course):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    assert main(["export", "parquet", "--to", "out/x.parquet"]) == 0
    assert parquet.read_table(course / "out/x.parquet").to_pylist() == tables.questions(read_marks(course))


def test_parquet_without_pyarrow_is_one_line(course, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["export", "parquet", "--to", "out/y.parquet"]) == 2
    assert "pip install pyarrow" in capsys.readouterr().err


def test_feedback_is_packed_for_each_student_and_as_moodle_takes_it(course):
    for id in ("s1", "s2"):
        page = course / "feedback" / id / "a1" / "a1.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"of {id}", encoding="utf-8")
    assert main(["export", "feedback", "a1"]) == 0
    with zipfile.ZipFile(course / "exports/feedback_a1.zip") as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            "s1/a1.html": b"of s1",
            "s2/a1.html": b"of s2",
        }
    assert main(["export", "feedback-moodle", "a1", "--roster", "roster.csv", "--to", "out/f.zip"]) == 0
    with zipfile.ZipFile(course / "out/f.zip") as archive:
        assert archive.namelist() == [
            "Ann Lee, Jr._501_assignsubmission_file/a1.html",
            "Zoë =HYPERLINK(“x”)_502_assignsubmission_file/a1.html",
        ]


def test_canvas_gets_feedback_under_the_names_of_the_files_that_it_handed_out(course, capsys):
    """Canvas takes the first two numbers in a name, between underscores: the user's and the file's."""
    for id in ("s1", "s2"):
        page = course / "feedback" / id / "a1" / "a1.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"of {id}", encoding="utf-8")
    words = ["export", "feedback-canvas", "a1", "--roster", "roster.csv", "--to", "out/c.zip", "--archive"]
    with zipfile.ZipFile(course / "first.zip", "w") as archive:
        archive.writestr("leejrann_501_7001_a1.ipynb", "{}")
    assert main([*words, "first.zip"]) == 2
    assert "no file of s2 is in the archives" in capsys.readouterr().err
    with zipfile.ZipFile(course / "second.zip", "w") as archive:
        archive.writestr("zoe_LATE_502_7002_a1-1.ipynb", "{}")
        archive.writestr("leejrann_501_7003_a1-2.ipynb", "{}")
    assert main([*words, "first.zip", "second.zip"]) == 0
    with zipfile.ZipFile(course / "out/c.zip") as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            "leejrann_501_7003_a1-2.html": b"of s1",
            "zoe_LATE_502_7002_a1-1.html": b"of s2",
        }


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["moodle", "--roster", "roster.csv"], "moodle: name one assignment"),
        (["canvas"], "needs the class"),
        (["questions", "a9"], "a9: not in the gradebook, which has a1, a2; first run nbgrader"),
        (
            ["term", "--drop-lowest", "2"],
            "--drop-lowest: expected from 0 to 1, so that one of the marked assignments (a1, a2) is left",
        ),
        (["feedback", "a2"], "first run nbgrader generate_feedback a2"),
        (["questions", "--title", "x"], "--title: belongs to canvas"),
        (["feedback-canvas", "a1", "--roster", "roster.csv"], "feedback-canvas: needs the archive"),
        (["questions", "--archive", "x.zip"], "--archive: belongs to feedback-canvas"),
    ],
)
def test_a_wrong_command_is_one_line(course, capsys, words, reason):
    assert main(["export", *words]) == 2
    said = capsys.readouterr().err
    assert reason in said
    assert said.count("\n") == 1


def test_without_a_gradebook_it_says_so_and_makes_none(tmp_path, monkeypatch, capsys):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["export", "questions"]) == 2
    assert "there is no gradebook yet" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["nbgrader_config.py"]
