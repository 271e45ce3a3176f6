# SPDX-License-Identifier: Apache-2.0
"""Columns of lists, maps and structs: `Series.list`, `Series.struct`, `explode` and equality."""

from __future__ import annotations

import builtins
import functools
import operator
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.dtypes import DType
from headrace.errors import ColumnNotFoundError, InvalidArgumentError, TypeMismatchError
from headrace.facade import facade
from headrace.frame.columns import frame_of, framed, new_frame
from headrace.lazy.handle import mark
from headrace.rows import are_picked, picked_domain, unnamed, whole_number
from headrace.series.column import is_series, new_series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def is_list(dtype: str) -> bool:
    """Whether it is the dtype of a column of lists."""
    return dtype.startswith("list[")


def has_items(dtype: str) -> bool:
    """Whether it is the dtype of a column of lists or maps, which `explode` takes apart."""
    return dtype.startswith(("list[", "map["))


@facade("Series.list")
class ListAccessor:
    """Methods on each list of a column; null stays null.

    ``.str`` of a column of lists has the same methods, as in pandas.

    >>> words = hr.Series(["ann lee", "bob", None]).str.split(" ")
    >>> words.dtype, words.str.len().to_list(), words.str[0].to_list()
    (dtype('list[string]'), [2, 1, None], ['ann', 'bob', None])
    """

    __slots__ = ("_series",)

    def __init__(self, series: Series) -> None:
        if not is_list(series.dtype):
            raise TypeMismatchError(
                f"list: expected a column of lists: dtype={str(series.dtype)!r}; str.split and "
                "agg(list) make lists"
            )
        self._series = series

    @property
    def _item(self) -> DType:
        return DType(self._series.dtype[len("list[") : -1])

    def _reduced(self, word: str) -> Series:
        mark(f"list.{word}")
        return self._made(_core.list_reduce(self._series._node, word))

    def _made(self, node: _core.Node) -> Series:
        return self._series._like(node)

    def len(self) -> Series:
        """The number of items, nulls included: int64.

        >>> hr.Series([[1, None], [], None]).list.len().to_list()
        [2, 0, None]
        """
        mark("list.len")
        return self._made(_core.list_length(self._series._node))

    def get(self, i: int) -> Series:
        """The item at a position, from the end if negative; null if there is none.

        >>> hr.Series([[1, 2], [3], []]).list.get(-1).to_list()
        [2, 3, None]
        """
        mark("list.get")
        return self._made(_core.list_item(self._series._node, whole_number("get", "i", i)))

    def slice(self, start: int | None = None, stop: int | None = None) -> Series:
        """The items from `start` up to `stop`, counted as in Python, as lists; nothing is copied.

        >>> hr.Series([[1, 2, 3], [4]]).list.slice(1).to_list()
        [[2, 3], []]
        """
        mark("list.slice")
        return self._made(_core.list_slice(self._series._node, start, stop))

    def __getitem__(self, key: int | builtins.slice) -> Series:
        """The item at a position, or a slice of each list."""
        if isinstance(key, builtins.slice):
            if key.step not in (None, 1):
                raise InvalidArgumentError(f"list: the step of a slice must be 1: key={key!r}")
            return self.slice(key.start, key.stop)
        return self.get(key)

    def join(self, sep: str) -> Series:
        """The strings of each list with `sep` between them; null if one is null.

        >>> hr.Series([["a", "b"], [], ["c", None]]).str.join("-").to_list()
        ['a-b', '', None]
        """
        mark("list.join")
        return self._made(_core.list_join(self._series._node, sep))

    def contains(self, value: Any) -> Series:
        """Whether an item equals `value`: bool, False for a null list.

        Raises TypeMismatchError for a value that items of this dtype cannot have.

        >>> hr.Series([[1, 2], [], None]).list.contains(2).to_list()
        [True, False, False]
        """
        mark("list.contains")
        item = "string" if self._item == "category" else str(self._item)
        if isinstance(value, float) and item.startswith(("int", "uint")) and value.is_integer():
            value = int(value)
        if value is None or has_items(item) or item.startswith("struct["):
            raise TypeMismatchError(
                f"contains: the lists cannot have this value: value={value!r}, "
                f"dtype={str(self._series.dtype)!r}; use explode()"
            )
        try:
            column = _core.column_from_list([value], item)
        except InvalidArgumentError:  # a number that does not fit: no item has it
            return self.len().notna() & False
        return self._made(_core.list_contains(self._series._node, column))

    def sum(self) -> Series:
        """The sum of each list's items; missing ones are left out, and without items it is 0.

        Integers and bools give 64 bits, floats and durations their own dtype.

        >>> hr.Series([[1, None, 2], [], None]).list.sum().to_list()
        [3, 0, None]
        """
        return self._reduced("sum")

    def mean(self) -> Series:
        """The mean of each list's items: float64; null without items.

        >>> hr.Series([[1, 2], []]).list.mean().to_list()
        [1.5, None]
        """
        return self._reduced("mean")

    def min(self) -> Series:
        """The least item; null without items. Items are numbers, dates, times or strings.

        >>> hr.Series([[3, 1], ["b"]][:1]).list.min().to_list()
        [1]
        """
        return self._reduced("min")

    def max(self) -> Series:
        """The greatest item; null without items.

        >>> hr.Series([["a", "c"], ["b", None]]).list.max().to_list()
        ['c', 'b']
        """
        return self._reduced("max")

    def any(self) -> Series:
        """Whether an item is true, of bools; null counts as missing.

        >>> hr.Series([[False, True], [None], []]).list.any().to_list()
        [True, False, False]
        """
        return self._reduced("any")

    def all(self) -> Series:
        """Whether no item is false, of bools.

        >>> hr.Series([[False, True], [None], []]).list.all().to_list()
        [False, True, True]
        """
        return self._reduced("all")

    def first(self) -> Series:
        """The first item; null without one.

        >>> hr.Series([[1, 2], []]).list.first().to_list()
        [1, None]
        """
        return self.get(0)

    def last(self) -> Series:
        """The last item; null without one.

        >>> hr.Series([[1, 2], []]).list.last().to_list()
        [2, None]
        """
        return self.get(-1)

    def sort(
        self, *, ascending: bool = True, na_position: Literal["first", "last"] = "last"
    ) -> Series:
        """The items of each list in order, missing ones last (or first).

        >>> hr.Series([[3, None, 1]]).list.sort(ascending=False).to_list()
        [[3, 1, None]]
        """
        mark("list.sort")
        if na_position not in ("first", "last"):
            raise InvalidArgumentError(
                f"sort: invalid value: na_position={na_position!r}; expected 'first' or 'last'"
            )
        first = na_position == "first"
        return self._made(_core.list_sort(self._series._node, not ascending, first))

    def reverse(self) -> Series:
        """The items of each list from the last one to the first.

        >>> hr.Series([[1, 2, 3]]).list.reverse().to_list()
        [[3, 2, 1]]
        """
        mark("list.reverse")
        return self._made(_core.list_reverse(self._series._node))

    def unique(self) -> Series:
        """The distinct items of each list in order of first appearance; missing ones are one.

        >>> hr.Series([["b", "a", "b"], [None, None]]).list.unique().to_list()
        [['b', 'a'], [None]]
        """
        mark("list.unique")
        return self._made(_core.list_unique(self._series._node))

    def flatten(self) -> Series:
        """One row for each item, and none for empty and null lists, as in pandas.

        >>> hr.Series([[1, 2], [], [3]]).list.flatten().to_list()
        [1, 2, 3]
        """
        return explode_series(self._series[self.len() > 0], False)

    def explode(self) -> Series:
        """One row for each item; see `Series.explode`."""
        return explode_series(self._series, False)


def _exploded(frame: DataFrame, names: list[str], ignore_index: bool) -> DataFrame:
    """The frame with a row for each item of these columns, which hold lists."""
    rows, items = _core.explode([frame._nodes[name] for name in names])
    made = dict(zip(names, items, strict=True))
    nodes = {n: made[n] if n in made else _core.take(v, rows) for n, v in frame._nodes.items()}
    if ignore_index:
        return frame_of(nodes)
    if frame._labels:
        return frame_of(nodes, {n: _core.take(v, rows) for n, v in frame._labels.items()})
    numbers = frame._numbered()._labels  # real labels: `rows` checks that lists have one length
    if are_picked(frame._nodes[names[0]]) and not numbers:
        return frame_of(nodes)._in_domain(picked_domain())
    found = [_core.take(node, rows) for node in numbers.values()] or [_core.as_column(rows)]
    return frame_of(nodes, {unnamed(0, 1): found[0]})


def explode_frame(frame: DataFrame, column: Any, ignore_index: bool) -> DataFrame:
    """See `DataFrame.explode`."""
    mark("explode")
    names = [frame._find(name) for name in (column if isinstance(column, list) else [column])]
    if not names or len(set(names)) < len(names):
        raise InvalidArgumentError(f"explode: expected different columns: column={column!r}")
    names = [name for name in names if has_items(frame._nodes[name].dtype)]
    return _exploded(frame, names, ignore_index) if names else frame_of(frame._nodes, frame._labels)


def explode_series(series: Series, ignore_index: bool) -> Series:
    """See `Series.explode`."""
    mark("explode")
    if not has_items(series.dtype):
        return series
    frame = framed(series)
    (name,) = frame._nodes
    return _exploded(frame, [name], ignore_index)._series(name).rename(series.name)


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


def rows_of_matches(
    pattern: re.Pattern[str], matches: list[list[re.Match[str]] | None]
) -> DataFrame:
    """See `Series.str.extractall`: the groups of the matches of each string."""
    words = {number: name for name, number in pattern.groupindex.items()}
    names = [words.get(i + 1, i) for i in range(pattern.groups)]
    found = [
        (row, number, *match.groups())
        for row, several in enumerate(matches)
        for number, match in enumerate(several or ())
    ]
    columns = list(zip(*found, strict=True)) or [()] * (len(names) + 2)
    dtypes = {"index": "int64", "match": "int64", **dict.fromkeys(names, "string")}
    made = {
        name: new_series(list(column), dtype=dtype)
        for (name, dtype), column in zip(dtypes.items(), columns, strict=True)
    }
    return new_frame(made).set_index(["index", "match"])
