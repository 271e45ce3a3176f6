# SPDX-License-Identifier: Apache-2.0
"""`rolling`, `expanding` and `ewm` of series, frames and groups."""

from __future__ import annotations

from typing import Any

from headrace import _core
from headrace.windows.ewm import ExponentialWindows
from headrace.windows.rolling import Rolling
from headrace.windows.span import WindowRows


class Windowed:
    """Rows that windows move over."""

    __slots__ = ()

    def _window_rows(self, op: str, on: str | None = None) -> WindowRows:
        raise NotImplementedError

    def rolling(
        self,
        window: Any,
        min_periods: int | None = None,
        center: bool = False,
        win_type: str | None = None,
        on: str | None = None,
        closed: str | None = None,
        step: int | None = None,
    ) -> Rolling:
        """A window at each row, for `sum`, `mean`, `median`, ...: of rows, or of a span of time.

        Of each numeric column of a frame; of groups within each one, group by group, labelled by
        the keys and the label of the row (its time, for columns selected of windows `on` a column).

        Parameters
        ----------
        window : int, str or timedelta
            Rows per window, fewer at the start; or a span of time up to the row's own, ``"7D"``,
            ``"2h"``, among time labels in order.
        min_periods : int, optional
            A window with fewer non-missing values gives null; by default `window`, 1 for a span.
        center : bool
            Whether the window is centred on the row, else it ends there.
        on : str, optional
            A column of times instead of the labels.
        closed : {"right", "left", "both", "neither"}, optional
            Which ends belong to the window; "right" by default.
        step : int, optional
            Only each `step`-th row of the result; not for groups.

        Raises
        ------
        InvalidArgumentError
            On evaluation for times that are missing or out of order.

        >>> hr.Series([1, 2, 4, 8]).rolling(3, center=True).max().to_list()
        [None, 4, 8, None]
        >>> days = hr.to_datetime(["2024-01-01", "2024-01-02", "2024-01-05"])
        >>> hr.Series([1, 2, 4], index=days).rolling("2D").sum().to_list()
        [1, 3, 4]
        >>> df = hr.DataFrame({"id": ["a", "b", "a", "a"], "x": [1, 5, 2, 4]})
        >>> df.groupby("id").x.rolling(2).sum().to_dict()
        {('a', 0): None, ('a', 2): 3, ('a', 3): 6, ('b', 1): None}
        >>> df["sums"] = df.groupby("id").x.rolling(2).sum().reset_index(level=0, drop=True)
        >>> df.sums.to_list()
        [None, None, 3, 6]
        """
        words = (window, min_periods, center, win_type, on, closed, step)
        return Rolling(self._window_rows("rolling", on), *words)

    def expanding(self, min_periods: int = 1) -> Rolling:
        """A window of all rows up to each one, of groups all rows of the group; see `rolling`.

        >>> hr.Series([1, 2, 4, 8]).expanding().mean().to_list()
        [1.0, 1.5, 2.3333333333333335, 3.75]
        """
        return self.rolling(_core.ALL_ROWS, min_periods)

    def ewm(
        self,
        com: float | None = None,
        span: float | None = None,
        halflife: Any = None,
        alpha: float | None = None,
        min_periods: int | None = 0,
        adjust: bool = True,
        ignore_na: bool = False,
        *,
        times: Any = None,
    ) -> ExponentialWindows:
        """Weights that decay with the rows since: `mean`, `sum`, `var`, `std`, `cov` and `corr`.

        Of each numeric column of a frame; of groups within each one, labelled as by `rolling`.

        Parameters
        ----------
        com, span, halflife, alpha : float
            One of them: `alpha` is ``1 / (1 + com)``, ``2 / (span + 1)``, or what halves a weight
            after `halflife` rows.
        min_periods : int
            Fewer values so far give null.
        adjust : bool
            Whether weights add up to 1; else each result moves by `alpha` towards the next value.
        ignore_na : bool
            Whether rows without a value take no weight away.
        times : series of times, optional
            Rows decay by the time between them, with a `halflife` such as ``"4D"``.

        >>> hr.Series([1.0, 2.0, 4.0]).ewm(span=3).mean().round(4).to_list()
        [1.0, 1.6667, 3.0]
        """
        words = (com, span, halflife, alpha, min_periods, adjust, ignore_na, times)
        return ExponentialWindows(self._window_rows("ewm"), *words)
