# SPDX-License-Identifier: Apache-2.0
"""Recursive filters and their designs against SciPy."""

import numpy as np
import pytest

import headrace as hr
from headrace import signal

scipy_signal = pytest.importorskip("scipy.signal")

# One part of a long line is 4104 samples; 16 of them are filtered side by side.
ROWS = [0, 1, 2, 63, 64, 65, 1025, 65_663, 65_664, 65_665, 131_073, 300_001]
DESIGNS = [(1, 0.3), (2, 0.2), (4, 0.2), (4, 0.01), (8, 0.3), (3, 0.002)]
BANDS = [("low", 0.2), ("high", 0.3), ("bandpass", [0.2, 0.35]), ("bandstop", [0.1, 0.6])]


def noise(*shape, seed=0):
    x = np.random.default_rng(seed).normal(size=shape)
    x.flags.writeable = False
    return x


def near(found, wanted, bound=1e-9):
    found = np.asarray(found)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=bound, atol=bound)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("rows", ROWS)
def test_any_number_of_samples(rows, design):
    x = noise(300_001)[:rows]
    b, a = scipy_signal.butter(*design)
    sections = scipy_signal.butter(*design, output="sos")
    near(signal.lfilter(b, a, x), scipy_signal.lfilter(b, a, x))
    found = signal.sosfilt(sections, x)
    near(found, scipy_signal.sosfilt(sections, x) if rows else x)
    if rows > 40:
        near(signal.filtfilt(b, a, x), scipy_signal.filtfilt(b, a, x), 1e-8)
        near(signal.sosfiltfilt(sections, x), scipy_signal.sosfiltfilt(sections, x))


def test_short_signals_have_the_bits_of_the_recurrence():
    x = noise(5000)
    for design in DESIGNS:
        b, a = scipy_signal.butter(*design)
        wanted = scipy_signal.lfilter(b, a, x)
        np.testing.assert_array_equal(signal.lfilter(b, a, x).to_numpy(), wanted)


@pytest.mark.parametrize("order", range(13))
def test_any_order(order):
    rng = np.random.default_rng(order)
    b = rng.normal(size=order + 1)
    a = np.atleast_1d(np.poly(rng.uniform(-0.9, 0.9, order))) * 2
    for x in (noise(100), noise(140_000), noise(5, 400), noise(40, 70)):
        near(signal.lfilter(b, a, x), scipy_signal.lfilter(b, a, x))
        near(signal.lfilter(b[:1], a, x), scipy_signal.lfilter(b[:1], a, x))
        near(signal.lfilter(b, a[:1], x), scipy_signal.lfilter(b, a[:1], x))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_any_axis(axis):
    b, a = scipy_signal.butter(3, 0.3)
    sections = scipy_signal.butter(3, 0.3, output="sos")
    for x in (
        noise(40, 23, 57),
        noise(57, 40, 23).T,
        noise(80, 46, 57)[::2, ::-2],
        noise(30, 0, 41),
    ):
        near(signal.lfilter(b, a, x, axis), scipy_signal.lfilter(b, a, x, axis))
        if x.size:
            near(signal.sosfilt(sections, x, axis), scipy_signal.sosfilt(sections, x, axis))
            near(signal.filtfilt(b, a, x, axis), scipy_signal.filtfilt(b, a, x, axis))


def test_few_long_lines():
    sections = scipy_signal.butter(4, 0.2, output="sos")
    for x in (noise(3, 70_000), noise(2, 1000), noise(70_000, 3)):
        for axis in (0, 1):
            if x.shape[axis] > 3:
                near(signal.sosfilt(sections, x, axis), scipy_signal.sosfilt(sections, x, axis))


@pytest.mark.parametrize("cut", [1, 64, 65_664, 100_001])
def test_a_signal_in_pieces(cut):
    b, a = scipy_signal.butter(4, 0.05)
    sections = scipy_signal.butter(5, 0.05, output="sos")
    x = noise(200_003)
    first, state = signal.lfilter(b, a, x[:cut], zi=signal.lfilter_zi(b, a) * x[0])
    second, _ = signal.lfilter(b, a, x[cut:], zi=state)
    wanted, _ = scipy_signal.lfilter(b, a, x, zi=scipy_signal.lfilter_zi(b, a) * x[0])
    near(np.concatenate([first.to_numpy(), second.to_numpy()]), wanted)
    zeros = np.zeros((3, 2))
    first, state = signal.sosfilt(sections, x[:cut], zi=zeros)
    second, last = signal.sosfilt(sections, x[cut:], zi=state)
    wanted, end = scipy_signal.sosfilt(sections, x, zi=zeros)
    near(np.concatenate([first.to_numpy(), second.to_numpy()]), wanted)
    near(last, end)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_states_of_many_lines(axis):
    b, a = scipy_signal.butter(3, 0.3)
    sections = scipy_signal.butter(4, 0.3, output="sos")
    x = noise(19, 23, 31)
    shape = [19, 23, 31]
    shape[axis] = 3
    zi = noise(*shape, seed=1)
    for found, wanted in zip(
        signal.lfilter(b, a, x, axis, zi), scipy_signal.lfilter(b, a, x, axis, zi), strict=True
    ):
        near(found, wanted)
    shape = [1, 1, 1]
    shape[axis] = 3
    zi = np.arange(3.0).reshape(shape)
    near(signal.lfilter(b, a, x, axis, zi)[0], scipy_signal.lfilter(b, a, x, axis, zi)[0])
    shape = [2, 19, 23, 31]
    shape[axis + 1] = 2
    zi = noise(*shape, seed=2)
    for found, wanted in zip(
        signal.sosfilt(sections, x, axis, zi),
        scipy_signal.sosfilt(sections, x, axis, zi),
        strict=True,
    ):
        near(found, wanted)


@pytest.mark.parametrize("padtype", ["odd", "even", "constant", None])
def test_padding(padtype):
    b, a = scipy_signal.cheby1(3, 1.0, 0.1)
    sections = scipy_signal.cheby2(5, 40, 0.1, output="sos")
    for x in (noise(200), noise(70_000), noise(20, 60), noise(60, 2)):
        for padlen in (None, 0, 5):
            axis = 0 if x.shape[-1] == 2 else -1
            options = {"axis": axis, "padtype": padtype, "padlen": padlen}
            near(signal.filtfilt(b, a, x, **options), scipy_signal.filtfilt(b, a, x, **options))
            near(
                signal.sosfiltfilt(sections, x, **options),
                scipy_signal.sosfiltfilt(sections, x, **options),
            )


def test_dtypes():
    b, a = scipy_signal.butter(2, 0.3)
    for x in (
        noise(100).astype("float32"),
        noise(70_000).astype("float32"),
        np.arange(100),
        noise(100) > 0,
        noise(100) + 1j * noise(100, seed=1),
        noise(20, 100).astype("float32")[:, ::-3],
    ):
        wanted = scipy_signal.lfilter(b, a, x.astype("float64") if x.dtype.kind != "c" else x)
        near(signal.lfilter(b, a, x), wanted, 1e-12)
    single = [each.astype("float32") for each in (b, a, noise(70_000))]
    found = signal.lfilter(*single)
    assert found.dtype == "float32"
    wanted = scipy_signal.lfilter(*(each.astype(float) for each in single))
    np.testing.assert_allclose(found.to_numpy(), wanted, rtol=1e-6, atol=1e-6)
    both = signal.filtfilt(*single)
    wanted = scipy_signal.filtfilt(*(each.astype(float) for each in single))
    np.testing.assert_allclose(both.to_numpy(), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("taps", [1, 9, 10, 300])
def test_filters_without_feedback(taps):
    b = noise(taps, seed=3)
    x = noise(100_000)
    near(signal.lfilter(b, 2.0, x), scipy_signal.lfilter(b, 2.0, x), 1e-10)
    near(signal.lfilter(b, [2.0, 0.0], x[:5]), scipy_signal.lfilter(b, [2.0, 0.0], x[:5]), 1e-10)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("samples", [1, 8, 63, 200])
def test_many_taps_with_a_state_and_of_rows(samples, axis):
    b = noise(80, seed=3)
    x = noise(5, samples) if axis else noise(samples, 5)
    zi = noise(5, 79, seed=1) if axis else noise(79, 5, seed=1)
    near(signal.lfilter(b, 2.0, x, axis), scipy_signal.lfilter(b, 2.0, x, axis), 1e-11)
    for found, wanted in zip(
        signal.lfilter(b, 2.0, x, axis, zi), scipy_signal.lfilter(b, 2.0, x, axis, zi), strict=True
    ):
        near(found, wanted, 1e-11)
    line, state = x.ravel(), zi.ravel()[:79]
    first, after = signal.lfilter(b, 2.0, line[:100], zi=state)
    rest = signal.lfilter(b, 2.0, line[100:], zi=after)[0]
    wanted = scipy_signal.lfilter(b, 2.0, line, zi=state)[0]
    near(np.concatenate([first.to_numpy(), rest.to_numpy()]), wanted, 1e-11)
    bad = np.array(x)
    bad[0, 0] = np.nan
    far = signal.lfilter(b, 2.0, bad, axis).to_numpy()
    assert np.isfinite(far[1:] if axis else far[:, 1:]).all()


def test_long_taps_of_rows_take_time_by_the_sample():
    b, x = noise(20_000, seed=3), noise(4, 100_000)
    near(signal.lfilter(b, 1.0, x)[:, ::997], scipy_signal.oaconvolve(x, b[None])[:, :100_000:997])


@pytest.mark.parametrize("complex_state", [True, False])
@pytest.mark.parametrize("complex_signal", [True, False])
@pytest.mark.parametrize("taps", [3, 30])
def test_complex_numbers_with_a_state(taps, complex_signal, complex_state):
    b, sections = noise(taps, seed=3), scipy_signal.butter(4, 0.3, output="sos")
    x = noise(2, 100) * (1 + 2j if complex_signal else 1)
    zi = noise(2, taps - 1, seed=1) * (1j if complex_state else 1)
    wanted = scipy_signal.lfilter(b, [1.0], x, zi=zi)
    for mine, theirs in zip(signal.lfilter(b, [1.0], x, zi=zi), wanted, strict=True):
        near(mine, theirs)
    zi = noise(2, 2, 2, seed=1) * (1 - 1j if complex_state else 1)
    wanted = scipy_signal.sosfilt(sections, x, zi=zi)
    for mine, theirs in zip(signal.sosfilt(sections, x, zi=zi), wanted, strict=True):
        near(mine, theirs)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("at", [0, 500, 70_000, 140_000])
def test_what_is_not_finite_spoils_all_that_follows(at, bad):
    x = noise(150_000).copy()
    clean = signal.lfilter([0.1], [1, -0.5, -0.4], x).to_numpy()
    x[at] = bad
    found = signal.lfilter([0.1], [1, -0.5, -0.4], x).to_numpy()
    np.testing.assert_array_equal(found[:at], clean[:at])
    assert not np.isfinite(found[at:]).any()
    np.testing.assert_array_equal(found, scipy_signal.lfilter([0.1], [1, -0.5, -0.4], x))
    taps = [0.5, 0.25, 0.125]
    for found in (signal.lfilter(taps, [1.0], x), signal.lfilter(taps, [1.0], x[None])[0]):
        finite = np.isfinite(found.to_numpy())
        assert not finite[at : at + 3].any()
        assert finite[at + 3 :].all()
    assert np.isnan(signal.filtfilt([0.1], [1, -0.5], x).to_numpy()).sum() >= 150_000 - at


def test_sums_and_filters_that_grow():
    x = noise(200_000)
    near(signal.lfilter([1.0], [1.0, -1.0], x), np.cumsum(x))
    near(signal.lfilter([1.0], [1.0, -1.001], x), scipy_signal.lfilter([1.0], [1.0, -1.001], x))
    grows = scipy_signal.lfilter([1.0], [1.0, -1.01], x[:70_000])
    found = signal.lfilter([1.0], [1.0, -1.01], x[:70_000])
    np.testing.assert_array_equal(found.to_numpy(), grows)
    wanted = np.cumsum(np.cumsum(x))
    found = signal.lfilter([1.0], [1.0, -2.0, 1.0], x).to_numpy()
    np.testing.assert_allclose(found, wanted, atol=1e-7 * np.abs(wanted).max())


@pytest.mark.parametrize("shape", [(300_000,), (40, 500), (500, 40)])
def test_is_the_same_for_any_threads(shape):
    x = noise(*shape)
    sections = scipy_signal.butter(4, 0.1, output="sos")
    found = set()
    for count in (1, 2, 4):
        with hr.threads(count):
            found.add(
                signal.sosfilt(sections, x).to_numpy().tobytes()
                + signal.sosfiltfilt(sections, x).to_numpy().tobytes()
                + signal.lfilter([0.01], [1, -0.9999], x).to_numpy().tobytes()
            )
    assert len(found) == 1


def test_deferred_series_and_unknown_lengths():
    x = noise(1000)
    frame = hr.DataFrame({"x": x})
    b, a = signal.butter(2, 0.2)
    near(signal.lfilter(b, a, frame.x * 2), scipy_signal.lfilter(b, a, x * 2))
    gate = x > 0
    picked = hr.asarray(x)[hr.asarray(gate)]
    near(signal.lfilter(b, a, picked), scipy_signal.lfilter(b, a, x[gate]))
    near(signal.lfilter(np.ones(20), [1.0], picked), scipy_signal.lfilter(np.ones(20), 1, x[gate]))
    near(signal.filtfilt(b, a, picked), scipy_signal.filtfilt(b, a, x[gate]))
    _, state = signal.lfilter(b, a, picked, zi=[0.0, 0.0])
    near(state, scipy_signal.lfilter(b, a, x[gate], zi=[0.0, 0.0])[1])
    assert "lfilter [order=2, sections=1, axis=0]" in signal.lfilter(b, a, picked + 0).explain()


def test_nothing_is_copied():
    x = noise(100_000)
    sections = scipy_signal.butter(4, 0.1, output="sos")
    with hr.no_copies():
        signal.sosfiltfilt(sections, x).to_numpy()


def test_under_a_limit():
    x = noise(4_000_000)
    sections = scipy_signal.butter(4, 0.1, output="sos")
    wanted = signal.sosfiltfilt(sections, x).to_numpy().tobytes()
    with hr.memory.limit("200MB"):
        assert signal.sosfiltfilt(sections, x).to_numpy().tobytes() == wanted


def test_bad_input_names_the_fix():
    x = noise(100)
    sections = scipy_signal.butter(4, 0.1, output="sos")
    with pytest.raises(hr.InvalidArgumentError, match=r"^lfilter: .*a=\[0.0, 0.0\]"):
        signal.lfilter([1.0], [0.0, 0.0], x)
    with pytest.raises(hr.InvalidArgumentError, match=r"^lfilter: .*finite"):
        signal.lfilter([np.nan], [1.0], x)
    with pytest.raises(hr.InvalidArgumentError, match=r"^lfilter: .*zi.*\(3,\)"):
        signal.lfilter([1.0], [1.0, 0.5], x, zi=[1.0, 2.0, 3.0])
    with pytest.raises(hr.InvalidArgumentError, match=r"^sosfilt: .*shape=\(2, 5\)"):
        signal.sosfilt(sections[:, :5], x)
    with pytest.raises(hr.InvalidArgumentError, match=r"^sosfilt: .*not 1"):
        signal.sosfilt(sections * 2, x)
    with pytest.raises(hr.InvalidArgumentError, match=r"^filtfilt: .*samples=5, padlen=9"):
        signal.filtfilt([1.0, 1, 1], [1.0], x[:5])
    with pytest.raises(hr.InvalidArgumentError, match=r"padtype=.*odd, even"):
        signal.filtfilt([1.0, 1, 1], [1.0], x, padtype="wrap")
    with pytest.raises(hr.UnsupportedError, match=r"^filtfilt: .*gust"):
        signal.filtfilt([1.0, 1, 1], [1.0], x, method="gust")
    with pytest.raises(IndexError, match=r"axis=1"):
        signal.lfilter([1.0], [1.0], x, axis=1)
    assert signal.lfilter([1.0], [1.0], [2.0]).tolist() == [2.0]


@pytest.mark.parametrize("band", BANDS)
@pytest.mark.parametrize("order", range(1, 10))
@pytest.mark.parametrize("kind", [("butter",), ("cheby1", 1.0), ("cheby2", 40.0)])
def test_designs(kind, order, band):
    name, *ripple = kind
    ours, theirs = getattr(signal, name), getattr(scipy_signal, name)
    for fs in (None, 250.0):
        edges = band[1] if fs is None else np.multiply(band[1], 125.0)
        options = {"btype": band[0], "fs": fs}
        for found, wanted in zip(
            ours(order, *ripple, edges, **options),
            theirs(order, *ripple, edges, **options),
            strict=True,
        ):
            near(found, wanted, 1e-7)
        sections = ours(order, *ripple, edges, **options, output="sos")
        near(sections, theirs(order, *ripple, edges, **options, output="sos"), 1e-6)
        zeros, poles, gain = ours(order, *ripple, edges, **options, output="zpk")
        wanted = theirs(order, *ripple, edges, **options, output="zpk")
        assert gain == pytest.approx(wanted[2], rel=1e-10)
        near(np.poly(poles.to_numpy()).real, np.poly(wanted[1]).real, 1e-9)
        assert zeros.shape == wanted[0].shape


def test_other_designs():
    near(
        signal.iirfilter(3, [0.1, 0.4], rs=30, ftype="cheby2", output="sos"),
        scipy_signal.iirfilter(3, [0.1, 0.4], rs=30, ftype="cheby2", output="sos"),
    )
    for found, wanted in zip(
        signal.butter(3, 10.0, analog=True), scipy_signal.butter(3, 10.0, analog=True), strict=True
    ):
        near(found, wanted)
    for bad in (
        lambda: signal.butter(2, 1.5),
        lambda: signal.butter(2, 0.0),
        lambda: signal.butter(2, [0.1, 0.2]),
        lambda: signal.butter(2, [0.3, 0.2], "band"),
        lambda: signal.butter(2, 0.2, "middle"),
        lambda: signal.butter(2, 0.2, output="xyz"),
        lambda: signal.butter(-2, 0.2),
        lambda: signal.cheby1(2, -1.0, 0.2),
        lambda: signal.iirfilter(2, 0.2, ftype="ellip"),
    ):
        with pytest.raises(hr.InvalidArgumentError, match=r"^\w+: .*="):
            bad()


@pytest.mark.parametrize(
    "window",
    [
        *["boxcar", "triang", "bartlett", "barthann", "bohman", "parzen", "cosine", "lanczos"],
        *["hann", "hamming", "blackman", "nuttall", "blackmanharris", "flattop", "tukey"],
        *[("kaiser", 5.0), ("gaussian", 7.0), ("general_gaussian", 1.5, 6.0), ("tukey", 0.3)],
        *[("exponential", None, 3.0), 8.6, ("tukey", 0.0), ("tukey", 1.0)],
    ],
)
def test_windows(window):
    assert signal.get_window(window, 0).shape == (0,)
    for count in (1, 2, 3, 7, 8, 64, 1001):
        for periodic in (True, False):
            found = signal.get_window(window, count, periodic)
            near(found, scipy_signal.get_window(window, count, periodic), 1e-13)


def test_bad_windows():
    for bad in ("nothing", "kaiser", ("gaussian",), [1]):
        with pytest.raises(hr.InvalidArgumentError, match=r"^get_window: .*window="):
            signal.get_window(bad, 8)


@pytest.mark.parametrize("taps", [1, 2, 3, 64, 65, 301])
def test_taps_by_windows(taps):
    odd = taps | 1
    near(signal.firwin(taps, 0.3), scipy_signal.firwin(taps, 0.3), 1e-12)
    near(
        signal.firwin(odd, 0.3, pass_zero="highpass"),
        scipy_signal.firwin(odd, 0.3, pass_zero="highpass"),
        1e-12,
    )
    for options in (
        {"pass_zero": False},
        {"pass_zero": "bandpass", "window": ("kaiser", 4.0)},
        {"pass_zero": True, "scale": False},
        {"width": 0.05},
    ):
        near(
            signal.firwin(odd, [0.2, 0.5], **options),
            scipy_signal.firwin(odd, [0.2, 0.5], **options),
            1e-11,
        )
    near(signal.firwin(odd, 30.0, fs=200.0), scipy_signal.firwin(odd, 30.0, fs=200.0), 1e-12)
    freq, gain = [0.0, 0.3, 0.3, 1.0], [1.0, 1.0, 0.2, 0.0]
    near(signal.firwin2(taps, freq, gain), scipy_signal.firwin2(taps, freq, gain), 1e-12)
    gain = [0.0, 1.0, 0.2, 0.0]
    near(
        signal.firwin2(taps, freq, gain, antisymmetric=True, window=None),
        scipy_signal.firwin2(taps, freq, gain, antisymmetric=True, window=None),
        1e-12,
    )


def test_bad_taps():
    for bad in (
        lambda: signal.firwin(8, 0.3, pass_zero="highpass"),
        lambda: signal.firwin(8, [0.3, 0.2]),
        lambda: signal.firwin(8, 1.0),
        lambda: signal.firwin(0, 0.5),
        lambda: signal.firwin(8, 0.5, pass_zero="bandpass"),
        lambda: signal.firwin2(8, [0.0, 1.0], [1.0, 1.0]),
        lambda: signal.firwin2(9, [0.0, 0.5], [1.0, 1.0]),
        lambda: signal.firwin2(9, [0.0, 1.0], [1.0]),
    ):
        with pytest.raises(hr.InvalidArgumentError, match=r"^firwin2?: .*="):
            bad()


@pytest.mark.parametrize("at", [20519, 110_907, 119_116])
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_filters_in_place_keep_samples_away_from_nan(at, bad):
    x = np.random.default_rng(5).standard_normal(131_428)
    x[at] = bad
    b = [0.2, 0.3, 0.5, 0.1]
    found = np.asarray(hr.signal.filtfilt(b, [1.0], x))
    wanted = scipy_signal.filtfilt(b, [1.0], x)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda: hr.signal.lfilter([1.0, 0.5], [0.0, 1.0, 0.5], np.ones(9)),
        lambda: hr.signal.filtfilt([1.0, 0.5], [0.0, 1.0, 0.5], np.ones(50)),
        lambda: hr.signal.welch(np.ones(300), fs=-1.0),
        lambda: hr.signal.stft(np.ones(300), fs=0),
        lambda: hr.signal.periodogram(np.ones(9), nfft=-3),
    ],
)
def test_values_without_a_meaning_raise(call):
    with pytest.raises(hr.InvalidArgumentError, match=r"a=|fs=|nfft="):
        call()


def test_sections_of_analog_filters_are_refused():
    with pytest.raises(hr.UnsupportedError, match="output='sos'"):
        hr.signal.butter(4, 1.0, analog=True, output="sos")


def test_rows_do_not_round_each_other():
    rng = np.random.default_rng(0)
    taps, x = rng.normal(size=80), rng.normal(size=(5, 300))
    alone = hr.signal.lfilter(taps, 1.0, x[3]).to_numpy()
    assert (hr.signal.lfilter(taps, 1.0, x).to_numpy()[3] == alone).all()
    x[0] *= 1e20
    assert (hr.signal.lfilter(taps, 1.0, x).to_numpy()[3] == alone).all()


@pytest.mark.parametrize("shape", [(0, 300), (3, 0), (2, 5)])
def test_few_rows_or_samples_by_many_taps(shape):
    taps, x = np.ones(20), np.ones(shape)
    made = hr.signal.lfilter(taps, 1.0, x).to_numpy()
    np.testing.assert_allclose(made, np.cumsum(x, axis=-1))
