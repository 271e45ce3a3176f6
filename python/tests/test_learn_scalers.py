# SPDX-License-Identifier: Apache-2.0
"""Scalers of `hr.learn` against scikit-learn's."""

import warnings

import numpy as np
import pytest

import headrace as hr
from headrace import learn

preprocessing = pytest.importorskip("sklearn.preprocessing")

SCALERS = [
    ("StandardScaler", {}),
    ("StandardScaler", {"with_mean": False}),
    ("StandardScaler", {"with_std": False}),
    ("StandardScaler", {"with_mean": False, "with_std": False}),
    ("MinMaxScaler", {}),
    ("MinMaxScaler", {"feature_range": (-2, 3), "clip": True}),
    ("MaxAbsScaler", {}),
    ("MaxAbsScaler", {"clip": True}),
    ("RobustScaler", {}),
    ("RobustScaler", {"quantile_range": (5.0, 90.0), "unit_variance": True}),
    ("RobustScaler", {"with_centering": False}),
    ("RobustScaler", {"with_scaling": False}),
]
LEARNED = "mean_ var_ scale_ min_ data_min_ data_max_ data_range_ max_abs_ center_ n_samples_seen_"


def data(rows, columns, dtype="float64", missing=True, seed=0):
    rng = np.random.default_rng(seed)
    x = (rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-3, 4, columns) + 5).astype(dtype)
    x[:, columns // 2] = 7.25  # constant
    if missing:
        x[rng.random(x.shape) < 0.1] = np.nan
        x[:, -1] = np.nan
    return x


def frame_of(x):
    return hr.DataFrame(
        {f"c{place}": np.ascontiguousarray(x[:, place]) for place in range(x.shape[1])}
    )


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("dtype, bound", [("float64", 1e-12), ("float32", 2e-5)])
@pytest.mark.parametrize("rows, columns", [(1, 1), (2, 3), (1000, 5), (300, 40)])
@pytest.mark.parametrize("name, options", SCALERS)
def test_equals_scikit_learn(name, options, rows, columns, dtype, bound):
    x, later = data(rows, columns, dtype), data(50, columns, dtype, seed=1)
    theirs = getattr(preprocessing, name)(**options).fit(x)
    wide = np.asfortranarray(x)
    for made in (x, hr.asarray(x), frame_of(x), wide, x.tolist() if dtype == "float64" else x):
        ours = getattr(learn, name)(**options).fit(made)
        for attribute in LEARNED.split():
            if hasattr(theirs, attribute):
                expected, found = getattr(theirs, attribute), getattr(ours, attribute)
                if expected is None:
                    assert found is None
                    continue
                np.testing.assert_allclose(found, expected, rtol=bound, err_msg=attribute)
        if dtype == "float64" and made is not x:
            continue
        values = later if not isinstance(made, hr.DataFrame) else frame_of(later)
        expected, found = theirs.transform(later), ours.transform(values)
        assert np.dtype(found.dtype) == dtype == expected.dtype
        np.testing.assert_allclose(np.asarray(found), expected, rtol=bound * 10, atol=bound * 10)
        back = np.asarray(ours.inverse_transform(found))
        np.testing.assert_allclose(back, theirs.inverse_transform(expected), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("name", ["StandardScaler", "MinMaxScaler", "MaxAbsScaler"])
def test_partial_fit(name):
    x = data(1000, 4)
    theirs, ours = getattr(preprocessing, name)(), getattr(learn, name)()
    for begin in range(0, 1000, 300):
        theirs.partial_fit(x[begin : begin + 300])
        ours.partial_fit(x[begin : begin + 300])
    for attribute in LEARNED.split():
        if hasattr(theirs, attribute):
            np.testing.assert_allclose(
                getattr(ours, attribute), getattr(theirs, attribute), rtol=1e-12
            )


def test_weights():
    x = data(500, 20)
    weights = np.random.default_rng(2).random(500)
    theirs = preprocessing.StandardScaler().fit(x, sample_weight=weights)
    for made in (x, x[:, :4], frame_of(x)):
        ours = learn.StandardScaler().fit(made, sample_weight=weights)
        kept = slice(ours.n_features_in_)
        for attribute in ("mean_", "var_", "scale_"):
            expected = getattr(theirs, attribute)[kept]
            np.testing.assert_allclose(getattr(ours, attribute), expected, rtol=1e-11, atol=1e-30)


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_normalizer(norm):
    x = data(200, 7, missing=False)
    x[3] = 0
    expected = preprocessing.Normalizer(norm=norm).fit_transform(x)
    for made in (x, hr.asarray(x), frame_of(x)):
        np.testing.assert_allclose(learn.Normalizer(norm).fit_transform(made), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="no such norm"):
        learn.Normalizer("l3").transform(x)


def test_nulls_are_skipped_like_nan():
    frame = hr.DataFrame({"a": [1.0, None, 3.0], "n": [1, 2, 6]})
    ours = learn.StandardScaler().fit(frame)
    assert ours.mean_.tolist() == [2, 3] and ours.n_samples_seen_.tolist() == [2, 3]
    assert np.isnan(np.asarray(ours.transform(frame))[1, 0])


def test_a_transform_is_lazy_and_fitting_copies_nothing():
    x = data(10_000, 4, missing=False)
    x.flags.writeable = False
    with hr.no_copies():
        scaler = learn.StandardScaler().fit(hr.asarray(x))
        made = scaler.transform(hr.asarray(x))
    assert "lazy" in repr(made)
    assert "lazy" in repr(scaler.inverse_transform(made))


@pytest.mark.parametrize("name", [name for name, options in SCALERS if not options])
def test_infinite_values_are_named(name):
    x = data(20, 3, missing=False)
    x[5, 1] = np.inf
    for made in (x, hr.asarray(x), frame_of(x)):
        with pytest.raises(ValueError, match=f"{name}: Input X contains infinity.*row=5"):
            getattr(learn, name)().fit(made)


def test_wrong_values():
    frame = hr.DataFrame({"a": [1.0, 2.0], "word": ["x", "y"]})
    with pytest.raises(TypeError, match=r"columns=\{'word': 'string'\}"):
        learn.StandardScaler().fit(frame)
    with pytest.raises(ValueError, match="feature_range"):
        learn.MinMaxScaler((1, 0)).fit([[1.0]])
    with pytest.raises(ValueError, match="quantile range"):
        learn.RobustScaler(quantile_range=(90, 10)).fit([[1.0]])
    with pytest.raises(ValueError, match="X has 2 features"):
        learn.StandardScaler().fit([[1.0]]).transform([[1.0, 2.0]])


def test_the_same_bits_for_any_number_of_threads():
    x = data(300_000, 3)
    found = []
    for count in (1, 2, 4):
        with hr.threads(count):
            ours = learn.StandardScaler().fit(x)
            found.append(ours.mean_.tobytes() + ours.var_.tobytes() + ours.transform(x).tobytes())
    assert found[0] == found[1] == found[2]


def test_metadata_routing():
    sklearn = pytest.importorskip("sklearn")
    from sklearn.pipeline import make_pipeline

    x = data(50, 2, missing=False)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = learn.StandardScaler().set_fit_request(sample_weight=True)
        assert scaler.get_metadata_routing().fit.requests == {"sample_weight": True}
        weights = np.arange(50.0)
        pipeline = make_pipeline(scaler).fit(x, sample_weight=weights)
    expected = learn.StandardScaler().fit(x, sample_weight=weights)
    np.testing.assert_array_equal(pipeline[0].mean_, expected.mean_)
