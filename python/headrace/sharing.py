# SPDX-License-Identifier: Apache-2.0
"""One value in several processes: shared segments on one machine, and pickle without copies."""

from __future__ import annotations

import pickle
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.deferred import Deferred, mark
from headrace.errors import TypeMismatchError
from headrace.frame import DataFrame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headrace.array import Array
    from headrace.series import Series


def _value_of(value: Any, op: str) -> tuple[Any, str | None]:
    """The engine's value, computed, and the name of a series."""
    if isinstance(value, Deferred):
        return value._value(), getattr(value, "name", None)
    if isinstance(value, DataFrame):
        return value._table(), None
    raise TypeMismatchError(
        f"{op}: this is no array, series or frame: type={type(value).__name__!r}; "
        "make one with asarray, Series or DataFrame"
    )


def _handle_on(value: Any, name: str | None) -> Array | Series | DataFrame:
    from headrace.array import Array
    from headrace.series import Series

    if isinstance(value, _core.Table):
        return DataFrame._from_table(value)
    node = _core.data(value)
    return Array(node) if isinstance(value, _core.Tensor) else Series(node, name)


class SharedHandle:
    """What `share` gives: a few bytes that another process turns into the value with `attach`.

    It can be pickled and sent; what arrives is the token alone. Others can attach as long as the
    handle of the process that shares lives; close it, leave its ``with`` block or drop it to end
    that. Whoever attached before keeps the value.
    """

    __slots__ = ("__weakref__", "_shared", "_token")

    def __init__(self, token: str, shared: _core.SharedValue | None = None) -> None:
        self._token = token
        self._shared = shared

    @property
    def token(self) -> str:
        """A line of ASCII that stands for the handle, for a pipe or an environment variable."""
        return self._token

    @property
    def nbytes(self) -> int:
        """Bytes that are shared; 0 for a handle that was sent or closed."""
        return self._shared.nbytes if self._shared else 0

    @property
    def leases(self) -> int:
        """How many values attached elsewhere hold the memory now; 0 for one sent or closed."""
        return self._shared.num_leases if self._shared else 0

    def close(self) -> None:
        """Let nobody else attach."""
        self._shared = None

    def __enter__(self) -> SharedHandle:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return (SharedHandle, (self._token,))

    def __repr__(self) -> str:
        if self._shared is None:
            return "SharedHandle(of another process, or closed)"
        return f"SharedHandle({_core.format_bytes(self.nbytes)}, {self.leases} attached)"


def share(value: Array | Series | DataFrame) -> SharedHandle:
    """Let other processes of this user on this machine use a value without a copy.

    Parameters
    ----------
    value : Array, Series or DataFrame
        Is computed if it was not. What was made inside ``with hr.sharing():``, or attached, is
        shared as it lies; all else is copied once into a shared segment, which the ledger shows as
        asked.

    Returns
    -------
    SharedHandle
        Send it, or its `token`, and keep it until the others have attached.

    Raises
    ------
    OutOfMemoryError
        When the copy does not fit into the budget.

    Notes
    -----
    Only Linux. The segments are sealed: others can read and neither write nor cut them. The memory
    is charged here, once, until the last process lets go of it, and counts as foreign there. Only
    processes of the same user that know the random token get it; treat the token as a password.

    Examples
    --------
    >>> import headrace as hr
    >>> with hr.share(hr.asarray([1.0, 2.0])) as handle:
    ...     hr.attach(handle).tolist()  # usually in another process
    [1.0, 2.0]
    """
    mark("share")
    data, name = _value_of(value, "share")
    shared = _core.SharedValue(data, name)
    return SharedHandle(shared.token, shared)


def attach(handle: SharedHandle | str) -> Array | Series | DataFrame:
    """Use a value that another process shares: the same memory, read-only, 0 bytes copied.

    Parameters
    ----------
    handle : SharedHandle or str
        What `share` returned there, or its token.

    Returns
    -------
    Array, Series or DataFrame
        Stays valid as long as it is held, also when the other process lets go of it or dies.

    Raises
    ------
    InvalidArgumentError
        For a token that is none, a value that is not shared any more, and an answer that
        contradicts itself: sizes, dtypes, strings and codes are checked before anything is read.
    InputError
        When the other process is gone, is another user's or does not answer within 10 seconds.

    Examples
    --------
    >>> import headrace as hr
    >>> handle = hr.share(hr.DataFrame({"x": [1, None]}))
    >>> hr.attach(handle.token).x.to_list()
    [1, None]
    """
    mark("attach")
    token = handle.token if isinstance(handle, SharedHandle) else handle
    if not isinstance(token, str):
        raise TypeMismatchError(
            f"attach: this is no handle: type={type(handle).__name__!r}; "
            "pass what share() returned, or its token"
        )
    return _handle_on(*_core.attach(token))


@contextmanager
def sharing() -> Iterator[None]:
    """Make what runs in the block in shared segments, so that `share` copies nothing.

    Holds for work that this thread starts and that runs inside the block; a deferred value that is
    looked at later is made later. The first touch of a new segment costs more than that of other
    memory, so segments that are free wait for the next block (`hr.memory.trim` gives them back).

    Examples
    --------
    >>> import headrace as hr
    >>> with hr.sharing():
    ...     x = hr.asarray([1.0, 2.0]) * 2
    ...     hr.eval(x)
    >>> with hr.no_copies(strict=True):
    ...     handle = hr.share(x)
    """
    scope = _core.SharingScope()
    scope.enter()
    try:
        yield
    finally:
        scope.exit()


# ---- pickle --------------------------------------------------------------------------------------
def reduced(value: Any, protocol: int) -> tuple[Any, ...]:
    """Answer ``__reduce_ex__``: a header, and the bytes as they lie.

    From protocol 5 on the bytes are `pickle.PickleBuffer`, which a ``buffer_callback`` takes
    without a copy and `pickle` itself copies otherwise; below, they are copied here.
    """
    mark("pickle")
    data, name = _value_of(value, "pickle")
    header, pieces = _core.serialize(data, "pickle", name)
    rejects = getattr(value, "rejects", None) if isinstance(value, DataFrame) else None
    if protocol >= 5:
        return (rebuilt, (header, rejects, *map(pickle.PickleBuffer, pieces)))
    size = sum(piece.num_elements for piece in pieces)
    _core.record_copy("pickle", "values go into the stream", size, True)
    return (rebuilt, (header, rejects, *map(bytes, pieces)))


def rebuilt(header: bytes, rejects: DataFrame | None, *buffers: Any) -> Any:
    """Make a pickled value again, over the buffers that came with it; everything is checked."""
    mark("unpickle")
    value = _handle_on(*_core.deserialize(header, list(buffers), "unpickle"))
    if isinstance(value, DataFrame) and isinstance(rejects, DataFrame):
        value.rejects = rejects
    return value


__all__ = ["SharedHandle", "attach", "share", "sharing"]
