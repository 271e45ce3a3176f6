# SPDX-License-Identifier: Apache-2.0
"""hr.signal.fft_convolve against exact sums and SciPy, for every method, mode and block."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr
from headrace import signal

scipy_signal = pytest.importorskip("scipy.signal")

MODES = ["full", "same", "valid"]
# Directly up to 75 (float64) or 90 taps; blocks of 8192, 16384 or 32768, and longer ones beyond.
TAPS = [1, 2, 3, 47, 48, 49, 75, 76, 90, 91, 257, 700, 1401, 6000, 6200, 13_000, 40_000]
DTYPES = ["float32", "float64"]


def noise(count, dtype, seed=0):
    return np.random.default_rng(seed).normal(size=count).astype(dtype)


def check(x, h, mode="same"):
    found = signal.fft_convolve(x, h, mode).to_numpy()
    wanted = scipy_signal.fftconvolve(np.asarray(x, float), np.asarray(h, float), mode)
    assert found.dtype == x.dtype
    assert found.shape == wanted.shape
    scale = np.linalg.norm(h.astype(float))
    bound = np.finfo(h.dtype).eps * scale * np.abs(x).max() * 64
    np.testing.assert_allclose(found, wanted, rtol=0, atol=bound)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("taps", TAPS)
def test_any_number_of_taps(taps, mode, dtype):
    check(noise(80_001, dtype, taps), noise(taps, dtype, 1), mode)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [1, 2, 63, 64, 65, 1999, 131_071, 131_072, 131_073, 400_003])
def test_any_number_of_samples(rows, dtype):
    x = noise(rows, dtype)
    for taps in (1, 33, 300):
        check(x, noise(taps, dtype, 2), "full")
        if taps <= rows:
            check(x, noise(taps, dtype, 2), "same")
            check(x, noise(taps, dtype, 2), "valid")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("taps", [1, 5, 48, 49, 700])
def test_whole_numbers_are_exact_after_rounding(mode, taps):
    rng = np.random.default_rng(taps)
    x = rng.integers(-1000, 1000, 5000)
    h = rng.integers(-1000, 1000, taps)
    wanted = np.convolve(x, h, mode)  # exact in int64
    found = signal.fft_convolve(x.astype(float), h.astype(float), mode).to_numpy()
    np.testing.assert_array_equal(np.rint(found), wanted)
    assert np.abs(found - wanted).max() < 1e-5
    if taps <= 48:
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("taps", [20, 100])
@pytest.mark.parametrize("rows", [1, 3, 19])
def test_taps_longer_than_the_signal(rows, taps, dtype):
    x, h = noise(rows, dtype), noise(taps, dtype, 1)
    check(x, h, "full")
    for mode in ("same", "valid"):
        with pytest.raises(
            hr.InvalidArgumentError, match=rf"^fft_convolve: .*taps={taps}, signal={rows}; .*full"
        ):
            signal.fft_convolve(x, h, mode)


@given(
    st.integers(1, 3000),
    st.integers(1, 600),
    st.sampled_from(MODES),
    st.sampled_from(DTYPES),
    st.integers(0, 99),
)
def test_anything(rows, taps, mode, dtype, seed):
    if mode == "full" or taps <= rows:
        check(noise(rows, dtype, seed), noise(taps, dtype, seed + 1), mode)


@pytest.mark.parametrize("taps", [9, 300])
def test_strides_and_offsets(taps):
    x = noise(60_000, "float64")
    h = noise(3 * taps, "float64", 1)
    check(x[::-1], h[:taps])
    check(x[5::3], h[::-3])
    check(x.reshape(-1, 4)[:, 2], h[taps : 2 * taps])
    check(x[12_345:], h[:taps], "full")


def test_taps_that_fade_out_are_left_out_within_the_bound():
    h = signal.ricker(4096, 8.0)
    taps = h.to_numpy()
    x = noise(100_000, "float64")
    found = signal.fft_convolve(x, h).to_numpy()
    wanted = np.array(
        [np.dot(x[i - 2048 : i + 2048], taps[::-1]) for i in range(3000, 90_000, 997)]
    )
    bound = np.finfo(float).eps * np.abs(taps).sum() * np.abs(x).max()
    np.testing.assert_allclose(found[3000:90_000:997], wanted, rtol=0, atol=8 * bound)
    # On one side only, and none at all.
    check(x, np.concatenate([np.zeros(1000), [1.0, 2.0], np.full(500, 1e-30)]), "full")
    check(x, np.zeros(100))


@pytest.mark.parametrize("taps", [9, 75, 300, 5001])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_inf_reach_the_outputs_of_their_taps(taps, bad):
    x = noise(300_000, "float64")
    h = noise(taps, "float64", 1)
    clean = signal.fft_convolve(x, h).to_numpy()
    x = x.copy()
    x[150_000] = bad
    found = signal.fft_convolve(x, h).to_numpy()
    first = 150_000 - (taps - 1) // 2
    reached = np.zeros(len(x), bool)
    reached[first : first + taps] = True
    np.testing.assert_array_equal(np.isfinite(found), ~reached)
    x[150_000] = 0
    again = signal.fft_convolve(x, h).to_numpy()
    np.testing.assert_array_equal(found[~reached], again[~reached])
    far = np.abs(np.arange(300_000) - 150_000) > (taps if taps <= 75 else 3 * 16_384)
    np.testing.assert_array_equal(found[far], clean[far])


def test_nan_in_the_taps_fills_the_result():
    h = noise(100, "float64")
    h[50] = np.nan
    assert np.isnan(signal.fft_convolve(noise(1000, "float64"), h).to_numpy()).all()


@pytest.mark.parametrize("mode", MODES)
def test_an_empty_signal_gives_an_empty_result(mode):
    found = signal.fft_convolve(np.zeros(0), [1.0, 2.0], mode)
    assert found.shape == (0,)
    assert found.to_numpy().shape == (0,)


def test_no_taps():
    with pytest.raises(ValueError, match=r"^fft_convolve: .*taps=0.*; "):
        signal.fft_convolve([1.0, 2.0], np.zeros(0))


def test_shapes_that_are_known_late():
    x = noise(1000, "float64")
    gate = x > 0
    picked = hr.asarray(x)[hr.asarray(gate)]
    for mode in MODES:
        found = signal.fft_convolve(picked, [1.0, 2.0, 4.0], mode)
        np.testing.assert_allclose(
            found.to_numpy(), np.convolve(x[gate], [1.0, 2.0, 4.0], mode), atol=1e-12
        )


def test_deferred_inputs_and_series():
    x = noise(1000, "float32")
    frame = hr.DataFrame({"x": x})
    wanted = np.convolve(x.astype(float) * 2, [1.0, 0.5], "same")
    found = signal.fft_convolve(frame.x * 2, hr.asarray(np.float32([1.0, 0.5])))
    np.testing.assert_allclose(found.to_numpy(), wanted, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("taps", [30, 100, 4096, 20_000])
def test_is_the_same_for_any_threads(taps, dtype):
    x, h = noise(500_003, dtype), noise(taps, dtype, 1)
    found = []
    for count in (1, 2, 4):
        with hr.threads(count):
            found.append(signal.fft_convolve(x, h).to_numpy().tobytes())
    assert found[0] == found[1] == found[2]


def test_nothing_is_copied():
    x, h = noise(200_000, "float64"), noise(100, "float64")
    with hr.no_copies():
        signal.fft_convolve(x, h).to_numpy()


def test_other_types_name_the_fix():
    x = noise(100, "float64")
    for bad in (np.arange(100), x > 0, x * 1j):
        with pytest.raises(TypeError, match=r"^fft_convolve: .*dtype=.*astype"):
            signal.fft_convolve(bad, [1.0, 2.0])
        with pytest.raises(TypeError, match=r"^fft_convolve: .*dtype=.*astype"):
            signal.fft_convolve(x, bad)
    with pytest.raises(TypeError, match=r"^fft_convolve: .*float64.*float32.*astype"):
        signal.fft_convolve(x, np.ones(3, np.float32))
    with pytest.raises(TypeError, match=r"^fft_convolve: .*dimensions=2"):
        signal.fft_convolve(x.reshape(10, 10), [1.0])
    with pytest.raises(ValueError, match=r"mode"):
        signal.fft_convolve(x, [1.0], "middle")


def test_nulls_name_the_fix():
    column = hr.from_arrow(pytest.importorskip("pyarrow").array([1.0, None, 2.0]))
    with pytest.raises(hr.Error, match=r"null.*fillna"):
        signal.fft_convolve(column, [1.0]).to_numpy()
    assert signal.fft_convolve([1.0, 2.0], [1.0]).tolist() == [1.0, 2.0]


def test_explain_shows_the_method():
    x = hr.asarray(noise(10_000, "float64"))
    few, many = np.ones(57), np.pad(np.ones(4001), 50)
    for taps, words in ((few, "direct, 57 of 57 taps"), (many, "FFT of 16384, 4001 of 4101 taps")):
        plan = signal.fft_convolve(x + 0, taps)
        assert f"mode=same; {words} used, about " in plan.explain()
        hr.eval(plan)
        assert f"ready: fft_convolve [mode=same; {words} used" in plan.explain()


def test_explain_waits_for_deferred_taps():
    source = noise(10_000, "float32")
    source.flags.writeable = False  # or its operators run at once
    x = hr.asarray(source)
    wavelet = signal.ricker(57, 4.0, "float32")
    plan = signal.fft_convolve(x, wavelet)
    assert "[mode=same; the method follows from the taps]" in plan.explain()
    hr.eval(wavelet)
    assert "[mode=same; direct, " in plan.explain()
