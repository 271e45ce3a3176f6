# SPDX-License-Identifier: Apache-2.0
"""`hr.learn.LassoCV` and `ElasticNetCV` against scikit-learn."""

import hashlib
import warnings

import numpy as np
import pytest

import headrace as hr
from headrace import learn

pytest.importorskip("sklearn")
from scipy import sparse
from sklearn import linear_model

TIGHT = {"tol": 1e-11, "max_iter": 100_000}


def problem(seed, rows=160, features=9):
    rng = np.random.default_rng(seed)
    mix = np.eye(features) * 2 + rng.normal(size=(features, features)) / np.sqrt(features)
    x = rng.normal(size=(rows, features)) @ mix
    w = rng.normal(size=features) * (rng.random(features) < 0.5)
    return x + 2, x @ w + 2 * rng.normal(size=rows) + 3, rng.random(rows) * 3


def fit(kind, x, y, weights=None, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(**{**TIGHT, "alphas": 20, **params}).fit(x, y, weights)


def same(ours, other):
    np.testing.assert_allclose(ours.alphas_, other.alphas_, rtol=1e-9)
    np.testing.assert_allclose(ours.mse_path_, other.mse_path_, rtol=1e-5)
    assert abs(ours.alpha_ - other.alpha_) < 1e-9
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, other.intercept_, atol=1e-4)


@pytest.mark.parametrize("shape", [(160, 9), (50, 30)])
@pytest.mark.parametrize("seed", range(4))
def test_like_sklearn(seed, shape):
    x, y, weights = problem(seed, *shape)
    given = weights if seed % 2 else None
    params = {"fit_intercept": seed != 3, "positive": seed == 2, "cv": [5, 3][seed % 2]}
    same(
        fit(learn.LassoCV, x, y, given, **params),
        fit(linear_model.LassoCV, x, y, given, **params),
    )


@pytest.mark.parametrize("alphas", [10, [0.01, 0.3, 0.1]])
def test_several_ratios(alphas):
    x, y, _ = problem(5)
    params = {"l1_ratio": [0.2, 0.7, 1.0], "alphas": alphas}
    ours = fit(learn.ElasticNetCV, x, y, **params)
    other = fit(linear_model.ElasticNetCV, x, y, **params)
    same(ours, other)
    assert ours.l1_ratio_ == other.l1_ratio_


def test_ways_to_split():
    x, y, _ = problem(6)
    rng = np.random.default_rng(0)
    parts = [(rng.permutation(160)[:100], rng.permutation(160)[:30]) for _ in range(3)]
    for cv in (linear_model.LassoCV().cv, learn.KFold(4, shuffle=True, random_state=1), parts):
        listed = cv if isinstance(cv, list) else learn.KFold(5).split(x) if cv is None else cv
        listed = list(listed.split(x)) if hasattr(listed, "split") else list(listed)
        same(fit(learn.LassoCV, x, y, cv=cv), fit(linear_model.LassoCV, x, y, cv=listed))


def test_kinds_of_rows_and_threads():
    x, y, weights = problem(7, rows=20_000)
    x[np.abs(x) < 1] = 0
    base = fit(learn.LassoCV, x, y, weights)
    frame = hr.DataFrame({f"c{j}": np.ascontiguousarray(x[:, j]) for j in range(x.shape[1])})
    hashes = set()
    for count in (1, 2, 4):
        with hr.threads(count):
            model = fit(learn.LassoCV, frame, y, weights)
        hashes.add(hashlib.sha256(model.coef_.tobytes() + model.mse_path_.tobytes()).hexdigest())
    assert len(hashes) == 1 and model.alpha_ == base.alpha_
    for rows in (sparse.csr_matrix(x), hr.tensor.csr_matrix(x)):
        thin = fit(learn.LassoCV, rows, y, weights)
        np.testing.assert_allclose(thin.coef_, base.coef_, atol=1e-7)
        np.testing.assert_allclose(thin.mse_path_, base.mse_path_, rtol=1e-9)


def test_offsets():
    x, y, _ = problem(8)
    near, far = fit(learn.LassoCV, x, y), fit(learn.LassoCV, x + 1e7, y + 1e7)
    np.testing.assert_allclose(far.mse_path_, near.mse_path_, rtol=1e-5)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-5)


def test_refused():
    x, y, _ = problem(9)
    for params in ({"eps": 0}, {"alphas": 0}, {"alphas": [-1.0]}, {"tol": -1}):
        with pytest.raises(ValueError, match=next(iter(params))):
            learn.LassoCV(**params).fit(x, y)
    with pytest.raises(ValueError, match="l1_ratio=0"):
        learn.ElasticNetCV(l1_ratio=0).fit(x, y)
