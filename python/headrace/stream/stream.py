# SPDX-License-Identifier: Apache-2.0
"""`Stream`: frames that come one after the other, and where they go on."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from headrace.errors import InputError, InvalidArgumentError, TypeMismatchError, input_error
from headrace.stream.flow import GroupedFlow, WindowedFlow
from headrace.stream.text_sources import GrowingFile, Pieces
from headrace.stream.window import Windows, span_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.stream.text_sources import Source


class Stream(ABC):
    """Frames of the rows that have come, one batch after the other.

    From a reader with ``follow=True`` or `hr.stream.from_kafka`. A batch has the rows that were
    there; all batches have the columns and dtypes of the first one. Iterate over it, or let
    `groupby` and `window` fold the batches.

    Attributes
    ----------
    position : dict
        Where the stream goes on behind the last batch, as JSON: for ``position=`` of the call that
        made it. With a state (`GroupState.save`) both are saved together.
    """

    position: Any = None
    #: Whether no more rows can come; not where `close` ended the stream.
    is_over: bool = False

    def __iter__(self) -> Iterator[DataFrame]:
        return self._batches()

    @abstractmethod
    def _batches(self) -> Iterator[DataFrame]:
        """Batches with rows; sets `position` before each of them."""

    @abstractmethod
    def close(self) -> None:
        """End the stream when what is there was read; from any thread."""

    @abstractmethod
    def seek(self, position: Any) -> None:
        """Go on from a position, before the first batch."""

    def committed(self) -> None:  # noqa: B027 (most sources keep nothing)
        """What was read so far has been processed: sources that keep that are told."""

    def groupby(
        self, by: str | Sequence[str], *, sort: bool = True, dropna: bool = True
    ) -> GroupedFlow:
        r"""Groups of all rows of the stream; ``.agg(...)`` folds them batch by batch.

        >>> stream = hr.read_csv(iter([b"k,v\na,1\nb,2\n", b"a,3\n"]), follow=True)
        >>> for frame in stream.groupby("k").agg(total=("v", "sum")):
        ...     print(frame.to_dict())
        {'total': [1, 2]}
        {'total': [4, 2]}
        """
        return GroupedFlow(self, by, sort=sort, dropna=dropna)

    def window(
        self,
        size: Any,
        on: str,
        *,
        every: Any = None,
        lateness: Any = "0s",
        late: Callable[[DataFrame], Any] | None = None,
    ) -> WindowedFlow:
        r"""Windows of time, which are given out when no more rows are expected for them.

        Parameters
        ----------
        size : str or timedelta
            How long a window is: ``"5min"``.
        on : str
            The column of times. Windows begin at multiples of `every` since 1970.
        every : str or timedelta, optional
            How long after one window the next one begins; a divisor of `size`. By default `size`:
            windows do not overlap.
        lateness : str or timedelta
            A window is closed when a row comes whose time is this long behind the window's end.
        late : callable, optional
            Gets a frame of the rows of a batch all of whose windows were closed before they came,
            or that have no time. Without it they are counted in ``flow.late_rows`` only.

        Whether a row is late depends on the rows before it, not on how they came in batches.

        >>> text = [b"t,v\n2024-01-01 00:00:10,1\n", b"2024-01-01 00:01:05,2\n"]
        >>> stream = hr.read_csv(iter(text), follow=True)
        >>> for frame in stream.window("1min", on="t").agg(total=("v", "sum")):
        ...     print(frame.total.to_list())
        [1]
        [2]
        """
        return WindowedFlow(self, Windows("window", size, on, every, lateness), late)


class Format(Protocol):
    """How text becomes frames."""

    def whole_rows(self, text: bytes) -> int:
        """Bytes of the whole rows that the text begins with."""

    def frame(self, text: bytes, *, first: bool) -> DataFrame | None:
        """Its rows; `first`: there may be a header before them. None: not enough."""

    def saved(self) -> Any:
        """What it knows of the columns, as JSON."""

    def restore(self, saved: Any) -> None:
        """The way back."""


class TextStream(Stream):
    """Rows of text that comes piece by piece."""

    def __init__(self, op: str, source: Source, format: Format, path: str) -> None:
        self._op, self._source, self._format, self._path = op, source, format, path
        self._line, self._first = 0, True
        self._waiting = b""
        self._began = False
        self.position: Any = None
        self.is_over: bool = False

    def seek(self, position: Any) -> None:
        """See `Stream.seek`."""
        if self._began:
            raise InvalidArgumentError(
                f"{self._op}: the stream was read already: position={position!r}; make a new one"
            )
        if not (isinstance(position, dict) and type(position.get("first")) is bool):
            raise InvalidArgumentError(
                f"{self._op}: not a position: position={position!r}; pass what Stream.position gave"
            )
        try:
            self._source.seek(position)
            self._format.restore(position["schema"])
            self._line, self._first = int(position["line"]), position["first"]
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            if isinstance(error, InputError | InvalidArgumentError):
                raise
            raise InvalidArgumentError(
                f"{self._op}: not a position: position={position!r}; pass what Stream.position gave"
            ) from error
        self.position = position

    def close(self) -> None:
        """See `Stream.close`."""
        self._source.close()

    def _batches(self) -> Iterator[DataFrame]:
        self._began = True
        for event, data in self._source.events():
            if event == "cut":
                self._waiting, self._first, self._line = b"", True, 0
            elif event == "more":
                self._waiting += data
                yield from self._made(self._format.whole_rows(self._waiting))
            elif event == "end":
                if self._waiting:
                    self._waiting += b"\n"
                    yield from self._made(len(self._waiting))
                self._waiting, self._first, self._line = b"", True, 0
        self.is_over = not self._source.is_closed()

    def _made(self, size: int) -> Iterator[DataFrame]:
        """The frame of the first bytes that wait, if it has rows."""
        if not size:
            return
        text = self._waiting[:size]
        try:
            frame = self._format.frame(text, first=self._first)
        except InputError as error:
            raise self._placed(error) from error
        if frame is None:
            return
        self._waiting = self._waiting[size:]
        if frame._rejects is not None:
            frame._rejects = frame._rejects.assign(line=frame._rejects.line + self._line)
        self._line += text.count(b"\n")
        self._first = False
        self.position = {
            **self._source.place(len(self._waiting)),
            "line": self._line,
            "first": self._first,
            "schema": self._format.saved(),
        }
        if frame._rows() or (frame._rejects is not None and frame._rejects._rows()):
            yield frame

    def _placed(self, error: InputError) -> Exception:
        """The error with the file and the line in it, not in the piece."""
        message, line = str(error), error.line + self._line
        if error.line:
            message = message.replace(f"line={error.line}", f"line={line}", 1)
        message = message.replace(f"path={error.path!r}", f"path={self._path!r}", 1)
        return input_error(message, self._path, error.errno or 0, line, error.column)


def text_stream(op: str, source: Any, format: Format, poll: Any, position: Any) -> TextStream:
    """A stream over a path, an iterable of bytes, or a file object."""
    seconds = span_of(op, "poll", poll) / 1e9
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        made = TextStream(op, GrowingFile(path, op, seconds), format, path)
    elif hasattr(source, "read"):
        pieces = iter(lambda: source.read(1 << 16), b"")
        made = TextStream(op, Pieces(pieces, op), format, "<stream>")
    elif isinstance(source, Iterator):
        made = TextStream(op, Pieces(source, op), format, "<stream>")
    else:
        raise TypeMismatchError(
            f"{op}: expected a path, a file object or an iterator of bytes: "
            f"source={type(source).__name__!r}, follow=True"
        )
    if position is not None:
        made.seek(position)
    return made
