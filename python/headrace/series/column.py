# SPDX-License-Identifier: Apache-2.0
"""The base of series: a node and its name, below the public methods."""

from __future__ import annotations

import datetime
import operator
from typing import TYPE_CHECKING, Any, ClassVar, Self

from headrace import _core
from headrace._first_use import public_class
from headrace.dtypes import CategoryDType, DType
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.lazy.handle import Deferred

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import TypeIs

    from headrace.frame.columns import Columns, PickedNumbers
    from headrace.series.column_values import ColumnValues
    from headrace.series.index import Index
    from headrace.series.labelled import GroupSeries, LabelledSeries
    from headrace.series.series import Series


_new = _core.BufferSource.__new__


class Column(Deferred):
    """One named column. Its public subclass is `Series`, with labels `LabelledSeries`.

    Modules below the public classes make them with `series_of`, `new_series` and
    `labelled_series`, and ask for them with `is_series`: so they import neither.
    """

    __slots__ = ("_numbers", "name")
    name: str | None
    #: The numbers of rows that were selected; None for rows counted from 0 and for labelled ones.
    _numbers: PickedNumbers | None
    _kind: ClassVar[str] = "series"
    _series: ClassVar[type[Series]] = public_class()
    _labelled: ClassVar[type[LabelledSeries]] = public_class()
    _column_values: ClassVar[type[ColumnValues]] = public_class()
    _group_series: ClassVar[type[GroupSeries]] = public_class()
    _index: ClassVar[type[Index]] = public_class()
    _timestamp: ClassVar[Any] = public_class()
    _timedelta: ClassVar[Any] = public_class()

    @property
    def dtype(self) -> DType:
        """Element type, known before anything runs; of categories with their names."""
        word = self._node.dtype
        return CategoryDType.of(series_of(self._node)) if word == "category" else DType(word)

    def _like(self, node: _core.Node) -> Any:
        made = series_of(node, self.name)
        if self._numbers is not None and node.domain == self._node.domain:
            made._numbers = self._numbers
        return made

    def _plain(self) -> Series:
        """The same values without labels."""
        return series_of(self._node, self.name)

    def _levels(self) -> list[_core.Node]:
        """The labels, or the numbers of the rows; none if they were not kept."""
        if self._numbers is not None:
            return [self._numbers.node()]
        if self._node.domain & _core.PICKED_ROWS:
            return []
        return [counted(len(self._plain()))]

    def _elementwise(self, op: str, *values: Any, missing_is_false: bool = False) -> Self:
        if any(type(each) is datetime.time for each in values):
            values = tuple(str(e) if type(e) is datetime.time else e for e in values)
        try:
            node = _core.apply(op, values, missing_is_false)
        except TypeMismatchError:  # pandas reads dates of a file as strings: date + " " + time
            if op != "add" or {_text_dtype(v) for v in values} != {"date", "string"}:
                raise
            node = _core.apply(op, tuple(map(_as_text, values)), missing_is_false)
        except InvalidArgumentError:
            beside = tuple(at_equal_labels(self._node, self._levels, each) for each in values)
            if all(map(operator.is_, beside, values)):
                raise
            node = _core.apply(op, beside, missing_is_false)
        return NotImplemented if node is None else self._like(node)


def _text_dtype(value: Any) -> str | None:
    if isinstance(value, str):
        return "string"
    return str(value._node.dtype) if isinstance(value, Column) else None


def _as_text(value: Any) -> Any:
    return value.astype("string") if isinstance(value, Column) else value


def series_of(node: _core.Node, name: str | None = None) -> Series:
    """A series of a node."""
    made = _new(Column._series)  # without its __init__: each line of users makes some
    made._node = node
    made.name = name
    made._numbers = None
    return made


def at_equal_labels(node: _core.Node, levels: Callable[[], list[_core.Node]], value: Any) -> Any:
    """A series of other rows as one of the rows of `node` if their labels are equal, in order.

    Any other value as it is. Nothing is aligned: labels are evaluated and compared, row numbers if
    there are no others.
    """
    if not isinstance(value, Column) or value._node.domain == node.domain:
        return value
    _core.force([node, value._node])
    if not node.shape[0] and not value._node.shape[0]:
        return series_of(_core.in_domain(value._node, node.domain), value.name)
    ours, theirs = levels(), value._levels()
    if not ours or len(ours) != len(theirs) or not all(map(same_values, ours, theirs)):
        return value
    return series_of(_core.in_domain(value._node, node.domain), value.name)


def counted(rows: int) -> _core.Node:
    """The numbers of rows that have no others: 0, 1, 2, ..."""
    import numpy as np

    return Column._series(np.arange(rows), copy=False)._node


def same_values(one: _core.Node, other: _core.Node) -> bool:
    """Whether two columns hold the same values, nulls and NaN at the same rows; evaluates."""
    if one is other:
        return True
    _core.force([one, other])
    mine, theirs = (series_of(_core.data(node.value())) for node in (one, other))
    if len(mine) != len(theirs):
        return False
    if mine.dtype.startswith(("list[", "map[", "struct[")):
        return mine.dtype == theirs.dtype and _same_nested(mine, theirs)
    try:
        alike = mine._elementwise("equal", mine, theirs, missing_is_false=True)
    except TypeMismatchError:
        return False
    alike = alike | (mine.isna() & theirs.isna())
    return bool(alike.all().item()) if len(mine) else True


def _same_nested(mine: Series, theirs: Series) -> bool:
    """The same of lists, maps and structs: nulls, then fields, or lengths and items."""
    if not same_values(mine.isna()._node, theirs.isna()._node):
        return False
    if mine.dtype.startswith("struct["):
        return all(
            same_values(*(_core.struct_field(each._node, name) for each in (mine, theirs)))
            for name in mine.struct.fields
        )
    nodes = mine._node, theirs._node
    return same_values(*map(_core.list_length, nodes)) and same_values(
        *(_core.explode([node])[1][0] for node in nodes)
    )


def new_series(
    values: Any,
    name: str | None = None,
    dtype: Any = None,
    index: Any = None,
    copy: bool | None = None,
) -> Series:
    """A series of values."""
    return Column._series(values, index, dtype, name, copy)


def series_over(values: Any, name: str | None = None) -> Series:
    """A series over an array that was made for it, which stays as it is from now on."""
    values.setflags(write=False)
    return new_series(values, name)


def labelled_series(frame: Columns, name: str | None = None) -> LabelledSeries:
    """The last column of a frame, labelled by the others."""
    return Column._labelled(frame, name=name)


def labels_of(node: _core.Node, name: Any = None) -> Index:
    """A node as the labels of rows."""
    return Column._index(node, name=name)


class Float(float):
    """A float with NumPy's methods of one: `round` and `item`.

    >>> value = hr.Series([1.25]).iloc[0]
    >>> value, value.round(1), value.item()
    (1.25, 1.2, 1.25)
    """

    __slots__ = ()

    def round(self, decimals: int = 0) -> Float:
        """The value rounded as NumPy does."""
        import numpy as np

        return Float(np.round(float(self), decimals))

    def item(self) -> float:
        """The value as Python's."""
        return float(self)


def single_value(value: Any) -> Any:
    """A single value of a column: times and floats with the methods that they have in pandas."""
    if type(value) is float:
        return Float(value)
    if type(value) is datetime.datetime:
        return Column._timestamp(value)
    return Column._timedelta(value) if type(value) is datetime.timedelta else value


def is_series(value: object) -> TypeIs[Series]:
    """Whether this is a series."""
    return isinstance(value, Column)


def is_labelled(value: object) -> TypeIs[LabelledSeries]:
    """Whether this is a series with labels."""
    return isinstance(value, Column._labelled)


def is_index(value: object) -> TypeIs[Index]:
    """Whether these are the labels of rows."""
    return isinstance(value, Column._index)


def is_column_values(value: object) -> TypeIs[ColumnValues]:
    """Whether this is the result of a frame's reductions: one value per column."""
    return isinstance(value, Column._column_values)


def with_rows_of(made: Series, like: _core.Node) -> Series:
    """Mark a result as having one row for each row of `like`."""
    if like.domain:
        return series_of(_core.in_domain(made._node, like.domain), made.name)
    return series_of(_core.data(made._value()), made.name)
