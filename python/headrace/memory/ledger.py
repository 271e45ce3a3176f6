# SPDX-License-Identifier: Apache-2.0
"""The ledger of copies and moves, and blocks that refuse them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from headrace import _core
from headrace.memory.tables import html_table, text_table


class LedgerEntry(NamedTuple):
    """One copy or conversion of values that existed before."""

    op: str
    reason: str
    bytes: int
    source: str
    target: str
    line: str
    asked: bool
    seconds: float


class Ledger:
    """Copies and conversions since process start or the last `clear`; a snapshot.

    Attributes
    ----------
    entries : list of LedgerEntry
        Oldest first.
    """

    _HEADER = ("operator", "reason", "bytes", "from", "to", "line", "asked")

    def __init__(self) -> None:
        self.entries: list[LedgerEntry] = [LedgerEntry(*entry) for entry in _core.ledger_entries()]

    @property
    def total_bytes(self) -> int:
        """Total bytes copied or converted."""
        return sum(entry.bytes for entry in self.entries) - self.moved_bytes

    @property
    def moved_bytes(self) -> int:
        """Total bytes moved to disk or back because of the memory limit."""
        return sum(e.bytes for e in self.entries if "disk" in (e.source, e.target))

    @property
    def unasked_bytes(self) -> int:
        """Bytes of implicit copies; moves under a memory limit do not count."""
        return sum(entry.bytes for entry in self.entries if not entry.asked)

    def clear(self) -> None:
        """Clear the ledger, here and in the engine."""
        _core.clear_ledger()
        self.entries = []

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[LedgerEntry]:
        return iter(self.entries)

    def __getitem__(self, index: int) -> LedgerEntry:
        return self.entries[index]

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (e.op, e.reason, f"{e.bytes:,}", e.source, e.target, e.line, "yes" if e.asked else "no")
            for e in self.entries
        ]

    def __repr__(self) -> str:
        total = self._total()
        if not self.entries:
            return total
        return text_table(self._HEADER, self._rows()) + "\n" + total

    def _repr_html_(self) -> str:
        return html_table(self._HEADER, self._rows()) + f"<p>{self._total()}</p>"

    def _total(self) -> str:
        moves = sum("disk" in (e.source, e.target) for e in self.entries)
        text = f"{self.total_bytes:,} bytes in {len(self) - moves} copies"
        return f"{text}, {self.moved_bytes:,} bytes moved under the limit" if moves else text


def ledger() -> Ledger:
    """List every copy, conversion and move made by the engine.

    Operator outputs are not copies; a new form of existing values is.

    Returns
    -------
    Ledger
        A snapshot: entries, total bytes, text and HTML reprs, and `clear`.

    >>> hr.memory.ledger().clear()
    >>> hr.memory.ledger()
    0 bytes in 0 copies
    """
    return Ledger()


def no_copies(*, strict: bool = False) -> _core.NoCopies:
    """Refuse copies inside the ``with`` block, in all threads.

    Parameters
    ----------
    strict : bool
        Also refuse explicitly requested ones, such as ``copy=True``.

    Returns
    -------
    context manager
        The first copy inside raises `InvalidArgumentError` with operator and reason.

    >>> with hr.no_copies():
    ...     pass
    """
    return _core.NoCopies(strict)
