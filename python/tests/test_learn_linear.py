# SPDX-License-Identifier: Apache-2.0
"""Linear models against scikit-learn's."""

import numpy as np
import pytest

import headrace as hr

linear_model = pytest.importorskip("sklearn.linear_model")


def problem(shape=(200, 7), outputs=0, seed=3):
    random = np.random.default_rng(seed)
    rows = random.normal(size=shape) * 3.0 + 5.0
    weights = random.normal(size=(shape[1], outputs) if outputs else shape[1])
    targets = rows @ weights
    return rows, targets + random.normal(size=targets.shape), random.random(shape[0])


def same(ours, theirs, rows):
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-10, atol=1e-9)
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("outputs", [0, 1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", ["LinearRegression", "Ridge"])
def test_equal_to_scikit_learn(name, intercept, weighted, outputs):
    rows, targets, weights = problem(outputs=outputs)
    weights = weights if weighted else None
    ours = getattr(hr.learn, name)(fit_intercept=intercept).fit(rows, targets, weights)
    theirs = getattr(linear_model, name)(fit_intercept=intercept).fit(rows, targets, weights)
    same(ours, theirs, rows)


@pytest.mark.parametrize("kind", ["constant", "collinear", "wide"])
@pytest.mark.parametrize("name", ["LinearRegression", "Ridge"])
def test_columns_that_depend_on_each_other(name, kind):
    rows, targets, _ = problem((5, 9) if kind == "wide" else (60, 4))
    if kind == "constant":
        rows[:, 1] = 2.0
    if kind == "collinear":
        rows[:, 3] = rows[:, 0] + rows[:, 1]
    ours = getattr(hr.learn, name)().fit(rows, targets)
    theirs = getattr(linear_model, name)().fit(rows, targets)
    same(ours, theirs, rows)
    if name == "LinearRegression":
        assert ours.rank_ == theirs.rank_


def test_penalty_for_each_output():
    rows, targets, _ = problem(outputs=3)
    alphas = [0.1, 10.0, 0.1]
    same(
        hr.learn.Ridge(alphas).fit(rows, targets),
        linear_model.Ridge(alphas).fit(rows, targets),
        rows,
    )


def test_singular_values():
    rows, targets, _ = problem()
    ours = hr.learn.LinearRegression().fit(rows, targets)
    theirs = linear_model.LinearRegression().fit(rows, targets)
    np.testing.assert_allclose(ours.singular_, theirs.singular_, rtol=1e-10)


@pytest.mark.parametrize("name", ["LinearRegression", "Ridge"])
def test_refusals(name):
    rows, targets, _ = problem()
    with pytest.raises(hr.UnsupportedError, match="positive"):
        getattr(hr.learn, name)(positive=True).fit(rows, targets)
    rows[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN: row=3, column=2"):
        getattr(hr.learn, name)().fit(rows, targets)


def test_alpha_and_solver_are_checked():
    rows, targets, _ = problem()
    for wrong in ({"alpha": -1.0}, {"alpha": [1.0, 2.0]}, {"solver": "fast"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            hr.learn.Ridge(**wrong).fit(rows, targets)


@pytest.mark.parametrize("name", ["LinearRegression", "Ridge"])
@pytest.mark.parametrize("collinear", [False, True])
def test_the_same_bits_for_any_threads(name, collinear):
    rows, targets, weights = problem((30_000, 12))
    if collinear:
        rows[:, 3] = rows[:, 0] + rows[:, 1]
    made = set()
    for count in (1, 2, 4):
        with hr.threads(count):
            model = getattr(hr.learn, name)().fit(rows, targets, weights)
            made.add((model.coef_.tobytes(), np.float64(model.intercept_).tobytes()))
    assert len(made) == 1


def test_frames_give_lazy_predictions():
    rows, targets, _ = problem((50, 3))
    frame = hr.DataFrame({name: rows[:, place] for place, name in enumerate("abc")})
    model = hr.learn.Ridge().fit(frame, hr.Series(targets))
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    made = model.predict(frame)
    assert isinstance(made, hr.Array)
    np.testing.assert_allclose(
        made, linear_model.Ridge().fit(rows, targets).predict(rows), rtol=1e-10
    )
