# SPDX-License-Identifier: Apache-2.0
"""Operators as methods: one table of names, functions and words for frames and series."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

Binary = Callable[[Any, Any], Any]


def turned(function: Binary) -> Binary:
    """The function with its operands swapped."""
    return lambda mine, theirs: function(theirs, mine)


#: In the order in which classes name the methods.
_METHODS: tuple[tuple[str, Binary, str], ...] = (
    ("add", operator.add, "Sums"),
    ("sub", operator.sub, "Differences"),
    ("mul", operator.mul, "Products"),
    ("div", operator.truediv, "Quotients"),
    ("floordiv", operator.floordiv, "Floor division"),
    ("mod", operator.mod, "Remainders"),
    ("pow", operator.pow, "Powers"),
    ("eq", operator.eq, "True where the values are equal"),
    ("ne", operator.ne, "True where the values differ"),
    ("lt", operator.lt, "True where the values are smaller"),
    ("le", operator.le, "True where the values are smaller or equal"),
    ("gt", operator.gt, "True where the values are greater"),
    ("ge", operator.ge, "True where the values are greater or equal"),
)


def operator_methods(method: Callable[[str, Binary, str], Any]) -> tuple[Any, ...]:
    """A method for each operator, which `method` makes from its name, function and words."""
    return tuple(method(*each) for each in _METHODS)
