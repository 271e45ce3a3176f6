# SPDX-License-Identifier: Apache-2.0
"""Decompositions of matrices: singular vectors, and what reads dense or sparse rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core, linalg
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import mark
from headrace.learn.base import (
    Estimator,
    PrefixedNames,
    Transformer,
    answer,
    beside,
    check_count,
    check_rows,
    check_shape,
    engine_weights,
    frozen,
    is_number,
    is_ours,
    on_host,
    refuse,
)
from headrace.random import default_rng
from headrace.tensor.matrix import SparseMatrix, issparse
from headrace.tensor.sparse import csr_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    Numbers = np.ndarray[Any, Any]


#: X^T X loses twice the digits of the condition; beyond this one, rows themselves are read.
_MOST_CONDITION = 1e5
#: Up to this number of features all eigenvectors of X^T X are found, not those of a random space.
_FEW_FEATURES = 256


# ---- matrices ------------------------------------------------------------------------------------
def dense_or_sparse(
    estimator: Estimator,
    X: Any,
    *,
    fit: bool = False,
    allow_nan: bool | str = False,
    non_negative: bool = False,
) -> Any:
    """`X` as an array of floats, or as a `csr_matrix` of floats where it is sparse."""
    if not issparse(X):
        return check_rows(estimator, X, fit=fit, allow_nan=allow_nan, non_negative=non_negative)
    name = type(estimator).__name__
    if np.dtype(str(X.dtype)).kind == "c":
        raise InvalidArgumentError(f"{name}: Complex data not supported: dtype={X.dtype}")
    made = csr_matrix(X)
    check_shape(estimator, made.shape, fit=fit, min_rows=1)
    if not math.isfinite(float((made.data * 0.0).sum())):
        raise InvalidArgumentError(f"{name}: Input X contains NaN or infinity")
    if non_negative and made.nnz and float(made.data.min()) < 0:
        raise InvalidArgumentError(f"Negative values in data passed to {name}")
    return made if str(made.dtype).startswith("float") else made.astype("float64")


def matrix_node(rows: Any) -> Any:
    """What the engine reads of rows that `dense_or_sparse` made."""
    return rows._matrix if isinstance(rows, csr_matrix) else rows._node


def kind_of_result(X: Any) -> Any:
    """What tells `answer` the kind of a result: our sparse matrices get our arrays."""
    return X.data if isinstance(X, SparseMatrix) else X


def randomized_svd(
    matrix: Any, count: int, *, rounds: int | str, oversamples: int, random_state: Any
) -> tuple[Array, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The largest singular values with vectors of a dense or sparse matrix, in float64.

    The space of `count` + `oversamples` random vectors after ``rounds + 1`` products with X^T X
    (N. Halko and others, SIAM Review 53, 2011), and the exact values inside of it. X^T X is made
    once where that is less work. The largest entry of each row of the last is positive.
    """
    rows, columns = matrix.shape
    if rounds == "auto":
        rounds = 7 if count < 0.1 * min(rows, columns) else 4
    assert isinstance(rounds, int)
    if not isinstance(matrix, csr_matrix):
        matrix = on_host(matrix)
    matrix = matrix.astype("float64")
    wide = rows < columns
    tall, flat = (matrix.T, matrix) if wide else (matrix, matrix.T)
    short, width = min(rows, columns), min(count + oversamples, rows, columns)
    basis = _orthonormal(default_rng(random_state).standard_normal((short, width)))
    gram = None
    if not isinstance(matrix, csr_matrix) and short <= 4 * (rounds + 1) * width:
        gram = flat @ tall
    for _ in range(rounds + 1):
        basis = _orthonormal(flat @ (tall @ basis) if gram is None else gram @ basis)
    image = tall @ basis
    _, values, turn = linalg.svd(linalg.qr(image, mode="r"), full_matrices=False)
    values, turn = values[:count], turn[:count].T
    # lazy: most callers want one of the two
    long, narrow = image @ turn / values.clip(np.finfo(float).tiny, None), basis @ turn
    u, v = (narrow, long) if wide else (long, narrow)
    rights = np.ascontiguousarray(v.to_numpy().T)
    signs = signs_of(rights)
    return u * frozen(signs), values.to_numpy(), rights * signs[:, None]


def _by_products(gram: Numbers, count: int, rounds: int, start: Numbers) -> Any:
    """Singular values and right vectors, as rows, by X^T X; None where it lost too many digits.

    Exact for few features, else in the space of `start` after ``rounds + 1`` products.
    """
    if len(gram) <= _FEW_FEATURES:
        basis = np.eye(len(gram))
        values, turn = map(np.asarray, linalg.eigh(gram))
    else:
        basis = np.asarray(_orthonormal(start))
        for _ in range(rounds + 1):
            basis = np.asarray(_orthonormal(gram @ basis))
        values, turn = map(np.asarray, linalg.eigh(basis.T @ (gram @ basis)))
    values, turn = values[::-1][:count], turn[:, ::-1][:, :count]
    if not values[-1] * _MOST_CONDITION > values[0]:
        return None
    rights = np.ascontiguousarray((basis @ turn).T)
    return np.sqrt(values), rights * signs_of(rights)[:, None]


def _orthonormal(columns: Any) -> Array:
    q, _ = linalg.qr(columns)
    return q


def signs_of(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Of the largest entry of each row."""
    largest = rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)]
    return np.where(largest < 0, -1.0, 1.0)


# ---- singular vectors ----------------------------------------------------------------------------
class TruncatedSVD(PrefixedNames, Transformer):
    """The largest singular vectors of rows that are not centred, dense or sparse.

    Random vectors are those of `hr.random`. The same bits for any number of threads. The result of
    `transform` is lazy.

    Parameters
    ----------
    n_components : int, default 2
        Number of components, at most the features.
    algorithm : {"randomized"}
        ``"arpack"`` is not supported.
    n_iter : int, default 5
        Rounds that make the result more exact; it is exact for tall dense rows of up to 256
        features.
    n_oversamples : int, default 10
        Extra random vectors.
    power_iteration_normalizer, tol
        Accepted and not used.
    random_state : int, generator or None
        Seed of the random vectors.

    Attributes
    ----------
    components_ : Array
        ``[components, features]``, rows of length 1; the largest entry of each is positive.
    explained_variance_, explained_variance_ratio_ : Array
        Variance of the coordinates, and their share of that of the features.
    singular_values_ : Array
        Largest first.

    >>> svd = hr.learn.TruncatedSVD(1, random_state=0)
    >>> svd.fit_transform([[3.0, 0.0], [0.0, 1.0]]).round(6).tolist()
    [[3.0], [0.0]]
    >>> svd.singular_values_.to_numpy().round(6).tolist()
    [3.0]
    """

    _tags: ClassVar[Mapping[str, Any]] = {
        "transformer_tags": {"preserves_dtype": ["float64", "float32"]},
        "input_tags": {"sparse": True},
    }
    _fitted_as = "components_"
    components_: Array
    explained_variance_: Array
    explained_variance_ratio_: Array
    singular_values_: Array

    def __init__(
        self,
        n_components: int = 2,
        *,
        algorithm: str = "randomized",
        n_iter: int = 5,
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        tol: float = 0.0,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components of `X`, ``[samples, features]``."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # type: ignore[override]
        """Fit, and the coordinates of the same rows."""
        return self._answer(kind_of_result(X), self._fit(X))

    def _fit(self, X: Any) -> Array:
        self._refuse_params(algorithm="randomized")
        check_count(self, "n_components", "n_oversamples")
        if not (is_number(self.n_iter, integer=True) and self.n_iter >= 0):
            refuse(self, "n_iter", "an integer from 0 on")
        matrix = dense_or_sparse(self, X, fit=True)
        rows, features = matrix.shape
        if features < 2:
            raise InvalidArgumentError(
                f"TruncatedSVD: Found array with {features} feature(s) (shape={matrix.shape}) "
                "while a minimum of 2 is required by TruncatedSVD."
            )
        if self.n_components > features:
            raise InvalidArgumentError(
                f"TruncatedSVD: n_components({self.n_components}) must be <= "
                f"n_features({features})."
            )
        mark("truncated_svd_fit")
        found = self._by_moments(matrix)
        if found is None:
            _, values, vectors = randomized_svd(
                matrix,
                self.n_components,
                rounds=self.n_iter,
                oversamples=self.n_oversamples,
                random_state=self.random_state,
            )
        else:
            values, vectors, variances, total = found
        dtype = str(matrix.dtype)
        self.components_ = frozen(vectors.astype(dtype))
        made = self._projected(matrix)
        if isinstance(matrix, csr_matrix):
            exact = matrix.astype("float64")
            means, squares = exact.sum(axis=0) / rows, exact._with(exact.data**2).sum(axis=0) / rows
            total = float((squares - means * means).sum())
        elif found is None:
            total = float(matrix.var(axis=0, ddof=0).sum())
        if found is None:
            variances = made.var(axis=0, ddof=0).to_numpy()
        variances = variances.astype(dtype)
        self.explained_variance_ = frozen(variances)
        self.explained_variance_ratio_ = frozen(variances / (total or 1.0))
        self.singular_values_ = frozen(values.astype(dtype))
        return made

    def _by_moments(self, matrix: Any) -> Any:
        """Values, vectors, variances along them and the sum of those of the features; or None.

        Of tall dense rows X^T X is less work than products with the rows themselves. It is made of
        centred columns, so that variances keep their digits.
        """
        rows, features = matrix.shape
        width = min(self.n_components + self.n_oversamples, features)
        if (
            isinstance(matrix, csr_matrix)
            or rows < features
            or features > 4 * (self.n_iter + 1) * width
        ):
            return None
        nothing = engine_weights(None)._node
        moments = _core.second_moments(matrix._node, nothing, nothing, True)
        mean, covered = (np.asarray(Array(node)) for node in moments[:2])
        start = default_rng(self.random_state).standard_normal((features, width))
        gram = covered + np.outer(mean, mean) * rows
        found = _by_products(gram, self.n_components, self.n_iter, start)
        if found is None:
            return None
        values, vectors = found
        variances = np.einsum("ij,jk,ik->i", vectors, covered, vectors) / rows
        return values, vectors, variances, float(np.trace(covered)) / rows

    def _projected(self, matrix: Any) -> Any:
        components = self.components_.astype(str(matrix.dtype)).T
        return matrix @ (
            components if isinstance(matrix, csr_matrix) else beside(matrix, components)
        )

    def transform(self, X: Any) -> Any:
        """Coordinates along the components: ``[samples, components]``, in the dtype of `X`."""
        self._check_fitted()
        return self._answer(kind_of_result(X), self._projected(dense_or_sparse(self, X)))

    def inverse_transform(self, X: Any) -> Any:
        """Rows from their coordinates: ``[samples, features]``."""
        self._check_fitted()
        latent = asarray(X) if is_ours(X) else frozen(np.asarray(X))
        return answer(X, latent @ beside(latent, self.components_))
