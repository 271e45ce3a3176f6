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


# ---- UMAP ----------------------------------------------------------------------------------------
def fuzzy_union(x, neighbors, mix=1.0, connectivity=1):
    """The definition: memberships that sum to log2(neighbors), united."""
    apart = np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=2))
    made = np.zeros_like(apart)
    for i, row in enumerate(apart):
        others = np.delete(np.arange(len(x)), i)
        near = others[np.argsort(row[others], kind="stable")][: neighbors - 1]
        above = row[near] - row[near][row[near] > 0][connectivity - 1]
        low, high = -60.0, 60.0
        for _ in range(100):
            scale = 2.0 ** ((low + high) / 2)
            weights = np.exp(-np.maximum(above, 0) / scale)
            bound = (low, np.log2(scale)), (np.log2(scale), high)
            low, high = bound[int(weights.sum() < np.log2(neighbors))]
        made[i, near] = weights
    both = made * made.T
    return mix * (made + made.T - both) + (1 - mix) * both


@pytest.mark.parametrize("options", [{}, {"set_op_mix_ratio": 0.3}, {"local_connectivity": 2}])
def test_umap_graph_is_its_definition(options):
    x = blobs(120, 4)
    model = hr.learn.UMAP(n_neighbors=10, n_epochs=0, random_state=0, **options).fit(x)
    given = options.get("set_op_mix_ratio", 1.0), options.get("local_connectivity", 1)
    assert np.abs(model.graph_.toarray() - fuzzy_union(x, 10, *given)).max() < 1e-4


def test_umap_curve_is_that_of_umap_learn():
    from headrace.learn.manifold.umap import similarity_curve

    # SciPy's curve_fit in umap-learn 0.5.12
    assert similarity_curve(1.0, 0.1) == pytest.approx((1.57694346, 0.89506088), rel=1e-6)
    assert similarity_curve(1.0, 0.5) == pytest.approx((0.58303002, 1.33416699), rel=1e-6)
    assert similarity_curve(2.0, 0.01) == pytest.approx((0.63534441, 0.79555289), rel=1e-6)


def test_umap_begins_with_eigenvectors_of_the_graph():
    linalg = pytest.importorskip("scipy.linalg")
    x = np.random.default_rng(0).normal(size=(400, 3))
    model = hr.learn.UMAP(n_epochs=0, random_state=0).fit(x)
    weights = model.graph_.toarray().astype(np.float64)
    roots = np.sqrt(weights.sum(axis=1))
    _, vectors = linalg.eigh(weights / np.outer(roots, roots), subset_by_index=[397, 398])
    low = model.embedding_ - model.embedding_.mean(axis=0)
    basis = np.column_stack([vectors, np.ones(400)])
    left = low - basis @ np.linalg.lstsq(basis, low, rcond=None)[0]
    assert np.linalg.norm(left) < 0.02 * np.linalg.norm(low)


def test_umap_is_as_good_as_others(digits):
    # umap-learn 0.5.12: 0.98991 and, of the blobs, 0.97178
    assert trustworthiness(digits, hr.learn.UMAP(random_state=0).fit_transform(digits)) > 0.9849
    x = blobs(1000, 20)
    assert trustworthiness(x, hr.learn.UMAP(random_state=0).fit_transform(x)) > 0.9668
    x = np.random.default_rng(0).normal(size=(3000, 8))  # 0.8458, in one piece
    assert trustworthiness(x, hr.learn.UMAP(random_state=0).fit_transform(x)) > 0.8408


def test_umap_unrolls_more_than_ten_thousand_rows():
    rng = np.random.default_rng(0)
    x = np.tanh(rng.normal(size=(12_000, 4)) @ rng.normal(size=(4, 20)))
    low = hr.learn.UMAP(random_state=0).fit_transform(x)
    assert trustworthiness(x[:3000], low[:3000]) > 0.9849 - 0.005  # umap-learn 0.5.12: 0.98489


@pytest.mark.parametrize("options", [{}, {"init": "random", "n_components": 5}])
def test_umap_has_the_same_bits_for_any_threads(digits, options):
    made = []
    for threads in (1, 2, 4):
        with hr.threads(threads):
            model = hr.learn.UMAP(n_epochs=40, random_state=0, **options).fit(digits[:1200])
            placed = model.transform(digits[1200:])
        made.append((model.embedding_.tobytes(), model.graph_.data.tobytes(), placed.tobytes()))
    assert made[0] == made[1] == made[2]


def test_umap_places_new_rows(digits):
    model = hr.learn.UMAP(random_state=0).fit(digits[:1400])
    assert np.array_equal(model.transform(digits[:1400]), model.embedding_)
    placed = model.transform(digits[1400:])
    both = np.concatenate([model.embedding_, placed])
    assert trustworthiness(digits, both) > 0.975
    turned = model.transform(digits[1400:][::-1])[::-1]
    assert np.array_equal(placed, turned)  # each row alone


def test_umap_of_few_equal_and_constant_rows():
    fit = hr.learn.UMAP(n_neighbors=5, random_state=0).fit_transform
    assert np.isfinite(fit(np.ones((20, 3)))).all()
    assert np.isfinite(fit(np.repeat(blobs(40, 3), 40, axis=0))).all()
    assert np.isfinite(fit(blobs(50, 4) + 1e8)).all()
    assert np.isfinite(fit(blobs(50, 4) * 1e30)).all()
    with pytest.warns(UserWarning, match="n_neighbors is larger"):
        assert np.isfinite(hr.learn.UMAP(random_state=0).fit_transform([[0.0], [1.0]])).all()


def test_umap_of_distances_is_that_of_rows():
    x = blobs(100, 4)
    apart = np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=2))
    options = {"n_epochs": 0, "init": "random", "random_state": 0}
    by_rows = hr.learn.UMAP(**options).fit(x)
    given = hr.learn.UMAP(metric="precomputed", **options).fit(apart)
    assert np.abs(by_rows.graph_ - given.graph_).max() < 1e-4
    with pytest.raises(NotImplementedError, match="precomputed"):
        given.transform(apart)


def test_umap_keeps_the_kind_of_its_rows():
    x = blobs(60, 4)
    ours = hr.learn.UMAP(random_state=0).fit(hr.asarray(x))
    assert isinstance(ours.embedding_, hr.Array)
    assert isinstance(ours.graph_, hr.tensor.csr_matrix)
    theirs = hr.learn.UMAP(random_state=0).fit(x)
    assert np.array_equal(np.asarray(ours.embedding_), theirs.embedding_)
    assert list(theirs.get_feature_names_out()) == ["umap0", "umap1"]
    with pytest.warns(UserWarning, match="y is not used"):
        hr.learn.UMAP(random_state=0).fit(x, np.zeros(60))


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"n_neighbors": 1}, ValueError, "n_neighbors"),
        ({"n_components": 0}, ValueError, "n_components"),
        ({"n_epochs": -1}, ValueError, "n_epochs"),
        ({"min_dist": 2.0}, ValueError, "min_dist"),
        ({"learning_rate": 0}, ValueError, "learning_rate"),
        ({"set_op_mix_ratio": 2}, ValueError, "set_op_mix_ratio"),
        ({"init": "tswspectral"}, ValueError, "init"),
        ({"a": -1.0}, ValueError, "a is not valid"),
        ({"densmap": True}, NotImplementedError, "densmap"),
        ({"target_metric": "l2"}, NotImplementedError, "target_metric"),
        ({"metric": "hamming"}, NotImplementedError, "metric='hamming'"),
        ({"output_metric": "haversine"}, NotImplementedError, "output_metric"),
    ],
)
def test_umap_refuses(options, error, words):
    with pytest.raises(error, match=words):
        hr.learn.UMAP(**options).fit(blobs(60, 4))
