from __future__ import annotations

import nbformat

from course_lib import notebooks
from course_lib.progress import progress


def test_steps_come_out_as_they_went_in_behind_a_bar_with_its_words(capsys):
    assert list(progress([3, 4], "counting")) == [3, 4]
    printed = capsys.readouterr()
    assert "counting" in printed.out
    assert printed.err == ""


def test_the_bar_is_wiped_away_when_the_steps_are_done(capsys):
    list(progress(range(5), "counting"))
    assert capsys.readouterr().out.split("\r")[-1].strip() == ""


def test_a_notebook_keeps_no_trace_of_the_bar_and_all_that_is_printed_later(tmp_path):
    source = (
        "from course_lib.progress import progress\n"
        "total = sum(step for step in progress(range(4), 'adding'))\n"
        "print(total)"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    (cell,) = notebooks.execute(notebook, tmp_path).cells
    assert [output.get("text") for output in cell.outputs] == ["6\n"]
