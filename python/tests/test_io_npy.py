# SPDX-License-Identifier: Apache-2.0
"""NumPy's .npy and .npz files against NumPy, and hostile ones."""

from __future__ import annotations

import contextlib
import io
import random
import struct
import zipfile

import numpy as np
import pytest

import headrace as hr

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"]
DTYPES += ["M8[s]", "M8[ms]", "M8[us]", "M8[ns]", "m8[s]", "m8[ns]"]
SHAPES = [(), (0,), (1,), (63,), (64,), (65,), (3, 4), (2, 0, 5), (2, 3, 4), (1, 1, 1, 2)]


def array_of(dtype: str, shape: tuple, order: str = "C") -> np.ndarray:
    count = int(np.prod(shape))
    values = np.arange(count) % 100
    made = values.astype("i8").view(dtype) if "8[" in dtype else (values % 50).astype(dtype)
    return np.array(made.reshape(shape), order=order)


def saved(array: np.ndarray, **options) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def header_of(words: str, version: int = 1) -> bytes:
    size = struct.pack("<H" if version == 1 else "<I", len(words))
    return b"\x93NUMPY" + bytes([version, 0]) + size + words.encode()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reads_what_numpy_writes(tmp_path, dtype, order):
    for shape in SHAPES:
        for swapped in (False, True):
            array = array_of(dtype, shape, order)
            if swapped:
                array = array.astype(array.dtype.newbyteorder(">"), order="K")
            path = tmp_path / "a.npy"
            np.save(path, array)
            for source in (path, path.read_bytes(), io.BytesIO(path.read_bytes())):
                ours = hr.read_npy(source)
                assert ours.shape == array.shape
                assert ours.dtype == array.dtype.newbyteorder("=")
                np.testing.assert_array_equal(ours.to_numpy(), array)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_reads_what_we_write(tmp_path, dtype, order):
    path = tmp_path / "a.npy"
    for shape in SHAPES:
        array = array_of(dtype, shape, order)
        array.setflags(write=False)
        hr.asarray(array).to_npy(path)
        theirs = np.load(path)
        assert theirs.dtype == array.dtype
        assert theirs.shape == array.shape
        assert theirs.flags.f_contiguous == array.flags.f_contiguous
        np.testing.assert_array_equal(theirs, array)
        file = io.BytesIO()
        hr.asarray(array).to_npy(file)
        assert file.getvalue() == path.read_bytes()
        np.testing.assert_array_equal(hr.read_npy(path).to_numpy(), array)


def test_several_parts(tmp_path):
    """More than one task reads; the same for any number of threads."""
    path = tmp_path / "a.npy"
    array = np.random.default_rng(1).random((3, 1 << 19))
    np.save(path, array.astype(">f8"))
    for threads in (1, 2, 4):
        with hr.threads(threads):
            np.testing.assert_array_equal(hr.read_npy(path).to_numpy(), array)
    np.testing.assert_array_equal(hr.asarray(array[:, ::2]).sum().item(), array[:, ::2].sum())
    hr.asarray(array[::2, ::3]).to_npy(path)
    np.testing.assert_array_equal(np.load(path), array[::2, ::3])


def test_versions_and_spellings():
    values = np.arange(3.0).tobytes()
    for words in (
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }",
        '{"shape":(3L,),"descr":"<f8","fortran_order":True}\n',
        "{'fortran_order' : False , 'descr' : '<f8', 'shape' : ( 3 , ) }   \n",
    ):
        for version in (1, 2, 3):
            assert hr.read_npy(header_of(words, version) + values).tolist() == [0.0, 1.0, 2.0]
    words = "{'descr': '<f8', 'fortran_order': False, 'shape': ()}"
    assert hr.read_npy(header_of(words) + values).item() == 0


@pytest.mark.parametrize(
    ("array", "fix"),
    [
        (np.array([{}, None]), "numpy.load"),
        (np.array(["a", "b"]), "hr.Series"),
        (np.array([b"a"]), "hr.Series"),
        (np.zeros(2, [("a", "i4"), ("b", "f8")]), "hr.DataFrame"),
        (np.zeros(2, "V3"), "hr.DataFrame"),
        (np.zeros(2, "f2"), "astype"),
        (np.zeros(2, "M8[D]"), "astype"),
    ],
)
def test_what_is_not_read_names_the_fix(array, fix):
    with pytest.raises(hr.UnsupportedError, match=fix):
        hr.read_npy(saved(array))


def test_pickles_do_not_run(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "ran"), "w"))

    with pytest.raises(hr.UnsupportedError, match="objects"):
        hr.read_npy(saved(np.array([Trap()], object)))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "words",
    [
        "",
        "{",
        "{}",
        "[]",
        "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1e3,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'more': 1}",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (3,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)} + x",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "1," * 65 + ")}",
        "{'descr': __import__('os').system('x'), 'fortran_order': False, 'shape': (3,)}",
        # Sizes that are not there.
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 0)}",
    ],
)
def test_damaged_headers(words):
    data = header_of(words) + np.arange(3.0).tobytes()
    for source in (data, io.BytesIO(data)):
        with pytest.raises((hr.InputError, hr.InvalidArgumentError)):
            hr.read_npy(source)
    assert hr.read_npy(saved(np.arange(3))).tolist() == [0, 1, 2]


def test_cut_and_flipped_files(tmp_path):
    data = saved(np.arange(10, dtype="i4"))
    for end in range(len(data)):
        with pytest.raises(hr.InputError, match="npy"):
            hr.read_npy(data[:end])
    file = io.BytesIO()
    np.savez_compressed(file, x=np.arange(10), y=np.zeros((3, 3)))
    packed = file.getvalue()
    draw = random.Random(1)
    for source, read in ((data, hr.read_npy), (packed, hr.read_npz)):
        for _ in range(3000):
            hurt = bytearray(source)
            for _ in range(draw.randrange(1, 4)):
                hurt[draw.randrange(len(hurt))] = draw.randrange(256)
            with contextlib.suppress(hr.Error):
                read(bytes(hurt))
    for end in range(0, len(packed), 7):
        with pytest.raises(hr.Error):
            hr.read_npz(packed[:end])
    with pytest.raises(hr.InputError, match="neither 0 nor 1"):
        hr.read_npy(saved(np.array([0, 1, 2], "u1")).replace(b"|u1", b"|b1"))


def test_missing_files(tmp_path):
    for read in (hr.read_npy, hr.read_npz):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "no.npy")
        with pytest.raises(hr.Error):
            read(b"")


@pytest.mark.parametrize("compressed", [False, True])
def test_npz(tmp_path, compressed):
    arrays = {"x": np.arange(12.0).reshape(3, 4), "n": np.int64(5)}
    arrays |= {"f": np.asfortranarray(np.eye(3)), "e": np.zeros((0, 2))}
    path = tmp_path / "a.npz"
    (np.savez_compressed if compressed else np.savez)(path, **arrays)
    for source in (path, path.read_bytes(), io.BytesIO(path.read_bytes())):
        ours = hr.read_npz(source)
        assert list(ours) == list(arrays)
        for name, array in arrays.items():
            np.testing.assert_array_equal(ours[name].to_numpy(), array)
    assert list(hr.read_npz(path, names=["f", "x"])) == ["f", "x"]
    with pytest.raises(hr.ColumnNotFoundError, match="'nothing'"):
        hr.read_npz(path, names=["nothing"])
    mine = tmp_path / "b.npz"
    copies = {name: array.copy() for name, array in arrays.items()}
    hr.write_npz(mine, copies, compressed=compressed)
    with np.load(mine, allow_pickle=False) as theirs:
        assert list(theirs) == list(arrays)
        for name, array in arrays.items():
            np.testing.assert_array_equal(theirs[name], array)
    for name in ("", "x.npy"):
        with pytest.raises(hr.InvalidArgumentError):
            hr.write_npz(mine, {name: [1]})
    assert list(hr.read_npz(mine)) == list(arrays)  # the old file is whole


def test_bombs_and_strange_members(tmp_path):
    def archive(members: dict, method: int = zipfile.ZIP_DEFLATED) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", method) as made:
            for name, content in members.items():
                made.writestr(name, content)
        return file.getvalue()

    header = header_of("{'descr': '|u1', 'fortran_order': False, 'shape': (10000000000,)}")
    with pytest.raises(hr.InputError, match="ends before"):
        hr.read_npz(archive({"x.npy": header + bytes(1 << 20)}))
    bomb = bytearray(archive({"x.npy": saved(np.zeros(8))}))
    at = bomb.rindex(b"PK\x01\x02")
    bomb[at + 24 : at + 28] = (2**31).to_bytes(4, "little")  # its size, as the directory has it
    with pytest.raises(hr.InputError, match="more bytes than it can have"):
        hr.read_npz(bytes(bomb))
    with pytest.raises(hr.InputError, match=r"not a \.npy file"):
        hr.read_npz(archive({"readme.txt": b"words"}))
    with pytest.raises(hr.UnsupportedError, match="objects"):
        hr.read_npz(archive({"x.npy": saved(np.array([{}]))}))
    with pytest.raises(hr.UnsupportedError, match="another method"):
        hr.read_npz(archive({"x.npy": saved(np.zeros(8))}, zipfile.ZIP_BZIP2))
    hurt = bytearray(archive({"x.npy": saved(np.zeros(8))}, zipfile.ZIP_STORED))
    hurt[hurt.index(bytes(8))] ^= 1
    with pytest.raises(hr.InputError, match="CRC"):
        hr.read_npz(bytes(hurt))


def test_a_failing_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.npz"
    hr.write_npz(path, {"x": [1, 2]})
    with pytest.raises(hr.Error):
        hr.write_npz(path, {"x": [1], "bad": ["word"]})
    assert hr.read_npz(path)["x"].tolist() == [1, 2]
    assert [each.name for each in tmp_path.iterdir()] == ["a.npz"]


def test_under_a_limit(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(2_000_000.0))
    with hr.memory.limit(hr.memory.stats().used_bytes + (8 << 20)):
        assert hr.read_npy(path).sum().item() == 1999999000000.0
