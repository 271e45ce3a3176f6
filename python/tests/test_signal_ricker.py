# SPDX-License-Identifier: Apache-2.0
"""hr.signal.ricker holds its promised digits against mpmath, also next to its zeros."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr
from headrace import signal

mpmath = pytest.importorskip("mpmath")


def exact(points, width):
    """The closed form in 60 digits."""
    with mpmath.workdps(60):
        a = mpmath.mpf(width)
        height = 2 / (mpmath.sqrt(3 * a) * mpmath.pi ** mpmath.mpf("0.25"))
        ratios = [(mpmath.mpf(2 * i - points + 1) / 2 / a) ** 2 for i in range(points)]
        return [height * (1 - r) * mpmath.exp(-r / 2) for r in ratios]


def worst_ulp(found, wanted):
    """The largest distance in units in the last place of the wanted value."""
    worst = 0.0
    for value, truth in zip(found, wanted, strict=True):
        rounded = found.dtype.type(float(truth))
        ulp = float(np.spacing(np.abs(rounded)))
        worst = max(worst, float(abs(mpmath.mpf(float(value)) - truth) / ulp))
    return worst


@pytest.mark.parametrize("points", [0, 1, 2, 3, 63, 64, 65, 200, 1001])
@pytest.mark.parametrize("width", [0.37, 1.0, 4.0, 8.5, 37.25])
def test_within_the_promised_digits(points, width):
    wanted = exact(points, width)
    assert worst_ulp(signal.ricker(points, width).to_numpy(), wanted) <= 1
    # Rounded to float64 first: half an ulp of float32 and a trifle.
    assert worst_ulp(signal.ricker(points, width, "float32").to_numpy(), wanted) <= 0.5001


@given(st.integers(1, 40), st.floats(1e-3, 1e6))
def test_any_width(points, width):
    assert worst_ulp(signal.ricker(points, width).to_numpy(), exact(points, width)) <= 1


def test_next_to_the_zeros():
    for width in (12.5 * (1 + 2**-40), np.nextafter(12.5, 0), np.nextafter(12.5, 20)):
        wavelet = signal.ricker(26, width).to_numpy()
        assert worst_ulp(wavelet, exact(26, width)) <= 1
        assert wavelet[0] != 0


@pytest.mark.parametrize("width", [5e-324, 1e-310, 1e-300, 1e-3, 1e10, 1e300, 1.7e308])
def test_extreme_widths(width):
    assert worst_ulp(signal.ricker(7, width).to_numpy(), exact(7, width)) <= 1


def test_shape():
    wavelet = signal.ricker(101, 8.0).to_numpy()
    np.testing.assert_array_equal(wavelet, wavelet[::-1])
    assert wavelet.argmax() == 50
    assert wavelet[58] == 0
    assert abs(wavelet.sum()) < 1e-6


def test_is_what_scipy_defined():
    points, a = 200, 4.0  # scipy.signal.ricker, which SciPy has removed
    vec = np.arange(points) - (points - 1.0) / 2
    mod = 1 - vec**2 / a**2
    wanted = 2 / (np.sqrt(3 * a) * np.pi**0.25) * mod * np.exp(-(vec**2) / (2 * a**2))
    np.testing.assert_allclose(signal.ricker(points, a).to_numpy(), wanted, rtol=1e-13, atol=1e-300)


def test_is_the_same_for_any_threads():
    found = []
    for count in (1, 2, 4):
        with hr.threads(count):
            found.append(signal.ricker(50_001, 700.3).to_numpy().tobytes())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("points", "width", "says"),
    [
        (-1, 4.0, "points=-1"),
        (10, 0.0, "width=0"),
        (10, -2.0, "width=-2"),
        (10, float("nan"), "width=nan"),
        (10, float("inf"), "width=inf"),
    ],
)
def test_says_what_is_wrong(points, width, says):
    with pytest.raises(hr.InvalidArgumentError, match=rf"^ricker: .*{says}; "):
        signal.ricker(points, width).to_numpy()


def test_refuses_other_types():
    with pytest.raises(TypeError, match=r"^ricker: .*dtype='int32'; "):
        signal.ricker(10, 4.0, "int32").to_numpy()
    assert signal.ricker(10, 4.0).to_numpy().shape == (10,)
