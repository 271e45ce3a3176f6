# SPDX-License-Identifier: Apache-2.0
"""Every word of sparse matrices against scipy.sparse, on random matrices of each layout.

More of them: python python/tests/test_sparse_like_scipy.py ROUNDS SEED
"""

import io
import sys
import warnings

import numpy as np
import pytest

import headrace as hr

sparse = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")
LAYOUTS = ["csr", "csc", "coo"]
DTYPES = ["float64", "float32", "int64"]


def dense(value):
    """What SciPy or we return, as a NumPy array without axes of length 1 in front of vectors."""
    if hr.tensor.issparse(value):
        value = value.toarray()
    return np.asarray(value)


def equal(ours, theirs, exact=True):
    ours, theirs = dense(ours), dense(theirs)
    if isinstance(theirs, np.matrix) or theirs.ndim != ours.ndim:
        theirs = np.asarray(theirs).reshape(ours.shape)
    assert ours.shape == theirs.shape
    if exact:
        np.testing.assert_array_equal(ours, theirs)
    else:
        bound = 1e-4 if theirs.dtype == np.float32 or ours.dtype == np.float32 else 1e-10
        np.testing.assert_allclose(ours, theirs, rtol=bound, atol=bound * 10)


def drawn(rng, shape=None, dtype=None, duplicates=True):
    """A random coo matrix of SciPy: a few values often, zeros and places that repeat among them."""
    rows, columns = shape or (int(rng.choice([0, 1, 2, 7, 30])), int(rng.choice([0, 1, 3, 9, 40])))
    entries = int(rng.integers(0, 3 * max(rows, columns) + 1)) if rows and columns else 0
    row, column = (rng.integers(0, max(size, 1), entries) for size in (rows, columns))
    if not duplicates and entries:
        row, column = np.unravel_index(np.unique(row * columns + column), (rows, columns))
    values = rng.integers(-3, 4, len(row)).astype(dtype or str(rng.choice(DTYPES)))
    return sparse.coo_matrix((values, (row, column)), (rows, columns))


def in_layout(theirs, layout, rng):
    """SciPy's matrix in a layout, its entries of rows at times unsorted and not yet added."""
    if layout == "coo" or rng.random() < 0.5:
        return theirs.asformat(layout)
    turned = theirs.T if layout == "csc" else theirs
    order = np.argsort(turned.row, kind="stable")
    pointers = np.searchsorted(turned.row[order], np.arange(turned.shape[0] + 1))
    parts = turned.data[order], turned.col[order], pointers.astype(np.int32)
    return getattr(sparse, f"{layout}_matrix")(parts, theirs.shape)


def pair(rng, shape=None, dtype=None, duplicates=True):
    theirs = drawn(rng, shape, dtype, duplicates)
    theirs = in_layout(theirs, str(rng.choice(LAYOUTS)), rng)
    ours = getattr(hr.tensor, f"{theirs.format}_matrix")(theirs)
    assert ours.format == theirs.format and ours.nnz == theirs.nnz and ours.dtype == theirs.dtype
    return ours, theirs


def check_layouts(rng):
    ours, theirs = pair(rng)
    assert repr(ours) == repr(theirs) and ours.shape == theirs.shape
    for layout in LAYOUTS:
        made, known = ours.asformat(layout), theirs.asformat(layout)
        assert made.format == layout and repr(made) == repr(known)
        equal(made, theirs)
        equal(made.T, known.T)
        assert made.T.format == known.T.format
        back = made.to_scipy()
        assert back.format == layout
        equal(back, theirs)
        assert getattr(hr.tensor, f"{layout}_matrix")(ours).format == layout
        equal(getattr(hr.tensor, f"{layout}_matrix")(theirs), theirs)
        equal(getattr(hr.tensor, f"{layout}_matrix")(theirs.toarray()), theirs)
    equal(ours.copy(), theirs)
    equal(ours.conj().real, theirs)
    equal(ours.todense(), theirs.toarray())
    dtype = str(rng.choice(DTYPES))
    equal(ours.astype(dtype), theirs.astype(dtype))


def check_places(rng):
    ours, theirs = pair(rng)
    theirs = theirs.copy()
    if ours.format != "coo":
        assert ours.has_sorted_indices == theirs.has_sorted_indices
        made, known = ours.copy(), theirs.copy()
        made.sort_indices()
        known.sort_indices()
        assert np.array_equal(made.indices, known.indices)
        assert np.array_equal(made.indptr, known.indptr)
    ours.sum_duplicates()
    theirs.sum_duplicates()
    assert ours.nnz == theirs.nnz
    equal(ours.data.sum(), theirs.data.sum())
    ours.eliminate_zeros()
    theirs.eliminate_zeros()
    assert ours.nnz == theirs.nnz == ours.count_nonzero() == theirs.count_nonzero()
    equal(ours, theirs)
    for made, known in zip(hr.tensor.find(ours), sparse.find(theirs), strict=True):
        assert sorted(made.tolist()) == sorted(known.tolist())
    row, column = ours.nonzero()
    assert np.count_nonzero(theirs.toarray()) == len(row) == len(column)


def check_reductions(rng):
    ours, theirs = pair(rng)
    for axis in (None, 0, 1, -1, -2):
        # Of copies: SciPy adds duplicates in place.
        equal(ours.getnnz(axis), theirs.copy().getnnz(axis))
        equal(ours.count_nonzero(axis), theirs.copy().count_nonzero(axis))
        equal(ours.sum(axis), theirs.copy().sum(axis))
        if 0 in theirs.shape:
            continue
        equal(ours.mean(axis), theirs.copy().mean(axis), exact=False)
        equal(ours.max(axis), theirs.copy().max(axis))
        equal(ours.min(axis), theirs.copy().min(axis))
    known = theirs.toarray()
    for k in range(-3, 4):
        equal(ours.diagonal(k), np.diagonal(known, k) if known.size else theirs.diagonal(k)[:0])
        equal(ours.trace(k), np.trace(known, k) if known.size else 0)


def check_elementwise(rng):
    ours, theirs = pair(rng)
    fresh = theirs.copy  # SciPy adds duplicates in place
    for word in ("expm1", "sign", "floor", "rint", "arctan", "tanh"):
        known = getattr(fresh().astype("f8"), word)()
        equal(getattr(ours.astype("float64"), word)(), known, exact=False)
    equal(ours * 2, fresh() * 2)
    equal(2.5 * ours, 2.5 * fresh())
    equal(-ours, -fresh())
    equal(abs(ours), abs(fresh()))
    equal(ours / 4, fresh() / 4)
    equal(ours.power(2), fresh().power(2))
    equal(ours + 0, theirs)
    other, others = pair(rng, theirs.shape)
    a, b = theirs.toarray(), others.toarray()
    equal(ours + b, theirs + b)
    equal(b - ours, b - theirs)
    for factor in (b, b[:1], b[:, :1]):
        equal(ours.multiply(factor), fresh().multiply(factor))
    if a.size:
        equal(ours.multiply(hr.tensor.csr_matrix(b[:1])), fresh().multiply(b[:1]))
    equal(ours / (np.abs(b) + 1.0), fresh() / (np.abs(b) + 1.0))
    equal(ours + other, theirs + others)
    equal(ours - other, theirs - others)
    equal(ours.multiply(other), theirs.multiply(others))
    equal(ours.maximum(other), np.maximum(a, b))
    equal(ours.minimum(other), np.minimum(a, b))
    made, known = ours + others, theirs + others
    assert made.format == known.format and made.dtype == known.dtype and made.nnz == known.nnz


def check_products(rng):
    ours, theirs = pair(rng)
    inner = theirs.shape[1]
    other, others = pair(rng, (inner, int(rng.choice([0, 1, 5, 33]))))
    made, known = ours @ other, theirs @ others
    assert made.format == known.format and made.dtype == known.dtype
    equal(made, known)
    equal(ours @ others, known)
    equal(ours.dot(other), known)
    for width in (None, 0, 1, 4):
        x = rng.integers(-3, 4, (inner,) if width is None else (inner, width)).astype("float64")
        equal(ours @ x, theirs @ x)
    x = rng.integers(-3, 4, (2, theirs.shape[0]))
    equal(x @ ours, x @ theirs)
    equal(x[0] @ ours, x[0] @ theirs)
    square, squares = pair(rng, (9, 9), "int64")
    for power in range(4):
        equal(square**power, squares**power)


def key_of(rng, count):
    kind = rng.integers(0, 5) if count else rng.integers(2, 5)
    if kind == 0:
        return int(rng.integers(-count, count))
    if kind == 1:
        return rng.integers(-count, count, int(rng.integers(1, 6)))
    if kind == 2:
        return rng.random(count) < 0.4
    first, stop = (int(each) for each in rng.integers(-count - 2, count + 3, 2))
    return slice(first, stop) if kind == 3 else slice(first, stop, int(rng.choice([-3, -1, 2])))


def check_selection(rng):
    ours, theirs = pair(rng)
    rows, columns = theirs.shape
    known = theirs.toarray()
    for _ in range(6):
        row, column = key_of(rng, rows), key_of(rng, columns)
        equal(ours[row], known[row])
        if isinstance(row, slice) or isinstance(column, slice | int | np.integer):
            made = ours[row, column]
            equal(made, known[row, column])
        if all(isinstance(key, np.ndarray) for key in (row, column)):
            equal(ours[np.ix_(row, column)], known[np.ix_(row, column)])
    if known.size:
        at = rng.integers(0, rows, 7), rng.integers(-columns, columns, 7)
        equal(ours[at], known[at])
        equal(ours[known > 1], known[known > 1])
        i, j = int(rng.integers(rows)), int(rng.integers(columns))
        equal(ours.getrow(i), known[i])
        equal(ours.getcol(j), known[:, j])
        assert ours.getcol(j).shape == (rows, 1) and ours[i, j] == known[i, j]


def check_makers(rng):
    dtype = str(rng.choice(DTYPES))
    size = int(rng.choice([1, 4, 20]))
    blocks = [pair(rng, (size, int(rng.choice([1, 3, 8]))), dtype) for _ in range(3)]
    mine, others = zip(*blocks, strict=True)
    equal(hr.tensor.hstack(mine), sparse.hstack(others))
    turned = [each.T for each in mine], [each.T for each in others]
    equal(hr.tensor.vstack(turned[0]), sparse.vstack(turned[1]))
    equal(hr.tensor.block_diag([*mine, 3]), sparse.block_diag([*others, 3]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grid = [[mine[0], None], [None, mine[1]]]
        equal(hr.tensor.bmat(grid), sparse.bmat([[others[0], None], [None, others[1]]]))
        k = int(rng.integers(-4, 5))
        shape = int(rng.integers(0, 6)), int(rng.integers(0, 6))
        equal(hr.tensor.eye(*shape, k), np.eye(*shape, k))
        line = rng.integers(0, 3, size)
        equal(hr.tensor.diags(line, k), sparse.diags(line, k))
        pairs = [rng.integers(0, 3, size), rng.integers(0, 3, size + 1)]
        equal(hr.tensor.diags(pairs, [-1, 0]), sparse.diags(pairs, [-1, 0]))
    equal(hr.tensor.kron(mine[0], mine[1]), sparse.kron(others[0], others[1]))
    k = int(rng.integers(-3, 4))
    equal(hr.tensor.tril(mine[2], k), sparse.tril(others[2], k))
    equal(hr.tensor.triu(mine[2], k), sparse.triu(others[2], k))
    for ord in (None, "fro", 1, -1, np.inf, -np.inf):
        equal(hr.tensor.norm(mine[0], ord), linalg.norm(others[0].astype("f8"), ord), exact=False)
    for axis in (0, 1):
        for ord in (None, 1, 2, 3, np.inf, 0):
            known = np.linalg.norm(others[0].toarray().astype("f8"), ord, axis=axis)
            equal(hr.tensor.norm(mine[0], ord, axis), known, exact=False)


def check_files(rng):
    ours, theirs = pair(rng)
    for word in ("ours", "theirs"):
        file = io.BytesIO()
        compressed = bool(rng.integers(2))
        if word == "ours":
            hr.tensor.save_npz(file, ours, compressed)
        else:
            sparse.save_npz(file, theirs, compressed)
        for read in (hr.tensor.load_npz, sparse.load_npz):
            file.seek(0)
            made = read(file)
            assert made.format == theirs.format and made.nnz == theirs.nnz
            equal(made, theirs)


CHECKS = [value for name, value in globals().items() if name.startswith("check_")]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("check", CHECKS)
def test_words_are_scipys(check, seed):
    check(np.random.default_rng([seed, CHECKS.index(check)]))


if __name__ == "__main__":
    rounds, seed = (int(word) for word in [*sys.argv[1:], "100", "0"][:2])
    for number in range(rounds):
        for check in CHECKS:
            try:
                check(np.random.default_rng([seed, number, CHECKS.index(check)]))
            except Exception:
                print(f"{check.__name__} fails: seed={seed}, round={number}")
                raise
