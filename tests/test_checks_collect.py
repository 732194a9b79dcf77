"""Collecting never raises and never decides: it records what a function did, whatever that was."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import matplotlib
import numpy as np
import pytest
import torch

from course_lib import attention
from course_lib.checks import quiet as quiet_module
from course_lib.checks import refuse
from course_lib.checks.collect import collect
from course_lib.checks.refuse import Refusing
from course_lib.checks.values import encode, receive

SCORES = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]])


def _request(*arguments, refused=(), twice=False, function="f") -> dict:
    calls = [
        {"id": f"case #{number}", "arguments": {"x": encode(each)}, "raises": False, "twice": twice}
        for number, each in enumerate(arguments or (SCORES,))
    ]
    return {"function": function, "parameters": ["x"], "refused": list(refused), "calls": calls}


def _notebook(code: str) -> dict:
    """The names of a notebook in which a cell with this code was run."""
    names = {"__name__": "__main__", "np": np, "torch": torch, "attention": attention}
    exec(compile(code, "<cell>", "exec"), names)
    return names


def _collected(code: str, *arguments, **options) -> dict:
    bundle = collect(_request(*arguments, **options), _notebook(code))
    json.dumps(bundle)
    return bundle


def _record(code: str, *arguments, **options) -> dict:
    return _collected(code, *arguments, **options)["calls"][0]


def test_what_comes_back_is_recorded_for_every_call() -> None:
    bundle = _collected("def f(x):\n    return x + 1", SCORES, SCORES[0])
    assert bundle["missing"] is None
    assert [record["id"] for record in bundle["calls"]] == ["case #0", "case #1"]
    assert receive(bundle["calls"][0]["returned"]).value.tolist() == (SCORES + 1).tolist()
    assert bundle["calls"][0]["changed"] == []


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        ("", "absent"),
        ("f = None", "absent"),
        ("f = 3.5", "a value of type float"),
        ("f = np.ones(3)", "a value of type ndarray"),
        ("def f():\n    pass", "arguments: too many positional arguments"),
        ("def f(x, y):\n    pass", "arguments: missing a required argument: 'y'"),
        ("def f(*, x):\n    pass", "arguments: too many positional arguments"),
        ("class f:\n    pass", "arguments: too many positional arguments"),
    ],
)
def test_why_nothing_could_be_called_is_recorded(code: str, missing: str) -> None:
    assert _collected(code) == {"function": "f", "missing": missing, "calls": []}


def test_every_way_in_which_it_is_called_is_tried_and_the_first_that_fails_is_told() -> None:
    request = _request(SCORES, SCORES, SCORES) | {"parameters": ["x", "mask", "bias"]}
    for call, name in zip(request["calls"][1:], ("mask", "bias"), strict=True):
        call["arguments"] |= {name: encode(SCORES)}
    request["calls"][2]["arguments"] |= request["calls"][1]["arguments"]
    bundle = collect(request, _notebook("def f(x):\n    pass"))
    assert bundle["missing"] == "arguments: too many positional arguments"
    kept = collect(request, _notebook("def f(x, mask, bias, *, more):\n    pass"))
    assert kept["missing"] == "arguments: missing a required argument: 'mask'"


CALLABLE = {
    "a lambda": "f = lambda x: x * 2",
    "more parameters": "def f(x, y=3, *args, z=4, **kwargs):\n    return x * 2",
    "a class": "class f:\n    def __new__(cls, x):\n        return x * 2",
    "an object": "class F:\n    def __call__(self, x):\n        return x * 2\nf = F()",
    "a partial": "import functools\nf = functools.partial(np.multiply, 2)",
    "a ufunc": "f = np.frompyfunc(lambda x: x * 2, 1, 1)\ng = f\nf = lambda x: g(x).astype(float)",
    "vectorised": "f = np.vectorize(lambda x: x * 2)",
    "wrapped": (
        "import functools\ndef twice(g):\n    @functools.wraps(g)\n    def inner(*args):\n"
        "        return 2 * g(*args)\n    return inner\n@twice\ndef f(x):\n    return x"
    ),
    "without a signature": (
        "class F:\n    @property\n    def __signature__(self):\n        raise RuntimeError\n"
        "    def __call__(self, x):\n        return x * 2\nf = F()"
    ),
    "with names replaced": "list = len = print = isinstance = None\ndef f(x):\n    return x * 2",
}


@pytest.mark.parametrize("code", CALLABLE.values(), ids=CALLABLE)
def test_whatever_can_be_called_is_called(code: str) -> None:
    assert receive(_record(code)["returned"]).value.tolist() == (2 * SCORES).tolist()


RAISING = {
    "ValueError": "raise ValueError('no')",
    "SystemExit": "raise SystemExit(3)",
    "GeneratorExit": "raise GeneratorExit",
    "CancelledError": "import asyncio; raise asyncio.CancelledError",
    "ZeroDivisionError": "1 / 0",
    "RecursionError": "return f(x)",
    "MemoryError": "raise MemoryError",
    "AxisError": "return x.sum(axis=7)",
    "Own": "raise type('Own', (BaseException,), {})",
}


@pytest.mark.parametrize("name", RAISING)
def test_an_error_is_recorded_whatever_its_kind(name: str) -> None:
    bundle = _collected(f"def f(x):\n    {RAISING[name]}", SCORES, SCORES)
    assert [record["error"]["type"] for record in bundle["calls"]] == [name, name]


def test_an_error_that_cannot_be_printed_is_recorded() -> None:
    code = (
        "class Odd(Exception):\n    def __str__(self):\n        raise RuntimeError\ndef f(x):\n    raise Odd"
    )
    assert _record(code)["error"] == {"type": "Exception", "message": "", "line": ""}


def test_an_error_of_the_students_own_counts_as_the_value_error_that_it_is() -> None:
    own = "class Bad(ValueError):\n    pass\ndef f(x):\n    raise Bad('x')"
    assert _record(own)["error"]["value_error"] is True
    assert _record("def f(x):\n    raise TypeError('x')")["error"]["value_error"] is False


def test_a_long_message_is_cut_and_put_on_one_line() -> None:
    message = _record("def f(x):\n    raise ValueError('a\\n  b' + 'c' * 10**6)")["error"]["message"]
    assert message.startswith("a bccc")
    assert len(message) <= 300


def test_an_interrupt_is_recorded_and_ends_the_calling() -> None:
    code = (
        "calls = []\ndef f(x):\n    calls.append(1)\n    if len(calls) == 2:\n"
        "        raise KeyboardInterrupt\n    return x"
    )
    names = _notebook(code)
    bundle = collect(_request(SCORES, SCORES, SCORES), names)
    assert len(names["calls"]) == 2
    assert "returned" in bundle["calls"][0]
    assert [record["error"]["type"] for record in bundle["calls"][1:]] == ["KeyboardInterrupt"] * 2
    assert [record["id"] for record in bundle["calls"]] == ["case #0", "case #1", "case #2"]


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("def f(x):\n    y = x\n    return y.nothing", "line 3 of f"),
        ("def f(x):\n    return helper(x)\ndef helper(x):\n    return 1 / 0", "line 2 of helper"),
        ("def f(x):\n    y = 1\n    return [1 / 0 for _ in x]", "line 3 of f"),
        ("def f(x):\n    return sum(1 / 0 for _ in x)", "line 2 of f"),
        ("f = lambda x: 1 / 0", "line 1 of <lambda>"),
        ("def f(x):\n    x = x + 1\n    return np.linalg.inv(x)", "line 3 of f"),
        ("class F:\n    def __call__(self, x):\n        return 1 / 0\nf = F()", "line 2 of __call__"),
        ("f = np.linalg.inv", ""),
    ],
)
def test_the_line_of_an_error_is_the_last_one_in_the_notebooks_own_code(code: str, line: str) -> None:
    assert _record(code)["error"]["line"] == line


def test_nothing_is_heard_of_prints_and_warnings(capfd: pytest.CaptureFixture[str]) -> None:
    code = (
        "import sys, warnings\ndef f(x):\n    print('loud')\n    print('louder', file=sys.stderr)\n"
        "    warnings.warn('careful')\n    return x / 0"
    )
    record = _record(code)
    assert "returned" in record
    assert capfd.readouterr() == ("", "")


def test_prints_are_not_kept() -> None:
    with quiet_module.quiet():
        print("x" * 1000)
        assert not hasattr(sys.stdout, "getvalue")


def test_streams_warnings_and_floating_point_rules_are_as_before() -> None:
    before = sys.stdout, sys.stderr, warnings.filters[:], np.geterr()
    _record(
        "import sys, io, warnings\ndef f(x):\n    sys.stdout = io.StringIO()\n"
        "    warnings.simplefilter('error')\n    np.seterr(all='raise')\n    raise ValueError"
    )
    assert (sys.stdout, sys.stderr, warnings.filters[:], np.geterr()) == before


def test_a_closed_stream_disturbs_no_later_call() -> None:
    bundle = _collected(
        "import sys\ndef f(x):\n    print(1)\n    sys.stdout.close()\n    return x", SCORES, SCORES
    )
    assert all("returned" in record for record in bundle["calls"])


def test_what_one_call_sets_is_not_so_in_the_next() -> None:
    matplotlib.use("agg")
    bundle = _collected(
        "import sys, warnings\nimport matplotlib.pyplot as plt\ndef f(x):\n"
        "    warnings.warn('careful')\n    x / 0\n"
        "    state = sys.stdout is sys.__stdout__, len(plt.get_fignums())\n"
        "    warnings.simplefilter('error')\n    np.seterr(all='raise')\n    sys.stdout = sys.__stdout__\n"
        "    plt.figure()\n    return state",
        SCORES,
        SCORES,
        SCORES,
    )
    first, *others = (receive(record["returned"]) for record in bundle["calls"])
    assert first.value[0].value is False
    assert others == [first] * 2


@pytest.mark.parametrize("spoiled", ["np.seterr = None", "warnings.filters = ()"])
def test_what_one_call_spoils_is_no_error_of_ours(spoiled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "seterr", np.seterr)  # as it is at the end of the test again
    bundle = _collected(f"import warnings\ndef f(x):\n    {spoiled}\n    return x", SCORES, SCORES)
    assert all("returned" in record for record in bundle["calls"])


def test_figures_are_closed_but_only_new_ones() -> None:
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    mine = plt.figure()
    try:
        record = _record(
            "import matplotlib.pyplot as plt\ndef f(x):\n    plt.figure()\n    plt.plot(x)\n    return x"
        )
        assert "returned" in record
        assert plt.get_fignums() == [mine.number]
    finally:
        plt.close(mine)


class _Shell:
    """As much of IPython's shell as `quiet` meets."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.display_pub = self

    def publish(self, *args: object) -> None:
        self.heard.append("publish")

    def clear_output(self) -> None:
        self.heard.append("clear_output")

    def ask_exit(self) -> None:
        self.heard.append("ask_exit")


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> _Shell:
    """A shell that IPython says is running."""
    made = _Shell()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: made))
    return made


@pytest.mark.parametrize("code", ["display_pub.publish('x')", "display_pub.clear_output()", "ask_exit()"])
def test_the_shell_hears_nothing_meanwhile_and_all_afterwards(shell: _Shell, code: str) -> None:
    names = _notebook(f"def f(x):\n    shell.{code}\n    return x")
    names["shell"] = shell
    collect(_request(), names)
    assert shell.heard == []
    names["f"](1)
    assert len(shell.heard) == 1


def test_exit_is_an_error_of_the_function(shell: _Shell) -> None:
    names = _notebook("def f(x):\n    shell.ask_exit()")
    names["shell"] = shell
    error = collect(_request(), names)["calls"][0]["error"]
    assert (error["type"], error["message"]) == ("SystemExit", "exit() and quit() end the notebook")


def test_changed_inputs_are_named_and_the_next_call_meets_fresh_ones() -> None:
    bundle = _collected("def f(x):\n    total = x.sum()\n    x[...] = 0\n    return total", SCORES, SCORES)
    assert [record["changed"] for record in bundle["calls"]] == [["x"], ["x"]]
    assert receive(bundle["calls"][1]["returned"]).value == SCORES.sum()


@pytest.mark.parametrize(
    "change",
    ["x.sort()", "x.resize(6, refcheck=False)", "x.shape = (6,)", "x *= -1", "x.fill(np.nan)", "x += 1e-12"],
)
def test_every_change_of_an_input_is_seen(change: str) -> None:
    assert _record(f"def f(x):\n    {change}\n    return 1.0", np.array([[3.0, 2, 1], [1, 2, 3]]))[
        "changed"
    ] == ["x"]


def test_a_changed_tensor_is_seen() -> None:
    assert _record("def f(x):\n    return x.add_(1)", torch.ones(3))["changed"] == ["x"]


@pytest.mark.parametrize(
    ("change", "given"), [("x.sort()", ["b", "a"]), ("x.append(1)", [1]), ("x.setdefault('b', 2)", {"a": 1})]
)
def test_a_changed_list_or_dict_is_seen(change: str, given: object) -> None:
    assert _record(f"def f(x):\n    {change}\n    return 1.0", given)["changed"] == ["x"]
    assert _record("def f(x):\n    return len(x)", given)["changed"] == []


def test_reading_an_input_is_no_change() -> None:
    code = "def f(x):\n    x = x.copy()\n    x += 1\n    return x"
    assert _record(code, np.array([np.nan, 1.0, -0.0]))["changed"] == []


@pytest.mark.parametrize(
    ("code", "again"),
    [
        ("def f(x):\n    return x + 1", True),
        ("def f(x):\n    return x / 0, [None, True, 'a', float('nan')]", True),
        ("def f(x):\n    return x + 1e-9 * np.random.default_rng().random()", True),
        ("def f(x):\n    raise ValueError(1)", True),
        ("def f(x):\n    return x + np.random.default_rng().random()", False),
        ("n = 0\ndef f(x):\n    global n\n    n += 1\n    return x.tolist()[:n]", False),
        ("n = 0\ndef f(x):\n    global n\n    n += 1\n    return str(n)", False),
        ("n = 0\ndef f(x):\n    global n\n    n += 1\n    return n", False),
        ("n = 0\ndef f(x):\n    global n\n    n += 1\n    return x if n % 2 else x.astype('f4')", True),
        ("n = 0\ndef f(x):\n    global n\n    n += 1\n    return x if n % 2 else None", False),
        ("n = 0\ndef f(x):\n    global n\n    n += 1\n    return [x] * (n % 2 + 1)", False),
        (
            "n = 0\ndef f(x):\n    global n\n    n += 1\n    assert n == 1\n    return x",
            False,
        ),
        ("n = 0\ndef f(x):\n    global n\n    n += 1\n    raise ValueError(n)", False),
        ("n = 0\ndef f(x):\n    global n\n    n += 1\n    return x[:n]", False),
    ],
)
def test_a_second_call_is_compared_up_to_rounding(code: str, again: bool) -> None:
    assert _record(code, twice=True)["again"] is again


STRANGE = {
    "a generator": "yield x",
    "a coroutine": "return (lambda: (yield))()",
    "itself": "return f",
    "a dictionary": "return {'weights': x}",
    "a set": "return {1, 2}",
    "an object array": "return np.array([x, None], dtype=object)",
    "a huge array": "return np.broadcast_to(np.ones(1), (10**6, 10**6))",
    "an endless list": "a = []; a.append(a); return a",
    "a huge number": "return 10**5000",
    "NotImplemented": "return NotImplemented",
    "a class": "return int",
    "a list that lies": "return type('L', (list,), {'__len__': lambda s: -1})()",
    "an array that lies": "return type('A', (), {'__array__': lambda s: 1 / 0})()",
}


@pytest.mark.parametrize("body", STRANGE.values(), ids=STRANGE)
def test_strange_results_are_recorded_as_something_that_can_be_received(body: str) -> None:
    record = _record(f"def f(x):\n    {body}", twice=True)
    receive(record["returned"])


def test_a_coroutine_that_nobody_awaits_is_no_warning() -> None:
    assert receive(_record("async def f(x):\n    return x")["returned"]).value == "a value of type coroutine"


def test_a_function_that_deletes_or_replaces_itself_is_survived() -> None:
    bundle = _collected("def f(x):\n    global f\n    del f\n    return x", SCORES, SCORES)
    assert "returned" in bundle["calls"][0]
    assert bundle["calls"][1]["error"]["type"] == "TypeError"


REFUSED = (
    "course_lib.attention.softmax",
    "torch.softmax",
    "torch.Tensor.softmax",
    "torch.special.softmax",
    "torch.nn.functional.softmax",
    "not_imported_anywhere.softmax",
)
CHEATS = {
    "torch.softmax": "def f(x):\n    return torch.softmax(torch.tensor(x), -1)",
    "torch.Tensor.softmax": "def f(x):\n    return torch.tensor(x).softmax(-1)",
    "torch.special.softmax": "def f(x):\n    return torch.special.softmax(torch.tensor(x), -1)",
    "torch.nn.functional.softmax": "def f(x):\n    return torch.nn.Softmax(dim=-1)(torch.tensor(x))",
    "torch.nn.functional.softmax as F": (
        "import torch.nn.functional as F\ndef f(x):\n    return F.softmax(torch.tensor(x), -1)"
    ),
    "torch.nn.functional.softmax by name": (
        "from torch.nn.functional import softmax as sm\ndef f(x):\n    return sm(torch.tensor(x), -1)"
    ),
    "torch.nn.functional.softmax inside": (
        "def f(x):\n    from torch.nn.functional import softmax\n    return softmax(torch.tensor(x), -1)"
    ),
    "torch.softmax by name": "sm = torch.softmax\ndef f(x):\n    return sm(torch.tensor(x), -1)",
    "torch.softmax, filled in": (
        "import functools\nsm = functools.partial(torch.softmax, dim=-1)\n"
        "def f(x):\n    return sm(torch.tensor(x))"
    ),
    "torch.Tensor.softmax by name": "sm = torch.Tensor.softmax\ndef f(x):\n    return sm(torch.ones(2), -1)",
    "course_lib.attention.softmax": "def f(x):\n    return attention.softmax(x)",
    "course_lib.attention.softmax, given as one's own": "from course_lib.attention import softmax as f",
    "course_lib.attention.softmax through others": "def f(x):\n    return attention.attention_weights(x, x)",
}


@pytest.mark.parametrize("name", CHEATS)
def test_a_refused_function_says_so_under_every_name(name: str) -> None:
    error = _record(CHEATS[name], refused=REFUSED)["error"]
    called = name.split(" ")[0].rstrip(",")
    assert error["type"] == "Refused"
    assert error["message"] == f"it calls {called}; this exercise is to write that yourself"


def test_what_was_refused_is_allowed_again_afterwards_and_was_before() -> None:
    names = _notebook("from torch import softmax as sm\ndef f(x):\n    raise SystemExit")
    before = dict(vars(torch.Tensor)), torch.softmax, names["sm"], attention.softmax
    collect(_request(refused=REFUSED), names)
    assert (dict(vars(torch.Tensor)), torch.softmax, names["sm"], attention.softmax) == before
    assert torch.tensor([0.0, 0.0]).softmax(-1).tolist() == [0.5, 0.5]


def test_a_function_may_be_called_that_another_exercise_refuses() -> None:
    assert "returned" in _record("def f(x):\n    return attention.softmax(x)", refused=REFUSED[1:])


def test_functions_are_allowed_again_after_an_interrupt() -> None:
    before = attention.softmax
    _collected("def f(x):\n    raise KeyboardInterrupt", refused=REFUSED)
    assert attention.softmax is before


def test_a_module_that_nobody_imported_is_left_alone() -> None:
    with Refusing(["not_imported_anywhere.softmax", "not_imported.Class.method"], {}):
        assert "not_imported_anywhere" not in sys.modules


def test_an_interrupt_at_any_step_leaves_nothing_refused() -> None:
    names = _notebook("from torch import softmax as sm\ndef f(x):\n    return x")
    functions = [*REFUSED, "torch.nn.Linear.forward"]

    def seen() -> object:
        return dict(vars(torch.Tensor)), torch.softmax, names["sm"], torch.nn.Linear.forward

    before = seen()
    for step in itertools.count():
        left = step

        def trace(frame: FrameType, event: str, argument: object) -> Callable | None:
            nonlocal left
            if frame.f_code.co_filename != refuse.__file__:
                return None
            frame.f_trace_opcodes = True
            left -= event == "opcode"
            if left < 0:
                raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            with contextlib.suppress(KeyboardInterrupt):  # before the first call
                collect(_request(refused=functions), names)
        finally:
            sys.settrace(None)
        assert seen() == before, step
        if left >= 0:
            break
    assert step > 300


def test_a_module_that_a_call_imports_is_refused_from_the_next_call_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported_late.py").write_text("def soft(x):\n    return x\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    code = "def f(x):\n    import imported_late\n    return imported_late.soft(x)"
    try:
        first, second = _collected(code, SCORES, SCORES, refused=["imported_late.soft"])["calls"]
    finally:
        sys.modules.pop("imported_late", None)
    assert "returned" in first
    assert second["error"]["type"] == "Refused"


def test_names_are_allowed_again_also_where_another_module_was_imported_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = types.ModuleType("imported_late")
    late.soft = len  # type: ignore[attr-defined]
    names = {"sm": torch.softmax, "soft": len}
    before = dict(names)
    with Refusing(["torch.softmax", "imported_late.soft"], names) as refusing:
        assert names["soft"] is len
        monkeypatch.setitem(sys.modules, "imported_late", late)
        refusing.look_again()
        assert names["soft"] is not len
    assert names == before


def test_a_module_that_took_what_is_refused_does_not_keep_a_name_from_being_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late, names = types.ModuleType("imported_late"), {"sm": torch.softmax}
    before = dict(names)
    with Refusing(["torch.softmax", "imported_late.soft"], names) as refusing:
        late.soft = torch.softmax  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "imported_late", late)
        refusing.look_again()
    assert names == before


def test_nothing_is_imported_to_be_refused_where_nothing_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "course_lib.recent_colour", raising=False)
    refused = ["course_lib.recent_colour.no_such_name"]
    assert collect(_request(refused=refused), {})["missing"] == "absent"
    assert "course_lib.recent_colour" not in sys.modules


def test_a_name_bound_to_a_refused_function_comes_back_even_if_it_was_rebound() -> None:
    names = {"sm": torch.softmax, "part": functools.partial(torch.softmax, dim=0), "other": 3}
    before = dict(names)
    with contextlib.suppress(ZeroDivisionError), Refusing(["torch.softmax"], names):
        names["sm"] = None
        raise ZeroDivisionError
    assert names == before
