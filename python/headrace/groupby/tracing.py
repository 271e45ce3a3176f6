# SPDX-License-Identifier: Apache-2.0
"""Trace functions of one group with values that represent all groups at once.

A function that only uses arithmetic, masks, aggregates and functions of each row becomes a few
group-bys. Anything else raises here, and is called group by group.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import Error, UnsupportedError
from headrace.frame.columns import Columns
from headrace.lazy.traceable import is_constant, is_traceable
from headrace.series.column import is_series, new_series, series_of

if TYPE_CHECKING:
    from headrace.groupby.groupby import GroupBy
    from headrace.series.series import Series

#: Aggregates that mean the same for a series and for its groups, with the options they may have.
_AGGREGATES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("sum", "prod", "mean", "median", "skew", "kurt"), ()),
    **dict.fromkeys(("min", "max", "count", "nunique", "any", "all"), ()),
    **dict.fromkeys(("var", "std", "sem"), ("ddof",)),
    "quantile": ("q",),
}
#: Methods of a series whose rows depend on their own values only.
_OF_EACH_ROW = (
    *("abs", "astype", "between", "clip", "fillna", "isin", "isna", "isnull", "notna", "notnull"),
    *("eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "div", "truediv"),
)


class _NotTraceableError(UnsupportedError):
    """What only a call for each group can do."""


class _Value:
    """The base of what stands for a group: no truth value, length or iteration."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    __iter__ = None

    def __bool__(self) -> bool:
        raise _NotTraceableError

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.__name__ not in _core.elementwise_ops():
            raise _NotTraceableError
        return _applied(_isna if ufunc.__name__ == "isnan" else ufunc, *inputs)


class _OfGroup(_Value):
    """One value for each group; as `rows`, for each row of the groups."""

    __slots__ = ("rows", "values")

    def __init__(self, values: Callable[[], Series], rows: Callable[[], Series]) -> None:
        self.values, self.rows = values, rows

    def round(self, decimals: int = 0) -> _OfGroup:
        """The method of reductions."""
        return _applied(lambda values: values.round(decimals), self)


class _Rows(_Value):
    """A column in place of its rows in one group, or of those where `mask` is true."""

    __slots__ = ("_groups", "_mask", "_series")

    def __init__(self, groups: GroupBy, series: Series, mask: Series | None = None) -> None:
        self._groups, self._series, self._mask = groups, series, mask

    def __getitem__(self, mask: Any) -> _Rows:
        return _Rows(self._groups, self._series, _both(self._mask, mask))

    def dropna(self) -> _Rows:
        """The rows with values."""
        return self[_Rows(self._groups, self._series.notna(), self._mask)]

    def __getattr__(self, name: str) -> Any:
        if name in _OF_EACH_ROW:
            return functools.partial(self._each_row, name)
        if name not in _AGGREGATES or (self._mask is not None and name in ("any", "all")):
            raise AttributeError(name)
        return functools.partial(self._aggregate, name)

    def _each_row(self, name: str, *args: Any, **kwargs: Any) -> _Rows:
        if not all(map(_is_plain, kwargs.values())):
            raise _NotTraceableError
        return _applied(lambda own, *others: getattr(own, name)(*others, **kwargs), self, *args)

    def _aggregate(self, name: str, *args: Any, **kwargs: Any) -> _OfGroup:
        options = {**dict(zip(_AGGREGATES[name], args, strict=False)), **kwargs}
        numbers = all(type(value) in (int, float) for value in options.values())
        if (
            len(args) > len(_AGGREGATES[name])
            or not numbers
            or options.keys() - {*_AGGREGATES[name]}
        ):
            raise _NotTraceableError
        series = self._series if self._mask is None else self._series.where(self._mask)
        groups = self._groups._column(series.name or "value", series._node)
        groups._labelled = True  # a series, whatever the result has

        def rows() -> Series:
            if options:
                raise _NotTraceableError
            return groups.transform(name)  # type: ignore[return-value]

        return _OfGroup(lambda: getattr(groups, name)(**options), rows)


class _Frame(_Value):
    """A frame in place of its rows in one group, or of those where `mask` is true."""

    __slots__ = ("_groups", "_mask")

    def __init__(self, groups: GroupBy, mask: Series | None = None) -> None:
        self._groups, self._mask = groups, mask

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, _Rows):
            return _Frame(self._groups, _both(self._mask, key))
        if not isinstance(key, str) or key not in self._groups._nodes:
            raise _NotTraceableError
        return _Rows(self._groups, series_of(self._groups._nodes[key], key), self._mask)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or hasattr(Columns._frame, name):
            raise AttributeError(name)
        return self[name]


def _isna(values: Series) -> Series:
    return values.isna()


def _both(mask: Series | None, more: Any) -> Series:
    """Rows of a mask that another mask keeps too."""
    if not isinstance(more, _Rows) or more._series.dtype != "bool" or more._mask is not mask:
        raise _NotTraceableError
    return more._series if mask is None else mask & more._series


def _applied(call: Callable[..., Any], *values: Any) -> Any:
    """A function of values of each row, or of each group."""
    rows = [each for each in values if isinstance(each, _Rows)]
    groups = [each for each in values if isinstance(each, _OfGroup)]
    if not all(isinstance(each, _Value) or _is_plain(each) for each in values):
        raise _NotTraceableError
    if not rows:
        return _OfGroup(
            lambda: call(*(v.values() if isinstance(v, _OfGroup) else v for v in values)),
            lambda: call(*(v.rows() if isinstance(v, _OfGroup) else v for v in values)),
        )
    first = rows[0]
    if any(each._mask is not first._mask for each in rows):
        raise _NotTraceableError  # rows that are not the same
    sides = (
        v._series if isinstance(v, _Rows) else v.rows() if isinstance(v, _OfGroup) else v
        for v in values
    )
    made = call(*sides)
    if not is_series(made) or (groups and made._node.domain != first._series._node.domain):
        raise _NotTraceableError
    return _Rows(first._groups, series_of(made._node, first._series.name), first._mask)


def _is_plain(value: Any) -> bool:
    return is_constant(value) or (type(value) is list and all(map(is_constant, value)))


def _operators(word: str) -> None:
    call = getattr(operator, word if word not in ("and", "or") else f"{word}_")
    setattr(_Value, f"__{word}__", lambda self, *others: _applied(call, self, *others))
    if word not in ("neg", "abs", "invert", "eq", "ne", "lt", "le", "gt", "ge"):
        reflected = lambda self, other: _applied(call, other, self)  # noqa: E731
        setattr(_Value, f"__r{word}__", reflected)


for _word in (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"),
    *("neg", "abs", "invert", "eq", "ne", "lt", "le", "gt", "ge"),
):
    _operators(_word)


def _traced(function: Any, argument: Any) -> Any:
    if not is_traceable(function):
        return None
    try:
        return function(argument)
    except (Error, TypeError, AttributeError, ValueError):
        return None


def _evaluated(found: Callable[[], Series]) -> Series | None:
    try:
        return found()
    except (Error, TypeError, AttributeError, ValueError):
        return None


def of_groups(function: Any, groups: GroupBy) -> Series | None:
    """The value of a function for each group; None if it has to be called for each."""
    if groups._single:
        ((name, node),) = groups._nodes.items()
        found = _traced(function, _Rows(groups, series_of(node, name)))
    else:
        found = _traced(function, _Frame(groups))
    return _evaluated(found.values) if isinstance(found, _OfGroup) else None


def of_rows(function: Any, groups: GroupBy, series: Series) -> Series | None:
    """The value of a function for each row of the groups; None if it has to be called for each."""
    found = _traced(function, _Rows(groups, series))
    if isinstance(found, _OfGroup):
        return _evaluated(found.rows)
    if not isinstance(found, _Rows) or found._mask is not None:
        return None
    keys = [new_series(node) for _, node in groups._keys]
    made = found._series
    if groups._dropna and any(key._node.nullable or key.dtype.kind == "f" for key in keys):
        made = made.where(functools.reduce(operator.and_, (key.notna() for key in keys)))
    return made
