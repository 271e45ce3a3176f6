# SPDX-License-Identifier: Apache-2.0
"""Group-by: aggregates of the rows that share a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _core
from headrace.deferred import mark
from headrace.durations import (
    BETWEEN,
    counts,
    counts_for,
    is_duration,
    level_of,
    unit_of,
    whole_units,
)
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.group_levels import group_matrix
from headrace.group_picks import GroupPicks
from headrace.group_quantiles import group_quantiles
from headrace.labels import LabelledSeries
from headrace.rows import is_probed, no_attribute
from headrace.series import Series
from headrace.times import is_time
from headrace.windows import ROW_FUNCTIONS

if TYPE_CHECKING:
    from headrace.frame import DataFrame

_NUMBERS = "biuf"
#: Kinds of dtypes that an aggregate of a whole frame picks.
_PICKED = {
    **dict.fromkeys(("count", "nunique", "first", "last", "min", "max"), "biufmMOU"),
    **dict.fromkeys(("idxmin", "idxmax"), "biufmMOU"),
    **dict.fromkeys(("mean", "median", "quantile", "std"), "biufmM"),
    **dict.fromkeys(("sum", "any", "all"), "biufm"),
}

#: Functions of Python and NumPy that are aggregates, by name.
_FUNCTIONS = {
    **{name: name for name in ("sum", "prod", "mean", "median", "var", "std", "any", "all")},
    **{"min": "min", "max": "max", "amin": "min", "amax": "max", "len": "size"},
    **{"nanmin": "min", "nanmax": "max", "nansum": "sum", "nanmean": "mean"},
}


class Words(NamedTuple):
    """One aggregate as the engine wants it."""

    name: str
    aggregate: str
    values: _core.Node | None = None
    other: _core.Node | None = None
    q: float = 0.5
    ddof: int = 1
    min_count: int = 0


def as_numbers(words: Words) -> tuple[Words, Callable[[Series], Series] | None]:
    """An aggregate of times or durations as one of numbers, and what makes times of its results."""
    kind = words.aggregate
    if words.values is None or kind not in (*BETWEEN, "std", "any", "all"):
        return words, None
    series = Series(words.values)
    if kind in ("any", "all") and is_duration(series):
        return words._replace(values=counts(series, unit_of(words.values.dtype))._node), None
    if not (is_time(series) or is_duration(series)) or kind in ("any", "all"):
        return words, None
    dtype, whole, base = counts_for(kind, series)
    return words._replace(values=whole._node), lambda made: Series(whole_units(made, base, dtype))


def group_order(sort: bool, order: bool) -> str:
    """Return the engine's word for the order of the groups."""
    return "sorted" if sort else "first" if order else "any"


def _check_rows(frame: DataFrame | None, name: str, key: Series) -> None:
    """An error for a key of more or fewer rows than its frame, where both are known."""
    node = None if frame is None else next(iter(frame._nodes.values()), None)
    rows, own = -1 if node is None else node.shape[0], key._node.shape[0]
    if rows >= 0 and own >= 0 and rows != own:
        raise InvalidArgumentError(
            f"groupby: the key has other rows than the frame: key={name!r}, rows={own}, "
            f"frame_rows={rows}; pass one value for each row"
        )


def keys_of(frame: DataFrame | None, by: Any) -> list[tuple[str, _core.Node]]:
    """Names and nodes of the keys: column names, series, expressions, or a list of them."""
    keys: list[tuple[str, _core.Node]] = []
    for each in by if isinstance(by, list | tuple) else [by]:
        if isinstance(each, str) and frame is not None:
            keys.append((each, frame[each]._node))
            continue
        if isinstance(each, str):
            raise TypeMismatchError(f"groupby: a series is wanted as a key: key={each!r}")
        if isinstance(each, Mapping):
            raise TypeMismatchError(
                f"groupby: a mapping is no key: key={each!r}; map a column: df.k.map(mapping)"
            )
        key = Series(each)
        if frame is not None and isinstance(each, Series):
            frame._refuse_free("groupby", key._node)
        name = key.name or ("key" if len(keys) == 0 else f"key_{len(keys)}")
        _check_rows(frame, name, key)
        keys.append((name, key._node))
    if not keys:
        raise InvalidArgumentError("groupby: there is no key; name a column")
    names = [name for name, _ in keys]
    if twice := next((name for at, name in enumerate(names) if name in names[:at]), None):
        raise InvalidArgumentError(
            f"groupby: two keys have one name: name={twice!r}; give one another: "
            "[df.t.dt.year.rename('year'), df.t.dt.month]"
        )
    return keys


def aggregate_name(aggregate: Any, place: str, op: str = "agg") -> str:
    """The engine's word for an aggregate: itself, or the name of NumPy's and Python's functions."""
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
            f"{op}: a function of your own is no aggregate: {place}={name or aggregate!r}; "
            "compute a column first (df.assign) and name its aggregate: sum, mean, max, ...; "
            "apply() calls a function group by group"
        )
    raise TypeMismatchError(f"{op}: the name of an aggregate is wanted: {place}={aggregate!r}")


class GroupSeries(LabelledSeries):
    """An aggregate of one column, a value a group, labelled by the keys."""

    __slots__ = ()

    def _value(self) -> Any:
        _core.force(list(self._frame._nodes.values()))  # in one walk
        return self._node.value()


class GroupBy(GroupPicks):
    """The rows of a frame by key, from `DataFrame.groupby` or `Series.groupby`.

    Aggregates give a frame: the keys as its first columns, then a column for each aggregate; those
    of one column picked by name give a `GroupSeries`.
    Nothing runs until somebody looks, and only what the columns looked at need.
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

    # ---- columns -----------------------------------------------------------------------------
    def _find(self, name: str) -> str:
        if name not in self._nodes:
            _core.no_such_column("groupby", list(self._nodes), name)
        return name

    def __getitem__(self, key: str | list[str]) -> GroupBy:
        """The same groups of one column or of some."""
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

    # ---- aggregates --------------------------------------------------------------------------
    def _frame(self, columns: list[Words]) -> DataFrame:
        from headrace.frame import DataFrame

        mark("groupby")
        pairs = [as_numbers(each) for each in columns]
        table = _core.group_by(self._keys, [each for each, _ in pairs], self._order, self._dropna)
        names = [name for name, _ in self._keys] + [column.name for column in columns]
        made = DataFrame._of_parts(table, names)
        for words, finish in pairs:
            if finish:
                made[words.name] = finish(made[words.name])
        return self._with_labels(made)

    def _with_labels(self, made: DataFrame) -> DataFrame:
        if self._labelled:
            made._labels = {name: made._nodes[name] for name, _ in self._keys}
        return made

    def _series(self, made: DataFrame, name: str) -> Any:
        """An aggregate of one column; a frame when the keys are no labels."""
        return GroupSeries(made, name) if self._labelled else made

    def _taken(self, aggregate: str, numeric_only: bool | None) -> dict[str, _core.Node]:
        """The columns that an aggregate takes, by the names of its results."""
        kinds = _PICKED.get(aggregate, _NUMBERS)
        if numeric_only:
            kinds = "".join(each for each in kinds if each in _NUMBERS)
        elif numeric_only is False:
            others = [n for n, v in self._values().items() if not Series(v).dtype.is_of(kinds)]
            if others:
                raise TypeMismatchError(
                    f"groupby: columns that {aggregate} does not take: columns={others}; "
                    "pick others, or pass numeric_only=True"
                )
        values = self._values().items()
        columns = {name: node for name, node in values if Series(node).dtype.is_of(kinds)}
        if not columns:
            raise TypeMismatchError(
                f"groupby: no column that {aggregate} takes: columns={list(self._nodes)}"
            )
        return columns

    def _each(self, aggregate: str, numeric_only: bool | None = None, **options: Any) -> Any:
        columns = self._taken(aggregate, numeric_only)
        return self._made(
            self._frame([Words(name, aggregate, node, **options) for name, node in columns.items()])
        )

    def _made(self, frame: DataFrame) -> Any:
        """The aggregates, one a column."""
        return frame

    def sum(self, numeric_only: bool | None = None, min_count: int = 0) -> Any:
        """Sums; null where fewer than `min_count` values are there."""
        return self._each("sum", numeric_only, min_count=min_count)

    def prod(self, numeric_only: bool | None = None, min_count: int = 0) -> Any:
        """Products; null where fewer than `min_count` values are there."""
        return self._each("prod", numeric_only, min_count=min_count)

    def mean(self, numeric_only: bool | None = None) -> Any:
        """Means; null for no value."""
        return self._each("mean", numeric_only)

    def median(self, numeric_only: bool | None = None) -> Any:
        """Medians; null for no value."""
        return self._each("median", numeric_only)

    def quantile(
        self,
        q: float | list[float] = 0.5,
        interpolation: str = "linear",
        numeric_only: bool | None = None,
    ) -> Any:
        """Quantiles; null for no value.

        Parameters
        ----------
        q : float or list of float
            Between 0 and 1. A list gives a row for each of them in each group, with the quantile in
            a column behind the keys, which is a label too: ``level_1`` behind one key.
        interpolation : {"linear", "lower", "higher", "midpoint", "nearest"}
            What lies between two values; see `Series.quantile`. Others than ``"linear"`` rank the
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
        """Variances; null for `ddof` values and fewer."""
        return self._each("var", numeric_only, ddof=ddof)

    def std(self, ddof: int = 1, numeric_only: bool | None = None) -> Any:
        """Standard deviations; null for `ddof` values and fewer."""
        return self._each("std", numeric_only, ddof=ddof)

    def sem(self, ddof: int = 1) -> Any:
        """Standard errors of the means: the deviations over the roots of the counts."""
        columns = self._picked("sem", _NUMBERS)
        words = []
        for name, node in columns.items():
            words += [Words(name, "std", node, ddof=ddof), Words(f"{name} count", "count", node)]
        made = self._frame(words)
        for name in columns:
            made[name] = made[name] / made.pop(f"{name} count") ** 0.5
        return self._series(made, name) if isinstance(self, SeriesGroupBy) else made

    def min(self, numeric_only: bool | None = None) -> Any:
        """Least values: of numbers and times, of strings and categories by their text."""
        return self._each("min", numeric_only)

    def max(self, numeric_only: bool | None = None) -> Any:
        """Greatest values."""
        return self._each("max", numeric_only)

    def first(self, numeric_only: bool | None = None) -> Any:
        """The first values that are not missing."""
        return self._each("first", numeric_only)

    def last(self, numeric_only: bool | None = None) -> Any:
        """The last values that are not missing."""
        return self._each("last", numeric_only)

    def any(self) -> Any:
        """Whether some value is true (not 0)."""
        return self._each("any")

    def all(self) -> Any:
        """Whether all values are true (not 0)."""
        return self._each("all")

    def count(self) -> Any:
        """Numbers of values that are not missing."""
        return self._each("count")

    def nunique(self, dropna: bool = True) -> Any:
        """Numbers of distinct values, missing ones left out; with ``dropna=False`` they are one."""
        if dropna:
            return self._each("nunique")
        words = []
        for name, node in self._values().items():
            gone = Series(node).isna().astype("int64")._node
            words += [Words(name, "nunique", node), Words(f"{name} missing", "max", gone)]
        made = self._frame(words)
        for name in self._values():
            made[name] = made[name] + made.pop(f"{name} missing")
        return self._series(made, name) if isinstance(self, SeriesGroupBy) else made

    def idxmin(self) -> Any:
        """Positions of the rows with the least values, the first of equals."""
        return self._each("idxmin")

    def idxmax(self) -> Any:
        """Positions of the rows with the greatest values, the first of equals."""
        return self._each("idxmax")

    def size(self) -> Any:
        """Numbers of rows."""
        return self._series(self._frame([Words("size", "size")]), "size")

    def corr(
        self, x: str | None = None, y: str | None = None, *, numeric_only: bool | None = None
    ) -> DataFrame:
        """Pearson's correlation of each two columns, or of two named ones; null where undefined.

        Of each two there is a row a group and column, which is a label too: ``level_1`` behind one
        key. Of two named ones there is a row a group, and a column `corr`.

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
        """Covariances of each two columns, a row a group and column as those of `corr`.

        Null for `ddof` rows and fewer in which both are there.
        """
        return group_matrix(self, "cov", ddof, numeric_only)

    def agg(self, spec: Any = None, **named: tuple[str, str]) -> Any:
        """Several aggregates in one walk over the rows.

        Parameters
        ----------
        spec : str, list or dict
            An aggregate of all columns; a list of them (columns ``x_mean``, or just ``mean`` of one
            column picked by name); or a dict from a column to one aggregate or a list.
        **named : (column, aggregate)
            Columns of the result by name.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": [2, 1, 2], "x": [1.0, 5.0, 3.0]})
        >>> df.groupby("id").agg(total=("x", "sum"), n=("x", "count")).to_dict()
        {'id': [1, 2], 'total': [5.0, 4.0], 'n': [1, 2]}
        """
        if named:
            if spec is not None:
                raise InvalidArgumentError("agg: a specification and names; pass one of them")
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
                f"agg: a name, a list of names or a dict is wanted: spec={spec!r}"
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
                f"agg: a column and its aggregate are wanted: {name}={pair!r}; "
                f"write {name}=('x', 'sum')"
            )
        return Words(name, aggregate_name(aggregate, name), self._nodes[self._find(column)])

    def transform(self, aggregate: str) -> DataFrame | Series:
        """Each row's aggregate of its group, in the order of the rows; null for rows left out.

        Also ``"cumsum"``, ``"rank"``, ``"shift"`` and the like, which are methods as well.
        """
        from headrace.frame import DataFrame

        if aggregate in ROW_FUNCTIONS:
            of_rows: DataFrame | Series = getattr(self, aggregate)()
            return of_rows
        mark("transform")
        aggregate = aggregate_name(aggregate, "aggregate", "transform")
        kinds = _PICKED.get(aggregate, _NUMBERS)
        keys = [node for _, node in self._keys]
        single = isinstance(self, SeriesGroupBy)
        values = self._nodes if single else self._values()
        columns = {}
        for name, node in values.items():
            if single or Series(node).dtype.is_of(kinds):
                words, finish = as_numbers(Words(name, aggregate, node))
                made = _core.group_transform(keys, words, self._dropna)
                columns[name] = finish(Series(made))._node if finish else made
        if single:
            ((name, node),) = columns.items()
            return Series(node, name)
        return DataFrame._of(columns)


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
        from headrace.frame import DataFrame

        mark("nlargest" if largest else "nsmallest")
        ((name, node),) = self._nodes.items()
        taken = [key for key, _ in self._keys]
        own = f"{name}_top" if name in taken else name
        table = _core.group_top(self._keys, own, node, n, largest, self._order, self._dropna)
        frame = {each: _core.part(table, i) for i, each in enumerate([*taken, own])}
        return self._series(self._with_labels(DataFrame._of(frame)), name)

    def nlargest(self, n: int = 5) -> Any:
        """The `n` greatest numbers of each group, greatest first, without a sort.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": [1, 1, 2, 1], "x": [3, 5, 4, 1]})
        >>> df.groupby("id").x.nlargest(2).reset_index().to_dict()
        {'id': [1, 1, 2], 'x': [5, 3, 4]}
        """
        return self._top(n, True)

    def nsmallest(self, n: int = 5) -> Any:
        """The `n` least numbers of each group, least first; see `nlargest`."""
        return self._top(n, False)
