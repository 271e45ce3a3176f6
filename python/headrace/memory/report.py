# SPDX-License-Identifier: Apache-2.0
"""Who holds memory now, and who held it at the peak."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from headrace import _core
from headrace.memory.budget import Statistics
from headrace.memory.leaks import Holder, Holders
from headrace.memory.spill import Spill
from headrace.memory.tables import html_table, size_text, text_table


class Tier(NamedTuple):
    """Bytes of one memory tier."""

    name: str
    used: int  #: of live buffers, resident or spilled, other libraries included
    cached: int  #: free in pools
    pinned: int  #: of the used ones, those pinned by running work
    exported: int  #: of the used ones, those shared with other libraries
    external: int  #: of the used ones, those allocated by other libraries
    foreign: int  #: borrowed from other libraries, not charged
    limit: int | None


class Share(NamedTuple):
    """Bytes of one operator or line."""

    name: str
    bytes: int
    buffers: int


def _tier(name: str, now: Statistics | _core.MemoryStatistics, own: Sequence[Holder]) -> Tier:
    there = [holder for holder in own if holder.place.partition(":")[0] == name.partition(":")[0]]
    limit = now.limit_bytes
    return Tier(
        name,
        now.used_bytes,
        now.cached_bytes,
        sum(holder.pinned_bytes for holder in there),
        sum(holder.bytes for holder in there if holder.exported),
        now.external_bytes,
        now.foreign_bytes,
        None if limit == sys.maxsize else limit,
    )


class Peak(NamedTuple):
    """The peak of memory in use, and its holders."""

    bytes: int
    noted_bytes: int  #: in use when `holders` were recorded: 99 % of the peak or more
    time_ns: int  #: since 1970
    holders: list[Share]  #: operator and line; `buffers` is 0


def _line(op: str, line: str) -> str:
    return f"{op or 'untagged'} at {line}" if line else op or "untagged"


def _shares(holders: Sequence[Holder], name: Callable[[Holder], str]) -> list[Share]:
    sums: dict[str, list[int]] = {}
    for holder in holders:
        entry = sums.setdefault(name(holder), [0, 0])
        entry[0] += holder.bytes
        entry[1] += 1
    shares = [Share(key, *entry) for key, entry in sums.items()]
    return sorted(shares, key=lambda share: (-share.bytes, share.name))


class MemoryReport:
    """A snapshot of the memory, as text and HTML.

    Attributes
    ----------
    tiers : list of Tier
        The host, the disk, and with a device in use the devices and pinned memory that holds
        offloaded results (part of the host's used bytes).
    by_operator, by_line : list of Share
        Own bytes, largest first; borrowed memory is excluded.
    holders : Holders
        All live buffers, largest first, including borrowed ones.
    peak : Peak
    copied_bytes : int
        Total bytes in the ledger.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        now, spilled = Statistics(), Spill()
        self.holders: Holders = Holders(
            Holder(*holder) for holder in _core.largest_holders(sys.maxsize)
        )
        own = [holder for holder in self.holders if not holder.foreign]
        self.tiers: list[Tier] = [
            _tier("host", now, own),
            Tier("disk", spilled.disk_bytes, 0, 0, 0, 0, 0, spilled.limit_bytes),
        ]
        devices = _core.devices_in_use()
        if devices:
            pinned = sum(_core.device_tier_statistics(name)[0] for name in devices)
            self.tiers.append(Tier("pinned", pinned, 0, 0, 0, 0, 0, _core.pinned_limit()))
        self.tiers += [_tier(name, _core.memory_statistics(name), own) for name in devices]
        self.by_operator: list[Share] = _shares(own, lambda holder: holder.op or "untagged")
        self.by_line: list[Share] = _shares(own, lambda holder: _line(holder.op, holder.line))
        peak, noted, when, holders = _core.memory_peak()
        sums: dict[str, int] = {}
        for size, op, line in holders:
            sums[_line(op, line)] = sums.get(_line(op, line), 0) + size
        shares = [Share(name, size, 0) for name, size in sums.items()]
        shares.sort(key=lambda share: (-share.bytes, share.name))
        self.peak: Peak = Peak(peak, noted, when, shares)
        self.copied_bytes: int = _core.ledger_bytes()

    def _tables(self) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
        """Title, header and rows of each section."""

        def share_rows(shares: list[Share]) -> list[tuple[str, ...]]:
            rows: list[tuple[str, ...]] = [
                (size_text(share.bytes), f"{share.buffers:,}", share.name)
                for share in shares[: self._count]
            ]
            rest = shares[self._count :]
            if rest:
                total = sum(share.bytes for share in rest)
                buffers = sum(share.buffers for share in rest)
                rows.append((size_text(total), f"{buffers:,}", f"{len(rest):,} others"))
            return rows

        tiers = [
            (
                tier.name,
                *(size_text(size) for size in tier[1:7]),
                "none" if tier.limit is None else size_text(tier.limit),
            )
            for tier in self.tiers
        ]
        parts: list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]] = [
            ("memory", ("tier", *Tier._fields[1:]), tiers),
            ("by operator", ("bytes", "buffers", "operator"), share_rows(self.by_operator)),
            ("by line", ("bytes", "buffers", "operator and line"), share_rows(self.by_line)),
            (
                "largest buffers",
                ("bytes", "operator and line", "place"),
                [
                    (size_text(h.bytes), _line(h.op, h.line), h.state)
                    for h in self.holders[: self._count]
                ],
            ),
            (
                self._peak_title(),
                ("bytes", "operator and line"),
                [(size, name) for size, _, name in share_rows(self.peak.holders)],
            ),
        ]
        return [part for part in parts if part[2]]

    def _peak_title(self) -> str:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.peak.time_ns / 1e9))
        noted = (
            ""
            if self.peak.noted_bytes == self.peak.bytes
            else f", holders recorded at {size_text(self.peak.noted_bytes)}"
        )
        return f"peak: {size_text(self.peak.bytes)} at {when}{noted}"

    def __str__(self) -> str:
        parts = [f"{title}\n{text_table(header, rows)}" for title, header, rows in self._tables()]
        return "\n\n".join([*parts, f"copied: {self.copied_bytes:,} bytes"])

    __repr__ = __str__

    def __contains__(self, text: str) -> bool:
        """Whether the report's text contains a string."""
        return text in str(self)

    def _repr_html_(self) -> str:
        parts = [
            f"<h4>{html.escape(title)}</h4>{html_table(header, rows)}"
            for title, header, rows in self._tables()
        ]
        return "".join([*parts, f"<p>copied: {self.copied_bytes:,} bytes</p>"])


def report(count: int = 10) -> MemoryReport:
    """Describe memory: tiers, holders by operator and line, and the peak with its holders.

    Parameters
    ----------
    count : int
        How many operators, lines and buffers to list.

    Returns
    -------
    MemoryReport
        A snapshot: attributes, text, and HTML in notebooks.

    Notes
    -----
    The peak is that of the process. Its holders are recorded as it grows, in steps of 1 % (at least
    64 KiB), so they account for 99 % of the peak or more.

    >>> x = hr.asarray([1.0, 2.0]) * 2
    >>> _ = x.to_numpy()
    >>> report = hr.memory.report()
    >>> [tier.name for tier in report.tiers][0], report.peak.bytes >= 64
    ('host', True)
    >>> print(str(report).splitlines()[0])
    memory
    """
    return MemoryReport(count)
