# SPDX-License-Identifier: Apache-2.0
"""Group-by: aggregates of the rows that share a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _core
from headrace.aggregates import NUMBERS, group_kinds
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.frame.columns import Columns
from headrace.groupby.matrix import group_matrix
from headrace.groupby.quantile import group_quantiles
from headrace.groupby.rows import GroupPicks
from headrace.lazy.handle import mark
from headrace.rows import is_probed, no_attribute
from headrace.series.column import Column, is_series
from headrace.series.datetime import is_time
from headrace.series.duration import (
    BETWEEN,
    counts,
    counts_for,
    is_duration,
    level_of,
    unit_of,
    whole_units,
)
from headrace.series.labelled import LabelledSeries
from headrace.series.window import ROW_FUNCTIONS

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

#: Python and NumPy functions that name an aggregate.
_FUNCTIONS = {
    **{name: name for name in ("sum", "prod", "mean", "median", "var", "std", "any", "all")},
    **{"min": "min", "max": "max", "amin": "min", "amax": "max", "len": "size"},
    **{"nanmin": "min", "nanmax": "max", "nansum": "sum", "nanmean": "mean"},
}


class Words(NamedTuple):
    """One aggregate in the engine's terms."""

    name: str
    aggregate: str
    values: _core.Node | None = None
    other: _core.Node | None = None
    q: float = 0.5
    ddof: int = 1
    min_count: int = 0


def as_numbers(words: Words) -> tuple[Words, Callable[[Series], Series] | None]:
    """An aggregate of times or durations as one of numbers, and the conversion of its results."""
    kind = words.aggregate
    if words.values is None or kind not in (*BETWEEN, "std", "any", "all"):
        return words, None
    series = Column.make(words.values)
    if kind in ("any", "all") and is_duration(series):
        return words._replace(values=counts(series, unit_of(words.values.dtype))._node), None
    if not (is_time(series) or is_duration(series)) or kind in ("any", "all"):
        return words, None
    dtype, whole, base = counts_for(kind, series)
    return words._replace(values=whole._node), lambda made: Column.make(
        whole_units(made, base, dtype)
    )


def group_order(sort: bool, order: bool) -> str:
    """Return the engine's name for the order of the groups."""
    return "sorted" if sort else "first" if order else "any"


def _check_rows(frame: DataFrame | None, name: str, key: Series) -> None:
    """Raise if a key and its frame have different row counts, where both are known."""
    node = None if frame is None else next(iter(frame._nodes.values()), None)
    rows, own = -1 if node is None else node.shape[0], key._node.shape[0]
    if rows >= 0 and own >= 0 and rows != own:
        raise InvalidArgumentError(
            f"groupby: key length does not match the frame: key={name!r}, "
            f"expected={rows}, got={own}"
        )


def keys_of(frame: DataFrame | None, by: Any) -> list[tuple[str, _core.Node]]:
    """Names and nodes of the keys: column names, series, expressions, or a list of them."""
    keys: list[tuple[str, _core.Node]] = []
    for each in by if isinstance(by, list | tuple) else [by]:
        if isinstance(each, str) and frame is not None:
            keys.append((each, frame[each]._node))
            continue
        if isinstance(each, str):
            raise TypeMismatchError(f"groupby: expected a series as key: key={each!r}")
        if isinstance(each, Mapping):
            raise TypeMismatchError(
                f"groupby: keys cannot be a mapping: key={each!r}; map a column: df.k.map(mapping)"
            )
        key = Column.make(each)
        if frame is not None and is_series(each):
            frame._refuse_free("groupby", key._node)
        name = key.name or ("key" if len(keys) == 0 else f"key_{len(keys)}")
        _check_rows(frame, name, key)
        keys.append((name, key._node))
    if not keys:
        raise InvalidArgumentError("groupby: missing key; pass a column name")
    names = [name for name, _ in keys]
    if twice := next((name for at, name in enumerate(names) if name in names[:at]), None):
        raise InvalidArgumentError(
            f"groupby: duplicate key name: name={twice!r}; rename one: "
            "[df.t.dt.year.rename('year'), df.t.dt.month]"
        )
    return keys


def aggregate_name(aggregate: Any, place: str, op: str = "agg") -> str:
    """The engine's name of an aggregate, given by name or as a NumPy or Python function."""
    if isinstance(aggregate, str):
        return aggregate
    name = getattr(aggregate, "__name__", "")
    if name in _FUNCTIONS and (getattr(aggregate, "__module__", "") or "numpy") in (
        "builtins",
        "numpy",
    ):
        return _FUNCTIONS[name]
    if callable(aggregate):
        raise UnsupportedError(
            f"{op}: custom Python functions are not supported as aggregates: "
            f"{place}={name or aggregate!r}; compute a column first (df.assign) and "
            "aggregate it by name (sum, mean, max, ...), or use apply()"
        )
    raise TypeMismatchError(f"{op}: expected the name of an aggregate: {place}={aggregate!r}")


class GroupSeries(LabelledSeries):
    """An aggregate of one column: one value per group, labelled by the keys."""

    __slots__ = ()

    def _value(self) -> Any:
        _core.force(list(self._frame._nodes.values()))  # in one pass
        return self._node.value()


class GroupBy(GroupPicks):
    """The rows of a frame by key, from `DataFrame.groupby` or `Series.groupby`.

    Aggregates give a frame: the keys as its first columns, then one column per aggregate; those of
    a single selected column give a `GroupSeries`. They are lazy, and only the columns in use are
    computed.
    """

    __slots__ = ("_dropna", "_keys", "_labelled", "_nodes", "_order")

    def __init__(
        self,
        keys: list[tuple[str, _core.Node]],
        nodes: Mapping[str, _core.Node],
        order: str,
        dropna: bool,
        labelled: bool = True,
    ) -> None:
        self._keys = keys
        self._nodes = dict(nodes)
        self._order = order
        self._dropna = dropna
        self._labelled = labelled

    def _of(self, kind: type[GroupBy], nodes: dict[str, _core.Node]) -> GroupBy:
        return kind(self._keys, nodes, self._order, self._dropna, self._labelled)

    # ---- columns ---------------------------------------------------------------------------------
    def _find(self, name: str) -> str:
        if name not in self._nodes:
            _core.no_such_column("groupby", list(self._nodes), name)
        return name

    def __getitem__(self, key: str | list[str]) -> GroupBy:
        """The same groups, restricted to one or several columns."""
        if isinstance(key, str):
            name = self._find(key)
            return self._of(SeriesGroupBy, {name: self._nodes[name]})
        return self._of(GroupBy, {self._find(name): self._nodes[name] for name in key})

    def __getattr__(self, name: str) -> GroupBy:
        if is_probed(name):
            raise AttributeError(name)
        if name in object.__getattribute__(self, "_nodes"):
            return self[name]
        nodes = object.__getattribute__(self, "_nodes")
        raise no_attribute("groupby has no column or aggregate", name, nodes, GroupBy)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self._nodes if name.isidentifier())]

    def _values(self) -> dict[str, _core.Node]:
        """The columns that are not keys."""
        keys = {(name, id(node)) for name, node in self._keys}
        names = {name for name, _ in self._keys}
        return {
            name: node
            for name, node in self._nodes.items()
            if name not in names and (name, id(node)) not in keys
        }

    # ---- aggregates ------------------------------------------------------------------------------
    def _frame(self, columns: list[Words]) -> DataFrame:

        mark("groupby")
        pairs = [as_numbers(each) for each in columns]
        table = _core.group_by(self._keys, [each for each, _ in pairs], self._order, self._dropna)
        names = [name for name, _ in self._keys] + [column.name for column in columns]
        made = Columns.of_parts(table, names)
        for words, finish in pairs:
            if finish:
                made[words.name] = finish(made[words.name])
        return self._with_labels(made)

    def _with_labels(self, made: DataFrame) -> DataFrame:
        if self._labelled:
            made._labels = {name: made._nodes[name] for name, _ in self._keys}
        return made

    def _series(self, made: DataFrame, name: str) -> Any:
        """An aggregate of one column; a frame if the keys are not labels."""
        return GroupSeries(made, name) if self._labelled else made

    def _taken(self, aggregate: str, numeric_only: bool | None) -> dict[str, _core.Node]:
        """The columns that an aggregate supports, by the names of its results."""
        kinds = group_kinds(aggregate)
        if numeric_only:
            kinds = "".join(each for each in kinds if each in NUMBERS)
        elif numeric_only is False:
            others = [n for n, v in self._values().items() if not Column.make(v).dtype.is_of(kinds)]
            if others:
                raise TypeMismatchError(
                    f"groupby: {aggregate} does not support these columns: columns={others}; "
                    "select other columns, or pass numeric_only=True"
                )
        values = self._values().items()
        columns = {name: node for name, node in values if Column.of(node).dtype.is_of(kinds)}
        if not columns:
            raise TypeMismatchError(
                f"groupby: no column supports {aggregate}: columns={list(self._nodes)}"
            )
        return columns

    def _each(self, aggregate: str, numeric_only: bool | None = None, **options: Any) -> Any:
        columns = self._taken(aggregate, numeric_only)
        return self._made(
            self._frame([Words(name, aggregate, node, **options) for name, node in columns.items()])
        )

    def _made(self, frame: DataFrame) -> Any:
        """The aggregates, one per column."""
        return frame

    def sum(self, numeric_only: bool | None = None, min_count: int = 0) -> Any:
        """Sum of each group; null with fewer than `min_count` values.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.sum().to_dict()
        {'id': [1, 2], 'x': [8, 4]}
        """
        return self._each("sum", numeric_only, min_count=min_count)

    def prod(self, numeric_only: bool | None = None, min_count: int = 0) -> Any:
        """Product of each group; null with fewer than `min_count` values.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.prod().to_dict()
        {'id': [1, 2], 'x': [15, 4]}
        """
        return self._each("prod", numeric_only, min_count=min_count)

    def mean(self, numeric_only: bool | None = None) -> Any:
        """Mean of each group; null if the group has no values.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.mean().to_dict()
        {'id': [1, 2], 'x': [4.0, 4.0]}
        """
        return self._each("mean", numeric_only)

    def median(self, numeric_only: bool | None = None) -> Any:
        """Median of each group; null if the group has no values.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.median().to_dict()
        {'id': [1, 2], 'x': [4.0, 4.0]}
        """
        return self._each("median", numeric_only)

    def quantile(
        self,
        q: float | list[float] = 0.5,
        interpolation: str = "linear",
        numeric_only: bool | None = None,
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

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [1, 4, 9]}).groupby("id")
        >>> groups.x.quantile([0, 0.5]).to_dict()
        {(1, 0.0): 1.0, (1, 0.5): 2.5, (2, 0.0): 9.0, (2, 0.5): 9.0}
        >>> groups.quantile(0.5, interpolation="lower").x.to_list()
        [1, 9]
        """
        if interpolation == "linear" and not isinstance(q, list | tuple):
            return self._each("quantile", numeric_only, q=level_of(q))
        return self._made(group_quantiles(self, q, interpolation, numeric_only))

    def var(self, ddof: int = 1, numeric_only: bool | None = None) -> Any:
        """Variance of each group; null with `ddof` values or fewer.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.var().to_dict()
        {'id': [1, 2], 'x': [2.0, None]}
        """
        return self._each("var", numeric_only, ddof=ddof)

    def std(self, ddof: int = 1, numeric_only: bool | None = None) -> Any:
        """Standard deviation of each group; null with `ddof` values or fewer.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.x.std().round(6).to_dict()
        {1: 1.414214, 2: None}
        """
        return self._each("std", numeric_only, ddof=ddof)

    def sem(self, ddof: int = 1, numeric_only: bool | None = None) -> Any:
        """Standard error of each group's mean: standard deviation over the root of the count.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.x.sem().to_dict()
        {1: 1.0, 2: None}
        """
        return self._each("sem", numeric_only, ddof=ddof)

    def skew(self, numeric_only: bool | None = None) -> Any:
        """Sample skewness of each group; null with fewer than three values, NaN if all are equal.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": [1, 1, 1, 1, 2], "x": [1, 2, 5, 9, 3]})
        >>> df.groupby("id").x.skew().round(6).to_list()
        [0.888584, None]
        """
        return self._each("skew", numeric_only)

    def kurt(self, numeric_only: bool | None = None) -> Any:
        """Excess kurtosis of each group; null with fewer than four values, NaN if all are equal.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": [1, 1, 1, 1], "x": [1, 2, 5, 9]})
        >>> df.groupby("id").x.kurt().round(6).to_list()
        [-0.581894]
        """
        return self._each("kurt", numeric_only)

    def min(self, numeric_only: bool | None = None) -> Any:
        """Minimum of each group; strings and categories compare alphabetically.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.min().to_dict()
        {'id': [1, 2], 'x': [3, 4]}
        """
        return self._each("min", numeric_only)

    def max(self, numeric_only: bool | None = None) -> Any:
        """Maximum of each group.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.max().to_dict()
        {'id': [1, 2], 'x': [5, 4]}
        """
        return self._each("max", numeric_only)

    def first(self, numeric_only: bool | None = None) -> Any:
        """First non-missing value of each group.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.first().to_dict()
        {'id': [1, 2], 'x': [3, 4]}
        """
        return self._each("first", numeric_only)

    def last(self, numeric_only: bool | None = None) -> Any:
        """Last non-missing value of each group.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.last().to_dict()
        {'id': [1, 2], 'x': [5, 4]}
        """
        return self._each("last", numeric_only)

    def any(self) -> Any:
        """Whether any value of a group is true (nonzero).

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [0, 5, 0]}).groupby("id")
        >>> groups.any().to_dict()
        {'id': [1, 2], 'x': [True, False]}
        """
        return self._each("any")

    def all(self) -> Any:
        """Whether all values of a group are true (nonzero).

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [0, 5, 0]}).groupby("id")
        >>> groups.all().to_dict()
        {'id': [1, 2], 'x': [False, False]}
        """
        return self._each("all")

    def count(self) -> Any:
        """Number of non-missing values of each group.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.count().to_dict()
        {'id': [1, 2], 'x': [2, 1]}
        """
        return self._each("count")

    def nunique(self, dropna: bool = True) -> Any:
        """Number of distinct values of each group; ``dropna=False`` counts missing as one.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.nunique().to_dict()
        {'id': [1, 2], 'x': [2, 1]}
        """
        if dropna:
            return self._each("nunique")
        words = []
        for name, node in self._values().items():
            gone = Column.of(node).isna().astype("int64")._node
            words += [Words(name, "nunique", node), Words(f"{name} missing", "max", gone)]
        made = self._frame(words)
        for name in self._values():
            made[name] = made[name] + made.pop(f"{name} missing")
        return self._series(made, name) if isinstance(self, SeriesGroupBy) else made

    def idxmin(self) -> Any:
        """Row position of each group's minimum, the first of equals.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.idxmin().to_dict()
        {'id': [1, 2], 'x': [0, 2]}
        """
        return self._each("idxmin")

    def idxmax(self) -> Any:
        """Row position of each group's maximum, the first of equals.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.idxmax().to_dict()
        {'id': [1, 2], 'x': [1, 2]}
        """
        return self._each("idxmax")

    def size(self) -> Any:
        """Number of rows of each group.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.size().to_dict()
        {1: 2, 2: 1}
        """
        return self._series(self._frame([Words("size", "size")]), "size")

    def corr(
        self, x: str | None = None, y: str | None = None, *, numeric_only: bool | None = None
    ) -> DataFrame:
        """Pearson correlation of each pair of columns, or of two named ones; null if undefined.

        All pairs give one row per group and column, with the column name as label ``level_1`` after
        one key. Two named columns give one row per group and a column `corr`.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": [1, 1, 1], "x": [1, 2, 3], "y": [6, 4, 2]})
        >>> df.groupby("id").corr().round(9).reset_index().to_dict()
        {'id': [1, 1], 'level_1': ['x', 'y'], 'x': [1.0, -1.0], 'y': [-1.0, 1.0]}
        >>> df.groupby("id").corr("x", "y")["corr"].round(9).to_list()
        [-1.0]
        """
        if x is None or y is None:
            return group_matrix(self, "corr", 1, numeric_only)
        first, second = (self._nodes[self._find(name)] for name in (x, y))
        return self._frame([Words("corr", "corr", first, second)])

    def cov(self, *, ddof: int = 1, numeric_only: bool | None = None) -> DataFrame:
        """Covariance of each pair of columns, in the layout of `corr`.

        Null with `ddof` complete pairs or fewer.
        """
        return group_matrix(self, "cov", ddof, numeric_only)

    def agg(self, spec: Any = None, **named: tuple[str, str]) -> Any:
        """Several aggregates in one pass over the rows.

        Parameters
        ----------
        spec : str, list or dict
            An aggregate for all columns; a list of them (columns ``x_mean``, or just ``mean`` for a
            single selected column); or a dict from column to one aggregate or a list.
        **named : (column, aggregate)
            Result columns by name.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": [2, 1, 2], "x": [1.0, 5.0, 3.0]})
        >>> df.groupby("id").agg(total=("x", "sum"), n=("x", "count")).to_dict()
        {'id': [1, 2], 'total': [5.0, 4.0], 'n': [1, 2]}
        """
        if named:
            if spec is not None:
                raise InvalidArgumentError(
                    "agg: got both a specification and named aggregates; pass one of them"
                )
            return self._frame([self._named(name, pair) for name, pair in named.items()])
        if isinstance(spec, Mapping):
            spec = {
                name: [aggregate_name(one, name) for one in each]
                if isinstance(each, list | tuple)
                else aggregate_name(each, name)
                for name, each in spec.items()
            }
        elif isinstance(spec, list):
            spec = [aggregate_name(one, "spec") for one in spec]
        elif callable(spec):
            spec = aggregate_name(spec, "spec")
        if isinstance(spec, str):
            return self.size() if spec == "size" else self._each(spec)
        if isinstance(spec, Mapping):
            several = any(not isinstance(each, str) for each in spec.values())
            return self._frame(
                [
                    Words(f"{name}_{one}" if several else name, one, self._nodes[self._find(name)])
                    for name, each in spec.items()
                    for one in ([each] if isinstance(each, str) else each)
                ]
            )
        if not isinstance(spec, list) or not all(isinstance(each, str) for each in spec):
            raise TypeMismatchError(
                f"agg: expected a name, a list of names or a dict: spec={spec!r}"
            )
        single = isinstance(self, SeriesGroupBy)
        return self._frame(
            [
                Words(one if single else f"{name}_{one}", one, node)
                for name, node in (self._nodes if single else self._values()).items()
                for one in spec
            ]
        )

    aggregate = agg

    def _named(self, name: str, pair: Any) -> Words:
        if isinstance(pair, tuple) and len(pair) == 2:
            column, aggregate = pair
        elif isinstance(self, SeriesGroupBy):
            (column,), aggregate = self._nodes, pair
        else:
            raise TypeMismatchError(
                f"agg: expected a (column, aggregate) pair: {name}={pair!r}; for example "
                f"{name}=('x', 'sum')"
            )
        return Words(name, aggregate_name(aggregate, name), self._nodes[self._find(column)])

    def transform(self, aggregate: str) -> DataFrame | Series:
        """The group's aggregate for each row, in row order; null for dropped rows.

        Also ``"cumsum"``, ``"rank"``, ``"shift"`` and similar, which are methods as well.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.transform("sum").to_dict()
        {'x': [8, 8, 4]}
        """
        if aggregate in ROW_FUNCTIONS:
            of_rows: DataFrame | Series = getattr(self, aggregate)()
            return of_rows
        mark("transform")
        aggregate = aggregate_name(aggregate, "aggregate", "transform")
        kinds = group_kinds(aggregate)
        keys = [node for _, node in self._keys]
        single = isinstance(self, SeriesGroupBy)
        values = self._nodes if single else self._values()
        columns = {}
        for name, node in values.items():
            if single or Column.of(node).dtype.is_of(kinds):
                words, finish = as_numbers(Words(name, aggregate, node))
                made = _core.group_transform(keys, words, self._dropna)
                columns[name] = finish(Column.make(made))._node if finish else made
        if single:
            ((name, node),) = columns.items()
            return Column.of(node, name)
        return Columns.of(columns)


class SeriesGroupBy(GroupBy):
    """The values of one column by key."""

    __slots__ = ()

    def _values(self) -> dict[str, _core.Node]:
        return self._nodes

    def _taken(self, aggregate: str, numeric_only: bool | None) -> dict[str, _core.Node]:
        ((name, node),) = self._nodes.items()
        taken = {key for key, _ in self._keys}
        return {f"{name}_{aggregate}" if name in taken else name: node}

    def _made(self, frame: DataFrame) -> Any:
        (name,) = self._nodes
        return self._series(frame, name)

    def _top(self, n: int, largest: bool) -> Any:

        mark("nlargest" if largest else "nsmallest")
        ((name, node),) = self._nodes.items()
        taken = [key for key, _ in self._keys]
        own = f"{name}_top" if name in taken else name
        table = _core.group_top(self._keys, own, node, n, largest, self._order, self._dropna)
        frame = {each: _core.part(table, i) for i, each in enumerate([*taken, own])}
        return self._series(self._with_labels(Columns.of(frame)), name)

    def nlargest(self, n: int = 5) -> Any:
        """The `n` largest numbers of each group, largest first, without a sort.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": [1, 1, 2, 1], "x": [3, 5, 4, 1]})
        >>> df.groupby("id").x.nlargest(2).reset_index().to_dict()
        {'id': [1, 1, 2], 'x': [5, 3, 4]}
        """
        return self._top(n, True)

    def nsmallest(self, n: int = 5) -> Any:
        """The `n` smallest numbers of each group, smallest first; see `nlargest`."""
        return self._top(n, False)
