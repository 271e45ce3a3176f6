# SPDX-License-Identifier: Apache-2.0
"""narwhals' namespace: expressions of several columns, and reading and making frames."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from narwhals._compliant import EagerNamespace
from narwhals._expression_parsing import (
    combine_alias_output_names,
    combine_evaluate_output_names,
)
from narwhals._utils import check_column_names_are_unique

from headrace import _core
from headrace.dtypes import DType
from headrace.frame.columns import frame_of, is_frame
from headrace.frame.concat import rows_of
from headrace.interop.narwhals.expr import HeadraceExpr, HeadraceSelectors
from headrace.interop.narwhals.frame import HeadraceFrame
from headrace.interop.narwhals.group_by import HeadraceGroups
from headrace.interop.narwhals.relist import listed_rows
from headrace.interop.narwhals.roles import Role
from headrace.interop.narwhals.rows import at_rows, binary, chosen, null_column, side_by_side
from headrace.interop.narwhals.series import HeadraceSeries
from headrace.io.csv import read_csv
from headrace.io.parquet import read_parquet
from headrace.lazy.handle import array_of
from headrace.series.column import is_series, series_of


class HeadraceNamespace(Role, EagerNamespace[Any, Any, Any, Any, Any], role="namespace"):  # type: ignore[misc]
    """The functions of narwhals that are no methods."""

    def __init__(self, *, version: Any) -> None:
        self._version = version

    @property
    def _dataframe(self) -> type[HeadraceFrame]:
        return HeadraceFrame

    @property
    def _series(self) -> type[HeadraceSeries]:
        return HeadraceSeries

    #: The class that frames find as their role.
    groups = HeadraceGroups

    @property
    def _expr(self) -> type[HeadraceExpr]:
        return HeadraceExpr

    @property
    def selectors(self) -> HeadraceSelectors:
        """Expressions that choose columns."""
        made: HeadraceSelectors = HeadraceSelectors.from_namespace(self)
        return made

    def is_native(self, obj: Any, /) -> bool:
        """Whether it is a frame or series of ours."""
        return is_frame(obj) or is_series(obj)

    # ---- reading ---------------------------------------------------------------------------------
    def read_csv(self, source: Any, *, separator: str = ",", **kwds: Any) -> HeadraceFrame:
        """A CSV file as a frame; options as `hr.read_csv` has them."""
        return HeadraceFrame.from_native(read_csv(source, sep=separator, **kwds), context=self)

    def read_parquet(self, source: Any, **kwds: Any) -> HeadraceFrame:
        """A Parquet file as a frame; options as `hr.read_parquet` has them."""
        return HeadraceFrame.from_native(read_parquet(source, **kwds), context=self)

    # ---- single values ---------------------------------------------------------------------------
    def _single(self, name: str, make: Callable[[Any], Any]) -> HeadraceExpr:
        return HeadraceExpr(
            lambda frame: [make(frame)],
            evaluate_output_names=lambda _frame: [name],
            alias_output_names=None,
            version=self._version,
        )

    def len(self) -> HeadraceExpr:
        """The number of rows."""
        return self._single(
            "len",
            lambda frame: HeadraceSeries.from_iterable([len(frame)], name="len", context=self),
        )

    def lit(self, value: Any, dtype: Any) -> HeadraceExpr:
        """A single value."""

        def make(_frame: Any) -> HeadraceSeries:
            made = HeadraceSeries.from_iterable([value], name="literal", context=self, dtype=dtype)
            if dtype is None and isinstance(value, bool | int | float | str):
                made._literal = value
            return made

        return self._single("literal", make)

    # ---- across columns --------------------------------------------------------------------------
    def _across(
        self, exprs: Sequence[Any], combine: Callable[[list[Any]], Any], aligned: bool = False
    ) -> HeadraceExpr:
        """An expression of several columns, named like the first."""

        def evaluate(frame: Any) -> list[Any]:
            series = list(chain.from_iterable(expr(frame) for expr in exprs))
            if aligned:
                single = all(each._broadcast for each in series)
                name = series[0].name
                series = list(HeadraceSeries._align_full_broadcast(*series))
                made = combine(series).alias(name)
                made._broadcast = single
                return [made]
            return [combine(series).alias(series[0].name)]

        made: HeadraceExpr = HeadraceExpr._from_callable(
            evaluate,
            evaluate_output_names=combine_evaluate_output_names(*exprs),
            alias_output_names=combine_alias_output_names(*exprs),
            context=self,
        )
        return made

    def _folded(self, exprs: Sequence[Any], op: Callable[[Any, Any], Any], fill: Any) -> Any:
        def combine(series: list[Any]) -> Any:
            if fill is not None:
                series = [each.fill_null(fill, None, None) for each in series]
            return functools.reduce(op, series)

        return self._across(exprs, combine)

    def all_horizontal(self, *exprs: Any, ignore_nulls: bool) -> Any:
        """Whether all are true in each row."""
        return self._folded(exprs, operator.and_, True if ignore_nulls else None)

    def any_horizontal(self, *exprs: Any, ignore_nulls: bool) -> Any:
        """Whether any is true in each row."""
        return self._folded(exprs, operator.or_, False if ignore_nulls else None)

    def sum_horizontal(self, *exprs: Any) -> Any:
        """The total of each row; null counts as 0."""
        return self._across(exprs, _total)

    def mean_horizontal(self, *exprs: Any) -> Any:
        """The mean of each row, of the values that are there."""

        def combine(series: list[Any]) -> Any:
            there = [(~each.is_null()).cast(self._version.dtypes.Int64()) for each in series]
            count = functools.reduce(operator.add, there)
            mean = _total(series) / count
            return mean._kept(chosen(count.native == 0, None, mean.native))

        return self._across(exprs, combine)

    def min_horizontal(self, *exprs: Any) -> Any:
        """The smallest value of each row; null is skipped."""
        return self._across(exprs, functools.partial(_extreme, "minimum"), aligned=True)

    def max_horizontal(self, *exprs: Any) -> Any:
        """The largest value of each row; null is skipped."""
        return self._across(exprs, functools.partial(_extreme, "maximum"), aligned=True)

    def coalesce(self, *exprs: Any) -> Any:
        """The first value of each row that is not null."""

        def combine(series: list[Any]) -> Any:
            made = series[-1].native
            for each in series[-2::-1]:
                made = series_of(chosen(each.native.is_null(), made, each.native))
            return series[0]._kept(made._node)

        return self._across(exprs, combine, aligned=True)

    def concat_str(self, *exprs: Any, separator: str, ignore_nulls: bool) -> Any:
        """The strings of each row put together."""

        def combine(series: list[Any]) -> Any:
            texts = [each.native.astype("string") for each in series]
            if not ignore_nulls:
                pieces: list[Any] = []
                for text in texts:
                    pieces += [separator, text._node] if pieces else [text._node]
                return series[0]._kept(_core.concatenate_text(pieces))
            made, some = texts[0].fill_null(""), ~texts[0].is_null()
            for text in texts[1:]:
                there = ~text.is_null()
                gap = series_of(chosen(some & there, separator, _blank(made)))
                words = [made._node, gap._node, text.fill_null("")._node]
                made = series_of(_core.concatenate_text(words))
                some = some | there
            return series[0]._kept(made._node)

        return self._across(exprs, combine, aligned=True)

    def struct(self, *exprs: Any) -> Any:
        """The values of each row as a struct with a field for each expression."""

        def combine(series: list[Any]) -> Any:
            names = [each.name for each in series]
            check_column_names_are_unique(names)
            return series[0]._kept(_core.structs_of(names, [each.node for each in series]))

        return self._across(exprs, combine, aligned=True)

    def list(self, *exprs: Any) -> Any:
        """The values of each row as a list."""

        def combine(series: list[Any]) -> Any:
            return series[0]._kept(listed_rows([each.native for each in series]))

        return self._across(exprs, combine, aligned=True)

    def _if_then_else(self, when: Any, then: Any, otherwise: Any = None) -> Any:
        if otherwise is None:
            otherwise = null_column(then._node, then._node.dtype)
        return series_of(chosen(when, then, otherwise))

    # ---- two columns -----------------------------------------------------------------------------
    def _paired(self, a: Any, b: Any, make: Callable[[Any, Any], Any]) -> HeadraceExpr:
        def evaluate(frame: Any) -> Sequence[Any]:
            one, other = (frame._evaluate_single_output_expr(each) for each in (a, b))
            left = one.native
            right = series_of(at_rows(other.node, left._node))
            there = ~(left.is_null() | right.is_null())
            value = make(left[there], right[there])
            return [HeadraceSeries.from_iterable([value], name=one.name, context=self)]

        made: HeadraceExpr = HeadraceExpr._from_callable(
            evaluate,
            evaluate_output_names=combine_evaluate_output_names(a, b),
            alias_output_names=combine_alias_output_names(a, b),
            context=self,
        )
        return made

    def corr(self, a: Any, b: Any, *, method: str) -> HeadraceExpr:
        """The correlation of two columns, where neither is null."""

        def make(left: Any, right: Any) -> float | None:
            if not len(left):
                return None
            if method == "spearman":
                left, right = left.rank(), right.rank()
            columns = [_core.correlated_numbers(each._node) for each in (left, right)]
            return float(array_of(_core.correlation(columns))[0, 1])

        return self._paired(a, b, make)

    def cov(self, a: Any, b: Any, *, ddof: int) -> HeadraceExpr:
        """The covariance of two columns, where neither is null."""

        def make(left: Any, right: Any) -> float | None:
            count = len(left)
            if count <= ddof:
                return None
            product = (left - left.mean()) * (right - right.mean())
            return float(product.sum()) / (count - ddof)

        return self._paired(a, b, make)

    # ---- frames ----------------------------------------------------------------------------------
    def _concat_diagonal(self, dfs: Sequence[Any], /) -> Any:
        return rows_of(list(dfs))

    def _concat_vertical(self, dfs: Sequence[Any], /) -> Any:
        first = list(dfs[0].columns)
        for place, each in enumerate(dfs[1:], start=1):
            if list(each.columns) != first:
                raise TypeError(
                    "unable to vstack, column names don't match:\n"
                    f"   - dataframe 0: {first}\n"
                    f"   - dataframe {place}: {list(each.columns)}\n"
                )
        return rows_of(list(dfs))

    def _concat_horizontal(self, dfs: Sequence[Any], /) -> Any:
        series = [
            HeadraceSeries(series_of(node, name), name=name, version=self._version)
            for each in dfs
            for name, node in each._nodes.items()
        ]
        most = max((len(each) for each in series), default=0)
        series = [each if len(each) == most else each._lengthened(most) for each in series]
        names = [each.name for each in series]
        if len(set(names)) < len(names):
            check_column_names_are_unique(names)
        return frame_of(dict(zip(names, side_by_side(series), strict=True)))


def _blank(like: Any) -> Any:
    return series_of(_core.repeat(like._node, ""))


def _total(series: list[Any]) -> Any:
    """The sum of columns, null as 0; truth values count."""
    numbers = []
    for each in series:
        values = each.native
        values = values.astype("int64") if values.dtype == "bool" else values
        numbers.append(each._kept(values._node).fill_null(0, None, None))
    return functools.reduce(operator.add, numbers)


def _extreme(op: str, series: list[Any]) -> Any:
    made = series[0].native
    for each in series[1:]:
        theirs = each.native
        if DType(made._node.dtype).is_of("biuf"):
            both = series_of(binary(op, made, theirs))
        else:
            first = made <= theirs if op == "minimum" else made >= theirs
            both = series_of(chosen(first, made, theirs))
        both = series_of(chosen(made.is_null(), theirs, both))
        made = series_of(chosen(theirs.is_null(), made, both))
    return series[0]._kept(made._node)
