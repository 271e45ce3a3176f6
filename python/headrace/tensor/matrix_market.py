# SPDX-License-Identifier: Apache-2.0
"""Matrix Market files: sparse matrices as text, a line an entry."""

from __future__ import annotations

import gzip
import os
import re
from typing import IO, Any, cast

import numpy as np

from headrace.errors import InputError, InvalidArgumentError, UnsupportedError
from headrace.io.atomic_write import new_file
from headrace.io.csv import read_csv
from headrace.tensor.sparse import coo_matrix

_FIELDS = {"real": "float64", "double": "float64", "integer": "int64", "pattern": None}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")
#: The largest matrix whose entries int64 can count.
_MOST = 2**31 - 1


def _bad(path: str, line: int, what: str, text: bytes, fix: str = "") -> InputError:
    shown = text[:80].decode("utf-8", "replace").rstrip()
    error = InputError(f"mmread: {what}: path={path!r}, line={line}, text={shown!r}{fix}")
    error.path, error.line = path, line
    return error


def read_entries(source: Any) -> tuple[Any, Any, Any, tuple[int, int], str]:
    """Rows, columns, values (None of a pattern), shape and symmetry, as the file has them."""
    path = os.fspath(source)
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with gzip.open(path) if packed else open(path, "rb") as file:
        head = file.readline(1024)
        words = head.decode("utf-8", "replace").lower().split()
        if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
            raise _bad(path, 1, "no header of a matrix", head,
                       "; it reads %%MatrixMarket matrix coordinate real general")  # fmt: skip
        _, _, layout, field, symmetry = words
        if layout != "coordinate" or field not in _FIELDS or symmetry not in _SYMMETRIES:
            raise UnsupportedError(
                f"mmread: expected coordinates of real, integer or pattern entries: "
                f"path={path!r}, layout={layout!r}, field={field!r}, symmetry={symmetry!r}; use "
                "scipy.io.mmread"
            )
        line, text = 2, file.readline(1 << 20)
        while text and (text.startswith(b"%") or not text.strip()):
            line, text = line + 1, file.readline(1 << 20)
        sizes = text.split()
        if len(sizes) != 3 or not all(re.fullmatch(rb"\d{1,18}", each) for each in sizes):
            raise _bad(path, line, "expected three sizes: rows, columns, entries", text)
        rows, columns, entries = map(int, sizes)
        if max(rows, columns) > _MOST:
            raise _bad(path, line, "a side is too long", text, f"; the most is {_MOST}")
        sample = file.read(1 << 16)
        rest: Any = path
        if re.search(rb"^[ \t]|[ \t]{2}|\t|[ \t]\r?$", sample, re.M):
            # Columns that are lined up: one blank between fields, and the same lines.
            kept = re.sub(rb"[ \t]*(\r?\n)[ \t]*|[ \t]+", _one_blank, sample + file.read())
            rest = b"\n" * line + kept.strip(b" ")
    names = ["row", "column", *(["value"] if _FIELDS[field] else [])]
    dtypes: dict[str, Any] = {"row": "int64", "column": "int64", "value": _FIELDS[field]}
    if not sample.strip():
        made = {name: np.empty(0, dtypes[name] or "int64") for name in names}
    else:
        frame = read_csv(
            rest, delimiter=" ", quote=None, header=False, names=names, skip_rows=line,
            comment="%", null_words=[], dtypes={name: dtypes[name] for name in names},
        )  # fmt: skip
        made = {name: frame[name].to_numpy() for name in names}
    if len(made["row"]) != entries:
        raise InputError(
            f"mmread: another number of entries than promised: path={path!r}, line={line}, "
            f"promised={entries}, found={len(made['row'])}"
        )
    for name, most in (("row", rows), ("column", columns)):
        wrong = (made[name] < 1) | (made[name] > most)
        if wrong.any():
            at = int(wrong.argmax())
            raise InputError(
                f"mmread: an entry lies outside: path={path!r}, entry={at + 1}, {name}="
                f"{int(made[name][at])}, {name}s={most}"
            )
    if symmetry != "general" and rows != columns:
        raise _bad(path, line, "a symmetric matrix is not square", text)
    return made["row"] - 1, made["column"] - 1, made.get("value"), (rows, columns), symmetry


def _one_blank(found: re.Match[bytes]) -> bytes:
    return found.group(1) or b" "


def mmread(source: str | os.PathLike[str]) -> coo_matrix:
    """Read a sparse matrix of a Matrix Market file, plain or gzip.

    Real and integer values are float64 and int64, those of a pattern 1.0; of symmetric files both
    halves are there. Entries that repeat stay apart, as SciPy keeps them.

    Raises
    ------
    InputError
        For a line that is no entry, with its number, entries outside, or a wrong count of them.
    UnsupportedError
        For dense, complex and Hermitian matrices.

    >>> path = "a.mtx"
    >>> hr.tensor.mmwrite(path, hr.tensor.csr_matrix([[0.0, 2.5], [1.0, 0.0]]))
    >>> hr.tensor.mmread(path).toarray().tolist()
    [[0.0, 2.5], [1.0, 0.0]]
    """
    row, column, value, shape, symmetry = read_entries(source)
    value = np.ones(len(row)) if value is None else value
    if symmetry != "general":
        off = row != column
        mirrored = -value[off] if symmetry == "skew-symmetric" else value[off]
        row, column = np.append(row, column[off]), np.append(column, row[off])
        value = np.append(value, mirrored)
    return coo_matrix((value, (row, column)), shape=shape)


def mmwrite(
    target: str | os.PathLike[str],
    a: Any,
    comment: str = "",
    field: str | None = None,
    symmetry: str | None = None,
) -> None:
    """Write a sparse matrix as a Matrix Market file of coordinates.

    Parameters
    ----------
    target : path
    a : sparse matrix of ours or of SciPy
    comment : str
        Lines below the first one.
    field : {'real', 'integer', 'pattern'}, optional
        By the dtype if not given; a pattern has no values.
    symmetry : {'general', 'symmetric'}, optional
        ``symmetric`` keeps the lower half alone, of a matrix that is. General if not given.

    >>> from pathlib import Path
    >>> path = Path("a.mtx")
    >>> hr.tensor.mmwrite(path, hr.tensor.csr_matrix([[0, 2], [2, 0]]), symmetry="symmetric")
    >>> path.read_text().splitlines()
    ['%%MatrixMarket matrix coordinate integer symmetric', '2 2 1', '2 1 2']
    """
    matrix = a.tocoo()
    row, column = np.asarray(matrix.row, np.int64), np.asarray(matrix.col, np.int64)
    value = np.asarray(matrix.data)
    if field is None:
        field = "integer" if value.dtype.kind in "iub" else "real"
    symmetry = symmetry or "general"
    if field not in ("real", "integer", "pattern") or symmetry not in ("general", "symmetric"):
        raise InvalidArgumentError(
            f"mmwrite: unknown format: field={field!r}, symmetry={symmetry!r}; use real, integer "
            "or pattern, and general or symmetric"
        )
    if value.dtype.kind not in "iubf":
        raise UnsupportedError(f"mmwrite: cannot write this dtype: dtype={value.dtype}")
    if field == "integer" and value.dtype.kind == "f":
        value = value.astype(np.int64)
    if symmetry == "symmetric":
        _check_symmetric(row, column, value, matrix.shape)
        row, column, value = (each[row >= column] for each in (row, column, value))
    write_entries(target, row, column, None if field == "pattern" else value, matrix.shape,
                  (field, symmetry), comment)  # fmt: skip


def _check_symmetric(row: Any, column: Any, value: Any, shape: tuple[int, int]) -> None:
    there, back = np.lexsort((value, column, row)), np.lexsort((value, row, column))
    if (
        shape[0] != shape[1]
        or (row[there] != column[back]).any()
        or (column[there] != row[back]).any()
        or (value[there] != value[back]).any()
    ):
        raise InvalidArgumentError(f"mmwrite: the matrix is not symmetric: shape={shape}")


def write_entries(
    target: str | os.PathLike[str],
    row: Any,
    column: Any,
    value: Any,
    shape: tuple[int, int],
    form: tuple[str, str],
    comment: str = "",
) -> None:
    """Write entries counted from 0, as `form`, field and symmetry, says."""
    from headrace.frame.columns import new_frame

    columns = {"row": row + 1, "column": column + 1}
    if value is not None:
        columns["value"] = value.astype(np.int64) if value.dtype.kind == "b" else value
    lines = [f"%%MatrixMarket matrix coordinate {' '.join(form)}"]
    lines += [f"%{line}" for line in comment.splitlines()]
    lines.append(f"{shape[0]} {shape[1]} {len(row)}\n")
    with new_file("mmwrite", target) as file:
        file.write("\n".join(lines).encode())
        if len(row):
            new_frame(columns).to_csv(cast("IO[bytes]", file), sep=" ", header=False, index=False)
