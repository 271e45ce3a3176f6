# SPDX-License-Identifier: Apache-2.0
"""`hr.learn.metrics` against scikit-learn's."""

import numpy as np
import pytest

import headrace as hr
from headrace.learn import metrics as ours

theirs = pytest.importorskip("sklearn.metrics")
pytestmark = pytest.mark.filterwarnings("ignore")

WORDS = np.array(["red", "green", "blue", "grey"], dtype=object)


def labels(rows, classes, seed=0):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, classes, rows)
    return true, np.where(rng.random(rows) < 0.6, true, rng.integers(0, classes, rows))


def kinds(true, predicted):
    """The same labels in every kind of data."""
    yield true, predicted
    yield WORDS[true], WORDS[predicted]
    yield WORDS[true].tolist(), WORDS[predicted].tolist()
    yield hr.Series(WORDS[true]), hr.Series(WORDS[predicted])
    yield hr.asarray(true), hr.asarray(predicted)


def plain(y):
    return np.asarray(y.to_list() if isinstance(y, hr.Series) else y)


@pytest.mark.parametrize("rows, classes", [(1, 2), (500, 2), (500, 4)])
def test_classes(rows, classes):
    weights = np.random.default_rng(5).random(rows)
    for true, predicted in kinds(*labels(rows, classes)):
        t, p = plain(true), plain(predicted)
        for options in ({}, {"sample_weight": weights}):
            close = np.testing.assert_allclose
            for normalize in (True, False):
                close(
                    ours.accuracy_score(true, predicted, normalize=normalize, **options),
                    theirs.accuracy_score(t, p, normalize=normalize, **options),
                )
            for normalize in (None, "true", "pred", "all"):
                close(
                    ours.confusion_matrix(true, predicted, normalize=normalize, **options),
                    theirs.confusion_matrix(t, p, normalize=normalize, **options),
                )
            for name in ("precision_score", "recall_score", "f1_score"):
                for average in ("micro", "macro", "weighted", None):
                    close(
                        getattr(ours, name)(true, predicted, average=average, **options),
                        getattr(theirs, name)(t, p, average=average, **options),
                    )
                if len(set(t.tolist()) | set(p.tolist())) == 2:
                    positive = t[0]
                    close(
                        getattr(ours, name)(true, predicted, pos_label=positive, **options),
                        getattr(theirs, name)(t, p, pos_label=positive, **options),
                    )
        some = [t[0], p[-1]] if t[0] != p[-1] else [t[0]]
        np.testing.assert_array_equal(
            ours.confusion_matrix(true, predicted, labels=some),
            theirs.confusion_matrix(t, p, labels=some),
        )
        np.testing.assert_allclose(
            ours.recall_score(true, predicted, labels=some, average="macro"),
            theirs.recall_score(t, p, labels=some, average="macro"),
        )
        for name in ("adjusted_rand_score", "normalized_mutual_info_score"):
            expected = getattr(theirs, name)(t, p)
            np.testing.assert_allclose(getattr(ours, name)(true, predicted), expected, atol=1e-14)
        for mean in ("geometric", "min", "max"):
            np.testing.assert_allclose(
                ours.normalized_mutual_info_score(true, predicted, average_method=mean),
                theirs.normalized_mutual_info_score(t, p, average_method=mean),
                atol=1e-14,
            )


@pytest.mark.parametrize("division", [0.0, 1.0, np.nan])
def test_classes_that_never_come(division):
    true, predicted = [0, 0, 1, 2], [0, 0, 1, 1]
    for name in ("precision_score", "recall_score", "f1_score"):
        for average in (None, "macro", "weighted"):
            np.testing.assert_allclose(
                getattr(ours, name)(true, predicted, average=average, zero_division=division),
                getattr(theirs, name)(true, predicted, average=average, zero_division=division),
            )


def test_clusterings_without_or_with_all_information():
    for one, other in (
        ([0, 0], [0, 0]),
        ([0, 1, 2], [0, 1, 2]),
        ([0, 0, 0], [0, 1, 2]),
        ([0, 1], [0, 0]),
    ):
        for name in ("adjusted_rand_score", "normalized_mutual_info_score"):
            assert getattr(ours, name)(one, other) == getattr(theirs, name)(one, other)


@pytest.mark.parametrize("ties", [1, 20])
def test_rankings(ties):
    true, _ = labels(400, 2)
    rng = np.random.default_rng(1)
    scores = np.round((true + rng.normal(size=400)) * ties) / ties
    weights = rng.random(400)
    for options in ({}, {"sample_weight": weights}):
        for y, s in (
            (true, scores),
            (hr.asarray(true), hr.asarray(scores)),
            (true, hr.Series(scores)),
        ):
            np.testing.assert_allclose(
                ours.roc_auc_score(y, s, **options), theirs.roc_auc_score(true, scores, **options)
            )
            np.testing.assert_allclose(
                ours.roc_auc_score(y, s, max_fpr=0.3, **options),
                theirs.roc_auc_score(true, scores, max_fpr=0.3, **options),
            )
            np.testing.assert_allclose(
                ours.average_precision_score(y, s, **options),
                theirs.average_precision_score(true, scores, **options),
            )
    expected = theirs.roc_auc_score(WORDS[true], scores)
    np.testing.assert_allclose(ours.roc_auc_score(WORDS[true], scores), expected)


def test_rankings_of_more_classes():
    true, _ = labels(300, 4)
    chances = np.random.default_rng(2).dirichlet(np.ones(4), 300) + np.eye(4)[true]
    chances /= chances.sum(axis=1, keepdims=True)
    for way in ("ovr", "ovo"):
        for average in ("macro", "weighted"):
            np.testing.assert_allclose(
                ours.roc_auc_score(true, chances, multi_class=way, average=average),
                theirs.roc_auc_score(true, chances, multi_class=way, average=average),
            )
    np.testing.assert_allclose(
        ours.average_precision_score(true, chances), theirs.average_precision_score(true, chances)
    )
    weights = np.random.default_rng(3).random(300)
    for options in ({}, {"sample_weight": weights}, {"normalize": False}):
        for y, p in ((true, chances), (WORDS[true], chances), (true, chances.astype("f4"))):
            expected = theirs.log_loss(y, p, **options)
            np.testing.assert_allclose(ours.log_loss(y, p, **options), expected, rtol=1e-6)
    with pytest.raises(ValueError, match="multi_class"):
        ours.roc_auc_score(true, chances)


def test_log_loss_of_two_classes_and_sure_predictions():
    for p in ([0.1, 0.9, 0.4], [0.0, 1.0, 1.0]):
        np.testing.assert_allclose(ours.log_loss([0, 1, 0], p), theirs.log_loss([0, 1, 0], p))
    np.testing.assert_allclose(
        ours.log_loss([1, 1], [0.5, 0.2], labels=[0, 1]),
        theirs.log_loss([1, 1], [0.5, 0.2], labels=[0, 1]),
    )
    with pytest.raises(ValueError, match="only one label"):
        ours.log_loss([1, 1], [0.5, 0.2])
    with pytest.raises(ValueError, match="outside 0 to 1"):
        ours.log_loss([0, 1], [0.5, 1.2])


@pytest.mark.parametrize("shape", [(200,), (200, 3)])
def test_numbers(shape):
    rng = np.random.default_rng(4)
    true = rng.normal(size=shape)
    predicted = true + rng.normal(size=shape) / 3
    weights = rng.random(200)
    names = ("mean_squared_error", "root_mean_squared_error", "mean_absolute_error", "r2_score")
    for options in ({}, {"sample_weight": weights}, {"multioutput": "raw_values"}):
        for name in names:
            expected = getattr(theirs, name)(true, predicted, **options)
            for convert in (np.asarray, hr.asarray, lambda x: x.tolist()):
                found = getattr(ours, name)(convert(true), convert(predicted), **options)
                np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(
        ours.r2_score(true, predicted, multioutput="variance_weighted"),
        theirs.r2_score(true, predicted, multioutput="variance_weighted"),
    )


def test_constant_targets():
    for predicted in ([1.0, 1.0], [1.0, 2.0]):
        assert ours.r2_score([1.0, 1.0], predicted) == theirs.r2_score([1.0, 1.0], predicted)


def test_wrong_data():
    with pytest.raises(ValueError, match="inconsistent"):
        ours.accuracy_score([1, 2], [1])
    with pytest.raises(ValueError, match="average='binary'"):
        ours.f1_score([0, 1, 2], [0, 1, 2])
    with pytest.raises(ValueError, match="NaN"):
        ours.mean_squared_error([np.nan], [1.0])
    with pytest.raises(NotImplementedError, match="one label a row"):
        ours.accuracy_score(np.eye(3), np.eye(3))
