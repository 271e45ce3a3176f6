# SPDX-License-Identifier: Apache-2.0
"""Sparse matrices made of numbers, of several matrices, and of files."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.lazy.handle import mark
from headrace.random.generator import default_rng
from headrace.tensor.matrix import SparseMatrix, issparse
from headrace.tensor.sparse import coo_matrix, csc_matrix, csr_matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from headrace.array.array import Array


def _of_rows(made: _core.Sparse, format: str | None) -> Any:
    return csr_matrix(made).asformat(format or "csr")


def _alike(blocks: Sequence[Any], dtype: npt.DTypeLike | None) -> list[csr_matrix]:
    """Matrices by rows, of one dtype."""
    made = [csr_matrix(block) for block in blocks]
    common = np.result_type(*(str(each.dtype) for each in made)) if dtype is None else dtype
    return [each if each.dtype == common else each.astype(common) for each in made]


def vstack(
    blocks: Sequence[Any], format: str | None = None, dtype: npt.DTypeLike | None = None
) -> Any:
    """Matrices below each other, sparse or dense, by rows unless `format` says otherwise.

    >>> hr.tensor.vstack([hr.tensor.eye(2), [[3.0, 4.0]]]).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]]
    """
    return bmat([[block] for block in blocks], format, dtype)


def hstack(
    blocks: Sequence[Any], format: str | None = None, dtype: npt.DTypeLike | None = None
) -> Any:
    """Matrices side by side, sparse or dense, by rows unless `format` says otherwise.

    >>> hr.tensor.hstack([hr.tensor.eye(2), [[3.0], [4.0]]]).toarray().tolist()
    [[1.0, 0.0, 3.0], [0.0, 1.0, 4.0]]
    """
    return bmat([list(blocks)], format, dtype)


def bmat(
    blocks: Sequence[Sequence[Any]], format: str | None = None, dtype: npt.DTypeLike | None = None
) -> Any:
    """A matrix of blocks, row of blocks by row; None is a block without entries.

    >>> hr.tensor.bmat([[[[1.0]], None], [None, [[2.0]]]]).toarray().tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    rows = [[None if b is None else csr_matrix(b) for b in row] for row in blocks]
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise InvalidArgumentError(
            f"bmat: rows of blocks, all as long: lengths={[len(row) for row in rows]}"
        )
    heights = [max((b.shape[0] for b in row if b is not None), default=-1) for row in rows]
    across = list(zip(*rows, strict=True))
    widths = [max((b.shape[1] for b in column if b is not None), default=-1) for column in across]
    if -1 in heights + widths:
        raise InvalidArgumentError("bmat: a row or column of blocks has None alone")
    kinds = [str(b.dtype) for row in rows for b in row if b is not None]
    common = np.result_type(*kinds).name if dtype is None else dtype
    made = []
    for height, row in zip(heights, rows, strict=True):
        parts = [
            csr_matrix((height, width), dtype=common) if b is None else b.astype(common)
            for width, b in zip(widths, row, strict=True)
        ]
        mark("hstack")
        only = parts[0]._matrix
        made.append(
            only if len(parts) == 1 else _core.sparse_stack_columns([p._matrix for p in parts])
        )
    mark("vstack")
    return _of_rows(made[0] if len(made) == 1 else _core.sparse_stack_rows(made, False), format)


def block_diag(
    mats: Sequence[Any], format: str | None = None, dtype: npt.DTypeLike | None = None
) -> Any:
    """Matrices along the diagonal; a number is a matrix of one element.

    >>> hr.tensor.block_diag([[[1.0, 2.0]], 3.0]).toarray().tolist()
    [[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]]
    """
    blocks = _alike([[[m]] if np.isscalar(m) else m for m in mats], dtype)
    mark("block_diag")
    made = _core.sparse_stack_rows([block._matrix for block in blocks], True)
    return _of_rows(made, format)


def kron(A: Any, B: Any, format: str | None = None) -> Any:  # noqa: N803
    """The Kronecker product: each element of `A` times all of `B`.

    >>> hr.tensor.kron([[1.0, 2.0]], [[1.0], [3.0]]).toarray().tolist()
    [[1.0, 2.0], [3.0, 6.0]]
    """
    left, right = _alike([A, B], None)
    mark("kron")
    return _of_rows(_core.sparse_kron(left._matrix, right._matrix), format)


def eye(
    m: int,
    n: int | None = None,
    k: int = 0,
    dtype: npt.DTypeLike = "float64",
    format: str | None = None,
) -> Any:
    """Ones on a diagonal, by default the main one of a square.

    >>> hr.tensor.eye(2, 3, k=1).toarray().tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    n = m if n is None else n
    if not -m < k < n:
        return csr_matrix((m, n), dtype=dtype).asformat(format)
    return diags([1.0], [k], shape=(m, n), format=format, dtype=dtype)


def identity(n: int, dtype: npt.DTypeLike = "float64", format: str | None = None) -> Any:
    """Ones on the diagonal of a square.

    >>> hr.tensor.identity(2).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return eye(n, dtype=dtype, format=format)


def diags(
    diagonals: Any,
    offsets: Any = 0,
    shape: tuple[int, int] | None = None,
    format: str | None = None,
    dtype: npt.DTypeLike | None = None,
) -> Any:
    """A matrix of diagonals; that of offset `k` begins in column `k`, or in row ``-k``.

    A diagonal of one value fills all of its places; zeros are no entries.

    >>> hr.tensor.diags([[1.0, 2.0], [5.0]], [0, 1]).toarray().tolist()
    [[1.0, 5.0], [0.0, 2.0]]
    """
    if np.isscalar(offsets) and (not len(diagonals) or np.isscalar(diagonals[0])):
        diagonals = [diagonals]
    lines = [np.atleast_1d(np.asarray(line)) for line in diagonals]
    shifts = [int(k) for k in np.atleast_1d(offsets)]
    if len(lines) != len(shifts) or len(set(shifts)) < len(shifts):
        raise InvalidArgumentError(
            f"diags: an offset of its own for each diagonal: diagonals={len(lines)}, "
            f"offsets={shifts}"
        )
    if shape is None:
        side = len(lines[0]) + abs(shifts[0]) if lines else 0
        shape = side, side
    if dtype is None:
        dtype = np.result_type(*lines) if lines else np.dtype("float64")
    rows, columns, values = [], [], []
    for line, k in zip(lines, shifts, strict=True):
        length = min(shape[0] + min(k, 0), shape[1] - max(k, 0))
        if length < 0 or len(line) not in (1, length):
            raise InvalidArgumentError(
                f"diags: a diagonal that does not fit: offset={k}, values={len(line)}, "
                f"shape={tuple(shape)}, places={max(length, 0)}"
            )
        place = np.arange(length)
        rows.append(place - min(k, 0))
        columns.append(place + max(k, 0))
        values.append(np.broadcast_to(line, length))
    empty = [np.zeros(0, np.int64)]
    data = np.concatenate(values or [np.zeros(0)])
    parts = data, (np.concatenate(rows or empty), np.concatenate(columns or empty))
    made = csr_matrix(parts, shape, dtype)
    made.eliminate_zeros()
    return made.asformat(format)


def tril(A: Any, k: int = 0, format: str | None = None) -> Any:  # noqa: N803
    """The entries on and below a diagonal.

    >>> hr.tensor.tril([[1, 2], [3, 4]]).toarray().tolist()
    [[1, 0], [3, 4]]
    """
    return _triangle(A, k, True, format)


def triu(A: Any, k: int = 0, format: str | None = None) -> Any:  # noqa: N803
    """The entries on and above a diagonal.

    >>> hr.tensor.triu([[1, 2], [3, 4]]).toarray().tolist()
    [[1, 2], [0, 4]]
    """
    return _triangle(A, k, False, format)


def _triangle(A: Any, k: int, lower: bool, format: str | None) -> Any:  # noqa: N803
    mark("tril" if lower else "triu")
    return _of_rows(_core.sparse_triangle(csr_matrix(A)._matrix, int(k), lower), format)


def random(
    m: int,
    n: int,
    density: float = 0.01,
    format: str | None = "coo",
    dtype: npt.DTypeLike | None = None,
    rng: Any = None,
    data_rvs: Callable[[int], Any] | None = None,
    *,
    random_state: Any = None,
) -> Any:
    """Uniform numbers in [0, 1) at ``density * m * n`` random places.

    The same places and numbers for a seed, for any number of threads; not those of SciPy.

    Parameters
    ----------
    rng, random_state : int or Generator, optional
        A seed, or what `hr.random.default_rng` makes.
    data_rvs : callable, optional
        Makes that many values.

    >>> hr.tensor.random(10, 10, density=0.2, rng=0).nnz
    20
    """
    if not 0 <= density <= 1:
        raise InvalidArgumentError(f"random: no share of places: density={density}; use 0 to 1")
    cells = m * n
    if cells >= 1 << 63:
        raise InvalidArgumentError(f"random: more places than can be numbered: shape={(m, n)}")
    draw = default_rng(random_state if rng is None else rng)
    wanted = round(density * cells)
    # The smaller of the places and their complement, drawn until enough differ.
    few = min(wanted, cells - wanted)
    places = np.zeros(0, np.int64)
    while len(places) < few:
        more = np.asarray(draw.integers(cells, size=2 * (few - len(places)) + 16))
        both, first = np.unique(np.concatenate([places, more]), return_index=True)
        places = both[np.argsort(first, kind="stable")][:few]
    places = np.sort(places)
    if few < wanted:
        places = np.delete(np.arange(cells), places)
    values = draw.random(wanted) if data_rvs is None else asarray(data_rvs(wanted))
    made = coo_matrix((values, (places // max(n, 1), places % max(n, 1))), (m, n), dtype)
    return made.asformat(format)


def find(A: Any) -> tuple[Array, Array, Array]:  # noqa: N803
    """Rows, columns and values of the elements that are not 0.

    >>> [part.tolist() for part in hr.tensor.find([[0, 5], [7, 0]])]
    [[0, 1], [1, 0], [5, 7]]
    """
    made = csr_matrix(A)
    made.sum_duplicates()
    made.eliminate_zeros()
    places = made.tocoo()
    return places.row, places.col, places.data


def norm(x: Any, ord: Any = None, axis: int | None = None) -> Any:
    """The norm of a sparse matrix, or of each column (``axis=0``) or row (``axis=1``).

    Parameters
    ----------
    ord : {None, "fro", inf, -inf, 1, -1}
        Of a matrix: Frobenius' by default, or the largest or smallest sum of rows (inf) or columns
        (1). Of rows and columns: any number, 2 by default.

    >>> hr.tensor.norm(hr.tensor.csr_matrix([[3.0, 0.0], [0.0, 4.0]]))
    5.0
    """
    made = x.tocsr() if isinstance(x, SparseMatrix) else csr_matrix(x)
    size = abs(made)
    if axis is None:
        if ord in (None, "fro"):
            return math.sqrt(float((size.data.astype("float64") ** 2).sum().item()))
        if ord not in (1, -1, math.inf, -math.inf):
            raise UnsupportedError(
                f"norm: no such norm: ord={ord!r}; use 'fro', 1, -1, inf or -inf"
            )
        sums = size.sum(axis=0 if abs(ord) == 1 else 1)
        return (sums.max() if ord > 0 else sums.min()) if len(sums) else 0.0
    if ord in (math.inf, -math.inf):
        return size.max(axis=axis) if ord > 0 else size.min(axis=axis)
    power = 2 if ord is None else ord
    if power == 0:
        return size.count_nonzero(axis=axis)
    return size.power(power, "float64").sum(axis=axis) ** (1 / power)


def save_npz(file: Any, matrix: Any, compressed: bool = True) -> None:
    """Write a sparse matrix to a ``.npz`` file of NumPy, which SciPy reads too.

    >>> import io
    >>> file = io.BytesIO()
    >>> hr.tensor.save_npz(file, hr.tensor.eye(3))
    >>> _ = file.seek(0)
    >>> hr.tensor.load_npz(file).nnz
    3
    """
    if not issparse(matrix) or matrix.format not in ("csr", "csc", "coo"):
        raise InvalidArgumentError(
            f"save_npz: no csr, csc or coo matrix: type={type(matrix).__name__}"
        )
    names = ("row", "col") if matrix.format == "coo" else ("indices", "indptr")
    parts: dict[str, Any] = {name: np.asarray(getattr(matrix, name)) for name in names}
    parts["data"] = np.asarray(matrix.data)
    shape = np.asarray(matrix.shape, np.int64)
    save = np.savez_compressed if compressed else np.savez
    save(file, format=np.bytes_(matrix.format), shape=shape, **parts)


def load_npz(file: Any) -> Any:
    """Read a sparse matrix from a ``.npz`` file of ours or of SciPy; its parts are checked.

    >>> import io
    >>> file = io.BytesIO()
    >>> hr.tensor.save_npz(file, hr.tensor.csc_matrix([[0, 2]]))
    >>> _ = file.seek(0)
    >>> hr.tensor.load_npz(file).format
    'csc'
    """
    with np.load(file, allow_pickle=False) as parts:
        if "format" not in parts or "shape" not in parts or "data" not in parts:
            raise InvalidArgumentError(f"load_npz: no sparse matrix: arrays={sorted(parts)}")
        format = parts["format"].item()
        format = format.decode("ascii") if isinstance(format, bytes) else str(format)
        shape, data = tuple(map(int, parts["shape"])), parts["data"]
        if format == "coo" and len(shape) == 2 and "row" in parts:
            return coo_matrix((data, (parts["row"], parts["col"])), shape)
        if format in ("csr", "csc") and len(shape) == 2:
            kind = csr_matrix if format == "csr" else csc_matrix
            return kind((data, parts["indices"], parts["indptr"]), shape)
    raise UnsupportedError(f"load_npz: no such layout: format={format!r}, shape={shape}")
