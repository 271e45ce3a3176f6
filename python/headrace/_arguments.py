# SPDX-License-Identifier: Apache-2.0
"""Turn argument errors of the binding into Headrace errors.

The binding itself raises a TypeError that lists C++ types, even for integers beyond 64 bits and
strings that are not valid Unicode.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from headrace.errors import InvalidArgumentError, TypeMismatchError

_REFUSED = "incompatible function arguments"


def _reason(name: str, values: list[Any]) -> Exception:
    for value in values:
        if type(value) is int and not -(1 << 63) <= value < 1 << 63:
            bits = value.bit_length()
            return InvalidArgumentError(
                f"{name}: an integer does not fit in 64 bits: bits={bits}; pass a smaller one"
            )
        if isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                return InvalidArgumentError(
                    f"{name}: the string holds a lone surrogate, which UTF-8 cannot encode: "
                    f"value={value[:40]!a}, position={error.start}"
                )
    kinds = ", ".join(type(value).__name__ for value in values)
    return TypeMismatchError(f"{name}: unexpected argument types: types=({kinds})")


def _guarded(core: types.ModuleType, name: str, function: Callable[..., Any]) -> Any:
    def refused(*values: Any, **options: Any) -> Any:
        given = [*values, *options.values()]
        within = [v for each in given if isinstance(each, list | tuple) for v in each]
        raise _reason(name, [*given, *within]) from None

    made = core.explained(function, _REFUSED, refused)
    made.__name__ = made.__qualname__ = name
    made.__doc__ = function.__doc__
    return made


def _needs_guard(name: str, value: Any) -> bool:
    return type(value).__name__ == "nb_func" and "()" not in value.__nb_signature__[0][0]


def guarded(core: types.ModuleType) -> types.ModuleType:
    """Wrap the engine's module so that bad arguments raise Headrace errors."""
    made = types.ModuleType(core.__name__, core.__doc__)
    for name, value in vars(core).items():
        vars(made)[name] = _guarded(core, name, value) if _needs_guard(name, value) else value
    return made
