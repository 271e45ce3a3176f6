# SPDX-License-Identifier: Apache-2.0
"""Functions of each row of the plug-in's series and its neighbours."""

from __future__ import annotations

from typing import Any, Self

from headrace import _core
from headrace.interop.narwhals.rows import chosen, row_count, taken
from headrace.series.column import series_of

#: narwhals' names of ties, and ours.
TIES = {"ordinal": "first"}


class Windows:
    """Cumulative, rolling and shifted values, and ranks; a mixin of the series."""

    native: Any
    node: Any
    _kept: Any

    def _reversed(self, values: Any) -> Any:
        rows = row_count(values._node)
        return series_of(
            _core.in_domain(taken([values._node], range(rows - 1, -1, -1))[0], self.node.domain)
        )

    def _cumulative(self, name: str, reverse: bool) -> Self:
        values = self.native
        if values.dtype == "bool":
            values = values.astype("int64")
        values = self._reversed(values) if reverse else values
        made = series_of(_core.cumulative(name, values._node))
        return self._kept((self._reversed(made) if reverse else made)._node)

    def cum_sum(self, *, reverse: bool) -> Self:
        """The total up to each row."""
        return self._cumulative("cumsum", reverse)

    def cum_prod(self, *, reverse: bool) -> Self:
        """The product up to each row."""
        return self._cumulative("cumprod", reverse)

    def cum_min(self, *, reverse: bool) -> Self:
        """The smallest value up to each row."""
        return self._cumulative("cummin", reverse)

    def cum_max(self, *, reverse: bool) -> Self:
        """The largest value up to each row."""
        return self._cumulative("cummax", reverse)

    def cum_count(self, *, reverse: bool) -> Self:
        """The number of values up to each row."""
        there = (~self.native.is_null()).astype("int64")
        there = self._reversed(there) if reverse else there
        made = series_of(_core.cumulative("cumsum", there._node))
        return self._kept((self._reversed(made) if reverse else made).astype("uint32")._node)

    def shift(self, n: int) -> Self:
        """The values of other rows, null beyond the ends."""
        return self._kept(_core.shift(self.node, n))

    def diff(self) -> Self:
        """The difference from the row before."""
        values = self.native
        values = values.astype("int64") if values.dtype == "bool" else values
        return self._kept((values - series_of(_core.shift(values._node, 1)))._node)

    def rank(self, method: str, *, descending: bool) -> Self:
        """The rank of each value."""
        made = series_of(_core.rank(self.node, TIES.get(method, method), descending))
        return self._kept(made._node if method == "average" else made.astype("int64")._node)

    def _rolling(self, window_size: int, min_samples: int, center: bool) -> Any:
        return series_of(self.node).rolling(window_size, min_samples, center)

    def rolling_sum(self, window_size: int, *, min_samples: int, center: bool) -> Self:
        """The total of a window of rows."""
        return self._kept(self._rolling(window_size, min_samples, center).sum()._node)

    def rolling_mean(self, window_size: int, *, min_samples: int, center: bool) -> Self:
        """The mean of a window of rows."""
        return self._kept(self._rolling(window_size, min_samples, center).mean()._node)

    def rolling_var(self, window_size: int, *, min_samples: int, center: bool, ddof: int) -> Self:
        """The variance of a window of rows."""
        return self._kept(self._rolling(window_size, min_samples, center).var(ddof=ddof)._node)

    def rolling_std(self, window_size: int, *, min_samples: int, center: bool, ddof: int) -> Self:
        """The standard deviation of a window of rows."""
        return self._kept(self._rolling(window_size, min_samples, center).std(ddof=ddof)._node)

    def ewm_mean(
        self,
        *,
        com: float | None,
        span: float | None,
        half_life: float | None,
        alpha: float | None,
        adjust: bool,
        min_samples: int,
        ignore_nulls: bool,
    ) -> Self:
        """The exponentially weighted mean; null where the value is."""
        given = {"com": com, "span": span, "half_life": half_life, "alpha": alpha}
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) != 1:
            raise ValueError(
                f"ewm_mean: com, span, half_life and alpha are mutually exclusive: given={given}"
            )
        windows = series_of(self.node).ewm(
            com=com,
            span=span,
            halflife=half_life,
            alpha=alpha,
            min_periods=min_samples,
            adjust=adjust,
            ignore_na=ignore_nulls,
        )
        return self._kept(chosen(self.native.is_null(), None, windows.mean()))
