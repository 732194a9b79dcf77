"""Claims about attention in NumPy: hand values, loops and PyTorch as oracles, properties, and refusals."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from course_lib.attention import (
    attention,
    attention_weights,
    causal_mask,
    cross_attention,
    entropy,
    gaussian_lookup,
    lookup_arguments,
    project,
    scores,
    self_attention,
    soft_lookup,
    softmax,
    softmax_jacobian,
)

B, H, L, M, D, K, V = 2, 3, 5, 7, 11, 13, 17
TOLERANCES = {np.float32: 1e-5, np.float64: 1e-12}  # rounding of sums over at most 13 products
each_dtype = pytest.mark.parametrize("dtype", TOLERANCES)
few = settings(max_examples=30, deadline=None)


def normal(*shape, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def tables(*batch, dtype=np.float64):
    shapes = [(L, K), (M, K), (M, V)]
    return tuple(normal(*batch, *shape, seed=seed, dtype=dtype) for seed, shape in enumerate(shapes, start=1))


def matrices():
    return tuple(normal(D, width, seed=seed) for seed, width in enumerate((K, K, V), start=11))


def random_mask(*shape, seed=1):
    """A mask that hides something, and in which every row allows something."""
    mask = np.random.default_rng(seed).random(shape) < 0.6
    mask[..., 0], mask[..., -1] = True, False
    return mask


def loop_softmax(row, allowed):
    exponentials = [math.exp(score) if ok else 0.0 for score, ok in zip(row, allowed, strict=True)]
    return [each / sum(exponentials) for each in exponentials]


def loop_attention(Q, keys, values, mask):
    """Output and weights of one table, a number at a time."""
    weights = []
    for query, allowed in zip(Q, mask, strict=True):
        products = [sum(q * k for q, k in zip(query, key, strict=True)) for key in keys]
        weights.append(loop_softmax([each / math.sqrt(len(query)) for each in products], allowed))
    columns = range(len(values[0]))
    outputs = [
        [sum(w * value[c] for w, value in zip(row, values, strict=True)) for c in columns] for row in weights
    ]
    return np.array(outputs), np.array(weights)


@st.composite
def score_tables(draw):
    """Scores of any size, zeros and ties included."""
    shape = draw(st.integers(1, 3)), draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    return rng.normal(size=shape).round(draw(st.sampled_from([0, 6]))) * draw(st.sampled_from([1, 100, 1e6]))


@st.composite
def masked_scores(draw):
    """Scores with any mask, empty rows and all-True tables included."""
    table = draw(score_tables())
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    return table, rng.random(table.shape) < draw(st.sampled_from([0.0, 0.3, 0.8, 1.0]))


# softmax


def test_scores_that_are_logarithms_give_weights_in_proportion():
    np.testing.assert_allclose(softmax(np.log([1.0, 2.0, 5.0])), [0.125, 0.25, 0.625], rtol=1e-15)


def test_a_hidden_score_takes_no_share():
    mask = [True, False, True]
    np.testing.assert_allclose(softmax(np.log([1.0, 9.0, 3.0]), mask), [0.25, 0.0, 0.75], rtol=1e-15)


def test_softmax_agrees_with_a_loop_over_every_row_of_a_batch():
    table, mask = normal(B, H, L, M), random_mask(B, H, L, M)
    weights = softmax(table, mask)
    for index in np.ndindex(B, H, L):
        np.testing.assert_allclose(weights[index], loop_softmax(table[index], mask[index]), atol=1e-14)


@given(masked_scores())
@few
def test_rows_sum_to_one_or_to_zero_where_nothing_is_allowed(case):
    table, mask = case
    weights = softmax(table, mask)
    np.testing.assert_allclose(weights.sum(axis=-1), mask.any(axis=-1).astype(float), atol=1e-12)
    assert (weights >= 0).all()
    assert not weights[~mask].any()


@given(score_tables(), st.floats(-1e6, 1e6))
@few
def test_a_constant_added_to_a_row_changes_no_weight(table, constant):
    np.testing.assert_allclose(softmax(table + constant), softmax(table), rtol=1e-8, atol=1e-8)


@given(masked_scores(), st.randoms(use_true_random=False))
@few
def test_weights_follow_their_scores_when_keys_change_places(case, random):
    table, mask = case
    order = random.sample(range(table.shape[-1]), table.shape[-1])
    np.testing.assert_allclose(softmax(table[:, order], mask[:, order]), softmax(table, mask)[:, order])


@given(score_tables())
@few
def test_a_mask_that_allows_everything_equals_none(table):
    np.testing.assert_array_equal(softmax(table, np.ones(table.shape, dtype=bool)), softmax(table))


@given(masked_scores(), st.sampled_from([1e6, -1e6, np.inf, np.nan]))
@few
def test_what_a_hidden_score_holds_changes_no_weight(case, anything):
    table, mask = case
    np.testing.assert_array_equal(softmax(np.where(mask, table, anything), mask), softmax(table, mask))


@each_dtype
@pytest.mark.parametrize("size", [1e4, -1e4])
def test_scores_far_from_zero_neither_overflow_nor_vanish(size, dtype):
    assert softmax(np.array([size, size], dtype)).tolist() == [0.5, 0.5]
    assert softmax(np.array([size, size, 0], dtype), [True, True, False]).tolist() == [0.5, 0.5, 0.0]


def test_a_mask_of_keys_serves_every_query_and_batch():
    table, mask = normal(B, L, M), random_mask(M)
    np.testing.assert_array_equal(softmax(table, mask), softmax(table, np.broadcast_to(mask, (B, L, M))))


# scores and weights


def test_scores_are_dot_products_over_the_root_of_the_width():
    queries, keys = [[1, 2, 3, 4]], [[1, 0, 0, 0], [1, 1, 1, 1]]
    assert scores(queries, keys, scaled=False).tolist() == [[1.0, 10.0]]
    assert scores(queries, keys).tolist() == [[0.5, 5.0]]


def test_scores_of_a_batch_are_those_of_each_table():
    Q, keys, _ = tables(B, H)
    found = scores(Q, keys)
    assert found.shape == (B, H, L, M)
    for index in np.ndindex(B, H):
        for row, column in np.ndindex(L, M):
            expected = sum(Q[index][row] * keys[index][column]) / math.sqrt(K)
            assert found[index][row, column] == pytest.approx(expected, abs=1e-12)


def test_temperature_divides_the_scores():
    keys = [[0.0], [math.log(9.0)]]
    np.testing.assert_allclose(attention_weights([[1.0]], keys), [[0.1, 0.9]])
    np.testing.assert_allclose(attention_weights([[1.0]], keys, temperature=2.0), [[0.25, 0.75]])


def test_weights_take_the_mask():
    Q, keys, _ = tables()
    np.testing.assert_array_equal(
        attention_weights(Q, keys, random_mask(L, M)), softmax(scores(Q, keys), random_mask(L, M))
    )


# attention


def test_attention_is_the_weighted_average_of_the_values():
    keys = [[0.0], [math.log(3.0)]]
    output, weights = attention([[1.0], [0.0]], keys, [[4.0, 0.0], [8.0, 1.0]])
    np.testing.assert_allclose(weights, [[0.25, 0.75], [0.5, 0.5]])
    np.testing.assert_allclose(output, [[7.0, 0.75], [6.0, 0.5]])


def test_attention_agrees_with_loops():
    Q, keys, values = tables(B)
    mask = random_mask(B, L, M)
    output, weights = attention(Q, keys, values, mask)
    for b in range(B):
        expected = loop_attention(Q[b].tolist(), keys[b].tolist(), values[b].tolist(), mask[b].tolist())
        np.testing.assert_allclose(output[b], expected[0], atol=1e-12)
        np.testing.assert_allclose(weights[b], expected[1], atol=1e-12)


@each_dtype
@pytest.mark.parametrize("masked", [False, True])
def test_attention_agrees_with_pytorch(dtype, masked):
    Q, keys, values = tables(B, H, dtype=dtype)
    mask = random_mask(B, 1, L, M) if masked else None
    output, weights = attention(Q, keys, values, mask)
    expected = functional.scaled_dot_product_attention(
        *map(torch.from_numpy, (Q, keys, values)), attn_mask=torch.from_numpy(mask) if masked else None
    )
    np.testing.assert_allclose(output, expected.numpy(), atol=TOLERANCES[dtype])
    assert (output.shape, weights.shape) == ((B, H, L, V), (B, H, L, M))
    assert output.dtype == weights.dtype == dtype


def test_causal_attention_agrees_with_pytorch():
    Q, _, _ = tables(B, H)
    values = normal(B, H, L, V, seed=9)
    expected = functional.scaled_dot_product_attention(*map(torch.tensor, (Q, Q, values)), is_causal=True)
    np.testing.assert_allclose(attention(Q, Q, values, causal_mask(L))[0], expected.numpy(), atol=1e-12)


@given(st.permutations(range(M)), st.permutations(range(L)))
@few
def test_attention_follows_its_queries_and_does_not_see_the_order_of_its_keys(key_order, query_order):
    Q, keys, values = tables()
    output, weights = attention(Q, keys, values)
    moved, moved_weights = attention(Q[query_order], keys[key_order], values[key_order])
    np.testing.assert_allclose(moved, output[query_order], atol=1e-12)
    np.testing.assert_allclose(moved_weights, weights[query_order][:, key_order], atol=1e-12)


def test_values_of_a_million_do_not_leak_through_the_mask():
    Q, keys, values = tables(B)
    mask = np.ones(M, dtype=bool)
    mask[[2, 5]] = False
    changed_keys, changed_values = keys.copy(), values.copy()
    changed_keys[:, ~mask], changed_values[:, ~mask] = -1e6, 1e6
    before, after = attention(Q, keys, values, mask), attention(Q, changed_keys, changed_values, mask)
    np.testing.assert_array_equal(after[0], before[0])
    np.testing.assert_array_equal(after[1], before[1])


def test_a_query_that_may_attend_to_nothing_gets_an_output_of_zero():
    mask = random_mask(L, M)
    mask[3] = False
    output, weights = attention(*tables(), mask)
    assert not output[3].any()
    assert not weights[3].any()
    assert output[2].any()


@given(st.integers(0, 2**31), st.sampled_from([0.1, 10.0, 1e6]))
@few
def test_outputs_lie_between_the_smallest_and_the_largest_value(seed, size):
    Q, keys, values = normal(L, K, seed=seed) * size, normal(M, K, seed=1), normal(M, V, seed=2)
    output, _ = attention(Q, keys, values)
    assert (output >= values.min(axis=0) - 1e-12).all()
    assert (output <= values.max(axis=0) + 1e-12).all()


# lookups


@pytest.mark.parametrize("lookup", [soft_lookup, lambda *table: gaussian_lookup(*table, width=3.0)])
def test_a_lookup_of_many_queries_is_the_lookup_of_each(lookup):
    queries, keys, values = normal(B, H, L, K), normal(M, K, seed=1), normal(M, V, seed=2)
    output, weights = lookup(queries, keys, values)
    assert (output.shape, weights.shape) == ((B, H, L, V), (B, H, L, M))
    for index in np.ndindex(B, H, L):
        one_output, one_weights = lookup(queries[index], keys, values)
        assert (one_output.shape, one_weights.shape) == ((V,), (M,))
        np.testing.assert_allclose(output[index], one_output, atol=1e-12)
        np.testing.assert_allclose(weights[index], one_weights, atol=1e-12)


def test_a_soft_lookup_does_not_scale_its_scores():
    output, weights = soft_lookup([1, 1, 1, 1], [[math.log(3.0), 0, 0, 0], [0, 0, 0, 0]], [[4.0], [8.0]])
    np.testing.assert_allclose(weights, [0.75, 0.25])
    np.testing.assert_allclose(output, [5.0])


def test_gaussian_weights_fall_with_the_squared_distance_over_twice_the_squared_width():
    _, weights = gaussian_lookup([0.0, 0.0], [[0.0, 0.0], [3.0, 4.0]], [[0.0], [1.0]], width=5.0)
    assert weights[1] / weights[0] == pytest.approx(math.exp(-0.5))


def test_gaussian_lookup_agrees_with_loops():
    queries, keys, values = normal(L, 3), normal(M, 3, seed=1), normal(M, V, seed=2)
    output, _ = gaussian_lookup(queries, keys, values, width=0.7)
    for query, found in zip(queries, output, strict=True):
        kernel = [math.exp(-sum((query - key) ** 2) / (2 * 0.7**2)) for key in keys]
        expected = sum(k * value for k, value in zip(kernel, values, strict=True)) / sum(kernel)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_far_from_every_key_the_nearest_key_takes_all_the_weight():
    assert gaussian_lookup([1e3], [[0.0], [1.0]], [[2.0], [4.0]], width=1.0)[1].tolist() == [0.0, 1.0]


def test_arguments_of_a_lookup_come_back_as_floats():
    query, keys, values = lookup_arguments([1], [[2], [3]], np.array([[4], [5]], dtype=np.float32))
    assert [each.dtype for each in (query, keys, values)] == [np.float64, np.float64, np.float32]
    assert (query.tolist(), keys.tolist(), values.tolist()) == ([1.0], [[2.0], [3.0]], [[4.0], [5.0]])


# projections


def test_every_matrix_projects_every_token():
    X = normal(B, L, D)
    projections, weights = project(X, *matrices()), matrices()
    assert [each.shape for each in projections] == [(B, L, K), (B, L, K), (B, L, V)]
    for found, W in zip(projections, weights, strict=True):
        for index in np.ndindex(found.shape):
            b, token, column = index
            assert found[index] == pytest.approx(sum(X[b, token] * W[:, column]), abs=1e-12)


def test_self_attention_is_attention_of_the_projections():
    X, mask = normal(B, L, D), causal_mask(L)
    W_q, W_k, W_v = matrices()
    expected = attention(X @ W_q, X @ W_k, X @ W_v, mask)
    for found, wanted in zip(self_attention(X, W_q, W_k, W_v, mask), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_cross_attention_takes_queries_from_x_and_keys_and_values_from_y():
    X, Y, mask = normal(B, L, D), normal(B, M, D, seed=5), random_mask(L, M)
    W_q, W_k, W_v = matrices()
    expected = attention(X @ W_q, Y @ W_k, Y @ W_v, mask)
    for found, wanted in zip(cross_attention(X, Y, W_q, W_k, W_v, mask), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_cross_attention_of_sequences_of_different_width_projects_only_what_it_needs():
    X, Y = normal(L, 3), normal(M, D, seed=5)
    output, _ = cross_attention(X, Y, normal(3, K), *matrices()[1:])
    assert output.shape == (L, V)


def test_causal_outputs_ignore_later_tokens():
    X = normal(L, D)
    before, _ = self_attention(X, *matrices(), causal_mask(L))
    X[3:] += 1e3
    after, _ = self_attention(X, *matrices(), causal_mask(L))
    np.testing.assert_array_equal(after[:3], before[:3])
    assert not np.allclose(after[3:], before[3:])


# slopes, spread and the causal mask


def test_the_slopes_of_two_unequal_weights():
    np.testing.assert_allclose(softmax_jacobian([0.2, 0.8]), [[0.16, -0.16], [-0.16, 0.16]])


def test_slopes_agree_with_automatic_differentiation():
    table = normal(B, L, M)
    found = softmax_jacobian(softmax(table))
    assert found.shape == (B, L, M, M)
    for index in np.ndindex(B, L):
        expected = torch.autograd.functional.jacobian(
            lambda row: torch.softmax(row, dim=0), torch.tensor(table[index])
        )
        np.testing.assert_allclose(found[index], expected.numpy(), atol=1e-12)


@given(score_tables())
@few
def test_slopes_of_a_weight_sum_to_zero_and_are_symmetric(table):
    slopes = softmax_jacobian(softmax(table))
    np.testing.assert_allclose(slopes.sum(axis=-1), 0, atol=1e-12)
    np.testing.assert_allclose(slopes, np.swapaxes(slopes, -1, -2), atol=1e-12)


def test_entropy_by_hand():
    assert entropy([0.5, 0.25, 0.25]) == pytest.approx(1.5 * math.log(2))
    assert str(entropy([0.0, 1.0])) == "0.0"  # neither nan nor -0.0


@given(score_tables())
@few
def test_entropy_lies_between_zero_and_that_of_equal_weights(table):
    found = entropy(softmax(table))
    assert found.shape == table.shape[:-1]
    assert (found >= -1e-12).all()
    assert (found <= math.log(table.shape[-1]) + 1e-12).all()
    np.testing.assert_allclose(entropy(softmax(0 * table)), math.log(table.shape[-1]), atol=1e-12)


def test_a_causal_mask_allows_the_token_itself_and_earlier_ones():
    mask = causal_mask(L)
    assert mask.dtype == bool
    assert mask.shape == (L, L)
    for query, key in np.ndindex(L, L):
        assert mask[query, key] == (key <= query)


# arguments

Q_, K_, V_ = np.ones((L, K)), np.ones((M, K)), np.ones((M, V))
X_, W_ = np.ones((L, D)), np.ones((D, K))
CALLS = {
    "softmax": (softmax, (normal(L, M), random_mask(L, M))),
    "scores": (scores, tables()[:2]),
    "attention_weights": (attention_weights, (*tables()[:2], random_mask(L, M))),
    "attention": (attention, (*tables(), random_mask(L, M))),
    "soft_lookup": (soft_lookup, tables()),
    "gaussian_lookup": (gaussian_lookup, (*tables(), 2.0)),
    "lookup_arguments": (lookup_arguments, tables()),
    "project": (project, (normal(L, D), *matrices())),
    "self_attention": (self_attention, (normal(L, D), *matrices(), random_mask(L, L))),
    "cross_attention": (cross_attention, (normal(L, D), normal(M, D), *matrices(), random_mask(L, M))),
    "softmax_jacobian": (softmax_jacobian, (softmax(normal(L, M)),)),
    "entropy": (entropy, (np.array([[0.0, 1.0], [0.5, 0.5]]),)),
}


@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_never_changed(name):
    function, arguments = CALLS[name]
    copies = [np.copy(each) for each in arguments]
    function(*arguments)
    for argument, copy in zip(arguments, copies, strict=True):
        np.testing.assert_array_equal(argument, copy)


REFUSALS = [
    (lambda: softmax(1.0), "scores: expected at least one score on the last axis, got shape ()"),
    (
        lambda: softmax(np.ones((L, 0))),
        "scores: expected at least one score on the last axis, got shape (5, 0)",
    ),
    (lambda: softmax(["a"]), "scores: expected real numbers, got an array of type <U1"),
    (lambda: softmax([1j]), "scores: expected real numbers, got an array of type complex128"),
    (lambda: softmax([True]), "scores: expected real numbers, got an array of type bool"),
    (lambda: softmax([1.0], [1]), "mask: expected booleans (True = may attend), got an array of type int64"),
    (lambda: softmax(Q_, V_ > 0), "mask: expected a shape that broadcasts to (5, 13), got (7, 17)"),
    (lambda: softmax([1.0], [[True]]), "mask: expected a shape that broadcasts to (1,), got (1, 1)"),
    (lambda: scores([1.0], K_), "Q: expected one row per token (two axes or more), got shape (1,)"),
    (lambda: scores(Q_, 1.0), "K: expected one row per token (two axes or more), got shape ()"),
    (lambda: scores(Q_, V_), "K: expected keys of width 13 as in Q, got width 17"),
    (lambda: scores(Q_ > 0, K_), "Q: expected real numbers, got an array of type bool"),
    (lambda: attention_weights(Q_, K_, temperature=0), "temperature: expected a number above 0, got 0"),
    (
        lambda: attention_weights(Q_, K_, temperature=math.nan),
        "temperature: expected a number above 0, got nan",
    ),
    (lambda: attention(Q_, K_, Q_), "V: expected 7 rows, one per key, got shape (5, 13)"),
    (lambda: attention(Q_, K_, [1.0] * M), "V: expected 7 rows, one per key, got shape (7,)"),
    (lambda: attention(Q_, K_, V_ > 0), "V: expected real numbers, got an array of type bool"),
    (lambda: gaussian_lookup(Q_, K_, V_, 0), "width: expected a number above 0, got 0"),
    (lambda: gaussian_lookup(Q_, K_, V_, math.nan), "width: expected a number above 0, got nan"),
    (lambda: project([1.0], W_, W_, W_), "X: expected one row per token (two axes or more), got shape (1,)"),
    (lambda: project(X_, V_, W_, W_), "W_q: expected 11 rows, one per column of X, got shape (7, 17)"),
    (lambda: project(X_, W_, V_, W_), "W_k: expected 11 rows, one per column of X, got shape (7, 17)"),
    (lambda: project(X_, W_, W_, [1.0] * D), "W_v: expected 11 rows, one per column of X, got shape (11,)"),
    (lambda: self_attention(X_, W_, V_, V_), "W_k: expected 11 rows, one per column of X, got shape (7, 17)"),
    (lambda: self_attention(X_, W_, X_.T, W_), "K: expected keys of width 13 as in Q, got width 5"),
    (
        lambda: cross_attention(X_, V_, W_, W_, W_),
        "W_k: expected 17 rows, one per column of Y, got shape (11, 13)",
    ),
    (
        lambda: cross_attention(X_, 1.0, W_, W_, W_),
        "Y: expected one row per token (two axes or more), got shape ()",
    ),
    (lambda: softmax_jacobian(1.0), "weights: expected one axis or more, got a single number"),
    (lambda: entropy(1.0), "weights: expected one axis or more, got a single number"),
    (lambda: causal_mask(0), "length: expected 1 or more, got 0"),
]


@pytest.mark.parametrize(("call", "message"), REFUSALS, ids=[message[:30] for _, message in REFUSALS])
def test_an_argument_that_does_not_fit_is_named_with_what_was_expected_and_what_came(call, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message is compared below
        call()
    assert str(error.value) == message


@pytest.mark.parametrize(
    "lookup", [soft_lookup, lambda *table: gaussian_lookup(*table, width=1.0), lookup_arguments]
)
@pytest.mark.parametrize(
    ("query", "keys", "values", "message"),
    [
        (1.0, K_, V_, "query: expected one axis or more, the last of the keys' width, got a single number"),
        ([1.0], K_, V_, "query: expected width 13 as in keys, got width 1"),
        (Q_, np.ones((M, 1)), V_, "query: expected width 1 as in keys, got width 13"),
        (Q_, K_[0], V_, "keys: expected a table (M, K) of one row or more, got shape (13,)"),
        (Q_, K_[None], V_, "keys: expected a table (M, K) of one row or more, got shape (1, 7, 13)"),
        (Q_, K_[:0], V_[:0], "keys: expected a table (M, K) of one row or more, got shape (0, 13)"),
        (Q_, K_, V_[:1], "values: expected 7 rows, one per key, got shape (1, 17)"),
        (Q_, K_, V_[:, 0], "values: expected 7 rows, one per key, got shape (7,)"),
        (Q_ > 0, K_, V_, "query: expected real numbers, got an array of type bool"),
        (Q_, K_ > 0, V_, "keys: expected real numbers, got an array of type bool"),
        (Q_, K_, V_ > 0, "values: expected real numbers, got an array of type bool"),
    ],
)
def test_a_lookup_stretches_nothing_that_does_not_fit(lookup, query, keys, values, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message is compared below
        lookup(query, keys, values)
    assert str(error.value) == message
