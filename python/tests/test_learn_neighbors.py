# SPDX-License-Identifier: Apache-2.0
"""Neighbours and what they vote for, beside scikit-learn."""

import numpy as np
import pytest

import headrace as hr
from headrace import learn

neighbors = pytest.importorskip("sklearn.neighbors")

METRICS = ["euclidean", "sqeuclidean", "cosine", "manhattan", "chebyshev"]


def rows(count, columns, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=(count, columns)).astype(dtype)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("columns", [1, 7, 270])
def test_neighbors_are_scikit_learns(metric, dtype, columns):
    if metric == "cosine" and columns == 1:
        pytest.skip("all distances are 0 or 2")
    x, queries = rows(1500, columns, dtype=dtype), rows(30, columns, 1, dtype)
    theirs = neighbors.NearestNeighbors(n_neighbors=9, metric=metric, algorithm="brute")
    theirs.fit(x.astype(float))
    ours = learn.NearestNeighbors(n_neighbors=9, metric=metric).fit(x)
    for asked in (queries, None):
        wide = None if asked is None else asked.astype(float)
        distances, indices = ours.kneighbors(asked)
        expected = theirs.kneighbors(wide)
        np.testing.assert_allclose(distances, expected[0], rtol=1e-7, atol=1e-7)
        if columns > 1:
            np.testing.assert_array_equal(indices, expected[1])
        radius = float(np.median(expected[0][:, 5])) * (1 + 1e-9)
        within = ours.radius_neighbors(asked, radius, sort_results=True)
        other = theirs.radius_neighbors(wide, radius, sort_results=True)
        assert [len(each) for each in within[1]] == [len(each) for each in other[1]]
        found, wanted = (np.concatenate([*map(np.sort, all_of[1])]) for all_of in (within, other))
        np.testing.assert_array_equal(found, wanted)
        found, wanted = (np.concatenate(all_of[0]) for all_of in (within, other))
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-7)


def test_ties_go_to_the_lowest_row():
    x = np.repeat(np.arange(4.0)[:, None], 700, axis=0)
    distances, indices = learn.NearestNeighbors(n_neighbors=750).fit(x).kneighbors([[1.0]])
    np.testing.assert_array_equal(indices[0], [*range(700, 1400), *range(50)])
    np.testing.assert_array_equal(distances[0], [0.0] * 700 + [1.0] * 50)


def test_offsets_and_outliers_do_not_cancel():
    x = rows(2000, 3) + 1e8
    x[7] = 1e100
    queries = rows(20, 3, 1) + 1e8
    _, indices = learn.NearestNeighbors(n_neighbors=4).fit(x).kneighbors(queries)
    apart = ((queries[:, None] - x[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(indices, np.argsort(apart, axis=1, kind="stable")[:, :4])


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_graphs(mode):
    x = rows(100, 3)
    theirs, ours = neighbors.NearestNeighbors(radius=0.7), learn.NearestNeighbors(radius=0.7)
    theirs.fit(x)
    ours.fit(x)
    for asked in (None, rows(5, 3, 1)):
        for method in ("kneighbors_graph", "radius_neighbors_graph"):
            made = getattr(ours, method)(asked, mode=mode)
            expected = getattr(theirs, method)(asked, mode=mode)
            np.testing.assert_allclose(made.toarray(), expected.toarray(), atol=1e-12)
    graph = learn.NearestNeighbors().fit(hr.asarray(x)).kneighbors_graph(mode=mode)
    assert type(graph) is hr.tensor.csr_matrix
    np.testing.assert_allclose(graph.toarray(), theirs.kneighbors_graph(mode=mode).toarray())


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda apart: 1 / (1 + apart)])
def test_votes(weights):
    x, queries = np.round(rows(400, 3), 1), np.round(rows(60, 3, 1), 1)
    queries[:5] = x[:5]
    labels = np.array(["a", "b", "c"])[(x.sum(axis=1) > 0).astype(int) + (x[:, 0] > 0.5)]
    # Fewer than 25 ties at the border of 5 neighbours differ in who votes.
    both = [
        module.KNeighborsClassifier(5, weights=weights).fit(
            x + np.arange(400)[:, None] * 1e-7, labels
        )
        for module in (neighbors, learn)
    ]
    theirs, ours = both
    np.testing.assert_allclose(
        ours.predict_proba(queries), theirs.predict_proba(queries), rtol=1e-7
    )
    np.testing.assert_array_equal(ours.predict(queries), theirs.predict(queries))
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.score(x, labels) == theirs.score(x, labels)
    for targets in (x.sum(axis=1), x[:, :2]):
        theirs = neighbors.KNeighborsRegressor(3, weights=weights).fit(x + queries[0], targets)
        ours = learn.KNeighborsRegressor(3, weights=weights).fit(x + queries[0], targets)
        made = ours.predict(rows(50, 3, 2))
        np.testing.assert_allclose(made, theirs.predict(rows(50, 3, 2)), rtol=1e-7)
        np.testing.assert_allclose(ours.score(x, targets), theirs.score(x, targets), rtol=0.2)


def test_results_are_of_the_kind_of_the_data():
    x = rows(50, 2)
    frame = hr.DataFrame({"a": x[:, 0], "b": x[:, 1]})
    model = learn.NearestNeighbors().fit(frame)
    assert [type(part) for part in model.kneighbors(frame)] == [hr.Array, hr.Array]
    voter = learn.KNeighborsClassifier(1).fit(frame, hr.Series(np.arange(50) % 2))
    assert type(voter.predict(frame)) is hr.Array
    assert voter.predict(frame).tolist() == [0, 1] * 25


def test_errors_name_what_is_wrong():
    x = rows(10, 2)
    model = learn.NearestNeighbors().fit(x)
    with pytest.raises(ValueError, match="n_neighbors <= n_samples_fit"):
        model.kneighbors(x, 11)
    with pytest.raises(ValueError, match="n_neighbors < n_samples_fit"):
        model.kneighbors(n_neighbors=10)
    with pytest.raises(ValueError, match="n_neighbors > 0"):
        model.kneighbors(x, 0)
    with pytest.raises(TypeError, match="enter integer value"):
        model.kneighbors(x, 1.5)
    with pytest.raises(ValueError, match="contains NaN: row=0, column=1"):
        model.kneighbors([[0.0, np.nan]])
    for options in ({"p": 3}, {"metric": "haversine"}, {"metric_params": {"V": 1}}):
        with pytest.raises(hr.UnsupportedError, match=next(iter(options))):
            learn.NearestNeighbors(**options).fit(x)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        learn.KNeighborsClassifier().fit(x, x[:, 0])
    with pytest.raises(ValueError, match="weights"):
        learn.KNeighborsRegressor(weights="most").fit(x, x[:, 0])


def test_what_is_found_counts_in_the_budget():
    x = hr.asarray(rows(1000, 4))
    model = learn.NearestNeighbors(radius=100.0).fit(x)  # all pairs: 16 MB of results
    whole = model.radius_neighbors()[1]
    used = hr.memory.stats().used_bytes
    with hr.memory.limit(used + (20 << 20)), pytest.raises(hr.OutOfMemoryError, match="within"):
        model.radius_neighbors()
    with hr.memory.limit(used + (128 << 20)):
        again = model.radius_neighbors()[1]
    assert all(np.array_equal(a, b) for a, b in zip(whole, again, strict=True))


@pytest.mark.parametrize("seed", range(10))
def test_trees_find_the_same(seed):
    rng = np.random.default_rng(seed)
    features = [1, 2, 3, 7, 12][seed % 5]
    rows = rng.normal(size=(700, features))
    if seed % 2:
        rows = rows.round(1)  # ties
        rows[50:90] = rows[3]  # duplicates
    if seed % 3 == 0:
        rows[:, 0] += 1e8
    queries = np.concatenate([rng.normal(size=(150, features)), rows[:20]])
    given = {"n_neighbors": 60, "radius": [0.3, 1.0, 2.0][seed % 3]}
    known = learn.NearestNeighbors(algorithm="brute", **given).fit(rows)
    for algorithm in ("kd_tree", "ball_tree"):
        tree = learn.NearestNeighbors(algorithm=algorithm, **given).fit(rows)
        for asked in (queries, None, queries.astype(np.float32)):
            for ours, theirs in zip(tree.kneighbors(asked), known.kneighbors(asked), strict=True):
                np.testing.assert_array_equal(ours, theirs)
            found, expected = tree.radius_neighbors(asked), known.radius_neighbors(asked)
            for ours, theirs in zip(found, expected, strict=True):
                for one, other in zip(ours, theirs, strict=True):
                    np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="algorithm"):
        learn.NearestNeighbors(algorithm="tree").fit(rows)


def test_trees_by_shape_and_threads():
    rng = np.random.default_rng(0)
    rows, queries = rng.normal(size=(3000, 3)).round(2), rng.normal(size=(1500, 3)).round(2)
    known = learn.NearestNeighbors(algorithm="brute").fit(rows).kneighbors(queries)
    for count in (1, 2, 4):
        with hr.threads(count):
            found = learn.NearestNeighbors().fit(rows).kneighbors(queries)
        for ours, theirs in zip(found, known, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    frame = hr.asarray(rows) * np.inf  # not checked: tiles take what a tree cannot
    tree = learn.NearestNeighbors(algorithm="kd_tree").fit(rows)
    assert tree.kneighbors(frame[:5])[1].shape == (5, 5)
