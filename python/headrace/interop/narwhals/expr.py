# SPDX-License-Identifier: Apache-2.0
"""narwhals' expressions over our series, and its selectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from narwhals._compliant import CompliantSelector, EagerExpr, EagerSelectorNamespace

from headrace.interop.narwhals.over import over_rows
from headrace.interop.narwhals.roles import Role


class HeadraceExpr(Role, EagerExpr[Any, Any]):  # type: ignore[misc]
    """A function of a frame that gives series; most of it reuses the methods of series."""

    def __init__(
        self,
        call: Any,
        *,
        evaluate_output_names: Any,
        alias_output_names: Any,
        version: Any,
        implementation: Any = None,
    ) -> None:
        self._call = call
        self._evaluate_output_names = evaluate_output_names
        self._alias_output_names = alias_output_names
        self._version = version

    @classmethod
    def from_column_names(cls, evaluate_column_names: Any, /, *, context: Any) -> Self:
        """The columns of these names."""

        def columns(frame: Any) -> Sequence[Any]:
            names = evaluate_column_names(frame)
            if error := frame._check_columns_exist(names):
                raise error
            return [frame.get_column(name) for name in names]

        return cls(
            columns,
            evaluate_output_names=evaluate_column_names,
            alias_output_names=None,
            version=context._version,
        )

    @classmethod
    def from_column_indices(cls, *column_indices: int, context: Any) -> Self:
        """The columns at these places."""
        return cls(
            lambda frame: [frame.get_column(frame.columns[place]) for place in column_indices],
            evaluate_output_names=cls._eval_names_indices(column_indices),
            alias_output_names=None,
            version=context._version,
        )

    def _reuse_series_extra_kwargs(self, *, returns_scalar: bool = False) -> dict[str, Any]:
        return {"_return_py_scalar": False} if returns_scalar else {}

    def ewm_mean(self, **options: Any) -> Self:
        """The exponentially weighted mean."""
        made: Self = self._reuse_series("ewm_mean", **options)
        return made

    def over(self, partition_by: Sequence[str], order_by: Sequence[str]) -> Self:
        """The expression of each partition, for each of its rows."""
        return self._from_callable(
            lambda frame: over_rows(self, frame, list(partition_by), list(order_by)),
            evaluate_output_names=self._evaluate_output_names,
            alias_output_names=self._alias_output_names,
            context=self,
        )


class HeadraceSelectors(EagerSelectorNamespace[Any, Any]):  # type: ignore[misc]
    """Expressions that choose columns by dtype or name."""

    @property
    def _selector(self) -> type[HeadraceSelector]:
        return HeadraceSelector


class HeadraceSelector(CompliantSelector[Any, Any], HeadraceExpr):  # type: ignore[misc]
    """One of them."""

    def _to_expr(self) -> HeadraceExpr:
        return HeadraceExpr(
            self._call,
            evaluate_output_names=self._evaluate_output_names,
            alias_output_names=self._alias_output_names,
            version=self._version,
        )
