# SPDX-License-Identifier: Apache-2.0
"""Who holds memory: live buffers, and blocks that must leave none behind."""

from __future__ import annotations

import gc
from typing import NamedTuple

from headrace import _core
from headrace.errors import InternalError
from headrace.memory.tables import size_text


class Holder(NamedTuple):
    """A live buffer, or all small blocks that another library made at one line."""

    bytes: int
    op: str
    line: str
    place: str
    foreign: bool
    exported: bool
    external: bool  #: allocated by another library, in our memory (`use_for`)


def leaks() -> list[Holder]:
    """List the live memory that Headrace gave, also to other libraries, after a garbage collection.

    Returns
    -------
    list of Holder
        In the order in which they were made. What a handle, a view or another library still holds
        is in it: it is a leak only if nothing should.

    Examples
    --------
    >>> import headrace as hr
    >>> all(holder.bytes >= 0 for holder in hr.memory.leaks())
    True
    """
    gc.collect()
    return [Holder(*holder) for holder in _core.holders_since(0)]


class LeakCheck:
    """Raises at the end of its ``with`` block when buffers made inside are still held."""

    def __enter__(self) -> LeakCheck:
        gc.collect()
        self._serial = _core.last_serial()
        return self

    def __exit__(self, kind: type[BaseException] | None, *args: object) -> None:
        if kind is not None:
            return
        gc.collect()
        held = [Holder(*holder) for holder in _core.holders_since(self._serial)]
        if not held:
            return
        total = sum(holder.bytes for holder in held)
        lines = "".join(
            f"\n  {size_text(h.bytes)} by {h.op or 'untagged'}{' at ' + h.line if h.line else ''}"
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
        Raises `InternalError` at its end when buffers that were made inside are still held, with
        their bytes, operator and line. Raises nothing when the block itself failed.

    Examples
    --------
    >>> import headrace as hr
    >>> with hr.memory.leak_check():
    ...     pass
    """
    return LeakCheck()
