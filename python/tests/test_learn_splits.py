# SPDX-License-Identifier: Apache-2.0
"""Splits of rows and scores over folds, against scikit-learn's."""

import warnings

import numpy as np
import pytest

import headrace as hr
from headrace import learn

selection = pytest.importorskip("sklearn.model_selection")
linear_model = pytest.importorskip("sklearn.linear_model")
pandas = pytest.importorskip("pandas")


def same_folds(ours, theirs, *data, **options):
    found, expected = list(ours.split(*data, **options)), list(theirs.split(*data, **options))
    assert len(found) == len(expected) == ours.get_n_splits()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("rows", [11, 100, 1003])
@pytest.mark.parametrize("splits", [2, 5])
def test_folds_equal_scikit_learn(rows, splits):
    rng = np.random.default_rng(rows)
    x = rng.normal(size=(rows, 2))
    same_folds(learn.KFold(splits), selection.KFold(splits), x)
    groups = rng.integers(0, 9, rows)
    same_folds(learn.GroupKFold(splits), selection.GroupKFold(splits), x, groups=groups)
    names = np.array(list("abcdefghi"), dtype=object)[groups]
    same_folds(learn.GroupKFold(splits), selection.GroupKFold(splits), x, groups=names)
    for options in ({}, {"gap": 1}, {"max_train_size": 3}, {"test_size": 1, "gap": 2}):
        same_folds(
            learn.TimeSeriesSplit(splits, **options),
            selection.TimeSeriesSplit(splits, **options),
            x,
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for labels in (groups % 3, names, rng.random(rows) < 0.3, np.array([2.0, 1.0])[groups % 2]):
            if max(np.unique(labels, return_counts=True)[1]) < splits:
                continue  # both raise
            ours, theirs = learn.StratifiedKFold(splits), selection.StratifiedKFold(splits)
            same_folds(ours, theirs, x, labels)


def test_shuffled_folds_are_whole_and_repeatable():
    labels = np.repeat([0, 1, 2], [50, 30, 20])
    for cls in (learn.KFold, learn.StratifiedKFold, learn.GroupKFold):
        first, again = (
            [
                test.tolist()
                for _, test in cls(5, shuffle=True, random_state=3).split(
                    labels, labels, labels * 0 + np.arange(100)
                )
            ]
            for _ in range(2)
        )
        assert first == again
        assert sorted(row for test in first for row in test) == list(range(100))
        if cls is learn.StratifiedKFold:
            assert all(np.bincount(labels[test]).tolist() == [10, 6, 4] for test in first)
    assert first != [test.tolist() for _, test in learn.KFold(5).split(labels)]


@pytest.mark.parametrize(
    "sizes",
    [
        {},
        {"test_size": 0.3},
        {"test_size": 7},
        {"train_size": 0.5},
        {"train_size": 20, "test_size": 9},
    ],
)
@pytest.mark.parametrize("labels", [None, np.arange(101) % 3])
def test_train_test_split_sizes(sizes, labels):
    x = np.arange(101)
    train, test = learn.train_test_split(x, random_state=0, stratify=labels, **sizes)
    theirs = selection.train_test_split(x, random_state=0, stratify=labels, **sizes)
    assert [len(train), len(test)] == [len(each) for each in theirs]
    assert len({*train.tolist(), *test.tolist()}) == len(train) + len(test)
    if labels is not None:
        np.testing.assert_allclose(
            np.bincount(labels[test]), np.bincount(labels[theirs[1]]), atol=1
        )
    plain = learn.train_test_split(x, shuffle=False, **sizes)
    for one, other in zip(
        plain, selection.train_test_split(x, shuffle=False, **sizes), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_every_kind_of_data_is_split_alike():
    x = np.arange(40.0).reshape(20, 2)
    frame = pandas.DataFrame(x, columns=["a", "b"])
    kinds = [
        x,
        x.tolist(),
        frame,
        hr.DataFrame(frame),
        hr.asarray(x),
        hr.Series(x[:, 0]),
        hr.tensor.csr_matrix(x),
        pytest.importorskip("polars").DataFrame(x),
        pytest.importorskip("pyarrow").table(frame),
    ]
    made = learn.train_test_split(*kinds, random_state=1)
    expected = np.asarray(made[0])[:, 0]
    for place, kind in enumerate(kinds):
        train = made[2 * place]
        assert type(train) is type(kind)
        values = train.to_pandas() if hasattr(train, "schema") else train
        values = np.asarray(values)
        np.testing.assert_array_equal(values if values.ndim == 1 else values[:, 0], expected)


def test_the_same_rows_for_any_number_of_threads():
    found = []
    for count in (1, 4):
        with hr.threads(count):
            found.append(learn.train_test_split(np.arange(300_000), random_state=5)[0])
    np.testing.assert_array_equal(*found)


def test_wrong_splits():
    x = [1, 2, 3]
    for options, message in (
        ({"test_size": 1.5}, "test_size"),
        ({"test_size": 3}, "test_size"),
        ({"test_size": 2, "train_size": 2}, "more rows"),
        ({"stratify": [0, 0, 1]}, "least populated"),
        ({"stratify": [0, 0, 1], "shuffle": False}, "shuffle=False"),
    ):
        with pytest.raises(ValueError, match=message):
            learn.train_test_split(x, **options)
    with pytest.raises(ValueError, match="inconsistent"):
        learn.train_test_split(x, [1])
    with pytest.raises(ValueError, match="n_splits=5 greater"):
        list(learn.KFold().split(x))
    with pytest.raises(ValueError, match="n_splits=2 or more"):
        list(learn.KFold(1).split(x))
    with pytest.raises(ValueError, match="groups"):
        list(learn.GroupKFold(2).split(x))
    with pytest.raises(ValueError, match="Supported target types"):
        list(learn.StratifiedKFold(2).split(x, [0.5, 1.5, 2.5]))


@pytest.mark.parametrize(
    "scoring", [None, "accuracy", "roc_auc", "neg_log_loss", "f1_macro", "average_precision"]
)
def test_cross_val_score(scoring):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(c, 1.0, (40, 3)) for c in (-1, 1)])
    y = np.repeat([0, 1], 40)
    model = linear_model.LogisticRegression()
    expected = selection.cross_val_score(model, x, y, scoring=scoring)
    for data in (x, pandas.DataFrame(x), x.tolist()):
        found = learn.cross_val_score(model, data, y, scoring=scoring)
        np.testing.assert_allclose(found, expected)
    pipeline = learn.make_pipeline(learn.StandardScaler(), model)
    assert learn.cross_val_score(pipeline, hr.asarray(x), y, cv=learn.KFold(4)).shape == (4,)
    np.testing.assert_allclose(
        selection.cross_val_score(model, x, y, scoring=scoring, cv=learn.StratifiedKFold(3)),
        learn.cross_val_score(model, x, y, scoring=scoring, cv=selection.StratifiedKFold(3)),
    )


def test_failing_fits():
    class Fails(learn.PCA):
        def fit(self, X, y=None):
            if X[0][0] == 0:
                raise ValueError("no")
            return self

        def score(self, X, y=None):
            return 1.0

    x = [[0], [1], [2], [3]]
    with pytest.warns(UserWarning, match="1 fits out of 2 failed"):
        found = learn.cross_val_score(Fails(), x, cv=2)
    np.testing.assert_array_equal(found, [1.0, np.nan])
    with pytest.raises(ValueError, match="no"):
        learn.cross_val_score(Fails(), x, cv=2, error_score="raise")
    with pytest.raises(ValueError, match="no such score"):
        learn.cross_val_score(Fails(), x, cv=2, scoring="nope")
