# SPDX-License-Identifier: Apache-2.0
"""Memory shared with other libraries: NumPy, DLPack, Arrow, pandas."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import NESTED, dtype_word, is_object, refuse_months
from headrace.errors import (
    Error,
    ExchangeError,
    InvalidArgumentError,
    TypeMismatchError,
    UnsupportedError,
)
from headrace.frame.columns import frame_of, frame_of_table, is_frame
from headrace.lazy.advice import came_back
from headrace.lazy.handle import Deferred, array_of, looked_at, mark
from headrace.rows import (
    counts_rows,
    given_name,
    given_names,
    is_missing,
    pandas_labels,
    picked_domain,
)
from headrace.series.categorical import of_pandas
from headrace.series.column import new_series, series_of
from headrace.zone_names import zone_in, zone_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from headrace.array.array import Array
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def _has_arrow(values: object) -> bool:
    names = ("__arrow_c_device_array__", "__arrow_c_array__", "__arrow_c_stream__")
    return any(hasattr(values, name) for name in names)


def _has_buffer(values: object) -> bool:
    try:
        memoryview(values)  # type: ignore[arg-type]
    except (TypeError, BufferError, ValueError):
        return False
    return True


def _is_arrow_table(values: Any) -> bool:
    return any(hasattr(type(values), name) for name in ("columns", "schema", "column_names"))


def _has_type(values: Any) -> bool:
    # Structs at the top are a column where the object has one dtype, else a table.
    return hasattr(type(values), "type") or hasattr(type(values), "dtype")


def _arrow_columns(values: Any, op: str, as_column: bool = False) -> _core.ArrowColumns:
    kinds = getattr(values, "dtypes", ())  # part of a series
    kinds = list(kinds.values()) if isinstance(kinds, dict) else kinds
    for kind in kinds if hasattr(kinds, "__iter__") else (kinds,):
        if str(kind).startswith("period["):
            raise TypeMismatchError(
                f"{op}: pandas periods are not supported: dtype='{kind}'; use dt.to_timestamp()"
            )
    try:
        return _core.from_arrow(values, op, as_column)
    except (Error, MemoryError):
        raise
    except Exception as error:
        raise UnsupportedError(
            f"{op}: the object cannot export this as Arrow: "
            f"type={type(values).__name__!r}; convert it first ({error})"
        ) from error


def _arrow_column(values: Any, op: str) -> _core.Column:
    columns = _arrow_columns(values, op, not _is_arrow_table(values))
    if columns.is_table:
        raise TypeMismatchError(
            f"{op}: expected a column, got a table: columns={len(columns.names)}; use "
            "from_arrow() or DataFrame(), or select a column"
        )
    return columns.column(0, op)


def tensor_from(values: Any) -> tuple[_core.Tensor, bool]:
    """Adopt an array of another library without a copy, or build one from Python numbers.

    The second value tells whether another owner may still write to the memory.
    """
    if hasattr(values, "__array_interface__"):
        _refuse_mask(values, "asarray")
        if getattr(getattr(values, "dtype", None), "kind", None) == "M" and _days(values):
            raise TypeMismatchError(
                "asarray: arrays cannot hold dates: dtype='datetime64[D]'; use a Series, or "
                "astype('datetime64[s]')"
            )
        return _shared(values, "asarray")
    if hasattr(values, "__dlpack__") and not _has_arrow(values):
        return _core.from_dlpack(values, "asarray")
    if type(values).__module__.partition(".")[0] == "pandas" and _is_numpy_backed(values):
        return _pandas_array(values)
    if _has_arrow(values):
        return _arrow_column(values, "asarray").as_tensor(), False
    if not isinstance(values, list | tuple) and _has_buffer(values):
        return _shared(values, "asarray")
    import numpy as np

    array = np.asarray(values)
    if array.dtype.kind not in "biufcMm":
        raise TypeMismatchError(
            f"asarray: expected numbers or bools: type={type(values).__name__!r}; use a "
            "Series for strings and for values with None"
        )
    return _core.from_array(array, "asarray", fresh=not hasattr(values, "__array__"))


def _shared(values: Any, op: str) -> tuple[_core.Tensor, bool]:
    """The memory of an array, and whether another owner may still write to it."""
    tensor, is_writable = _core.from_array(values, op)
    return tensor, is_writable or _is_written_elsewhere(values)


def _is_written_elsewhere(values: Any) -> bool:
    """Whether some array that read-only memory is a view of may be written."""
    owner = values.obj if isinstance(values, memoryview) else getattr(values, "base", None)
    while owner is not None:
        if isinstance(owner, _core.Tensor | _core.Column):
            return _core.is_foreign(owner)  # our own memory never changes
        if isinstance(owner, memoryview):
            if not owner.readonly:
                return True
            owner = owner.obj
            continue
        flags = getattr(owner, "flags", None)
        if flags is not None and getattr(flags, "writeable", False):
            return True
        if isinstance(owner, bytearray):
            return True
        owner = getattr(owner, "base", None)
    return False


def frozen_array(values: Any) -> Array:
    """An array over memory of NumPy that is not written while it or its results are in use."""
    return array_of(_core.data(_core.from_array(values, "asarray")[0]))


def fresh_array(values: Any) -> Array:
    """An array over memory of NumPy that was just made and has no other owner."""
    return array_of(_core.data(_core.from_array(values, "asarray", fresh=True)[0]))


def _days(values: Any) -> bool:
    """Tell whether an array of times counts days, which are 32-bit here."""
    return bool(values.dtype.name == "datetime64[D]")


def _refuse_mask(values: Any, op: str) -> None:
    if type(values).__module__.startswith("numpy.ma"):
        raise UnsupportedError(
            f"{op}: masked arrays are not supported: type='MaskedArray'; fill it first: "
            "x.filled(value)"
        )


def _is_numpy_backed(values: Any) -> bool:
    dtypes = [values.dtype] if hasattr(values, "dtype") else getattr(values, "dtypes", ())
    return all(type(dtype).__module__.startswith("numpy") for dtype in dtypes)


def _pandas_array(values: Any) -> tuple[_core.Tensor, bool]:
    # pandas exposes its blocks as read-only, yet writes to them itself.
    array = values.to_numpy()
    if array.flags.owndata:
        _core.record_copy("asarray", "pandas columns gathered into one array", array.nbytes, False)
    return _core.from_array(array, "asarray")[0], True


def column_from(
    values: Any, op: str = "Series", dtype: str | None = None, copy: bool | None = False
) -> tuple[_core.Column, bool]:
    """Adopt a column of another library, or build one of `dtype` from a list of Python values.

    The second value tells whether another owner may still write to the memory; with `copy` None
    such memory is copied first, with True any.
    """
    if isinstance(values, list | tuple | range):
        return _list_column(values, op, dtype), False
    kind = getattr(getattr(values, "dtype", None), "kind", None)
    if hasattr(values, "__array_interface__"):
        if kind in ("O", "U", "T"):
            return _objects(values, op), False
        _refuse_mask(values, op)
        return _array_column(values, op, copy)
    module = type(values).__module__.partition(".")[0]
    if module == "pandas" and kind in tuple("biufMm") and _is_numpy_backed(values):
        # pandas exposes its blocks as read-only, yet writes to them itself.
        return _array_column(values.to_numpy(), op, copy, live=True)
    if module == "pandas" and type(values).__name__ == "Categorical":
        return of_pandas(values)._value(), False
    if _has_arrow(values):
        return _arrow_column(values, op), False
    if hasattr(values, "__dlpack__"):
        return _column_of(*_core.from_dlpack(values, op), op, copy)
    if not isinstance(values, str) and _has_buffer(values):
        return _array_column(values, op, copy)
    if hasattr(values, "__iter__") and not isinstance(values, str | bytes | dict | set):
        return _list_column(list(values), op, dtype), False
    raise TypeMismatchError(
        f"{op}: cannot build a column from this type: type={type(values).__name__!r}; "
        "pass a list, an array, or an Arrow or pandas column"
    )


def _is_numpy_time(value: Any) -> bool:
    return type(value).__module__ == "numpy" and type(value).__name__ == "datetime64"


def _numpy_durations(values: Any, op: str, dtype: str | None) -> Any:
    """A NumPy array from a list with a timedelta64, in a unit that columns support."""
    import numpy as np

    spans = [np.timedelta64("NaT") if value is None else np.timedelta64(value) for value in values]
    for span in spans:
        refuse_months(span, op)
    return np.array(spans).astype(dtype) if dtype else np.array(spans)


def _python_values(values: Any, dtype: str | None = None) -> _core.Column:
    """A column of Python values; among strings and times, NaN and pandas' markers are null."""
    try:
        return _core.column_from_list(values, dtype)
    except (TypeMismatchError, RuntimeError):  # pandas' NaT looks like a Python datetime
        plain = [None if is_missing(value) else value for value in values]
        if all(p is v for p, v in zip(plain, values, strict=True)):
            raise
        return _core.column_from_list(plain, dtype)


def _list_column(values: Any, op: str, dtype: str | None) -> _core.Column:
    first = next((value for value in values if value is not None), None)
    if type(first).__module__ == "numpy" and type(first).__name__ == "timedelta64":
        return _array_column(_numpy_durations(values, op, dtype), op)[0]
    timely = isinstance(first, datetime.date) or _is_numpy_time(first)
    if not timely or not any(_is_numpy_time(value) for value in values):
        return _python_values(values, dtype)
    import numpy as np

    times = [np.datetime64("NaT") if value is None else np.datetime64(value) for value in values]
    if dtype is None:  # NumPy finds the common unit
        return _array_column(np.array(times), op)[0]
    made = [time.astype("datetime64[D]" if dtype == "date" else dtype) for time in times]
    for row, (time, exact) in enumerate(zip(made, times, strict=True)):
        if time != exact and not np.isnat(exact):
            raise InvalidArgumentError(
                f"{op}: the dtype cannot hold this time exactly: row={row}, value='{exact}', "
                f"dtype={dtype!r}; use a finer unit"
            )
    return _array_column(np.array(made), op)[0]


def _column_of(
    tensor: _core.Tensor, live: bool, op: str, copy: bool | None
) -> tuple[_core.Column, bool]:
    if copy or (live and copy is None):
        tensor = _core.snapshot(tensor, op, bool(copy))
        live &= tensor.place != "host"
    column = _core.column_of(tensor, op)
    return column, live and column.address == tensor.address


def _array_column(
    values: Any, op: str, copy: bool | None = False, live: bool = False
) -> tuple[_core.Column, bool]:
    flags = getattr(values, "flags", None)
    if copy is not False and flags is not None and not flags.aligned:  # bytes that came by pickle
        _core.record_copy(op, "not aligned", values.nbytes, bool(copy))
        values, live, copy = values.copy(), False, False
        values.flags.writeable = False
    if getattr(getattr(values, "dtype", None), "kind", None) == "M" and _days(values):
        days = _core.from_array(values.view("int64"), op)[0]
        return _core.dates_of_days(days, op), False
    if getattr(getattr(values, "dtype", None), "kind", None) == "m" and not (
        values.dtype.name.endswith("s]")  # days, hours, minutes
    ):
        refuse_months(values, op)
        seconds = values.astype("timedelta64[s]")
        _core.record_copy(op, f"{values.dtype.name} converted to seconds", seconds.nbytes, False)
        values = seconds
    tensor, writable = _shared(values, op)
    return _column_of(tensor, live or writable, op, copy)


def _objects(values: np.ndarray[Any, Any], op: str) -> _core.Column:
    if values.ndim != 1:
        raise TypeMismatchError(f"{op}: expected a 1-D array: dimensions={values.ndim}")
    _core.record_copy(op, "NumPy objects converted to values", values.nbytes, False)
    return _python_values(values.tolist())


def column_node(
    values: Any,
    op: str = "Series",
    domain: int = 0,
    dtype: str | None = None,
    copy: bool | None = False,
) -> _core.Node:
    """Make the plan node of a column."""
    if isinstance(values, Deferred):
        node = values._node
        return node if node.form == "column" else _core.as_column(node)
    column, live = column_from(values, op, dtype, copy)
    return _core.data(column, "", domain, live)


def column_to_ndarray(column: _core.Column, op: str = "to_numpy") -> np.ndarray[Any, Any]:
    """A column as a NumPy array; conversions are recorded in the ledger."""
    import numpy as np

    if column.dtype == "category" and column.categories.dtype != "string":
        values = _core.astype(_core.data(column), column.categories.dtype)
        _core.force([values])
        return column_to_ndarray(values.value(), op)
    if column.dtype in ("string", "category"):
        reason = f"{'strings' if column.dtype == 'string' else 'categories'} converted to objects"
        _core.record_copy(op, reason, column.nbytes, False)
        result = np.empty(column.num_rows, dtype=object)
        result[:] = column.to_list()
        return result
    if column.dtype == "date":
        return np.asarray(column.days(op)).view("datetime64[D]")
    if column.dtype.startswith(("decimal", *NESTED)):
        word = "decimals" if column.dtype.startswith("decimal") else "lists or structs"
        _core.record_copy(op, f"{word} converted to objects", column.nbytes, False)
        result = np.empty(column.num_rows, dtype=object)
        for row, value in enumerate(column.to_list()):  # NumPy would look into lists
            result[row] = value
        return result
    if zone_in(column.dtype):
        _core.record_copy(op, "zoned times converted to objects", column.num_rows * 8, False)
        result = np.empty(column.num_rows, dtype=object)
        result[:] = column.to_list()
        return result
    return np.asarray(column.dense(op))


def _is_view(value: _core.Column | _core.Tensor) -> bool:
    return isinstance(value, _core.Tensor) or not (
        value.null_count
        or value.dtype in ("bool", "string", "date", "category")
        or value.dtype.startswith(("decimal", *NESTED))
        or zone_in(value.dtype)
    )


def to_ndarray(
    value: _core.Column | _core.Tensor,
    dtype: npt.DTypeLike | None = None,
    copy: bool | None = None,
) -> np.ndarray[Any, Any]:
    """Implement ``__array__``: `copy` False refuses a copy, None allows one."""
    import numpy as np

    converts = dtype is not None and str(np.dtype(dtype)) != value.dtype
    if copy is False and (converts or not _is_view(value)):
        raise ExchangeError(
            f"__array__: a copy is needed: dtype={value.dtype!r}; pass copy=None or copy=True"
        )
    if isinstance(value, _core.Tensor):
        result = np.asarray(value)
    else:
        result = column_to_ndarray(value, "__array__")
    if converts:
        target = np.dtype(dtype)
        reason = f"dtype {value.dtype} to {target.name}"
        _core.record_copy("__array__", reason, result.size * target.itemsize, True)
        return result.astype(target)
    if copy and _is_view(value):
        _core.record_copy("__array__", "copy=True", result.nbytes, True)
        return result.copy()
    return result


def column_to_pandas(column: _core.Column, name: str | None) -> Any:
    """A pandas series on the same memory, with NumPy's dtype if there are no nulls."""
    import pandas as pd

    if zone := zone_in(column.dtype):
        node = _core.retype(_core.data(column), f"{column.dtype.partition(',')[0]}]")
        _core.force([node])
        utc = column_to_pandas(node.value(), name)
        return utc.dt.tz_localize("UTC").dt.tz_convert(zone_of(zone))
    if _is_view(column) or column.dtype.startswith(("datetime64", "timedelta64")):
        return pd.Series(column_to_ndarray(column, "to_pandas"), name=name, copy=False)
    if column.dtype == "category":
        return pd.Series(_pandas_categories(column), name=name, copy=False)
    if column.dtype.startswith(NESTED):
        return pd.Series(column_to_ndarray(column, "to_pandas"), name=name, copy=False)
    import pyarrow as pa

    if column.dtype == "string":  # pandas has no dtype for string views
        _core.record_copy("to_pandas", "strings converted to pandas strings", column.nbytes, False)
        texts = pa.array(column).cast(pa.large_string())
        return pd.Series(texts, name=name, dtype="str", copy=False)
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(column)), name=name, copy=False)


def _pandas_categories(column: _core.Column) -> Any:
    """A pandas categorical: its codes are -1 for null and as narrow as possible."""
    import numpy as np
    import pandas as pd

    values = column.categories
    if values.dtype == "string":
        categories = pd.Index(values.to_list(), dtype="str")
    elif values.dtype == "bool":
        categories = pd.Index(column_to_ndarray(values))
    else:
        categories = pd.Index(column_to_pandas(values, None))
    width = np.min_scalar_type(-max(len(categories), 1)).itemsize
    _core.record_copy(
        "to_pandas", "codes converted to pandas codes", column.num_rows * width, False
    )
    codes = _core.elementwise("fill_null", [_core.data(column.codes), _core.scalar(-1)])
    _core.force([codes])
    return pd.Categorical.from_codes(
        np.asarray(codes.value()), categories, ordered=column.is_ordered
    )


def from_dlpack(values: Any) -> Array:
    """Share the memory of an object with ``__dlpack__``; nothing is copied.

    Parameters
    ----------
    values : object
        A tensor of PyTorch, JAX, NumPy or another library, in host-readable memory.

    Returns
    -------
    Array
        On the same memory.

    Raises
    ------
    DeviceError
        For GPU memory in a build without CUDA.
    UnsupportedError
        For a dtype that Headrace does not have.

    >>> import numpy as np
    >>> hr.from_dlpack(np.arange(3)).tolist()
    [0, 1, 2]
    """
    mark("from_dlpack")
    if not hasattr(values, "__dlpack__") and type(values).__name__ != "PyCapsule":
        raise TypeMismatchError(
            "from_dlpack: the object does not support DLPack: "
            f"type={type(values).__name__!r}; pass an object with __dlpack__, or use "
            "asarray"
        )
    tensor, live = _core.from_dlpack(values, "from_dlpack")
    return array_of(_core.data(tensor, live=live))


def _converts(values: Any, word: str | None) -> bool:
    """Whether a list of strings needs converting to numbers or times, or numbers to strings."""
    if word == "category":
        return True
    if word == "string":
        return all(isinstance(value, bool | int | float | None) for value in values)
    parsed = word is not None and word[:3] in ("int", "uin", "flo", "dat", "tim")
    return parsed and all(isinstance(value, str | None) for value in values)


def new_column(
    values: Any, name: str | None, dtype: Any, copy: bool | None
) -> tuple[_core.Node, str | None]:
    """The node of a new series, with the values' own dtype or already with `dtype`; its name."""
    mark("series")
    if dtype is None and isinstance(values, list | tuple | range):
        plain = _core.plain_column(values if isinstance(values, list) else list(values))
        if plain is not None:
            return _core.data(plain), name
    if isinstance(values, list | tuple) and any(isinstance(v, Deferred) for v in values):
        values = looked_at(values)
    listed = isinstance(values, list | tuple | range) and dtype and not is_object(dtype)
    word = dtype_word(dtype) if listed else None
    try:
        node = column_node(values, dtype=word, copy=copy)
    except TypeMismatchError:
        if not _converts(values, word):
            raise
        node = column_node(values)
    is_pandas = type(values).__module__.partition(".")[0] == "pandas"
    if is_pandas and hasattr(values, "iloc") and not counts_rows(values):
        node = _core.in_domain(node, picked_domain())
    return node, given_name(values) if name is None else name


def from_arrow(values: Any) -> DataFrame | Series:
    """Share the memory of an Arrow object: a frame for a table, else a series.

    Parameters
    ----------
    values : object
        Anything with ``__arrow_c_array__`` or ``__arrow_c_stream__``: tables and columns of
        pyarrow, Polars, pandas, DuckDB. With ``__arrow_c_device_array__`` numbers, bools and times
        on a GPU are shared there.

    Returns
    -------
    DataFrame or Series
        On the same memory. Offset strings get views, string dictionaries become categories (32-bit
        codes are shared) and chunks are joined: the ledger records these copies.

    Raises
    ------
    UnsupportedError
        For an unsupported format; names the column and an alternative.

    >>> import pyarrow as pa
    >>> hr.from_arrow(pa.table({"x": [1, 2]})).columns
    ['x']
    """
    mark("from_arrow")
    if not _has_arrow(values):
        raise TypeMismatchError(
            "from_arrow: the object does not support Arrow: "
            f"type={type(values).__name__!r}; pass an object with __arrow_c_array__ or "
            "__arrow_c_stream__"
        )
    is_column = not _is_arrow_table(values) and _has_type(values)
    columns = _arrow_columns(values, "from_arrow", is_column)
    made = [columns.column(i, "from_arrow") for i in range(len(columns.names))]
    if not columns.is_table:
        return series_of(_core.data(made[0]), columns.names[0] or None)
    return frame_of_table(_core.Table(columns.names, made))


def from_pandas(values: Any) -> DataFrame | Series:
    """Share the memory of a pandas frame or series where its layout allows.

    Parameters
    ----------
    values : pandas.DataFrame or pandas.Series
        Numbers and naive times are shared; strings, categories, zoned times and nullable columns
        come through Arrow. NaT becomes null.

    Returns
    -------
    DataFrame or Series
        The index becomes labels, kept as columns. An unnamed one is called ``"index"``, or dropped
        if it holds integers (positions).

    >>> import pandas as pd
    >>> hr.from_pandas(pd.DataFrame({"x": [1.5, 2.5]}, index=["a", "b"])).x.to_dict()
    {'a': 1.5, 'b': 2.5}
    """
    return adopt_pandas(values, False)


def adopt_pandas(values: Any, copy: bool | None) -> DataFrame | Series:
    """A pandas object as ours; `copy` as in `DataFrame`."""
    mark("from_pandas")
    came_back("from_pandas", values)
    if type(values).__module__.partition(".")[0] != "pandas":
        raise TypeMismatchError(
            f"from_pandas: expected a pandas object: type={type(values).__name__!r}; use "
            "DataFrame or Series"
        )
    if not hasattr(values, "columns"):
        return new_series(values, copy=copy)
    if labels := pandas_labels(values):
        index = adopt_pandas(values.index.to_frame(index=False).set_axis(labels, axis=1), copy)
        table = adopt_pandas(values.reset_index(drop=True), copy)
        assert is_frame(table) and is_frame(index)
        domain = next(iter(index._nodes.values())).domain
        columns = {name: _core.in_domain(node, domain) for name, node in table._nodes.items()}
        return frame_of(columns, dict(zip(labels, index._nodes.values(), strict=True)))
    names = given_names(values.columns)
    repeated = [name for i, name in enumerate(names) if name in names[:i]]
    if repeated:
        raise InvalidArgumentError(
            f"from_pandas: duplicate column name: name={repeated[0]!r}; rename one"
        )
    domain = _core.new_domain() if counts_rows(values) else picked_domain()
    nodes: dict[str, _core.Node] = {}
    for i, name in enumerate(names):
        column = values.iloc[:, i]
        if _is_numpy_backed(column) and column.dtype.kind in "biufMm":
            nodes[name] = column_node(column, "from_pandas", domain, copy=copy)
        else:  # as a table, so that errors name the column
            arrow = _arrow_columns(values.iloc[:, [i]], "from_pandas")
            nodes[name] = _core.data(arrow.column(0, "from_pandas"), "", domain)
    return frame_of(nodes)


__all__ = ["from_arrow", "from_dlpack", "from_pandas"]
