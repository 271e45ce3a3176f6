# SPDX-License-Identifier: Apache-2.0
"""What all estimators of `hr.learn` do alike, beyond the checks of scikit-learn."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn import cluster

import headrace as hr
from headrace import learn

base = pytest.importorskip("sklearn.base")


@pytest.fixture
def x():
    return np.random.default_rng(0).normal(size=(50, 3))


def test_scikit_learn_is_not_imported():
    code = """if True:
    import sys, numpy as np, headrace as hr
    model = hr.learn.PCA(2).fit(np.eye(4))
    repr(model), model._repr_html_(), model.transform(np.eye(4)), model.get_feature_names_out()
    try:
        hr.learn.PCA().transform(np.eye(4))
    except hr.learn.NotFittedError:
        print("sklearn" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_results_are_of_the_kind_of_the_data(x):
    model = learn.PCA(2).fit(x)
    assert type(model.transform(x)) is np.ndarray
    assert type(model.transform(x.tolist())) is np.ndarray
    frame = hr.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2]})
    ours = learn.PCA(2).fit(frame)
    assert list(ours.feature_names_in_) == ["a", "b", "c"]
    for data in (frame, hr.asarray(x)):
        with pytest.warns(UserWarning, match="feature names") if data is not frame else _none():
            made = ours.transform(data)
        assert type(made) is hr.Array
        np.testing.assert_allclose(np.asarray(made), model.transform(x), atol=1e-12)


def _none():
    import contextlib

    return contextlib.nullcontext()


def test_set_output(x):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pandas.DataFrame(x, columns=list("abc"), index=range(50, 100))
    model = learn.PCA(2).fit(frame)
    plain = model.transform(frame)
    made = model.set_output(transform="pandas").transform(frame)
    assert list(made.columns) == ["pca0", "pca1"] and list(made.index) == list(frame.index)
    np.testing.assert_array_equal(made.to_numpy(), plain)
    made = model.set_output(transform="polars").transform(frame)
    assert isinstance(made, polars.DataFrame) and made.columns == ["pca0", "pca1"]
    made = model.set_output(transform="headrace").transform(frame)
    assert type(made) is hr.DataFrame and list(made.columns) == ["pca0", "pca1"]
    with pytest.raises(ValueError, match="set_output: no such container"):
        model.set_output(transform="arrow")


def test_global_output_of_scikit_learn(x):
    sklearn = pytest.importorskip("sklearn")
    pandas = pytest.importorskip("pandas")
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(learn.PCA(2).fit_transform(x), pandas.DataFrame)


def test_errors_are_also_scikit_learns(x):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError) as caught:
        learn.PCA().transform(x)
    assert isinstance(caught.value, learn.NotFittedError | hr.Error)


def test_not_finite_values_are_named_by_row_and_column(x):
    frame = hr.DataFrame({"a": x[:, 0], "b": np.where(np.arange(50) == 7, np.inf, x[:, 1])})
    model = learn.PCA(1).fit(x[:, :2])
    with pytest.raises(ValueError, match=r"infinity \(inf\): row=7, column=1"):
        model.transform(frame.to_numpy())
    broken = x[:, :2].copy()
    broken[3, 0] = np.nan
    with pytest.raises(ValueError, match="NaN: row=3, column=0"):
        model.transform(broken)


def test_parameters_clone_repr_and_pickle(x):
    model = learn.PCA(2)
    assert repr(model) == "PCA(n_components=2)" and repr(learn.PCA()) == "PCA()"
    assert base.clone(model).get_params() == model.get_params()
    assert model.set_params(n_components=1) is model and model.n_components == 1
    with pytest.raises(ValueError, match="Invalid parameter 'k' for estimator PCA"):
        model.set_params(k=1)
    model.fit(x)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(x), model.transform(x))
    assert "not fitted" in learn.PCA()._repr_html_() and "(fitted)" in model._repr_html_()


def test_metadata_routing(x):
    assert learn.PCA().get_metadata_routing().fit.requests == {}


@pytest.mark.parametrize("name", ["KMeans", "SVC", "RandomForestRegressor", "StandardScaler"])
def test_columns_that_are_not_numbers_are_named(name):
    frame = hr.DataFrame({"city": ["a", "b", "c"], "x": [1.0, 2.0, 3.0]})
    frame["when"] = hr.to_datetime(hr.Series(["2020-01-01"] * 3))
    wanted = rf"{name}: columns of X hold no numbers: columns=\{{'city': 'string', 'when': 'date"
    with pytest.raises(hr.TypeMismatchError, match=wanted):
        getattr(learn, name)().fit(frame, [0, 1, 0])


def test_what_beginners_pass_as_targets():
    x = [[1.0], [2.0], [3.0]]
    with pytest.raises(
        hr.TypeMismatchError, match=r"y is a string.*pass the column itself, df\['z'\]"
    ):
        learn.LogisticRegression().fit(x, "z")
    with pytest.raises(hr.InvalidArgumentError, match="LinearRegression: y must hold numbers"):
        learn.LinearRegression().fit(x, ["a", "b", "c"])
    with pytest.raises(hr.InvalidArgumentError, match=r"y contains NaN or infinity: row=1"):
        learn.Ridge().fit(x, np.array([[1.0, 2.0], [1.0, np.nan], [0.0, 0.0]]))
    with pytest.raises(
        hr.InvalidArgumentError, match=r"PCA: Input X contains NaN: row=2, column=0"
    ):
        learn.PCA(1).fit([[1.0, 2.0], [3.0, 4.0], [np.nan, 5.0]])
    with pytest.raises(hr.TypeMismatchError, match=r"Tfidf.*expected one column.*df\['text'\]"):
        learn.TfidfVectorizer().fit(hr.DataFrame({"text": ["a b", "c d"]}))


# ---- parameters that no fit takes ----------------------------------------------------------------
@pytest.mark.parametrize(
    "model",
    [
        learn.Ridge(alpha="x"),
        learn.RidgeCV(alphas="x"),
        learn.LassoCV(cv="x"),
        learn.MultinomialNB(alpha="x"),
        learn.LogisticRegression(class_weight=3),
        learn.MinMaxScaler(feature_range=3),
        learn.RobustScaler(quantile_range=None),
        learn.Normalizer(norm="bad"),
        learn.QuantileTransformer(n_quantiles=0),
        learn.PolynomialFeatures(degree="x"),
        learn.OneHotEncoder(categories=3),
        learn.OneHotEncoder(min_frequency="x"),
        learn.OneHotEncoder(max_categories=0),
        learn.LabelBinarizer(pos_label="x"),
    ],
    ids=repr,
)
def test_parameters_that_no_fit_takes(model):
    rows, labels = [[1.0, 2.0], [3.0, 1.0], [2.0, 2.0], [0.0, 4.0]], [0, 1, 0, 1]
    name = next(name for name, _ in model._changed_params())
    with pytest.raises(hr.Error, match=name):
        model.fit(labels) if isinstance(model, learn.LabelBinarizer) else model.fit(rows, labels)


def test_vectorizers_say_what_is_wrong():
    for model, use in [
        (learn.TfidfVectorizer(), lambda model: model.idf_),
        (learn.TfidfVectorizer(), lambda model: model.transform(["a"])),
    ]:
        with pytest.raises(learn.NotFittedError, match="not fitted yet"):
            use(model)
        assert not hasattr(model, "idf_")
    for options in ({"stop_words": 3}, {"token_pattern": "*"}):
        with pytest.raises(hr.InvalidArgumentError, match=next(iter(options))):
            learn.CountVectorizer(**options).fit(["some words"])


FIRST = np.random.default_rng(1).normal(size=(3, 4))
NEGATIVE = {
    "DBSCAN": ({"eps": 0.9, "min_samples": 4}, "labels_"),
    "LogisticRegression": ({"tol": 1e-9}, "coef_"),
    "LinearSVC": ({"tol": 1e-9, "max_iter": 100_000}, "coef_"),
    "LinearSVR": ({"tol": 1e-9, "max_iter": 100_000}, "coef_"),
    "GaussianNB": ({}, "theta_"),
    "MultinomialNB": ({}, "feature_log_prob_"),
    "StandardScaler": ({}, "var_"),
    "KMeans": ({"n_clusters": 3, "init": FIRST, "n_init": 1}, "cluster_centers_"),
    "KBinsDiscretizer": ({"n_bins": 4, "subsample": None}, "bin_edges_"),
}


@pytest.mark.parametrize("name", NEGATIVE)
def test_negative_weights_where_scikit_learn_adds_them(name: str) -> None:
    from sklearn.utils import all_estimators

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X = abs(X) if name == "MultinomialNB" else X
    y = (X[:, 0] + 0.3 * rng.normal(size=200) > 0).astype(int)
    weights = 1.0 + rng.integers(0, 3, 200)
    weights[::10] = -0.5
    parameters, attribute = NEGATIVE[name]
    ours, theirs = (
        np.stack(getattr(kind(**parameters).fit(X, y, sample_weight=weights), attribute))
        for kind in (getattr(hr.learn, name), dict(all_estimators())[name])
    )
    np.testing.assert_allclose(ours, theirs, 1e-5, 1e-6)


@pytest.mark.parametrize("name", ["LinearRegression", "Ridge", "Lasso", "MiniBatchKMeans"])
def test_negative_weights_elsewhere_are_an_error(name: str) -> None:
    X = np.arange(20.0).reshape(10, 2)
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        getattr(hr.learn, name)().fit(X, X[:, 0], sample_weight=np.r_[-1.0, np.ones(9)])


def test_rows_are_not_drawn_by_negative_weights() -> None:
    X, weights = np.random.default_rng(0).normal(size=(40, 2)), np.r_[-1.0, np.ones(39)]
    for init in ("k-means++", "random"):
        with pytest.raises(ValueError, match=r"KMeans: rows are not drawn by negative weights"):
            hr.learn.KMeans(2, init=init).fit(X, sample_weight=weights)
    fitted = hr.learn.KMeans(2, init=X[:2], n_init=1).fit(X, sample_weight=weights)
    theirs = cluster.KMeans(2, init=X[:2], n_init=1).fit(X, sample_weight=weights)
    np.testing.assert_allclose(
        fitted.score(X, sample_weight=weights), theirs.score(X, sample_weight=weights)
    )


def test_batches_of_negative_weights_move_centres_as_in_scikit_learn() -> None:
    X = np.random.default_rng(0).normal(size=(200, 4))
    weights = np.where(np.arange(200) % 10 == 0, -0.5, 1.0)
    options = {"n_clusters": 3, "init": FIRST, "n_init": 1, "reassignment_ratio": 0.0}
    ours, theirs = hr.learn.MiniBatchKMeans(**options), cluster.MiniBatchKMeans(**options)
    for model in (ours, theirs):
        for batch in (slice(0, 100), slice(100, 200)):
            model.partial_fit(X[batch], sample_weight=weights[batch])
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, 1e-9)
