# SPDX-License-Identifier: Apache-2.0
"""The part of `DataFrame` that exports values to files and other libraries."""

from __future__ import annotations

import functools
from io import TextIOBase
from os import PathLike
from typing import IO, TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import FLOATS, INTEGERS
from headrace.errors import ExchangeError, InvalidArgumentError, TypeMismatchError
from headrace.interop.through_pandas import written
from headrace.io.csv import write_csv
from headrace.lazy.advice import sent
from headrace.lazy.handle import array_of, mark
from headrace.memory.tables import size_text
from headrace.rows import are_picked, given
from headrace.series.column import series_of
from headrace.series.strings import is_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from headrace.array.array import Array
    from headrace.frame.dataframe import DataFrame

_NUMBERS = frozenset((*INTEGERS, *FLOATS))
#: Options of pandas' `to_csv` that have no form in the engine: pandas writes such files.
# fmt: off
_BY_PANDAS = frozenset({
    "compression", "date_format", "decimal", "doublequote", "encoding", "escapechar",
    "index_label", "lineterminator", "mode", "quotechar", "quoting",
})
# fmt: on


def to_dict(frame: DataFrame, orient: str = "list") -> Any:
    """See `DataFrame.to_dict`."""
    if orient == "series":
        return dict(frame.items())
    _core.force(frame._every())
    lists = {name: series_of(node).to_list() for name, node in frame._nodes.items()}
    if orient == "list":
        return lists
    rows = zip(*lists.values(), strict=True)
    if orient == "records":
        return [dict(zip(lists, row, strict=True)) for row in rows]
    labels = frame._label_list()
    if orient == "dict":
        return {n: dict(zip(labels, values, strict=True)) for n, values in lists.items()}
    if orient == "index":
        each = (dict(zip(lists, row, strict=True)) for row in rows)
        return dict(zip(labels, each, strict=True))
    if orient == "split":
        return {"index": labels, "columns": list(lists), "data": [list(row) for row in rows]}
    raise InvalidArgumentError(
        f"to_dict: invalid value: orient={orient!r}; expected 'list', 'records', "
        "'dict', 'index', 'split' or 'series'"
    )


def to_csv(
    frame: DataFrame,
    path: str | PathLike[str] | IO[Any] | None = None,
    *,
    index: bool | None = None,
    columns: Sequence[str] | None = None,
    **options: Any,
) -> str | None:
    """See `DataFrame.to_csv`."""
    frame = frame if columns is None else frame[list(columns)]
    if not _BY_PANDAS.isdisjoint(options):
        labelled = bool(frame._labels) if index is None else index
        return written(frame, "to_csv", path, index=labelled, **options)
    if index and not frame._labels:
        frame = _numbered(frame)
    frame = frame.reset_index(drop=True) if index is False else frame
    if isinstance(path, str | PathLike):
        write_csv(frame, path, **options)
        return None
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "text.csv"
        write_csv(frame, file, durable=False, **options)
        text = file.read_bytes()
    if path is None:
        return text.decode()
    path.write(text.decode() if isinstance(path, TextIOBase) else text)
    return None


def _numbered(frame: DataFrame) -> DataFrame:
    """The frame behind a column of its row numbers, without a name."""
    import numpy as np

    if any(are_picked(node) for node in frame._nodes.values()):
        raise InvalidArgumentError(
            "to_csv: filtered or sorted rows have no numbers: index=True; use index=False, or "
            "reset_index first"
        )
    made: DataFrame = frame.copy()
    made.insert(0, "", np.arange(len(frame)))
    return made


def info(frame: DataFrame) -> None:
    """See `DataFrame.info`."""
    _core.force(frame._every())
    print(f"DataFrame: {len(frame):,} rows, {len(frame._nodes)} columns")
    every = [*frame._labels.items(), *frame._nodes.items()]
    width = max((len(str(name)) for name, _ in every), default=0)
    for at, (name, node) in enumerate(every):
        column = series_of(node)
        present = f"{int(column.count()):,} non-null"
        label = ", label" if at < len(frame._labels) else ""
        print(f"  {str(name).ljust(width)}  {present.rjust(16)}  {column.dtype}{label}")
    print(f"memory: {size_text(sum(series_of(node).nbytes for _, node in every))}")


@functools.cache
def _matrix_dtype(words: frozenset[str]) -> str | None:
    """The dtype of an array of columns of numbers; None for others, and where NumPy converts."""
    import numpy as np

    if not words or not words <= _NUMBERS:
        return None
    name: str = np.result_type(*words).name
    return name if words == {name} or name == "float64" else None


def _number_matrix(nodes: list[_core.Node]) -> np.ndarray[Any, Any] | None:
    """Columns of numbers in one array; None for others, on a device, and if NumPy converts them."""
    import numpy as np

    if any(_core.place_of(node) != "host" for node in nodes):
        return None
    if (dtype := _matrix_dtype(frozenset(node.dtype for node in nodes))) is None:
        return None
    made = np.empty((nodes[0].shape[0], len(nodes)), dtype)
    return made if _core.fill_matrix(nodes, dtype, made) else None  # missing integers raise


def to_numpy(frame: DataFrame) -> np.ndarray[Any, Any]:
    """See `DataFrame.to_numpy`."""
    import numpy as np

    nodes = list(frame._nodes.values())
    _core.force(nodes)
    if (matrix := _number_matrix(nodes)) is not None:
        return matrix
    columns = [series_of(node).to_numpy() for node in nodes]
    try:
        dtype = np.result_type(*columns) if columns else np.dtype("float64")
    except TypeError:  # times and numbers
        dtype = np.dtype(object)
    for i, (column, node) in enumerate(zip(columns, nodes, strict=True)):
        # NumPy itself would convert nanoseconds to integers.
        if dtype.kind == "O" and column.dtype.kind in "mM":
            columns[i] = np.empty(len(column), object)
            columns[i][:] = series_of(node).to_list()
    size = len(frame) * len(columns) * dtype.itemsize
    _core.record_copy("to_numpy", "columns gathered into one array", size, False)
    if not columns:
        return np.empty((0, 0))
    made = np.empty((len(frame), len(columns)), dtype)
    for i, column in enumerate(columns):
        made[:, i] = column
    return made


def to_array(frame: DataFrame) -> Array:
    """See `DataFrame.to_array`."""
    import numpy as np

    mark("to_array")
    columns = [series_of(node, name) for name, node in frame._nodes.items()]
    wrong = [str(c.name) for c in columns if c.dtype.kind not in "biuf"]
    if wrong or not columns:
        raise TypeMismatchError(
            f"to_array: expected numeric columns: others={wrong}; select the numeric "
            "ones: df[[...]]"
        )
    dtype = np.result_type(*(np.dtype(c.dtype) for c in columns))
    word = "uint8" if dtype.kind == "b" else dtype.name
    cast = [c.astype(word) for c in columns]
    if dtype.kind == "f":
        cast = [c.fill_null(float("nan")) if c._node.nullable else c for c in cast]
    nodes = [c._node for c in cast]
    if len(nodes) > 1:
        rows = nodes[0].shape[0]
        size = max(rows, 0) * len(nodes) * dtype.itemsize
        _core.record_copy("to_array", "columns gathered into one array", size, False)
        nodes = [_core.concat(nodes)]
    made: Array = array_of(_core.as_tensor(nodes[0])).reshape(len(columns), -1).T
    return made.astype("bool") if dtype.kind == "b" else made


def to_ndarray(
    frame: DataFrame, dtype: npt.DTypeLike | None = None, copy: bool | None = None
) -> np.ndarray[Any, Any]:
    """See `DataFrame.__array__`."""
    if copy is False:
        raise ExchangeError(
            "__array__: a frame needs a copy to become one array: copy=False; pass copy=None"
        )
    return frame.to_numpy() if dtype is None else frame.to_numpy().astype(dtype)


def to_pandas(frame: DataFrame) -> Any:
    """See `DataFrame.to_pandas`."""
    import pandas as pd

    frame = frame._numbered()
    _core.force(frame._every())
    columns = {n: series_of(node, n).to_pandas() for n, node in frame._nodes.items()}
    made = pd.DataFrame(columns, copy=False) if columns else pd.DataFrame()
    labels = {name: series_of(node) for name, node in frame._labels.items()}
    if labels:  # pandas looks up objects, not Arrow strings
        found = [v.to_numpy() if is_text(v) else v.to_pandas() for v in labels.values()]
        many = len(found) > 1
        made.index = (
            pd.MultiIndex.from_arrays(found, names=[given(name) for name in labels])
            if many
            else pd.Index(found[0], name=given(next(iter(labels))))
        )
    if any(levels := frame.columns.names):
        made.columns.names = levels
    return sent(made)


def arrow_device_array(frame: DataFrame, requested_schema: Any = None, **kwargs: Any) -> Any:
    """See `DataFrame.__arrow_c_device_array__`."""
    named = frame._with_labels(renamed=True)
    _core.force(list(named.values()))
    table = _core.Table(list(named), [_core.value_there(node) for node in named.values()])
    return table.__arrow_c_device_array__(requested_schema)
