"""Claims about the helpers of chapter 1: the nearest-neighbour lookup and the convex hull."""

import numpy as np
import pytest

from course_lib.attention import gaussian_lookup, soft_lookup
from course_lib.lookup import convex_hull, nearest_lookup


def test_one_neighbour_returns_the_value_of_the_nearest_key():
    output, weights = nearest_lookup([0.9, 0.0], [[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]], [[1.0], [2.0], [3.0]])
    assert output.tolist() == [2.0]
    assert weights.tolist() == [0.0, 1.0, 0.0]


def test_of_two_keys_at_the_same_distance_the_earlier_is_nearer():
    _, weights = nearest_lookup([0.0], [[1.0], [-1.0]], [[1.0], [2.0]])
    assert weights.tolist() == [1.0, 0.0]


def test_all_keys_as_neighbours_give_the_mean_of_the_values():
    rng = np.random.default_rng(0)
    queries, keys, values = rng.normal(size=(2, 3, 7)), rng.normal(size=(5, 7)), rng.normal(size=(5, 4))
    output, weights = nearest_lookup(queries, keys, values, neighbours=5)
    assert (output.shape, weights.shape) == ((2, 3, 4), (2, 3, 5))
    np.testing.assert_allclose(output, np.broadcast_to(values.mean(axis=0), output.shape), atol=1e-12)


def test_one_neighbour_is_the_limit_of_a_narrow_gaussian():
    rng = np.random.default_rng(1)
    queries, keys, values = rng.normal(size=(11, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    narrow, _ = gaussian_lookup(queries, keys, values, width=1e-3)
    np.testing.assert_allclose(nearest_lookup(queries, keys, values)[0], narrow, atol=1e-9)


@pytest.mark.parametrize("neighbours", [0, 6])
def test_an_impossible_number_of_neighbours_is_refused(neighbours):
    with pytest.raises(ValueError, match="neighbours: expected a number from 1 to 5"):
        nearest_lookup([0.0], np.zeros((5, 1)), np.zeros((5, 1)), neighbours)


@pytest.mark.parametrize(
    ("query", "keys", "values", "message"),
    [
        ((), (3, 1), (3, 2), "query: expected one axis or more"),
        ((5, 1), (3, 2), (3, 2), "query: expected width 2 as in keys, got width 1"),
        ((5, 2), (3, 1), (3, 2), "query: expected width 1 as in keys, got width 2"),
        ((2,), (2,), (2, 2), r"keys: expected a table \(M, K\) of one row or more, got shape \(2,\)"),
        ((1,), (3, 1), (4, 1), r"values: expected 3 rows, one per key, got shape \(4, 1\)"),
        ((1,), (3, 1), (3,), r"values: expected 3 rows, one per key, got shape \(3,\)"),
    ],
)
def test_a_nearest_lookup_stretches_nothing_that_does_not_fit(query, keys, values, message):
    with pytest.raises(ValueError, match=message):
        nearest_lookup(np.zeros(query), np.zeros(keys), np.zeros(values))


def test_the_hull_of_a_square_leaves_out_inner_and_edge_points():
    square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert convex_hull([*square, [0.5, 0.5], [0.5, 0.0], [0, 0]]).tolist() == square


@pytest.mark.parametrize(
    ("points", "corners"), [([[2, 3]], 1), ([[2, 3], [2, 3]], 1), ([[0, 0], [1, 1], [2, 2]], 2)]
)
def test_a_flat_set_of_points_has_one_or_two_corners(points, corners):
    assert len(convex_hull(points)) == corners


def test_every_lookup_stays_left_of_every_edge_of_the_hull():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(8, 2))
    corners = convex_hull(values)
    edges = np.roll(corners, -1, axis=0) - corners
    outputs, _ = soft_lookup(rng.normal(size=(50, 3)), rng.normal(size=(8, 3)), values)
    steps = outputs[:, None, :] - corners
    turns = edges[:, 0] * steps[..., 1] - edges[:, 1] * steps[..., 0]
    assert turns.min() > -1e-12


def test_points_outside_the_plane_are_refused():
    with pytest.raises(ValueError, match=r"points: expected shape \(N, 2\)"):
        convex_hull([[1, 2, 3]])
