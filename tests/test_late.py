"""What lateness costs is what the configuration says, for the days and the students that it names."""

import pytest
from traitlets.config import Config

from course_lib.term.late import DAY, LatePolicy

HOUR = 3600


def penalty(seconds, student="ann", **settings):
    """Of 8 points."""
    return LatePolicy(config=Config(LatePolicy=settings)).late_submission_penalty(student, 8.0, seconds)


def test_as_it_stands_lateness_costs_nothing():
    assert penalty(30 * DAY) is None


@pytest.mark.parametrize(
    ("seconds", "points"), [(0, None), (1, 1.0), (DAY, 1.0), (DAY + 1, 2.0), (3 * DAY, 3.0), (30 * DAY, 4.0)]
)
def test_each_day_begun_costs_its_share_up_to_the_most(seconds, points):
    assert penalty(seconds, per_day=0.125, at_most=0.5) == points


def test_grace_forgives_a_few_minutes_and_is_no_extra_time():
    assert penalty(900, per_day=0.125, grace_minutes=15) is None
    assert penalty(901, per_day=0.125, grace_minutes=15) == 1.0
    assert penalty(DAY + 1, per_day=0.125, grace_minutes=15) == 2.0


def test_extra_time_moves_the_due_date_of_the_student_who_has_it():
    settings = {"per_day": 0.125, "extra_hours": {"zoe": 48}}
    assert penalty(48 * HOUR, "zoe", **settings) is None
    assert penalty(49 * HOUR, "zoe", **settings) == 1.0
    assert penalty(49 * HOUR, "ann", **settings) == 3.0


def test_nbgraders_own_method_takes_all_points_but_not_within_the_extra_time():
    settings = {"penalty_method": "zero", "extra_hours": {"zoe": 1}}
    assert penalty(HOUR, "ann", **settings) == 8.0
    assert penalty(HOUR, "zoe", **settings) is None
