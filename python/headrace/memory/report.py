# SPDX-License-Identifier: Apache-2.0
"""The memory described in one text."""

from __future__ import annotations

from headrace import _core
from headrace.memory.budget import Statistics
from headrace.memory.leaks import Holder
from headrace.memory.tables import size_text, text_table


def report(count: int = 10) -> str:
    """Describe the memory in a text: statistics, the largest holders, and copies.

    Parameters
    ----------
    count : int
        How many holders are named.

    Returns
    -------
    str
        Several lines.

    Examples
    --------
    >>> import headrace as hr
    >>> print(hr.memory.report().splitlines()[0].split()[0])
    used_bytes
    """
    holders = [Holder(*holder) for holder in _core.largest_holders(count)]
    text = repr(Statistics())
    if holders:
        rows = [
            (
                size_text(h.bytes),
                h.op or "untagged",
                h.line,
                h.place
                + (", foreign" if h.foreign else "")
                + (", external" if h.external else "")
                + (", exported" if h.exported else ""),
            )
            for h in holders
        ]
        text += "\n\n" + text_table(("held", "operator", "line", "place"), rows)
    return text + f"\n\ncopied: {_core.ledger_bytes():,} bytes"
