# SPDX-License-Identifier: Apache-2.0
"""Pipelines, unions and transformers of columns, ours and scikit-learn's mixed."""

import numpy as np
import pytest

import headrace as hr
from headrace import learn

compose = pytest.importorskip("sklearn.compose")
decomposition = pytest.importorskip("sklearn.decomposition")
linear_model = pytest.importorskip("sklearn.linear_model")
pipeline = pytest.importorskip("sklearn.pipeline")
preprocessing = pytest.importorskip("sklearn.preprocessing")
pandas = pytest.importorskip("pandas")


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(c, 1.0, (40, 3)) for c in (-1, 1)])
    return x, np.repeat([0, 1], 40)


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    return pandas.DataFrame(
        {
            "size": rng.normal(size=60),
            "kind": np.array(["a", "b", "c"], dtype=object)[np.arange(60) % 3],
            "age": rng.integers(0, 90, 60),
            "rest": rng.random(60),
        }
    )


def test_ours_in_scikit_learns_pipeline(blobs):
    made = pipeline.make_pipeline(learn.StandardScaler(), linear_model.LogisticRegression())
    theirs = pipeline.make_pipeline(
        preprocessing.StandardScaler(), linear_model.LogisticRegression()
    )
    np.testing.assert_allclose(
        made.fit(*blobs).predict_proba(blobs[0]), theirs.fit(*blobs).predict_proba(blobs[0])
    )
    assert "StandardScaler" in made._repr_html_()
    from sklearn.model_selection import GridSearchCV

    search = GridSearchCV(made, {"standardscaler__with_mean": [True, False]}, cv=2)
    assert search.fit(*blobs).best_score_ > 0.5


def test_scikit_learns_in_our_pipeline(blobs):
    x, y = blobs
    ours = learn.make_pipeline(
        learn.StandardScaler(), decomposition.PCA(2), linear_model.LogisticRegression()
    )
    theirs = pipeline.make_pipeline(
        preprocessing.StandardScaler(), decomposition.PCA(2), linear_model.LogisticRegression()
    )
    ours.fit(x, y), theirs.fit(x, y)
    np.testing.assert_allclose(ours.predict_proba(x), theirs.predict_proba(x))
    assert ours.score(x, y) == theirs.score(x, y)
    np.testing.assert_array_equal(ours.classes_, [0, 1])
    assert list(ours[:2].get_feature_names_out()) == ["pca0", "pca1"]
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import cross_val_score

    assert is_classifier(ours)
    np.testing.assert_allclose(cross_val_score(clone(ours), x, y), cross_val_score(theirs, x, y))


def test_parameters_by_path():
    made = learn.Pipeline([("a", learn.StandardScaler()), ("b", learn.PCA(2))])
    assert made.get_params()["b__n_components"] == 2
    made.set_params(b__n_components=1, a__with_mean=False)
    assert repr(made) == (
        "Pipeline(steps=[('a', StandardScaler(with_mean=False)), ('b', PCA(n_components=1))])"
    )
    made.set_params(a="passthrough")
    assert made[0] == "passthrough" and len(made) == 2 and made["b"] is made.named_steps["b"]
    with pytest.raises(ValueError, match="Invalid parameter"):
        made.set_params(c=1)


def test_what_a_pipeline_has_depends_on_its_last_step(blobs):
    scaler = learn.make_pipeline(learn.StandardScaler())
    assert hasattr(scaler, "transform") and not hasattr(scaler, "predict")
    model = learn.make_pipeline(learn.StandardScaler(), linear_model.LogisticRegression())
    assert hasattr(model, "predict_proba") and not hasattr(model, "transform")
    with pytest.raises(learn.NotFittedError):
        model.predict(blobs[0])


def test_a_pipeline_is_lazy_over_our_data(blobs):
    blobs[0].flags.writeable = False
    x = hr.asarray(blobs[0])
    made = learn.make_pipeline(learn.StandardScaler(), learn.MinMaxScaler())
    result = made.fit(x).transform(x)
    assert not result._node.is_ready
    expected = pipeline.make_pipeline(
        preprocessing.StandardScaler(), preprocessing.MinMaxScaler()
    ).fit_transform(blobs[0])
    np.testing.assert_allclose(np.asarray(result), expected, atol=1e-12)
    np.testing.assert_allclose(np.asarray(made.inverse_transform(result)), blobs[0], atol=1e-12)


def test_weights_go_to_their_step(blobs):
    x, y = blobs
    weights = np.arange(80.0)
    made = learn.make_pipeline(learn.StandardScaler(), linear_model.LogisticRegression())
    made.fit(x, y, standardscaler__sample_weight=weights)
    expected = learn.StandardScaler().fit(x, sample_weight=weights)
    np.testing.assert_array_equal(made[0].mean_, expected.mean_)
    with pytest.raises(ValueError, match="stepname__parameter"):
        made.fit(x, y, sample_weight=weights)


def test_wrong_pipelines(blobs):
    with pytest.raises(TypeError, match="intermediate steps"):
        learn.make_pipeline(linear_model.LogisticRegression(), learn.PCA()).fit(*blobs)
    with pytest.raises(ValueError, match="not unique"):
        learn.Pipeline([("a", learn.PCA()), ("a", learn.PCA())]).fit(*blobs)
    with pytest.raises(NotImplementedError, match="memory"):
        learn.Pipeline([("a", learn.PCA())], memory="/tmp").fit(*blobs)


def columns_of(names, scaler, encoder, cls, **options):
    return cls(
        [
            ("scale", scaler, names(["size", "age"])),
            ("kind", encoder, names(["kind"])),
        ],
        **options,
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"remainder": "passthrough"},
        {"sparse_threshold": 0},
        {"sparse_threshold": 1},
        {"transformer_weights": {"kind": 3.0}},
        {"remainder": "passthrough", "verbose_feature_names_out": False},
    ],
    ids=str,
)
def test_columns_equal_scikit_learn(table, options):
    theirs = columns_of(
        list,
        preprocessing.StandardScaler(),
        preprocessing.OneHotEncoder(),
        compose.ColumnTransformer,
        **options,
    )
    expected = theirs.fit_transform(table)
    expected = expected.toarray() if hasattr(expected, "toarray") else expected
    frame = hr.DataFrame(table)
    for data in (table, frame):
        for cls in (learn.ColumnTransformer, compose.ColumnTransformer):
            if cls is compose.ColumnTransformer and data is frame:
                continue
            ours = columns_of(list, learn.StandardScaler(), learn.OneHotEncoder(), cls, **options)
            for made in (ours.fit_transform(data), ours.transform(data)):
                made = made.toarray() if hasattr(made, "toarray") else made
                np.testing.assert_allclose(np.asarray(made), expected)
            assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    assert ours.output_indices_ == theirs.output_indices_


def test_columns_by_place_mask_slice_and_function(table):
    x = table[["size", "age", "rest"]].to_numpy()
    for columns in ([0, 2], [True, False, True], slice(0, 3, 2), lambda x: [0, 2], [-3, -1]):
        made = learn.make_column_transformer((learn.StandardScaler(), columns))
        expected = compose.make_column_transformer((preprocessing.StandardScaler(), columns))
        np.testing.assert_allclose(made.fit_transform(x), expected.fit_transform(x), atol=1e-12)
    frame = hr.DataFrame(table)
    made = learn.make_column_transformer((learn.StandardScaler(), slice("age", "rest")))
    assert made.fit_transform(frame).shape == (60, 2)
    framed = made.set_output(transform="headrace").transform(frame[["rest", "age", "kind", "size"]])
    assert list(framed.columns) == ["standardscaler__age", "standardscaler__rest"]
    with pytest.raises(ValueError, match="not a column"):
        learn.make_column_transformer((learn.StandardScaler(), ["nope"])).fit(frame)
    with pytest.raises(ValueError, match="columns are missing"):
        made.transform(frame[["size", "rest"]])


def test_unions(blobs):
    x, _ = blobs

    def parts(module, p):
        return [("s", module.StandardScaler()), ("p", p), ("x", "passthrough")]

    for options in ({}, {"transformer_weights": {"s": 2.0}}):
        theirs = pipeline.FeatureUnion(parts(preprocessing, decomposition.PCA(2)), **options)
        expected = theirs.fit_transform(x)
        for cls in (learn.FeatureUnion, pipeline.FeatureUnion):
            ours = cls(parts(learn, learn.PCA(2)), **options)
            made = ours.fit_transform(x)
            np.testing.assert_allclose(np.abs(made), np.abs(expected), atol=1e-10)
            assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    made = learn.FeatureUnion(parts(learn, "drop")).fit_transform(hr.asarray(x))
    assert type(made) is hr.Array and made.shape == (80, 6)
