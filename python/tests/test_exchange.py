# SPDX-License-Identifier: Apache-2.0
"""Memory shared with other libraries, both ways by pointer, and the errors where it cannot be."""

from __future__ import annotations

import copy
import ctypes
import datetime as dt
import gc
import math
import signal
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import duckdb
import numba
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headrace as hr

NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NUMBERS += ["float32", "float64"]


@pytest.fixture
def no_copy() -> Iterator[None]:
    """The whole test passes without a copy by Headrace."""
    hr.memory.ledger().clear()
    yield
    assert not hr.memory.ledger().entries


def numbers(dtype: str = "float64", size: int = 100) -> np.ndarray:
    return np.arange(size).astype(dtype)


def address(x: Any) -> int:
    """Where the values begin, as each library says it."""
    if isinstance(x, hr.Series | hr.Array):
        return x.__array_interface__["data"][0]
    if isinstance(x, pa.ChunkedArray):
        x = x.chunk(0)
    if isinstance(x, pa.Array):
        return x.buffers()[1].address + x.offset * x.type.byte_width
    if isinstance(x, pl.Series):
        return x.to_numpy(allow_copy=False).ctypes.data
    if isinstance(x, pd.Series):
        array = x.array
        return (
            address(array._pa_array) if hasattr(array, "_pa_array") else address(array.to_numpy())
        )
    return x.ctypes.data


def list_of(x: Any) -> list[Any]:
    return x.to_list() if isinstance(x, pl.Series) else x.tolist()


# ---- both ways by pointer --------------------------------------------------------------------
@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.usefixtures("no_copy")
def test_numbers_are_the_same_memory_in_all_libraries(dtype: str) -> None:
    n = numbers(dtype)
    s = hr.Series(n, name="x", copy=False)
    for other in (s.to_numpy(), s.to_arrow(), pl.Series(s), s.to_pandas(), s.to_array()):
        assert address(other) == n.ctypes.data, type(other)
    for source in (
        n,
        pa.array(n),
        pl.Series(n),
        pd.Series(n),
        pd.Series(n, dtype=f"{dtype}[pyarrow]"),
    ):
        got = hr.Series(source, copy=False)
        assert address(got) == address(source), type(source)
        assert got.dtype == dtype
        assert got.to_list() == n.tolist()
        assert address(hr.asarray(source)) == address(source), type(source)


@pytest.mark.usefixtures("no_copy")
def test_slices_keep_their_place() -> None:
    n = numbers()
    s = hr.Series(n, copy=False)[10:30]
    assert address(s) == n.ctypes.data + 80
    assert pa.array(s).to_pylist() == pl.Series(s).to_list() == n[10:30].tolist()
    assert address(pa.array(s)) == n.ctypes.data + 80
    assert hr.Series(pa.array(n)[7:9]).to_list() == [7, 8]
    assert hr.Series(pl.Series(n)[7:9]).to_list() == [7, 8]
    assert hr.Series(pd.Series(n)[7:9], copy=False).to_list() == [7, 8]
    nothing = hr.DataFrame({"t": ["a", "b"], "n": [1, 2]})[2:]
    assert hr.from_pandas(nothing.to_pandas()).to_dict() == {"t": [], "n": []}


@pytest.mark.usefixtures("no_copy")
def test_frames_go_out_and_in_by_pointer() -> None:
    data = {"i": numbers("int64"), "f": numbers("float32")}
    df = hr.DataFrame(data, copy=False)
    for table in (pa.table(df), pl.DataFrame(df), df.to_pandas()):
        back = hr.from_pandas(table) if isinstance(table, pd.DataFrame) else hr.from_arrow(table)
        assert back.columns == ["i", "f"]
        for name, values in data.items():
            assert address(back[name]) == values.ctypes.data, type(table)
            assert back[name].to_list() == values.tolist()


@pytest.mark.usefixtures("no_copy")
def test_duckdb_reads_our_memory() -> None:
    n = numbers("int64", 5000)
    df = hr.DataFrame(
        {"x": n, "s": pa.array([f"text number {i}" for i in range(5000)], pa.string_view())},
        copy=False,
    )
    ours = pa.table(df)
    assert address(ours["x"]) == n.ctypes.data
    for name in ("ours", "df"):  # by pyarrow, and by our own stream
        total = duckdb.sql(f"select sum(x), count(distinct s) from {name}").fetchall()
        assert total == [(n.sum(), 5000)]
    back = duckdb.sql("select x * 2 as y from ours order by x").to_arrow_table()
    assert hr.from_arrow(back).y.to_list() == (n * 2).tolist()


@pytest.mark.usefixtures("no_copy")
def test_numba_kernels_see_our_memory() -> None:
    @numba.njit
    def total_and_place(x: np.ndarray) -> tuple[float, int]:
        total = 0.0
        for value in x:
            total += value
        return total, x.ctypes.data

    x = hr.asarray(numbers()) * 2
    total, place = total_and_place(np.asarray(x))
    assert total == float(x.sum())
    assert place == address(x)
    with pytest.raises(numba.TypingError, match="readonly"):
        numba.njit(lambda a: a.fill(0.0))(np.asarray(x))


# ---- nulls, bools and strings ----------------------------------------------------------------
@pytest.mark.parametrize("dtype", [*NUMBERS, "bool", "string"])
def test_nulls_survive_every_round_trip(dtype: str) -> None:
    values = {
        "bool": [True, None, False],
        "string": ["a", None, "a text of more than twelve bytes"],
    }
    values = values.get(dtype, [1, None, 3]) * 30
    s = hr.Series(values, name="x", dtype=dtype)
    for other in (s.to_arrow(), pl.Series(s), s.to_pandas()):
        assert [None if pd.isna(v) else v for v in list_of(other)] == values
        back = hr.Series(other)
        assert back.to_list() == values
        assert back.dtype == dtype
        assert back[1:4].is_null().to_list() == [True, False, False]
    copied = {entry.reason for entry in hr.memory.ledger().entries}
    texts = {"strings converted to pandas strings", "string offsets become views"}
    assert copied == (texts if dtype == "string" else set())
    assert s.to_arrow().null_count == 30


def test_null_is_not_nan_on_the_way() -> None:
    values = [1.0, None, math.nan]
    arrow = hr.Series(values).to_arrow()
    assert arrow.null_count == 1
    assert math.isnan(arrow[2].as_py())
    back = hr.Series(pa.array(values, from_pandas=False))
    assert (back.is_null().to_list(), back.is_nan().fill_null(False).to_list()) == (
        [False, True, False],
        [False, False, True],
    )


def test_copies_of_columns_are_in_the_ledger() -> None:
    hr.memory.ledger().clear()
    floats = hr.Series([1.0, None]).to_numpy()
    assert math.isnan(floats[1])
    bools = hr.Series([True, False]).to_numpy()
    assert bools.tolist() == [True, False]
    texts = hr.Series(["a", None]).to_numpy()
    assert texts.tolist() == ["a", None]
    assert [e.bytes > 0 and not e.asked for e in hr.memory.ledger()] == [True] * 3
    with hr.no_copies():
        for s in (hr.Series([1.0, None]), hr.Series([True]), hr.Series(["a"])):
            with pytest.raises(hr.InvalidArgumentError, match="to_numpy"):
                s.to_numpy()
        assert hr.Series([1.0]).to_numpy().tolist() == [1.0]


@pytest.mark.parametrize("call", [np.from_dlpack, memoryview, lambda s: s.__array_interface__])
@pytest.mark.parametrize(
    ("values", "fix"),
    [
        ([1, None], "fillna|fill_null|dropna"),
        (["a"], "to_list|to_arrow"),
        ([True], "astype|to_numpy"),
    ],
)
def test_what_a_protocol_cannot_say_is_an_error_that_names_the_fix(
    call: Any, values: list[Any], fix: str
) -> None:
    s = hr.Series(values)
    with pytest.raises((hr.ExchangeError, BufferError, AttributeError), match=fix):
        call(s)
    assert s.to_list() == values


@pytest.mark.parametrize("values", [[1, None], ["a"], [None, True]])
def test_to_array_names_the_fix(values: list[Any]) -> None:
    with pytest.raises(hr.Error, match=r"fillna|fill_null|dropna|numeric|astype"):
        hr.asarray(hr.Series(values)).to_numpy()


def test_numpy_asks_for_columns_with_nulls_by_array() -> None:
    s = hr.Series([1.0, None, 3.0])
    np.testing.assert_array_equal(np.asarray(s), [1, np.nan, 3])
    assert np.asarray(hr.Series([True, False])).dtype == bool
    assert np.asarray(hr.Series(["a", "b"])).tolist() == ["a", "b"]
    with pytest.raises(ValueError, match=r"fillna|fill_null|dropna"):
        np.asarray(hr.Series([1, None]))


# ---- DLPack ----------------------------------------------------------------------------------
def test_ctrl_c_in_a_buffer_is_not_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(array: Any) -> None:
        raise KeyboardInterrupt

    array = hr.asarray([1.0, 2.0]) + 1
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(type(array), "_buffer_value", interrupted)
            with pytest.raises(KeyboardInterrupt):
                np.asarray(array)  # NumPy drops errors of buffers
    finally:
        signal.signal(signal.SIGINT, former)
    assert np.asarray(array).tolist() == [2.0, 3.0]


def test_dlpack_is_versioned_and_read_only() -> None:
    x = hr.asarray(numbers())
    assert x.__dlpack_device__() == (1, 0)
    assert '"dltensor_versioned"' in repr(x.__dlpack__(max_version=(1, 0)))
    view = np.from_dlpack(x)
    assert view.ctypes.data == address(x)
    assert not view.flags.writeable
    copied = np.from_dlpack(x, copy=True)
    assert copied.ctypes.data != address(x)
    assert [(e.op, e.bytes, e.asked) for e in hr.memory.ledger()] == [("__dlpack__", 800, True)]
    copied[0] = 9
    assert x.tolist()[0] == 0


class Legacy:
    """An array as JAX and TensorFlow ask for it, by DLPack before 1.0."""

    def __init__(self, array: Any, copy: bool | None = None) -> None:
        self.array, self.copy = array, copy

    def __dlpack__(self, **_: Any) -> Any:
        return self.array.__dlpack__(copy=self.copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


def write_first(view: np.ndarray, value: float) -> None:
    """Write the first number of an array that NumPy takes for read-only."""
    ctypes.cast(view.ctypes.data, ctypes.POINTER(ctypes.c_double))[0] = value


def test_a_writable_export_leaves_the_plan() -> None:
    x = hr.asarray(np.arange(100.0)) + 1
    before = x * 2
    hr.eval(x, before)
    at = address(x)
    view = np.from_dlpack(Legacy(x, copy=False))
    assert view.ctypes.data == address(x) == at
    negated = -x
    write_first(view, 50.0)
    assert x.tolist()[0] == (x + 0).tolist()[0] == 50.0
    assert before.tolist()[0] == 2.0
    assert negated.tolist()[0] == -1.0


@pytest.mark.parametrize(
    "hold",
    [lambda x: x[2:], copy.copy, lambda x: x + 1, hr.Series, np.asarray, memoryview],
    ids=["view", "copy", "plan", "series", "numpy", "buffer"],
)
def test_memory_that_others_hold_is_not_exported_for_writing(hold: Any) -> None:
    x = hr.asarray(np.arange(100.0)) + 1
    hr.eval(x)
    held = hold(x)
    with pytest.raises(hr.ExchangeError, match="copy=True"):
        x.__dlpack__(copy=False)
    with hr.no_copies(), pytest.raises(hr.InvalidArgumentError, match="no_copies"):
        x.__dlpack__()
    hr.memory.ledger().clear()
    view = np.from_dlpack(Legacy(x))
    assert [(e.op, e.bytes, e.asked) for e in hr.memory.ledger()] == [("__dlpack__", 800, False)]
    write_first(view, 50.0)
    assert x.tolist()[0] == 1.0
    del held
    assert np.from_dlpack(Legacy(x, copy=False)).ctypes.data == address(x)


def test_memory_of_others_is_not_exported_for_writing() -> None:
    n = np.arange(100.0)
    # Of NumPy; rows that repeat; not contiguous.
    for x in (hr.asarray(n), hr.ones((3, 4)), hr.asarray([1.0, 2.0])[::-1]):
        with pytest.raises(hr.ExchangeError, match="copy=True"):
            x.__dlpack__(copy=False)
    assert '"dltensor"' in repr(hr.zeros((2, 0), "int8").__dlpack__(copy=False))  # nothing to write
    x = hr.asarray(n)
    for keywords in ({}, {"max_version": None}, {"max_version": (0, 8)}, {"copy": True}):
        assert '"dltensor"' in repr(x.__dlpack__(**keywords))
    with pytest.raises(hr.ExchangeError, match="stream=None"):
        x.__dlpack__(stream=1)


def test_an_exported_array_stays_in_memory_under_a_limit() -> None:
    with hr.memory.limit("64 MB"):
        x = hr.asarray(np.arange(1e6)) + 1
        hr.eval(x)
        view = np.from_dlpack(Legacy(x, copy=False))
        del x
        for _ in range(4):
            hr.eval(hr.asarray(np.arange(4e6)) * 2)
        assert view[0] == 1.0
        assert view[-1] == 1e6


def test_memory_of_lists_can_be_exported_for_writing() -> None:
    for x in (hr.asarray([1.0, 2.0]), hr.asarray([[True], [False]]), hr.array_api.asarray([1, 2])):
        assert np.from_dlpack(Legacy(x, copy=False)).tolist() == x.tolist()


def test_dlpack_refuses_streams_and_other_devices() -> None:
    x = hr.asarray(numbers())
    with pytest.raises(hr.ExchangeError, match="stream=None"):
        x.__dlpack__(stream=1, max_version=(1, 0))
    with pytest.raises(hr.ExchangeError, match="dl_device"):
        x.__dlpack__(dl_device=(2, 0), max_version=(1, 0))


def test_a_capsule_is_used_once_and_dies_unused_without_a_leak() -> None:
    with hr.memory.leak_check():
        x = hr.asarray(numbers()) * 2
        capsule = x.__dlpack__(max_version=(1, 0))
        assert hr.from_dlpack(capsule).tolist() == x.tolist()
        with pytest.raises(hr.InvalidArgumentError, match="already consumed"):
            hr.from_dlpack(capsule)
        x.__dlpack__(max_version=(1, 0))
        for capsules in (hr.Series(x).__arrow_c_array__(), hr.Series(x).__arrow_c_stream__()):
            assert capsules
        del x, capsule, capsules


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (2, 3, 4)])
@pytest.mark.usefixtures("no_copy")
def test_dlpack_takes_any_strides(shape: tuple[int, ...]) -> None:
    n = np.arange(math.prod(shape)).reshape(shape)[::-1]
    x = hr.from_dlpack(n)
    np.testing.assert_array_equal(x.to_numpy(), n)
    np.testing.assert_array_equal(np.from_dlpack(x.T), n.T)


# ---- Arrow capsules --------------------------------------------------------------------------
class Capsules:
    """An object that shows only the given method of another one."""

    def __init__(self, source: Any, method: str) -> None:
        setattr(type(self), method, lambda _, requested_schema=None: getattr(source, method)())


def only(source: Any, method: str) -> Any:
    return type("Only", (Capsules,), {})(source, method)


def test_capsules_can_be_asked_for_again() -> None:
    s = hr.Series([1, None, 3], name="x")
    df = hr.DataFrame({"x": s, "s": ["a", None, "c"]})
    for _ in range(2):
        assert pa.array(s).to_pylist() == [1, None, 3]
        assert pa.chunked_array(only(s, "__arrow_c_stream__")).to_pylist() == [1, None, 3]
        assert pa.table(df).to_pylist() == [
            {"x": a, "s": b} for a, b in zip([1, None, 3], ["a", None, "c"], strict=True)
        ]
        assert pa.RecordBatchReader.from_stream(df).read_all().num_rows == 3
        assert pa.schema(df).names == ["x", "s"]
        assert pa.field(s).type == pa.int64()
    assert pa.schema(df).types == [pa.int64(), pa.string_view()]


def test_arrow_sources_by_each_method() -> None:
    batch = pa.record_batch({"x": [1, 2], "s": ["a", None]})
    table = pa.Table.from_batches([batch, batch])
    array = pa.array([1.5, None])
    assert hr.from_arrow(only(batch, "__arrow_c_array__")).x.to_list() == [1, 2]
    assert hr.from_arrow(only(table, "__arrow_c_stream__")).s.to_list() == ["a", None] * 2
    assert hr.from_arrow(only(array, "__arrow_c_array__")).to_list() == [1.5, None]
    chunked = pa.chunked_array([array, array[1:]])
    assert hr.from_arrow(only(chunked, "__arrow_c_stream__")).to_list() == [1.5, None, None]
    assert hr.from_arrow(table.slice(1, 2)).x.to_list() == [2, 1]
    assert hr.from_arrow(pa.table({})).shape == (0, 0)
    assert hr.from_arrow(table.schema.empty_table()).dtypes == {"x": "int64", "s": "string"}


def test_arrow_forms_that_need_a_conversion_are_in_the_ledger() -> None:
    texts = ["a", None, "a text of more than twelve bytes"]
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())):
        hr.memory.ledger().clear()
        assert hr.Series(pa.array(texts, kind)).to_list() == texts
        assert hr.memory.ledger().total_bytes > 0
    assert hr.Series(pa.nulls(3)).to_list() == [None] * 3


@pytest.mark.parametrize(
    "array",
    [
        pa.array([{"a": b"x"}]),
        pa.array([1]).cast(pa.decimal256(40, 2)),
        pa.array([b"x"]),
    ],
    ids=["struct", "decimal", "binary"],
)
def test_arrow_types_that_we_lack_name_the_column_and_a_fix(array: pa.Array) -> None:
    with pytest.raises(hr.UnsupportedError, match=r"wide.*(cast|flatten)"):
        hr.from_arrow(pa.table({"fine": [1] * len(array), "wide": array}))


def test_what_is_no_column_says_what_to_pass() -> None:
    for values in (3, object(), "text"):
        with pytest.raises(hr.TypeMismatchError, match="pass a list"):
            hr.Series(values)
    with pytest.raises(hr.TypeMismatchError, match="__dlpack__"):
        hr.from_dlpack([1, 2])
    with pytest.raises(hr.TypeMismatchError, match="use DataFrame or Series"):
        hr.from_pandas([1, 2])
    with pytest.raises(hr.TypeMismatchError, match="select a column"):
        hr.Series(pa.table({"x": [1]}))
    with pytest.raises(hr.TypeMismatchError, match="__arrow_c_array__"):
        hr.from_arrow([1, 2])


def test_arrays_of_one_dimension_speak_arrow() -> None:
    x = hr.asarray(numbers())
    for other in (pa.array(x), pl.Series(x)):
        assert address(other) == address(x)
    assert hr.memory.ledger().total_bytes == 0
    with pytest.raises(hr.TypeMismatchError, match="1-D"):
        x.reshape(10, 10).__arrow_c_array__()


def test_a_column_of_nulls_of_any_library() -> None:
    for table in (pa.table({"d": pa.nulls(2)}), pl.DataFrame({"d": [None, None]})):
        assert hr.from_arrow(table).d.to_list() == [None, None]


def test_pandas_columns_that_we_lack_are_named() -> None:
    for values in (
        np.ones(2, "complex128"),
        pd.Series([1, "a"], dtype=object),
    ):
        with pytest.raises(hr.UnsupportedError, match=r"wide|Arrow.*convert"):
            hr.from_pandas(pd.DataFrame({"fine": [1, 2], "wide": values}))
    categories = pd.DataFrame({"c": pd.Categorical(["a", "b", "a"])})
    assert hr.from_pandas(categories).c.to_list() == ["a", "b", "a"]
    masked = pd.DataFrame(
        {"i": pd.array([1, None], "Int64"), "b": pd.array([True, None], "boolean")}
    )
    assert hr.from_pandas(masked).to_dict() == {"i": [1, None], "b": [True, None]}


def test_a_frame_becomes_one_array_by_a_counted_copy() -> None:
    df = hr.DataFrame({"a": [1, 2], "b": [0.5, None]})
    np.testing.assert_array_equal(np.asarray(df), [[1, 0.5], [2, np.nan]])
    assert hr.memory.ledger().total_bytes == 32
    assert hr.DataFrame({"a": [1], "s": ["x"]}).to_numpy().tolist() == [[1, "x"]]
    assert np.asarray(df, dtype="float32").dtype == np.float32
    with pytest.raises(ValueError, match="copy"):
        np.asarray(df, copy=False)
    with hr.no_copies(), pytest.raises(hr.InvalidArgumentError, match="one array"):
        hr.DataFrame({"a": [1]}).to_numpy()


# ---- owners ----------------------------------------------------------------------------------
def test_foreign_memory_lives_as_long_as_it_is_seen() -> None:
    released = []

    class Owner(np.ndarray):
        def __del__(self) -> None:
            released.append(1)

    x = hr.asarray(np.arange(1000.0).view(Owner))
    half = x[500:]
    arrow = hr.Series(half).to_arrow()
    del x, half
    gc.collect()
    assert not released
    assert arrow[0].as_py() == 500
    del arrow
    gc.collect()
    assert released


def test_threads_may_drop_the_last_handle() -> None:
    import threading

    frames = [hr.DataFrame({"x": np.arange(1000.0)}) for _ in range(50)]
    threads = [threading.Thread(target=frames.clear) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hr.memory.stats().foreign_bytes >= 0


def test_pandas_blocks_are_shared_and_writes_to_them_change_no_result() -> None:
    x = pd.DataFrame({"a": numbers(), "b": numbers(), "s": ["t"] * 100})
    df = hr.from_pandas(x)
    assert address(df.a) == address(x["a"])
    twice = df.a * 2
    x.iloc[:, 0] = 7.0
    assert twice.to_list() == (numbers() * 2).tolist()
    assert df.s.to_list() == ["t"] * 100
    assert hr.from_pandas(pd.Series([1.5], name="n")).name == "n"
    matrix = pd.DataFrame(np.arange(6.0).reshape(2, 3))
    assert hr.asarray(matrix).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert hr.from_pandas(matrix).columns == [0, 1, 2]


def test_a_frame_of_numbers_is_one_array() -> None:
    frame = hr.DataFrame({"a": [1, 2, 3], "b": [0.5, None, 2.5], "c": [True, False, True]})
    expected = np.array([[1, 0.5, 1], [2, np.nan, 0], [3, 2.5, 1]])
    hr.memory.ledger().clear()
    made = frame.to_array()
    np.testing.assert_array_equal(np.asarray(made), expected)
    assert hr.memory.ledger().total_bytes == 72
    for other in (np.from_dlpack(frame), np.asarray(hr.asarray(frame)), frame.to_numpy()):
        np.testing.assert_array_equal(other, expected)
    whole = frame[["a"]].to_array()
    assert (whole.dtype, whole.tolist()) == ("int64", [[1], [2], [3]])
    assert whole.to_numpy().ctypes.data == frame.a.to_numpy().ctypes.data
    assert frame[["c"]].to_array().dtype == "bool"
    assert frame[frame.a > 1][["a", "b"]].to_array().shape == (2, 2)
    assert frame[frame.a > 9][["a", "b"]].to_array().shape == (0, 2)
    labelled = frame.assign(k=["x", "y", "z"]).set_index("k")
    assert labelled.to_array().shape == (3, 3)
    with pytest.raises(hr.TypeMismatchError, match=r"others=\['k'\]"):
        labelled.reset_index().to_array()
    with pytest.raises(hr.Error, match="null"):
        hr.DataFrame({"a": [1, None], "b": [2, 3]}).to_array().to_numpy()


def test_texts_become_those_of_pandas() -> None:
    texts = ["a", None, "a text of more than twelve bytes"]
    theirs = hr.DataFrame({"t": texts, "x": [1, 2, 3]})[1:].to_pandas()
    assert theirs.t.dtype == "str" and theirs.t.fillna("?").tolist() == ["?", texts[2]]
    assert "more than twelve" in repr(theirs) and theirs[theirs.t.notna()].x.tolist() == [3]
    assert hr.from_pandas(theirs).t.to_list() == texts[1:]
    assert hr.Series([], dtype="string").to_pandas().dtype == "str"


def test_an_index_of_pandas_is_labels() -> None:
    plain = pd.DataFrame({"k": ["a", "b", "a"], "x": [1, 2, 3], "y": [1.0, 2.0, 3.0]})
    by_key = hr.from_pandas(plain.set_index("k"))
    assert by_key.columns == ["x", "y"] and by_key.index.to_list() == ["a", "b", "a"]
    assert by_key.loc["b", "x"] == 2 and by_key.reset_index().columns == ["k", "x", "y"]
    assert hr.DataFrame(plain.groupby(["k", "x"]).sum()).reset_index().columns == ["k", "x", "y"]
    back = hr.from_pandas(hr.DataFrame(plain).set_index("k").to_pandas())
    assert back.reset_index().to_dict() == plain.to_dict("list")
    times = pd.DataFrame({"x": [1, 2]}, index=pd.date_range("2024-01-01", periods=2))
    assert hr.from_pandas(times).loc[dt.datetime(2024, 1, 2), "x"] == 2
    assert hr.from_pandas(plain[plain.x > 1]).reset_index().columns == ["k", "x", "y"]
    both = hr.from_pandas(plain.set_index("k", drop=False))
    assert both.index.name == "k" and "k" in both.columns


def test_a_series_of_pandas_keeps_its_labels() -> None:
    theirs = pd.Series([1, 2], index=["p", "q"], name="v")
    for ours in (hr.Series(theirs), hr.from_pandas(theirs), hr.Series(theirs, dtype="int8")):
        assert (ours.loc["q"], ours.name) == (2, "v")
    df = hr.DataFrame({"v": theirs})  # a column is taken row by row
    df["w"] = theirs
    assert df.to_dict() == {"v": [1, 2], "w": [1, 2]}


def snapshots() -> list[int]:
    """Bytes of the snapshots in the ledger."""
    return [entry.bytes for entry in hr.memory.ledger() if entry.reason == "snapshot"]


@pytest.mark.parametrize(
    "n",
    [
        np.arange(200_000.0),
        np.arange(7, dtype="int8"),
        np.array(["2024-01-01", "NaT"] * 9, "datetime64[us]"),
        np.array([1, 2], "timedelta64[ns]"),
        np.empty(0),
    ],
    ids=lambda n: f"{len(n)} {n.dtype}",
)
def test_writable_memory_becomes_a_snapshot(n: Any) -> None:
    before, theirs = n.copy(), n.ctypes.data
    hr.memory.ledger().clear()
    s, df = hr.Series(n), hr.DataFrame({"n": n, "f": np.ones(len(n))})
    df["later"] = n
    assert snapshots() == [b for b in (n.nbytes, n.nbytes, 8 * len(n), n.nbytes) if b]
    doubled = df.f * 2
    assert not doubled._node.is_ready or not len(n)  # what is ours stays lazy
    n.view("u1")[:] = 1
    for values in (s, df.n, df.later):
        assert values._value().address != theirs or not len(n)
        np.testing.assert_array_equal(values.to_numpy(), before)


def test_what_shares_makes_no_snapshot() -> None:
    n, frozen, dates = np.arange(3.0), np.arange(3.0), np.array(["2024-01-01"], "datetime64[D]")
    frozen.flags.writeable = False
    pandas = pd.DataFrame({"x": [1.5, 2.5]})
    hr.memory.ledger().clear()
    for shared in (hr.Series(n, copy=False), hr.DataFrame({"x": n}, copy=False).x):
        assert address(shared) == n.ctypes.data
        assert (shared + 1)._node.is_ready  # at its line: the owner may write
    assert address(hr.asarray(n)) == n.ctypes.data
    assert address(hr.Series(frozen)) == frozen.ctypes.data
    assert address(hr.from_pandas(pandas).x) == address(pandas.x)
    assert hr.Series([1.0, 2.0]).to_list() == [1.0, 2.0]
    assert hr.Series(dates).to_list() == dates.tolist()  # 32 bits here: a conversion
    assert hr.Series(np.array([True, False])).to_list() == [True, False]
    assert snapshots() == []
    assert address(hr.Series(frozen, copy=True)) != frozen.ctypes.data
    assert hr.Series(pandas.x).to_list() == hr.DataFrame(pandas).x.to_list() == [1.5, 2.5]
    assert [(e.bytes, e.asked) for e in hr.memory.ledger() if e.reason == "snapshot"] == [
        (24, True),
        (16, False),
        (16, False),
    ]


@pytest.mark.parametrize("dtype", ["int64", "float32", "datetime64[us]", "datetime64[D]", "m8[h]"])
def test_values_at_unaligned_addresses_are_copied_once(dtype: str) -> None:
    held = np.zeros(8 * 70 + 1, "u1")
    n = held[1:].view(dtype)[:65]
    n[:] = np.arange(65).astype(dtype)
    before = n.copy()
    hr.memory.ledger().clear()
    s, df = hr.Series(n), hr.DataFrame({"n": n})
    reasons = [(e.reason, e.bytes) for e in hr.memory.ledger()]
    assert reasons.count(("not aligned", n.nbytes)) == 2
    assert ("snapshot", n.nbytes) not in reasons
    held[:] = 1
    for values in (s, df.n):
        np.testing.assert_array_equal(values.to_numpy().astype(dtype), before)
    with hr.no_copies(), pytest.raises(hr.InvalidArgumentError, match="not aligned"):
        hr.Series(held[1:].view("int64"))
    with pytest.raises(hr.InvalidArgumentError, match=r"not aligned.*pass a copy"):
        hr.Series(held[1:].view("int64"), copy=False)


def test_no_copies_refuses_a_snapshot_and_names_the_ways_around() -> None:
    n = np.arange(3.0)
    with hr.no_copies():
        for make in (hr.Series, lambda values: hr.DataFrame({"x": values})):
            with pytest.raises(hr.InvalidArgumentError, match=r"snapshot.*copy=False.*hr\.asarray"):
                make(n)
        assert hr.DataFrame({"x": hr.asarray(n)}).x.to_list() == [0, 1, 2]
        assert hr.Series(n, copy=False).to_list() == [0, 1, 2]


def test_rows_of_a_matrix_become_columns_in_one_pass() -> None:
    rows = np.arange(300_000).reshape(-1, 3)
    for matrix in (rows, rows[::2], np.asfortranarray(rows), rows[:, ::2], rows[:, :1], rows > 7):
        np.testing.assert_array_equal(hr.DataFrame(matrix).to_numpy(), matrix)
    hr.memory.ledger().clear()
    hr.DataFrame(rows)
    assert hr.memory.ledger().total_bytes == rows.nbytes


def test_periods_are_refused() -> None:
    months = pd.Series(pd.period_range("2024-01", periods=2, freq="M"))
    for make in (hr.Series, lambda values: hr.from_pandas(values.to_frame("p"))):
        with pytest.raises(hr.TypeMismatchError, match=r"period\[M\].*to_timestamp"):
            make(months)


def not_utf8(kind: pa.DataType, values: list[bytes | None]) -> pa.Array:
    """Texts of these bytes, which pyarrow would not make."""
    sources = {"large_string": pa.large_binary(), "string_view": pa.binary_view()}
    array = pa.array(values, sources.get(str(kind), pa.binary()))
    return pa.Array.from_buffers(kind, len(array), array.buffers())


TEXT_KINDS = [pa.string(), pa.large_string(), pa.string_view()]


@pytest.mark.parametrize("kind", TEXT_KINDS, ids=str)
@pytest.mark.parametrize(
    ("word", "byte"),
    [
        (b"caf\xe9", 3),
        (b"caf\xe9" * 10, 3),
        (b"x" * 100 + b"\xff", 100),
        (b"\xed\xa0\x80", 0),
        (b"a\xc3", 1),
        (b"\xa9", 0),
        ("é".encode() * 5000 + b"\xc0\xaf", 10_000),
    ],
)
@pytest.mark.parametrize("row", [0, 63, 1024, 131_073])
def test_text_that_is_not_utf8_is_refused(
    kind: pa.DataType, word: bytes, byte: int, row: int
) -> None:
    array = not_utf8(
        kind, [b"good", "é漢😀".encode(), None, b""][:row] + [b"x"] * (row - 4) + [word]
    )
    row = len(array) - 1
    says = f"column='s', row={row}, byte={byte},.*decode"
    for given in (pa.table({"s": array}), pa.record_batch({"s": array})):
        with pytest.raises(hr.InvalidArgumentError, match=says):
            hr.from_arrow(given)
    with pytest.raises(hr.InvalidArgumentError, match=f"row={row}, byte={byte}"):
        hr.Series(array)
    assert len(hr.from_arrow(pa.table({"s": array}).slice(0, row))) == row


@pytest.mark.parametrize("kind", TEXT_KINDS, ids=str)
def test_rows_of_text_are_looked_at_one_by_one(kind: pa.DataType) -> None:
    halves = not_utf8(kind, ["é".encode()[:1], "é".encode()[1:]])
    with pytest.raises(hr.InvalidArgumentError, match="row=0, byte=0"):
        hr.from_arrow(halves)
    chunks = pa.chunked_array([pa.array(["a", "b"], kind), not_utf8(kind, [b"ok", b"\xff"])])
    with pytest.raises(hr.InvalidArgumentError, match="column='s', row=3, byte=0"):
        hr.from_arrow(pa.table({"s": chunks}))
    entries = not_utf8(pa.string(), [b"ok", b"\xff"])
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), entries)
    with pytest.raises(hr.InvalidArgumentError, match="column='s', category=1, byte=0"):
        hr.from_arrow(pa.table({"s": codes}))


def test_categories_that_headrace_lacks_are_named() -> None:
    codes = pa.array([Decimal("1.5"), None, Decimal("1.5")]).dictionary_encode()
    says = r"from_arrow: categories cannot have this dtype: column='x', dtype='decimal128\(2, 1\)'"
    with pytest.raises(hr.UnsupportedError, match=says):
        hr.from_arrow(pa.table({"x": codes}))


def test_bytes_below_a_null_may_be_anything() -> None:
    bytes_ = pa.array([b"a", b"\xff\xff", b"\xc3\xa9"])
    valid = pa.py_buffer(bytes([0b101]))
    array = pa.Array.from_buffers(pa.string(), 3, [valid, *bytes_.buffers()[1:]])
    assert hr.from_arrow(array).to_list() == ["a", None, "é"]


def test_other_doors_for_text_that_is_not_utf8(tmp_path: Any) -> None:
    import pyarrow.parquet as pq

    table = pa.table({"s": not_utf8(pa.string(), [b"ok", b"caf\xe9"])})
    path = tmp_path / "bad.parquet"
    pq.write_table(table, path)
    for read in (hr.read_parquet, hr.scan_parquet):
        with pytest.raises(hr.InputError, match=r"byte 3 of a string.*column='s'"):
            read(path).to_dict()
    for values in (["a", "\ud800"], np.array(["a", "\ud800"], dtype=object)):
        with pytest.raises(hr.InvalidArgumentError, match=r"surrogate.*row=1"):
            hr.Series(values)
    with pytest.raises(hr.Error, match=r"surrogate|ud800"):
        hr.from_pandas(pd.Series(["a", "\ud800"], dtype=object))
    with pytest.raises(hr.Error, match="ud800"):  # and no crash
        hr.Series([1]) / "\ud800"
    decoded = [b.decode("latin-1") for b in table["s"].cast("binary").to_pylist()]
    assert hr.Series(decoded).to_list() == ["ok", "café"]


def test_text_that_is_utf8_is_not_copied() -> None:
    array = pa.array(["a longer text than twelve bytes é"] * 1000)
    hr.memory.ledger().clear()
    series = hr.from_arrow(array)
    assert {e.reason for e in hr.memory.ledger()} <= {"string offsets become views"}
    assert series.nbytes > 0
