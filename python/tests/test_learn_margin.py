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
