# SPDX-License-Identifier: Apache-2.0
"""PCA's solvers, IncrementalPCA, TruncatedSVD and NMF against scikit-learn."""

import numpy as np
import pytest

import headrace as hr
from headrace import learn

decomposition = pytest.importorskip("sklearn.decomposition")
sparse = pytest.importorskip("scipy.sparse")


def rows_of(count, features, fall=0.8):
    rng = np.random.default_rng(3)
    turn, _ = np.linalg.qr(rng.normal(size=(features, features)))
    return (rng.normal(size=(count, features)) * fall ** np.arange(features)) @ turn + 1.0


def counts_of(count, features):
    rng = np.random.default_rng(4)
    parts = rng.random((count, 5)) @ rng.random((5, features))
    return np.where(rng.random((count, features)) < 0.3, parts, 0.0)


def close(ours, theirs, names, bound=1e-8):
    for name in names.split():
        mine, other = np.asarray(getattr(ours, name)), getattr(theirs, name)
        np.testing.assert_allclose(mine, other, rtol=bound, atol=bound * 1e-2, err_msg=name)


def same_bits(fit):
    found = []
    for count in (1, 2, 4):
        with hr.threads(count):
            found.append(b"".join(np.asarray(part).tobytes() for part in fit()))
    assert found[0] == found[1] == found[2]


COMPONENTS = "mean_ components_ explained_variance_ explained_variance_ratio_ singular_values_"


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize(
    "params",
    [
        {"n_components": 4},
        {"n_components": 0.9},
        {"n_components": 0.5, "svd_solver": "full"},
        {"n_components": 12, "svd_solver": "full"},
        {"svd_solver": "covariance_eigh", "n_components": 3},
    ],
)
@pytest.mark.parametrize("shape", [(300, 12), (30, 12)])
def test_pca_solvers(shape, params, whiten):
    x = rows_of(*shape)
    ours = learn.PCA(whiten=whiten, **params).fit(x)
    theirs = decomposition.PCA(whiten=whiten, **params).fit(x)
    close(ours, theirs, COMPONENTS + " noise_variance_ n_components_ n_samples_")
    latent = theirs.transform(x)
    np.testing.assert_allclose(ours.transform(x), latent, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(
        ours.inverse_transform(latent), theirs.inverse_transform(latent), rtol=1e-8
    )
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-10)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ours.score_samples(x), theirs.score_samples(x), rtol=1e-7)
    assert ours.score(x) == pytest.approx(theirs.score(x), rel=1e-8)


@pytest.mark.parametrize("shape", [(400, 60), (40, 1200)])
def test_pca_randomized(shape):
    x = rows_of(*shape)
    ours = learn.PCA(5, svd_solver="randomized", random_state=0).fit(x)
    theirs = decomposition.PCA(5, svd_solver="full").fit(x)
    close(ours, theirs, "explained_variance_ explained_variance_ratio_ noise_variance_", 1e-3)
    alike = (np.asarray(ours.components_) * theirs.components_).sum(axis=1)
    np.testing.assert_allclose(alike, 1, 1e-2)
    again = learn.PCA(5, random_state=0).fit(x)
    assert np.asarray(again.explained_variance_) == pytest.approx(
        np.asarray(ours.explained_variance_), rel=1e-3
    )


def test_pca_refuses():
    x = rows_of(20, 4)
    for params in ({"n_components": "mle"}, {"svd_solver": "arpack"}):
        with pytest.raises(hr.UnsupportedError, match="PCA"):
            learn.PCA(**params).fit(x)
    for params in ({"n_components": 1.5}, {"svd_solver": "quick"}):
        with pytest.raises(ValueError, match="PCA"):
            learn.PCA(**params).fit(x)
    for solver in ("full", "randomized"):
        with pytest.raises(ValueError, match="n_components=5"):
            learn.PCA(5, svd_solver=solver).fit(x)
        broken = x.copy()
        broken[3, 2] = np.nan
        with pytest.raises(ValueError, match="row=3, column=2"):
            learn.PCA(2, svd_solver=solver).fit(broken)


def test_pca_of_constant_columns():
    x = np.ones((20, 3))
    for solver in ("full", "covariance_eigh", "randomized"):
        ours = learn.PCA(2, svd_solver=solver, whiten=True).fit(x)
        assert np.asarray(ours.explained_variance_).tolist() == [0, 0]
        assert np.isfinite(ours.transform(x)).all()


@pytest.mark.parametrize(
    "params",
    [{}, {"n_components": 4, "batch_size": 50}, {"n_components": 3, "whiten": True}],
)
def test_incremental_pca(params):
    x = rows_of(333, 12)
    names = COMPONENTS + " var_ noise_variance_ n_samples_seen_ batch_size_ n_components_"
    ours = learn.IncrementalPCA(**params).fit(x)
    theirs = decomposition.IncrementalPCA(**params).fit(x)
    close(ours, theirs, names)
    np.testing.assert_allclose(ours.transform(x), theirs.transform(x), rtol=1e-7, atol=1e-8)
    thin = sparse.csr_matrix(np.where(np.abs(x) < 0.5, 0.0, x))
    ours, theirs = ours.fit(thin), theirs.fit(thin)
    close(ours, theirs, names)
    np.testing.assert_allclose(ours.transform(thin), theirs.transform(thin), rtol=1e-7, atol=1e-8)


def test_incremental_pca_by_parts():
    x = rows_of(100, 6)
    ours, theirs = learn.IncrementalPCA(3), decomposition.IncrementalPCA(3)
    for begin, end in ((0, 10), (10, 12), (12, 100)):
        ours.partial_fit(x[begin:end])
        theirs.partial_fit(x[begin:end])
    close(ours, theirs, COMPONENTS + " var_ noise_variance_ n_samples_seen_")
    with pytest.raises(ValueError, match="first partial_fit"):
        learn.IncrementalPCA(5).partial_fit(x[:3])
    with pytest.raises(ValueError, match="n_features=6"):
        learn.IncrementalPCA(7).partial_fit(x)


SINGULAR = "explained_variance_ explained_variance_ratio_ singular_values_"


@pytest.mark.parametrize("shape", [(500, 30), (25, 40), (30, 30)])
def test_truncated_svd(shape):
    x = rows_of(*shape)
    theirs = decomposition.TruncatedSVD(4, random_state=0).fit(x)
    exact = np.linalg.svd(x, compute_uv=False)[:4]
    for given in (x, sparse.csr_matrix(x), hr.tensor.csr_matrix(x)):
        ours = learn.TruncatedSVD(4, random_state=0)
        latent = np.asarray(ours.fit_transform(given))
        np.testing.assert_allclose(ours.singular_values_, exact, rtol=1e-6)
        close(ours, theirs, SINGULAR, 1e-3)
        np.testing.assert_allclose(latent, theirs.transform(x), atol=1e-2)
        np.testing.assert_allclose(ours.transform(given), latent, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        ours.inverse_transform(latent), latent @ np.asarray(ours.components_), rtol=1e-12
    )
    assert np.asarray(learn.TruncatedSVD(2).fit_transform(x.astype("float32"))).dtype == "float32"


def test_truncated_svd_without_the_gram_matrix():
    x = rows_of(300, 700)
    ours = learn.TruncatedSVD(3, n_iter=2, random_state=1).fit(x)
    exact = np.linalg.svd(x, compute_uv=False)[:3]
    np.testing.assert_allclose(ours.singular_values_, exact, rtol=1e-3)


def test_truncated_svd_refuses():
    x = rows_of(20, 4)
    with pytest.raises(hr.UnsupportedError, match="algorithm"):
        learn.TruncatedSVD(algorithm="arpack").fit(x)
    with pytest.raises(ValueError, match="n_components\\(5\\)"):
        learn.TruncatedSVD(5).fit(x)
    x[1, 1] = np.nan
    for given in (x, sparse.csr_matrix(x)):
        with pytest.raises(ValueError, match="NaN"):
            learn.TruncatedSVD().fit(given)
    zeros = learn.TruncatedSVD().fit(np.zeros((5, 3)))
    assert np.asarray(zeros.singular_values_).tolist() == [0, 0]


@pytest.mark.parametrize(
    "params",
    [{}, {"alpha_W": 0.01, "l1_ratio": 0.3}, {"alpha_W": 0.01, "alpha_H": 0.0, "n_components": 6}],
)
@pytest.mark.parametrize("shape", [(200, 20), (7, 30)])
@pytest.mark.filterwarnings("ignore:Maximum number")
def test_nmf_from_the_same_start(shape, params):
    x = counts_of(*shape)
    rng = np.random.default_rng(1)
    start = {"W": rng.random((shape[0], 6)), "H": rng.random((6, shape[1]))}
    params = {"init": "custom", "max_iter": 80, "tol": 1e-3, **params}
    theirs = decomposition.NMF(**params)
    latent = theirs.fit_transform(x, W=start["W"].copy(), H=start["H"].copy())
    for given in (x, sparse.csr_matrix(x), hr.tensor.csr_matrix(x)):
        ours = learn.NMF(**params)
        np.testing.assert_allclose(ours.fit_transform(given, **start), latent, atol=1e-8)
        close(ours, theirs, "components_ n_iter_ n_components_ reconstruction_err_")
        np.testing.assert_allclose(ours.transform(given), theirs.transform(x), atol=1e-8)
    np.testing.assert_allclose(
        ours.inverse_transform(latent), theirs.inverse_transform(latent), rtol=1e-8
    )


@pytest.mark.parametrize("init", ["nndsvd", "nndsvda", "nndsvdar", "random", None])
def test_nmf_starts(init):
    x = counts_of(200, 20)
    params = {"n_components": 5, "init": init, "random_state": 0, "max_iter": 400}
    ours = learn.NMF(**params, shuffle=init == "random").fit(x)
    theirs = decomposition.NMF(**params).fit(x)
    bound = 1e-3 if init in ("nndsvd", "nndsvda", None) else 0.03
    assert ours.reconstruction_err_ == pytest.approx(theirs.reconstruction_err_, rel=bound)
    assert (np.asarray(ours.components_) >= 0).all()


def test_nmf_refuses():
    x = counts_of(20, 4)
    with pytest.raises(hr.UnsupportedError, match="solver"):
        learn.NMF(solver="mu").fit(x)
    with pytest.raises(hr.UnsupportedError, match="beta_loss"):
        learn.NMF(beta_loss="kullback-leibler").fit(x)
    with pytest.raises(ValueError, match="n_components <= min"):
        learn.NMF(5, init="nndsvd").fit(x)
    with pytest.raises(ValueError, match="pass both"):
        learn.NMF(2, init="custom").fit(x)
    for given in (x - 5, sparse.csr_matrix(x - 5)):
        with pytest.raises(ValueError, match="Negative values in data passed to NMF"):
            learn.NMF(2).fit(given)
    with pytest.raises(ValueError, match="NaN"):
        learn.NMF(2).fit(np.full((3, 3), np.nan))
    fitted = learn.NMF(2).fit(x).set_params(max_iter=1)
    for late in (fitted.transform, fitted.fit, fitted.fit_transform):
        with pytest.warns(UserWarning, match="Maximum number of iterations 1 reached") as caught:
            late(x)
        assert caught[0].filename == __file__
    assert learn.NMF(2).fit(np.zeros((5, 3))).reconstruction_err_ == 0


def test_threads_give_the_same_bits():
    x, counts = rows_of(9000, 40), counts_of(9000, 40)
    thin = hr.tensor.csr_matrix(counts)

    def of_svd(given):
        model = learn.TruncatedSVD(3, random_state=0)
        return [model.fit_transform(given), model.singular_values_, model.explained_variance_]

    def of_nmf(given):
        model = learn.NMF(4, random_state=0, max_iter=5, tol=0)
        return [model.fit_transform(given), model.components_, model.reconstruction_err_]

    def of_pca(model):
        return [model.fit_transform(x), model.components_, model.explained_variance_]

    for given in (counts, thin):
        same_bits(lambda given=given: of_svd(given))
        same_bits(lambda given=given: of_nmf(given))
    same_bits(lambda: of_pca(learn.PCA(3, svd_solver="randomized", random_state=0)))
    same_bits(lambda: of_pca(learn.PCA(3, svd_solver="full", whiten=True)))
    same_bits(lambda: of_pca(learn.IncrementalPCA(3, batch_size=4000)))
