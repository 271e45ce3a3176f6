# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions of `numpy.fft` by our own transforms, with NumPy's parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.array.construct import asarray

if TYPE_CHECKING:
    from collections.abc import Callable

    from headrace.array.array import Array


def _transform(name: str, a: Array, norm: str | None, **kwargs: Any) -> Array:
    from headrace.array_api import fft  # loads the whole namespace

    made: Array = getattr(fft, name)(asarray(a), norm=norm or "backward", **kwargs)
    return made


def _of_lines(name: str) -> Callable[..., Array]:
    def call(a: Array, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
        return _transform(name, a, norm, n=n, axis=axis)

    return call


def _over_axes(name: str, last: tuple[int, ...] | None = None) -> Callable[..., Array]:
    def call(a: Array, s: Any = None, axes: Any = last, norm: str | None = None) -> Array:
        if s is not None and -1 in s:
            places = range(-len(s), 0) if axes is None else axes
            s = [a.shape[at] if n == -1 else n for n, at in zip(s, places, strict=True)]
        return _transform(name, a, norm, s=s, axes=axes)

    return call


def _shift(name: str) -> Callable[..., Array]:
    def call(x: Array, axes: Any = None) -> Array:
        from headrace.array_api import fft

        made: Array = getattr(fft, name)(asarray(x), axes=axes)
        return made

    return call


#: By the name of NumPy's function.
TRANSFORMS: dict[str, Callable[..., Array]] = {
    **{name: _of_lines(name) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{name: _over_axes(name) for name in ("fftn", "ifftn", "rfftn", "irfftn")},
    **{f"{name}2": _over_axes(f"{name}n", (-2, -1)) for name in ("fft", "ifft", "rfft", "irfft")},
    **{name: _shift(name) for name in ("fftshift", "ifftshift")},
}
