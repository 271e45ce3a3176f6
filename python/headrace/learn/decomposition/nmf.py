# SPDX-License-Identifier: Apache-2.0
"""Non-negative matrix factorization."""
# ruff: noqa: N806 (W and H are the names of the matrices everywhere)

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import mark
from headrace.learn.base import (
    PrefixedNames,
    Transformer,
    answer,
    check_count,
    frozen,
    is_number,
    is_ours,
    refuse,
    warn_not_converged,
)
from headrace.learn.decomposition.singular import dense_or_sparse, kind_of_result, randomized_svd
from headrace.random import default_rng
from headrace.tensor.sparse import csr_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

_INITS = ("random", "nndsvd", "nndsvda", "nndsvdar", "custom", None)


def _length(x: np.ndarray[Any, Any]) -> float:
    return math.sqrt(float((x * x).sum()))


def _parts_of_vectors(matrix: Any, count: int, seed: Any) -> tuple[Any, Any]:
    """NNDSVD: the larger of the positive and the negative parts of singular vectors.

    C. Boutsidis and E. Gallopoulos, Pattern Recognition 41, 2008.
    """
    found, values, rights = randomized_svd(
        matrix, count, rounds="auto", oversamples=10, random_state=seed
    )
    lefts = found.to_numpy()
    W, H = np.zeros(lefts.shape), np.zeros(rights.shape)
    W[:, 0] = math.sqrt(values[0]) * np.abs(lefts[:, 0])
    H[0] = math.sqrt(values[0]) * np.abs(rights[0])
    for j in range(1, count):
        pairs = [
            (np.maximum(sign * lefts[:, j], 0), np.maximum(sign * rights[j], 0)) for sign in (1, -1)
        ]
        sizes = [_length(u) * _length(v) for u, v in pairs]
        best = 0 if sizes[0] > sizes[1] else 1
        if sizes[best] > 0:
            u, v = pairs[best]
            scale = math.sqrt(values[j] * sizes[best])
            W[:, j], H[j] = scale * u / _length(u), scale * v / _length(v)
    W[W < 1e-6] = 0
    H[H < 1e-6] = 0
    return W, H


class NMF(PrefixedNames, Transformer):
    """Two non-negative matrices whose product is near to X: ``X ~ W @ H``, by coordinate descent.

    Dense or sparse rows, in float64 inside. From the same `W` and `H` (``init="custom"``) come
    scikit-learn's results; random numbers are those of `hr.random`. The same bits for any number of
    threads.

    Parameters
    ----------
    n_components : int or "auto" or None
        Number of components; ``"auto"``: as `W` and `H` have, else all features.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar", "custom"}, optional
        First `W` and `H`; None: ``"nndsvda"`` where it is possible, else ``"random"``.
    solver : {"cd"}
        ``"mu"`` is not supported.
    beta_loss : {"frobenius"}
        Or 2, which is the same.
    tol : float, default 1e-4
        The descent ends when the projected gradient is at most this share of its first size.
    max_iter : int, default 200
        The most rounds.
    random_state : int, generator or None
        Seed of `init` and `shuffle`.
    alpha_W, alpha_H : float or "same"
        Weights of the penalties of `W` and `H`.
    l1_ratio : float, default 0
        Share of the absolute values in the penalties; the rest is squares.
    verbose
        Accepted and not used.
    shuffle : bool, default False
        Go through the components in a random order.

    Attributes
    ----------
    components_ : Array
        `H`: ``[components, features]``.
    reconstruction_err_ : float
        Length of ``X - W @ H``.
    n_components_, n_iter_ : int
        Components and rounds.

    >>> rows = [[1.0, 1.0], [2.0, 1.0], [3.0, 1.2], [4.0, 1.0]]
    >>> nmf = hr.learn.NMF(2, random_state=0, max_iter=1000)
    >>> W = nmf.fit_transform(rows)
    >>> nmf.components_.shape, bool(nmf.reconstruction_err_ < 0.01)
    ((2, 2), True)
    """

    _tags: ClassVar[Mapping[str, Any]] = {
        "transformer_tags": {"preserves_dtype": ["float64", "float32"]},
        "input_tags": {"sparse": True, "positive_only": True},
    }
    _fitted_as = "components_"
    components_: Array
    reconstruction_err_: float
    n_components_: int
    n_iter_: int

    def __init__(
        self,
        n_components: int | str | None = "auto",
        *,
        init: str | None = None,
        solver: str = "cd",
        beta_loss: float | str = "frobenius",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        alpha_W: float = 0.0,
        alpha_H: float | str = "same",
        l1_ratio: float = 0.0,
        verbose: int = 0,
        shuffle: bool = False,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.solver = solver
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.verbose = verbose
        self.shuffle = shuffle

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def _check_params(self) -> None:
        self._refuse_params(solver="cd")
        if self.beta_loss != 2:
            self._refuse_params(beta_loss="frobenius")
        check_count(self, "max_iter")
        if self.n_components not in (None, "auto"):
            check_count(self, "n_components")
        if self.init not in _INITS:
            refuse(self, "init", ", ".join(map(repr, _INITS)))
        for name in ("tol", "alpha_W", "alpha_H", "l1_ratio"):
            value = getattr(self, name)
            same = name == "alpha_H" and value == "same"
            if not same and not (is_number(value) and value >= 0):
                refuse(self, name, "a number from 0 on")
        if self.l1_ratio > 1:
            refuse(self, "l1_ratio", "a number from 0 to 1")

    def _initial(self, matrix: Any, W: Any, H: Any) -> tuple[Any, Any]:
        """First `W` and `H`, NumPy matrices of float64."""
        rows, features = matrix.shape
        wanted = self.n_components
        if self.init == "custom":
            if W is None or H is None:
                raise InvalidArgumentError("NMF: init='custom' needs W and H; pass both")
            W, H = np.array(W, np.float64), np.array(H, np.float64)
            count = H.shape[0] if wanted == "auto" else features if wanted is None else wanted
            for name, given, shape in (("W", W, (rows, count)), ("H", H, (count, features))):
                if given.shape != shape:
                    raise InvalidArgumentError(
                        f"NMF: wrong shape of {name}: {name}={given.shape}; expected {shape}"
                    )
                if not (given >= 0).all() or not given.any():
                    raise InvalidArgumentError(
                        f"NMF: Negative values in data passed to NMF (input {name}), NaN, or only "
                        "zeros; pass numbers from 0 on"
                    )
            return W, H
        count = features if wanted in (None, "auto") else int(wanted)
        fits = count <= min(rows, features)
        init = self.init or ("nndsvda" if fits else "random")
        data = matrix.data if isinstance(matrix, csr_matrix) else matrix
        mean = float(data.astype("float64").sum()) / (rows * features)
        rng = default_rng(self.random_state)
        if init == "random":
            scale = math.sqrt(mean / count)
            shapes = (count, features), (rows, count)
            H, W = (np.abs(scale * np.asarray(rng.standard_normal(shape))) for shape in shapes)
            return W, H
        if not fits:
            raise InvalidArgumentError(
                f"NMF: init = '{init}' can only be used when n_components <= min(n_samples, "
                f"n_features): n_components={count}, shape={matrix.shape}"
            )
        W, H = _parts_of_vectors(matrix, count, self.random_state)
        for each in (W, H) if init != "nndsvd" else ():
            holes = each == 0
            each[holes] = mean
            if init == "nndsvdar":
                draws = np.asarray(rng.standard_normal(int(holes.sum())))
                each[holes] = np.abs(mean * draws / 100)
        return W, H

    def _penalties(self, shape: tuple[int, int]) -> list[tuple[float, float]]:
        """Absolute and squared penalties of `W` and of `H`."""
        rows, features = shape
        of_H: Any = self.alpha_W if self.alpha_H == "same" else self.alpha_H
        weights = features * self.alpha_W, rows * of_H
        return [(weight * self.l1_ratio, weight * (1.0 - self.l1_ratio)) for weight in weights]

    def _round(
        self, W: Array, hessian: Any, target: Array, penalty: tuple[float, float], rng: Any
    ) -> tuple[Array, float]:
        """One round of `W`, given H H^T and X H^T, and its violation."""
        absolute, squared = penalty
        hessian = np.asarray(hessian) + squared * np.eye(W.shape[1])
        if absolute:
            target = target - absolute
        if not self.shuffle:
            return self._sweep(W, hessian, target)
        order = np.asarray(rng.permutation(W.shape[1]))
        turned = (frozen(np.asarray(each)[:, order].copy()) for each in (W, target))
        W, target = turned
        W, violation = self._sweep(W, hessian[order][:, order].copy(), target)
        return frozen(np.asarray(W)[:, np.argsort(order)].copy()), violation

    @staticmethod
    def _sweep(W: Array, hessian: Any, target: Array) -> tuple[Array, float]:
        node, violation = _core.nmf_sweep(W._node, frozen(hessian)._node, target._node)
        return Array(node), violation

    def _descend(self, matrix: Any, W: Any, H: Any, *, update_H: bool) -> tuple[Array, Array, int]:
        """`W`, the transposed `H` and the number of rounds."""
        mark("nmf")
        matrix = matrix.astype("float64")
        turned = matrix.T if update_H else None
        W, Ht = frozen(np.ascontiguousarray(W)), frozen(np.ascontiguousarray(H.T))
        of_W, of_H = self._penalties(matrix.shape)
        rng = default_rng(self.random_state)
        first, rounds = 0.0, 0
        for rounds in range(1, self.max_iter + 1):
            if update_H or rounds == 1:
                hessian, target = Ht.T @ Ht, matrix @ Ht
            W, violation = self._round(W, hessian, target, of_W, rng)
            if turned is not None:
                Ht, more = self._round(Ht, W.T @ W, turned @ W, of_H, rng)
                violation += more
            first = first or violation
            if violation <= self.tol * first:
                break
        if rounds == self.max_iter and self.tol > 0:
            warn_not_converged(
                f"Maximum number of iterations {rounds} reached. Increase it to improve "
                "convergence.",
                stacklevel=5 if update_H else 4,
            )
        return W, Ht, rounds

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Factorize `X`, ``[samples, features]``; `params` are those of `fit_transform`."""
        self._fit(X, **params)
        return self

    def fit_transform(  # type: ignore[override]
        self, X: Any, y: Any = None, W: Any = None, H: Any = None
    ) -> Any:
        """Factorize `X` and return `W`; `W` and `H` begin it where ``init="custom"``."""
        return self._answer(kind_of_result(X), self._fit(X, W, H))

    def _fit(self, X: Any, W: Any = None, H: Any = None) -> Array:
        self._check_params()
        matrix = dense_or_sparse(self, X, fit=True, non_negative=True)
        W, Ht, self.n_iter_ = self._descend(matrix, *self._initial(matrix, W, H), update_H=True)
        if isinstance(matrix, csr_matrix):  # |X|^2 - 2 X * W H + |W H|^2
            values = matrix.data.astype("float64")
            across = float(((matrix @ Ht) * W).sum())
            square = float((values * values).sum()) - 2 * across
            square += float(((W.T @ W) * (Ht.T @ Ht)).sum())
        else:
            apart = matrix - W @ Ht.T
            square = float((apart * apart).sum())
        self.reconstruction_err_ = math.sqrt(max(square, 0.0))
        dtype = str(matrix.dtype)
        self.components_ = frozen(np.ascontiguousarray(Ht.to_numpy().T, dtype=dtype))
        self.n_components_ = self.components_.shape[0]
        return W.astype(dtype)

    def transform(self, X: Any) -> Any:
        """The `W` of other rows with this `H`: ``[samples, components]``."""
        self._check_fitted()
        matrix = dense_or_sparse(self, X, non_negative=True)
        zeros = np.zeros((matrix.shape[0], self.n_components_))
        H = self.components_.to_numpy().astype(np.float64)
        W, _, _ = self._descend(matrix, zeros, H, update_H=False)
        return self._answer(kind_of_result(X), W.astype(str(matrix.dtype)))

    def inverse_transform(self, X: Any) -> Any:
        """The product of `X`, ``[samples, components]``, with `H`."""
        self._check_fitted()
        latent = asarray(X) if is_ours(X) else frozen(np.asarray(X))
        return answer(X, latent @ self.components_)
