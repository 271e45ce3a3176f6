# SPDX-License-Identifier: Apache-2.0
"""Encoders: numbers, or columns of ones and zeros, for the levels of each column."""

from __future__ import annotations

import numbers
import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.learn.base import (
    Transformer,
    answer,
    check_count,
    frozen,
    is_number,
    is_on_device,
    is_ours,
    names_in,
    refuse,
)
from headrace.learn.columns import stacked
from headrace.learn.preparation.levels import (
    Values,
    check_values,
    given_levels,
    has_nan,
    refuse_unknown,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_INFREQUENT = "infrequent_sklearn"


class LevelEncoder(Transformer):
    """The base of encoders of columns: `categories_`, rare levels taken together."""

    _tags: ClassVar[Mapping[str, Any]] = {
        "transformer_tags": {"preserves_dtype": []},
        "input_tags": {"allow_nan": True, "string": True, "categorical": True},
    }
    _fitted_as = "categories_"
    categories: Any
    categories_: list[np.ndarray[Any, Any]]
    min_frequency: float | None = None
    max_categories: int | None = None

    def _check_levels(self) -> None:
        if self.max_categories is not None:
            check_count(self, "max_categories")
        if self.min_frequency is not None and not is_number(self.min_frequency):
            refuse(self, "min_frequency", "a number or None")
        if not isinstance(self.categories, str | list | tuple | np.ndarray):
            refuse(self, "categories", "'auto' or a list with the levels of each column")

    def _fit_levels(self, X: Any, *, refuse: bool, apart: bool = False) -> list[Values]:
        """Find levels and rare ones; `apart` keeps a missing value out of the rare ones."""
        self._check_levels()
        columns = check_values(self, X, fit=True)
        if isinstance(self.categories, str):
            self.categories_ = [column.levels() for column in columns]
        else:
            if len(self.categories) != len(columns):
                raise InvalidArgumentError(
                    "Shape mismatch: if categories is an array, it has to be of shape "
                    f"(n_features,): categories={len(self.categories)}, features={len(columns)}"
                )
            self.categories_ = [
                given_levels(place, column, self.categories[place], refuse=refuse)
                for place, column in enumerate(columns)
            ]
        self._groups: list[np.ndarray[Any, Any] | None] = [None] * len(columns)
        if self._groups_rare():
            self._groups = [
                self._group(levels, column, apart)
                for levels, column in zip(self.categories_, columns, strict=True)
            ]
        return columns

    def _check_loaded(self) -> None:
        for levels, group in zip(self.categories_, self._groups, strict=True):
            if group is not None and not (0 < len(group) <= len(levels) and (group >= 0).all()):
                raise ValueError("rare levels are of another number than the levels")

    def _groups_rare(self) -> bool:
        return self.max_categories is not None or self.min_frequency is not None

    def _group(
        self, levels: np.ndarray[Any, Any], column: Values, apart: bool
    ) -> np.ndarray[Any, Any] | None:
        """The new number of each level if some are rare: these come last, as one."""
        places = column.numbers(levels).to_numpy()
        counts = np.bincount(places[places >= 0], minlength=len(levels))
        if apart and has_nan(levels):
            counts = counts[:-1]
        rare = np.zeros(len(counts), bool)
        if self.min_frequency is not None:
            whole = isinstance(self.min_frequency, numbers.Integral)
            rare = counts < self.min_frequency * (1 if whole else len(places))
        kept = len(counts) - rare.sum() + 1
        if self.max_categories is not None and self.max_categories < kept:
            order = np.argsort(counts, kind="stable")
            rare[order[: len(order) - (self.max_categories - 1)]] = True
        if not rare.any():
            return None
        group = np.full(len(counts), (~rare).sum())
        group[~rare] = np.arange((~rare).sum())
        return group

    @property
    def infrequent_categories_(self) -> list[np.ndarray[Any, Any] | None]:
        """The levels of each column that are taken together, or None."""
        self._check_fitted()
        if not self._groups_rare():
            raise AttributeError("infrequent_categories_: no limit on categories was given")
        return [
            None if group is None else levels[: len(group)][group == group.max()]
            for group, levels in zip(self._groups, self.categories_, strict=True)
        ]

    def _shown_levels(self, place: int) -> np.ndarray[Any, Any]:
        """The levels of a column as they are encoded."""
        levels, group = self.categories_[place], self._groups[place]
        if group is None:
            return levels
        kept = levels[: len(group)][group < group.max()]
        return np.concatenate([kept, np.array([_INFREQUENT], dtype=object)])

    def _numbers(self, X: Any, *, refuse: bool) -> list[Array]:
        """The number of the level of each row and column, -1 for unknown values."""
        columns = check_values(self, X)
        made = [
            column.numbers(levels) for column, levels in zip(columns, self.categories_, strict=True)
        ]
        if refuse:
            for place, (column, each) in enumerate(zip(columns, made, strict=True)):
                refuse_unknown(place, column, each, "transform")
        return made


def _regrouped(places: Array, group: np.ndarray[Any, Any] | None, unknown: int = -1) -> Array:
    """Places by the new numbers of a group; levels beyond it (a missing one) stay."""
    if group is None:
        return places if unknown == -1 else np.where(places < 0, unknown, places)  # type: ignore[return-value]
    table = np.append(group, [len(group), unknown])  # the last is for -1
    at = np.where(places < 0, len(group) + 1, places)
    return asarray(table)[at]


def _taken(levels: np.ndarray[Any, Any], places: np.ndarray[Any, Any], none: Any) -> Any:
    """Levels by place, `none` where it is negative."""
    if (places >= 0).all():
        return levels[places]
    made = levels.astype(object)[np.maximum(places, 0)]
    made[places < 0] = none
    return made


def _columns_answer(X: Any, estimator: Any, columns: list[np.ndarray[Any, Any]]) -> Any:
    """Columns of different dtypes: a frame where `X` is ours, else one NumPy array."""
    if is_ours(X):
        from headrace.frame.dataframe import DataFrame

        return DataFrame(dict(zip(names_in(estimator), columns, strict=True)))
    dtype = np.result_type(*columns)
    return np.stack([column.astype(dtype) for column in columns], axis=1)


class OrdinalEncoder(LevelEncoder):
    """Number the levels of each column, in their order.

    Columns are strings, numbers, bools or categories. The numbers of data of Headrace are lazy
    unless unknown values must raise.

    Parameters
    ----------
    categories : "auto" or list of array_like, default "auto"
        The levels of each column; the distinct values in order by default.
    dtype : dtype, default float64
        Of the result.
    handle_unknown : {"error", "use_encoded_value"}, default "error"
    unknown_value : number, optional
        The number of values that `fit` did not see.
    encoded_missing_value : number, default NaN
        The number of a missing value that `fit` saw.
    min_frequency : int or float, optional
        Levels with fewer rows, or a smaller share of rows, are taken together.
    max_categories : int, optional
        The most numbers for a column; the rarest levels are taken together.

    Attributes
    ----------
    categories_ : list of NumPy arrays
        The levels of each column, a missing one last.

    >>> hr.learn.OrdinalEncoder().fit_transform([["b"], ["a"], ["b"]]).tolist()
    [[1.0], [0.0], [1.0]]
    """

    def __init__(
        self,
        *,
        categories: Any = "auto",
        dtype: Any = np.float64,
        handle_unknown: str = "error",
        unknown_value: float | None = None,
        encoded_missing_value: float = np.nan,
        min_frequency: float | None = None,
        max_categories: int | None = None,
    ) -> None:
        self.categories = categories
        self.dtype = dtype
        self.handle_unknown = handle_unknown
        self.unknown_value = unknown_value
        self.encoded_missing_value = encoded_missing_value
        self.min_frequency = min_frequency
        self.max_categories = max_categories

    def _check_parameters(self) -> None:
        floats = np.dtype(self.dtype).kind == "f"
        if self.handle_unknown not in ("error", "use_encoded_value"):
            raise InvalidArgumentError(
                f"OrdinalEncoder: no such way: handle_unknown={self.handle_unknown!r}; use 'error' "
                "or 'use_encoded_value'"
            )
        if self.handle_unknown == "error":
            if self.unknown_value is not None:
                raise TypeMismatchError(
                    "unknown_value should only be set when handle_unknown is 'use_encoded_value', "
                    f"got {self.unknown_value}."
                )
            return
        if self.unknown_value is None or not (
            isinstance(self.unknown_value, numbers.Integral) or np.isnan(self.unknown_value)
        ):
            raise TypeMismatchError(
                "unknown_value should be an integer or np.nan when handle_unknown is "
                f"'use_encoded_value', got {self.unknown_value}."
            )
        if np.isnan(self.unknown_value) and not floats:
            raise InvalidArgumentError(
                "When unknown_value is np.nan, the dtype parameter should be a float dtype. Got "
                f"{self.dtype}."
            )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the levels of each column of `X`."""
        self._check_parameters()
        self._fit_levels(X, refuse=self.handle_unknown == "error", apart=True)
        self._check_codes()
        return self

    def _missing_at(self, place: int) -> int | None:
        levels = self.categories_[place]
        return len(levels) - 1 if has_nan(levels) else None

    def _check_codes(self) -> None:
        with_missing = [p for p in range(self.n_features_in_) if self._missing_at(p) is not None]
        floats = np.dtype(self.dtype).kind == "f"
        if with_missing and not floats and np.isnan(self.encoded_missing_value):
            raise InvalidArgumentError(
                "There are missing values in features "
                f"{[str(names_in(self)[p]) for p in with_missing]}. For OrdinalEncoder to encode "
                f"missing values with dtype: {self.dtype}, set encoded_missing_value to a "
                "non-nan value, or set dtype to a float"
            )
        for place, levels in enumerate(self.categories_):
            size = len(levels) - (place in with_missing)
            for name in ("unknown_value", "encoded_missing_value"):
                value = getattr(self, name)
                used = name == "unknown_value" or place in with_missing
                if used and value is not None and 0 <= value < size:
                    raise InvalidArgumentError(
                        f"The used value for {name} {value} is one of the values already used for "
                        f"encoding the seen categories: column={place}"
                    )

    def transform(self, X: Any) -> Any:
        """Number the values of `X`, ``[samples, features]``."""
        self._check_fitted()
        places = self._numbers(X, refuse=self.handle_unknown == "error")
        columns = []
        for place, each in enumerate(places):
            missing, group = self._missing_at(place), self._groups[place]
            made: Any = _regrouped(each, group).astype(self.dtype)
            if missing is not None:
                made = np.where(each == missing, self.encoded_missing_value, made)
            if self.unknown_value is not None:
                made = np.where(each < 0, self.unknown_value, made)
            columns.append(made.astype(self.dtype))
        return self._answer(X, stacked(columns))

    def inverse_transform(self, X: Any) -> Any:
        """The levels of numbers: a frame for data of Headrace, else a NumPy array."""
        self._check_fitted()
        codes = np.asarray(X)
        if codes.ndim != 2 or codes.shape[1] != self.n_features_in_:
            raise InvalidArgumentError(
                "Shape of the passed X data is not correct. Expected "
                f"{self.n_features_in_} columns, got {codes.shape[1:]}."
            )
        made = []
        for place in range(self.n_features_in_):
            column, missing = codes[:, place].astype(float), self._missing_at(place)
            levels = self._shown_levels(place)
            if missing is not None:
                known = levels if self._groups[place] is None else np.append(levels, [np.nan])
                levels, last = known, len(known) - 1
                same = column == self.encoded_missing_value
                if np.isnan(self.encoded_missing_value):
                    same = np.isnan(column)
                column = np.where(same, last, column)
            if self.unknown_value is not None:
                same = column == self.unknown_value
                if np.isnan(self.unknown_value):
                    same |= np.isnan(column)
                column = np.where(same, -1, column)
            made.append(_taken(levels, column.astype(np.int64), None))
        return _columns_answer(X, self, made)


class OneHotEncoder(LevelEncoder):
    """A column of ones and zeros for each level of each column.

    Parameters
    ----------
    categories : "auto" or list of array_like, default "auto"
        The levels of each column; the distinct values in order by default.
    drop : {"first", "if_binary"} or array_like, optional
        The level of each column that gets no column.
    sparse_output : bool, default True
        Return a `hr.tensor.csr_matrix` (its `to_scipy` shares the memory) rather than a dense
        array; whatever `X` is.
    dtype : dtype, default float64
        Of the result.
    handle_unknown : {"error", "ignore", "infrequent_if_exist", "warn"}, default "error"
        What values that `fit` did not see become: an error, zeros, or the rare level.
    min_frequency : int or float, optional
        Levels with fewer rows, or a smaller share of rows, are taken together.
    max_categories : int, optional
        The most columns for a column; the rarest levels are taken together.
    feature_name_combiner : "concat" or function, default "concat"
        Makes the name of a column from that of its origin and its level.

    Attributes
    ----------
    categories_ : list of NumPy arrays
        The levels of each column, a missing one last.
    drop_idx_ : NumPy array of objects, or None
        The place of the level of each column that was dropped.

    >>> encoder = hr.learn.OneHotEncoder(sparse_output=False)
    >>> encoder.fit_transform([["b"], ["a"]]).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    def __init__(
        self,
        *,
        categories: Any = "auto",
        drop: Any = None,
        sparse_output: bool = True,
        dtype: Any = np.float64,
        handle_unknown: str = "error",
        min_frequency: float | None = None,
        max_categories: int | None = None,
        feature_name_combiner: Any = "concat",
    ) -> None:
        self.categories = categories
        self.drop = drop
        self.sparse_output = sparse_output
        self.dtype = dtype
        self.handle_unknown = handle_unknown
        self.min_frequency = min_frequency
        self.max_categories = max_categories
        self.feature_name_combiner = feature_name_combiner

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the levels of each column of `X`."""
        if self.handle_unknown not in ("error", "ignore", "infrequent_if_exist", "warn"):
            raise InvalidArgumentError(
                f"OneHotEncoder: no such way: handle_unknown={self.handle_unknown!r}; use 'error', "
                "'ignore', 'infrequent_if_exist' or 'warn'"
            )
        self._fit_levels(X, refuse=self.handle_unknown == "error")
        self._dropped = self._find_dropped()
        sizes = [len(self._shown_levels(place)) for place in range(self.n_features_in_)]
        self._sizes = [
            size - (drop is not None) for size, drop in zip(sizes, self._dropped, strict=True)
        ]
        return self

    def _check_loaded(self) -> None:
        super()._check_loaded()
        for place, (drop, size) in enumerate(zip(self._dropped, self._sizes, strict=True)):
            shown = len(self._shown_levels(place))
            if size != shown - (drop is not None) or (drop or 0) not in range(max(shown, 1)):
                raise ValueError("OneHotEncoder: columns are of another number than the levels")

    @property
    def drop_idx_(self) -> np.ndarray[Any, Any] | None:
        """See the class."""
        if self.drop is None:
            return None
        return np.array(
            [
                drop if drop is None or group is None else int(np.argmax(group == drop))
                for drop, group in zip(self._dropped, self._groups, strict=True)
            ],
            dtype=object,
        )

    def _find_dropped(self) -> list[int | None]:
        """The place among the shown levels of each column of the one that is dropped."""
        places = range(self.n_features_in_)
        if self.drop is None:
            return [None for _ in places]
        if isinstance(self.drop, str):
            if self.drop not in ("first", "if_binary"):
                raise InvalidArgumentError(
                    f"OneHotEncoder: no such way: drop={self.drop!r}; use 'first', 'if_binary' or "
                    "a list with a level of each column"
                )
            first = self.drop == "first"
            return [0 if first or len(self._shown_levels(p)) == 2 else None for p in places]
        if len(self.drop) != self.n_features_in_:
            raise InvalidArgumentError(
                "`drop` should have length equal to the number of features "
                f"({self.n_features_in_}), got {len(self.drop)}"
            )
        found: list[int | None] = []
        for place, value in enumerate(self.drop):
            levels, group = self.categories_[place].tolist(), self._groups[place]
            same = [p for p, level in enumerate(levels) if level == value]
            if value != value and has_nan(self.categories_[place]):  # noqa: PLR0124
                same = [len(levels) - 1]
            if not same:
                raise InvalidArgumentError(
                    "The following categories were supposed to be dropped, but were not found in "
                    f"the training data.\nCategory: {value}, Feature: {place}"
                )
            if group is not None and group[same[0]] == group.max():
                raise InvalidArgumentError(
                    f"Unable to drop category {value!r} from feature {place} because it is "
                    "infrequent"
                )
            found.append(same[0] if group is None else int(group[same[0]]))
        return found

    def transform(self, X: Any) -> Any:
        """Ones where a row has the level: ``[samples, levels]``, sparse or dense."""
        self._check_fitted()
        output = self._output()
        if self.sparse_output and output != "default":
            raise InvalidArgumentError(
                f"{output.capitalize()} output does not support sparse data. Set "
                f"sparse_output=False to output {output} dataframes or disable "
                f"{output.capitalize()} output via `ohe.set_output(transform='default')`."
            )
        places = self._numbers(X, refuse=self.handle_unknown == "error")
        unknown = [
            place
            for place, each in enumerate(places)
            if self.handle_unknown != "error" and len(each) and int(each.min()) < 0
        ]
        if unknown and (self.handle_unknown == "warn" or self.drop is not None):
            rare = self.handle_unknown != "ignore"
            warnings.warn(
                f"Found unknown categories in columns {unknown} during transform. These unknown "
                "categories will be encoded as "
                + (
                    "the infrequent category."
                    if rare and self.handle_unknown == "warn"
                    else "all zeros"
                ),
                stacklevel=2,
            )
        columns, dropping = [], self.drop is not None
        for place, each in enumerate(places):
            group = self._groups[place]
            to = -1 if group is None or self.handle_unknown == "ignore" else int(group.max())
            made = _regrouped(each, group, to)
            drop = self._dropped[place]
            if drop is not None:  # the level is gone, the later ones move down
                made = np.where(made == drop, -1, made - (made > drop).astype("int32"))  # type: ignore[assignment]
            columns.append(made)
        if self.sparse_output:
            return self._sparse(columns, holes=bool(unknown) or dropping)
        number = np.dtype("uint8" if np.dtype(self.dtype) == bool else self.dtype).type
        one, zero = number(1), number(0)
        ones = [
            np.where(column == level, one, zero)
            for column, size in zip(columns, self._sizes, strict=True)
            for level in range(size)
        ]
        if not ones:
            return self._answer(X, frozen(np.zeros((len(columns[0]), 0), self.dtype)))
        return self._answer(X, stacked(ones).astype(self.dtype))

    def _sparse(self, columns: list[Array], *, holes: bool) -> Any:
        """The places of ones as a matrix in compressed rows."""
        from headrace.tensor.sparse import DeviceParts, csr_matrix

        rows, width = len(columns[0]), len(columns)
        starts = np.concatenate([[0], np.cumsum(self._sizes)])
        word = "int32" if max(rows * width, starts[-1]) < 1 << 31 else "int64"
        shifted = [
            (column + int(start) if start else column).astype(word)
            for column, start in zip(columns, starts[:-1], strict=True)
        ]
        if not holes:
            indices = stacked(shifted).reshape(-1)
            indptr = Array(_core.row_starts(indices._node, width))
        else:
            there = np.stack([np.asarray(column >= 0) for column in columns], axis=1)
            indices = frozen(np.stack([np.asarray(each) for each in shifted], axis=1)[there])
            indptr = frozen(np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(word))
        dtype = np.dtype(self.dtype)  # what sparse matrices hold
        number = np.dtype(dtype if dtype in (np.float32, np.float64) else np.int64)
        if not holes and is_on_device(indices):
            ones = (indices * 0 + 1).astype(number)
            return csr_matrix(DeviceParts((ones, indices, indptr), (rows, int(starts[-1]))))
        ones = frozen(np.ones(len(indices), number))
        return csr_matrix(
            _core.sparse(rows, int(starts[-1]), indptr._node, indices._node, ones._node, "")
        )

    def inverse_transform(self, X: Any) -> Any:
        """The levels of ones: a frame for data of Headrace, else a NumPy array."""
        self._check_fitted()
        ones = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        if ones.ndim != 2 or ones.shape[1] != sum(self._sizes):
            raise InvalidArgumentError(
                "Shape of the passed X data is not correct. Expected "
                f"{sum(self._sizes)} columns, got {ones.shape[1:]}."
            )
        made, first = [], 0
        for place, size in enumerate(self._sizes):
            part, levels = ones[:, first : first + size], self._shown_levels(place)
            first += size
            drop = self._dropped[place]
            found = part.argmax(axis=1) if size else np.zeros(len(ones), np.int64)
            none = part.sum(axis=1) == 0
            if drop is not None:
                found = np.where(none, drop, found + (found >= drop))
            elif none.any() and self.handle_unknown == "error":
                raise InvalidArgumentError(
                    f"Samples {np.flatnonzero(none)} can not be inverted when drop=None and "
                    "handle_unknown='error' because they contain all zeros"
                )
            else:
                found = np.where(none, -1, found)
            made.append(_taken(levels, found, None))
        return _columns_answer(X, self, made)

    def _names_out(self, names: list[str]) -> list[str]:
        combine = self.feature_name_combiner
        if combine == "concat":
            combine = "{}_{}".format
        elif not isinstance(combine("feature", "category"), str):
            raise TypeMismatchError(
                "When `feature_name_combiner` is a callable, it should return a Python string."
            )
        made = []
        for place, name in enumerate(names):
            levels, drop = self._shown_levels(place), self._dropped[place]
            made += [combine(name, level) for p, level in enumerate(levels) if p != drop]
        return made


class _LabelTransformer(Transformer):
    """The base of encoders of one column of labels, `y`."""

    _tags: ClassVar[Mapping[str, Any]] = {
        "transformer_tags": {},
        "input_tags": {"two_d_array": False},
        "target_tags": {"one_d_labels": True},
    }
    _fitted_as = "classes_"
    classes_: np.ndarray[Any, Any]

    def _labels(self, y: Any) -> Values:
        name = type(self).__name__
        if not is_ours(y):
            y = np.asarray(y, dtype=None if hasattr(y, "dtype") else _object_if_text(y))
        if y.ndim == 2 and y.shape[1] == 1:
            warnings.warn("A column-vector y was passed when a 1d array was expected", stacklevel=4)
            y = y.reshape(-1) if not hasattr(y, "columns") else y[y.columns[0]]
        if y.ndim != 1:
            raise InvalidArgumentError(
                f"{name}: y should be a 1d array, got an array of shape {y.shape} instead."
            )
        return Values(name, y)

    def _places(self, y: Any) -> Array:
        labels = self._labels(y)
        places = labels.numbers(self.classes_)
        if len(places) and int(places.min()) < 0:
            raise InvalidArgumentError(
                f"y contains previously unseen labels: {labels.at(places < 0)}"
            )
        return places

    def fit_transform(self, y: Any) -> Any:  # type: ignore[override]
        """Fit, then transform the same labels."""
        return self.fit(y).transform(y)


def _object_if_text(values: Any) -> Any:
    return object if np.asarray(values).dtype.kind in "US" else None


class LabelEncoder(_LabelTransformer):
    """Number the classes of labels, 0 to classes - 1, in their order.

    Attributes
    ----------
    classes_ : NumPy array
        The labels in order.

    >>> encoder = hr.learn.LabelEncoder()
    >>> codes = encoder.fit_transform(hr.Series(["b", "a", "b"]))
    >>> codes.to_list(), encoder.inverse_transform(codes).to_list()
    ([1, 0, 1], ['b', 'a', 'b'])
    """

    classes_: np.ndarray[Any, Any]

    def __init__(self) -> None:
        pass

    def fit(self, y: Any) -> Self:
        """Find the classes of the labels `y`."""
        self.classes_ = self._labels(y).levels()
        return self

    def transform(self, y: Any) -> Any:
        """The numbers of the labels, int64; raises for labels that `fit` did not see."""
        self._check_fitted()
        codes = self._places(y).astype("int64")
        return codes.to_series() if hasattr(y, "to_list") and is_ours(y) else answer(y, codes)

    def inverse_transform(self, y: Any) -> Any:
        """The labels of numbers."""
        self._check_fitted()
        codes = np.asarray(y)
        if codes.size and not (codes.min() >= 0 and codes.max() < len(self.classes_)):
            wrong = sorted({*codes.tolist()} - {*range(len(self.classes_))})
            raise InvalidArgumentError(f"y contains previously unseen labels: {wrong}")
        made = self.classes_[codes.astype(np.int64)]
        if not is_ours(y):
            return made
        from headrace.series.column import series_over

        return series_over(made)


class LabelBinarizer(_LabelTransformer):
    """A column of `pos_label` and `neg_label` for each class of labels; one column for two.

    Parameters
    ----------
    neg_label, pos_label : int, default 0 and 1
    sparse_output : bool, default False
        Return a `hr.tensor.csr_matrix`.

    Attributes
    ----------
    classes_ : NumPy array
        The labels in order.
    y_type_ : {"binary", "multiclass"}

    >>> hr.learn.LabelBinarizer().fit_transform(["b", "a", "c"]).tolist()
    [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    """

    classes_: np.ndarray[Any, Any]

    def __init__(
        self, *, neg_label: int = 0, pos_label: int = 1, sparse_output: bool = False
    ) -> None:
        self.neg_label = neg_label
        self.pos_label = pos_label
        self.sparse_output = sparse_output

    def _check_loaded(self) -> None:
        for name in ("neg_label", "pos_label"):
            if not is_number(getattr(self, name), integer=True):
                refuse(self, name, "an integer")

    def fit(self, y: Any) -> Self:
        """Find the classes of the labels `y`."""
        self._check_loaded()
        if self.neg_label >= self.pos_label:
            raise InvalidArgumentError(
                f"neg_label={self.neg_label} must be strictly less than pos_label={self.pos_label}."
            )
        if self.sparse_output and (self.pos_label == 0 or self.neg_label != 0):
            raise InvalidArgumentError(
                "Sparse binarization is only supported with non zero pos_label and zero neg_label, "
                f"got pos_label={self.pos_label} and neg_label={self.neg_label}"
            )
        labels = self._labels(y)
        if not len(labels.series):
            raise InvalidArgumentError(f"y has 0 samples: {y!r}")
        self.classes_ = labels.levels()
        self.y_type_ = "binary" if len(self.classes_) <= 2 else "multiclass"
        return self

    def transform(self, y: Any) -> Any:
        """One row a label, ``[samples, classes]``; labels that `fit` did not see are all zeros."""
        self._check_fitted()
        places = self._labels(y).numbers(self.classes_)
        classes = range(len(self.classes_))
        if self.y_type_ == "binary":
            classes = range(1, 2)
        low, high = np.int64(self.neg_label), np.int64(self.pos_label)
        made = stacked([np.where(places == each, high, low) for each in classes])  # type: ignore[misc]
        if self.sparse_output:
            from headrace.tensor.sparse import csr_matrix

            return csr_matrix(made)
        return answer(y, made)

    def inverse_transform(self, Y: Any, threshold: float | None = None) -> Any:
        """The labels of rows: the class of the largest value, or of values above a threshold."""
        self._check_fitted()
        values = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y)
        if threshold is None:
            threshold = (self.pos_label + self.neg_label) / 2
        if self.y_type_ == "multiclass":
            made = self.classes_[values.argmax(axis=1)]
        else:
            places = (values.reshape(len(values), -1)[:, -1] > threshold).astype(np.int64)
            made = self.classes_[places if len(self.classes_) > 1 else places * 0]
        if not is_ours(Y):
            return made
        from headrace.series.column import series_over

        return series_over(made)
