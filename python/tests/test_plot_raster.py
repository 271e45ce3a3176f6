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
