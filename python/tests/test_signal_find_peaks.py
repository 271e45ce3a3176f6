# SPDX-License-Identifier: Apache-2.0
"""hr.signal.find_peaks against SciPy."""

import numpy as np
import pytest

import headrace as hr
from headrace import signal

scipy_signal = pytest.importorskip("scipy.signal")

OPTIONS = [
    {},
    {"height": 0.5},
    {"height": (None, 0.5)},
    {"threshold": 0.3},
    {"threshold": (0.1, 2.0)},
    {"distance": 1},
    {"distance": 7.5},
    {"prominence": 0.7},
    {"prominence": (0.2, 1.5)},
    {"prominence": 0, "wlen": 20},
    {"prominence": 0, "wlen": 31.5},
    {"width": 1.5},
    {"width": (1, 4), "rel_height": 0.8},
    {"width": 0, "rel_height": 1.0},
    {"plateau_size": 1},
    {"plateau_size": (2, 3)},
    {"height": 0, "threshold": 0.05, "distance": 3, "prominence": 0.4, "width": 1},
]


def check(x, options):
    peaks, found = signal.find_peaks(x, **options)
    wanted, properties = scipy_signal.find_peaks(x, **options)
    assert peaks.dtype == "int64"
    np.testing.assert_array_equal(peaks.to_numpy(), wanted)
    assert list(found) == list(properties)
    for name, values in properties.items():
        assert found[name].dtype == values.dtype
        np.testing.assert_array_equal(found[name].to_numpy(), values, err_msg=name)


def signals(rows):
    rng = np.random.default_rng(rows)
    noise = rng.normal(size=rows)
    yield noise
    yield np.cumsum(noise)
    yield np.sin(np.arange(rows) / 5) + 1e-3 * noise


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 63, 64, 65, 1025, 20_001])
def test_any_number_of_samples(rows, options):
    for x in signals(rows):
        x.flags.writeable = False
        check(x, options)


@pytest.mark.filterwarnings("ignore:some peaks")
@pytest.mark.parametrize("options", [o for o in OPTIONS if "distance" not in o])
def test_plateaus(options):
    for levels in (2, 3, 10):
        x = np.random.default_rng(levels).integers(0, levels, 5000).astype(float)
        check(x, options)
        check(np.repeat(x[:300], np.random.default_rng(1).integers(1, 200, 300)), options)


@pytest.mark.parametrize("rows", [131_071, 131_072, 131_073, 131_074, 400_001])
def test_around_morsels(rows):
    for x in signals(rows):
        check(x, {"prominence": 0.5})
    x = np.zeros(rows)
    x[131_000:131_073] = 1.0
    check(x, {"plateau_size": 1, "prominence": 0.5, "width": 1})


def test_dtypes_and_strides():
    x = np.random.default_rng(1).integers(0, 50, 3000)
    for values in (x, x.astype("float32"), x[::-3], x.astype(float).reshape(-1, 5)[:, 2]):
        check(values, {"height": 20, "prominence": 5})
    frame = hr.DataFrame({"x": x.astype(float)})
    peaks, found = signal.find_peaks(frame.x * 2, height=40)
    wanted = scipy_signal.find_peaks(x * 2, height=40)
    np.testing.assert_array_equal(peaks.to_numpy(), wanted[0])
    assert (found["peak_heights"] - 40).min().item() >= 0


def test_nan_is_no_peak():
    x = np.random.default_rng(1).normal(size=5000)
    x[::37] = np.nan
    check(x, {"prominence": 0.1})
    check(np.full(100, np.nan), {"prominence": 0.1})


def test_equal_heights_keep_the_later():
    peaks, _ = signal.find_peaks([0.0, 1, 0, 1, 0, 1, 0], distance=3)
    assert peaks.tolist() == [1, 5]


def test_is_the_same_for_any_threads():
    x = np.cumsum(np.random.default_rng(1).normal(size=500_000))
    found = set()
    for count in (1, 2, 4):
        with hr.threads(count):
            peaks, properties = signal.find_peaks(x, prominence=2.0, width=3)
            columns = [peaks, *properties.values()]
            found.add(b"".join(each.to_numpy().tobytes() for each in columns))
    assert len(found) == 1


def test_bad_input_names_the_fix():
    x = np.zeros(10)
    for options in (
        {"distance": 0.5},
        {"prominence": 1, "wlen": 1},
        {"width": 1, "rel_height": -1},
    ):
        with pytest.raises(hr.InvalidArgumentError, match=r"^find_peaks: .*=.*; pass"):
            signal.find_peaks(x, **options)
    with pytest.raises(hr.UnsupportedError, match=r"^find_peaks: .*height="):
        signal.find_peaks(x, height=[1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match=r"^find_peaks: .*dimensions=2"):
        signal.find_peaks(x.reshape(5, 2))
    assert signal.find_peaks([0.0, 1.0, 0.0])[0].tolist() == [1]
