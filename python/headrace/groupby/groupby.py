# SPDX-License-Identifier: Apache-2.0
"""Group-by: aggregates of the rows that share a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.facade import facade, is_probed, no_attribute
from headrace.frame.columns import framed
from headrace.groupby import aggregate as aggregates
from headrace.groupby import functions, matrix, rows
from headrace.groupby import window as windows
from headrace.groupby.aggregate import each_column, frame_or_group_series, value_columns
from headrace.groupby.keys import group_order, keys_of, level_keys
from headrace.groupby.quantile import group_quantiles
from headrace.groupby.resample import Grouper, Resampler, resample, resample_groups
from headrace.groupby.rows import filter_rows
from headrace.groupby.window import rows_after
from headrace.lazy.handle import mark
from headrace.rows import Unnamed, given, whole_number
from headrace.series.column import is_series
from headrace.series.duration import level_of
from headrace.windows.span import WindowRows
from headrace.windows.windowed import Windowed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series
    from headrace.stream.groups import GroupState


@facade("GroupBy")
class GroupBy(Windowed):
    """The rows of a frame by key, from `DataFrame.groupby` or `Series.groupby`.

    Aggregates give a frame: the keys as its first columns, then one column per aggregate; those of
    a single selected column give a `GroupSeries`. They are lazy, and only the columns in use are
    computed. With ``skipna=False`` a group with a missing value gives a missing one.
    """

    __slots__ = (
        *("_dropna", "_group_keys", "_keys", "_labelled"),
        *("_nodes", "_observed", "_order", "_rows"),
    )
    #: Whether a single column is selected.
    _single: ClassVar[bool] = False

    def __init__(
        self,
        keys: list[tuple[str, _core.Node]],
        nodes: Mapping[str, _core.Node],
        order: str,
        dropna: bool,
        labelled: bool = True,
        rows: Mapping[str, _core.Node] | None = None,
    ) -> None:
        self._keys = keys
        self._rows = {} if rows is None else rows  # their labels, for windows of time
        self._nodes = dict(nodes)
        self._order = order
        self._dropna = dropna
        self._labelled = labelled
        self._group_keys = True  # whether `apply` labels rows of groups by their keys
        self._observed = True  # whether categories that do not occur are left out

    def _of(self, nodes: dict[str, _core.Node]) -> GroupBy:
        """The same groups of other columns."""
        words = (self._order, self._dropna, self._labelled, self._rows)
        made = GroupBy(self._keys, nodes, *words)
        made._group_keys, made._observed = self._group_keys, self._observed
        return made

    def _column(self, name: str, node: _core.Node) -> SeriesGroupBy:
        """The same groups of another column."""
        words = (self._order, self._dropna, self._labelled, self._rows)
        made = SeriesGroupBy(self._keys, {name: node}, *words)
        made._group_keys, made._observed = self._group_keys, self._observed
        return made

    def _shown(self, frame: DataFrame) -> Any:
        """A frame of results by column, or its column if a single one is selected."""
        if not self._single:
            return frame
        (word,) = frame._nodes
        made = frame._series(word)
        made.name = given(word)
        return made

    def _in_first_order(self) -> GroupBy:
        """The same groups, in the order of their first rows."""
        made = self._of(self._nodes)
        made._order = "first"
        return made

    def _by(self, keys: list[tuple[str, _core.Node]]) -> GroupBy:
        """Groups by other keys, without columns."""
        return GroupBy(keys, {}, self._order, self._dropna)

    def _window_rows(self, op: str, on: str | None = None) -> WindowRows:
        return windows.window_rows(self, op, on)

    # ---- columns ---------------------------------------------------------------------------------
    def _find(self, name: str) -> str:
        if name not in self._nodes:
            _core.no_such_column("groupby", list(self._nodes), name)
        return name

    def __getitem__(self, key: str | list[str]) -> GroupBy:
        """The same groups, restricted to one or several columns."""
        return (
            self._column(self._find(key), self._nodes[key])
            if isinstance(key, str | int)
            else self._of({self._find(name): self._nodes[name] for name in key})
        )

    def __getattr__(self, name: str) -> GroupBy:
        if is_probed(name):
            raise AttributeError(name)
        if name in object.__getattribute__(self, "_nodes"):
            return self[name]
        nodes = object.__getattribute__(self, "_nodes")
        raise no_attribute("groupby has no column or aggregate", name, nodes, GroupBy)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self._nodes if name.isidentifier())]

    # ---- aggregates ------------------------------------------------------------------------------
    def sum(self, numeric_only: bool = False, min_count: int = 0, skipna: bool = True) -> Any:
        """Sum of each group; null with fewer than `min_count` values.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.sum().to_dict()
        {'x': [8, 4]}
        """
        return aggregates.each_column(self, "sum", numeric_only, skipna, min_count=min_count)

    def prod(self, numeric_only: bool = False, min_count: int = 0, skipna: bool = True) -> Any:
        """Product of each group; null with fewer than `min_count` values.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.prod().to_dict()
        {'x': [15, 4]}
        """
        return aggregates.each_column(self, "prod", numeric_only, skipna, min_count=min_count)

    def mean(self, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Mean of each group; null if the group has no values.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.mean().to_dict()
        {'x': [4.0, 4.0]}
        """
        return aggregates.each_column(self, "mean", numeric_only, skipna)

    def median(self, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Median of each group; null if the group has no values.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.median().to_dict()
        {'x': [4.0, 4.0]}
        """
        return aggregates.each_column(self, "median", numeric_only, skipna)

    def quantile(
        self,
        q: float | list[float] = 0.5,
        interpolation: str = "linear",
        numeric_only: bool = False,
    ) -> Any:
        """Quantiles of each group; null if the group has no values.

        Parameters
        ----------
        q : float or list of float
            Between 0 and 1. A list gives one row per quantile and group, with the quantile in a
            label column after the keys: ``level_1`` after one key.
        interpolation : {"linear", "lower", "higher", "midpoint", "nearest"}
            Interpolation between two values; see `Series.quantile`. All but ``"linear"`` rank the
            rows.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [1, 4, 9]}).groupby("id")
        >>> groups.x.quantile([0, 0.5]).to_dict()
        {(1, 0.0): 1.0, (1, 0.5): 2.5, (2, 0.0): 9.0, (2, 0.5): 9.0}
        >>> groups.quantile(0.5, interpolation="lower").x.to_list()
        [1, 9]
        """
        if interpolation == "linear" and not isinstance(q, list | tuple):
            return each_column(self, "quantile", numeric_only, q=level_of(q))
        return frame_or_group_series(self, group_quantiles(self, q, interpolation, numeric_only))

    def var(self, ddof: int = 1, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Variance of each group; null with `ddof` values or fewer.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.var().to_dict()
        {'x': [2.0, None]}
        """
        return aggregates.each_column(self, "var", numeric_only, skipna, ddof=ddof)

    def std(self, ddof: int = 1, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Standard deviation of each group; null with `ddof` values or fewer.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.x.std().round(6).to_dict()
        {1: 1.414214, 2: None}
        """
        return aggregates.each_column(self, "std", numeric_only, skipna, ddof=ddof)

    def sem(self, ddof: int = 1, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Standard error of each group's mean: standard deviation over the root of the count.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.x.sem().to_dict()
        {1: 1.0, 2: None}
        """
        return aggregates.each_column(self, "sem", numeric_only, skipna, ddof=ddof)

    def skew(self, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Sample skewness of each group; null with fewer than three values, NaN if all are equal.

        >>> df = hr.DataFrame({"id": [1, 1, 1, 1, 2], "x": [1, 2, 5, 9, 3]})
        >>> df.groupby("id").x.skew().round(6).to_list()
        [0.888584, None]
        """
        return aggregates.each_column(self, "skew", numeric_only, skipna)

    def kurt(self, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Excess kurtosis of each group; null with fewer than four values, NaN if all are equal.

        >>> df = hr.DataFrame({"id": [1, 1, 1, 1], "x": [1, 2, 5, 9]})
        >>> df.groupby("id").x.kurt().round(6).to_list()
        [-0.581894]
        """
        return aggregates.each_column(self, "kurt", numeric_only, skipna)

    def min(self, numeric_only: bool = False, min_count: int = -1, skipna: bool = True) -> Any:
        """Minimum of each group; strings and categories compare alphabetically.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.min().to_dict()
        {'x': [3, 4]}
        """
        return aggregates.each_column(self, "min", numeric_only, skipna, least=min_count)

    def max(self, numeric_only: bool = False, min_count: int = -1, skipna: bool = True) -> Any:
        """Maximum of each group.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.max().to_dict()
        {'x': [5, 4]}
        """
        return aggregates.each_column(self, "max", numeric_only, skipna, least=min_count)

    def first(self, numeric_only: bool = False, min_count: int = -1, skipna: bool = True) -> Any:
        """First non-missing value of each group.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.first().to_dict()
        {'x': [3, 4]}
        """
        return aggregates.each_column(self, "first", numeric_only, skipna, least=min_count)

    def last(self, numeric_only: bool = False, min_count: int = -1, skipna: bool = True) -> Any:
        """Last non-missing value of each group.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.last().to_dict()
        {'x': [5, 4]}
        """
        return aggregates.each_column(self, "last", numeric_only, skipna, least=min_count)

    def any(self, skipna: bool = True) -> Any:
        """Whether any value of a group is true (nonzero).

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [0, 5, 0]}).groupby("id")
        >>> groups.any().to_dict()
        {'x': [True, False]}
        """
        return aggregates.each_column(self, "any", False, skipna)

    def all(self, skipna: bool = True) -> Any:
        """Whether all values of a group are true (nonzero).

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [0, 5, 0]}).groupby("id")
        >>> groups.all().to_dict()
        {'x': [False, False]}
        """
        return aggregates.each_column(self, "all", False, skipna)

    def count(self) -> Any:
        """Number of non-missing values of each group.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.count().to_dict()
        {'x': [2, 1]}
        """
        return aggregates.each_column(self, "count")

    def nunique(self, dropna: bool = True) -> Any:
        """Number of distinct values of each group; ``dropna=False`` counts missing as one.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.nunique().to_dict()
        {'x': [2, 1]}
        """
        return aggregates.nunique(self, dropna)

    def idxmin(self, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Row position of each group's minimum, the first of equals.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.idxmin().to_dict()
        {'x': [0, 2]}
        """
        return aggregates.extreme_labels(self, "idxmin", numeric_only, skipna)

    def idxmax(self, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Row position of each group's maximum, the first of equals.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.idxmax().to_dict()
        {'x': [1, 2]}
        """
        return aggregates.extreme_labels(self, "idxmax", numeric_only, skipna)

    def size(self) -> Any:
        """Number of rows of each group.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.size().to_dict()
        {1: 2, 2: 1}
        """
        return aggregates.size(self)

    def corr(
        self, x: str | None = None, y: str | None = None, *, numeric_only: bool = False
    ) -> DataFrame:
        """Pearson correlation of each pair of columns, or of two named ones; null if undefined.

        All pairs give one row per group and column, with the column name as label ``level_1`` after
        one key. Two named columns give one row per group and a column `corr`.

        >>> df = hr.DataFrame({"id": [1, 1, 1], "x": [1, 2, 3], "y": [6, 4, 2]})
        >>> df.groupby("id").corr().round(9).reset_index().to_dict()
        {'id': [1, 1], 'level_1': ['x', 'y'], 'x': [1.0, -1.0], 'y': [-1.0, 1.0]}
        >>> df.groupby("id").corr("x", "y")["corr"].round(9).to_list()
        [-1.0]
        """
        return matrix.corr(self, x, y, numeric_only)

    def cov(self, *, ddof: int = 1, numeric_only: bool = False) -> DataFrame:
        """Covariance of each pair of columns, in the layout of `corr`.

        Null with `ddof` complete pairs or fewer.
        """
        return matrix.group_matrix(self, "cov", ddof, numeric_only)

    def agg(
        self,
        func: Any = None,
        *args: Any,
        engine: Any = None,
        engine_kwargs: Any = None,
        **named: Any,
    ) -> Any:
        """Several aggregates in one pass over the rows.

        Parameters
        ----------
        func : str, callable, list or dict
            An aggregate for all columns; a list of them (columns ``("x", "mean")``, or just
            ``mean`` for a single selected column); or a dict from column to one aggregate or a
            list. A function gets the rows of a group as a series and gives one value; one of only
            arithmetic and aggregates runs once for all groups, others once per group, in Python.
        **named : (column, aggregate)
            Result columns by name; with a function or name, its options, as `args` are.

        >>> df = hr.DataFrame({"id": [2, 1, 2], "x": [1.0, 5.0, 3.0]})
        >>> df.groupby("id").agg(total=("x", "sum"), n=("x", "count")).to_dict()
        {'total': [5.0, 4.0], 'n': [1, 2]}
        """
        return functions.agg(self, func, args, named)

    aggregate = agg

    def incremental(self, func: Any = None, **named: Any) -> GroupState:
        """A state of these aggregates that takes more rows: for streams and batches.

        It begins with the rows of this frame; ``state.update(batch)`` folds more, and
        ``state.value()`` is what `agg` gives for all of them. The state takes memory for the
        groups, not for the rows. See `hr.stream`.

        Parameters
        ----------
        func, **named
            As for `agg`: aggregates by name that need not see all values at once (no median,
            quantile, nunique, corr).

        >>> df = hr.DataFrame({"id": [2, 1], "x": [1.0, 5.0]})
        >>> state = df.groupby("id").x.incremental(["sum", "count"])
        >>> state.update(hr.DataFrame({"id": [2], "x": [3.0]}))
        >>> state.value().to_dict()
        {'sum': [5.0, 4.0], 'count': [1, 2]}
        """
        from headrace.stream.groups import of_groups

        mark("incremental")
        return of_groups(self, functions.columns_of(self, func, named))

    def transform(
        self, func: Any, *args: Any, engine: Any = None, engine_kwargs: Any = None, **kwargs: Any
    ) -> DataFrame | Series:
        """The group's aggregate for each row, in row order; null for dropped rows.

        Also ``"cumsum"``, ``"rank"``, ``"shift"`` and similar, which are methods as well, and a
        function of a group's rows that gives one value, or one for each row. Functions of only
        arithmetic and aggregates run once for all groups, others once per group, in Python.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.transform("sum").to_dict()
        {'x': [8, 8, 4]}
        """
        return functions.transform(self, func, args, kwargs)

    def resample(self, rule: Any, on: str | None = None, **words: Any) -> Resampler:
        """Spans of time within each group, from its first to its last; see `DataFrame.resample`.

        >>> days = hr.date_range("2024-01-31", periods=4)
        >>> df = hr.DataFrame({"id": [1, 2, 1, 1], "t": days, "x": [1, 2, 4, 8]})
        >>> df.groupby("id").resample("MS", on="t").x.sum().to_list()
        [1, 12, 2]
        """
        return resample_groups(self, rule, on, **words)

    def cumsum(self) -> Any:
        """Cumulative sums within each group, in row order.

        >>> df = hr.DataFrame({"id": ["a", "b", "a"], "x": [1, 5, 2]})
        >>> df.groupby("id").x.cumsum().to_list()
        [1, 5, 3]
        """
        return windows.cumulative(self, "cumsum")

    def cumprod(self) -> Any:
        """Cumulative products within each group.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.cumprod().to_dict()
        {'x': [3, 15, 4]}
        """
        return windows.cumulative(self, "cumprod")

    def cummin(self) -> Any:
        """Cumulative minima within each group.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.cummin().to_dict()
        {'x': [3, 3, 4]}
        """
        return windows.cumulative(self, "cummin")

    def cummax(self) -> Any:
        """Cumulative maxima within each group.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.cummax().to_dict()
        {'x': [3, 5, 4]}
        """
        return windows.cumulative(self, "cummax")

    def cumcount(self, ascending: bool = True) -> Series:
        """The number of each row in its group, from 0; null if the key is missing.

        With ``ascending=False`` the number of later rows in its group.

        >>> hr.DataFrame({"id": ["a", "b", "a"]}).groupby("id").cumcount().to_list()
        [0, 0, 1]
        """
        return windows.cumcount(self, ascending)

    def rank(
        self,
        method: Literal["average", "min", "max", "first", "dense"] = "average",
        ascending: bool = True,
        na_option: Literal["keep", "top", "bottom"] = "keep",
        pct: bool = False,
    ) -> Any:
        """The rank of each value within its group, from 1; see `Series.rank`.

        >>> df = hr.DataFrame({"id": ["a", "b", "a"], "x": [7, 5, 2]})
        >>> df.groupby("id").x.rank().to_list()
        [2.0, 1.0, 1.0]
        """
        return windows.rank(self, method, ascending, na_option, pct)

    def shift(self, periods: int = 1, *, fill_value: Any = None) -> Any:
        """Shift rows by `periods` within their group (up if negative); vacated rows become null.

        In row order. Costs a sort by keys and one by positions.

        >>> df = hr.DataFrame({"id": [1, 2, 1, 2], "x": [1, 2, 3, 4]})
        >>> df.groupby("id").x.shift().to_list(), df.groupby("id").x.shift(-1).to_list()
        ([None, None, 1, 2], [3, 4, None, None])
        """
        return windows.shift(self, periods, fill_value=fill_value)

    def diff(self, periods: int = 1) -> Any:
        """Difference to the value `periods` rows before in its group; null where there is none.

        >>> df = hr.DataFrame({"id": [1, 2, 1], "x": [1, 2, 4]})
        >>> df.groupby("id").x.diff().to_list()
        [None, None, 3]
        """
        return windows.diff(self, periods)

    def head(self, n: int = 5) -> Any:
        """The first `n` rows of each group, in row order.

        >>> df = hr.DataFrame({"id": ["a", "b", "a"], "x": [1, 5, 2]})
        >>> df.groupby("id").head(1).x.to_list(), df.groupby("id").tail(1).x.to_list()
        ([1, 5], [5, 2])
        """
        mark("head")
        n = whole_number("head", "n", n)
        return filter_rows(self, self.cumcount() < n)

    def tail(self, n: int = 5) -> Any:
        """The last `n` rows of each group, in row order.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.tail(1).to_dict()
        {'id': [1, 2], 'x': [5, 4]}
        """
        mark("tail")
        n = whole_number("tail", "n", n)
        return filter_rows(self, rows_after(self) < n)

    def nth(self, n: int) -> Any:
        """The row at position `n` of each group, counted from the end if negative.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.nth(0).to_dict()
        {'id': [1, 2], 'x': [3, 4]}
        """
        mark("nth")
        n = whole_number("nth", "n", n)
        return filter_rows(self, self.cumcount() == n if n >= 0 else rows_after(self) == -n - 1)

    @property
    def ngroups(self) -> int:
        """The number of groups; evaluates the keys.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.ngroups
        2
        """
        return len(rows.distinct_keys(self))

    @property
    def groups(self) -> dict[Any, Any]:
        """The row labels of each group by its key, or the row positions; evaluates the keys.

        >>> groups = hr.DataFrame({"id": [1, 2, 1], "x": [3, 5, 4]}).groupby("id").groups
        >>> {key: rows.to_list() for key, rows in groups.items()}
        {1: [0, 2], 2: [1]}
        """
        return rows.row_labels_by_group(self)

    @property
    def indices(self) -> dict[Any, Any]:
        """The row positions of each group by its key, as NumPy arrays; evaluates the keys.

        >>> hr.DataFrame({"id": [1, 2, 1], "x": [3, 5, 4]}).groupby("id").indices[1].tolist()
        [0, 2]
        """
        return rows.positions_by_group(self)

    def __len__(self) -> int:
        return self.ngroups

    def __bool__(self) -> bool:
        return True  # without evaluation

    def ngroup(self) -> Series:
        """The group number of each row, in group order; null for dropped rows.

        >>> hr.DataFrame({"id": ["b", "a", "b"]}).groupby("id").ngroup().to_list()
        [1, 0, 1]
        """
        return windows.of_rows_of(self, rows.ngroup(self)._node)

    def sample(
        self,
        n: int | None = None,
        frac: float | None = None,
        replace: bool = False,
        weights: Any = None,
        random_state: Any = None,
    ) -> Any:
        """A random sample of the rows of each group, group by group; see `DataFrame.sample`.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.sample(n=1, random_state=0).x.to_list()
        [5, 4]
        """
        return rows.sample(self, n, frac, replace, random_state, weights)

    def get_group(self, name: Any) -> Any:
        """The rows of one group, by its key or the tuple of its keys.

        >>> df = hr.DataFrame({"id": ["a", "b", "a"], "x": [1, 5, 2]})
        >>> df.groupby("id").get_group("a").x.to_list()
        [1, 2]
        """
        return rows.get_group(self, name)

    # ---- groups in Python ------------------------------------------------------------------------

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over (key, rows) pairs in Python: slow; `hr.advice` names the line.

        >>> df = hr.DataFrame({"id": ["a", "b", "a"], "x": [1, 5, 2]})
        >>> [(key, len(rows)) for key, rows in df.groupby("id")]
        [('a', 2), ('b', 1)]
        """
        return rows.each_group(self, "groupby", "use aggregates by name: agg(...), transform(...)")

    def apply(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Apply a Python function to the rows of each group, one group at a time.

        Scalars give a series labelled by the keys; frames and series are concatenated. Runs
        immediately: `hr.advice` and `hr.fallbacks` report it, and `hr.strict` raises.

        >>> df = hr.DataFrame({"id": ["a", "b", "a"], "x": [1, 5, 2]})
        >>> df.groupby("id").x.apply(lambda x: x.max() - x.min()).to_dict()
        {'a': 1, 'b': 0}
        """
        return rows.apply_function(self, function, *args, **kwargs)

    def pipe(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What `function` gives for these groups.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.x.pipe(lambda g: g.max() - g.min()).to_dict()
        {1: 2, 2: 0}
        """
        return function(self, *args, **kwargs)

    def filter(self, function: Callable[[Any], Any]) -> Any:
        """The rows of the groups for which a Python function returns true, in order.

        >>> df = hr.DataFrame({"id": ["a", "b", "a"], "x": [1, 5, 2]})
        >>> df.groupby("id").filter(lambda rows: len(rows) > 1).x.to_list()
        [1, 2]
        """
        return rows.filter_groups(self, function)

    # ---- values within groups --------------------------------------------------------------------

    def ffill(self) -> Any:
        """Replace null and NaN by the last value before them in their group.

        >>> hr.DataFrame({"id": [1, 1, 2], "x": [3, None, 4]}).groupby("id").x.ffill().to_list()
        [3, 3, 4]
        """
        return rows.fill_missing(self, "ffill", False)

    def bfill(self) -> Any:
        """Replace null and NaN by the next value after them in their group.

        >>> df = hr.DataFrame({"id": ["a", "b", "a"], "x": [None, 5, 2]})
        >>> df.groupby("id").x.bfill().to_list()
        [2, 5, 2]
        """
        return rows.fill_missing(self, "bfill", True)

    def pct_change(self, periods: int = 1) -> Any:
        """Each value relative to the one `periods` rows before in its group.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.x.pct_change().round(6).to_list()
        [None, 0.666667, None]
        """
        return rows.pct_change(self, periods)

    # ---- several values per group ----------------------------------------------------------------

    def value_counts(
        self,
        normalize: bool = False,
        sort: bool = True,
        ascending: bool = False,
        bins: Any = None,
        dropna: bool = True,
    ) -> Any:
        """How often each value occurs in each group, the most frequent first.

        Missing values count with ``dropna=False``. `bins` counts the values of one column in bins;
        see `Series.value_counts`, which is called for each group, in Python.

        >>> df = hr.DataFrame({"id": [1, 1, 1, 2], "s": ["u", "v", "v", "u"]})
        >>> df.groupby("id").s.value_counts().to_dict()
        {(1, 'v'): 2, (1, 'u'): 1, (2, 'u'): 1}
        """
        return rows.value_counts(self, normalize, sort, ascending, bins, dropna)

    def describe(
        self, percentiles: list[float] | None = None, include: Any = None, exclude: Any = None
    ) -> DataFrame:
        """Count, mean, std, min, quartiles and max of each group.

        Of columns of numbers, times and durations, or of those that `include` and `exclude` leave,
        as in `DataFrame.select_dtypes`.

        Columns ``("x", "count")``, ``("x", "mean")``, ...; just ``count``, ``mean`` for a single
        selected column.

        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.describe()["x"]["mean"].to_list()
        [4.0, 4.0]
        """
        return rows.describe(self, percentiles, include, exclude)

    def __repr__(self) -> str:
        keys = ", ".join(name for name, _ in self._keys)
        columns = ", ".join(value_columns(self))
        return f"{type(self).__name__}(by: {keys}; columns: {columns})"


@facade("GroupBy")
class SeriesGroupBy(GroupBy):
    """The values of one column by key."""

    __slots__ = ()
    _single = True

    def nlargest(self, n: int = 5) -> Any:
        """The `n` largest values of each group, largest first, labelled by key and row.

        The values need no sort; the labels of the rows do, if they are used.

        >>> df = hr.DataFrame({"id": [1, 1, 2, 1], "x": [3, 5, 4, 1]})
        >>> df.groupby("id").x.nlargest(2).reset_index().to_dict()
        {'id': [1, 1, 2], 'level_1': [1, 0, 2], 'x': [5, 3, 4]}
        """
        return aggregates.top(self, n, True)

    def nsmallest(self, n: int = 5) -> Any:
        """The `n` smallest values of each group, smallest first; see `nlargest`."""
        return aggregates.top(self, n, False)

    def unique(self) -> Any:
        """The distinct values of each group in the order of the rows, as lists.

        >>> hr.DataFrame({"id": [1, 1, 1, 2], "x": [5, 3, 5, 4]}).groupby("id").x.unique().to_dict()
        {1: [5, 3], 2: [4]}
        """
        return self.agg(set)


def groupby(
    rows: DataFrame | Series,
    by: Any = None,
    *,
    level: Any = None,
    as_index: bool = True,
    sort: bool = True,
    dropna: bool = True,
    order: bool = True,
    observed: bool = True,
    group_keys: bool = True,
) -> GroupBy:
    """See `DataFrame.groupby`."""
    sort, dropna = sort is not False, dropna is not False  # None: Dask's word for the default
    observed = observed is not False
    if isinstance(by, Grouper) and by.freq is not None:
        spans = (by.freq, by.key, by.level, by.closed, by.label, by.origin, by.offset)
        return resample(rows, *spans)  # type: ignore[return-value] # groups of its own kind
    if is_series(rows):
        if not as_index:
            raise InvalidArgumentError(
                "groupby: keys of a series are labels: as_index=False; group a frame instead"
            )
        nodes = {rows.name or Unnamed("value"): rows._node}
        frame = getattr(rows, "_frame", None)
        keys = keys_of(None, by, framed(rows)) if level is None else level_keys(frame, level)
        labels = frame._labels if frame is not None else None
        made: GroupBy = SeriesGroupBy(keys, nodes, group_order(sort, order), dropna, rows=labels)
    else:
        keys = keys_of(rows, by) if level is None else level_keys(rows, level)
        words = (group_order(sort, order), dropna, as_index, rows._labels)
        made = GroupBy(keys, rows._nodes, *words)
    made._group_keys, made._observed = group_keys, observed
    return made
