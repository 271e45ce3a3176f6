# SPDX-License-Identifier: Apache-2.0
"""Rows of groups: head, tail, group numbers, one group, iteration in Python."""

from __future__ import annotations

import functools
import operator
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _core
from headrace.errors import ColumnNotFoundError, InvalidArgumentError
from headrace.frame.columns import Columns
from headrace.lazy.handle import mark
from headrace.rows import whole_number
from headrace.series.column import Column
from headrace.series.elementwise import row_positions
from headrace.series.window import GroupRows

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


class NamedAgg(NamedTuple):
    """A column and its aggregate, for ``agg(out=hr.NamedAgg("x", "max"))``.

    >>> import headrace as hr
    >>> df = hr.DataFrame({"id": [1, 1], "x": [2, 3]})
    >>> df.groupby("id").agg(top=hr.NamedAgg(column="x", aggfunc="max")).to_dict()
    {'id': [1], 'top': [3]}
    """

    column: str
    aggfunc: Any


class GroupPicks(GroupRows):
    """The part of `GroupBy` that selects rows of groups, and passes groups to Python."""

    __slots__ = ()

    def _key_nodes(self: Any) -> list[_core.Node]:
        return [node for _, node in self._keys]

    def _picked_rows(self: Any, mask: Series) -> Any:
        """The rows of the frame, or of the selected column, where a mask is true."""
        from headrace.groupby.groupby import SeriesGroupBy

        if isinstance(self, SeriesGroupBy):
            ((name, node),) = self._nodes.items()
            return Column.of(node, name)[mask]
        return Columns.make(Columns.of(self._nodes)[mask])

    def _behind(self: Any) -> Series:
        """Number of rows after each row within its group."""
        from headrace.groupby.groupby import Words

        keys = self._key_nodes()
        rows = _core.group_transform(keys, Words("rows", "size", keys[0]), self._dropna)
        return Column.make(rows) - 1 - self.cumcount()  # type: ignore[no-any-return]

    def head(self: Any, n: int = 5) -> Any:
        """The first `n` rows of each group, in row order.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": ["a", "b", "a"], "x": [1, 5, 2]})
        >>> df.groupby("id").head(1).x.to_list(), df.groupby("id").tail(1).x.to_list()
        ([1, 5], [5, 2])
        """
        mark("head")
        n = whole_number("head", "n", n)
        return self._picked_rows(self.cumcount() < n)

    def tail(self: Any, n: int = 5) -> Any:
        """The last `n` rows of each group, in row order.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.tail(1).to_dict()
        {'id': [1, 2], 'x': [5, 4]}
        """
        mark("tail")
        n = whole_number("tail", "n", n)
        return self._picked_rows(self._behind() < n)

    def nth(self: Any, n: int) -> Any:
        """The row at position `n` of each group, counted from the end if negative.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.nth(0).to_dict()
        {'id': [1, 2], 'x': [3, 4]}
        """
        mark("nth")
        n = whole_number("nth", "n", n)
        return self._picked_rows(self.cumcount() == n if n >= 0 else self._behind() == -n - 1)

    def _groups(self: Any) -> DataFrame:
        """The keys of the groups, in order."""
        table = _core.group_by(self._keys, [], self._order, self._dropna)
        return Columns.of_parts(table, [name for name, _ in self._keys])

    @property
    def ngroups(self: Any) -> int:
        """The number of groups; evaluates the keys.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.ngroups
        2
        """
        return len(self._groups())

    def __len__(self: Any) -> int:
        return self.ngroups  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        return True  # without evaluation

    def ngroup(self: Any) -> Series:
        """The group number of each row, in group order; null for dropped rows.

        >>> import headrace as hr
        >>> hr.DataFrame({"id": ["b", "a", "b"]}).groupby("id").ngroup().to_list()
        [1, 0, 1]
        """
        from headrace.frame.apply import with_rows_of
        from headrace.frame.indexing import positions

        mark("ngroup")
        groups = self._groups()
        names = groups.columns
        groups["group number"] = Column.make(groups._aligned(positions(len(groups))))
        keys = dict(zip(names, self._key_nodes(), strict=True))
        found = Columns.of(keys).merge(groups, on=names, how="left")["group number"]
        return with_rows_of(Column.make(found), self._key_nodes()[0])

    def get_group(self: Any, name: Any) -> Any:
        """The rows of one group, by its key or the tuple of its keys.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": ["a", "b", "a"], "x": [1, 5, 2]})
        >>> df.groupby("id").get_group("a").x.to_list()
        [1, 2]
        """
        from headrace.rows import is_missing

        mark("get_group")
        wanted = name if isinstance(name, tuple) else (name,)
        if len(wanted) != len(self._keys):
            raise InvalidArgumentError(
                f"get_group: expected one value for each key: name={name!r}, keys={len(self._keys)}"
            )
        tests = [
            Column.of(node).isna() if is_missing(each) else Column.of(node) == each
            for node, each in zip(self._key_nodes(), wanted, strict=True)
        ]
        found = self._picked_rows(functools.reduce(operator.and_, tests))
        if len(found) == 0:
            raise ColumnNotFoundError(f"get_group: no such group: name={name!r}")
        return found

    # ---- groups in Python ------------------------------------------------------------------------
    def _each_group(self: Any, op: str, fix: str) -> Iterator[tuple[Any, Any]]:
        from headrace.frame.apply import group_by_group
        from headrace.groupby.groupby import SeriesGroupBy

        group_by_group(op, fix)
        groups = self._groups().to_dict()
        labels = list(zip(*groups.values(), strict=True))
        number = self.ngroup()
        sizes = Columns.make({"n": number}).groupby("n").size().to_list()
        single = isinstance(self, SeriesGroupBy)
        rows = Columns.of({**self._nodes, "group number": number._node})
        ordered = rows.sort_values("group number")[list(self._nodes)]
        _core.force(list(ordered._nodes.values()))
        begin = 0
        for label, size in zip(labels, sizes, strict=True):
            part = Columns.make(ordered[begin : begin + size])
            begin += size
            key = label if len(label) > 1 else label[0]
            yield key, part[next(iter(self._nodes))] if single else part

    def __iter__(self: Any) -> Iterator[tuple[Any, Any]]:
        """Iterate over (key, rows) pairs in Python: slow; `hr.advice` names the line.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": ["a", "b", "a"], "x": [1, 5, 2]})
        >>> [(key, len(rows)) for key, rows in df.groupby("id")]
        [('a', 2), ('b', 1)]
        """
        return self._each_group("groupby", "use aggregates by name: agg(...), transform(...)")  # type: ignore[no-any-return]

    def apply(self: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Apply a Python function to the rows of each group, one group at a time.

        Scalars give a series labelled by the keys; frames and series are concatenated. Runs
        immediately: `hr.advice` and `hr.fallbacks` report it, and `hr.strict` raises.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": ["a", "b", "a"], "x": [1, 5, 2]})
        >>> df.groupby("id").x.apply(lambda x: x.max() - x.min()).to_dict()
        {'a': 1, 'b': 0}
        """
        from headrace.frame.concat import concat

        mark("apply")
        start = time.perf_counter()
        fix = "use aggregates by name: agg(...), transform(...)"
        made = [
            (key, function(part, *args, **kwargs)) for key, part in self._each_group("apply", fix)
        ]
        name = getattr(function, "__name__", type(function).__name__)
        _core.record_fallback(
            "apply", f"Python function called per group: {name}", time.perf_counter() - start
        )
        results = [result for _, result in made]
        if results and all(isinstance(each, Column | Columns) for each in results):
            return concat(results)
        names = [name for name, _ in self._keys]
        keys = [key if isinstance(key, tuple) else (key,) for key, _ in made]
        table: dict[str, Any] = {n: [key[i] for key in keys] for i, n in enumerate(names)}
        (value,) = self._nodes if len(self._nodes) == 1 else ("value",)
        value = value if value not in table else f"{value}_apply"
        table[value] = results
        return self._series(self._with_labels(Columns.make(table)), value)

    def filter(self: Any, function: Callable[[Any], Any]) -> Any:
        """The rows of the groups for which a Python function returns true, in order.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": ["a", "b", "a"], "x": [1, 5, 2]})
        >>> df.groupby("id").filter(lambda rows: len(rows) > 1).x.to_list()
        [1, 2]
        """
        fix = (
            "filter by transform(...) of the aggregate: df[df.groupby('id').x.transform('sum') > 3]"
        )
        parts = self._each_group("filter", fix)
        kept = [at for at, (_, part) in enumerate(parts) if bool(function(part))]
        return self._picked_rows(self.ngroup().isin(kept or [-1]))

    # ---- values within groups --------------------------------------------------------------------
    def ffill(self: Any) -> Any:
        """Replace null and NaN by the last value before them in their group.

        >>> import headrace as hr
        >>> hr.DataFrame({"id": [1, 1, 2], "x": [3, None, 4]}).groupby("id").x.ffill().to_list()
        [3, 3, 4]
        """
        return self._filled("ffill", False)

    def bfill(self: Any) -> Any:
        """Replace null and NaN by the next value after them in their group.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": ["a", "b", "a"], "x": [None, 5, 2]})
        >>> df.groupby("id").x.bfill().to_list()
        [2, 5, 2]
        """
        return self._filled("bfill", True)

    def _filled(self: Any, op: str, turned: bool) -> Any:
        from headrace.frame.apply import with_rows_of
        from headrace.series.window import rows_of_groups

        mark(op)
        made = {}
        for name, node in self._values().items():
            column, keys = Column.of(node), [Column.make(key) for key in self._key_nodes()]
            if turned:  # the last row first
                column, keys = column[::-1], [key[::-1] for key in keys]
                domain = _core.new_domain()
                column, *keys = (
                    Column.of(_core.in_domain(each._node, domain)) for each in (column, *keys)
                )
            last = row_positions(column).where(column.notna(), -1)
            nodes = [key._node for key in keys]
            found = Column.make(
                rows_of_groups(
                    _core.group_cumulative, nodes, {name: last._node}, self._dropna, "cummax"
                )[name]
            )
            values = Column.of(_core.take(column._node, found.clip(lower=0).fill_null(0)._node))
            filled = with_rows_of(values, column._node).where(found >= 0)
            made[name] = with_rows_of(filled[::-1] if turned else filled, node)._node
        return self._finish_rows(made)

    def pct_change(self: Any, periods: int = 1) -> Any:
        """Each value relative to the one `periods` rows before in its group.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.x.pct_change().round(6).to_list()
        [None, 0.666667, None]
        """
        from headrace.series.window import rows_of_groups

        mark("pct_change")
        columns = self._picked("pct_change", "iuf")
        before = rows_of_groups(
            _core.group_shift,
            self._key_nodes(),
            columns,
            self._dropna,
            whole_number("pct_change", "periods", periods),
        )
        made = {
            n: (Column.of(node) / Column.make(before[n]) - 1)._node for n, node in columns.items()
        }
        return self._finish_rows(made)

    # ---- several values per group ----------------------------------------------------------------
    def value_counts(self: Any, normalize: bool = False, sort: bool = True) -> Any:
        """How often each value occurs in each group, the most frequent first.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": [1, 1, 1, 2], "s": ["u", "v", "v", "u"]})
        >>> df.groupby("id").s.value_counts().to_dict()
        {(1, 'v'): 2, (1, 'u'): 1, (2, 'u'): 1}
        """
        from headrace.groupby.groupby import GroupBy

        columns = self._values()
        keys = [*self._keys, *columns.items()]
        word = "proportion" if normalize else "count"
        counted = GroupBy(keys, {}, self._order, self._dropna).size().rename(word).to_frame()
        names = [name for name, _ in self._keys]
        if normalize:
            counted[word] = counted[word] / counted.groupby(names)[word].transform("sum")
        if sort and self._order == "sorted":
            by = [*names, word]
            counted = counted.sort_values(by, ascending=[*[True] * len(names), False])
        return Column.labelled(counted, word)

    def describe(self: Any) -> DataFrame:
        """Count, mean, std, min, quartiles and max of each group.

        Columns ``x_count``, ``x_mean``, ...; just ``count``, ``mean`` for a single selected column.

        >>> import headrace as hr
        >>> groups = hr.DataFrame({"id": [1, 1, 2], "x": [3, 5, 4]}).groupby("id")
        >>> groups.describe()["x_mean"].to_list()
        [4.0, 4.0]
        """
        from headrace.groupby.groupby import SeriesGroupBy, Words

        mark("describe")
        single = isinstance(self, SeriesGroupBy)
        columns = self._picked("describe", "iufmM")
        words = []
        for name, node in columns.items():
            before = "" if single else f"{name}_"
            words += [Words(f"{before}{one}", one, node) for one in ("count", "mean", "std", "min")]
            words += [Words(f"{before}{q:.0%}", "quantile", node, q=q) for q in (0.25, 0.5, 0.75)]
            words.append(Words(f"{before}max", "max", node))
        return self._frame(words)  # type: ignore[no-any-return]

    def __repr__(self: Any) -> str:
        keys = ", ".join(name for name, _ in self._keys)
        columns = ", ".join(self._values())
        return f"{type(self).__name__}(by: {keys}; columns: {columns})"
