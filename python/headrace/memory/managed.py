# SPDX-License-Identifier: Apache-2.0
"""CUDA managed memory: pages that migrate between the host and a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.memory.resources import Resource

if TYPE_CHECKING:
    from headrace.array.array import Array
    from headrace.series.series import Series


def managed_resource(device: int = 0) -> Resource:
    """Return the resource of CUDA managed memory: pages that migrate between host and GPU.

    Opt-in: `hr.memory.limit` with ``device="cuda"`` moves whole results ahead of use, while managed
    memory migrates pages on access. New blocks are placed on the GPU at once, and are charged to
    its budget.

    Parameters
    ----------
    device : int
        The GPU that the memory prefers.

    Returns
    -------
    Resource
        For `use_resource`. A request beyond the card's free memory raises `OutOfMemoryError`.

    Raises
    ------
    DeviceError
        If there is no such GPU.

    See Also
    --------
    prefetch, advise

    >>> with hr.memory.use_resource(hr.memory.managed_resource()):  # doctest: +SKIP
    ...     x = hr.eval(hr.asarray([1.0, 2.0]).to("cuda"))
    """
    return _core.managed_resource(device)


def prefetch(x: Array | Series, device: str) -> None:
    """Copy values to a GPU, or move the pages of managed memory, ahead of use.

    Parameters
    ----------
    x : Array or Series
        On the host: a copy is made on the GPU and kept there while `x` is in use, for ``x.to()``
        and for plans of ``hr.device("auto")``; it is dropped when the GPU is short of memory. Not
        kept if NumPy may still write the memory of `x`. Allocated while a `managed_resource` was in
        use: its pages move.
    device : str
        The destination: ``"cuda"``, or ``"cpu"`` for managed memory. The call is asynchronous;
        later GPU work waits for it.

    Raises
    ------
    InvalidArgumentError
        If `x` is on a GPU, in memory that is not managed.
    DeviceError
        If there is no such device.

    >>> hr.memory.prefetch(x, "cuda")  # doctest: +SKIP
    """
    if x.device == "host" and device not in ("cpu", "host"):
        _core.prefetch(x._node, device)
    else:
        _core.prefetch_managed(x._value_there(), device)


Advice = Literal[
    "read_mostly", "not_read_mostly", "preferred", "not_preferred", "accessed", "not_accessed"
]


def advise(x: Array | Series, advice: Advice, by: str = "cuda") -> None:
    """Tell CUDA how managed memory will be used.

    Parameters
    ----------
    x : Array or Series
        Allocated while a `managed_resource` was in use.
    advice : str
        ``"read_mostly"``: readers get copies; ``"preferred"``: pages stay with `by`;
        ``"accessed"``: `by` reads them where they are. The prefix ``"not_"`` revokes it.
    by : str
        ``"cuda"`` or ``"cpu"``.

    >>> hr.memory.advise(x, "read_mostly")  # doctest: +SKIP
    """
    known = get_args(Advice)
    if advice not in known:
        raise InvalidArgumentError(
            f"advise: invalid value: advice={advice!r}; expected {', '.join(map(repr, known))}"
        )
    _core.advise_managed(x._value_there(), known.index(advice) + 1, by)
