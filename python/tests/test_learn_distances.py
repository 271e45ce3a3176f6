# SPDX-License-Identifier: Apache-2.0
"""Distances of all pairs, and scores of clusters, beside scikit-learn."""

import numpy as np
import pytest

import headrace as hr
from headrace import learn

theirs = pytest.importorskip("sklearn.metrics")
ours = learn.metrics


@pytest.mark.parametrize(
    "metric", ["euclidean", "l2", "sqeuclidean", "cosine", "manhattan", "cityblock", "chebyshev"]
)
@pytest.mark.parametrize("shape", [(1, 1, 1), (70, 300, 5), (257, 65, 33)])
def test_distances_are_scikit_learns(metric, shape):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(shape[0], shape[2])), rng.normal(size=(shape[1], shape[2]))
    if shape[0] > 1:
        x[3] = 0
    close = {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(
        ours.pairwise_distances(x, y, metric), theirs.pairwise_distances(x, y, metric), **close
    )
    own = ours.pairwise_distances(x, metric=metric)
    assert (np.diag(own) == 0).all()
    np.testing.assert_allclose(
        own, theirs.pairwise_distances(x, metric=metric), rtol=1e-7, atol=1e-7
    )


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "chebyshev"])
@pytest.mark.parametrize("rows, clusters", [(20, 2), (900, 7), (700, 300), (301, 300)])
def test_silhouettes_are_scikit_learns(metric, rows, clusters):
    rng = np.random.default_rng(clusters)
    labels = np.append(np.arange(clusters), rng.integers(0, clusters, size=rows - clusters)) - 1
    x = rng.normal(size=(rows, 3)) + labels[:, None] % 5
    x[5] = x[4]
    expected = theirs.silhouette_samples(x, labels, metric=metric)
    made = ours.silhouette_samples(x, labels, metric=metric)
    np.testing.assert_allclose(made, expected, rtol=1e-7, atol=1e-9)
    score = ours.silhouette_score(x, labels, metric=metric)
    assert score == pytest.approx(theirs.silhouette_score(x, labels, metric=metric), abs=1e-9)
    framed = hr.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2]})
    np.testing.assert_array_equal(
        np.asarray(ours.silhouette_samples(framed, hr.Series(labels), metric=metric)), made
    )


def test_scores_of_clusters():
    rng = np.random.default_rng(2)
    labels = rng.choice(["a", "b", "c"], size=500)
    x = rng.normal(size=(500, 4)) + (labels == "b")[:, None] * 3
    for name in ("calinski_harabasz_score", "davies_bouldin_score"):
        assert getattr(ours, name)(x, labels) == pytest.approx(
            getattr(theirs, name)(x, labels), rel=1e-10
        )
    same = np.repeat([[1.0], [2.0]], 3, axis=0), [0, 0, 0, 1, 1, 1]
    assert ours.calinski_harabasz_score(*same) == theirs.calinski_harabasz_score(*same) == 1
    assert ours.davies_bouldin_score(*same) == theirs.davies_bouldin_score(*same) == 0
    assert ours.silhouette_score(*same) == theirs.silhouette_score(*same) == 1


def test_a_sample_of_rows_is_near_and_repeatable():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, size=4000)
    x = rng.normal(size=(4000, 2)) + labels[:, None] * 3
    whole = ours.silhouette_score(x, labels)
    drawn = [ours.silhouette_score(x, labels, sample_size=800, random_state=5) for _ in range(2)]
    assert drawn[0] == drawn[1] != whole and abs(drawn[0] - whole) < 0.03
    with pytest.raises(ValueError, match="sample_size=4001"):
        ours.silhouette_score(x, labels, sample_size=4001)


def test_the_same_bits_for_any_threads():
    rng = np.random.default_rng(4)
    x, labels, seen = rng.normal(size=(2500, 6)), rng.integers(0, 9, size=2500), set()
    for count in (1, 2, 4):
        with hr.threads(count):
            made = ours.silhouette_samples(x, labels), ours.pairwise_distances(x[:300], x)
        seen.add(b"".join(each.tobytes() for each in made))
    assert len(seen) == 1


def test_errors_name_what_is_wrong():
    x = np.arange(8.0).reshape(4, 2)
    for labels in ([0, 0, 0, 0], [0, 1, 2, 3]):
        with pytest.raises(ValueError, match="2 to n_samples - 1"):
            ours.silhouette_score(x, labels)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ours.silhouette_samples(x, [0, 1])
    with pytest.raises(hr.UnsupportedError, match="metric='precomputed'"):
        ours.pairwise_distances(x, metric="precomputed")
    with pytest.raises(ValueError, match="pairwise_distances: Input X contains NaN: row=0"):
        ours.pairwise_distances([[np.nan]])
    with pytest.raises(ValueError, match="columns"):
        ours.pairwise_distances(x, x[:, :1])
