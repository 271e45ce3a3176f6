# SPDX-License-Identifier: Apache-2.0
"""`hr.concat`: rows of several frames or series stacked, or columns side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import (
    PickedNumbers,
    frame_of,
    framed,
    is_frame,
    new_frame,
    without_labels,
)
from headrace.frame.construct import repeated
from headrace.lazy.advice import grows
from headrace.lazy.handle import mark
from headrace.rows import are_picked, picked_domain
from headrace.series.column import is_series, new_series, series_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def concat(
    frames: Iterable[DataFrame | Series | None],
    *,
    axis: int | str = 0,
    join: Literal["outer", "inner"] = "outer",
    ignore_index: bool = False,
) -> Any:
    """Concatenate the rows of frames or of series, or their columns side by side.

    Parameters
    ----------
    frames : list of DataFrame or of Series
        None entries are skipped.
    axis : {0, 1}
        1 puts columns side by side: of the same rows, or without labels of equal row counts, which
        are evaluated.
    join : {"outer", "inner"}
        If columns differ: all of them, null where a frame lacks one, or only the shared ones.
    ignore_index : bool
        Drop the label columns.

    Notes
    -----
    Columns keep the order in which they first appear. Numbers of different dtypes are promoted to a
    common one; categories share one dictionary.

    >>> import headrace as hr
    >>> hr.concat([hr.DataFrame({"x": [1]}), hr.DataFrame({"x": [2.5], "y": [1]})]).to_dict()
    {'x': [1.0, 2.5], 'y': [None, 1]}
    """
    mark("concat")
    grows("concat", "collect the parts in a list and concat them once, after the loop")
    if isinstance(frames, Mapping):
        raise TypeMismatchError(
            "concat: expected a list of frames: frames=dict; add the key as a column "
            "first: [frame.assign(key=key) for key, frame in frames.items()]"
        )
    parts = [part for part in frames if part is not None]
    if not parts:
        raise InvalidArgumentError(
            "concat: nothing to concatenate: frames=0; pass at least one frame"
        )
    if join not in ("outer", "inner"):
        raise InvalidArgumentError(
            f"concat: invalid value: join={join!r}; expected 'outer' or 'inner'"
        )
    if axis in (1, "columns"):
        return _side_by_side(parts)
    series = [part for part in parts if is_series(part)]
    tables = [part for part in parts if is_frame(part)]
    if len(series) == len(parts):
        node = _core.concat([part._node for part in series])
        if len(series) > 1 and not ignore_index:
            node = _core.in_domain(node, picked_domain())
        return series_of(node, series[0].name)
    if len(tables) < len(parts):
        raise TypeMismatchError(
            "concat: expected only frames or only series: "
            f"types={sorted({type(part).__name__ for part in parts})}"
        )
    return without_labels(rows_of(tables, join), ignore_index)


def rows_of(tables: list[DataFrame], join: str = "outer") -> DataFrame:
    """The stacked rows of frames; see `concat`."""
    named = [part for part in tables if part._any_node() is not None] or tables[:1]
    names = list(dict.fromkeys(name for part in named for name in part.columns))
    if join == "inner":
        names = [name for name in names if all(name in part for part in named)]
    domain = picked_domain() if len(named) > 1 else _core.new_domain()
    joined = {name: _core.in_domain(_core.concat(_parts(named, name)), domain) for name in names}
    labels = list(named[0]._labels)
    if any(list(part._labels) != labels for part in named):
        return frame_of(joined)
    if not labels and len(named) > 1:
        return frame_of(joined, _stacked_numbers(named, domain))
    stacked = {n: _core.concat([part._labels[n] for part in named]) for n in labels}
    return frame_of(joined, {n: _core.in_domain(v, domain) for n, v in stacked.items()})


def _stacked_numbers(parts: list[DataFrame], domain: int) -> PickedNumbers:
    def stacked() -> _core.Node:
        numbers = [part._number_node() for part in parts]
        known = [node for node in numbers if node is not None]
        if len(known) < len(numbers):
            raise InvalidArgumentError(
                "concat: the numbers of these rows were not kept; use reset_index(drop=True), or "
                "set labels with set_index"
            )
        return _core.in_domain(_core.concat(known), domain)

    return PickedNumbers(stacked)


def _parts(tables: list[DataFrame], name: str) -> list[_core.Node]:
    """A column across all frames, without empty lists, whose dtype means nothing."""
    nodes = [_column(part, name, tables) for part in tables]
    there = [n for n in nodes if not (n.shape[0] == 0 and n.dtype == "float64")]
    return there or nodes[:1]


def _column(part: DataFrame, name: str, tables: list[DataFrame]) -> _core.Node:
    """A column of a frame; nulls of the other frames' dtype if it has none."""
    if name in part:
        return part._nodes[name]
    dtype = next(each[name].dtype for each in tables if name in each)
    rows = part._every()[0]
    return repeated(rows, new_series([None], dtype=dtype))


def _beside(frame: DataFrame, name: str, node: _core.Node) -> _core.Node:
    """A column matched to the frame's rows by position; raises if the row counts differ."""
    first = frame._any_node() or node
    if first.domain == node.domain:
        return node
    if 0 in (first.domain, node.domain) and not (are_picked(first) or are_picked(node)):
        return node
    if are_picked(first) or are_picked(node):
        raise InvalidArgumentError(
            f"concat: axis=1 needs the same rows: column={name!r}; filtered or sorted "
            "rows are not aligned by label: use merge or join on a column, or "
            "reset_index(drop=True) on both to match by position"
        )
    rows, ours = len(series_of(node)), len(new_series(first))
    if rows != ours:
        raise InvalidArgumentError(
            f"concat: axis=1 needs equal row counts: column={name!r}, expected={ours}, "
            f"got={rows}; use merge or join"
        )
    return _core.in_domain(node, first.domain)


def _side_by_side(parts: list[Any]) -> DataFrame:
    frames = [part if is_frame(part) else framed(part) for part in parts]
    labelled = any(frame._labels for frame in frames)
    made = new_frame()
    for at, part in enumerate(parts):
        columns = part._nodes if is_frame(part) else {part.name or str(at): part._node}
        for name, node in columns.items():
            if name in made:
                raise InvalidArgumentError(
                    f"concat: duplicate column name: name={name!r}; rename one"
                )
            made._put(name, node if labelled else _beside(made, name, node))
    made._labels = dict(frames[0]._labels)
    return made
