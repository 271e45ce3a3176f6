# SPDX-License-Identifier: Apache-2.0
"""Columns of structs: the accessor `Series.struct`, structs from columns, and their equality."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import DType
from headrace.errors import ColumnNotFoundError, TypeMismatchError
from headrace.facade import facade
from headrace.frame.columns import frame_of, framed
from headrace.lazy.handle import mark
from headrace.series.column import is_series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def is_struct(dtype: str) -> bool:
    """Whether it is the dtype of a column of structs."""
    return dtype.startswith("struct[")


@facade("Series.struct")
class StructAccessor:
    """The fields of a column of structs; a field is null where the struct is.

    A field is also an item, ``s.struct["x"]``, and an attribute unless a method has its name.

    >>> points = hr.Series([{"x": 1, "y": 2.5}, None])
    >>> points.dtype, points.struct.x.to_list()
    (dtype('struct[x: int64, y: float64]'), [1, None])
    """

    __slots__ = ("_series",)

    def __init__(self, series: Series) -> None:
        if not is_struct(series.dtype):
            raise TypeMismatchError(
                f"struct: expected a column of structs: dtype={str(series.dtype)!r}; dicts make "
                "structs: Series([{'x': 1}])"
            )
        self._series = series

    @property
    def dtypes(self) -> dict[str, DType]:
        """The dtypes of the fields by their names, in order.

        >>> hr.Series([{"x": 1, "y": "a"}]).struct.dtypes
        {'x': dtype('int64'), 'y': dtype('string')}
        """
        return {name: DType(word) for name, word in _core.dtype_fields(self._series.dtype)}

    @property
    def fields(self) -> list[str]:
        """The names of the fields, in order.

        >>> hr.Series([{"x": 1, "y": "a"}]).struct.fields
        ['x', 'y']
        """
        return list(self.dtypes)

    def field(self, name_or_index: str | int | list[str | int]) -> Series:
        """A field by its name or place; a list goes down into structs of structs.

        Raises ColumnNotFoundError for a field that the structs do not have. Nothing is copied where
        the structs are as they were made or read.

        >>> deep = hr.Series([{"at": {"x": 1}}, {"at": None}])
        >>> deep.struct.field(["at", "x"]).to_list()
        [1, None]
        """
        mark("struct.field")
        made = self._series
        path = name_or_index if isinstance(name_or_index, list) else [name_or_index]
        for each in path:
            name = StructAccessor(made)._name(each)
            made = made._like(_core.struct_field(made._node, name)).rename(name)
        return made

    def _name(self, name_or_index: str | int) -> str:
        if isinstance(name_or_index, str):
            return name_or_index
        names = self.fields
        if not isinstance(name_or_index, int) or isinstance(name_or_index, bool):
            raise TypeMismatchError(
                f"struct.field: expected a name or a number: field={name_or_index!r}"
            )
        if not -len(names) <= name_or_index < len(names):
            raise ColumnNotFoundError(
                f"struct.field: no such field: field={name_or_index}, fields={', '.join(names)}"
            )
        return names[name_or_index]

    def __getitem__(self, name: str | int) -> Series:
        """A field; see `field`."""
        return self.field(name)

    def __getattr__(self, name: str) -> Series:
        if name.startswith("__") or name not in self.fields:
            raise AttributeError(
                f"struct: no such field: field={name!r}, fields={', '.join(self.fields)}"
            )
        return self.field(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *filter(str.isidentifier, self.fields)]

    def explode(self) -> DataFrame:
        """A frame with a column for each field.

        >>> hr.Series([{"x": 1, "y": "a"}, None]).struct.explode().to_dict()
        {'x': [1, None], 'y': ['a', None]}
        """
        mark("struct.explode")
        node = self._series._node
        made = {name: _core.struct_field(node, name) for name in self.fields}
        return frame_of(made, framed(self._series)._labels)


def to_struct(frame: DataFrame, name: str | None) -> Series:
    """See `DataFrame.to_struct`."""
    mark("to_struct")
    names = [str(each) for each in frame._nodes]
    node = _core.structs_of(names, list(frame._nodes.values()))
    made: Series = frame_of({name or "": node}, frame._labels)._series(name or "")
    return made.rename(name)


def equal_structs(series: Series, other: Any) -> Series:
    """Whether structs are equal: all fields are, and two null fields too; False where one is null.

    `other` is a dict, or a series of structs with the same fields.
    """
    accessor = StructAccessor(series)
    if isinstance(other, Mapping):
        others: dict[str, Any] = {name: other.get(name) for name in accessor.fields}
        if set(other) != set(others):
            return series.notna() & False
        there = series.notna()
    else:
        if not is_series(other):
            raise TypeMismatchError(
                f"equal: structs compare with dicts and structs: value={other!r}; use "
                "struct.field(name)"
            )
        if StructAccessor(other).fields != accessor.fields:
            raise TypeMismatchError(
                f"equal: the structs have other fields: left={accessor.fields}, "
                f"right={StructAccessor(other).fields}"
            )
        others = {name: other.struct.field(name) for name in accessor.fields}
        there = series.notna() & other.notna()
    tests = [_equal_fields(accessor.field(name), value) for name, value in others.items()]
    return functools.reduce(operator.and_, tests, there)


def _equal_fields(field: Series, other: Any) -> Series:
    if other is None:
        return field.isna()
    same: Series = equal_structs(field, other) if is_struct(field.dtype) else field == other
    return same if not hasattr(other, "isna") else same | (field.isna() & other.isna())
