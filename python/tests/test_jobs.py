# SPDX-License-Identifier: Apache-2.0
"""Two jobs that are no ECG, from CSV text to the answer by public names, against SciPy and NumPy.

Nothing in the engine knows what a signal means: a machine's vibration and a melody need the same
parts in another order, at other rates, widths and dtypes.
"""

import numpy as np
import pytest

import headrace as hr

ndimage = pytest.importorskip("scipy.ndimage")
signal = pytest.importorskip("scipy.signal")


def peaks_by_scipy(x, window, threshold):
    """Places of the maxima of their surroundings."""
    highest = ndimage.maximum_filter1d(x, window, mode="nearest")
    return np.flatnonzero((x == highest) & (x >= threshold))


# ---- vibration -----------------------------------------------------------------------------------
VIBRATION_RATE = 10_000
SHOCKS = np.array(
    [3_000, 41_000, 131_072, 131_900, 200_000, 299_000]
)  # two beside a morsel's border


@pytest.fixture(scope="module")
def vibration(tmp_path_factory):
    """30 s of a machine in three directions: hum, noise, shocks that ring at 800 Hz."""
    rng = np.random.default_rng(7)
    time = np.arange(300_000) / VIBRATION_RATE
    columns = {"time": time}
    for name, share in (("x", 1.0), ("y", 0.2), ("z", 0.6)):
        columns[name] = 0.3 * np.sin(2 * np.pi * 50 * time) + rng.normal(0, 0.1, len(time))
        for shock in SHOCKS:
            after = time[: len(time) - shock]
            ringing = np.exp(-after / 0.005) * np.sin(2 * np.pi * 800 * after)
            columns[name][shock:] += 3 * share * ringing
    columns["load"] = rng.integers(0, 3, len(time))
    columns["note"] = ["", "a, b"] * (len(time) // 2)
    path = tmp_path_factory.mktemp("vibration") / "vibration.csv"
    hr.DataFrame(columns).to_csv(path)
    return path, columns


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_shocks_of_a_machine(vibration, dtype):
    path, columns = vibration
    hr.memory.ledger().clear()
    frame = hr.scan_csv(path, columns=["x", "z"], dtypes={"x": dtype, "z": dtype})

    # Strength in both directions, without the hum, smoothed over 4 ms.
    strength = np.sqrt((frame.x - frame.x.mean()) ** 2 + (frame.z - frame.z.mean()) ** 2)
    smooth = hr.asarray(np.hanning(41).astype(dtype) / 20)
    level = hr.signal.fft_convolve(hr.asarray(strength), smooth)
    usual = level.mean() + 5 * level.std()
    gate = hr.signal.non_max_suppression(level, 501, usual)
    shocks = hr.signal.nonzero(gate)
    ringing = hr.signal.segments(hr.asarray(frame.x), shocks - 20, width=256)
    spectra = hr.fft.rfft(ringing - ringing.mean(axis=1).reshape(-1, 1))

    x, z = (columns[name].astype(dtype) for name in ("x", "z"))
    expected = np.sqrt((x - x.mean()) ** 2 + (z - z.mean()) ** 2)
    exact = dtype == "float64"
    np.testing.assert_allclose(strength, expected, rtol=1e-9 if exact else 1e-4, atol=1e-6)
    smoothed = signal.fftconvolve(expected, np.asarray(smooth), "same")
    np.testing.assert_allclose(level, smoothed, atol=1e-12 if exact else 1e-5)
    own = np.asarray(level)
    places = peaks_by_scipy(own, 501, usual.item())
    assert shocks.tolist() == places.tolist()

    assert len(shocks) == len(SHOCKS)
    assert (abs(np.asarray(shocks) - SHOCKS) < 60).all()
    assert ringing.shape == (len(SHOCKS), 256)
    cut = np.stack([x[place - 20 : place + 236] for place in places])
    np.testing.assert_array_equal(ringing, cut)
    by_numpy = np.fft.rfft(cut - cut.mean(axis=1, keepdims=True))
    np.testing.assert_allclose(spectra, by_numpy, atol=1e-9 if exact else 1e-3)
    loudest = np.abs(np.asarray(spectra))[:, 2:].argmax(axis=1) + 2
    frequencies = np.asarray(hr.fft.rfftfreq(256, 1 / VIBRATION_RATE))[loudest]
    assert (abs(frequencies - 800) < 60).all()
    assert hr.memory.ledger().unasked_bytes == 0


def test_load_of_a_machine(vibration):
    """Rows chosen and described, beside a column of text: the frame's side of the same file."""
    path, columns = vibration
    frame = hr.read_csv(path)
    loaded = frame[frame.load == 2]
    rows = columns["load"] == 2
    assert len(loaded) == rows.sum()
    assert frame.note.head(2).to_list() == ["", "a, b"]
    for name in ("x", "y", "z"):
        np.testing.assert_array_equal(loaded[name], columns[name][rows])
        assert loaded[name].std().item() == pytest.approx(columns[name][rows].std(ddof=1))


# ---- audio ---------------------------------------------------------------------------------------
AUDIO_RATE = 8_000
MELODY = (440.0, 494.0, 523.0, 587.0, 659.0, 440.0)
HOP, FRAME = 80, 400


@pytest.fixture(scope="module")
def audio(tmp_path_factory):
    """3 s of plucked notes in stereo, as 16-bit numbers."""
    rng = np.random.default_rng(11)
    sound = rng.normal(0, 30, 3 * AUDIO_RATE)
    onsets = 800 + np.arange(len(MELODY)) * 3_600
    for onset, pitch in zip(onsets, MELODY, strict=True):
        time = np.arange(len(sound) - onset) / AUDIO_RATE
        tone = np.sin(2 * np.pi * pitch * time) + 0.4 * np.sin(4 * np.pi * pitch * time)
        sound[onset:] += 9_000 * np.exp(-time / 0.08) * tone
    left = np.rint(sound).astype(np.int16)
    path = tmp_path_factory.mktemp("audio") / "melody.csv"
    lines = [f"{value};{value // 2}" for value in left.tolist()]
    path.write_text("\r\n".join(["# plucked", "left;right", *lines, ""]))
    return path, left, onsets


def test_notes_of_a_melody(audio):
    path, left, onsets = audio
    frame = hr.read_csv(path, delimiter=";", comment="#", dtypes="int16")
    assert frame.dtypes == {"left": "int16", "right": "int16"}
    np.testing.assert_array_equal(frame.left, left)

    # Loudness of overlapping frames, and where it rises most.
    sound = hr.asarray(frame.left).astype("float32") / 32768
    begins = hr.asarray(np.arange(0, len(left) - FRAME + 1, HOP))
    frames = hr.signal.segments(sound, begins, width=FRAME)
    loudness = np.log10((frames * frames).mean(axis=1) + 1e-6)
    rise = hr.signal.diff(loudness)
    notes = hr.signal.nonzero(hr.signal.non_max_suppression(rise, 21, 0.3))

    expected = left.astype(np.float32) / 32768
    cut = np.lib.stride_tricks.sliding_window_view(expected, FRAME)[::HOP]
    np.testing.assert_array_equal(frames, cut)
    levels = np.log10((cut.astype(np.float64) ** 2).mean(axis=1) + 1e-6)
    np.testing.assert_allclose(loudness, levels, atol=1e-5)
    assert notes.tolist() == peaks_by_scipy(np.asarray(rise), 21, 0.3).tolist()
    heard = (np.asarray(notes) + 1) * HOP + FRAME
    assert len(heard) == len(onsets)
    assert (abs(heard - onsets) <= FRAME).all()

    # The pitch of each note: the strongest term of a window behind its onset.
    hann = np.hanning(1500).astype(np.float32)
    tones = hr.signal.segments(sound, hr.asarray(onsets), width=1500) * hann
    spectra = np.asarray(hr.fft.rfft(tones, n=8000))
    segments = np.stack([expected[at : at + 1500] for at in onsets])
    by_scipy = np.fft.rfft(segments * hann, n=8000)
    np.testing.assert_allclose(spectra, by_scipy, atol=1e-3)
    pitches = np.asarray(hr.fft.rfftfreq(8000, 1 / AUDIO_RATE))[np.abs(spectra).argmax(axis=1)]
    assert (abs(pitches - MELODY) <= 3).all()


def test_spectrum_of_a_melody(audio):
    """The whole as one transform of an odd length, and its energy in both domains."""
    path, left, _ = audio
    sound = hr.asarray(hr.read_csv(path, delimiter=";", comment="#", columns=["left"]).left)
    values = sound.astype("float64")[: len(left) - 1]
    spectrum = np.asarray(hr.fft.fft(values))
    np.testing.assert_allclose(spectrum, np.fft.fft(left[:-1]), atol=1e-5)
    energy = (np.abs(spectrum) ** 2).sum() / len(spectrum)
    assert (values * values).sum().item() == pytest.approx(energy)
    counts, edges = hr.signal.histogram(values, 64)
    by_numpy = np.histogram(left[:-1].astype(float), 64)
    np.testing.assert_array_equal(counts, by_numpy[0])
    np.testing.assert_array_equal(edges, by_numpy[1])
