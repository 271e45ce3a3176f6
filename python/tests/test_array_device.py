# SPDX-License-Identifier: Apache-2.0
"""Arrays of any rank on devices: the host's answers, and on a GPU what has kernels runs there."""

import numpy as np
import pytest

import headrace as hr

RANDOM = np.random.default_rng(5)
CUBE = RANDOM.normal(size=(7, 40, 33))
WIDE = RANDOM.normal(size=(300, 500))
WHOLE = RANDOM.integers(-50, 50, size=(64, 1500))


def pair(x, device):
    """The same array on the host and on the device."""
    here = hr.asarray(np.array(x))
    return here, here.to(device)


def same(there, here, device=None):
    if isinstance(there, tuple):
        assert len(there) == len(here)
        for a, b in zip(there, here, strict=True):
            same(a, b, device)
        return
    if device and getattr(there, "ndim", 0) and there.size:
        assert there.device == f"{device}:0"
    a, b = np.asarray(there), np.asarray(here)
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    np.testing.assert_array_equal(a, b)
    if a.dtype.kind == "f":  # signs of zeros, and of NaN
        np.testing.assert_array_equal(np.signbit(a), np.signbit(b))


def check(work, device, *arrays):
    here, there = zip(*(pair(x, device) for x in arrays), strict=True)
    same(work(*there), work(*here), device)
    assert hr.fallbacks() == ()


BROADCASTS = {
    "row and column": lambda x, y: x[:, :1] * y[0] + x[:, 1:2],
    "matrix and row": lambda x, y: x * y[:1] - y[0],
    "transposed": lambda x, y: x.T + y.T * 2,
    "sliced": lambda x, y: x[::2, ::-3] * y[1::2, ::-3],
    "new axis": lambda x, y: (x[:, None, :9] - y[None, :20, :9]).sum(axis=2),
    "compared": lambda x, y: np.where(x > y[:, :1], x, y).astype("float32"),
    "reduced": lambda x, y: ((x - y[:1]) ** 2).sum(),
    "normalised": lambda x, y: (x - x.mean(axis=0)) / x.std(axis=0) + y,
    "filled": lambda x, y: x + hr.ones(x.shape) * 2 + y * hr.full((1, x.shape[1]), 3.0),
}


@pytest.mark.parametrize("name", BROADCASTS)
def test_shapes_broadcast(device, name):
    check(BROADCASTS[name], device, WIDE, WIDE[::-1])


@pytest.mark.parametrize("axis", [0, 1, 2, -1, (0, 1), (0, 2), (1, 2)])
@pytest.mark.parametrize("kind", ["sum", "prod", "mean", "std", "var", "min", "max"])
def test_reductions_of_axes(device, kind, axis):
    check(lambda x: getattr(x, kind)(axis=axis), device, CUBE)
    check(lambda x: getattr(x, kind)(axis=axis), device, (CUBE * 10).astype("int16"))
    check(lambda x: getattr(x.astype("float32"), kind)(axis=axis, keepdims=True), device, CUBE)


@pytest.mark.parametrize("shape", [(3, 5000), (5000, 3), (70, 2050), (2050, 70), (2, 1024, 70)])
def test_long_axes(device, shape):
    x = RANDOM.normal(size=shape)
    x.ravel()[:: x.size // 9] = (
        np.nan,
        -np.inf,
        np.inf,
        0.0,
        -0.0,
        1,
        2,
        3,
        *[4] * (len(x.ravel()[:: x.size // 9]) - 8),
    )
    for axis in range(len(shape)):
        for kind in ("sum", "max", "min", "mean", "var", "argmax", "argmin", "prod"):
            check(lambda x: getattr(x, kind)(axis=axis), device, x)
    flags = x > 0
    for axis in range(len(shape)):
        for kind in ("any", "all", "sum"):
            check(lambda x: getattr(x, kind)(axis=axis), device, flags)
    check(lambda x: x.argmin(axis=0), device, np.repeat([[1, 0, 0]], 70, axis=0).T)


def test_empty_axes(device):
    empty = np.zeros((3, 0, 4))  # empty arrays
    here, there = pair(empty, device)
    for axis in (0, 1, 2):
        same(there.sum(axis=axis), here.sum(axis=axis))
    with pytest.raises(hr.InvalidArgumentError):
        hr.eval(there.max(axis=1))


LAYOUTS = {
    "transposed copy": lambda x: x.T.reshape(-1),
    "permuted": lambda x: np.transpose(x, (2, 0, 1)).reshape(33, -1),
    "rolled": lambda x: np.roll(x, 5, axis=1),
    "flipped": lambda x: np.flip(x, 2).reshape(-1),
    "repeated": lambda x: np.repeat(x, 3, axis=1),
    "repeated each": lambda x: np.repeat(x[:2], [3, 1], axis=0),
    "tiled": lambda x: np.tile(x, (2, 1, 2)),
    "stacked": lambda x: np.stack([x, x * 2], axis=1),
    "joined": lambda x: np.concatenate([x, x[:, :3]], axis=1),
    "padded": lambda x: np.pad(x, 2),
    "bytes": lambda x: (x > 0).T.reshape(-1),
    "narrow": lambda x: x.astype("int16").T.reshape(-1),
    "triangle": lambda x: np.tril(x[0]),
    "flat": lambda x: x[::2, ::3].reshape(-1),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(device, name):
    check(LAYOUTS[name], device, CUBE)


AT = RANDOM.integers(-40, 40, size=60)
INDEXED = {
    "rows": lambda x: x[:, AT],
    "pairs": lambda x: x[AT % 7, AT],
    "of each axis": lambda x: x[AT % 7, AT, AT % 33],
    "behind": lambda x: x[..., AT % 33],
    "grid": lambda x: x[np.arange(7)[:, None], AT[None, :]],
    "mask": lambda x: x[x > 0.5],
    "mask of rows": lambda x: x[np.arange(7) % 2 == 0],
    "take": lambda x: np.take(x, AT % 33, axis=2),
    "take along": lambda x: np.take_along_axis(x, np.argsort(x, axis=1), axis=1),
    "transposed": lambda x: x.T[AT % 33, AT],
    "of lists": lambda x: x[[0, 2], :, [1, 5]],
    "diagonal": lambda x: hr.array_api.linalg.diagonal(x),
    "none": lambda x: x[np.zeros((0, 2), "int64")],
}


@pytest.mark.parametrize("name", INDEXED)
def test_elements_by_positions(device, name):
    check(INDEXED[name], device, CUBE)


def test_positions_out_of_range(device):
    _, there = pair(CUBE, device)
    for key in ((slice(None), [0, 40]), ([0, -8], [1, 1]), ([7], [0], [0])):
        with pytest.raises(IndexError, match="position out of range"):
            hr.eval(there[key])


def assigned(key, value):
    def work(x):
        made = x + 0
        made[key] = value
        return made

    return work


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ((slice(None), slice(3, 30, 4)), 7.0),
        ((0, slice(None), 2), np.arange(40.0)),
        ((slice(None), AT), 3.0),
        ((AT % 7, AT), np.arange(60.0)[:, None]),
        (([0, 0, 0], [1, 1, 1], [2, 2, 2]), np.arange(3.0)),
    ],
)
def test_elements_assigned(device, key, value):
    check(assigned(key, value), device, CUBE)


def test_masked_assignment(device):
    check(lambda x: assigned(x > 0, -1.0)(x), device, CUBE)


SPECIAL = np.array([np.nan, 0.0, -0.0, np.inf, -np.inf, 1, -1, np.nan, 1e-300, -0.0, 0.0])


@pytest.mark.parametrize("length", [1, 2, 33, 500, 513, 2000, 2049, 5000])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i2", "u1", "?"])
def test_order_of_lines(device, length, dtype):
    x = RANDOM.normal(size=(4, length)) * 100
    if dtype == "f8" and length > len(SPECIAL):
        x[:, : len(SPECIAL)] = SPECIAL
    x = x.astype("i8").astype(dtype) if dtype != "f8" else x
    for descending in (False, True):
        check(lambda x: hr.array_api.argsort(x, descending=descending), device, x)
        check(lambda x: hr.array_api.sort(x, descending=descending), device, x)
    check(lambda x: np.argsort(x, axis=0), device, x)
    check(lambda x: np.sort(x.reshape(-1)), device, x)


@pytest.mark.parametrize("size", [0, 1, 100, 5000])
def test_searches(device, size):
    line = np.sort(np.r_[RANDOM.normal(size=size), SPECIAL[: size // 9]])
    values = np.r_[line, RANDOM.normal(size=999), SPECIAL]
    whole, wholes = ((RANDOM.normal(size=n) * 99).astype("i4") for n in (size, 900))
    for side in ("left", "right"):
        check(lambda x, y: np.searchsorted(x, y, side=side), device, line, values)
        check(
            lambda x, y: np.searchsorted(x, y, side=side),
            device,
            np.sort(whole),
            wholes,
        )


def test_what_occurs(device):
    check(lambda x: np.unique(x), device, WHOLE)
    check(lambda x: tuple(hr.array_api.unique_all(x)), device, WHOLE)
    check(lambda x: np.isin(x, [1, 2, 3]), device, WHOLE)
    check(lambda x: tuple(np.nonzero(x)), device, WHOLE)


def test_products(device):
    a, b = CUBE, RANDOM.normal(size=(7, 33, 21))
    check(lambda a, b: a @ b, device, a, b)
    check(lambda a, b: a @ b[0], device, a, b)
    check(lambda a, b: np.einsum("bij,bjk->ik", a, b), device, a, b)
    check(lambda a, b: hr.linalg.einsum("ij,jk,lk->il", a[0], b[0], b[1]), device, a, b)
    check(lambda a: a @ a.T, device, WHOLE)
    check(lambda a: np.cov(a, rowvar=False), device, WIDE[:, :40])
    check(lambda a: hr.linalg.tensordot(a, a, axes=2), device, WIDE[:40, :40])
    check(lambda a, b: a[:, :, :0] @ b[:, :0], device, a, b)


@pytest.mark.parametrize("size", [0, 1, 7, 100_001])
def test_random_numbers(device, size):
    def draws():
        rng = hr.random.default_rng(3)
        return (
            rng.random(size),
            rng.random(size, "float32"),
            rng.standard_normal(size),
            rng.standard_normal(size, "float32"),
            rng.exponential(2.0, size),
            rng.integers(-5, 1000, size),
            rng.integers(3 << 61, size=size),
            rng.permutation(size),
            rng.choice(max(size, 1), min(size, 50), replace=False),
        )

    here = draws()
    with hr.device(device):
        there = draws()
        for each in there:
            hr.eval(each)
    same(there, here, device if size else None)
    assert hr.fallbacks() == ()


def test_new_arrays_are_where_new_work_runs(device):
    def made():
        return (
            hr.arange(10),
            hr.arange(0.0, 5.0, 0.25),
            hr.linspace(0, 1, 9),
            hr.eye(4),
            hr.arange(12).reshape(3, 4) * hr.ones((3, 4)),
        )

    here = made()
    with hr.device(device):
        there = made()
        same(there, here, device)
    assert hr.fallbacks() == ()


def test_complex_numbers(device):
    def work(x, y):
        z = x + y * 1j
        return z, z * z[::-1], z.real.T.reshape(-1), np.conj(z)

    check(work, device, WIDE, WIDE[::-1])


@pytest.mark.parametrize("size", [1, 2, 8, 9, 33, 257, 1000])
@pytest.mark.parametrize("sides", [1, 5, 40])
def test_equations(device, size, sides):
    a, b = RANDOM.normal(size=(size, size)), RANDOM.normal(size=(size, sides))
    a[:, 0] = np.sign(a[:, 0])  # pivots of one size
    (here, there), (right, right_there) = pair(a, device), pair(b, device)
    made = hr.linalg.solve(there, right_there)
    assert made.device == f"{device}:0"
    x, y = np.asarray(made), np.asarray(hr.linalg.solve(here, right))
    np.testing.assert_allclose(x, y, rtol=0, atol=1e-15 * np.linalg.cond(a) * np.abs(y).max())
    flat = hr.linalg.solve(there.T, right_there[:, 0])
    np.testing.assert_allclose(a.T @ np.asarray(flat), b[:, 0], atol=1e-6)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        hr.linalg.solve(there * 0.0, right_there)
    assert hr.fallbacks() == ()


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("initial", [False, True])
def test_running_sums(device, axis, initial):
    options = {"axis": axis, "include_initial": initial}
    for x in (CUBE, (CUBE * 9).astype("i4"), WHOLE.reshape(8, 80, -1)):
        check(lambda x: hr.array_api.cumulative_sum(x, **options), device, x)
        check(lambda x: hr.array_api.cumulative_prod(x, **options), device, x)
    check(lambda x: hr.array_api.cumulative_sum(x.reshape(-1)), device, WHOLE)


def near(there, here, device):
    assert there.device == f"{device}:0"
    a, b = np.asarray(there), np.asarray(here)
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    bound = 64 * np.finfo(a.dtype).eps * max(1.0, np.abs(b).max(initial=0))
    np.testing.assert_allclose(a, b, rtol=0, atol=bound)


@pytest.mark.parametrize("size", [8, 16, 64, 512, 1024, 4096, 8192, 1 << 15, 1 << 17])
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8", "i4"])
def test_transforms_of_rows(device, size, dtype):
    x = (RANDOM.normal(size=(3, size)) * 100).astype(dtype)
    if x.dtype.kind == "c":
        x = (x + 1j * RANDOM.normal(size=x.shape)).astype(dtype)
    here, there = pair(x, device)
    for kind in ("fft", "ifft", *(() if x.dtype.kind == "c" else ("rfft",))):
        for norm in ("backward", "ortho", "forward"):
            call = getattr(hr.fft, kind)
            near(call(there, norm=norm), call(here, norm=norm), device)
    if size > 8:
        for n in (size // 2, 2 * size):
            near(hr.fft.fft(there, n=n), hr.fft.fft(here, n=n), device)
    spectrum = here[:, : size // 2 + 1]
    near(hr.fft.irfft(there[:, : size // 2 + 1], n=size), hr.fft.irfft(spectrum, n=size), device)
    near(hr.fft.fft(there.T[:8].T), hr.fft.fft(here.T[:8].T), device)
    assert hr.fallbacks() == ()


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16"])
@pytest.mark.parametrize("axes", [(0, 2), (1, 2), (0, 1, 2), (2,), (0, 1)])
def test_transforms_of_axes(device, dtype, axes):
    x = RANDOM.normal(size=(16, 64, 32)).astype(dtype)
    here, there = pair(x if 2 in axes else x.astype("c16"), device)
    for kind in ("fftn", "ifftn"):
        call = getattr(hr.array_api.fft, kind)
        near(call(there, axes=axes), call(here, axes=axes), device)
    assert hr.fallbacks() == ()


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_spectra_of_segments(device, dtype):
    x, y = (RANDOM.normal(size=(2, 20_000)).astype(dtype) for _ in range(2))
    (here, there), (other, other_there) = pair(x, device), pair(y, device)
    s = hr.signal
    for options in ({}, {"nperseg": 1024}, {"nperseg": 100, "nfft": 128, "detrend": False}):
        for name in ("spectrogram", "stft", "welch"):
            near(
                getattr(s, name)(there, **options)[2 if name != "welch" else 1],
                getattr(s, name)(here, **options)[2 if name != "welch" else 1],
                device,
            )
        near(s.csd(there, other_there, **options)[1], s.csd(here, other, **options)[1], device)
    near(
        s.correlate(there[0], other_there[0, :99], "same"),
        s.correlate(here[0], other[0, :99], "same"),
        device,
    )
    assert hr.fallbacks() == ()


@pytest.mark.parametrize("size", [1, 5, 64, 65, 257, 1000, 2100])
def test_inverses_and_determinants(device, size):
    a = RANDOM.normal(size=(size, size))
    a[:, 0] = np.sign(a[:, 0])  # pivots of one size
    here, there = pair(a, device)
    made = hr.linalg.inv(there)
    assert made.device == f"{device}:0"
    x, y = np.asarray(made), np.asarray(hr.linalg.inv(here))
    np.testing.assert_allclose(x, y, rtol=0, atol=1e-14 * np.linalg.cond(a) * np.abs(y).max())
    small = there / size**0.5  # of large ones a determinant overflows
    np.testing.assert_allclose(
        np.asarray(hr.linalg.det(small)), np.linalg.det(a / size**0.5), rtol=1e-8
    )
    sign, logarithm = hr.linalg.slogdet(there)
    wanted = np.linalg.slogdet(a)
    assert np.asarray(sign) == wanted[0]
    np.testing.assert_allclose(np.asarray(logarithm), wanted[1], rtol=1e-10)
    assert np.asarray(hr.linalg.det(there * 0.0)) == 0
    assert np.asarray(hr.linalg.slogdet(there * 0.0)[1]) == -np.inf
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        hr.linalg.inv(there * 0.0)
    assert hr.fallbacks() == ()


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_medians_of_windows(device, dtype):
    x = (RANDOM.normal(size=(5, 3000)) * 9).astype(dtype)
    if dtype != "i8":
        x.ravel()[::611] = np.nan
        x.ravel()[1::511] = -np.inf
        x.ravel()[2::7] = -0.0
        x.ravel()[3::7] = 0.0
    for size in (1, 3, 5, 7, 9, 11, 13, 15, 17, 31, 63):
        for cut in (x[:, :3], x[:, :257], x):
            check(lambda x, size=size: hr.signal.medfilt(x[0], size), device, cut)
        check(lambda x, size=size: hr.signal.medfilt(x[2, ::-2], size), device, x)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("taps", [(1, 1), (3, 5), (31, 31), (40, 7), (3, 70), (33, 65), (1, 200)])
def test_convolutions_of_matrices(device, dtype, taps):
    # Whole numbers, whose sums are exact: the host transforms where kernels are large.
    x, h = (RANDOM.integers(-9, 10, size).astype(dtype) for size in ((150, 270), taps))
    for mode in ("full", "same", "valid"):
        check(lambda x, h, mode=mode: hr.signal.convolve2d(x, h, mode), device, x, h)
    for boundary in ("wrap", "symm"):
        check(lambda x, h, b=boundary: hr.signal.convolve2d(x, h, "same", b), device, x, h)
    check(lambda x, h: hr.signal.convolve2d(x.T, h[::-1], "same", fillvalue=2.5), device, x, h)
    check(lambda x, h: hr.signal.correlate2d(x[:9, ::2], h, "full"), device, x, h)
    x[40, 50], x[3, 3] = np.nan, np.inf
    check(lambda x, h: hr.signal.convolve2d(x, h, "same"), device, x, h)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_wavelets_of_many_widths(device, dtype):
    here, there = pair(RANDOM.normal(size=9000).astype(dtype), device)
    for widths in ([1.0, 4.0], [3.0, 20.0, 90.0, 400.0]):
        near(
            hr.signal.cwt(there, hr.signal.ricker, widths),
            hr.signal.cwt(here, hr.signal.ricker, widths),
            device,
        )
    assert hr.fallbacks() == ()


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_signals_from_spectra(device, dtype):
    here = hr.asarray(RANDOM.normal(size=(3, 20_000)).astype(dtype))
    for options in (
        {},
        {"nperseg": 1024},
        {"nperseg": 100, "nfft": 128, "noverlap": 80},
        {"return_onesided": False},
    ):
        spectra = hr.signal.stft(here, **options)[2]
        if "return_onesided" in options:
            options = {"input_onesided": False}
        made = hr.signal.istft(spectra.to(device), **options)[1]
        near(made, hr.signal.istft(spectra, **options)[1], device)
        near(made[:, :20_000].real, here, device)
    assert hr.fallbacks() == ()


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "u8", "u1", "bool"])
@pytest.mark.parametrize("length", [0, 1, 2, 300, 60_000, 150_000])
def test_places_in_long_lines(device, dtype, length):
    line = RANDOM.normal(size=length) * 1e4
    values = np.concatenate([RANDOM.normal(size=5000) * 1.2e4, line[:3000], [0, -0.0, 255, 1e9]])
    if dtype[0] == "f":
        line[: length // 10] = np.nan
        line[length // 10 : length // 5] = 7
        line[length // 5 : length // 4] = -0.0
        values = np.concatenate([values, [np.nan, np.inf, -np.inf, 7]])
    elif dtype == "u8":
        line, values = abs(line), abs(values)
    line, values = np.sort(line.astype(dtype)), values.astype(dtype)
    for side in ("left", "right"):
        check(lambda e, v, side=side: np.searchsorted(e, v, side), device, line, values)
        check(lambda e, v, side=side: np.searchsorted(e, v[:7], side), device, line, values)


def test_many_positions(device):
    i, j = RANDOM.integers(-300, 300, 70_001), RANDOM.integers(-500, 500, 70_001)
    for dtype in ("f8", "f4", "i2", "bool", "c16"):
        check(lambda x, i, j: x[i, j], device, WIDE.astype(dtype), i, j)
        check(lambda x, i: x.reshape(-1)[i], device, WIDE.astype(dtype), i)
    here, at = pair(WIDE, device)[1], i.copy()
    at[60_000] = 300
    with pytest.raises(IndexError, match="300"):
        hr.eval(here[hr.asarray(at).to(device), hr.asarray(j).to(device)])
    with pytest.raises(IndexError, match="300"):
        hr.eval(here[hr.asarray(at).to(device), hr.asarray(at).to(device)])


def test_what_has_no_kernel_is_named(device):
    here, there = pair(RANDOM.normal(size=(5, 5)), device)
    same(hr.linalg.qr(there)[0], hr.linalg.qr(here)[0])
    if device == "cuda":
        assert {each[0] for each in hr.fallbacks()} >= {"qr"}
        with hr.strict(), pytest.raises(hr.DeviceError, match="no kernel"):
            hr.eval(hr.linalg.qr(there)[0])
