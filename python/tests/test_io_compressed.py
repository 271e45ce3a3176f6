# SPDX-License-Identifier: Apache-2.0
"""Compressed sources, against what Python's own modules and pyarrow pack; damaged ones."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
from collections.abc import Callable

import pyarrow as pa
import pytest

import headrace as hr


def lz4(data: bytes) -> bytes:
    """Pack as a frame of lz4."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "lz4") as out:
        out.write(data)
    return sink.getvalue().to_pybytes()


def zstd(data: bytes) -> bytes:
    """Pack as zstd."""
    return pa.compress(data, codec="zstd", asbytes=True)


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "lz4": lz4,
    "zstd": zstd,
}
CODECS = pytest.mark.parametrize("codec", PACK)


def text_of(rows: int) -> bytes:
    """Give numbers that do not shrink much, and runs that do."""
    draw = random.Random(rows)
    lines = [f"{k},{draw.random()},{'a' * (k % 300)}" for k in range(rows)]
    return ("k,x,s\n" + "\n".join(lines) + "\n").encode()


@CODECS
@pytest.mark.parametrize("rows", [0, 1, 3000])
def test_what_was_packed_is_read(codec, rows, tmp_path):
    text = text_of(rows)
    packed = PACK[codec](text)
    (tmp_path / "x").write_bytes(packed)
    wanted = hr.read_csv(text).to_dict()
    for source in (packed, tmp_path / "x", io.BytesIO(packed)):
        assert hr.read_csv(source).to_dict() == wanted
    assert hr.read_csv(packed, compression=codec).to_dict() == wanted
    assert hr.scan_csv(tmp_path / "x").to_dict() == wanted


@CODECS
def test_members_that_follow_each_other_are_one_text(codec):
    pack = PACK[codec]
    packed = pack(b"x\n1\n") + pack(b"2\n") + pack(b"") + pack(b"3\n")
    assert hr.read_csv(packed).x.to_list() == [1, 2, 3]


@pytest.mark.parametrize("level", [1, 9])
def test_levels_of_bzip2(level):
    text = text_of(40_000)  # several blocks
    assert hr.read_csv(bz2.compress(text, level)).x.sum().item() == hr.read_csv(text).x.sum().item()


@pytest.mark.parametrize("check", [lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_SHA256])
def test_checks_of_xz(check):
    assert hr.read_csv(lzma.compress(b"x\n1\n", check=check)).x.to_list() == [1]


def test_lz4_frames_that_are_skipped():
    skipped = b"\x52\x2a\x4d\x18\x03\x00\x00\x00abc"
    assert hr.read_csv(lz4(b"x\n1\n") + skipped + lz4(b"2\n")).x.to_list() == [1, 2]


@CODECS
def test_each_cut_is_an_error(codec):
    packed = PACK[codec](text_of(20))
    for size in range(7, len(packed)):
        with pytest.raises(hr.InputError, match=r"ends early|corrupt|no rows"):
            hr.read_csv(packed[:size])
    assert len(hr.read_csv(packed)) == 20


@CODECS
def test_a_damaged_byte_is_an_error_or_changes_nothing(codec):
    """Every codec but zstd as pyarrow writes it has a checksum of its content."""
    text = text_of(30)
    packed = bytearray(PACK[codec](text))
    wanted = hr.read_csv(text).to_dict()
    draw = random.Random(3)
    seen = 0
    for _ in range(300):
        at = draw.randrange(8, len(packed))
        packed[at] ^= 1 << (bit := draw.randrange(8))
        try:
            got = hr.read_csv(bytes(packed), compression=codec, dtypes="str")
        except (hr.InputError, hr.UnsupportedError):
            seen += 1
        else:
            has_checksum = codec not in ("zstd", "lz4")
            assert not has_checksum or [str(x) for x in wanted["k"]] == got.k.to_list()
        packed[at] ^= 1 << bit
    assert seen > 100


@CODECS
def test_bytes_behind_the_end(codec):
    if codec in ("xz", "zstd"):
        return  # their libraries say corrupt
    with pytest.raises(hr.InputError, match="unexpected bytes follow"):
        hr.read_csv(PACK[codec](b"x\n1\n") + b"more than that")


def test_zip_is_refused():
    with pytest.raises(hr.UnsupportedError, match="compression='zip'"):
        hr.read_csv(b"PK\x03\x04 and so on")


def test_a_word_that_is_no_codec():
    with pytest.raises(hr.InvalidArgumentError, match="bz2, xz, lz4"):
        hr.read_csv(b"x\n1\n", compression="snappy")


@pytest.mark.parametrize("codec", ["gzip", "lz4", "zstd"])
def test_text_larger_than_the_limit_is_streamed(codec, tmp_path):
    """A filter keeps few rows; the unpacked text leaves memory."""
    lines = "".join(f"{k % 1000},{k},{'text' * 9}\n" for k in range(400_000))
    (tmp_path / "x").write_bytes(PACK[codec](("k,x,s\n" + lines).encode()))
    hr.memory.trim()
    with hr.memory.limit(hr.memory.stats().used_bytes + (14 << 20)):  # of 19 MB
        scan = hr.scan_csv(tmp_path / "x")
        assert scan[scan.k == 7].x.sum().item() == sum(range(7, 400_000, 1000))


def test_what_a_small_file_declares_is_not_believed():
    """A dictionary of 1.5 GB in 60 bytes of xz is an error within the limit."""
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}]
    packed = lzma.compress(b"x\n1\n", filters=filters)
    with hr.memory.limit("100MB"), pytest.raises(hr.OutOfMemoryError):
        hr.read_csv(packed)
    assert hr.read_csv(packed).x.to_list() == [1]
