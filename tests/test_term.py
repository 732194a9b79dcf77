"""A short term, as the instructor guide goes through it: its commands work, one after another."""

import csv
import io
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import nbformat
import pytest

from commands import nbgrader
from course_lib.checks.assignments import load
from course_lib.command import main
from course_lib.grading import sandbox
from course_lib.grading.catalogue import read
from marking import Course, answered, answers_of

ROOT = Path(__file__).resolve().parents[1]
GUIDE = (ROOT / "docs/instructor_guide.md").read_text(encoding="utf-8")
NAME = "01_soft_lookup"
# On time, half a day late, half a day late with two days more, and on time with a mistake.
WORKSHEET = """Identifier,Full name,ID number,Email address,Last modified (submission)
Participant 1,Ann Lee,s1,ann@x,"Sunday, 1 March 2026, 8:00 AM"
Participant 2,Zoë Żak,s2,zoe@x,"Monday, 2 March 2026, 1:00 PM"
Participant 3,Sam O’Neil,s17,sam@x,"Monday, 2 March 2026, 1:00 PM"
Participant 4,Kim Oh,s4,kim@x,"Sunday, 1 March 2026, 8:00 PM"
"""
CLASS = """id,first_name,last_name,email,login,lms_user_id
s1,Ann,Lee,ann@x,alee,1
s2,Zoë,Żak,zoe@x,zzak,2
s17,Sam,O’Neil,sam@x,soneil,3
s4,Kim,Oh,kim@x,koh,4
"""
FOLDERS = ("Ann Lee_1", "Zoë Żak_2", "Sam O’Neil_3", "Kim Oh_4")
MISTAKE = next(each for each in read(ROOT, NAME).mistakes if each.id == "sharpen-multiplied")


# Commands of the guide that need what is not here: the test that runs them, and a word of them there.
ELSEWHERE = {
    "course export feedback-canvas": ("test_export.py", '"feedback-canvas"'),
    f"course mark {NAME} --scheduler": ("test_cluster.py", "scheduler"),
    "course mark submitted/STUDENT": ("test_mark.py", '"mark"'),
    "course update": ("test_workspace.py", '"update"'),
    "nbgrader autograde": ("test_pipeline.py", '"autograde", course.assignment, "--force"'),
}


def commands():
    """The commands of the guide, in order: indented lines, and parts of the text that name all they need."""
    program = "(?:course|nbgrader)"
    whole = rf"^    ({program} .*)$|`({program} [^`]*(?:{NAME}|class\.csv)[^`]*)`|`(course map)`"
    found = re.findall(whole, GUIDE, flags=re.MULTILINE)
    lines = [" ".join("".join(each).partition("#")[0].split()) for each in found]
    return list(dict.fromkeys(lines))


def is_elsewhere(command):
    return any(command.startswith(begin) for begin in ELSEWHERE)


def settings():
    """The lines of configuration that the guide shows."""
    return "".join(f"{line}\n" for line in re.findall(r"^    (c\.LatePolicy.*)$", GUIDE, flags=re.MULTILINE))


def run(folder, command):
    """Run a command of the guide in a course's folder. Returns: its status, and what it said."""
    program, *words = shlex.split(command)
    if program == "nbgrader":
        done = nbgrader(folder, words)
        return done.returncode, done.stdout + done.stderr
    if words[0] in ("mark", "feedback"):  # with processes of its own, for which the script is needed
        words += ["--unsandboxed"] if words[0] == "mark" and sandbox.missing() is not None else []
        script = shutil.which("course", path=Path(sys.executable).parent)
        code = [script or pytest.skip("needs this course installed: pip install -e ."), *words]
        done = subprocess.run(code, cwd=folder, capture_output=True, encoding="utf-8", timeout=600)
        return done.returncode, done.stdout + done.stderr
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said), redirect_stderr(said):
        patch.chdir(folder)
        return main(words), said.getvalue()


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def term(tmp_path_factory):
    """The course after all commands of the guide; what each of them said.

    A copy of course_lib lies in its folder, as in a clone that is not the one that is installed.
    """
    folder = tmp_path_factory.mktemp("term") / "course"
    config = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8") + settings()
    course = Course.make(folder, NAME, config=config)
    for each in ("notebooks", "exercises", "course_lib", "tests/mistakes"):  # for bundle and report
        shutil.copytree(
            ROOT / each, folder / each, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    for each in ("LICENSE", "constraints.txt", "environment.yml", ".gitattributes", ".gitignore", "Makefile"):
        shutil.copy(ROOT / each, folder)
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "class.csv").write_text(CLASS, encoding="utf-8")
    right = answers_of(course.source())
    with zipfile.ZipFile(folder / "submissions.zip", "w") as archive:
        for name in FOLDERS:
            mine = right | {MISTAKE.function: str(MISTAKE.code)} if name == FOLDERS[-1] else right
            text = nbformat.writes(answered(course.release(), mine))
            archive.writestr(f"{name}_assignsubmission_file/{NAME}.ipynb", text)
    said = {}
    for command in commands():
        if command.startswith("course collect"):  # by now Moodle tells when work came
            (folder / "class.csv").write_text(WORKSHEET, encoding="utf-8")
        if not is_elsewhere(command):
            said[command] = run(folder, command)
    return course, said


def test_every_command_of_the_guide_works(term):
    _, said = term
    assert len(said) > 14
    failed = {command: words for command, (status, words) in said.items() if status}
    # With one assignment in the gradebook there is none to leave out.
    last = failed.pop("course export term --roster class.csv --drop-lowest 1")
    assert f"expected from 0 to 0, so that one of the marked assignments ({NAME}) is left; got 1" in last
    assert failed == {}


def test_what_is_not_run_here_is_run_by_the_test_that_is_named():
    used = [each for each in commands() if is_elsewhere(each)]
    assert [begin for begin in ELSEWHERE if not any(each.startswith(begin) for each in used)] == []
    for name, word in ELSEWHERE.values():
        assert word in (ROOT / "tests" / name).read_text(encoding="utf-8"), name


def test_students_data_is_not_for_git(term):
    course, _ = term
    listed = re.findall(r"^\| (.*?) \|.*\| students \|$", GUIDE, flags=re.MULTILINE)
    names = {each for line in listed for each in re.findall(r"`([^`* ]+)`", line)}
    assert {"submitted/", "exports/", "gradebook.db", ".course_marks/"} <= names
    shutil.which("git") or pytest.skip("needs git")
    subprocess.run(["git", "init", "-q"], cwd=course.folder, check=True)
    asked = [*names, "class.csv", "submissions.zip", ".course_secret"]
    done = subprocess.run(
        ["git", "check-ignore", *asked], cwd=course.folder, capture_output=True, encoding="utf-8"
    )
    assert set(done.stdout.split()) == set(asked)


def test_lateness_costs_what_the_guide_sets_and_extra_time_is_honoured(term):
    course, _ = term
    most = course.max_score()
    marks = {
        row["ID number"]: float(row["Grade"]) for row in rows(course.folder / f"exports/moodle_{NAME}.csv")
    }
    lost = sum(
        each.points for each in load(NAME).exercise("sharpen").behaviours if each.name in MISTAKE.fails
    )
    assert marks == {"s1": most, "s2": pytest.approx(0.9 * most, abs=0.01), "s17": most, "s4": most - lost}


def test_the_table_of_a_class_tells_what_lateness_costs_also_of_those_that_are_unchanged(term):
    course, said = term
    less = f"less {0.1 * course.max_score():g} for lateness"
    again = run(course.folder, f"course mark {NAME}")[1]
    for told in (said[f"course mark {NAME}"][1], again):
        assert [line.split()[0] for line in told.splitlines() if less in line] == ["s2"]
    assert again.count("unchanged") == 5


def test_comments_and_feedback_are_there_for_everybody(term):
    course, _ = term
    table = rows(course.folder / f"exports/moodle_{NAME}.csv")
    assert all("softmax" in row["Feedback comments"] for row in table)
    with zipfile.ZipFile(course.folder / f"exports/feedback-moodle_{NAME}.zip") as archive:
        assert sorted(archive.namelist()) == sorted(
            f"{name}_assignsubmission_file/{NAME}.html" for name in FOLDERS
        )
        assert all(b"softmax" in archive.read(name) for name in archive.namelist())


def test_marks_per_question_add_up_to_the_marks(term):
    course, _ = term
    table = rows(course.folder / "exports/questions.csv")
    for student in ("s1", "s2", "s17"):
        assert sum(float(row["points"]) for row in table if row["student"] == student) == course.max_score()
    assert {row["seconds_late"] for row in table if row["student"] == "s1"} == {"0.0"}


def test_the_report_names_the_mistake_its_section_and_who_was_late(term):
    course, said = term
    assert "students: 4, known mistakes: 1" in said[f"course report {NAME}"][1]
    page = (course.folder / f"exports/report_{NAME}.html").read_text(encoding="utf-8")
    assert "2 were late" in page
    assert MISTAKE.cause in page
    assert "#Does-a-longer-query-choose-differently?" in page


def test_the_bundle_that_it_makes_has_no_solution(term):
    course, _ = term
    with zipfile.ZipFile(course.folder / "dist/one-layer-of-attention.zip") as archive:
        assert not [name for name in archive.namelist() if "solutions" in name]
