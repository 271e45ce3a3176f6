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
    (20_000, 70, 9_000),
    (300, 9_000, 140_000),
    (20_000, 30_000, 180_000),
]
DTYPES = ["float64", "float32", "int64"]
CASES = [
    (*size, dtype)
    for i, size in enumerate(SIZES)
    for k, dtype in enumerate(DTYPES)
    if i == 4 or i % 3 == k
]


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
@pytest.mark.parametrize("rows, columns, entries, dtype", CASES)
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


def random_rows(rng, rows, columns, entries, dtype, band=None):
    """Unsorted rows with entries of one place, some rows without any."""
    row = np.sort(rng.integers(0, rows, entries))
    row = np.where(row % 5 == 3, row // 2, row)
    row.sort()
    column = rng.integers(0, columns, entries)
    if band is not None:
        column = np.clip(
            row * columns // rows + rng.integers(-band, band + 1, entries), 0, columns - 1
        )
    pointers = np.searchsorted(row, np.arange(rows + 1)).astype(np.int32)
    parts = numbers(rng, entries, dtype), column.astype(np.int32), pointers
    return sparse.csr_matrix(parts, (rows, columns))


@pytest.mark.parametrize("band", [None, 0, 30, 5000])
@pytest.mark.parametrize("rows, columns, entries, dtype", CASES)
def test_transpose(rows, columns, entries, band, dtype):
    rng = np.random.default_rng(entries)
    theirs = random_rows(rng, rows, columns, entries, dtype, band)
    ours = hr.tensor.csr_matrix(theirs)
    check(lambda: ours.tocsc(), theirs.tocsc(), canonical=False)
    check(lambda: ours.T.tocsr(), theirs.T.tocsr(), canonical=False)
    cut = slice(rows // 4, rows - rows // 3)
    check(lambda: ours[cut].tocsc(), theirs[cut].tocsc(), canonical=False)
    wide = [part.astype(np.int64) for part in (theirs.indices, theirs.indptr)]
    check(
        lambda: hr.tensor.csr_matrix((theirs.data, *wide), theirs.shape).tocsc(),
        theirs.tocsc(),
        canonical=False,
    )


def test_transpose_of_a_band_with_a_hub():
    rng = np.random.default_rng(5)
    theirs = random_rows(rng, 60_000, 60_000, 600_000, "float64", 20)
    hub = np.arange(0, 60_000, 7)
    places = sparse.coo_matrix((np.ones(len(hub)), (hub, np.full(len(hub), 999))), theirs.shape)
    theirs = theirs + places.tocsr()
    for known in (theirs, theirs.T.tocsr()):
        ours = hr.tensor.csr_matrix(known)
        check(lambda: ours.tocsc(), known.tocsc(), canonical=False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "rows, columns, diagonals",
    [
        (1, 1, [0]),
        (64, 65, [-3, -2, -1, 0, 1]),
        (90_000, 90_000, range(-5, 5)),
        (90_000, 30_000, range(-7, 2)),  # the last rows have no entries
        (30_000, 90_000, range(40_000, 40_009)),
        (500, 500, range(-499, 500)),  # every element
        (40_000, 40_000, [0, 1, 3]),  # no band
        (2_000, 4, range(-2_000, 4)),
    ],
)
def test_transpose_of_bands(rows, columns, diagonals, dtype):
    values = [np.arange(max(rows, columns)) + float(k) for k in diagonals]
    known = sparse.diags(values, list(diagonals), (rows, columns), "csr").astype(dtype)
    for theirs in (known, known[rows // 3 :], known[:, columns // 3 :]):
        ours = hr.tensor.csr_matrix(theirs)
        check(lambda: ours.tocsc(), theirs.tocsc(), canonical=False)


def test_transpose_of_rows_of_neighbouring_columns():
    """Steps, gaps between rows and rows of any length; then one row that spoils the band."""
    rng = np.random.default_rng(8)
    first = np.cumsum(rng.integers(0, 4, 50_000)) + (np.arange(50_000) > 25_000) * 1000
    last = np.maximum.accumulate(first + rng.integers(0, 40, 50_000))
    lengths = last - first + 1
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.arange(pointers[-1]) - np.repeat(pointers[:-1] - first, lengths)
    shape = (50_000, int(last[-1]) + 3)
    for at, column in [(0, 0), (900_000, 3), (900_000, shape[1] - 1)]:
        spoiled = columns.copy()
        if at:
            spoiled[at] = column
        theirs = sparse.csr_matrix((rng.normal(size=len(columns)), spoiled, pointers), shape)
        ours = hr.tensor.csr_matrix(theirs)
        check(lambda: ours.tocsc(), theirs.tocsc(), canonical=False)


@pytest.mark.parametrize("word", ["+", "-", "multiply", "maximum", "minimum"])
@pytest.mark.parametrize("rows, columns, entries, dtype", CASES)
def test_sums(rows, columns, entries, word, dtype):
    """Entries of one place and zeros, also those that cancel, are no entries of the result."""
    rng = np.random.default_rng(entries)
    first = random_rows(rng, rows, columns, entries, dtype)
    others = [
        random_rows(rng, rows, columns, entries // 3, dtype, 40),
        sparse.csr_matrix((rows, columns), dtype=dtype),
        -first,
        first[::-1].tocsr(),
    ]
    words = {"+": lambda a, b: a + b, "-": lambda a, b: a - b}
    call = words.get(word, lambda a, b: getattr(a, word)(b))
    for second in others:
        pair = [made.copy() for made in (first, second)]
        for made in pair:
            made.sum_duplicates()  # SciPy's minimum of entries of one place is of each
        known = call(*pair)
        known.eliminate_zeros()
        ours = [hr.tensor.csr_matrix(made) for made in (first, second)]
        check(lambda: call(*ours), known)
        check(lambda: call(*ours[::-1]), call(*pair[::-1]))


def test_sums_of_special_values():
    values = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 5.0])
    a = np.concatenate([np.repeat(values, 6), np.zeros(6), values])
    b = np.concatenate([np.tile(values, 6), values, np.zeros(6)])
    for dtype in ("float64", "float32"):
        x, y = a.reshape(6, 8).astype(dtype), b.reshape(6, 8).astype(dtype)
        ours = hr.tensor.csr_matrix(x), hr.tensor.csr_matrix(y)
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal((ours[0] + ours[1]).toarray(), x + y)
            np.testing.assert_array_equal((ours[0] - ours[1]).toarray(), x - y)


def known_product(left, right):
    """Every place that a product meets; SciPy leaves out those where products cancel to 0."""
    ones = [made.copy() for made in (left, right)]
    for made in ones:
        made.data = np.ones(made.nnz, made.dtype)
    known = ones[0] @ ones[1]
    known.sort_indices()
    known.data = (left @ right).toarray()[
        np.repeat(np.arange(known.shape[0]), np.diff(known.indptr)), known.indices
    ]
    return known


@pytest.mark.parametrize("band", [None, 0, 9, 300])
@pytest.mark.parametrize("rows, columns, entries, dtype", CASES)
def test_products(rows, columns, entries, band, dtype):
    rng = np.random.default_rng(entries)
    left = random_rows(rng, rows, columns, entries // 4, dtype, band)
    right = random_rows(rng, columns, 200, entries // 8, dtype, band)
    ours = hr.tensor.csr_matrix(left), hr.tensor.csr_matrix(right)
    right.sum_duplicates()
    check(lambda: ours[0] @ ours[1], known_product(left, right), canonical=False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 10, 16, 17, 32, 33, 70])
def test_products_of_bands(width, dtype):
    """Rows of 1 to 139 neighbouring columns; infinite and missing values stay in their columns."""
    n, rng = 3000, np.random.default_rng(width)
    offsets = list(range(-width // 2, width - width // 2))
    parts = [[rng.integers(-9, 9, n).astype(float) for _ in offsets] for _ in range(2)]
    left, right = (sparse.diags(part, offsets, (n, n), "csr").astype(dtype) for part in parts)
    right.data[right.indptr[7] : right.indptr[8]] = 0
    right.eliminate_zeros()
    if dtype != "int64":
        left.data[5000::997], right.data[5000::1500] = np.inf, np.nan
    ours = hr.tensor.csr_matrix(left), hr.tensor.csr_matrix(right)
    check(lambda: ours[0] @ ours[1], known_product(left, right), canonical=False)
    check(lambda: ours[1] @ ours[0], known_product(right, left), canonical=False)
