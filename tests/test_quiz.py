"""Claims about predictions and questions: the answer is folded, texts are escaped, code is set as code."""

import re
from html.parser import HTMLParser

import pytest

from course_lib.quiz import Folded, predict, question

OPTIONS = {"rows": "Keys stand side by side.", "columns": "Those are the keys.", "both": "Only one."}


class Elements(HTMLParser):
    """What is seen before anything is opened, what is folded away, and which elements there are."""

    def __init__(self, html):
        super().__init__()
        self.seen, self.folded, self.tags, self.open = "", "", [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "details" in self.open and "summary" not in self.open:
            self.folded += data
        else:
            self.seen += data


def test_a_prediction_shows_its_question_and_folds_its_answer():
    page = Elements(predict("Which key?", "The first.").html())
    assert "Predict: Which key?" in page.seen
    assert "The first." not in page.seen
    assert page.folded == "The first."


def test_folds_are_closed_until_the_reader_opens_them():
    assert not re.search(r"<details[^>]*\bopen\b", predict("Which key?", "The first.").html())


def test_a_question_unfolds_every_option_into_its_explanation():
    page = Elements(question("What sums to 1?", OPTIONS, right="rows").html())
    assert page.seen == "Check yourself: What sums to 1?rowscolumnsboth"
    assert page.folded == (
        "Right. Keys stand side by side.Not quite. Those are the keys.Not quite. Only one."
    )
    assert page.tags.count("details") == page.tags.count("summary") == 3
    assert page.open == []


def test_the_text_twin_says_the_same_with_folds_indented():
    folded = question("What sums to 1?", {"rows": "Yes.", "columns": "No."}, right="columns")
    assert folded.text().splitlines() == [
        "Check yourself: What sums to 1?",
        "  rows",
        "    Not quite. Yes.",
        "  columns",
        "    Right. No.",
    ]


def test_a_question_shows_as_html_and_as_text():
    folded = predict("Which?", "That.")
    assert folded._repr_mimebundle_() == {"text/html": folded.html(), "text/plain": folded.text()}


def test_a_line_without_folds_is_only_a_question():
    assert Folded("Which?").text() == "Which?"
    assert "details" not in Folded("Which?").html()


def test_a_right_option_that_is_no_option_is_refused():
    message = re.escape("right: expected one of ['rows', 'columns', 'both'], got 'row'")
    with pytest.raises(ValueError, match=message):
        question("What sums to 1?", OPTIONS, right="row")


def test_an_option_without_an_explanation_is_refused():
    with pytest.raises(
        ValueError, match="options: expected an explanation for every option, got an empty one"
    ):
        question("What sums to 1?", OPTIONS | {"both": ""}, right="rows")


@pytest.mark.parametrize(
    "folded",
    [
        predict('<i> & "q"', "<script>x</script>"),
        question('<i> & "q"', {"<b>": "<script>x</script>"}, right="<b>"),
    ],
)
def test_question_label_and_explanation_are_escaped(folded):
    page = Elements(folded.html())
    assert set(page.tags) == {"div", "p", "strong", "details", "summary"}
    assert '<i> & "q"' in page.seen
    assert "<script>x</script>" in page.folded


def test_words_between_backticks_are_code_and_still_escaped():
    html = predict("What is `a < b` after `a = 1`?", "It is `True`.").html()
    assert "What is <code>a &lt; b</code> after <code>a = 1</code>?" in html
    assert "It is <code>True</code>." in html
    assert "`" not in html


def test_labels_of_options_may_be_code():
    assert (
        "<summary><code>axis=-1</code></summary>" in question("?", {"`axis=-1`": "Yes."}, "`axis=-1`").html()
    )


def test_the_text_twin_keeps_backticks():
    assert predict("What is `a`?", "`1`").text().startswith("Predict: What is `a`?")
