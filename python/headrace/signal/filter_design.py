# SPDX-License-Identifier: Apache-2.0
"""Designs of recursive filters: Butterworth and Chebyshev, by zeros and poles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.signal.operands import array_of_design

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Complexes = npt.NDArray[np.complex128]
    Roots = tuple[Complexes, Complexes, float]
    Output = Literal["ba", "zpk", "sos"]

_BANDS = {
    "lowpass": "lowpass",
    "low": "lowpass",
    "lp": "lowpass",
    "l": "lowpass",
    "highpass": "highpass",
    "high": "highpass",
    "hp": "highpass",
    "h": "highpass",
    "bandpass": "bandpass",
    "band": "bandpass",
    "pass": "bandpass",
    "bp": "bandpass",
    "bandstop": "bandstop",
    "stop": "bandstop",
    "bands": "bandstop",
    "bs": "bandstop",
}
_KINDS = {
    "butter": "butter",
    "butterworth": "butter",
    "cheby1": "cheby1",
    "chebyshev1": "cheby1",
    "chebyshevi": "cheby1",
    "cheby2": "cheby2",
    "chebyshev2": "cheby2",
    "chebyshevii": "cheby2",
}


# ---- low-pass prototypes, with the edge at 1 rad/s -----------------------------------------------
def _butterworth(order: int) -> Roots:
    import numpy as np

    m = np.arange(-order + 1, order, 2)
    return np.zeros(0, complex), -np.exp(1j * np.pi * m / (2 * order)), 1.0


def _chebyshev1(order: int, ripple: float) -> Roots:
    import numpy as np

    if order == 0:
        return np.zeros(0, complex), np.zeros(0, complex), float(10 ** (-ripple / 20))
    eps = np.sqrt(10 ** (0.1 * ripple) - 1.0)
    mu = np.arcsinh(1 / eps) / order
    theta = np.pi * np.arange(-order + 1, order, 2) / (2 * order)
    poles = -np.sinh(mu + 1j * theta)
    gain = np.prod(-poles).real
    if order % 2 == 0:
        gain = gain / np.sqrt(1 + eps * eps)
    return np.zeros(0, complex), poles, float(gain)


def _chebyshev2(order: int, attenuation: float) -> Roots:
    import numpy as np

    if order == 0:
        return np.zeros(0, complex), np.zeros(0, complex), 1.0
    mu = np.arcsinh(np.sqrt(10 ** (0.1 * attenuation) - 1)) / order
    all_of = np.arange(-order + 1, order, 2)
    zeros = -np.conjugate(1j / np.sin(all_of[all_of != 0] * np.pi / (2.0 * order)))
    circle = -np.exp(1j * np.pi * all_of / (2 * order))
    poles = 1.0 / (np.sinh(mu) * circle.real + 1j * np.cosh(mu) * circle.imag)
    return zeros, poles, float((np.prod(-poles) / np.prod(-zeros)).real)


# ---- bands and the step to sampled signals -------------------------------------------------------
def _to_band(roots: Roots, band: str, edges: Floats) -> Roots:
    """The prototype's roots moved to a band with these edges, in rad/s."""
    import numpy as np

    zeros, poles, gain = roots
    degree = len(poles) - len(zeros)
    flipped = float(np.real(np.prod(-zeros) / np.prod(-poles)))
    if band == "lowpass":
        edge = float(edges[0])
        return zeros * edge, poles * edge, gain * edge**degree
    if band == "highpass":
        edge = float(edges[0])
        return np.append(edge / zeros, np.zeros(degree)), edge / poles, gain * flipped
    width = float(edges[1] - edges[0])
    middle = float(np.sqrt(edges[0] * edges[1]))

    def around(values: Complexes) -> Complexes:
        offset = np.sqrt(values**2 - middle**2)
        return np.concatenate([values + offset, values - offset])

    if band == "bandpass":
        low = around(zeros * width / 2)
        return np.append(low, np.zeros(degree)), around(poles * width / 2), gain * width**degree
    at_middle = np.repeat([1j * middle, -1j * middle], degree)
    stop = np.append(around((width / 2) / zeros), at_middle)
    return stop, around((width / 2) / poles), gain * flipped


def _sampled(roots: Roots, rate: float) -> Roots:
    """The bilinear transform."""
    import numpy as np

    zeros, poles, gain = roots
    double = 2.0 * rate
    degree = len(poles) - len(zeros)
    scale = float(np.real(np.prod(double - zeros) / np.prod(double - poles)))
    added = -np.ones(degree, "complex128")
    made = np.append((double + zeros) / (double - zeros), added)
    return made, (double + poles) / (double - poles), gain * scale


# ---- forms of the result -------------------------------------------------------------------------
def _coefficients(roots: Roots) -> tuple[Floats, Floats]:
    import numpy as np

    zeros, poles, gain = roots
    return np.atleast_1d(gain * np.real(np.poly(zeros))), np.atleast_1d(np.real(np.poly(poles)))


def _halves(values: Complexes) -> tuple[list[complex], list[float]]:
    """One of each pair of conjugates, in the upper half plane, and the real numbers."""
    import numpy as np

    tolerance = 100 * np.finfo(float).eps
    upper: list[complex] = []
    lower: list[complex] = []
    real: list[float] = []
    for value in sorted(values.tolist(), key=lambda v: (v.real, abs(v.imag))):
        if abs(value.imag) <= tolerance * abs(value):
            real.append(value.real)
        else:
            (upper if value.imag > 0 else lower).append(value)
    pairs = []
    for value in upper:  # a root stands for the mean of both, which rounding sets apart
        other = min(lower, key=lambda v: abs(v.conjugate() - value))
        lower.remove(other)
        pairs.append((value + other.conjugate()) / 2)
    return pairs, real


def _sections(roots: Roots) -> Floats:
    """Sections of order 2: each pole with the zero that is nearest, those at the circle last."""
    import numpy as np

    zeros, poles, gain = roots
    if len(zeros) == len(poles) == 0:
        return np.array([[gain, 0.0, 0.0, 1.0, 0.0, 0.0]])
    count = (max(len(zeros), len(poles)) + 1) // 2
    length = 2 * count
    complex_zeros, real_zeros = _halves(np.append(zeros, np.zeros(length - len(zeros))))
    complex_poles, real_poles = _halves(np.append(poles, np.zeros(length - len(poles))))

    def from_circle(value: complex) -> float:
        return abs(1 - abs(value))

    def take(values: list[Any], to: complex) -> Any:
        nearest = min(values, key=lambda value: abs(value - to))
        values.remove(nearest)
        return nearest

    def zeros_for(pole: complex, *, real_only: bool) -> list[complex]:
        # A complex zero takes a section; a real one leaves room for another.
        nearest_complex = min((abs(z - pole) for z in complex_zeros), default=np.inf)
        nearest_real = min((abs(z - pole) for z in real_zeros), default=np.inf)
        if complex_zeros and not real_only and nearest_complex <= nearest_real:
            zero = take(complex_zeros, pole)
            return [zero, zero.conjugate()]
        if real_zeros:
            return [take(real_zeros, pole), take(real_zeros, pole)]
        zero = take(complex_zeros, pole)
        return [zero, zero.conjugate()]

    made: list[list[float]] = []
    while complex_poles or real_poles:
        pole = min([*complex_poles, *real_poles], key=from_circle)
        if isinstance(pole, complex):
            complex_poles.remove(pole)
            pair = [pole, pole.conjugate()]
        else:
            real_poles.remove(pole)
            other = min(real_poles, key=from_circle)
            real_poles.remove(other)
            pair = [pole, other]
        numerator = np.real(np.poly(zeros_for(pole, real_only=False)))
        made.insert(0, [*numerator.tolist(), *np.real(np.poly(pair)).tolist()])
    result = np.array(made)
    result[0, :3] *= gain
    return result


def _edges(op: str, band: str, Wn: Any, fs: float | None, analog: bool) -> Floats:
    """Band edges as shares of half of the sampling rate."""
    import numpy as np

    edges = np.atleast_1d(np.asarray(Wn, float))
    wanted = 2 if band in ("bandpass", "bandstop") else 1
    if edges.shape != (wanted,):
        raise InvalidArgumentError(
            f"{op}: the band needs {wanted} edge{'s' * (wanted > 1)}: btype={band!r}, Wn={Wn!r}"
        )
    if fs is not None:
        if analog:
            raise InvalidArgumentError(f"{op}: an analog filter has no sampling rate: fs={fs}")
        edges = edges / (float(fs) / 2)
    if not (edges > 0).all() or (not analog and not (edges < 1).all()):
        limit = "" if analog else f" and less than {'fs / 2' if fs is not None else 1}"
        raise InvalidArgumentError(
            f"{op}: an edge of the band is out of range: Wn={Wn!r}; pass more than 0{limit}"
        )
    if wanted == 2 and edges[0] >= edges[1]:
        raise InvalidArgumentError(f"{op}: the edges are not ascending: Wn={Wn!r}")
    return edges


def _design(
    op: str,
    prototype: Callable[[int], Roots],
    N: int,
    Wn: Any,
    *,
    band: str,
    analog: bool,
    output: str,
    fs: float | None,
) -> Any:
    import numpy as np

    word = _BANDS.get(str(band).lower())
    if word is None:
        raise InvalidArgumentError(
            f"{op}: the type of band is not known: btype={band!r}; use one of lowpass, highpass, "
            "bandpass, bandstop"
        )
    if output not in ("ba", "zpk", "sos"):
        raise InvalidArgumentError(
            f"{op}: the form of the result is not known: output={output!r}; use one of ba, zpk, sos"
        )
    if analog and output == "sos":
        raise UnsupportedError(
            f"{op}: sections of an analog filter are not supported: output={output!r}; use zpk "
            "or ba"
        )
    if int(N) != N or N < 0:
        raise InvalidArgumentError(f"{op}: the order is not a whole number >= 0: N={N!r}")
    edges = _edges(op, word, Wn, fs, analog)
    if not analog:
        edges = 2 * 2.0 * np.tan(np.pi * edges / 2.0)  # at a rate of 2
    roots = _to_band(prototype(int(N)), word, edges)
    if not analog:
        roots = _sampled(roots, 2.0)
    if output == "zpk":
        return array_of_design(roots[0] + 0j), array_of_design(roots[1] + 0j), roots[2]
    if output == "sos":
        return array_of_design(_sections(roots))
    b, a = _coefficients(roots)
    return array_of_design(b), array_of_design(a)


# ---- public --------------------------------------------------------------------------------------
def butter(
    N: int,
    Wn: Any,
    btype: str = "low",
    analog: bool = False,
    output: Output = "ba",
    fs: float | None = None,
) -> Any:
    """A Butterworth filter, as ``scipy.signal.butter``.

    Parameters
    ----------
    N : int
        Order; bandpass and bandstop filters have twice as many poles.
    Wn : float or (float, float)
        Edges of the band, where the gain is 1/sqrt(2): as shares of half of the sampling rate, or
        in the unit of `fs`.
    btype : {"lowpass", "highpass", "bandpass", "bandstop"}
        What passes.
    analog : bool
        A filter of continuous signals; `Wn` in rad/s.
    output : {"ba", "zpk", "sos"}
        Two arrays of coefficients; zeros, poles and gain; or sections of order 2, which round
        least and which `sosfilt` takes.
    fs : float, optional
        Sampling rate.

    Returns
    -------
    Array, or a tuple of them
        As `output` says.

    Raises
    ------
    ValueError
        For edges outside of (0, 1), and other words.

    >>> hr.signal.butter(4, 0.2, output="sos").shape
    (2, 6)
    """
    return _design("butter", _butterworth, N, Wn, band=btype, analog=analog, output=output, fs=fs)


def _positive(op: str, name: str, value: Any) -> float:
    if value is None or not float(value) > 0:
        raise InvalidArgumentError(f"{op}: {name} must be decibels above 0: {name}={value!r}")
    return float(value)


def cheby1(
    N: int,
    rp: float,
    Wn: Any,
    btype: str = "low",
    analog: bool = False,
    output: Output = "ba",
    fs: float | None = None,
) -> Any:
    """A Chebyshev filter of type I, as ``scipy.signal.cheby1``.

    The gain ripples by `rp` decibels in the passband, and is ``-rp`` at its edges; otherwise as
    `butter`.

    >>> hr.signal.cheby1(4, 1.0, 0.2, output="sos").shape
    (2, 6)
    """
    ripple = _positive("cheby1", "rp", rp)
    return _design(
        "cheby1",
        lambda order: _chebyshev1(order, ripple),
        N,
        Wn,
        band=btype,
        analog=analog,
        output=output,
        fs=fs,
    )


def cheby2(
    N: int,
    rs: float,
    Wn: Any,
    btype: str = "low",
    analog: bool = False,
    output: Output = "ba",
    fs: float | None = None,
) -> Any:
    """A Chebyshev filter of type II, as ``scipy.signal.cheby2``.

    The gain in the stopband is `rs` decibels below the passband, first at its edges; otherwise as
    `butter`.

    >>> hr.signal.cheby2(4, 40.0, 0.2, output="sos").shape
    (2, 6)
    """
    attenuation = _positive("cheby2", "rs", rs)
    return _design(
        "cheby2",
        lambda order: _chebyshev2(order, attenuation),
        N,
        Wn,
        band=btype,
        analog=analog,
        output=output,
        fs=fs,
    )


def iirfilter(
    N: int,
    Wn: Any,
    rp: float | None = None,
    rs: float | None = None,
    btype: str = "band",
    analog: bool = False,
    ftype: str = "butter",
    output: Output = "ba",
    fs: float | None = None,
) -> Any:
    """A recursive filter of a kind, as ``scipy.signal.iirfilter``.

    `ftype` is "butter", "cheby1" (with `rp`) or "cheby2" (with `rs`); otherwise as `butter`.

    >>> hr.signal.iirfilter(2, [0.1, 0.3], output="sos").shape
    (2, 6)
    """
    kind = _KINDS.get(str(ftype).lower())
    if kind == "butter":
        return butter(N, Wn, btype, analog, output, fs)
    if kind == "cheby1":
        return cheby1(N, _positive("iirfilter", "rp", rp), Wn, btype, analog, output, fs)
    if kind == "cheby2":
        return cheby2(N, _positive("iirfilter", "rs", rs), Wn, btype, analog, output, fs)
    raise InvalidArgumentError(
        f"iirfilter: the kind of filter is not known: ftype={ftype!r}; use one of butter, cheby1, "
        "cheby2"
    )
