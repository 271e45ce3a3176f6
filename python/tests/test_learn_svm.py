# SPDX-License-Identifier: Apache-2.0
"""Support vector machines beside scikit-learn's LIBSVM."""

import warnings

import numpy as np
import pytest

import headrace as hr
from headrace import learn

svm = pytest.importorskip("sklearn.svm")
pairwise = pytest.importorskip("sklearn.metrics.pairwise")


def problem(seed):
    """Rows with duplicates, ties and constant columns, labels, targets, weights and parameters."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(8, 250)), int(rng.integers(1, 12)), int(rng.integers(2, 5))
    x = rng.normal(size=(n, d)) * rng.choice([0.1, 1, 3])
    if rng.random() < 0.3:
        x = np.round(x)
    if rng.random() < 0.2:
        x[:, 0] = 1
    if rng.random() < 0.2:
        x = x[rng.integers(0, n, n)]
    scores = x @ rng.normal(size=(d, k)) + rng.normal(size=(n, k)) * rng.choice([0.1, 1.0])
    weights = rng.choice([0, 0.5, 1, 2], n) if rng.random() < 0.4 else np.ones(n)
    labels = scores.argmax(axis=1)
    labels[:2] = 0, 1
    weights[[np.flatnonzero(labels == label)[0] for label in np.unique(labels)]] = 1
    params = {
        "kernel": str(rng.choice(["rbf", "linear", "poly"])),
        "C": float(rng.choice([0.01, 0.1, 1, 10])),
        "tol": float(rng.choice([1e-3, 1e-5])),
        "gamma": [0.02, 0.5, "scale", "auto"][int(rng.integers(0, 4))],
        "coef0": float(rng.choice([0, 1])),
        "degree": int(rng.integers(1, 4)),
        "max_iter": 100_000,
    }
    return x, labels, scores[:, 0], weights, params


def kernel_of(model, x):
    if model.kernel == "linear":
        return x @ x.T
    if model.kernel == "rbf":
        return pairwise.rbf_kernel(x, gamma=model._gamma)
    return pairwise.polynomial_kernel(x, degree=model.degree, gamma=model._gamma, coef0=model.coef0)


def duals(model, linear):
    """The dual of each pair of classes, from `linear` of a coefficient."""
    kernel = kernel_of(model, model.support_vectors_)
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    count = len(model.n_support_)
    for i in range(count):
        for j in range(i + 1, count):
            b = np.zeros(ends[-1])
            b[ends[i] : ends[i + 1]] = model.dual_coef_[j - 1, ends[i] : ends[i + 1]]
            b[ends[j] : ends[j + 1]] = model.dual_coef_[i, ends[j] : ends[j + 1]]
            yield b @ kernel @ b / 2 + linear(b)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(0, 200, 20))
def test_random_problems_reach_libsvms_dual_and_decisions(first):
    for seed in range(first, first + 20):
        x, labels, targets, weights, params = problem(seed)
        bound = 50 * params["tol"]
        if seed % 4:
            params["class_weight"] = "balanced" if seed % 3 == 0 else None
            params["decision_function_shape"] = "ovo"
            theirs = svm.SVC(**params).fit(x, labels, weights)
            ours = learn.SVC(**params).fit(x, labels, weights)
            dual = [list(duals(model, lambda b: -abs(b).sum())) for model in (ours, theirs)]
            seen = [model.decision_function(x) for model in (ours, theirs)]
            clear = (abs(seen[1]) > bound * (1 + abs(seen[1]).max())).reshape(len(x), -1)
            differ = (ours.predict(x) != theirs.predict(x)) & clear.all(axis=1)
            assert ours.fit_status_ or theirs.fit_status_ or not differ.any(), seed
        else:
            params["epsilon"] = 0.1
            theirs = svm.SVR(**params).fit(x, targets, weights)
            ours = learn.SVR(**params).fit(x, targets, weights)
            kernels = [kernel_of(model, model.support_vectors_) for model in (ours, theirs)]
            places = [
                np.flatnonzero(weights > 0)[model.support_] if model is theirs else model.support_
                for model in (ours, theirs)
            ]  # scikit-learn numbers the rows that have weight
            dual = [
                b @ kernel @ b / 2 - targets[place] @ b + 0.1 * abs(b).sum()
                for kernel, place, b in zip(
                    kernels, places, [ours.dual_coef_[0], theirs.dual_coef_[0]], strict=True
                )
            ]
            seen = [model.predict(x) for model in (ours, theirs)]
        if ours.fit_status_ or theirs.fit_status_:
            continue
        np.testing.assert_allclose(*dual, rtol=bound, atol=bound, err_msg=str(seed))
        free = [(abs(m.dual_coef_) < 0.999 * m.C * weights.min()).any() for m in (ours, theirs)]
        if all(free):  # else the intercept is not determined
            scale = 1 + abs(seen[1]).max()
            np.testing.assert_allclose(*seen, atol=bound * scale, err_msg=str(seed))


def blobs(rows=1500, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    return rng.normal(size=(rows, 4)) + 1.5 * y[:, None] * [1, -1, 0, 1], y


def test_attributes_are_those_of_scikit_learn():
    for classes in (2, 3):
        x, y = blobs(300, classes)
        ours, theirs = learn.SVC(tol=1e-6).fit(x, y), svm.SVC(tol=1e-6).fit(x, y)
        np.testing.assert_array_equal(ours.support_, theirs.support_)
        np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
        np.testing.assert_array_equal(ours.support_vectors_, theirs.support_vectors_)
        np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
        np.testing.assert_array_equal(ours.class_weight_, theirs.class_weight_)
        assert ours.n_iter_.shape == theirs.n_iter_.shape and ours.n_iter_.dtype == np.int32
        for name in ("support_", "n_support_", "dual_coef_", "intercept_", "support_vectors_"):
            assert getattr(ours, name).dtype == getattr(theirs, name).dtype, name
        assert ours.fit_status_ == 0 and ours.shape_fit_ == (300, 4)
        assert not hasattr(ours, "coef_")
        for shape in ("ovr", "ovo"):
            ours.decision_function_shape = theirs.decision_function_shape = shape
            made, wanted = ours.decision_function(x), theirs.decision_function(x)
            np.testing.assert_allclose(made, wanted, atol=1e-4)
        linear = {"kernel": "linear", "tol": 1e-7}
        ours, theirs = learn.SVC(**linear).fit(x, y), svm.SVC(**linear).fit(x, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert not ours.coef_.flags.writeable
    ours, theirs = (each(kernel="linear").fit(x, x[:, 0]) for each in (learn.SVR, svm.SVR))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-2)
    assert type(ours.n_iter_) is int and ours.n_support_.tolist() == [len(ours.support_)]


def test_the_same_bits_for_any_threads_cache_and_limit():
    x, y = blobs(3000, 2)

    def fitted(megabytes):
        model = learn.SVC(C=10.0, cache_size=megabytes).fit(x, y)
        other = learn.SVR(cache_size=megabytes).fit(x, x[:, 0] * x[:, 1])
        parts = (model.dual_coef_, model.intercept_, model.decision_function(x))
        parts += (other.dual_coef_, other.intercept_, other.predict(x))
        return b"".join(part.tobytes() for part in parts)

    seen = set()
    for threads, megabytes in ((1, 200), (2, 200), (4, 200), (2, 1e-6), (2, 1), (4, 3)):
        with hr.threads(threads):
            seen.add(fitted(megabytes))
    with hr.memory.limit(hr.memory.stats().used_bytes + (8 << 20)):
        seen.add(fitted(200))
    assert len(seen) == 1


def test_more_rows_than_a_working_set_reach_the_optimum():
    x, y = blobs(4000, 2)
    ours, theirs = (each(C=5.0, tol=1e-4).fit(x, y) for each in (learn.SVC, svm.SVC))
    np.testing.assert_allclose(ours.decision_function(x), theirs.decision_function(x), atol=2e-3)
    found, wanted = (next(duals(m, lambda b: -abs(b).sum())) for m in (ours, theirs))
    assert found <= wanted * (1 - 1e-6) or abs(found - wanted) < 1e-5 * abs(wanted)
    ours, theirs = (each(C=5.0, tol=1e-4).fit(x, x[:, 0] + y) for each in (learn.SVR, svm.SVR))
    np.testing.assert_allclose(ours.predict(x), theirs.predict(x), atol=2e-3)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("classes", [2, 4])
def test_probabilities_are_scikit_learns(classes):
    x, y = blobs(240, classes)
    params = {"probability": True, "random_state": 3, "tol": 1e-6}
    theirs, ours = svm.SVC(**params).fit(x, y), learn.SVC(**params).fit(x, y)
    np.testing.assert_allclose(ours.probA_, theirs._probA, rtol=1e-3)
    np.testing.assert_allclose(ours.probB_, theirs._probB, rtol=1e-3, atol=1e-3)
    made, wanted = ours.predict_proba(x), theirs.predict_proba(x)
    np.testing.assert_allclose(made, wanted, atol=1e-3)
    np.testing.assert_allclose(made.sum(axis=1), 1.0)
    np.testing.assert_array_equal(ours.predict_log_proba(x), np.log(made))
    again = learn.SVC(**params).fit(x, y)
    assert again.probA_.tobytes() == ours.probA_.tobytes()
    assert not hasattr(learn.SVC().fit(x, y), "predict_proba")


def test_kernels_from_elsewhere():
    x, y = blobs(200)
    gamma = 1 / (4 * x.var())
    whole = learn.SVC().fit(x, y)
    given = learn.SVC(kernel="precomputed").fit(pairwise.rbf_kernel(x, gamma=gamma), y)
    called = learn.SVC(kernel=lambda a, b: pairwise.rbf_kernel(a, b, gamma=gamma)).fit(x, y)
    np.testing.assert_array_equal(given.support_, whole.support_)
    assert given.support_vectors_.size == 0
    wanted = whole.decision_function(x[:50])
    near = pairwise.rbf_kernel(x[:50], x, gamma=gamma)
    np.testing.assert_allclose(given.decision_function(near), wanted, atol=1e-5)
    np.testing.assert_allclose(called.decision_function(x[:50]), wanted, atol=1e-5)
    numbers = learn.SVR(kernel="precomputed").fit(pairwise.rbf_kernel(x, gamma=gamma), x[:, 0])
    np.testing.assert_allclose(
        numbers.predict(near), learn.SVR().fit(x, x[:, 0]).predict(x[:50]), atol=1e-5
    )
    with pytest.raises(hr.InvalidArgumentError, match="must be a square matrix"):
        learn.SVC(kernel="precomputed").fit(x, y)


def test_distances_survive_large_offsets():
    x, y = blobs(300)
    x = np.round(x * 64) / 64  # exact beside 1e8
    near, far = (learn.SVC(gamma=0.1).fit(x + by, y) for by in (0.0, 1e8))
    np.testing.assert_array_equal(near.support_, far.support_)
    np.testing.assert_allclose(far.decision_function(x + 1e8), near.decision_function(x), atol=1e-6)


def test_rows_without_weight_are_as_if_absent():
    x, y = blobs(200, 2)
    weights = np.ones(200)
    weights[::3] = 0
    kept = weights > 0
    ours = learn.SVC().fit(x, y, weights)
    alone = learn.SVC(gamma=ours._gamma).fit(x[kept], y[kept])
    np.testing.assert_array_equal(ours.support_, np.flatnonzero(kept)[alone.support_])
    np.testing.assert_array_equal(ours.dual_coef_, alone.dual_coef_)
    with pytest.raises(ValueError, match="all samples have zero or negative weights"):
        learn.SVC().fit(x, y, np.zeros(200))
    with pytest.raises(ValueError, match="positive weights belong to the same class"):
        learn.SVC().fit(x, y, (y == 0).astype(float))


def test_ties_of_votes():
    x, y = blobs(300, 4)
    ours, theirs = (each(break_ties=True, tol=1e-6).fit(x, y) for each in (learn.SVC, svm.SVC))
    grid = np.random.default_rng(1).uniform(-4, 6, (2000, 4))
    assert (ours.predict(grid) == theirs.predict(grid)).mean() > 0.999
    np.testing.assert_array_equal(
        ours.predict(grid), ours.classes_[ours.decision_function(grid).argmax(axis=1)]
    )
    ours.decision_function_shape = "ovo"
    with pytest.raises(hr.InvalidArgumentError, match="break_ties must be False"):
        ours.predict(grid)


def test_an_early_end_says_so():
    x, y = blobs(300, 2)
    with pytest.warns(UserWarning, match=r"max_iter=5"):
        model = learn.SVC(max_iter=5).fit(x, y)
    assert model.fit_status_ == 1 and model.n_iter_.tolist() == [5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert learn.SVC().fit(x, y).fit_status_ == 0


@pytest.mark.parametrize(
    "params",
    [
        {"C": 0},
        {"C": "1"},
        {"kernel": "other"},
        {"gamma": -1},
        {"gamma": "other"},
        {"degree": 1.5},
        {"coef0": np.inf},
        {"tol": 0},
        {"cache_size": 0},
        {"max_iter": -2},
        {"class_weight": "other"},
        {"class_weight": {0: 1, 7: 2}},
        {"decision_function_shape": "other"},
    ],
)
def test_bad_parameters_are_named(params):
    with pytest.raises(hr.InvalidArgumentError, match=next(iter(params))):
        learn.SVC(**params).fit(*blobs(20, 2))


def test_bad_data_are_refused():
    x, y = blobs(20, 2)
    with pytest.raises(ValueError, match="greater than one; got 1 class"):
        learn.SVC().fit(x, np.ones(20))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        learn.SVC().fit(x, x[:, 0])
    x[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN: row=3, column=2"):
        learn.SVR().fit(x, y)
    huge = learn.SVC(kernel="poly", gamma=1.0, degree=9)
    with pytest.raises(ValueError, match="not finite"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        huge.fit(np.where(np.isnan(x), 0, x) * 1e60, y)


def test_arrays_and_frames_of_headrace():
    x, y = blobs(200)
    labels = np.array(["a", "b", "c"])[y]
    frame = hr.DataFrame({name: x[:, place].copy() for place, name in enumerate("abcd")})
    model = learn.SVC().fit(frame, hr.Series(list(labels)))
    assert model.feature_names_in_.tolist() == list("abcd")
    assert (model.predict(frame) == learn.SVC().fit(x, labels).predict(x)).all()
    numbers = learn.SVC().fit(hr.asarray(x), hr.asarray(y))
    assert isinstance(numbers.predict(hr.asarray(x)), hr.Array)
    assert isinstance(numbers.decision_function(hr.asarray(x)), hr.Array)
    small = learn.SVC().fit(x.astype(np.float32), y).decision_function(x.astype(np.float32))
    assert small.dtype == np.float64
