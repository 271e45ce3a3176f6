# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, comparison and selection on whole frames, column by column.

The other operand is a scalar, a frame with the same rows and column names, a reduction (such as
``df.mean()``) matched by column name, or a mapping ``{name: value}``.

>>> df = hr.DataFrame({"a": [1, 2, 3], "b": [10.0, 30.0, 50.0]})
>>> (df * 2).to_dict()
{'a': [2, 4, 6], 'b': [20.0, 60.0, 100.0]}
>>> (df - df.mean()).to_dict()
{'a': [-1.0, 0.0, 1.0], 'b': [-20.0, 0.0, 20.0]}
>>> (df > df.mean()).to_dict()
{'a': [False, False, True], 'b': [False, False, True]}
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import FLOATS, INTEGERS
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.column_reductions import by_column
from headrace.frame.columns import frame_of, framed, is_frame, new_frame
from headrace.frame.construct import columns_of_array
from headrace.lazy.handle import is_array, mark
from headrace.linalg.products import product_of_values
from headrace.operators import turned
from headrace.reshape.alignment import beside
from headrace.series.column import is_column_values, is_series, new_series, with_rows_of
from headrace.series.strings import is_text

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame

Axis = int | str

_NUMBERS = frozenset((*INTEGERS, *FLOATS))
#: Python's operators by the engine's words for them.
_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "power": operator.pow,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "invert": operator.invert,
    "negative": operator.neg,
    "abs": abs,
}
#: Those that the engine applies to all columns of numbers in one call.
_WORDS: dict[Any, str] = {
    _OPERATORS[word]: word
    for word in (
        *("add", "subtract", "multiply", "divide"),
        *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    )
}


def _operands(frame: Any, other: Any, op: str, axis: Axis = 1) -> dict[str, Any]:
    """The operand for each non-label column of `frame`."""
    names: list[str] = frame.columns
    if axis not in (0, "index") or is_column_values(other):
        other = by_column(other)
    dimensions = 1 if isinstance(other, list | tuple) else getattr(other, "ndim", 0)
    if dimensions == 2 and not is_frame(other):
        return columns_of_array(other.to_numpy() if is_array(other) else other, names)
    if dimensions == 1 and axis not in (0, "index") and not is_series(other):
        values = list(other) if isinstance(other, list | tuple) else other.tolist()
        if len(values) != len(names):
            raise InvalidArgumentError(
                f"{op}: number of values does not match the columns: expected={len(names)}, "
                f"got={len(values)}; with axis=0 there is one for each row"
            )
        return dict(zip(names, values, strict=True))
    if is_frame(other):
        other = with_columns(other, {n: frame._over_rows(other[n]) for n in other._nodes})
    if is_frame(other) or (isinstance(other, Mapping) and not hasattr(other, "dtype")):
        theirs = other.columns if is_frame(other) else list(other.keys())
        if sorted(theirs) != sorted(names):
            raise InvalidArgumentError(
                f"{op}: the frames have different columns: columns={names}, other={theirs}; "
                "select the shared ones: df[[...]]"
            )
        return {name: other[name] for name in names}
    if is_series(other) and axis not in (0, "index"):
        raise TypeMismatchError(
            f"{op}: the series is not labelled by column names; use df.{op}(series, "
            "axis=0) to combine it row by row"
        )
    other = frame._over_rows(other) if is_series(other) and other._node.domain else other
    return dict.fromkeys(names, other)


def operate(frame: DataFrame, op: str, *values: Any) -> DataFrame:
    """An operator, which leaves some values to the other operand."""
    function = _OPERATORS[op]
    if len(values) == 1:
        return map_columns(frame, function)
    left, right = values
    other = right if left is frame else left
    if other is None or isinstance(other, set):
        return NotImplemented
    name = function.__name__.replace("true", "").strip("_")
    return combine(frame, name, function if left is frame else turned(function), other)


def with_columns(frame: DataFrame, columns: Mapping[str, Any]) -> DataFrame:
    """The frame with these columns replaced, labels unchanged."""
    made = {**frame._nodes, **{name: each._node for name, each in columns.items()}}
    return frame_of(made, frame._labels)


def with_number(frame: DataFrame, op: str, value: Any) -> DataFrame | None:
    """Numbers with one number, or with the reductions of their columns, in one call of the engine.

    None for other operands.
    """
    columns = frame._nodes
    if not columns or not {node.dtype for node in columns.values()} <= _NUMBERS:
        return None
    if is_column_values(value):
        values = value._nodes_of(columns)
    elif type(value) in (int, float) and value == value:  # noqa: PLR0124 (NaN)
        values = [_core.scalar(value)]
    else:
        values = None
    if not values:
        return None
    made = _core.elementwise_columns(op, list(columns.values()), values)
    return frame_of(dict(zip(columns, made, strict=True)), frame._labels)


def over_all_labels(frame: DataFrame, other: Any) -> tuple[DataFrame, Any]:
    """Two frames over the rows and columns of both; another operand as it is."""
    if not is_frame(other):
        return frame, other
    one, two = beside(frame, other)
    if sorted(one.columns) != sorted(two.columns):
        every = sorted({*one.columns, *two.columns})
        one, two = (each.reindex(columns=every) for each in (one, two))
    return one, two


def combine(
    frame: DataFrame, name: str, function: Callable[[Any, Any], Any], other: Any, axis: Axis = 1
) -> DataFrame:
    """``function`` of each column and its operand; see `DataFrame.add`."""
    mark(name)
    if function in _WORDS and (made := with_number(frame, _WORDS[function], other)) is not None:
        return made
    values = _operands(frame, other, name, axis)
    return with_columns(
        frame, {column: function(frame[column], value) for column, value in values.items()}
    )


def map_columns(frame: DataFrame, function: Callable[[Any], Any]) -> DataFrame:
    """``function`` of each column that is no label."""
    return with_columns(frame, {name: function(frame[name]) for name in frame._nodes})


def array_ufunc(frame: DataFrame, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """See `DataFrame.__array_ufunc__`."""
    if method != "__call__" or kwargs or not 1 <= len(inputs) <= 2:
        return NotImplemented
    frame = next(each for each in inputs if is_frame(each))
    if ufunc.__name__ == "matmul":
        return dot(frame, inputs[1]) if inputs[0] is frame else dot_from_left(frame, inputs[0])
    if len(inputs) == 1:
        return map_columns(frame, ufunc)
    if inputs[0] is frame:
        return combine(frame, ufunc.__name__, ufunc, inputs[1])
    return combine(frame, ufunc.__name__, turned(ufunc), inputs[0])


def round_columns(frame: DataFrame, decimals: int | Mapping[str, int] = 0) -> DataFrame:
    """See `DataFrame.round`."""
    digits = (
        decimals
        if isinstance(decimals, Mapping)
        else {n: decimals for n in frame._nodes if frame[n].dtype.is_of("iuf")}
    )
    return with_columns(frame, {n: frame[frame._find(n)].round(d) for n, d in digits.items()})


def clip(frame: DataFrame, lower: Any = None, upper: Any = None, *, axis: Axis = 1) -> DataFrame:
    """See `DataFrame.clip`."""
    made: DataFrame = frame
    if lower is not None:
        made = combine(made, "clip", lambda ours, least: ours.clip(lower=least), lower, axis)
    if upper is not None:
        made = combine(made, "clip", lambda ours, most: ours.clip(upper=most), upper, axis)
    return made


def where(frame: DataFrame, condition: Any, other: Any = None) -> DataFrame:
    """See `DataFrame.where`."""
    mark("where")
    masks = _operands(frame, condition, "where", axis=0)
    others = _operands(frame, other, "where", axis=0)
    return with_columns(frame, {n: frame[n].where(masks[n], others[n]) for n in masks})


def mask(frame: DataFrame, condition: Any, other: Any = None) -> DataFrame:
    """See `DataFrame.mask`."""
    return where(frame, ~(condition(frame) if callable(condition) else condition), other)


def isin(frame: DataFrame, values: Any) -> DataFrame:
    """See `DataFrame.isin`."""
    if isinstance(values, Mapping):
        found = {n: frame[n].isin(values.get(n, [])) for n in frame._nodes}
    else:
        found = {n: frame[n].isin(values) for n in frame._nodes}
    return with_columns(frame, found)


def replace(
    frame: DataFrame, to_replace: Any, value: Any = None, *, regex: bool = False
) -> DataFrame:
    """See `DataFrame.replace`."""
    if isinstance(to_replace, Mapping) and any(isinstance(v, Mapping) for v in to_replace.values()):
        asked = {frame._find(n): each for n, each in to_replace.items()}
        return with_columns(frame, {n: frame[n].replace(each) for n, each in asked.items()})

    return map_columns(
        frame,
        lambda c: c if regex and not is_text(c) else c.replace(to_replace, value, regex=regex),
    )


def combine_first(frame: DataFrame, other: Any) -> DataFrame:
    """See `DataFrame.combine_first`."""
    if not is_frame(other):
        theirs = _operands(frame, other, "combine_first")
        return with_columns(frame, {n: frame[n].combine_first(v) for n, v in theirs.items()})
    frame, other = beside(frame, other)
    both = {n: frame[n].combine_first(other[n])._node for n in frame._nodes if n in other}
    every = {**other._nodes, **frame._nodes, **both}
    names = frame.columns if len(every) == len(both) else sorted(every)
    return frame_of({name: every[name] for name in names}, frame._labels)


def dot(frame: DataFrame, other: Any) -> Any:
    """See `DataFrame.dot`."""
    names = frame.columns
    right: Any = other if is_frame(other) else framed(other) if is_series(other) else None
    if right is not None and right._labels and right._label_list() != names:
        other = other.loc[list(names)]
    values = product_of_values(frame, other)
    columns = list(right._nodes) if is_frame(other) else range(values.shape[-1])
    parts = values.T if values.ndim == 2 else [values]
    like, symmetric = frame._every()[0], frame._labels and frame._label_list() == names
    if symmetric and right is not None and right._label_list() == names:
        like = right._every()[0]  # rows of a matrix that are those of the other operand
    made = {
        n: with_rows_of(new_series(part), like)._node
        for n, part in zip(columns, parts, strict=False)
    }
    result = frame_of(made, frame._labels)
    return result if values.ndim == 2 else result._series(columns[0]).rename(None)


def dot_from_left(frame: DataFrame, other: Any) -> Any:
    """``other @ frame``: rows of the other operand times the columns of the frame."""
    values = product_of_values(other, frame)
    if values.ndim == 1:
        return new_series(values, index=frame.columns)
    return new_frame(values, columns=frame.columns)


def along_rows(frame: DataFrame, function: Callable[[Any], Any]) -> DataFrame:
    """``function`` of each row of a small frame; evaluates."""
    made = map_columns(frame.reset_index(drop=True).T, function).T
    like = frame._every()[0]
    nodes = {
        n: with_rows_of(v._plain(), like)._node
        for n, v in zip(frame._nodes, map(made.__getitem__, made.columns), strict=True)
    }
    return frame_of(nodes, frame._labels)


def several_transformed(frame: DataFrame, functions: list[Any]) -> DataFrame:
    """What several functions make of each column, by names of both."""
    words = [each if isinstance(each, str) else each.__name__ for each in functions]
    made = {
        (name, word): frame[name].transform(each)._node
        for name in frame._nodes
        for word, each in zip(words, functions, strict=True)
    }
    return frame_of(made, frame._labels)


def equals(frame: DataFrame, other: Any) -> bool:
    """See `DataFrame.equals`."""
    if type(other) is not type(frame) or other.columns != frame.columns:
        return False
    return all(frame[name].equals(other[name]) for name in frame.columns)
