# SPDX-License-Identifier: Apache-2.0
"""Levels encoded by the target's mean, shrunk towards that of all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.learn.base import check_labels, frozen
from headrace.learn.columns import framed
from headrace.learn.preparation.encoders import LevelEncoder
from headrace.learn.preparation.levels import Values
from headrace.learn.selection.splits import (
    KFold,
    StratifiedKFold,
    check_cv,
    split_places,
    target_kind,
)
from headrace.random.generator import default_rng

if TYPE_CHECKING:
    from collections.abc import Mapping

    Numbers = np.ndarray[Any, Any]

#: From here on no permutation is made: it takes 8 bytes a row, and each split as much again.
_MANY_ROWS = 1 << 22


class TargetEncoder(LevelEncoder):
    """Encode each level by the mean of the target there, by empirical Bayes.

    `fit_transform` encodes each fold by the other folds, so that no row sees its own target: it
    differs from ``fit(X, y).transform(X)``. It reads the data once for all folds.

    Parameters
    ----------
    categories : "auto" or list of array_like, default "auto"
        The levels of each column; the distinct values in order by default.
    target_type : {"auto", "continuous", "binary", "multiclass"}
        What `y` is; a column for each class where it is multiclass.
    smooth : "auto" or float, default "auto"
        The weight of the mean of all rows, in rows; "auto" takes it from the variances.
    cv : int, splitter or list of (train, test), default 5
        Splits of `fit_transform`; an int is shuffled. From 4,194,304 rows on an int draws the fold
        of each row alone, so that folds are only about equally large and take 4 bytes a row.
    shuffle, random_state : optional
        For an int `cv`; deprecated in scikit-learn.

    Attributes
    ----------
    encodings_ : list of NumPy arrays
        The value of each level, for each column (and class).
    categories_ : list of NumPy arrays
        The levels of each column.
    target_type_, target_mean_, classes_
        What `y` is, its mean, and its classes or None.

    >>> encoder = hr.learn.TargetEncoder(smooth=0.0)
    >>> words, values = [["a"], ["b"], ["a"], ["b"]], [1.5, 2.0, 2.5, 5.0]
    >>> encoder.fit(words, values).transform(words).tolist()
    [[2.0], [3.5], [2.0], [3.5]]
    """

    target_mean_: Any
    target_type_: str
    classes_: np.ndarray[Any, Any] | None

    _tags: ClassVar[Mapping[str, Any]] = {
        **LevelEncoder._tags,
        "target_tags": {"required": True},
    }
    _fitted_as = "encodings_"

    def __init__(
        self,
        categories: Any = "auto",
        target_type: str = "auto",
        smooth: Any = "auto",
        cv: Any = 5,
        shuffle: Any = "deprecated",
        random_state: Any = "deprecated",
    ) -> None:
        self.categories = categories
        self.target_type = target_type
        self.smooth = smooth
        self.cv = cv
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the encodings from all rows; for training data use `fit_transform`."""
        self._fit_all(X, y)
        return self

    def _fit_all(self, X: Any, y: Any, groups: Any = None, *, apart: bool = False) -> list[Array]:
        """Fit to all rows, by sums over each fold; `apart` encodes each row by the other folds."""
        columns = self._fit_levels(X, refuse=False)
        if getattr(y, "ndim", 1) == 2 and y.shape[1] > 1:
            raise InvalidArgumentError("Unknown label type: multilabel-indicator")
        labels = check_labels(self, y, len(columns[0].series))
        targets = self._targets(labels)
        rows = len(targets[0])
        fold, folds = (
            self._folds(labels, rows, groups) if apart else (frozen(np.zeros(rows, np.int32)), 1)
        )
        means = np.array([target.to_numpy().mean() for target in targets])
        self.target_mean_ = means if self.target_type_ == "multiclass" else float(means[0])
        made: list[Array] = []
        encodings: list[Numbers] = []
        for column, levels in zip(columns, self.categories_, strict=True):
            at = column.numbers(levels).astype("int32")
            for target, center in zip(targets, means, strict=True):
                # Distances from a center: sums of squares lose nothing near zero. Unknown values
                # have a level of their own, at the end.
                sums = _core.target_sums(
                    at._node, fold._node, target._node, center, len(levels), folds
                )
                each = list(np.moveaxis(Array(sums).to_numpy(), 2, 0))
                whole = [sums.sum(axis=1, keepdims=True) for sums in each]
                if apart:
                    others = [sums - part for sums, part in zip(whole, each, strict=True)]
                    table = frozen(np.ascontiguousarray(self._encoded(others, center)))
                    made.append(Array(_core.target_encode(at._node, fold._node, table._node)))
                encodings.append(self._encoded(whole, center)[:-1, 0])
        self.encodings_ = encodings
        return made

    def _targets(self, y: Any) -> list[Array]:
        """The target, or one for each class, as float64."""
        kinds = ("binary", "multiclass", "continuous")
        if self.target_type not in ("auto", *kinds):
            raise InvalidArgumentError(
                f"TargetEncoder: no such kind: target_type={self.target_type!r}; use 'auto', "
                "'binary', 'multiclass' or 'continuous'"
            )
        self.target_type_ = target_kind(y) if self.target_type == "auto" else self.target_type
        if self.target_type_ not in kinds:
            raise InvalidArgumentError(
                f"Unknown label type: Target type was inferred to be {self.target_type_!r}. Only "
                f"{kinds} are supported."
            )
        self.classes_ = None
        if self.target_type_ == "continuous":
            return [asarray(y).astype("float64")]
        labels = Values("TargetEncoder", y)
        self.classes_ = labels.levels()
        numbers = labels.numbers(self.classes_)
        if self.target_type_ == "binary":
            return [numbers.astype("float64")]
        return [(numbers == place).astype("float64") for place in range(len(self.classes_))]

    def _encoded(self, totals: list[Numbers], center: float) -> Numbers:
        """Encodings by sums of distances from a center; the last, of unknown values, the mean."""
        counts, sums, squares = totals
        rows = counts.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = sums.sum(axis=0) / rows
            if self.smooth == "auto":
                variance = squares.sum(axis=0) / rows - mean**2
                spread = np.maximum(squares - sums * sums / counts, 0.0)
                share = variance * counts / (variance * counts + spread / counts)
                made = share * sums / counts + (1 - share) * mean
            else:
                made = (sums + self.smooth * mean) / (counts + self.smooth)
        made = np.where(np.isfinite(made), made, mean)
        made[-1] = mean
        return made + center

    def _folds(self, y: Any, rows: int, groups: Any) -> tuple[Array, int]:
        """The fold of each row, int32, and how many there are."""
        cv = self.cv
        if isinstance(cv, int) and rows >= _MANY_ROWS and self.shuffle is not False:
            seed = None if self.random_state == "deprecated" else self.random_state
            return default_rng(seed).integers(0, cv, rows, dtype="int32"), cv
        if isinstance(cv, int):
            options = {"shuffle": True if self.shuffle == "deprecated" else self.shuffle}
            if self.random_state != "deprecated":
                options["random_state"] = self.random_state
            stratified = self.target_type_ != "continuous"
            split = StratifiedKFold(cv, **options) if stratified else KFold(cv, **options)
            return frozen(split.folds(np.zeros(rows, np.int8), y).astype(np.int32)), cv
        cv = check_cv(cv, y, classifier=False)
        fold, nothing = np.full(rows, -1, np.int32), np.zeros(rows, np.int8)
        count = tested = 0
        for count, (train, test) in enumerate(split_places(cv, nothing, y, groups), 1):
            fold[test] = count - 1
            tested += len(test)
            if len(train) + len(test) != rows:
                raise UnsupportedError(
                    "TargetEncoder: training rows must be all that are not tested: "
                    f"train={len(train)}, test={len(test)}, rows={rows}"
                )
        if tested != rows or (fold < 0).any():
            raise InvalidArgumentError(
                "Validation indices from `cv` must cover each sample index exactly once with no "
                "overlap. Pass a splitter with non-overlapping validation folds as `cv`"
            )
        return frozen(fold), count

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit to all rows, and encode the rows of each fold by those of the other folds.

        Parameters
        ----------
        X : array_like
            ``[samples, features]``, of any dtypes.
        y : array_like
            The target.
        **params
            `groups`, for `cv`.
        """
        made = self._fit_all(X, y, params.get("groups"), apart=True)
        return framed(self, X, made)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        several = np.size(self.target_mean_)
        sizes = [len(levels) for levels in self.categories_ for _ in range(several)]
        if [len(table) for table in self.encodings_] != sizes:
            raise ValueError("TargetEncoder: encodings are of another number than the levels")

    def transform(self, X: Any) -> Any:
        """Encode by all rows of `fit`; values that it did not see get the mean."""
        self._check_fitted()
        places = self._numbers(X, refuse=False)
        means = np.atleast_1d(self.target_mean_)
        columns = []
        for number, table in enumerate(self.encodings_):
            at, mean = places[number // len(means)], means[number % len(means)]
            known = np.where(at < 0, len(table), at)
            columns.append(asarray(np.append(table, mean))[known])
        return framed(self, X, columns)

    def _names_out(self, names: list[str]) -> list[str]:
        if self.target_type_ != "multiclass":
            return names
        assert self.classes_ is not None
        return [f"{name}_{label}" for name in names for label in self.classes_]
