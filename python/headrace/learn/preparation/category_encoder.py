# SPDX-License-Identifier: Apache-2.0
"""Codes of categories for tables of embeddings: rare, unseen and missing values have codes too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.concat import concat
from headrace.frame.dataframe import DataFrame
from headrace.lazy.handle import mark
from headrace.learn.base import Transformer, check_count, is_number, names_in, refuse
from headrace.learn.columns import framed
from headrace.learn.preparation.levels import check_values, value_dtype
from headrace.series.column import new_series, series_of, series_over

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headrace.array.array import Array
    from headrace.learn.preparation.levels import Values
    from headrace.series.series import Series

#: Codes before those of buckets: 0 is left free for padding, 1 is a missing value.
_SPECIAL = 2


def code_columns(
    name: str, columns: list[Values], vocabularies: list[Series], buckets: int
) -> list[Series]:
    """The codes of columns by vocabularies, int32; lazy."""
    made = []
    for column, vocabulary in zip(columns, vocabularies, strict=True):
        series, known = column.series, vocabulary
        ours, theirs = value_dtype(series), value_dtype(known)
        if ours != theirs:
            if ours.kind not in "biuf" or theirs.kind not in "biuf":
                raise TypeMismatchError(
                    f"{name}: a column has another dtype than at fit: "
                    f"column={series.name!r}, dtype={ours}, fitted={theirs}; convert it with "
                    "astype()"
                )
            common = np.result_type(np.dtype(ours), np.dtype(theirs))
            series, known = series.astype(common), known.astype(common)
        codes = _core.category_codes(series._node, known._node, buckets)
        made.append(series_of(codes, series.name))
    return made


class CategoryEncoder(Transformer):
    """Number the categories of each column by frequency, as tables of embeddings want them.

    Code 0 is left free for padding, 1 stands for missing values (null or NaN), the codes from 2 to
    ``1 + buckets`` for rare values and those that `fit` did not see, and the codes after these for
    the vocabulary: the most frequent value first, equally frequent ones in the order they are seen.
    `fit` reads one column at a time, and like any group-by it moves to the disk what exceeds the
    memory limit; `partial_fit` takes rows in parts. Codes of data of Headrace are lazy.

    Parameters
    ----------
    min_count : int, default 1
        Rarer values get no code of their own.
    max_size : int, optional
        The most codes of a column, those without a value counted: rows of a table of embeddings.
    buckets : int, default 1
        How many codes rare and unseen values share, by a hash of the value, which is the same on
        every machine.
    vocabulary : dict or list, optional
        The values of columns in the order of their codes: by name, or a list for each column.
        Columns that a dictionary does not name are fitted. `fit` refuses values that the dtype of
        the column cannot hold, such as 1.5 in a column of integers.

    Attributes
    ----------
    categories_ : list of Series
        The vocabulary of each column.
    counts_ : list of Array
        The rows of `fit` with each value of it, int64; 0 where it was given.
    sizes_ : list of int
        How many codes each column has, 0 counted.

    >>> encoder = hr.learn.CategoryEncoder(min_count=2)
    >>> frame = hr.DataFrame({"city": ["Rome", "Oslo", "Rome", None, "Oslo", "Rome", "Bonn"]})
    >>> encoder.fit_transform(frame).reshape(-1).tolist()
    [3, 4, 3, 1, 4, 3, 2]
    >>> encoder.categories_[0].to_list(), encoder.sizes_
    (['Rome', 'Oslo'], [5])
    """

    _tags: ClassVar[Mapping[str, Any]] = {
        "transformer_tags": {"preserves_dtype": []},
        "input_tags": {"allow_nan": True, "string": True, "categorical": True},
    }
    _fitted_as = "categories_"
    categories_: list[Series]
    counts_: list[Array]
    _seen: list[tuple[Series, Array]]  # all values of the parts so far, and how often they came

    def __init__(
        self,
        *,
        min_count: int = 1,
        max_size: int | None = None,
        buckets: int = 1,
        vocabulary: Any = None,
    ) -> None:
        self.min_count = min_count
        self.max_size = max_size
        self.buckets = buckets
        self.vocabulary = vocabulary

    def _check_params(self) -> None:
        check_count(self, "min_count", "buckets")
        least = _SPECIAL + self.buckets
        if self.max_size is not None and not (
            is_number(self.max_size, integer=True) and self.max_size >= least
        ):
            refuse(self, "max_size", f"None or an integer from {least} on (2 + buckets)")
        if self.vocabulary is not None and not isinstance(self.vocabulary, dict | list | tuple):
            refuse(self, "vocabulary", "a dictionary, or a list for each column")

    def _check_loaded(self) -> None:
        self._check_params()
        width = self.n_features_in_
        seen = vars(self).get("_seen", [])
        fine = len(self.categories_) == len(self.counts_) == width
        fine = fine and all(
            values.ndim == 1 and len(values) == len(counts) and counts.dtype == np.int64
            for values, counts in [*zip(self.categories_, self.counts_, strict=False), *seen]
        )
        if not fine or len(seen) not in (0, width):
            raise ValueError("CategoryEncoder: values are of another number than their counts")

    def _given(self) -> list[Any]:
        """The vocabulary of each column that has one, else None."""
        names = names_in(self)
        if self.vocabulary is None:
            return [None] * len(names)
        if isinstance(self.vocabulary, dict):
            wrong = [name for name in self.vocabulary if name not in names]
            if wrong:
                raise InvalidArgumentError(
                    f"CategoryEncoder: a vocabulary is of no column: vocabulary={wrong}, "
                    f"columns={names}"
                )
            return [self.vocabulary.get(name) for name in names]
        if len(self.vocabulary) != len(names):
            raise InvalidArgumentError(
                "CategoryEncoder: expected a vocabulary for each column: "
                f"vocabulary={len(self.vocabulary)}, columns={len(names)}"
            )
        return list(self.vocabulary)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Count the values of each column of `X` and number them."""
        self._fit(check_values(self, X, fit=True))
        return self

    def _fit(self, columns: list[Values]) -> None:
        self._check_params()
        vars(self).pop("_seen", None)
        self._number([_counted(column.series) for column in columns], columns)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, then transform the same rows; strings are looked up once for both."""
        columns = check_values(self, X, fit=True)
        for column in columns:
            if column.series.dtype == "string":
                node = _core.astype(column.series._node, "category")
                column.series = series_of(node, column.series.name)
        self._fit(columns)
        mark("category_codes")
        return framed(
            self, X, code_columns("CategoryEncoder", columns, self.categories_, self.buckets)
        )

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Count the rows of `X` too: after all parts, codes are those of one `fit` to all rows.

        Keeps each distinct value and its count, rare ones too, also in a file of the model. Behind
        `fit`, which must have left no value out, values count as seen in the order of their codes.
        """
        self._check_params()
        first = not self.__sklearn_is_fitted__()
        is_whole = self.min_count == 1 and self.max_size is None and self.vocabulary is None
        if not first and "_seen" not in vars(self) and is_whole:
            self._seen = list(zip(self.categories_, self.counts_, strict=True))
        if not first and "_seen" not in vars(self):
            raise InvalidArgumentError(
                "CategoryEncoder: fit() kept no counts of rare values: call partial_fit() from the "
                "first part on"
            )
        columns = check_values(self, X, fit=first)
        counted = [_counted(column.series) for column in columns]
        if not first:
            counted = [
                _added(before, now, column.series.name)
                for before, now, column in zip(self._seen, counted, columns, strict=True)
            ]
        self._seen = counted
        self._number(counted, columns)
        return self

    def _number(self, counted: list[tuple[Series, Array]], columns: list[Values]) -> None:
        self.categories_, self.counts_ = [], []
        for (values, counts), column, given in zip(counted, columns, self._given(), strict=True):
            if given is not None:
                known = _vocabulary(given, value_dtype(column.series))
                most = None if self.max_size is None else self.max_size - _SPECIAL - self.buckets
                self.categories_.append(known if most is None else known[:most])
                size = len(self.categories_[-1])
                self.counts_.append(asarray(np.zeros(size, np.int64)))
                continue
            table = DataFrame({"value": values, "rows": counts})
            if self.min_count > 1:
                table = table[table["rows"] >= self.min_count]
            table = table.sort_values("rows", ascending=False)
            if self.max_size is not None:
                table = table.head(self.max_size - _SPECIAL - self.buckets)
            self.categories_.append(table["value"])
            self.counts_.append(asarray(table["rows"]))
        _core.force([each._node for each in (*self.categories_, *self.counts_)])

    @property
    def sizes_(self) -> list[int]:
        """How many codes each column has."""
        self._check_fitted()
        return [_SPECIAL + self.buckets + len(values) for values in self.categories_]

    def transform(self, X: Any) -> Any:
        """The codes of the values of `X`, int32 ``[samples, features]``.

        With ``set_output(transform="headrace")`` a frame, whose columns are lazy one by one.
        """
        self._check_fitted()
        mark("category_codes")
        columns = check_values(self, X)
        made = code_columns("CategoryEncoder", columns, self.categories_, self.buckets)
        return framed(self, X, made)


def _counted(series: Series) -> tuple[Series, Array]:
    """The values of a column in the order they are seen, and how often each comes."""
    table = DataFrame({"value": series})
    counted = table.groupby("value", sort=False, as_index=False).agg(rows=("value", "size"))
    values = counted["value"]
    values = values.astype(value_dtype(values)) if values.dtype == "category" else values
    _core.force([values._node, counted["rows"]._node])
    return values, asarray(counted["rows"])


def _added(
    before: tuple[Series, Array], now: tuple[Series, Array], name: Any
) -> tuple[Series, Array]:
    """The counts of two parts, values in the order of the first one, then of the second."""
    dtypes = [side[0].dtype for side in (before, now)]
    if dtypes[0] != dtypes[1]:
        raise TypeMismatchError(
            "CategoryEncoder: a column has another dtype than in the parts before: "
            f"column={name!r}, dtype={dtypes[1]}, before={dtypes[0]}; convert it with astype()"
        )
    sides = [DataFrame({"value": side[0], "rows": side[1]}) for side in (before, now)]
    both = concat(sides, ignore_index=True)
    made = both.groupby("value", sort=False, as_index=False).agg(rows=("rows", "sum"))
    _core.force([made["value"]._node, made["rows"]._node])
    return made["value"], asarray(made["rows"])


def _converted(given: Series, dtype: Any) -> Series:
    """The same values in the dtype of a column: none becomes another one."""
    of_one_kind = given.dtype.kind == dtype.kind or {given.dtype.kind, dtype.kind} <= {*"biuf"}
    made = given.astype(dtype) if of_one_kind else given
    same = made.astype(given.dtype) == given
    if {given.dtype.kind, dtype.kind} <= {*"iu"}:  # 2**64 - 1 and -1 have the same bits
        same &= (made < 0) == (given < 0)
    if not of_one_kind or not bool(same.all()):
        raise TypeMismatchError(
            "CategoryEncoder: a vocabulary has values that its column cannot hold: "
            f"vocabulary={given.head(5).to_list()}, dtype={given.dtype}, column={dtype}; give the "
            "values of the column, or convert it with astype()"
        )
    return made


def _vocabulary(given: Any, dtype: Any) -> Series:
    """A vocabulary that the user gives for a column of this dtype."""
    made = given if hasattr(given, "to_list") and hasattr(given, "_node") else None
    if made is None:
        listed = list(given)
        if not listed:
            return new_series([], dtype=dtype)
        made = series_over(np.array(listed, object if dtype.kind not in "biuf" else None))
    if made.dtype == "category":
        made = made.astype(value_dtype(made))
    if made.dtype != dtype:
        made = _converted(made, dtype)
    if len(made.unique()) != len(made) or bool(made.isna().any()):
        raise InvalidArgumentError(
            f"CategoryEncoder: a vocabulary has a value twice, or a missing one: size={len(made)}, "
            f"distinct={int(made.nunique())}"
        )
    return made


class HashEncoder(Transformer):
    """Number values by a hash: no fit, no vocabulary, and values may share a code.

    Code 0 is left free for padding, 1 stands for missing values, the codes from 2 to
    ``1 + buckets`` for all others: those that `CategoryEncoder` has for unseen values.

    Parameters
    ----------
    buckets : int

    >>> codes = hr.learn.HashEncoder(buckets=100).fit_transform(hr.DataFrame({"user": ["a", None]}))
    >>> codes.tolist()[1], 2 <= codes.tolist()[0][0] < 102
    ([1], True)
    """

    _tags: ClassVar[Mapping[str, Any]] = CategoryEncoder._tags
    buckets: int

    def __init__(self, buckets: int) -> None:
        self.buckets = buckets

    def _check_loaded(self) -> None:
        check_count(self, "buckets")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the names of the columns of `X`."""
        check_count(self, "buckets")
        check_values(self, X, fit=True)
        return self

    def transform(self, X: Any) -> Any:
        """The codes of the values of `X`, int32 ``[samples, features]``."""
        self._check_fitted()
        mark("category_codes")
        columns = check_values(self, X)
        none = [column.series.head(0) for column in columns]
        none = [each.astype(value_dtype(each)) for each in none]
        return framed(self, X, code_columns("HashEncoder", columns, none, self.buckets))
