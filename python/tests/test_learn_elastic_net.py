# SPDX-License-Identifier: Apache-2.0
"""`hr.learn.Lasso` and `ElasticNet` against scikit-learn, with other data, weights and threads."""

import hashlib
import warnings

import numpy as np
import pytest

import headrace as hr
from headrace import learn

pytest.importorskip("sklearn")
from scipy import sparse
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning

TIGHT = {"tol": 1e-12, "max_iter": 100_000}


def problem(seed, rows=120, features=12):
    rng = np.random.default_rng(seed)
    mix = np.eye(features) * 2 + rng.normal(size=(features, features)) / np.sqrt(features)
    x = rng.normal(size=(rows, features)) @ mix
    w = rng.normal(size=features) * (rng.random(features) < 0.5)
    return x, x @ w + rng.normal(size=rows) + 3, rng.random(rows) * 3


def theirs(x, y, weights=None, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return linear_model.ElasticNet(**{**TIGHT, **params}).fit(x, y, weights)


@pytest.mark.parametrize("seed", range(24))
def test_like_sklearn(seed):
    rows, features = [(120, 12), (40, 60), (30, 30)][seed % 3]
    x, y, weights = problem(seed, rows, features)
    params = {
        "alpha": [0.01, 0.5, 3.0][seed // 3 % 3],
        "l1_ratio": [1.0, 0.5, 0.1][seed % 3],
        "fit_intercept": seed % 4 != 0,
        "positive": seed % 5 == 0,
    }
    given = weights if seed % 2 else None
    ours = learn.ElasticNet(**params, **TIGHT).fit(x, y, given)
    other = theirs(x, y, given, **params)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=2e-5)
    np.testing.assert_allclose(ours.intercept_, other.intercept_, atol=2e-5)
    np.testing.assert_allclose(ours.predict(x), other.predict(x), atol=1e-4)
    assert ours.dual_gap_ <= 1e-12 * np.sum((y - y.mean() * params["fit_intercept"]) ** 2) * 3


def test_lasso_is_one_end_and_ridge_the_other():
    x, y, _ = problem(50)
    lasso = learn.Lasso(0.3, **TIGHT).fit(x, y)
    assert (lasso.coef_ == learn.ElasticNet(0.3, l1_ratio=1, **TIGHT).fit(x, y).coef_).all()
    assert (lasso.coef_ == 0).any() and lasso.sparse_coef_.shape == (1, 12)
    ridge = learn.ElasticNet(0.3, l1_ratio=0, **TIGHT).fit(x, y)
    np.testing.assert_allclose(ridge.coef_, learn.Ridge(0.3 * len(x)).fit(x, y).coef_, atol=1e-5)
    none = learn.ElasticNet(0.0, **TIGHT).fit(x, y)
    np.testing.assert_allclose(none.coef_, learn.LinearRegression().fit(x, y).coef_, atol=1e-4)
    assert (learn.Lasso(1e6).fit(x, y).coef_ == 0).all()


@pytest.mark.parametrize("rows", [300, 15])
def test_kinds_of_rows(rows):
    x, y, weights = problem(51, rows, 21)
    x[np.abs(x) < 1] = 0
    frame = hr.DataFrame({f"c{j}": np.ascontiguousarray(x[:, j]) for j in range(x.shape[1])})
    fit = lambda given: learn.Lasso(0.2, **TIGHT).fit(given, y, weights)  # noqa: E731
    base = fit(x)
    for given in (np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2], frame):
        assert (fit(given).coef_ == base.coef_).all()
    for given in (sparse.csr_matrix(x), hr.tensor.csr_matrix(x), sparse.csc_matrix(x)):
        thin = fit(given)
        np.testing.assert_allclose(thin.coef_, base.coef_, atol=1e-9)
        np.testing.assert_allclose(np.asarray(thin.predict(given)), base.predict(x), atol=1e-9)
    assert isinstance(fit(frame).predict(frame), hr.Array)
    single = learn.Lasso(0.2).fit(x.astype(np.float32), y)
    assert single.coef_.dtype == np.float32


@pytest.mark.parametrize("shape", [(30_000, 9), (40, 90)])
def test_the_same_bits_for_any_threads(shape):
    x, y, weights = problem(52, *shape)
    hashes = set()
    for count in (1, 2, 4):
        with hr.threads(count):
            model = learn.Lasso(0.05, max_iter=10_000).fit(x, y, weights)
        hashes.add(hashlib.sha256(model.coef_.tobytes() + model.intercept_.tobytes()).hexdigest())
    assert len(hashes) == 1


def test_outputs_are_apart():
    x, y, _ = problem(53)
    both = np.column_stack([y, -2 * y + x[:, 0]])
    made = learn.ElasticNet(0.2, **TIGHT).fit(x, both)
    for place in range(2):
        alone = learn.ElasticNet(0.2, **TIGHT).fit(x, both[:, place])
        np.testing.assert_allclose(made.coef_[place], alone.coef_, atol=1e-12)
    assert made.predict(x).shape == both.shape and len(made.n_iter_) == 2


def test_offsets_duplicates_and_constants():
    x, y, _ = problem(54)
    wild = np.column_stack([x[:, :3] + 1e8, x[:, 3], x[:, 3], np.full(len(x), 7.0)])
    ours = learn.Lasso(0.1, **TIGHT).fit(wild, y)
    plain = learn.Lasso(0.1, **TIGHT).fit(x[:, :4], y)
    np.testing.assert_allclose(ours.coef_[:3], plain.coef_[:3], atol=1e-5)
    np.testing.assert_allclose(ours.coef_[3:5].sum(), plain.coef_[3], atol=1e-5)
    assert ours.coef_[5] == 0


def test_warm_start_goes_on():
    x, y, _ = problem(55)
    model = learn.Lasso(0.1, warm_start=True, **TIGHT).fit(x, y)
    assert model.n_iter_ > 1
    assert model.fit(x, y).n_iter_ <= 1


def test_not_converged_warns():
    x, y, _ = problem(56)
    with pytest.warns(ConvergenceWarning, match="gap=.* max_iter=1"):
        learn.Lasso(0.001, max_iter=1, tol=1e-12).fit(x, y)


def test_refused():
    x, y, _ = problem(57)
    for params in ({"alpha": -1}, {"tol": -1}, {"max_iter": 0}, {"selection": "last"}):
        with pytest.raises(ValueError, match=next(iter(params))):
            learn.Lasso(**params).fit(x, y)
    with pytest.raises(ValueError, match="l1_ratio"):
        learn.ElasticNet(l1_ratio=2).fit(x, y)
