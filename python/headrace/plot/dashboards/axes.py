# SPDX-License-Identifier: Apache-2.0
"""Axes of charts: a column cut into fine steps, of which a cell has some; what a brush selects."""

from __future__ import annotations

import datetime
import math
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from headrace import _core
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.lazy.handle import array_of
from headrace.lazy.handle import eval as evaluate
from headrace.series.column import new_series, series_of, with_rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

    Numbers = np.ndarray[Any, Any]

#: A brush moves in steps finer than a bin: at most as many as a chart has pixels.
_MOST_STEPS = 512
#: Whole numbers that span fewer have a bin each.
_UNITS = 64
_DAY = 86_400
#: Widths of bins of times that readers know, in seconds.
_TIME_WIDTHS = (
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200),
    *(days * _DAY for days in (1, 2, 7, 14, 28, 56, 112)),
)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class Range(NamedTuple):
    """Values from `low` up to but not including `high`; if `closed` with it."""

    low: Any
    high: Any
    closed: bool


class Axis:
    """A column cut into `fine` steps; `per_bin` neighbouring ones make one of its `bins` cells."""

    kind: str = "number"
    label: str
    fine: int
    per_bin: int

    def __init__(self, label: str, fine: int, per_bin: int) -> None:
        self.label, self.fine, self.per_bin = label, fine, per_bin
        self._codes: _core.Node | None = None

    @property
    def bins(self) -> int:
        """Cells of the chart along the axis."""
        return -(-self.fine // self.per_bin)

    def codes(self) -> _core.Node:
        """The step of each row, kept."""
        if self._codes is None:
            self._codes = self._make_codes()
        return self._codes

    def free(self) -> None:
        """Keep the codes no longer."""
        self._codes = None

    def cells(self, per: int) -> tuple[_core.Node, _core.Node, int]:
        """The axis of a cube whose cells have `per` steps."""
        places = (np.arange(self.fine) // per).astype(np.uint16)
        return self.codes(), asarray(places)._node, -(-self.fine // per)

    def _make_codes(self) -> _core.Node:
        raise NotImplementedError

    def edges(self) -> Numbers:
        """The edges of the bins."""
        raise NotImplementedError

    def mask(self, chosen: Any) -> Series:
        """The rows that a selection along the axis leaves."""
        raise NotImplementedError

    def shown(self, chosen: Range) -> list[float]:
        """A range as the page draws it: in steps."""
        raise NotImplementedError

    def spec(self) -> dict[str, Any]:
        """What the page is told."""
        return {"kind": self.kind, "label": self.label, "fine": self.fine, "per": self.per_bin}


class NumberAxis(Axis):
    """Numbers, dates or times: steps of equal width from an origin, exact for integers."""

    origin: Any
    width: Any
    values: Series
    unit: str

    def __init__(
        self, label: str, values: Series, grid: tuple[Any, Any, int], per_bin: int, unit: str = ""
    ) -> None:
        self.origin, self.width, fine = grid
        super().__init__(label, fine, per_bin)
        self.values, self.unit = values, unit
        self.kind = "time" if unit else "number"
        self._whole = isinstance(self.origin, int)

    def _make_codes(self) -> _core.Node:
        bin_codes = _core.bin_integer_codes if self._whole else _core.bin_codes
        return bin_codes(self.values._node, self.origin, self.width, self.fine)

    def at(self, step: int) -> Any:
        """The value of an edge between steps, rounded as the engine does."""
        return self.origin + step * self.width

    def edges(self) -> Numbers:
        """The edges of the bins; of times as such."""
        made = np.array([self.at(step) for step in range(0, self.fine + 1, self.per_bin)])
        if not self.unit:
            return made
        if self.unit == "date":  # arrays hold times, but no dates
            return made.astype("datetime64[D]").astype("datetime64[s]")
        return made.astype(f"datetime64[{self.unit}]")

    def steps(self, first: int, last: int) -> Range:
        """What a brush over steps `first` to `last` selects."""
        return Range(self.at(first), self.at(last), last == self.fine)

    def between(self, op: str, low: Any, high: Any) -> Range:
        """What two values select."""
        low, high = (self._number(op, each) for each in (low, high))
        if not low < high:
            raise InvalidArgumentError(
                f"{op}: the range is empty: low={low}, high={high}; pass the lower value first"
            )
        return Range(low, high, high == self.at(self.fine))

    def _number(self, op: str, value: Any) -> Any:
        try:
            if self.unit:
                if isinstance(value, datetime.datetime) and value.tzinfo is not None:
                    value = value.astimezone(datetime.UTC).replace(tzinfo=None)
                unit = "D" if self.unit == "date" else self.unit
                return int(np.array(value, f"datetime64[{unit}]").astype(np.int64))
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            number = int(value) if whole else float(value)
            if math.isnan(number):
                raise ValueError
        except (TypeError, ValueError):
            kind = "a time" if self.unit else "a number"
            raise TypeMismatchError(
                f"{op}: expected {kind}: value={value!r}, column={self.label!r}"
            ) from None
        return number

    def mask(self, chosen: Range) -> Series:
        """The rows in a range; not those that are null or NaN."""
        values = self.values
        exact = all(isinstance(each, int) for each in chosen[:2]) and self._whole
        if not exact and values.dtype != "float64":
            values = values.astype("float64")
        upper = values <= chosen.high if chosen.closed else values < chosen.high
        made: Series = (values >= chosen.low) & upper
        return made

    def spec(self) -> dict[str, Any]:
        """What the page is told; times in milliseconds."""
        scale = 1.0
        if self.unit:
            scale = 1000 * _DAY if self.unit == "date" else 1000 / _PER_SECOND[self.unit]
        grid = {"origin": float(self.origin) * scale, "width": float(self.width) * scale}
        return {**super().spec(), **grid, "whole": self._whole and not self.unit}

    def shown(self, chosen: Range) -> list[float]:
        """A range as the page draws it: in steps."""
        ends = [(float(each) - float(self.origin)) / float(self.width) for each in chosen[:2]]
        return [min(max(each, 0.0), float(self.fine)) for each in ends]


class RowAxis(NumberAxis):
    """The rows themselves in their order, in as many steps as an envelope has pixels."""

    rows: int
    rate: float | None

    def __init__(self, label: str, frame: DataFrame, steps: int, rate: float | None) -> None:
        self.rows = len(frame)
        numbers = new_series(np.arange(self.rows))
        like = frame._any_node()
        placed = numbers if like is None else with_rows_of(numbers, like)
        super().__init__(label, placed, (0, 1, steps), 1)
        self.rate = rate

    def _make_codes(self) -> _core.Node:
        return _core.row_codes(self.rows, self.fine)

    def at(self, step: int) -> Any:
        """The first row of a step."""
        return step * self.rows // self.fine

    def _number(self, op: str, value: Any) -> Any:
        number = super()._number(op, value)
        return number if self.rate is None else math.ceil(number * self.rate)

    def spec(self) -> dict[str, Any]:
        """What the page is told; with a rate in seconds."""
        width = self.rows / self.fine / (self.rate or 1.0)
        return {**super().spec(), "origin": 0.0, "width": width, "whole": False}

    def shown(self, chosen: Range) -> list[float]:
        """A range as the page draws it: in steps."""
        return [min(each * self.fine / max(self.rows, 1), self.fine) for each in chosen[:2]]


class KeyAxis(Axis):
    """Keys: those shown have a cell each, the others none, or one for all if `rest`."""

    kind: str = "key"
    #: The keys that are shown, in their order.
    labels: list[Any]
    total: int

    def __init__(
        self,
        label: str,
        categories: Series,
        labels: list[Any],
        shown: Sequence[int],
        rest: bool = False,
    ) -> None:
        super().__init__(label, len(labels), 1)
        self._shown, self._rest = list(shown), rest
        self._categories = categories
        self.labels = [labels[code] for code in shown]
        self.total = len(labels)

    @property
    def bins(self) -> int:
        """Keys that are shown, and what has none of them if it has a cell."""
        return max(len(self.labels) + self._rest, 1)

    def _make_codes(self) -> _core.Node:
        return _core.bin_integer_codes(self._categories._node, 0, 1, max(self.fine, 1))

    def cells(self, per: int) -> tuple[_core.Node, _core.Node, int]:
        """The axis of a cube: a cell for each key shown, whatever `per`."""
        none = len(self._shown) if self._rest else 65535
        places = np.full(max(self.fine, 1) + 1, none, np.uint16)  # the last one is of nulls
        places[self._shown] = np.arange(len(self._shown))
        return self.codes(), asarray(places)._node, self.bins

    def edges(self) -> Numbers:
        """Keys have none."""
        raise InvalidArgumentError(
            f"edges: the axis has keys: column={self.label!r}; its chart has `labels`"
        )

    def among(self, op: str, keys: Any) -> list[int]:
        """The cells of these keys."""
        wanted = [keys] if isinstance(keys, str) or not np.iterable(keys) else list(keys)
        known = {key: place for place, key in enumerate(self.labels)}
        if unknown := [key for key in wanted if key not in known]:
            raise InvalidArgumentError(
                f"{op}: keys that the chart does not show: keys={unknown[:5]}, "
                f"column={self.label!r}; it shows {self.labels[:20]}"
            )
        return sorted({known[key] for key in wanted})

    def mask(self, chosen: Range | Sequence[int]) -> Series:
        """The rows with the keys of these cells."""
        cells = range(chosen.low, chosen.high) if isinstance(chosen, Range) else chosen
        made: Series = self._categories.cat.codes.isin([self._shown[cell] for cell in cells])
        return made

    def shown(self, chosen: Range) -> list[float]:
        """Neighbouring cells as the page draws them."""
        return [chosen.low, chosen.high]

    def spec(self) -> dict[str, Any]:
        """What the page is told."""
        labels = [str(each) for each in self.labels]
        facts = {"labels": labels, "cells": self.bins, "total": self.total}
        return {**super().spec(), **facts}


# ---- from columns --------------------------------------------------------------------------------
class Wish(NamedTuple):
    """How a chart would cut a column."""

    column: str
    bins: int | None = None
    range: tuple[Any, Any] | None = None
    about: int = 50
    smooth: bool = True
    top: int = 30
    keys: bool = False
    rest: bool = False


def axes_of(op: str, frame: DataFrame, wishes: Sequence[Wish]) -> list[Axis]:
    """An axis for each wish; what the columns span is found in one pass over all of them."""
    columns = [(wish, frame[wish.column]) for wish in wishes]
    values = [
        None if wish.keys or _has_keys(column) else _values(op, column) for wish, column in columns
    ]
    asked = [
        (each.min(), each.max())
        for each, wish in zip(values, wishes, strict=True)
        if each is not None and (wish.range is None) and len(each)
    ]
    evaluate(*(end for pair in asked for end in pair))
    spans = iter(asked)
    made: list[Axis] = []
    for wish, column in zip(wishes, values, strict=True):
        if column is None:
            made.append(_key_axis(op, frame[wish.column], wish))
            continue
        ends: tuple[Any, Any] = (0, 1)
        if wish.range is None and len(column):
            ends = _finite(column, next(spans))
        made.append(_number_axis(op, wish, column, frame[wish.column].dtype, ends))
    return made


def _has_keys(column: Series) -> bool:
    return str(column.dtype) in ("string", "bool") or str(column.dtype).startswith("category")


def _values(op: str, column: Series) -> Series:
    """A column as numbers of its own width; times as integers of their unit."""
    dtype = str(column.dtype)
    if dtype == "date":
        return series_of(_core.retype(column._node, "int32"))
    if dtype.startswith("datetime64"):
        return series_of(_core.retype(column._node, "int64"))
    if dtype.startswith("timedelta64"):
        return column.dt.total_seconds()
    if dtype.startswith("decimal"):
        return column.astype("float64")
    if column.dtype.kind not in "iuf":
        raise TypeMismatchError(
            f"{op}: expected a column of numbers, times or keys: column={column.name!r}, "
            f"dtype={dtype!r}"
        )
    return column


def _unit(dtype: Any) -> str:
    word = str(dtype)
    if word == "date":
        return "date"
    return word.partition("[")[2].split(",")[0].rstrip("]") if word.startswith("datetime64") else ""


def _finite(column: Series, ends: tuple[Any, Any]) -> tuple[Any, Any]:
    """The least and the largest value; 0 and 1 if there is none."""
    found: list[Any] = [end.item() for end in ends]
    if any(end is None or math.isnan(end) for end in found):
        return 0, 1
    if any(math.isinf(end) for end in found):
        return _finite(column, _ends(column[(column > -math.inf) & (column < math.inf)]))
    return found[0], found[1]


def _ends(column: Series) -> tuple[Any, Any]:
    low, high = column.min(), column.max()
    evaluate(low, high)
    return low, high


def _round_width(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= least * (1 - 1e-9))


def _number_axis(op: str, wish: Wish, column: Series, dtype: Any, ends: tuple[Any, Any]) -> Axis:
    unit = _unit(dtype)
    label = wish.column
    if wish.range is not None:
        probe = NumberAxis(label, column, (0, 1, 1), 1, unit)
        low, high = (probe._number(op, each) for each in wish.range)
        if not low < high or not math.isfinite(high - low):
            raise InvalidArgumentError(
                f"{op}: the range is empty or not finite: range={wish.range!r}"
            )
        ends = (low, high)
    whole = all(isinstance(end, int) for end in ends)
    whole = whole and column.dtype.kind in "iu" and column.dtype != "uint64"
    span = ends[1] - ends[0]
    grid: tuple[Any, Any, int]
    few = whole and span < (wish.bins or _UNITS) and (wish.bins is None or not wish.smooth)
    if few or (whole and wish.bins is None and span < 2**62 and not unit) or unit:
        grid, per_bin = _whole_grid(ends, wish, unit)
    elif wish.bins is not None:
        grid, per_bin = _equal_grid(ends, wish.bins, wish.smooth)
    else:
        grid, per_bin = _round_grid(ends, wish)
    return NumberAxis(label, column, grid, per_bin, unit)


def _per_bin(bins: int, width: int, smooth: bool, choices: Sequence[int]) -> int:
    fits = (k for k in choices if width % k == 0 and bins * k <= _MOST_STEPS)
    return next(fits, 1) if smooth else 1


def _whole_grid(ends: tuple[int, int], wish: Wish, unit: str) -> tuple[tuple[int, int, int], int]:
    """Integers, dates and times: whole steps."""
    low, high = ends
    about = wish.bins or wish.about
    least = max(-(-(high - low + 1) // about), 1)
    origin = low
    if unit:
        second = _PER_SECOND.get(unit, 0)
        widths = [s * second or s // _DAY for s in _TIME_WIDTHS if second or s >= _DAY]
        width = next((each for each in widths if each >= least), 0)
        if not width or least < widths[0]:
            width = max(int(_round_width(least)), 1)
        day = _DAY * second or 1
        origin = low // min(width, day) * min(width, day)
    elif high - low < max(_UNITS, about if not wish.smooth else 0):
        width = 1
    else:
        width = math.ceil(_round_width(least))
        origin = low // width * width
    bins = (high - origin) // width + 1
    per_bin = _per_bin(bins, width, wish.smooth, (12, 10, 8, 7, 6, 5, 4, 3, 2))
    return (origin, width // per_bin, bins * per_bin), per_bin


def _halvings(bins: int, smooth: bool) -> int:
    """Steps of a bin: a power of two, so that their edges fall on those of the bin exactly."""
    per_bin = 1
    while smooth and per_bin < 32 and bins * per_bin * 2 <= _MOST_STEPS:
        per_bin *= 2
    return per_bin


def _equal_grid(
    ends: tuple[Any, Any], bins: int, smooth: bool
) -> tuple[tuple[float, float, int], int]:
    """Bins of equal width from the lowest to the highest value."""
    low, high = _apart(float(ends[0]), float(ends[1]))
    per_bin = _halvings(bins, smooth)
    width = (high - low) / bins / per_bin
    while low + bins * per_bin * width < high:  # rounding must not leave the highest value out
        width = math.nextafter(width, math.inf)
    return (low, width, bins * per_bin), per_bin


def _round_grid(ends: tuple[Any, Any], wish: Wish) -> tuple[tuple[float, float, int], int]:
    """Bins of a round width."""
    low, high = _apart(float(ends[0]), float(ends[1]))
    width = _round_width((high - low) / wish.about)
    origin = math.floor(low / width) * width
    bins = max(math.ceil((high - origin) / width - 1e-9), 1)
    while origin + bins * width < high or (wish.range is None and origin + bins * width == high):
        bins += 1
    while origin > low:  # of rounding
        origin -= width
        bins += 1
    per_bin = _halvings(bins, wish.smooth)
    return (origin, width / per_bin, bins * per_bin), per_bin


def _apart(low: float, high: float) -> tuple[float, float]:
    """Ends that have room for steps between them."""
    least = max(abs(low), abs(high)) * 1e-9
    if high - low < least or high == low:
        air = max(least, 0.5 if high == low and least < 0.5 else 0.0)
        return low - air, high + air
    return low, high


#: The categories of columns, as long as a board holds them: another one over the frame makes none.
_made: weakref.WeakKeyDictionary[_core.Node, weakref.ref[Series]] = weakref.WeakKeyDictionary()


def _categories_of(column: Series) -> Series:
    """A column as categories."""
    known = _made.get(column._node)
    categories = None if known is None else known()
    if categories is None:
        categories = column.astype("category")
        if not column._node.is_live:
            _made[column._node] = weakref.ref(categories)
    return categories


def _key_axis(op: str, column: Series, wish: Wish) -> Axis:
    """The most frequent keys of a column."""
    natural = column.dtype.kind in "iuM" or str(column.dtype) in ("bool", "date")
    truth = str(column.dtype) == "bool"
    if truth:
        column = column.astype("int8")
    if column.dtype.kind in "fm" or str(column.dtype).startswith(("list", "struct", "map")):
        raise TypeMismatchError(
            f"{op}: expected a column of keys: column={wish.column!r}, "
            f"dtype={str(column.dtype)!r}; use a histogram, or astype('string')"
        )
    if str(column.dtype).startswith("category"):
        natural = bool(column.cat.ordered)
    else:
        column = _categories_of(column)
    labels = column.cat.categories.to_list()
    if len(labels) > 65_000:
        common = column.astype("string").value_counts().head(wish.top)
        labels = common.reset_index().iloc[:, 0].to_list()
        column = column.astype("string").astype("category").cat.set_categories(labels)
    if truth:
        labels = [bool(each) for each in labels]
    axis = KeyAxis(wish.column, column, labels, range(len(labels)))
    counts = np.zeros(len(labels), np.int64)
    if len(column) and labels:
        node = _core.count_cubes(len(column), [([axis.cells(1)], [], None)])[0][0]
        counts = array_of(node).to_numpy().astype(np.int64)
    order = np.argsort(-counts, kind="stable")[: wish.top]
    order = order[counts[order] > 0]
    shown = sorted(order.tolist()) if natural else order.tolist()
    made = KeyAxis(wish.column, column, labels, shown, wish.rest)
    made._codes = axis._codes
    return made
