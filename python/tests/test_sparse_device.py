# SPDX-License-Identifier: Apache-2.0
"""Sparse matrices whose parts are on a device: shared both ways, brought to the host when asked."""

import sys
import types

import numpy as np
import pytest

import headrace as hr
from headrace import _core

sparse = pytest.importorskip("scipy.sparse")

CUDA = _core.built_with_cuda() and not _core.why_no_cuda()
gpu = [pytest.mark.gpu, pytest.mark.skipif(not CUDA, reason="no GPU here")]
PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
}
LAYOUTS = sorted(PARTS)


@pytest.fixture(params=["sim", pytest.param("cuda", marks=gpu)])
def device(request, monkeypatch):
    monkeypatch.setenv("HEADRACE_DEVICE", "sim:limit=256MB,latency=0us")
    _core.clear_fallbacks()
    return request.param


@pytest.fixture
def known():
    return sparse.random(900, 700, 0.02, "csr", np.float64, np.random.default_rng(2))


class Theirs:
    """A sparse matrix of another library with its parts on a device."""

    ndim = 2

    def __init__(self, matrix, device, **changed):
        self.format, self.shape = matrix.format, matrix.shape
        for name in PARTS[self.format]:
            part = changed.get(name, getattr(matrix, name))
            setattr(self, name, hr.asarray(part).to(device))

    def tocsr(self):
        return self


def made_of(known, layout, device, **changed):
    theirs = Theirs(known.asformat(layout), device, **changed)
    return theirs, getattr(hr.tensor, f"{layout}_matrix")(theirs)


def fallbacks():
    return [op for op, *_ in _core.fallbacks()]


def same(ours, theirs):
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_stay_where_they_are(device, known, layout):
    theirs, ours = made_of(known, layout, device)
    for matrix in (ours, ours.copy(), ours.asformat(layout)):
        assert (matrix.format, matrix.shape, matrix.nnz) == (layout, known.shape, known.nnz)
        assert matrix.dtype == "float64"
        for name in PARTS[layout]:
            assert getattr(matrix, name)._node is getattr(theirs, name)._node
    turned = ours.T
    assert turned.shape == known.shape[::-1]
    assert turned.data._node is theirs.data._node
    for word in (lambda a: a * 2, lambda a: -a, lambda a: a.astype("float32")):
        there = word(ours)
        assert there.data.device == f"{device}:0"
        same(there.data, word(known.asformat(layout)).data)
    assert fallbacks() == []


@pytest.mark.parametrize("layout", LAYOUTS)
def test_other_work_brings_them_to_the_host_once(device, known, layout):
    _, ours = made_of(known, layout, device)
    vector = np.arange(700.0)
    np.testing.assert_allclose(np.asarray(ours @ vector), known @ vector, rtol=1e-12)
    word = "coo_matrix" if layout == "coo" else f"{layout}_matrix"
    assert fallbacks() == [word]
    same(ours.toarray(), known.toarray())
    same(ours[5:9].toarray(), known[5:9].toarray())
    same(ours.tocsr().sum(axis=1), hr.tensor.csr_matrix(known).sum(axis=1))
    assert set(fallbacks()) == {word}
    if layout != "coo":
        assert len(fallbacks()) == 1
        assert ours.data.device == f"{device}:0"
    theirs = ours.to_scipy()
    assert (theirs != known.asformat(layout)).nnz == 0


def test_conversions(device, known):
    for layout in LAYOUTS:
        _, ours = made_of(known, layout, device)
        for other in LAYOUTS:
            made = ours.asformat(other).to_scipy()
            assert (made != known).nnz == 0
            assert made.format == other
        kind = getattr(hr.tensor, f"{layout}_matrix")
        parts = [getattr(ours, name) for name in PARTS[layout]]
        given = (parts[0], tuple(parts[1:])) if layout == "coo" else tuple(parts)
        again = kind(given, shape=known.shape, dtype="float32")
        assert again.data.device == f"{device}:0"
        assert again.dtype == "float32"


def test_parts_of_the_host_follow_the_others(device, known):
    parts = hr.asarray(known.data).to(device), known.indices, known.indptr
    ours = hr.tensor.csr_matrix(parts, shape=known.shape)
    assert {getattr(ours, name).device for name in PARTS["csr"]} == {f"{device}:0"}
    guessed = hr.tensor.csr_matrix(parts)
    assert guessed.shape == (900, int(known.indices.max()) + 1)
    assert (ours.to_scipy() != known).nnz == 0


def test_what_is_wrong_raises(device, known):
    bad = known.indices.copy()
    bad[17] = 700
    for layout in ("csr", "csc"):
        turned = known if layout == "csr" else known.T
        _, ours = made_of(turned, layout, device, indices=bad)
        with pytest.raises(hr.InvalidArgumentError, match=f"{layout}_matrix.*700"):
            ours.toarray()
        with pytest.raises(hr.InvalidArgumentError, match=r"sizes of the shape: shape=\(900"):
            made_of(turned, layout, device, data=known.data[:-1])
        with pytest.raises(hr.InvalidArgumentError, match="sizes of the shape"):
            made_of(turned, layout, device, indptr=known.indptr[:-1])
    row = known.tocoo().row.copy()
    row[3] = -1
    _, ours = made_of(known, "coo", device, row=row)
    with pytest.raises(hr.InvalidArgumentError, match="entry=3, row=-1"):
        ours.toarray()
    with pytest.raises(hr.InvalidArgumentError):
        made_of(known, "coo", device, row=row[:-1])


def test_models_and_graphs_take_them(device, known):
    _, ours = made_of(known, "csr", device)
    target = np.random.default_rng(1).integers(0, 2, 900)
    here = hr.learn.LogisticRegression().fit(known, target).coef_
    same(hr.learn.LogisticRegression().fit(ours, target).coef_, here)
    square = sparse.random(300, 300, 0.05, "csr", np.float64, np.random.default_rng(3))
    for layout in LAYOUTS:
        graph = hr.graph.Graph(made_of(square, layout, device)[1], directed=True)
        expected = hr.graph.Graph(square, directed=True).pagerank(weight="weight")
        found = graph.to("cpu").pagerank(weight="weight")
        same(found.pagerank, expected.pagerank)


def test_the_way_out(device, known, monkeypatch):
    cupy, package, words = (types.ModuleType(n) for n in ("cupy", "cupyx", "cupyx.scipy"))
    cupy.asarray = lambda part: part
    words.sparse = types.SimpleNamespace(
        **{f"{layout}_matrix": lambda parts, shape: (parts, shape) for layout in LAYOUTS}
    )
    for module in (cupy, package, words):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for layout in LAYOUTS:
        theirs, ours = made_of(known, layout, device)
        parts, shape = ours.to_cupy()
        data, *places = parts if layout != "coo" else (parts[0], *parts[1])
        assert shape == known.shape
        for part, name in zip((data, *places), PARTS[layout], strict=True):
            assert part._node is getattr(theirs, name)._node
        with pytest.raises(hr.UnsupportedError, match="dtype=int64; use astype"):
            ours.astype("int64").to_cupy()
    assert fallbacks() == []
    parts, _ = hr.tensor.csr_matrix(known).to_cupy()
    assert all(isinstance(part, np.ndarray) for part in parts)


@pytest.mark.gpu
@pytest.mark.skipif(not CUDA, reason="no GPU here")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_matrices_of_cupy_are_shared_both_ways(known, layout):
    cupy = pytest.importorskip("cupy")
    from cupyx.scipy import sparse as cupy_sparse

    _core.clear_fallbacks()
    theirs = getattr(cupy_sparse, f"{layout}_matrix")(known.asformat(layout))
    ours = getattr(hr.tensor, f"{layout}_matrix")(theirs)
    back = ours.to_cupy()
    for name in PARTS[layout]:
        at = getattr(theirs, name).data.ptr
        assert getattr(ours, name).__cuda_array_interface__["data"][0] == at
        assert getattr(back, name).data.ptr == at
    assert fallbacks() == []
    doubled = (ours * 2).to_cupy()
    np.testing.assert_array_equal(doubled.get().toarray(), known.toarray() * 2)
    assert fallbacks() == []
    assert (ours.to_scipy() != known).nnz == 0
    square = sparse.random(300, 300, 0.05, "csr", np.float64, np.random.default_rng(3))
    graph = hr.graph.Graph(
        getattr(cupy_sparse, f"{layout}_matrix")(square.asformat(layout)), directed=True
    )
    expected = hr.graph.Graph(square, directed=True).pagerank(weight="weight")
    found = graph.pagerank(weight="weight")
    assert found.pagerank.device == "cuda:0"
    np.testing.assert_allclose(found.pagerank.to_numpy(), expected.pagerank.to_numpy(), rtol=1e-12)
    assert isinstance(cupy.asnumpy(back.data), np.ndarray)
