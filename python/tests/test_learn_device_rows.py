# SPDX-License-Identifier: Apache-2.0
"""Models that stream rows learn on a device what they learn on the host, and stay there."""

import numpy as np
import pytest

import headrace as hr
from headrace import _core

L = hr.learn


def there(x, device):
    return hr.asarray(x).to(device)


def same(ours, theirs):
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs), strict=True)


def rows_of(dtype, rows=20_000, columns=33):
    random = np.random.default_rng(0)
    return (random.standard_normal((rows, columns)) * np.linspace(1, 3, columns) + 1).astype(dtype)


def check_fit(model, device, attributes, *data):
    """Fit a clone of `model` on the device; compare with one that was fitted on the host."""
    here = L.base.clone(model).fit(*data)
    model.fit(*(there(each, device) for each in data))
    for name in attributes:
        same(getattr(model, name), getattr(here, name))
    return here


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_components(device, dtype):
    x = rows_of(dtype)
    pca, names = L.PCA(3), ("mean_", "components_", "explained_variance_")
    here = check_fit(pca, device, names, x)
    made = pca.transform(there(x, device))
    assert made.device == f"{device}:0"
    same(made, here.transform(x))
    svd = L.TruncatedSVD(3, random_state=0)
    names = ("components_", "singular_values_", "explained_variance_", "explained_variance_ratio_")
    here = check_fit(svd, device, names, x)
    made = svd.transform(there(x, device))
    assert made.device == f"{device}:0"
    same(made, here.transform(x))
    assert _core.fallbacks() == []


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("model", [L.LinearRegression(), L.Ridge(2.0, fit_intercept=False)])
def test_least_squares(device, dtype, model):
    x = rows_of(dtype)
    y = (x[:, 0] - 2 * x[:, 5]).astype(dtype)
    for weights in ([], [np.linspace(0, 2, len(x))]):
        here = check_fit(model, device, ("coef_", "intercept_"), x, y, *weights)
        made = model.predict(there(x, device))
        assert made.device == f"{device}:0"
        same(made, here.predict(x))
    both = np.stack([y, -y], axis=1)
    check_fit(model, device, ("coef_", "intercept_"), x, both)
    assert _core.fallbacks() == []


def test_dependent_columns_are_solved_on_the_host(device):
    x = rows_of("f8", rows=500)
    x[:, 7] = x[:, 3]
    y = x[:, 3] + 1
    here = L.LinearRegression().fit(x, y)
    model = L.LinearRegression().fit(there(x, device), there(y, device))
    np.testing.assert_allclose(model.coef_, here.coef_, atol=1e-10)
    assert model.rank_ == here.rank_ == 32
    if device == "cuda":
        assert _core.fallbacks() != []


@pytest.mark.parametrize("columns", [3, 33])
@pytest.mark.parametrize("model", [L.StandardScaler(), L.MinMaxScaler(), L.MaxAbsScaler()])
def test_scalers(device, model, columns):
    x = rows_of("f4", columns=columns)
    x[::7, 1] = np.nan
    here = L.base.clone(model).fit(x)
    made = model.fit_transform(there(x, device))
    assert made.device == f"{device}:0"
    np.testing.assert_allclose(model.scale_, here.scale_, rtol=1e-12)
    np.testing.assert_allclose(np.asarray(made), np.asarray(here.transform(x)), rtol=1e-6)
    back = model.inverse_transform(made)
    assert back.device == f"{device}:0"
    np.testing.assert_allclose(np.asarray(back), x, rtol=1e-4, atol=1e-5)
    assert _core.fallbacks() == []


def test_one_hot_levels_and_rows(device):
    x = np.random.default_rng(1).integers(-50, 50, (10_000, 1)) * 7
    here, model = L.OneHotEncoder().fit(x), L.OneHotEncoder().fit(there(x, device))
    same(model.categories_[0], here.categories_[0])
    made, expected = model.transform(there(x, device)), here.transform(x)
    for name in ("indptr", "indices", "data"):
        part = getattr(made, name)
        assert part.device == f"{device}:0"
        same(part, getattr(expected, name))
    assert made.shape == expected.shape
    assert made.nnz == len(x)
    assert _core.fallbacks() == []
    same(made @ np.arange(100.0), expected @ np.arange(100.0))
    assert [op for op, *_ in _core.fallbacks()] == ["csr_matrix"]
    with pytest.raises(ValueError, match="unknown categories"):
        model.transform(there(x[:3] + 1, device))


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_logistic_regression(device, classes, dtype):
    x = rows_of(dtype, columns=20)
    y = (np.abs(x[:, 0]) + np.arange(len(x)) % 3).astype(np.int64) % classes + 5
    names = ("classes_", "coef_", "intercept_", "n_iter_")
    for labels in (y, y.astype("f4")):
        model = L.LogisticRegression()
        here = check_fit(model, device, names, x, labels)
        made = model.predict(there(x, device))
        assert made.device == f"{device}:0"
        same(made, here.predict(x))
        shares = model.predict_proba(there(x, device))
        assert shares.device == f"{device}:0"
        same(shares, here.predict_proba(x))
    weights = np.linspace(0, 2, len(x))
    check_fit(L.LogisticRegression(class_weight="balanced"), device, names, x, y, weights)
    assert _core.fallbacks() == []


def test_broadcasting_has_kernels(device):
    x = rows_of("f4", rows=1000, columns=5)
    row, column = np.arange(5, dtype="f4"), np.arange(1000, dtype="f4")[:, None]
    made = (there(x, device) - there(row, device)) * there(column, device)
    same(made, (x - row) * column)
    same(there(x, device)[:, 1:4] + 1, x[:, 1:4] + 1)
    same(there(x, device) @ there(x[:5].copy(), device), hr.asarray(x) @ hr.asarray(x[:5].copy()))
    assert _core.fallbacks() == []


@pytest.mark.parametrize(
    "model",
    [
        L.RandomForestClassifier(5, random_state=1),
        L.RandomForestClassifier(3, max_depth=4, bootstrap=False, random_state=1),
        L.RandomForestClassifier(3, criterion="entropy", random_state=1),  # on the host
        L.RandomForestRegressor(5, max_depth=9, min_samples_leaf=3, random_state=1),
    ],
)
def test_forests(device, model):
    x = rows_of("f4", columns=9)
    x[::7, 1] = np.nan
    y = (np.abs(x[:, 0]) + np.arange(len(x)) % 3).astype(np.int64) % 3
    here = L.base.clone(model).fit(x, y)
    model.fit(there(x, device), there(y, device))
    on_host = device == "cuda" and model.criterion == "entropy"
    assert [op for op, *_ in _core.fallbacks()] == ["forest_fit"] * on_host
    for mine, its in zip(model._forest, here._forest, strict=True):
        same(mine, its)
    _core.clear_fallbacks()
    for _ in range(2):
        made = model.predict(there(x, device))
        assert made.device == f"{device}:0"
        same(made, here.predict(x))
    assert _core.fallbacks() == []


def test_forests_grow_on_a_device_alone(device):
    x = rows_of("f8", rows=3000, columns=4)
    y = (x[:, 0] > 1).astype(np.int64)
    model = L.RandomForestClassifier(3, random_state=1)
    with hr.strict():
        model.fit(there(x, device), there(y, device))
        made = model.predict_proba(there(x, device))
    assert made.device == f"{device}:0"
    same(made, L.base.clone(model).fit(x, y).predict_proba(x))


def test_asking_for_the_device_runs_no_plan(device):
    from headrace.learn.base import is_on_device

    x = rows_of("f4", rows=100)
    x.setflags(write=False)  # of memory that may change, a chain runs at its line
    for rows, on_device in ((hr.asarray(x), False), (there(x, device), True)):
        chain = (rows * 2.0 + 1.0)[:, :20]
        assert is_on_device(chain) == on_device
        made = L.StandardScaler().fit(x[:, :20]).transform(chain)
        assert not chain._node.is_ready
        assert is_on_device(made) == on_device
