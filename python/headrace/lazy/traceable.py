# SPDX-License-Identifier: Apache-2.0
"""Decide which Python functions may be called once with whole columns instead of per row.

These are functions whose bytecode has only arithmetic, comparisons, branches, loops and calls of
known functions, and that are stateless: what they read besides their argument never changes.
"""

from __future__ import annotations

import builtins
import datetime
import decimal
import dis
import functools
import inspect
import math
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from headrace.lazy.handle import is_array
from headrace.series.column import Float

if TYPE_CHECKING:
    from types import CodeType

#: Side-effect-free instructions of Python 3.11 to 3.14; all others are refused.
_INSTRUCTIONS = frozenset(
    """
    RESUME NOP CACHE EXTENDED_ARG NOT_TAKEN PUSH_NULL POP_TOP COPY SWAP
    LOAD_CONST LOAD_SMALL_INT LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_LOAD_FAST LOAD_FAST_BORROW
    LOAD_FAST_BORROW_LOAD_FAST_BORROW STORE_FAST STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST
    COPY_FREE_VARS RETURN_VALUE RETURN_CONST
    UNARY_NEGATIVE UNARY_POSITIVE UNARY_INVERT UNARY_NOT TO_BOOL
    BINARY_OP BINARY_SUBSCR COMPARE_OP CONTAINS_OP BUILD_TUPLE BUILD_LIST UNPACK_SEQUENCE
    PRECALL KW_NAMES CALL CALL_KW
    GET_ITER FOR_ITER END_FOR POP_ITER JUMP_BACKWARD
    POP_JUMP_BACKWARD_IF_TRUE POP_JUMP_BACKWARD_IF_FALSE
    JUMP_FORWARD POP_JUMP_IF_TRUE POP_JUMP_IF_FALSE POP_JUMP_FORWARD_IF_TRUE
    POP_JUMP_FORWARD_IF_FALSE JUMP_IF_TRUE_OR_POP JUMP_IF_FALSE_OR_POP
    """.split()  # noqa: SIM905
)
_NAMES = ("LOAD_GLOBAL", "LOAD_DEREF")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_INTRINSIC = ("CALL_INTRINSIC_1", "INTRINSIC_UNARY_POSITIVE")
#: ``*args``, ``**kwargs``, generators and coroutines.
_OTHER_KINDS = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)
_CONSTANTS = (
    *(int, float, bool, str, complex, type(None), decimal.Decimal),
    *(datetime.date, datetime.datetime, datetime.timedelta),
)
_BUILTINS = (abs, min, max, round, divmod, pow, len, range, int, float, bool, str)
#: Besides ufuncs and numbers.
_NUMPY_FUNCTIONS = ("where", "select", "clip", "round", "around")


@functools.lru_cache(maxsize=1024)
def _names_of(code: CodeType) -> tuple[tuple[str, str, str], ...] | None:
    """The names that code reads, as (instruction, name, attribute); None: refused."""
    if code.co_flags & _OTHER_KINDS or code.co_exceptiontable:
        return None
    names = []
    steps = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
    for step, after in zip(steps, [*steps[1:], steps[-1]], strict=True):
        if step.opname in _NAMES:
            attribute = after.argval if after.opname in _ATTRIBUTES else ""
            names.append((step.opname, step.argval, attribute))
        elif step.opname in _ATTRIBUTES:
            if step.argval.startswith("_"):
                return None
        elif step.opname not in _INSTRUCTIONS and (step.opname, step.argrepr) != _INTRINSIC:
            return None
    return tuple(names)


def is_constant(value: Any) -> bool:
    """Whether this is an immutable value."""
    if type(value) is tuple:
        return all(map(is_constant, value))
    if type(value) in _CONSTANTS:
        return True
    if type(value).__module__ == "numpy":
        import numpy as np

        return isinstance(value, np.generic) and not isinstance(value, np.void | np.object_)

    return is_array(value) and not value.shape


def _is_known_function(value: Any) -> bool:
    """Whether this is a stateless function of the standard library or NumPy."""
    if any(value is each for each in _BUILTINS):
        return True
    if type(value) is BuiltinFunctionType and value.__self__ is math:
        return True
    if type(value).__module__ != "numpy":
        return False
    import numpy as np

    return isinstance(value, np.ufunc) and getattr(np, value.__name__, None) is value


def _is_known_of_module(module: ModuleType, attribute: str) -> bool:
    value = getattr(module, attribute, None)
    if module is math:
        return value is not None
    if module is not sys.modules.get("numpy"):
        return False
    return (
        type(value) in (float, Float) or attribute in _NUMPY_FUNCTIONS or _is_known_function(value)
    )


def _reads(function: FunctionType, step: str, name: str) -> Any:
    """The value of a name in a function; KeyError or ValueError if undefined."""
    if step == "LOAD_DEREF":
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        return dict(cells)[name].cell_contents
    found = function.__globals__
    return found[name] if name in found else vars(builtins)[name]


def read_values(function: FunctionType) -> tuple[Any, ...]:
    """The values that a traceable function reads besides its argument."""
    return tuple(
        _reads(function, step, name) for step, name, _ in _names_of(function.__code__) or ()
    )


def is_traceable(function: Any, callers: tuple[Any, ...] = ()) -> bool:
    """Whether a call with whole columns is equivalent to one call per row.

    Checks that the function and all it calls are stateless; traced values themselves reject
    operations without a column equivalent.
    """
    if type(function) is functools.partial:
        given = (*function.args, *function.keywords.values())
        return all(map(is_constant, given)) and is_traceable(function.func, callers)
    if type(function) is not FunctionType:
        return not callers and _is_known_function(function)
    # Attributes of a function could be changed by its methods.
    if function in callers or function.__dict__:
        return False
    names = _names_of(function.__code__)
    given = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    if names is None or not all(map(is_constant, given)):
        return False
    for step, name, attribute in names:
        try:
            value = _reads(function, step, name)
        except (KeyError, ValueError):
            return False
        if isinstance(value, ModuleType):
            if not _is_known_of_module(value, attribute):
                return False
        elif not (is_constant(value) or _is_known_function(value)) and not (
            type(value) is FunctionType and is_traceable(value, (*callers, function))
        ):
            return False
    return True
