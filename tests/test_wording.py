"""How the chapters are worded: short sentences, terms explained before they are used, no word for another."""

import re
from pathlib import Path

import pytest

from course_lib import notebooks
from prose import claims, sentences, words

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = sorted((ROOT / "notebooks").glob("0*.ipynb"))
GLOSSARY = ROOT / "notebooks" / "glossary.ipynb"
TEXTS = [*CHAPTERS, GLOSSARY, *sorted((ROOT / "exercises").glob("*/*.ipynb"))]
MOST_WORDS = 40
PREVIEWS = re.compile(r"-(title|goals|next|references(-\d+)?)$")  # cells that look ahead or are not ours
# What these words mean elsewhere is no use of the term.
ORDINARY = {
    "head": r"in the head\b",
    "layer": r"hidden layer",  # explained where it stands
    "slope": r"slopes?",  # of a curve, in chapter 3; the term is that of a relative bias
    "ratio of two weights": r"ratio of two weights",
}
MISUSED = {
    "softmax twice": r"softmax of (the )?weights|weights? (before|into) (the )?softmax",
    "a score after softmax": r"scores? (after|from) (the )?softmax",
    "scores that add up to 1": r"\bscores?\b[^.,;]{0,25}\b(sums?|adds? up) to (1|one)\b",
    "a weight below 0": r"\bnegative weights?\b",
    "a score or a weight": r"attention scores?\b|\b(raw|unnormalised) weights?\b|normalised scores?\b",
    "weights for what a model has learned": r"\bweight matri|\b(model|network)'s weights\b|"
    r"\b(learned|trained|pretrained|initial) weights\b|\bweight decay\b",
    "an output that is weighed": r"\bweights? of the outputs?\b|\boutput weights?\b",
}


def prose(path: Path) -> list[tuple[str, str]]:
    """The pieces of a notebook's prose with their cells, without the references."""
    return [(cell, text) for cell, text in claims(notebooks.read(path)) if "-references" not in cell]


def long_sentences(text: str) -> list[str]:
    return [sentence for sentence in sentences(text) if words(sentence) > MOST_WORDS]


def misused(text: str) -> list[str]:
    flat = " ".join(text.split())
    return [
        f"{what}: {found[0]}"
        for what, pattern in MISUSED.items()
        for found in re.finditer(pattern, flat, re.I)
    ]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_sentences_are_short_and_score_weight_and_output_are_not_confused(path):
    for cell, text in prose(path):
        assert [*long_sentences(text), *misused(text)] == [], cell


def introduced(text: str, term: str) -> bool:
    """Whether a text explains the term itself, which it then emphasises, or names the chapter that does."""
    flat = " ".join(re.sub(r"\]\([^)]*\)", "]", text).split())
    emphasised = rf"(?<![*\w])\*{{1,2}}[^*]*\b{term}[^*]*\*"
    pointed = rf"\b{term}[^.!?]*\(\[?chapter|chapter[^.!?]*\b{term}"
    return bool(re.search(f"{emphasised}|{pointed}", flat, re.I))


def used_too_early(term: str, before: list[tuple[str, str]]) -> str:
    """The cell that uses a term first, if none of the cells up to it explains it; else nothing."""
    pattern = rf"(?<![\w`-]){re.escape(term)}(s|es)?(?![\w`])".replace(r"\ ", r"\s+")
    for cell, text in before:
        plain = " ".join(re.sub(r"\]\([^)]*\)|`[^`]*`", "]", text.replace("\n>", " ")).split())
        plain = re.sub(ORDINARY.get(term, r"(?!)"), "", plain, flags=re.I)
        if re.search(pattern, plain, re.I) and not PREVIEWS.search(cell):
            return "" if introduced(text, re.escape(term)) else cell
    return ""


def test_no_chapter_uses_a_term_of_the_glossary_before_it_is_explained():
    flow = [(path.name, *piece) for path in CHAPTERS for piece in prose(path)]
    terms = re.findall(r"^- \*\*(.+?)\*\*: .*\]\(([^)#]+)#([^)]+)\)", glossary(), flags=re.MULTILINE)
    assert len(terms) >= 50
    found = {}
    for names, chapter, heading in terms:
        at = next(i for i, (name, _, text) in enumerate(flow) if name == chapter and heading in anchors(text))
        before = [(cell, text) for _, cell, text in flow[:at]]
        found |= {term: cell for term in names.split(", ") if (cell := used_too_early(term, before))}
    assert found == {}


def glossary() -> str:
    return "\n".join(text for _, text in prose(GLOSSARY))


def anchors(text: str) -> list[str]:
    return [heading.replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)]


# what these tests must refuse, and what they must let pass


def test_a_long_sentence_is_found_wherever_it_ends():
    long = "One " + "word " * MOST_WORDS
    for text in (f"{long}.", f"Short. {long}! Short.", f"- {long}\n- short", f"| {long} | short |"):
        assert len(long_sentences(text)) == 1, text
    assert long_sentences("- " + "word " * 30 + "\n- " + "word " * 30) == []
    assert long_sentences(f"{'word ' * 30}$a . b$. Then `{'code ' * 30}` is one word.") == []


@pytest.mark.parametrize(
    "text",
    [
        "Take the softmax of the\nweights.",
        "The scores in a row sum to 1.",
        "The attention score is 0.88.",
        "A negative weight pulls away.",
        "Training starts from initial weights.",
        "The weight matrix W_Q has K columns.",
    ],
)
def test_a_word_for_another_is_found(text):
    assert len(misused(text)) == 1


def test_the_words_in_their_meaning_are_let_pass():
    assert (
        misused("Scores become weights by softmax. Its weights sum to 1. The output is a weighted sum.") == []
    )


def test_a_term_used_before_its_explanation_is_found():
    early = [
        ("c1-goals", "Write a mask."),
        ("c1-loop", "Without a mask it sees all."),
        ("c1-say", "A *mask*."),
    ]
    assert used_too_early("mask", early) == "c1-loop"
    assert used_too_early("mask", early[2:]) == ""
    assert used_too_early("mask", [("c1-loop", "A mask (chapter 4) hides keys.")]) == ""
    assert used_too_early("mask", [("c1-loop", "Call `mask`; [this](04_mask.ipynb).")]) == ""
    assert used_too_early("head", [("c1-loop", "Do it in the head.")]) == ""
