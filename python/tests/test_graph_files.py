# SPDX-License-Identifier: Apache-2.0
"""Graphs in files: edge lists, GraphML and Matrix Market, against NetworkX and SciPy."""

import gzip

import numpy as np
import pytest

import headrace as hr

networkx = pytest.importorskip("networkx")
scipy_io = pytest.importorskip("scipy.io")
sparse = pytest.importorskip("scipy.sparse")


# ---- edge lists ----------------------------------------------------------------------------------
def test_edgelist(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("0,1,2.5\n1,2,1\n2,0,4\n")
    graph = hr.graph.read_edgelist(
        path, names=["src", "dst", "w"], dtype=["int32", "int32", "float32"], weight="w",
        directed=True, nodes=4,
    )  # fmt: skip
    assert repr(graph) == "Graph(directed, 4 vertices, 3 edges, weight='w')"
    assert str(graph.nodes().vertex.dtype) == "int32"
    assert graph.edges().w.to_list() == [2.5, 1, 4]


def test_edgelist_names_the_line(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("a,b\n1,2\n1,x\n")
    with pytest.raises(hr.InputError, match="line=3"):
        hr.graph.read_edgelist(path, dtypes="int64")


def test_dtypes_need_names():
    with pytest.raises(hr.InvalidArgumentError, match="as many names: dtypes=1, names=2"):
        hr.read_csv(b"1,2\n", names=["a", "b"], dtype=["int32"])


def test_edges_of_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "edges.parquet"
    parquet.write_table(pyarrow.table({"source": ["a", "b"], "target": ["b", "c"]}), path)
    graph = hr.graph.Graph(hr.read_parquet(path))
    assert graph.nodes().vertex.to_list() == ["a", "b", "c"]


# ---- GraphML -------------------------------------------------------------------------------------
def edges_of(graph):
    return sorted(
        (*(ends if graph.is_directed() else sorted(ends)), data["weight"], data["kind"])
        for *ends, data in graph.edges(data=True)  # NetworkX adds ids where edges repeat
    )


@pytest.mark.parametrize("make", ["Graph", "DiGraph", "MultiGraph", "MultiDiGraph"])
def test_graphml_both_ways(tmp_path, make):
    theirs = getattr(networkx, make)()
    theirs.add_node('<"&\u00e9>', size=3, is_big=True, mass=0.1)
    theirs.add_node("b", size=-4, is_big=False, mass=float("inf"))
    theirs.add_node("c", size=7, is_big=False, mass=1e300)
    theirs.add_edge('<"&\u00e9>', "b", weight=1.5, kind="a < b & c")
    theirs.add_edge("b", "b", weight=2.0, kind="")
    theirs.add_edge("b", '<"&\u00e9>', weight=0.1, kind="back")
    networkx.write_graphml(theirs, tmp_path / "theirs.graphml")
    ours = hr.graph.read_graphml(tmp_path / "theirs.graphml")
    assert ours.is_multigraph() == (make == "MultiGraph")
    assert ours._given.weight == "weight"
    hr.graph.write_graphml(ours, tmp_path / "ours.graphml")
    for path in ("theirs", "ours"):
        back = networkx.read_graphml(tmp_path / f"{path}.graphml")
        assert dict(back.nodes(data=True)) == dict(theirs.nodes(data=True))
        assert edges_of(back) == edges_of(theirs)
    again = hr.graph.read_graphml(tmp_path / "ours.graphml")
    assert again.nodes().to_dict() == ours.nodes().to_dict()
    assert again.edges().to_dict() == ours.edges().to_dict()


def test_graphml_types_defaults_and_missing(tmp_path):
    path = tmp_path / "g.graphml"
    path.write_text("""<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="k" for="node" attr.name="color" attr.type="string"><default>grey</default></key>
<key id="n" for="node" attr.name="age" attr.type="int"/>
<key id="w" for="edge" attr.name="weight" attr.type="double"/>
<graph id="G" edgedefault="directed">
<node id="2"><data key="k">red</data></node><node id="10"><data key="n"> 5 </data></node>
<node id="7"/>
<edge source="2" target="10"><data key="w">1e-3</data></edge><edge source="10" target="2"/>
</graph></graphml>""")
    graph = hr.graph.read_graphml(path, int)
    assert graph.nodes().vertex.to_list() == [2, 7, 10]
    assert graph.nodes().color.to_list() == ["red", "grey", "grey"]
    assert graph.nodes().age.to_list() == [None, None, 5]
    assert graph.edges().weight.to_list() == [0.001, None]
    assert graph._given.weight is None  # not all edges have one


def test_graphml_without_edges_and_vertices(tmp_path):
    path = tmp_path / "g.graphml"
    for graph in (hr.graph.Graph(), hr.graph.Graph(nodes=3)):
        hr.graph.write_graphml(graph, path)
        back = hr.graph.read_graphml(path)
        assert (len(back), back.number_of_edges()) == (len(graph), 0)


HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
BAD = {
    "entity": ('<!DOCTYPE x [<!ENTITY a "b">]>\n<graphml/>', "document type", 1),
    "laughs": (
        '<?xml version="1.0"?>\n<!DOCTYPE l [<!ENTITY a "aa">\n<!ENTITY b "&a;&a;">]>\n'
        "<graphml><graph><node id='&b;'/></graph></graphml>",
        "document type",
        2,
    ),
    "no xml": ("hello", "no XML", 1),
    "cut": (f"{HEAD}\n<graph>\n<node id='a'>", "no XML", 3),
    "other": ("<html>\n</html>", "no file of GraphML", 1),
    "no graph": (f"{HEAD}\n</graphml>", "no graph", 2),
    "type": (f"{HEAD}\n<key id='a' for='node' attr.type='colour'/></graphml>", "no such type", 2),
    "key": (f"{HEAD}\n<graph>\n<node id='a'><data key='x'>1</data></node></graph></graphml>",
            "no such key", 3),
    "value": (f"{HEAD}<key id='k' for='node' attr.name='n' attr.type='int'/>\n<graph>"
              "<node id='a'>\n<data key='k'>1.5</data></node></graph></graphml>",
              "does not match", 3),
    "twice": (f"{HEAD}<graph><node id='a'/>\n<node id='a'/></graph></graphml>", "twice", 2),
    "no target": (f"{HEAD}<graph><node id='a'/>\n<edge source='a'/></graph></graphml>",
                  "attribute is missing", 2),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_graphml_refuses(tmp_path, case):
    text, words, line = BAD[case]
    path = tmp_path / "bad.graphml"
    path.write_text(text)
    with pytest.raises(hr.InputError, match=words) as found:
        hr.graph.read_graphml(path)
    assert found.value.line == line
    assert str(path) in str(found.value)


def test_graphml_names_what_it_cannot_read(tmp_path):
    path = tmp_path / "g.graphml"
    for inside in ("<hyperedge/>", "<node id='a'><graph/></node>",
                   "<edge source='a' target='b' directed='true'/>"):  # fmt: skip
        path.write_text(f"{HEAD}<graph edgedefault='undirected'>{inside}</graph></graphml>")
        with pytest.raises(hr.UnsupportedError, match="read_graphml"):
            hr.graph.read_graphml(path)
    pair = hr.graph.Graph(hr.DataFrame({"a": [1], "b": [2], "c": [1], "d": [3]}),
                          source=["a", "b"], target=["c", "d"])  # fmt: skip
    with pytest.raises(hr.UnsupportedError, match="several keys"):
        hr.graph.write_graphml(pair, path)


# ---- Matrix Market -------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("packed", [False, True])
def test_matrix_market_both_ways(tmp_path, dtype, packed):
    rng = np.random.default_rng(3)
    dense = (rng.integers(-4, 5, (7, 5)) * (rng.random((7, 5)) < 0.4)).astype(dtype)
    dense = dense / 3 if dtype == "float64" else dense
    path = tmp_path / "a.mtx"
    scipy_io.mmwrite(path, sparse.coo_matrix(dense), precision=17)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    ours = hr.tensor.mmread(path)
    assert str(ours.dtype) == dtype
    assert np.array_equal(ours.toarray().to_numpy(), dense)
    hr.tensor.mmwrite(tmp_path / "b.mtx", ours, comment="two\nlines")
    assert np.array_equal(scipy_io.mmread(tmp_path / "b.mtx").toarray(), dense)


def test_matrix_market_symmetries(tmp_path):
    path = tmp_path / "a.mtx"
    for symmetry in ("symmetric", "skew-symmetric"):
        path.write_text(
            f"%%MatrixMarket matrix coordinate real {symmetry}\n% words\n\n 3  3 2\n"
            "  2 1   2.5\n\t3\t1 -1e-3 \n"
        )
        ours = hr.tensor.mmread(path).toarray().to_numpy()
        assert np.array_equal(ours, scipy_io.mmread(path).toarray())
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n")
    ours = hr.tensor.mmread(path).toarray().to_numpy()
    assert np.array_equal(ours, scipy_io.mmread(path).toarray())
    both = sparse.coo_matrix([[1.0, 2.0], [2.0, 0.0]])
    hr.tensor.mmwrite(path, both, symmetry="symmetric")
    assert np.array_equal(scipy_io.mmread(path).toarray(), both.toarray())
    with pytest.raises(hr.InvalidArgumentError, match="not symmetric"):
        hr.tensor.mmwrite(path, sparse.coo_matrix([[1.0, 2.0], [0.0, 0.0]]), symmetry="symmetric")


def test_matrix_market_empty(tmp_path):
    hr.tensor.mmwrite(tmp_path / "a.mtx", hr.tensor.csr_matrix(np.zeros((3, 2))))
    made = hr.tensor.mmread(tmp_path / "a.mtx")
    assert (made.shape, made.nnz) == ((3, 2), 0)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_matrix_market_graphs(tmp_path, directed, weighted):
    rng = np.random.default_rng(5)
    edges = hr.DataFrame({"a": rng.integers(9, size=20), "b": rng.integers(9, size=20)})
    edges = edges.assign(w=rng.random(20))
    weight = "w" if weighted else None
    graph = hr.graph.Graph(edges, weight=weight, directed=directed, nodes=11)
    path = tmp_path / "g.mtx"
    hr.graph.write_matrix_market(graph, path)
    there = graph.to_scipy_sparse_array().toarray()
    assert np.array_equal(scipy_io.mmread(path).toarray(), there)
    back = hr.graph.read_matrix_market(path)
    assert back.is_directed() == directed
    assert np.array_equal(back.to_scipy_sparse_array().toarray(), there)


HEADER = "%%MatrixMarket matrix coordinate real general\n"
BAD_MATRIX = {
    "nothing": ("", "no header", 1),
    "header": ("%%MatrixMarket matrix\n1 1 0\n", "no header", 1),
    "sizes": (f"{HEADER}% words\n3 3\n", "three sizes", 3),
    "negative": (f"{HEADER}3 -3 1\n", "three sizes", 2),
    "huge": (f"{HEADER}99999999999 3 1\n1 1 1\n", "too long", 2),
    "word": (f"{HEADER}2 2 2\n1 1 1\n1 2 x\n", "not a float64", 4),
    "index": (f"{HEADER}2 2 1\n1.5 1 1\n", "not an int64", 3),
    "fields": (f"{HEADER}2 2 2\n1 1 1\n1 2 3 4\n", "line=4", 4),
    "lined up": (f"{HEADER}2 2 2\n1  1  1\n1  2  x\n", "not a float64", 4),
    "few": (f"{HEADER}2 2 3\n1 1 1\n1 2 3\n", "promised=3, found=2", None),
    "outside": (f"{HEADER}2 2 2\n1 1 1\n3 2 3\n", "entry=2, row=3, rows=2", None),
    "zero": (f"{HEADER}2 2 1\n1 0 1\n", "entry=1, column=0", None),
}


@pytest.mark.parametrize("case", BAD_MATRIX)
def test_matrix_market_refuses(tmp_path, case):
    text, words, line = BAD_MATRIX[case]
    path = tmp_path / "bad.mtx"
    path.write_text(text)
    with pytest.raises(hr.InputError, match=words) as found:
        hr.tensor.mmread(path)
    if line is not None:
        assert found.value.line == line


def test_matrix_market_names_what_it_cannot_read(tmp_path):
    path = tmp_path / "a.mtx"
    scipy_io.mmwrite(path, np.eye(2))
    with pytest.raises(hr.UnsupportedError, match="layout='array'"):
        hr.tensor.mmread(path)
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 3 0\n")
    with pytest.raises(hr.InvalidArgumentError, match="square"):
        hr.graph.read_matrix_market(path)
