# SPDX-License-Identifier: Apache-2.0
"""What Dask asks of the frames in its partitions, by its dispatches."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from dask._dispatch import get_collection_type
from dask.array.dispatch import percentile_lookup
from dask.dataframe import dispatch
from dask.dataframe.backends import ShuffleGroupResult
from dask.sizeof import sizeof
from dask.tokenize import normalize_token
from partd import Encode

from headrace import _core
from headrace.array.array import Array
from headrace.dask import bundles  # noqa: F401 (registers itself)
from headrace.dask.collections import DataFrame as FrameCollection
from headrace.dask.collections import Index as IndexCollection
from headrace.dask.collections import Series as SeriesCollection
from headrace.dask.splitting import in_groups
from headrace.dtypes import DType
from headrace.frame.columns import frame_of, is_frame
from headrace.frame.concat import concat
from headrace.frame.dataframe import DataFrame
from headrace.groupby.resample import Grouper
from headrace.interop.pandas_types import CategoricalDtype
from headrace.series.column import is_series, labels_of, new_series, series_of
from headrace.series.index import Index, MultiIndex
from headrace.series.series import Series

FRAMES = (DataFrame,)
VALUES = (DataFrame, Series, MultiIndex)  # an `Index` is a `Series`

#: Of a handle, about.
_OBJECT_BYTES = 1000
#: A value that stands for those of a dtype when Dask guesses what a function returns.
_EXAMPLES: dict[str, Any] = {
    **{"b": True, "i": 1, "u": 1, "f": 1.0, "c": 1j, "U": "foo"},
    **{"M": np.datetime64("1970-01-01", "s"), "m": np.timedelta64(1, "s")},
}


def _nodes(value: Any) -> list[_core.Node]:
    if isinstance(value, MultiIndex):
        return value._frame._every()
    if isinstance(value, DataFrame):
        return value._every()
    return [*value._levels(), value._node] if hasattr(value, "_frame") else [value._node]


def _labels_of(value: Any) -> list[_core.Node]:
    return [] if isinstance(value, Index | MultiIndex) else list(value._levels())


# ---- empty and small frames that stand for partitions --------------------------------------------
@dispatch.make_meta_dispatch.register(VALUES)
def make_meta(value: Any, index: Any = None) -> Any:
    """No rows of a value: its names and dtypes."""
    none = value[:0] if isinstance(value, Index | MultiIndex) else value.head(0)
    _core.force(_nodes(none))
    return none


@dispatch.make_meta_dispatch.register(Array)
def make_meta_of_array(value: Array, index: Any = None) -> Any:
    """An example of a scalar, of NumPy as Dask knows it; no items of an array."""
    return np.dtype(str(value.dtype)).type(1) if value.ndim == 0 else value[:0]


@dispatch.make_meta_obj.register(VALUES)
def make_meta_object(meta: Any, index: Any = None) -> Any:
    """A frame or series without rows, from names and dtypes."""
    if isinstance(meta, Mapping):
        return DataFrame({name: new_series([], dtype=dtype) for name, dtype in meta.items()})
    if isinstance(meta, tuple) and len(meta) == 2:
        return new_series([], meta[0], meta[1])
    if isinstance(meta, Iterable) and not isinstance(meta, str):
        return make_meta_object(dict(meta))
    import pandas as pd

    return dispatch.make_meta_obj.dispatch(pd.DataFrame)(meta)


def _two_rows(node: _core.Node) -> _core.Node:
    """Two rows of a dtype, those of the column if it has some."""
    series = series_of(node)
    if len(series):
        return series.take([0, 0])._node
    dtype = series.dtype
    if dtype == "category":
        known = list(series.cat.categories)[:1] or ["a"]
        return new_series(known * 2, dtype="category")._node
    example = _EXAMPLES.get(dtype.kind)
    return new_series([example, example]).astype(str(dtype))._node


@dispatch.meta_nonempty.register(VALUES)
def meta_nonempty(meta: Any) -> Any:
    """Two rows of example values with the names and dtypes of a frame, series or index."""
    if isinstance(meta, Index):
        return labels_of(_two_rows(meta._node), meta.name)
    if isinstance(meta, MultiIndex):
        return MultiIndex(meta_nonempty(meta._frame))
    if is_series(meta):
        frame = meta_nonempty(meta.to_frame("value"))
        return frame["value"].rename(meta.name)
    domain = _core.new_domain()
    made = [
        {name: _core.in_domain(_two_rows(node), domain) for name, node in nodes.items()}
        for nodes in (meta._nodes, meta._labels)
    ]
    if not made[0] and not made[1]:
        return meta
    return frame_of(*made)


# ---- the types of collections --------------------------------------------------------------------
for _kind, _collection in (
    (DataFrame, FrameCollection),
    (Series, SeriesCollection),
    (Index, IndexCollection),
    (MultiIndex, IndexCollection),
):
    dispatch.get_parallel_type.register(_kind, lambda _, made=_collection: made)
    get_collection_type.register(_kind, lambda _, made=_collection: made)


# ---- rows ----------------------------------------------------------------------------------------
@dispatch.concat_dispatch.register(VALUES)
def concat_parts(
    parts: list[Any],
    axis: int = 0,
    join: Any = "outer",
    uniform: bool = False,
    filter_warning: bool = True,
    ignore_index: bool = False,
    **options: Any,
) -> Any:
    """The rows of partitions, in order."""
    first = parts[0]
    if isinstance(first, MultiIndex):
        return MultiIndex(concat([part._frame for part in parts], ignore_index=True))
    if isinstance(first, Index):
        return labels_of(concat([series_of(part._node) for part in parts])._node, first.name)
    if axis == 0:  # parts without rows may be examples, which have no labels
        filled = [part for part in parts if len(part)] or parts[:1]
        known = {name for part in filled if is_frame(part) for name in part.columns}
        more = [part for part in parts if is_frame(part) and not known.issuperset(part.columns)]
        parts = [*more, *filled]  # `more` has no rows
    return concat(parts, axis=axis, join=join, ignore_index=ignore_index)


@dispatch.hash_object_dispatch.register(VALUES)
def hash_rows(value: Any, index: bool = True, **options: Any) -> Any:
    """64 bits for each row: equal rows have equal ones, in any process."""
    nodes = list(value._nodes.values()) if isinstance(value, DataFrame) else _nodes(value)[-1:]
    nodes = [*_labels_of(value), *nodes] if index else nodes
    _core.force(nodes)
    hashes = _core.hash_rows([node.value() for node in nodes])
    return new_series(hashes).to_numpy()


@dispatch.group_split_dispatch.register(VALUES)
def group_split(value: Any, codes: Any, k: int, ignore_index: bool = False) -> Any:
    """The rows of each code, in order: slices of one reordered frame."""
    rows, ends = in_groups(value, codes, k)
    parts = (rows.iloc[begin:end] for begin, end in pairwise([0, *ends]))
    if ignore_index:
        parts = (part.reset_index(drop=True) for part in parts)
    return ShuffleGroupResult(enumerate(parts))


@percentile_lookup.register(Series)
def percentile(values: Any, q: Any, interpolation: str = "linear") -> Any:
    """Percentiles of a series or index, and its length, as Dask's own function gives them."""
    from dask.array.percentile import _percentile

    return _percentile(values.to_numpy(), q, interpolation)


# ---- other forms ---------------------------------------------------------------------------------
@dispatch.tolist_dispatch.register((Series, Array, MultiIndex))
def tolist(values: Any) -> list[Any]:
    """The values as a list."""
    made: list[Any] = values.tolist() if isinstance(values, Array) else values.to_list()
    return made


@dispatch.is_categorical_dtype_dispatch.register((DType, Series))
def is_categorical_dtype(value: Any) -> bool:
    """Whether these are categories."""
    return str(getattr(value, "dtype", value)) == "category"


@dispatch.categorical_dtype_dispatch.register(VALUES)
def categorical_dtype(categories: Any = None, ordered: bool = False) -> Any:
    """A dtype of categories."""
    return CategoricalDtype(categories, ordered)


@dispatch.union_categoricals_dispatch.register((Series,))
def union_categoricals(
    to_union: list[Any], sort_categories: bool = False, ignore_order: bool = False
) -> Any:
    """Categories of several series in one."""
    return concat(to_union, ignore_index=True)


@dispatch.grouper_dispatch.register((DataFrame, Series))
def get_grouper(value: Any) -> Any:
    """The class that says what to group by."""
    return Grouper


@dispatch.to_pandas_dispatch.register(VALUES)
def to_pandas(value: Any, **options: Any) -> Any:
    """A pandas object of the values."""
    return value.to_pandas()


# ---- Arrow, which Dask's own shuffle between processes writes ------------------------------------
def _plain_strings(table: Any) -> Any:
    """A table without string views, which pyarrow cannot sort or take."""
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        if field.type == pa.string_view():
            column = table.column(at).cast(pa.large_string())
            table = table.set_column(at, field.with_type(pa.large_string()), column)
    return table


@dispatch.to_pyarrow_table_dispatch.register(FRAMES)
def to_pyarrow_table(frame: DataFrame, preserve_index: bool | None = None, **options: Any) -> Any:
    """A table of Arrow; labels are columns named ``__label_0__``, ..."""
    import pyarrow as pa

    labels = {} if preserve_index is False else frame._numbered()._labels
    named = {f"__label_{at}__": node for at, node in enumerate(labels.values())}
    return _plain_strings(pa.table(frame_of({**named, **frame._nodes})))


@dispatch.from_pyarrow_table_dispatch.register(FRAMES)
def from_pyarrow_table(meta: DataFrame, table: Any, **options: Any) -> DataFrame:
    """The frame of such a table, with the dtypes of `meta`."""
    nodes = DataFrame(table)._nodes
    wanted = {**meta._nodes, **{f"__label_{i}__": n for i, n in enumerate(meta._labels.values())}}
    for name, node in nodes.items():
        word = wanted[name].dtype if name in wanted else node.dtype
        if node.dtype != word:
            nodes[name] = series_of(node).astype(word)._node
    names = list(meta._labels) or ["index"]
    labels = {
        names[int(name[8:-2])]: nodes.pop(name) for name in list(nodes) if name[:8] == "__label_"
    }
    return frame_of(nodes, labels)


@dispatch.pyarrow_schema_dispatch.register(FRAMES)
def pyarrow_schema(frame: DataFrame, preserve_index: bool | None = None) -> Any:
    """The schema of such a table."""
    return to_pyarrow_table(frame.head(0), preserve_index).schema


class FramesOnDisk(Encode):  # type: ignore[misc]
    """Frames in files of `partd`, by which Dask shuffles without workers."""

    def __init__(self, partd: Any = None) -> None:
        super().__init__(_bytes_of, pickle.loads, _rows_of, partd)


def _bytes_of(frame: DataFrame) -> bytes:
    return pickle.dumps(frame, protocol=5)


def _rows_of(frames: list[DataFrame]) -> Any:
    return concat(frames) if frames else []


@dispatch.partd_encode_dispatch.register(FRAMES)
def partd_encode(frame: DataFrame) -> type[FramesOnDisk]:
    """How frames are kept in files."""
    return FramesOnDisk


# ---- sizes and tokens ----------------------------------------------------------------------------
@sizeof.register((*VALUES, Array))
def size_of(value: Any) -> int:
    """The bytes of the values: a worker asks at the end of a task, so its plan runs there."""
    if isinstance(value, Array):
        return value.nbytes + _OBJECT_BYTES
    nodes = _nodes(value)
    _core.force(nodes)
    return sum(node.value().nbytes for node in nodes) + _OBJECT_BYTES


@normalize_token.register((*VALUES, Array))
def token(value: Any) -> Any:
    """The same for equal names, dtypes and bytes, in any process."""
    buffers: list[pickle.PickleBuffer] = []
    header = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    from dask.hashing import hash_buffer_hex

    return ("headrace", header, [hash_buffer_hex(buffer) for buffer in buffers])


@normalize_token.register(DType)
def token_of_dtype(dtype: DType) -> Any:
    """The name."""
    return ("headrace.dtype", str(dtype))
