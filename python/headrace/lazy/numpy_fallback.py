# SPDX-License-Identifier: Apache-2.0
"""NumPy functions that the engine does not have, computed by NumPy on small operands."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.interop.ways_round import WAYS_ROUND
from headrace.settings import is_strict

if TYPE_CHECKING:
    from collections.abc import Callable

_CONVERT = "convert with to_numpy() first"
#: Values of an operand that NumPy may compute with in the engine's place.
_MOST_CONVERTED = 1 << 20


def through_numpy(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """A NumPy function of small operands, converted to arrays; `hr.fallbacks` lists it.

    Raises UnsupportedError for large ones, whose copies and time would come as a surprise.
    """

    def converted(value: Any) -> Any:
        if type(value) in (list, tuple):
            return type(value)(map(converted, value))
        if not isinstance(value, _core.BufferSource) and not hasattr(value, "_nodes"):
            return value
        ours: Any = value
        if ours.size > _MOST_CONVERTED:
            raise UnsupportedError(
                f"{name}: not supported by Headrace: type={type(value).__name__!r}, "
                f"size={ours.size}; {WAYS_ROUND.get(f'numpy.{name}', _CONVERT)}"
            )
        return ours.to_numpy().copy() if writable else ours.to_numpy()

    if is_strict():
        raise UnsupportedError(f"{name}: NumPy would compute it, and hr.strict() is on; {_CONVERT}")
    out = kwargs.get("out")
    if any(isinstance(v, _core.BufferSource) for v in (out if type(out) is tuple else (out,))):
        raise UnsupportedError(f"{name}: values are immutable: out={type(out).__name__!r}")
    start = time.perf_counter()
    writable = False
    try:
        found = func(*map(converted, args), **{word: converted(v) for word, v in kwargs.items()})
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        writable = True  # some write into a view of what they were given
        found = func(*map(converted, args), **{word: converted(v) for word, v in kwargs.items()})
    _core.record_fallback(name, "computed by NumPy", time.perf_counter() - start)
    return found
