# SPDX-License-Identifier: Apache-2.0
"""Rows for training and testing, and scores over folds."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace.errors import InvalidArgumentError
from headrace.frame.columns import is_frame
from headrace.lazy.handle import is_array
from headrace.learn.preparation.levels import Values
from headrace.random.generator import default_rng
from headrace.series.column import is_series

if TYPE_CHECKING:
    from collections.abc import Iterator

    Places = np.ndarray[Any, Any]


def rows_at(values: Any, places: Places) -> Any:
    """Rows by place, in the kind of `values`."""
    if is_frame(values) or is_series(values):
        return values.take(places)
    if is_array(values) or isinstance(values, np.ndarray):
        return values[places]
    if hasattr(values, "iloc"):
        return values.iloc[places]
    if hasattr(values, "take") and hasattr(values, "schema"):  # Arrow
        return values.take(places)
    if hasattr(values, "shape"):
        return values[places]
    return (
        type(values)([values[place] for place in places])
        if isinstance(values, list | tuple)
        else np.asarray(values)[places]
    )


def count_rows(*arrays: Any) -> int:
    """The number of rows of all; raises where they differ."""
    sizes = [each.shape[0] if hasattr(each, "shape") else len(each) for each in arrays]
    if len(set(sizes)) > 1:
        raise InvalidArgumentError(
            f"Found input variables with inconsistent numbers of samples: {sizes}"
        )
    return int(sizes[0])


def class_numbers(y: Any, *, seen: bool = False) -> tuple[Places, Places]:
    """The class of each label, in order of value or (`seen`) of appearance, and their counts."""
    labels = Values("stratify", y if hasattr(y, "dtype") else np.asarray(y))
    found = labels.numbers(labels.levels()).to_numpy().astype(np.int64)
    if seen:
        first = np.empty(found.max(initial=-1) + 1, np.int64)
        first[found[::-1]] = np.arange(len(found))[::-1]  # the first row of a class is written last
        order = np.empty(len(first), np.int64)
        order[np.argsort(first)] = np.arange(len(first))
        found = order[found]
    return found, np.bincount(found)


def _size(value: Any, rows: int, name: str) -> int | None:
    if value is None:
        return None
    whole = isinstance(value, numbers.Integral)
    if not (0 < value < rows if whole else 0 < value < 1):
        raise InvalidArgumentError(
            f"train_test_split: {name} must be a share between 0 and 1, or a number of rows below "
            f"{rows}: {name}={value}"
        )
    if whole:
        return int(value)
    return math.ceil(value * rows) if name == "test_size" else math.floor(value * rows)


def _sizes(rows: int, test_size: Any, train_size: Any) -> tuple[int, int]:
    test, train = _size(test_size, rows, "test_size"), _size(train_size, rows, "train_size")
    if test is None:
        test = math.ceil(0.25 * rows) if train is None else rows - train
    train = rows - test if train is None else train
    if train + test > rows:
        raise InvalidArgumentError(
            f"train_test_split: more rows than there are: train={train}, test={test}, rows={rows}"
        )
    if train < 1:
        raise InvalidArgumentError(
            f"train_test_split: With n_samples={rows}, test_size={test_size} and "
            f"train_size={train_size}, the resulting train set will be empty. Adjust any of the "
            "aforementioned parameters."
        )
    return train, test


def _shares(counts: Places, total: int) -> Places:
    """`total` divided in proportion to counts, the rest to the largest remainders."""
    exact = counts / counts.sum() * total
    made = np.floor(exact).astype(np.int64)
    order = np.argsort(made - exact, kind="stable")
    made[order[: total - made.sum()]] += 1
    return made


def train_test_split(
    *arrays: Any,
    test_size: Any = None,
    train_size: Any = None,
    random_state: Any = None,
    shuffle: bool = True,
    stratify: Any = None,
) -> list[Any]:
    """Split the rows of arrays, frames, series and lists, each into two of its kind.

    Parameters
    ----------
    *arrays
        Of equal numbers of rows.
    test_size, train_size : float or int, optional
        A share or a number of rows; a quarter is for testing by default.
    random_state : int, generator or None
        An int gives the same rows for any number of threads (other rows than scikit-learn's).
    shuffle : bool, default True
        Without it the last rows are for testing.
    stratify : array_like, optional
        Labels whose shares are kept in both parts.

    >>> train, test = hr.learn.train_test_split([1, 2, 3, 4], shuffle=False)
    >>> train, test
    ([1, 2, 3], [4])
    """
    if not arrays:
        raise InvalidArgumentError("train_test_split: at least one array is required as input")
    rows = count_rows(*arrays)
    train, test = _sizes(rows, test_size, train_size)
    if not shuffle:
        if stratify is not None:
            raise InvalidArgumentError(
                "Stratified train/test split is not implemented for shuffle=False"
            )
        first, second = np.arange(train), np.arange(train, train + test)
    else:
        order = np.asarray(default_rng(random_state).permutation(rows))
        if stratify is None:
            second, first = order[:test], order[test : test + train]
        else:
            first, second = _stratified(order, stratify, train, test)
    return [rows_at(each, places) for each in arrays for places in (first, second)]


def _stratified(order: Places, labels: Any, train: int, test: int) -> tuple[Places, Places]:
    classes, counts = class_numbers(labels)
    if len(classes) != len(order):
        raise InvalidArgumentError(
            f"Found input variables with inconsistent numbers of samples: "
            f"{[len(order), len(classes)]}"
        )
    if counts.min() < 2:
        raise InvalidArgumentError(
            "The least populated classes in y have only 1 member, which is too few. The minimum "
            "number of groups for any class cannot be less than 2."
        )
    for name, size in (("train_size", train), ("test_size", test)):
        if size < len(counts):
            raise InvalidArgumentError(
                f"The {name} = {size} should be greater or equal to the number of classes = "
                f"{len(counts)}"
            )
    of_train = _shares(counts, train)
    of_test = _shares(counts - of_train, test)
    shuffled = classes[order]
    # The place of each row among those of its class, in the random order.
    by_class = np.argsort(shuffled, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[by_class] = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    is_train = rank < of_train[shuffled]
    is_test = ~is_train & (rank < (of_train + of_test)[shuffled])
    return order[is_train], order[is_test]


class _Folds:
    """The base of ways to split rows: ``split(X, y, groups)`` yields places for train and test."""

    n_splits: int

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({inside})"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of splits."""
        return self.n_splits

    def _check(self) -> None:
        if not isinstance(self.n_splits, numbers.Integral) or self.n_splits < 2:
            raise InvalidArgumentError(
                f"{type(self).__name__}: k-fold cross-validation requires at least one train/test "
                f"split by setting n_splits=2 or more, got n_splits={self.n_splits}."
            )
        if getattr(self, "random_state", None) is not None and not getattr(self, "shuffle", True):
            raise InvalidArgumentError(
                f"{type(self).__name__}: random_state has no effect without shuffle=True: "
                f"random_state={self.random_state}"
            )

    def _count(self, X: Any) -> int:
        rows = count_rows(X)
        if self.n_splits > rows:
            raise InvalidArgumentError(
                f"Cannot have number of splits n_splits={self.n_splits} greater than the number of "
                f"samples: n_samples={rows}."
            )
        return rows

    def folds(self, X: Any, y: Any = None, groups: Any = None) -> Places:
        """The fold of each row."""
        raise NotImplementedError  # each way has its own

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Places, Places]]:
        """Places of the rows for training and for testing, as NumPy arrays, fold by fold."""
        folds = self.folds(X, y, groups)
        for fold in range(self.n_splits):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


class KFold(_Folds):
    """Folds of consecutive rows, or of random ones.

    Parameters
    ----------
    n_splits : int, default 5
    shuffle : bool, default False
    random_state : int, generator or None

    >>> [test.tolist() for _, test in hr.learn.KFold(2).split([1, 2, 3])]
    [[0, 1], [2]]
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def folds(self, X: Any, y: Any = None, groups: Any = None) -> Places:
        """The fold of each row."""
        self._check()
        rows = self._count(X)
        each, more = divmod(rows, self.n_splits)
        made = np.repeat(np.arange(self.n_splits), each + (np.arange(self.n_splits) < more))
        if self.shuffle:
            order = np.asarray(default_rng(self.random_state).permutation(rows))
            made[order] = made.copy()
        return made


class StratifiedKFold(_Folds):
    """Folds that keep the shares of the classes `y`.

    Parameters
    ----------
    n_splits : int, default 5
    shuffle : bool, default False
    random_state : int, generator or None

    >>> [test.tolist() for _, test in hr.learn.StratifiedKFold(2).split([0] * 4, [0, 0, 1, 1])]
    [[0, 2], [1, 3]]
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def folds(self, X: Any, y: Any = None, groups: Any = None) -> Places:
        """The fold of each row."""
        self._check()
        self._count(X)
        kind = target_kind(y)
        if kind not in ("binary", "multiclass"):
            raise InvalidArgumentError(
                f"Supported target types are: ('binary', 'multiclass'). Got {kind!r} instead."
            )
        classes, counts = class_numbers(y, seen=True)
        count_rows(X, classes)
        if (self.n_splits > counts).all():
            raise InvalidArgumentError(
                f"n_splits={self.n_splits} cannot be greater than the number of members in each "
                "class."
            )
        if self.n_splits > counts.min():
            warnings.warn(
                f"The least populated class in y has only {counts.min()} members, which is less "
                f"than n_splits={self.n_splits}.",
                stacklevel=2,
            )
        # Rows sorted by class go round the folds, which decides how many each class gets in each.
        dealt = np.arange(len(classes)) % self.n_splits
        sorted_classes = np.repeat(np.arange(len(counts)), counts)
        cells = sorted_classes * self.n_splits + dealt
        size = len(counts) * self.n_splits
        table = np.bincount(cells, minlength=size).reshape(-1, self.n_splits)
        made = np.empty(len(classes), np.int64)
        rng = default_rng(self.random_state) if self.shuffle else None
        # NumPy sorts words of 16 bits by their bytes.
        narrow = classes.astype(np.min_scalar_type(len(counts)))
        by_class = np.argsort(narrow, kind="stable")
        for each, rows in enumerate(np.split(by_class, np.cumsum(counts)[:-1])):
            blocks = np.repeat(np.arange(self.n_splits), table[each])
            if rng is not None:
                blocks = blocks[np.asarray(rng.permutation(len(blocks)))]
            made[rows] = blocks
        return made


class GroupKFold(_Folds):
    """Folds that keep the rows of a group together.

    Parameters
    ----------
    n_splits : int, default 5
    shuffle : bool, default False
        Deal the groups at random, rather than the largest to the smallest fold.
    random_state : int, generator or None

    >>> folds = hr.learn.GroupKFold(2).split([0] * 4, groups=["a", "b", "a", "a"])
    >>> [test.tolist() for _, test in folds]
    [[0, 2, 3], [1]]
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def folds(self, X: Any, y: Any = None, groups: Any = None) -> Places:
        """The fold of each row."""
        self._check()
        if groups is None:
            raise InvalidArgumentError("The 'groups' parameter should not be None.")
        numbers_of, counts = class_numbers(groups)
        count_rows(X, numbers_of)
        if self.n_splits > len(counts):
            raise InvalidArgumentError(
                f"Cannot have number of splits n_splits={self.n_splits} greater than the number of "
                f"groups: {len(counts)}."
            )
        fold_of = np.empty(len(counts), np.int64)
        if self.shuffle:
            order = np.asarray(default_rng(self.random_state).permutation(len(counts)))
            for fold, part in enumerate(np.array_split(order, self.n_splits)):
                fold_of[part] = fold
        else:
            filled = np.zeros(self.n_splits)
            for group in np.argsort(counts, kind="stable")[::-1]:
                fold_of[group] = filled.argmin()
                filled[fold_of[group]] += counts[group]
        return fold_of[numbers_of]


class TimeSeriesSplit(_Folds):
    """Test rows that follow their training rows.

    Parameters
    ----------
    n_splits : int, default 5
    max_train_size : int, optional
        The most rows for training.
    test_size : int, optional
        Rows for testing in each split; rows // (n_splits + 1) by default.
    gap : int, default 0
        Rows between training and testing.

    >>> [(a.tolist(), b.tolist()) for a, b in hr.learn.TimeSeriesSplit(2).split([0] * 3)]
    [([0], [1]), ([0, 1], [2])]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        max_train_size: int | None = None,
        test_size: int | None = None,
        gap: int = 0,
    ) -> None:
        self.n_splits = n_splits
        self.max_train_size = max_train_size
        self.test_size = test_size
        self.gap = gap

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Places, Places]]:
        """Places of the rows for training and for testing, as NumPy arrays."""
        self._check()
        rows, splits = count_rows(X), self.n_splits
        if splits + 1 > rows:
            raise InvalidArgumentError(
                f"Cannot have number of folds={splits + 1} greater than the number of "
                f"samples={rows}."
            )
        size = rows // (splits + 1) if self.test_size is None else self.test_size
        if rows - self.gap - size * splits <= 0:
            raise InvalidArgumentError(
                f"Too many splits={splits} for number of samples={rows} with test_size={size} and "
                f"gap={self.gap}."
            )
        for start in range(rows - splits * size, rows, size):
            stop = start - self.gap
            first = max(stop - self.max_train_size, 0) if self.max_train_size else 0
            yield np.arange(first, stop), np.arange(start, start + size)


def target_kind(y: Any) -> str:
    """``"binary"``, ``"multiclass"``, ``"continuous"`` or ``"multilabel-indicator"``."""
    values = y if hasattr(y, "dtype") else np.asarray(y)
    if values.ndim == 2 and values.shape[1] > 1:
        return "multilabel-indicator"
    labels = Values("target", values.reshape(-1) if isinstance(values, np.ndarray) else values)
    if labels.series.dtype.kind == "f":
        floats = labels.series.to_numpy()
        if (floats != np.floor(floats)).any():
            return "continuous"
    return "binary" if len(labels.levels()) <= 2 else "multiclass"


def check_cv(cv: Any, y: Any, classifier: bool) -> Any:
    """A way to split: an int is stratified for classes, a list of splits is itself."""
    if cv is None or isinstance(cv, numbers.Integral):
        splits = 5 if cv is None else int(cv)
        stratified = classifier and target_kind(y) in ("binary", "multiclass")
        return StratifiedKFold(splits) if stratified else KFold(splits)
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise InvalidArgumentError(
            f"cv: no way to split rows: cv={cv!r}; use an integer, a splitter or a list of splits"
        )
    return cv if hasattr(cv, "split") else _Listed(list(cv))


def split_places(
    splitter: Any, X: Any, y: Any = None, groups: Any = None
) -> list[tuple[Places, Places]]:
    """The rows of all folds as places from 0; a splitter may give masks, or count from the end."""
    everywhere = np.arange(count_rows(X))

    def places(given: Any) -> Places:
        given = np.asarray(given)
        try:
            return everywhere[given if given.size else given.astype(np.int64)]
        except IndexError as error:
            raise InvalidArgumentError(
                f"cv: a fold is not a list of rows or a mask of all rows: {error}; "
                f"rows={len(everywhere)}; see hr.learn.KFold"
            ) from error

    return [(places(train), places(test)) for train, test in splitter.split(X, y, groups)]


class _Listed(_Folds):
    """Splits that the user lists."""

    def __init__(self, splits: Iterable[tuple[Any, Any]]) -> None:
        self.splits = list(splits)
        self.n_splits = len(self.splits)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Places, Places]]:
        """The splits."""
        return ((np.asarray(train), np.asarray(test)) for train, test in self.splits)
