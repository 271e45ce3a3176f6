# SPDX-License-Identifier: Apache-2.0
"""One value in several processes: shared segments on one machine, and pickle without copies."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import OutOfMemoryError, TypeMismatchError
from headrace.frame.columns import Columns, frame_of_table, is_frame
from headrace.lazy.handle import Deferred, array_of, mark
from headrace.series.column import series_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headrace.array.array import Array
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def _value_of(value: Any, op: str) -> tuple[Any, str | None]:
    """The engine's evaluated value, and the name of a series."""
    if isinstance(value, Deferred):
        name = getattr(value, "name", None)
        return value._value(), name if name is None else str(name)
    if is_frame(value):
        return value._table(), None
    raise TypeMismatchError(
        f"{op}: expected an array, a series or a frame: "
        f"type={type(value).__name__!r}; build one with asarray, Series or DataFrame"
    )


def _handle_on(value: Any, name: str | None) -> Array | Series | DataFrame:
    if isinstance(value, _core.Table):
        return frame_of_table(value)
    node = _core.data(value)
    return array_of(node) if isinstance(value, _core.Tensor) else series_of(node, name)


class SharedHandle:
    """A handle from `share`: a few bytes that another process turns into the value with `attach`.

    It can be pickled and sent; only the token is transferred. Others can attach while the sharing
    process keeps its handle; close it, leave its ``with`` block or drop it to stop sharing. Values
    already attached stay valid.
    """

    __slots__ = ("__weakref__", "_shared", "_token")

    def __init__(self, token: str, shared: _core.SharedValue | None = None) -> None:
        self._token = token
        self._shared = shared

    @property
    def token(self) -> str:
        """The handle as an ASCII string, for a pipe or an environment variable."""
        return self._token

    @property
    def nbytes(self) -> int:
        """Shared bytes; 0 for a handle that was received or closed."""
        return self._shared.nbytes if self._shared else 0

    @property
    def leases(self) -> int:
        """Number of attached values that hold the memory now; 0 if received or closed."""
        return self._shared.num_leases if self._shared else 0

    @property
    def was_attached(self) -> bool:
        """Whether a process has attached the value; False if received or closed."""
        return self._shared is not None and self._shared.was_attached

    def close(self) -> None:
        """Stop sharing."""
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
    """Share a value with other processes of this user on this machine, without a copy.

    Parameters
    ----------
    value : Array, Series or DataFrame
        Evaluated if necessary. Values made inside ``with hr.sharing():``, or attached, are shared
        in place; others are copied once into a shared segment, which the ledger records as
        requested.

    Returns
    -------
    SharedHandle
        Send it, or its `token`, and keep it until the others have attached.

    Raises
    ------
    OutOfMemoryError
        If the copy does not fit into the budget.

    Notes
    -----
    Linux only. The segments are sealed: others can read them, but neither write nor truncate them.
    The memory is charged here, once, until the last process releases it, and counts as foreign
    there. Only processes of the same user that know the random token can attach; treat the token as
    a password.

    >>> with hr.share(hr.asarray([1.0, 2.0])) as handle:
    ...     hr.attach(handle).tolist()  # usually in another process
    [1.0, 2.0]
    """
    mark("share")
    data, name = _value_of(value, "share")
    shared = _core.SharedValue(data, name)
    return SharedHandle(shared.token, shared)


def attach(handle: SharedHandle | str) -> Array | Series | DataFrame:
    """Attach a value shared by another process: the same memory, read-only, without a copy.

    Parameters
    ----------
    handle : SharedHandle or str
        The result of `share` there, or its token.

    Returns
    -------
    Array, Series or DataFrame
        Stays valid while it is held, even if the other process releases it or dies.

    Raises
    ------
    InvalidArgumentError
        For an invalid token, a value that is no longer shared, and inconsistent data: sizes,
        dtypes, strings and codes are checked before anything is read.
    InputError
        If the other process is gone, belongs to another user or does not answer within 10 seconds.

    >>> handle = hr.share(hr.DataFrame({"x": [1, None]}))
    >>> hr.attach(handle.token).x.to_list()
    [1, None]
    """
    mark("attach")
    token = handle.token if isinstance(handle, SharedHandle) else handle
    if not isinstance(token, str):
        raise TypeMismatchError(
            f"attach: expected a handle from share() or its token: type={type(handle).__name__!r}"
        )
    return _handle_on(*_core.attach(token))


@contextmanager
def sharing() -> Iterator[None]:
    """Allocate results in shared segments inside the block, so that `share` copies nothing.

    Applies to work that this thread starts and that runs inside the block; a lazy value evaluated
    later is allocated later. The first touch of a new segment is slower than that of other memory,
    so free segments are cached (`hr.memory.trim` returns them).

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
    """Implement ``__reduce_ex__``: a header, and the bytes in place.

    From protocol 5 on the bytes are `pickle.PickleBuffer`, which a ``buffer_callback`` takes
    without a copy and `pickle` itself copies otherwise; below, they are copied here.
    """
    mark("pickle")
    data, name = _value_of(value, "pickle")
    header, pieces = _core.serialize(data, "pickle", name)
    rejects = value._rejects if is_frame(value) else None
    if protocol >= 5:
        from pickle import PickleBuffer

        return (rebuilt, (header, rejects, *map(PickleBuffer, pieces)))
    size = sum(piece.num_elements for piece in pieces)
    _core.record_copy("pickle", "values go into the stream", size, True)
    return (rebuilt, (header, rejects, *map(bytes, pieces)))


def rebuilt(header: bytes, rejects: DataFrame | None, *buffers: Any) -> Any:
    """Rebuild a pickled value over the buffers that came with it; everything is checked."""
    mark("unpickle")
    value = _handle_on(*_core.deserialize(header, list(buffers), "unpickle"))
    if is_frame(value) and is_frame(rejects):
        value._rejects = rejects
    return value


def in_own_memory(value: Any) -> Any:
    """A value that was received, copied into memory that may spill; itself if there is no room.

    What it consists of is what `pickle` takes apart: labels and names stay, each part is copied.
    """
    make, parts = value.__reduce_ex__(5)
    if make is not rebuilt:
        kinds = (Columns, Deferred)
        made = make(*(in_own_memory(each) if isinstance(each, kinds) else each for each in parts))
    else:
        data, name = _value_of(value, "receive")
        try:
            made = _handle_on(_core.in_own_memory("receive", data), name)
        except OutOfMemoryError:
            return value
    if is_frame(value) and is_frame(made):
        made._rejects = value._rejects
    return made


__all__ = ["SharedHandle", "attach", "share", "sharing"]
