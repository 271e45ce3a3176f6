# SPDX-License-Identifier: Apache-2.0
"""Frames of narwhals made wide, long or distinct."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, Self

from narwhals.exceptions import InvalidOperationError, ShapeError

from headrace import _core
from headrace.frame.columns import frame_of
from headrace.frame.concat import rows_of
from headrace.frame.duplicates import repeated_rows
from headrace.groupby.keys import Words
from headrace.interop.narwhals.rows import chosen, taken
from headrace.series.column import series_of


class Reshape:
    """A mixin of the frame."""

    _nodes: Any
    _of: Any
    _of_every: Any
    _with_native: Any
    _check_columns_exist: Callable[[Any], Exception | None]
    _picked: Callable[[Any], Any]
    _order: Callable[..., Any]
    _series_role: Any
    _version: Any

    def explode(
        self, columns: Sequence[str], *, empty_as_null: bool = True, keep_nulls: bool = True
    ) -> Self:
        """A row for each item of lists."""
        for name in columns:
            if not self._nodes[name].dtype.startswith("list["):
                raise InvalidOperationError(
                    "`explode` operation not supported for dtype "
                    f"`{self._dtype(name)}`, expected List type"
                )
        lists = [series_of(self._nodes[name]) for name in columns]
        for each in lists[1:]:
            if bool((each.list.len().fill_null(0) != lists[0].list.len().fill_null(0)).any()):
                raise ShapeError("exploded columns must have matching element counts")
        frame: Any = self
        kept = None
        for each in lists:
            for wanted, there in (
                (not empty_as_null, (each.list.len() != 0) | each.is_null()),
                (not keep_nulls, ~each.is_null()),
            ):
                if wanted:
                    kept = there if kept is None else kept & there
        if kept is not None:
            frame = self._of_every(_core.filter_columns(list(self._nodes.values()), kept._node))
        rows, items = _core.explode([frame._nodes[name] for name in columns])
        exploded = dict(zip(columns, items, strict=True))
        names = list(frame._nodes)
        nodes = [
            exploded[name] if name in exploded else _core.take(frame._nodes[name], rows)
            for name in names
        ]
        domain = _core.new_domain()
        made: Self = self._of(
            {n: _core.in_domain(node, domain) for n, node in zip(names, nodes, strict=True)}
        )
        return made

    def _dtype(self, name: str) -> Any:
        return self._series_role(
            series_of(self._nodes[name]), name=name, version=self._version
        ).dtype

    def is_unique(self) -> Any:
        """Whether no other row is equal."""
        keys = list(self._nodes.values())
        node = _core.in_domain(repeated_rows(keys, False), keys[0].domain)
        return self._series_role(~series_of(node), name="", version=self._version)

    def unique(
        self,
        subset: Sequence[str] | None,
        *,
        keep: str,
        maintain_order: bool | None = None,
        order_by: Sequence[str] | None = None,
    ) -> Self:
        """The rows that are the only, the first or the last of equal ones."""
        if subset and (error := self._check_columns_exist(subset)):
            raise error
        if not self._nodes:
            return self
        names = list(subset or self._nodes)
        nodes, places = list(self._nodes.values()), None
        if order_by:
            places = self._order(list(order_by))
            nodes = taken(nodes, places)
        by_name = dict(zip(self._nodes, nodes, strict=True))
        kept_as: str | bool = {"any": "first"}.get(keep, keep)
        kept_as = False if keep == "none" else kept_as
        repeats = repeated_rows([by_name[name] for name in names], kept_as)
        kept = (~series_of(repeats))._node
        kept = _core.in_domain(kept, nodes[0].domain)
        if places is not None and maintain_order:
            rows = _core.filter(_core.in_domain(places, nodes[0].domain), kept)
            made: Self = self._picked(series_of(rows).sort_values()._node)
            return made
        found: Self = self._of_every(_core.filter_columns(nodes, kept))
        return found

    def unpivot(
        self,
        on: Sequence[str] | None,
        index: Sequence[str] | None,
        variable_name: str,
        value_name: str,
    ) -> Self:
        """Some columns below each other, with their names."""
        held = list(index or [])
        names = [name for name in self._nodes if name not in held] if on is None else list(on)
        parts = []
        for name in names:
            node = self._nodes[name]
            word = _core.in_domain(_core.repeat(node, name), node.domain)
            columns = {each: self._nodes[each] for each in held}
            parts.append(frame_of({**columns, variable_name: word, value_name: node}))
        made: Self = self._with_native(rows_of(parts)) if parts else self._of({})
        return made

    def pivot(
        self,
        on: Sequence[str],
        *,
        index: Sequence[str] | None,
        values: Sequence[str] | None,
        aggregate_function: str | None,
        sort_columns: bool,
        separator: str,
    ) -> Self:
        """A column for each value of the `on` columns, aggregated by the rows of an index."""
        known = [name for name in self._nodes if name not in on]
        keys = [n for n in known if n not in (values or ())] if index is None else list(index)
        shown = [n for n in known if n not in keys] if values is None else list(values)
        if aggregate_function is None:
            repeats = repeated_rows([self._nodes[name] for name in [*keys, *on]], "first")
            if bool(series_of(repeats).any()):
                raise ValueError(
                    "Index contains duplicate entries, cannot reshape: pass aggregate_function"
                )
        found = []
        for name in on:
            values_of = series_of(self._nodes[name]).unique()
            listed = values_of.to_list()
            found.append(sorted(listed) if sort_columns else listed)
        combined = list(product(*found))
        words: list[Words] = []
        names: list[str] = []
        for value in shown:
            for labels in combined:
                mask = _equal_to(self._nodes, on, labels)
                words += _pivoted(aggregate_function or "first", mask, self._nodes[value])
                names.append(_pivot_name(labels, value if len(shown) > 1 else None, separator))
        named = [(f" key {place}", self._nodes[name]) for place, name in enumerate(keys)]
        words = [each._replace(name=f" {place}") for place, each in enumerate(words)]
        nodes = _core.group_columns(named, words, "first", False)
        columns = nodes[len(keys) :]
        made = {
            name: chosen(series_of(there) > 0, series_of(value), None)
            for name, value, there in zip(names, columns[::2], columns[1::2], strict=True)
        }
        whole: Self = self._of({**dict(zip(keys, nodes, strict=False)), **made})
        return whole


def _equal_to(nodes: dict[Any, _core.Node], on: Sequence[str], labels: Sequence[Any]) -> Any:
    mask = None
    for name, label in zip(on, labels, strict=True):
        column = series_of(nodes[name])
        same = column.is_null() if label is None else column == label
        mask = same if mask is None else mask & same
    return mask


def _pivoted(aggregate: str, mask: Any, node: _core.Node) -> list[Words]:
    """An aggregate of the rows of a mask, and how many there are."""
    rows = mask.astype("int64")._node
    there = Words("", "sum", rows)
    if aggregate == "len":
        return [Words("", "sum", rows), there]
    values = chosen(mask, series_of(node), None)
    name = {"std": "std", "var": "var"}.get(aggregate, aggregate)
    return [Words("", name, values), there]


def _pivot_name(labels: Sequence[Any], value: str | None, separator: str) -> str:
    label = str(labels[0])
    if len(labels) > 1:
        label = "{" + ",".join(f'"{each}"' for each in labels) + "}"
    return label if value is None else f"{value}{separator}{label}"
