# SPDX-License-Identifier: Apache-2.0
"""Fits of a search that share work against fits one by one."""

import hashlib
import pickle

import numpy as np
import pytest

import headrace as hr
from headrace import _core, learn

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 5)) * [1, 3, 0.2, 1, 1] + [0, 10, 0, 0, -5]
Y = X[:, 0] + X[:, 1] / 3 + RNG.normal(size=240)
LABELS = np.array(["no", "perhaps", "yes"])[np.digitize(Y, [2.5, 4.0])]
FOLDS = learn.KFold(4, shuffle=True, random_state=1)


def scores(search):
    return np.array([search.cv_results_[f"split{k}_test_score"] for k in range(4)]).T


class Calls:
    """Counts the calls of a function of the engine."""

    def __init__(self, monkeypatch, name):
        self.count, known = 0, getattr(_core, name)

        def called(*given):
            self.count += 1
            return known(*given)

        monkeypatch.setattr(_core, name, called)


FOREST = {"max_depth": [2, 4], "max_features": [1, 5]}
SHARED = {
    "forest": (learn.RandomForestClassifier(5, random_state=0), FOREST, "forest_bins", 1),
    "numbers": (learn.ExtraTreesRegressor(5, random_state=0), FOREST, "forest_bins", 1),
    "neighbors": (
        learn.KNeighborsClassifier(),
        {"n_neighbors": [3, 1, 9], "weights": ["uniform", "distance"], "p": [1, 2]},
        "nearest_neighbors",
        8,
    ),
    "near numbers": (
        learn.KNeighborsRegressor(),
        {"n_neighbors": [200, 1, 4]},
        "nearest_neighbors",
        4,  # no fold has 200 rows to train on: those fail alone
    ),
    "scaled neighbors": (
        learn.make_pipeline(learn.StandardScaler(), learn.KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": [1, 5], "standardscaler__with_mean": [True, False]},
        "nearest_neighbors",
        8,
    ),
    "ridge": (
        learn.Ridge(),
        {"alpha": [0.0, 1.0, 100.0], "fit_intercept": [True, False]},
        "centered_gram",
        8,
    ),
    "least squares": (
        learn.LinearRegression(),
        {"fit_intercept": [True, False]},
        "centered_gram",
        8,
    ),
    "lasso": (learn.Lasso(tol=1e-9), {"alpha": [0.01, 0.1, 1.0]}, "centered_gram", 4),
    "net": (
        learn.make_pipeline(learn.PCA(4), learn.ElasticNet(tol=1e-9)),
        {"elasticnet__alpha": [0.01, 1.0], "elasticnet__l1_ratio": [0.1, 0.9]},
        "centered_gram",
        4,
    ),
}


@pytest.mark.parametrize("kind", ["numpy", "ours"])
@pytest.mark.parametrize("name", SHARED)
def test_same_scores_with_less_work(name, kind, monkeypatch):
    model, grid, work, count = SHARED[name]
    y = LABELS if model.__class__.__name__.endswith("Classifier") or "scaled" in name else Y
    x = X.round(1) if "forest" in work else X  # as many bins as values: splits are the same
    expected = np.array(
        [
            [
                fitted(model, params, x[train], y[train]).score(x[test], y[test])
                if params.get("n_neighbors") != 200
                else np.nan
                for train, test in FOLDS.split(x, y)
            ]
            for params in learn.ParameterGrid(grid)
        ]
    )
    calls = Calls(monkeypatch, work)
    given = hr.asarray(x) if kind == "ours" else x
    search = learn.GridSearchCV(model, grid, cv=FOLDS, refit=False)
    if name == "near numbers":
        with pytest.warns(UserWarning, match="4 fits out of 12 failed"):
            search.fit(given, y)
    else:
        search.fit(given, y)
    assert calls.count == count
    exact = work in ("forest_bins", "nearest_neighbors")
    np.testing.assert_allclose(scores(search), expected, rtol=0 if exact else 1e-9)


def fitted(model, params, x, y):
    from headrace.learn.base import clone

    return clone(model).set_params(**params).fit(x, y)


def test_bins_of_many_values_are_shared():
    model = learn.RandomForestRegressor(10, random_state=0)
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3000, 4))
    y = np.sin(x[:, 0] * 3) + x[:, 1]
    search = learn.GridSearchCV(model, {"max_depth": [8]}, cv=3).fit(x, y)
    alone = learn.cross_val_score(learn.make_pipeline(model), x, y, cv=3)
    assert abs(search.best_score_ - alone.mean()) < 0.01


def test_what_fits_one_by_one():
    weights = RNG.random(240)
    search = learn.GridSearchCV(learn.Ridge(), {"alpha": [1.0]}, cv=FOLDS)
    search.fit(X, Y, sample_weight=weights)
    several = learn.GridSearchCV(learn.Ridge(), {"alpha": [1.0]}, cv=FOLDS)
    several.fit(X, np.c_[Y, -Y])
    for train, test in list(FOLDS.split(X))[:1]:
        model = learn.Ridge().fit(X[train], Y[train], weights[train])
        expected = model.score(X[test], Y[test], weights[test])
        assert search.cv_results_["split0_test_score"][0] == expected
        both = learn.Ridge().fit(X[train], np.c_[Y, -Y][train])
        expected = both.score(X[test], np.c_[Y, -Y][test])
        assert several.cv_results_["split0_test_score"][0] == expected
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.warns(UserWarning, match="4 fits out of 4 failed"):
        learn.GridSearchCV(learn.Ridge(), {"alpha": [1.0]}, cv=FOLDS, refit=False).fit(bad, Y)
    wrong = learn.GridSearchCV(learn.Ridge(), {"alpha": [-1.0, 1.0]}, cv=FOLDS)
    with pytest.warns(UserWarning, match="4 fits out of 8 failed"):
        wrong.fit(X, Y)
    assert np.isnan(wrong.cv_results_["mean_test_score"][0])


LINEAR = {
    "least squares": learn.LinearRegression(),
    "ridge": learn.Ridge(1.0),
    "lasso": learn.Lasso(0.01, tol=1e-12),
    "net": learn.ElasticNet(0.01, tol=1e-12),
}
SPLITS = {
    "folds": learn.KFold(5),
    "shuffled": learn.KFold(7, shuffle=True, random_state=0),
    "ordered": learn.TimeSeriesSplit(3),
    "one": [(np.arange(40, 200), np.arange(40))],
    "twice": [(np.arange(40, 200), np.arange(40)), (np.arange(40, 200), np.arange(40))],
}


@pytest.mark.filterwarnings("ignore")  # fits that see the huge row do not converge
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("huge", [0, 1e8, 1e10, "y"])
def test_huge_rows_stay_in_their_fold(huge, name, center):
    rng = np.random.default_rng(0)
    x = rng.normal([0, 5, -5], size=(200, 3))
    y = x @ [1, 2, 3] + 0.1 * rng.normal(size=200) + 7
    if huge == "y":
        y[0] = 1e14
    elif huge:
        x[0] *= huge
    model = fitted(LINEAR[name], {"fit_intercept": center}, x[40:], y[40:])
    for cv in SPLITS.values():
        search = learn.cross_validate(model, x, y, cv=cv, return_estimator=True, error_score=0.0)
        splits = list(cv.split(x)) if hasattr(cv, "split") else cv
        for (train, _), made in zip(splits, search["estimator"], strict=True):
            if huge and 0 in train:
                continue  # such sums have lost the other rows, alone and shared
            alone = fitted(model, {}, x[train], y[train])
            np.testing.assert_allclose(made.coef_, alone.coef_, rtol=1e-9)
            np.testing.assert_allclose(made.intercept_, alone.intercept_, rtol=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_huge_rows_leave_scores():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    y = x @ [1, 2, 3]
    x[0] *= 1e10
    search = learn.GridSearchCV(learn.Lasso(), {"alpha": [0.01, 0.1]}, cv=5).fit(x, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_masks_and_places_from_the_end():
    mask = np.arange(240) % 3 > 0
    ends = np.arange(-240, -80), np.arange(-80, 0)
    models = {
        "max_depth": learn.RandomForestClassifier(5, random_state=0),
        "alpha": learn.Lasso(),
        "n_neighbors": learn.KNeighborsClassifier(),
    }
    for name, model in models.items():
        y = Y if name == "alpha" else LABELS
        for split in [(mask, ~mask), (mask.tolist(), (~mask).tolist()), ends]:
            train, test = (np.arange(240)[np.asarray(part)] for part in split)
            search = learn.GridSearchCV(model, {name: [2, 3]}, cv=[split]).fit(X, y)
            plain = learn.GridSearchCV(model, {name: [2, 3]}, cv=[(train, test)]).fit(X, y)
            np.testing.assert_array_equal(
                search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
            )
    halves = [(mask, ~mask), (~mask, mask)]
    made = learn.cross_val_predict(learn.Ridge(), X, Y, cv=halves)
    np.testing.assert_allclose(made[mask], learn.Ridge().fit(X[~mask], Y[~mask]).predict(X[mask]))
    places = [tuple(map(np.flatnonzero, half)) for half in halves]
    grid = {"n_neighbors": [2, 3, 4, 5]}
    made, curves, encoded = [], [], []
    for cv in (halves, places):
        search = learn.HalvingGridSearchCV(
            learn.KNeighborsClassifier(), grid, cv=cv, random_state=0
        )
        made.append(search.fit(X, LABELS).cv_results_["mean_test_score"])
        curve = learn.learning_curve(learn.Ridge(), X, Y, cv=cv, shuffle=True, random_state=0)
        curves.append(np.concatenate(curve[1:]))
        encoded.append(learn.TargetEncoder(cv=cv).fit_transform(LABELS[:, None], Y))
    for one, other in (made, curves, encoded):
        np.testing.assert_array_equal(one, other)


def test_models_keep_nothing_of_the_search():
    made = learn.cross_validate(
        learn.make_pipeline(learn.StandardScaler(), learn.KNeighborsRegressor()),
        X,
        Y,
        cv=FOLDS,
        return_estimator=True,
        return_train_score=True,
    )
    for model in made["estimator"]:
        assert "_known" not in vars(model) and "_known" not in vars(model.steps[1][1])
        assert pickle.loads(pickle.dumps(model)).predict(X[:2]).shape == (2,)


def test_halving_and_threads():
    grid = {"max_depth": [1, 3, 5], "min_samples_leaf": [1, 4]}
    made = set()
    for count in (1, 4):
        with hr.threads(count):
            search = learn.HalvingGridSearchCV(
                learn.RandomForestClassifier(5, random_state=0), grid, cv=3, random_state=0
            ).fit(X, LABELS)
            ridge = learn.GridSearchCV(learn.Ridge(), {"alpha": [0.1, 1.0]}, cv=3).fit(X, Y)
        parts = search.cv_results_["mean_test_score"], ridge.cv_results_["mean_test_score"]
        made.add(hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest())
    assert len(made) == 1
