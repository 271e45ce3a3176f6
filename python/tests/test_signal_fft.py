# SPDX-License-Identifier: Apache-2.0
"""hr.fft against NumPy and SciPy for lengths of every kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

scipy_fft = pytest.importorskip("scipy.fft")

NORMS = ["backward", "ortho", "forward"]
DTYPES = ["float32", "float64", "complex64", "complex128"]
KINDS = ["fft", "ifft", "rfft", "irfft"]
POWERS = [
    81,
    121,
    125,
    128,
    169,
    243,
    256,
    343,
    1024,
    1331,
    2048,
    2187,
    3125,
    4096,
    16_384,
    131_072,
]
PRIMES = [97, 127, 251, 257, 1009, 1021, 2039, 4093, 7919, 10_007, 65_537, 100_003]
PRODUCTS = [100, 210, 360, 1000, 1001, 1023, 1025, 30_030, 37 * 41 * 43, 2 * 65_537]
LENGTHS = [*range(1, 70), *POWERS, *PRIMES, *PRODUCTS]


def noise(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if "complex" in dtype else x).astype(dtype)


def check(kind, x, n=None, norm="backward"):
    found = getattr(hr.fft, kind)(x, n, norm)
    wide = np.asarray(x).astype("complex128" if np.iscomplexobj(x) else "float64")
    wanted = getattr(scipy_fft, kind)(wide, n, norm=norm)
    single = np.asarray(x).dtype in ("float32", "complex64")
    assert found.shape == wanted.shape
    word = ("float" if kind == "irfft" else "complex") + str(
        (32 if single else 64) * (1 if kind == "irfft" else 2)
    )
    result = found.to_numpy()
    assert found.dtype == result.dtype == word
    if not wanted.size:
        return
    # Relative error of each row in the 2-norm.
    error = np.linalg.norm(result - wanted, axis=-1)
    size = np.linalg.norm(wanted, axis=-1)
    eps = np.finfo(result.dtype).eps
    length = n or wanted.shape[-1]
    assert (error <= 3 * eps * (np.log2(length) + 2) * size + 1e-300).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_any_length(kind, dtype):
    if kind == "rfft" and "complex" in dtype:
        return
    for n in LENGTHS:
        x = noise(n, dtype, n)
        if kind == "irfft":
            x = noise(n // 2 + 1, dtype, n)
            check(kind, x, n)
        else:
            check(kind, x)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 7, 50, 63, 64, 65, 127, 1000])
def test_norms_and_given_lengths(n, kind, norm):
    for rows in (1, 2, 30, 64, 65):
        check(kind, noise(rows, "float64"), n, norm)
        check(kind, noise(rows, "float32"), n, norm)
    if kind == "irfft":
        check(kind, noise(20, "complex128"), n, norm)


@given(
    st.integers(1, 3000),
    st.one_of(st.none(), st.integers(1, 3000)),
    st.sampled_from(KINDS),
    st.sampled_from(DTYPES),
    st.sampled_from(NORMS),
)
def test_anything(rows, n, kind, dtype, norm):
    if (kind == "rfft" and "complex" in dtype) or (kind == "irfft" and rows == 1 and n is None):
        return
    check(kind, noise(rows, dtype, rows), n, norm)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_any_shape_and_stride(kind):
    x = noise((6, 4, 30), "float64")
    check(kind, x)
    check(kind, x[::-2, 1:, ::3])
    check(kind, x.transpose(2, 0, 1))
    check(kind, x[:, 2:3, :], 17)
    check(kind, noise((0, 5), "float64"))
    check(kind, noise((3, 1000), "float32")[:, ::-1])


@pytest.mark.parametrize("kind", ["fft", "ifft", "rfft"])
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "bool"])
def test_integers_become_complex128(kind, dtype):
    check(kind, (np.arange(100) % 2).astype(dtype))


def test_round_trips():
    x = noise(1009, "float64")
    np.testing.assert_allclose(hr.fft.irfft(hr.fft.rfft(x), 1009).to_numpy(), x, atol=1e-14)
    z = noise(1009, "complex128")
    np.testing.assert_allclose(hr.fft.ifft(hr.fft.fft(z)).to_numpy(), z, atol=1e-14)


def test_irfft_passes_over_the_imaginary_parts_of_its_ends():
    z = noise(9, "complex128")
    check("irfft", z)
    real_ends = z.copy()
    real_ends[0] = z[0].real
    real_ends[-1] = z[-1].real
    np.testing.assert_array_equal(hr.fft.irfft(z).to_numpy(), hr.fft.irfft(real_ends).to_numpy())


@pytest.mark.parametrize("n", [64, 1000, 1009])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_inf_fill_their_row_alone(bad, n):
    x = noise((3, n), "float64")
    x[1, 5] = bad
    found = hr.fft.fft(x).to_numpy()
    assert not np.isfinite(found[1]).any()
    np.testing.assert_array_equal(found[[0, 2]], hr.fft.fft(x[[0, 2]]).to_numpy())


def test_frequencies():
    for n in (1, 2, 9, 10):
        np.testing.assert_array_equal(hr.fft.fftfreq(n, 0.25).to_numpy(), np.fft.fftfreq(n, 0.25))
        np.testing.assert_array_equal(hr.fft.rfftfreq(n, 0.25).to_numpy(), np.fft.rfftfreq(n, 0.25))


@pytest.mark.parametrize("n", [1000, 65_536, 65_537, 262_144])
def test_is_the_same_for_any_threads(n):
    x = noise((7, n), "float32")
    found = []
    for count in (1, 2, 4):
        with hr.threads(count):
            found.append(hr.fft.rfft(x).to_numpy().tobytes())
    assert found[0] == found[1] == found[2]


def test_a_row_does_not_depend_on_its_neighbours():
    x = noise((40, 360), "float64")
    together = hr.fft.fft(x).to_numpy()
    for k in (0, 7, 39):
        np.testing.assert_array_equal(hr.fft.fft(x[k]).to_numpy(), together[k])


def test_series_and_deferred_chains():
    x = noise(300, "float64")
    frame = hr.DataFrame({"x": x})
    found = hr.fft.rfft(frame.x - frame.x.mean()).to_numpy()
    np.testing.assert_allclose(found, np.fft.rfft(x - x.mean()), atol=1e-12)


def test_nothing_is_copied():
    x = noise((3, 1000), "float64")
    with hr.no_copies():
        hr.fft.fft(x).to_numpy()


@pytest.mark.parametrize("kind", KINDS)
def test_errors_name_the_fix(kind):
    transform = getattr(hr.fft, kind)
    x = noise(10, "float64")
    for n in (0, -1):
        with pytest.raises(hr.InvalidArgumentError, match=rf"^{kind}: .*n={n}; pass n >= 1"):
            transform(x, n)
    with pytest.raises(ValueError, match=rf"^{kind}: .*n=.*; pass n >= 1"):
        transform(np.zeros(1 if kind == "irfft" else 0))
    with pytest.raises(TypeError, match=rf"^{kind}: .*dimensions=0; "):
        transform(np.float64(3.0))
    with pytest.raises(ValueError, match="norm"):
        transform(x, None, "both")
    column = hr.from_arrow(pytest.importorskip("pyarrow").array([1.0, None, 2.0]))
    with pytest.raises(hr.Error, match=r"null.*fillna"):
        transform(column).to_numpy()


def test_rfft_of_complex_names_fft():
    with pytest.raises(TypeError, match=r"^rfft: .*dtype='complex128'; use fft"):
        hr.fft.rfft(noise(10, "complex128"))
