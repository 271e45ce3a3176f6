# SPDX-License-Identifier: Apache-2.0
"""`Series.cat`: categories and codes of a categorical column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import DType
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.facade import facade
from headrace.lazy.handle import mark
from headrace.rows import by_position
from headrace.series.column import is_series, new_series, series_of

if TYPE_CHECKING:
    from headrace.series.series import Series


def _values(categories: Any, own: str) -> Series:
    """Categories as a series; of dtype `own` where it holds them."""
    made = new_series(by_position(categories))._plain()
    if len(made) == 0:
        return new_series([], dtype=own)
    kind, wanted = made.dtype.kind, DType(own).kind
    return made.astype(own) if kind == wanted or (kind in "iu" and wanted in "iuf") else made


def _recoded(node: _core.Node, categories: Any, ordered: bool) -> _core.Node:
    """The values of a categorical column with these categories."""
    values = _values(categories, node.item_dtype)
    if values.dtype.kind == "f" and DType(node.item_dtype).kind in "iu":
        node = _core.astype(_core.astype(node, str(values.dtype)), "category")
    return _core.set_categories(node, values._node, ordered)


def _listed(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)


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
        """The distinct values, in code order; runs the plan.

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

    def set_categories(self, new_categories: Any, ordered: bool | None = None) -> Series:
        """The values with these categories, in this order; null where a value is not among them.

        >>> size = hr.Series(["M", "S", "L", "M"], dtype="category")
        >>> size.cat.set_categories(["S", "M", "L"], ordered=True).sort_values().to_list()
        ['S', 'M', 'M', 'L']
        """
        mark("set_categories")
        ordered = self.ordered if ordered is None else ordered
        return self._made(_recoded(self._series._node, new_categories, ordered))

    def reorder_categories(self, new_categories: Any, ordered: bool | None = None) -> Series:
        """The categories in another order; raises if they are not the same ones.

        >>> s = hr.Series(["b", "a", "b"], dtype="category")
        >>> s.cat.reorder_categories(["b", "a"]).cat.categories.to_list()
        ['b', 'a']
        """
        now, names = self.categories.to_list(), list(new_categories)
        if set(now) != set(names) or len(now) != len(names):
            raise InvalidArgumentError(
                "reorder_categories: expected the same categories in another order: "
                f"categories={now}, new_categories={names}; set_categories adds and drops "
                "categories"
            )
        return self.set_categories(names, ordered)

    def add_categories(self, new_categories: Any) -> Series:
        """Append categories.

        >>> s = hr.Series(["b", "a", "b"], dtype="category")
        >>> s.cat.add_categories(["c"]).cat.categories.to_list()
        ['a', 'b', 'c']
        """
        return self.set_categories([*self.categories.to_list(), *_listed(new_categories)])

    def remove_categories(self, removals: Any) -> Series:
        """Remove categories; their values become null.

        >>> s = hr.Series(["b", "a", "b"], dtype="category")
        >>> s.cat.remove_categories(["a"]).to_list()
        ['b', None, 'b']
        """
        now, gone = self.categories.to_list(), set(_listed(removals))
        if unknown := gone - set(now):
            raise InvalidArgumentError(
                f"remove_categories: unknown categories: removals={sorted(unknown)}, "
                f"categories={now}"
            )
        return self.set_categories([name for name in now if name not in gone])

    def remove_unused_categories(self) -> Series:
        """Keep only the categories that occur, in their order.

        >>> s = hr.Series(["b", "a", "b"], dtype="category")
        >>> s[s == "b"].cat.remove_unused_categories().cat.categories.to_list()
        ['b']
        """
        used = set(self._series.unique().to_list())
        return self.set_categories([name for name in self.categories.to_list() if name in used])

    def rename_categories(self, new_categories: Any) -> Series:
        """Rename categories: by ``{old: new}``, by a function, or by a list in code order.

        >>> size = hr.Series(["M", "S"], dtype="category")
        >>> size.cat.rename_categories({"M": "medium"}).to_list()
        ['medium', 'S']
        """
        node = self._series._node
        if isinstance(new_categories, Mapping):
            known = new_categories
            new_categories = [known.get(name, name) for name in self.categories.to_list()]
        elif callable(new_categories):
            new_categories = [new_categories(name) for name in self.categories.to_list()]
        mark("rename_categories")
        values = new_series(by_position(new_categories))
        return self._made(_core.rename_categories(node, values._node))

    def as_unordered(self) -> Series:
        """The column with unordered categories, which compare and sort alphabetically.

        >>> s = hr.Series(["b", "a", "b"], dtype="category")
        >>> s.cat.as_ordered().cat.as_unordered().cat.ordered
        False
        """
        return self.set_categories(self.categories, False)

    @property
    def ordered(self) -> bool:
        """Whether the categories are ordered; runs the plan.

        >>> s = hr.Series(["b", "a", "b"], dtype="category")
        >>> s.cat.ordered
        False
        """
        return bool(self._series._value().is_ordered)


def fillna(series: Series, value: Any) -> Series:
    """See `Series.fillna`; the categories stay, and anything else raises where it is needed."""
    categories, ordered, node = series.cat.categories, series.cat.ordered, series._node
    known = categories.to_list()
    if is_series(value):
        own = value if value.dtype == "category" else value.astype("category")
        found = own._like(_recoded(own._node, categories, ordered))
        unknown = value[series.isna() & found.isna() & value.notna()].head(1).to_list()
    elif value in known:
        codes = _core.retype(node, "int32")
        codes = series._like(codes).fill_null(known.index(value)).astype("int64")._node
        taken = _core.take(entries_of(categories, ordered), codes)
        return series._like(_core.in_domain(taken, node.domain))
    else:
        found, unknown = series, [value] if series.isna().any().item() else []
    if unknown:
        raise TypeMismatchError(
            f"fillna: the value is not among the categories: value={unknown[0]!r}, "
            f"categories={known}; add it with cat.add_categories first"
        )
    return series.fill_null(found)


def has_categories(values: Any) -> bool:
    """Whether values of pandas or Arrow come with categories, whose order is theirs."""
    kind = str(getattr(values, "dtype", getattr(values, "type", "")))
    return kind.startswith(("category", "dictionary"))


def entries_of(categories: Any, ordered: bool) -> _core.Node:
    """A column of each category, in this order, and null at the end."""
    values = _values(categories, "string")
    missing = new_series([None], dtype=str(values.dtype))
    distinct = _core.astype(_core.concat([values._node, missing._node]), "category")
    return _core.set_categories(distinct, values._node, ordered)


def of_pandas(values: Any) -> Series:
    """A column from a ``pandas.Categorical``."""
    import numpy as np

    entries = entries_of(values.categories, values.ordered)
    codes = np.where(values.codes < 0, len(values.categories), values.codes).astype("int64")
    return series_of(_core.take(entries, new_series(codes)._node))


def as_pandas_categories(series: Series, dtype: Any) -> Series:
    """`astype` to a ``pandas.CategoricalDtype``: its categories in its order."""
    names = getattr(dtype, "categories", None)
    ordered = bool(getattr(dtype, "ordered", False))
    made = series if series.dtype == "category" else series.astype("category")
    if names is None and not ordered:
        return made
    return made.cat.set_categories(
        made.cat.categories.sort_values() if names is None else names, ordered
    )
