# SPDX-License-Identifier: Apache-2.0
"""Window functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidArgumentError
from headrace.signal.operands import array_of_design

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    from headrace.array.array import Array

    Samples = npt.NDArray[np.float64]

#: Weights of cosines of 0, 1, ... periods.
_COSINES = {
    "hann": (0.5, 0.5),
    "hamming": (0.54, 0.46),
    "blackman": (0.42, 0.5, 0.08),
    "nuttall": (0.3635819, 0.4891775, 0.1365995, 0.0106411),
    "blackmanharris": (0.35875, 0.48829, 0.14128, 0.01168),
    "flattop": (0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
}
_ALIASES = {
    "han": "hann",
    "hamm": "hamming",
    "ham": "hamming",
    "black": "blackman",
    "blk": "blackman",
    "blackharr": "blackmanharris",
    "bkh": "blackmanharris",
    "nutl": "nuttall",
    "flat": "flattop",
    "flt": "flattop",
    "box": "boxcar",
    "ones": "boxcar",
    "rect": "boxcar",
    "rectangular": "boxcar",
    "tri": "triang",
    "triangle": "triang",
    "bart": "bartlett",
    "brt": "bartlett",
    "brthan": "barthann",
    "bth": "barthann",
    "par": "parzen",
    "parz": "parzen",
    "bman": "bohman",
    "bmn": "bohman",
    "halfcosine": "cosine",
    "sinc": "lanczos",
    "tuk": "tukey",
    "ksr": "kaiser",
    "gauss": "gaussian",
    "gss": "gaussian",
    "general_gauss": "general_gaussian",
    "ggs": "general_gaussian",
    "poisson": "exponential",
}


def _from_the_middle(points: int) -> Samples:
    import numpy as np

    return np.arange(points, dtype="float64") - (points - 1) / 2


def _cosines(points: int, weights: tuple[float, ...]) -> Samples:
    import numpy as np

    angle = np.linspace(-np.pi, np.pi, points)
    made = np.zeros(points)
    for k, weight in enumerate(weights):
        made += weight * np.cos(k * angle)
    return made


def _boxcar(points: int) -> Samples:
    import numpy as np

    return np.ones(points)


def _triang(points: int) -> Samples:
    import numpy as np

    rise = np.arange(1, (points + 1) // 2 + 1)
    if points % 2 == 0:
        half = (2 * rise - 1.0) / points
        return np.concatenate([half, half[::-1]])
    half = 2 * rise / (points + 1.0)
    return np.concatenate([half, half[-2::-1]])


def _bartlett(points: int) -> Samples:
    import numpy as np

    n = np.arange(points)
    rise = 2.0 * n / (points - 1)
    return np.where(n <= (points - 1) / 2.0, rise, 2.0 - rise)


def _barthann(points: int) -> Samples:
    import numpy as np

    away = np.abs(np.arange(points) / (points - 1.0) - 0.5)
    return 0.62 - 0.48 * away + 0.38 * np.cos(2 * np.pi * away)


def _bohman(points: int) -> Samples:
    import numpy as np

    away = np.abs(np.linspace(-1, 1, points)[1:-1])
    inner = (1 - away) * np.cos(np.pi * away) + np.sin(np.pi * away) / np.pi
    return np.concatenate([[0.0], inner, [0.0]])


def _parzen(points: int) -> Samples:
    import numpy as np

    away = np.abs(_from_the_middle(points))
    part = away / (points / 2.0)
    return np.where(away <= (points - 1) / 4.0, 1 - 6 * part**2 + 6 * part**3, 2 * (1 - part) ** 3)


def _cosine(points: int) -> Samples:
    import numpy as np

    return np.sin(np.pi / points * (np.arange(points) + 0.5))


def _lanczos(points: int) -> Samples:
    import numpy as np

    return np.sinc(2 * np.arange(points) / (points - 1) - 1)


def _tukey(points: int, alpha: float = 0.5) -> Samples:
    import numpy as np

    if alpha <= 0:
        return np.ones(points)
    if alpha >= 1:
        return _cosines(points, _COSINES["hann"])
    n = np.arange(points)
    made = np.ones(points)
    width = int(np.floor(alpha * (points - 1) / 2.0))
    first, last = n[: width + 1], n[points - width - 1 :]
    made[: width + 1] = 0.5 * (1 + np.cos(np.pi * (-1 + 2.0 * first / alpha / (points - 1))))
    made[points - width - 1 :] = 0.5 * (
        1 + np.cos(np.pi * (-2.0 / alpha + 1 + 2.0 * last / alpha / (points - 1)))
    )
    return made


def _kaiser(points: int, beta: float) -> Samples:
    import numpy as np

    half = (points - 1) / 2.0
    root = np.sqrt(np.maximum(0.0, 1 - ((np.arange(points) - half) / half) ** 2))
    made: Samples = np.i0(beta * root) / np.i0(beta)
    return made


def _gaussian(points: int, std: float) -> Samples:
    import numpy as np

    return np.exp(-(_from_the_middle(points) ** 2) / (2 * std * std))


def _general_gaussian(points: int, p: float, sig: float) -> Samples:
    import numpy as np

    return np.exp(-0.5 * np.abs(_from_the_middle(points) / sig) ** (2 * p))


def _exponential(points: int, center: float | None = None, tau: float = 1.0) -> Samples:
    import numpy as np

    middle = (points - 1) / 2 if center is None else center
    return np.exp(-np.abs(np.arange(points) - middle) / tau)


_WINDOWS: dict[str, Callable[..., Samples]] = {
    "boxcar": _boxcar,
    "triang": _triang,
    "bartlett": _bartlett,
    "barthann": _barthann,
    "bohman": _bohman,
    "parzen": _parzen,
    "cosine": _cosine,
    "lanczos": _lanczos,
    "tukey": _tukey,
    "kaiser": _kaiser,
    "gaussian": _gaussian,
    "general_gaussian": _general_gaussian,
    "exponential": _exponential,
}
_NEED_PARAMETERS = {"kaiser": "beta", "gaussian": "std", "general_gaussian": "p, sig"}


def window_samples(window: Any, points: int, *, periodic: bool = True) -> Samples:
    """The samples of a window as a NumPy array."""
    import numpy as np

    name, *parameters = window if isinstance(window, tuple) else (window,)
    if not isinstance(name, str):
        try:
            name, parameters = "kaiser", [float(name)]
        except (TypeError, ValueError):
            raise InvalidArgumentError(
                f"get_window: the window is not known: window={window!r}; pass a name, a tuple "
                "of a name and parameters, or the beta of a Kaiser window"
            ) from None
    name = _ALIASES.get(name, name)
    if name not in _WINDOWS and name not in _COSINES:
        raise InvalidArgumentError(
            f"get_window: the window is not known: window={name!r}; use one of "
            f"{', '.join(sorted([*_WINDOWS, *_COSINES]))}"
        )
    if name in _NEED_PARAMETERS and not parameters:
        raise InvalidArgumentError(
            f"get_window: the window needs parameters: window={name!r}; pass "
            f"({name!r}, {_NEED_PARAMETERS[name]})"
        )
    if points < 0:
        raise InvalidArgumentError(
            f"get_window: the length is negative: Nx={points}; pass 0 or more"
        )
    if points <= 1:
        return np.ones(points)
    length = points + 1 if periodic else points
    if name in _COSINES:
        made = _cosines(length, _COSINES[name])
    else:
        made = _WINDOWS[name](length, *parameters)
    return made[:points]


def get_window(window: Any, Nx: int, fftbins: bool = True) -> Array:
    """A window function by its name, as ``scipy.signal.get_window``.

    Parameters
    ----------
    window : str, float or tuple
        "boxcar", "triang", "bartlett", "barthann", "bohman", "parzen", "hann", "hamming",
        "blackman", "nuttall", "blackmanharris", "flattop", "cosine", "lanczos", "tukey",
        "exponential"; ("kaiser", beta), ("gaussian", std), ("general_gaussian", p, sig),
        ("tukey", alpha), ("exponential", center, tau); a number is the beta of a Kaiser window.
    Nx : int
        Number of samples.
    fftbins : bool
        Periodic, for spectra; False: symmetric, for filters.

    Returns
    -------
    Array
        float64.

    Raises
    ------
    ValueError
        For other windows, missing parameters, and a negative length.

    >>> hr.signal.get_window("hann", 4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return array_of_design(window_samples(window, int(Nx), periodic=bool(fftbins)))
