# SPDX-License-Identifier: Apache-2.0
"""Durations: operands, their `Series.dt` accessor, and aggregates of times."""

from __future__ import annotations

import datetime
import math
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.deferred import Deferred, mark
from headrace.dtypes import refuse_months
from headrace.errors import InvalidArgumentError, TypeMismatchError

if TYPE_CHECKING:
    from headrace.series import Series

#: Units per second; a date counts days.
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
UNITS = ("D", *PER_SECOND)
DAY = 86_400
_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
#: Operators that return one of their last two operands.
_CHOICES = ("where", "fill_null", "maximum", "minimum")


def unit_of(dtype: str) -> str:
    """The unit that a dtype of dates, times or durations counts."""
    return "D" if dtype == "date" else dtype.partition("[")[2].removesuffix("]").partition(",")[0]


def scale(unit: str, finer: str) -> int:
    """How many `finer` units make one `unit`."""
    if unit == "D":
        return 1 if finer == "D" else DAY * PER_SECOND[finer]
    return PER_SECOND[finer] // PER_SECOND[unit]


def coarsest(nanoseconds: int) -> str:
    """The coarsest unit in which this is an integer."""
    return next(u for u in UNITS if nanoseconds % scale(u, "ns") == 0)


def is_duration(value: Any) -> bool:
    """A column of durations."""
    return isinstance(value, Deferred) and value._node.dtype.startswith("timedelta")


def is_span(value: Any) -> bool:
    """A timedelta of Python, pandas or NumPy."""
    import numpy as np

    return isinstance(value, datetime.timedelta | np.timedelta64)


def span(value: Any) -> int:
    """Nanoseconds of a timedelta."""
    if isinstance(value, datetime.timedelta):
        micro = (value.days * DAY + value.seconds) * 10**6 + value.microseconds
        return micro * 1000 + int(getattr(value, "nanoseconds", 0))
    import numpy as np

    refuse_months(value, "timedelta")
    if np.isnat(value):
        raise InvalidArgumentError(
            f"timedelta: NaT has no length: value={value!r}; use isna to find missing "
            "values, where to set them"
        )
    return int(value.astype("timedelta64[ns]").astype("int64"))


def counts(column: Deferred, unit: str, clamp: bool = False) -> Any:
    """The integers of a column in its own unit or a finer one.

    A value that does not fit raises with its row, or with `clamp` becomes the largest integer.
    """
    from headrace.series import Series

    dtype = column._node.dtype
    if unit_of(dtype) != unit:
        return Series(_core.rescale_unit(column._node, f"timedelta64[{unit}]", clamp))
    return Series(_core.retype(column._node, _storage(dtype))).astype("int64")


def of_counts(whole: Any, dtype: str) -> _core.Node:
    """Integers as dates, times or durations."""
    return _core.retype(whole.astype(_storage(dtype))._node, dtype)


def _storage(dtype: str) -> str:
    return "int32" if dtype == "date" else "int64"


def span_unit(value: Any) -> str:
    """The unit of a duration column, or the coarsest unit of a timedelta, at most seconds."""
    unit = unit_of(value._node.dtype) if is_duration(value) else coarsest(span(value))
    return "s" if unit == "D" else unit


def span_counts(value: Any, unit: str, clamp: bool = False) -> Any:
    """The integers of a duration column, or the integer of a timedelta."""
    if is_duration(value):
        return counts(value, unit, clamp)
    return whole_of(span(value), unit, clamp)


def whole_of(nanoseconds: int, unit: str, clamp: bool) -> int:
    """Nanoseconds as an integer of a unit, with `clamp` limited to 64 bits."""
    whole = nanoseconds // scale(unit, "ns")
    return max(-(2**63), min(whole, 2**63 - 1)) if clamp else whole


def _is_number(value: Any) -> bool:
    if isinstance(value, Deferred):
        return value.dtype.kind in "biuf"
    return isinstance(value, int | float) or hasattr(value, "__float__")


def _durations(whole: Any, unit: str) -> _core.Node:
    return of_counts(whole, f"timedelta64[{unit}]")


def _whole(value: Any) -> bool:
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    return kind in tuple("biu") if kind else isinstance(value, int)


def durations_node(op: str, values: tuple[Any, ...]) -> _core.Node | None:
    """The node of an operator with a duration operand, or None if there is none."""
    sides = values[-2:]
    spans = [is_duration(side) or is_span(side) for side in sides]
    if op in ("negative", "abs", "absolute") and is_duration(values[0]):
        unit = span_unit(values[0])
        whole = counts(values[0], unit)
        return _durations(-whole if op == "negative" else abs(whole), unit)
    if len(sides) == 2 and all(spans):
        unit = max(map(span_unit, sides), key=UNITS.index)
        clamp = op in _COMPARISONS
        return _two(op, values[:-2], [span_counts(side, unit, clamp) for side in sides], unit)
    if op == "multiply" and any(spans) and _is_number(sides[spans.index(False)]):
        ours, factor = sides if spans[0] else sides[::-1]
        unit = span_unit(ours)
        product = span_counts(ours, unit) * factor
        return _durations(product if _whole(factor) else product.round(), unit)
    if op in ("divide", "floor_divide") and spans == [True, False] and _is_number(sides[1]):
        unit = span_unit(sides[0])
        whole = span_counts(sides[0], unit)
        if not _whole(sides[1]):
            parts = whole / sides[1]
            return _durations(parts._elementwise("floor" if "_" in op else "trunc", parts), unit)
        lower = whole // sides[1]
        if op == "floor_divide":
            return _durations(lower, unit)
        left = (whole - lower * sides[1]) != 0  # towards zero, as in NumPy
        signs = (whole < 0) ^ (sides[1] < 0)
        return _durations(lower + (left & signs).astype("int64"), unit)
    return None


def _two(op: str, before: tuple[Any, ...], sides: list[Any], unit: str) -> _core.Node | None:
    """The node of an operator on two durations, as integers of a common unit."""
    from headrace.series import Series

    nodes = [_core.scalar(side) if isinstance(side, int) else side._node for side in sides]
    if op in (*_COMPARISONS, "divide", "floor_divide"):
        return _core.elementwise(op, nodes, None)
    if op in ("add", "subtract", "remainder", *_CHOICES):
        whole = _core.elementwise(op, [*(value._node for value in before), *nodes], None)
        return _durations(Series(whole), unit)
    return None


class DurationAccessor:
    """The components of each duration, as in Python's timedelta; null for null."""

    __slots__ = ("_series", "_unit")

    def __init__(self, series: Series) -> None:
        self._series = series
        self._unit = span_unit(series)

    def _part(self, step: str, count: int) -> Series:
        mark("dt")
        whole = counts(self._series, self._unit)
        if UNITS.index(step) > UNITS.index(self._unit):
            whole = whole * scale(self._unit, step)
        else:
            whole = whole // scale(step, self._unit)
        made: Series = self._series._like((whole % count if count else whole)._node)
        return made

    @property
    def days(self) -> Series:
        """Whole days, rounded down.

        >>> from datetime import timedelta
        >>> import headrace as hr
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.days.to_list()
        [1]
        """
        return self._part("D", 0)

    @property
    def seconds(self) -> Series:
        """Seconds of the day, 0 to 86,399.

        >>> from datetime import timedelta
        >>> import headrace as hr
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.seconds.to_list()
        [5]
        """
        return self._part("s", DAY)

    @property
    def microseconds(self) -> Series:
        """Microseconds of the second, 0 to 999,999.

        >>> from datetime import timedelta
        >>> import headrace as hr
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.microseconds.to_list()
        [7]
        """
        return self._part("us", 10**6)

    @property
    def nanoseconds(self) -> Series:
        """Nanoseconds of the microsecond, 0 to 999.

        >>> from datetime import timedelta
        >>> import headrace as hr
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.nanoseconds.to_list()
        [0]
        """
        return self._part("ns", 1000)

    def floor(self, freq: Any) -> Series:
        """Round down to a multiple of a period: ``"15min"``, ``"1h30min"`` or a timedelta.

        >>> import datetime
        >>> import headrace as hr
        >>> str(hr.Series([datetime.timedelta(minutes=50)]).dt.floor("15min").to_list()[0])
        '0:45:00'
        """
        return self._multiples("floor", freq)

    def ceil(self, freq: Any) -> Series:
        """Round up to a multiple of a period; see `floor`.

        >>> from datetime import timedelta
        >>> import headrace as hr
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.ceil("s").to_list()
        [datetime.timedelta(days=1, seconds=6)]
        """
        return self._multiples("ceil", freq)

    def round(self, freq: Any) -> Series:
        """Round to the nearest multiple of a period, halves to even; see `floor`.

        >>> from datetime import timedelta
        >>> import headrace as hr
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.round("s").to_list()
        [datetime.timedelta(days=1, seconds=5)]
        """
        return self._multiples("round", freq)

    def _multiples(self, op: str, freq: Any) -> Series:
        from headrace.rounding import multiples, step_of

        mark("dt")
        whole = counts(self._series, self._unit)
        found = multiples(op, whole, self._unit, step_of(op, freq))
        made: Series = self._series._like(of_counts(found, self._series._node.dtype))
        return made

    def total_seconds(self) -> Series:
        """The duration in seconds, as float64.

        >>> import datetime
        >>> import headrace as hr
        >>> span = datetime.timedelta(minutes=2, milliseconds=500)
        >>> hr.Series([span]).dt.total_seconds().to_list()
        [120.5]
        """
        mark("dt")
        made: Series = self._series._like(
            (counts(self._series, self._unit) / PER_SECOND[self._unit])._node
        )
        return made


#: Aggregates that interpolate, and so go through floats.
BETWEEN = ("mean", "median", "quantile")


def from_base(whole: Any) -> tuple[Any, Any]:
    """Counts relative to about the smallest one, which floats hold more exactly, and that base.

    The base is 0 if the counts are too far apart.
    """
    floats = whole.astype("float64")
    least = floats.min()
    near = (floats.max() - least) < 2.0**62
    base = least._elementwise("where", near, least, 0.0).astype("int64")
    return whole - base, base


def whole_units(numbers: Any, base: Any, dtype: str) -> _core.Node:
    """Floats relative to a base as times or durations, truncated as in pandas."""
    below = numbers._elementwise("floor", numbers)
    whole = below.astype("int64") + base
    whole = whole + ((whole < 0) & (numbers > below)).astype("int64")
    return of_counts(whole, dtype)


def deviation_of(dtype: str) -> str:
    """The dtype of the standard deviation of times or durations."""
    return f"timedelta64[{'s' if dtype == 'date' else unit_of(dtype)}]"


def counts_for(kind: str, series: Deferred) -> tuple[str, Any, Any]:
    """Result dtype, integer input and base of an aggregate of times or durations."""
    own = series._node.dtype
    dtype = deviation_of(own) if kind == "std" else own
    whole = counts(series, unit_of(dtype))
    return dtype, *(from_base(whole) if kind in BETWEEN else (whole, 0))


def aggregate(series: Deferred, kind: str, **options: Any) -> Any:
    """An aggregate of dates, times or durations, evaluated; None if there is no value."""
    from headrace.series import Series

    mark(kind)
    dtype, whole, base = counts_for(kind, series)
    if not whole.count().item() and kind != "sum":
        return None
    found = getattr(whole, kind)(**options).item()
    if math.isnan(found):
        return None
    number = Series([found])
    if isinstance(found, int):
        return Series(of_counts(number + base, dtype)).to_list()[0]
    return Series(whole_units(number, base, dtype)).to_list()[0]


def level_of(q: Any) -> float:
    """A quantile as a number."""
    try:
        return float(q)
    except (TypeError, ValueError):
        raise TypeMismatchError(
            f"quantile: expected a number from 0 to 1, or a list of them: q={q!r}"
        ) from None


def quantile(series: Deferred, q: float | list[float], interpolation: str) -> Any:
    """Quantiles of dates, times or durations: a value, or a series for a list of them."""
    from headrace.series import Series

    def one(level: Any) -> Any:
        return aggregate(series, "quantile", q=level_of(level), interpolation=interpolation)

    if isinstance(q, list):
        return Series([one(each) for each in q], dtype=series._node.dtype)
    return one(q)
