# SPDX-License-Identifier: Apache-2.0
"""`ColumnValues`: one value per column of a frame, the result of frame reductions."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import FLOATS, INTEGERS, digits_of
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.labels import LabelledSeries
from headrace.frame.merge import agreed
from headrace.lazy.handle import Deferred, mark
from headrace.rows import Row
from headrace.series.duration import deviation_of
from headrace.series.series import Series, looked_at
from headrace.series.strings import is_text

_LABEL = "column"


@functools.lru_cache(maxsize=4096)
def _domain_of(names: tuple[str, ...]) -> int:
    """The row set of values for these columns; other columns make another row set."""
    return _core.new_domain()


class ColumnValues(LabelledSeries):
    """One value per column of a frame, labelled by column name; lazy.

    An item keeps the dtype of its column; as a series the values have one common dtype. Arithmetic,
    comparison, `fillna`, `clip` and `where` of a frame match the values to columns by name.

    >>> import headrace as hr
    >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
    >>> means = df.mean()
    >>> f"{means['x']:.1f}", means.to_dict(), df.isna().sum().sum().item()
    ('3.0', {'x': 3.0, 'y': 2.0}, 1)
    >>> (df - means).x.to_list(), means.sort_values().index.to_list()
    ([-2.0, -1.0, 3.0], ['y', 'x'])
    """

    __slots__ = ("_names", "_parts")

    def __init__(
        self,
        names: list[str],
        values: _core.Node,
        name: str,
        parts: dict[str, Any] | list[_core.Node] | None = None,
    ) -> None:
        from headrace.frame.dataframe import DataFrame

        domain = _domain_of(tuple(names))
        labels = _core.in_domain(Series(names, dtype="string")._node, domain)
        nodes = {_LABEL: labels, name: _core.in_domain(values, domain)}
        super().__init__(DataFrame._of(nodes, {_LABEL: labels}), name)
        self._names = names
        self._parts = parts

    @classmethod
    def _again(cls, names: list[str], values: Series, name: str) -> ColumnValues:
        """Rebuild from a pickle."""
        return cls(names, values._node, name)

    def _like(self, node: _core.Node) -> Any:
        if node.domain != self._node.domain:
            return super()._like(node)
        return ColumnValues(self._names, node, self._frame.columns[-1])

    def _elementwise(self, op: str, *values: Any) -> Any:
        for value in values:
            if isinstance(value, ColumnValues) and value._names != self._names:
                raise InvalidArgumentError(
                    f"{op}: the column names differ: columns={self._names}, other={value._names}; "
                    "select the shared ones: df[[...]]"
                )
        return super()._elementwise(op, *values)

    def _by_column(self) -> dict[str, Any]:
        """The value of each column by name, lazy if it is a number."""
        from headrace.array.array import Array

        if self._parts is None:
            rows = self._plain()
            self._parts = {name: rows[i : i + 1].max() for i, name in enumerate(self._names)}
        elif isinstance(self._parts, list):
            self._parts = dict(zip(self._names, map(Array, self._parts), strict=True))
        return self._parts

    def __getitem__(self, key: Any) -> Any:
        """The value of a column by name; positions, masks and slices as for any series."""
        if isinstance(key, str):
            if key not in self._names:
                _core.no_such_column("getitem", self._names, key)
            return self._by_column()[key]
        return super().__getitem__(key)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_") and name in self._names:
                return self._by_column()[name]
            return super().__getattr__(name)

    def __len__(self) -> int:
        return len(self._names)

    def keys(self) -> list[str]:
        """The column names, so that ``dict(values)`` works."""
        return list(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __reduce_ex__(self, protocol: Any) -> Any:
        return ColumnValues._again, (self._names, self._plain(), self._frame.columns[-1])


def _alone(value: Any, dtype: str | None) -> _core.Node:
    """A value as a one-row column; bools are bits there, so they are passed as numbers."""
    if not isinstance(value, Deferred):
        return Series([value], dtype=dtype)._node
    flat: Any = value.astype("uint8") if value.dtype == "bool" else value
    return Series(flat.reshape(1))._node


def column_values(
    values: dict[str, Any], kind: str, dtypes: Mapping[str, str | None] | None = None
) -> ColumnValues | Row:
    """The results of an aggregate; Python values get these dtypes.

    A row of evaluated values if no dtype holds all of them.
    """
    if not values:
        return Row({})
    nodes = [_alone(value, (dtypes or {}).get(name)) for name, value in values.items()]
    try:
        node = _core.concat(agreed(nodes))
    except TypeMismatchError:
        return Row(dict(zip(values, looked_at(list(values.values())), strict=True)))
    if all(isinstance(value, Deferred) and value.dtype == "bool" for value in values.values()):
        node = (Series(node) != 0)._node
    return ColumnValues(list(values), node, kind, values)


def by_column(values: Any) -> Any:
    """The values of a series labelled by column names, by name; anything else unchanged."""
    if isinstance(values, ColumnValues):
        return values._by_column()
    if isinstance(values, LabelledSeries) and is_text(values.index):
        return values.to_dict()
    return values


def _dtype_of(column: Series, kind: str) -> str | None:
    """The dtype of an aggregate that is not a lazy number; None where its value shows it."""
    if kind.startswith("idx") or not column.dtype.is_of("mMOU"):
        return None
    if digits := digits_of(column.dtype):
        return f"decimal128(38, {digits[1]})"
    return deviation_of(column.dtype) if kind == "std" else column.dtype


#: Aggregates of numbers that the engine makes for all columns in one call: their `ddof`.
_OF_NUMBERS = {
    **dict.fromkeys(("sum", "prod", "mean", "min", "max", "any", "all", "count"), 0),
    **dict.fromkeys(("skew", "kurt"), 0),
    **dict.fromkeys(("var", "std", "sem"), 1),
}
_NUMBERS = {"bool", *INTEGERS, *FLOATS}


def reduced_numbers(
    columns: dict[str, _core.Node], kind: str, options: Mapping[str, Any]
) -> ColumnValues | None:
    """As `reduced`, in one call for columns of numbers; None for others."""
    dtypes = {node.dtype for node in columns.values()}
    if kind not in _OF_NUMBERS or options.keys() - {"ddof"}:
        return None
    if not dtypes <= _NUMBERS and kind != "count":
        return None
    if "bool" in dtypes and len(dtypes) > 1 and kind in ("min", "max"):
        return None  # results of different kinds
    mark(kind)
    ddof = options.get("ddof", _OF_NUMBERS[kind])
    values = _core.reduce_columns(kind, list(columns.values()), ddof)
    return ColumnValues(list(columns), _core.stack(values), kind, values)


def reduced(columns: Mapping[str, Series], kinds: Mapping[str, str], **options: Any) -> Any:
    """An aggregate of each column, by column name."""
    values = {name: column.agg(kinds[name], **options) for name, column in columns.items()}
    dtypes = {name: _dtype_of(column, kinds[name]) for name, column in columns.items()}
    words = set(kinds.values())
    return column_values(values, words.pop() if len(words) == 1 else "value", dtypes)
