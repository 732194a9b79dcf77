"""What holds for the movable figures without a browser: their words, their bytes, and what they refuse."""

import json
import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest
import torch

from course_lib import attention, explore, readers, recall, sentence_heads
from course_lib.explore import base, masks, scaling
from course_lib.torch_attention import masked_softmax


def recall_start(models: int = 1) -> recall.Ensemble:
    return recall.draw_ensemble(models, d_k=4, scale=0.2, generator=torch.Generator().manual_seed(1))


def stack(layers: int) -> dict[str, np.ndarray]:
    shapes = readers.stack_shapes(13, layers, places=14, d_model=3)
    return {name: np.ones(shape) for name, shape in shapes.items()}


KEYS, VALUES = [[1, 0], [0, 1], [-1, 0]], [[2, 0], [0, 4], [1, 1]]
EXAMPLES = {
    "soft_lookup": lambda: explore.soft_lookup(KEYS, VALUES, [1, 0]),
    "kernel_smoother": lambda: explore.kernel_smoother([0, 1, 2, 4], [1, 0, 2, 1], width=0.5, neighbours=2),
    "query_row": lambda: explore.query_row(["a", "b"], [[1, 0, 2], [0, 1, 0]], [[1, 0, 1], [0, 1, 3]], row=1),
    "recent_colour": lambda: explore.recent_colour(
        ["red", ".", "blue", "wear"],
        *(np.eye(4), np.eye(4)[::-1], np.ones((4, 2)), np.eye(4)[:, :2], 3 * np.eye(4)[:, [0, 2]]),
        *(["red", "blue"], (0, 2)),
    ),
    "width_sweep": lambda: explore.width_sweep(np.random.default_rng(0), draws=20),
    "heads": lambda: explore.heads(["a", "b"], np.eye(8)[:2], np.eye(8)[:2], row=1),
    "recall_training": lambda: explore.recall_training(recall_start(), updates=5),
    "two_layers": lambda: explore.two_layers(stack(1), stack(2)),
    "mask_editor": lambda: explore.mask_editor(["a", "b", "b"], [[0, 1, 2], [3, 1, 2], [0, 0, 1]]),
}
every_figure = pytest.mark.parametrize("name", EXAMPLES)
HEAT_MAPS = ("query_row", "heads", "mask_editor")
TABLE = ("details", "summary", "div", "table", "caption", "thead", "tbody", "tr", "th", "td")


@cache
def made(name: str) -> explore.Explorable:
    return EXAMPLES[name]()


class Tags(HTMLParser):
    """Collects each tag with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@every_figure
def test_a_figure_is_a_picture_with_words_followed_by_one_style_and_one_script(name: str) -> None:
    bundle = made(name)._repr_mimebundle_()
    tags = Tags(bundle["text/html"]).found
    names = [tag for tag, _ in tags]
    assert [tag for tag in names if tag not in TABLE] == [
        *("figure", "img", "figcaption", "small", "style", "script")
    ]
    assert ("table" in names) == (name in HEAT_MAPS)
    assert len(tags[1][1]["alt"]) > 60
    assert tags[1][1]["src"].startswith("data:image/png;base64,")
    assert bundle["text/plain"]
    assert "nan" not in bundle["text/plain"]


@every_figure
def test_the_script_asks_for_nothing_from_elsewhere(name: str) -> None:
    text = made(name).html().replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|import\(|fetch|XMLHttpRequest|eval\(|innerHTML", text)


@every_figure
def test_the_same_figure_made_twice_has_two_ids_and_one_script(name: str) -> None:
    first, second = made(name), EXAMPLES[name]()
    assert first.identity != second.identity
    assert first.html().replace(first.identity, "ID") == second.html().replace(second.identity, "ID")


def test_a_fresh_process_writes_the_same_bytes() -> None:
    program = (
        "import hashlib, numpy as np; from course_lib import explore; "
        "html = explore.soft_lookup([[1, 0], [0, 1]], [[2, 0], [0, 4]], [1, 0]).html(); "
        "html += explore.width_sweep(np.random.default_rng(0), draws=20).html(); "
        "print(hashlib.sha256(html.encode()).hexdigest())"
    )
    command = [sys.executable, "-c", program]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    first, second = (each.communicate()[0] for each in both)
    assert len(first) > 60
    assert first == second


@every_figure
def test_a_figure_stays_small(name: str) -> None:
    assert len(made(name).html()) < 120_000


def test_data_keep_every_bit_and_cannot_end_the_script() -> None:
    values = np.random.default_rng(0).standard_normal(50)
    text = base.in_script({"values": values, "token": "</script><b>"})
    assert "</" not in text
    assert json.loads(text) == {"values": values.tolist(), "token": "</script><b>"}


def test_words_of_the_reader_are_escaped() -> None:
    figure = explore.soft_lookup([[1, 0], [0, 1]], [[2, 0], [0, 4]], [1, 0], labels=['<i>"', "b"])
    assert "<i>" not in figure.html()


def test_arguments_are_not_changed() -> None:
    keys, values, query = np.eye(2), np.ones((2, 2)), np.zeros(2)
    explore.soft_lookup(keys, values, query)
    x = np.array([3.0, 1.0, 2.0])
    explore.kernel_smoother(x, x, width=1.0, neighbours=1)
    assert keys.tolist() == np.eye(2).tolist()
    assert x.tolist() == [3.0, 1.0, 2.0]


def test_scaling_divides_the_scores_by_the_root_of_two() -> None:
    plain, scaled = (explore.soft_lookup(KEYS, VALUES, [1, 0], scaled=each).text for each in (False, True))
    weights = attention.softmax(np.array([1, 0, -1]) / np.sqrt(2))
    assert f"{weights[0]:.3f}" in scaled
    assert f"{weights[0]:.3f}" not in plain


def test_weights_under_a_mask_are_those_of_the_course_in_pytorch() -> None:
    rng = np.random.default_rng(0)
    scores, allowed = 4 * rng.standard_normal((7, 5)), rng.random((7, 5)) < 0.4
    allowed[2] = False
    scores[3, 1], allowed[3] = 900.0, [True, False, True, False, False]
    expected = masked_softmax(torch.tensor(scores), torch.tensor(allowed)).numpy()
    np.testing.assert_allclose(masks.masked_weights(scores, allowed), expected, atol=1e-12)


def test_a_mask_that_reaches_too_far_is_named_in_the_picture_and_its_text() -> None:
    figure = explore.mask_editor(["a", "b", "c"], np.zeros((3, 3)), np.tri(3, k=1, dtype=bool))
    assert "see a later token: a, b. Rows that see nothing: none." in figure.alt
    assert [line.split()[-1] for line in figure.text.splitlines()[2:]] == ["b", "c", "none"]


def test_the_text_of_the_heads_holds_the_sum_of_the_slices_and_its_equal() -> None:
    queries, keys = (
        sentence_heads.EMBEDDINGS @ sentence_heads.W_Q,
        sentence_heads.EMBEDDINGS @ sentence_heads.W_K,
    )
    for count in (1, 2, 4, 8):
        figure = explore.heads(sentence_heads.TOKENS, queries, keys, row=7, num_heads=count)
        lines = figure.text.splitlines()
        assert len(lines) == 2 * count + 7
        assert lines[count + 2].split()[1:] == lines[count + 3].split()[1:]
    assert "full width it, slice 1 it, slice 2 cat, slice 3 cat. In the other slices" in figure.alt


def test_the_text_of_a_run_ends_with_the_loss_that_training_ends_with() -> None:
    batch = recall.make_batch(*recall.training_examples())
    start = recall.in_double_precision(recall_start())
    trained, _ = recall.train(start, batch, updates=30, lr=0.03)
    loss = float(recall.recall_losses(recall.forward(trained, batch)[0], batch.targets))
    last = explore.recall_training(recall_start(), updates=30).text.splitlines()[-1].split()
    assert last[0] == "30"
    assert last[-2] == f"{loss:.3f}"


def test_lengths_times_normals_are_spread_as_dot_products_of_random_vectors() -> None:
    rng = np.random.default_rng(1)
    figure = json.loads(explore.width_sweep(rng, draws=400).data)
    lengths, normals = np.array(figure["lengths"]), np.array(figure["normals"])
    for column, width in enumerate(scaling.WIDTHS):
        scores = lengths[:, column, None] * normals
        assert scores.var() == pytest.approx(width, rel=0.12)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: explore.soft_lookup([[1, 0, 0]], [[1, 0]], [1, 0]), r"keys: expected shape \(any, 2\)"),
        (
            lambda: explore.soft_lookup([[1, 0]], [[1, 0], [0, 1]], [1, 0]),
            r"values: .*\(1, 2\), got \(2, 2\)",
        ),
        (lambda: explore.soft_lookup([[1, 0]], [[1, 0]], [1, np.inf]), "query: expected finite numbers"),
        (lambda: explore.soft_lookup([[1, 0]], [[1, 0]], [1, 0], labels=["A", "B"]), "labels: expected one"),
        (lambda: explore.kernel_smoother([1, 2, 3], [1, 2], 1.0), r"y: expected shape \(3,\)"),
        (lambda: explore.kernel_smoother([1, 2, 3], [1, 2, 3], 0.0), "width: expected a number above 0"),
        (lambda: explore.kernel_smoother([1, 2, 3], [1, 2, 3], 1.0), "neighbours: expected 1 to 3, got 5"),
        (lambda: explore.kernel_smoother([1, 1, 1], [1, 2, 3], 1.0), "x: expected 3 to 300 points"),
        (lambda: explore.query_row(["a", "b"], np.ones((2, 3)), np.ones((2, 2)), 0), "keys: expected shape"),
        (
            lambda: explore.query_row(["a", "b"], np.ones((2, 3)), np.ones((2, 3)), 2),
            "row: expected an index",
        ),
        (lambda: explore.query_row(["a"], np.ones((1, 3)), np.ones((1, 3)), 0), "tokens: expected 2 to 12"),
        (
            lambda: explore.heads(["a", "b"], np.ones((2, 6)), np.ones((2, 6)), 0),
            "queries: expected a multiple",
        ),
        (lambda: explore.heads(["a", "b"], np.ones((2, 8)), np.ones((3, 8)), 0), "keys: expected shape"),
        (lambda: explore.heads(["a", "b"], np.ones((2, 8)), np.ones((2, 8)), 2), "row: expected an index"),
        (
            lambda: explore.heads(["a", "b"], np.ones((2, 8)), np.ones((2, 8)), 0, num_heads=3),
            "num_heads: expected one of",
        ),
        (
            lambda: explore.heads(["a", "b"], np.ones((2, 8)), np.ones((2, 8)), 0, reasons="abc"),
            "reasons: expected at most 4",
        ),
        (
            lambda: explore.query_row(["a", "b"], np.eye(2), np.eye(2), 0, values=np.eye(2), contents=["c"]),
            r"contents: expected a name for each of 2 columns of values, got \['c'\]",
        ),
        (lambda: explore.recall_training(recall_start(2)), "start: expected one model over 17 tokens"),
        (lambda: explore.recall_training(recall_start(), updates=0), "updates: expected 1 to 400, got 0"),
        (lambda: explore.recall_training(recall_start(), updates=5, update=6), "update: expected 0 to 5"),
        (lambda: explore.recall_training(recall_start(), lr=0), "lr: expected a number above 0, got 0"),
        (
            lambda: explore.recall_training(recall_start(), text="a green team"),
            "text: .* got 'a' at position 0",
        ),
        (lambda: explore.recall_training(recall_start(), text=" "), "text: expected 1 to 30 tokens, got 0"),
        (lambda: explore.mask_editor(["a"], [[0]]), "tokens: expected 2 to 12, got 1"),
        (lambda: explore.mask_editor(["a", "b"], np.ones((2, 3))), r"scores: expected shape \(2, 2\)"),
        (
            lambda: explore.mask_editor(["a", "b"], np.ones((2, 2)), np.ones((2, 2))),
            "mask: expected booleans",
        ),
        (lambda: explore.width_sweep(np.random.default_rng(0), width=60), "width: expected a power of two"),
        (lambda: explore.width_sweep(np.random.default_rng(0), keys=1), "keys: expected 2 to 32, got 1"),
        (lambda: explore.width_sweep(np.random.default_rng(0), temperature=0), "temperature: expected"),
    ],
)
def test_wrong_arguments_are_named(make: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()


def test_the_text_of_the_sweep_gives_flat_weights_only_when_scaled() -> None:
    rows = explore.width_sweep(np.random.default_rng(0)).text.splitlines()[2:]
    table = np.array([row.split() for row in rows], dtype=float)
    unscaled, scaled = table[2:, 1], table[2:, 2]
    assert np.ptp(scaled) < 0.02
    assert (np.diff(unscaled) > 0).all()
