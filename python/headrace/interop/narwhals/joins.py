# SPDX-License-Identifier: Apache-2.0
"""Joins of narwhals' frames: null keys match nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from headrace import _core
from headrace.frame.columns import frame_of
from headrace.interop.narwhals.rows import chosen
from headrace.reshape.asof import merge_asof
from headrace.series.column import series_of


class Joins:
    """A mixin of the frame."""

    _nodes: Any
    _of: Any
    _plain: Any
    _with_native: Any

    def join(
        self,
        other: Self,
        *,
        how: str,
        left_on: Sequence[str] | None,
        right_on: Sequence[str] | None,
        suffix: str,
    ) -> Self:
        """The rows of two frames whose keys are equal."""
        left, right = self._nodes, other._nodes
        ours, theirs = list(left_on or []), list(right_on or [])
        pairs = [(left[one], right[two]) for one, two in zip(ours, theirs, strict=True)]
        pairs += _never_equal(pairs)
        columns: list[tuple[Any, _core.Node | None, _core.Node | None]]
        columns = [(name, node, None) for name, node in left.items()]
        if how not in ("semi", "anti"):
            gone = set() if how in ("full", "cross") else set(theirs)
            columns += [
                (f"{name}{suffix}" if name in left else name, None, node)
                for name, node in right.items()
                if name not in gone
            ]
        names = [name for name, _, _ in columns]
        if len(set(names)) < len(names):
            from narwhals._utils import check_column_names_are_unique

            check_column_names_are_unique(names)
        kind = {"full": "outer", "cross": "inner"}.get(how, how)
        rows = (next(iter(left.values())), next(iter(right.values())))
        table = _core.join(rows, pairs, columns, kind, (False, False), "", how)
        nodes = _core.parts(table, len(columns))
        made: Self = self._of(dict(zip(names, nodes, strict=True)))
        return made

    def join_asof(
        self,
        other: Self,
        *,
        left_on: str,
        right_on: str,
        by_left: Sequence[str] | None,
        by_right: Sequence[str] | None,
        strategy: Literal["backward", "forward", "nearest"],
        suffix: str,
    ) -> Self:
        """Each row with that of another frame whose key is nearest."""
        made = merge_asof(
            frame_of(self._nodes),
            frame_of(other._nodes),
            left_on=left_on,
            right_on=right_on,
            left_by=list(by_left) if by_left else None,
            right_by=list(by_right) if by_right else None,
            direction=strategy,
            suffixes=("", suffix),
        )
        found: Self = self._with_native(made)
        return found


def _never_equal(
    pairs: Sequence[tuple[_core.Node, _core.Node]],
) -> list[tuple[_core.Node, _core.Node]]:
    """A key that differs between the sides where a key is null; none where none can be."""
    if not any(node.nullable for pair in pairs for node in pair):
        return []
    return [
        tuple(_null_mark([pair[side] for pair in pairs], side + 1) for side in (0, 1))  # type: ignore[list-item]
    ]


def _null_mark(keys: Sequence[_core.Node], mark: int) -> _core.Node:
    gone = series_of(keys[0]).is_null()
    for key in keys[1:]:
        gone = gone | series_of(key).is_null()
    return series_of(chosen(gone, mark, 0)).astype("int8")._node
