# SPDX-License-Identifier: Apache-2.0
"""`hr.learn.LinearSVC` against scikit-learn's, that is liblinear."""

import hashlib
import warnings

import numpy as np
import pytest

import headrace as hr
from headrace import learn

pytest.importorskip("sklearn")
from scipy import sparse
from sklearn import svm

TIGHT = {"tol": 1e-10, "max_iter": 20_000}


def problem(seed, rows=120, features=6, classes=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, features)) * rng.choice([0.3, 1.0, 5.0], features)
    y = (x @ rng.normal(size=(features, classes)) + rng.gumbel(size=(rows, classes))).argmax(1)
    y[:classes] = np.arange(classes)
    return x + 1, y, rng.random(rows) * 3


def theirs(x, y, weights=None, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return svm.LinearSVC(**{**TIGHT, "dual": False, **params}).fit(x, y, weights)


@pytest.mark.parametrize("seed", range(12))
def test_like_sklearn(seed):
    x, y, weights = problem(seed, classes=2 + seed % 3)
    params = {
        "C": [0.05, 1.0, 20.0][seed % 3],
        "fit_intercept": seed % 4 != 0,
        "intercept_scaling": 1.0 + seed % 2,
        "class_weight": [None, "balanced", {0: 2.0, 1: 0.5, 2: 1.0, 3: 1.0}][seed % 3],
        "penalty": "l1" if seed % 5 == 0 else "l2",
    }
    given = weights if seed % 2 else None
    ours = learn.LinearSVC(**params, **TIGHT).fit(x, y, given)
    other = theirs(x, y, given, **params)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-4)
    np.testing.assert_allclose(
        ours.intercept_, np.broadcast_to(other.intercept_, len(ours.coef_)), atol=1e-4
    )
    np.testing.assert_allclose(ours.decision_function(x), other.decision_function(x), atol=1e-3)
    assert (ours.predict(x) == other.predict(x)).mean() > 0.99


def test_sparse_rows_and_threads():
    x, y, weights = problem(21, rows=20_000, features=9, classes=3)
    x[np.abs(x) < 1] = 0
    hashes = set()
    for count in (1, 2, 4):
        with hr.threads(count):
            model = learn.LinearSVC().fit(x, y, weights)
        hashes.add(hashlib.sha256(model.coef_.tobytes() + model.intercept_.tobytes()).hexdigest())
    assert len(hashes) == 1
    tight = learn.LinearSVC(tol=1e-9).fit(x, y, weights)
    for rows in (sparse.csr_matrix(x), hr.tensor.csr_matrix(x)):
        thin = learn.LinearSVC(tol=1e-9).fit(rows, y, weights)
        np.testing.assert_allclose(thin.coef_, tight.coef_, atol=1e-6)


def test_refused():
    x, y, _ = problem(31)
    with pytest.raises(hr.errors.UnsupportedError, match="crammer_singer"):
        learn.LinearSVC(multi_class="crammer_singer").fit(x, y)
    with pytest.raises(ValueError, match="penalty"):
        learn.LinearSVC(penalty="l3").fit(x, y)
    with pytest.raises(ValueError, match="only one class"):
        learn.LinearSVC().fit(x, np.ones(len(x)))


@pytest.mark.parametrize("seed", range(8))
def test_hinge_like_sklearn(seed):
    x, y, weights = problem(seed, classes=2 + seed % 3)
    params = {
        "loss": "hinge",
        "C": [0.05, 1.0, 3.0][seed % 3],
        "fit_intercept": seed % 4 != 0,
        "intercept_scaling": 1.0 + seed % 2,
        "class_weight": [None, "balanced", {0: 2.0, 1: 0.5, 2: 1.0, 3: 1.0}][seed % 3],
        "tol": 1e-8,
        "max_iter": 200_000,
    }
    given = weights if seed % 2 else None
    ours = learn.LinearSVC(**params).fit(x, y, given)
    other = theirs(x, y, given, dual=True, **params)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.decision_function(x), other.decision_function(x), atol=1e-3)
    with pytest.raises(ValueError, match="penalty"):
        learn.LinearSVC(loss="hinge", penalty="l1").fit(x, y)


def numbers(seed, rows=150, features=5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, features)) * rng.choice([0.5, 1.0, 2.0], features)
    y = x @ rng.normal(size=features) * 3 + rng.standard_t(2, rows) + 4
    return x, y, np.where(rng.random(rows) < 0.1, 0.0, rng.random(rows))


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("seed", range(6))
def test_numbers_like_sklearn(seed, loss):
    x, y, weights = numbers(seed)
    params = {
        "loss": loss,
        "C": [0.05, 1.0, 3.0][seed % 3],
        "epsilon": [0.0, 0.4][seed % 2],
        "fit_intercept": seed % 4 != 0,
        "intercept_scaling": 1.0 + seed % 2,
        "tol": 1e-9,
        "max_iter": 200_000,
    }
    given = weights if seed % 2 else None
    ours = learn.LinearSVR(**params).fit(x, y, given)
    other = svm.LinearSVR(dual=True, random_state=0, **params).fit(x, y, given)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, other.intercept_, atol=1e-4)
    np.testing.assert_allclose(ours.predict(x), other.predict(x), atol=1e-3)
    scaled = learn.LinearSVR(**{**params, "epsilon": params["epsilon"] * 1e6, "loss": loss})
    if loss[0] == "s":  # squares do not know the unit of the targets
        np.testing.assert_allclose(scaled.fit(x, y * 1e6, given).coef_ / 1e6, ours.coef_, atol=1e-6)


def test_duals_of_sparse_rows_threads_and_limits():
    x, y, weights = problem(22, rows=3000, features=9, classes=3)
    x[np.abs(x) < 1] = 0
    targets = x @ np.arange(9.0) + y
    hashes = set()
    for count in (1, 2, 4):
        with hr.threads(count), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            hinge = learn.LinearSVC(loss="hinge", random_state=1, max_iter=50).fit(x, y, weights)
            distance = learn.LinearSVR(random_state=1, max_iter=50).fit(x, targets, weights)
        made = b"".join(part.tobytes() for part in (hinge.coef_, distance.coef_))
        hashes.add(hashlib.sha256(made).hexdigest())
    assert len(hashes) == 1
    tight = {"tol": 1e-7, "max_iter": 20_000, "C": 0.01}
    dense = learn.LinearSVC(loss="hinge", **tight).fit(x, y)
    for rows in (sparse.csr_matrix(x), hr.tensor.csr_matrix(x)):
        thin = learn.LinearSVC(loss="hinge", **tight).fit(rows, y)
        np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-4)
        numbers_of = learn.LinearSVR(**tight).fit(rows, targets)
        again = learn.LinearSVR(**tight).fit(x, targets)
        np.testing.assert_allclose(numbers_of.coef_, again.coef_, atol=1e-3)


def test_duals_of_odd_data():
    flat = learn.LinearSVR().fit(np.zeros((4, 2)), [1.0, 2.0, 3.0, 4.0])
    assert (flat.coef_ == 0).all() and 1 < flat.intercept_[0] < 4
    zero = learn.LinearSVR(fit_intercept=False).fit(np.zeros((3, 1)), [0.0, 0.0, 0.0])
    assert zero.predict([[5.0]]).tolist() == [0.0] and zero.n_iter_ == 1
    same = learn.LinearSVC(loss="hinge").fit([[1.0], [1.0]], [0, 1])
    assert np.isfinite(same.coef_).all()
    with pytest.warns(learn.ConvergenceWarning, match="max_iter=1 "):
        learn.LinearSVR(max_iter=1, C=100.0).fit(*numbers(1)[:2])
    with pytest.raises(ValueError, match="epsilon"):
        learn.LinearSVR(epsilon=-1.0).fit([[1.0]], [1.0])
    with pytest.raises(ValueError, match="loss"):
        learn.LinearSVR(loss="hinge").fit([[1.0]], [1.0])
