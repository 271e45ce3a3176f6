# SPDX-License-Identifier: Apache-2.0
"""k-means and DBSCAN beside scikit-learn."""

import warnings

import numpy as np
import pytest

import headrace as hr
from headrace import learn

cluster = pytest.importorskip("sklearn.cluster")


def blobs(rows, columns, seed=0, offset=0.0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    centers = rng.integers(0, 6, size=(rows, 1)) * 3
    return (rng.normal(size=(rows, columns)) + centers + offset).astype(dtype)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize(
    "rows, columns, clusters", [(500, 3, 5), (2000, 16, 20), (700, 300, 9), (50, 2, 50), (99, 1, 1)]
)
def test_the_same_first_centers_give_scikit_learns_clusters(rows, columns, clusters, offset):
    x = blobs(rows, columns, offset=offset)
    weights = np.random.default_rng(1).integers(1, 4, size=rows).astype(float)
    bound = 1e-9 if offset else 1e-10  # centres themselves have steps of 1.5e-8 there
    for given in (None, weights):
        options = {"init": x[:clusters], "n_init": 1, "max_iter": 40}
        theirs = cluster.KMeans(clusters, **options).fit(x, sample_weight=given)
        ours = learn.KMeans(clusters, **options).fit(x, sample_weight=given)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        np.testing.assert_allclose(ours.inertia_, theirs.inertia_, rtol=bound, atol=1e-12)
        np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-10)
        assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_array_equal(ours.predict(x), ours.labels_)
    apart = np.sqrt(((x[:, None] - ours.cluster_centers_) ** 2).sum(axis=2))
    np.testing.assert_allclose(ours.transform(x), apart, rtol=1e-12)
    score = ours.score(x, sample_weight=weights)
    np.testing.assert_allclose(-score, ours.inertia_, rtol=1e-12)
    if not offset:  # scikit-learn's products cancel there
        np.testing.assert_array_equal(ours.predict(x), theirs.predict(x))


def test_rows_of_float32_have_their_own_centers():
    x = blobs(2000, 16, dtype=np.float32)
    theirs = cluster.KMeans(20, init=x[:20], n_init=1).fit(x)
    ours = learn.KMeans(20, init=x[:20]).fit(x)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.cluster_centers_.dtype == np.float32 == ours.transform(x).dtype
    np.testing.assert_array_equal(ours.predict(x), ours.labels_)


def test_an_empty_cluster_gets_the_farthest_row():
    x = np.array([[0.0], [1.0], [2.0], [10.0], [30.0]])
    init = np.array([[0.0], [1000.0], [2.0]])
    theirs = cluster.KMeans(3, init=init, n_init=1).fit(x)
    ours = learn.KMeans(3, init=init).fit(x)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)


def test_duplicates_and_constant_columns():
    x = np.repeat([[1.0, 7.0], [2.0, 7.0]], 20, axis=0)
    with pytest.warns(learn.ConvergenceWarning, match=r"distinct clusters \(2\)"):
        model = learn.KMeans(4, random_state=0).fit(x)
    assert model.inertia_ == 0
    assert len(set(model.labels_[:20])) == 1 == len(set(model.labels_[20:]))
    assert learn.KMeans(2, random_state=0).fit(np.arange(2.0)[:, None] * [[1, 0]]).inertia_ == 0


@pytest.mark.parametrize("scale", [1e-30, 1e30, 1e150])
def test_values_that_float32_has_no_room_for(scale):
    x = blobs(600, 4) * scale
    plain = learn.KMeans(5, init=x[:5] / scale, tol=0).fit(x / scale)
    np.testing.assert_array_equal(learn.KMeans(5, init=x[:5], tol=0).fit_predict(x), plain.labels_)


def test_first_centers_are_good_and_repeatable():
    x = np.concatenate([blobs(1000, 4) * 0.1 + 20 * i for i in range(4)])
    best = cluster.KMeans(4, n_init=5, random_state=0).fit(x).inertia_
    for init in ("k-means++", "random"):
        for weights in (None, np.ones(len(x))):
            model = learn.KMeans(4, init=init, n_init=5, random_state=3)
            found = model.fit(x, sample_weight=weights).inertia_
            assert found == pytest.approx(best, rel=1e-9) or init == "random"
            assert model.fit(x, sample_weight=weights).inertia_ == found
    given = learn.KMeans(4, init=lambda X, k, random_state: X[:k], n_init=1).fit(x)
    assert given.inertia_ == learn.KMeans(4, init=x[:4]).fit(x).inertia_


def test_the_same_bits_for_any_threads():
    x, seen = blobs(30000, 5), set()
    for count in (1, 2, 4):
        with hr.threads(count):
            model = learn.KMeans(12, random_state=1, max_iter=8).fit(x)
            dense = learn.DBSCAN(eps=0.6, min_samples=9).fit(x[:4000])
            near = learn.NearestNeighbors().fit(x[:4000]).kneighbors()
        made = (model.cluster_centers_, model.labels_, dense.labels_, *near)
        seen.add((model.inertia_, *(each.tobytes() for each in made)))
    assert len(seen) == 1


@pytest.mark.parametrize("kind", ["c", "fortran", "strided", "frame"])
def test_rows_are_read_where_they_are(kind):
    x = blobs(400, 3)
    data = {
        "c": x,
        "fortran": np.asfortranarray(x),
        "strided": np.repeat(x, 2, axis=0)[::2],
        "frame": hr.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2]}),
    }[kind]
    model = learn.KMeans(4, init=x[:4]).fit(data)
    np.testing.assert_array_equal(
        np.asarray(model.labels_), learn.KMeans(4, init=x[:4]).fit(x).labels_
    )
    assert type(model.predict(data)) is (hr.Array if kind == "frame" else np.ndarray)


@pytest.mark.parametrize("columns", [1, 2, 3, 5, 20])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_dbscan_has_scikit_learns_labels(columns, metric):
    rng = np.random.default_rng(columns)
    x = np.concatenate(
        [
            rng.normal(size=(600, columns)),
            rng.normal(size=(600, columns)) * 0.3 + 4,
            rng.uniform(-8, 8, size=(300, columns)),
        ]
    )
    x = np.round(x, 1) if columns < 3 else x  # many at the same place, many just eps apart
    for eps in (0.05, 0.1, 0.5, 1.0, 2.5):
        for weights in (None, rng.integers(0, 4, size=len(x)).astype(float)):
            theirs = cluster.DBSCAN(eps=eps, min_samples=6, metric=metric)
            theirs.fit(x, sample_weight=weights)
            ours = learn.DBSCAN(eps=eps, min_samples=6, metric=metric)
            ours.fit(x, sample_weight=weights)
            np.testing.assert_array_equal(ours.labels_, theirs.labels_)
            np.testing.assert_array_equal(ours.core_sample_indices_, theirs.core_sample_indices_)
            np.testing.assert_array_equal(ours.components_, theirs.components_)


def test_dbscan_of_offsets_outliers_and_one_place():
    x = np.concatenate([blobs(300, 2), [[1e12, 0.0]]])
    for data in (x, blobs(500, 2, offset=1e8), np.ones((40, 2)), np.array([[0.0], [0.5], [1.0]])):
        for eps in (0.5, 0.75):
            theirs = cluster.DBSCAN(eps=eps, min_samples=3).fit(data).labels_
            np.testing.assert_array_equal(
                learn.DBSCAN(eps, min_samples=3).fit_predict(data), theirs
            )


def test_errors_name_what_is_wrong():
    x = blobs(10, 2)
    bad = x.copy()
    bad[3, 1] = np.nan
    for model in (learn.KMeans(2), learn.DBSCAN()):
        with pytest.raises(ValueError, match="contains NaN: row=3, column=1"):
            model.fit(bad)
    with pytest.raises(ValueError, match="n_samples=10 should be >= n_clusters=11"):
        learn.KMeans(11).fit(x)
    for options in ({"n_clusters": 0}, {"init": "best"}, {"tol": -1}, {"algorithm": "fast"}):
        with pytest.raises(ValueError, match=next(iter(options))):
            learn.KMeans(**options).fit(x)
    with pytest.raises(ValueError, match="does not match the number of clusters"):
        learn.KMeans(3, init=x[:2]).fit(x)
    with pytest.raises(ValueError, match="eps"):
        learn.DBSCAN(eps=0).fit(x)
    with pytest.raises(hr.UnsupportedError, match="metric='haversine'"):
        learn.DBSCAN(metric="haversine").fit(x)
    with pytest.raises(learn.NotFittedError), warnings.catch_warnings():
        learn.KMeans().predict(x)


def test_minibatch_steps_are_scikit_learns():
    x = blobs(3000, 5)
    weights = np.random.default_rng(1).integers(1, 4, size=3000).astype(float)
    options = {"init": x[:6], "n_init": 1, "reassignment_ratio": 0.0}
    for given in (None, weights):
        theirs = cluster.MiniBatchKMeans(6, **options, random_state=0)
        ours = learn.MiniBatchKMeans(6, **options)
        for begin in range(0, 3000, 500):
            some = slice(begin, begin + 500)
            weighed = None if given is None else given[some]
            theirs.partial_fit(x[some], sample_weight=weighed)
            ours.partial_fit(x[some], sample_weight=weighed)
            np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-10)
            np.testing.assert_array_equal(ours.labels_, theirs.labels_)
            assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-9)
        assert ours.n_steps_ == 6 == theirs.n_steps_


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_minibatches_come_near_the_best(init):
    x = np.concatenate([blobs(1000, 4) * 0.1 + 20 * i for i in range(5)])
    best = cluster.KMeans(5, n_init=5, random_state=0).fit(x).inertia_
    for weights in (None, np.ones(len(x))):
        model = learn.MiniBatchKMeans(5, init=init, n_init=8, batch_size=256, random_state=1)
        model.fit(x, sample_weight=weights)
        assert model.inertia_ < 1.05 * best
        assert model.score(x) == pytest.approx(-model.inertia_)
        np.testing.assert_array_equal(model.labels_, model.predict(x))
        assert model.n_iter_ == -(-model.n_steps_ * 256 // len(x)) and model.n_steps_ > 1
    quick = learn.MiniBatchKMeans(5, compute_labels=False, batch_size=256, random_state=1).fit(x)
    assert not hasattr(quick, "labels_") and quick.inertia_ == pytest.approx(best, rel=0.5)
    whole = learn.MiniBatchKMeans(5, tol=1e-3, max_no_improvement=None, random_state=0).fit(x)
    assert whole.n_iter_ < 100


def test_centers_without_rows_are_put_to_rows():
    x = np.concatenate([blobs(300, 2), [[1e3, 1e3]] * 100])
    init = np.concatenate([x[:3], [[-1e6, 0.0]]])
    model = learn.MiniBatchKMeans(4, init=init, batch_size=100, random_state=0).fit(x)
    assert np.unique(model.labels_).size == 4
    fixed = learn.MiniBatchKMeans(4, init=init, reassignment_ratio=0, batch_size=100).fit(x)
    np.testing.assert_array_equal(fixed.cluster_centers_[3], init[3])


def test_minibatches_have_the_same_bits_for_any_threads():
    x, seen = blobs(20000, 5, dtype=np.float32), set()
    for count in (1, 2, 4):
        with hr.threads(count):
            model = learn.MiniBatchKMeans(12, random_state=1, max_iter=3).fit(x)
        assert model.cluster_centers_.dtype == np.float32
        seen.add((model.inertia_, model.cluster_centers_.tobytes(), model.labels_.tobytes()))
    assert len(seen) == 1


def test_minibatch_errors_name_what_is_wrong():
    x = blobs(10, 2)
    with pytest.raises(ValueError, match="MiniBatchKMeans: n_samples=10 should be >="):
        learn.MiniBatchKMeans(11).fit(x)
    for options in (
        {"batch_size": 0},
        {"init_size": 0},
        {"max_no_improvement": -1},
        {"reassignment_ratio": 2},
    ):
        with pytest.raises(ValueError, match=next(iter(options))):
            learn.MiniBatchKMeans(2, **options).fit(x)
    with pytest.raises(ValueError, match="is expecting 2 features"):
        learn.MiniBatchKMeans(2).partial_fit(x).partial_fit(x[:, :1])


@pytest.mark.parametrize("columns, epsilon", [(2, 0.01), (8, 0.1)])
def test_scratch_of_dbscan_counts_in_the_budget(columns, epsilon):
    x = hr.asarray(np.random.default_rng(0).random((20_000, columns)))
    fit = learn.DBSCAN(epsilon).fit
    whole = np.asarray(fit(x).labels_)
    used = hr.memory.stats().used_bytes
    # Labels alone are 8 bytes a row; where each row lies and belongs takes 50 more or so.
    with (
        hr.memory.limit(used + 20 * len(whole)),
        pytest.raises(hr.OutOfMemoryError, match="dbscan"),
    ):
        fit(x)
    with hr.memory.limit(used + (32 << 20)):
        np.testing.assert_array_equal(fit(x).labels_, whole)
