# SPDX-License-Identifier: Apache-2.0
"""Pixels: rasters against NumPy, PNG files read back, plots saved and shown."""

import base64
import re
import struct
import zlib

import numpy as np
import pytest

import headrace as hr
from headrace import plot


def read_png(data: bytes) -> np.ndarray:
    """Pixels of a PNG without line filters; every checksum is checked."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(
            kind + body
        )
        chunks[kind] = body
        at += 12 + length
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, color, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert depth == 8
    assert not any(rest)
    channels = {0: 1, 2: 3, 6: 4}[color]
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert not lines[:, 0].any()
    return lines[:, 1:].reshape((height, width, channels) if channels > 1 else (height, width))


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (7, 4, 3), (2, 9, 4), (300, 400, 4)])
def test_png_gives_the_pixels_back(shape):
    image = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    np.testing.assert_array_equal(read_png(plot.encode_png(image).to_numpy().tobytes()), image)


def test_png_takes_strides():
    image = np.random.default_rng(1).integers(0, 256, (20, 30, 4), np.uint8)[::-2, ::3, :3]
    np.testing.assert_array_equal(read_png(plot.encode_png(image).to_numpy().tobytes()), image)


def test_png_errors():
    with pytest.raises(TypeError, match="encode_png"):
        plot.encode_png(np.zeros((2, 2))).to_numpy()
    with pytest.raises(TypeError, match="encode_png"):
        plot.encode_png(np.zeros((2, 2, 2), np.uint8)).to_numpy()
    with pytest.raises(ValueError, match="encode_png"):
        plot.encode_png(np.zeros((0, 2), np.uint8)).to_numpy()


def test_points_equal_histogram2d():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 300_000)).astype(np.float32)
    counts = plot.raster_points(x, y, (-2, 2), (-1, 3), 50, 40).to_numpy()
    wanted, _, _ = np.histogram2d(
        y.astype(float), x.astype(float), bins=(40, 50), range=((-1, 3), (-2, 2))
    )
    np.testing.assert_array_equal(counts[::-1], wanted)


def test_raster_covers_the_envelope():
    rng = np.random.default_rng(3)
    x = rng.normal(size=100_000).cumsum()
    low, high = plot.envelope(x, width=300)
    bottom, top = x.min(), x.max()
    image = plot.raster_envelope(low, high, bottom, top, 200, "#102030").to_numpy()
    assert image.shape == (200, 300, 4)
    to_row = lambda value: (top - value) / (top - bottom) * 200  # noqa: E731
    for column, (a, b) in enumerate(zip(low.to_numpy(), high.to_numpy(), strict=True)):
        inked = np.flatnonzero(image[:, column, 3])
        # Less than 1/510 of a pixel leaves no trace in 8 bits.
        assert inked[0] <= to_row(b) + 0.002
        assert inked[-1] + 1 >= to_row(a) - 0.002
        assert (np.diff(inked) == 1).all()
    assert set(map(tuple, image[image[..., 3] > 0][:, :3].tolist())) == {(16, 32, 48)}


def test_missing_columns_stay_empty():
    image = plot.raster_envelope([0.0, np.nan], [1.0, np.nan], 0, 1, 4).to_numpy()
    assert image[:, 0, 3].all()
    assert not image[:, 1].any()


def drawn(picture: plot.Plot) -> np.ndarray:
    """The pixels between the axes of a figure."""
    (data,) = re.findall('base64,([^"]+)', picture._repr_html_())
    return read_png(base64.b64decode(data))


def test_raster_errors():
    with pytest.raises(ValueError, match="color"):
        plot.raster_envelope([0.0], [1.0], 0, 1, 4, "blue")
    with pytest.raises(ValueError, match="raster_envelope"):
        plot.raster_envelope([0.0], [1.0], 1, 1, 4).to_numpy()
    with pytest.raises(ValueError, match="raster_points"):
        plot.raster_points([0.0], [1.0, 2.0], (0, 1), (0, 1), 4, 4).to_numpy()


def test_line_saves_and_shows_itself(tmp_path):
    x = np.sin(np.arange(50_000) / 1000)
    x[100:200] = np.nan
    shown = plot.line(x, 10, 40_000, 500, 200, title="<sine>", unit="mV", rate=250)
    assert drawn(shown).shape == (200, 500, 4)
    assert "&lt;sine&gt;" in shown._repr_html_()
    for ending, begin in (("png", b"\x89PNG"), ("svg", b"<svg"), ("html", b"<!doctype html>")):
        shown.save(tmp_path / f"x.{ending}")
        assert (tmp_path / f"x.{ending}").read_bytes().startswith(begin)
    with pytest.raises(hr.InvalidArgumentError, match="save"):
        shown.save(tmp_path / "x.jpg")


@pytest.mark.parametrize("x", [[5.0], [np.nan, np.nan], [3.0, 3.0], [np.inf, 1.0]])
def test_line_draws_odd_series(x):
    assert drawn(plot.line(x, width=50, height=40)).shape == (40, 50, 4)


# ---- clouds of points ----------------------------------------------------------------------------
def histogram2d(x, y, wide, high, limits):
    found, _, _ = np.histogram2d(y, x, bins=(high, wide), range=(limits[1], limits[0]))
    return found[::-1]


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 131_071, 131_073, 400_000])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_raster_counts_are_those_of_numpy(rows, dtype):
    rng = np.random.default_rng(rows)
    x, y = (50 * rng.normal(size=(2, rows))).astype(dtype)
    kinds = np.array(["a", "b", "c"])[rng.integers(0, 3, rows)]
    cloud = plot.raster(x, y, 40, 30, color=kinds)
    low, high = np.array([x, y], float).min(axis=1), np.array([x, y], float).max(axis=1)
    ends = [(a, b) if a < b else (a - 0.5, b + 0.5) for a, b in zip(low, high, strict=True)]
    wanted = histogram2d(x.astype(float), y.astype(float), 40, 30, ends)
    np.testing.assert_array_equal(np.asarray(cloud), wanted)
    assert cloud.counts.dtype == np.int64 and wanted.sum() == rows
    for kind in set(kinds.tolist()):
        some = kinds == kind
        part = histogram2d(x[some].astype(float), y[some].astype(float), 40, 30, ends)
        np.testing.assert_array_equal(cloud.groups[kind].to_numpy(), part)


def test_raster_leaves_out_what_has_no_place():
    x = hr.Series([0.0, 1.0, None, float("nan"), 5.0], name="first")
    y = hr.Series([0, 1, 1, 1, None], name="second")
    cloud = plot.raster(x, y, 2, 2, x_range=(0, 2), y_range=(0, 1), title="<t>")
    assert np.asarray(cloud).tolist() == [[0, 1], [1, 0]]
    shown = cloud._repr_html_()
    assert "first</text>" in shown and "second</text>" in shown and "&lt;t&gt;" in shown
    assert np.asarray(plot.raster(x[:0], y[:0], 2, 2)).sum() == 0
    assert np.asarray(plot.raster([np.nan], [1.0], 2, 2)).sum() == 0


def test_raster_same_bits():
    x, y = np.random.default_rng(4).normal(size=(2, 500_000))
    kinds = (np.abs(x) * 3).astype(int)
    made = []
    for threads in (1, 2, 4):
        with hr.threads(threads):
            made.append(plot.raster(x[::-1], y, 300, 200, color=kinds)._repr_html_())
    assert len(set(made)) == 1


def test_raster_shades():
    # 900 points in one pixel, 90 in the next, 10 in the third.
    x = np.repeat([0.5, 1.5, 2.5], [900, 90, 10]).repeat(200)
    y = np.full(len(x), 0.5)
    ranges = {"x_range": (0, 4), "y_range": (0, 1)}
    covers = {
        shade: plot.raster(x, y, 4, 1, shade=shade, **ranges).pixels.to_numpy()[0, :, 3].tolist()
        for shade in ("linear", "log", "eq_hist")
    }
    counts = np.array([180_000, 18_000, 2000])
    assert covers["linear"] == [*(80 + np.round(175 * counts / 180_000)).astype(int), 0]
    logs = np.log1p(counts) / np.log1p(180_000)
    assert covers["log"] == [*(80 + np.round(175 * logs)).astype(int), 0]
    assert covers["eq_hist"] == [255, 168, 80, 0]


def test_raster_colours():
    x = np.repeat([0.5, 1.5, 2.5], 100_000)
    kinds = np.where(x < 1, "a", np.where(x < 2, "b", ["a", "b", "a", "b"] * 75_000))
    cloud = plot.raster(x, x * 0, 3, 1, color=kinds, x_range=(0, 3), y_range=(-1, 1))
    blue, orange = np.array([0, 0x72, 0xB2]), np.array([0xE6, 0x9F, 0])
    found = cloud.pixels.to_numpy()[0, :, :3]
    np.testing.assert_allclose(found, [blue, orange, (blue + orange) / 2], atol=0.5)
    assert ">a</text>" in cloud._repr_html_() and ">b</text>" in cloud._repr_html_()
    assert list(plot.raster(x, x, 3, 1, color=np.arange(len(x)) % 9).groups)[-1] == "others"
    assert list(plot.raster([], [], 3, 1, color=[]).groups) == ["others"]


def test_raster_shows_and_saves_itself(tmp_path):
    frame = hr.DataFrame({"x": [1.0, 2.0, 3.0], "y": [1, 2, 5], "kind": ["u", "v", "u"]})
    cloud = frame.plot.raster("x", "y", "kind", title="three", unit="m")
    assert "y [m]</text>" in cloud._repr_html_() and np.asarray(cloud).sum() == 3
    assert read_png(plot.encode_png(cloud.pixels).to_numpy().tobytes()).shape == (320, 640, 4)
    for ending in ("png", "svg", "html"):
        cloud.save(tmp_path / f"x.{ending}")
    assert cloud._repr_png_()[:4] == b"\x89PNG"
    assert cloud.to_dict()["layer"][0]["mark"]["type"] == "image"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"shade": "sqrt"}, "shade='sqrt'"),
        ({"x_range": (1, 1)}, "range is empty"),
        ({"color": ["a"]}, "rows=2, labels=1"),
        ({"x": [1.0, np.inf]}, "must be finite"),
        ({"y": [1.0]}, "x=2, y=1"),
        ({"width": 0}, "use 1 to 65536"),
    ],
)
def test_raster_refuses(given, words):
    given = {"x": [0.0, 1.0], "y": [0.0, 1.0]} | given
    with pytest.raises(hr.InvalidArgumentError, match=words):
        plot.raster(**given)
    assert np.asarray(plot.raster([0.0, 1.0], [0.0, 1.0], 8, 8)).sum() == 2


def test_raster_refuses_other_types():
    with pytest.raises(hr.TypeMismatchError, match="1-D integers or floats"):
        plot.raster(hr.Series(["a"]), [1.0])
    with pytest.raises(hr.TypeMismatchError, match="x has 2 dimensions"):
        plot.raster([[1.0]], [1.0])
