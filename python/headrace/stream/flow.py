# SPDX-License-Identifier: Apache-2.0
"""`Flow`: aggregates that a stream is folded into, batch by batch, and where results go."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.stream.groups import GroupState
from headrace.stream.load import load
from headrace.stream.window import Windows

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.stream.stream import Stream


class Flow:
    """Aggregates of a stream: iterate over their values, or let `sink` write them.

    Of groups, each batch gives the values of all groups so far; of windows, the windows that it
    closed. At the end of a stream that cannot go on all windows are given out.

    Attributes
    ----------
    state : GroupState or None
        What was folded; None before the first batch.
    late_rows : int
        Rows that came too late for all their windows, or have no time.
    """

    def __init__(
        self,
        stream: Stream,
        by: list[str],
        spec: Any,
        named: dict[str, Any],
        words: dict[str, Any],
        windows: Windows | None = None,
        late: Callable[[DataFrame], Any] | None = None,
    ) -> None:
        self._stream, self._by, self._spec, self._named = stream, by, spec, named
        self._words, self._windows, self._late = words, windows, late
        self._is_checked = True
        self.state: GroupState | None = None
        self.late_rows: int = 0

    def __iter__(self) -> Iterator[DataFrame]:
        for batch in self._stream:
            made = self._folded(batch)
            if made is not None:
                yield made
            self._stream.committed()
        if (made := self._last()) is not None:
            yield made

    def _begun(self, batch: DataFrame) -> GroupState:
        made: GroupState = batch.groupby(self._by, **self._words).incremental(
            self._spec, **self._named
        )
        return made

    def _folded(self, batch: DataFrame) -> DataFrame | None:
        """What is given out after a batch."""
        rows = batch
        if self._windows is not None:
            rows, late = self._windows.placed(batch)
            if late._rows():
                self.late_rows += late._rows()
                if self._late is not None:
                    self._late(late)
        if self.state is None:
            self.state = self._begun(rows)
        else:
            if not self._is_checked:
                self._check(self._begun(rows.head(0)))
            self.state.update(rows)
        return self.state.value() if self._windows is None else self._closed()

    def _check(self, like: GroupState) -> None:
        assert self.state is not None
        if like._words() != self.state._words():
            raise InvalidArgumentError(
                f"sink: the checkpoint is of other aggregates: own={like._words()}, "
                f"found={self.state._words()}; use another file"
            )
        self._is_checked = True

    def _closed(self) -> DataFrame | None:
        assert self.state is not None and self._windows is not None
        until = self._windows.closed_before()
        if until is None:
            return None
        return self.state.take_out(self._windows.on, self._windows.moment(until))

    def _last(self) -> DataFrame | None:
        """The windows that are open at the end of a stream."""
        if self._windows is None or self.state is None or not self._stream.is_over:
            return None
        made = self.state.value()
        if not made._rows():
            return None
        self.state = self._begun(self.state._open.rows().head(0))
        return made

    def sink(
        self,
        target: Callable[[DataFrame], Any] | str | os.PathLike[str],
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        """Fold the whole stream, and give each result to a function or a file.

        Parameters
        ----------
        target : callable or path
            A function gets each frame. A CSV file gets the rows of windows appended, and is
            replaced by the values of groups.
        checkpoint : path, optional
            A file for the state, the position of the stream and the length of the target, written
            after each batch, whole or not at all. If it exists, the stream goes on from it: each
            row counts once. A function may get the result of one batch again then.
        """
        path = None if callable(target) else os.fspath(target)
        if path is not None and not path.endswith(".csv"):
            raise InvalidArgumentError(
                f"sink: expected a function or the path of a CSV file: target={path!r}"
            )
        size = self._restored(checkpoint, path)
        for batch in self._stream:
            made = self._folded(batch)
            if made is not None:
                size = self._put(made, target, path, size)
            self._saved(checkpoint, size)
            self._stream.committed()
        if (made := self._last()) is not None:
            size = self._put(made, target, path, size)
            self._saved(checkpoint, size)

    def _put(self, made: DataFrame, target: Any, path: str | None, size: int) -> int:
        """Give a result out; returns the length of the file."""
        if path is None:
            target(made)
            return 0
        made = made.reset_index() if made._labels else made
        if self._windows is None:
            made.to_csv(path)
            return 0
        text = str(made.to_csv(header=size == 0)).encode()
        with open(path, "ab") as file:
            file.write(text)
        return size + len(text)

    def _saved(self, checkpoint: Any, size: int) -> None:
        if checkpoint is None or self.state is None:
            return
        self.state.save(
            checkpoint,
            {
                "source": self._stream.position,
                "windows": None if self._windows is None else self._windows.words(),
                "late": self.late_rows,
                "size": size,
            },
        )

    def _restored(self, checkpoint: Any, path: str | None) -> int:
        """Go on from a checkpoint; returns the length that the file had."""
        appends = path is not None and self._windows is not None
        if checkpoint is None or not os.path.exists(checkpoint):
            if appends and path is not None:
                open(path, "wb").close()
            return 0
        state = load(checkpoint)
        words = state.position
        size = words.get("size") if isinstance(words, dict) else None
        if not isinstance(state, GroupState) or type(size) is not int or size < 0:
            raise InvalidArgumentError(
                f"sink: the file is not the checkpoint of a stream: checkpoint={str(checkpoint)!r}"
            )
        if (self._windows is None) != (words.get("windows") is None):
            raise InvalidArgumentError(
                f"sink: the checkpoint is of other aggregates: windows={words.get('windows')!r}; "
                "use another file"
            )
        if self._windows is not None:
            self._windows.restore(words["windows"])
        self._stream.seek(words.get("source"))
        late = words.get("late")
        self.late_rows = late if type(late) is int else 0
        self.state, self._is_checked = state, False
        if appends and path is not None:
            os.truncate(path, size)
        return size


class GroupedFlow:
    """Groups of a stream, from `Stream.groupby`."""

    def __init__(self, stream: Stream, by: str | Sequence[str], **words: Any) -> None:
        self._stream, self._by, self._words = stream, _keys(by), words

    def agg(self, func: Any = None, **named: Any) -> Flow:
        """Aggregates by name, as for `GroupBy.incremental`."""
        return Flow(self._stream, self._by, func, named, self._words)


class WindowedFlow:
    """Windows of a stream, from `Stream.window`."""

    def __init__(
        self,
        stream: Stream,
        windows: Windows,
        late: Callable[[DataFrame], Any] | None,
        by: Sequence[str] = (),
    ) -> None:
        self._stream, self._windows, self._late, self._by = stream, windows, late, list(by)

    def groupby(self, by: str | Sequence[str]) -> WindowedFlow:
        """Groups in each window."""
        return WindowedFlow(self._stream, self._windows, self._late, _keys(by))

    def agg(self, func: Any = None, **named: Any) -> Flow:
        """Aggregates by name, as for `GroupBy.incremental`, labelled by the windows' begins."""
        keys = [self._windows.on, *self._by]
        return Flow(self._stream, keys, func, named, {}, self._windows, self._late)


def _keys(by: str | Sequence[str]) -> list[str]:
    keys = [by] if isinstance(by, str) else list(by)
    if not keys or not all(isinstance(key, str) for key in keys):
        raise TypeMismatchError(f"groupby: expected names of columns: by={by!r}")
    return keys
