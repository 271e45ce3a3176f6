# SPDX-License-Identifier: Apache-2.0
"""hr.learn.PCA against scikit-learn."""

import numpy as np
import pytest

import headrace as hr
from headrace import learn

decomposition = pytest.importorskip("sklearn.decomposition")


def rows_of(count, features, dtype="float64", seed=0):
    """Correlated rows whose directions differ clearly in variance."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(count, features)) * 0.8 ** np.arange(features)
    turn, _ = np.linalg.qr(rng.normal(size=(features, features)))
    return (weights @ turn + 3).astype(dtype)


@pytest.mark.parametrize("dtype, bound", [("float64", 1e-9), ("float32", 2e-4)])
@pytest.mark.parametrize(
    "count, features, kept", [(2, 1, 1), (50, 3, 2), (9000, 65, 8), (20, 64, 5)]
)
def test_equals_scikit_learn(count, features, kept, dtype, bound):
    x = rows_of(count, features, dtype)
    ours = learn.PCA(kept).fit(x)
    theirs = decomposition.PCA(kept, svd_solver="full").fit(x.astype(float))
    close = lambda a, b: np.testing.assert_allclose(np.asarray(a), b, rtol=bound, atol=bound)  # noqa: E731
    close(ours.mean_, theirs.mean_)
    close(ours.components_, theirs.components_)
    close(ours.explained_variance_, theirs.explained_variance_)
    close(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    close(ours.noise_variance_, theirs.noise_variance_)
    latent = ours.transform(x)
    close(latent, theirs.transform(x.astype(float)))
    back = theirs.inverse_transform(theirs.transform(x.astype(float)))
    close(ours.inverse_transform(latent), back)
    close(ours.reconstruction_error(x), ((x - back) ** 2).mean(axis=1))
    assert (ours.n_components_, ours.n_features_in_, ours.n_samples_) == (kept, features, count)
    assert np.asarray(latent).dtype == dtype


def test_keeps_all_components_by_default():
    x = rows_of(40, 6)
    ours = learn.PCA().fit(x)
    assert ours.n_components_ == 6
    assert ours.noise_variance_ == 0
    np.testing.assert_allclose(ours.inverse_transform(ours.fit_transform(x)), x)


def test_outliers_score_high():
    x = rows_of(5000, 32)
    ours = learn.PCA(20).fit(x)
    strange = x[:5] + np.random.default_rng(9).normal(size=(5, 32))
    assert ours.reconstruction_error(strange).min() > 10 * ours.reconstruction_error(x).max()


def test_takes_any_strides():
    x = rows_of(200, 12)
    wide = np.empty((400, 24))
    wide[::2, ::-2] = x
    a, b = learn.PCA(3).fit(x), learn.PCA(3).fit(wide[::2, ::-2])
    c = learn.PCA(3).fit(np.asfortranarray(x))
    assert a.components_.to_numpy().tobytes() == b.components_.to_numpy().tobytes()
    assert a.components_.to_numpy().tobytes() == c.components_.to_numpy().tobytes()


def test_threads_give_the_same_bits():
    x = rows_of(30_000, 33, "float32")
    found = []
    for count in (1, 2, 4):
        with hr.threads(count):
            model = learn.PCA(4).fit(x)
            found.append(
                b"".join(
                    np.asarray(part).tobytes()
                    for part in (
                        model.components_,
                        model.explained_variance_,
                        model.transform(x),
                        model.reconstruction_error(x),
                    )
                )
            )
    assert found[0] == found[1] == found[2]


def test_nothing_is_copied():
    x = rows_of(1000, 16)
    with hr.no_copies():
        np.asarray(learn.PCA(2).fit(x).reconstruction_error(x))


def test_errors():
    x = rows_of(10, 4)
    for kept in (0, 5):
        with pytest.raises(ValueError, match="pca_fit"):
            learn.PCA(kept).fit(x)
    for bad in (np.nan, np.inf):
        broken = x.copy()
        broken[3, 2] = bad
        with pytest.raises(ValueError, match="column=2"):
            learn.PCA(2).fit(broken)
    with pytest.raises(ValueError, match="rows=1"):
        learn.PCA(1).fit(x[:1])
    with pytest.raises(ValueError, match="Reshape your data"):
        learn.PCA(1).fit(x[0])
    with pytest.raises(ValueError, match=r"call fit\(\)"):
        learn.PCA(1).transform(x)
    with pytest.raises(ValueError, match="X has 3 features"):
        learn.PCA(1).fit(x).transform(x[:, :3])
