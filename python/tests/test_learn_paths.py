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


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("huge", [0, 1e8, 1e10, "y"])
def test_huge_rows_stay_in_their_fold(huge, center):
    x, y, weights = problem(10, rows=200, features=4)
    if huge == "y":
        y[0] = 1e14
    elif huge:
        x[0] *= huge
    splits = [(np.arange(40, 200), np.arange(40)), *learn.KFold(5).split(x)][not huge :]
    for cv in (splits[:1], splits[-5:]):
        for given in (None, weights):
            params = {"cv": cv, "fit_intercept": center, "alphas": [0.5, 0.1, 0.02]}
            ours = fit(learn.LassoCV, x, y, given, **params)
            other = fit(linear_model.LassoCV, x, y, given, **params)
            # The first fold trains without the huge row; others have lost the rest in rounding.
            mine, theirs = (np.reshape(m.mse_path_, (3, -1)) for m in (ours, other))
            np.testing.assert_allclose(mine[:, 0], theirs[:, 0], rtol=1e-7)
            assert (mine >= 0).all()


def test_masks_and_places_from_the_end():
    for rows in (160, 50):  # by sums, and by copies
        x, y, weights = problem(11, rows=rows)
        mask, last = np.arange(rows) % 3 > 0, np.arange(-rows // 4, 0)
        splits = [(mask, ~mask), ((~mask).tolist(), mask.tolist()), (np.arange(rows)[:-30], last)]
        listed = [tuple(np.arange(rows)[np.asarray(part)] for part in split) for split in splits]
        for cv, same_cv in ((splits, listed), (splits[:2], listed[:2])):
            ours = fit(learn.ElasticNetCV, x, y, weights, cv=cv)
            same(ours, fit(linear_model.ElasticNetCV, x, y, weights, cv=same_cv))


def test_folds_that_have_no_rows():
    x, y, weights = problem(12)
    weights[:80] = 0
    for cv in ([(range(80), range(80, 160))], [(range(80, 160), range(80))]):
        with pytest.raises(ValueError, match=r"LassoCV: no row to train .*fold=0"):
            learn.LassoCV(cv=cv).fit(x, y, weights)
    for part in ([160], [True, False], [0.5]):
        for model in (learn.LassoCV(cv=[(part, range(5))]), learn.RidgeCV(cv=[(range(9), part)])):
            with pytest.raises(hr.InvalidArgumentError, match="cv: a fold is not a list of rows"):
                model.fit(x, y)
    with pytest.raises(ValueError, match="no row to train"):
        learn.LassoCV(cv=[([], range(5))]).fit(x, y)


def test_refused():
    x, y, _ = problem(9)
    for params in ({"eps": 0}, {"alphas": 0}, {"alphas": [-1.0]}, {"tol": -1}):
        with pytest.raises(ValueError, match=next(iter(params))):
            learn.LassoCV(**params).fit(x, y)
    with pytest.raises(ValueError, match="l1_ratio=0"):
        learn.ElasticNetCV(l1_ratio=0).fit(x, y)


# ---- paths without folds, and ridges -------------------------------------------------------------
@pytest.mark.parametrize("seed", range(8))
def test_enet_path(seed):
    rng = np.random.default_rng(seed)
    samples, features = [(60, 5), (12, 30)][seed % 2]
    x, y = rng.normal(size=(samples, features)) + seed % 3, rng.normal(size=samples)
    options = {"l1_ratio": [1.0, 0.6][seed % 2], "positive": seed % 4 == 0, "eps": 1e-2}
    tight = {"tol": 1e-10, "max_iter": 100_000, "return_n_iter": True}
    for alphas in (15, [0.5, 0.01, 0.1]):
        ours = learn.enet_path(x, y, alphas=alphas, **options, **tight)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = linear_model.enet_path(x, y, alphas=alphas, **options, **tight)
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-12)
        np.testing.assert_allclose(ours[1], theirs[1], atol=1e-5)
        assert ours[2].shape == theirs[2].shape and len(ours[3]) == len(theirs[3])
    ours = learn.lasso_path(x, y, alphas=5, max_iter=10_000)
    theirs = linear_model.lasso_path(x, y, alphas=5, max_iter=10_000)
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-2)
    with pytest.warns(learn.ConvergenceWarning, match="max_iter=1,"):
        learn.lasso_path(x, y, max_iter=1, tol=1e-9)
    with pytest.raises(hr.UnsupportedError, match="one column"):
        learn.lasso_path(x, y[:, None].repeat(2, 1))


@pytest.mark.parametrize("seed", range(24))
def test_ridge_that_leaves_rows_out(seed):
    rng = np.random.default_rng(seed)
    samples, features = [(60, 5), (12, 30), (40, 40), (200, 3)][seed % 4]
    x = rng.normal(size=(samples, features)) * rng.choice([0.1, 1, 10], features)
    x += rng.choice([0, 100], features)
    if seed % 5 == 0:
        x[:, 1] = x[:, 0]
    outputs = seed % 3
    y = x[:, :1].repeat(outputs or 1, 1) + 3 * rng.normal(size=(samples, outputs or 1))
    y = y if outputs else y[:, 0]
    weights = rng.random(samples) * 2 if seed % 2 else None
    options = {
        "alphas": [1e-3, 0.1, 1.0, 50.0, 1000.0],
        "fit_intercept": seed % 7 != 0,
        "alpha_per_target": outputs == 2,
        "store_cv_results": True,
        "scoring": "neg_mean_absolute_error" if seed % 12 == 0 else None,
    }
    ours = learn.RidgeCV(**options).fit(x, y, weights)
    theirs = linear_model.RidgeCV(**options).fit(x, y, weights)
    np.testing.assert_array_equal(ours.alpha_, theirs.alpha_)
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-6)
    for name in ("coef_", "intercept_", "cv_results_"):
        mine, other = np.asarray(getattr(ours, name)), np.asarray(getattr(theirs, name))
        assert mine.shape == other.shape
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-6)
    if samples < 100 and options["scoring"] is None and not outputs:  # against the definition
        given = np.ones(samples) if weights is None else weights
        for row in range(3):
            rest = np.arange(samples) != row
            for place, alpha in enumerate(options["alphas"]):
                left = linear_model.Ridge(alpha, fit_intercept=ours.fit_intercept, solver="svd")
                left.fit(x[rest], y[rest], given[rest])
                error = given[row] * (left.predict(x[[row]])[0] - y[row]) ** 2
                np.testing.assert_allclose(ours.cv_results_[row, place], error, rtol=1e-6)
    folds = {"alphas": options["alphas"], "cv": 3}
    ours = learn.RidgeCV(**folds).fit(x, y, weights)
    theirs = linear_model.RidgeCV(**folds).fit(x, y, weights)
    assert ours.alpha_ == theirs.alpha_
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-6)


def test_ridge_of_small_penalties_and_threads():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(5000, 6)) @ np.diag([1e4, 1, 1, 1, 1, 1e-3]) + 1
    y = x[:, 1] + rng.normal(size=5000)
    alphas = [1e-8, 1e-2]
    theirs = linear_model.RidgeCV(alphas, gcv_mode="svd", store_cv_results=True).fit(x, y)
    made = []
    for count in (1, 4):
        with hr.threads(count):
            ours = learn.RidgeCV(alphas, store_cv_results=True).fit(x, y)
        made.append((ours.coef_.tobytes(), ours.cv_results_.tobytes()))
    assert made[0] == made[1]
    np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-6)
    for wrong in ([], [-1.0], [0.0]):
        with pytest.raises(ValueError, match="alphas"):
            learn.RidgeCV(wrong).fit(x, y)
    with pytest.raises(hr.UnsupportedError, match="scoring"):
        learn.RidgeCV(scoring="r2").fit(x, y, np.ones(5000))
