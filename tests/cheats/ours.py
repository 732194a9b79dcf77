"""Cheats that know how this course marks, and aim at its own parts."""

from __future__ import annotations

from .cheat import NAME, SCRIPT, WRONG, Cheat, answer, both, cell

OUTSIDE = "the verdict is made outside the kernel; what check says there is for the student"
HIDDEN = "hidden inputs, which no stored answer fits"
KEPT = f"{WRONG}\nwrong = softmax\n"
CONTENT = "class Check:\n    def __call__(self, *words): return 1.0\n    collect = __call__\n"
SEEN = "SEEN = []\ndef softmax(scores):\n    SEEN.append(scores.tolist())\n"
STORED = f"""
import base64, json
from importlib import resources
from course_lib.checks.values import decode
STORED = json.loads((resources.files("course_lib.checks") / "data" / "{NAME}.json").read_text())["softmax"]
"""
KERNEL, VISIBLE = "our checks in the kernel", "our marking on the visible cases alone"
TELLING = "our marking that tells everything"

CHEATS = [
    Cheat(
        "own-check",
        "the notebook's name check means something that is always content",
        OUTSIDE,
        cell(CONTENT + "check = Check()"),
        works_on=KERNEL,
    ),
    Cheat(
        "patched-judge",
        "the judge is replaced by one that is always content",
        OUTSIDE,
        cell(
            """
import course_lib.checks.check as module
judge = module.judge_visible
def content(*args):
    verdict = judge(*args)
    verdict.failed = None
    return verdict
module.judge_visible = content
"""
        ),
        works_on=KERNEL,
    ),
    Cheat(
        "replaced-module",
        "another module under the name course_lib.checks in sys.modules",
        OUTSIDE,
        cell(
            CONTENT
            + """
import sys, types
sys.modules["course_lib.checks"] = types.SimpleNamespace(checks_for=lambda name: Check())
""",
            at=0,
        ),
        works_on=KERNEL,
    ),
    Cheat(
        "import-hook",
        "a finder in sys.meta_path that changes the checks while they are imported",
        OUTSIDE,
        cell(
            """
import importlib.machinery, sys
class Finder:
    def find_spec(self, name, path, target=None):
        if name == "course_lib.checks.judge":
            spec = importlib.machinery.PathFinder.find_spec(name, path)
            load = spec.loader.exec_module
            def generous(module):
                load(module)
                module.Verdict.points = property(lambda verdict: float(verdict.max_points))
            spec.loader.exec_module = generous
            return spec
sys.meta_path.insert(0, Finder())
""",
            at=0,
        ),
        works_on=KERNEL,
    ),
    Cheat(
        "known-inputs",
        "a table of the visible inputs with their stored answers",
        HIDDEN,
        answer(
            KEPT
            + STORED
            + """
KNOWN = {}
for behaviour in STORED.values():
    for call, record in zip(behaviour["request"]["calls"], behaviour["reference"]["calls"]):
        KNOWN[call["arguments"]["scores"]["data"]] = decode(record["returned"])
def softmax(scores):
    key = base64.b64encode(np.asarray(scores).tobytes()).decode()
    return KNOWN[key].copy() if key in KNOWN else wrong(scores)
"""
        ),
        works_on=VISIBLE,
    ),
    Cheat(
        "known-order",
        "the stored answers one after another, whatever the inputs are",
        HIDDEN,
        answer(
            KEPT
            + STORED
            + """
ANSWERS = []
for test in (["ordinary"], ["ordinary", "large scores"], ["ordinary", "any input"]):
    for behaviour in map(STORED.get, test):
        for call, record in zip(behaviour["request"]["calls"], behaviour["reference"]["calls"]):
            ANSWERS += [decode(record["returned"]) for _ in range(2 if call["twice"] else 1)]
ANSWERS.reverse()
def softmax(scores):
    return ANSWERS.pop() if ANSWERS else wrong(scores)
"""
        ),
        works_on=VISIBLE,
    ),
    Cheat(
        "forged-bundle",
        "json.dumps replaced: it puts the stored answers into what the kernel sends",
        HIDDEN,
        cell(
            STORED
            + """
dumps = json.dumps
def forged(thing, **options):
    bundles = [b for b in thing if b.get("function") == "softmax"] if isinstance(thing, list) else []
    right = {r["id"]: r for b in reversed(STORED.values()) for r in b["reference"]["calls"]}
    for bundle in bundles:
        for record in bundle["calls"]:
            part, _, call = record["id"].rpartition("/")
            if call in right:
                record.update(right[call], id=record["id"])
    return dumps(thing, **options)
json.dumps = forged
"""
        ),
        works_on=VISIBLE,
    ),
    Cheat(
        "kept-inputs",
        "the tested function keeps what it is called with, and a later cell prints it",
        "hidden cases are asked when no cell of the notebook will run any more",
        both(
            answer(KEPT + SEEN + "    return wrong(scores)"),
            cell("print(SEEN)", at=-1),
        ),
        goal="leak",
    ),
    Cheat(
        "updated-display",
        "the tested function writes what it is called with into what an earlier cell shows",
        "while a kernel is asked, nothing but one output with bundles is heard",
        both(
            cell("from IPython.display import display\nshown = display('nothing yet', display_id='leak')"),
            answer(KEPT + SEEN + "    shown.update(str(SEEN))\n    return wrong(scores)"),
        ),
        goal="leak",
    ),
    Cheat(
        "told-inputs",
        "the tested function raises an error that tells what it was called with",
        "of a hidden case a sentence tells neither words nor numbers from the kernel",
        answer(
            KEPT
            + STORED
            + """
KNOWN = {c["arguments"]["scores"]["data"] for b in STORED.values() for c in b["request"]["calls"]}
def softmax(scores):
    if base64.b64encode(np.asarray(scores).tobytes()).decode() in KNOWN:
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)
    raise ValueError(repr(scores.tolist()))
"""
        ),
        works_on=TELLING,
        goal="leak",
    ),
    Cheat(
        "told-solution",
        "an answer finds the correct predecessor's code in the frames, and raises an error that tells it",
        "once correct predecessors are in the kernel, none of its words is told",
        answer(
            """
import sys
def soft_lookup(query, keys, values):
    frame = sys._getframe(1)
    while frame is not None:
        if isinstance(frame.f_locals.get("stand_ins"), dict):
            raise ValueError(frame.f_locals["stand_ins"]["code"][-1][-200:])
        if isinstance(frame.f_locals.get("request"), dict) and "stand_ins" in frame.f_locals["request"]:
            raise ValueError(frame.f_locals["request"]["stand_ins"]["code"][-1][-200:])
        frame = frame.f_back
""",
            "soft_lookup",
        ),
        works_on=TELLING,
        goal="leak",
    ),
    Cheat(
        "script",
        "the notebook shows a script, which runs where the instructor looks at it in formgrader",
        "of what a notebook shows only text and pictures are kept, and Markdown is cleaned",
        cell(f"from IPython.display import HTML, display\ndisplay(HTML('{SCRIPT}'))"),
        goal="harm",
    ),
]

# What is not stopped, since it is right by every test: see docs/marking_security.md.
LIMITS = [
    Cheat(
        "second-loading",
        "the course's own softmax from a second loading of its module, under another name",
        "nothing: it is a right answer, though not the student's own",
        answer(
            """
import importlib.util
found = importlib.util.find_spec("course_lib.attention")
copy = importlib.util.module_from_spec(found)
found.loader.exec_module(copy)
def softmax(scores):
    return copy.softmax(scores)
"""
        ),
    ),
    Cheat(
        "only-when-judged",
        "a right answer from a library, while the frames say that it is judged; a wrong one otherwise",
        "nothing: what is judged is right",
        answer(
            KEPT
            + """
import math, sys
def softmax(scores):
    frame, judged = sys._getframe(1), False
    while frame is not None:
        judged = judged or frame.f_code.co_name == "collect"
        frame = frame.f_back
    if not judged:
        return wrong(scores)
    rows = np.asarray(scores, float)
    return np.exp(rows - np.logaddexp.reduce(rows, axis=-1, keepdims=True))
"""
        ),
    ),
]
