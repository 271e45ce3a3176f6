# SPDX-License-Identifier: Apache-2.0
"""What states of aggregates have alike: batches, merging, files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.lazy.handle import mark
from headrace.stream import checkpoint
from headrace.stream.open_rows import OpenRows

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from headrace.frame.dataframe import DataFrame


class State(ABC):
    """Aggregates of rows that come in batches.

    Whole morsels of rows are folded, the rows of the open one are kept: so the result does not
    depend on where a batch ends.
    """

    _kind: ClassVar[str]

    def __init__(self, dtypes: Mapping[str, str]) -> None:
        self._open = OpenRows(dtypes)
        self._folded: list[Any] = []
        #: The number of rows so far.
        self.rows: int = 0
        #: What was saved with the state: where its source goes on.
        self.position: Any = None

    def update(self, batch: DataFrame) -> None:
        """Fold the rows of a batch, which has the columns and dtypes of the first one.

        An error leaves the state as it was.
        """
        mark("incremental")
        frame = self._open.taken(batch)
        saved = self._snapshot()
        try:
            for piece, full in self._open.cut(frame):
                self._open.hold(piece)
                if full:
                    self._fold(self._open.rows())
                    self._open.clear()
            self.rows += frame._rows()
        except BaseException:
            self._restore(saved)
            raise

    def merge(self, other: Self) -> None:
        """Fold the rows of another state of the same aggregates, as if they came next.

        `other` is not changed. Where it has less than a morsel of rows, the bits are those of one
        state for all rows; else sums of floats may differ from these by roundings.
        """
        mark("incremental")
        if type(other) is not type(self) or other._words() != self._words():
            raise TypeMismatchError(
                f"merge: a state of other aggregates: own={self._words()}, "
                f"other={other._words() if isinstance(other, State) else type(other).__name__!r}; "
                "make both with the same calls"
            )
        if other._open.dtypes != self._open.dtypes:
            raise TypeMismatchError(
                f"merge: a state of other dtypes: own={self._open.dtypes}, "
                f"other={other._open.dtypes}; use astype"
            )
        held = other._open.rows()
        saved = self._snapshot()
        try:
            if other.rows > other._open.count:  # has folded morsels
                if self._open.count:
                    self._fold(self._open.rows())
                    self._open.clear()
                self._append(other)
                self.rows += other.rows - other._open.count
        except BaseException:
            self._restore(saved)
            raise
        if held._rows():
            self.update(held)

    @abstractmethod
    def value(self) -> DataFrame:
        """The aggregates of all rows so far."""

    def save(self, path: str | os.PathLike[str], position: Any = None) -> None:
        """Write the state to a file, which appears whole or not at all.

        Parameters
        ----------
        path : path
        position : optional
            What JSON can hold; `Stream.position` for one. `hr.stream.load` gives it back as
            ``state.position``: rows and position change together, so each row counts once.
        """
        mark("save")
        checkpoint.write(
            path,
            {
                "kind": self._kind,
                "words": self._words(),
                "dtypes": self._open.dtypes,
                "rows": self.rows,
                "open": self._open.count,
                "morsel": _core.morsel_rows(),
                "position": position,
                **self._more_words(),
            },
            [self._open.rows(), *(table for tables in self._tables() for table in tables)],
        )

    def _more_words(self) -> dict[str, Any]:
        return {"folded": [len(tables) for tables in self._tables()]}

    def _tables(self) -> list[list[DataFrame]]:
        return self._folded

    def _snapshot(self) -> Any:
        return self.rows, list(self._folded), self._open.snapshot()

    def _restore(self, saved: Any) -> None:
        self.rows, self._folded = saved[0], saved[1]
        self._open.restore(saved[2])

    @abstractmethod
    def _fold(self, rows: DataFrame) -> None:
        """Fold the rows of a morsel."""

    @abstractmethod
    def _append(self, other: Any) -> None:
        """Put the folded morsels of another state behind the own ones."""

    @abstractmethod
    def _words(self) -> dict[str, Any]:
        """What makes two states mergeable, as JSON."""


def check_name(name: Any) -> None:
    """Raise for a name of a column that no file can hold."""
    if not isinstance(name, str) and not (
        isinstance(name, tuple) and all(isinstance(each, str) for each in name)
    ):
        raise InvalidArgumentError(
            f"incremental: expected a string as the name of a column: name={name!r}; rename it"
        )
