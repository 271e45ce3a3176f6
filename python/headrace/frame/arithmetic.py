# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, comparison and selection on whole frames, column by column."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.dtypes import FLOATS, INTEGERS
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.lazy.handle import mark
from headrace.operators import Binary, operator_methods, turned
from headrace.series.strings import is_text

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame

Axis = Literal[0, 1, "index", "columns"]

_NUMBERS = frozenset((*INTEGERS, *FLOATS))
#: The engine's words for operators on numbers.
_WORDS: dict[Any, str] = {
    operator.add: "add",
    operator.sub: "subtract",
    operator.mul: "multiply",
    operator.truediv: "divide",
    operator.eq: "equal",
    operator.ne: "not_equal",
    operator.lt: "less",
    operator.le: "less_equal",
    operator.gt: "greater",
    operator.ge: "greater_equal",
}


def _operands(frame: Any, other: Any, op: str, axis: Axis = 1) -> dict[str, Any]:
    """The operand for each non-label column of `frame`."""
    from headrace.frame.column_reductions import ColumnValues, by_column
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

    names: list[str] = frame._unlabelled()
    if axis not in (0, "index") or isinstance(other, ColumnValues):
        other = by_column(other)
    if isinstance(other, DataFrame) or (isinstance(other, Mapping) and not hasattr(other, "dtype")):
        theirs = other._unlabelled() if isinstance(other, DataFrame) else list(other.keys())
        if sorted(theirs) != sorted(names):
            raise InvalidArgumentError(
                f"{op}: the frames have different columns: columns={names}, other={theirs}; "
                "select the shared ones: df[[...]]"
            )
        return {name: other[name] for name in names}
    if isinstance(other, Series) and axis not in (0, "index"):
        raise TypeMismatchError(
            f"{op}: the series is not labelled by column names; use df.{op}(series, "
            "axis=0) to combine it row by row"
        )
    return dict.fromkeys(names, other)


def _method(name: str, function: Binary, text: str) -> Any:
    def method(self: Any, other: Any, axis: Axis = "columns") -> DataFrame:
        return self._with_each(name, function, other, axis)  # type: ignore[no-any-return]

    method.__name__ = name
    method.__qualname__ = f"FrameArithmetic.{name}"
    method.__doc__ = f"""{text}; `other` is a value, frame or mapping, or with ``axis=0`` a series.

    >>> import headrace as hr
    >>> hr.DataFrame({{"x": [7, 9]}}).{name}(2).to_dict()
    {{'x': {[function(7, 2), function(9, 2)]}}}
    """
    return method


def _operator(name: str, function: Binary) -> Any:
    def method(self: Any, other: Any) -> Any:
        if not _fits(other):
            return NotImplemented
        return self._with_each(name, function, other)

    return method


def _operators(name: str, function: Binary) -> tuple[Any, Any]:
    return _operator(name, function), _operator(name, turned(function))


def _fits(other: Any) -> bool:
    """Whether a frame can be combined with this value."""
    return other is not None and not isinstance(other, list | tuple | set)


class FrameArithmetic:
    """The part of `DataFrame` that computes with all non-label columns.

    The other operand is a scalar, a frame with the same rows and column names, a reduction (such as
    ``df.mean()``) matched by column name, or a mapping ``{name: value}``.

    >>> import headrace as hr
    >>> df = hr.DataFrame({"a": [1, 2, 3], "b": [10.0, 30.0, 50.0]})
    >>> (df * 2).to_dict()
    {'a': [2, 4, 6], 'b': [20.0, 60.0, 100.0]}
    >>> (df - df.mean()).to_dict()
    {'a': [-1.0, 0.0, 1.0], 'b': [-20.0, 0.0, 20.0]}
    >>> (df > df.mean()).to_dict()
    {'a': [False, False, True], 'b': [False, False, True]}
    """

    __slots__ = ()
    # NumPy scalars and arrays on the left dispatch to us.
    __array_priority__ = 1000.0
    __hash__ = None  # type: ignore[assignment]

    def _made_of(self: Any, columns: Mapping[str, Any]) -> DataFrame:
        """The frame with these columns replaced, labels unchanged."""
        from headrace.frame.dataframe import DataFrame

        made = {**self._nodes, **{name: each._node for name, each in columns.items()}}
        return DataFrame._of(made, self._labels)

    def _with_number(self: Any, op: str, value: Any) -> DataFrame | None:
        """Numbers with a Python number, in one call of the engine; None for other operands."""
        from headrace.frame.dataframe import DataFrame

        if type(value) not in (int, float) or value != value:  # noqa: PLR0124 (NaN)
            return None
        columns = {name: self._nodes[name] for name in self._unlabelled()}
        if not columns or any(node.dtype not in _NUMBERS for node in columns.values()):
            return None
        made = _core.elementwise_columns(op, list(columns.values()), _core.scalar(value))
        return DataFrame._of({**self._nodes, **dict(zip(columns, made, strict=True))}, self._labels)

    def _with_each(
        self: Any, name: str, function: Callable[[Any, Any], Any], other: Any, axis: Axis = 1
    ) -> DataFrame:
        mark(name)
        if function in _WORDS and (made := self._with_number(_WORDS[function], other)) is not None:
            return made  # type: ignore[no-any-return]
        values = _operands(self, other, name, axis)
        return self._made_of(  # type: ignore[no-any-return]
            {column: function(self[column], value) for column, value in values.items()}
        )

    def _of_each(self: Any, function: Callable[[Any], Any]) -> DataFrame:
        return self._made_of({name: function(self[name]) for name in self._unlabelled()})  # type: ignore[no-any-return]

    add, sub, mul, div, floordiv, mod, pow, eq, ne, lt, le, gt, ge = operator_methods(_method)
    subtract, multiply, divide, truediv = sub, mul, div, div

    __add__, __radd__ = _operators("add", operator.add)
    __sub__, __rsub__ = _operators("sub", operator.sub)
    __mul__, __rmul__ = _operators("mul", operator.mul)
    __truediv__, __rtruediv__ = _operators("div", operator.truediv)
    __floordiv__, __rfloordiv__ = _operators("floordiv", operator.floordiv)
    __mod__, __rmod__ = _operators("mod", operator.mod)
    __pow__, __rpow__ = _operators("pow", operator.pow)
    __and__, __rand__ = _operators("and", operator.and_)
    __or__, __ror__ = _operators("or", operator.or_)
    __xor__, __rxor__ = _operators("xor", operator.xor)
    __eq__ = _operator("eq", operator.eq)
    __ne__ = _operator("ne", operator.ne)
    __lt__ = _operator("lt", operator.lt)
    __le__ = _operator("le", operator.le)
    __gt__ = _operator("gt", operator.gt)
    __ge__ = _operator("ge", operator.ge)

    def __neg__(self) -> DataFrame:
        return self._of_each(operator.neg)

    def __pos__(self) -> DataFrame:
        return self._of_each(operator.pos)

    def __invert__(self) -> DataFrame:
        return self._of_each(operator.invert)

    def __abs__(self) -> DataFrame:
        return self._of_each(abs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from headrace.frame.dataframe import DataFrame

        if method != "__call__" or kwargs or not 1 <= len(inputs) <= 2:
            return NotImplemented
        frame = next(each for each in inputs if isinstance(each, DataFrame))
        if len(inputs) == 1:
            return frame._of_each(ufunc)
        if inputs[0] is frame:
            return frame._with_each(ufunc.__name__, ufunc, inputs[1])
        return frame._with_each(ufunc.__name__, turned(ufunc), inputs[0])

    # ---- element-wise ----------------------------------------------------------------------------
    def abs(self) -> DataFrame:
        """Absolute values.

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [-1, 2]}).abs().to_dict()
        {'x': [1, 2]}
        """
        return self._of_each(abs)

    def round(self: Any, decimals: int | Mapping[str, int] = 0) -> DataFrame:
        """Round floats to a number of decimals, or per column by a mapping; strings are kept.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"y": [0.123, 4.567]})
        >>> df.round(1).y.to_list()
        [0.1, 4.6]
        """
        digits = (
            decimals
            if isinstance(decimals, Mapping)
            else {n: decimals for n in self._unlabelled() if self[n].dtype.is_of("iuf")}
        )
        return self._made_of({n: self[self._find(n)].round(d) for n, d in digits.items()})  # type: ignore[no-any-return]

    def clip(self: Any, lower: Any = None, upper: Any = None, *, axis: Axis = 1) -> DataFrame:
        """Limit values to [`lower`, `upper`].

        Bounds are scalars, frames with the same rows, reductions of frames, mappings by column, or
        with ``axis=0`` series.

        >>> import headrace as hr
        >>> hr.DataFrame({"a": [1, 5, 9]}).clip(2, 7).a.to_list()
        [2, 5, 7]
        """
        made: DataFrame = self
        if lower is not None:
            made = made._with_each("clip", lambda ours, least: ours.clip(lower=least), lower, axis)
        if upper is not None:
            made = made._with_each("clip", lambda ours, most: ours.clip(upper=most), upper, axis)
        return made

    def where(self: Any, condition: Any, other: Any = None) -> DataFrame:
        """The values where `condition` is true, else `other` (null if it is not given).

        The condition is a boolean frame, or a boolean series for all columns.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"a": [1, -2], "b": [-3, 4]})
        >>> df.where(df > 0, 0).to_dict()
        {'a': [1, 0], 'b': [0, 4]}
        """
        mark("where")
        masks = _operands(self, condition, "where", axis=0)
        others = _operands(self, other, "where", axis=0)
        return self._made_of({n: self[n].where(masks[n], others[n]) for n in masks})  # type: ignore[no-any-return]

    def mask(self: Any, condition: Any, other: Any = None) -> DataFrame:
        """The values where `condition` is false, else `other` (null if it is not given).

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.mask(df > 1).to_dict()
        {'x': [1, None, None], 'y': [0.5, None, None]}
        """
        return self.where(~(condition(self) if callable(condition) else condition), other)  # type: ignore[no-any-return]

    def isin(self: Any, values: Any) -> DataFrame:
        """True where the value is in `values`, or in its column's entry of a mapping.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.isin([2, 0.5]).to_dict()
        {'x': [False, True, True], 'y': [True, False, False]}
        """
        if isinstance(values, Mapping):
            found = {n: self[n].isin(values.get(n, [])) for n in self._unlabelled()}
        else:
            found = {n: self[n].isin(values) for n in self._unlabelled()}
        return self._made_of(found)  # type: ignore[no-any-return]

    def replace(self: Any, to_replace: Any, value: Any = None, *, regex: bool = False) -> DataFrame:
        """Replace values equal to `to_replace` by `value`; see `Series.replace`.

        Columns of another kind than the value are skipped. A mapping of mappings replaces per
        column.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.replace(2, 20).x.to_list()
        [1, 20, 20]
        """
        if isinstance(to_replace, Mapping) and any(
            isinstance(v, Mapping) for v in to_replace.values()
        ):
            asked = {self._find(n): each for n, each in to_replace.items()}
            return self._made_of({n: self[n].replace(each) for n, each in asked.items()})  # type: ignore[no-any-return]

        return self._of_each(  # type: ignore[no-any-return]
            lambda c: c if regex and not is_text(c) else c.replace(to_replace, value, regex=regex)
        )

    def ffill(self) -> DataFrame:
        """Replace null and NaN by the last value before them in their column.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.ffill().y.to_list()
        [0.5, 0.5, 2.5]
        """
        return self._of_each(lambda column: column.ffill())

    def bfill(self) -> DataFrame:
        """Replace null and NaN by the next value after them in their column.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.bfill().y.to_list()
        [0.5, 2.5, 2.5]
        """
        return self._of_each(lambda column: column.bfill())

    def combine_first(self: Any, other: Any) -> DataFrame:
        """Fill null and NaN from `other`.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.combine_first(df.fillna(0.0)).y.to_list()
        [0.5, 0.0, 2.5]
        """
        theirs = _operands(self, other, "combine_first")
        return self._made_of({n: self[n].combine_first(v) for n, v in theirs.items()})  # type: ignore[no-any-return]

    def equals(self: Any, other: Any) -> bool:
        """Whether both have the same names, dtypes and values, null equal to null; evaluates.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.equals(df.head(3)), df.equals(df.head(2))
        (True, False)
        """
        if type(other) is not type(self) or other.columns != self.columns:
            return False
        return all(self[name].equals(other[name]) for name in self.columns)

    def notnull(self: Any) -> DataFrame:
        """The same as `notna`."""
        return self.notna()  # type: ignore[no-any-return]

    def notna(self: Any) -> DataFrame:
        """False where a value is null or NaN, column by column.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.notna().y.to_list()
        [True, False, True]
        """
        return self._of_each(lambda column: column.notna())  # type: ignore[no-any-return]

    # ---- rows relative to others -----------------------------------------------------------------
    def shift(self, periods: int = 1, *, fill_value: Any = None) -> DataFrame:
        """Shift rows down by `periods`; vacated rows become null, or `fill_value`.

        Labels are not shifted.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.shift(1).to_dict()
        {'x': [None, 1, 2], 'y': [None, 0.5, None]}
        """
        return self._of_each(lambda column: column.shift(periods, fill_value=fill_value))

    def pct_change(self: Any, periods: int = 1) -> DataFrame:
        """Each value relative to the one `periods` rows before: ``df / df.shift() - 1``.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.pct_change().x.to_list()
        [None, 1.0, 0.0]
        """
        return self._of_each(lambda column: column.pct_change(periods))  # type: ignore[no-any-return]

    def diff(self, periods: int = 1) -> DataFrame:
        """Difference to the value `periods` rows before; null where there is none.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.diff().x.to_list()
        [None, 1, 0]
        """
        return self._of_each(lambda column: column.diff(periods))

    def rank(
        self: Any,
        method: Literal["average", "min", "max", "first", "dense"] = "average",
        ascending: bool = True,
        *,
        numeric_only: bool = False,
        pct: bool = False,
    ) -> DataFrame:
        """The rank of each value in its column; see `Series.rank`.

        With `numeric_only`, only of numeric and bool columns.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.rank().x.to_list()
        [1.0, 2.5, 2.5]
        """
        picked = self
        if numeric_only:
            names = [n for n in self._nodes if n in self._labels or self[n].dtype.is_of("biuf")]
            picked = self[names]
        return picked._of_each(lambda column: column.rank(method, ascending, pct=pct))  # type: ignore[no-any-return]

    def cumsum(self) -> DataFrame:
        """Cumulative sums of each column.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.cumsum().to_dict()
        {'x': [1, 3, 5], 'y': [0.5, None, 3.0]}
        """
        return self._of_each(lambda column: column.cumsum())

    def cumprod(self) -> DataFrame:
        """Cumulative products of each column.

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [2, 1, 3]}).cumprod().to_dict()
        {'x': [2, 2, 6]}
        """
        return self._of_each(lambda column: column.cumprod())

    def cummin(self) -> DataFrame:
        """Cumulative minima of each column.

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [2, 1, 3]}).cummin().to_dict()
        {'x': [2, 1, 1]}
        """
        return self._of_each(lambda column: column.cummin())

    def cummax(self) -> DataFrame:
        """Cumulative maxima of each column.

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [2, 1, 3]}).cummax().to_dict()
        {'x': [2, 2, 3]}
        """
        return self._of_each(lambda column: column.cummax())

    def rolling(self, window: int, min_periods: int | None = None, center: bool = False) -> Any:
        """Rolling windows over each numeric column; see `Series.rolling`.

        >>> import headrace as hr
        >>> hr.DataFrame({"a": [1, 2, 4], "b": [1.0, 0.0, 3.0]}).rolling(2).sum().to_dict()
        {'a': [None, 3, 6], 'b': [None, 1.0, 3.0]}
        """
        from headrace.series.window import rolling_frame

        return rolling_frame(self, window, min_periods, center)

    def expanding(self, min_periods: int = 1) -> Any:
        """Expanding windows over each numeric column; see `rolling`.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.expanding().sum().x.to_list()
        [1, 3, 5]
        """
        return self.rolling(_core.ALL_ROWS, min_periods)
