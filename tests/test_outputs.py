"""Claims about what is kept of a cell's outputs: bounded while they arrive, nothing that a page would run."""

from __future__ import annotations

import time
from typing import Any

import pytest
from nbformat.v4 import new_output

from course_lib.grading.outputs import MAX_CHARACTERS, MAX_IN_ALL, CellOutputs, Shown, is_picture, kept


def _message(kind: str, display_id: str = "", **content: Any) -> dict[str, Any]:
    transient = {"display_id": display_id} if display_id else {}
    return {"msg_type": kind, "content": {"metadata": {}, "transient": transient, **content}}


def _print(cell: CellOutputs, text: str, name: str = "stdout") -> None:
    cell.hear(_message("stream", name=name, text=text))


def test_pieces_of_a_stream_are_joined_and_errors_stay_apart() -> None:
    cell = Shown().cell()
    for text, name in (("a", "stdout"), ("b", "stdout"), ("c", "stderr")):
        _print(cell, text, name)
    assert [output.text for output in cell.outputs] == ["ab", "c"]


@pytest.mark.parametrize("size", [1, 1000, 10 * MAX_CHARACTERS])
def test_a_flood_is_cut_while_it_arrives_and_says_so(size: int) -> None:
    cell = Shown().cell()
    for _ in range(2 * MAX_CHARACTERS // (size + 40) + 2):
        _print(cell, "x" * size)
        assert sum(len(output.text) for output in cell.outputs) < MAX_CHARACTERS + 200
    assert "The rest is left out" in cell.outputs[-1].text


def test_all_cells_together_have_a_limit() -> None:
    shown = Shown()
    cells = [shown.cell() for _ in range(1)]
    while len(cells) < 30:
        _print(cells[-1], "x" * 2 * MAX_CHARACTERS)
        cells.append(shown.cell())
    assert sum(len(output.text) for cell in cells for output in cell.outputs) < MAX_IN_ALL + 30 * 200


def test_what_clears_itself_may_go_on_for_ever() -> None:
    cell = Shown().cell()
    for step in range(100):
        cell.hear(_message("clear_output", wait=True))
        _print(cell, f"step {step} " + "x" * 50_000)
    assert [output.text[:8] for output in cell.outputs] == ["step 99 "]


def test_a_display_is_updated_where_it_stands_and_no_further_than_there_is_room() -> None:
    shown = Shown()
    cell = shown.cell()
    cell.hear(_message("display_data", "one", data={"text/plain": "0 %"}))
    later = shown.cell()
    later.hear(_message("update_display_data", "one", data={"text/plain": "100 %"}))
    assert (cell.outputs[0].data["text/plain"], later.outputs) == ("100 %", [])
    later.hear(_message("update_display_data", "one", data={"text/plain": "x" * 2 * MAX_IN_ALL}))
    assert cell.outputs[0].data["text/plain"] == "100 %"


@pytest.mark.parametrize(
    "data",
    [
        {"text/html": "<script>alert(1)</script>"},
        {"image/svg+xml": "<svg onload='alert(1)'/>"},
        {"application/javascript": "alert(1)"},
        {"text/markdown": "<img src=x onerror=alert(1)>"},
        {"text/latex": r"$\href{javascript:alert(1)}{x}$"},
        {"image/png": '"><script>alert(1)</script>'},
    ],
    ids=lambda data: next(iter(data)),
)
def test_nothing_that_a_page_would_run_is_kept(data: dict[str, str]) -> None:
    (output,) = kept([new_output("display_data", data, metadata={"image/png": {"width": "1 onload=x"}})])
    assert list(output.data) == ["text/plain"]
    assert "alert" not in str(output)
    assert output.metadata == {}


def test_text_and_pictures_are_kept() -> None:
    data = {"text/plain": "<Figure>", "image/png": "iVBORw0KGgo=\n"}
    (output,) = kept([new_output("display_data", {**data, "text/html": "<b>x</b>"})])
    assert output.data == data


def test_outputs_that_no_notebook_can_hold_are_left_out() -> None:
    half = new_output("stream", name="stdout", text="half a letter: \ud800")
    assert [output.text for output in kept([half])] == ["half a letter: ?"]
    assert kept([{"output_type": "display_data", "data": {"image/png": None}, "metadata": {}}]) == []  # type: ignore[list-item]


def test_a_message_that_no_output_can_be_made_of_is_passed_over() -> None:
    cell = Shown().cell()
    _print(cell, "a")
    for odd in (
        _message("stream", name="stdout", text=["b", "x" * 10 * MAX_CHARACTERS]),
        _message("stream", name="stdout", text=None),
        _message("stream"),
        _message("display_data", data=7),
        _message("error", ename="E", evalue="v", traceback=[1]),
        _message("update_display_data", data={"text/plain": "y"}),
        {"msg_type": "update_display_data", "content": {"data": {}, "metadata": {}, "transient": [1]}},
    ):
        cell.hear(odd)
    _print(cell, "c")
    assert [output.text for output in kept(cell.outputs) if output.output_type == "stream"] == ["ac"]


def test_text_and_pictures_that_come_in_lines_are_kept_as_one_text() -> None:
    data = {"text/plain": ["<Fig", "ure>"], "image/png": ["iVBO\n", "Rw0KGgo="], "image/jpeg": [1]}
    output = {"output_type": "display_data", "data": data, "metadata": {}}
    assert kept([output]) == []  # type: ignore[list-item]  # a number is no line
    del data["image/jpeg"]
    (whole,) = kept([output])  # type: ignore[list-item]
    assert whole.data == {"text/plain": "<Figure>", "image/png": "iVBO\nRw0KGgo="}


@pytest.mark.parametrize("odd", [[1], [["aGk="]], [None], None, 7, {}, "\ud800", ["<b>"]], ids=ascii)
def test_what_is_no_picture_is_known_as_such_whatever_its_type(odd: object) -> None:
    assert not is_picture("image/png", odd)


@pytest.mark.parametrize(
    "message",
    [
        _message("display_data", data={"text/plain": [[]] * 1_000_000}),
        _message("display_data", data={str(number): "" for number in range(1_000_000)}),
        {"msg_type": "error", "content": {"ename": "", "evalue": "", "traceback": [""] * 1_000_000}},
    ],
    ids=["lists", "kinds", "lines"],
)
def test_what_is_no_output_is_passed_over_in_no_time(message: dict) -> None:
    outputs, start = Shown().cell(), time.monotonic()
    outputs.hear(message)
    assert outputs.outputs == []
    assert time.monotonic() - start < 1


def test_displays_that_were_not_kept_are_held_by_nobody() -> None:
    shown = Shown()
    for _ in range(3):
        outputs = shown.cell()
        for number in range(10):
            outputs.hear(
                _message("display_data", f"name {number}", data={"text/plain": "x" * MAX_CHARACTERS})
            )
    held = [each for displays in shown.by_display_id.values() for each in displays]
    assert sum(len(str(each)) for each in held) < 2 * MAX_IN_ALL
