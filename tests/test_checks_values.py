"""Values survive the way through JSON; a record that lies is refused before anything is made of it."""

from __future__ import annotations

import base64
import json
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from course_lib.checks.answer import MIME, read_bundles
from course_lib.checks.arrays import DTYPES, MAX_BYTES, BadRecord
from course_lib.checks.values import (
    MAX_DEPTH,
    MAX_ITEMS,
    Entry,
    Same,
    decode,
    decode_named,
    encode,
    readable,
    receive,
)

ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4))
)
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=50)
)


def _through_json(value):
    return json.loads(json.dumps(encode(value)))


@given(ARRAYS)
def test_an_array_comes_back_bit_for_bit(array: np.ndarray) -> None:
    back = decode(_through_json(array))
    assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())


@given(ARRAYS)
def test_an_array_is_received_as_it_was_sent(array: np.ndarray) -> None:
    got = receive(_through_json(array))
    assert got.kind == "array"
    assert (got.value.dtype, got.value.tobytes()) == (array.dtype, array.tobytes())


@given(PLAIN)
def test_a_plain_value_comes_back(value) -> None:
    back = decode(_through_json(value))
    assert back == value
    assert type(back) is type(value)


@given(st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner), max_leaves=6))
def test_whatever_is_encoded_can_be_received(value) -> None:
    receive(_through_json(value))


@given(hnp.arrays("float32", hnp.array_shapes(max_dims=3, max_side=3)))
def test_a_tensor_comes_back_as_a_tensor(array: np.ndarray) -> None:
    back = decode(_through_json(torch.from_numpy(array)))
    assert isinstance(back, torch.Tensor)
    assert back.numpy().tobytes() == array.tobytes()


def test_a_tensor_with_a_gradient_and_a_short_float_are_received_as_numbers() -> None:
    assert receive(encode(torch.ones(2, requires_grad=True))).value.tolist() == [1.0, 1.0]
    assert receive(encode(torch.ones(2, dtype=torch.bfloat16))).value.dtype == np.float32


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=">f8").reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(12.0).reshape(2, 6)[:, ::2],
        np.broadcast_to(np.arange(3.0), (2, 3)),
        np.arange(6, dtype=np.longdouble).reshape(2, 3),
        np.ma.masked_array(np.arange(6.0).reshape(2, 3)),
        np.arange(6.0).reshape(2, 3).view(np.matrix),
    ],
    ids=["big-endian", "Fortran", "strided", "broadcast", "long double", "masked", "matrix"],
)
def test_numbers_survive_unusual_memory(array: np.ndarray) -> None:
    got = receive(_through_json(array)).value
    assert got.dtype == np.float64
    assert got.tolist() == np.asarray(array).astype(float).tolist()


def test_whole_numbers_with_their_bytes_in_another_order_are_the_same_numbers() -> None:
    got = receive(_through_json(np.array([1, 256, -3], dtype=">i4"))).value
    assert (got.dtype, got.tolist()) == (np.int32, [1, 256, -3])


def test_a_numpy_scalar_is_an_array_without_axes() -> None:
    got = receive(encode(np.float32(0.5)))
    assert (got.kind, got.value.shape, float(got.value)) == ("array", (), 0.5)


def test_an_argument_can_be_the_very_object_of_another_one() -> None:
    arguments = {"Q": _through_json(np.ones(2)), "K": _through_json(Same("Q"))}
    values = decode_named(arguments, ["Q", "K"])
    assert values["K"] is values["Q"]


@pytest.mark.parametrize("names", [["K"], ["K", "Q"]])
def test_an_object_that_does_not_stand_before_cannot_be_taken_again(names: list[str]) -> None:
    with pytest.raises(BadRecord):
        decode_named({"Q": _through_json(1.0), "K": _through_json(Same("Q"))}, names)


def test_an_entry_is_built_with_its_own_arguments() -> None:
    record = json.loads(json.dumps(encode(Entry("generator", {"seed": 3}))))
    assert decode(record).random() == np.random.default_rng(3).random()


@given(st.dictionaries(st.text(max_size=50), st.integers(-(2**63) + 1, 2**63 - 1), max_size=9))
def test_a_dict_of_text_to_whole_numbers_comes_back_in_its_order(value: dict[str, int]) -> None:
    assert list(decode(_through_json(value)).items()) == list(value.items())


def test_a_dict_that_a_function_returns_is_named_in_words() -> None:
    got = receive(_through_json({"red": 4}))
    assert (got.kind, got.value) == ("other", "a value of type dict")


class _Hostile:
    """An object that objects to being looked at."""

    @property
    def __class__(self):
        raise SystemExit


class _Endless(list):
    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[int]:
        raise MemoryError


def _cycle() -> list:
    items: list = []
    items.append(items)
    return items


UNREADABLE = {
    "a value of type object": lambda: object(),
    "an array of object": lambda: np.array([1, "a", None], dtype=object),
    "an array of complex128": lambda: np.ones(2, dtype=complex),
    "an array of datetime64[D]": lambda: np.array(["2026-01-01"], dtype="datetime64[D]"),
    "an array of void64": lambda: np.ones(2, dtype=[("a", float)]),
    "an array of float64": lambda: np.ones((1,) * 20),
    "a tensor of complex64": lambda: torch.ones(2, dtype=torch.complex64),
    "a value that cannot be read": _Hostile,
    "a value that cannot be read, for its items": _Endless,
    "a value that cannot be read, being sparse": lambda: torch.ones(2, 2).to_sparse(),
    "an array too large to read": lambda: np.zeros(MAX_BYTES),
    "an array too large to read, though empty": lambda: np.zeros((0, MAX_BYTES)),
    "a value too large to read": lambda: "x" * 2 * MAX_BYTES,
    "a whole number too large to read": lambda: 10**5000,
    "a whole number too large to read, though below 0": lambda: -(2**63),
    "a list with too much in it": lambda: [0] * (MAX_ITEMS + 1),
    "a value of type dict, of other things": lambda: {"a": [1]},
    "a value of type dict, of truths": lambda: {"a": True},
    "a value of type dict, too large": lambda: {str(key): key for key in range(MAX_ITEMS + 1)},
    "a value of type generator": lambda: (each for each in "ab"),
}


@pytest.mark.parametrize("words", UNREADABLE)
def test_what_has_no_encoding_is_named_in_words(words: str) -> None:
    record = encode(UNREADABLE[words]())
    assert record == {"kind": "other", "type": words.split(",")[0]}
    assert receive(json.loads(json.dumps(record))).value == record["type"]


def test_an_interrupt_is_not_swallowed() -> None:
    class Interrupted(list):
        def __len__(self) -> int:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode(Interrupted())


REPEATED = {
    "one array many times": lambda: [np.zeros(MAX_BYTES // 16)] * 900,
    "lists in lists": lambda: [[[[0] * 900] * 900] * 900] * 900,
    "a list in itself": _cycle,
    "long texts": lambda: ["x" * 5000] * 1000,
}


@pytest.mark.parametrize("name", REPEATED)
def test_a_value_that_repeats_itself_stays_small(name: str) -> None:
    assert len(json.dumps(encode(REPEATED[name]()))) < 10 * MAX_BYTES


def _array(**changes) -> dict:
    return encode(np.arange(6.0).reshape(2, 3)) | changes


DEEP: dict = {"kind": "plain", "value": 1}
for _ in range(MAX_DEPTH + 1):
    DEEP = {"kind": "tuple", "items": [DEEP]}
VERY_DEEP = DEEP
for _ in range(50_000):
    VERY_DEEP = {"kind": "list", "items": [VERY_DEEP]}

HOSTILE = {
    "no record": None,
    "a list": [],
    "a text": "array",
    "no kind": {},
    "kind is a list": {"kind": ["array"]},
    "an unknown kind": {"kind": "pickle", "data": "gASVAAAAAAAAAAA="},
    "too few bytes": _array(shape=[2, 4]),
    "too many bytes": _array(shape=[2, 2]),
    "a huge shape": _array(shape=[10**6, 10**6]),
    "a huge shape hidden by a zero": _array(shape=[0] + [MAX_BYTES] * 15, data=""),
    "a shape beyond 64 bits": _array(shape=[2**70]),
    "a negative size": _array(shape=[-2, -3]),
    "a fraction as size": _array(shape=[2.0, 3.0]),
    "a truth value as size": _array(shape=[True, 6]),
    "too many axes": _array(shape=[1] * 20 + [6]),
    "no shape": _array(shape=None),
    "a nested shape": _array(shape=[[2, 3]]),
    "objects": _array(dtype="object"),
    "objects in short": _array(dtype="O"),
    "texts": _array(dtype="<U8"),
    "a dtype that is a list": _array(dtype=["float64"]),
    "not base64": _array(data="???"),
    "base64 with a line": _array(data=_array()["data"][:4] + "\n" + _array()["data"][4:]),
    "wrong padding": _array(data=_array()["data"][:-1]),
    "letters outside ASCII": _array(data="é" * 64),
    "data as numbers": _array(data=[0] * 48),
    "no data": _array(data=None),
    "booleans of 2": {
        "kind": "array",
        "dtype": "bool",
        "shape": [2],
        "data": base64.b64encode(b"\0\2").decode(),
    },
    "a plain object": {"kind": "plain", "value": {"a": 1}},
    "a plain list": {"kind": "plain", "value": [1]},
    "a huge whole number": {"kind": "plain", "value": 10**400},
    "items as text": {"kind": "tuple", "items": "ab"},
    "no items": {"kind": "list"},
    "too many items": {"kind": "list", "items": [{"kind": "plain", "value": 1}] * (MAX_ITEMS + 1)},
    "a bad item": {"kind": "list", "items": [1]},
    "deep": DEEP,
    "very deep": VERY_DEEP,
    "an unnamed other": {"kind": "other", "type": 3},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_record_that_lies_is_refused(name: str) -> None:
    with pytest.raises(BadRecord):
        receive(HOSTILE[name])
    with pytest.raises(BadRecord):
        decode(HOSTILE[name])


def test_an_output_cannot_claim_to_be_an_argument_that_is_built() -> None:
    with pytest.raises(BadRecord):
        receive(encode(Entry("generator", {"seed": 3})))


@pytest.mark.parametrize(
    ("keys", "values"),
    [("ab", [1, 2]), (["a"], [1, 2]), (["a"], ["b"]), ([1], [1]), (["a"], [True]), (["a"], None)],
)
def test_mappings_that_lie_are_refused(keys: object, values: object) -> None:
    with pytest.raises(BadRecord):
        decode({"kind": "mapping", "keys": keys, "values": values})


def test_entries_that_lie_are_refused() -> None:
    with pytest.raises(BadRecord):
        decode({"kind": "entry", "name": "generator", "arguments": [3]})
    with pytest.raises(ValueError, match="expected one of"):
        decode({"kind": "entry", "name": "os.system", "arguments": {}})


def test_nothing_is_allocated_for_a_shape_that_lies() -> None:
    tracemalloc.start()
    try:
        for name in (
            "a huge shape",
            "a huge shape hidden by a zero",
            "a shape beyond 64 bits",
            "too many bytes",
        ):
            with pytest.raises(BadRecord):
                receive(HOSTILE[name])
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_not_a_number_is_received_as_such() -> None:
    assert np.isnan(receive(_through_json(float("nan"))).value)
    assert np.isnan(receive(_through_json(np.array([np.nan]))).value[0])


def test_text_from_a_kernel_stays_on_one_short_line() -> None:
    assert readable("a\n\x1b[31mb\u202ec", 60) == "a  [31mb c"
    assert len(receive({"kind": "other", "type": "x" * 10**6}).value) == 80


def _bundle(**changes) -> dict:
    return {"function": "f", "missing": None, "calls": [_call("a #0"), _call("b #0")]} | changes


def _call(name: object = "a #0", **changes) -> dict:
    return {"id": name, "returned": {"kind": "plain", "value": 1}, "changed": []} | changes


def _without(record: dict, key: str) -> dict:
    return {name: value for name, value in record.items() if name != key}


def _raised(**changes) -> dict:
    return _call(error={"type": "E", "message": "", "line": ""} | changes)


def _shown(*bundles) -> list[dict]:
    """Each in an output of its own: a text as it is, all else as the only bundle."""
    return [{"data": {MIME: each if isinstance(each, str) else json.dumps([each])}} for each in bundles]


def test_the_one_bundle_is_found_among_other_outputs() -> None:
    outputs = [{"output_type": "stream", "text": "hello"}, {"data": {"text/plain": "1"}}, *_shown(_bundle())]
    assert read_bundles(outputs, 1) == [_bundle()]


def test_several_bundles_come_in_one_output_and_are_counted() -> None:
    bundles = [_bundle(), _bundle(calls=[_call("a #1")])]
    outputs = _shown(json.dumps(bundles))
    assert read_bundles(outputs, 2) == bundles
    for count in (1, 3):
        with pytest.raises(BadRecord, match="not as many"):
            read_bundles(outputs, count)


@pytest.mark.parametrize(
    "outputs",
    [
        [],
        _shown(_bundle(), _bundle()),
        _shown("{"),
        _shown("[" * 100_000),
        _shown('[{"calls": [], "missing": ' + "1" * 5000 + "}]"),
        [{"data": {MIME: _bundle()}}],
        _shown([]),
        _shown("null"),
        _shown(_bundle(calls=None)),
        _shown(_bundle(calls={"a": 1})),
        _shown(_bundle(missing=3)),
        _shown(_bundle(calls=[1])),
        _shown(_bundle(calls=[{}])),
        _shown(_bundle(calls=[_call(["a"])])),
        _shown(_bundle(calls=[_call(), _call()])),
        _shown(" " * (64 * 2**20 + 1)),
        _shown(_without(_bundle(), "missing")),
        [{"data": None}],
        [{"data": 7}],
        [{"data": MIME}],
        *(_shown(_bundle(calls=[_without(_call(), key)])) for key in _call()),
        _shown(_bundle(calls=[_call(changed=[["x"]])])),
        _shown(_bundle(calls=[_call(returned={"kind": ["plain"]})])),
        _shown(_bundle(calls=[_raised(message=None)])),
        _shown(_bundle(calls=[_call(error="E")])),
    ],
    ids=[
        *("none", "two", "no JSON", "endless brackets", "endless number", "an object", "a list", "null"),
        *(
            "no calls",
            "calls as object",
            "missing as number",
            "a call that is a number",
            "no id",
            "id as list",
        ),
        *("one id twice", "too long", "no missing"),
        *("data is null", "data is a number", "data is a text"),
        *(f"a call without {key}" for key in _call()),
        *("a list for a name", "a list for a kind", "an error without words", "an error that is a text"),
    ],
)
def test_a_malformed_bundle_is_refused(outputs: list[dict]) -> None:
    with pytest.raises(BadRecord):
        read_bundles(outputs, 1)
