# SPDX-License-Identifier: Apache-2.0
"""`Series.cat`: categories and codes of a categorical column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.facade import facade
from headrace.lazy.handle import mark
from headrace.series.column import new_series, series_of

if TYPE_CHECKING:
    from headrace.series.series import Series


def _names(op: str, names: Sequence[str]) -> list[str]:
    made = list(names)
    if len(set(made)) < len(made) or not all(isinstance(name, str) for name in made):
        raise InvalidArgumentError(f"{op}: expected distinct strings: new_categories={made!r}")
    return made


@facade("Series.cat")
class CategoryAccessor:
    """Accessor `Series.cat`: categories and codes of a categorical column."""

    __slots__ = ("_series",)

    def __init__(self, series: Series) -> None:
        if series.dtype != "category":
            raise TypeMismatchError(
                f"cat: expected a categorical column: dtype={str(series.dtype)!r}; use "
                "astype('category') first"
            )
        self._series = series

    def _made(self, node: _core.Node) -> Series:
        return self._series._like(node)

    @property
    def categories(self) -> Series:
        """The distinct strings, in code order; runs the plan.

        >>> s = hr.Series(["b", "a", "b"], dtype="category")
        >>> s.cat.categories.to_list()
        ['a', 'b']
        """
        return series_of(_core.data(self._series._value().categories))

    @property
    def codes(self) -> Series:
        """The codes, int32, -1 where the value is null; on the same memory if none is.

        >>> s = hr.Series(["b", "a", None, "b"], dtype="category")
        >>> s.cat.codes.to_list()
        [1, 0, -1, 1]
        """
        mark("codes")
        return self._made(_core.retype(self._series._node, "int32")).fill_null(-1)

    def as_ordered(self) -> Series:
        """The column with ordered categories, which compare and sort by that order.

        >>> size = hr.Series(["S", "L", "M"], dtype="category").cat.as_ordered()
        >>> size.sort_values().to_list(), size.max()
        (['L', 'M', 'S'], 'S')
        """
        mark("as_ordered")
        return self._made(_core.ordered_categories(self._series._node))

    def set_categories(self, new_categories: Sequence[str], *, ordered: bool = False) -> Series:
        """The values with these categories, in this order; null where a value is not among them.

        >>> size = hr.Series(["M", "S", "L", "M"], dtype="category")
        >>> size.cat.set_categories(["S", "M", "L"], ordered=True).sort_values().to_list()
        ['S', 'M', 'M', 'L']
        """
        names = _names("set_categories", new_categories)
        return self._made(_core.set_categories(self._series._node, names, ordered))

    def reorder_categories(self, new_categories: Sequence[str], *, ordered: bool = False) -> Series:
        """The categories in another order; raises if they are not the same ones.

        >>> s = hr.Series(["b", "a", "b"], dtype="category")
        >>> s.cat.reorder_categories(["b", "a"]).cat.categories.to_list()
        ['b', 'a']
        """
        now, names = self.categories.to_list(), list(new_categories)
        if sorted(now) != sorted(names):
            raise InvalidArgumentError(
                "reorder_categories: expected the same categories in another order: "
                f"categories={now}, new_categories={names}; set_categories adds and drops "
                "categories"
            )
        return self.set_categories(names, ordered=ordered)

    def add_categories(self, new_categories: str | Sequence[str]) -> Series:
        """Append categories.

        >>> s = hr.Series(["b", "a", "b"], dtype="category")
        >>> s.cat.add_categories(["c"]).cat.categories.to_list()
        ['a', 'b', 'c']
        """
        more = [new_categories] if isinstance(new_categories, str) else list(new_categories)
        return self.set_categories([*self.categories.to_list(), *more], ordered=self.ordered)

    def remove_categories(self, removals: str | Sequence[str]) -> Series:
        """Remove categories; their values become null.

        >>> s = hr.Series(["b", "a", "b"], dtype="category")
        >>> s.cat.remove_categories(["a"]).to_list()
        ['b', None, 'b']
        """
        gone = {removals} if isinstance(removals, str) else set(removals)
        kept = [name for name in self.categories.to_list() if name not in gone]
        return self.set_categories(kept, ordered=self.ordered)

    def remove_unused_categories(self) -> Series:
        """Keep only the categories that occur, in their order.

        >>> s = hr.Series(["b", "a", "b"], dtype="category")
        >>> s[s == "b"].cat.remove_unused_categories().cat.categories.to_list()
        ['b']
        """
        used = set(self._series.unique().to_list())
        kept = [name for name in self.categories.to_list() if name in used]
        return self.set_categories(kept, ordered=self.ordered)

    def rename_categories(self, new_categories: Mapping[str, str] | Sequence[str]) -> Series:
        """Rename categories: by ``{old: new}``, or by a list in code order.

        >>> size = hr.Series(["M", "S"], dtype="category")
        >>> size.cat.rename_categories({"M": "medium"}).to_list()
        ['medium', 'S']
        """
        now = self.categories.to_list()
        if not isinstance(new_categories, Mapping):
            new_categories = dict(zip(now, new_categories, strict=True))
        renamed = [new_categories.get(name, name) for name in now]
        names = _names("rename_categories", renamed)
        return self._made(_core.rename_categories(self._series._node, names))

    def as_unordered(self) -> Series:
        """The column with unordered categories, which compare and sort alphabetically.

        >>> s = hr.Series(["b", "a", "b"], dtype="category")
        >>> s.cat.as_ordered().cat.as_unordered().cat.ordered
        False
        """
        return self.set_categories(self.categories.to_list())

    @property
    def ordered(self) -> bool:
        """Whether the categories are ordered; runs the plan.

        >>> s = hr.Series(["b", "a", "b"], dtype="category")
        >>> s.cat.ordered
        False
        """
        return bool(self._series._value().is_ordered)


def has_categories(values: Any) -> bool:
    """Whether values of pandas or Arrow come with categories, whose order is theirs."""
    kind = str(getattr(values, "dtype", getattr(values, "type", "")))
    return kind.startswith(("category", "dictionary"))


def entries_of(names: Sequence[str], ordered: bool) -> _core.Node:
    """A column of each category, in this order, and null at the end."""
    if not all(isinstance(name, str) for name in names):
        raise TypeMismatchError(
            f"astype: categories must be strings: categories={list(names)[:4]}; use "
            "astype('string') first"
        )
    distinct = _core.astype(new_series([*names, None], dtype="string")._node, "category")
    return _core.set_categories(distinct, list(names), ordered)


def of_pandas(values: Any) -> Series:
    """A column from a ``pandas.Categorical``; raises unless the categories are strings."""
    import numpy as np

    names = values.categories.tolist()
    entries = entries_of(names, values.ordered)
    codes = np.where(values.codes < 0, len(names), values.codes).astype("int64")
    return series_of(_core.take(entries, new_series(codes)._node))


def as_pandas_categories(series: Series, dtype: Any) -> Series:
    """`astype` to a ``pandas.CategoricalDtype``: its categories in its order."""
    names = getattr(dtype, "categories", None)
    ordered = bool(getattr(dtype, "ordered", False))
    made = series if series.dtype == "category" else series.astype("category")
    if names is None and not ordered:
        return made
    names = sorted(made.cat.categories.to_list()) if names is None else list(names)
    return made.cat.set_categories(names, ordered=ordered)
