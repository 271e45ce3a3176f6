# SPDX-License-Identifier: Apache-2.0
"""Missing values filled, and products of columns."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.learn.base import (
    Transformer,
    check_rows,
    frozen,
    is_number,
    is_ours,
    names_in,
    refuse,
    refuse_not_finite,
)
from headrace.learn.columns import Columns, check_columns, stacked
from headrace.learn.preparation.levels import Values, check_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    Numbers = np.ndarray[Any, Any]


class SimpleImputer(Transformer):
    """Fill missing values by a statistic of their column.

    Columns of numbers give floats and a lazy result; columns of strings are filled by their most
    frequent value or a constant, and give a frame (or a NumPy array of objects).

    Parameters
    ----------
    missing_values : number, str or NaN, default NaN
        What counts as missing; NaN takes nulls and None too.
    strategy : {"mean", "median", "most_frequent", "constant"} or function
        A function gets the values of a column that are not missing.
    fill_value : optional
        The constant; 0 for numbers and "missing_value" for strings by default.
    copy : bool, default True
        Without effect: data are never written.
    add_indicator : False
        Not supported.
    keep_empty_features : bool, default False
        Fill columns without values by 0 (or the constant), rather than dropping them.

    Attributes
    ----------
    statistics_ : NumPy array
        The fill value of each column; NaN for a column that is dropped.

    >>> hr.learn.SimpleImputer().fit_transform([[1.0], [float("nan")], [3.0]]).tolist()
    [[1.0], [2.0], [3.0]]
    """

    statistics_: np.ndarray[Any, Any]

    _fitted_as = "statistics_"

    def __init__(
        self,
        *,
        missing_values: Any = np.nan,
        strategy: Any = "mean",
        fill_value: Any = None,
        copy: bool = True,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
    ) -> None:
        self.missing_values = missing_values
        self.strategy = strategy
        self.fill_value = fill_value
        self.copy = copy
        self.add_indicator = add_indicator
        self.keep_empty_features = keep_empty_features

    def _all_tags(self) -> Mapping[str, Any]:
        return {
            "transformer_tags": {"preserves_dtype": ["float64", "float32"]},
            "input_tags": {"allow_nan": self._is_nan()},
        }

    def _is_nan(self) -> bool:
        return self.missing_values is None or self.missing_values != self.missing_values

    def _texts(self, X: Any) -> list[Values] | None:
        """The columns, if one holds strings."""
        plain = X if is_ours(X) or hasattr(X, "dtypes") else np.asarray(X)
        if getattr(plain, "dtype", None) is not None and np.dtype(plain.dtype).kind in "biufc":
            return None
        if self.strategy not in ("most_frequent", "constant"):
            return None
        columns = check_values(self, X, fit=not hasattr(self, "_of_texts"))
        return columns if any(c.series.dtype.kind not in "biuf" for c in columns) else None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the fill value of each column of `X`."""
        self._refuse_params(add_indicator=False)
        if not callable(self.strategy) and self.strategy not in (
            "mean",
            "median",
            "most_frequent",
            "constant",
        ):
            raise InvalidArgumentError(
                f"SimpleImputer: no such strategy: strategy={self.strategy!r}; use 'mean', "
                "'median', 'most_frequent', 'constant' or a function"
            )
        self.__dict__.pop("_of_texts", None)
        texts = self._texts(X)
        self._of_texts = texts is not None
        if texts is not None:
            self.statistics_ = np.array([self._text_of(column) for column in texts], object)
            return self
        columns = check_columns(self, X, fit=True, allow_nan=self._is_nan())
        if self._is_nan() and is_ours(X):
            refuse_not_finite(self, columns.matrix, allow_nan=True)
        self.statistics_ = self._statistics(self._blanked(columns))
        return self

    def _text_of(self, column: Values) -> Any:
        known = column.series.dropna()
        if not self._is_nan():
            known = known[known != self.missing_values]
        if not len(known) and not self.keep_empty_features:
            return np.nan
        if self.strategy == "constant":
            return "missing_value" if self.fill_value is None else self.fill_value
        counts = known.value_counts()
        most = counts.max()
        return min(
            label
            for label, count in zip(counts.index.to_list(), counts.to_list(), strict=True)
            if count == most
        )

    def _blanked(self, columns: Columns) -> Columns:
        """The columns with NaN for the missing value."""
        if self._is_nan():
            return columns
        if not is_number(self.missing_values):
            refuse(self, "missing_values", "a number or None, as the columns are numbers")
        gone = float(self.missing_values)
        return Columns(
            columns.map(lambda x: np.where(x == gone, float("nan"), x))  # type: ignore[arg-type, return-value]
        )

    def _statistics(self, columns: Columns) -> Numbers:
        if self.strategy == "mean":
            found = columns.statistics("mean")[0]
        elif self.strategy == "median":
            found = columns.quantiles([0.5])[0]
        else:
            counts = columns.statistics("count")[0]
            if self.strategy == "constant":
                fill = 0.0 if self.fill_value is None else self.fill_value
                if not isinstance(fill, float | int | np.number):
                    raise InvalidArgumentError(
                        f"fill_value={fill!r} (of type {type(fill)!r}) cannot be cast to the input "
                        f"data that is {columns.dtype!r}."
                    )
                return np.where((counts > 0) | self.keep_empty_features, float(fill), np.nan)
            found = np.array([self._number_of(np.asarray(x)) for x in columns.columns])
        return np.where(np.isnan(found), 0.0, found) if self.keep_empty_features else found

    def _number_of(self, x: Numbers) -> float:
        known = x[~np.isnan(x)]
        if not len(known):
            return np.nan
        if callable(self.strategy):
            return float(self.strategy(known))
        values, counts = np.unique(known, return_counts=True)
        return float(values[counts.argmax()])

    def _kept(self) -> Numbers:
        empty = np.array([value != value for value in self.statistics_], bool)  # noqa: PLR0124
        if empty.any():
            known = names_in(self) if hasattr(self, "feature_names_in_") else None
            shown = [known[p] if known else int(p) for p in np.flatnonzero(empty)]
            warnings.warn(
                f"Skipping features without any observed values: {shown}. At least one non-missing "
                f"value is needed for imputation with strategy={self.strategy!r}.",
                stacklevel=3,
            )
        return np.flatnonzero(~empty)

    def transform(self, X: Any) -> Any:
        """`X` with its missing values filled."""
        self._check_fitted()
        if self._of_texts:
            return self._filled_texts(X)
        columns = self._blanked(check_columns(self, X, allow_nan=self._is_nan()))
        kept = self._kept()

        def filled(x: Any, value: Any) -> Any:
            return np.where(np.isnan(x), np.dtype(x.dtype).type(value), x)

        if len(kept) < len(columns):
            if not len(kept):
                return self._answer(X, frozen(np.empty((columns.shape[0], 0))))
            columns = Columns(None, [columns.columns[place] for place in kept])
        if columns._columns is None:
            values = frozen(self.statistics_[kept].astype(columns.dtype))
            return self._answer(X, np.where(np.isnan(columns.matrix), values, columns.matrix))
        return self._answer(X, columns.map(filled, self.statistics_[kept]))

    def _filled_texts(self, X: Any) -> Any:
        columns, kept, made = check_values(self, X), self._kept(), {}
        names = names_in(self)
        for place in kept:
            series = columns[place].series
            if not self._is_nan():
                series = series.where(series != self.missing_values)
            made[names[place]] = series.fillna(self.statistics_[place])
        if is_ours(X) or self._output() != "default":
            from headrace.frame.dataframe import DataFrame

            return self._answer(X, DataFrame(made))
        return np.stack([np.array(each.to_list(), object) for each in made.values()], axis=1)

    def inverse_transform(self, X: Any) -> Any:
        """Not supported: it needs `add_indicator`."""
        raise UnsupportedError(
            "SimpleImputer.inverse_transform: works only when 'SimpleImputer' is instantiated with "
            "'add_indicator=True', which is not supported"
        )

    def _names_out(self, names: list[str]) -> list[str]:
        return [n for n, v in zip(names, self.statistics_, strict=True) if v == v]  # noqa: PLR0124


class PolynomialFeatures(Transformer):
    """Products of columns up to a degree, as expressions over the data.

    Parameters
    ----------
    degree : int or tuple of int, default 2
        The highest degree, or the lowest and the highest.
    interaction_only : bool, default False
        Only products of different columns.
    include_bias : bool, default True
        Begin with a column of ones.
    order : {"C", "F"}
        Without effect.

    Attributes
    ----------
    powers_ : NumPy array of int
        The exponent of each column in each result, ``[results, features]``.
    n_output_features_ : int

    >>> hr.learn.PolynomialFeatures().fit_transform([[2.0, 3.0]]).tolist()
    [[1.0, 2.0, 3.0, 4.0, 6.0, 9.0]]
    """

    n_output_features_: int

    _tags: ClassVar[Mapping[str, Any]] = {
        "transformer_tags": {"preserves_dtype": ["float64", "float32"]}
    }
    _fitted_as = "n_output_features_"

    def __init__(
        self,
        degree: Any = 2,
        *,
        interaction_only: bool = False,
        include_bias: bool = True,
        order: str = "C",
    ) -> None:
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_bias = include_bias
        self.order = order

    def _products(self) -> list[tuple[int, ...]]:
        """The columns of each product."""
        least, most = self.degree if isinstance(self.degree, tuple | list) else (0, self.degree)
        choose: Any = (
            itertools.combinations
            if self.interaction_only
            else itertools.combinations_with_replacement
        )
        places = range(self.n_features_in_)
        made = [p for d in range(max(least, 1), most + 1) for p in choose(places, d)]
        return [(), *made] if self.include_bias else made

    def fit(self, X: Any, y: Any = None) -> Self:
        """Count the columns of `X`."""
        check_rows(self, X, fit=True)
        degrees = self.degree if isinstance(self.degree, tuple | list) else (0, self.degree)
        whole = all(is_number(degree, integer=True) for degree in degrees)
        if len(degrees) != 2 or not whole or not 0 <= degrees[0] <= degrees[1]:
            raise InvalidArgumentError(
                "degree must be a non-negative int or tuple (min_degree, max_degree), got "
                f"{self.degree}."
            )
        if degrees[1] == 0 and not self.include_bias:
            raise InvalidArgumentError(
                "Setting degree to zero and include_bias to False would result in an empty output "
                "array."
            )
        self.n_output_features_ = len(self._products())
        return self

    @property
    def powers_(self) -> Numbers:
        """See the class."""
        self._check_fitted()
        width = self.n_features_in_
        return np.array(
            [np.bincount(np.array(p, np.int64), minlength=width) for p in self._products()]
        )

    def transform(self, X: Any) -> Any:
        """The products of the columns of `X`: ``[samples, results]``, lazy for our data."""
        self._check_fitted()
        columns = check_columns(self, X, allow_nan=False).columns
        made: dict[tuple[int, ...], Any] = {}
        for places in self._products():
            if not places:
                made[places] = columns[0] * 0 + 1
            elif len(places) == 1:
                made[places] = columns[places[0]]
            else:  # one more column than a product that is there
                before = made.get(places[1:])
                rest = columns[places[1]] if before is None and len(places) == 2 else before
                if rest is None:
                    rest = columns[places[1]]
                    for place in places[2:]:
                        rest = rest * columns[place]
                made[places] = columns[places[0]] * rest
        return self._answer(X, stacked(list(made.values())))

    def _names_out(self, names: list[str]) -> list[str]:
        made = []
        for places in self._products():
            powers = Counter(places)
            parts = [names[p] if n == 1 else f"{names[p]}^{n}" for p, n in sorted(powers.items())]
            made.append(" ".join(parts) or "1")
        return made
