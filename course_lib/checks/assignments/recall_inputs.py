"""Assignment 06: vocabularies and texts, batches, models and starts for the cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.checks.draw import EQUAL_SIZE, Draw
from course_lib.checks.later import torch
from course_lib.checks.probes_recall import TABLES
from course_lib.checks.spec import Arguments
from course_lib.checks.values import Entry
from course_lib.recall_texts import TOKENS, VOCABULARY, training_examples

if TYPE_CHECKING:
    from torch import Tensor

LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
ROUNDING = 2e-6  # a fifth of the tolerance, for what rounding may do to a run of a few updates


def float32(array: Any) -> Tensor:
    """An array as a tensor of float32."""
    return torch.from_numpy(np.asarray(array, dtype=np.float32))


def word(draw: Draw) -> str:
    """A word of seven random letters, which is no token of the course."""
    return "".join(draw.rng.choice(LETTERS, 7))


def vocabulary(draw: Draw) -> dict[str, int]:
    """The tokens of the course and three more, in an order and with ids that have nothing to do with it."""
    tokens = [*TOKENS, *(word(draw) for _ in range(3))]
    ids = draw.rng.permutation(len(tokens)).tolist()
    return {tokens[int(at)]: ids[int(at)] for at in draw.rng.permutation(len(tokens))}


def words_of(draw: Draw, known: dict[str, int], count: int) -> list[str]:
    """Tokens of a vocabulary, drawn with repetition."""
    return [str(token) for token in draw.rng.choice(list(known), count)]


def spaced(draw: Draw, between: tuple[str, ...]) -> Arguments:
    """A text whose tokens are separated by white space of the given kinds, which also surrounds it."""
    known = vocabulary(draw)
    tokens = words_of(draw, known, draw.sizes["K"] + 1)
    spaces = draw.rng.choice(between, len(tokens) + 1)
    text = "".join(f"{space}{token}" for space, token in zip(spaces, tokens, strict=False)) + str(spaces[-1])
    return {"text": text, "vocabulary": known}


def some_text(draw: Draw, count: int) -> Arguments:
    """A text of so many tokens, single spaces between them."""
    known = vocabulary(draw)
    return {"text": " ".join(words_of(draw, known, count)), "vocabulary": known}


def unknown(draw: Draw, position: int, spoilt: str | None = None, again: str | None = None) -> Arguments:
    """A text with an unknown token at a position, and if asked for one two places further on."""
    known = vocabulary(draw)
    tokens = words_of(draw, known, position + 3)
    stranger = spoilt or word(draw)
    tokens[position] = stranger
    if again:
        tokens[position + 2] = again
    return {"text": " ".join(tokens), "vocabulary": known, "token": stranger, "position": position}


def chapter_texts() -> Arguments:
    """Texts of chapter 6 with 10, 15 and 16 tokens, and their targets."""
    texts, targets = training_examples()
    return {"texts": texts[2:5], "targets": targets[2:5], "vocabulary": dict(VOCABULARY)}


def texts_of(draw: Draw, lengths: list[int]) -> Arguments:
    """Texts of given lengths in a vocabulary of their own; the last text ends with the token of id 0."""
    known = vocabulary(draw)
    rows = [words_of(draw, known, length) for length in lengths]
    rows[-1][-1] = next(token for token, identity in known.items() if identity == 0)
    return {
        "texts": [" ".join(row) for row in rows],
        "targets": words_of(draw, known, len(rows)),
        "vocabulary": known,
    }


def lengths_of(draw: Draw, texts: int, longest: int) -> list[int]:
    """Lengths from 1 up, not all equal: one is the longest possible, and the last is not."""
    lengths = draw.rng.integers(1, longest + 1, texts)
    lengths[int(draw.rng.integers(texts - 1))] = longest
    lengths[-1] = draw.rng.integers(1, longest)
    return [int(length) for length in lengths]


def tokens_of(draw: Draw) -> int:
    """N, the size of a vocabulary: larger than every other size, unless all sizes are equal."""
    return EQUAL_SIZE if len(set(draw.sizes.values())) == 1 else draw.sizes["L"] + 14


def tables(draw: Draw) -> dict[str, Tensor]:
    """Six tables of a size at which weights are neither even nor one-hot, and the bias is not 0."""
    N, D, K = tokens_of(draw), draw.sizes["D"], draw.sizes["K"]
    shapes = ((N, D), (D, K), (D, K), (D, D), (D, N), (N,))
    scales = (1.0, 1.2 * D**-0.5, 1.2 * D**-0.5, D**-0.5, D**-0.5, 0.5)
    drawn = (
        float32(scale * draw.rng.standard_normal(shape)) for shape, scale in zip(shapes, scales, strict=True)
    )
    return dict(zip(TABLES, drawn, strict=True))


def batch(draw: Draw, texts: int | None = None, longest: int | None = None, padded: bool = True) -> Arguments:
    """A batch of random ids. Id 0 stands for padding and for the first token of texts longer than 1; no token
    with id 0 asks."""
    B = draw.sizes["B"] if texts is None else texts
    M = draw.sizes["M"] if longest is None else longest
    lengths = np.array(lengths_of(draw, B, M) if padded else [M] * B)
    ids = draw.rng.integers(1, tokens_of(draw), (B, M))
    ids[lengths > 1, 0] = 0
    mask = np.arange(M) < lengths[:, None]
    ids[~mask] = 0
    return {
        "ids": torch.from_numpy(ids),
        "mask": torch.from_numpy(mask),
        "last": torch.from_numpy(lengths - 1),
    }


def other_padding(draw: Draw) -> list[Arguments]:
    """A padded batch, and the same texts with two columns more and other ids wherever they are padded."""
    drawn = tables(draw) | batch(draw)
    B, M = drawn["ids"].shape
    mask = torch.cat([drawn["mask"], torch.zeros(B, 2, dtype=torch.bool)], dim=1)
    ids = torch.from_numpy(draw.rng.integers(1, tokens_of(draw), (B, M + 2)))
    ids[:, :M] = torch.where(drawn["mask"], drawn["ids"], ids[:, :M])
    return [drawn, drawn | {"ids": ids, "mask": mask}]


def large_scores(draw: Draw) -> Arguments:
    """A padded batch with scores beyond what `exp` can take; each text has one that leads by far.

    In some text all scores lie below -12,000 and padding would get higher ones.
    """
    while True:
        drawn, texts = tables(draw), batch(draw, longest=4)
        drawn |= {name: 150.0 * drawn[name] for name in ("W_q", "W_k")}
        X = drawn["embedding"][texts["ids"]]
        asking = X[torch.arange(len(X)), texts["last"]] @ drawn["W_q"]
        scores = (X @ drawn["W_k"] @ asking[:, :, None])[:, :, 0] / drawn["W_q"].shape[1] ** 0.5
        best, second = scores.masked_fill(~texts["mask"], -torch.inf).topk(2, dim=-1).values.T
        if (best - second).min() < 200 or scores.abs().max() > 1e5:
            continue
        if ((best < -12_000) & (scores.masked_fill(texts["mask"], -torch.inf).amax(-1) > best + 200)).any():
            return drawn | texts


def model_of(drawn: dict[str, Tensor]) -> Entry:
    """The course's model with given tables, as an argument."""
    return Entry("torch_recall_model", drawn)


def run(
    draw: Draw, updates: int, lr: float | None = None, texts: int | None = None, old_gradients: bool = False
) -> Arguments:
    """A model, a batch and a learning rate; drawn again until rounding and the order of texts hardly matter.

    Adam divides each gradient by its size, so that where one is near 0 its rounding decides a whole step.
    """
    lr = float(draw.rng.choice((0.01, 0.02, 0.05))) if lr is None else lr
    while True:
        start = {name: 0.5 * table for name, table in tables(draw).items()}
        texts_drawn = batch(draw, texts, padded=texts != 1)
        count = len(texts_drawn["last"])
        targets = torch.from_numpy(draw.rng.integers(0, tokens_of(draw), count))
        given = [*texts_drawn.values(), targets]
        plain = _after(start, given, updates, lr)
        exact = _after({name: table.double() for name, table in start.items()}, given, updates, lr)
        turned = _after(start, [each.flip(0) for each in given], updates, lr)
        if max((each - exact).abs().max() for each in (plain, turned)) < ROUNDING:
            break
    training = {"targets": targets, "updates": updates, "lr": lr}
    return {"model": model_of(start)} | texts_drawn | training | {"old_gradients": old_gradients}


def _after(start: dict[str, Tensor], given: list[Tensor], updates: int, lr: float) -> Tensor:
    """All numbers of a model after some updates by Adam."""
    from course_lib.checks.torch_recall import RecallModel  # here, as importing it imports PyTorch

    ids, mask, last, targets = given
    model = RecallModel(**start)
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    for _ in range(updates):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(ids, mask, last)[0], targets).backward()
        optimiser.step()
    return torch.cat([table.detach().double().flatten() for table in model.parameters()])


def logits_and_targets(draw: Draw, texts: str = "B") -> Arguments:
    """Random logits and targets; of several targets one is 0 and another is not."""
    N = tokens_of(draw)
    logits = float32(2.0 * draw.normal(f"{texts} {N}"))
    targets = draw.rng.integers(0, N, len(logits))
    if len(targets) > 1:
        targets[:2] = 0, N - 1
    return {"logits": logits, "targets": torch.from_numpy(targets)}


def far_apart(draw: Draw, around: float) -> Arguments:
    """Logits from a number downwards in steps of 64, so that no rounding shows: next to 10,000 float32 has
    steps of 0.001. The target is the first token of one text and another one in the others. Where the logits
    are large, that text's target lies as far below 0."""
    N, B = tokens_of(draw), draw.sizes["B"]
    steps = draw.rng.random((B, N)).argsort(axis=-1)
    targets = draw.rng.integers(0, N, B)
    targets[0] = steps[0].argmin()
    logits = float32(around - 64.0 * steps)
    if around > 0:
        targets[0] = steps[0].argmax()
        logits[0, targets[0]] = -around
    return {"logits": logits, "targets": torch.from_numpy(targets)}


def one_text(
    draw: Draw, position: int | None = None, tokens: int | None = None, twice: bool = False
) -> Arguments:
    """A model, a text and a position, which is neither the first nor the last unless it is given.

    All tokens are different, but for `twice`, where the first one is that of the position.
    """
    M = max(draw.sizes["M"], 3) if tokens is None else tokens
    ids = draw.rng.permutation(tokens_of(draw))[:M]
    if position is None:
        position = int(draw.rng.integers(1, M - 1))
    if twice:
        ids[0] = ids[position]
    return {
        "model": model_of(tables(draw)),
        "ids": torch.from_numpy(ids),
        "position": position % M,
    }
