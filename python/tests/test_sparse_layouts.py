# SPDX-License-Identifier: Apache-2.0
"""Changes of layout, sums and products of sparse matrices against SciPy, over many shapes."""

import numpy as np
import pytest

import headrace as hr

sparse = pytest.importorskip("scipy.sparse")

# Rows, columns, entries: below and above blocks of 2048, chunks of 2^14 and morsels of 2^17.
SIZES = [
    (1, 1, 1),
    (5, 3, 0),
    (64, 65, 63),
    (3, 900, 2047),
    (900, 3, 2049),
    (40_000, 70, 9_000),
    (300, 100_000, 140_000),
    (60_000, 50_000, 400_000),
]
DTYPES = ["float64", "float32", "int64"]


def bits(matrix):
    parts = (matrix.indptr, matrix.indices, matrix.data)
    return [np.asarray(part).tobytes() for part in parts]


def check(call, known, canonical=True):
    """The matrix that SciPy made, entry by entry, and the same bits for any number of threads."""
    made = []
    for threads in (1, 2, 4):
        with hr.threads(threads):
            made.append(call())
    assert all(bits(made[0]) == bits(other) for other in made[1:])
    ours = made[0].to_scipy()
    if canonical:
        known = known.copy()
        known.sum_duplicates()
    assert ours.shape == known.shape and ours.dtype == known.dtype
    np.testing.assert_array_equal(ours.indptr, known.indptr)
    np.testing.assert_array_equal(ours.indices, known.indices)
    np.testing.assert_array_equal(ours.data, known.data)


def numbers(rng, count, dtype):
    """Whole numbers, whose sums are exact, and some zeros."""
    return rng.integers(-3, 4, count).astype(dtype)


@pytest.mark.parametrize("places", ["int32", "int64"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows, columns, entries", SIZES)
def test_coordinates(rows, columns, entries, dtype, places):
    rng = np.random.default_rng(entries)
    row = rng.integers(0, rows, entries).astype(places)
    column = rng.integers(0, columns, entries).astype(places)
    data = numbers(rng, entries, dtype)
    once = np.unique(np.stack([row, column]), axis=1)
    orders = {
        "random": (row, column),
        "by row": (np.sort(row), column),
        "by row and column": tuple(np.stack([row, column])[:, np.lexsort((column, row))]),
        "by column": tuple(np.stack([row, column])[:, np.argsort(column, kind="stable")]),
        "once": tuple(once),
        "backwards": tuple(once[:, ::-1]),
        "last rows": (np.full(entries, rows - 1, places), column),
        "a hub": (np.sort(np.where(row % 3 == 0, row, rows // 2)), column),
    }
    for name, (r, c) in orders.items():
        values, shape = data[: len(r)], (rows, columns)
        known = sparse.coo_matrix((values, (r, c)), shape)
        check(lambda: hr.tensor.csr_matrix((values, (r, c)), shape), known.tocsr()), name
        check(lambda: hr.tensor.csc_matrix((values, (r, c)), shape), known.tocsc()), name
        check(lambda: hr.tensor.coo_matrix((values, (r, c)), shape).tocsr(), known.tocsr()), name


@pytest.mark.parametrize("entry", [0, 2047, 2048, 300_000])
@pytest.mark.parametrize("row, column", [(-1, 0), (7, 0), (0, -1), (0, 9)])
def test_coordinates_outside_of_the_shape(entry, row, column):
    rows, columns = np.repeat(np.arange(7), 50_000), np.zeros(350_000, np.int64)
    rows[entry], columns[entry] = row, column
    with pytest.raises(hr.InvalidArgumentError, match=f"outside of the shape: entry={entry}, row"):
        hr.tensor.csr_matrix((np.ones(350_000), (rows, columns)), shape=(7, 9))
    assert hr.tensor.csr_matrix(([1.0], ([6], [8])), shape=(7, 9)).nnz == 1
