# SPDX-License-Identifier: Apache-2.0
"""What the plug-in's series make of each value: fills, bounds, membership, replacement, dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from narwhals._utils import NO_DEFAULT, Version, isinstance_or_issubclass
from narwhals.exceptions import InvalidOperationError

from headrace import _core
from headrace.frame.duplicates import repeated_rows
from headrace.groupby.keys import Words
from headrace.interop.narwhals.dtypes import own_dtype
from headrace.interop.narwhals.relist import cast_items
from headrace.interop.narwhals.rows import (
    at_rows,
    chosen,
    operands,
    row_count,
    side_by_side,
    unary,
)
from headrace.series.column import is_series, new_series, series_of
from headrace.series.elementwise import row_positions


class Values:
    """Functions of each value; a mixin of the series."""

    native: Any
    node: Any
    _version: Any
    _made: Any
    _kept: Any

    def cast(self, dtype: Any) -> Self:
        """The values as another dtype."""
        dtypes, values = self._version.dtypes, self.native
        is_struct = isinstance_or_issubclass(dtype, dtypes.Struct) and hasattr(dtype, "fields")
        if is_struct and values.dtype.startswith("struct["):
            return self._cast_fields(dtype)
        word = own_dtype(dtype, self._version)
        if isinstance_or_issubclass(dtype, dtypes.Enum):
            if self._version is Version.V1:
                raise NotImplementedError(
                    "Converting to Enum is not supported in narwhals.stable.v1"
                )
            if isinstance(dtype, type):
                raise ValueError("Can not cast / initialize Enum without categories present")
            texts = values.astype("string")
            made = texts.astype("category").cat.set_categories(list(dtype.categories), True)
            if int(made.is_null().astype("int64").sum()) > int(
                values.is_null().astype("int64").sum()
            ):
                raise InvalidOperationError("cast: values outside of the categories of the Enum")
            return self._kept(made._node)
        if word.startswith("list[") and values.dtype.startswith("list["):
            return self._kept(cast_items(values, word[5:-1]))
        if values.dtype == "category" and word != "category":
            values = values.astype("string") if word == "string" else values
        return self._kept(values.astype(word)._node)

    def _cast_fields(self, dtype: Any) -> Self:
        """Structs with their fields as other dtypes."""
        values = self.native
        made = {
            field.name: self._made(values.struct.field(field.name)._node).cast(field.dtype).node
            for field in dtype.fields
        }
        structs = _core.structs_of(list(made), list(made.values()))
        places = chosen(values.is_null(), -1, row_positions(values._plain()))
        return self._kept(_core.in_domain(_core.asof_values(structs, places), self.node.domain))

    def fill_nan(self, value: float | None) -> Self:
        """The values with another one for NaN."""
        if self.native.dtype.kind != "f":
            return self._kept(self.node)
        return self._kept(chosen(unary("isnan", self.native), value, self.native))

    def fill_null(self, value: Any, strategy: str | None, limit: int | None) -> Self:
        """The values with another one for null, or with that of the last or next row."""
        if strategy is None:
            left, right, _ = operands(self, value)
            if hasattr(left, "_node"):
                return self._kept(chosen(left.is_null(), right, left))
            return self._kept(self.node)
        values = self.native
        places = row_positions(series_of(self.node))
        there = series_of(chosen(~values.is_null(), places, None))
        near = series_of(_core.fill_missing(there._node, strategy == "backward"))
        if limit is not None:
            far = (places - near if strategy == "forward" else near - places) > limit
            near = series_of(chosen(far, None, near))
        found = _core.asof_values(self.node, near.fill_null(-1)._node)
        return self._kept(_core.in_domain(found, self.node.domain))

    def clip(self, lower_bound: Any, upper_bound: Any) -> Self:
        """The values within two bounds."""
        return self.clip_lower(lower_bound).clip_upper(upper_bound)

    def clip_lower(self, lower_bound: Any) -> Self:
        """The values, none below a bound."""
        return self._bounded("maximum", lower_bound)

    def clip_upper(self, upper_bound: Any) -> Self:
        """The values, none above a bound."""
        return self._bounded("minimum", upper_bound)

    def _bounded(self, op: str, bound: Any) -> Self:
        left, right, single = operands(self, bound)
        if right is None:
            return self._kept(self.node)
        made = self._made(_core.apply(op, (left, right), False, True))
        made._broadcast = single
        return made

    def is_between(self, lower_bound: Any, upper_bound: Any, closed: str) -> Self:
        """Whether the values lie between two bounds."""
        me: Any = self
        low = me >= lower_bound if closed in ("both", "left") else me > lower_bound
        high = me <= upper_bound if closed in ("both", "right") else me < upper_bound
        between: Self = low & high
        return between

    def is_in(self, other: Any) -> Self:
        """Whether the values are among others; null where they are null."""
        wanted = other.native if hasattr(other, "_broadcast") else other
        listed = wanted if is_series(wanted) else list(wanted)
        found = self.native.isin(listed)
        return self._kept(chosen(self.native.is_null(), None, found))

    def _rows_of_values(self, keep: str | bool) -> Self:
        return self._kept(_core.in_domain(repeated_rows([self.node], keep), self.node.domain))

    def is_unique(self) -> Self:
        """Whether no other row has the same value."""
        made: Self = ~self._rows_of_values(False)  # type: ignore[operator]
        return made

    def is_first_distinct(self) -> Self:
        """Whether no earlier row has the same value."""
        made: Self = ~self._rows_of_values("first")  # type: ignore[operator]
        return made

    def is_last_distinct(self) -> Self:
        """Whether no later row has the same value."""
        made: Self = ~self._rows_of_values("last")  # type: ignore[operator]
        return made

    def replace_strict(
        self, default: Any, old: Sequence[Any], new: Sequence[Any], *, return_dtype: Any
    ) -> Self:
        """The values replaced one for one; another one, or an error, for any other."""
        values = self.native
        olds, news = new_series(list(old)), new_series(list(new))
        if return_dtype is not None:
            news = news.astype(own_dtype(return_dtype, self._version))
        known = old_and_new(values, olds)
        found = series_of(
            _core.in_domain(
                _core.asof_values(news._node, known.fill_null(-1)._node), self.node.domain
            )
        )
        if default is NO_DEFAULT:
            if bool(known.is_null().any()):
                gone = values[known.is_null()].unique().to_list()
                raise ValueError(
                    "replace_strict did not replace all non-null values.\n\n"
                    f"The following did not get replaced: {gone}"
                )
            return self._kept(found._node)
        instead = default
        if hasattr(default, "_broadcast"):
            (instead,) = [series_of(each) for each in side_by_side([self, default])[1:]]
        return self._kept(chosen(known.is_null(), instead, found))

    def zip_with(self, mask: Any, other: Any) -> Self:
        """These values where a mask is true, else others."""
        truths = series_of(at_rows(mask.node, self.node))
        theirs = series_of(at_rows(other.node, self.node))
        return self._kept(chosen(truths, self.native, theirs))

    def scatter(self, indices: Any, values: Any) -> Self:
        """The values with those at some places replaced."""
        import numpy as np

        places = np.atleast_1d(np.asarray(_plain(indices)))
        fresh = values.native if hasattr(values, "native") else new_series(np.atleast_1d(values))
        fresh = fresh.astype(self.native._node.dtype)
        rows = row_count(self.node)
        order = np.arange(rows)
        order[places.astype("int64")] = rows + np.arange(len(places))
        both = _core.concat([self.node, fresh._node])
        return self._kept(
            _core.in_domain(_core.take(both, new_series(order)._node), self.node.domain)
        )

    def first_rows(self) -> Any:
        """The places of the first row of each distinct value."""
        words = [Words("", "first_row")]
        return _core.part(_core.group_by([("key", self.node)], words, "first", False), 1)


def old_and_new(values: Any, olds: Any) -> Any:
    """The place of each value in a list of others; null if it is not there."""
    if values.dtype == "category":
        values = values.astype("string")
    places = row_positions(olds)
    domain = _core.new_domain()
    right = _core.in_domain(olds._node, domain)
    numbers = _core.in_domain(places._node, domain)
    left = (
        values._node if values._node.domain else _core.in_domain(values._node, _core.new_domain())
    )
    table = _core.join(
        (left, right),
        [(left, right)],
        [("place", None, numbers)],
        "left",
        (False, True),
        "",
        "left",
    )
    return series_of(_core.in_domain(_core.part(table, 0), values._node.domain))


def _plain(value: Any) -> Any:
    return value.native.to_numpy() if hasattr(value, "native") else value
