# SPDX-License-Identifier: Apache-2.0
"""Encoders of `hr.learn` against scikit-learn's."""

import warnings

import numpy as np
import pytest

import headrace as hr
from headrace import learn

preprocessing = pytest.importorskip("sklearn.preprocessing")
pandas = pytest.importorskip("pandas")


def words(rows, levels, seed=0):
    rng = np.random.default_rng(seed)
    return np.array([f"w{level}" for level in range(levels)], dtype=object)[
        rng.integers(0, levels, rows)
    ]


def table(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    return pandas.DataFrame(
        {
            "word": words(rows, 7, seed),
            "count": rng.integers(-3, 4, rows),
            "size": rng.integers(0, 3, rows) / 2,
            "flag": rng.random(rows) < 0.5,
        }
    )


def dense(made):
    return np.asarray(made.toarray() if hasattr(made, "toarray") else made)


def same_levels(ours, theirs):
    assert len(ours.categories_) == len(theirs.categories_)
    for one, other in zip(ours.categories_, theirs.categories_, strict=True):
        assert one.dtype.kind == other.dtype.kind or {one.dtype.kind, other.dtype.kind} <= set("OU")
        np.testing.assert_array_equal(one, other)


SOURCES = {
    "table": table,
    "object": lambda rows=300, seed=0: table(rows, seed)[["word", "word"]].to_numpy(object),
    "strings": lambda rows=300, seed=0: table(rows, seed)[["word"]].to_numpy(str),
    "integers": lambda rows=300, seed=0: table(rows, seed)[["count", "count"]].to_numpy(),
    "floats": lambda rows=300, seed=0: table(rows, seed)[["size", "count"]].to_numpy(),
    "bools": lambda rows=300, seed=0: table(rows, seed)[["flag"]].to_numpy(),
    "list": lambda rows=300, seed=0: table(rows, seed)[["word"]].to_numpy(object).tolist(),
    "one row": lambda rows=300, seed=0: table(1, seed),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"drop": "first"},
        {"drop": "if_binary"},
        {"min_frequency": 43},
        {"max_categories": 3},
        {"min_frequency": 0.14, "max_categories": 4, "handle_unknown": "infrequent_if_exist"},
        {"handle_unknown": "ignore", "dtype": np.float32},
        {"max_categories": 1, "handle_unknown": "warn"},
    ],
    ids=str,
)
def test_one_hot_equals_scikit_learn(options, source):
    x = SOURCES[source]()
    theirs = preprocessing.OneHotEncoder(**options).fit(x)
    ours = learn.OneHotEncoder(**options)
    made = ours.fit_transform(x)
    expected = theirs.transform(x).toarray()
    assert type(made) is hr.tensor.csr_matrix and np.dtype(made.dtype) == expected.dtype
    np.testing.assert_array_equal(dense(made), expected)
    same_levels(ours, theirs)
    np.testing.assert_array_equal(ours.drop_idx_, theirs.drop_idx_)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    flat = learn.OneHotEncoder(sparse_output=False, **options)
    np.testing.assert_array_equal(flat.fit_transform(x), expected)
    if not expected.shape[1]:
        return  # theirs refuses to invert it
    back = theirs.inverse_transform(expected)
    np.testing.assert_array_equal(ours.inverse_transform(made), back)
    np.testing.assert_array_equal(ours.inverse_transform(made.to_scipy()), back)
    if "min_frequency" in options or "max_categories" in options:
        for one, other in zip(
            ours.infrequent_categories_, theirs.infrequent_categories_, strict=True
        ):
            np.testing.assert_array_equal(one, other)
    if options.get("handle_unknown", "error") != "error":
        later = np.asarray(x)[:9].copy()
        later[-1, 0] = {"i": 99, "f": 99, "b": 0}.get(later.dtype.kind, "zz")
        later = (
            type(x)(later, columns=x.columns).astype(x.dtypes)
            if source in ("table", "one row")
            else later
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = theirs.transform(later).toarray()
            np.testing.assert_array_equal(dense(ours.transform(later)), wanted)
            np.testing.assert_array_equal(dense(flat.transform(later)), wanted)
            np.testing.assert_array_equal(
                ours.inverse_transform(wanted), theirs.inverse_transform(wanted)
            )


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dtype": np.int32},
        {"handle_unknown": "use_encoded_value", "unknown_value": -7},
        {"handle_unknown": "use_encoded_value", "unknown_value": np.nan},
        {"min_frequency": 43},
        {"max_categories": 3, "handle_unknown": "use_encoded_value", "unknown_value": 99},
    ],
    ids=str,
)
def test_ordinal_equals_scikit_learn(options, source):
    x = SOURCES[source]()
    theirs = preprocessing.OrdinalEncoder(**options).fit(x)
    ours = learn.OrdinalEncoder(**options).fit(x)
    same_levels(ours, theirs)
    made, expected = ours.transform(x), theirs.transform(x)
    assert made.dtype == expected.dtype
    np.testing.assert_array_equal(made, expected)
    np.testing.assert_array_equal(ours.inverse_transform(made), theirs.inverse_transform(expected))
    if options.get("handle_unknown"):
        later = np.asarray(x)[:9].copy()
        later[-1, 0] = {"i": 99, "f": 99, "b": 0}.get(later.dtype.kind, "zz")
        later = (
            type(x)(later, columns=x.columns).astype(x.dtypes)
            if source in ("table", "one row")
            else later
        )
        np.testing.assert_array_equal(ours.transform(later), theirs.transform(later))


@pytest.mark.parametrize("missing", [np.nan, None])
def test_missing_values_are_a_level(missing):
    x = np.array([["b", 1.0], [missing, 2.0], ["a", missing], ["b", 1.0]], dtype=object)
    if missing is None:
        x = x[:, :1]
    else:
        x = pandas.DataFrame({"w": x[:, 0], "n": x[:, 1].astype(float)})
    for name, options in (
        ("OrdinalEncoder", {}),
        ("OrdinalEncoder", {"encoded_missing_value": -2, "dtype": np.int64}),
        ("OrdinalEncoder", {"encoded_missing_value": -2, "min_frequency": 2}),
        ("OneHotEncoder", {"sparse_output": False}),
        ("OneHotEncoder", {"sparse_output": False, "min_frequency": 2}),
    ):
        theirs = getattr(preprocessing, name)(**options).fit(x)
        ours = getattr(learn, name)(**options).fit(x)
        expected = theirs.transform(x)
        np.testing.assert_array_equal(ours.transform(x), expected)
        if name == "OrdinalEncoder" and "min_frequency" in options:
            continue  # theirs takes the missing value and the rare level for each other
        np.testing.assert_array_equal(
            pandas.isna(ours.inverse_transform(expected)),
            pandas.isna(theirs.inverse_transform(expected)),
        )


@pytest.mark.parametrize("dtype", ["int8", "int64", "bool", "float32"])
def test_one_hot_dtypes(dtype):
    for sparse in (True, False):
        made = learn.OneHotEncoder(dtype=dtype, sparse_output=sparse).fit_transform([["b"], ["a"]])
        assert dense(made).tolist() == [[0, 1], [1, 0]]


def test_frames_of_ours():
    x = table()
    frame = hr.DataFrame(x)
    expected = preprocessing.OneHotEncoder().fit(x)
    ours = learn.OneHotEncoder().fit(frame)
    np.testing.assert_array_equal(dense(ours.transform(frame)), expected.transform(x).toarray())
    assert list(ours.get_feature_names_out()) == list(expected.get_feature_names_out())
    made = learn.OneHotEncoder(sparse_output=False).fit_transform(frame)
    assert type(made) is hr.Array
    back = ours.inverse_transform(made)
    assert type(back) is hr.DataFrame and back["word"].to_list() == x["word"].tolist()
    codes = learn.OrdinalEncoder().fit_transform(frame)
    assert type(codes) is hr.Array
    np.testing.assert_array_equal(
        np.asarray(codes), preprocessing.OrdinalEncoder().fit_transform(x)
    )
    categories = frame[["word"]].astype({"word": "category"})
    np.testing.assert_array_equal(
        np.asarray(learn.OrdinalEncoder().fit_transform(categories))[:, 0], np.asarray(codes)[:, 0]
    )


def test_drop_by_value_and_own_names():
    x = table()[["word", "count"]]
    options = {"drop": ["w3", 2], "feature_name_combiner": lambda name, level: f"{name}={level}"}
    theirs = preprocessing.OneHotEncoder(**options).fit(x)
    ours = learn.OneHotEncoder(**options).fit(x)
    np.testing.assert_array_equal(dense(ours.transform(x)), theirs.transform(x).toarray())
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    with pytest.raises(ValueError, match="not found in the training data"):
        learn.OneHotEncoder(drop=["zz", 2]).fit(x)


def test_given_categories():
    x = [["b"], ["a"]]
    given = [["c", "b", "a"]]
    theirs = preprocessing.OrdinalEncoder(categories=given).fit(x)
    ours = learn.OrdinalEncoder(categories=given).fit(x)
    np.testing.assert_array_equal(ours.transform(x), theirs.transform(x))
    for wrong, message in (
        ([["a"]], "unknown categories.*'b'.*column 0 during fit"),
        ([["a", "a", "b"]], "duplicate"),
        ([["a"], ["b"]], "Shape mismatch"),
    ):
        with pytest.raises(ValueError, match=message):
            learn.OrdinalEncoder(categories=wrong).fit(x)
    with pytest.raises(ValueError, match="Unsorted"):
        learn.OneHotEncoder(categories=[[3, 1]]).fit([[1], [3]])


def test_unknown_values_raise():
    for cls in (learn.OneHotEncoder, learn.OrdinalEncoder):
        encoder = cls().fit([["a"], ["b"]])
        with pytest.raises(
            ValueError, match=r"unknown categories \['c'\] in column 0 during transform"
        ):
            encoder.transform([["a"], ["c"]])
        with pytest.raises(ValueError, match="unknown categories"):
            encoder.transform([[1]])
    with pytest.raises(TypeError, match="uniformly strings or numbers"):
        learn.OneHotEncoder().fit(np.array([["a"], [1]], dtype=object))
    with pytest.raises(ValueError, match="one of the values already used"):
        learn.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=0).fit([["a"]])
    with pytest.raises(TypeError, match="unknown_value should"):
        learn.OrdinalEncoder(unknown_value=0).fit([["a"]])


@pytest.mark.parametrize(
    "labels", [words(200, 5), np.arange(200) % 3, np.arange(200) % 2, [True, False]]
)
def test_labels(labels):
    theirs, ours = preprocessing.LabelEncoder().fit(labels), learn.LabelEncoder().fit(labels)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    codes = ours.transform(labels)
    np.testing.assert_array_equal(codes, theirs.transform(labels))
    np.testing.assert_array_equal(ours.inverse_transform(codes), labels)
    series = hr.Series(labels)
    assert type(ours.transform(series)) is hr.Series
    assert ours.inverse_transform(ours.transform(series)).to_list() == list(labels)
    for options in ({}, {"neg_label": -1, "pos_label": 2}):
        theirs = preprocessing.LabelBinarizer(**options).fit(labels)
        ours = learn.LabelBinarizer(**options).fit(labels)
        expected = theirs.transform(labels)
        np.testing.assert_array_equal(ours.transform(labels), expected)
        np.testing.assert_array_equal(ours.inverse_transform(expected), labels)
        assert ours.y_type_ == theirs.y_type_
    sparse = learn.LabelBinarizer(sparse_output=True).fit_transform(labels)
    expected = preprocessing.LabelBinarizer().fit_transform(labels)
    np.testing.assert_array_equal(dense(sparse), expected)


def test_unknown_labels():
    encoder = learn.LabelEncoder().fit(["a", "b"])
    with pytest.raises(ValueError, match=r"previously unseen labels: \['c'\]"):
        encoder.transform(["c"])
    with pytest.raises(ValueError, match="previously unseen labels"):
        encoder.inverse_transform([2])
    with pytest.raises(ValueError, match="1d array"):
        encoder.transform(np.zeros((2, 2)))


@pytest.mark.parametrize("rows", [1, 50, 5000])
def test_target_encoder_has_the_same_bits_for_any_number_of_threads(rows):
    rng = np.random.default_rng(rows)
    codes, y = rng.integers(0, 3, (rows + 10, 1)), rng.normal(size=rows + 10)
    made = []
    for count in (1, 2, 4):
        with hr.threads(count):
            made.append(learn.TargetEncoder(cv=learn.KFold(5)).fit_transform(codes, y))
    assert all(np.array_equal(made[0], each) for each in made)
    theirs = preprocessing.TargetEncoder(cv=learn.KFold(5)).fit_transform(codes, y)
    np.testing.assert_allclose(made[0], theirs, rtol=1e-9, atol=1e-12)


def test_target_encoder_refuses_folds_that_meet_a_row_twice():
    rows = np.arange(4)
    splits = [(rows[2:], rows[:2]), (rows[2:], rows[:2])]
    with pytest.raises(hr.InvalidArgumentError, match="exactly once"):
        learn.TargetEncoder(cv=splits).fit_transform(rows[:, None], rows * 1.0)
