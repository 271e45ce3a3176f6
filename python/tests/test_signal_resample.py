# SPDX-License-Identifier: Apache-2.0
"""Resampling against SciPy."""

import numpy as np
import pytest

import headrace as hr
from headrace import signal

scipy_signal = pytest.importorskip("scipy.signal")

RATIOS = [(1, 1), (1, 2), (2, 1), (3, 2), (2, 3), (7, 5), (160, 147), (1, 10), (25, 1), (6, 4)]


def noise(*shape, seed=0):
    x = np.random.default_rng(seed).normal(size=shape)
    x.flags.writeable = False
    return x


def near(found, wanted, bound=1e-11):
    found = np.asarray(found)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=bound, atol=bound)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("rows", [1, 2, 63, 64, 65, 1025, 131_073])
def test_ratios(rows, ratio):
    x = noise(rows)
    near(signal.resample_poly(x, *ratio), scipy_signal.resample_poly(x, *ratio))
    for taps in (1, 2, 5, 64, 301):
        h = noise(taps, seed=taps)
        near(signal.upfirdn(h, x, *ratio), scipy_signal.upfirdn(h, x, *ratio))


def test_axes_dtypes_and_windows():
    x = noise(30, 40, 50)
    for axis in (0, 1, 2, -1):
        near(signal.resample_poly(x, 3, 2, axis), scipy_signal.resample_poly(x, 3, 2, axis))
        near(
            signal.upfirdn([1.0, 2.0], x, 3, 2, axis),
            scipy_signal.upfirdn([1.0, 2.0], x, 3, 2, axis),
        )
        near(signal.resample(x, 17, axis), scipy_signal.resample(x, 17, axis=axis))
        near(signal.decimate(x, 3, axis=axis), scipy_signal.decimate(x, 3, axis=axis), 1e-9)
    single = noise(1000).astype("float32")
    near(signal.resample_poly(single, 3, 2), scipy_signal.resample_poly(single, 3, 2), 1e-5)
    near(signal.resample(single, 300), scipy_signal.resample(single, 300), 1e-5)
    near(signal.decimate(single, 4), scipy_signal.decimate(single, 4), 1e-3)
    near(
        signal.decimate(single, 4, ftype="fir"), scipy_signal.decimate(single, 4, ftype="fir"), 1e-5
    )
    x = noise(500)
    for padtype in ("mean", "minimum", "maximum"):
        near(
            signal.resample_poly(x + 5, 2, 3, padtype=padtype),
            scipy_signal.resample_poly(x + 5, 2, 3, padtype=padtype),
        )
    for window in ("hamming", ("kaiser", 8.0), noise(31, seed=4)):
        near(
            signal.resample_poly(x, 2, 3, window=window),
            scipy_signal.resample_poly(x, 2, 3, window=window),
        )
    near(signal.resample_poly(x[::-2], 2, 3), scipy_signal.resample_poly(x[::-2], 2, 3))
    near(
        signal.resample_poly(np.arange(50), 2, 3), scipy_signal.resample_poly(np.arange(50.0), 2, 3)
    )


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 1000, 1001])
@pytest.mark.parametrize("num", [1, 2, 5, 8, 999, 1000, 1001, 2000])
def test_by_the_fourier_transform(rows, num):
    x = noise(rows)
    near(signal.resample(x, num), scipy_signal.resample(x, num))


@pytest.mark.parametrize("q", [2, 5, 10])
@pytest.mark.parametrize("rows", [100, 1001, 200_001])
def test_decimation(rows, q):
    x = noise(rows)
    near(signal.decimate(x, q), scipy_signal.decimate(x, q), 1e-9)
    for options in ({"n": 4}, {"zero_phase": False}, {"ftype": "fir"}):
        near(signal.decimate(x, q, **options), scipy_signal.decimate(x, q, **options), 1e-9)
    options = {"ftype": "fir", "n": 31, "zero_phase": False}
    near(signal.decimate(x, q, **options), scipy_signal.decimate(x, q, **options))


def test_is_the_same_for_any_threads():
    x = noise(300_001)
    found = set()
    for count in (1, 2, 4):
        with hr.threads(count):
            parts = [signal.resample_poly(x, 3, 2), signal.decimate(x, 10), signal.resample(x, 777)]
            found.add(b"".join(each.to_numpy().tobytes() for each in parts))
    assert len(found) == 1


def test_deferred_signals():
    x = noise(1000)
    frame = hr.DataFrame({"x": x})
    near(signal.resample_poly(frame.x * 2, 3, 2), scipy_signal.resample_poly(x * 2, 3, 2))
    picked = hr.asarray(x)[hr.asarray(x > 0)]
    near(signal.decimate(picked, 2), scipy_signal.decimate(x[x > 0], 2), 1e-9)


def test_bad_input_names_the_fix():
    x = noise(100)
    for bad in (
        lambda: signal.resample_poly(x, 0, 1),
        lambda: signal.resample_poly(x, 1.5, 1),
        lambda: signal.upfirdn([], x),
        lambda: signal.upfirdn([1.0], x, down=0),
        lambda: signal.decimate(x, 2, ftype="other"),
        lambda: signal.resample(x, 0),
        lambda: signal.resample(x[:0], 5),
    ):
        with pytest.raises(hr.InvalidArgumentError, match=r"^\w+: .*="):
            bad()
    with pytest.raises(hr.UnsupportedError, match=r"^resample_poly: .*padtype='line'"):
        signal.resample_poly(x, 2, 3, padtype="line")
    with pytest.raises(hr.UnsupportedError, match=r"^decimate: .*complex"):
        signal.decimate(x * 1j, 2)


@pytest.mark.parametrize("method", ["linear", "quadratic", "logarithmic", "hyperbolic"])
def test_chirps(method):
    t = np.linspace(0, 10, 1001)
    for f0, f1 in ((6.0, 1.0), (1.0, 12.0), (2.0, 2.0)):
        wanted = scipy_signal.chirp(t, f0, 10.0, f1, method, phi=30)
        near(signal.chirp(t, f0, 10.0, f1, method, phi=30), wanted, 1e-10)
    wanted = scipy_signal.chirp(t, 6.0, 10.0, 1.0, "quadratic", vertex_zero=False)
    near(signal.chirp(t, 6.0, 10.0, 1.0, "quadratic", vertex_zero=False), wanted, 1e-10)
    with pytest.raises(hr.InvalidArgumentError, match=r"^chirp: .*method="):
        signal.chirp(t, 1.0, 1.0, 2.0, "cubic")
