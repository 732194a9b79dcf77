"""The claim that what a student gets back holds nothing that is not theirs, whatever their code looks for.

Markers stand in everything that must not get out; a spy prints all that it can reach, in its cells and in its
functions' errors.
"""

from __future__ import annotations

import base64

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell

from course_lib.grading import sandbox
from course_lib.grading.source import Source
from marking import Course, answered, answers_of

pytestmark = pytest.mark.skipif(sandbox.missing() is not None, reason=str(sandbox.missing()))
NAME = "01_soft_lookup"
SECRET = "MARKERsecret"
OTHER = "MARKERstudent"
SPY = """
import gc, glob, json, os, sys
def reach():
    frame, found = sys._getframe(), []
    while frame is not None:
        found.append(repr(dict(frame.f_locals))[:20000])
        frame = frame.f_back
    found += [repr(dict(os.environ)), repr(sys.path), repr(globals().get("In"))]
    found += [repr(glob.glob(f"{place}/*")) for place in ("..", "../..", "/tmp", os.getcwd(), "/proc")]
    for path in glob.glob("/proc/*/cmdline") + glob.glob("/proc/*/environ"):
        try:
            found.append(repr(open(path, "rb").read()))
        except OSError:
            pass
    for each in gc.get_objects():
        if type(each) is dict and len(each) < 1000:
            found += [text for text in list(each.values()) if type(text) is str and "MARK" "ER" in text]
    return found
LOOT = []
"""
STEAL = """
def softmax(scores):
    if len(LOOT) < 300:
        LOOT.extend([repr(scores.tolist()), *reach()])
    raise ValueError("LOOT" + LOOT[-1][:100] + LOOT[0][:100] + "".join(LOOT)[-100:])
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    made = Course.make(tmp_path_factory.mktemp("MARKERcourse") / "course", NAME, secret=SECRET)
    answers = answers_of(made.source())
    other = answered(made.release(), answers)
    other.cells.append(new_code_cell("print('MARKERwork of another student')"))
    made.submit(OTHER, other)
    later = STEAL.replace("softmax(scores)", "soft_lookup(query, keys, values)").replace("scores", "keys")
    spy = answered(made.release(), {"softmax": STEAL, "soft_lookup": later})
    spy.cells.insert(2, new_code_cell(SPY))
    spy.cells.append(new_code_cell("for found in reach() + LOOT:\n    print(found[:2000])"))
    made.submit("spy", spy)
    made.run("autograde", NAME)
    made.run("generate_feedback", NAME)
    return made


def _returned(course: Course) -> str:
    """All that the spy may see of their marking."""
    page = course.feedback("spy")
    return page + nbformat.writes(course.marked("spy")) + "".join(map(str, course.comments("spy").values()))


def test_no_marker_and_no_folder_of_the_course_is_returned(course: Course) -> None:
    said = _returned(course)
    assert "IPYTHONDIR" in said  # it does print what it can reach
    assert "MARKER" not in said
    assert str(course.folder) not in said


def test_no_hidden_input_and_no_expected_output_is_returned(course: Course) -> None:
    source = Source(course.folder / "solutions" / NAME / f"{NAME}.ipynb", SECRET)
    said = _returned(course)
    hidden = [
        (part.request, part.reference)
        for test in source.tests.values()
        for part in source.parts(test)
        if not part.reveal
    ]
    assert hidden
    for request, reference in hidden:
        arrays = [value for call in request["calls"] for value in call["arguments"].values()]
        arrays += [record["returned"] for record in reference["calls"] if "returned" in record]
        for array in arrays:
            if array["kind"] == "array" and len(array["data"]) > 40:
                assert array["data"][:40] not in said
                number = float(np.frombuffer(base64.b64decode(array["data"]), array["dtype"]).ravel()[0])
                assert len(str(number)) < 8 or str(number)[:12] not in said


def test_no_test_code_and_no_solution_is_in_the_feedback(course: Course) -> None:
    page = course.feedback("spy")
    for ours in ("check.collect", "BEGIN HIDDEN TESTS", "BEGIN SOLUTION", "stand_ins"):
        assert ours not in page
    assert "exponentials" not in page
