"""The normaliser: same content, same bytes; and nothing that means something is lost."""

import copy
import re

import pytest
from nbformat import v4

from course_lib import notebooks
from course_lib.command import main
from course_lib.errors import CourseError

PIXELS = "data:image/png;base64,AAAA"


def figure(words="weights\n0.5", alt="Bars", data=PIXELS):
    html = f'<figure><img alt="{alt}" src="{data}"></figure>'
    return v4.new_output("execute_result", {"text/html": html, "text/plain": words}, execution_count=7)


def noisy():
    """A notebook as JupyterLab leaves it: random ids, timings, versions, split streams, late counts."""
    code = v4.new_code_cell("print(1)", id="0f3a91bc", execution_count=3)
    code.metadata = {
        "execution": {"iopub.status.busy": "now"},
        "collapsed": True,
        "tags": ["keep"],
        "trusted": True,
    }
    code.outputs = [v4.new_output("stream", name="stdout", text=text) for text in ("1\n", "2\n")]
    result = v4.new_code_cell("draw()", id="draw", execution_count=7, outputs=[figure()])
    title = v4.new_markdown_cell("# Title\n", id="00000000-0000-4000-8000-000000000000")
    metadata = {
        "kernelspec": {"name": "mine", "display_name": "Mine"},
        "language_info": {"name": "python", "version": "3"},
    }
    return v4.new_notebook(cells=[title, code, result], metadata=metadata)


def test_random_ids_become_stem_and_counter_and_readable_ones_stay():
    assert [cell.id for cell in notebooks.normalise(noisy(), "09_x").cells] == ["09_x-1", "09_x-2", "draw"]


def test_a_repeated_id_is_replaced():
    notebook = noisy()
    notebook.cells[0].id = "draw"
    assert [cell.id for cell in notebooks.normalise(notebook, "09_x").cells] == ["draw", "09_x-1", "09_x-2"]


def test_only_metadata_that_means_something_stays():
    cell = noisy().cells[1]
    cell.metadata.jupyter = {"source_hidden": True, "outputs_hidden": True}
    notebook = v4.new_notebook(cells=[cell])
    kept = notebooks.normalise(notebook, "x").cells[0].metadata
    assert kept == {"tags": ["keep"], "jupyter": {"source_hidden": True}}


def test_streams_are_joined_and_counts_run_from_one():
    _, first, second = notebooks.normalise(noisy(), "x").cells
    assert [output.text for output in first.outputs] == ["1\n2\n"]
    assert (first.execution_count, second.execution_count, second.outputs[0].execution_count) == (1, 2, 2)


def test_normalising_is_idempotent_and_leaves_its_argument_alone():
    notebook = noisy()
    before = copy.deepcopy(notebook)
    once = notebooks.normalise(notebook, "x")
    assert notebook == before
    assert notebooks.text_of(notebooks.normalise(once, "x")) == notebooks.text_of(once)


@pytest.mark.parametrize("counts", [(2, 1), (1, None), (1, 1)])
def test_cells_run_out_of_order_are_refused(counts):
    notebook = noisy()
    for cell, count in zip(notebook.cells[1:], counts, strict=True):
        cell.execution_count = count
    with pytest.raises(CourseError, match="not run in order"):
        notebooks.normalise(notebook, "x")


def test_exercises_keep_nbgrader_metadata_and_no_outputs():
    notebook = noisy()
    flags = {
        "grade": False,
        "grade_id": "softmax",
        "locked": False,
        "schema_version": 3,
        "solution": True,
        "task": False,
    }
    notebook.cells[1].metadata = {"nbgrader": flags, "deletable": False, "scrolled": True}
    cell = notebooks.normalise(notebook, "x").cells[1]
    assert cell.metadata == {"nbgrader": flags, "deletable": False}
    assert (cell.outputs, cell.execution_count) == ([], None)


def test_stored_pixels_stay_while_the_words_of_a_figure_do():
    stored, fresh = noisy(), noisy()
    fresh.cells[2].outputs = [figure(data=PIXELS + "BBBB")]
    merged = notebooks.with_stored_pictures(fresh, stored)
    assert merged.cells[2].outputs[0].data == stored.cells[2].outputs[0].data


@pytest.mark.parametrize("changed", [{"words": "weights\n0.6"}, {"alt": "Other bars"}])
def test_new_pixels_are_taken_when_the_words_changed(changed):
    stored, fresh = noisy(), noisy()
    fresh.cells[2].outputs = [figure(data=PIXELS + "BBBB", **changed)]
    assert "BBBB" in notebooks.with_stored_pictures(fresh, stored).cells[2].outputs[0].data["text/html"]


def test_command_rewrites_a_file_and_check_only_reports_it(tmp_path, capsys):
    path = tmp_path / "09_x.ipynb"
    path.write_text(v4.writes(noisy()), encoding="utf-8")
    before = path.read_bytes()
    assert main(["normalise", "--check", str(path)]) == 1
    assert path.read_bytes() == before
    assert main(["normalise", str(path)]) == 0
    assert main(["normalise", "--check", str(path)]) == 0
    assert [line.split(": ")[-1] for line in capsys.readouterr().out.splitlines()][-1] == "normalised"


def test_a_file_above_the_size_limit_is_refused(tmp_path, capsys):
    path = tmp_path / "x.ipynb"
    big = v4.new_notebook(cells=[v4.new_markdown_cell("a" * notebooks.MAX_BYTES, id="big")])
    path.write_text(notebooks.text_of(notebooks.normalise(big, "x")), encoding="utf-8")
    assert main(["normalise", "--check", str(path)]) == 1
    assert "make its pictures smaller" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "{}", '{"cells": 1, "nbformat": 4}', "[1]"])
def test_a_file_that_is_no_notebook_is_told_in_one_line(tmp_path, capsys, text):
    path = tmp_path / "x.ipynb"
    path.write_text(text, encoding="utf-8")
    assert main(["normalise", str(path)]) == 1
    assert re.fullmatch(r".*cannot be read as a notebook.*\n", capsys.readouterr().out)


def test_execution_stores_fresh_outputs_and_stops_at_errors_and_stderr(tmp_path, capsys):
    path = tmp_path / "x.ipynb"
    cases = {
        "6 * 7": "normalised",
        "1 / 0": "ZeroDivisionError",
        "import sys\nprint('oh', file=sys.stderr)": "stderr: oh",
    }
    for source, said in cases.items():
        path.write_text(
            v4.writes(v4.new_notebook(cells=[v4.new_code_cell(source, id="it")])), encoding="utf-8"
        )
        assert main(["normalise", "--execute", str(path)]) == (said != "normalised")
        assert said in capsys.readouterr().out
        stored = notebooks.read(path).cells[0].outputs
        assert [output.data["text/plain"] for output in stored] == (["42"] if said == "normalised" else [])


def test_the_projects_notebooks_are_normalised(root):
    files = [
        str(path)
        for where in ("notebooks", "solutions/*", "exercises/*")
        for path in root.glob(f"{where}/*.ipynb")
    ]
    assert files
    assert main(["normalise", "--check", *files]) == 0
