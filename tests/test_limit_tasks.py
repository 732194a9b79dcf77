"""The texts of the two tasks that one layer cannot do."""

from __future__ import annotations

from collections import Counter

import pytest

from course_lib import recall, recent_colour, two_subjects


def exchanged(text, colours):
    tokens = text.split()
    first, second = (at for at, token in enumerate(tokens) if token in colours)
    tokens[first], tokens[second] = tokens[second], tokens[first]
    return " ".join(tokens)


@pytest.mark.parametrize("examples", [recent_colour.training_examples, recent_colour.validation_examples])
def test_the_target_is_the_later_colour_and_every_text_has_its_twin(examples):
    texts, targets = examples()
    assert len(set(texts)) == len(texts) == len(targets)
    for text, target in zip(texts, targets, strict=True):
        named = [token for token in text.split() if token in recall.COLOURS]
        assert len(set(named)) == len(named) == 2
        assert named[-1] == target
        assert exchanged(text, recall.COLOURS) in texts
        assert recall.encode(text)[-1] == recall.VOCABULARY["wear"]


def test_validation_texts_are_longer_than_training_and_none_passes_the_limit():
    training, validation = (
        [len(text.split()) for text in examples()[0]]
        for examples in (recent_colour.training_examples, recent_colour.validation_examples)
    )
    assert max(training) < min(validation)
    assert max(validation) <= recent_colour.LONGEST


def test_the_two_subjects_have_48_texts_of_equal_length_and_balanced_targets():
    texts, targets = two_subjects.examples()
    assert len(set(texts)) == 48
    assert {len(text.split()) for text in texts} == {two_subjects.LENGTH}
    assert set(Counter(targets).values()) == {12}
    assert set(" ".join(texts).split()) == set(two_subjects.TOKENS)


def test_answers_follow_the_subject_wherever_it_stands():
    for text, target in zip(*two_subjects.examples(), strict=True):
        tokens = text.split()
        subject = {"players": "teams", "officials": "referees"}[tokens[-2]]
        assert tokens[tokens.index(subject) + 2] == target
        assert [tokens[at] in two_subjects.COLOURS for at in two_subjects.COLOUR_INDICES] == [True, True]


def test_four_cases_hold_each_answer_twice_and_each_twin():
    cases = two_subjects.four_cases("red", "green", teams_first=False)
    answers = [two_subjects.answer(text) for text in cases]
    assert Counter(answers) == {"red": 2, "green": 2}
    assert all(exchanged(text, two_subjects.COLOURS) in cases for text in cases)
    assert [text.split()[1] for text in cases] == ["referees"] * 4


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="between: expected one of"):
        recent_colour.text("red", "blue", between="rain")
    with pytest.raises(ValueError, match="asked: expected one of"):
        two_subjects.text("red", "blue", asked="teams")
    with pytest.raises(ValueError, match="words: expected a subject"):
        two_subjects.answer("The dogs wear red . The cats wear blue . So the players wear")
