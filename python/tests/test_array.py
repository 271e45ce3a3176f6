# SPDX-License-Identifier: Apache-2.0
"""`hr.Array` beside NumPy: its protocols, indexing, views, functions and errors."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import headrace as hr

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float32", "float64"]
SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=5)


def numbers(*shape: int, dtype: str = "float64") -> np.ndarray:
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


# ---- the protocols ---------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "complex128"])
def test_the_memory_goes_in_and_out_by_pointer(dtype: str) -> None:
    n = numbers(3, 4, dtype=dtype)
    hr.memory.ledger().clear()
    x = hr.asarray(n)
    for view in (np.asarray(x), x.to_numpy(), np.array(x, copy=False), np.from_dlpack(x)):
        assert view.ctypes.data == n.ctypes.data
        assert view.dtype == n.dtype
        np.testing.assert_array_equal(view, n)
        assert not view.flags.writeable
    assert np.frombuffer(memoryview(x).cast("B"), dtype).ctypes.data == n.ctypes.data
    assert x.__array_interface__["data"] == (n.ctypes.data, True)
    assert hr.memory.ledger().total_bytes == 0


@pytest.mark.parametrize("key", [np.s_[::2], np.s_[::-1, 1:], np.s_[:, 3], np.s_[..., None][:1]])
def test_strided_views_go_in_and_out_by_pointer(key: Any) -> None:
    n = numbers(6, 7)[key]
    x = hr.asarray(n)
    view = np.asarray(x)
    assert (view.ctypes.data, view.strides) == (n.ctypes.data, n.strides)
    assert np.shares_memory(x.T.to_numpy(), n)
    np.testing.assert_array_equal(x.T.to_numpy(), n.T)


def test_views_hold_the_memory_after_the_handles_are_gone() -> None:
    n = numbers(1000)
    expected = n.copy()
    view = np.asarray(hr.asarray(n)[10:20])
    mapped = memoryview(hr.asarray(n) * 2)
    del n
    np.testing.assert_array_equal(view, expected[10:20])
    np.testing.assert_array_equal(np.asarray(mapped), expected * 2)


def test_array_asks_for_a_copy_as_numpy_wants_it() -> None:
    x = hr.asarray(numbers(5))
    hr.memory.ledger().clear()
    mine = np.array(x)  # NumPy's default is copy=True
    mine[0] = 7
    assert x.tolist()[0] == 0
    assert np.asarray(x, dtype="float32").dtype == np.float32
    assert np.asarray(x, dtype="float64", copy=False).ctypes.data == x.to_numpy().ctypes.data
    assert hr.memory.ledger().total_bytes == 0  # NumPy made these copies
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, dtype="float32", copy=False)
    with pytest.raises(hr.ExchangeError, match="copy=None or copy=True"):
        x.__array__("float32", copy=False)
    assert x.__array__("float32").dtype == np.float32
    assert x.__array__(copy=True).flags.writeable
    assert [e.bytes for e in hr.memory.ledger()] == [20, 40]


def test_exports_are_read_only() -> None:
    view = hr.asarray(numbers(3)).to_numpy()
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.flags.writeable = True
    with pytest.raises(TypeError, match="read-only"):
        memoryview(hr.asarray(numbers(3)))[0] = 1.0


@pytest.mark.parametrize("values", [[1, 2], [1.5, 2], [True, False], [[1], [2]], 3, 2.5, True, []])
def test_python_numbers_get_numpys_dtype(values: Any) -> None:
    x, n = hr.asarray(values), np.asarray(values)
    assert (x.dtype, x.shape, x.ndim, x.size) == (n.dtype, n.shape, n.ndim, n.size)
    assert x.tolist() == n.tolist()


def test_other_producers_are_shared() -> None:
    raw = bytes(range(16))
    x = hr.asarray(raw)
    assert x.dtype == "uint8"
    assert x.to_numpy().ctypes.data == np.frombuffer(raw, "uint8").ctypes.data
    held = memoryview(bytearray(raw)).cast("I", (2, 2))
    assert hr.asarray(held).shape == (2, 2)
    assert hr.asarray(held).dtype == "uint32"
    assert hr.asarray(np.float32(3)).dtype == "float32"
    assert float(hr.asarray(np.float64(2.5))) == 2.5


def test_numpy_scalars_stay_alive_and_keep_their_dtype() -> None:
    x = hr.asarray(np.arange(3, dtype="float32"))
    held = [x * np.float64(i) for i in range(200)]
    assert {each.dtype for each in held} == {"float64"}
    assert [each.tolist()[2] for each in held] == [2.0 * i for i in range(200)]
    assert (x * 2.5).dtype == "float32"


@pytest.mark.parametrize(
    ("values", "fix"),
    [
        (np.array(["a", "b"]), "Series"),
        (np.array([object()]), "astype"),
        (np.array(["2020-01-01"], "datetime64[D]"), "Series"),
        (np.array(["2020-01-01"], "datetime64[m]"), "astype"),
        (np.array([1], "timedelta64[m]"), "astype"),
        (np.array([1.0], ">f8"), "newbyteorder|astype"),
        (np.array([1.0], "float16"), "astype"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "fill"),
        (np.zeros(2, [("a", "f4"), ("b", "f8")]), "field"),
    ],
)
def test_what_has_no_array_form_is_an_error_that_names_the_fix(values: Any, fix: str) -> None:
    with pytest.raises(hr.Error, match=fix):
        hr.asarray(values)


# ---- immutability of results -----------------------------------------------------------------
def test_a_later_write_by_the_owner_changes_no_result() -> None:
    n = numbers(6)
    x = hr.asarray(n)
    twice, total, head = x * 2, x[1:].sum(), x.reshape(2, 3)[0] + 1
    n[:] = 99
    assert twice.tolist() == [0, 2, 4, 6, 8, 10]
    assert float(total) == 15
    assert head.tolist() == [1, 2, 3]


def test_a_frozen_array_stays_deferred() -> None:
    n = numbers(6)
    n.flags.writeable = False
    twice = hr.asarray(n) * 2 + 1
    assert not twice._node.is_ready
    assert "1 full-size pass" in twice.explain()


# ---- indexing --------------------------------------------------------------------------------
def basic_index(shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    return hnp.basic_indices(shape, allow_newaxis=False)


@given(st.data(), SHAPES)
def test_basic_indices_equal_numpy(data: st.DataObject, shape: tuple[int, ...]) -> None:
    n = numbers(*shape)
    key = data.draw(basic_index(shape))
    got, expected = hr.asarray(n)[key], n[key]
    assert got.shape == np.shape(expected)
    np.testing.assert_array_equal(got.to_numpy(), expected)
    if got.size:
        assert np.shares_memory(got.to_numpy(), n)


@given(st.data(), st.integers(0, 70))
def test_masks_and_positions_equal_numpy(data: st.DataObject, size: int) -> None:
    n = numbers(size, 2)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)
    x = hr.asarray(n)
    np.testing.assert_array_equal(x[mask].to_numpy(), n[mask])
    np.testing.assert_array_equal(x[hr.asarray(mask)].to_numpy(), n[mask])
    if size:
        at = data.draw(st.lists(st.integers(-size, size - 1), max_size=9))
        at_array = np.array(at, "int64")
        np.testing.assert_array_equal(x[at_array].to_numpy(), n[at_array])
        np.testing.assert_array_equal(x[:, 0][at_array].to_numpy(), n[:, 0][at_array])


@pytest.mark.parametrize("key", [6, -7, (0, 3), (0, 0, 0), np.array([6]), np.array([-7])])
def test_positions_out_of_range_are_index_errors(key: Any) -> None:
    x = hr.asarray(numbers(6, 3))
    with pytest.raises((IndexError, hr.InvalidArgumentError), match=r"range|too many"):
        x[key].to_numpy()


@pytest.mark.parametrize("key", ["a", 1.5, np.array([0.5]), slice(None, None, 0)])
def test_other_indices_are_refused(key: Any) -> None:
    with pytest.raises((TypeError, ValueError, IndexError)):
        hr.asarray(numbers(6))[key]


@pytest.mark.parametrize("values", [None, {"a": 1}, [1, None], "abc", [2**70]])
def test_no_array_of_numbers_is_refused(values: Any) -> None:
    with pytest.raises(hr.TypeMismatchError, match=r"expected numbers or bools.*use a Series"):
        hr.asarray(values)


def test_a_mask_of_another_length_is_refused() -> None:
    with pytest.raises(hr.InvalidArgumentError, match=r"mask=\(3,\), axes=\(4,\)"):
        hr.asarray(numbers(4))[np.array([True, False, True])]


@given(SHAPES, st.data())
def test_reshape_and_transpose_equal_numpy(shape: tuple[int, ...], data: st.DataObject) -> None:
    n = numbers(*shape)
    axes = data.draw(st.permutations(range(n.ndim)))
    x = hr.asarray(n).transpose(*axes)
    np.testing.assert_array_equal(x.to_numpy(), n.transpose(axes))
    np.testing.assert_array_equal(x.reshape(n.size).to_numpy(), n.transpose(axes).reshape(-1))
    np.testing.assert_array_equal(hr.asarray(n).ravel().to_numpy(), n.ravel())
    assert np.transpose(hr.asarray(n)).shape == n.T.shape


def test_a_reshape_that_copies_is_in_the_ledger() -> None:
    x = hr.asarray(numbers(4, 5))
    hr.memory.ledger().clear()
    x.reshape(5, 4).to_numpy()
    assert hr.memory.ledger().total_bytes == 0
    x.T.reshape(-1).to_numpy()
    assert hr.memory.ledger().total_bytes == 160
    with pytest.raises(hr.InvalidArgumentError, match=r"\(4, 5\).*\(3, 7\)"):
        x.reshape(3, 7)
    with pytest.raises(hr.InvalidArgumentError, match="reshape"):
        x.reshape(3, -1)


# ---- NumPy's functions -----------------------------------------------------------------------
@pytest.mark.parametrize(
    "name", ["sum", "prod", "mean", "std", "var", "min", "max", "any", "all", "argmin", "argmax"]
)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_numpys_reductions_stay_ours(name: str, axis: int | None) -> None:
    n = numbers(4, 3)
    got = getattr(np, name)(hr.asarray(n), axis=axis)
    assert isinstance(got, hr.Array)
    np.testing.assert_allclose(got.to_numpy(), getattr(np, name)(n, axis=axis), rtol=1e-15)


def test_numpys_functions_stay_ours() -> None:
    n = numbers(9) - 4
    x = hr.asarray(n)
    cases = [
        (np.where(x > 0, x, -1), np.where(n > 0, n, -1)),
        (np.clip(x, -1, 2), np.clip(n, -1, 2)),
        (np.diff(x), np.diff(n)),
        (np.diff(x, n=2), np.diff(n, n=2)),
        (np.flatnonzero(x), np.flatnonzero(n)),
        (np.count_nonzero(x), np.count_nonzero(n)),
        (np.round(x / 3), np.round(n / 3)),
        (np.reshape(x, (3, 3)), np.reshape(n, (3, 3))),
        (np.ravel(x), np.ravel(n)),
        (np.isnan(x), np.isnan(n)),
        (np.abs(x), np.abs(n)),
        (np.add.reduce(x), np.add.reduce(n)),
        (abs(-x), abs(-n)),
        (n + x, n + n),
        (np.float32(2) * x, np.float32(2) * n),
        (n[:1] < x, n[:1] < n),
        (np.round(x / 300, 2), np.round(n / 300, 2)),
        ((x * 37).round(-2), (n * 37).round(-2)),
    ]
    for got, expected in cases:
        assert isinstance(got, hr.Array)
        assert got.dtype == np.asarray(expected).dtype
        np.testing.assert_array_equal(got.to_numpy(), expected)
    counts, edges = np.histogram(x, bins=3)
    np.testing.assert_array_equal(counts.to_numpy(), np.histogram(n, bins=3)[0])
    np.testing.assert_array_equal(edges.to_numpy(), np.histogram(n, bins=3)[1])
    assert (np.shape(x), np.ndim(x), np.size(x)) == ((9,), 1, 9)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.linalg.norm(x),
        lambda x: np.concatenate([x, x]),
        lambda x: np.add.accumulate(x),
        lambda x: np.add(x, 1, out=np.zeros(3)),
        lambda x: np.radians(x),
        lambda x: np.percentile(x, [20, 50]),
        lambda x: np.average(x, weights=x + 10),
        lambda x: np.corrcoef(x, x**2),
        lambda x: np.polyfit(x, x**2, 1),
        lambda x: np.unique(x),
        lambda x: np.where(x > 0)[0],
        lambda x: np.column_stack([x, x]),
        lambda x: x @ np.ones((3, 2)),
        lambda x: np.ones((2, 3)) @ x,
    ],
)
def test_numpy_computes_what_we_lack_of_small_operands(call: Any) -> None:
    n = numbers(3)
    before = len(hr.fallbacks())
    np.testing.assert_array_equal(call(hr.asarray(n)), call(n))
    np.testing.assert_array_equal(call(hr.Series(n)), call(n))
    assert len(hr.fallbacks()) >= before


def test_what_numpy_computed_is_listed_and_refused_if_strict() -> None:
    np.digitize(hr.asarray(numbers(3)), np.array([0.0, 1.0]))
    assert ("digitize", "computed by NumPy") in {each[:2] for each in hr.fallbacks()}
    with hr.strict(), pytest.raises(hr.UnsupportedError, match="digitize"):
        np.digitize(hr.asarray(numbers(3)), np.array([0.0, 1.0]))
    made = np.radians(hr.DataFrame({"k": ["a", "b"], "x": [0.0, 180.0]}).set_index("k").x)
    assert made.to_dict() == {"a": 0.0, "b": np.pi}


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.maximum(x, "a"),
        lambda x: np.add(np.ones(3), x, out=x),
        lambda x: np.kron(hr.asarray(np.zeros(1 << 20 | 1)), x),
    ],
)
def test_what_we_lack_is_an_error_that_names_the_way_out(call: Any) -> None:
    with pytest.raises(
        (hr.UnsupportedError, hr.TypeMismatchError), match=r"to_numpy|dtype|operand|immutable"
    ):
        call(hr.asarray(numbers(3)))


def test_foreign_operands_are_left_to_python() -> None:
    class Other:
        def __radd__(self, other: object) -> str:
            return "mine"

    assert hr.asarray(numbers(3)) + Other() == "mine"
    with pytest.raises(TypeError, match="unsupported operand"):
        hr.asarray(numbers(3)) + object()  # type: ignore[operator]


# ---- looking ---------------------------------------------------------------------------------
def test_python_sees_a_0d_array_as_its_number() -> None:
    x = hr.asarray(numbers(3))
    assert (float(x[1]), int(x[2]), bool(x[0]), x[1].item()) == (1.0, 2, False, 1.0)
    assert f"{x.sum():.2f}" == "3.00"
    assert round(x.sum() / 7, 2) == 0.43
    assert [10, 20, 30][hr.asarray([1, 2])[1]] == 30
    assert list(x) == [0, 1, 2]
    assert len(x) == 3
    assert 2.0 in x
    for call, error in ((float, TypeError), (int, TypeError), (bool, ValueError), (len, None)):
        if error:
            with pytest.raises((error, ValueError)):
                call(x)
        else:
            with pytest.raises(TypeError):
                call(x[0])
    with pytest.raises(TypeError, match="only integer arrays"):
        [1, 2, 3][x[0]]
    with pytest.raises(TypeError, match="several values"):
        hash(x)


def test_text_shows_values_or_the_plan() -> None:
    assert repr(hr.asarray([1, 2])) == "Array([1, 2], dtype=int64)"
    assert repr(hr.asarray([1.5]) * 2) == "Array([3.], dtype=float64)"
    frozen = numbers(5000)
    frozen.flags.writeable = False
    text = repr(hr.asarray(frozen) * 2)
    assert "lazy" in text
    assert "5,000" in text
    assert "..." in repr(hr.asarray(numbers(5000)))
    assert repr(hr.asarray(np.zeros((0, 3)))) == "Array([], shape=(0, 3), dtype=float64)"


def test_it_can_be_copied_and_pickled() -> None:
    x = hr.asarray(numbers(4)) + 1
    for other in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert other.tolist() == [1, 2, 3, 4]
        assert other.dtype == x.dtype


def test_eval_runs_several_in_one_pass() -> None:
    n = numbers(1000)
    n.flags.writeable = False
    x = hr.asarray(n) * 2
    low, high = x.min(), x.max()
    hr.eval(low, high)
    assert low._node.is_ready
    assert high._node.is_ready
    assert (float(low), float(high)) == (0, 1998)
    with pytest.raises(hr.TypeMismatchError, match="expected an array"):
        hr.eval(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_are_words_that_numpy_takes(dtype: str) -> None:
    word = hr.asarray(np.zeros(1, dtype)).dtype
    assert word == dtype == word.name
    assert word == np.dtype(dtype)
    assert np.dtype(word) == dtype
    assert word == np.dtype(dtype).type
    assert (word.kind, word.itemsize) == (np.dtype(dtype).kind, np.dtype(dtype).itemsize)
    assert word != "string"
    assert hr.asarray([1]).astype(np.dtype(dtype)).dtype == dtype


def test_an_unknown_dtype_names_the_known_ones() -> None:
    for dtype in ("datetime64[h]", object, "nonsense"):
        with pytest.raises(TypeError, match="use one of bool, int8"):
            hr.asarray([1]).astype(dtype)
    with pytest.raises(TypeError, match=r"float16.*use 'float32'"):
        hr.asarray([1]).astype("float16")
