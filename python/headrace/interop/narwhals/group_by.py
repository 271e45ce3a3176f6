# SPDX-License-Identifier: Apache-2.0
"""Groups of narwhals' frames: aggregates by the engine, one pass for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from narwhals._compliant.group_by import ParseKeysGroupBy
from narwhals._expression_parsing import evaluate_output_names_and_aliases

from headrace import _core
from headrace.groupby.keys import Words
from headrace.interop.narwhals.leaves import Leaf, leaf_of, row_numbers
from headrace.interop.narwhals.over import before_leaf
from headrace.interop.narwhals.roles import Role
from headrace.series.column import series_of


def _leaf_call(expr: Any) -> tuple[str, dict[str, Any]]:
    """The aggregate at the end of an expression, with its options."""
    node = next(expr._metadata.op_nodes_reversed())
    return node.name, node.kwargs


class HeadraceGroups(Role, ParseKeysGroupBy[Any, Any], role="groups"):  # type: ignore[misc]
    """The rows of a frame by the values of keys, in the order in which they come."""

    def __init__(self, frame: Any, keys: Any, /, *, drop_null_keys: bool) -> None:
        self._version = frame._version
        self._frame = frame
        made, self._keys, self._output_key_names = self._parse_keys(frame, keys=keys)
        self._compliant_frame = made.drop_nulls(self._keys) if drop_null_keys else made

    def agg(self, *exprs: Any) -> Any:
        """One row a group: the keys and the aggregates."""
        frame = self._compliant_frame
        exclude = (*self._keys, *self._output_key_names)
        places = row_numbers(frame)
        leaves: list[tuple[str, Leaf]] = []
        for expr in exprs:
            op, options = _leaf_call(expr)
            _, aliases = evaluate_output_names_and_aliases(expr, frame, exclude)
            inputs = self._inputs(expr, frame, exclude)
            if op == "len" and not inputs:
                inputs = [places]
            order = frame._order(list(by)) if (by := options.get("order_by")) else None
            for alias, node in zip(aliases, inputs, strict=True):
                leaves.append((alias, leaf_of(op, options, node, places, order)))
        words = [each for _, leaf in leaves for each in leaf.words]
        words = [each._replace(name=f" {place}") for place, each in enumerate(words)]
        keys = [(f" key {i}", frame._nodes[name]) for i, name in enumerate(self._keys)]
        nodes = _core.group_columns(keys, words or [Words(" rows", "size")], "first", False)
        made = dict(zip(self._output_key_names, nodes, strict=False))
        rest = nodes[len(keys) :]
        for alias, leaf in leaves:
            made[alias] = leaf.read(rest[: len(leaf.words)])
            rest = rest[len(leaf.words) :]
        return self._compliant_frame._of(made)

    def _inputs(self, expr: Any, frame: Any, exclude: Sequence[str]) -> list[_core.Node]:
        """The columns that the last function of an expression aggregates."""
        before = before_leaf(expr, frame)
        many = expr._metadata.expansion_kind.is_multi_unnamed()
        return [each.node for each in before if not (many and each.name in exclude)]

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        frame = self._compliant_frame
        keys = [frame._nodes[name] for name in self._keys]
        places = row_numbers(frame)
        named = [(f" key {i}", node) for i, node in enumerate(keys)]
        rows = [Words(" first", "min", places)]
        nodes = _core.group_columns(named, rows, "first", False)
        labels = list(zip(*(series_of(node).to_list() for node in nodes[:-1]), strict=True))
        words = Words(" first", "min", places)
        first = series_of(_core.group_transform(keys, words, False)).to_numpy()
        starts = series_of(nodes[-1]).to_numpy()
        whole = frame.simple_select(*self._frame.columns)
        import numpy as np

        for label, start in zip(labels, starts, strict=True):
            yield label, whole._picked(np.flatnonzero(first == start))
