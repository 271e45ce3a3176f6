# SPDX-License-Identifier: Apache-2.0
"""Naive Bayes beside scikit-learn."""

import hashlib

import numpy as np
import pytest

import headrace as hr
from headrace import learn

naive_bayes = pytest.importorskip("sklearn.naive_bayes")
sparse = pytest.importorskip("scipy.sparse")


def problem(seed):
    rng = np.random.default_rng(seed)
    count, columns, classes = rng.integers(2, 90), rng.integers(1, 9), rng.integers(1, 5)
    names = np.array(["d", "a", "c", "b"])[:classes]
    y = names[rng.integers(0, classes, count)]
    weights = rng.integers(0, 3, count) + (np.arange(count) == 0) if seed % 3 else None
    return rng, rng.normal(size=(count, columns)) + 3 * (y == "a")[:, None], y, weights


def same(ours, theirs, x, names):
    for name in names:
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-9, err_msg=name
        )
    np.testing.assert_array_equal(ours.predict(x), theirs.predict(x))
    np.testing.assert_allclose(ours.predict_proba(x), theirs.predict_proba(x), atol=1e-12)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(x), theirs.predict_joint_log_proba(x), rtol=1e-8
    )


MOMENTS = ["class_count_", "class_prior_", "theta_", "var_", "epsilon_"]
COUNTS = ["class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_"]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_gaussian(seed):
    _, x, y, weights = problem(seed)
    options = {"var_smoothing": [1e-9, 0.1][seed % 2]}
    if seed % 5 == 0:
        classes = len(np.unique(y))
        options["priors"] = np.full(classes, 1 / classes)
    ours, theirs = learn.GaussianNB(**options), naive_bayes.GaussianNB(**options)
    same(ours.fit(x, y, weights), theirs.fit(x, y, weights), x, MOMENTS)
    ours, theirs = learn.GaussianNB(**options), naive_bayes.GaussianNB(**options)
    half, known = len(x) // 2, np.unique(y)
    for part in (slice(half), slice(half, None)):
        given = None if weights is None else weights[part] + 1.0
        for model in (ours, theirs):
            model.partial_fit(x[part], y[part], known, given)
    same(ours, theirs, x, MOMENTS)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.filterwarnings("ignore:alpha too small")
def test_multinomial(seed):
    rng, x, y, weights = problem(seed)
    x = rng.poisson(0.7, x.shape)
    options = {"alpha": [1.0, 0.01, 0.0, rng.uniform(0.1, 1, x.shape[1])][seed % 4]}
    options["force_alpha"] = seed % 8 != 2 and seed % 4 != 2
    options["fit_prior"] = seed % 3 != 0
    theirs = naive_bayes.MultinomialNB(**options).fit(x, y, weights)
    for given in (x, sparse.csr_matrix(x)):
        same(learn.MultinomialNB(**options).fit(given, y, weights), theirs, given, COUNTS)
    half, known = len(x) // 2, np.unique(y)
    again = learn.MultinomialNB(**options)
    for part in (slice(half), slice(half, None)):
        given = None if weights is None else weights[part] + (np.arange(len(x[part])) == 0)
        again.partial_fit(sparse.csr_matrix(x)[part], y[part], known, given)
    whole = None if weights is None else weights + np.isin(np.arange(len(x)), [0, half])
    same(again, naive_bayes.MultinomialNB(**options).fit(x, y, whole), x, COUNTS)


def test_large_means_cost_no_digits():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40_000, 3)), rng.integers(0, 2, 40_000)
    exact = learn.GaussianNB().fit(x, y)
    moved = learn.GaussianNB().fit(x + 1e8, y)
    np.testing.assert_allclose(moved.var_, exact.var_, rtol=1e-6)


def test_a_class_that_weighs_nothing_is_never_said():
    model = learn.GaussianNB().fit([[0.0], [1.0], [5.0]], [0, 0, 1], [1.0, 1.0, 0.0])
    assert model.class_prior_.tolist() == [1.0, 0.0] and model.predict([[5.0]]).tolist() == [0]


def test_results_have_the_kind_of_the_data():
    x, y = np.random.default_rng(0).poisson(2, (50, 4)), np.arange(50) % 3
    for cls in (learn.GaussianNB, learn.MultinomialNB):
        expected = cls().fit(x, y).predict_proba(x)
        frame = hr.DataFrame({f"c{i}": x[:, i] for i in range(4)})
        for given in (hr.asarray(x), frame):
            model = cls().fit(given, hr.asarray(y))
            made = model.predict_proba(given)
            assert type(made) is hr.Array and type(model.predict(given)) is hr.Array
            np.testing.assert_array_equal(made, expected)
    counts = hr.tensor.csr_matrix(x)
    made = learn.MultinomialNB().fit(counts, y).predict_proba(counts)
    assert type(made) is hr.Array
    np.testing.assert_allclose(made, expected, rtol=1e-12)


def test_the_same_bits_for_any_threads():
    rng = np.random.default_rng(0)
    x, y, weights = rng.normal(size=(30_000, 7)), rng.integers(0, 5, 30_000), rng.random(30_000)
    counts = sparse.csr_matrix(rng.poisson(0.1, (5000, 40)))

    def state():
        first = learn.GaussianNB().fit(x, y, weights)
        second = learn.MultinomialNB().fit(counts, y[:5000])
        parts = [first.theta_, first.var_, first.predict_proba(x[:500])]
        parts += [second.feature_log_prob_, second.predict_proba(counts)]
        return hashlib.sha256(b"".join(np.ascontiguousarray(p).tobytes() for p in parts)).digest()

    made = set()
    for threads in (1, 2, 4):
        with hr.threads(threads):
            made.add(state())
    assert len(made) == 1


@pytest.mark.parametrize(
    "options, message",
    [
        ({"priors": [0.5, 0.2]}, "sum of the priors"),
        ({"priors": [1.0]}, "Number of priors"),
        ({"priors": [2.0, -1.0]}, "non-negative"),
        ({"var_smoothing": -1}, "var_smoothing"),
    ],
)
def test_wrong_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        learn.GaussianNB(**options).fit([[0.0], [1.0]], [0, 1])


def test_wrong_labels_of_partial_fit():
    model = learn.GaussianNB()
    with pytest.raises(ValueError, match="classes must be passed"):
        model.partial_fit([[0.0]], [0])
    model.partial_fit([[0.0]], [0], classes=[0, 1])
    with pytest.raises(ValueError, match="do not exist in the initial classes"):
        model.partial_fit([[0.0]], [2])
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit([[0.0]], [1], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="alpha"):
        learn.MultinomialNB(alpha=-1.0).fit([[1.0]], [0])
