# SPDX-License-Identifier: Apache-2.0
"""The part of `Series` that tests, selects and fills values."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from headrace import _core
from headrace.dtypes import INTEGERS
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.lazy.handle import Deferred, mark
from headrace.rows import by_position, is_missing
from headrace.series.arithmetic import SeriesArithmetic
from headrace.series.timezone import zone_in, zone_of

if TYPE_CHECKING:
    from headrace.series.series import Series


def _mask_of(condition: Any) -> Any:
    """A condition as a column, or as a one-element array."""
    if isinstance(condition, Deferred):
        return condition
    import numpy as np

    from headrace.array.array import asarray
    from headrace.series.series import Series

    return Series(condition) if np.ndim(condition) else asarray(condition)


def _without_nulls(condition: Any) -> Any:
    """A mask with null as false."""
    if isinstance(condition, SeriesValues) and condition.dtype == "bool":
        return condition.fill_null(False)
    return condition


def _times_of(texts: list[Any], dtype: str) -> Series:
    """ISO strings as times of a dtype."""
    from headrace.series.series import Series

    parsed = [None if t is None else datetime.datetime.fromisoformat(t) for t in texts]
    if zone := zone_in(dtype):  # local time
        tz = zone_of(zone)
        aware = [t if t is None or t.tzinfo else t.replace(tzinfo=tz) for t in parsed]
        return Series(aware, dtype=f"datetime64[us, {zone}]")
    times = Series(parsed)
    return times if dtype == "date" else times.astype(dtype)


class SeriesValues(SeriesArithmetic):
    """Tests, selection and missing values of a column."""

    __slots__ = ()

    # ---- duplicates ------------------------------------------------------------------------------
    def duplicated(self: Any, keep: Literal["first", "last", False] = "first") -> Series:
        """Mark repeated values: all but the first, all but the last, or all; null is a value.

        >>> import headrace as hr
        >>> s = hr.Series(["a", "b", "a"])
        >>> s.duplicated().to_list(), s.duplicated(keep="last").to_list()
        ([False, False, True], [True, False, False])
        """
        from headrace.frame.reshape import repeated_rows

        mark("duplicated")
        made: Series = self._like(repeated_rows([self._node], keep))
        return made

    def drop_duplicates(self: Any, *, keep: Literal["first", "last", False] = "first") -> Series:
        """Drop repeated values, keeping the first or the last; ``keep=False`` drops all of them.

        Null and NaN count as values.

        >>> import headrace as hr
        >>> hr.Series([2, 1, 2]).drop_duplicates().to_list()
        [2, 1]
        """
        if keep != "first":
            return self[~self.duplicated(keep)]  # type: ignore[no-any-return]
        found = self.unique()
        domain = found._node.domain | _core.PICKED_ROWS
        return found._like(_core.in_domain(found._node, domain))  # type: ignore[no-any-return]

    # ---- membership and choice -------------------------------------------------------------------
    def isin(self: Any, values: Any) -> Series:
        """True where the value is in `values` (a list, a series, an array); never null.

        Null matches a null in `values`, and NaN a NaN.

        >>> import headrace as hr
        >>> hr.Series(["a", "b", None]).isin(["b", "c"]).to_list()
        [False, True, False]
        """
        from headrace.frame.merge import comparable
        from headrace.series.series import Series

        mark("isin")
        if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
            raise TypeMismatchError(f"isin: expected a list of values: values={values!r}")
        if not isinstance(values, Deferred) and not hasattr(values, "__array_interface__"):
            values = list(values)
        if isinstance(values, list) and all(value is None for value in values):
            none: Series = self.is_null() if values else self.is_null() & False
            return none
        if isinstance(values, list) and len({isinstance(v, str) for v in values} - {None}) > 1:
            # values of another kind never match, so they are dropped
            texts = self.dtype in ("string", "category")
            values = [v for v in values if v is None or isinstance(v, str) == texts]
            if not values:
                return self.is_null() & False  # type: ignore[no-any-return]
        wanted = Series(by_position(values))
        if wanted.dtype == "string" and self.dtype == "category":
            wanted = wanted.astype("category")
        elif wanted.dtype == "string" and self.dtype.kind == "M":
            wanted = _times_of(list(values), str(self.dtype))
        ours, theirs = comparable("isin", self._node, wanted._node)
        made: Series = self._like(_core.is_in(ours, theirs))
        return made

    def between(
        self,
        left: Any,
        right: Any,
        inclusive: Literal["both", "neither", "left", "right"] = "both",
    ) -> Series:
        """True where ``left <= value <= right``; `inclusive` says which ends count.

        >>> import headrace as hr
        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.between(1, 2).to_list()
        [False, None, True]
        """
        if inclusive not in ("both", "neither", "left", "right"):
            raise InvalidArgumentError(
                f"between: invalid value: inclusive={inclusive!r}; expected 'both', "
                "'neither', 'left' or 'right'"
            )
        low = self >= left if inclusive in ("both", "left") else self > left
        high = self <= right if inclusive in ("both", "right") else self < right
        both: Series = low & high
        return both

    def where(self: Any, condition: Any, other: Any = None) -> Series:
        """The values where `condition` is true, else `other` (null if it is not given).

        Null in the condition is false. Both may be functions of the series.

        >>> import headrace as hr
        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.where(s > 2, 0.0).to_list()
        [3.0, 0.0, 0.0]
        """
        condition = condition(self) if callable(condition) else condition
        other = other(self) if callable(other) else other
        condition = _without_nulls(_mask_of(condition))
        kept: Series = self._elementwise("where", condition, self, other)
        return kept

    def mask(self: Any, condition: Any, other: Any = None) -> Series:
        """The values where `condition` is false, else `other` (null if it is not given).

        >>> import headrace as hr
        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.mask(s > 2, 0.0).to_list()
        [0.0, None, 1.0]
        """
        condition = condition(self) if callable(condition) else condition
        return self.where(~_without_nulls(_mask_of(condition)), other)  # type: ignore[no-any-return]

    def clip(self: Any, lower: Any = None, upper: Any = None) -> Series:
        """Limit values to [`lower`, `upper`].

        Bounds are scalars, or series of the same rows; a missing bound does not limit.

        >>> import headrace as hr
        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.clip(upper=2).to_list()
        [2.0, None, 1.0]
        """
        from headrace.series.series import Series

        made: Series = self
        for op, bound in (("maximum", lower), ("minimum", upper)):
            if is_missing(bound):
                continue
            kept, made = made, made._elementwise(op, made, bound)
            if getattr(bound, "ndim", 0):
                made = made.where(Series(bound).notna(), kept)
        return made

    def replace(self: Any, to_replace: Any, value: Any = None, *, regex: bool = False) -> Series:
        """Replace values equal to `to_replace` by `value`; None matches null and NaN matches NaN.

        A list replaces each of its values (by the value at the same position if `value` is a list
        too), a mapping each of its keys. All are matched against the original values. With `regex`,
        matches within strings become `value`. A `value` that the dtype cannot hold raises if any
        value matches, which is evaluated to find out.

        >>> import headrace as hr
        >>> s = hr.Series(["a", "b", "c"])
        >>> s.replace(["a", "b"], "x").to_list(), s.replace({"a": "b", "b": "a"}).to_list()
        (['x', 'x', 'c'], ['b', 'a', 'c'])
        """
        several = isinstance(to_replace, list | tuple)
        if isinstance(to_replace, Mapping):
            pairs = list(to_replace.items())
        elif several and isinstance(value, list | tuple):
            if len(to_replace) != len(value):
                raise InvalidArgumentError(
                    "replace: number of new values does not match the old ones: "
                    f"expected={len(to_replace)}, got={len(value)}"
                )
            pairs = list(zip(to_replace, value, strict=True))
        else:
            pairs = [(old, value) for old in (to_replace if several else [to_replace])]
        result: Series = self
        for old, new in pairs:
            if regex:
                result = result.str.replace(old, new, regex=True)
                continue
            try:
                found = self.isna() if is_missing(old) else _without_nulls(self == old)
            except (TypeMismatchError, UnsupportedError):
                continue  # a value of another kind
            try:
                result = result._elementwise("where", found, new, result)
            except (InvalidArgumentError, TypeMismatchError, UnsupportedError):
                some: Any = found.any()
                if some.item():
                    raise
        return result

    # ---- missing values --------------------------------------------------------------------------
    def is_null(self) -> Self:
        """True where there is no value (NaN is a value).

        >>> import headrace as hr
        >>> s = hr.Series([1.0, None, float("nan")])
        >>> s.is_null().to_list()
        [False, True, False]
        """
        return self._elementwise("is_null", self)

    def isna(self) -> Self:
        """True where the value is null or NaN.

        >>> import headrace as hr
        >>> s = hr.Series([1.0, None, float("nan")])
        >>> s.isna().to_list()
        [False, True, True]
        """
        null = self.is_null()
        return (
            null | (self._elementwise("isnan", self)).fill_null(False) if self._floating() else null
        )

    def notna(self) -> Self:
        """False where the value is null or NaN.

        >>> import headrace as hr
        >>> hr.Series([3, None]).notna().to_list()
        [True, False]
        """
        return ~self.isna()

    isnull, notnull = isna, notna

    def fill_null(self, value: Any) -> Self:
        """Replace nulls by `value`; NaN is kept.

        >>> import headrace as hr
        >>> s = hr.Series([1.0, None, float("nan")])
        >>> s.fill_null(0.0).to_list()
        [1.0, 0.0, nan]
        """
        return self._elementwise("fill_null", self, value)

    def fillna(self, value: Any) -> Self:
        """Replace null and NaN by `value`, a scalar or a series of the same rows.

        A float turns integers into float64 if any value is missing, which is evaluated; other
        values that the dtype cannot hold raise in that case.

        >>> import headrace as hr
        >>> ages = hr.Series([30, None, 33])
        >>> ages.fillna(ages.mean()).to_list()
        [30.0, 31.5, 33.0]
        """
        if isinstance(value, Mapping | list | tuple):
            raise TypeMismatchError(
                f"fillna: expected a single value or a series: value={value!r}; build a "
                "series from the values, or fill frame columns with a mapping"
            )
        try:
            filled = self.fill_null(value)
        except (InvalidArgumentError, TypeMismatchError, UnsupportedError):
            missing: Any = self.isna()
            several = bool(getattr(value, "ndim", 0))
            if value is not None and not several and not missing.any().item():
                return missing._like(self._node)  # type: ignore[no-any-return]
            kind = str(getattr(value, "dtype", type(value).__name__))
            if not (kind.startswith("float") and self._node.dtype in INTEGERS):
                raise
            return self.astype("float64").fillna(value)
        if not self._floating():
            return filled
        return self._elementwise("where", filled.is_nan(), value, filled)

    def ffill(self: Any) -> Series:
        """Replace null and NaN by the last valid value before them.

        >>> import headrace as hr
        >>> s = hr.Series([None, 1.0, None, 3.0, None])
        >>> s.ffill().to_list(), s.bfill().to_list()
        ([None, 1.0, 1.0, 3.0, 3.0], [1.0, 1.0, 3.0, 3.0, None])
        """
        from headrace.frame.apply import with_rows_of
        from headrace.series.series import Series

        mark("ffill")
        last = self._places().where(self.notna(), 0).cummax()
        found = Series(_core.take(self._node, last._node))
        return self._like(with_rows_of(found, self._node)._node)  # type: ignore[no-any-return]

    def bfill(self: Any) -> Series:
        """Replace null and NaN by the next valid value after them; see `ffill`.

        >>> import headrace as hr
        >>> hr.Series([None, 2, None, 5]).bfill().to_list()
        [2, 2, 5, 5]
        """
        from headrace.frame.apply import with_rows_of
        from headrace.series.series import Series

        mark("bfill")
        turned = Series(self._node)[::-1].ffill()[::-1]
        return self._like(with_rows_of(turned, self._node)._node)  # type: ignore[no-any-return]

    def _places(self: Any) -> Series:
        """0, 1, 2, ... for the rows, without evaluating their number."""
        from headrace.series.series import Series

        ones = Series(self._node).is_null().astype("int64") * 0 + 1
        return ones.cumsum() - 1

    def dropna(self: Any) -> Series:
        """Drop null and NaN.

        >>> import headrace as hr
        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.dropna().to_list()
        [3.0, 1.0]
        """
        present: Series = self[self.notna()]
        return present

    def _floating(self) -> bool:
        return self.dtype.kind == "f"
