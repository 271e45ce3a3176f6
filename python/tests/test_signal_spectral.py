# SPDX-License-Identifier: Apache-2.0
"""Spectra of hr.signal equal SciPy's, of any length, axis and option; istft undoes stft."""

import warnings

import numpy as np
import pytest
import scipy.signal as theirs
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr
from headrace import signal as ours

SIZES = [1, 2, 63, 64, 65, 255, 256, 257, 1000, 2**17 - 1, 2**17 + 1]


def noise(*shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape) + 0.5
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.normal(size=shape)
    return values.astype(dtype)


def check(found, wanted, dtype="float64"):
    assert len(found) == len(wanted)
    eps = 1e-4 if dtype in ("float32", "complex64", "bool") else 1e-9  # SciPy has float32 of bools
    for one, other in zip(found, wanted, strict=True):
        one = np.asarray(one)
        assert one.shape == other.shape
        assert one.dtype.kind == other.dtype.kind
        size = np.abs(other).max() if other.size else 0
        np.testing.assert_allclose(one, other, rtol=eps, atol=eps * size)


@pytest.mark.filterwarnings("ignore:.*nperseg")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["welch", "periodogram", "spectrogram", "stft"])
def test_sizes(name, size):
    x = noise(size)
    check(getattr(ours, name)(x), getattr(theirs, name)(x))


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "complex64", "complex128", "int32", "bool"]
)
@pytest.mark.parametrize("name", ["welch", "periodogram", "spectrogram", "stft"])
def test_dtypes(name, dtype):
    x = (noise(1000, dtype=dtype) if dtype[0] in "fc" else noise(1000) > 0).astype(dtype)
    one_sided = dtype[0] != "c"
    found = getattr(ours, name)(x, fs=10.0, return_onesided=one_sided)
    check(found, getattr(theirs, name)(x, fs=10.0, return_onesided=one_sided), dtype)
    exact = "float32" if dtype in ("float32", "complex64") else "float64"
    if name != "stft":
        assert found[-1].dtype == exact


OPTIONS = [
    {"nperseg": 128},
    {"nperseg": 100, "noverlap": 99},
    {"nperseg": 100, "noverlap": 0, "nfft": 128},
    {"nperseg": 101, "nfft": 243},
    {"nperseg": 97},
    {"nperseg": 74, "nfft": 74},
    {"nperseg": 1500},
    {"nperseg": 1031, "noverlap": 7},
    {"nperseg": 1, "noverlap": 0},
    {"nperseg": 64, "detrend": "linear"},
    {"nperseg": 1100, "detrend": "linear", "return_onesided": False},
    {"nperseg": 64, "detrend": False, "scaling": "spectrum"},
    {"nperseg": 63, "return_onesided": False},
    {"window": "boxcar", "nperseg": 40},
    {"window": ("tukey", 0.5), "nperseg": 40},
    {"window": np.linspace(0.1, 1, 33)},
    {"nperseg": 50, "detrend": lambda d: d - d[..., :1]},
]


@pytest.mark.parametrize("options", OPTIONS, ids=range(len(OPTIONS)))
@pytest.mark.parametrize("name", ["welch", "spectrogram", "csd"])
def test_options(name, options):
    x = noise(3000)
    signals = (x, noise(3000, seed=1)) if name == "csd" else (x,)
    found = getattr(ours, name)(*signals, fs=50.0, **options)
    check(found, getattr(theirs, name)(*signals, fs=50.0, **options))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
@pytest.mark.parametrize("name", ["welch", "periodogram", "spectrogram", "stft", "hilbert"])
def test_axes(name, axis):
    x = noise(70, 80, 90)
    options = {} if name in ("hilbert", "periodogram") else {"nperseg": 16}
    found = getattr(ours, name)(x, axis=axis, **options)
    wanted = getattr(theirs, name)(x, axis=axis, **options)
    check((found,) if name == "hilbert" else found, (wanted,) if name == "hilbert" else wanted)


@pytest.mark.parametrize("average", ["mean", "median"])
@pytest.mark.parametrize("size", [300, 700, 2000])
def test_averages(average, size):
    x, y = noise(2, size), noise(2, size, seed=1)
    check(ours.welch(x, average=average), theirs.welch(x, average=average))
    check(ours.csd(x, y, average=average), theirs.csd(x, y, average=average))


def test_two_signals():
    x, y = noise(3, 1, 900), noise(2, 900, seed=1)
    check(ours.csd(x, y), theirs.csd(x, y))
    x, y = x[0], y[:, :700]
    check(ours.csd(x[0], y[0]), theirs.csd(x[0], y[0]))
    check(ours.csd(y[0], x[0]), theirs.csd(y[0], x[0]))
    check(ours.csd(x[0], y[0] + 0j), theirs.csd(x[0], y[0] + 0j, return_onesided=False))
    x = noise(3, 1, 900)
    check(ours.coherence(x[0, 0], x[1, 0]), theirs.coherence(x[0, 0], x[1, 0]))
    array = hr.asarray(x)
    check(ours.csd(array, array), theirs.csd(x, x))


@pytest.mark.parametrize("mode", ["psd", "complex", "magnitude", "angle", "phase"])
def test_modes(mode):
    x = noise(2, 2000)
    check(ours.spectrogram(x, mode=mode), theirs.spectrogram(x, mode=mode))


@pytest.mark.parametrize("boundary", ["zeros", "even", "odd", "constant", None])
@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("scaling", ["spectrum", "psd"])
def test_boundaries(boundary, padded, scaling):
    x = noise(2, 1003)
    options = {"boundary": boundary, "padded": padded, "scaling": scaling, "nperseg": 100}
    found, wanted = ours.stft(x, **options), theirs.stft(x, **options)
    check(found, wanted)
    kept = {"boundary": boundary is not None, "scaling": scaling, "nperseg": 100}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check(ours.istft(found[2], **kept)[1:], theirs.istft(wanted[2], **kept)[1:])


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 700),
    st.integers(2, 90),
    st.integers(0, 89),
    st.integers(0, 50),
    st.booleans(),
    st.sampled_from(["float32", "float64", "complex128"]),
)
def test_istft_undoes_stft(size, nperseg, noverlap, more, one_sided, dtype):
    nperseg = min(size, nperseg)
    noverlap = min(noverlap, nperseg - 1)
    one_sided = one_sided and dtype != "complex128"
    x = noise(size, dtype=dtype)
    options = {"nperseg": nperseg, "noverlap": noverlap, "nfft": nperseg + more}
    window = np.hamming(nperseg + 2)[1:-1]
    _, _, z = ours.stft(x, window=window, return_onesided=one_sided, **options)
    check((z,), theirs.stft(x, window=window, return_onesided=one_sided, **options)[2:], dtype)
    _, back = ours.istft(z, window=window, input_onesided=one_sided, **options)
    eps = 2e-4 if dtype == "float32" else 1e-9
    np.testing.assert_allclose(back.to_numpy()[:size], x, rtol=eps, atol=eps)


def test_istft_of_long_and_other_terms():
    x = noise(2**18 + 77)
    for options in ({"nperseg": 256}, {"nperseg": 255, "noverlap": 200}, {"nperseg": 5000}):
        z = theirs.stft(x, **options)[2]
        check(ours.istft(z, **options), theirs.istft(z, **options))
    z = theirs.stft(x[:4000], nperseg=64)[2]
    moved = np.ascontiguousarray(z.T)
    check(ours.istft(moved, time_axis=0, freq_axis=1), theirs.istft(z))
    check(ours.istft(z.real, nperseg=64)[1:], theirs.istft(z.real, nperseg=64)[1:])
    with pytest.warns(UserWarning, match="squared windows"):
        ours.istft(z, boundary=False)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_hilbert(size, dtype):
    x = noise(size, dtype=dtype)
    check((ours.hilbert(x),), (theirs.hilbert(x),), dtype)
    for length in (size - 1, size + 1, 2 * size + 3):
        if length > 0:
            check((ours.hilbert(x, length),), (theirs.hilbert(x, length),), dtype)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int32"])
@pytest.mark.parametrize(
    "shapes", [((1,), (1,)), ((65,), (3,)), ((3,), (65,)), ((64,), (64,)), ((20, 7), (4, 5))]
)
def test_correlate(mode, dtype, shapes):
    x, y = (10 * noise(*shape, dtype="complex128", seed=k) for k, shape in enumerate(shapes))
    x, y = (each if dtype[0] == "c" else each.real.astype(dtype) for each in (x, y))
    found, wanted = ours.correlate(x, y, mode), theirs.correlate(x, y, mode)
    assert found.dtype == wanted.dtype
    check((found,), (wanted,), dtype)
    lags = ours.correlation_lags(len(x), len(y), mode)
    np.testing.assert_array_equal(lags, theirs.correlation_lags(len(x), len(y), mode))


def test_nan_fills_its_segment():
    x = noise(1024)
    x[700] = np.nan
    _, _, s = ours.spectrogram(x, nperseg=64, noverlap=0)
    filled = np.isnan(s.to_numpy()).all(axis=0)
    assert np.flatnonzero(filled).tolist() == [700 // 64]
    assert np.isfinite(s.to_numpy()[:, ~filled]).all()


def test_series_slices_and_plans():
    x = noise(4000)
    wanted = theirs.welch(x[::2])
    check(ours.welch(hr.Series(x[::2])), wanted)
    check(ours.welch(hr.asarray(x)[::2]), wanted)
    _, power = ours.welch(hr.asarray(x)[::2])
    assert "mean power of segments=14, step=128, nfft=256" in str(power.explain())
    check((10 * np.log10(power),), (10 * np.log10(wanted[1]),))
    assert ours.welch([])[1].shape == (0,)


def test_the_same_bits_for_any_threads():
    x, y = noise(3, 2**17 + 5), noise(3, 2**17 + 5, seed=1)

    def all_of_it():
        return [
            *ours.welch(x),
            *ours.csd(x, y, nperseg=1500),
            *ours.spectrogram(x, nperseg=100),
            *ours.stft(x, nperseg=1031),
            *ours.istft(ours.stft(x)[2]),
            ours.hilbert(x),
            *ours.periodogram(x),
        ]

    bits = []
    for count in (1, 2, 4):
        with hr.threads(count):
            bits.append([np.asarray(each).tobytes() for each in all_of_it()])
    assert bits[0] == bits[1] == bits[2]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ours.welch([1.0, 2.0], nperseg=0), "nperseg=0"),
        (lambda: ours.welch([1.0, 2.0], nperseg=2, noverlap=2), "noverlap=2, nperseg=2"),
        (lambda: ours.welch([1.0, 2.0], nperseg=2, nfft=1), "nfft=1, nperseg=2"),
        (lambda: ours.welch([1.0, 2.0], nperseg=2, detrend="cubic"), "detrend='cubic'"),
        (lambda: ours.welch([1.0, 2.0], nperseg=2, scaling="x"), "scaling='x'"),
        (lambda: ours.welch([1.0, 2.0], nperseg=2, average="x"), "average='x'"),
        (lambda: ours.welch([1.0], window=[1.0, 1.0]), "window=2, samples=1"),
        (lambda: ours.welch([1.0, 2.0], nperseg=2, axis=1), "axis=1"),
        (lambda: ours.stft([1.0, 2.0], nperseg=2, boundary="x"), "boundary='x'"),
        (lambda: ours.stft([1.0, 2.0], nperseg=2, scaling="density"), "scaling='density'"),
        (lambda: ours.spectrogram([1.0, 2.0], nperseg=2, mode="x"), "mode='x'"),
        (lambda: ours.istft([1.0]), "dimensions=1"),
        (lambda: ours.istft([[1.0]], nperseg=1, noverlap=1), "noverlap=1"),
        (lambda: ours.istft([[1.0], [1.0]], time_axis=0, freq_axis=0), "time_axis=0"),
        (lambda: ours.hilbert([1.0], N=0), "N=0"),
        (lambda: ours.correlate([1.0], [[1.0]]), "in1=1, in2=2"),
        (lambda: ours.correlate([1.0], [1.0], mode="x"), "mode='x'"),
    ],
)
def test_errors_name_the_value(call, words):
    with pytest.raises(hr.errors.InvalidArgumentError) as caught:
        call()
    assert words in str(caught.value)
    assert ours.welch([1.0, 2.0], nperseg=2)[1].shape == (2,)
