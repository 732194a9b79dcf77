from __future__ import annotations

import nbformat
import pytest

from course_lib import notebooks
from course_lib.progress import progress


@pytest.fixture
def bar(monkeypatch):
    """Bars are off in this suite, since nbval cannot bear them; here they are on."""
    monkeypatch.delenv("TQDM_DISABLE")


@pytest.mark.usefixtures("bar")
def test_steps_come_out_as_they_went_in_behind_a_bar_with_its_words(capsys):
    assert list(progress([3, 4], "counting")) == [3, 4]
    printed = capsys.readouterr()
    assert "counting" in printed.out
    assert printed.err == ""


@pytest.mark.usefixtures("bar")
def test_the_bar_is_wiped_away_when_the_steps_are_done(capsys):
    list(progress(range(5), "counting"))
    assert capsys.readouterr().out.split("\r")[-1].strip() == ""


def test_no_bar_is_drawn_where_it_is_switched_off(capsys):
    assert list(progress([3, 4], "counting")) == [3, 4]
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("bar")
def test_a_notebook_keeps_no_trace_of_the_bar_and_all_that_is_printed_later(tmp_path):
    source = (
        "from course_lib.progress import progress\n"
        "total = sum(step for step in progress(range(4), 'adding'))\n"
        "print(total)"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    (cell,) = notebooks.execute(notebook, tmp_path).cells
    assert [output.get("text") for output in cell.outputs] == ["6\n"]
