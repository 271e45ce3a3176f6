# SPDX-License-Identifier: Apache-2.0
"""Leak checks: live buffers, and blocks that must leave none behind."""

from __future__ import annotations

import gc
from typing import NamedTuple

from headrace import _core
from headrace.errors import InternalError
from headrace.memory.tables import html_table, size_text, text_table


class Holder(NamedTuple):
    """A live buffer, or all small blocks that another library made at one line."""

    bytes: int
    op: str
    line: str
    place: str
    foreign: bool
    exported: bool
    external: bool  #: allocated by another library, in our memory (`use_for`)
    stack: str = ""  #: the calling lines, innermost first, if `track` was on
    pinned_bytes: int = 0  #: of its bytes, those pinned in memory by running work

    @property
    def state(self) -> str:
        """Where the buffer is, and who else holds it."""
        words = ("foreign", "external", "exported")
        return ", ".join([self.place, *(word for word in words if getattr(self, word))])


class Holders(list[Holder]):
    """Live buffers, shown as a table, the largest first."""

    _HEADER = ("bytes", "operator", "line", "place")

    @property
    def total_bytes(self) -> int:
        """Total bytes."""
        return sum(holder.bytes for holder in self)

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (f"{h.bytes:,}", h.op or "untagged", h.line, h.state)
            for h in sorted(self, key=lambda h: -h.bytes)[:20]
        ]

    def _total(self) -> str:
        shown = ", the 20 largest shown" if len(self) > 20 else ""
        return f"{self.total_bytes:,} bytes in {len(self):,} buffers{shown}"

    def __repr__(self) -> str:
        if not self:
            return self._total()
        stacks = "".join(
            f"\n{h.bytes:,} bytes by {h.op or 'untagged'}:\n{indented(h.stack)}"
            for h in sorted(self, key=lambda h: -h.bytes)[:20]
            if h.stack
        )
        return text_table(self._HEADER, self._rows()) + "\n" + self._total() + stacks

    def _repr_html_(self) -> str:
        return html_table(self._HEADER, self._rows()) + f"<p>{self._total()}</p>"


def indented(stack: str) -> str:
    """Lines of a stack, indented."""
    return "\n".join("    " + line for line in stack.splitlines())


def leaks() -> Holders:
    """List live memory allocated by Headrace, for other libraries too, after a garbage collection.

    Returns
    -------
    Holders
        A list of `Holder` in creation order, shown as a table of bytes, operator and line, with
        stacks if `track` was on. It includes memory held by live handles, views and other
        libraries: an entry is a leak only if nothing should hold it.

    >>> all(holder.bytes >= 0 for holder in hr.memory.leaks())
    True
    """
    gc.collect()
    return Holders(Holder(*holder) for holder in _core.holders_since(0))


class LeakCheck:
    """Raises at the end of its ``with`` block if buffers made inside are still held."""

    def __enter__(self) -> LeakCheck:
        gc.collect()
        self._serial = _core.last_serial()
        return self

    def __exit__(self, kind: type[BaseException] | None, *args: object) -> None:
        if kind is not None:
            return
        gc.collect()
        held = Holders(Holder(*holder) for holder in _core.holders_since(self._serial))
        if not held:
            return
        total = held.total_bytes
        lines = "".join(
            f"\n  {size_text(h.bytes)} by {h.op or 'untagged'}{' at ' + h.line if h.line else ''}"
            + (f"\n{indented(h.stack)}" if h.stack else "")
            for h in sorted(held, key=lambda h: -h.bytes)[:10]
        )
        error = InternalError(
            f"leak_check: buffers are still held: buffers={len(held)}, bytes={total}; "
            f"drop the handles, views or exports that hold them{lines}"
        )
        error.held_bytes = total
        raise error


def leak_check() -> LeakCheck:
    """Check that a ``with`` block leaves no memory behind.

    Returns
    -------
    context manager
        Raises `InternalError` at its end if buffers made inside are still held, with bytes,
        operator and line, and inside `track` their stacks. Raises nothing if the block itself
        failed.

    >>> with hr.memory.leak_check():
    ...     pass
    """
    return LeakCheck()
