# SPDX-License-Identifier: Apache-2.0
"""Signals by formulas."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import array_of, mark
from headrace.signal.operands import node_of

if TYPE_CHECKING:
    from headrace.array.array import Array


def chirp(
    t: Any,
    f0: float,
    t1: float,
    f1: float,
    method: str = "linear",
    phi: float = 0,
    vertex_zero: bool = True,
) -> Array:
    """A cosine whose frequency goes from `f0` at time 0 to `f1` at `t1`, as ``scipy.signal.chirp``.

    Parameters
    ----------
    t : array_like
        Times.
    f0, t1, f1 : float
        Frequency at time 0, a later time, and the frequency there.
    method : {"linear", "quadratic", "logarithmic", "hyperbolic"}
        How the frequency changes.
    phi : float
        Phase at time 0, in degrees.
    vertex_zero : bool
        Of "quadratic": whether the parabola's vertex lies at time 0 or at `t1`.

    Returns
    -------
    Array
        One element-wise expression: nothing is computed before it is used.

    Raises
    ------
    ValueError
        For an unknown method, and frequencies that the method cannot reach.

    >>> hr.signal.chirp([0.0, 0.5], 1.0, 1.0, 1.0).tolist()
    [1.0, -1.0]
    """
    mark("chirp")
    times = array_of(node_of(t))
    if not str(times.dtype).startswith("float"):
        times = times.astype("float64")
    f0, t1, f1, turn = float(f0), float(t1), float(f1), 2 * math.pi
    name = {"lin": "linear", "li": "linear", "quad": "quadratic", "q": "quadratic"}.get(
        method, {"log": "logarithmic", "lo": "logarithmic", "hyp": "hyperbolic"}.get(method, method)
    )
    if name == "linear":
        phase = turn * (f0 * times + 0.5 * ((f1 - f0) / t1) * times * times)
    elif name == "quadratic":
        beta = (f1 - f0) / t1**2
        if vertex_zero:
            phase = turn * (f0 * times + beta * times**3 / 3)
        else:
            phase = turn * (f1 * times + beta * ((t1 - times) ** 3 - t1**3) / 3)
    elif name == "logarithmic":
        if f0 * f1 <= 0:
            raise InvalidArgumentError(
                f"chirp: the frequencies differ in sign or are 0: f0={f0}, f1={f1}"
            )
        if f0 == f1:
            phase = turn * f0 * times
        else:
            beta = t1 / math.log(f1 / f0)
            phase = turn * beta * f0 * ((f1 / f0) ** (times / t1) - 1.0)
    elif name == "hyperbolic":
        if f0 == 0 or f1 == 0:
            raise InvalidArgumentError(f"chirp: a frequency is 0: f0={f0}, f1={f1}")
        if f0 == f1:
            phase = turn * f0 * times
        else:
            pole = -f1 * t1 / (f0 - f1)
            ratio = abs(1 - times / pole)
            phase = turn * (-pole * f0) * ratio._elementwise("log", ratio)
    else:
        raise InvalidArgumentError(
            f"chirp: the method is not known: method={method!r}; use one of linear, quadratic, "
            "logarithmic, hyperbolic"
        )
    phase = phase + math.radians(phi)
    return phase._elementwise("cos", phase)
