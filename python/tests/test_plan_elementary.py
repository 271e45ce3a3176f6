# SPDX-License-Identifier: Apache-2.0
"""Elementary functions hold their stated bounds over the whole range of float64, by mpmath."""

import numpy as np
import pytest

import headrace as hr

mpmath = pytest.importorskip("mpmath")

# docs/reference/frame.md states them.
BOUNDS = {
    "sin": 1.0,
    "cos": 1.0,
    "tan": 3.0,
    "tanh": 3.0,
    "exp": 1.0,
    "exp2": 1.0,
    "expm1": 2.0,
    "log": 1.0,
    "log2": 1.0,
    "log10": 1.0,
    "log1p": 1.0,
}
TRUTHS = {
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "log2": lambda x: mpmath.log(x, 2),
    "log10": mpmath.log10,
}


def near_multiples_of_half_pi():
    """For many exponents a double that is as near to a multiple of pi/2 as doubles come."""
    found = []
    with mpmath.workprec(2400):
        for exponent in range(-52, 971, 6):
            rest = mpmath.mpf(2) ** exponent * 2 / mpmath.pi
            before, q = 0, 1
            while True:  # denominators of the convergents of 2^exponent / (pi/2)
                rest = 1 / (rest - mpmath.floor(rest))
                following = int(mpmath.floor(rest)) * q + before
                if following >= 2**53:
                    break
                before, q = q, following
            found.append(float(mpmath.ldexp(q, exponent)))
    return np.array(found)


def arguments(name):
    """Values of every magnitude, and those at which a method changes or ends."""
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2**64, 400, np.uint64).view(np.float64)
    parts = [bits[np.isfinite(bits)], rng.uniform(-2, 2, 200), rng.normal(size=100) * 2.0**-1060]
    if name in ("sin", "cos", "tan"):
        near = near_multiples_of_half_pi()
        borders = 2.0 ** np.arange(8, 1024, 16)
        parts += [near, np.nextafter(near, 0), borders, np.nextafter(borders, 0)]
        parts += [rng.uniform(39_000, 1e6, 100), 2.0**30 + np.arange(-40, 40), [39_000.0]]
    elif "exp" in name:
        ends = [709.782712893384, -745.133219101941, -708.396418532264, 1023.9999999999999]
        parts += [rng.uniform(-760, 720, 400), rng.uniform(-1090, 1030, 200)]
        parts += [np.nextafter(ends, 0), ends, np.nextafter(ends, np.inf), [-1074.0, -1074.5]]
    else:
        parts += [1 + rng.normal(size=200) * 2.0 ** rng.integers(-50, 0, 200)]
        parts += [
            np.ldexp(1.0, rng.integers(-1074, 1024, 100)),
            [2.0**-1074, 1.7976931348623157e308],
        ]
    values = np.concatenate([np.asarray(part, np.float64) for part in parts])
    if name.startswith("log"):
        values = np.maximum(values, -1 + 2.0**-53) if name == "log1p" else np.abs(values)
        values = values[values != 0]
    return values


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_over_the_whole_range(name):
    x = arguments(name)
    with np.errstate(all="ignore"):
        found = getattr(np, name)(hr.asarray(x)).to_numpy()
    truth_of = TRUTHS.get(name) or getattr(mpmath, name)
    with mpmath.workprec(200):
        for value, result in zip(x.tolist(), found.tolist(), strict=True):
            if abs(value) > 1e4 and ("exp" in name or name == "tanh"):
                limit = 1.0 if value > 0 or name == "tanh" else -1.0 if name == "expm1" else 0.0
                limit = np.inf if value > 0 and "exp" in name else limit
                assert result == (np.copysign(limit, value) if name == "tanh" else limit), value
                continue
            truth = truth_of(mpmath.mpf(value))
            if abs(truth) > mpmath.mpf(2) ** 1024 - mpmath.mpf(2) ** 970:
                assert result == np.inf, value
                continue
            # the spacing of doubles at the true value, subnormal ones too
            ulp = mpmath.ldexp(1, max(mpmath.frexp(truth)[1] - 53, -1074))
            error = float(abs(mpmath.mpf(result) - truth) / ulp)
            assert error <= BOUNDS[name], f"{name}({value!r}) = {result!r}: {error:.3f} ulp"


def test_sine_and_cosine_together_have_the_same_bounds():
    x = arguments("sin")
    a = hr.asarray(x)
    both = (np.sin(a) * 1.0, np.cos(a) * 1.0)
    hr.eval(*both)  # one pass: the evaluator computes both at once
    np.testing.assert_array_equal(both[0].to_numpy(), np.sin(hr.asarray(x)).to_numpy())
    np.testing.assert_array_equal(both[1].to_numpy(), np.cos(hr.asarray(x)).to_numpy())


def test_powers_over_the_whole_range():
    rng = np.random.default_rng(6)
    x = np.abs(rng.integers(0, 2**64, 1500, np.uint64).view(np.float64))
    x = np.concatenate([x[np.isfinite(x) & (x > 0)], 1 + rng.normal(size=300) * 1e-7])
    reach = 1080 / np.maximum(np.abs(np.log2(x)), 1e-300)  # results of every magnitude
    y = rng.uniform(-1, 1, len(x)) * np.minimum(reach, 1e300)
    found = (hr.asarray(x) ** hr.asarray(y)).to_numpy()
    with mpmath.workprec(400):
        for base, exponent, result in zip(x.tolist(), y.tolist(), found.tolist(), strict=True):
            truth = mpmath.mpf(base) ** mpmath.mpf(exponent)
            if truth > mpmath.mpf(2) ** 1024 - mpmath.mpf(2) ** 970:
                assert result == np.inf
                continue
            ulp = mpmath.ldexp(1, max(mpmath.frexp(truth)[1] - 53, -1074))
            error = float(abs(mpmath.mpf(result) - truth) / ulp)
            assert error <= 1.5, f"{base!r} ** {exponent!r} = {result!r}: {error:.3f} ulp"
