# SPDX-License-Identifier: Apache-2.0
"""Recursive filters: coefficients or sections, forwards or both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.array.complex_numbers import complex_of, imag, is_complex, real
from headrace.array.create import full
from headrace.array.layout import axis_number, broadcast_to, concatenate, moveaxis, stack
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.lazy.handle import array_of, mark
from headrace.signal.operands import array_of_design, node_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    from headrace.array.array import Array

    Floats = npt.NDArray[np.float64]

#: Filters without feedback of more taps run by `fft_convolve`.
_MOST_RECURSIVE_TAPS = 9
#: Each row of a filter by taps is a node of the plan; more rows are filtered sample by sample.
_MOST_ROWS_BY_TAPS = 1024


class _Sections:
    """Sections of one order, each with a leading 1 in its denominator."""

    def __init__(self, op: str, b: Floats, a: Floats, single: bool) -> None:
        import numpy as np

        if not (np.isfinite(b).all() and np.isfinite(a).all()):
            raise InvalidArgumentError(
                f"{op}: a coefficient is not finite; design the filter again"
            )
        self.b, self.a, self.single = b, a, single
        self.order = b.shape[1] - 1
        self.count = b.shape[0]

    @property
    def arguments(self) -> tuple[int, list[float], list[float]]:
        return self.order, self.b.ravel().tolist(), self.a.ravel().tolist()

    def steady(self) -> Floats:
        """The state of each section after a long 1 at the first one."""
        import numpy as np

        made = np.zeros((self.count, self.order))
        level = 1.0
        for s, (b, a) in enumerate(zip(self.b, self.a, strict=True)):
            made[s] = level * _steady(b, a)
            level *= b.sum() / a.sum()
        return made


def _steady(b: Floats, a: Floats) -> Floats:
    """The state z of b, a (a[0] is 1) for which a signal of ones gives constants."""
    import numpy as np

    order = len(b) - 1
    step = np.zeros((order, order))
    if order:
        step[:, 0] = -a[1:]
        step[np.arange(order - 1), np.arange(1, order)] = 1.0
    return np.linalg.solve(np.eye(order) - step, b[1:] - a[1:] * b[0])


def _is_single(*arrays: Any) -> bool:
    return all(str(array.dtype) == "float32" for array in arrays)


def _coefficients(op: str, b: Any, a: Any) -> _Sections:
    import numpy as np

    given = [np.atleast_1d(np.asarray(each)) for each in (b, a)]
    for name, each in zip("ba", given, strict=True):
        if each.ndim != 1 or each.size == 0:
            raise InvalidArgumentError(
                f"{op}: the coefficients have not one dimension: {name}.shape={each.shape}"
            )
        if np.iscomplexobj(each):
            raise UnsupportedError(f"{op}: complex coefficients: {name}.dtype={each.dtype}")
    single = _is_single(*given)
    numerator, denominator = (each.astype(float) for each in given)
    first = np.flatnonzero(denominator)
    if not len(first):
        raise InvalidArgumentError(f"{op}: all of a is zero: a={denominator.tolist()}")
    if first[0] > 0 and op != "lfilter_zi":
        raise InvalidArgumentError(
            f"{op}: the first coefficient of a is zero: a={denominator.tolist()}; leave the "
            "leading zeros out"
        )
    denominator = denominator[first[0] :]
    length = max(len(numerator), len(denominator))
    rows = np.zeros((2, 1, length))
    rows[0, 0, : len(numerator)] = numerator / denominator[0]
    rows[1, 0, : len(denominator)] = denominator / denominator[0]
    return _Sections(op, rows[0], rows[1], single)


def _second_order(op: str, sos: Any) -> _Sections:
    import numpy as np

    given = np.asarray(sos)
    if given.ndim != 2 or given.shape[1] != 6 or given.shape[0] == 0:
        raise InvalidArgumentError(
            f"{op}: the sections are not rows of 6 numbers: sos.shape={given.shape}"
        )
    if np.iscomplexobj(given):
        raise UnsupportedError(f"{op}: complex coefficients: sos.dtype={given.dtype}")
    rows = given.astype(float)
    if not (rows[:, 3] == 1).all():
        raise InvalidArgumentError(
            f"{op}: the fourth number of a section is not 1: sos[:, 3]={rows[:, 3].tolist()}; "
            "divide each row by it"
        )
    return _Sections(op, rows[:, :3], rows[:, 3:], _is_single(given))


def float_array(x: Any) -> Array:
    """An array of float32 or float64 numbers; complex ones as they are."""
    array = array_of(node_of(x))
    kind = str(array.dtype)
    return array if kind.startswith(("float32", "float64", "complex")) else array.astype("float64")


def _parts(array: Array, state: Any, function: Callable[[Array, Any], Any]) -> Any:
    """A linear function of complex numbers and a state from those of their parts.

    None for real ones. With a state there are two results.
    """
    given = None if state is None else float_array(state)
    if not (is_complex(array) or (given is not None and is_complex(given))):
        return None
    if given is None:
        return complex_of(*(function(part(array), None) for part in (real, imag)))
    (y, after), (imaginary_y, imaginary_after) = (
        function(part(array).astype("float64"), part(given)) for part in (real, imag)
    )
    return complex_of(y, imaginary_y), complex_of(after, imaginary_after)


def _filtered(op: str, sections: _Sections, array: Array, axis: int, initial: Any) -> Any:
    values, state = _core.recursive_filter(
        op, array._node, *sections.arguments, axis, sections.single, initial
    )
    return array_of(values), None if state is None else array_of(state)


def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter along an axis by the coefficients of a transfer function, as ``scipy.signal.lfilter``.

    ``a[0] y[n] = b[0] x[n] + b[1] x[n-1] + ... - a[1] y[n-1] - ...``

    Parameters
    ----------
    b, a : array_like
        Real coefficients.
    x : array_like
        Numbers of one or more dimensions, without nulls.
    axis : int
        The axis of time.
    zi : array_like, optional
        The state at the first sample, as `lfilter_zi` or an earlier call gives it: of the shape of
        `x` with ``max(len(a), len(b)) - 1`` along `axis`, or one that broadcasts to it.

    Returns
    -------
    Array, or (Array, Array)
        float64 (float32 if all of `b`, `a` and `x` are; complex for complex `x`); with `zi`, the
        state after the last sample too, from which the next piece of the signal goes on.

    Raises
    ------
    ValueError
        If all of `a` is zero, a coefficient is not finite, or `zi` has another shape.

    Notes
    -----
    O(n) in float64, in parallel: signals of 65,664 samples and more are cut at fixed places, and
    the state at each cut comes from the samples before it: from as many as the filter remembers
    down to 2**-200, or from all. The same bits for any number of threads. Filters without feedback
    of more than 9 taps run by `fft_convolve`. A high order in this form rounds badly: use
    `sosfilt`.

    >>> hr.signal.lfilter([1.0], [1.0, -0.5], [1.0, 0.0, 0.0]).tolist()
    [1.0, 0.5, 0.25]
    """
    mark("lfilter")
    sections = _coefficients("lfilter", b, a)
    array = float_array(x)
    parts = _parts(array, zi, lambda part, state: lfilter(b, a, part, axis, state))
    if parts is not None:
        return parts
    along = axis_number("lfilter", axis, array.ndim)
    by_taps = sections.order >= _MOST_RECURSIVE_TAPS and not sections.a[0, 1:].any()
    if by_taps and array.ndim > 1:
        by_taps = 0 < array.size <= array.shape[along] * _MOST_ROWS_BY_TAPS
    if zi is None:
        if not by_taps:
            return _filtered("lfilter", sections, array, along, None)[0]
        if array.ndim == 1:
            return _by_taps(array, sections)
    others = [size for d, size in enumerate(array.shape) if d != along] if array.ndim > 1 else []
    wanted = (*others, sections.order)
    state = None if zi is None else _broadcast_state("lfilter", float_array(zi), along, wanted)
    if state is None or by_taps:  # without a state only many taps come here
        return _rows_by_taps(array, sections, along, state)
    y, after = _filtered("lfilter", sections, array, along, state._node)
    return y, moveaxis(after.reshape(wanted), -1, along)


def _broadcast_state(op: str, state: Array, along: int, wanted: tuple[int, ...]) -> Array:
    """A state whose numbers lie along axis `along`, with them last, of the shape `wanted`."""
    if str(state.dtype) != "float64":
        state = state.astype("float64")
    if state.ndim != len(wanted):
        raise InvalidArgumentError(
            f"{op}: the initial state has another number of dimensions: zi.ndim={state.ndim}, "
            f"wanted={len(wanted)}"
        )
    state = moveaxis(state, along, -1)
    if any(own not in (1, size) for own, size in zip(state.shape, wanted, strict=True)) or (
        state.shape[-1] != wanted[-1]
    ):
        raise InvalidArgumentError(
            f"{op}: the initial state does not fit the signal: zi.shape={state.shape}, "
            f"wanted={wanted}, both with the filter's axis last"
        )
    return broadcast_to(state, wanted)


def _by_taps(array: Array, sections: _Sections) -> Array:
    """A filter without feedback: the first sums of the convolution with its taps."""
    taps = sections.b[0]
    if sections.single:
        taps = taps.astype("float32")
    elif str(array.dtype) != "float64":
        array = array.astype("float64")
    full = _core.fft_convolve(array._node, array_of_design(taps.copy())._node, "full")
    return array_of(_core.trim(full, 0, len(taps) - 1))


def _rows_by_taps(array: Array, sections: _Sections, along: int, state: Array | None) -> Any:
    """The same along an axis, each row by itself: rounding knows nothing of other rows."""
    lines = moveaxis(array, along, -1)
    count, more = lines.shape[-1], sections.order
    zeros = full((*lines.shape[:-1], more), 0, str(lines.dtype))
    padded = concatenate([lines, zeros], -1)
    rows = padded.reshape(-1, padded.shape[-1])
    sums = stack([_by_taps(rows[i], sections) for i in range(rows.shape[0])])
    sums = sums.reshape(padded.shape)
    if state is None:
        return moveaxis(sums[..., :count], -1, along)
    kind = str(sums.dtype)
    sums = concatenate([sums[..., :more] + state, sums[..., more:].astype("float64")], -1)
    made = sums[..., :count], sums[..., count:]
    return moveaxis(made[0].astype(kind), -1, along), moveaxis(made[1], -1, along)


def lfilter_zi(b: Any, a: Any) -> Array:
    """The state of `lfilter` in which a signal of ones gives constants, from the first sample on.

    As ``scipy.signal.lfilter_zi``; multiply it by the first sample.

    Raises
    ------
    ValueError
        If all of `a` is zero.

    >>> hr.signal.lfilter_zi([0.5, 0.5], [1.0]).tolist()
    [0.5]
    """
    return array_of_design(_coefficients("lfilter_zi", b, a).steady()[0])


def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter along an axis by sections of order 2, as ``scipy.signal.sosfilt``.

    Parameters
    ----------
    sos : array_like of shape (n_sections, 6)
        Rows ``b0, b1, b2, 1, a1, a2``, as `butter` makes them with ``output="sos"``.
    x : array_like
        Numbers of one or more dimensions, without nulls.
    axis : int
        The axis of time.
    zi : array_like, optional
        The state at the first sample, as `sosfilt_zi` or an earlier call gives it: of shape
        ``(n_sections, ..., 2, ...)``, the shape of `x` with 2 along `axis`.

    Returns
    -------
    Array, or (Array, Array)
        float64 (float32 if `sos` and `x` are; complex for complex `x`); with `zi`, the state after
        the last sample too.

    Raises
    ------
    ValueError
        If `sos` has not rows of 6 numbers with a 1 in the fourth place, or `zi` another shape.

    Notes
    -----
    As `lfilter`.

    >>> sos = hr.signal.butter(2, 0.5, output="sos")
    >>> hr.signal.sosfilt(sos, [1.0] * 50)[-1].item().__round__(6)
    1.0
    """
    mark("sosfilt")
    sections = _second_order("sosfilt", sos)
    array = float_array(x)
    parts = _parts(array, zi, lambda part, state: sosfilt(sos, part, axis, state))
    if parts is not None:
        return parts
    along = axis_number("sosfilt", axis, array.ndim)
    if zi is None:
        return _filtered("sosfilt", sections, array, along, None)[0]
    state = float_array(zi)
    others = [size for d, size in enumerate(array.shape) if d != along] if array.ndim > 1 else []
    shape = (sections.count, *others[:along], 2, *others[along:])
    if state.shape != shape:
        raise InvalidArgumentError(
            f"sosfilt: the initial state does not fit the signal: zi.shape={state.shape}, "
            f"wanted={shape}"
        )
    state = moveaxis(moveaxis(state, along + 1, -1), 0, -2)
    y, after = _filtered("sosfilt", sections, array, along, state.astype("float64")._node)
    after = after.reshape((*others, sections.count, 2))
    return y, moveaxis(moveaxis(after, -2, 0), -1, along + 1)


def sosfilt_zi(sos: Any) -> Array:
    """The state of `sosfilt` in which a signal of ones gives constants.

    As ``scipy.signal.sosfilt_zi``: shape ``(n_sections, 2)``; multiply it by the first sample.

    >>> hr.signal.sosfilt_zi(hr.signal.butter(4, 0.2, output="sos")).shape
    (2, 2)
    """
    return array_of_design(_second_order("sosfilt_zi", sos).steady())


def _both_ways(
    op: str, sections: _Sections, x: Any, axis: int, padtype: Any, padlen: Any, usual: int
) -> Array:
    array = float_array(x)
    parts = _parts(
        array, None, lambda part, _: _both_ways(op, sections, part, axis, padtype, padlen, usual)
    )
    if parts is not None:
        return parts
    along = axis_number(op, axis, array.ndim)
    length = 0 if padtype is None else usual if padlen is None else int(padlen)
    if length < 0:
        raise InvalidArgumentError(f"{op}: padlen is negative: padlen={padlen}; pass 0 or more")
    return array_of(
        _core.recursive_filter_both_ways(
            op,
            array._node,
            *sections.arguments,
            along,
            sections.single,
            sections.steady().ravel().tolist(),
            "none" if padtype is None else str(padtype),
            length,
        )
    )


def filtfilt(
    b: Any,
    a: Any,
    x: Any,
    axis: int = -1,
    padtype: str | None = "odd",
    padlen: int | None = None,
    method: str = "pad",
) -> Array:
    """Filter forwards and backwards, so that no phase is shifted, as ``scipy.signal.filtfilt``.

    Parameters
    ----------
    b, a, x, axis
        As for `lfilter`.
    padtype : {"odd", "even", "constant", None}
        How the signal goes on beyond its ends.
    padlen : int, optional
        By how many samples: ``3 * max(len(a), len(b))`` by default.
    method : {"pad"}
        Gustafsson's method is not there.

    Returns
    -------
    Array
        Of the shape of `x`.

    Raises
    ------
    ValueError
        If the signal is not longer than `padlen`.
    UnsupportedError
        For another method.

    Notes
    -----
    As `lfilter`, in the memory of the result.

    >>> b, a = hr.signal.butter(2, 0.5)
    >>> [round(v, 6) for v in hr.signal.filtfilt(b, a, [1.0] * 12).tolist()[:2]]
    [1.0, 1.0]
    """
    mark("filtfilt")
    if method != "pad":
        raise UnsupportedError(f"filtfilt: this method is not there: method={method!r}; use 'pad'")
    sections = _coefficients("filtfilt", b, a)
    return _both_ways("filtfilt", sections, x, axis, padtype, padlen, 3 * (sections.order + 1))


def sosfiltfilt(
    sos: Any, x: Any, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None
) -> Array:
    """Filter forwards and backwards by sections of order 2, as ``scipy.signal.sosfiltfilt``.

    As `filtfilt`, with sections as for `sosfilt`.

    >>> sos = hr.signal.butter(2, 0.5, output="sos")
    >>> [round(v, 6) for v in hr.signal.sosfiltfilt(sos, [1.0] * 12).tolist()[:2]]
    [1.0, 1.0]
    """
    mark("sosfiltfilt")
    sections = _second_order("sosfiltfilt", sos)
    at_zero = min(int((sections.b[:, 2] == 0).sum()), int((sections.a[:, 2] == 0).sum()))
    usual = 3 * (2 * sections.count + 1 - at_zero)
    return _both_ways("sosfiltfilt", sections, x, axis, padtype, padlen, usual)
