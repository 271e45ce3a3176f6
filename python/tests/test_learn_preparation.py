# SPDX-License-Identifier: Apache-2.0
"""Imputers, bins, products and target encodings of `hr.learn` against scikit-learn's."""

import numpy as np
import pytest

import headrace as hr
from headrace import learn

preprocessing = pytest.importorskip("sklearn.preprocessing")
impute = pytest.importorskip("sklearn.impute")
selection = pytest.importorskip("sklearn.model_selection")
pandas = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore")


def matrix(rows=300, columns=4, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(rows, columns)) * 3, 1)
    x[rng.random(x.shape) < missing] = np.nan
    return x


def frame_of(x):
    return hr.DataFrame({f"c{p}": np.ascontiguousarray(x[:, p]) for p in range(x.shape[1])})


def dense(made):
    return np.asarray(made.toarray() if hasattr(made, "toarray") else made)


def everywhere(ours, theirs, x, later, bound=1e-12):
    """Equal results for every kind of data, and equal names."""
    theirs.fit(x)
    expected = dense(theirs.transform(later))
    for data, test in (
        (x, later),
        (hr.asarray(x), hr.asarray(later)),
        (frame_of(x), frame_of(later)),
    ):
        made = ours.fit(data).transform(test)
        assert hasattr(made, "toarray") or type(made) is (np.ndarray if data is x else hr.Array)
        np.testing.assert_allclose(dense(made), expected, rtol=bound, atol=bound)
    ours.fit(x)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent", "constant", np.max])
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("columns", [4, 20])
def test_imputer(strategy, keep, columns):
    x, later = matrix(200, columns, 0.3), matrix(50, columns, 0.3, seed=1)
    if not callable(strategy):
        x[:, 1] = np.nan
    options = {"strategy": strategy, "keep_empty_features": keep}
    ours, theirs = learn.SimpleImputer(**options), impute.SimpleImputer(**options)
    everywhere(ours, theirs, x, later)
    np.testing.assert_allclose(ours.statistics_.astype(float), theirs.statistics_.astype(float))


def test_imputer_of_other_missing_values():
    x = matrix(100, 3)
    for strategy in ("mean", "most_frequent"):
        options = {"missing_values": x[0, 0], "strategy": strategy}
        everywhere(learn.SimpleImputer(**options), impute.SimpleImputer(**options), x, x)
    options = {"strategy": "constant", "fill_value": -3.0}
    everywhere(
        learn.SimpleImputer(**options), impute.SimpleImputer(**options), matrix(9, 2, 0.4), x[:, :2]
    )


@pytest.mark.parametrize(
    "options",
    [
        {"strategy": "most_frequent"},
        {"strategy": "constant"},
        {"strategy": "constant", "fill_value": "?"},
    ],
)
def test_imputer_of_strings(options):
    x = np.array([["b", "x"], ["a", np.nan], ["b", "y"], [np.nan, "y"]], dtype=object)
    ours, theirs = learn.SimpleImputer(**options).fit(x), impute.SimpleImputer(**options).fit(x)
    assert ours.statistics_.tolist() == theirs.statistics_.tolist()
    np.testing.assert_array_equal(ours.transform(x), theirs.transform(x))
    frame = hr.DataFrame({"p": ["b", "a", "b", None], "q": ["x", None, "y", "y"]})
    made = learn.SimpleImputer(**options).fit_transform(frame)
    assert type(made) is hr.DataFrame
    assert made["p"].to_list() == ours.transform(x)[:, 0].tolist()


def test_what_an_imputer_refuses():
    with pytest.raises(NotImplementedError, match="add_indicator"):
        learn.SimpleImputer(add_indicator=True).fit(matrix())
    with pytest.raises(ValueError, match="strategy"):
        learn.SimpleImputer(strategy="mode").fit(matrix())


@pytest.mark.parametrize("distribution", ["uniform", "normal"])
@pytest.mark.parametrize("quantiles", [10, 1000])
def test_quantiles(distribution, quantiles):
    pytest.importorskip("scipy")
    options = {"output_distribution": distribution, "n_quantiles": quantiles}
    x, later = matrix(300, 3, 0.1), matrix(100, 3, 0.1, seed=1)
    ours, theirs = (
        learn.QuantileTransformer(**options),
        preprocessing.QuantileTransformer(**options),
    )
    everywhere(ours, theirs, x, later, bound=1e-10)
    np.testing.assert_allclose(ours.quantiles_, theirs.quantiles_, rtol=1e-12)
    made = theirs.transform(later)
    np.testing.assert_allclose(
        ours.inverse_transform(made), theirs.inverse_transform(made), rtol=1e-10
    )


def test_a_sample_of_quantiles_is_repeatable():
    x = matrix(5000, 2)
    made = [
        learn.QuantileTransformer(subsample=1000, random_state=1).fit(x).quantiles_ for _ in "ab"
    ]
    np.testing.assert_array_equal(*made)
    exact = learn.QuantileTransformer(subsample=None).fit(x).quantiles_
    assert np.abs(made[0][100:-100] - exact[100:-100]).max() < 0.8


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("encode", ["ordinal", "onehot", "onehot-dense"])
@pytest.mark.parametrize("bins", [2, 7, [2, 3, 4]])
def test_bins(strategy, encode, bins):
    options = {"strategy": strategy, "encode": encode, "n_bins": bins}
    x, later = matrix(300, 3), matrix(100, 3, seed=1) * 2
    ours, theirs = learn.KBinsDiscretizer(**options), preprocessing.KBinsDiscretizer(**options)
    everywhere(ours, theirs, x, later)
    for one, other in zip(ours.bin_edges_, theirs.bin_edges_, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(ours.n_bins_, theirs.n_bins_)
    made = theirs.transform(later)
    np.testing.assert_allclose(ours.inverse_transform(made), theirs.inverse_transform(made))


def test_bins_of_weighted_rows_and_constant_columns():
    x, weights = matrix(200, 3), np.random.default_rng(1).integers(0, 3, 200).astype(float)
    x[:, 1] = 4.0
    for options in ({"strategy": "uniform"}, {}, {"quantile_method": "inverted_cdf"}):
        ours = learn.KBinsDiscretizer(**options).fit(x, sample_weight=weights)
        theirs = preprocessing.KBinsDiscretizer(**options).fit(x, sample_weight=weights)
        for one, other in zip(ours.bin_edges_, theirs.bin_edges_, strict=True):
            np.testing.assert_allclose(one, other)
    with pytest.raises(NotImplementedError, match="kmeans"):
        learn.KBinsDiscretizer(strategy="kmeans").fit(x)
    with pytest.raises(ValueError, match="invalid number of bins at indices 1"):
        learn.KBinsDiscretizer([2, 1, 2]).fit(x)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"degree": 3},
        {"degree": (2, 4)},
        {"degree": 0},
        {"interaction_only": True, "degree": 3},
        {"include_bias": False},
        {"degree": (1, 1), "include_bias": False},
    ],
    ids=str,
)
def test_products(options):
    x = matrix(50, 4)
    ours, theirs = learn.PolynomialFeatures(**options), preprocessing.PolynomialFeatures(**options)
    everywhere(ours, theirs, x, x * 1.5)
    np.testing.assert_array_equal(ours.powers_, theirs.powers_)
    assert ours.n_output_features_ == theirs.n_output_features_


def target(kind, rows):
    rng = np.random.default_rng(7)
    return {
        "continuous": rng.normal(size=rows) + 1000.0,
        "binary": np.array(["no", "yes"], dtype=object)[rng.integers(0, 2, rows)],
        "multiclass": rng.integers(0, 3, rows),
    }[kind]


@pytest.mark.parametrize("kind", ["continuous", "binary", "multiclass"])
@pytest.mark.parametrize("smooth", ["auto", 0.0, 3.5])
def test_target_encodings(kind, smooth):
    rng = np.random.default_rng(0)
    x = pandas.DataFrame(
        {
            "w": np.array(list("abcdefgh"), dtype=object)[rng.integers(0, 8, 400)],
            "n": rng.integers(0, 60, 400),
        }
    )
    y = target(kind, 400)
    folds = selection.KFold(4, shuffle=True, random_state=0)
    ours = learn.TargetEncoder(smooth=smooth, cv=folds)
    theirs = preprocessing.TargetEncoder(smooth=smooth, cv=folds)
    expected = theirs.fit_transform(x, y)
    for data in (x, hr.DataFrame(x)):
        made = ours.fit_transform(data, y)
        np.testing.assert_allclose(np.asarray(made), expected, rtol=1e-9, atol=1e-12)
    for one, other in zip(ours.encodings_, theirs.encodings_, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.target_mean_, theirs.target_mean_)
    assert ours.target_type_ == theirs.target_type_ == kind
    later = x.head(20).copy()
    later.loc[3, "w"], later.loc[4, "n"] = "zz", 99
    np.testing.assert_allclose(
        ours.transform(later), theirs.transform(later), rtol=1e-9, atol=1e-12
    )
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


def test_target_encodings_of_int_folds_and_bad_targets():
    x, y = matrix(100, 1).round(), np.random.default_rng(1).normal(size=100)
    first, again = (learn.TargetEncoder(random_state=3).fit_transform(x, y) for _ in "ab")
    np.testing.assert_array_equal(first, again)
    still = learn.TargetEncoder(shuffle=False).fit_transform(x, y)
    theirs = preprocessing.TargetEncoder(cv=selection.KFold(5)).fit_transform(x, y)
    np.testing.assert_allclose(still, theirs, rtol=1e-9)
    with pytest.raises(ValueError, match="Unknown label type"):
        learn.TargetEncoder().fit(x, np.ones((100, 2)))
    with pytest.raises(ValueError, match="exactly once"):
        learn.TargetEncoder(cv=[(np.arange(50), np.arange(50, 100))]).fit_transform(x, y)
