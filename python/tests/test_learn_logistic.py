# SPDX-License-Identifier: Apache-2.0
"""`hr.learn.LogisticRegression` against scikit-learn, with other data, weights and threads."""

import functools
import hashlib
import operator
import warnings

import numpy as np
import pytest

import headrace as hr
from headrace import learn

pytest.importorskip("sklearn")
from scipy import sparse
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning

TIGHT = {"tol": 1e-9, "max_iter": 5000}


def problem(seed, rows=150, features=6, classes=2, dtype="float64"):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, features)) * rng.choice([0.3, 1.0, 5.0], features)
    turn = rng.normal(size=(features, classes))
    y = (x @ turn + rng.gumbel(size=(rows, classes)) * 3).argmax(axis=1)
    y[:classes] = np.arange(classes)
    return x.astype(dtype), y, rng.random(rows) * 3


def theirs(x, y, weights=None, solver="lbfgs", **params):
    solver = "newton-cholesky" if solver == "lbfgs" and not params.get("l1_ratio") else solver
    model = linear_model.LogisticRegression(solver=solver, **{**TIGHT, **params})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(x, y, weights)


def same(ours, other, tolerance=1e-6):
    """The coefficients are equal; the constants of more classes may share a number."""
    scale = np.abs(other.coef_).max() + 1e-9
    np.testing.assert_allclose(ours.coef_ / scale, other.coef_ / scale, atol=tolerance)
    gap = ours.intercept_ - other.intercept_
    np.testing.assert_allclose(gap - gap.mean() * (len(gap) > 1), 0, atol=10 * tolerance)


@pytest.mark.parametrize("seed", range(20))
def test_like_sklearn(seed):
    classes = 2 + seed % 3
    x, y, weights = problem(seed, features=2 + seed % 7, classes=classes)
    params = {
        "C": [0.1, 1.0, 30.0][seed % 3],
        "fit_intercept": seed % 4 != 0,
        "class_weight": [None, "balanced", {0: 2.0, 1: 0.5, 2: 1.5, 3: 1.0}][seed % 3],
    }
    given = weights if seed % 2 else None
    ours = learn.LogisticRegression(**params, **TIGHT).fit(x, y, given)
    other = theirs(x, y, given, **params)
    same(ours, other)
    np.testing.assert_allclose(ours.predict_proba(x), other.predict_proba(x), atol=1e-6)
    np.testing.assert_allclose(ours.predict_log_proba(x), other.predict_log_proba(x), atol=1e-5)
    np.testing.assert_allclose(ours.decision_function(x), other.decision_function(x), atol=1e-4)
    assert (ours.predict(x) == other.predict(x)).mean() > 0.99


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_absolute_values_like_sklearn(classes, share):
    x, y, _ = problem(3, features=8, classes=classes)
    x /= x.std(axis=0)
    params = {"C": 0.05, "l1_ratio": share}
    ours = learn.LogisticRegression(**params, **TIGHT).fit(x, y)
    other = theirs(x, y, solver="saga", **params | {"tol": 1e-12, "max_iter": 20000})
    same(ours, other, 1e-5)
    assert ((ours.coef_ == 0) == (np.abs(other.coef_) < 1e-7)).all()
    assert (ours.coef_ == 0).any()


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_liblinear_penalizes_the_constant(share):
    x, y, _ = problem(5)
    params = {"solver": "liblinear", "intercept_scaling": 2.0, "C": 0.3, "l1_ratio": share}
    ours = learn.LogisticRegression(**params, **TIGHT).fit(x + 1, y)
    same(ours, theirs(x + 1, y, **params | {"tol": 1e-12}), 1e-5)


@pytest.mark.parametrize("classes", [2, 3])
def test_kinds_of_rows(classes):
    x, y, weights = problem(7, rows=1000, features=21, classes=classes)
    x[np.abs(x) < 1] = 0
    frame = hr.DataFrame({f"c{j}": np.ascontiguousarray(x[:, j]) for j in range(x.shape[1])})
    fit = lambda rows: learn.LogisticRegression(**TIGHT).fit(rows, y, weights)  # noqa: E731
    base = fit(x)
    for rows in (np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2], x[::-1][::-1], frame):
        assert (fit(rows).coef_ == base.coef_).all()
    for rows in (sparse.csr_matrix(x), hr.tensor.csr_matrix(x), sparse.csc_matrix(x)):
        thin = fit(rows)
        np.testing.assert_allclose(thin.coef_, base.coef_, atol=1e-6)
        np.testing.assert_allclose(
            np.asarray(thin.predict_proba(rows)), base.predict_proba(x), atol=1e-6
        )
    assert isinstance(fit(frame).predict(frame), hr.Array)
    single = fit(x.astype(np.float32))
    assert single.coef_.dtype == np.float32
    np.testing.assert_allclose(single.coef_, base.coef_, atol=1e-5)


def test_columns_without_entries_stay_at_zero() -> None:
    x = np.zeros((200, 60))
    x[:, [3, 40]] = np.random.default_rng(4).normal(size=(200, 2))
    y = (x[:, 3] > x[:, 40]).astype(int)
    wide = hr.learn.LogisticRegression().fit(sparse.csr_matrix(x), y)
    narrow = hr.learn.LogisticRegression().fit(sparse.csr_matrix(x[:, [3, 40]]), y)
    assert not wide.coef_[:, np.delete(np.arange(60), [3, 40])].any()
    np.testing.assert_array_equal(wide.coef_[:, [3, 40]], narrow.coef_)
    none = hr.learn.LogisticRegression().fit(sparse.csr_matrix(x.shape), y)
    theirs = linear_model.LogisticRegression().fit(sparse.csr_matrix(x.shape), y)
    assert not none.coef_.any()
    np.testing.assert_allclose(none.intercept_, theirs.intercept_, atol=1e-4)


@pytest.mark.filterwarnings("ignore")
def test_the_same_bits_for_any_threads():
    x, y, weights = problem(11, rows=50_000, features=17, classes=5)
    hashes = set()
    for count in (1, 2, 4):
        for rows in (x, sparse.csr_matrix(x)):
            with hr.threads(count):
                model = learn.LogisticRegression(max_iter=5, tol=0).fit(rows, y, weights)
            parts = model.coef_.tobytes() + model.intercept_.tobytes()
            hashes.add((rows is x, hashlib.sha256(parts).hexdigest()))
    assert len(hashes) == 2


def test_offsets_and_scales_do_not_matter():
    x, y, _ = problem(13)
    wild = x * 10.0 ** np.arange(-8, 4, 2) + 1e8
    wild[:, 0] = x[:, 0] + 1e8
    wild = np.column_stack([wild, np.full(len(x), 7.0)])
    params = {"C": np.inf, "tol": 1e-7}
    plain = learn.LogisticRegression(**params).fit(x[:, :1], y)
    moved = learn.LogisticRegression(**params).fit(wild[:, [0, 6]], y)
    np.testing.assert_allclose(moved.coef_[0, 0], plain.coef_[0, 0], rtol=1e-5)
    assert learn.LogisticRegression(**params).fit(wild, y).n_iter_[0] < 100


def test_duplicates_are_weights():
    x, y, _ = problem(17, classes=3)
    times = np.random.default_rng(0).integers(0, 3, len(x))
    repeated = learn.LogisticRegression(**TIGHT).fit(np.repeat(x, times, 0), np.repeat(y, times))
    weighted = learn.LogisticRegression(**TIGHT).fit(x, y, times)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)


def test_fewer_rows_than_features():
    x, y, _ = problem(19, rows=20, features=60)
    same(learn.LogisticRegression(**TIGHT).fit(x, y), theirs(x, y))


def test_warm_start_goes_on():
    x, y, _ = problem(23, classes=3)
    model = learn.LogisticRegression(warm_start=True, **TIGHT).fit(x, y)
    first = model.coef_.copy()
    assert model.n_iter_[0] > 3
    assert model.fit(x, y).n_iter_[0] <= 2
    np.testing.assert_allclose(model.coef_, first, atol=1e-7)


def test_not_converged_names_the_large_column():
    x, y, _ = problem(29)
    frame = hr.DataFrame({f"c{j}": x[:, j] * (1e6 if j == 2 else 1) for j in range(6)})
    with pytest.warns(ConvergenceWarning, match=r"column 'c2' is .*StandardScaler"):
        learn.LogisticRegression(max_iter=1, tol=1e-12).fit(frame, y)


def test_refused():
    x, y, _ = problem(31)
    for params in ({"C": 0}, {"C": "1"}, {"solver": "cg"}, {"l1_ratio": 2}, {"penalty": "l0"}):
        with pytest.raises(ValueError, match=next(iter(params))):
            learn.LogisticRegression(**params).fit(x, y)
    with pytest.raises(ValueError, match="only one class"):
        learn.LogisticRegression().fit(x, np.ones(len(x)))
    with pytest.raises(ValueError, match="are not in class_weight"):
        learn.LogisticRegression(class_weight={5: 1.0}).fit(x, y)
    with pytest.raises(ValueError, match="liblinear"):
        learn.LogisticRegression(solver="liblinear").fit(x, np.arange(len(x)) % 3)
    bad = x.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="row=3, column=1"):
        learn.LogisticRegression().fit(bad, y)


def test_logarithms_of_shares_are_those_of_the_plan():
    from headrace.learn.labels import log_shares

    rng = np.random.default_rng(2)
    for shape in ((300, 10), (7, 3), (5, 2), (0, 4), (300,)):
        for dtype in ("float64", "float32"):
            scores = (30 * rng.normal(size=shape)).astype(dtype)
            if len(scores) == 7:
                scores[0, 1], scores[1, 0], scores[2], scores[3, 2] = np.nan, np.inf, -np.inf, 1e30
            x = hr.asarray(scores)
            if x.ndim == 1:
                both = x.reshape(-1, 1) * hr.asarray(np.array([1, -1], dtype))
                chain = -(np.maximum(both, 0) + np.log1p(np.exp(-abs(both))))
            else:
                columns = [x[:, place] for place in range(x.shape[1])]
                most = functools.reduce(np.maximum, columns)
                total = functools.reduce(operator.add, [np.exp(each - most) for each in columns])
                chain = x - most.reshape(-1, 1) - np.log(total).reshape(-1, 1)
            made = np.asarray(log_shares(x))
            assert made.dtype == dtype
            np.testing.assert_array_equal(made, np.asarray(chain))
