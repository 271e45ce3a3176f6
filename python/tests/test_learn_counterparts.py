# SPDX-License-Identifier: Apache-2.0
"""Models of scikit-learn made of ours and ours of theirs say the same; ONNX goes through theirs."""

import warnings

import numpy as np
import pytest

import headrace as hr
from headrace import learn

pytest.importorskip("sklearn")
from scipy import sparse
from sklearn import (
    decomposition,
    ensemble,
    impute,
    linear_model,
    neighbors,
    pipeline,
    preprocessing,
    svm,
)
from sklearn.feature_extraction import text
from test_learn_files import ALONE, EXAMPLES, LABELS, NAMES, ROWS, TEXTS, equal, fitted, used

#: Classes that scikit-learn does not have.
OURS_ALONE = (
    "CategoryEncoder",
    "DriftDetector",
    "GroupStatistics",
    "HashEncoder",
    "Lag",
    "UMAP",
)
#: Those that say other things of the same state: scores by other code of the same model.
COUNTERPARTS = [name for name in NAMES if name not in OURS_ALONE]
GRAMS = {"max_categories": 3, "handle_unknown": "ignore"}
MORE = {
    "levels": lambda: learn.OneHotEncoder(drop="first", sparse_output=False),
    "rare levels": lambda: learn.OneHotEncoder(
        **{**GRAMS, "handle_unknown": "infrequent_if_exist"}
    ),
    "rare numbers": lambda: learn.OrdinalEncoder(max_categories=3),
    "white": lambda: learn.PCA(2, whiten=True),
    "clipped": lambda: learn.MinMaxScaler((-1, 2), clip=True),
    "no mean": lambda: learn.StandardScaler(with_mean=False, with_std=False),
    "distance": lambda: learn.KNeighborsClassifier(3, weights="distance"),
    "one-hot bins": lambda: learn.KBinsDiscretizer(3, encode="onehot-dense"),
    "ordinal bins": lambda: learn.KBinsDiscretizer(3, encode="ordinal"),
    "target of classes": lambda: learn.TargetEncoder(random_state=0),
    "machine of pairs": lambda: learn.SVC(decision_function_shape="ovo", class_weight="balanced"),
    "machine of chances": lambda: learn.SVC(probability=True, random_state=0),
    "machine of a function": lambda: learn.SVR(kernel=lambda one, other: one @ other.T),
    "logistic of classes": lambda: learn.LogisticRegression(C=0.1),
    "margins of classes": lambda: learn.LinearSVC(),
    "distances": lambda: learn.LinearSVR(),
    "entropy of classes": lambda: learn.RandomForestClassifier(5, criterion="entropy"),
    "weighed classes": lambda: learn.ExtraTreesClassifier(5, class_weight="balanced"),
    "deep": lambda: learn.make_pipeline(
        learn.FeatureUnion([("p", learn.PCA(2)), ("s", learn.StandardScaler())]),
        learn.RandomForestClassifier(3, random_state=0),
    ),
}


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


def params(value):
    """A parameter in words: an estimator is the name of its class and its parameters."""
    if hasattr(value, "get_params"):
        inside = value.get_params(deep=False).items()
        return type(value).__name__, {name: params(each) for name, each in inside}
    if hasattr(value, "split") and hasattr(value, "get_n_splits"):
        return type(value).__name__, sorted(
            each for each in vars(value).items() if each[0][0] != "_"
        )
    return list(map(params, value)) if isinstance(value, list | tuple) else repr(value)


def both_ways(model, rows):
    theirs = model.to_sklearn()
    assert type(theirs).__module__.startswith("sklearn.") and params(theirs) == params(model)
    back = learn.from_sklearn(theirs)
    assert type(back) is type(model) and repr(back) == repr(model)
    if type(model).__name__ not in ALONE:
        agree(used(model, rows), used(theirs, rows))
        agree(used(model, rows), used(back, rows))
    for name, value in vars(model).items():
        if name.endswith("_") and name[0] != "_" and isinstance(value, np.ndarray | hr.Array):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # probA_
                there, again = np.asarray(getattr(theirs, name)), getattr(back, name)
            if name == "feature_importances_":  # they compute it from impurities of nodes
                np.testing.assert_allclose(there, value.to_numpy(), atol=1e-6)
                assert isinstance(again, hr.Array)
            else:
                assert equal(np.asarray(value), there) and equal(value, again), name
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
    labels = np.digitize(ROWS[:, 0], [-0.5, 0.7]) if "classes" in name else LABELS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both_ways(MORE[name]().fit(rows, labels), rows)


FORESTS = {
    "gini": (learn.RandomForestClassifier, {"class_weight": "balanced"}),
    "entropy": (learn.ExtraTreesClassifier, {"criterion": "entropy", "bootstrap": True}),
    "numbers": (learn.RandomForestRegressor, {"max_depth": 5}),
}


@pytest.mark.parametrize("name", FORESTS)
def test_forests_measure_features_alike(name):
    cls, params = FORESTS[name]
    weights = np.random.default_rng(1).uniform(0.5, 3, 60)
    labels = np.digitize(ROWS[:, 0], [-0.5, 0.7]) if name != "numbers" else 1e4 + ROWS[:, 0]
    rows = narrow(np.where(ROWS > 1.5, np.nan, ROWS))
    model = cls(20, random_state=0, **params).fit(rows, labels, weights)
    theirs, back = both_ways(model, rows)
    for found in (theirs.feature_importances_, back.feature_importances_):
        np.testing.assert_allclose(found, np.asarray(model.feature_importances_), atol=1e-6)
    depths = [tree.tree_.compute_node_depths().max() - 1 for tree in theirs.estimators_]
    assert [tree.get_depth() for tree in theirs.estimators_] == depths and max(depths) > 2


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
    "ridge of rows": lambda: linear_model.RidgeCV([0.1, 2.0]),
    "forest": lambda: ensemble.RandomForestClassifier(5, random_state=0),
    "extra": lambda: ensemble.ExtraTreesRegressor(5, random_state=0),
    "isolation": lambda: ensemble.IsolationForest(n_estimators=5, random_state=0),
    "neighbors": lambda: neighbors.KNeighborsRegressor(3),
    "machine": lambda: svm.SVC(kernel="poly", class_weight="balanced"),
    "machine of numbers": lambda: svm.SVR(kernel="sigmoid"),
    "margins": lambda: svm.LinearSVC(),
    "distances": lambda: svm.LinearSVR(),
    "logistic": lambda: linear_model.LogisticRegression(),
    "elastic": lambda: linear_model.ElasticNetCV(alphas=5, cv=3),
    "pipeline": lambda: pipeline.make_pipeline(
        preprocessing.RobustScaler(), ensemble.RandomForestRegressor(3, random_state=0)
    ),
}


@pytest.mark.parametrize("name", THEIRS)
def test_models_fitted_there(name):
    rows = narrow(ROWS)
    theirs = THEIRS[name]().fit(rows, LABELS)
    ours = learn.from_sklearn(theirs)
    agree(used(theirs, rows), used(ours, rows))
    agree(used(theirs, rows), used(ours.to_sklearn(), rows))


def test_settings():
    model = learn.StandardScaler().set_output(transform="pandas").fit(ROWS)
    theirs = model.to_sklearn()
    for each in (theirs, learn.from_sklearn(theirs)):
        assert type(each.transform(ROWS)).__name__ == "DataFrame"
    with pytest.raises(hr.UnsupportedError, match=r"StandardScaler\.set_output"):
        model.set_output(transform="headrace").to_sklearn()


def test_columns_drawn_by_trees_of_isolation():
    theirs = ensemble.IsolationForest(n_estimators=9, max_features=0.5, random_state=0)
    agree(used(theirs.fit(ROWS), ROWS), used(learn.from_sklearn(theirs), ROWS))


@pytest.mark.parametrize("cls", [learn.PCA, learn.KNeighborsClassifier, learn.PolynomialFeatures])
def test_names_of_columns(cls):
    frame = hr.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1]})
    model = cls().fit(frame, LABELS)
    theirs, back = both_ways(model, frame.to_pandas())
    assert theirs.feature_names_in_.tolist() == back.feature_names_in_.tolist() == ["a", "b"]


def test_words_of_models_fitted_there():
    for theirs in (text.TfidfVectorizer(), text.CountVectorizer(), text.HashingVectorizer()):
        theirs.fit(TEXTS)
        agree(used(theirs, TEXTS), used(learn.from_sklearn(theirs), TEXTS))


def test_what_has_no_counterpart():
    from sklearn.gaussian_process import GaussianProcessRegressor

    with pytest.raises(
        hr.UnsupportedError, match="no such class: class='GaussianProcessRegressor'"
    ):
        learn.from_sklearn(GaussianProcessRegressor())
    with pytest.raises(hr.UnsupportedError, match="no such class"):
        learn.from_sklearn(learn.PCA())

    for model in (learn.DriftDetector(), learn.UMAP() if hasattr(learn, "UMAP") else None):
        if model is not None:
            with pytest.raises(hr.UnsupportedError, match=f"class='{type(model).__name__}'"):
                model.to_sklearn()
    with pytest.raises(hr.UnsupportedError, match="class='DriftDetector'"):
        learn.make_pipeline(learn.PCA(), learn.DriftDetector()).to_sklearn()
    with pytest.raises(hr.UnsupportedError, match=r"KMeans\.random_state=Generator"):
        learn.KMeans(random_state=hr.random.default_rng(0)).to_sklearn()

    class Mine(learn.PCA):
        pass

    with pytest.raises(hr.UnsupportedError, match="class='Mine'"):
        Mine().to_sklearn()


REFUSED = {
    "SimpleImputer.*add_indicator=True": lambda: impute.SimpleImputer(add_indicator=True).fit(ROWS),
    "NMF.*solver='mu'": lambda: decomposition.NMF(2, solver="mu", tol=1.0).fit(np.abs(ROWS)),
    "Pipeline.*transform_input=": lambda: pipeline.Pipeline(
        [("a", linear_model.Ridge())], transform_input=["rows"]
    ),
    "RandomForestRegressor: it has several outputs": lambda: ensemble.RandomForestRegressor(2).fit(
        ROWS, ROWS
    ),
    "KNeighborsClassifier: it has several outputs": lambda: neighbors.KNeighborsClassifier().fit(
        ROWS, ROWS > 0
    ),
    "NearestNeighbors: its rows are sparse": lambda: neighbors.NearestNeighbors().fit(
        sparse.csr_matrix(ROWS)
    ),
    "KNeighborsRegressor.*metric='canberra'": lambda: neighbors.KNeighborsRegressor(
        metric="canberra"
    ).fit(ROWS, LABELS),
    "SVC: its support vectors are sparse": lambda: svm.SVC().fit(sparse.csr_matrix(ROWS), LABELS),
    "LabelBinarizer: several labels a row": lambda: preprocessing.LabelBinarizer().fit(ROWS > 0),
}


@pytest.mark.parametrize("what", REFUSED)
def test_models_that_say_more(what):
    with pytest.raises(hr.UnsupportedError, match=what):
        learn.from_sklearn(REFUSED[what]())


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


def test_cuts_of_linkages():
    model = learn.HDBSCAN().fit(ROWS)
    theirs = model.to_sklearn()
    for each in (theirs, learn.from_sklearn(theirs)):
        for distance in (0.5, 1.0, 2.0):
            found, expected = each.dbscan_clustering(distance), model.dbscan_clustering(distance)
            assert np.array_equal(found, expected)
