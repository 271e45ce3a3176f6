# SPDX-License-Identifier: Apache-2.0
"""Build frames from rows, records, arrays, dictionaries and scalars."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.column_reductions import by_column
from headrace.frame.columns import frame_of, framed, is_frame, new_frame
from headrace.interop.exchange import adopt_pandas, from_arrow
from headrace.lazy.handle import Deferred, mark
from headrace.rows import by_position, given_names, pandas_labels, unnamed
from headrace.series.column import is_index, is_series, new_series, series_of, with_rows_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame

#: Scalars that are broadcast to all rows of a column.
_SINGLE = bool | int | float | str | datetime.date | datetime.timedelta | decimal.Decimal
#: Kinds of record fields that columns hold directly: numbers and times.
_PLAIN_FIELDS = "biufc"


def is_scalar_array(value: Any) -> bool:
    """Whether this is a single lazy number, the result of a reduction."""
    return isinstance(value, Deferred) and not value._node.shape


def is_single(value: Any) -> bool:
    """Whether this is a scalar, the result of a reduction included."""
    return (
        value is None
        or isinstance(value, _SINGLE)
        or is_scalar_array(value)
        or (
            type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0  # NumPy's scalars
        )
    )


def from_dict(
    data: Mapping[Any, Any], orient: str = "columns", columns: Iterable[str] | None = None
) -> DataFrame:
    """See `DataFrame.from_dict`."""
    if orient not in ("columns", "index"):
        raise InvalidArgumentError(
            f"from_dict: invalid value: orient={orient!r}; expected 'columns' or 'index'"
        )
    if orient == "columns":
        return new_frame(data, columns)
    return new_frame(list(data.values()), columns, list(data))


def by_label(row: Any) -> Any:
    """The values of a series by label; anything else unchanged."""
    named = by_column(row)
    return (
        dict(zip(framed(row)._label_list(), row.to_list(), strict=True))
        if is_series(named)
        else named
    )


# ---- rows ----------------------------------------------------------------------------------------
def columns_of_rows(rows: list[Any], columns: Iterable[str] | None) -> dict[str, Any]:
    """Columns by name from a list of dictionaries, of lists or tuples, or of scalars."""
    names: list[Any] | None = None if columns is None else list(columns)
    made = _core.values_by_name(rows) if rows else None
    if made is not None:
        nothing = [None] * len(rows)
        return {n: made.get(n, nothing) for n in (made if names is None else names)}
    if any(map(is_series, rows)):
        rows = [by_label(row) for row in rows]
    if rows and all(isinstance(row, Mapping) for row in rows):
        every = dict.fromkeys(name for row in rows for name, _ in row.items())
        found = names if names is not None else list(every)
        return {name: [row.get(name) for row in rows] for name in found}
    if rows and all(is_single(row) for row in rows):
        rows = [(row,) for row in rows]
    if not all(isinstance(row, list | tuple) for row in rows):
        kinds = sorted({type(row).__name__ for row in rows})
        raise TypeMismatchError(
            f"DataFrame: cannot read these values as rows: types={kinds}; pass columns by "
            "name, or a list of lists, tuples or dictionaries"
        )
    width = len(names) if names is not None else len(rows[0]) if rows else 0
    for at, row in enumerate(rows):
        if len(row) != width:
            raise InvalidArgumentError(
                f"DataFrame: rows differ in length: row={at}, values={len(row)}, columns={width}"
            )
    # Named tuples bring column names.
    fields = getattr(rows[0], "_fields", None) if rows else None
    names = list(fields or range(width)) if names is None else names
    turned = zip(*rows, strict=True) if rows else ([] for _ in names)
    return {name: list(values) for name, values in zip(names, turned, strict=True)}


def columns_of_array(values: Any, columns: Iterable[str] | None) -> dict[str, Any]:
    """The columns of a one- or two-dimensional array, or the fields of a record array."""
    if getattr(values.dtype, "names", None):
        return _fields(values, columns)
    if values.ndim == 1:
        values = values.reshape(-1, 1)
    if values.ndim != 2:
        raise TypeMismatchError(
            f"DataFrame: expected an array of one or two dimensions: dimensions={values.ndim}"
        )
    width = values.shape[1]
    names: list[Any] = list(range(width) if columns is None else columns)
    if len(names) != width:
        raise InvalidArgumentError(
            f"DataFrame: number of names does not match the columns: expected={width}, "
            f"got={len(names)}"
        )
    if (split := _split_rows(values, names)) is not None:
        return {n: series_of(node) for n, node in split.items()}
    return {name: values[:, i] for i, name in enumerate(names)}


def _split_rows(values: Any, names: list[Any], domain: int = 0) -> dict[Any, _core.Node] | None:
    """The columns of an array whose rows lie in one piece; None for others, or equal names."""
    width, step = len(names), values.dtype.itemsize
    if width < 2 or values.strides[1] != step or not _is_plain(values.dtype):
        return None
    split = {n: (values.dtype, i * step) for i, n in enumerate(names)}
    return _split(values, split, domain) if len(split) == width else None


def _of_matrix(values: Any, columns: Iterable[Any] | None) -> dict[Any, _core.Node] | None:
    """The columns of a plain matrix, in one call of the engine; None for other values."""
    if type(values).__name__ != "ndarray" or getattr(values, "ndim", 0) != 2:
        return None
    names = list(range(values.shape[1]) if columns is None else columns)
    fits = len(names) == values.shape[1]
    return _split_rows(values, names, _core.new_domain()) if fits else None


def _split(
    values: Any, fields: dict[Any, tuple[Any, int]], domain: int = 0
) -> dict[Any, _core.Node]:
    """Columns from fields of rows, a dtype and a place in the row each: one pass over memory."""
    mark("DataFrame")
    split = _core.split_records(
        "DataFrame",
        values.__array_interface__["data"][0],
        len(values),
        values.strides[0],
        values.itemsize * math.prod(values.shape[1:]),
        [(dtype.str, at) for dtype, at in fields.values()],
    )
    return {n: _core.data(c, "", domain) for n, c in zip(fields, split, strict=True)}


def _fields(values: Any, columns: Iterable[str] | None) -> dict[str, Any]:
    """Fields of a NumPy record array as columns: numbers and times in one pass over memory."""
    if values.ndim != 1:
        raise TypeMismatchError(
            f"DataFrame: expected one-dimensional records: dimensions={values.ndim}"
        )
    names = list(values.dtype.names if columns is None else columns)
    for name in names:
        if name not in values.dtype.names:
            _core.no_such_column("DataFrame", list(values.dtype.names), str(name))
        if values.dtype[name].shape or values.dtype[name].names:
            raise TypeMismatchError(
                f"DataFrame: a record field holds several values: name={name!r}; split it "
                "into fields"
            )
    known = values.dtype.fields
    plain = {n: (known[n][0], known[n][1]) for n in names if _is_plain(values.dtype[n])}
    split = _split(values, plain) if plain else {}
    made: dict[str, Any] = {name: series_of(node) for name, node in split.items()}
    for name in names:
        if name not in made:  # strings
            field = values[name]
            made[name] = field.astype("U") if field.dtype.kind == "S" else field
    return {name: made[name] for name in names}


def _is_plain(dtype: Any) -> bool:
    swapped = dtype.str[0] == ">"
    if dtype.kind == "M":
        return not swapped and dtype.str.endswith(("[s]", "[ms]", "[us]", "[ns]"))
    return not swapped and dtype.kind in _PLAIN_FIELDS and dtype.itemsize in (1, 2, 4, 8)


# ---- the whole -----------------------------------------------------------------------------------
def columns_from(data: Any, columns: Iterable[str] | None) -> Mapping[str, Any] | None:
    """The columns of any input, by name; None for a table of another library."""
    if data is None:
        return {} if columns is None else {name: [] for name in columns}
    if isinstance(data, Mapping):
        if columns is None:
            return data
        names = list(columns)
        if not data:
            return {name: [] for name in names}
        if names and not any(name in data for name in names):
            _core.no_such_column("DataFrame", [str(name) for name in data], str(names[0]))
        return {name: data.get(name) for name in names}
    if hasattr(data, "__array_interface__") and hasattr(data, "dtype"):
        return columns_of_array(data, columns)
    if isinstance(data, list | tuple | range | Iterator):
        return columns_of_rows(list(data), columns)
    if columns is not None and getattr(data, "ndim", 0) == 2 and not hasattr(data, "columns"):
        return columns_of_array(data, columns)
    return None


def levels_of(frame: DataFrame, keys: list[Any]) -> dict[Any, _core.Node]:
    """Label levels: columns by name, or values for the rows of the frame."""
    made: dict[Any, _core.Node] = {}
    for key in keys:
        if isinstance(key, str | int | tuple) and (type(key) is str or key in frame._nodes):
            made[key] = frame._nodes[frame._find(key)]
        elif is_frame(levels := getattr(key, "_frame", None)) and not is_series(key):
            columns = levels._nodes.items()  # of a `MultiIndex`
            made |= {name: frame._aligned(series_of(node)) for name, node in columns}
        elif type(key).__module__.partition(".")[0] == "pandas" and hasattr(key, "nlevels"):
            labels = pandas_labels(key.to_frame())
            lists = [key.get_level_values(i) for i in range(key.nlevels)]
            made |= {
                name: frame._aligned(new_series(each.to_series(range(len(key)))))
                for name, each in zip(labels or [unnamed(0, 1)], lists, strict=True)
            }
        elif is_index(key) and len(key) == frame._rows():  # by position, as in pandas
            like = frame._any_node()
            node = key._node if like is None else _core.in_domain(key._node, like.domain)
            made[unnamed(len(made), len(keys)) if key.name is None else key.name] = node
        else:
            values = key if is_series(key) else new_series(by_position(key))
            name = values.name or unnamed(len(made), len(keys))
            made[name] = frame._aligned(values)
    return made


def put_columns(frame: DataFrame, data: Mapping[str, Any], index: Any, copy: bool | None) -> None:
    """Bind columns to a new frame: full columns first, then scalars for all rows."""
    domain = _core.new_domain()
    columns = {n: v for n, v in data.items() if is_series(v) and not is_index(v)}
    first = next(iter(columns.values()), None)
    if index is not None:
        levels = levels_of(new_frame(), [index])
        frame._labels = {name: _core.in_domain(node, domain) for name, node in levels.items()}
    elif first is not None:
        frame._labels = framed(first)._labels
        domain = first._node.domain or domain
    single = {name: value for name, value in data.items() if is_single(value)}
    spread = len(single) < len(data) or index is not None
    for name, values in {**columns, **data}.items():
        if name in single and spread:
            continue
        node = new_series(by_position(values), copy=copy)._node
        if name in columns:
            frame._refuse_free("DataFrame", node)
        else:
            node = _core.data(values._value()) if is_index(values) else node
            node = node if columns else _core.in_domain(node, domain)
        frame._put(name, node)
    for name, value in single.items() if spread else ():
        frame[name] = value
    frame._nodes = {name: frame._nodes[name] for name in data.keys()}  # noqa: SIM118


def repeated(like: _core.Node, value: Any) -> _core.Node:
    """A scalar, or the single value of a series, repeated for the rows of `like`."""
    if is_scalar_array(value):  # which stays lazy and keeps its dtype
        every = _core.repeat(like, True)
        return _core.elementwise("where", [every, value._node, value._node], None)
    if isinstance(value, bool | int | float | str) and type(value).__module__ != "numpy":
        return _core.repeat(like, value)
    one = (value if is_series(value) else new_series([value]))._node
    return with_rows_of(series_of(_core.take(one, _core.repeat(like, 0))), like)._node


def fill(
    frame: DataFrame, data: Any, columns: Any, index: Any, dtype: Any, copy: bool | None
) -> None:
    """Put columns, rows, an array, a table or a series into a new frame; see `DataFrame`."""
    columns = None if columns is None else given_names(columns)
    if columns is not None and index is not None and is_single(data):
        data, columns = dict.fromkeys(columns, math.nan if data is None else data), None
    if hasattr(data, "_as_series"):  # dtypes of a frame, or a row
        data = data._as_series("DataFrame")
    if is_series(data):
        data = data.to_frame(data.name or (columns[0] if columns else 0))
    if is_frame(data):
        _take(frame, data, columns)
    elif index is None and (split := _of_matrix(data, columns)) is not None:
        frame._nodes = split
    elif data is not None or columns is not None or index is not None:
        found = columns_from(data, columns)
        if found is None:
            _take(frame, _from_table(data, copy), columns)
        else:
            put_columns(frame, found, index, copy)
    if dtype is not None:
        frame._nodes = frame.astype(dtype)._nodes


def _take(frame: DataFrame, data: DataFrame, columns: Iterable[str] | None) -> None:
    picked = data if columns is None else data[list(columns)]
    copied = frame_of(dict(picked._nodes), picked._labels)
    frame._nodes, frame._labels = copied._nodes, copied._labels


def _from_table(data: Any, copy: bool | None) -> DataFrame:
    """A table of pandas, pyarrow or Polars as a frame."""
    table: Any = None
    if type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns"):
        table = adopt_pandas(data, copy)
    elif hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        table = from_arrow(data)
    if is_frame(table):
        return table
    raise TypeMismatchError(
        "DataFrame: cannot build a table from this type: "
        f"type={type(data).__name__!r}; pass columns by name, or a table of pandas, "
        "pyarrow or Polars"
    )
