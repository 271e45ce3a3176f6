# SPDX-License-Identifier: Apache-2.0
"""Embeddings of neighbours: how good, how exact, and always the same."""

import numpy as np
import pytest

import headrace as hr

pytest.importorskip("sklearn")
from sklearn import datasets
from sklearn.manifold import trustworthiness


@pytest.fixture(scope="module")
def digits():
    return datasets.load_digits().data


def blobs(rows, features, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(10, features)) * 4
    return centers[rng.integers(0, 10, rows)] + rng.normal(size=(rows, features))


def joint_probabilities(x, perplexity):
    """The definition, with one bisection a row."""
    apart = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    made = np.zeros_like(apart)
    for i, row in enumerate(apart):
        others = np.delete(np.arange(len(x)), i)
        low, high = -60.0, 60.0
        for _ in range(100):
            beta = 2.0 ** ((low + high) / 2)
            weights = np.exp(-beta * (row[others] - row[others].min()))
            weights /= weights.sum()
            entropy = -(weights * np.log(np.maximum(weights, 1e-300))).sum()
            low, high = (
                (low, np.log2(beta)) if entropy < np.log(perplexity) else (np.log2(beta), high)
            )
        made[i, others] = weights
    return (made + made.T) / (2 * len(x))


def divergence(p, low):
    dimensions = low.shape[1]
    freedom = max(dimensions - 1, 1)
    low = low.astype(np.float64)
    square = ((low[:, None] - low[None]) ** 2).sum(axis=2)
    q = (1 + square / freedom) ** (-(freedom + 1) / 2)
    np.fill_diagonal(q, 0)
    q /= q.sum()
    there = p > 0
    return (p[there] * np.log(p[there] / q[there])).sum()


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_tsne_divergence_is_its_definition(dimensions):
    x = blobs(90, 5)
    model = hr.learn.TSNE(dimensions, perplexity=10, method="exact", init="random", random_state=3)
    low = model.fit_transform(x)
    assert low.dtype == np.float32
    assert low.shape == (90, dimensions)
    expected = divergence(joint_probabilities(x, 10), low)
    assert model.kl_divergence_ == pytest.approx(expected, abs=2e-4)


def test_tsne_ends_where_no_slope_is():
    x = blobs(80, 5)
    model = hr.learn.TSNE(perplexity=10, method="exact", max_iter=5000, random_state=0).fit(x)
    p, low = joint_probabilities(x, 10), model.embedding_.astype(np.float64)
    least = divergence(p, low)
    for seed in range(20):  # a minimum: every small step away is up
        step = np.random.default_rng(seed).normal(size=low.shape) * 0.01 * low.std()
        assert divergence(p, low + step) > least - 1e-5


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_tsne_tree_is_near_the_exact_sum(dimensions):
    x = blobs(1500, 5)
    options = {"max_iter": 300, "random_state": 0, "perplexity": 20}
    model = hr.learn.TSNE(dimensions, **options).fit(x)
    frozen = {"init": model.embedding_, "learning_rate": 1e-9, **options}
    kept = hr.learn.TSNE(dimensions, angle=0.0, **frozen).fit(x)
    assert np.abs(kept.embedding_ - model.embedding_).max() < 1e-5
    assert model.kl_divergence_ == pytest.approx(kept.kl_divergence_, abs=0.01)


def test_tsne_is_as_good_as_others(digits):
    model = hr.learn.TSNE(random_state=0).fit(digits)
    # 0.7530 and 0.99498: scikit-learn 1.9.1's, which stops at the same iteration
    assert model.kl_divergence_ < 0.7530 + 0.01
    assert model.n_iter_ == 999
    assert model.learning_rate_ == 50
    assert trustworthiness(digits, model.embedding_) > 0.9950 - 0.005


def test_tsne_of_blobs():
    x = blobs(1000, 20)
    low = hr.learn.TSNE(random_state=0).fit_transform(x)
    assert trustworthiness(x, low) > 0.9850 - 0.005  # openTSNE 1.0.4: 0.98502


@pytest.mark.parametrize("options", [{}, {"method": "exact"}, {"n_components": 3}])
def test_tsne_has_the_same_bits_for_any_threads(digits, options):
    made = []
    for threads in (1, 2, 4):
        with hr.threads(threads):
            model = hr.learn.TSNE(max_iter=300, random_state=0, **options).fit(digits[:700])
        made.append((model.embedding_.tobytes(), model.kl_divergence_, model.n_iter_))
    assert made[0] == made[1] == made[2]


def test_tsne_reports_its_progress(digits):
    told = []
    hr._core.set_progress(lambda done, count: told.append((done, count)))
    try:
        hr.learn.TSNE(max_iter=1000, init="random", random_state=0).fit(digits[:1200])
    finally:
        hr._core.set_progress(None)
    done = [done for done, count in told if count == 1000]
    assert done == sorted(done)
    assert any(0 < each < 1000 for each in done)


def test_tsne_of_few_equal_and_constant_rows():
    constant = hr.learn.TSNE(perplexity=5).fit(np.ones((20, 3)))
    assert np.isfinite(constant.embedding_).all()
    twice = np.repeat(blobs(40, 3), 40, axis=0)
    assert np.isfinite(hr.learn.TSNE(max_iter=250, perplexity=5).fit_transform(twice)).all()
    pair = hr.learn.TSNE(perplexity=1).fit_transform([[0.0, 1.0], [1.0, 0.0]])
    assert np.isfinite(pair).all()
    far = blobs(50, 4) + 1e8
    assert np.isfinite(hr.learn.TSNE(perplexity=5).fit_transform(far)).all()
    large = blobs(50, 4) * 1e30
    assert np.isfinite(hr.learn.TSNE(perplexity=5).fit_transform(large)).all()


def test_tsne_of_distances_is_that_of_rows():
    x = blobs(100, 4)
    apart = np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=2))
    options = {"perplexity": 10, "init": "random", "random_state": 0, "max_iter": 250}
    by_rows = hr.learn.TSNE(**options).fit(x)
    given = hr.learn.TSNE(metric="precomputed", **options).fit(apart)
    assert given.kl_divergence_ == pytest.approx(by_rows.kl_divergence_, abs=1e-3)
    with pytest.raises(ValueError, match="square"):
        hr.learn.TSNE(metric="precomputed", **options).fit(x)
    with pytest.raises(ValueError, match="positive"):
        hr.learn.TSNE(metric="precomputed", **options).fit(-apart)
    with pytest.raises(ValueError, match="init"):
        hr.learn.TSNE(metric="precomputed", perplexity=10).fit(apart)


def test_tsne_keeps_the_kind_of_its_rows():
    x = blobs(60, 4)
    ours = hr.learn.TSNE(perplexity=5, max_iter=250).fit(hr.asarray(x))
    assert isinstance(ours.embedding_, hr.Array)
    theirs = hr.learn.TSNE(perplexity=5, max_iter=250).fit(x)
    assert np.array_equal(np.asarray(ours.embedding_), theirs.embedding_)
    assert list(theirs.get_feature_names_out()) == ["tsne0", "tsne1"]


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"perplexity": 60}, ValueError, "perplexity"),
        ({"n_components": 4}, NotImplementedError, "n_components=4"),
        ({"max_iter": 249}, ValueError, "max_iter"),
        ({"learning_rate": 0}, ValueError, "learning_rate"),
        ({"learning_rate": "fast"}, ValueError, "learning_rate"),
        ({"method": "fft"}, ValueError, "method"),
        ({"angle": 1.5}, ValueError, "angle"),
        ({"early_exaggeration": 0.5}, ValueError, "early_exaggeration"),
        ({"init": "spectral"}, ValueError, "init"),
        ({"init": np.zeros((3, 2))}, ValueError, "init.shape"),
        ({"init": np.full((60, 2), np.nan)}, ValueError, "init contains"),
        ({"metric": "hamming"}, NotImplementedError, "metric='hamming'"),
        ({"metric_params": {"p": 3}}, NotImplementedError, "metric_params"),
        ({"learning_rate": float("inf")}, ValueError, "smaller learning_rate"),
    ],
)
def test_tsne_refuses(options, error, words):
    with pytest.raises(error, match=words):
        hr.learn.TSNE(**{"perplexity": 5, "max_iter": 250, **options}).fit(blobs(60, 4))


def test_tsne_names_rows_that_are_not_finite():
    x = blobs(60, 4)
    x[7, 2] = np.nan
    with pytest.raises(ValueError, match="row=7, column=2"):
        hr.learn.TSNE(perplexity=5).fit(x)
