"""What an exercise refuses is named to the student, and recognised by what runs, whatever it is called."""

from __future__ import annotations

import importlib
import re
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest

from course_lib.checks.assignments import MODULES, load
from course_lib.checks.check import judge_visible
from course_lib.checks.judge import Verdict

ROOT = Path(__file__).resolve().parents[1]
REFUSED = [
    pytest.param(name, exercise.function, refused, id=f"{exercise.function}-{refused}")
    for name in MODULES
    for exercise in load(name).exercises
    for refused in exercise.refused
    if find_spec(refused.split(".")[0])  # SciPy is refused, but is not among the course's packages
]
# What a statement may say instead of a name.
SAID_AS = {
    "log_softmax": "a softmax already, or its logarithm",
    "softmin": "a softmax already, or its logarithm",
    "multi_head_attention_forward": "nn.MultiheadAttention",
    "scaled_dot_product_attention": "PyTorch's attention",
    "TransformerEncoderLayer": "PyTorch's own transformer layers",
    "TransformerDecoderLayer": "PyTorch's own transformer layers",
}
OWN_VERSION = "the course's own version"


def _told(name: str) -> str:
    """What the release of an assignment tells, on one line."""
    notebook = nbformat.read(ROOT / "exercises" / name / f"{name}.ipynb", as_version=4)
    return " ".join(" ".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown").split())


def _owner_and_name(refused: str) -> tuple[str, str]:
    """The module, and the rest of a dotted name: "torch" and "Tensor.softmax"."""
    module = refused.rpartition(".")[0]
    if re.search(r"\.[A-Z]\w*$", module):
        module = module.rpartition(".")[0]
    return module, refused.removeprefix(f"{module}.")


def _judged(name: str, function: str, code: str) -> Verdict:
    names: dict = {"__name__": "__main__"}
    exec(code, names)
    return judge_visible(name, function, load(name).exercise(function).behaviours[0].name, names)


@pytest.mark.parametrize(("name", "function", "refused"), REFUSED)
def test_what_is_refused_exists_and_is_named_in_the_statement(name: str, function: str, refused: str) -> None:
    module, path = _owner_and_name(refused)
    found = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    word = path.removesuffix(".forward").split(".")[-1]
    told, own = _told(name), module.startswith("course_lib")
    assert word in told or SAID_AS.get(word, "nothing else") in told or (own and OWN_VERSION in told)


@pytest.mark.parametrize("taken", ["where it is used", "before, under another name"])
@pytest.mark.parametrize(("name", "function", "refused"), REFUSED)
def test_what_is_refused_is_recognised_by_what_runs(
    name: str, function: str, refused: str, taken: str
) -> None:
    module, path = _owner_and_name(refused)
    called = "it" if taken.startswith("before") else f"importlib.import_module('{module}').{path}"
    verdict = _judged(
        name,
        function,
        f"import importlib\n"
        f"it = importlib.import_module('{module}').{path}\n"
        f"def {function}(*args, **kwargs):\n    return {called}(*args)\n",
    )
    said = re.fullmatch(r"Not your own work yet: it calls ([\w.]+); this exercise .*", verdict.sentence)
    assert said
    assert said[1].rpartition(".")[2] == refused.rpartition(".")[2]  # one function may have two modules


TORCH = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
SHORTCUTS = {
    "softmax, a module": (
        "01_soft_lookup",
        "softmax",
        "def softmax(scores):\n    return nn.Softmax(dim=-1)(torch.tensor(scores)).numpy()",
    ),
    "softmax, a module made before": (
        "01_soft_lookup",
        "softmax",
        "ready = nn.Softmax(dim=-1)\ndef softmax(scores):\n    return ready(torch.tensor(scores)).numpy()",
    ),
    "softmax, a method": (
        "01_soft_lookup",
        "softmax",
        "def softmax(scores):\n    return torch.tensor(scores).softmax(-1).numpy()",
    ),
    "softmax, a name of one's own": (
        "01_soft_lookup",
        "softmax",
        "from torch.nn.functional import softmax as s\n"
        "def softmax(scores):\n    return s(torch.tensor(scores), -1).numpy()",
    ),
    "softmax, of the negated scores": (
        "01_soft_lookup",
        "softmax",
        "def softmax(scores):\n    return nn.Softmin(dim=-1)(-torch.tensor(scores)).numpy()",
    ),
    "softmax, from its logarithm": (
        "01_soft_lookup",
        "softmax",
        "def softmax(scores):\n    return nn.LogSoftmax(dim=-1)(torch.tensor(scores)).exp().numpy()",
    ),
    "attention, PyTorch's": (
        "02_queries_keys_values",
        "attention",
        "def attention(Q, K, V):\n"
        "    return F.scaled_dot_product_attention(*map(torch.tensor, (Q, K, V))).numpy(), None",
    ),
    "attention, a module": (
        "02_queries_keys_values",
        "attention",
        "def attention(Q, K, V):\n"
        "    layer = nn.MultiheadAttention(2, 1, batch_first=True)\n"
        "    return layer(*(torch.tensor(each)[None] for each in (Q, K, V)))",
    ),
    "masked attention, PyTorch's by a name of one's own": (
        "04_masking",
        "masked_attention",
        "from torch.nn.functional import scaled_dot_product_attention as sdpa\n"
        "def masked_attention(Q, K, V, mask=None):\n    return sdpa(Q, K, V, attn_mask=mask), None",
    ),
    "masked softmax, PyTorch's": (
        "04_masking",
        "masked_softmax",
        "import torch.masked\n"
        "def masked_softmax(scores, mask):\n    return torch.masked.softmax(scores, -1, mask=mask)",
    ),
    "heads, a module inside": (
        "05_multi_head",
        "MultiHeadAttention",
        "class MultiHeadAttention(nn.Module):\n"
        "    def __init__(self, d_model, num_heads):\n"
        "        super().__init__()\n"
        "        for name in ('W_q', 'W_k', 'W_v', 'W_o'):\n"
        "            setattr(self, name, nn.Linear(d_model, d_model, bias=False))\n"
        "        self.ready = [nn.MultiheadAttention(d_model, num_heads, batch_first=True)]\n"
        "    def forward(self, X, mask=None):\n        return self.ready[0](X, X, X)",
    ),
    "heads, the course's module with another name": (
        "05_multi_head",
        "MultiHeadAttention",
        "from course_lib import heads\nclass MultiHeadAttention(heads.MultiHeadAttention):\n    pass",
    ),
    "a block, PyTorch's": (
        "07_limits_of_one_layer",
        "TransformerBlock",
        "class TransformerBlock(nn.Module):\n"
        "    def __init__(self, attention, d_model, d_hidden):\n"
        "        super().__init__()\n"
        "        self.attention, self.ready = attention, [nn.TransformerEncoderLayer(d_model, 1, d_hidden)]\n"
        "        self.ln1, self.ln2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)\n"
        "        self.W1, self.W2 = nn.Linear(d_model, d_hidden), nn.Linear(d_hidden, d_model)\n"
        "    def forward(self, X):\n        return self.ready[0](X)",
    ),
}


@pytest.mark.parametrize("shortcut", SHORTCUTS)
def test_a_shortcut_is_recognised_in_the_ways_people_take_it(shortcut: str) -> None:
    name, function, code = SHORTCUTS[shortcut]
    assert _judged(name, function, TORCH + code).sentence.startswith("Not your own work yet: it calls ")


def test_softmax_is_not_refused_where_only_attention_is() -> None:
    code = "import torch\ndef masked_softmax(scores, mask):\n    return torch.softmax(scores, dim=-1)"
    assert "Not your own work" not in _judged("04_masking", "masked_softmax", code).sentence
