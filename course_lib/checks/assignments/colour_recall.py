"""Assignment 06: texts as ids in a batch, the colour-recall model, its loss, its training, its reading."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.checks.chance import STANDARD_ERRORS
from course_lib.checks.probes_recall import TABLES
from course_lib.checks.spec import Arguments, Assignment, Behaviour, Case, Exercise, Returned
from course_lib.recall_texts import VOCABULARY, recall_text

from .recall_inputs import (
    batch,
    chapter_texts,
    far_apart,
    large_scores,
    lengths_of,
    logits_and_targets,
    one_text,
    other_padding,
    run,
    some_text,
    spaced,
    tables,
    texts_of,
    unknown,
    word,
)

# The point is to write these oneself.
COURSE_TEXTS = tuple(
    f"course_lib.{module}.{name}"
    for module in ("recall", "recall_texts")
    for name in ("encode", "make_batch")
)
COURSE_MODEL = tuple(f"course_lib.recall.{name}" for name in ("forward", "recall_scores", "draw_ensemble"))
COURSE_READING = tuple(f"course_lib.recall_reading.{name}" for name in ("contributions", "value_logits"))
DEFAULT_SIZES, DEFAULT_SCALE = (17, 8, 4), 0.2
# Two tables of n independent numbers are correlated by about 1/√n. Six of those, as ten pairs are looked at.
ALIKE = 6.0
# From each of the seeds 0 to 49 the loss is below 0.003 after 60 updates, in float32 and in float64, and all
# three longer texts are right.
SEEDS, UPDATES, LEARNED = 50, 60, 0.05
# Rounding and the order of the texts change these losses by half a per cent at most; a new optimiser on the
# way, or an end below a loss of 0.01, by 40 or more.
LOSS_TOLERANCE = 0.1

LOGITS_AND_WEIGHTS = (Returned("logits", "B N"), Returned("weights", "B M", weights=True))
AXES = ("N D", "D K", "D K", "D D", "D N", "N")
GRADIENTS = tuple(Returned(f"gradient of {name}", axes) for name, axes in zip(TABLES, AXES, strict=True))
LOSS = (Returned("loss", ""),)


def names_token_and_position(arguments: Arguments, outputs: dict[str, Any]) -> str | None:
    """The message of the error names the unknown token and where it stands."""
    if not outputs["names the token"]:
        return "The message of your ValueError must name the first unknown token."
    if not outputs["tells the position"]:
        return "The message of your ValueError must tell the first unknown token's position, counted from 0."
    return None


def padding_does_not_matter(outputs: list[dict[str, Any]]) -> str | None:
    """What stands in padded places, and how many there are, changes neither logits nor weights."""
    first, second = outputs
    M = first["weights"].shape[-1]
    same_logits = np.allclose(first["logits"], second["logits"], rtol=1e-5, atol=1e-5)
    same_weights = np.allclose(first["weights"], second["weights"][..., :M], rtol=1e-5, atol=1e-5)
    if same_logits and same_weights and np.abs(second["weights"][..., M:]).max() < 1e-7:
        return None
    return "Other ids in padded places, and more of these places, must change nothing; your results change."


def starts_as_stated(arguments: Arguments, outputs: dict[str, Any]) -> str | None:
    """Normal numbers times the scale from the generator, whatever the order, and a bias of 0."""
    N, D, K = arguments["sizes"] or DEFAULT_SIZES
    scale = arguments["scale"] or DEFAULT_SCALE
    counts = np.array([N * D, D * K, D * K, D * D, D * N])
    means, spreads = outputs["means"][:5], outputs["standard deviations"][:5]
    source = "the generator" if arguments["with_generator"] else "PyTorch's own generator"
    if outputs["means"][5] != 0 or outputs["standard deviations"][5] != 0:
        return "The bias must start at 0."
    off = outputs["sizes"] != np.array([*counts, N])
    if off.any():
        place = int(off.argmax())
        return (
            f"{TABLES[place]} holds {outputs['sizes'][place]} numbers where N, D and K are {N}, {D} and {K}. "
            "Which sizes does it have if none are given?"
        )
    off = np.abs(spreads / scale - 1) > STANDARD_ERRORS / np.sqrt(2 * counts)
    if off.any():
        name, spread = TABLES[int(off.argmax())], spreads[off.argmax()]
        return f"The standard deviation of {name} is {spread:.3g}, which is not the scale."
    off = outputs["mean fourth powers"][:5] < 3 - STANDARD_ERRORS * np.sqrt(24 / counts)
    if off.any():
        return (
            f"The numbers of {TABLES[int(off.argmax())]} end too soon on both sides. What draws normal ones?"
        )
    off = np.abs(means) > STANDARD_ERRORS * scale / np.sqrt(counts)
    if off.any():
        return f"The mean of {TABLES[int(off.argmax())]} is {means[off.argmax()]:.3g}, not near 0."
    off = outputs["changes with the same seed"] != 0
    if off.any():
        return f"{TABLES[int(off.argmax())]} differs between two models although {source} has the same seed."
    off = outputs["changes with another seed"][:5] < scale / 10
    if off.any():
        return f"{TABLES[int(off.argmax())]} is the same in two models although {source} has another seed."
    off = outputs["changes from one model to the next"][:5] < scale / 10
    if off.any():
        return (
            f"{TABLES[int(off.argmax())]} is the same in two models, one after the other, although {source} "
            "goes on. Where do your numbers come from?"
        )
    if outputs["likeness of tables"] > ALIKE:
        return "Two tables of one model start with the same numbers."
    return None


def anything(arguments: Arguments, outputs: dict[str, Any], reference: dict[str, Any]) -> None:
    """No single value is right: the properties have judged."""


def learned(arguments: Arguments, outputs: dict[str, Any], reference: dict[str, Any]) -> str | None:
    """After training every loss is small, and all three longer texts are right."""
    if (outputs["loss afterwards"] > LEARNED).any():
        return f"the loss of a trained model must be below {LEARNED}."
    if (outputs["longer texts right"] != 3).any():
        return "a trained model must answer all three longer texts."
    if not np.allclose(outputs["loss afterwards"], reference["loss afterwards"], rtol=LOSS_TOLERANCE, atol=0):
        return "the loss of a trained model is not what so many updates by one Adam give."
    return None


def _start(draw: Any, sizes: tuple[int, int, int] | None, scale: float | None, generator: bool) -> Arguments:
    return {
        "seed": draw.seed(),
        "other_seed": draw.seed(),
        "with_generator": generator,
        "sizes": sizes and list(sizes),
        "scale": scale,
    }


def _seeds(draw: Any) -> Arguments:
    seeds = [int(seed) for seed in draw.rng.choice(SEEDS, 2, replace=False)]
    return {"seeds": seeds, "updates": UPDATES, "lr": 0.03}


ENCODE = Exercise(
    function="encode",
    parameters=("text", "vocabulary"),
    returns=(Returned("ids", "L", holds="integers"),),
    container="tensor",
    refused=COURSE_TEXTS,
    behaviours=(
        Behaviour(
            "ordinary",
            "the ids of a text's tokens",
            1,
            probe="list_of_ids",
            unchanged=True,
            cases=(
                Case(
                    "chapter 6",
                    lambda draw: {"text": recall_text("red", game=True), "vocabulary": dict(VOCABULARY)},
                ),
                Case("another vocabulary", lambda draw: some_text(draw, draw.sizes["K"])),
                Case("one token", lambda draw: some_text(draw, 1)),
            ),
        ),
        Behaviour(
            "white space",
            "several spaces, tabs, ends of lines, and a text without tokens",
            1,
            probe="list_of_ids",
            cases=(
                Case("several spaces", lambda draw: spaced(draw, (" ", "  ", "   "))),
                Case("tabs and lines", lambda draw: spaced(draw, ("\t", "\n", " \n", "\r\n"))),
                Case("no token", lambda draw: {"text": "", "vocabulary": dict(VOCABULARY)}),
                Case("only spaces", lambda draw: {"text": " \n ", "vocabulary": dict(VOCABULARY)}),
            ),
        ),
        Behaviour(
            "refuses",
            "ValueError that names an unknown token and its position, and inputs left as they are",
            1,
            probe="what_an_error_says",
            unchanged=True,
            returns=(
                Returned("names the token", "", holds="booleans"),
                Returned("tells the position", "", holds="booleans"),
            ),
            properties=(names_token_and_position,),
            cases=(
                Case("an unknown token", lambda draw: unknown(draw, 4)),
                Case("the first token", lambda draw: unknown(draw, 0)),
                Case("two unknown tokens", lambda draw: unknown(draw, 2, again=word(draw))),
                Case("an unknown token twice", lambda draw: unknown(draw, 2, "wore", again="wore")),
                Case("a capital letter", lambda draw: unknown(draw, 3, "Colour")),
                Case("a full stop that sticks to its word", lambda draw: unknown(draw, 5, "red.")),
                Case("far behind", lambda draw: unknown(draw, len(VOCABULARY) + 12)),
            ),
        ),
    ),
)

MAKE_BATCH = Exercise(
    function="make_batch",
    parameters=("texts", "targets", "vocabulary"),
    returns=(
        Returned("ids", "B M", holds="integers"),
        Returned("mask", "B M", holds="booleans"),
        Returned("last", "B", holds="integers"),
        Returned("targets", "B", holds="integers"),
    ),
    container="tensor",
    predecessors=("encode",),
    refused=COURSE_TEXTS,
    behaviours=(
        Behaviour(
            "ordinary",
            "texts of different lengths",
            2,
            cases=(
                Case("chapter 6", lambda draw: chapter_texts()),
                Case(
                    "another vocabulary",
                    lambda draw: texts_of(draw, lengths_of(draw, draw.sizes["B"], draw.sizes["M"])),
                ),
                Case(
                    "as many texts as tokens",
                    lambda draw: texts_of(draw, lengths_of(draw, draw.sizes["B"], draw.sizes["M"])),
                    equal_sizes=True,
                ),
            ),
        ),
        Behaviour(
            "any input",
            "one text, texts of one length, texts of one token, and inputs left as they are",
            1,
            unchanged=True,
            cases=(
                Case("one text", lambda draw: texts_of(draw, [draw.sizes["M"]])),
                Case("one token each", lambda draw: texts_of(draw, [1] * draw.sizes["B"])),
                Case("one length", lambda draw: texts_of(draw, [draw.sizes["M"]] * draw.sizes["B"])),
                Case("one token in all", lambda draw: texts_of(draw, [1])),
                Case("a short and a long text", lambda draw: texts_of(draw, [draw.sizes["K"], 1])),
            ),
        ),
    ),
)

COLOUR_RECALL = Exercise(
    function="ColourRecall",
    parameters=("vocabulary_size", "d_model", "d_k", "scale", "generator"),
    returns=LOGITS_AND_WEIGHTS,
    container="tensor",
    refused=COURSE_MODEL,
    behaviours=(
        Behaviour(
            "ordinary",
            "parameters by name; logits and weights of texts of one length",
            3,
            probe="recall_model",
            cases=(
                Case("a batch", lambda draw: tables(draw) | batch(draw, padded=False)),
                Case(
                    "all sizes equal", lambda draw: tables(draw) | batch(draw, padded=False), equal_sizes=True
                ),
                Case("one text", lambda draw: tables(draw) | batch(draw, texts=1, padded=False)),
                Case("one token each", lambda draw: tables(draw) | batch(draw, longest=1, padded=False)),
            ),
        ),
        Behaviour(
            "training",
            "padded batches, large scores, evaluation mode, and gradients that reach all parameters",
            2,
            probe="recall_model_with_gradients",
            returns=LOGITS_AND_WEIGHTS + GRADIENTS,
            unchanged=True,
            cases=(
                Case("texts of different lengths", lambda draw: tables(draw) | batch(draw)),
                Case("all sizes equal", lambda draw: tables(draw) | batch(draw), equal_sizes=True),
                Case("no padding", lambda draw: tables(draw) | batch(draw, padded=False)),
                Case("other padding", other_padding, across=padding_does_not_matter),
                Case("large scores", large_scores),
                Case("evaluation mode", lambda draw: tables(draw) | batch(draw) | {"training": False}),
            ),
        ),
        Behaviour(
            "start",
            "random starts: scale, generator, and a bias of 0",
            1,
            probe="recall_start",
            returns=(
                Returned("means", "tables"),
                Returned("standard deviations", "tables"),
                Returned("mean fourth powers", "tables"),
                Returned("changes with the same seed", "tables"),
                Returned("changes with another seed", "tables"),
                Returned("changes from one model to the next", "tables"),
                Returned("likeness of tables", ""),
                Returned("sizes", "tables", holds="integers"),
            ),
            properties=(starts_as_stated,),
            compare=anything,
            cases=(
                Case("large tables", lambda draw: _start(draw, (60, 50, 30), 0.4, generator=True)),
                Case("no arguments", lambda draw: _start(draw, None, None, generator=False)),
                Case("no generator", lambda draw: _start(draw, (50, 40, 35), 0.1, generator=False)),
            ),
        ),
    ),
)

RECALL_LOSS = Exercise(
    function="recall_loss",
    parameters=("logits", "targets"),
    returns=LOSS,
    container="tensor",
    refused=("course_lib.recall.recall_losses",),
    behaviours=(
        Behaviour(
            "ordinary",
            "the mean negative log-likelihood of the targets",
            1,
            cases=(
                Case("a batch", logits_and_targets),
                Case("as many texts as tokens", logits_and_targets, equal_sizes=True),
                Case("one text", lambda draw: logits_and_targets(draw, "1")),
            ),
        ),
        Behaviour(
            "training",
            "gradients, logits of any size, and inputs left as they are",
            1,
            probe="with_gradients",
            returns=(*LOSS, Returned("gradient of logits", "B N")),
            unchanged=True,
            cases=(
                Case("a batch", logits_and_targets),
                Case("very large", lambda draw: far_apart(draw, 1e4)),
                Case("very negative", lambda draw: far_apart(draw, -1e4)),
            ),
        ),
    ),
)

TRAIN = Exercise(
    function="train",
    parameters=("model", "batch", "updates", "lr"),
    returns=(
        Returned("losses", "updates"),
        *(Returned(f"{name} afterwards", axes) for name, axes in zip(TABLES, AXES, strict=True)),
    ),
    container="tensor",
    predecessors=("recall_loss",),
    refused=("course_lib.recall.train",),
    behaviours=(
        Behaviour(
            "ordinary",
            "losses and parameters after a few updates",
            2,
            probe="trained",
            cases=(
                Case("one update", lambda draw: run(draw, 1)),
                Case("four updates", lambda draw: run(draw, 4, lr=0.03)),
                Case("six updates, another rate", lambda draw: run(draw, 6)),
            ),
        ),
        Behaviour(
            "any input",
            "one text, no update, gradients from before, and a batch left as it is",
            1,
            probe="trained",
            unchanged=True,
            cases=(
                Case("one text", lambda draw: run(draw, 2, texts=1)),
                Case("no update", lambda draw: run(draw, 0)),
                Case("gradients from before", lambda draw: run(draw, 2, old_gradients=True)),
            ),
        ),
        Behaviour(
            "learns",
            "random starts end with the task learned",
            1,
            probe="trained_from_seeds",
            returns=(
                Returned("loss afterwards", "models"),
                Returned("longer texts right", "models", holds="integers"),
            ),
            compare=learned,
            cases=(Case("two starts", _seeds),),
        ),
    ),
)

VALUE_CONTRIBUTION = Exercise(
    function="value_contribution",
    parameters=("model", "ids", "position"),
    returns=(Returned("contribution", "N"),),
    container="tensor",
    refused=COURSE_READING,
    behaviours=(
        Behaviour(
            "ordinary",
            "what a token adds to each logit",
            1,
            cases=(
                Case("a text", one_text),
                Case("all sizes equal", one_text, equal_sizes=True),
                Case("a token that occurs twice", lambda draw: one_text(draw, twice=True)),
                Case("an even number of tokens", lambda draw: one_text(draw, tokens=6)),
            ),
        ),
        Behaviour(
            "any input",
            "first and last position, a text of one token, no gradient, and a model left as it is",
            1,
            probe="reading",
            unchanged=True,
            cases=(
                Case("the first token", lambda draw: one_text(draw, position=0)),
                Case("the token that asks", lambda draw: one_text(draw, position=-1)),
                Case("one token", lambda draw: one_text(draw, position=0, tokens=1)),
            ),
        ),
    ),
)

ASSIGNMENT = Assignment(
    "06_colour_recall",
    "Colour recall",
    (ENCODE, MAKE_BATCH, COLOUR_RECALL, RECALL_LOSS, TRAIN, VALUE_CONTRIBUTION),
)
