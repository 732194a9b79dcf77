from __future__ import annotations

import math

import pytest

from course_lib.statistics import wilson_interval


def test_interval_of_no_success_has_the_closed_form_of_the_upper_end():
    low, high = wilson_interval(0, 32)
    assert low == 0
    assert math.isclose(high, 1.959964**2 / (32 + 1.959964**2), rel_tol=1e-6)


@pytest.mark.parametrize(("successes", "trials"), [(1, 7), (16, 32), (29, 32), (203, 205)])
def test_both_ends_are_exactly_z_standard_errors_from_the_share(successes, trials):
    for end in wilson_interval(successes, trials):
        distance = abs(successes / trials - end)
        assert math.isclose(distance, 1.959964 * math.sqrt(end * (1 - end) / trials), rel_tol=1e-6)


def test_interval_of_failures_mirrors_the_interval_of_successes():
    low, high = wilson_interval(3, 11)
    assert wilson_interval(8, 11) == pytest.approx((1 - high, 1 - low))


def test_more_trials_narrow_the_interval_and_more_confidence_widens_it():
    def width(interval):
        return interval[1] - interval[0]

    assert width(wilson_interval(30, 60)) < width(wilson_interval(3, 6))
    assert width(wilson_interval(3, 6, 0.99)) > width(wilson_interval(3, 6, 0.9))


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((1, 0), "trials"), ((4, 3), "successes"), ((-1, 3), "successes"), ((1, 3, 95), "confidence")],
)
def test_an_impossible_argument_is_named(arguments, name):
    with pytest.raises(ValueError, match=f"^{name}: "):
        wilson_interval(*arguments)
