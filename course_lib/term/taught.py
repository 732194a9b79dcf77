"""Where each exercise is taught: the part of the course's map that a person writes.

A section is named by the id of the cell that holds its heading, so that headings may be reworded. `course
map` joins this with what the notebooks, the exercises and the catalogue of mistakes say, and shows the holes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Taught:
    """One chapter.

    goals: the first words of each goal, with the sections that lead to it. exercises: for each function, or
    answer in words, the sections that teach it, the most helpful first. mistakes: patterns of mistakes' ids,
    "softmax-maximum-*", with the section that answers them better than their exercise's first one.
    """

    goals: Mapping[str, tuple[str, ...]]
    exercises: Mapping[str, tuple[str, ...]]
    mistakes: Mapping[str, str] = field(default_factory=dict)

    def section_of(self, function: str, ids: tuple[str, ...] = ()) -> str:
        """The section to read after losing points in a function, by one of these mistakes if any is known."""
        for pattern, section in self.mistakes.items():
            if any(fnmatchcase(id, pattern) for id in ids):
                return section
        return self.exercises[function][0]


TAUGHT = {
    "01_soft_lookup": Taught(
        goals={
            "turn a query and some keys": ("c1-dot", "c1-matrix", "c1-two", "c1-output", "c1-token"),
            "say what changes the weights": ("c1-change", "c1-sharper", "c1-special", "c1-shift"),
            "say why the dot product measures": ("c1-dot", "c1-neighbours", "c1-regression", "c1-additive"),
        },
        exercises={
            "softmax": ("c1-two", "c1-shift"),
            "soft_lookup": ("c1-output", "c1-matrix", "c1-token"),
            "gaussian_lookup": ("c1-neighbours", "c1-regression"),
            "sharpen": ("c1-sharper",),
        },
        mistakes={
            "softmax-*maximum*": "c1-shift",
            "softmax-clipped": "c1-shift",
            "softmax-hard": "c1-special",
            "lookup-unstable": "c1-shift",
            "lookup-maximum-clamped": "c1-shift",
            "lookup-scaled": "c1-token",
            "lookup-cosine": "c1-dot",
            "lookup-distance": "c1-neighbours",
            "lookup-hard": "c1-special",
            "lookup-no-softmax": "c1-two",
            "lookup-keys-*": "c1-change",
            "gaussian-*far*": "c1-shift",
            "gaussian-underflow": "c1-shift",
            "gaussian-not-normalised": "c1-regression",
            "gaussian-density": "c1-regression",
            "gaussian-*width*": "c1-regression",
        },
    ),
    "02_queries_keys_values": Taught(
        goals={
            "compute queries, keys and values": ("c2-views", "c2-convention"),
            "write self-attention as a loop": (
                "c2-plain",
                "c2-formula",
                "c2-torch",
                "c2-temperature",
                "c2-explore",
            ),
            "say why queries and keys have": ("c2-two",),
            "say what attention does not know": (
                "c2-order",
                "c2-cloud",
                "c2-sentence-order",
                "c2-fourier",
                "c2-map",
            ),
            "attend from one sequence": ("c2-sources",),
        },
        exercises={
            "project": ("c2-views", "c2-convention"),
            "attention": ("c2-formula", "c2-temperature"),
            "self_attention": ("c2-formula", "c2-torch", "c2-two"),
            "cross_attention": ("c2-sources",),
            "equivariance_gap": ("c2-order",),
        },
        mistakes={
            "project-matrix-first": "c2-convention",
            "attention-keys-ask": "c2-two",
            "self-attention-shared-matrix": "c2-two",
            "self-attention-keys-ask": "c2-two",
            "self-attention-without-queries-and-keys": "c2-plain",
        },
    ),
    "03_scaling": Taught(
        goals={
            "derive how large the dot product": ("c3-size", "c3-wrong", "c3-sweep", "c3-bug"),
            "say what large scores do": ("c3-exaggerate", "c3-learn", "c3-jacobian", "c3-explore"),
            "compare two ways of training": ("c3-train", "c3-adam"),
            "say which part of the usual": ("c3-four", "c3-hedges"),
        },
        exercises={
            "score_spread": ("c3-size",),
            "softmax_jacobian": ("c3-jacobian", "c3-learn"),
            "entropy": ("c3-sweep",),
            "attention_weights": ("c3-exaggerate", "c3-bug", "c3-explore"),
            "largest_weight_sweep": ("c3-sweep",),
        },
        mistakes={
            "spread-divided-by-width": "c3-wrong",
            "jacobian-slopes": "c3-learn",
            "weights-width": "c3-wrong",
            "weights-half-the-width": "c3-wrong",
            "weights-*scale*": "c3-bug",
            "weights-root-of-another*": "c3-bug",
            "weights-multiplied": "c3-bug",
            "weights-temperature-*": "c3-explore",
            "sweep-divided-by-width": "c3-wrong",
        },
    ),
    "04_masking": Taught(
        goals={
            "hide keys from a query": ("c4-leak", "c4-hide", "c4-routes", "c4-true"),
            "write the causal mask": ("c4-causal", "c4-layer", "c4-padding", "c4-prefixes"),
            "say what a row that may see": ("c4-empty",),
            "test that a layer does not look": (
                "c4-test",
                "c4-model",
                "c4-floor",
                "c4-five",
                "c4-accuracy",
                "c4-write",
                "c4-residual",
            ),
        },
        exercises={
            "causal_mask": ("c4-causal",),
            "padding_mask": ("c4-padding",),
            "masked_softmax": ("c4-hide", "c4-routes", "c4-empty"),
            "masked_attention": ("c4-layer", "c4-padding", "c4-empty"),
            "sees_future": ("c4-test",),
        },
        mistakes={
            "*true-means*": "c4-true",
            "*inverted*": "c4-true",
            "softmax-not-renormalised": "c4-routes",
            "softmax-divided-afterwards": "c4-routes",
            "*empty*": "c4-empty",
            "softmax-nan-*": "c4-empty",
            "attention-nan-*": "c4-empty",
            "softmax-minus-*": "c4-empty",
            "softmax-million-less": "c4-empty",
            "attention-*padding*": "c4-padding",
            "attention-*product*": "c4-routes",
        },
    ),
    "05_multi_head": Taught(
        goals={
            "say what a head is": ("c5-split", "c5-head", "c5-reshape"),
            "find the bug that mixes": ("c5-reshape",),
            "say what one wide head sees": ("c5-full",),
            "count a layer's parameters": ("c5-parameters", "c5-cost"),
            "test a claim about heads": ("c5-task", "c5-equal", "c5-roles"),
        },
        exercises={
            "split_heads": ("c5-reshape", "c5-head"),
            "join_heads": ("c5-reshape",),
            "multi_head_attention": ("c5-reshape", "c5-head", "c5-full"),
            "MultiHeadAttention": ("c5-parameters", "c5-reshape"),
            "count_parameters": ("c5-parameters",),
            "multiply_adds": ("c5-cost",),
            "weight_bytes": ("c5-cost",),
        },
        mistakes={
            "attention-one-wide-head": "c5-full",
            "attention-root-of-another*": "c5-head",
            "attention-*mixing*": "c5-head",
            "attention-same-projection-twice": "c5-head",
            "module-mask*": "c5-reshape",
        },
    ),
    "06_colour_recall": Taught(
        goals={
            "train one attention layer": ("c6-task", "c6-model", "c6-loop", "c6-batch", "c6-ensemble"),
            "read a run": ("c6-story", "c6-slow"),
            "say how often a result": ("c6-chosen", "c6-scale", "c6-kinds", "c6-fail"),
            "test what a weight": ("c6-ablate", "c6-two"),
            "open a trained layer": ("c6-open", "c6-longer", "c6-hand"),
        },
        exercises={
            "encode": ("c6-task",),
            "make_batch": ("c6-batch",),
            "ColourRecall": ("c6-model",),
            "recall_loss": ("c6-loop",),
            "train": ("c6-loop", "c6-batch"),
            "value_contribution": ("c6-open", "c6-ablate"),
        },
        mistakes={
            "model-*mask*": "c6-batch",
            "model-padding*": "c6-batch",
            "model-last-is-minus-1": "c6-batch",
            "model-small-constant*": "c6-batch",
            "start-*": "c6-scale",
            "train-padding-not-masked": "c6-batch",
            "train-last-is-minus-1": "c6-batch",
        },
    ),
    "07_limits_of_one_layer": Taught(
        goals={
            "prove that a layer without positions": ("c7-task", "c7-layer", "c7-floor", "c7-reach"),
            "add positions in several ways": ("c7-positions", "c7-by-hand", "c7-move"),
            "prove that one layer with one head": (
                "c7-subjects",
                "c7-xor",
                "c7-heads",
                "c7-depth",
                "c7-depth-move",
                "c7-no-positions",
                "c7-look",
            ),
            "put a transformer block together": ("c7-block",),
        },
        exercises={
            "swap_tokens": ("c7-layer",),
            "fourier_features": ("c7-positions", "c7-by-hand"),
            "more_recent_layer": ("c7-by-hand",),
            "two_layer_attention": ("c7-depth",),
            "TransformerBlock": ("c7-block",),
            "by_order": ("c7-floor", "c7-layer"),
            "by_depth": ("c7-depth", "c7-xor"),
        },
    ),
}
