# SPDX-License-Identifier: Apache-2.0
"""Predictions of few rows, which go straight to the model in C++, against the long way."""

import copy
import pickle

import numpy as np
import pytest
from headrace.learn.base import clone
from headrace.learn.few_rows import _Few

import headrace as hr
from headrace import learn

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5)) * [1, 10, 0.1, 3, 1] + [0, 5, 0, 0, -2]
CODES = np.digitize(X[:, 0] + X[:, 3] / 3, [-0.7, 0.7])
WORDS = np.array(["low", "in between", "high"])[CODES]
MODELS = {
    "logistic": lambda: learn.make_pipeline(learn.StandardScaler(), learn.LogisticRegression()),
    "margin": lambda: learn.LinearSVC(),
    "ridge": lambda: learn.make_pipeline(learn.RobustScaler(), "passthrough", learn.Ridge()),
    "lasso": lambda: learn.make_pipeline(learn.MinMaxScaler(), learn.Lasso(0.01)),
    "distances": lambda: learn.LinearSVR(tol=0.1),
    "forest": lambda: learn.RandomForestClassifier(7, random_state=0),
    "numbers of trees": lambda: learn.ExtraTreesRegressor(5, random_state=0),
    "kmeans": lambda: learn.make_pipeline(learn.StandardScaler(), learn.KMeans(4, random_state=0)),
    "bayes": lambda: learn.make_pipeline(learn.PCA(3, whiten=True), learn.GaussianNB()),
    "neighbors": lambda: learn.KNeighborsClassifier(3, weights="distance"),
    "nested": lambda: learn.make_pipeline(
        learn.StandardScaler(), learn.make_pipeline(learn.MaxAbsScaler(), learn.GaussianNB())
    ),
}


def goes_directly(model):
    return isinstance(getattr(model, "_direct", None), _Few)


def bits(values):
    return values.dtype, values.shape, values.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("labels", ["codes", "words", "bools"])
@pytest.mark.parametrize("name", MODELS)
def test_same_bits(name, labels, dtype):
    y = {"codes": CODES, "words": WORDS, "bools": CODES > 0}[labels]
    model = MODELS[name]()
    if labels == "words" and model.__sklearn_tags__().estimator_type != "classifier":
        y = CODES * 1.5
    model.fit(X.astype(dtype), y)
    fresh = RNG.normal(size=(64, 5)) * [1, 10, 0.1, 3, 1] + [0, 5, 0, 0, -2]
    for given in (fresh[:1], fresh[:1].astype(np.float32), fresh[::7], np.asfortranarray(fresh)):
        expected = model.predict(np.concatenate([given] * 65))[: len(given)]  # the long way
        for _ in range(4):
            assert bits(model.predict(given)) == bits(expected)
    assert goes_directly(model)


def ready(name="logistic", y=CODES):
    model = MODELS[name]().fit(X, y)
    for _ in range(4):
        model.predict(X[:1])
    assert goes_directly(model)
    return model


def test_changes_are_seen():
    model = ready()
    last = model.steps[1][1]
    rows, many = X[:8], np.concatenate([X[:8]] * 9)

    def check():
        for _ in range(5):
            np.testing.assert_array_equal(model.predict(rows), model.predict(many)[:8])

    before = model.predict(rows)
    last.coef_[:] = -last.coef_  # in place
    check()
    assert (model.predict(rows) != before).any()
    last.intercept_ = last.intercept_ + 100 * np.eye(3)[0]
    check()
    assert (model.predict(rows) == 0).all()
    last.classes_ = np.array(["a", "b", "c"])
    check()
    assert (model.predict(rows) == "a").all()
    model.steps[0] = ("scaler", learn.MaxAbsScaler().fit(X))
    check()
    model.steps[0][1].scale_ *= 3
    check()
    model.fit(X[:100], CODES[:100] * 2)
    check()
    assert set(model.predict(X[:64])) <= {0, 2, 4}
    forest = ready("forest")
    forest.fit(X, 5 - CODES)
    assert set(forest.predict(X[:64])) <= {3, 4, 5}


def test_what_goes_the_long_way():
    model = ready()
    for wrong, message in [
        (np.array([[0.0, 1.0, np.nan, 0.0, 0.0]]), "NaN"),
        (np.array([[0.0, 1.0, np.inf, 0.0, 0.0]]), "infinity"),
        (X[:1, :4], "4 features"),
        (X[0], "2D array"),
        (X[:0], "0 sample"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.predict(wrong)
    whole = model.predict(np.ones((1, 5), dtype=np.int64))
    np.testing.assert_array_equal(whole, model.predict(np.ones((1, 5))))
    swapped = X[:2].astype(X.dtype.newbyteorder())
    np.testing.assert_array_equal(model.predict(swapped), model.predict(X[:2]))
    assert isinstance(model.predict(hr.asarray(X[:1])), hr.Array)
    assert goes_directly(model)
    named = MODELS["logistic"]().fit(hr.DataFrame(X, columns=list("abcde")), CODES)
    several = learn.Ridge().fit(X, np.c_[CODES, CODES])
    deep = learn.RandomForestClassifier(3, max_depth=2, random_state=0)
    union = learn.make_pipeline(learn.FeatureUnion([("s", learn.StandardScaler())]), deep)
    union.fit(X, CODES)
    for odd in (several, union):
        for _ in range(5):
            assert len(odd.predict(X[:1])) == 1
        assert not goes_directly(odd)
    for _ in range(5):
        with pytest.warns(UserWarning, match="feature names"):
            named.predict(X[:1])
    not_fitted = learn.Ridge()
    for _ in range(5):
        with pytest.raises(learn.NotFittedError):
            not_fitted.predict(X[:1])


def test_it_is_no_state():
    model = ready("bayes")
    before = dict(vars(model))
    model.predict(X[:1])
    assert vars(model) == before and "_direct" not in vars(model)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert not goes_directly(again)
        np.testing.assert_array_equal(again.predict(X[:3]), model.predict(X[:3]))
    assert not goes_directly(clone(model))
