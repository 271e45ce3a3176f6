# SPDX-License-Identifier: Apache-2.0
"""Memory shared with other libraries: NumPy, DLPack, Arrow, pandas."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import refuse_months
from headrace.errors import (
    Error,
    ExchangeError,
    InvalidArgumentError,
    TypeMismatchError,
    UnsupportedError,
)
from headrace.rows import is_missing
from headrace.zones import zone_in, zone_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from headrace.array import Array
    from headrace.frame import DataFrame
    from headrace.series import Series


def _has_arrow(values: object) -> bool:
    names = ("__arrow_c_device_array__", "__arrow_c_array__", "__arrow_c_stream__")
    return any(hasattr(values, name) for name in names)


def _has_buffer(values: object) -> bool:
    try:
        memoryview(values)  # type: ignore[arg-type]
    except (TypeError, BufferError, ValueError):
        return False
    return True


def _arrow_columns(values: Any, op: str) -> _core.ArrowColumns:
    kinds = getattr(values, "dtypes", ())  # one of a series
    kinds = list(kinds.values()) if isinstance(kinds, dict) else kinds
    for kind in kinds if hasattr(kinds, "__iter__") else (kinds,):
        if str(kind).startswith("period["):
            raise TypeMismatchError(
                f"{op}: periods are no column: dtype='{kind}'; use dt.to_timestamp()"
            )
    try:
        return _core.from_arrow(values, op)
    except (Error, MemoryError):
        raise
    except Exception as error:
        raise UnsupportedError(
            f"{op}: the object cannot hand this out as Arrow: type={type(values).__name__!r}; "
            f"convert it first ({error})"
        ) from error


def _arrow_column(values: Any, op: str) -> _core.Column:
    columns = _arrow_columns(values, op)
    if columns.is_table:
        raise TypeMismatchError(
            f"{op}: a table is no column: columns={len(columns.names)}; "
            "use from_arrow() or DataFrame(), or select a column"
        )
    return columns.column(0, op)


def tensor_from(values: Any) -> tuple[_core.Tensor, bool]:
    """Adopt an array of another library without a copy, or build one from Python numbers.

    The second value tells whether somebody else may still write to the memory.
    """
    if hasattr(values, "__array_interface__"):
        _refuse_mask(values, "asarray")
        if getattr(getattr(values, "dtype", None), "kind", None) == "M" and _days(values):
            raise TypeMismatchError(
                "asarray: dates stand in columns only: dtype='datetime64[D]'; "
                "make a Series of them, or use astype('datetime64[s]')"
            )
        return _core.from_array(values, "asarray")
    if hasattr(values, "__dlpack__") and not _has_arrow(values):
        return _core.from_dlpack(values, "asarray")
    if type(values).__module__.partition(".")[0] == "pandas" and _is_numpy_backed(values):
        return _pandas_array(values)
    if _has_arrow(values):
        return _arrow_column(values, "asarray").as_tensor(), False
    if not isinstance(values, list | tuple) and _has_buffer(values):
        return _core.from_array(values, "asarray")
    import numpy as np

    array = np.asarray(values)
    if array.dtype.kind not in "biufcMm":
        raise TypeMismatchError(
            f"asarray: these values are no array of numbers: type={type(values).__name__!r}; "
            "pass numbers or bools, or make a Series of texts and of values with None"
        )
    return _core.from_array(array, "asarray")[0], False


def _days(values: Any) -> bool:
    """Tell whether an array of times counts days, which ours do in 32 bits."""
    return bool(values.dtype.name == "datetime64[D]")


def _refuse_mask(values: Any, op: str) -> None:
    if type(values).__module__.startswith("numpy.ma"):
        raise UnsupportedError(f"{op}: a masked array; fill it first: x.filled(value)")


def _is_numpy_backed(values: Any) -> bool:
    dtypes = [values.dtype] if hasattr(values, "dtype") else getattr(values, "dtypes", ())
    return all(type(dtype).__module__.startswith("numpy") for dtype in dtypes)


def _pandas_array(values: Any) -> tuple[_core.Tensor, bool]:
    # pandas shows its blocks read-only, yet writes to them itself.
    array = values.to_numpy()
    if array.flags.owndata:
        _core.record_copy("asarray", "pandas columns become one array", array.nbytes, False)
    return _core.from_array(array, "asarray")[0], True


def column_from(
    values: Any, op: str = "Series", dtype: str | None = None
) -> tuple[_core.Column, bool]:
    """Adopt a column of another library, or build one of `dtype` from a list of Python values.

    The second value tells whether somebody else may still write to the memory.
    """
    if isinstance(values, list | tuple | range):
        return _list_column(values, op, dtype), False
    kind = getattr(getattr(values, "dtype", None), "kind", None)
    if hasattr(values, "__array_interface__"):
        if kind in ("O", "U", "T"):
            return _objects(values, op), False
        _refuse_mask(values, op)
        return _array_column(values, op)
    module = type(values).__module__.partition(".")[0]
    if module == "pandas" and kind in tuple("biufMm") and _is_numpy_backed(values):
        # pandas shows its blocks read-only, yet writes to them itself.
        return _array_column(values.to_numpy(), op)[0], True
    if module == "pandas" and type(values).__name__ == "Categorical":
        from headrace.categories import of_pandas

        return of_pandas(values)._value(), False
    if _has_arrow(values):
        return _arrow_column(values, op), False
    if hasattr(values, "__dlpack__"):
        tensor, live = _core.from_dlpack(values, op)
        return _core.column_of(tensor, op), live
    if not isinstance(values, str) and _has_buffer(values):
        return _array_column(values, op)
    if hasattr(values, "__iter__") and not isinstance(values, str | bytes | dict | set):
        return _list_column(list(values), op, dtype), False
    raise TypeMismatchError(
        f"{op}: these values are no column: type={type(values).__name__!r}; "
        "pass a list, an array, or an Arrow or pandas column"
    )


def _is_numpy_time(value: Any) -> bool:
    return type(value).__module__ == "numpy" and type(value).__name__ == "datetime64"


def _numpy_durations(values: Any, op: str, dtype: str | None) -> Any:
    """A NumPy array of a list with a timedelta64 in it, in a unit that a column has."""
    import numpy as np

    spans = [np.timedelta64("NaT") if value is None else np.timedelta64(value) for value in values]
    for span in spans:
        refuse_months(span, op)
    return np.array(spans).astype(dtype) if dtype else np.array(spans)


def _python_values(values: Any, dtype: str | None = None) -> _core.Column:
    """A column of Python's values; beside texts and times NaN, and what pandas has, is null."""
    try:
        return _core.column_from_list(values, dtype)
    except (TypeMismatchError, RuntimeError):  # pandas' NaT looks like a time of Python
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
    if dtype is None:  # NumPy finds the unit that holds all of them
        return _array_column(np.array(times), op)[0]
    made = [time.astype("datetime64[D]" if dtype == "date" else dtype) for time in times]
    for row, (time, exact) in enumerate(zip(made, times, strict=True)):
        if time != exact and not np.isnat(exact):
            raise InvalidArgumentError(
                f"{op}: a time that the dtype does not hold: row={row}, value='{exact}', "
                f"dtype={dtype!r}; give a finer unit"
            )
    return _array_column(np.array(made), op)[0]


def _array_column(values: Any, op: str) -> tuple[_core.Column, bool]:
    if getattr(getattr(values, "dtype", None), "kind", None) == "M" and _days(values):
        days = _core.from_array(values.view("int64"), op)[0]
        return _core.dates_of_days(days, op), False
    if getattr(getattr(values, "dtype", None), "kind", None) == "m" and not (
        values.dtype.name.endswith("s]")  # days, hours, minutes
    ):
        refuse_months(values, op)
        seconds = values.astype("timedelta64[s]")
        _core.record_copy(op, f"{values.dtype.name} becomes seconds", seconds.nbytes, False)
        values = seconds
    tensor, live = _core.from_array(values, op)
    return _core.column_of(tensor, op), live


def _objects(values: np.ndarray[Any, Any], op: str) -> _core.Column:
    if values.ndim != 1:
        raise TypeMismatchError(f"{op}: only a 1-D array is a column: dimensions={values.ndim}")
    _core.record_copy(op, "NumPy objects become values", values.nbytes, False)
    return _python_values(values.tolist())


def column_node(
    values: Any, op: str = "Series", domain: int = 0, dtype: str | None = None
) -> _core.Node:
    """Make the plan node of a column's values."""
    from headrace.deferred import Deferred

    if isinstance(values, Deferred):
        node = values._node
        return node if node.form == "column" else _core.as_column(node)
    column, live = column_from(values, op, dtype)
    return _core.data(column, "", domain, live)


def column_to_ndarray(column: _core.Column, op: str = "to_numpy") -> np.ndarray[Any, Any]:
    """View a column as NumPy does; conversions are in the ledger."""
    import numpy as np

    if column.dtype in ("string", "category"):
        reason = f"{'strings' if column.dtype == 'string' else 'categories'} become objects"
        _core.record_copy(op, reason, column.nbytes, False)
        result = np.empty(column.num_rows, dtype=object)
        result[:] = column.to_list()
        return result
    if column.dtype == "date":
        return np.asarray(column.days(op)).view("datetime64[D]")
    if column.dtype.startswith("decimal"):
        _core.record_copy(op, "decimals become objects", column.nbytes, False)
        result = np.empty(column.num_rows, dtype=object)
        result[:] = column.to_list()
        return result
    if zone_in(column.dtype):
        _core.record_copy(op, "times with a zone become objects", column.num_rows * 8, False)
        result = np.empty(column.num_rows, dtype=object)
        result[:] = column.to_list()
        return result
    return np.asarray(column.dense(op))


def _is_view(value: _core.Column | _core.Tensor) -> bool:
    return isinstance(value, _core.Tensor) or not (
        value.null_count
        or value.dtype in ("bool", "string", "date", "category")
        or value.dtype.startswith("decimal")
        or zone_in(value.dtype)
    )


def to_ndarray(
    value: _core.Column | _core.Tensor,
    dtype: npt.DTypeLike | None = None,
    copy: bool | None = None,
) -> np.ndarray[Any, Any]:
    """Do what NumPy asks of ``__array__``: `copy` False refuses a copy, None allows it."""
    import numpy as np

    converts = dtype is not None and str(np.dtype(dtype)) != value.dtype
    if copy is False and (converts or not _is_view(value)):
        raise ExchangeError(
            f"__array__: this needs a copy: dtype={value.dtype!r}; pass copy=None or copy=True"
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
    """Give a pandas series: on the same memory, of NumPy's dtype where there are no nulls."""
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
    import pyarrow as pa

    if column.dtype == "string":  # pandas has no words for views
        _core.record_copy("to_pandas", "texts become pandas' texts", column.nbytes, False)
        texts = pa.array(column).cast(pa.large_string())
        return pd.Series(texts, name=name, dtype="str", copy=False)
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(column)), name=name, copy=False)


def _pandas_categories(column: _core.Column) -> Any:
    """Give pandas' own categories: its codes say null by -1 and are as narrow as they can be."""
    import numpy as np
    import pandas as pd

    categories = pd.Index(column.categories.to_list(), dtype="str")
    width = np.min_scalar_type(-max(len(categories), 1)).itemsize
    _core.record_copy("to_pandas", "codes become pandas' codes", column.num_rows * width, False)
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
        A tensor of PyTorch, JAX, NumPy or another library, in memory that the host can read.

    Returns
    -------
    Array
        On the same memory.

    Raises
    ------
    DeviceError
        For memory of a GPU in a build without CUDA.
    UnsupportedError
        For a dtype that Headrace does not have.

    Examples
    --------
    >>> import headrace as hr
    >>> import numpy as np
    >>> hr.from_dlpack(np.arange(3)).tolist()
    [0, 1, 2]
    """
    from headrace.array import Array
    from headrace.deferred import mark

    mark("from_dlpack")
    if not hasattr(values, "__dlpack__") and type(values).__name__ != "PyCapsule":
        raise TypeMismatchError(
            f"from_dlpack: the object does not speak DLPack: type={type(values).__name__!r}; "
            "pass an object with __dlpack__, or use asarray"
        )
    return Array(_core.data(_core.from_dlpack(values, "from_dlpack")[0]))


def from_arrow(values: Any) -> DataFrame | Series:
    """Share the memory of an object that speaks Arrow: a frame for a table, else a series.

    Parameters
    ----------
    values : object
        Anything with ``__arrow_c_array__`` or ``__arrow_c_stream__``: tables and columns of
        pyarrow, Polars, pandas, DuckDB. With ``__arrow_c_device_array__`` what is on a GPU is
        shared there: numbers, bools and times.

    Returns
    -------
    DataFrame or Series
        On the same memory. Strings with offsets get views, dictionaries of strings become
        categories (their codes stay where they are when they are 32 bits wide) and chunks are
        joined: the ledger shows these copies.

    Raises
    ------
    UnsupportedError
        For a format that Headrace does not read; names the column and the way out.

    Examples
    --------
    >>> import headrace as hr
    >>> import pyarrow as pa
    >>> hr.from_arrow(pa.table({"x": [1, 2]})).columns
    ['x']
    """
    from headrace.deferred import mark
    from headrace.frame import DataFrame
    from headrace.series import Series

    mark("from_arrow")
    if not _has_arrow(values):
        raise TypeMismatchError(
            f"from_arrow: the object does not speak Arrow: type={type(values).__name__!r}; "
            "pass an object with __arrow_c_array__ or __arrow_c_stream__"
        )
    columns = _arrow_columns(values, "from_arrow")
    made = [columns.column(i, "from_arrow") for i in range(len(columns.names))]
    if not columns.is_table:
        return Series(_core.data(made[0]), columns.names[0] or None)
    return DataFrame._from_table(_core.Table(columns.names, made))


def from_pandas(values: Any) -> DataFrame | Series:
    """Share the memory of a pandas frame or series where its layout allows it.

    Parameters
    ----------
    values : pandas.DataFrame or pandas.Series
        Numbers and times without a zone stay where they are; strings, categories, times with a
        zone and nullable columns come through Arrow. NaT becomes null.

    Returns
    -------
    DataFrame or Series
        The index is its labels, beside the columns. One without a name is called ``"index"``,
        or left out where it is of integers: positions, of rows that were picked or sorted.

    Examples
    --------
    >>> import headrace as hr
    >>> import pandas as pd
    >>> hr.from_pandas(pd.DataFrame({"x": [1.5, 2.5]}, index=["a", "b"])).x.to_dict()
    {'a': 1.5, 'b': 2.5}
    """
    from headrace.deferred import mark
    from headrace.frame import DataFrame
    from headrace.functions import came_back
    from headrace.rows import counts_rows, pandas_labels, picked_domain
    from headrace.series import Series

    mark("from_pandas")
    came_back("from_pandas", values)
    if type(values).__module__.partition(".")[0] != "pandas":
        raise TypeMismatchError(
            f"from_pandas: this is not of pandas: type={type(values).__name__!r}; "
            "use DataFrame or Series"
        )
    if not hasattr(values, "columns"):
        return Series(values)
    if labels := pandas_labels(values):
        known = values.columns.intersection(labels).tolist()
        if known:
            raise InvalidArgumentError(
                f"from_pandas: a level of the index has the name of a column: name={known[0]!r}; "
                "use reset_index(drop=True), or rename one"
            )
        table = from_pandas(values.reset_index(names=labels))
        assert isinstance(table, DataFrame)
        return table.set_index(labels, drop=True)
    names = [str(name) for name in values.columns]
    repeated = [name for i, name in enumerate(names) if name in names[:i]]
    if repeated:
        raise InvalidArgumentError(
            f"from_pandas: a column name is there twice: name={repeated[0]!r}; rename one"
        )
    domain = _core.new_domain() if counts_rows(values) else picked_domain()
    nodes: dict[str, _core.Node] = {}
    for i, name in enumerate(names):
        column = values.iloc[:, i]
        if _is_numpy_backed(column) and column.dtype.kind in "biufMm":
            nodes[name] = column_node(column, "from_pandas", domain)
        else:  # as a table, so that errors name the column
            columns = _arrow_columns(values.iloc[:, [i]], "from_pandas")
            nodes[name] = _core.data(columns.column(0, "from_pandas"), "", domain)
    return DataFrame._of(nodes)


__all__ = ["from_arrow", "from_dlpack", "from_pandas"]
