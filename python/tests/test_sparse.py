# SPDX-License-Identifier: Apache-2.0
"""hr.tensor.csr_matrix against SciPy: forms, products, rows, errors; threads change nothing."""

import gc
import pickle

import numpy as np
import pytest

import headrace as hr

sparse = pytest.importorskip("scipy.sparse")
csr = hr.tensor.csr_matrix


def random_matrix(rows, columns, density, seed=0, dtype="float64"):
    rng = np.random.default_rng(seed)
    made = sparse.random(rows, columns, density, "csr", rng=rng, dtype="float64")
    made.data = (made.data * 200 - 100).astype(dtype)
    return made


def same(ours, scipys):
    scipys = sparse.csr_matrix(scipys)
    assert ours.shape == scipys.shape and ours.dtype == scipys.dtype
    assert np.array_equal(np.asarray(ours.toarray()), scipys.toarray())


CASES = [
    (0, 0, 0.0),
    (0, 5, 0.0),
    (5, 0, 0.0),
    (1, 1, 1.0),
    (64, 65, 0.3),
    (3000, 70, 0.4),
    (300, 9000, 0.05),
]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("rows, columns, density", CASES)
def test_forms(rows, columns, density, dtype):
    matrix = random_matrix(rows, columns, density, dtype=dtype)
    same(csr(matrix), matrix)
    same(csr(matrix.toarray()), matrix)
    same(csr(csr(matrix)), matrix)
    parts = matrix.data, matrix.indices, matrix.indptr
    same(csr(parts, shape=matrix.shape), matrix)
    if matrix.nnz:
        coordinates = matrix.tocoo()
        same(csr((coordinates.data, (coordinates.row, coordinates.col)), matrix.shape), matrix)
    same(csr((rows, columns), dtype=dtype), sparse.csr_matrix((rows, columns), dtype=dtype))
    same(csr(matrix).T, matrix.T)
    same(csr(matrix.tocsc()), matrix)
    assert csr(matrix).nnz == matrix.nnz
    assert (csr(matrix).to_scipy() != matrix).nnz == 0


def test_scipys_memory_is_shared():
    matrix = random_matrix(2000, 300, 0.1)
    before = hr.memory.stats().used_bytes
    ours = csr(matrix)
    assert ours.to_scipy().shape == matrix.shape
    assert hr.memory.stats().used_bytes == before
    for mine, theirs in ((ours.data, matrix.data), (ours.indices, matrix.indices)):
        assert np.asarray(mine).ctypes.data == theirs.ctypes.data
    assert ours.to_scipy().data.ctypes.data == matrix.data.ctypes.data
    rows = ours[100:200]
    assert np.asarray(rows.data).ctypes.data == matrix[:100].nnz * 8 + matrix.data.ctypes.data
    same(rows, matrix[100:200])
    same(rows[10:20], matrix[110:120])
    same(rows.T, matrix[100:200].T)
    same(rows * 2, matrix[100:200] * 2)


@pytest.mark.parametrize("layout", ["csr", "csc"])
@pytest.mark.parametrize("part", ["indices", "indptr"])
def test_writing_to_shared_places_is_an_error_and_no_crash(layout, part):
    """SciPy's memory is shared, so what is written to it is checked whenever it is read."""
    calls = {
        "@": lambda m: np.asarray(m @ np.ones(300)),
        "@ columns": lambda m: np.asarray(m @ np.ones((300, 3))),
        "T @": lambda m: np.asarray(m.T @ np.ones(300)),
        "m @ m": lambda m: m @ m,
        "good @ m": lambda m: csr(random_matrix(300, 300, 0.05)) @ m,
        "m + m": lambda m: m + csr(random_matrix(300, 300, 0.05)).asformat(layout),
        "tocsc": lambda m: m.tocsc().tocsr() if layout == "csr" else m.tocsr(),
        "toarray": lambda m: m.toarray(),
        "rows": lambda m: m[[3, 1]],
        "columns": lambda m: m[:, [3, 1]],
        "elements": lambda m: m[[3, 1], [2, 5]],
        "sum": lambda m: m.sum(axis=0),
        "getnnz": lambda m: np.asarray(m.getnnz(axis=1 if layout == "csc" else 0)),
        "sort": lambda m: m.sort_indices(),
        "stack": lambda m: hr.tensor.hstack([m, m]) if hasattr(hr.tensor, "hstack") else m @ m,
        "learn": lambda m: hr.learn.LogisticRegression().fit(m.tocsr(), np.arange(300) % 2),
    }
    for name, call in calls.items():
        theirs = random_matrix(300, 300, 0.1).asformat(layout)
        ours = getattr(hr.tensor, f"{layout}_matrix")(theirs)
        call(ours)
        theirs.sort_indices()
        getattr(theirs, part)[10:200] = 2**31 - 1
        try:
            call(ours)
        except hr.InvalidArgumentError as error:
            assert "outside of the shape" in str(error) or "indptr" in str(error), name
        else:
            assert name in ("sort", "sum", "getnnz"), name  # these need no places, or had made them
    assert np.asarray(csr(random_matrix(300, 300, 0.1)) @ np.ones(300)).shape == (300,)


def test_errors_name_the_layout():
    csc = hr.tensor.csc_matrix
    with pytest.raises(hr.InvalidArgumentError, match=r"csc_matrix: .*row=9, column=1"):
        csc(([1.0, 2.0], [0, 9], [0, 1, 2]), shape=(3, 2))
    with pytest.raises(IndexError, match="csc_matrix: there is no such row: row=7"):
        csc(np.eye(3))[7, 0]
    with pytest.raises(hr.InvalidArgumentError, match="csc_matrix: the shape is not"):
        csc(np.eye(3), shape=(2, 2))


def test_duplicates_are_added_in_their_order():
    rng = np.random.default_rng(3)
    n = 100_000
    places, values = (rng.integers(0, 50, n), rng.integers(0, 70, n)), rng.normal(size=n)
    expected = np.zeros((50, 70))
    np.add.at(expected, places, values)
    ours = csr((values, places), shape=(50, 70))
    assert np.array_equal(np.asarray(ours.toarray()), expected) and ours.nnz == 3500
    unsorted = csr((values, places[1], np.arange(0, n + 1, n // 50)), shape=(50, 70))
    theirs = sparse.csr_matrix((values, places[1], np.arange(0, n + 1, n // 50)), shape=(50, 70))
    assert np.array_equal(np.asarray(unsorted.toarray()), theirs.toarray())
    x = rng.normal(size=70)
    assert np.allclose(np.asarray(unsorted @ x), theirs @ x, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("order", ["band", "gaps", "reversed", "same"])
def test_four_sums_of_runs_of_columns(order, dtype, index):
    """Runs, broken runs, columns that fall and columns that come again have one order of sums."""
    rng, rows, columns = np.random.default_rng(5), 40, 60
    lengths = np.arange(rows) % 23
    pointers = np.r_[0, lengths.cumsum()].astype(index)
    step = {"band": 1, "gaps": 1, "reversed": -1, "same": 0}[order]
    places = [30 + step * np.arange(n) + (order == "gaps") * (np.arange(n) > 5) for n in lengths]
    data = rng.normal(size=pointers[-1], scale=1e3).astype(dtype)
    x = rng.normal(size=columns, scale=1e3).astype(dtype)
    ours = csr((data, np.concatenate(places).astype(index), pointers), shape=(rows, columns))
    expected = np.zeros(rows, dtype)
    for row, at in enumerate(places):
        sums = np.zeros(4, dtype)
        for k, (value, factor) in enumerate(zip(data[pointers[row] :], x[at], strict=False)):
            sums[k % 4] += value * factor
        expected[row] = (sums[0] + sums[1]) + (sums[2] + sums[3])
    for threads in (1, 2, 4):
        with hr.threads(threads):
            assert np.array_equal(np.asarray(ours @ x), expected)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("rows, columns, density", CASES)
def test_products(rows, columns, density, dtype):
    matrix = random_matrix(rows, columns, density, seed=1, dtype=dtype)
    ours, rng = csr(matrix), np.random.default_rng(2)
    close = {
        "rtol": 2e-4 if dtype == "float32" else 1e-11,
        "atol": 0.1 if dtype == "float32" else 1e-9,
    }
    for width in (None, 0, 1, 3, 8, 45):
        shape = (columns,) if width is None else (columns, width)
        x = rng.normal(size=shape).astype(dtype) if dtype != "int64" else rng.integers(-9, 9, shape)
        made = ours @ x
        assert made.dtype == dtype and made.shape == (matrix @ x).shape
        assert np.allclose(np.asarray(made), matrix @ x, **close)
    left = np.ones((2, rows), dtype)
    assert np.allclose(np.asarray(left @ ours), left @ matrix, **close)
    for axis in (0, 1, None):
        assert np.allclose(
            np.asarray(ours.sum(axis)), np.asarray(matrix.sum(axis)).ravel(), **close
        )


def test_integers_wrap():
    most = np.array([2**63 - 1, 1])
    ours = csr((most, ([0, 0], [0, 0])), shape=(1, 1))
    assert ours.toarray().tolist() == [[-(2**63)]]
    assert csr((most, [0, 0], [0, 2]), shape=(1, 1)).toarray().tolist() == [[-(2**63)]]


def test_dtypes_meet():
    matrix = random_matrix(30, 20, 0.5, dtype="int64")
    assert (csr(matrix) @ np.ones(20)).dtype == "float64"
    assert (csr(matrix.astype("float32")) @ np.ones(20)).dtype == "float64"
    assert csr(matrix.astype("int8")).dtype == "int64" and csr(matrix != 0).dtype == "int64"
    assert (csr(matrix) / 4).dtype == "float64" and (csr(matrix) * 0.5).dtype == "float64"
    same(-csr(matrix) * 3, -matrix * 3)
    same(np.float64(2) * csr(matrix.astype("float64")), matrix * 2.0)
    x = np.asfortranarray(np.random.default_rng(1).normal(size=(20, 6)))
    assert np.allclose(np.asarray(csr(matrix) @ x), matrix @ x)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_change_nothing(threads):
    matrix = random_matrix(20_000, 500, 0.05, seed=5)
    x = np.random.default_rng(4).normal(size=(500, 7))

    def made():
        ours = csr(matrix)
        coordinates = matrix.tocoo()
        again = csr((coordinates.data, (coordinates.col, coordinates.row)))
        results = [ours @ x, ours @ x[:, 0], ours.T.data, again.data, ours.sum(axis=0)]
        return [np.asarray(result).tobytes() for result in results]

    expected = made()
    with hr.threads(threads):
        assert made() == expected


def test_rows():
    matrix = random_matrix(50, 40, 0.3)
    ours = csr(matrix)
    mask = np.arange(50) % 3 == 0
    for key in (3, -1, slice(2, 9), slice(40, 5, -3), [4, 4, -2, 0], mask, np.array([], int)):
        same(ours[key], matrix[key])
    for key in ((slice(1, 9), slice(3, 7)), (slice(None), [5, 2]), ([1, 2], 3)):
        same(ours[key], matrix[key])
    assert ours[3, 4] == matrix[3, 4] and ours[-1, -1] == matrix[-1, -1]
    same(ours[hr.asarray([1, 2])], matrix[[1, 2]])
    assert [row.nnz for row in ours] == [row.nnz for row in matrix]
    same(pickle.loads(pickle.dumps(ours[5:9])), matrix[5:9])
    assert repr(ours) == repr(matrix) and str(ours[:3, :9]) == str(matrix[:3, :9])


def test_a_frame():
    frame = hr.DataFrame({"a": [0.0, 2.0], "b": [3.0, 0.0]})
    same(csr(frame), np.array([[0.0, 3.0], [2.0, 0.0]]))


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_change_no_word(threads):
    matrix = random_matrix(4000, 3000, 0.01, seed=6)
    other = random_matrix(3000, 4000, 0.01, seed=7)
    x = np.random.default_rng(8).normal(size=4000)

    def made():
        ours, right = csr(matrix), csr(other)
        results = [ours @ right, right @ ours, ours + right.T, ours.multiply(right.T), ours.tocsc()]
        results += [ours[:, ::2], hr.tensor.vstack([ours, ours]), hr.tensor.tril(ours)]
        arrays = [ours.T @ x, ours.max(axis=0), ours.mean(axis=1)]
        parts = [part for made in results for part in (made.data, made.indices, made.indptr)]
        return [np.asarray(part).tobytes() for part in parts + arrays]

    expected = made()
    with hr.threads(threads):
        assert made() == expected


def test_memory_is_shared_by_every_layout():
    for layout in ("csr", "csc"):
        matrix = random_matrix(200, 300, 0.1).asformat(layout)
        for dtype in (np.int32, np.int64):
            matrix.indices, matrix.indptr = (
                matrix.indices.astype(dtype),
                matrix.indptr.astype(dtype),
            )
            ours = getattr(hr.tensor, f"{layout}_matrix")(matrix)
            for made in (ours, ours.T.T, ours.copy()):
                for word in ("data", "indices", "indptr"):
                    mine, theirs = np.asarray(getattr(made, word)), getattr(matrix, word)
                    assert mine.ctypes.data == theirs.ctypes.data and mine.dtype == theirs.dtype
    matrix = random_matrix(200, 300, 0.1).tocoo()
    ours = hr.tensor.coo_matrix(matrix)
    assert np.asarray(ours.col).ctypes.data == matrix.col.ctypes.data
    assert np.asarray(ours.tocsr().data).ctypes.data == matrix.data.ctypes.data  # sorted
    columns = hr.tensor.csc_matrix(random_matrix(50, 40, 0.3))
    first = np.asarray(columns[:, 7:9].data).ctypes.data
    assert first == np.asarray(columns.data).ctypes.data + 8 * int(columns.indptr[7])


def test_results_beyond_the_limit_say_their_bytes():
    ones = csr(np.ones((3000, 1)))
    gc.collect()
    with hr.memory.limit(hr.memory.stats().used_bytes + 40_000_000):
        for call in (
            lambda: ones @ ones.T,
            lambda: hr.tensor.kron(ones, ones.T),
            csr((100_000, 100_000)).toarray,
            lambda: csr((2**40, 2**40)),
        ):
            with pytest.raises(hr.OutOfMemoryError, match=r"bytes|MB|GB"):
                call()
        assert (ones.T @ ones).toarray().tolist() == [[3000.0]]


def test_files_that_lie():
    import io

    for change in (
        {"indices": np.array([0, 9])},
        {"indptr": np.array([0, 3, 2])},
        {"indptr": np.array([0, 2])},
        {"shape": np.array([2, 1])},
        {"format": np.bytes_("bsr")},
    ):
        file = io.BytesIO()
        parts = {"indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "data": np.ones(2)}
        parts |= {"shape": np.array([2, 2]), "format": np.bytes_("csr")}
        np.savez(file, **(parts | change))
        file.seek(0)
        with pytest.raises(hr.Error):
            hr.tensor.load_npz(file)


def test_in_place_words_leave_shared_memory_alone():
    matrix = sparse.csr_matrix((np.array([1.0, 0.0, 2.0]), np.array([1, 0, 1]), np.array([0, 3])))
    before = [part.copy() for part in (matrix.data, matrix.indices, matrix.indptr)]
    ours = csr(matrix)
    ours.sum_duplicates()
    ours.eliminate_zeros()
    assert ours.data.tolist() == [3.0] and ours.indices.tolist() == [1]
    for part, old in zip((matrix.data, matrix.indices, matrix.indptr), before, strict=True):
        assert np.array_equal(part, old)


def test_random_matrices():
    made = hr.tensor.random(300, 200, 0.05, "csr", rng=4)
    assert made.nnz == 3000 and made.has_canonical_format
    assert made.min() >= 0 and made.max() < 1 and 0.45 < float(made.data.mean()) < 0.55
    with hr.threads(2):
        again = hr.tensor.random(300, 200, 0.05, "csr", rng=4)
    same(again, made.to_scipy())
    assert hr.tensor.random(30, 20, 0.9, rng=1).nnz == 540
    assert hr.tensor.random(3, 4, 1, rng=1, data_rvs=np.ones).sum() == 12.0


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_models_take_every_layout(layout):
    theirs = random_matrix(60, 8, 0.5)
    theirs.data = abs(theirs.data)
    ours = getattr(hr.tensor, f"{layout}_matrix")(theirs)
    y = np.arange(60) % 2
    for name in (
        "TruncatedSVD",
        "MultinomialNB",
        "LogisticRegression",
        "Lasso",
        "TfidfTransformer",
    ):
        options = {"n_components": 3, "random_state": 0} if name == "TruncatedSVD" else {}
        results = []
        for rows in (ours, theirs):
            model = getattr(hr.learn, name)(**options).fit(rows, y)
            made = model.transform(rows) if hasattr(model, "transform") else model.predict(rows)
            results.append(made.toarray() if hr.tensor.issparse(made) else made)
        assert np.array_equal(*map(np.asarray, results)), name
    both = [("a", hr.learn.TfidfTransformer()), ("b", hr.learn.TfidfTransformer())]
    assert hr.learn.FeatureUnion(both).fit_transform(ours).shape == (60, 16)


def test_xgboost():
    xgboost = pytest.importorskip("xgboost")
    theirs = random_matrix(200, 6, 0.5)
    y = theirs[:, 0].toarray().ravel()
    for layout in ("csr", "csc", "coo"):
        ours = getattr(hr.tensor, f"{layout}_matrix")(theirs).to_scipy()
        made = [
            xgboost.train({"nthread": 1}, xgboost.DMatrix(rows, y), 3).predict(
                xgboost.DMatrix(rows)
            )
            for rows in (ours, theirs.asformat(layout))
        ]
        assert np.array_equal(*made)


def test_pytorch():
    torch = pytest.importorskip("torch")
    matrix = random_matrix(20, 30, 0.2)
    ours = csr(matrix)
    tensor = ours.to_torch()
    assert tensor.values().data_ptr() == matrix.data.ctypes.data
    assert np.array_equal(tensor.to_dense().numpy(), matrix.toarray())
    same(csr(tensor), matrix)
    same(csr(torch.from_numpy(matrix.toarray()).to_sparse_coo()), matrix)


def test_tensors_of_pytorch_by_their_words():
    class Tensor:
        """What `csr_matrix` asks of a sparse tensor of PyTorch."""

        layout, shape = "torch.sparse_csr", (2, 3)

        def values(self):
            return np.array([1.0, 2.0])

        def col_indices(self):
            return np.array([2, 0])

        def crow_indices(self):
            return np.array([0, 1, 2])

    same(csr(Tensor()), np.array([[0.0, 0.0, 1.0], [2.0, 0.0, 0.0]]))
    same(hr.tensor.csc_matrix(Tensor()), np.array([[0.0, 0.0, 1.0], [2.0, 0.0, 0.0]]))


def test_hostile_parts():
    one = np.ones(2)
    for indices, indptr, error in [
        ([0, 9], [0, 1, 2], "outside of the shape: entry=1, row=1, column=9"),
        ([0, -1], [0, 1, 2], "column=-1"),
        ([0, 1], [0, 5, 2], "indptr descends"),
        ([0, 1], [0, -5, 2], "indptr descends"),
        ([0, 1], [0, 1, 3], "do not have the entries"),
        ([0, 1], [-1, 1, 2], "do not have the entries"),
        ([0], [0, 1, 2], "do not have the entries"),
        ([0, 1], [0, 2], "one element more than there are rows"),
    ]:
        with pytest.raises(hr.InvalidArgumentError, match=error):
            csr((one, np.array(indices), np.array(indptr)), shape=(2, 2))
    with pytest.raises(hr.InvalidArgumentError, match="outside of the shape"):
        csr((one, ([0, 2], [0, 1])), shape=(2, 2))
    with pytest.raises(hr.InvalidArgumentError, match="differ in length"):
        csr((one, ([0], [0, 1])), shape=(2, 2))


def test_errors():
    ours = csr(np.eye(3))
    for call, error in [
        (lambda: ours @ np.ones(4), hr.InvalidArgumentError),
        (lambda: ours @ np.ones((3, 1, 1)), hr.TypeMismatchError),
        (lambda: ours @ csr((4, 4)), hr.InvalidArgumentError),
        (lambda: ours[[5]], hr.InvalidArgumentError),
        (lambda: ours[7], IndexError),
        (lambda: ours[[0, 1], [0, 1, 2]], IndexError),
        (lambda: ours.sum(axis=2), hr.InvalidArgumentError),
        (lambda: ours.astype("complex128"), hr.UnsupportedError),
        (lambda: csr(np.eye(3), shape=(2, 2)), hr.InvalidArgumentError),
        (lambda: len(ours), TypeError),
        (lambda: ours * np.ones(3), TypeError),
    ]:
        with pytest.raises(error):
            call()


# Shapes whose arrays would not fit in 64 bits of bytes, or in any memory: refused, never wrapped.
def wide(columns):
    return csr((np.ones(1), np.array([0]), np.array([0, 1])), shape=(1, columns))


def one_entry(shape):
    return hr.tensor.coo_matrix((np.ones(1), ([0], [0])), shape=shape)


def npz_of_shape(folder, shape):
    arrays = {"row": np.array([0]), "col": np.array([0]), "data": np.ones(1)}
    path = folder / "huge.npz"
    np.savez(path, format=np.array(b"coo"), shape=np.array(shape), **arrays)
    return hr.tensor.load_npz(path)


@pytest.mark.parametrize("size", [2**56, 2**60 - 1, 2**60, 2**61 - 1, 2**61, 2**62, 2**63 - 1])
@pytest.mark.parametrize(
    "call",
    [
        lambda size: wide(size).T.tocsr(),
        lambda size: wide(size).tocsc(),
        lambda size: wide(size).sum(axis=0),
        lambda size: wide(size).getnnz(axis=0),
        lambda size: wide(size).toarray(),
        lambda size: wide(size)[:, [0, 5]],
        lambda size: wide(size).T @ np.ones(1),
        lambda size: wide(size).T @ np.ones((1, 2)),
        lambda size: csr(np.ones((1, 1))) @ wide(size),
        lambda size: one_entry((size, 1)).tocsr(),
        lambda size: one_entry((size, 2)).toarray(),
    ],
)
def test_sizes_beyond_any_memory_are_refused(call, size):
    with pytest.raises((hr.InvalidArgumentError, hr.OutOfMemoryError)):
        call(size)


def test_a_file_of_a_huge_shape_is_refused(tmp_path):
    with pytest.raises(hr.InvalidArgumentError, match="does not fit in 64 bits"):
        npz_of_shape(tmp_path, [2**62, 2]).tocsr()


def test_stacks_beyond_64_bits_are_refused():
    huge = wide(2**62)
    for stack in [hr.tensor.hstack, hr.tensor.block_diag]:
        with pytest.raises(hr.InvalidArgumentError, match="does not fit in 64 bits"):
            stack([huge, huge])
    assert hr.tensor.hstack([huge, wide(2**62 - 1)]).shape == (1, 2**63 - 1)
