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


def test_what_a_small_file_declares_is_not_believed(memory_room):
    """A dictionary of 1.5 GB in 60 bytes of xz is an error within the limit."""
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}]
    packed = lzma.compress(b"x\n1\n", filters=filters)
    with memory_room("100MB"), pytest.raises(hr.OutOfMemoryError):
        hr.read_csv(packed)
    assert hr.read_csv(packed).x.to_list() == [1]


def zeros(codec: str, rows: int) -> bytes:
    """Pack a column of zeros, which every codec shrinks as far as it can; in several members."""
    part = 500_000
    return PACK[codec](b"x\n") + PACK[codec](b"0\n" * part) * (rows // part)


@pytest.mark.parametrize("codec", [codec for codec in PACK if codec != "lz4"])
def test_what_unpacks_to_many_times_its_size_does_not_fill_the_disk(codec, tmp_path):
    """An error that says what to do, long before all of it is unpacked and spilled."""
    rows = 20_000_000
    (tmp_path / "x").write_bytes(packed := zeros(codec, rows))
    assert 2 * rows / len(packed) > 500
    hr.memory.trim()
    spilled = hr.memory.spill().written_bytes
    room = hr.memory.stats().used_bytes + (24 << 20)
    for read in (hr.read_csv, hr.scan_csv):
        with hr.memory.limit(room), pytest.raises(hr.InputError) as raised:
            read(tmp_path / "x").x.sum().item()
        text = str(raised.value)
        assert f"path='{tmp_path / 'x'}'" in text
        assert "hr.memory.limit" in text
        assert int(text.split("ratio=")[1].split(",")[0]) >= 500
        assert raised.value.path == str(tmp_path / "x")
    assert hr.memory.spill().written_bytes - spilled < 40 << 20
    with hr.memory.limit(room), pytest.raises(hr.InputError, match="many times their size"):
        hr.read_csv(io.BytesIO(packed))


@pytest.mark.parametrize("codec", ["gzip", "zstd", "xz"])
def test_what_fits_in_memory_is_read_however_small_it_was(codec):
    rows = 2_000_000
    packed = zeros(codec, rows)
    assert 2 * rows / len(packed) > 950
    hr.memory.trim()
    with hr.memory.limit(hr.memory.stats().used_bytes + (100 << 20)):
        frame = hr.read_csv(packed)
        assert len(frame) == rows
        assert frame.x.max().item() == 0


class Steps(io.RawIOBase):
    """Gives a byte at a time."""

    def __init__(self, data: bytes) -> None:
        self.rest = data

    def readable(self) -> bool:
        """Say so."""
        return True

    def readinto(self, into) -> int:
        """Fill one byte."""
        into[: len(self.rest[:1])] = self.rest[:1]
        taken, self.rest = len(self.rest[:1]), self.rest[1:]
        return taken


@pytest.mark.parametrize("declared", [0, 4, 5, 200])
def test_a_zstd_frame_of_another_size_than_it_says(declared, tmp_path):
    """With an empty last block, libzstd compares them only where it has the whole frame."""
    head, empty = b"\x28\xb5\x2f\xfd\x20" + bytes([declared]), b"\x01\x00\x00"
    (tmp_path / "x").write_bytes(head + empty)
    text = b"x\n1\n"
    frames = [
        head + empty,
        zstd(text) + head + empty,
        head + bytes([len(text) << 3, 0, 0]) + text + empty,
    ]
    for frame in frames[declared == 0 :]:
        right = len(text) if frame is frames[2] else 0
        for source in (frame, io.BytesIO(frame), Steps(frame)):
            if declared == right:
                assert hr.read_csv(source).x.to_list() == [1]
            else:
                with pytest.raises(hr.InputError, match="zstd data is corrupt"):
                    hr.read_csv(source)
