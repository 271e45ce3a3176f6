# SPDX-License-Identifier: Apache-2.0
"""Transformers whose results stand side by side, of the same columns or each of its own."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import is_frame
from headrace.learn.base import Transformer, clone, is_number, is_ours
from headrace.learn.columns import of_rows, stacked
from headrace.learn.pipeline import NamedEstimators, named
from headrace.tensor.build import hstack
from headrace.tensor.matrix import issparse

if TYPE_CHECKING:
    from collections.abc import Iterator


def beside(parts: list[Any], rows: int, sparse_threshold: float = 1.0) -> Any:
    """Matrices side by side: lazy if one is ours, in compressed rows if one is and few are set."""
    if not parts:
        return np.zeros((rows, 0))
    thin = [issparse(part) for part in parts]
    if any(thin):
        cells = sum(part.shape[0] * part.shape[1] for part in parts)
        filled = sum(
            part.nnz if flag else part.shape[0] * part.shape[1]
            for part, flag in zip(parts, thin, strict=True)
        )
        if filled < sparse_threshold * max(cells, 1) or (filled <= cells and sparse_threshold >= 1):
            return hstack(parts)
        parts = [
            np.asarray(part.toarray()) if flag else part
            for part, flag in zip(parts, thin, strict=True)
        ]
    if not any(is_ours(part) for part in parts):
        return np.hstack([np.asarray(part) for part in parts])
    arrays = [asarray(part) for part in parts]
    dtype = np.result_type(*(np.dtype(each.dtype) for each in arrays))
    columns = [each[:, place].astype(dtype) for each in arrays for place in range(each.shape[1])]
    return stacked(columns)


class _Beside(NamedEstimators, Transformer):
    """The base of transformers whose results stand side by side."""

    transformer_weights: dict[str, float] | None

    def _check_parts(self, parts: list[tuple[str, Any]]) -> None:
        """Raise ValueError for parts of a file that cannot transform."""
        weights = self.transformer_weights
        fine = weights is None or isinstance(weights, dict)
        fine = fine and all(is_number(weight) for weight in (weights or {}).values())
        for name, each in parts:
            skipped = isinstance(each, str) and each in ("drop", "passthrough")
            fine = fine and isinstance(name, str) and (skipped or hasattr(each, "fit"))
        if not fine:
            raise ValueError(f"{type(self).__name__}: its parts are no transformers by name")

    def _weighted(self, name: str, made: Any) -> Any:
        weight = (self.transformer_weights or {}).get(name)
        return made if weight is None else made * weight

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` returns; see `StandardScaler.set_output`."""
        super().set_output(transform=transform)
        return self


def _default(estimator: Any, output: str = "default") -> Any:
    """Parts return matrices: the whole is framed at the end; frames of ours keep their columns."""
    if hasattr(estimator, "set_output"):
        ours = isinstance(estimator, Transformer)
        estimator.set_output(transform=output if ours else "default")
    return estimator


class FeatureUnion(_Beside):
    """The results of several transformers of the same data, side by side.

    Parameters
    ----------
    transformer_list : list of (name, transformer)
        ``"drop"`` and ``"passthrough"`` are transformers too.
    n_jobs : int, optional
        Without effect: each transformer uses all threads.
    transformer_weights : dict, optional
        Factors of results, by name.
    verbose : False
        Not supported.
    verbose_feature_names_out : bool, default True
        Begin names of columns with the name of the transformer.

    >>> scale = hr.learn.StandardScaler()
    >>> union = hr.learn.FeatureUnion([("scaled", scale), ("plain", "passthrough")])
    >>> union.fit_transform([[1.0], [3.0]]).tolist()
    [[-1.0, 1.0], [1.0, 3.0]]
    """

    transformer_list: list[tuple[str, Any]]
    feature_names_in_: np.ndarray[Any, Any]

    def _check_loaded(self) -> None:
        self._check_parts([(name, each) for name, each in self.transformer_list])

    n_features_in_: int

    _list = "transformer_list"
    _fitted_as = "_fitted"

    def __init__(
        self,
        transformer_list: list[tuple[str, Any]],
        *,
        n_jobs: int | None = None,
        transformer_weights: dict[str, float] | None = None,
        verbose: bool = False,
        verbose_feature_names_out: bool = True,
    ) -> None:
        self.transformer_list = transformer_list
        self.n_jobs = n_jobs
        self.transformer_weights = transformer_weights
        self.verbose = verbose
        self.verbose_feature_names_out = verbose_feature_names_out

    def _used(self) -> Iterator[tuple[str, Any]]:
        for name, each in self.transformer_list:
            if not isinstance(each, str) or each != "drop":
                yield name, each

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit each transformer."""
        self._refuse_params(verbose=False)
        self._check_names()
        X = _shaped(X)  # noqa: N806
        unknown = sorted({*(self.transformer_weights or {})} - {n for n, _ in self._named()})
        if unknown:
            raise InvalidArgumentError(
                f"FeatureUnion: no such transformers: transformer_weights={unknown}"
            )
        self.transformer_list = [
            (name, each if isinstance(each, str) else clone(each).fit(X, y, **params))
            for name, each in self.transformer_list
        ]
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(list(X.columns), object)
        self.n_features_in_ = X.shape[1]
        self._fitted = True
        return self

    def transform(self, X: Any) -> Any:
        """The results side by side."""
        self._check_fitted()
        X = _shaped(X)  # noqa: N806
        parts = []
        for name, each in self._used():
            made = X if isinstance(each, str) else _default(each).transform(X)
            parts.append(self._weighted(name, _matrix_of(made)))
        return self._answer(X, beside(parts, X.shape[0] if issparse(X) else len(X)))

    def _names_out(self, names: list[str]) -> list[str]:
        made = []
        for name, each in self._used():
            found = names if isinstance(each, str) else list(each.get_feature_names_out(names))
            made += [f"{name}__{n}" if self.verbose_feature_names_out else n for n in found]
        return made


def _shaped(X: Any) -> Any:
    return X if hasattr(X, "shape") else np.asarray(X)


def _part_of(made: Any) -> Any:
    """A frame of ours as it is, other results as matrices."""
    return made if is_frame(made) else _matrix_of(made)


def _matrix_of(made: Any) -> Any:
    """A frame or list as a matrix; matrices as they are."""
    if is_frame(made):
        return asarray(made)
    return made if hasattr(made, "shape") and not hasattr(made, "iloc") else np.asarray(made)


class ColumnTransformer(_Beside):
    """A transformer for each group of columns, the results side by side.

    Parameters
    ----------
    transformers : list of (name, transformer, columns)
        ``"drop"`` and ``"passthrough"`` are transformers too. Columns are a name or place (the
        transformer gets one dimension), a list of these, a slice, a mask, or a function of the
        data that gives one of these.
    remainder : {"drop", "passthrough"} or transformer, default "drop"
        What happens to the columns that are in no group.
    sparse_threshold : float, default 0.3
        The result is a `hr.tensor.csr_matrix` where a part is sparse and fewer cells are filled.
    n_jobs : int, optional
        Without effect: each transformer uses all threads.
    transformer_weights : dict, optional
        Factors of results, by name.
    verbose : False
        Not supported.
    verbose_feature_names_out : bool, default True
        Begin names of columns with the name of the transformer.

    Attributes
    ----------
    transformers_ : list of (name, fitted transformer, columns)
    output_indices_ : dict of slices
        The columns of the result by name of the transformer.

    >>> frame = hr.DataFrame({"size": [1.0, 3.0], "kind": ["b", "a"]})
    >>> scale, code = hr.learn.StandardScaler(), hr.learn.OneHotEncoder()
    >>> both = hr.learn.ColumnTransformer([("scale", scale, ["size"]), ("kind", code, ["kind"])])
    >>> both.fit_transform(frame).tolist()
    [[-1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """

    feature_names_in_: np.ndarray[Any, Any]
    n_features_in_: int
    transformers_: list[tuple[Any, ...]]
    output_indices_: dict[str, slice]

    _list = "transformers"
    _fitted_as = "transformers_"

    def __init__(
        self,
        transformers: list[tuple[str, Any, Any]],
        *,
        remainder: Any = "drop",
        sparse_threshold: float = 0.3,
        n_jobs: int | None = None,
        transformer_weights: dict[str, float] | None = None,
        verbose: bool = False,
        verbose_feature_names_out: bool = True,
    ) -> None:
        self.transformers = transformers
        self.remainder = remainder
        self.sparse_threshold = sparse_threshold
        self.n_jobs = n_jobs
        self.transformer_weights = transformer_weights
        self.verbose = verbose
        self.verbose_feature_names_out = verbose_feature_names_out

    @property
    def named_transformers_(self) -> dict[str, Any]:
        """The fitted transformers by name."""
        return {name: each for name, each, _ in self.transformers_}

    def _places(self, X: Any, columns: Any) -> list[int]:
        """Columns by number."""
        if callable(columns):
            columns = columns(X)
        names, width = _names_of(X), X.shape[1]
        if isinstance(columns, slice) and isinstance(columns.start or columns.stop, str):
            first = names.index(columns.start) if columns.start is not None else 0
            last = names.index(columns.stop) + 1 if columns.stop is not None else width
            return list(range(first, last))
        if isinstance(columns, slice):
            return list(range(*columns.indices(width)))
        each = [columns] if isinstance(columns, str | int | np.integer) else list(columns)
        if each and isinstance(each[0], bool | np.bool_):
            return [int(place) for place in np.flatnonzero(np.array(each))]
        wrong = [name for name in each if isinstance(name, str) and name not in names]
        if wrong:
            raise InvalidArgumentError(
                f"A given column is not a column of the dataframe: columns={wrong}, there are "
                f"{names}"
            )
        return [names.index(name) if isinstance(name, str) else int(name) % width for name in each]

    def _fit_parts(self, X: Any, y: Any, *, transform: bool) -> Any:
        self._refuse_params(verbose=False)
        self._check_names()
        X = _shaped(X)  # noqa: N806
        names = _names_of(X)
        self.__dict__.pop("feature_names_in_", None)
        if names:
            self.feature_names_in_ = np.asarray(names, object)
        self.n_features_in_ = X.shape[1]
        groups = [(n, each, c, self._places(X, c)) for n, each, c in self.transformers]
        taken = {place for *_, places in groups for place in places}
        left = [place for place in range(X.shape[1]) if place not in taken]
        given = [*groups, ("remainder", self.remainder, left, left)]
        fitted, parts = [], []
        for name, each, columns, places in given:
            if name == "remainder" and not places:
                continue
            made = None
            if not isinstance(each, str) and places:
                part = _picked(X, columns, places)
                each = _default(clone(each), self._inner(X))  # noqa: PLW2901
                if transform and hasattr(each, "fit_transform"):
                    made = each.fit_transform(part, y)
                else:
                    each.fit(part, y)
                    made = each.transform(part) if transform else None
            elif each == "passthrough" and places:
                made = _picked(X, places, places)
            fitted.append((name, each, columns))
            if transform and made is not None:
                parts.append((name, self._weighted(name, _part_of(made))))
        self.transformers_, self._chosen = fitted, {n: p for n, _, _, p in given}
        return parts

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit each transformer to its columns."""
        self.fit_transform(X, y, **params)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit, then transform the same rows."""
        X = _shaped(X)  # noqa: N806
        if params:
            raise TypeMismatchError(f"ColumnTransformer.fit: no such parameters: {sorted(params)}")
        parts = self._fit_parts(X, y, transform=True)
        self._remember(parts)
        return self._finished(X, parts)

    def _remember(self, parts: list[tuple[str, Any]]) -> None:
        first, self.output_indices_ = 0, {name: slice(0, 0) for name, *_ in self.transformers_}
        for name, part in parts:
            width = part.shape[1] if len(part.shape) > 1 else 1
            self.output_indices_[name] = slice(first, first + width)
            first += width

    def _inner(self, X: Any) -> str:
        """What parts return: frames where the result is one of ours, so that columns stay apart."""
        return "headrace" if is_frame(X) and self._output() == "headrace" else "default"

    def _finished(self, X: Any, parts: list[tuple[str, Any]]) -> Any:
        if parts and all(is_frame(part) for _, part in parts):
            nodes = [node for _, part in parts for node in part._nodes.values()]
            return of_rows(X, dict(zip(self.get_feature_names_out(), nodes, strict=True)))
        parts = [(name, _matrix_of(part)) for name, part in parts]
        for name, part in parts:
            if len(part.shape) != 2:
                raise InvalidArgumentError(
                    f"The output of the {name!r} transformer should be 2D (numpy array, scipy "
                    f"sparse array, dataframe): shape={part.shape}"
                )
        made = beside([part for _, part in parts], len(X), self.sparse_threshold)
        return self._answer(X, made)

    def transform(self, X: Any) -> Any:
        """The results of all groups side by side."""
        self._check_fitted()
        X = _shaped(X)  # noqa: N806
        known, names = list(getattr(self, "feature_names_in_", ())), _names_of(X)
        if known and names:
            missing = sorted(set(known) - set(names))
            if missing:
                raise InvalidArgumentError(f"columns are missing: {set(missing)}")
        elif X.shape[1] != self.n_features_in_:
            raise InvalidArgumentError(
                f"X has {X.shape[1]} features, but ColumnTransformer is expecting "
                f"{self.n_features_in_} features as input."
            )
        parts = []
        for name, each, columns in self.transformers_:
            places = self._chosen[name]
            if not places or each == "drop":
                continue
            if known and names:
                places = [names.index(known[place]) for place in places]
            if isinstance(each, str):
                made = _picked(X, places, places)
            else:
                made = _default(each, self._inner(X)).transform(_picked(X, columns, places))
            parts.append((name, self._weighted(name, _part_of(made))))
        return self._finished(X, parts)

    def _check_loaded(self) -> None:
        self._check_parts([(name, each) for name, each, _ in self.transformers_])
        for name, _, columns in self.transformers_:
            places = self._chosen[name]
            fine = all(type(place) is int and 0 <= place < self.n_features_in_ for place in places)
            if not fine or (isinstance(columns, str | int) and len(places) != 1):
                raise ValueError("ColumnTransformer: there are no such columns")

    def _names_out(self, names: list[str]) -> list[str]:
        made: list[tuple[str, str]] = []
        for name, each, _ in self.transformers_:
            inner = [names[place] for place in self._chosen[name]]
            if not inner or each == "drop":
                continue
            found = inner if isinstance(each, str) else each.get_feature_names_out(inner)
            made += [(name, n) for n in found]
        if self.verbose_feature_names_out:
            return [f"{name}__{n}" for name, n in made]
        plain = [n for _, n in made]
        twice = sorted(n for n, count in Counter(plain).items() if count > 1)
        if twice:
            raise InvalidArgumentError(
                f"Output feature names: {twice} are not unique. Please set "
                "verbose_feature_names_out=True to add prefixes to feature names"
            )
        return plain


def _names_of(X: Any) -> list[Any]:
    return list(X.columns) if hasattr(X, "columns") else list(getattr(X, "column_names", ()))


def _picked(X: Any, columns: Any, places: list[int]) -> Any:
    """Columns by number; one dimension for a single name or place."""
    single = isinstance(columns, str | int | np.integer) and not isinstance(columns, bool)
    if is_frame(X):
        names = [X.columns[place] for place in places]
        return X[names[0]] if single else X[names]
    if hasattr(X, "iloc"):
        return X.iloc[:, places[0]] if single else X.iloc[:, places]
    names = _names_of(X)
    if names:  # Polars and Arrow
        chosen = [names[place] for place in places]
        return X[chosen[0]] if single else X.select(chosen)
    if single:
        return X[:, places[0]]
    if is_ours(X):
        return stacked([X[:, place] for place in places])
    return X[:, places]


def make_column_transformer(
    *transformers: tuple[Any, Any],
    remainder: Any = "drop",
    sparse_threshold: float = 0.3,
    n_jobs: int | None = None,
    verbose: bool = False,
    verbose_feature_names_out: bool = True,
) -> ColumnTransformer:
    """A `ColumnTransformer` of pairs of transformer and columns, named by the classes.

    >>> made = hr.learn.make_column_transformer((hr.learn.StandardScaler(), ["size"]))
    >>> made.transformers
    [('standardscaler', StandardScaler(), ['size'])]
    """
    names = [name for name, _ in named([each for each, _ in transformers])]
    return ColumnTransformer(
        [(name, *each) for name, each in zip(names, transformers, strict=True)],
        remainder=remainder,
        sparse_threshold=sparse_threshold,
        n_jobs=n_jobs,
        verbose=verbose,
        verbose_feature_names_out=verbose_feature_names_out,
    )
