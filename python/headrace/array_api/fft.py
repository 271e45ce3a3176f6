# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms of the array API standard: the transform of lines, axis by axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace import fft as lines
from headrace.array import create, layout
from headrace.array.complex_numbers import conj
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, OutOfBoundsError
from headrace.lazy.handle import array_of

if TYPE_CHECKING:
    from headrace.array.array import Array

    Axes = tuple[int, ...] | None

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]
#: Columns that the engine transforms together: fewer are turned into rows, which costs less.
_TOGETHER = 8
_OTHER_WAY = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _check_norm(op: str, norm: Any) -> None:
    if norm is not None and not isinstance(norm, str):
        raise InvalidArgumentError(
            f"{op}: unknown norm: norm={norm!r}; pass 'backward', 'ortho' or 'forward'"
        )


def _along(name: str, x: Any, n: int | None, axis: int, norm: str) -> Array:
    along = layout.axis_number(name, axis, x.ndim)
    _check_norm(name, norm)
    if along == x.ndim - 1:
        return getattr(lines, name)(x, n, norm)
    if name in ("fft", "ifft") and x.shape[-1] >= _TOGETHER:
        return _over_axes(x, [(along, n)], name == "ifft", norm)
    return layout.moveaxis(getattr(lines, name)(layout.moveaxis(x, along, -1), n, norm), -1, along)


def _over_axes(x: Array, steps: list[tuple[int, int | None]], inverse: bool, norm: str) -> Array:
    """Complex transforms along axes, each of a length; the last of equal axes comes first."""
    name = "ifft" if inverse else "fft"
    axes = [axis for axis, _ in steps]
    if len(set(axes)) < len(axes) or x.ndim < 2 or x.shape[-1] < _TOGETHER:
        for axis, n in reversed(steps):
            x = _along(name, x, n, axis, norm)
        return x
    if not axes:
        return x
    _check_norm(name, norm)
    for axis, n in steps:
        x = _resized(name, x, axis, n)
    if x.ndim - 1 not in axes and not str(x.dtype).startswith("complex"):
        x = x.astype("complex64" if str(x.dtype) == "float32" else "complex128")
    return array_of(_core.fftn(x._node, axes, inverse, norm))


def _resized(op: str, x: Array, axis: int, n: int | None) -> Array:
    """The first `n` elements of an axis, zeros after its end."""
    size = x.shape[axis]
    if n is None or n == size:
        return x
    if n < 1:
        raise InvalidArgumentError(f"{op}: the length must be positive: n={n}; pass n >= 1")
    if n < size:
        return x[(*[slice(None)] * axis, slice(0, n))]
    shape = (*x.shape[:axis], n - size, *x.shape[axis + 1 :])
    return layout.concatenate([x, create.zeros(shape, str(x.dtype))], axis)


def _sizes(op: str, x: Any, s: Any, axes: Any) -> list[tuple[int, int | None]]:
    if axes is None:
        axes = range(x.ndim) if s is None else range(-len(s), 0)
    places = [layout.axis_number(op, axis, x.ndim) for axis in axes]
    sizes = [None] * len(places) if s is None else list(s)
    if len(sizes) != len(places):
        raise InvalidArgumentError(f"{op}: s and axes differ in length: s={s}, axes={axes}")
    return list(zip(places, sizes, strict=True))


def _at_least_one(op: str, x: Any, s: Any, axes: Any) -> list[tuple[int, int | None]]:
    found = _sizes(op, x, s, axes)
    if not found:
        raise OutOfBoundsError(f"{op}: there is no axis to transform: axes={axes}; name one")
    return found


def fft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Array:
    """The transform along an axis.

    >>> hr.array_api.fft.fft(hr.asarray([1 + 0j, 0j])).tolist()
    [(1+0j), (1+0j)]
    """
    return _along("fft", x, n, axis, norm)


def ifft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Array:
    """The inverse transform along an axis.

    >>> hr.array_api.fft.ifft(hr.asarray([2 + 0j, 0j])).tolist()
    [(1+0j), (1+0j)]
    """
    return _along("ifft", x, n, axis, norm)


def fftn(x: Any, /, *, s: Axes = None, axes: Axes = None, norm: Any = "backward") -> Array:
    """The transform along several axes.

    >>> hr.array_api.fft.fftn(hr.asarray([[1 + 0j]])).tolist()
    [[(1+0j)]]
    """
    return _over_axes(x, _sizes("fftn", x, s, axes), False, norm)


def ifftn(x: Any, /, *, s: Axes = None, axes: Axes = None, norm: Any = "backward") -> Array:
    """The inverse transform along several axes.

    >>> hr.array_api.fft.ifftn(hr.asarray([[1 + 0j]])).tolist()
    [[(1+0j)]]
    """
    return _over_axes(x, _sizes("ifftn", x, s, axes), True, norm)


def rfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Array:
    """The transform of real numbers along an axis: the terms that the others mirror.

    >>> hr.array_api.fft.rfft(hr.asarray([1.0, 0.0])).tolist()
    [(1+0j), (1+0j)]
    """
    return _along("rfft", x, n, axis, norm)


def irfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Array:
    """The inverse of `rfft`: real numbers.

    >>> hr.array_api.fft.irfft(hr.asarray([1 + 0j, 1 + 0j])).tolist()
    [1.0, 0.0]
    """
    return _along("irfft", x, n, axis, norm)


def rfftn(x: Any, /, *, s: Axes = None, axes: Axes = None, norm: Any = "backward") -> Array:
    """The transform of real numbers along several axes.

    >>> hr.array_api.fft.rfftn(hr.asarray([[1.0]])).tolist()
    [[(1+0j)]]
    """
    *others, (axis, n) = _at_least_one("rfftn", x, s, axes)
    # Equal axes have the length that they begin with, as in NumPy.
    others = [(each, x.shape[each] if size is None else size) for each, size in others]
    return _over_axes(rfft(x, n=n, axis=axis, norm=norm), others, False, norm)


def irfftn(x: Any, /, *, s: Axes = None, axes: Axes = None, norm: Any = "backward") -> Array:
    """The inverse of `rfftn`: real numbers.

    >>> hr.array_api.fft.irfftn(hr.asarray([[2 + 0j, 0j]])).tolist()
    [[1.0, 1.0]]
    """
    *others, (axis, n) = _at_least_one("irfftn", x, s, axes)
    others.reverse()  # equal axes in their order, as NumPy
    return irfft(_over_axes(x, others, True, norm), n=n, axis=axis, norm=norm)


def hfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Array:
    """The transform of what mirrors itself: real numbers.

    >>> hr.array_api.fft.hfft(hr.asarray([1 + 0j, 0j])).tolist()
    [1.0, 1.0]
    """
    return irfft(conj(x), n=n, axis=axis, norm=_OTHER_WAY.get(norm, norm))


def ihfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Array:
    """The inverse of `hfft`.

    >>> hr.array_api.fft.ihfft(hr.asarray([1.0, 1.0])).shape
    (2,)
    """
    return conj(rfft(x, n=n, axis=axis, norm=_OTHER_WAY.get(norm, norm)))


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """Frequencies of the terms of `fft`.

    >>> hr.array_api.fft.fftfreq(2).tolist()
    [0.0, -0.5]
    """
    return _frequencies(lines.fftfreq(n, d), dtype, device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """Frequencies of the terms of `rfft`.

    >>> hr.array_api.fft.rfftfreq(2).tolist()
    [0.0, 0.5]
    """
    return _frequencies(lines.rfftfreq(n, d), dtype, device)


def _frequencies(made: Array, dtype: Any, device: Any) -> Array:
    made = made if dtype is None else made.astype(str(dtype))
    return made if device is None else made.to_device(device)


def _shifted_axes(op: str, x: Any, axes: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """Numbers of axes; one that is named twice is shifted twice, as in NumPy."""
    if axes is None:
        axes = tuple(range(x.ndim))
    named = (axes,) if isinstance(axes, int) else axes
    return tuple(layout.axis_number(op, axis, x.ndim) for axis in named)


def fftshift(x: Any, /, *, axes: int | tuple[int, ...] | None = None) -> Array:
    """Terms with frequency zero in the middle.

    >>> hr.array_api.fft.fftshift(hr.asarray([0.0, 1.0, -1.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    places = _shifted_axes("fftshift", x, axes)
    return layout.roll(asarray(x), tuple(x.shape[d] // 2 for d in places), places)


def ifftshift(x: Any, /, *, axes: int | tuple[int, ...] | None = None) -> Array:
    """The inverse of `fftshift`.

    >>> hr.array_api.fft.ifftshift(hr.asarray([-1.0, 0.0, 1.0])).tolist()
    [0.0, 1.0, -1.0]
    """
    places = _shifted_axes("ifftshift", x, axes)
    return layout.roll(asarray(x), tuple(-(x.shape[d] // 2) for d in places), places)
