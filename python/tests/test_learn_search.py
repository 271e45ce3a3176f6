# SPDX-License-Identifier: Apache-2.0
"""Searches for parameters against scikit-learn's, with the same folds."""

import warnings

import numpy as np
import pytest

import headrace as hr
from headrace import learn

model_selection = pytest.importorskip("sklearn.model_selection")
from sklearn.experimental import enable_halving_search_cv  # noqa: E402, F401
from sklearn.linear_model import LogisticRegression, Ridge  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = (X[:, 0] + 0.7 * RNG.normal(size=120) > 0).astype(int)
FOLDS = list(model_selection.StratifiedKFold(4).split(X, Y))
GRID = [{"C": [0.01, 0.1, 1.0]}, {"C": [1.0], "class_weight": ["balanced", None]}]


def assert_same(ours, theirs):
    assert list(ours) == list(theirs)
    for name in theirs:
        if "time" in name:
            continue
        if name.startswith("param_"):
            assert ours[name].dtype == theirs[name].dtype
            assert ours[name].tolist() == theirs[name].tolist()
        elif name == "params":
            assert ours[name] == theirs[name]
        else:
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"return_train_score": True, "scoring": "roc_auc"},
        {"scoring": ["accuracy", "f1"], "refit": "f1"},
        {"scoring": lambda model, rows, y: -float(model.C), "refit": False},
    ],
)
def test_a_grid_gives_what_scikit_learn_gives(options):
    ours = learn.GridSearchCV(LogisticRegression(), GRID, cv=FOLDS, **options).fit(X, Y)
    theirs = model_selection.GridSearchCV(LogisticRegression(), GRID, cv=FOLDS, **options)
    theirs.fit(X, Y)
    assert_same(ours.cv_results_, theirs.cv_results_)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_index_ == theirs.best_index_
    if options.get("refit", True):
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        assert ours.score(X, Y) == pytest.approx(theirs.score(X, Y), rel=1e-12)


def test_random_candidates_are_those_of_scikit_learn():
    scipy = pytest.importorskip("scipy.stats")
    for values in (
        {"alpha": scipy.uniform(0, 2), "fit_intercept": [True, False]},
        {"alpha": [0.1, 1.0, 2.0], "fit_intercept": [True, False]},
    ):
        ours = list(learn.ParameterSampler(values, 4, random_state=3))
        assert ours == list(model_selection.ParameterSampler(values, 4, random_state=3))
    search = learn.RandomizedSearchCV(Ridge(), values, n_iter=4, cv=3, random_state=3)
    theirs = model_selection.RandomizedSearchCV(Ridge(), values, n_iter=4, cv=3, random_state=3)
    assert_same(search.fit(X, X[:, 1]).cv_results_, theirs.fit(X, X[:, 1]).cv_results_)


def test_a_grid_is_indexed_in_its_order():
    grid = learn.ParameterGrid([{"b": [1, 2], "a": ["x", "y"]}, {"c": [5]}])
    assert [grid[place] for place in range(len(grid))] == list(grid)
    with pytest.raises(IndexError):
        grid[len(grid)]


@pytest.mark.parametrize("options", [{}, {"factor": 2, "min_resources": "smallest"}])
def test_halving_gives_what_scikit_learn_gives(options):
    grid = {"C": [0.001, 0.01, 0.1, 1.0, 10.0]}
    made = [
        kind(LogisticRegression(), grid, cv=3, random_state=1, **options).fit(X, Y)
        for kind in (learn.HalvingGridSearchCV, model_selection.HalvingGridSearchCV)
    ]
    assert_same(made[0].cv_results_, made[1].cv_results_)
    for name in ("n_resources_", "n_candidates_", "n_iterations_", "best_params_", "best_score_"):
        assert getattr(made[0], name) == getattr(made[1], name)
    assert made[0].n_remaining_candidates_ == made[1].n_remaining_candidates_


def test_frames_and_our_models_in_either_search():
    frame, labels = hr.DataFrame({"a": X[:, 0], "b": X[:, 1]}), hr.Series(Y)
    grid = {"knn__n_neighbors": [1, 5, 9]}
    model = learn.Pipeline(
        [("scale", learn.StandardScaler()), ("knn", learn.KNeighborsClassifier())]
    )
    ours = learn.GridSearchCV(model, grid, cv=FOLDS).fit(frame, labels)
    theirs = model_selection.GridSearchCV(model, grid, cv=FOLDS).fit(X[:, :2], Y)
    assert_same(ours.cv_results_, theirs.cv_results_)
    assert list(ours.feature_names_in_ if hasattr(ours, "feature_names_in_") else "ab") == [
        "a",
        "b",
    ]


def test_failed_fits_get_the_error_score():
    grid = {"alpha": [-1.0, 1.0]}
    with pytest.warns(UserWarning, match="2 fits out of 4 failed"):
        search = learn.GridSearchCV(Ridge(), grid, cv=2, error_score=-9.0).fit(X, X[:, 1])
    assert search.cv_results_["mean_test_score"][0] == -9.0
    assert search.best_params_ == {"alpha": 1.0}
    with pytest.raises(hr.errors.InvalidArgumentError, match="All the 2 fits failed"):
        learn.GridSearchCV(Ridge(), {"alpha": [-1.0]}, cv=2).fit(X, X[:, 1])
    with pytest.raises(ValueError, match="alpha"):
        learn.GridSearchCV(Ridge(), grid, cv=2, error_score="raise").fit(X, X[:, 1])


def test_an_interrupt_ends_the_search():
    class Stopped(Ridge):
        def fit(self, X, y):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn.GridSearchCV(Stopped(), {"alpha": [1.0]}, cv=2).fit(X, Y)


def test_rows_of_a_fold_are_taken_once_for_all_candidates():
    seen = []

    class Watched(Ridge):
        def fit(self, X, y):
            seen.append(X)
            return super().fit(X, y)

    learn.GridSearchCV(Watched(), {"alpha": [1.0, 2.0, 3.0]}, cv=2, refit=False).fit(X, Y)
    assert len(seen) == 6
    assert len({id(rows) for rows in seen}) == 2


def test_cross_validate_gives_what_scikit_learn_gives():
    options = {"cv": FOLDS, "scoring": ["accuracy", "f1"], "return_train_score": True}
    weights = {"params": {"sample_weight": np.arange(len(X)) + 1.0}}
    ours = learn.cross_validate(LogisticRegression(), X, Y, **options, **weights)
    theirs = model_selection.cross_validate(LogisticRegression(), X, Y, **options, **weights)
    assert set(ours) == set(theirs)
    for name in ours:
        if "time" not in name:
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-12)


# ---- scores of rows and of sizes -----------------------------------------------------------------
def labelled(seed=0, rows=90):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 4))
    return x, np.digitize(x[:, 0] + rng.normal(size=rows), [-0.5, 0.7]), rng.random(rows)


def test_cross_val_predict():
    x, y, weights = labelled()
    words = np.array(["low", "mid", "top"])[y]
    cv = model_selection.StratifiedKFold(4, shuffle=True, random_state=0)
    for model, labels, method in [
        (LogisticRegression(), words, "predict"),
        (LogisticRegression(), words, "predict_proba"),
        (LogisticRegression(), y, "decision_function"),
        (Ridge(), y.astype(float), "predict"),
    ]:
        for params in ({}, {"sample_weight": weights}):
            given = {"cv": cv, "method": method, "params": params}
            ours = learn.cross_val_predict(model, x, labels, **given)
            theirs = model_selection.cross_val_predict(model, x, labels, **given)
            np.testing.assert_array_equal(ours, theirs)
    made = learn.cross_val_predict(learn.Ridge(), hr.asarray(x), y.astype(float))
    assert isinstance(made, hr.Array)
    few = [(np.arange(60), np.arange(60, 90)), (np.arange(30, 90), np.arange(30))]
    with pytest.raises(ValueError, match="partitions"):
        learn.cross_val_predict(learn.Ridge(), x, y.astype(float), cv=few)
    apart = np.repeat([0, 1, 2], 30)
    model, given = GaussianNB(), {"cv": learn.KFold(3)}
    ours = learn.cross_val_predict(model, x, apart, method="predict_proba", **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = model_selection.cross_val_predict(
            model, x, apart, method="predict_proba", cv=model_selection.KFold(3)
        )
    np.testing.assert_array_equal(ours, theirs)


def test_curves():
    x, y, _ = labelled(1)
    model = LogisticRegression()
    given = {"param_name": "C", "param_range": [0.01, 1.0, 10.0], "cv": 3}
    ours = learn.validation_curve(model, x, y, **given)
    theirs = model_selection.validation_curve(model, x, y, **given)
    np.testing.assert_array_equal(ours, theirs)
    for options in (
        {"train_sizes": [10, 40, 10]},
        {"train_sizes": np.linspace(0.3, 1, 4), "shuffle": True, "random_state": 0},
    ):
        ours = learn.learning_curve(model, x, y, cv=3, return_times=True, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = model_selection.learning_curve(model, x, y, cv=3, return_times=True, **options)
        for mine, other in zip(ours[:3], theirs[:3], strict=True):
            np.testing.assert_array_equal(mine, other)
        assert ours[3].shape == theirs[3].shape
    for wrong in ([0.0, 1.0], [2.5], [0], [1000]):
        with pytest.raises(ValueError, match="train_sizes"):
            learn.learning_curve(model, x, y, train_sizes=wrong)


def test_weights_of_fits_judge_too():
    x, y, weights = labelled(2)
    model, grid = LogisticRegression(), {"C": [0.001, 1.0]}
    for scoring in (None, "accuracy", "f1_macro", ["accuracy", "neg_log_loss"]):
        refit = "accuracy" if isinstance(scoring, list) else True
        given = {"scoring": scoring, "cv": 3, "refit": refit}
        ours = learn.GridSearchCV(model, grid, **given).fit(x, y, sample_weight=weights)
        theirs = model_selection.GridSearchCV(model, grid, **given).fit(x, y, sample_weight=weights)
        for name in ("accuracy", "neg_log_loss") if isinstance(scoring, list) else ("score",):
            key = f"mean_test_{name}"
            np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], rtol=1e-12)
    with pytest.warns(UserWarning, match="does not support sample_weight"):
        learn.GridSearchCV(model, grid, scoring=lambda m, a, b: m.score(a, b)).fit(
            x, y, sample_weight=weights
        )
