# SPDX-License-Identifier: Apache-2.0
"""Rows of a stream that wait until their morsel is full: the engine folds whole ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace import _core
from headrace.errors import ColumnNotFoundError, TypeMismatchError
from headrace.frame.columns import frame_of, is_frame
from headrace.frame.concat import rows_of
from headrace.rows import engine_names
from headrace.series.column import new_series

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from headrace.frame.dataframe import DataFrame

_OP = "incremental"


class OpenRows:
    """The rows of some columns since the last whole morsel."""

    def __init__(self, dtypes: Mapping[str, str]) -> None:
        self.dtypes: dict[str, str] = dict(dtypes)
        #: Rows of the open morsel that were seen; `filter` may have taken some of them away.
        self.count: int = 0
        self._pieces: list[tuple[int, DataFrame]] = []

    def taken(self, batch: DataFrame) -> DataFrame:
        """The columns in use, with their values; raises for other columns and dtypes."""
        if not is_frame(batch):
            raise TypeMismatchError(
                f"{_OP}: expected a frame: batch={type(batch).__name__}; pass hr.DataFrame(batch)"
            )
        for name, dtype in self.dtypes.items():
            if name not in batch._nodes:
                raise ColumnNotFoundError(
                    f"{_OP}: a batch without a column: column={name!r}, "
                    f"columns={engine_names(batch._nodes)}; add it, or start a state of this batch"
                )
            if batch._nodes[name].dtype != dtype:
                raise TypeMismatchError(
                    f"{_OP}: a batch with another dtype: column={name!r}, "
                    f"dtype={batch._nodes[name].dtype!r}, expected={dtype!r}; use astype, or "
                    "dtypes= of the reader"
                )
        return _ready({name: batch._nodes[name] for name in self.dtypes})

    def cut(self, frame: DataFrame) -> Iterator[tuple[DataFrame, bool]]:
        """The rows of a batch piece by piece; whether their morsel is full with them."""
        rows, begin = frame._rows(), 0
        while begin < rows:
            end = min(rows, begin + _core.morsel_rows() - self.count)
            piece = frame
            if end - begin < rows:
                nodes = {n: _core.slice(v, begin, end - begin) for n, v in frame._nodes.items()}
                piece = _ready(nodes)
            self.count += end - begin
            yield piece, self.count == _core.morsel_rows()
            begin = end

    def hold(self, frame: DataFrame) -> None:
        """Keep rows; small pieces are joined to few large ones."""
        self._pieces.append((frame._rows(), frame))
        while len(self._pieces) > 1 and self._pieces[-2][0] <= 2 * self._pieces[-1][0]:
            last, before = self._pieces.pop(), self._pieces.pop()
            self._pieces.append((last[0] + before[0], _joined([before[1], last[1]])))

    def rows(self) -> DataFrame:
        """All rows that are held; a frame without rows if there are none."""
        if not self._pieces:
            return _ready({n: new_series([], dtype=d)._node for n, d in self.dtypes.items()})
        if len(self._pieces) > 1:
            whole = _joined([frame for _, frame in self._pieces])
            self._pieces = [(whole._rows(), whole)]
        return self._pieces[0][1]

    def clear(self) -> None:
        """Let the rows go: their morsel was folded."""
        self.count, self._pieces = 0, []

    def replace(self, frame: DataFrame) -> None:
        """Hold these rows alone, without another count."""
        self._pieces = [(frame._rows(), frame)] if frame._rows() else []

    def snapshot(self) -> tuple[int, list[tuple[int, DataFrame]]]:
        """What `restore` takes: frames do not change."""
        return self.count, list(self._pieces)

    def restore(self, saved: tuple[int, list[tuple[int, DataFrame]]]) -> None:
        """Be as at the snapshot."""
        self.count, self._pieces = saved[0], list(saved[1])


def _ready(nodes: dict[str, _core.Node]) -> DataFrame:
    """Columns that have their values, as one row set."""
    _core.force(list(nodes.values()))
    domain = _core.new_domain()
    return frame_of({name: _core.in_domain(node, domain) for name, node in nodes.items()})


def _joined(frames: list[DataFrame]) -> DataFrame:
    return _ready(dict(rows_of(frames)._nodes))
