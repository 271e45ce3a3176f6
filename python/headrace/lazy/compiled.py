# SPDX-License-Identifier: Apache-2.0
"""Functions of floats that cannot be traced, compiled by Numba where that gives Python's values.

What is left for it are loops whose length depends on the value. Its types must prove that each step
has the bits of Python's: arithmetic of floats, comparisons, and counters that cannot leave int64.
"""

from __future__ import annotations

import importlib.util
import operator
from types import FunctionType
from typing import TYPE_CHECKING, Any

from headrace.lazy.traceable import is_traceable, read_values
from headrace.series.column import new_series, with_rows_of

if TYPE_CHECKING:
    from headrace.series.series import Series

#: Loading Numba and the first function takes 4 s, as long as some million calls.
_FEWEST_ROWS = 1 << 22
_ARITHMETIC = ("add", "sub", "mul", "truediv")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_COUNTING = ("add", "sub")
_CALLS = (abs, bool, float, range)
_STEPS = ("cast", "getiter", "iternext", "pair_first", "pair_second", "phi")
#: Of a counter: it would take hours to leave int64.
_LONGEST_STEP = 1 << 16
_EXACT_IN_FLOATS = 1 << 53
_MOST_KEPT = 64

_kept: dict[Any, Any] = {}


def _word(function: Any) -> str:
    """The name of an operator; ``s += 1`` is that of ``s + 1``."""
    name = getattr(function, "__name__", "")
    plain = name.removeprefix("i") if getattr(operator, name, None) is function else ""
    return name if name in (*_ARITHMETIC, *_COMPARISONS) else plain


def _is_exact(overload: Any) -> bool:
    """Whether all steps of a compiled function have the bits of Python's."""
    from numba.core import ir, types

    found = overload.type_annotation
    steps = [
        (each.value, found.typemap[each.target.name])
        for block in found.blocks.values()
        for each in block.body
        if isinstance(each, ir.Assign)
    ]
    bools = (types.Boolean, types.BooleanLiteral)
    for step, kind in steps:
        if isinstance(step, ir.Const | ir.Global | ir.FreeVar):
            if isinstance(step.value, int) and abs(step.value) > _EXACT_IN_FLOATS:
                return False
            continue
        names = [step] if isinstance(step, ir.Var) else getattr(step, "list_vars", list)()
        given = [found.typemap[each.name] for each in names]
        copies = isinstance(step, ir.Var) or getattr(step, "op", "") in ("cast", "phi")
        if copies and not isinstance(kind, bools) and any(isinstance(e, bools) for e in given):
            return False  # True would become 1.0
        if isinstance(step, ir.Expr) and not _is_exact_step(step, given):
            return False
    return overload.signature.return_type in (types.float64, types.int64, types.boolean)


def _is_exact_step(step: Any, given: list[Any]) -> bool:
    from numba.core import types

    if step.op == "call":
        called = getattr(given[0], "typing_key", None)
        return called in _CALLS and (called is not abs or given[1] == types.float64)
    if step.op == "unary":
        return step.fn is operator.not_ or given[0] == types.float64
    if step.op not in ("binop", "inplace_binop"):
        return step.op in _STEPS
    if not all(isinstance(each, types.Float | types.Integer) for each in given):
        return False
    word = _word(step.fn)
    if types.float64 in given:
        return word in (*_ARITHMETIC, *_COMPARISONS)
    steps = [abs(each.literal_value) for each in given if isinstance(each, types.IntegerLiteral)]
    counts = word in _COUNTING and bool(steps) and min(steps) <= _LONGEST_STEP
    return counts or word in _COMPARISONS


def _compiled(function: FunctionType) -> Any:
    """A loop that writes the function of each value; None if Numba's values could differ."""
    import numba
    from numba.core import types

    scalar: Any = numba.njit(error_model="python", nogil=True)(function)
    scalar.compile((types.float64,))
    (overload,) = scalar.overloads.values()
    if not _is_exact(overload):
        return None

    @numba.njit(error_model="python", nogil=True)
    def each(values: Any, made: Any) -> None:
        for i in range(len(values)):
            made[i] = scalar(values[i])

    return each, str(overload.signature.return_type).replace("boolean", "bool")


def of_values(function: Any, column: Series) -> Series | None:
    """A function of each float of a column; None if it has to be called by Python."""
    if (
        column.dtype != "float64"
        or type(function) is not FunctionType
        or len(column) < _FEWEST_ROWS
        or column._node.nullable
        or not is_traceable(function)
        or importlib.util.find_spec("numba") is None
    ):
        return None
    import numpy as np

    key = (function.__code__, function.__defaults__, read_values(function))
    try:
        if key not in _kept:
            if len(_kept) >= _MOST_KEPT:
                _kept.clear()
            _kept[key] = _compiled(function)
        if _kept[key] is None:
            return None
        each, dtype = _kept[key]
        made = np.empty(len(column), dtype)
        each(column.to_numpy(), made)
    except Exception:  # Numba cannot, or a value raises: Python calls the function again
        return None
    return with_rows_of(new_series(made), column._node)
