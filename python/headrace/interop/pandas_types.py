# SPDX-License-Identifier: Apache-2.0
"""Missing values, dtypes and categories under pandas' names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from headrace.dtypes import DType
from headrace.errors import InvalidArgumentError
from headrace.series.categorical import as_pandas_categories
from headrace.series.column import new_series

if TYPE_CHECKING:
    from headrace.series.series import Series

#: A missing value: null, which is None in Python.
NA = None


class _KindOfDType(type):
    """Dtypes of columns are instances: ``isinstance(s.dtype, CategoricalDtype)``."""

    _holds: Callable[[DType], bool]

    def __instancecheck__(cls, value: object) -> bool:
        return type.__instancecheck__(cls, value) or (
            isinstance(value, DType) and cls._holds(value)
        )


class CategoricalDtype(metaclass=_KindOfDType):
    """Categories in an order, for `Series.astype`.

    >>> sizes = hr.CategoricalDtype(["S", "M", "L"], ordered=True)
    >>> s = hr.Series(["M", "S"]).astype(sizes)
    >>> s.sort_values().to_list(), isinstance(s.dtype, hr.CategoricalDtype)
    (['S', 'M'], True)
    """

    name: str = "category"

    @staticmethod
    def _holds(dtype: DType) -> bool:
        return dtype == "category"

    def __init__(self, categories: Iterable[str] | None = None, ordered: bool = False) -> None:
        self.categories: list[str] | None = None if categories is None else list(categories)
        self.ordered = ordered

    def __repr__(self) -> str:
        return f"CategoricalDtype(categories={self.categories}, ordered={self.ordered})"


class DatetimeTZDtype(metaclass=_KindOfDType):
    """Times of a zone, for `Series.astype` and ``isinstance(s.dtype, hr.DatetimeTZDtype)``.

    >>> str(hr.DatetimeTZDtype("us", "UTC"))
    'datetime64[us, UTC]'
    """

    @staticmethod
    def _holds(dtype: DType) -> bool:
        return dtype.kind == "M" and "," in dtype

    def __init__(self, unit: str = "ns", tz: Any = None) -> None:
        if tz is None:
            raise InvalidArgumentError("DatetimeTZDtype: expected a zone: tz=None; tz='UTC'")
        self.name: str = f"datetime64[{unit}, {tz}]"

    def __repr__(self) -> str:
        return self.name


class Categorical:
    """A series of categories; without `categories` those that occur, sorted.

    >>> hr.Categorical(["b", "a"], categories=["a", "b", "c"]).cat.categories.to_list()
    ['a', 'b', 'c']
    """

    def __new__(  # type: ignore[misc]
        cls,
        values: Any,
        categories: Iterable[str] | None = None,
        ordered: bool = False,
        dtype: Any = None,
    ) -> Series:
        """Make the series."""
        kind = CategoricalDtype(categories, ordered) if dtype is None else dtype
        return as_pandas_categories(new_series(values), kind)

    @staticmethod
    def from_codes(codes: Any, categories: Iterable[str], ordered: bool = False) -> Series:
        """The categories at positions; -1 for a missing one."""
        names = list(categories)
        values = [None if code < 0 else names[code] for code in codes]
        return as_pandas_categories(new_series(values), CategoricalDtype(names, ordered))
