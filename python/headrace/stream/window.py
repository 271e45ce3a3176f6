# SPDX-License-Identifier: Apache-2.0
"""Windows of time over a stream: which ones a row belongs to, and when they close."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import frame_of
from headrace.series.column import new_series, series_over
from headrace.time_units import length_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame

_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def span_of(op: str, word: str, value: Any) -> int:
    """A length of time in nanoseconds; raises for what is none, and for a negative one."""
    found = length_of(op, value)
    if found < 0:
        raise InvalidArgumentError(f"{op}: a length of time is negative: {word}={value!r}")
    return found


class Windows:
    """Windows of one length that begin at multiples of a step."""

    def __init__(self, op: str, size: Any, on: str, every: Any, lateness: Any) -> None:
        self.op: str = op
        self.on: str = on
        self.size: int = span_of(op, "size", size)
        self.every: int = self.size if every is None else span_of(op, "every", every)
        self.lateness: int = span_of(op, "lateness", lateness)
        if not self.size or not self.every or self.size % self.every:
            raise InvalidArgumentError(
                f"{op}: windows begin at a step that divides their length: size={size!r}, "
                f"every={every!r}; for example size='10min', every='5min'"
            )
        #: The latest time so far, in nanoseconds.
        self.latest: int | None = None

    def placed(self, batch: DataFrame) -> tuple[DataFrame, DataFrame]:
        """The rows once for each of their windows, which begin at `on`; and those that are late."""
        import numpy as np

        times, missing, unit = self._times(batch)
        before = np.maximum.accumulate(np.where(missing, np.iinfo(np.int64).min, times))
        start = np.iinfo(np.int64).min if self.latest is None else self.latest
        before = np.concatenate([[start], np.maximum(before, start)])
        if len(times) and before[-1] > np.iinfo(np.int64).min:
            self.latest = int(before[-1])
        begins = times // self.every * self.every
        copies = self.size // self.every
        back = np.arange(copies - 1, -1, -1, dtype=np.int64) * self.every
        each = begins[:, None] - back[None, :]
        closed = np.full(each.shape, False)
        known = before[:-1] > np.iinfo(np.int64).min
        closed[known] = each[known] + self.size <= (before[:-1][known] - self.lateness)[:, None]
        closed[missing] = True
        rows, places = np.nonzero(~closed)
        made = _taken(batch, rows)
        column = series_over(each[rows, places] // _UNITS[unit])
        made[self.on] = column.astype(batch._nodes[self.on].dtype)
        return made, _taken(batch, np.nonzero(closed.all(axis=1))[0])

    def _times(self, batch: DataFrame) -> tuple[Any, Any, str]:
        """Times in nanoseconds, which are missing, and the unit of the column."""
        node = batch._nodes[batch._find(self.on)]
        dtype = str(node.dtype)
        if not dtype.startswith("datetime64["):
            raise TypeMismatchError(
                f"{self.op}: expected a column of times: on={self.on!r}, dtype={dtype!r}; use "
                "hr.to_datetime, or dtypes={name: 'datetime64[us]'}"
            )
        unit = dtype[len("datetime64[") :].rstrip("]").split(",")[0]
        times = batch[self.on]
        missing = times.isna().to_numpy()
        numbers = times.astype("int64").fill_null(0).to_numpy()
        return numbers * _UNITS[unit], missing, unit

    def closed_before(self) -> int | None:
        """Windows that begin no later, in nanoseconds, get no more rows; None: all may."""
        return None if self.latest is None else self.latest - self.lateness - self.size

    def moment(self, nanoseconds: int) -> Any:
        """A time of a number, for comparisons with the column."""
        import numpy as np

        return np.datetime64(nanoseconds, "ns")

    def words(self) -> dict[str, Any]:
        """The windows and the latest time, as JSON."""
        return {
            "on": self.on,
            "size": self.size,
            "every": self.every,
            "lateness": self.lateness,
            "latest": self.latest,
        }

    def restore(self, words: Any) -> None:
        """Take the latest time of a file; raises for other windows."""
        own = self.words()
        latest = words["latest"] if isinstance(words, dict) else ""
        if not isinstance(latest, int | None) or {**own, "latest": latest} != words:
            raise InvalidArgumentError(
                f"{self.op}: the state is of other windows: own={own}, found={words!r}; use "
                "another checkpoint"
            )
        self.latest = latest


def _taken(frame: DataFrame, rows: Any) -> DataFrame:
    at = new_series(rows)._node
    domain = _core.new_domain()
    nodes = [_core.take(node, at) for node in frame._nodes.values()]
    _core.force(nodes)
    return frame_of(
        {n: _core.in_domain(node, domain) for n, node in zip(frame._nodes, nodes, strict=True)}
    )
