# SPDX-License-Identifier: Apache-2.0
"""Exponentially weighted windows: `ewm` of series, frames and groups."""

from __future__ import annotations

import math
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.facade import facade
from headrace.lazy.handle import mark
from headrace.time_units import length_of
from headrace.windows.span import WindowRows, Windows, times_node


@facade("ewm")
class ExponentialWindows(Windows):
    """Aggregates in which a row weighs less the farther back it is, from `ewm`.

    Results are float64; null before the first value and where there are too few.

    >>> s = hr.Series([1.0, 2.0, None, 4.0])
    >>> s.ewm(alpha=0.5).mean().round(4).to_list()
    [1.0, 1.6667, 1.6667, 3.3636]
    >>> s.ewm(halflife=1, adjust=False).var().round(4).to_list()
    [None, 0.5, 0.5, 2.9444]
    """

    __slots__ = ("_words",)

    def __init__(
        self,
        rows: WindowRows,
        com: float | None,
        span: float | None,
        halflife: Any,
        alpha: float | None,
        min_periods: int | None,
        adjust: bool,
        ignore_na: bool,
        times: Any,
    ) -> None:
        self._rows = rows
        given = {"com": com, "span": span, "halflife": halflife, "alpha": alpha}
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) != 1:
            raise InvalidArgumentError(
                f"ewm: expected one of com, span, halflife and alpha: given={list(given)}"
            )
        ((name, value),) = given.items()
        node, length = None, 0.0
        if times is not None:
            if name != "halflife":
                raise InvalidArgumentError(f"ewm: times need a half-life: {name}={value!r}")
            node, length = times_node("ewm", rows, times, length_of("ewm", halflife))
            decay = 0.5
        elif isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidArgumentError(
                f"ewm: expected a number: {name}={value!r}; a half-life of time needs times="
            )
        else:
            decay = _decay(name, value)
        self._words = (node, decay, int(min_periods or 0), adjust, ignore_na, float(length))

    def _of(self, rows: WindowRows) -> ExponentialWindows:
        made = object.__new__(ExponentialWindows)
        made._rows, made._words = rows, self._words
        return made

    def __repr__(self) -> str:
        return (
            f"ExponentialWindows(decay: {self._words[1]}; columns: {', '.join(self._rows.columns)})"
        )

    def _made(self, statistic: str, bias: bool = False, others: Any = None) -> Any:
        mark("ewm")
        times, decay, few, adjust, ignore_na, length = self._words
        rows = self._rows

        def of(columns: list[_core.Node], other: _core.Node | None) -> list[_core.Node]:
            words = (statistic, decay, few, adjust, ignore_na, bias, length)
            return _core.ewm(rows.keys, columns, rows.dropna, other, times, *words)

        nodes = list(rows.columns.values())
        made = (
            of(nodes, None)
            if others is None
            else [of([node], others[name])[0] for name, node in rows.columns.items()]
        )
        return rows.finish(dict(zip(rows.columns, made, strict=True)))

    def mean(self) -> Any:
        """Weighted means.

        >>> hr.Series([1.0, 3.0]).ewm(com=1).mean().round(3).to_list()
        [1.0, 2.333]
        """
        return self._made("mean")

    def sum(self) -> Any:
        """Weighted sums; only with ``adjust=True``."""
        if not self._words[3]:
            raise UnsupportedError("ewm: a sum has no form with adjust=False; use adjust=True")
        return self._made("sum")

    def var(self, bias: bool = False) -> Any:
        """Weighted variances; null of one value, unless `bias`."""
        return self._made("var", bias)

    def std(self, bias: bool = False) -> Any:
        """Weighted standard deviations; null of one value, unless `bias`."""
        return self._made("std", bias)

    def cov(self, other: Any = None, pairwise: bool | None = None, bias: bool = False) -> Any:
        """Weighted covariances with another column, of the rows where both have a value.

        >>> s = hr.Series([1.0, 2.0, 4.0])
        >>> s.ewm(alpha=0.5).cov(s * 2).round(4).to_list()
        [None, 1.0, 5.0]
        """
        return self._paired("cov", other, pairwise, lambda each: self._made("cov", bias, each))

    def corr(self, other: Any = None, pairwise: bool | None = None) -> Any:
        """Weighted correlations with another column, of the rows where both have a value."""
        return self._paired("corr", other, pairwise, lambda each: self._made("corr", True, each))


def _decay(name: str, value: float) -> float:
    """What is left of a weight after one row."""
    least = {"com": 0, "span": 1, "halflife": 0, "alpha": 0}[name]
    is_low = value < least if name in ("com", "span") else value <= least
    if is_low or (name == "alpha" and value > 1):
        raise InvalidArgumentError(
            f"ewm: out of range: {name}={value}; expected "
            + {
                "com": "com >= 0",
                "span": "span >= 1",
                "halflife": "halflife > 0",
                "alpha": "0 < alpha <= 1",
            }[name]
        )
    com = {
        "com": lambda: value,
        "span": lambda: (value - 1) / 2,
        "halflife": lambda: 1 / (1 - math.exp(math.log(0.5) / value)) - 1,
        "alpha": lambda: (1 - value) / value,
    }[name]()
    return 1 - 1 / (1 + com)
