# SPDX-License-Identifier: Apache-2.0
"""Random forests, extra trees and isolation forests on histograms."""

from __future__ import annotations

import itertools
import math
import warnings
import weakref
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.lazy.handle import mark
from headrace.learn.base import (
    Estimator,
    answer,
    check_labels,
    check_rows,
    check_weights,
    clone,
    frozen,
    is_on_device,
    is_ours,
    refuse,
)
from headrace.learn.few_rows import few_rows
from headrace.learn.labels import check_classes, class_weights, of_largest
from headrace.random.generator import default_rng, seed_from

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Labels = np.ndarray[Any, Any]


class Tree(NamedTuple):
    """One tree of a forest, with the words of scikit-learn's `tree_`; -1 is no child."""

    children_left: Labels
    children_right: Labels
    feature: Labels
    threshold: Labels
    missing_go_to_left: Labels
    value: Labels
    n_node_samples: Labels

    @property
    def node_count(self) -> int:
        """How many nodes it has, leaves included."""
        return len(self.feature)


#: The trees of models on the GPU where they predicted last, with those that they are copies of.
_THERE: weakref.WeakKeyDictionary[Any, tuple[list[Array], str, list[Array]]] = (
    weakref.WeakKeyDictionary()
)


class _Trees(Estimator):
    """What all forests do once they have grown."""

    _fitted_as = "_forest"
    _forest: list[Array]

    def _store(self, given: Mapping[str, Any]) -> None:
        for name, value in given.items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    def _check_param(self, name: str, *, whole: int | None, part: str = "") -> Any:
        """A parameter that is an integer from `whole` on, or a float within `part`."""
        value = getattr(self, name)
        integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if integer and whole is not None and value >= whole:
            return int(value)
        if not integer and part and isinstance(value, float | np.floating):
            inside = {"(0, 1]": 0 < value <= 1, "(0, 1)": 0 < value < 1, "(0, inf)": value > 0}
            if inside[part]:
                return float(value)
        wanted = [f"an integer from {whole}"] if whole is not None else []
        raise InvalidArgumentError(
            f"{type(self).__name__}: {name} is out of range: {name}={value!r}; use "
            + " or ".join(wanted + ([f"a float in {part}"] if part else []))
        )

    def _check_loaded(self) -> None:
        """Raise for trees of a file that lead out of themselves."""
        if not hasattr(self, "_forest"):
            return
        _core.check_forest([part._node for part in self._forest], self.n_features_in_)
        classes = len(getattr(self, "classes_", ()))
        if getattr(self, "_classes", 0) != classes or self._forest[3].shape[1] != max(classes, 1):
            raise ValueError(f"{type(self).__name__}: its trees are of other classes")

    def _walk(self, op: str, X: Any) -> Array:
        self._check_fitted()
        rows = check_rows(self, X, allow_nan=True)
        mark(op)
        forest = self._forest
        if op == "forest_predict" and is_on_device(rows) and rows.device.startswith("cuda"):
            forest = self._forest_at(rows.device)
        return Array(getattr(_core, op)([part._node for part in forest], rows._node))

    def _forest_at(self, device: str) -> list[Array]:
        """The trees on a GPU, kept there for the next rows."""
        kept = _THERE.get(self)
        if kept is None or kept[0] is not self._forest or kept[1] != device:
            moved = [part.to(device) for part in self._forest[:4]]
            kept = _THERE[self] = self._forest, device, moved + self._forest[4:]
        return kept[2]

    @property
    def estimators_(self) -> list[Tree]:
        """The trees, built on access; a node comes before its children."""
        self._check_fitted()
        offsets, *parts = [part.to_numpy() for part in self._forest[:-1]]
        return [
            self._tree(*[part[begin:end] for part in parts])
            for begin, end in itertools.pairwise(offsets.tolist())
        ]

    @staticmethod
    def _tree(link: Labels, threshold: Labels, value: Labels, samples: Labels) -> Tree:
        leaf = link < 0
        return Tree(
            np.where(leaf, -1, np.arange(1, len(link) + 1)),
            np.where(leaf, -1, link >> 32),
            np.where(leaf, -2, (link & 0xFFFFFFFF) >> 1),
            np.where(leaf, -2.0, threshold),
            (link & 1).astype(bool) & ~leaf,
            value,
            samples,
        )


class _SharedBins:
    """Bins of all rows, of which each fold takes its own."""

    def __init__(self, model: _RandomForest, X: Any, y: Any) -> None:
        seen = clone(model)
        rows = check_rows(seen, X, fit=True, allow_nan=True)
        self.labels = check_labels(seen, y.to_numpy() if is_ours(y) else y, len(rows))
        self.seen = {name: value for name, value in vars(seen).items() if name[-4:] == "_in_"}
        self.bins = _core.forest_bins(rows._node)

    def fold(self, fold: Any, candidates: Any) -> Callable[[_RandomForest, Any], bool]:
        """See `Estimator._fit_folds`."""
        labels = self.labels[fold.train]
        bins = self.bins.take(frozen(np.ascontiguousarray(fold.train, np.int64))._node)

        def fit(model: _RandomForest, candidate: Any) -> bool:
            if model.oob_score:  # needs the rows
                return False
            vars(model).update(self.seen)
            model._grow(None, bins, labels, None)
            return True

        return fit


class _RandomForest(_Trees):
    """What random forests do; a subclass says what its targets are."""

    _classes = 0
    _random_splits = False
    _criteria: ClassVar[Mapping[str, str]]
    n_estimators: int
    criterion: str
    max_depth: int | None
    min_samples_split: float
    min_samples_leaf: float
    min_weight_fraction_leaf: float
    max_features: Any
    min_impurity_decrease: float
    bootstrap: bool
    oob_score: bool | Callable[..., float]
    random_state: Any
    max_samples: float | None
    n_outputs_: int
    feature_importances_: Array
    oob_score_: float

    # ---- parameters ------------------------------------------------------------------------------
    def _rows_of(self, name: str, rows: int, least: int, part: str) -> int:
        value = self._check_param(name, whole=least, part=part)
        return max(least, math.ceil(value * rows)) if isinstance(value, float) else value

    def _num_features(self, features: int) -> int:
        if self.max_features is None:
            return features
        if isinstance(self.max_features, str):
            words = {"sqrt": math.sqrt, "log2": math.log2}
            if self.max_features not in words:
                raise InvalidArgumentError(
                    f"{type(self).__name__}: no such max_features: {self.max_features!r}; use "
                    "'sqrt', 'log2', None, an integer or a float in (0, 1]"
                )
            return max(1, int(words[self.max_features](features)))
        value = self._check_param("max_features", whole=1, part="(0, 1]")
        return max(1, int(value * features)) if isinstance(value, float) else min(value, features)

    def _num_drawn(self, rows: int, weights: Labels | None) -> int:
        if not self.bootstrap:
            if self.max_samples is not None or self.oob_score:
                raise InvalidArgumentError(
                    f"{type(self).__name__}: max_samples and oob_score need bootstrap=True: "
                    f"max_samples={self.max_samples!r}, oob_score={self.oob_score!r}"
                )
            return 0
        if self.max_samples is None:
            return rows
        value = self._check_param("max_samples", whole=1, part="(0, inf)")
        if not isinstance(value, float):
            return value
        return max(int(value * (rows if weights is None else float(weights.sum()))), 1)

    def _options(self, rows: int, weights: Labels | None) -> Any:
        if self.criterion not in self._criteria:
            raise UnsupportedError(
                f"{type(self).__name__}: this criterion is not supported: "
                f"criterion={self.criterion!r}; use one of {list(self._criteria)}"
            )
        self._refuse_params(
            warm_start=False, max_leaf_nodes=None, ccp_alpha=0.0, monotonic_cst=None
        )
        for name in ("min_weight_fraction_leaf", "min_impurity_decrease"):
            value, most = getattr(self, name), 0.5 if name[4] == "w" else math.inf
            if not 0 <= value <= most:
                raise InvalidArgumentError(
                    f"{type(self).__name__}: {name} is out of range: {name}={value!r}; use 0.0 to "
                    f"{most}"
                )
        return _core.forest_options(
            self._criteria[self.criterion],
            self._check_param("n_estimators", whole=1),
            self._classes,
            -1 if self.max_depth is None else self._check_param("max_depth", whole=1),
            self._rows_of("min_samples_split", rows, 2, "(0, 1]"),
            self._rows_of("min_samples_leaf", rows, 1, "(0, 1)"),
            float(self.min_weight_fraction_leaf),
            float(self.min_impurity_decrease),
            self._num_features(self.n_features_in_),
            self._num_drawn(rows, weights),
            self.bootstrap and getattr(self, "class_weight", None) == "balanced_subsample",
            self._random_splits,
            seed_from(self.random_state),
        )

    # ---- fit and use -----------------------------------------------------------------------------
    def _targets(self, y: Labels, weights: Labels | None) -> tuple[Labels, Labels | None]:
        """`y` as float64, and what its classes weigh by row."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees on all threads of `hr.threads()`; the same trees for any number of them.

        Parameters
        ----------
        X : array_like
            ``[samples, features]``, float32 or float64; NaN goes to the side of the better split.
        y : array_like
            ``[samples]``: labels of any kind, or numbers.
        sample_weight : array_like, optional
            The chance of each row to be drawn; with ``bootstrap=False``, what it weighs.
        """
        rows = check_rows(self, X, fit=True, allow_nan=True)
        labels = check_labels(self, y.to_numpy() if is_ours(y) else y, rows.shape[0])
        weights = check_weights(self, sample_weight, rows.shape[0])
        self._grow(rows, rows._node, labels, None if weights is None else weights.to_numpy())
        return self

    def _grow(self, rows: Any, bins: Any, labels: Labels, given: Labels | None) -> None:
        """Grow trees on rows or their bins; `rows` are for what the trees have not seen of them."""
        targets, by_class = self._targets(labels, given)
        if by_class is not None:
            given = by_class if given is None else given * by_class
        options = self._options(len(labels), given)
        chances = None if given is None else frozen(np.ascontiguousarray(given, np.float64))._node
        mark("forest_fit")
        column = frozen(np.ascontiguousarray(targets, np.float64))
        self._forest = [
            Array(node) for node in _core.forest_fit(bins, column._node, chances, options)
        ]
        self.feature_importances_ = self._forest[-1]
        self.n_outputs_ = 1
        if self.oob_score:
            nodes = [part._node for part in self._forest]
            made = Array(_core.forest_predict_out_of_bag(nodes, rows._node, chances, options))
            self._score_out_of_bag(labels, made.to_numpy())

    def _fit_folds(self, X: Any, y: Any) -> Any:
        return _SharedBins(self, X, y)

    def _score_out_of_bag(self, y: Labels, made: Labels) -> None:
        unseen = np.isnan(made[:, 0])
        if unseen.any():
            warnings.warn(
                "Some inputs do not have OOB scores. This probably means too few trees were used "
                "to compute any reliable OOB estimates.",
                stacklevel=4,
            )
        predicted = self._keep_out_of_bag(np.nan_to_num(made))
        measure = self.oob_score if callable(self.oob_score) else self._score
        self.oob_score_ = measure(y, predicted)

    def _keep_out_of_bag(self, made: Labels) -> Labels:
        raise NotImplementedError

    def _score(self, y: Labels, predicted: Labels, sample_weight: Labels | None = None) -> float:
        raise NotImplementedError

    def apply(self, X: Any) -> Any:
        """The number of the leaf of each row in each tree: int64 ``[samples, trees]``."""
        return answer(X, self._walk("forest_apply", X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of a classifier, R² of a regressor."""
        predicted = np.asarray(self.predict(X))
        labels = check_labels(self, y.to_numpy() if is_ours(y) else y, len(predicted))
        weights = check_weights(self, sample_weight, len(predicted))
        return self._score(labels, predicted, None if weights is None else weights.to_numpy())

    def predict(self, X: Any) -> Any:
        """What the trees say of each row."""
        raise NotImplementedError


def _by_class(
    model: RandomForestClassifier, codes: Labels, weights: Labels | None
) -> Labels | None:
    """The weights of rows by their classes."""
    given = model.class_weight
    if isinstance(given, str):
        if given not in ("balanced", "balanced_subsample"):
            refuse(model, "class_weight", "'balanced', 'balanced_subsample', a dictionary or None")
        if given == "balanced_subsample" and model.bootstrap:
            return None  # each tree's rows by themselves
        given = "balanced"
    shares = class_weights(model, codes, weights, given)
    return None if shares is None else shares[codes]


class RandomForestClassifier(_RandomForest):
    """A forest of trees on histograms that vote by the mean shares of classes in their leaves.

    Columns are cut into at most 255 bins (exactly as scikit-learn splits where a column has no more
    values). The same trees for any number of threads; `random_state` gives the same forest
    everywhere, not scikit-learn's. `fit` takes a byte for each value of `X`, and 28 bytes a row for
    each thread. `n_jobs` and `verbose` are ignored: see `hr.threads`.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss"}
        What a split lowers.
    max_features : {"sqrt", "log2"}, int, float or None
        How many features a node draws.
    oob_score : bool or callable
        Score rows by the trees that did not draw them.
    class_weight : {"balanced", "balanced_subsample"}, dict or None
        Weights of classes.
    max_leaf_nodes, warm_start, ccp_alpha, monotonic_cst
        Only their defaults are supported.

    Attributes
    ----------
    classes_ : ndarray
        Labels in ascending order; `n_classes_` is their number.
    feature_importances_ : Array
        Share of each feature in what the splits gained, mean over trees.
    oob_score_, oob_decision_function_
        With `oob_score`.
    estimators_ : list of Tree
        Views of the trees.

    >>> rows, labels = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> model = hr.learn.RandomForestClassifier(10, random_state=0).fit(rows, labels)
    >>> model.predict([[0.2], [2.9]]).tolist()
    ['no', 'yes']
    """

    _tags: ClassVar[Mapping[str, Any]] = {
        "estimator_type": "classifier",
        "input_tags": {"allow_nan": True},
    }
    _criteria: ClassVar[Mapping[str, str]] = {
        "gini": "gini",
        "entropy": "entropy",
        "log_loss": "entropy",
    }
    classes_: Labels
    n_classes_: int
    oob_decision_function_: Array

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
    ) -> None:
        self._store(locals())

    def _targets(self, y: Labels, weights: Labels | None) -> tuple[Labels, Labels | None]:
        self.classes_, codes = check_classes(self, y)
        self._classes = self.n_classes_ = len(self.classes_)
        return codes, _by_class(self, codes, weights)

    def _keep_out_of_bag(self, made: Labels) -> Labels:
        self.oob_decision_function_ = frozen(made)
        return self.classes_.take(made.argmax(axis=1))

    def _score(self, y: Labels, predicted: Labels, sample_weight: Labels | None = None) -> float:
        return float(np.average(y == predicted, weights=sample_weight))

    @few_rows
    def predict(self, X: Any) -> Any:
        """The class of the largest mean share, the first of equal ones."""
        made = self._walk("forest_predict", X)
        if is_on_device(made) and self.classes_.dtype.kind in "biuf":
            return of_largest(self.classes_, made)
        shares = made.to_numpy()
        labels = self.classes_.take(shares.argmax(axis=1))
        return asarray(labels) if is_ours(X) and labels.dtype.kind in "biuf" else labels

    def predict_proba(self, X: Any) -> Any:
        """Mean shares of the classes in the leaves: float64 ``[samples, classes]``."""
        return answer(X, self._walk("forest_predict", X))

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


class RandomForestRegressor(_RandomForest):
    """A forest of trees on histograms that says the mean of the targets in their leaves.

    As `RandomForestClassifier` in all else. The only `criterion` is ``"squared_error"``; sums of
    targets that choose splits are integers of 62 bits, means of leaves are of float64 targets.

    Attributes
    ----------
    feature_importances_ : Array
        Share of each feature in what the splits gained, mean over trees.
    oob_score_, oob_prediction_
        With `oob_score`.
    estimators_ : list of Tree
        Views of the trees.

    >>> rows, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 1.0, 5.0, 5.0]
    >>> model = hr.learn.RandomForestRegressor(5, bootstrap=False, random_state=0).fit(rows, y)
    >>> model.predict([[0.2], [2.9]]).tolist()
    [1.0, 5.0]
    """

    _tags: ClassVar[Mapping[str, Any]] = {
        "estimator_type": "regressor",
        "input_tags": {"allow_nan": True},
    }
    _criteria: ClassVar[Mapping[str, str]] = {"squared_error": "squared_error"}
    oob_prediction_: Array

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
    ) -> None:
        self._store(locals())

    def _targets(self, y: Labels, weights: Labels | None) -> tuple[Labels, Labels | None]:
        return y.astype(np.float64), None

    def _keep_out_of_bag(self, made: Labels) -> Labels:
        self.oob_prediction_ = frozen(made[:, 0])
        return made[:, 0]

    def _score(self, y: Labels, predicted: Labels, sample_weight: Labels | None = None) -> float:
        rest = np.average((y - predicted) ** 2, weights=sample_weight)
        spread = np.average((y - np.average(y, weights=sample_weight)) ** 2, weights=sample_weight)
        return float(1 - rest / spread) if spread > 0 else float(rest == 0)

    @few_rows
    def predict(self, X: Any) -> Any:
        """The mean of the leaves' means: float64 ``[samples]``."""
        return answer(X, self._walk("forest_predict", X)[:, 0])


class ExtraTreesClassifier(RandomForestClassifier):
    """A forest whose nodes try one split at random of each drawn feature, not all.

    As `RandomForestClassifier` in all else, but that trees take all rows unless ``bootstrap=True``.

    >>> rows, labels = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> model = hr.learn.ExtraTreesClassifier(10, random_state=0).fit(rows, labels)
    >>> model.predict([[0.0], [3.0]]).tolist()
    ['no', 'yes']
    """

    _random_splits = True

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
    ) -> None:
        self._store(locals())


class ExtraTreesRegressor(RandomForestRegressor):
    """A forest of numbers whose nodes try one split at random of each drawn feature, not all.

    As `RandomForestRegressor` in all else, but that trees take all rows unless ``bootstrap=True``.

    >>> rows, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 1.0, 5.0, 5.0]
    >>> model = hr.learn.ExtraTreesRegressor(10, random_state=0).fit(rows, y)
    >>> model.predict([[0.0], [3.0]]).tolist()
    [1.0, 5.0]
    """

    _random_splits = True

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
    ) -> None:
        self._store(locals())


class IsolationForest(_Trees):
    """Outliers by how soon random splits part a row from others (Liu, Ting and Zhou, 2008).

    Each tree parts rows drawn at random, by a random value of a random feature. The same forest for
    any number of threads; `random_state` does not give scikit-learn's. `n_jobs` and `verbose` are
    ignored: see `hr.threads`.

    Parameters
    ----------
    max_samples : "auto", int or float
        Rows of a tree: 256 at most, a number, or a share of all.
    contamination : "auto" or float
        The share of rows of the fit that `predict` calls outliers; "auto" is a score of 0.5.
    bootstrap : bool
        Whether a tree may draw a row more than once.
    max_features, warm_start
        Only their defaults are supported.

    >>> rows = [[x / 10, -x / 10] for x in range(40)] + [[90.0, 90.0]]
    >>> model = hr.learn.IsolationForest(contamination=1 / 41, random_state=0).fit(rows)
    >>> model.predict(rows).tolist() == [1] * 40 + [-1]
    True
    """

    _tags: ClassVar[Mapping[str, Any]] = {
        "estimator_type": "outlier_detector",
        "input_tags": {"allow_nan": True},
    }
    n_estimators: int
    max_samples: str | float
    contamination: str | float
    bootstrap: bool
    random_state: Any
    max_samples_: int
    offset_: float

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: str | float = "auto",
        contamination: str | float = "auto",
        max_features: float = 1.0,
        bootstrap: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self._store(locals())

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Draw the rows of each tree and part them; `sample_weight` is their chance to be drawn."""
        rows = check_rows(self, X, fit=True, allow_nan=True)
        weights = check_weights(self, sample_weight, rows.shape[0])
        self._refuse_params(warm_start=False, max_features=1.0)
        trees = self._check_param("n_estimators", whole=1)
        if self.contamination != "auto":
            share = self._check_param("contamination", whole=None, part="(0, 1)")
        if self.max_samples == "auto":
            size = min(256, rows.shape[0])
        else:
            value = self._check_param("max_samples", whole=1, part="(0, 1]")
            size = max(1, int(value * rows.shape[0])) if isinstance(value, float) else value
        if size > rows.shape[0]:
            warnings.warn(
                f"max_samples ({size}) is greater than the total number of samples "
                f"({rows.shape[0]}); all of them are taken",
                stacklevel=2,
            )
        self.max_samples_ = size = min(size, rows.shape[0])
        random = default_rng(seed_from(self.random_state))
        chances = None if weights is None else weights / float(weights.sum())
        chosen = np.empty((trees, size), np.int64)
        for tree in range(trees):
            chosen[tree] = random.choice(rows.shape[0], size, replace=self.bootstrap, p=chances)
        mark("isolation_fit")
        depth = math.ceil(math.log2(max(size, 2)))
        seed = int(random.integers(1 << 64, dtype="uint64"))
        parts = _core.isolation_fit(rows._node, frozen(chosen)._node, depth, seed)
        self._forest = [Array(node) for node in parts]
        self.offset_ = -0.5
        if self.contamination != "auto":
            self.offset_ = float(np.percentile(self._scores(rows), 100.0 * share))
        return self

    def _scores(self, rows: Array) -> Labels:
        nodes = [part._node for part in self._forest]
        paths = Array(_core.forest_predict(nodes, rows._node)).to_numpy()[:, 0]
        return -(2.0 ** (-paths / max(_core.isolation_path(self.max_samples_), 1e-300)))

    def score_samples(self, X: Any) -> Any:
        """The opposite of the score of the paper, float64: about -0.5 and above for usual rows."""
        self._check_fitted()
        made = self._scores(check_rows(self, X, allow_nan=True))
        return asarray(made) if is_ours(X) else made

    def decision_function(self, X: Any) -> Any:
        """`score_samples` less `offset_`: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Any:
        """1 for usual rows, -1 for outliers."""
        made = np.where(np.asarray(self.decision_function(X)) < 0, -1, 1)
        return asarray(made) if is_ours(X) else made

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, then predict the same rows."""
        return self.fit(X, y, sample_weight).predict(X)
