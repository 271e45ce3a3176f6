# SPDX-License-Identifier: Apache-2.0
"""Matrices, smoothing polynomials and wavelet transforms against SciPy."""

import numpy as np
import pytest

import headrace as hr
from headrace import signal

scipy_signal = pytest.importorskip("scipy.signal")

MODES = ["full", "same", "valid"]


def noise(*shape, seed=0):
    x = np.random.default_rng(seed).normal(size=shape)
    x.flags.writeable = False
    return x


def near(found, wanted, bound=1e-11):
    found = np.asarray(found)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=bound, atol=bound)


@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kernel", [(1, 1), (3, 3), (4, 2), (2, 5), (31, 31)])
@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (31, 64), (65, 300)])
def test_matrices(shape, kernel, mode, boundary):
    x, h = noise(*shape), noise(*kernel, seed=1)
    fits = kernel[0] <= shape[0] and kernel[1] <= shape[1]
    for ours, theirs in (
        (signal.convolve2d, scipy_signal.convolve2d),
        (signal.correlate2d, scipy_signal.correlate2d),
    ):
        if mode == "valid" and not fits:
            continue
        if boundary != "fill" and not fits:
            continue
        near(ours(x, h, mode, boundary), theirs(x, h, mode, boundary))
    if mode != "valid":
        near(
            signal.convolve2d(x, h, mode, fillvalue=2.5),
            scipy_signal.convolve2d(x, h, mode, fillvalue=2.5),
        )


@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
@pytest.mark.parametrize("kernel", [(2, 2), (3, 4), (4, 3), (6, 6)])
def test_nan_reaches_no_sum_without_it(kernel, boundary):
    x, h = np.array(noise(12, 14)), noise(*kernel, seed=1)
    x[5, 6], x[0, 0], x[11, 13] = np.nan, np.inf, np.nan
    for name in ("convolve2d", "correlate2d"):
        for mode in MODES:
            made = getattr(signal, name)(x, h, mode, boundary)
            near(made, getattr(scipy_signal, name)(x, h, mode, boundary))


@pytest.mark.parametrize("mode", ["mirror", "nearest", "constant", "wrap"])
def test_smoothing_keeps_nan_in_its_windows(mode):
    for at in (0, 3, 5, 50, 97, 99):
        x = np.array(noise(100))
        x[at] = np.nan
        made = signal.savgol_filter(x, 11, 3, mode=mode).to_numpy()
        wanted = scipy_signal.savgol_filter(x, 11, 3, mode=mode)
        np.testing.assert_allclose(made, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("window", "order"), [(31, 20), (51, 30), (101, 25), (501, 12)])
def test_polynomials_of_high_order(window, order):
    # Smoothing gives back a polynomial of its order; powers of the samples' numbers would not.
    at = np.linspace(-1, 1, 600)
    series = np.polynomial.Chebyshev(1 / (1 + np.arange(order // 4 + 1)))
    x, delta = series(at), at[1] - at[0]
    for deriv, bound in ((0, 1e-9), (1, 1e-6)):
        made = signal.savgol_filter(x, window, order, deriv=deriv, delta=delta).to_numpy()
        np.testing.assert_allclose(made, series.deriv(deriv)(at) if deriv else x, atol=bound)


def test_matrices_of_other_dtypes():
    x, h = np.arange(40).reshape(5, 8), np.arange(6).reshape(2, 3)
    near(signal.convolve2d(x, h), scipy_signal.convolve2d(x, h))
    single = noise(40, 30).astype("float32"), noise(3, 3).astype("float32")
    near(signal.convolve2d(*single), scipy_signal.convolve2d(*single), 1e-5)
    x = noise(60, 80)
    near(
        signal.convolve2d(x[::-2, ::3], x.T[:3, :4]),
        scipy_signal.convolve2d(x[::-2, ::3], x.T[:3, :4]),
    )
    near(signal.convolve2d(x[:3, :3], x, "valid"), scipy_signal.convolve2d(x[:3, :3], x, "valid"))


LARGE = [
    ((31, 31), (200, 300)),
    ((1, 400), (150, 900)),
    ((64, 5), (700, 40)),
    ((90, 70), (90, 500)),
]


@pytest.mark.parametrize(("taps", "shape"), LARGE)
@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
def test_matrices_with_large_kernels(taps, shape, boundary):
    x, h = noise(*shape), noise(*taps)
    for mode in ("full", "same", "valid"):
        wanted = scipy_signal.convolve2d(x, h, mode, boundary, 1.5)
        near(signal.convolve2d(x, h, mode, boundary, 1.5), wanted, 1e-11)
        single = signal.convolve2d(x.astype("f4"), h.astype("f4"), mode, boundary, 1.5)
        near(single, wanted.astype("f4"), 1e-6 * np.abs(h).sum())
    near(signal.correlate2d(x, h, "same"), scipy_signal.correlate2d(x, h, "same"), 1e-11)


def test_large_kernels_are_exact_for_whole_numbers():
    random = np.random.default_rng(3)
    for low, high in ((0, 2), (-99, 99), (-(2**20), 2**20), (-(2**40), 2**40)):
        x, h = random.integers(low, high, (200, 333)), random.integers(low, high, (31, 35))
        wanted = scipy_signal.convolve2d(x, h, "same")
        assert np.array_equal(signal.convolve2d(x, h, "same"), wanted) or high > 2**30
        floats = signal.convolve2d(x.astype("f8"), h.astype("f8"), "same").to_numpy()
        if np.abs(x).max() * float(np.abs(h).sum()) < 2**53:
            assert np.array_equal(floats, wanted)
    wanted = scipy_signal.convolve2d(x % 3, h % 3, "same")
    small = signal.convolve2d((x % 3).astype("f4"), (h % 3).astype("f4"), "same")
    assert np.array_equal(small.to_numpy(), wanted)


def test_large_kernels_keep_what_is_apart():
    x, h = noise(400, 400).copy(), noise(31, 31)
    x[200:] *= 1e-200
    x[:, 250:] = 0
    x[7, 9], x[320, 11] = np.nan, np.inf
    wanted = scipy_signal.convolve2d(x, h, "same")
    made = signal.convolve2d(x, h, "same").to_numpy()
    assert np.array_equal(np.isnan(made), np.isnan(wanted))
    assert np.array_equal(np.isinf(made), np.isinf(wanted))
    assert np.all(made[:, 380:] == 0)
    y = noise(400, 400) * np.where(np.arange(400) < 200, 1.0, 1e-200)
    made = signal.convolve2d(y, h, "same").to_numpy()[:, 320:] * 1e200
    near(made, scipy_signal.convolve2d(y, h, "same")[:, 320:] * 1e200, 1e-11)


@pytest.mark.parametrize("mode", ["interp", "mirror", "nearest", "constant", "wrap"])
@pytest.mark.parametrize("window", [(1, 0), (3, 1), (5, 2), (11, 3), (101, 4)])
def test_smoothing(window, mode):
    for rows in (101, 102, 1000, 131_073):
        x = noise(rows)
        for deriv in (0, 1, 2):
            options = {"deriv": deriv, "delta": 0.5, "mode": mode}
            near(
                signal.savgol_filter(x, *window, **options),
                scipy_signal.savgol_filter(x, *window, **options),
                1e-9,
            )
    near(
        signal.savgol_filter(x, *window, mode=mode, cval=2.0),
        scipy_signal.savgol_filter(x, *window, mode=mode, cval=2.0),
        1e-9,
    )


def test_smoothing_of_rows():
    x = noise(30, 40, 50)
    for axis in (0, 1, 2):
        near(
            signal.savgol_filter(x, 7, 2, axis=axis), scipy_signal.savgol_filter(x, 7, 2, axis=axis)
        )
    single = noise(500).astype("float32")
    near(signal.savgol_filter(single, 7, 2), scipy_signal.savgol_filter(single, 7, 2), 1e-5)
    x = np.arange(50) ** 2
    near(signal.savgol_filter(x[::-1], 7, 2), scipy_signal.savgol_filter(x[::-1], 7, 2), 1e-8)


def transform(x, wavelet, widths, **options):
    """As scipy.signal.cwt was."""
    rows = []
    for width in widths:
        taps = np.conj(wavelet(int(min(10 * width, len(x))), width, **options)[::-1])
        rows.append(np.convolve(x, taps, "same"))
    return np.array(rows)


def ricker(points, width):
    x = (np.arange(points) - (points - 1) / 2) / width
    return 2 / (np.sqrt(3 * width) * np.pi**0.25) * (1 - x**2) * np.exp(-0.5 * x**2)


def morlet2(points, width, w=5.0):
    x = (np.arange(points) - (points - 1) / 2) / width
    return np.exp(1j * w * x) * np.exp(-0.5 * x**2) * np.pi**-0.25 / np.sqrt(width)


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 1000, 20_001])
def test_wavelet_transforms(rows):
    x = noise(rows)
    widths = [1, 2, 3.5, 8, 30, 64]
    near(signal.cwt(x, signal.ricker, widths), transform(x, ricker, widths), 1e-10)
    near(signal.cwt(x, signal.morlet2, widths, w=6.0), transform(x, morlet2, widths, w=6.0), 1e-10)
    near(
        signal.cwt(x.astype("float32"), signal.ricker, widths),
        transform(x, ricker, widths).astype("float32"),
        2e-4,
    )


def test_is_the_same_for_any_threads():
    x, image = noise(300_001), noise(300, 400)
    found = set()
    for count in (1, 2, 4):
        with hr.threads(count):
            parts = [
                signal.cwt(x, signal.ricker, [2, 20]),
                signal.savgol_filter(x, 9, 3),
                signal.convolve2d(image, image[:9, :9]),
                signal.convolve2d(image, image[:29, :31]),
            ]
            found.add(b"".join(each.to_numpy().tobytes() for each in parts))
    assert len(found) == 1


def test_bad_input_names_the_fix():
    x, image = noise(100), noise(10, 10)
    for bad in (
        lambda: signal.convolve2d(image, image[:, :0]),
        lambda: signal.convolve2d(image[:5], image[:, :5], "valid"),
        lambda: signal.convolve2d(image, image, "same", "other"),
        lambda: signal.savgol_filter(x, 4, 2),
        lambda: signal.savgol_filter(x, 3, 3),
        lambda: signal.savgol_filter(x, 101, 3),
        lambda: signal.savgol_filter(x, 5, 3, mode="other"),
        lambda: signal.cwt(x, signal.ricker, [0.0]),
        lambda: signal.cwt(x[:0], signal.ricker, [1.0]),
    ):
        with pytest.raises(hr.InvalidArgumentError, match=r"^\w+: .*="):
            bad()
    with pytest.raises(hr.InvalidArgumentError, match=r"^convolve2d: .*in2.ndim=1"):
        signal.convolve2d(image, x)
    with pytest.raises(TypeError, match=r"^convolve2d: .*complex"):
        signal.convolve2d(image * 1j, image)
    assert signal.convolve2d([[2.0]], [[3.0]]).tolist() == [[6.0]]
