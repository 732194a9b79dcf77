"""The page on scale says what was measured, and its arithmetic holds."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from speed import lanes, scale, simulated
from speed.scale import MEASURED, PAGE, Costs, Machine, sized, spoken, tables, with_tables

COSTS = Costs(
    kernel=0.3,
    writer=0.02,
    page=0.1,
    start=2.0,
    unchanged_start=1.0,
    unchanged=0.001,
    lane=100.0,
    marker=200.0,
    held=20.0,
    disk={"autograded": 40.0, "gradebook.db": 5.0},
)
LAPTOP, CLUSTER = Machine("laptop", 2, 2), Machine("cluster", 128, 16)


def test_the_tables_of_the_page_are_those_that_follow_from_what_was_measured() -> None:
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    page = PAGE.read_text(encoding="utf-8")
    assert with_tables(page, tables(measured)) == page
    costs = measured["assignments"]["01_soft_lookup"]["costs"]
    costs["kernel"] *= 2
    assert with_tables(page, tables(measured)) != page


def test_nothing_that_was_measured_costs_less_than_nothing() -> None:
    for name, found in json.loads(MEASURED.read_text(encoding="utf-8"))["assignments"].items():
        costs = found["costs"]
        assert min(*costs.pop("disk").values(), *costs.values()) > 0, name


def test_no_number_of_seconds_or_memory_is_in_the_prose_of_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    prose = page.split(scale.BEGIN)[0] + page.split(scale.END)[1]
    for unit in (" ms", " s ", " MB", " GB", " KB", " min ", "%"):
        assert unit not in prose, unit


def test_a_class_waits_for_kernels_on_a_laptop_and_for_the_writer_where_lanes_are_many() -> None:
    seconds, what = COSTS.marking(1000, LAPTOP)
    assert (seconds, what) == (pytest.approx(2 + 1000 * 0.32 / 2), "kernels")
    seconds, what = COSTS.marking(1000, CLUSTER)
    assert (seconds, what) == (pytest.approx(2 + 1000 * 0.02), "writer")
    slow = replace(COSTS, kernel=30.0)
    assert slow.marking(1000, CLUSTER) == (pytest.approx(2 + 1000 * 30 / 128), "kernels")


def test_lanes_of_a_cluster_take_no_memory_where_the_gradebook_is() -> None:
    assert COSTS.memory(1024, LAPTOP) == pytest.approx(200 + 20 + 2 * 100)
    assert COSTS.memory(1024, CLUSTER) == pytest.approx(200 + 20)
    assert COSTS.on_disk(1024) == pytest.approx(45)
    assert COSTS.again(1000) == pytest.approx(2)


def test_times_are_said_in_the_unit_that_fits() -> None:
    assert [spoken(each) for each in (0.44, 3.4, 99, 150, 5000, 7200)] == [
        "0.4 s",
        "3 s",
        "99 s",
        "2 min",
        "83 min",
        "2.0 h",
    ]


def test_sizes_are_said_in_the_unit_that_fits() -> None:
    assert [sized(each) for each in (36.2, 999, 1024, 8800)] == ["36 MB", "999 MB", "1.0 GB", "8.6 GB"]


@pytest.mark.slow
def test_lanes_share_the_work_until_the_writer_is_busy_all_the_time() -> None:
    one, two, many = (lanes.taken(40, 0.1, 0.02, count) for count in (1, 2, 16))
    assert one > 40 * 0.1
    assert two < 0.75 * one
    assert many > 40 * 0.02  # the writer's time, which no lane can shorten
    assert many < 0.5 * one


@pytest.mark.slow
def test_simulated_students_have_the_points_that_were_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulated.main(["01_soft_lookup", "--submissions", "20"]) == 0
    assert "0 of 20 students have other points" in capsys.readouterr().out
