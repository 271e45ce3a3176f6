# SPDX-License-Identifier: Apache-2.0
"""Models of scikit-learn made of ours and ours of theirs say the same; ONNX goes through theirs."""

import warnings

import numpy as np
import pytest

import headrace as hr
from headrace import learn

pytest.importorskip("sklearn")
from sklearn import ensemble, linear_model, neighbors, pipeline, preprocessing
from sklearn.feature_extraction import text
from test_learn_files import ALONE, EXAMPLES, LABELS, NAMES, ROWS, TEXTS, USES, equal, fitted

#: Classes that scikit-learn does not have.
OURS_ALONE = ("DriftDetector", "UMAP")
COUNTERPARTS = [name for name in NAMES if name not in OURS_ALONE]
MORE = {
    "levels": lambda: learn.OneHotEncoder(drop="first", sparse_output=False),
    "rare levels": lambda: learn.OneHotEncoder(
        max_categories=3, handle_unknown="infrequent_if_exist"
    ),
    "rare numbers": lambda: learn.OrdinalEncoder(max_categories=3),
    "white": lambda: learn.PCA(2, whiten=True),
    "clipped": lambda: learn.MinMaxScaler((-1, 2), clip=True),
    "no mean": lambda: learn.StandardScaler(with_mean=False, with_std=False),
    "distance": lambda: learn.KNeighborsClassifier(3, weights="distance"),
    "one-hot bins": lambda: learn.KBinsDiscretizer(3, encode="onehot-dense"),
    "ordinal bins": lambda: learn.KBinsDiscretizer(3, encode="ordinal"),
    "deep": lambda: learn.make_pipeline(
        learn.FeatureUnion([("p", learn.PCA(2)), ("s", learn.StandardScaler())]),
        learn.RandomForestClassifier(3, random_state=0),
    ),
}


def said(model, rows):
    """What both can say of rows."""
    found = {}
    for name in USES:
        method = getattr(model, name, None)
        if method is not None:
            made = method(rows)
            made = made if isinstance(made, tuple) else (made,)
            found[name] = [np.asarray(p.toarray() if hasattr(p, "toarray") else p) for p in made]
    return found


def agree(one, other):
    assert one and set(one) == set(other)
    for name, parts in one.items():
        for mine, theirs in zip(parts, other[name], strict=True):
            if mine.dtype.kind in "OU":
                assert mine.tolist() == theirs.tolist()
            else:
                np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-11, err_msg=name)


def narrow(rows):
    """Values that trees of scikit-learn, which read float32, see as they are."""
    return rows if isinstance(rows, list) else np.asarray(rows, np.float32).astype(np.float64)


def both_ways(model, rows):
    theirs = model.to_sklearn()
    assert type(theirs).__module__.startswith("sklearn.")
    assert set(theirs.get_params(deep=False)) == set(model.get_params(deep=False))
    back = learn.from_sklearn(theirs)
    assert type(back) is type(model) and repr(back) == repr(model)
    if type(model).__name__ not in ALONE:
        agree(said(model, rows), said(theirs, rows))
        agree(said(model, rows), said(back, rows))
    for name, value in vars(model).items():
        if name.endswith("_") and not name.startswith("_") and isinstance(value, np.ndarray):
            assert equal(value, getattr(back, name)), name
    return theirs, back


@pytest.mark.parametrize("name", COUNTERPARTS)
def test_both_ways(name, tmp_path):
    model, rows = fitted(name)
    _, back = both_ways(model, narrow(rows))
    back.save(tmp_path / "m.hrm")  # all that it has is state
    assert repr(learn.load(tmp_path / "m.hrm")) == repr(model)


@pytest.mark.parametrize("name", COUNTERPARTS)
def test_unfitted(name):
    model = EXAMPLES[name]() if name in EXAMPLES else getattr(learn, name)()
    theirs = model.to_sklearn()
    assert repr(learn.from_sklearn(theirs)) == repr(model)
    assert not [key for key in vars(theirs) if key.endswith("_") and not key.startswith("_")]


@pytest.mark.parametrize("name", MORE)
def test_parameters(name):
    rows = narrow(np.round(ROWS) if "levels" in name or "numbers" in name else ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both_ways(MORE[name]().fit(rows, LABELS), rows)


def test_frames():
    frame = hr.DataFrame({"size": ROWS[:, 0], "kind": ["a", "b", "c"] * 20, "rest": ROWS[:, 1]})
    model = learn.ColumnTransformer(
        [
            ("s", learn.StandardScaler(), ["size"]),
            ("k", learn.OneHotEncoder(sparse_output=False), ["kind"]),
        ],
        remainder="passthrough",
    ).fit(frame)
    theirs, back = both_ways(model, frame.to_pandas())
    assert theirs.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    agree({"transform": [model.transform(frame)]}, {"transform": [back.transform(frame)]})


THEIRS = {
    "scaler": lambda: preprocessing.StandardScaler(),
    "ridge": lambda: linear_model.Ridge(2.0),
    "forest": lambda: ensemble.RandomForestClassifier(5, random_state=0),
    "extra": lambda: ensemble.ExtraTreesRegressor(5, random_state=0),
    "isolation": lambda: ensemble.IsolationForest(n_estimators=5, random_state=0),
    "neighbors": lambda: neighbors.KNeighborsRegressor(3),
    "pipeline": lambda: pipeline.make_pipeline(
        preprocessing.RobustScaler(), ensemble.RandomForestRegressor(3, random_state=0)
    ),
}


@pytest.mark.parametrize("name", THEIRS)
def test_models_fitted_there(name):
    rows = narrow(ROWS)
    theirs = THEIRS[name]().fit(rows, LABELS)
    ours = learn.from_sklearn(theirs)
    agree(said(theirs, rows), said(ours, rows))
    agree(said(theirs, rows), said(ours.to_sklearn(), rows))


def test_words_of_models_fitted_there():
    for theirs in (text.TfidfVectorizer(), text.CountVectorizer(), text.HashingVectorizer()):
        theirs.fit(TEXTS)
        agree(said(theirs, TEXTS), said(learn.from_sklearn(theirs), TEXTS))


def test_cuts_of_linkages():
    model = learn.HDBSCAN().fit(ROWS)
    theirs = model.to_sklearn()
    for each in (theirs, learn.from_sklearn(theirs)):
        for distance in (0.5, 1.0, 2.0):
            found, expected = each.dbscan_clustering(distance), model.dbscan_clustering(distance)
            assert np.array_equal(found, expected)


@pytest.mark.parametrize("name", ["SVC", "SVR"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("classes", [2, 3])
def test_machines(name, kernel, classes):
    y = np.digitize(ROWS[:, 0], [0.0] if classes == 2 else [-0.5, 0.5])
    model = getattr(learn, name)(kernel=kernel).fit(ROWS, y)
    both_ways(model, ROWS)


def test_what_has_no_counterpart():
    from sklearn.gaussian_process import GaussianProcessRegressor

    with pytest.raises(
        hr.UnsupportedError, match="no such class: class='GaussianProcessRegressor'"
    ):
        learn.from_sklearn(GaussianProcessRegressor())
    with pytest.raises(hr.UnsupportedError, match="no such class"):
        learn.from_sklearn(learn.PCA())

    class Mine(learn.PCA):
        pass

    with pytest.raises(hr.UnsupportedError, match="class='Mine'"):
        Mine().to_sklearn()


@pytest.mark.parametrize("name", ["forest", "linear", "kmeans", "logistic"])
def test_onnx(name):
    skl2onnx = pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    last = {
        "forest": lambda: learn.RandomForestClassifier(10, max_depth=4, random_state=0),
        "linear": lambda: learn.Ridge(),
        "kmeans": lambda: learn.KMeans(3, random_state=0),
        "logistic": lambda: learn.LogisticRegression(),
    }
    model = learn.make_pipeline(learn.StandardScaler(), last[name]())
    rows = narrow(ROWS)
    model.fit(rows, LABELS)
    made = skl2onnx.to_onnx(model.to_sklearn(), rows[:1].astype(np.float32))
    session = onnxruntime.InferenceSession(made.SerializeToString())
    found = session.run(None, {"X": rows.astype(np.float32)})[0].ravel()
    np.testing.assert_allclose(found, np.asarray(model.predict(rows)), rtol=1e-5, atol=1e-5)
