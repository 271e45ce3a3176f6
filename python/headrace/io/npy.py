# SPDX-License-Identifier: Apache-2.0
"""NumPy's .npy and .npz files: arrays of any rank, without pickles."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from headrace import _core
from headrace.array.construct import asarray
from headrace.errors import (
    ColumnNotFoundError,
    InvalidArgumentError,
    TypeMismatchError,
    UnsupportedError,
    input_error,
)
from headrace.io.atomic_write import new_file
from headrace.lazy.handle import array_of, mark

if TYPE_CHECKING:
    import zipfile
    from typing import BinaryIO

    import numpy as np

    from headrace.array.array import Array

    Source = str | os.PathLike[str] | bytes | BinaryIO

__all__ = ["read_npy", "read_npz", "to_npy", "write_npz"]

#: Deflate makes at most 1032 bytes of one, and a block more.
_MOST_RATIO, _SLACK = 1032, 1 << 16
#: Methods of packing, as zip files number them.
_STORED, _DEFLATED = 0, 8
_ALIGNMENT = 64


def read_npy(source: Source) -> Array:
    """Read a NumPy ``.npy`` file into the memory budget, on all cores.

    Parameters
    ----------
    source : path, bytes or binary file object
        A file of version 1 to 3, as `numpy.save` writes it.

    Returns
    -------
    Array
        Of the file's shape: bool, integers, floats, complex numbers, and ``datetime64`` and
        ``timedelta64`` of s, ms, us or ns. Fortran order is kept as strides, other byte orders
        become this machine's.

    Raises
    ------
    hr.UnsupportedError
        For arrays of Python objects, which are pickles and may run code, of strings and records.
    hr.InputError
        (an OSError) For an unreadable source, and for bytes that are no such file or end too soon:
        before anything is allocated for the size that the file declares.

    >>> hr.asarray([[1, 2], [3, 4]]).to_npy("example.npy")
    >>> hr.read_npy("example.npy").tolist()
    [[1, 2], [3, 4]]
    """
    mark("read_npy")
    place = os.fspath(source) if isinstance(source, os.PathLike) else source
    return array_of(_core.data(_core.read_npy("read_npy", place, -1, "")))


def read_npz(source: Source, *, names: Sequence[str] | None = None) -> dict[str, Array]:
    """Read the arrays of a NumPy ``.npz`` file, by name; see `read_npy`.

    Parameters
    ----------
    source : path, bytes or binary file object
        A file of `numpy.savez` or `numpy.savez_compressed`. A file object must be able to seek.
    names : list of str, optional
        The arrays to read, in this order; the others are not touched.

    Raises
    ------
    hr.ColumnNotFoundError
        (a KeyError) For a name that the file does not have.
    hr.UnsupportedError, hr.InputError
        As `read_npy`; also for encrypted members, checksums that do not match, and members that
        declare more bytes than their packed size can hold.

    >>> hr.write_npz("example.npz", {"x": [1.5, 2.5], "n": 3})
    >>> {name: array.tolist() for name, array in hr.read_npz("example.npz").items()}
    {'x': [1.5, 2.5], 'n': 3}
    """
    mark("read_npz")
    if isinstance(names, str):
        raise TypeMismatchError(f"read_npz: expected a list of strings: names={names!r}")
    if isinstance(source, str | os.PathLike):
        title = os.fspath(source)
        with _opened(title) as file:
            return _members(file, title, names)
    if isinstance(source, bytes | bytearray | memoryview):
        return _members(io.BytesIO(source), "<bytes>", names)
    return _members(source, str(getattr(source, "name", "<stream>")), names)


def _opened(path: str) -> IO[bytes]:
    try:
        return open(path, "rb")
    except OSError as error:
        raise input_error(
            f"read_npz: {error.strerror}: path={path!r}; check the path", path, error.errno or 0
        ) from error


def _members(file: Any, title: str, names: Sequence[str] | None) -> dict[str, Array]:
    import zipfile  # late: importing headrace does not load it
    import zlib

    def damaged(what: str) -> Exception:
        return input_error(
            f"read_npz: {what}: path={title!r}; fetch or write the file again", title
        )

    try:
        with zipfile.ZipFile(file) as archive:
            found: dict[str, zipfile.ZipInfo] = {}
            for each in archive.infolist():
                name = each.filename.removesuffix(".npy")
                if name in found:
                    raise damaged(f"two members have one name: name={name!r}")
                found[name] = each
            for name in names or ():
                if name not in found:
                    raise ColumnNotFoundError(
                        f"read_npz: no such array: name={name!r}, names={list(found)}, "
                        f"path={title!r}; choose one of these"
                    )
            wanted = found if names is None else {name: found[name] for name in names}
            return {n: _member(archive, each, title, damaged) for n, each in wanted.items()}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        if isinstance(error, InvalidArgumentError | UnsupportedError):
            raise
        raise damaged(f"this is not a sound .npz file ({error})") from error


def _member(archive: zipfile.ZipFile, each: zipfile.ZipInfo, title: str, damaged: Any) -> Array:
    place = f"{title}:{each.filename}"
    if each.flag_bits & 1 or each.compress_type not in (_STORED, _DEFLATED):
        raise UnsupportedError(
            f"read_npz: an array is encrypted or packed by another method than deflate: "
            f"name={each.filename!r}, path={title!r}; write it by numpy.savez_compressed"
        )
    is_packed = each.compress_type == _DEFLATED
    most = each.compress_size * (_MOST_RATIO if is_packed else 1) + _SLACK * is_packed
    if each.file_size > most:
        raise damaged(
            f"an array declares more bytes than it can have: name={each.filename!r}, "
            f"bytes={each.file_size}, packed={each.compress_size}"
        )
    with archive.open(each) as file:
        tensor = _core.read_npy("read_npz", file, each.file_size, place)
        while file.read(_SLACK):  # to its end, where the checksum is compared
            pass
    return array_of(_core.data(tensor))


# ---- writing -------------------------------------------------------------------------------------
def _parts(values: Any) -> tuple[bytes, memoryview]:
    """Header and bytes of an array, which are its own where they lie in one piece."""
    import numpy as np

    array = np.asarray(asarray(values))
    is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    flat = np.ascontiguousarray(array.T if is_fortran else array)
    words = f"{{'descr': {array.dtype.str!r}, 'fortran_order': {is_fortran}, "
    words += f"'shape': {array.shape!r}, }}"
    size = len(words) + 11
    words += " " * (-size % _ALIGNMENT) + "\n"
    header = b"\x93NUMPY\x01\x00" + len(words).to_bytes(2, "little") + words.encode("ascii")
    return header, _bytes_of(flat)


def _bytes_of(flat: np.ndarray[Any, Any]) -> memoryview:
    return flat.reshape(-1).view("u1").data if flat.size else memoryview(b"")


def to_npy(array: Array, path: str | os.PathLike[str] | IO[bytes]) -> None:
    """See `Array.to_npy`."""
    mark("to_npy")
    header, values = _parts(array)
    if not isinstance(path, str | os.PathLike):
        path.write(header)
        path.write(values)
        return
    with new_file("to_npy", path) as file:
        file.write(header)
        file.write(values)


def write_npz(
    path: str | os.PathLike[str] | IO[bytes], arrays: Mapping[str, Any], *, compressed: bool = False
) -> None:
    """Write arrays by name to a NumPy ``.npz`` file, which `numpy.load` reads.

    Parameters
    ----------
    path : path or binary file object
        A regular file is replaced whole at the end, or stays as it was.
    arrays : {name: array_like}
        What `hr.asarray` takes.
    compressed : bool
        Pack them by deflate.

    Raises
    ------
    hr.InvalidArgumentError
        (a ValueError) For an empty name, or one that ends in ``.npy``.
    hr.InputError
        (an OSError) With path and errno, when the system refuses.

    >>> hr.write_npz("example.npz", {"x": hr.asarray([1, 2])}, compressed=True)
    >>> hr.read_npz("example.npz")["x"].tolist()
    [1, 2]
    """
    mark("write_npz")
    for name in arrays:
        if not isinstance(name, str) or not name or name.endswith(".npy"):
            raise InvalidArgumentError(
                f"write_npz: no name of an array: name={name!r}; use a word without '.npy'"
            )
    if isinstance(path, str | os.PathLike):
        with new_file("write_npz", path) as file:
            _write_members(file, arrays, compressed)
    else:
        _write_members(path, arrays, compressed)


def _write_members(file: Any, arrays: Mapping[str, Any], compressed: bool) -> None:
    import zipfile  # late: importing headrace does not load it

    with zipfile.ZipFile(file, "w") as archive:
        for name, values in arrays.items():
            header, content = _parts(values)
            each = zipfile.ZipInfo(f"{name}.npy")
            each.compress_type = _DEFLATED if compressed else _STORED
            with archive.open(each, "w", force_zip64=True) as member:
                member.write(header)
                member.write(content)
