"""Cheats in plain Python: what tests call is replaced, what they read is read, or what they get lies."""

from __future__ import annotations

from .cheat import WRONG, Cheat, answer, both, cell

OUTSIDE = "the verdict is made outside the kernel"
NO_ANSWER = "no right answer is in the kernel, its frames, its history or its memory"
PLAIN = "outputs travel as dtype, shape and bytes; no object of the student's is compared"
KEPT = f"{WRONG}\nwrong = softmax\n"

CHEATS = [
    Cheat(
        "patched-numpy",
        "numpy.testing.assert_allclose replaced (or its inner parts, or np.allclose)",
        OUTSIDE,
        cell("np.testing.assert_allclose = np.testing.assert_array_equal = lambda *args, **options: None"),
    ),
    Cheat(
        "patched-builtins",
        "a builtin replaced, such as round, with which a test reckons points",
        OUTSIDE,
        cell("import builtins\nbuiltins.round = lambda *numbers, **options: 2.0"),
    ),
    Cheat(
        "own-np",
        "the notebook's name np means something that agrees with everything",
        OUTSIDE,
        both(
            cell(
                """
class Agreeable:
    def __getattr__(self, name): return self
    def __call__(self, *args, **options): return self
    def __sub__(self, other): return self
    def __float__(self): return 0.0
"""
            ),
            answer("np = Agreeable()\ndef softmax(scores):\n    return np"),
        ),
    ),
    Cheat(
        "frames",
        "the tested function looks up the frames for the expected value",
        NO_ANSWER,
        answer(
            KEPT
            + """
import sys
def softmax(scores):
    frame = sys._getframe(1)
    while frame is not None:
        for name in ("expected", "reference"):
            if name in frame.f_globals or name in frame.f_locals:
                found = frame.f_locals.get(name, frame.f_globals.get(name))
                return np.asarray(found)
        frame = frame.f_back
    return wrong(scores)
"""
        ),
    ),
    Cheat(
        "history",
        "the tested function reads the test's text in IPython's history, and works out what it expects",
        "a test cell's text does not reach the kernel",
        answer(
            KEPT
            + """
import re
def softmax(scores):
    found = re.search(r"expected = (.*)", get_ipython().user_ns["In"][-1])
    return np.asarray(eval(found[1])) if found else wrong(scores)
"""
        ),
    ),
    Cheat(
        "memory",
        "the tested function searches everything in memory for the expected value",
        NO_ANSWER,
        answer(
            KEPT
            + """
import gc
def softmax(scores):
    for each in gc.get_objects():
        if type(each) is dict:
            for name in ("expected", "reference", "returned"):
                if isinstance(each.get(name), (np.ndarray, list)):
                    return np.asarray(each[name])
    return wrong(scores)
"""
        ),
    ),
    Cheat(
        "trace",
        "sys.settrace gives an assert function the desired value for the actual one",
        OUTSIDE,
        cell(
            """
import sys
def trace(frame, event, arg):
    if frame.f_code.co_name == "assert_allclose":
        frame.f_locals["actual"] = frame.f_locals["desired"]
        return trace
sys.settrace(trace)
"""
        ),
    ),
    Cheat(
        "always-equal",
        "the result is an object that is equal to everything",
        PLAIN,
        answer(
            KEPT
            + """
class Equal(list):
    def __eq__(self, other): return True
class Yes(np.ndarray):
    def tolist(self): return Equal()
def softmax(scores):
    return wrong(scores).view(Yes)
"""
        ),
    ),
    Cheat(
        "array-protocol",
        "the result is an array that answers NumPy's own functions itself",
        PLAIN,
        answer(
            KEPT
            + """
class Agreeing(np.ndarray):
    def __array_ufunc__(self, *args, **options): return np.zeros(1)
    def __array_function__(self, *args, **options): return np.True_
def softmax(scores):
    return wrong(scores).view(Agreeing)
"""
        ),
    ),
    Cheat(
        "not-a-number",
        "the result is NaN, which slips through min, max and comparisons",
        "a result that is not finite fails a rung of its own; points are clipped where they are written",
        answer("def softmax(scores):\n    return np.full(np.shape(scores), np.nan)"),
    ),
]
