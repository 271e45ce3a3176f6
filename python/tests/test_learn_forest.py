# SPDX-License-Identifier: Apache-2.0
"""Random forests against those of scikit-learn."""

import hashlib
import pickle

import numpy as np
import pytest

import headrace as hr
from headrace.learn import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)

pytest.importorskip("sklearn")
from sklearn import datasets, ensemble, metrics, model_selection

EXACT = {"n_estimators": 1, "bootstrap": False, "random_state": 0}
#: Nodes of enough rows that two splits hardly ever part them in the same way.
NO_TIES = EXACT | {"max_features": None, "min_samples_leaf": 12}


def split_data(rows, features, seed, **options):
    x, y = datasets.make_classification(
        rows, features, n_informative=features // 2, random_state=seed, **options
    )
    return model_selection.train_test_split(x, y, test_size=0.4, random_state=seed)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
@pytest.mark.parametrize("depth", [1, 2])
def test_splits_are_scikit_learns(criterion, depth):
    for seed in range(6):
        x, other, y, _ = split_data(400, 6, seed, n_classes=3, flip_y=0.2)
        options = NO_TIES | {"criterion": criterion, "max_depth": depth}
        ours = RandomForestClassifier(**options).fit(x, y)
        theirs = ensemble.RandomForestClassifier(**options).fit(x, y)
        tree, known = ours.estimators_[0], theirs.estimators_[0].tree_
        np.testing.assert_array_equal(tree.feature, known.feature)
        np.testing.assert_allclose(tree.threshold, known.threshold, rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(tree.children_left, known.children_left)
        np.testing.assert_array_equal(tree.children_right, known.children_right)
        np.testing.assert_array_equal(tree.n_node_samples, known.n_node_samples)
        np.testing.assert_allclose(tree.value, known.value[:, 0], atol=1e-12)
        np.testing.assert_array_equal(ours.apply(other), theirs.apply(other))
        np.testing.assert_allclose(
            ours.feature_importances_.to_numpy(), theirs.feature_importances_, atol=1e-9
        )


@pytest.mark.parametrize(
    "options",
    [
        {"max_depth": 4},
        {"min_samples_leaf": 7},
        {"min_samples_split": 0.2},
        {"min_weight_fraction_leaf": 0.1},
        {"min_impurity_decrease": 0.5},
    ],
)
def test_regression_trees_are_scikit_learns(options):
    x, y = datasets.make_regression(240, 5, noise=3.0, random_state=3)
    ours = RandomForestRegressor(**EXACT, **options).fit(x, y)
    theirs = ensemble.RandomForestRegressor(**EXACT, **options).fit(x, y)
    assert ours.estimators_[0].node_count == theirs.estimators_[0].tree_.node_count
    np.testing.assert_allclose(ours.predict(x), theirs.predict(x), rtol=1e-9)
    assert ours.score(x, y) == pytest.approx(theirs.score(x, y))


def test_weights_are_scikit_learns():
    x, _, y, _ = split_data(400, 6, 1, flip_y=0.2)
    weights = np.random.default_rng(0).uniform(0, 2, len(y)) * (np.arange(len(y)) % 5 > 0)
    for more in ({}, {"class_weight": "balanced"}, {"class_weight": {0: 3.0}}):
        options = NO_TIES | {"max_depth": 4} | more
        ours = RandomForestClassifier(**options).fit(x, y, weights)
        theirs = ensemble.RandomForestClassifier(**options).fit(x, y, weights)
        np.testing.assert_allclose(ours.predict_proba(x), theirs.predict_proba(x), atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_accuracy_is_scikit_learns(seed):
    x, other, y, known = split_data(400, 8, seed, n_classes=3, class_sep=2.0)
    ours = RandomForestClassifier(random_state=0).fit(x, y)
    theirs = ensemble.RandomForestClassifier(random_state=0).fit(x, y)
    assert ours.score(other, known) >= theirs.score(other, known) - 0.02
    proba = ours.predict_proba(other)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(ours.predict_log_proba(other), np.log(proba))


def test_auc_of_more_rows_than_bins():
    x, other, y, known = split_data(10_000, 20, 0, flip_y=0.1)
    ours = RandomForestClassifier(60, random_state=0).fit(x, y)
    theirs = ensemble.RandomForestClassifier(60, random_state=0, n_jobs=2).fit(x, y)
    auc = [metrics.roc_auc_score(known, m.predict_proba(other)[:, 1]) for m in (ours, theirs)]
    assert auc[0] >= auc[1] - 0.004


def test_missing_values_are_scikit_learns():
    x, other, y, _ = split_data(600, 6, 4, flip_y=0.2)
    x[np.random.default_rng(0).random(x.shape) < 0.2] = np.nan
    options = NO_TIES | {"max_depth": 3}
    ours = RandomForestClassifier(**options).fit(x, y)
    theirs = ensemble.RandomForestClassifier(**options).fit(x, y)
    np.testing.assert_allclose(ours.predict_proba(x), theirs.predict_proba(x), atol=1e-9)
    other[::3, 0] = np.nan
    np.testing.assert_allclose(ours.predict_proba(other), theirs.predict_proba(other), atol=1e-9)


def test_extra_trees_are_as_good_as_scikit_learns():
    x, other, y, known = split_data(1000, 8, 2, flip_y=0.1)
    ours = ExtraTreesClassifier(80, random_state=0).fit(x, y)
    theirs = ensemble.ExtraTreesClassifier(80, random_state=0).fit(x, y)
    assert ours.score(other, known) >= theirs.score(other, known) - 0.03
    assert ours.score(x, y) == 1 == theirs.score(x, y)
    x, y = datasets.make_friedman1(800, random_state=0)
    ours = ExtraTreesRegressor(60, random_state=0).fit(x[:400], y[:400])
    theirs = ensemble.ExtraTreesRegressor(60, random_state=0).fit(x[:400], y[:400])
    assert ours.score(x[400:], y[400:]) >= theirs.score(x[400:], y[400:]) - 0.02


def digest(model):
    parts = [part.to_numpy().tobytes() for part in model._forest]
    return hashlib.sha256(b"".join(parts)).hexdigest()


@pytest.mark.parametrize(
    "make", [RandomForestClassifier, ExtraTreesClassifier, ExtraTreesRegressor]
)
def test_same_trees_for_any_threads(make):
    x, other, y, _ = split_data(3000, 10, 0)
    made = set()
    for count in (1, 2, 4):
        with hr.threads(count):
            model = make(40, random_state=3, bootstrap=True, oob_score=True).fit(x, y)
            made.add((digest(model), model.predict(other).tobytes(), model.oob_score_))
    assert len(made) == 1
    assert digest(make(40, random_state=4, bootstrap=True).fit(x, y)) != digest(model)
    assert digest(pickle.loads(pickle.dumps(model))) == digest(model)


def test_out_of_bag():
    x, other, y, known = split_data(2000, 10, 0)
    model = RandomForestClassifier(80, random_state=0, oob_score=True).fit(x, y)
    assert model.oob_score_ == pytest.approx(model.score(other, known), abs=0.03)
    assert model.oob_decision_function_.shape == (len(y), 2)
    loss = RandomForestRegressor(
        60, random_state=0, oob_score=metrics.mean_absolute_error, max_samples=0.5
    ).fit(x, y)
    np.testing.assert_allclose(
        loss.oob_score_, np.abs(loss.oob_prediction_.to_numpy() - y).mean(), rtol=1e-12
    )
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        RandomForestClassifier(1, random_state=0, oob_score=True).fit(x, y)
    with pytest.raises(ValueError, match="need bootstrap=True"):
        RandomForestClassifier(bootstrap=False, oob_score=True).fit(x, y)


def test_weights_with_bootstrap_are_chances():
    x = np.arange(100.0).reshape(-1, 1)
    y = np.arange(100) % 2
    weights = np.where(y == 1, 0.0, 1.0)
    model = RandomForestClassifier(10, random_state=0).fit(x, y, weights)
    assert (model.predict(x) == 0).all()
    rare = np.where(np.arange(1000) < 30, 1, 0)
    noise = np.random.default_rng(0).normal(size=(1000, 3))
    shares = [
        RandomForestClassifier(20, max_depth=2, class_weight=each, random_state=0)
        .fit(noise, rare)
        .predict_proba(noise)[:, 1]
        .mean()
        for each in (None, "balanced", "balanced_subsample")
    ]
    assert shares[0] < 0.1 and 0.3 < shares[1] < 0.7 and 0.3 < shares[2] < 0.7


def test_labels_and_kinds_of_data():
    x, _, y, _ = split_data(200, 5, 0)
    names = np.array(["no", "yes"])[y]
    model = RandomForestClassifier(5, random_state=0).fit(x, names)
    assert model.classes_.tolist() == ["no", "yes"] and model.score(x, names) > 0.9
    frame = hr.DataFrame({f"c{i}": x[:, i] for i in range(5)} | {"y": y})
    features = frame[[f"c{i}" for i in range(5)]]
    ours = RandomForestClassifier(5, random_state=0).fit(features, frame["y"])
    assert type(ours.predict(features)) is hr.Array
    assert type(ours.predict_proba(features)) is hr.Array
    np.testing.assert_array_equal(ours.predict_proba(features), model.predict_proba(x))
    number = RandomForestRegressor(5, random_state=0).fit(features, frame["c0"])
    assert number.score(features, frame["c0"]) > 0.9
    single = RandomForestClassifier(3, random_state=0).fit(x, np.ones(len(x)))
    assert single.predict(x).tolist() == [1.0] * len(x)
    assert single.feature_importances_.tolist() == [0.0] * 5
    np.testing.assert_array_equal(
        RandomForestClassifier(5, random_state=0).fit(np.asfortranarray(x), names).predict(x[::-1]),
        model.predict(x)[::-1],
    )


def test_bad_input():
    x, y = np.arange(12.0).reshape(6, 2), np.array([0, 1] * 3)
    with pytest.raises(ValueError, match="Input y contains NaN: row=1"):
        RandomForestRegressor().fit(x, [0, np.nan, 1, 2, 3, 4])
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        RandomForestClassifier().fit(x, y + 0.5)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RandomForestClassifier().fit(x, y[:4])
    with pytest.raises(ValueError, match="are not in class_weight"):
        RandomForestClassifier(class_weight={7: 1.0}).fit(x, y)
    with pytest.raises(ValueError, match="infinity"):
        RandomForestClassifier().fit(np.where(x == 3, np.inf, x), y)
    model = RandomForestClassifier(2, random_state=0).fit(x, y)
    assert model.score(x, np.array([5] * 6)) == 0  # labels that it never saw
    with pytest.raises(ValueError, match="X has 1 features"):
        model.predict(x[:, :1])


@pytest.mark.parametrize(
    "options",
    [
        {"n_estimators": 0},
        {"max_depth": 0},
        {"min_samples_split": 1},
        {"min_samples_leaf": 1.5},
        {"max_features": "all"},
        {"max_features": 0},
        {"max_samples": 0.0},
        {"min_weight_fraction_leaf": 0.7},
        {"class_weight": "even"},
    ],
)
def test_bad_parameters(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        RandomForestClassifier(**options).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    "options", [{"warm_start": True}, {"max_leaf_nodes": 4}, {"ccp_alpha": 0.1}]
)
def test_what_is_not_supported_says_so(options):
    with pytest.raises(hr.UnsupportedError, match=next(iter(options))):
        RandomForestClassifier(**options).fit([[0.0], [1.0]], [0, 1])
    for criterion in ("poisson", "absolute_error"):
        with pytest.raises(hr.UnsupportedError, match=criterion):
            RandomForestRegressor(criterion=criterion).fit([[0.0], [1.0]], [0, 1])


def test_isolation_finds_what_scikit_learn_finds():
    random = np.random.default_rng(0)
    x = np.concatenate([random.normal(size=(2000, 4)), random.uniform(-6, 6, size=(60, 4))])
    truth = np.arange(len(x)) >= 2000
    ours = IsolationForest(random_state=0, contamination=60 / 2060).fit(x)
    theirs = ensemble.IsolationForest(random_state=0, contamination=60 / 2060).fit(x)
    auc = [metrics.roc_auc_score(truth, -m.score_samples(x)) for m in (ours, theirs)]
    assert auc[0] >= auc[1] - 0.01
    assert np.corrcoef(ours.score_samples(x), theirs.score_samples(x))[0, 1] > 0.97
    assert (ours.predict(x) == -1).sum() == 60
    usual = IsolationForest(random_state=0).fit(x)
    assert usual.offset_ == -0.5 and usual.max_samples_ == 256
    np.testing.assert_array_equal(usual.predict(x), np.where(usual.decision_function(x) < 0, -1, 1))
    made = set()
    for count in (1, 2, 4):
        with hr.threads(count):
            made.add(digest(IsolationForest(random_state=3, bootstrap=True).fit(x)))
    assert len(made) == 1
    ours = IsolationForest(random_state=0, max_samples=64).fit(x, sample_weight=1.0 * ~truth)
    assert (ours.score_samples(x)[truth] < -0.5).mean() > 0.5
    frame = hr.DataFrame({f"c{i}": x[:, i] for i in range(4)})
    assert type(ours.fit(frame).predict(frame)) is hr.Array


def test_isolation_refuses_bad_parameters():
    x = np.arange(20.0).reshape(10, 2)
    with pytest.raises(ValueError, match="contamination is out of range"):
        IsolationForest(contamination=1.5).fit(x)
    with pytest.raises(ValueError, match="max_samples is out of range"):
        IsolationForest(max_samples=0).fit(x)
    with pytest.raises(hr.UnsupportedError, match="max_features"):
        IsolationForest(max_features=0.5).fit(x)
    with pytest.warns(UserWarning, match="greater than the total"):
        assert IsolationForest(max_samples=30).fit(x).max_samples_ == 10


def test_class_weight_has_the_rule_of_other_classifiers():
    x, y = np.arange(12.0).reshape(-1, 1), np.repeat([0, 1, 2], 4)
    forest, line = RandomForestClassifier(3, random_state=0), hr.learn.LogisticRegression()
    for model in (forest, line):
        with pytest.raises(ValueError, match="are not in class_weight"):
            model.set_params(class_weight={0: 1.0, 7: 2.0}).fit(x, y)
        model.set_params(class_weight={0: 1.0, 1: 2.0, 2: 1.0, 7: 2.0}).fit(x, y)  # as scikit-learn
        model.set_params(class_weight={0: 5.0}).fit(x, y)
        with pytest.raises(ValueError, match="class_weight is not valid"):
            model.set_params(class_weight="even").fit(x, y)
