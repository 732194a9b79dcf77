"""Claims about running a submission: what it breaks costs that and nothing else, and takes limited time."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from course_lib.checks.judge import Verdict
from course_lib.checks.values import Json
from course_lib.errors import CourseError
from course_lib.grading import sandbox
from course_lib.grading.bubblewrap import WORK
from course_lib.grading.execute import JudgedExecute
from course_lib.grading.questions import Questions
from course_lib.grading.sanitise import cells_of, name_of, sanitise
from course_lib.grading.source import Source
from marking import answered, answers_of

ROOT = Path(__file__).resolve().parents[1]
NAME = "01_soft_lookup"
closed = pytest.mark.skipif(sandbox.missing() is not None, reason=str(sandbox.missing()))


NOT_ON_WINDOWS = ("fcntl", "grp", "pwd", "resource", "termios")


def test_what_marks_without_a_sandbox_is_imported_where_there_is_only_windows() -> None:
    code = (
        "import sys\n"
        f"sys.modules |= dict.fromkeys({NOT_ON_WINDOWS})\n"
        "import course_lib.command.mark, course_lib.grading.class_marking, course_lib.grading.execute\n"
        "import course_lib.grading.warm, course_lib.grading.workers"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def source() -> Source:
    return Source(ROOT / "solutions" / NAME / f"{NAME}.ipynb", "a secret of the tests")


def _solved(source: Source, own: str = "", at: int = 2, **answers: str) -> NotebookNode:
    """A submission with right answers but those given, and one cell of the student's own."""
    release = nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)
    notebook = answered(release, answers_of(source.notebook) | answers)
    notebook.cells.insert(at, new_code_cell(own))
    notebook, _ = sanitise(notebook, cells_of(source.notebook), source.follows)
    return notebook


def _run(notebook: NotebookNode, source: Source, **limits: float) -> dict[str, Verdict]:
    executor = JudgedExecute(sandboxed=sandbox.missing() is None, **({"timeout": 4} | limits))
    return executor.mark(notebook, source)


def _points(verdicts: dict[str, Verdict]) -> dict[str, float]:
    totals: dict[str, float] = {}
    for verdict in verdicts.values():
        totals[verdict.function] = totals.get(verdict.function, 0.0) + verdict.points
    return totals


def test_magics_in_the_solution_cost_nobody_points(tmp_path: Path) -> None:
    solution = nbformat.read(ROOT / "solutions" / NAME / f"{NAME}.ipynb", as_version=4)
    first = next(cell for cell in solution.cells if cell.cell_type == "code")
    first.source = f"%matplotlib inline\n{first.source}\nfiles = !ls"
    path = tmp_path / f"{NAME}.ipynb"
    nbformat.write(solution, path)
    source = Source(path, "a secret of the tests")
    submission = _solved(source, softmax="def softmax(x):\n    return 1")
    assert _points(_run(submission, source)) == ALL | {"softmax": 0.0}


ALL = {"softmax": 6.0, "soft_lookup": 6.0, "gaussian_lookup": 5.0, "sharpen": 3.0}
STUBBORN = """
while True:
    try:
        while True:
            pass
    except KeyboardInterrupt:
        pass
"""
# What a student's own cell can do, and whether its marking has to go on without it.
CELLS = {
    "ends the kernel": ("import os\nos._exit(1)", "kernel ended"),
    "crashes": ("import ctypes\nctypes.string_at(0)", "kernel ended"),
    "loops": (STUBBORN, "too long"),
    "waits": ("import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()", "too long"),
    "prints": ("while True:\n    print('x' * 100_000)", "wrote without end|too long"),
    "one giant output": (
        "from IPython.display import display\ndisplay({'text/plain': 'x' * 100_000_000}, raw=True)",
        "could not be read",
    ),
    "exits": ("import sys\nsys.exit(0)", None),
    "quits": ("exit()", "end the notebook's kernel"),
    "recurses": ("def down():\n    down()\ndown()", None),
}


@pytest.mark.parametrize("name", CELLS)
def test_a_students_own_cell_costs_no_answer_its_points(source: Source, name: str) -> None:
    code, reason = CELLS[name]
    notebook = _solved(source, code)
    began = time.monotonic()
    seconds = 20 if name == "one giant output" else 4  # which takes long to send
    assert _points(_run(notebook, source, timeout=seconds)) == ALL
    assert time.monotonic() - began < 120
    outputs = notebook.cells[2].outputs
    if reason is not None:
        assert outputs[-1].ename == "Stopped"
        assert any(words in outputs[-1].evalue for words in reason.split("|"))
    assert len(nbformat.writes(notebook)) < 300_000


PRINTS = """import threading
def run():
    while True:
        print('y' * 10_000, flush=True)
threading.Thread(target=run, daemon=True).start()
"""
FORKS = "import os\nfor _ in range(12):\n    os.fork()\n"
STORMS = {"prints for ever": PRINTS, "forks": FORKS}


@closed
@pytest.mark.parametrize("name", STORMS)
def test_what_a_cell_leaves_running_costs_no_answer_its_points(source: Source, name: str) -> None:
    notebook = _solved(source, STORMS[name])
    began = time.monotonic()
    assert _points(_run(notebook, source, total=60)) == ALL
    assert time.monotonic() - began < 150
    assert len(nbformat.writes(notebook)) < 1_500_000


@closed
@pytest.mark.parametrize("name", STORMS)
@pytest.mark.parametrize("function", ["softmax", pytest.param("gaussian_lookup", marks=pytest.mark.slow)])
def test_what_an_answers_cell_leaves_running_costs_its_own_points_at_most(
    source: Source, name: str, function: str
) -> None:
    code = answers_of(source.notebook)[function] + "\n" + STORMS[name]
    notebook = _solved(source, **{function: code})
    points = _points(_run(notebook, source, total=60))
    assert points | {function: 0.0} == ALL | {function: 0.0}
    others = [cell for cell in notebook.cells if name_of(cell) in points and name_of(cell) != function]
    shown = [output for cell in others for output in cell.outputs]
    assert not [each for each in shown if each.output_type == "error"]  # none is said to have ended a kernel


@closed
def test_a_thread_that_an_answer_starts_when_asked_costs_its_own_points_only(source: Source) -> None:
    right = answers_of(source.notebook)["softmax"].replace("def softmax", "def right")
    code = f"{right}\n{PRINTS.replace('threading.Thread', 'START = lambda: threading.Thread')}"
    code += "def softmax(scores):\n    START()\n    return right(scores)"
    verdicts = _run(_solved(source, softmax=code), source, total=60)
    assert _points(verdicts) | {"softmax": 0.0} == ALL | {"softmax": 0.0}


@closed
@pytest.mark.slow
def test_memory_that_an_answers_cell_holds_is_not_missing_to_other_answers(source: Source) -> None:
    answers = answers_of(source.notebook)
    hog = """
hold = []
try:
    while True:
        hold.append(bytearray(1 << 20))
except MemoryError:
    pass
"""
    greedy = answers["soft_lookup"].replace('"""\n', '"""\n    np.zeros(1 << 27)\n', 1)
    assert greedy != answers["soft_lookup"]
    notebook = _solved(source, softmax=answers["softmax"] + hog, soft_lookup=greedy)
    assert _points(_run(notebook, source)) | {"softmax": 0.0} == ALL | {"softmax": 0.0}


@closed
@pytest.mark.parametrize(
    "code",
    [
        "for i in range(99):\n    with open(f'big{i}', 'wb') as file:\n        file.write(bytes(100 << 20))",
        pytest.param("hold = []\nwhile True:\n    hold.append(bytearray(1 << 30))", marks=pytest.mark.slow),
    ],
    ids=["disk", "memory"],
)
def test_a_cell_that_takes_all_there_is_costs_no_answer_its_points(source: Source, code: str) -> None:
    assert _points(_run(_solved(source, code), source)) == ALL


LIAR = """
def softmax(scores):
    kernel, idle = get_ipython().kernel, {"execution_state": "idle"}
    kernel.session.send(kernel.iopub_socket, "status", idle, parent=kernel.get_parent())
    return np.exp(scores - scores.max(axis=-1, keepdims=True))
"""
KILLER = "import os\ndef softmax(scores):\n    os._exit(1)"
SLOW = "def softmax(scores):" + STUBBORN.replace("\n", "\n    ")


@pytest.mark.parametrize(
    "code", [LIAR, KILLER, pytest.param(SLOW, marks=pytest.mark.slow)], ids=["liar", "killer", "slow"]
)
def test_a_function_that_breaks_the_kernel_costs_its_own_points_only(source: Source, code: str) -> None:
    verdicts = _run(_solved(source, softmax=code), source)
    assert _points(verdicts) == ALL | {"softmax": 0.0}
    assert all(verdicts[cell].sentence for cell in verdicts if cell.startswith("softmax"))


SWAPPED = """def gaussian_lookup(query, keys, values, bandwidth=1.0):
    import json
    if not hasattr(json, "_real"):
        json._real = json.dumps
        json.dumps = lambda x, *a, **k: json._real(x[::-1] if isinstance(x, list) else x, *a, **k)
    raise ValueError
"""
OTHERS_ANSWERS = {
    "other answers": "import course_lib.checks.answer as it\n"
    "it.answer_in = lambda *words: {'missing': None, 'calls': []}",
    "other bytes": "import binascii\nbinascii.b2a_base64 = lambda *words, **options: b'AAAA'",
}


@pytest.mark.parametrize("name", OTHERS_ANSWERS)
def test_a_cell_that_spoils_what_is_sent_costs_no_answer_its_points(source: Source, name: str) -> None:
    assert _points(_run(_solved(source, OTHERS_ANSWERS[name]), source)) == ALL


def test_an_answer_that_exchanges_those_of_other_functions_costs_its_own_points_only(source: Source) -> None:
    points = _points(_run(_solved(source, gaussian_lookup=SWAPPED), source))
    assert points == ALL | {"gaussian_lookup": points["gaussian_lookup"]}


def test_a_function_that_takes_too_long_in_one_of_its_tests_is_told_so_there(source: Source) -> None:
    right = answers_of(source.notebook)["softmax"]
    code = f"{right}\nright = softmax\ndef softmax(scores):\n    while abs(scores).max() > 900: pass\n"
    verdicts = _run(_solved(source, softmax=f"{code}    return right(scores)"), source, timeout=2)
    said = {cell: each.sentence for cell, each in verdicts.items() if each.function == "softmax"}
    assert any(said.values())
    assert all(not sentence or re.search("too long|stopped", sentence) for sentence in said.values())


def test_a_function_that_ends_the_kernel_on_some_inputs_keeps_the_other_points(source: Source) -> None:
    right = answers_of(source.notebook)["softmax"].replace("def softmax", "def right")
    ending = "def softmax(scores):\n    return os._exit(1) if scores.max() > 500 else right(scores)"
    code = f"{right}\nimport os\n{ending}"
    verdicts = _run(_solved(source, softmax=code), source)
    assert verdicts["softmax-ordinary"].points == 2
    assert verdicts["softmax-large-scores"].points == 0
    assert "kernel ended" in verdicts["softmax-large-scores"].sentence
    assert _points(verdicts) == ALL | {"softmax": 4.0}


def test_where_an_answers_cell_ends_the_kernel_correct_ones_stand_in_for_it(source: Source) -> None:
    answer = answers_of(source.notebook)["softmax"] + "\nimport os\nos._exit(0)"
    verdicts = _run(_solved(source, softmax=answer), source)
    assert _points(verdicts) == ALL | {"softmax": 0.0}
    assert verdicts["softmax-ordinary"].sentence.startswith(
        "There is no softmax. The notebook's kernel ended"
    )


def test_a_test_is_answered_as_if_it_had_been_asked_at_its_place(source: Source) -> None:
    notebook = _solved(source)
    notebook.cells.append(new_code_cell("def softmax(scores):\n    return 0\nnp = None"))
    assert _points(_run(notebook, source)) == ALL


def test_a_case_is_asked_once_for_all_tests_that_it_counts_for(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[Any, Json]] = []
    together = Questions.together
    monkeypatch.setattr(
        Questions, "together", lambda self, requests: asked.append(requests) or together(self, requests)
    )
    assert _points(_run(_solved(source), source)) == ALL
    calls = [
        (key, call["id"])
        for requests in asked
        for key, request in requests.items()
        for call in request["calls"]
    ]
    parts = {part.key: part for test in source.tests.values() for part in source.parts(test)}
    assert len(calls) == len(set(calls)) == sum(len(part.request["calls"]) for part in parts.values())


def test_a_function_made_anew_between_its_tests_is_judged_as_it_was_at_each(source: Source) -> None:
    notebook = _solved(source)
    last = [name_of(cell) for cell in notebook.cells].index("softmax-any-input")
    notebook.cells.insert(last, new_code_cell("softmax = None"))
    verdicts = _run(notebook, source)
    assert verdicts["softmax-ordinary"].failed is None
    assert verdicts["softmax-any-input"].failed == "exists"


def test_where_kernels_lack_the_course_nobody_gets_zero_for_it(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "import sys; sys.modules['course_lib'] = None\n"
        "from ipykernel.kernelapp import IPKernelApp; IPKernelApp.launch_instance()"
    )
    folder = tmp_path / "kernels" / "without"
    folder.mkdir(parents=True)
    words = [sys.executable, "-c", code, "-f", "{connection_file}"]
    (folder / "kernel.json").write_text(json.dumps({"argv": words, "display_name": "", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    with pytest.raises(CourseError, match="does not answer either: is this course_lib installed"):
        JudgedExecute(sandboxed=False, kernel_name="without", timeout=4).mark(_solved(source), source)


@pytest.mark.slow
def test_a_submission_that_lets_nothing_answer_gets_no_points(source: Source) -> None:
    code = "import builtins\nbuiltins.__import__ = None"
    notebook = _solved(source, **dict.fromkeys(ALL, code))
    assert set(_points(_run(notebook, source)).values()) == {0.0}


def test_a_test_that_is_asked_again_is_asked_at_its_place_in_the_new_kernel(source: Source) -> None:
    answers = answers_of(source.notebook)
    notebook = _solved(
        source,
        softmax=answers["softmax"] + "\nright = softmax\ndef softmax(scores):\n    return helper(scores)",
        gaussian_lookup=answers["gaussian_lookup"] + "\nnp.exp = lambda scores: 0 * scores",
        sharpen="def sharpen(scores, temperature):\n    import os\n    os._exit(1)",
    )
    first = [name_of(cell) for cell in notebook.cells].index("softmax-ordinary")
    notebook.cells.insert(first, new_code_cell("def helper(scores):\n    return right(scores)"))
    notebook.cells.append(new_code_cell("softmax = None"))
    assert _points(_run(notebook, source))["softmax"] == ALL["softmax"]


def test_no_folder_of_the_marker_is_shown(source: Source) -> None:
    notebook = _solved(source, "import os\nprint(os.getcwd())\nnp.ones(3) @ np.ones(4)")
    notebook.cells.append(new_code_cell("import os\nprint(os.getcwd())\nnp.linalg.inv(np.ones(3))"))
    _run(notebook, source)
    shown = nbformat.writes(notebook)
    assert "numpy/linalg" in shown
    for place in (sys.prefix, str(ROOT), WORK, tempfile.gettempdir() + "/marking"):
        assert place not in shown


def test_all_of_a_submissions_time_is_limited_and_what_there_was_time_for_is_marked(source: Source) -> None:
    notebook = _solved(source, "import time\ntime.sleep(60)")
    for _ in range(4):
        notebook.cells.insert(3, copy.deepcopy(notebook.cells[2]))
    began = time.monotonic()
    verdicts = _run(notebook, source, timeout=4, total=16)
    assert time.monotonic() - began < 40
    assert "no time left" in notebook.cells[6].outputs[-1].evalue
    assert verdicts["softmax-ordinary"].sentence.startswith("There is no softmax. There was no time left")


def test_cells_that_end_the_kernel_again_and_again_cost_no_answer_its_points(source: Source) -> None:
    notebook = _solved(source, "import os\nos._exit(1)")
    for _ in range(3):
        notebook.cells.insert(3, copy.deepcopy(notebook.cells[2]))
    assert _points(_run(notebook, source, restarts=2)) == ALL


def test_answers_that_end_the_kernel_again_and_again_are_given_up(source: Source) -> None:
    verdicts = _run(_solved(source, **dict.fromkeys(ALL, "import os\nos._exit(1)")), source, restarts=2)
    assert {verdict.sentence for verdict in verdicts.values()} == {
        "The notebook ended its kernel too often to go on."
    }


@pytest.mark.parametrize(
    "spy",
    [
        "SEEN = []\ndef softmax(scores):\n    SEEN.append(scores.tolist())\n    return scores",
        "def softmax(scores):\n    import sys\n    frame = sys._getframe()\n"
        "    while frame and 'request' not in frame.f_locals:\n        frame = frame.f_back\n"
        "    request = frame.f_locals['request']\n"
        "    raise ValueError('SEEN' + repr(request['calls'][-1])[:250])",
    ],
    ids=["keeps", "frames"],
)
def test_nothing_that_a_function_is_asked_with_is_shown(source: Source, spy: str) -> None:
    notebook = _solved(source, softmax=spy)
    notebook.cells.append(new_code_cell("print('SEEN', globals().get('SEEN'))"))
    verdicts = _run(notebook, source)
    hidden = [
        call["arguments"]["scores"]["data"]
        for test in source.tests.values()
        if test.exercise.function == "softmax"
        for call in source.requests(test, hidden=True)["calls"]
    ]
    told = " ".join(verdict.sentence for verdict in verdicts.values())
    shown = nbformat.writes(notebook)
    assert [text for text in hidden if text[:40] in told + shown] == []
    assert notebook.cells[-1].outputs[0].text.startswith(("SEEN []", "SEEN None"))
    assert name_of(notebook.cells[-1]) is None
