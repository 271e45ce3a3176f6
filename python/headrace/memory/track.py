# SPDX-License-Identifier: Apache-2.0
"""Blocks whose buffers record the Python stack that allocated them."""

from __future__ import annotations

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.memory.leaks import Holder, Holders


class Track:
    """Buffers made inside its ``with`` block record their stack."""

    def __init__(self) -> None:
        self._serial = 0
        self._former = False

    def __enter__(self) -> Track:
        self._former = _core.stack_tracking()
        self._serial = _core.last_serial()
        _core.set_stack_tracking(True)
        return self

    def __exit__(self, *args: object) -> None:
        _core.set_stack_tracking(self._former)

    def live(self) -> Holders:
        """The buffers made since the block began that are still held."""
        return Holders(Holder(*holder) for holder in _core.holders_since(self._serial))

    def __repr__(self) -> str:
        return repr(self.live())

    def _repr_html_(self) -> str:
        return self.live()._repr_html_()


def track(*, stacks: bool = True) -> Track:
    """Make buffers record the Python stack that allocated them.

    The stack is that of the line that made the array or frame, even if it is computed later and by
    another thread. `leaks`, `leak_check` and `Track.live` show it. Requires the memory trace.

    Parameters
    ----------
    stacks : bool
        Whether to record stacks; operator and line are always known.

    Returns
    -------
    Track
        A context manager that applies to all threads. Blocks nest.

    Raises
    ------
    ValueError
        If `stacks` is False.

    Notes
    -----
    Costs about 1 us per stack frame for each operation inside; outside only a check of a flag.

    >>> with hr.memory.track(stacks=True) as tracked:
    ...     x = hr.signal.ricker(1000, 5.0)
    ...     _ = x.to_numpy()
    >>> [(holder.bytes, holder.op) for holder in tracked.live()]
    [(8000, 'ricker')]
    """
    if not stacks:
        raise InvalidArgumentError(
            "track: nothing to record: stacks=False; operator and line are always known"
        )
    return Track()
