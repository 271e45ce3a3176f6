# SPDX-License-Identifier: Apache-2.0
"""Features of groups of rows: statistics that `fit` learns, and values of rows before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core
from headrace.errors import ColumnNotFoundError, InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import is_frame
from headrace.frame.dataframe import DataFrame
from headrace.lazy.handle import mark
from headrace.learn.base import Transformer, check_names, check_shape, is_number, refuse
from headrace.learn.columns import of_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headrace.learn.base import Estimator
    from headrace.series.series import Series

_STATISTICS = ("count", "sum", "mean", "std", "var", "min", "max", "median", "nunique")


def _listed(names: Any) -> list[Any]:
    return list(names) if isinstance(names, list | tuple) else [names]


def _frame(estimator: Estimator, X: Any, *, fit: bool) -> DataFrame:
    """`X` as a frame: columns are chosen by name."""
    if not (hasattr(X, "columns") or hasattr(X, "column_names")):
        raise TypeMismatchError(
            f"{type(estimator).__name__}: expected a frame, whose columns have names: "
            f"type={type(X).__name__}; use hr.DataFrame(...)"
        )
    check_names(estimator, X, fit=fit)
    frame = X if is_frame(X) else DataFrame(X)
    check_shape(estimator, frame.shape, fit=fit, min_rows=1)
    return frame


def _check_names(estimator: Estimator, *words: str) -> None:
    for word in words:
        names = _listed(getattr(estimator, word))
        if not names or not all(isinstance(name, str) for name in names):
            refuse(estimator, word, "a name, or a list of names of columns")


def _check_columns(estimator: Estimator, frame: DataFrame, **params: list[str]) -> None:
    for word, names in params.items():
        gone = [name for name in names if name not in frame.columns]
        if gone:
            raise ColumnNotFoundError(
                f"{type(estimator).__name__}: no such columns: {word}={gone}; the columns are "
                f"{list(frame.columns)}"
            )


class _OfColumns(Transformer):
    """A transformer of named columns whose results are columns of several dtypes."""

    _tags: ClassVar[Mapping[str, Any]] = {
        "transformer_tags": {"preserves_dtype": []},
        "input_tags": {"allow_nan": True, "string": True, "categorical": True},
    }

    def _made(self, X: Any, made: DataFrame) -> Any:
        """New columns: a frame, or as a matrix floats with NaN where there is no value."""
        if self._output() == "headrace":
            return made
        floats = {
            name: made[name].astype("float64").fill_null(float("nan")) for name in made.columns
        }
        return self._answer(X, DataFrame(floats))

    def _answer(self, X: Any, made: Any) -> Any:
        from headrace.array.construct import asarray

        if self._output() == "default":
            return super()._answer(X, asarray(made))
        return super()._answer(X, made)


class GroupStatistics(_OfColumns):
    """Statistics of columns over the rows of `fit` with the same keys, as features of rows.

    `transform` finds the group of each row by a left join, in the order of the rows. Rows of
    groups that `fit` did not see, and of missing keys, get no value (null, NaN in a matrix). Over
    the rows of `fit` itself a statistic of the target tells a row its own target: use
    `TargetEncoder`, which leaves it out. Costs a group-by, which moves to the disk what exceeds
    the memory limit, and a join for each `transform`.

    Parameters
    ----------
    by : str or list of str
        The keys.
    columns : str or list of str
        What is aggregated.
    stats : list of str, default ("count", "mean")
        Of count (of values that are not missing), sum, mean, std, var, min, max, median, nunique.

    Attributes
    ----------
    table_ : DataFrame
        One row a group: the keys, then ``"<keys>_<column>_<statistic>"``.

    >>> sales = hr.DataFrame({"shop": ["a", "b", "a"], "price": [1.0, 5.0, 3.0]})
    >>> means = hr.learn.GroupStatistics(by="shop", columns="price", stats=["mean"]).fit(sales)
    >>> means.transform(hr.DataFrame({"shop": ["b", "a", "c"], "price": [0.0, 0.0, 0.0]})).tolist()
    [[5.0], [2.0], [nan]]
    """

    _fitted_as = "_columns"
    _columns: dict[str, Series]

    def __init__(self, by: Any, columns: Any, stats: Any = ("count", "mean")) -> None:
        self.by = by
        self.columns = columns
        self.stats = stats

    def _named(self) -> dict[str, tuple[str, str]]:
        """The new columns: which column, which statistic."""
        front = "_".join(_listed(self.by))
        return {
            f"{front}_{column}_{stat}": (column, stat)
            for column in _listed(self.columns)
            for stat in _listed(self.stats)
        }

    def _check_stats(self) -> None:
        _check_names(self, "by", "columns")
        stats = _listed(self.stats)
        if not stats or any(stat not in _STATISTICS for stat in stats):
            refuse(self, "stats", f"some of {', '.join(_STATISTICS)}")

    def _check_loaded(self) -> None:
        self._check_stats()
        names = [*_listed(self.by), *self._named()]
        sizes = {len(series) for series in self._columns.values()}
        if list(self._columns) != names or len(sizes) != 1:
            raise ValueError("GroupStatistics: its columns are not those of its parameters")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Aggregate the rows of `X` by key."""
        self._check_stats()
        frame = _frame(self, X, fit=True)
        keys, columns = _listed(self.by), _listed(self.columns)
        _check_columns(self, frame, by=keys, columns=columns)
        named = self._named()
        clash = sorted({*named} & {*frame.columns})
        if clash:
            raise InvalidArgumentError(
                f"GroupStatistics: a column has the name of a result: columns={clash}; rename it"
            )
        groups = frame[list(dict.fromkeys([*keys, *columns]))].groupby(
            keys, sort=False, as_index=False
        )
        made = groups.agg(**named)
        self._columns = {name: made[name] for name in (*keys, *named)}
        _core.force([series._node for series in self._columns.values()])
        return self

    @property
    def table_(self) -> DataFrame:
        """One row a group: its keys, then its statistics."""
        self._check_fitted()
        return DataFrame(self._columns)

    def transform(self, X: Any) -> Any:
        """The statistics of each row's group: floats ``[samples, columns x stats]``.

        With ``set_output(transform="headrace")`` a frame that keeps dtypes and nulls, lazy.
        """
        self._check_fitted()
        frame = _frame(self, X, fit=False)
        keys = _listed(self.by)
        _check_columns(self, frame, by=keys)
        mark("group_statistics")
        joined = frame[keys].merge(self.table_, on=keys, how="left")
        return self._made(X, of_rows(frame, {name: joined._nodes[name] for name in self._named()}))

    def _names_out(self, names: list[str]) -> list[str]:
        return list(self._named())


class Lag(_OfColumns):
    """Values of earlier (or later) rows with the same keys, as features of rows.

    Rows with equal keys are put in the order of `order`, equal ones as they come. There is nothing
    to fit: `transform` needs all rows of a group at once. A row without such a row before it gets
    no value (null, NaN in a matrix). Costs a sort of the rows, and one back.

    Parameters
    ----------
    by : str or list of str
        The keys.
    order : str or list of str
        The columns that rows of a group are ordered by, such as a time.
    lags : list of int, default (1,)
        How many rows back; negative ones look ahead.
    columns : str or list of str, optional
        Whose values; by default all columns but those of `by` and `order`.

    >>> visits = hr.DataFrame({"user": ["a", "b", "a"], "day": [2, 1, 1], "spent": [5.0, 7.0, 3.0]})
    >>> hr.learn.Lag(by="user", order="day", lags=[1]).fit_transform(visits).tolist()
    [[3.0], [nan], [nan]]
    """

    _fitted_as = "n_features_in_"

    def __init__(self, by: Any, order: Any, lags: Any = (1,), columns: Any = None) -> None:
        self.by = by
        self.order = order
        self.lags = lags
        self.columns = columns

    def _check_loaded(self) -> None:
        _check_names(self, "by", "order", *(["columns"] if self.columns is not None else []))
        lags = _listed(self.lags)
        if not lags or not all(is_number(lag, integer=True) and lag for lag in lags):
            refuse(self, "lags", "a list of integers other than 0")

    def _named(self, names: Any) -> dict[str, tuple[str, int]]:
        taken = {*_listed(self.by), *_listed(self.order)}
        columns = (
            [name for name in names if name not in taken]
            if self.columns is None
            else _listed(self.columns)
        )
        lags = _listed(self.lags)
        return {f"{column}_lag{lag}": (column, int(lag)) for column in columns for lag in lags}

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the columns of `X` and keep their names."""
        self._check_loaded()
        frame = _frame(self, X, fit=True)
        columns = [column for column, _ in self._named(frame.columns).values()]
        _check_columns(self, frame, by=_listed(self.by), order=_listed(self.order), columns=columns)
        return self

    def transform(self, X: Any) -> Any:
        """The values of rows before: floats ``[samples, columns x lags]``.

        With ``set_output(transform="headrace")`` a frame that keeps dtypes and nulls, lazy.
        """
        self._check_fitted()
        frame = _frame(self, X, fit=False)
        keys, order = _listed(self.by), _listed(self.order)
        named = self._named(frame.columns)
        columns = [column for column, _ in named.values()]
        _check_columns(self, frame, by=keys, order=order, columns=columns)
        mark("lag")
        place = _place_name(frame)
        numbered = frame[list(dict.fromkeys([*keys, *order, *columns]))].assign(
            **{place: np.arange(len(frame), dtype=np.int64)}
        )
        ordered = numbered.sort_values(order)
        groups = ordered.groupby(keys, sort=False)
        moved = {name: groups[column].shift(lag) for name, (column, lag) in named.items()}
        back = DataFrame({**moved, place: ordered[place]}).sort_values(place)
        return self._made(X, of_rows(frame, {name: back._nodes[name] for name in named}))

    def _names_out(self, names: list[str]) -> list[str]:
        return list(self._named(names))


def _place_name(frame: DataFrame) -> str:
    """A name that no column has."""
    name = "row"
    while name in frame.columns:
        name += "_"
    return name
