# SPDX-License-Identifier: Apache-2.0
"""Lines that come piece by piece, each of them a row: JSON lines and logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of
from headrace.series.column import new_series

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headrace.frame.dataframe import DataFrame


class Lines:
    """How pieces of lines become frames; see `headrace.stream.stream.Format`.

    All frames have the columns and dtypes of the first one, with these `dtypes`.
    """

    def __init__(
        self,
        op: str,
        read: Callable[[bytes, dict[str, str]], DataFrame],
        dtypes: Mapping[str, str],
    ) -> None:
        self._op, self._read, self._given = op, read, dict(dtypes)
        self._dtypes: dict[str, str] | None = None

    def whole_rows(self, text: bytes) -> int:
        """See `Format`."""
        return text.rfind(b"\n") + 1

    def frame(self, text: bytes, *, first: bool) -> DataFrame | None:
        """See `Format`."""
        frame = self._read(text, self._given if self._dtypes is None else self._dtypes)
        if self._dtypes is None:
            if not frame._rows():
                return frame if frame._rejects is not None and frame._rejects._rows() else None
            found = {name: str(node.dtype) for name, node in frame._nodes.items()}
            self._dtypes = {**found, **{n: d for n, d in self._given.items() if n not in found}}
        return self._with_columns(frame)

    def _with_columns(self, frame: DataFrame) -> DataFrame:
        """The columns of the first frame: null where no line of this one has the key."""
        assert self._dtypes is not None
        rows, nodes = frame._rows(), {}
        domain = _core.new_domain()
        for name, dtype in self._dtypes.items():
            node = frame._nodes.get(name)
            if node is None:
                node = new_series([None] * rows, dtype=dtype)._node
            nodes[name] = _core.in_domain(node, domain)
        made = frame_of(nodes)
        made._rejects = frame._rejects
        return made

    def saved(self) -> Any:
        """See `Format`."""
        return self._dtypes

    def restore(self, saved: Any) -> None:
        """See `Format`."""
        each = [*saved, *saved.values()]
        if not all(type(one) is str for one in each):
            raise InvalidArgumentError(f"{self._op}: not a position: schema={saved!r}")
        self._dtypes = dict(saved)
