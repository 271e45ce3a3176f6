# SPDX-License-Identifier: Apache-2.0
"""Models beside their data: the host's bits on the simulated device and on a GPU."""

import numpy as np
import pytest

import headrace as hr


def there(x, device):
    return hr.asarray(x).to(device)


def same(ours, theirs, device=None):
    if device is not None:
        assert ours.device == f"{device}:0"
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    places = rng.uniform(-5, 5, (7, 6))
    return (places[rng.integers(0, 7, 3000)] + rng.standard_normal((3000, 6))).astype("float32")


@pytest.mark.parametrize("init", ["k-means++", "random", "given"])
@pytest.mark.parametrize("weighted", [False, True])
def test_kmeans(device, rows, init, weighted):
    model = hr.learn.KMeans(
        7, init=rows[:7] if init == "given" else init, tol=0, n_init=2, random_state=4
    )
    weights = np.arange(len(rows)) % 5 + 0.5 if weighted else None
    x = there(rows, device)
    theirs = model.fit(rows, sample_weight=weights)
    labels, centers, inertia, turns = (
        theirs.labels_,
        theirs.cluster_centers_,
        theirs.inertia_,
        theirs.n_iter_,
    )
    predicted, moved = model.predict(rows[:50]), model.transform(rows[:50])
    score = model.score(rows)
    ours = model.fit(x, sample_weight=weights)
    same(ours.labels_, labels, device)
    same(ours.cluster_centers_, centers, device)
    assert (ours.inertia_, ours.n_iter_) == (inertia, turns)
    same(model.predict(x[:50]), predicted, device)
    same(model.transform(x[:50]), moved, device)
    same(model.predict(rows[:50]), predicted)  # the model goes where the rows are
    assert model.score(x) == score
    if init != "random":  # rows of the first centres are taken on the host
        assert hr.fallbacks() == ()


def test_fewer_clusters_than_asked(device):
    x = there(np.repeat(np.eye(3), 5, axis=0), device)
    with pytest.warns(match="distinct clusters"):
        model = hr.learn.KMeans(5, random_state=1, tol=0).fit(x)
    assert len(np.unique(np.asarray(model.labels_))) == 3


def test_neighbors(device, rows):
    x, queries = there(rows, device), rows[:40] + np.float32(0.25)
    model = hr.learn.NearestNeighbors(n_neighbors=9)
    expected = model.fit(rows).kneighbors(queries), model.kneighbors()
    q = there(queries, device)
    for ours, theirs in zip(
        (model.fit(x).kneighbors(q), model.kneighbors()), expected, strict=True
    ):
        for mine, its in zip(ours, theirs, strict=True):
            same(mine, its, device)
    assert hr.fallbacks() == ()
    unknown = queries.copy()
    unknown[1, 0] = np.nan
    far, near = map(np.asarray, model.kneighbors(there(unknown, device)))
    assert np.isnan(far[1]).all() and not np.isnan(far[2:]).any()
    assert near[1].tolist() == list(range(9))  # all as unknown as the others
    for mine, its in zip(model.kneighbors(queries), expected[0], strict=True):
        same(mine, its)
    y = np.arange(len(rows)) % 3
    for kind in (hr.learn.KNeighborsClassifier, hr.learn.KNeighborsRegressor):
        theirs = kind(5, weights="distance").fit(rows, y).predict(queries)
        same(kind(5, weights="distance").fit(x, y).predict(q), theirs, device)
    assert hr.fallbacks() == ()


def test_a_metric_without_a_kernel_falls_back(device, rows):
    model = hr.learn.NearestNeighbors(n_neighbors=3, metric="manhattan")
    theirs = model.fit(rows[:500]).kneighbors(rows[:20])
    ours = model.fit(there(rows[:500], device)).kneighbors(there(rows[:20], device))
    for mine, its in zip(ours, theirs, strict=True):
        same(mine, its, device)
    assert len(hr.fallbacks()) == (device == "cuda")


@pytest.mark.parametrize("columns", [1, 2, 3, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_dbscan(device, rows, columns, weighted):
    part = np.ascontiguousarray(rows[:, :columns])
    weights = np.arange(len(rows)) % 3 + 0.25 if weighted else None
    eps = {1: 0.002, 2: 0.15, 3: 0.4, 6: 1.5}[columns]
    model = hr.learn.DBSCAN(eps=eps, min_samples=9)
    theirs = model.fit(part, sample_weight=weights)
    labels, core, components = theirs.labels_, theirs.core_sample_indices_, theirs.components_
    ours = model.fit(there(part, device), sample_weight=weights)
    same(ours.labels_, labels, device)
    same(ours.core_sample_indices_, core, device)
    assert hr.fallbacks() == ()
    same(ours.components_, components)
    assert 0 < len(core) < len(rows)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_embeddings(device, rows, dimensions):
    part = rows[:400]
    for model in (
        hr.learn.TSNE(dimensions, perplexity=9, max_iter=300, random_state=1),
        hr.learn.UMAP(n_neighbors=8, n_components=dimensions, n_epochs=40, random_state=1),
    ):
        theirs = model.fit_transform(part)
        same(model.fit_transform(there(part, device)), theirs, device)
    done = {each[0] for each in hr.fallbacks()}
    assert done == (set() if device == "sim" else {"umap_graph"})


def test_rows_by_positions_of_the_host(device, rows):
    x = there(rows, device)
    places, mask = np.array([5, 2, 2999, 5]), rows[:, 0] > 0
    same(x[places], rows[places], device)
    same(x[places.tolist()], rows[places], device)
    same(x[mask], rows[mask], device)
    same(x[places].to("cpu"), rows[places])
    same(hr.asarray(rows[:3]).to(x.device), rows[:3], device)
    assert hr.fallbacks() == ()


def test_cross_validation(device, rows):
    labels = (rows[:, 0] > 0).astype("int64")
    model, x = hr.learn.LogisticRegression(), there(rows, device)
    expected = hr.learn.cross_val_score(model, rows, labels)
    for y in (labels, there(labels, device)):
        np.testing.assert_array_equal(hr.learn.cross_val_score(model, x, y), expected)
