# SPDX-License-Identifier: Apache-2.0
"""CSV text that comes piece by piece: its columns are those of the first rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError, input_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headrace.frame.dataframe import DataFrame


class CsvRows:
    """How pieces of CSV text become frames; see `headrace.stream.stream.Format`."""

    def __init__(
        self,
        options: Mapping[str, Any],
        read: Callable[[bytes, Mapping[str, Any]], DataFrame],
        core_options: Callable[[Mapping[str, Any]], _core.CsvOptions],
    ) -> None:
        self._options = dict(options)
        self._read, self._core_options = read, core_options
        self._syntax = core_options(options)
        #: All columns of the text, and the dtypes of those that are read.
        self._names: list[str] | None = None
        self._dtypes: dict[str, str] = {}

    def whole_rows(self, text: bytes) -> int:
        """See `Format`."""
        size: int = _core.csv_whole_rows(text, self._syntax)
        return size

    def frame(self, text: bytes, *, first: bool) -> DataFrame | None:
        """See `Format`."""
        given = dict(self._options)
        if first:
            if text.count(b"\n") <= given.get("skip_rows", given.get("skiprows", 0)):
                return None  # no row after those that are skipped
            names = self._all_names(text)
            if self._names is not None and names != self._names:
                raise input_error(
                    f"read_csv: the text goes on with other columns: columns={names}, "
                    f"expected={self._names}; read it with a stream of its own",
                    "",
                )
        else:
            names = self._names or []
            given |= {"names": names, "header": False, "skip_rows": 0}
        if self._names is not None:
            given["dtypes"] = self._dtypes
        frame = self._read(text, given)
        if self._names is None:
            rejects = frame._rejects
            if not frame._rows() and (rejects is None or not rejects._rows()):
                return None  # a header alone does not tell dtypes
            self._names = names
            self._dtypes = {name: str(node.dtype) for name, node in frame._nodes.items()}
        return frame

    def _all_names(self, text: bytes) -> list[str]:
        chosen = ("columns", "dtypes", "usecols", "dtype")
        words = {name: each for name, each in self._options.items() if name not in chosen}
        return list(_core.CsvScan(text, self._core_options(words)).names)

    def saved(self) -> Any:
        """See `Format`."""
        return {"names": self._names, "dtypes": self._dtypes}

    def restore(self, saved: Any) -> None:
        """See `Format`."""
        names, dtypes = saved["names"], saved["dtypes"]
        listed = [*names, *dtypes, *dtypes.values()]
        if not isinstance(names, list) or not all(type(each) is str for each in listed):
            raise InvalidArgumentError(f"read_csv: not a position: schema={saved!r}")
        self._names, self._dtypes = names, dict(dtypes)
