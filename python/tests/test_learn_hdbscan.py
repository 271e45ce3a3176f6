# SPDX-License-Identifier: Apache-2.0
"""HDBSCAN beside scikit-learn: the same tree, and from a tree the same clusters."""

import hashlib

import numpy as np
import pytest

import headrace as hr
from headrace import learn

cluster = pytest.importorskip("sklearn.cluster")
_tree = pytest.importorskip("sklearn.cluster._hdbscan._tree")


def groups(rows, columns, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.normal(0, 4, size=(4, columns))
    sizes = rng.uniform(0.2, 1.5, size=(4, 1))
    of = rng.integers(0, 4, size=rows)
    return centers[of] + rng.normal(size=(rows, columns)) * sizes[of]


def linkage_of(model):
    """Our merges as scikit-learn keeps them."""
    made = np.zeros(len(model._linkage[0]), dtype=_tree.HIERARCHY_dtype)
    for name, values in zip(made.dtype.names, model._linkage, strict=True):
        made[name] = values
    return made


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
@pytest.mark.parametrize("columns", [1, 2, 5, 12, 13, 20])
def test_the_tree_and_its_clusters_are_scikit_learns(columns, metric):
    for seed in range(6):
        rng = np.random.default_rng([seed, columns])
        x = groups(int(rng.integers(20, 300)), columns, seed)
        if seed % 3 == 0:
            x = np.round(x)  # many at the same place
        options = {
            "min_cluster_size": int(rng.integers(2, 12)),
            "min_samples": int(rng.integers(1, 8)),
            "metric": metric,
            "alpha": float(rng.choice([1.0, 0.7])),
            "cluster_selection_method": str(rng.choice(["eom", "leaf"])),
        }
        chosen = {
            "allow_single_cluster": bool(rng.integers(0, 2)),
            "max_cluster_size": None if seed % 2 else int(rng.integers(30, 80)),
        }
        ours = learn.HDBSCAN(**options, **chosen).fit(x)
        theirs = cluster.HDBSCAN(**options, copy=True).fit(x)
        loose = {"rtol": 1e-5, "atol": 1e-7} if metric == "cosine" else {"rtol": 1e-12}
        merges = linkage_of(ours)
        np.testing.assert_allclose(
            merges["value"], np.sort(theirs._single_linkage_tree_["value"]), **loose
        )
        size, method = options["min_cluster_size"], options["cluster_selection_method"]
        condensed = _tree._condense_tree(merges, size)
        for name, column in zip(condensed.dtype.names, ours.condensed_tree_.columns, strict=True):
            np.testing.assert_array_equal(
                ours.condensed_tree_[column].to_numpy(), condensed[name], strict=True
            )
        np.testing.assert_array_equal(
            ours.dbscan_clustering(1.0, size), _tree.labelling_at_cut(merges, 1.0, size)
        )
        try:
            labels, chances = _tree.tree_to_labels(
                merges,
                size,
                method,
                chosen["allow_single_cluster"],
                0.0,
                chosen["max_cluster_size"],
            )
        except KeyError:  # scikit-learn's, for a single cluster that is not the root
            continue
        np.testing.assert_array_equal(ours.labels_, labels)
        np.testing.assert_array_equal(ours.probabilities_, chances)


@pytest.mark.parametrize("columns", [1, 3, 13])
@pytest.mark.parametrize("samples", [1, 2])
def test_labels_are_scikit_learns_where_no_edges_tie(columns, samples):
    for seed in range(8):
        x = groups(400, columns, seed)
        options = {"min_cluster_size": 6 + seed, "min_samples": samples}
        ours = learn.HDBSCAN(**options).fit(x)
        theirs = cluster.HDBSCAN(**options, copy=True).fit(x)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        np.testing.assert_allclose(ours.probabilities_, theirs.probabilities_, rtol=1e-12)
        assert learn.metrics.adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0


@pytest.mark.parametrize("columns", [2, 15])
def test_the_order_of_rows_does_not_matter(columns):
    x = groups(1500, columns)
    order = np.random.default_rng(3).permutation(len(x))
    plain = learn.HDBSCAN(20, min_samples=8).fit(x)
    mixed = learn.HDBSCAN(20, min_samples=8).fit(x[order])
    assert learn.metrics.adjusted_rand_score(plain.labels_[order], mixed.labels_) == 1.0
    np.testing.assert_allclose(plain.probabilities_[order], mixed.probabilities_, rtol=1e-12)


@pytest.mark.parametrize("columns", [3, 14])
def test_the_same_bits_for_any_threads(columns):
    x, seen = np.round(groups(5000, columns), 1), set()
    for count in (1, 2, 4):
        with hr.threads(count):
            model = learn.HDBSCAN(15, min_samples=5, store_centers="both").fit(x)
        made = (model.labels_, model.probabilities_, *model._linkage, model.centroids_)
        seen.add(hashlib.sha256(b"".join(each.tobytes() for each in made)).hexdigest())
        seen.add(hashlib.sha256(model.medoids_.tobytes()).hexdigest())
    assert len(seen) == 2


def test_all_at_few_places():
    x = np.repeat([[0.0, 0.0], [1.0, 0.0], [9.0, 9.0]], 2000, axis=0)
    model = learn.HDBSCAN(100).fit(x)
    np.testing.assert_array_equal(model.labels_, np.repeat([1, 2, 0], 2000))
    np.testing.assert_array_equal(model.probabilities_, 1.0)
    assert set(learn.HDBSCAN(5).fit_predict(np.ones((30, 20)))) == {-1}
    single = learn.HDBSCAN(5, allow_single_cluster=True).fit(np.ones((30, 2)))
    np.testing.assert_array_equal(single.labels_, 0)


def test_clusters_that_split_below_epsilon_are_merged():
    x = np.array([[0, 1, 2, 10, 11, 12, 100, 101, 102.5, 180, 181, 182.5, 1000, 1001, 1002]]).T
    options = {"min_cluster_size": 3, "min_samples": 2}

    def groups_of(epsilon, method):
        model = learn.HDBSCAN(
            **options, cluster_selection_epsilon=epsilon, cluster_selection_method=method
        )
        labels = model.fit_predict(x).reshape(5, 3)
        assert (labels == labels[:, :1]).all() and (labels >= 0).all()
        return sorted(np.flatnonzero(labels[:, 0] == each).tolist() for each in set(labels[:, 0]))

    # Gaps are 8, 88, 77.5 and 817.5 wide.
    assert groups_of(0, "leaf") == groups_of(7, "leaf") == [[0], [1], [2], [3], [4]]
    assert groups_of(20, "leaf") == [[0, 1], [2], [3], [4]]
    assert groups_of(80, "leaf") == groups_of(80, "eom") == [[0, 1], [2, 3], [4]]
    assert groups_of(90, "leaf") == groups_of(900, "eom") == [[0, 1, 2, 3], [4]]


@pytest.mark.parametrize("columns", [2, 14])
def test_rows_that_are_not_finite_are_in_no_cluster(columns):
    x = groups(300, columns)
    bad = x.copy()
    bad[7, 0], bad[11, 1], bad[13] = np.inf, np.nan, [np.inf, np.nan] * (columns // 2)
    finite = np.delete(np.arange(300), [7, 11, 13])
    ours = learn.HDBSCAN(8, min_samples=2).fit(bad)
    theirs = cluster.HDBSCAN(8, min_samples=2, copy=True).fit(bad)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.probabilities_, theirs.probabilities_, rtol=1e-12)
    assert ours.labels_[[7, 11, 13]].tolist() == [-2, -3, -3]
    np.testing.assert_array_equal(ours.dbscan_clustering(1.0, 4), theirs.dbscan_clustering(1.0, 4))
    plain, tree = learn.HDBSCAN(8, min_samples=2).fit(x[finite]), ours.condensed_tree_
    leaves = tree["child"].to_numpy()[tree["child_size"].to_numpy() == 1]
    np.testing.assert_array_equal(np.sort(leaves), finite)
    assert tree["parent"].min() == 300
    np.testing.assert_array_equal(plain.labels_, ours.labels_[finite])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_centers_are_scikit_learns(metric):
    x = groups(700, 3, seed=4)
    options = {"min_cluster_size": 20, "min_samples": 2, "metric": metric, "store_centers": "both"}
    ours, theirs = learn.HDBSCAN(**options).fit(x), cluster.HDBSCAN(**options, copy=True).fit(x)
    assert ours.centroids_.shape == (ours.labels_.max() + 1, 3) and ours.labels_.max() >= 1
    np.testing.assert_allclose(ours.centroids_, theirs.centroids_, rtol=1e-12)
    np.testing.assert_array_equal(ours.medoids_, theirs.medoids_)
    assert not hasattr(learn.HDBSCAN().fit(x), "centroids_")


def test_kinds_of_rows():
    x = groups(400, 3)
    model = learn.HDBSCAN(10).fit(x)
    frame = hr.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2]})
    named = learn.HDBSCAN(10, store_centers="both").fit(frame)
    assert isinstance(named.labels_, hr.Array) and isinstance(named.medoids_, hr.Array)
    np.testing.assert_array_equal(np.asarray(named.labels_), model.labels_)
    single = learn.HDBSCAN(10).fit(np.asfortranarray(x, dtype=np.float32))
    doubled = learn.HDBSCAN(10).fit(x.astype(np.float32).astype(np.float64))
    np.testing.assert_array_equal(single.labels_, doubled.labels_)


def test_errors_name_what_is_wrong():
    x = groups(20, 2)
    for options in (
        {"min_cluster_size": 1},
        {"min_samples": 0},
        {"cluster_selection_epsilon": -1},
        {"max_cluster_size": 0},
        {"alpha": 0},
        {"algorithm": "fast"},
        {"cluster_selection_method": "best"},
        {"store_centers": "all"},
    ):
        with pytest.raises(ValueError, match=next(iter(options))):
            learn.HDBSCAN(**options).fit(x)
    with pytest.raises(ValueError, match="min_samples"):
        learn.HDBSCAN(min_samples=21).fit(x)
    with pytest.raises(ValueError, match="cosine is not a valid metric"):
        learn.HDBSCAN(metric="cosine", algorithm="kd_tree").fit(x)
    with pytest.raises(hr.UnsupportedError, match="precomputed"):
        learn.HDBSCAN(metric="precomputed").fit(x @ x.T)
    with pytest.raises(learn.NotFittedError):
        learn.HDBSCAN().dbscan_clustering(1.0)
