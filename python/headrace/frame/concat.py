# SPDX-License-Identifier: Apache-2.0
"""`hr.concat`: rows of several frames or series stacked, or columns side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import PickedNumbers, frame_of, framed, is_frame, without_labels
from headrace.frame.construct import repeated
from headrace.lazy.advice import grows
from headrace.lazy.handle import mark
from headrace.rows import are_picked, picked_domain, unnamed
from headrace.series.column import is_labelled, is_series, labelled_series, new_series, series_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def concat(
    frames: Iterable[DataFrame | Series | None] | Mapping[Any, DataFrame | Series],
    *,
    axis: int | str = 0,
    join: Literal["outer", "inner"] = "outer",
    ignore_index: bool = False,
    keys: Iterable[Any] | None = None,
    names: Sequence[str] | None = None,
) -> Any:
    """Concatenate the rows of frames or of series, or their columns side by side.

    Parameters
    ----------
    frames : list of DataFrame or of Series, or such values by key
        None entries are skipped.
    axis : {0, 1}
        1 puts columns side by side: of the same rows, of rows with labels, or without labels of
        equal row counts; labels and row counts are evaluated.
    join : {"outer", "inner"}
        If columns differ, or labels of columns side by side: all of them, null where a part lacks
        one, or only the shared ones.
    ignore_index : bool
        Drop the labels.
    keys : list, optional
        A label for each part, ahead of its own labels or row numbers; for parts side by side, the
        name of a series, or a level of column names. The keys of a dictionary, if that is passed.
    names : list of str, optional
        Names of the levels: of `keys`, then of the rows' own labels.

    Notes
    -----
    Columns keep the order in which they first appear. Numbers of different dtypes are promoted to a
    common one; categories share one dictionary.

    >>> hr.concat([hr.DataFrame({"x": [1]}), hr.DataFrame({"x": [2.5], "y": [1]})]).to_dict()
    {'x': [1.0, 2.5], 'y': [None, 1]}
    """
    mark("concat")
    grows("concat", "collect the parts in a list and concat them once, after the loop")
    if isinstance(frames, Mapping):
        keys = list(frames) if keys is None else list(keys)
        frames = [frames[key] for key in keys]
    whole = list(frames)
    if keys is not None:
        keys = [key for key, part in zip(keys, whole, strict=True) if part is not None]
    parts = [part for part in whole if part is not None]
    if not parts:
        raise InvalidArgumentError(
            "concat: nothing to concatenate: frames=0; pass at least one frame"
        )
    if join not in ("outer", "inner"):
        raise InvalidArgumentError(
            f"concat: invalid value: join={join!r}; expected 'outer' or 'inner'"
        )
    if axis in (1, "columns"):
        return _side_by_side(parts, join, keys)
    if keys is not None and not ignore_index:
        parts = [_keyed(*pair, names or ()) for pair in zip(parts, keys, strict=True)]
    series = [part for part in parts if is_series(part)]
    tables = [part for part in parts if is_frame(part)]
    if len(parts) not in (len(series), len(tables)):
        raise TypeMismatchError(
            "concat: expected only frames or only series: "
            f"types={sorted({type(part).__name__ for part in parts})}"
        )
    if len(parts) == 1 and not ignore_index:
        return parts[0].copy()  # with the row numbers, if these rows were selected
    if series:
        called = {part.name for part in series}
        name = called.pop() if len(called) == 1 else None
        if not ignore_index and all(is_labelled(part) for part in series):
            return labelled_series(rows_of([part.to_frame("value") for part in series]), name)
        node = _core.concat([part._node for part in series])
        if not ignore_index:
            node = _core.in_domain(node, picked_domain())
        return series_of(node, name)
    return without_labels(rows_of(tables, join), ignore_index)


def _keyed(part: Any, key: Any, names: Sequence[str]) -> Any:
    """A part with levels of labels ahead of its own labels or row numbers."""
    frame = part if is_frame(part) else part.to_frame("value")
    level = key if isinstance(key, tuple) else (key,)
    rows = frame.reset_index()
    own = rows.columns[: len(rows.columns) - len(frame.columns)]
    count = len(level) + len(own)
    words = [*names, *[None] * count][:count]
    for at, name in enumerate(own, len(level)):
        if words[at] is None and name in frame._labels:
            words[at] = name
    called = [unnamed(at, count) if word is None else word for at, word in enumerate(words)]
    rows = rows.set_axis([*called[len(level) :], *frame.columns], axis=1)
    heads = {
        name: repeated(rows._every()[0], new_series([each]))
        for name, each in zip(called, level, strict=False)
    }
    ahead = {name: _core.in_domain(node, rows._every()[0].domain) for name, node in heads.items()}
    labels = {**ahead, **{name: rows._nodes[name] for name in called[len(level) :]}}
    made = frame_of({name: rows._nodes[name] for name in frame.columns}, labels)
    return made if is_frame(part) else labelled_series(made, part.name)


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

    return PickedNumbers(stacked, [part._labels for part in parts])


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


def _aligned(frames: list[DataFrame], join: str) -> list[DataFrame]:
    """Labelled frames with the labels of any, or of all, in the order of their appearance."""
    nodes = [node for frame in frames for node in frame._every()]
    if len({node.domain for node in nodes}) == 1:
        return frames
    labels = [
        list(zip(*(series_of(node).to_list() for node in frame._labels.values()), strict=True))
        for frame in frames
    ]
    if any(each != labels[0] for each in labels):
        if any(len(frame._labels) != 1 for frame in frames):
            raise InvalidArgumentError(
                "concat: axis=1 needs equal labels, or labels of one level: "
                f"levels={[len(frame._labels) for frame in frames]}; use merge or reset_index"
            )
        every = dict.fromkeys(label for each in labels for (label,) in each)
        shared = [n for n in every if join == "outer" or all((n,) in each for each in labels)]
        if join == "outer" and new_series(shared).dtype.kind == "M":
            shared = sorted(shared)
        frames = [frame.reindex(shared) for frame in frames]
    domain = _core.new_domain()
    return [
        frame_of(
            *(
                {name: _core.in_domain(node, domain) for name, node in part.items()}
                for part in (frame._nodes, frame._labels)
            )
        )
        for frame in frames
    ]


def _are_apart(frames: list[DataFrame]) -> bool:
    """Whether frames without labels have rows of other numbers, or another count of them."""
    first = [frame._every()[0] for frame in frames if frame._every()]
    if len({node.domain for node in first}) < 2:
        return False
    return any(map(are_picked, first)) or len({frame._rows() for frame in frames}) > 1


def _by_number(frame: DataFrame) -> DataFrame:
    """The rows labelled by their numbers."""
    numbers = frame._number_node()
    if numbers is None:
        raise InvalidArgumentError(
            "concat: the numbers of these rows were not kept; use reset_index(drop=True) to match "
            "by position, or set labels with set_index"
        )
    return frame_of(frame._nodes, {unnamed(0, 1): numbers})


def _side_by_side(parts: list[Any], join: str, keys: Sequence[Any] | None) -> DataFrame:
    named: list[tuple[DataFrame, list[Any]]] = []
    for at, part in enumerate(parts):
        frame = part if is_frame(part) else framed(part)
        names: list[Any] = list(frame.columns)
        if not is_frame(part):
            names = [(part.name or str(at)) if keys is None else keys[at]]
        elif keys is not None:
            names = [(keys[at], *(n if isinstance(n, tuple) else (n,))) for n in names]
        named.append((frame, names))
    frames = [frame for frame, _ in named]
    if any(frame._labels for frame in frames):
        frames = [frame._numbered() for frame in frames]
    elif _are_apart(frames):
        frames = [_by_number(frame) for frame in frames]
    labelled = all(frame._labels for frame in frames)
    frames = _aligned(frames, join) if labelled else frames
    columns: dict[Any, _core.Node] = {}
    for frame, (_, names) in zip(frames, named, strict=True):
        for name, node in zip(names, frame._nodes.values(), strict=True):
            if name in columns:
                raise InvalidArgumentError(
                    f"concat: duplicate column name: name={name!r}; rename one"
                )
            first = frame_of(dict(list(columns.items())[:1]))
            columns[name] = node if labelled else _beside(first, name, node)
    return frame_of(columns, frames[0]._labels)
