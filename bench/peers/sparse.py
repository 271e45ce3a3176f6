# SPDX-License-Identifier: Apache-2.0
"""Sparse matrices and vectorizers compared with SciPy and scikit-learn: ./dev bench sparse."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import scipy.sparse
from measure import Bench, Rival, close_to, run
from sklearn.feature_extraction import text

import headrace as hr

PACKAGES = ["numpy", "scipy", "scikit-learn"]
ENTRIES = 10  # of a row
WORDS = 30_000


def equal_matrices(ours: Any, theirs: Any) -> str:
    """Compare sparse matrices entry by entry, to 1e-14."""
    made, known = ours.to_scipy().sorted_indices(), theirs.tocsr().sorted_indices()
    np.testing.assert_array_equal(made.indptr, known.indptr)
    np.testing.assert_array_equal(made.indices, known.indices)
    np.testing.assert_allclose(made.data, known.data, rtol=1e-14)
    return "equal places, values to 1e-14"


def matrices(bench: Bench, rows: int) -> None:
    """Products and changes of layout of a random matrix."""
    rng = np.random.default_rng(1)
    columns = np.sort(rng.integers(0, rows, (rows, ENTRIES)), axis=1).astype(np.int32).ravel()
    pointers = np.arange(0, len(columns) + 1, ENTRIES, dtype=np.int32)
    theirs = scipy.sparse.csr_matrix(
        (rng.normal(size=len(columns)), columns, pointers), (rows, rows)
    )
    theirs.sum_duplicates()
    ours, nnz = hr.tensor.csr_matrix(theirs), theirs.nnz
    for width in (1, 8, 32):
        x = rng.normal(size=(rows, width) if width > 1 else rows)
        bench.step(
            f"csr @ {width} columns",
            lambda x=x: np.asarray(ours @ x),
            [Rival("scipy", lambda x=x: theirs @ x, 1)],
            close_to(1e-14),
            12 * nnz + 2 * x.nbytes,
            nnz,
        )
    coordinates = theirs.tocoo()
    parts = coordinates.data, (coordinates.row, coordinates.col)
    mixed = rng.permutation(nnz)
    mixed_parts = parts[0][mixed], (parts[1][0][mixed], parts[1][1][mixed])
    scipys = scipy.sparse.coo_matrix(mixed_parts, theirs.shape)
    bands = scipy.sparse.diags(
        [np.full(rows, float(k)) for k in range(1, ENTRIES + 1)],
        list(range(-ENTRIES // 2, ENTRIES // 2)),
        shape=(rows, rows),
        format="csr",
    )
    banded, x = hr.tensor.csr_matrix(bands), rng.normal(size=rows)
    small = theirs[: rows // 10, : rows // 10]
    mine = hr.tensor.csr_matrix(small)
    for title, call, rival, bar, bytes_moved in [
        ("csr transposed", lambda: ours.T.tocsr(), lambda: theirs.T.tocsr(), 4, 24 * nnz),
        (
            "csr of sorted coordinates",
            lambda: hr.tensor.csr_matrix(parts, shape=theirs.shape),
            coordinates.tocsr,
            4,
            28 * nnz,
        ),
        (
            "csr of coordinates",
            lambda: hr.tensor.csr_matrix(mixed_parts, shape=theirs.shape),
            scipys.tocsr,
            4,
            28 * nnz,
        ),
        ("banded transposed", lambda: banded.T.tocsr(), lambda: bands.T.tocsr(), 4, 24 * nnz),
        ("banded @ banded", lambda: banded @ banded, lambda: bands @ bands, 3, 48 * nnz),
        ("csr @ csr", lambda: mine @ mine, lambda: small @ small, 3, 24 * small.nnz),
        ("csr + csr", lambda: ours + banded, lambda: theirs + bands, 1, 48 * nnz),
    ]:
        bench.step(title, call, [Rival("scipy", rival, bar)], equal_matrices, bytes_moved, nnz)
    bench.step(
        "banded @ vector",
        lambda: np.asarray(banded @ x),
        [Rival("scipy", lambda: bands @ x, 3)],
        close_to(1e-14),
        12 * nnz + 2 * x.nbytes,
        nnz,
    )


def documents(bench: Bench, rows: int) -> None:
    """Vectorizers of documents of 100 words, which are as common as in a language (Zipf)."""
    rng = np.random.default_rng(2)
    letters = np.array(list("etaoinshrdlucmfwypvbgkqjxz"))
    words = np.array(["".join(rng.choice(letters, size)) for size in rng.integers(2, 11, WORDS)])
    chances = 1 / np.arange(1, WORDS + 1)
    docs = [" ".join(words[rng.choice(WORDS, 100, p=chances / chances.sum())]) for _ in range(rows)]
    column = hr.Series(docs)
    for title, name, options in [
        ("count", "CountVectorizer", {}),
        ("count pairs", "CountVectorizer", {"ngram_range": (1, 2)}),
        ("count characters", "CountVectorizer", {"analyzer": "char_wb", "ngram_range": (3, 3)}),
        ("hash", "HashingVectorizer", {}),
        ("tf-idf", "TfidfVectorizer", {}),
    ]:
        ours, theirs = (getattr(room, name)(**options) for room in (hr.learn, text))
        bench.step(
            f"{title} words" if " " not in title else title,
            lambda ours=ours: ours.fit_transform(column),
            [Rival("scikit-learn", lambda theirs=theirs: theirs.fit_transform(docs), 10)],
            equal_matrices,
            sum(map(len, docs)),
            100 * rows,
        )


def steps(bench: Bench, rows: int) -> None:
    """Measure matrices of `rows` rows, and a hundredth as many documents."""
    matrices(bench, rows)
    documents(bench, max(rows // 100, 100))


if __name__ == "__main__":
    sys.exit(run("sparse", __doc__, PACKAGES, steps))
