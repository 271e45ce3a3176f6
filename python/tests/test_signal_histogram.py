# SPDX-License-Identifier: Apache-2.0
"""hr.signal.histogram, nonzero and diff equal NumPy, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import headrace as hr
from headrace import signal

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
SIZES = [0, 1, 63, 64, 65, 131_071, 131_072, 131_073, 400_001]


def values(rows, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.normal(size=rows).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, rows, dtype, endpoint=True)


def check_histogram(x, bins=10, range=None):
    counts, edges = signal.histogram(x, bins, range)
    with np.errstate(all="ignore"):
        wanted_counts, wanted_edges = np.histogram(np.asarray(x), np.asarray(bins)[()], range)
    np.testing.assert_array_equal(counts.to_numpy(), wanted_counts)
    np.testing.assert_array_equal(edges.to_numpy(), wanted_edges)
    assert counts.to_numpy().dtype == wanted_counts.dtype
    assert edges.to_numpy().dtype == wanted_edges.dtype


def all_threads(run):
    found = []
    for count in (1, 2, 4):
        with hr.threads(count):
            found.append(run().to_numpy().tobytes())
    assert found[0] == found[1] == found[2]


# ---- histogram -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("bins", [1, 2, 10, 777, 2049, 5000])
def test_histogram_of_any_size(rows, bins, dtype):
    x = values(rows, dtype, rows)
    check_histogram(x, bins)
    check_histogram(x, bins, (-0.75, 2.5))
    edges = np.sort(np.random.default_rng(bins).normal(size=bins + 1))
    check_histogram(x, edges)
    check_histogram(x, edges.astype(np.float32))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_histogram_of_integers(dtype):
    x = values(5000, dtype)
    limits = np.iinfo(dtype)
    check_histogram(x, 64)
    check_histogram(x, 17, (3, 100))
    check_histogram(x, np.array([0, 3, 3, 50, 100, 127], dtype))
    check_histogram(x, np.array([limits.min, 0, 5, limits.max], dtype))
    check_histogram(x, np.array([-2.5, 0.5, 1e3, 1e30]))
    check_histogram(np.full(100, limits.max, dtype), np.array([0, limits.max], dtype))


def test_histogram_of_integers_beyond_float64():
    x = np.array([2**62, 2**62 + 1, 2**62 + 2, -(2**62), 2**63 - 1], np.int64)
    check_histogram(x, np.array([2**62, 2**62 + 1, 2**62 + 2]))
    check_histogram(x, np.array([-(2**63), 2**62 + 1, 2**63 - 1]))
    top = np.array([2**64 - 1, 2**64 - 2, 2**63], np.uint64)
    check_histogram(top, np.array([2**63, 2**64 - 2, 2**64 - 1], np.uint64))


def test_more_bins_than_a_task_counts_apart():
    x = values(300_000, "float64")
    check_histogram(x, 200_000)
    check_histogram(x, np.sort(np.random.default_rng(1).normal(size=200_001)))


def test_values_on_the_edges():
    edges = np.linspace(0, 1, 11)
    x = np.concatenate([edges, np.nextafter(edges, 2), np.nextafter(edges, -1)])
    check_histogram(x, 10, (0, 1))
    check_histogram(x, edges)
    check_histogram(x.astype(np.float32), 10, (0, 1))
    check_histogram(x.astype(np.float32), 10)


def test_edges_that_crowd_repeat_or_are_infinite():
    x = np.concatenate([np.random.default_rng(2).normal(size=5000), [-np.inf, np.inf, 0.5, 0.0]])
    crowd = np.nextafter(0.5, np.arange(2.0)[:, None]).ravel()
    check_histogram(x, np.array([-1e300, 0, crowd[0], 0.5, 0.5, 0.5, crowd[1], 1e300]))
    check_histogram(x, np.array([-np.inf, -1, 0, 0, 2, np.inf]))
    check_histogram(x, np.array([-np.inf, np.inf]))
    check_histogram(x, np.array([0.5, 0.5]))
    check_histogram(x, np.concatenate([[-1e308], np.linspace(0.4, 0.6, 500), [1e308]]))
    check_histogram(x, 0.5 + np.arange(40) * 2.0**-52)


def test_nan_is_not_counted_within_a_range():
    x = np.array([np.nan, 1, 2, np.inf, -np.inf, 3])
    check_histogram(x, 4, (0, 4))
    check_histogram(x, np.array([0.0, 2.0, 4.0]))
    check_histogram(np.full(3000, np.nan), 4, (0, 4))


@given(
    hnp.arrays(
        st.sampled_from(["float32", "float64", "int16", "uint64"]),
        st.integers(0, 200),
    ).filter(lambda x: x.dtype.kind != "f" or np.isfinite(x).all()),
    st.integers(1, 40),
)
def test_anything_like_numpy(x, bins):
    try:
        with np.errstate(all="ignore"):
            np.histogram(x, bins)
    except ValueError:  # a range too narrow or too wide for so many bins
        with pytest.raises(ValueError, match="histogram"):
            signal.histogram(x, bins)[0].to_numpy()
        return
    check_histogram(x, bins)


@given(
    hnp.arrays(np.float64, st.integers(0, 200)),
    hnp.arrays(np.float64, st.integers(2, 30), elements=st.floats(allow_nan=False)),
)
def test_any_edges_like_numpy(x, edges):
    edges.sort()
    counts, _ = signal.histogram(x, edges)
    with np.errstate(all="ignore"):
        wanted = np.histogram(x[x == x], edges)[0]
    np.testing.assert_array_equal(counts.to_numpy(), wanted)


def test_histogram_of_strides_and_series():
    x = values(30_000, "float32")
    check_histogram(x[::-3], 50)
    check_histogram(x.reshape(3, -1).T[:, 1], np.array([-1.0, 0.0, 1.0])[::1])
    check_histogram(x, np.array([1.0, 0.0, -1.0])[::-1])
    series = hr.DataFrame({"x": x}).x
    counts, _ = signal.histogram(series, 50)
    np.testing.assert_array_equal(counts.to_numpy(), np.histogram(x, 50)[0])


def test_density_is_arithmetic_on_the_result():
    x = values(1000, "float64")
    counts, edges = signal.histogram(x, 20)
    density = counts / (counts.sum() * signal.diff(edges))
    np.testing.assert_allclose(density.to_numpy(), np.histogram(x, 20, density=True)[0], rtol=1e-15)


def test_histogram_is_the_same_for_any_threads():
    x = values(700_001, "float32")
    for bins in (100, 40_000, np.linspace(-2, 2, 33)):
        all_threads(lambda bins=bins: signal.histogram(x, bins)[0])


@pytest.mark.parametrize(
    ("x", "bins", "range", "says"),
    [
        ([1.0, np.nan], 10, None, r"the values contain NaN or inf.*low=nan.*pass a range"),
        ([1.0, np.inf], 10, None, r"the values contain NaN or inf.*high=inf.*pass a range"),
        ([1.0], 0, None, r"bins=0"),
        ([1.0], -3, None, r"bins=-3"),
        ([1.0], 2**31, None, r"too many bins.*bins=2147483648"),
        ([1.0], 4, (2, 1), r"low=2.*high=1"),
        ([1.0], 4, (0, np.inf), r"high=inf"),
        ([1.0], 4, (np.nan, 1), r"low=nan"),
        ([1.0], [3.0, 2.0, 1.0], None, r"edges decrease or contain NaN.*edge=0.*sort"),
        ([1.0], [1.0, np.nan, 3.0], None, r"edges decrease or contain NaN.*edge=0"),
        ([1.0], [1.0], None, r"at least two edges.*edges=1"),
        ([1.0, np.nextafter(1.0, 2)], 10, None, r"too narrow.*bins=10.*use fewer bins"),
    ],
)
def test_histogram_says_what_is_wrong(x, bins, range, says):
    with pytest.raises(hr.InvalidArgumentError, match=rf"^histogram: .*{says}"):
        counts, _ = signal.histogram(x, bins, range)
        counts.to_numpy()


def test_histogram_refuses_other_types():
    for x in ([True, False], [[1.0, 2.0]], [1j]):
        with pytest.raises(TypeError, match=r"^histogram: "):
            signal.histogram(x)
    with pytest.raises(TypeError, match=r"^histogram: "):
        signal.histogram([1.0], [[1.0, 2.0]])


def test_bins_may_be_a_numpy_integer():
    check_histogram(values(100, "float64"), np.int64(7))


# ---- nonzero -------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 1.0])
def test_nonzero_of_any_size(rows, share):
    gate = np.random.default_rng(rows).random(rows) < share
    found = signal.nonzero(gate).to_numpy()
    np.testing.assert_array_equal(found, np.flatnonzero(gate))
    assert found.dtype == np.int64


def test_nonzero_of_strides_columns_and_expressions():
    gate = np.random.default_rng(3).random(300_000) < 0.3
    np.testing.assert_array_equal(signal.nonzero(gate[::-3]).to_numpy(), np.flatnonzero(gate[::-3]))
    frame = hr.DataFrame({"gate": gate, "x": np.arange(300_000.0)})
    np.testing.assert_array_equal(signal.nonzero(frame.gate).to_numpy(), np.flatnonzero(gate))
    np.testing.assert_array_equal(
        signal.nonzero(frame.x > 299_990).to_numpy(), np.arange(299_991, 300_000)
    )
    part = frame.gate[7:200_001]
    np.testing.assert_array_equal(signal.nonzero(part).to_numpy(), np.flatnonzero(gate[7:200_001]))


@given(hnp.arrays(np.bool_, st.integers(0, 300)), st.integers(1, 4))
def test_any_gate(gate, step):
    np.testing.assert_array_equal(
        signal.nonzero(gate[::step]).to_numpy(), np.flatnonzero(gate[::step])
    )


def test_nonzero_is_the_same_for_any_threads():
    gate = np.random.default_rng(4).random(900_000) < 0.1
    all_threads(lambda: signal.nonzero(gate))


def test_nonzero_refuses_what_is_no_gate():
    with pytest.raises(TypeError, match=r"^nonzero: .*dtype='int64'.*compare first"):
        signal.nonzero([1, 0])
    with pytest.raises(TypeError, match=r"^nonzero: .*dimensions=2"):
        signal.nonzero([[True], [False]])


def test_a_gate_with_nulls_names_the_fix():
    gate = hr.from_arrow(pytest.importorskip("pyarrow").array([True, None, False]))
    with pytest.raises(ValueError, match=r"^nonzero: .*nulls=1.*fillna"):
        signal.nonzero(gate).to_numpy()


# ---- diff ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("rows", [0, 1, 2, 65, 131_072, 131_074])
def test_diff_of_any_size(rows, dtype):
    x = values(rows, dtype)
    found = signal.diff(x).to_numpy()
    np.testing.assert_array_equal(found, np.diff(x))
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(signal.diff(x[::-2]).to_numpy(), np.diff(x[::-2]))


@given(hnp.arrays(st.sampled_from([*INTEGERS, *FLOATS]), st.integers(0, 70)))
def test_diff_of_anything(x):
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(signal.diff(x).to_numpy(), np.diff(x))


def test_diff_of_positions_of_a_gate():
    gate = np.random.default_rng(5).random(10_000) < 0.01
    found = signal.diff(signal.nonzero(gate))
    np.testing.assert_array_equal(found.to_numpy(), np.diff(np.flatnonzero(gate)))


def test_diff_is_the_same_for_any_threads():
    x = values(700_000, "float64")
    all_threads(lambda: signal.diff(x))


def test_diff_refuses_other_types():
    with pytest.raises(TypeError, match=r"^diff: .*dtype='bool'"):
        signal.diff([True, False])
    with pytest.raises(TypeError, match=r"^diff: .*dimensions=2"):
        signal.diff([[1, 2]])


def test_nulls_name_the_fix():
    column = hr.from_arrow(pytest.importorskip("pyarrow").array([1.0, None, 2.0]))
    for run in (signal.diff, lambda x: signal.histogram(x)[0]):
        with pytest.raises(hr.Error, match=r"null.*fillna|null.*dropna"):
            run(column).to_numpy()
