# SPDX-License-Identifier: Apache-2.0
"""Arguments of functions: constants, strings and numbers as columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.sql.casts import cast
from headrace.sql.values import (
    NULL,
    Constant,
    ConstantExpectedError,
    Operand,
    column_of,
    constant_of,
    type_name,
)


def constant(operand: Operand, word: str) -> Any:
    """The value of a constant; raises for a column, of which each value is then tried."""
    if not isinstance(operand, Constant):
        raise ConstantExpectedError(operand, word)
    return operand.value


def text_of(operand: Operand, like: _core.Node) -> _core.Node:
    """Strings as a column."""
    if isinstance(operand, Constant) and not isinstance(operand.value, str | type(None)):
        operand = cast(operand, "string")
    if operand.dtype not in ("string", NULL):
        raise TypeMismatchError(
            f"sql: expected strings: type={type_name(operand.dtype)}; use CAST(... AS VARCHAR)"
        )
    return column_of(operand, like, "string")


def numbers_of(operand: Operand, like: _core.Node, dtype: str = "float64") -> _core.Node:
    """Numbers as a column."""
    return column_of(cast(operand, dtype), like, dtype)


def of_constants(
    word: str, dtype: str, make: Callable[..., Any]
) -> Callable[[list[Operand], _core.Node], Operand]:
    """A function that is computed for constants only."""

    def handle(operands: list[Operand], like: _core.Node) -> Operand:
        values = [constant(each, word) for each in operands]
        if any(value is None for value in values):
            return Constant(None, dtype)
        try:
            return cast(constant_of(make(*values)), dtype)
        except (ValueError, OverflowError, TypeError, AttributeError):
            raise InvalidArgumentError(
                f"sql: the function is not defined here: word={word!r}, values={values}"
            ) from None

    return handle
