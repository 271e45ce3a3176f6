# SPDX-License-Identifier: Apache-2.0
"""Levels of a column, the distinct values in order, and the numbers of rows' levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.dtypes import DType
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.frame.columns import is_frame
from headrace.interop.pandas_types import CategoricalDtype
from headrace.lazy.handle import is_array
from headrace.learn.base import (
    check_names,
    check_shape,
    frozen,
    is_on_device,
    is_ours,
    is_sparse,
)
from headrace.series.column import is_series, new_series, series_of, series_over

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.learn.base import Estimator
    from headrace.series.series import Series


class Values:
    """One column of any dtype, and what a missing value of it is: NaN or None."""

    def __init__(self, name: str, column: Any) -> None:
        self.missing: float | None = np.nan
        self.dtype: np.dtype[Any] | None = None  # of NumPy, which levels keep
        if is_series(column) or is_array(column):
            self.series: Series = column if is_series(column) else column.to_series()
        else:
            self.series = self._from_numpy(name, np.asarray(column))
        if self.dtype is None and self.series.dtype.kind not in "biuf":
            self.missing = None

    def _from_numpy(self, name: str, values: np.ndarray[Any, Any]) -> Series:
        self.dtype = values.dtype
        if values.dtype.kind == "c":
            raise InvalidArgumentError(f"{name}: Complex data not supported: dtype={values.dtype}")
        if values.dtype.kind == "S":
            raise UnsupportedError(f"{name}: bytes are not supported: decode them to strings")
        if values.dtype.kind == "O":
            kinds = {type(value) for value in values}
            if complex in kinds:
                raise InvalidArgumentError(f"{name}: Complex data not supported: dtype=object")
            empty = [value for value in values if value is None or value != value]  # noqa: PLR0124
            if empty and len({value is None for value in empty}) == 2:
                raise UnsupportedError(
                    f"{name}: None and NaN in one column are not supported; use one of them"
                )
            if empty and empty[0] is None:
                self.missing = None
            kinds -= {type(None)} | ({float} if str in kinds else set())
            if str in kinds and len(kinds) > 1:
                raise TypeMismatchError(
                    "Encoders require their input argument must be uniformly strings or numbers. "
                    f"Got {sorted(kind.__name__ for kind in kinds)}"
                )
            if str in kinds and empty:
                values = np.array([None if value != value else value for value in values], object)  # noqa: PLR0124
        return series_over(np.ascontiguousarray(values))

    def _is_looked_up(self) -> bool:
        """Whether these are integers on a device, where kernels find their levels."""
        kind, nullable = self.series.dtype.kind, self.series._node.nullable
        there = kind in "iu" and not nullable and is_on_device(self.series)
        return there and np.dtype(self.series.dtype) != np.uint64

    def levels(self) -> np.ndarray[Any, Any]:
        """Distinct values in order, a missing one last; in NumPy's dtype where there was one."""
        series = self.series
        if self._is_looked_up():
            levels = Array(_core.distinct_integers(asarray(series)._node)).to_numpy()
            return levels.astype(np.dtype(series.dtype))
        found = np.sort(series.dropna().unique().to_numpy())
        if self.dtype is not None and found.dtype != self.dtype:
            found = found.astype(self.dtype)
        if bool(series.isna().any()):
            wide = found if found.dtype.kind == "f" else found.astype(object)
            found = np.append(wide, np.array([self.missing], wide.dtype))
        return found

    def numbers(self, levels: np.ndarray[Any, Any]) -> Array:
        """The place of each row's value in `levels`, int32, -1 where it is not there; lazy."""
        known, missing = parted(levels)
        series, kind = self.series, self.series.dtype.kind
        if self._is_looked_up() and known.dtype.kind in "iu" and not missing:
            whole = frozen(known.astype(np.int64))._node
            return Array(_core.level_places(asarray(series)._node, whole))
        if known.dtype.kind in "biuf" and kind in "biuf" and known.dtype != series.dtype:
            series, known = series.astype("float64"), known.astype(float)
        elif len(known) and (known.dtype.kind in "biuf") != (kind in "biuf"):
            known = known[:0]
        empty = series.isna()
        vocabulary = series_over(known.copy())
        if len(known) and vocabulary.dtype == value_dtype(series):
            codes = series_of(_core.category_codes(series._node, vocabulary._node, 1))
            places: Any = np.maximum(codes - 3, -1).astype("int32")  # 1 is missing, 2 unknown
        elif len(known):
            places = series.astype(CategoricalDtype(known.tolist())).cat.codes  # type: ignore[arg-type]
        else:
            places = empty.astype("int32") * 0 - 1
        if missing:
            places = places.where(~empty, len(levels) - 1).astype("int32")
        return asarray(places)

    def at(self, mask: Array) -> list[Any]:
        """Distinct values of the rows of a mask, as NumPy's scalars print."""
        series = self.series.to("cpu") if is_on_device(self.series) else self.series
        found = series[np.asarray(mask)].unique().to_list()
        return sorted(found, key=lambda value: (value is None or value != value, str(value)))  # noqa: PLR0124


def value_dtype(series: Series) -> Any:
    """The dtype of the values: of categories that of what they stand for."""
    return DType(series._node.item_dtype) if series.dtype == "category" else series.dtype


def has_nan(levels: np.ndarray[Any, Any]) -> bool:
    """Whether the last level is NaN."""
    return len(levels) > 0 and bool(levels[-1] != levels[-1])


def parted(levels: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], bool]:
    """Levels without a missing one, and whether there is one; it is the last."""
    missing = len(levels) > 0 and (levels[-1] is None or has_nan(levels))
    known = levels[:-1] if missing else levels
    if known.dtype.kind == "O" and len(known) and not isinstance(known[0], str):
        known = np.array(known.tolist())
    return known, missing


def check_values(estimator: Estimator, X: Any, *, fit: bool = False) -> list[Values]:
    """The columns of `X`, of any dtypes, without conversion."""
    name = type(estimator).__name__
    if is_sparse(X):
        raise TypeMismatchError(
            f"{name}: Sparse data was passed for X, but dense data is required: "
            f"type={type(X).__name__}"
        )
    check_names(estimator, X, fit=fit)
    if hasattr(X, "iloc") and not is_ours(X):
        check_shape(estimator, X.shape, fit=fit, min_rows=1)
        return [_pandas_values(name, X.iloc[:, place]) for place in range(X.shape[1])]
    if not is_ours(X) and (hasattr(X, "columns") or hasattr(X, "column_names")):
        from headrace.frame.dataframe import DataFrame

        X = DataFrame(X)  # noqa: N806
    elif not is_ours(X) and not isinstance(X, np.ndarray):
        plain = np.asarray(X)
        X = np.asarray(X, object) if plain.dtype.kind in "US" else plain  # noqa: N806
    check_shape(estimator, X.shape, fit=fit, min_rows=1)
    if is_frame(X):
        return [Values(name, X[column]) for column in X.columns]
    columns = [Values(name, X[:, place]) for place in range(X.shape[1])]
    for place, column in enumerate(columns):
        if column.series.dtype.kind == "f" and bool(
            np.isinf(asarray(column.series.fillna(0.0))).any()
        ):
            raise InvalidArgumentError(f"{name}: Input X contains infinity: column={place}")
    return columns


def _pandas_values(name: str, column: Any) -> Values:
    """A column of pandas, whose missing value is NaN unless an object column has None."""
    if column.dtype == object:
        return Values(name, column.to_numpy())
    made = Values(name, new_series(column))
    made.missing = np.nan
    return made


def given_levels(
    place: int, column: Values, categories: Sequence[Any], *, refuse: bool
) -> np.ndarray[Any, Any]:
    """Levels that the user gives for a column, checked as scikit-learn does."""
    numeric = column.series.dtype.kind in "biuf"
    dtype = np.dtype(column.series.dtype) if numeric else np.dtype(object)
    levels = np.array(categories, dtype=dtype)
    plain = levels.tolist()
    if any(value != value for value in plain[:-1]):  # noqa: PLR0124
        raise InvalidArgumentError(
            "Nan should be the last element in user provided categories, see categories "
            f"{levels} in column #{place}"
        )
    if len(set(plain)) != len(plain):
        raise InvalidArgumentError(
            f"In column {place}, the predefined categories contain duplicate elements."
        )
    known, _ = parted(levels)
    if numeric and (np.sort(known) != known).any():
        raise InvalidArgumentError("Unsorted categories are not supported for numerical categories")
    if refuse:
        refuse_unknown(place, column, column.numbers(levels), "fit")
    return levels


def refuse_unknown(place: int, column: Values, numbers: Array, when: str) -> None:
    """Raise if a row has a value that is no level."""
    if len(numbers) and int(numbers.min()) < 0:
        raise InvalidArgumentError(
            f"Found unknown categories {column.at(numbers < 0)} in column {place} during {when}"
        )
