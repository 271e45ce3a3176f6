# SPDX-License-Identifier: Apache-2.0
"""Values of a query from outside its frame, read without running code of their classes.

`known` tells which values are allowed, `field` and `item` read from the caller's objects,
`computed` evaluates constants, with bounds.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import inspect
import operator
import types
from collections.abc import Callable, Iterable
from typing import Any

from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import Deferred

#: Characters of a query, and of a string computed from constants.
LONGEST = 100_000
_LIBRARIES = ("headrace", "numpy", "pandas", "polars", "pyarrow")
_EXACT = frozenset(
    (bool, float, str, decimal.Decimal, datetime.date, datetime.datetime, datetime.timedelta)
)
#: Convert an instance of a subclass (an IntEnum, a StrEnum) without calling its methods.
_REDUCE: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, int.__pos__),
    (float, float.__pos__),
    (datetime.timedelta, datetime.timedelta.__pos__),
    (
        datetime.datetime,
        lambda t: datetime.datetime.combine(datetime.datetime.date(t), datetime.datetime.timetz(t)),
    ),
    (datetime.date, lambda d: datetime.date.fromordinal(datetime.date.toordinal(d))),
)
_MANY: tuple[type, ...] = (
    *(list, tuple, set, frozenset, dict, range, collections.deque),
    *(type({}.keys()), type({}.values())),
)
_MOST_OF_RANGE = 10_000_000
#: Descriptors that read stored data: slots, C fields and named tuple fields.
_FIELDS = (
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    type(inspect.ArgInfo.args),
)
_NOTHING = object()


class UnknownValueError(InvalidArgumentError):
    """A value not allowed in a query; the walk adds its location."""


def is_library(value: Any) -> bool:
    """Whether the class belongs to a library whose values the engine supports."""
    return type(value).__module__.partition(".")[0] in _LIBRARIES


def known(value: Any) -> Any:
    """The value as an operand of the engine; Python containers become a list."""
    kind = type(value)
    if value is None or kind in _EXACT or issubclass(kind, Deferred):
        return value
    if kind is int:
        return _in_range(value)
    if issubclass(kind, str):
        return str.__str__(value)
    if is_library(value):
        return _each(value) if str(getattr(value, "dtype", "")) == "object" else value
    for base, reduced in _REDUCE:
        if issubclass(kind, base):
            return known(reduced(value))
    for base in _MANY:
        if issubclass(kind, base) and kind.__iter__ is base.__iter__:  # type: ignore[attr-defined]
            if base is range and len(value) > _MOST_OF_RANGE:
                raise UnknownValueError("so long a range")
            return _each(base.__iter__(value))  # type: ignore[attr-defined]
    raise UnknownValueError(f"a value of type {kind.__name__}")


def _each(values: Iterable[Any]) -> list[Any]:
    listed = list(values)
    if {int, *_EXACT, type(None)}.issuperset(map(type, listed)):
        numbers = [v for v in listed if type(v) is int] or [0]
        _in_range(min(numbers)), _in_range(max(numbers))
        return listed
    return [known(value) for value in listed]


def _in_range(value: int) -> int:
    if not -(1 << 63) <= value < 1 << 64:
        raise UnknownValueError("an integer of more than 64 bits")
    return value


def field(owner: Any, name: str) -> Any:
    """A stored attribute of an object; raises `UnknownValueError` for a computed one."""
    kind = type(owner)
    if kind.__name__ == "DataFrame" and is_library(owner):
        return owner[name]
    if name.startswith("_"):
        raise UnknownValueError(f"{name} of this value")
    members = inspect.getattr_static(owner, "_member_map_", None)
    if type(members) is dict:  # an enumeration, or a member
        name = f"_{name}_" if name in ("name", "value") else name
        found = members.get(name, inspect.getattr_static(owner, name, _NOTHING))
    else:
        found = inspect.getattr_static(owner, name, _NOTHING)
    if type(found) in _FIELDS:
        return found.__get__(owner, kind)
    if found is _NOTHING or inspect.getattr_static(type(found), "__get__", None) is not None:
        raise UnknownValueError(f"{name} of this value")
    return known(found) if kind is types.ModuleType else found


def item(owner: Any, key: Any) -> Any:
    """An item of a built-in or library container, by a plain key."""
    kind = type(owner)
    if is_library(owner):
        return owner[key]
    for base in (dict, list, tuple, str, range):
        if issubclass(kind, base) and kind.__getitem__ is base.__getitem__:
            if base is not dict:
                return base.__getitem__(owner, key)
            found = dict.get(owner, key, _NOTHING)  # without __missing__
            if found is not _NOTHING:
                return found
            break
    raise LookupError(key)


def computed(op: Callable[..., Any], *values: Any) -> Any:
    """Evaluate an operation on constants."""
    if any(map(_has_many, values)):
        raise UnknownValueError("this operation on several values")
    if any(type(value) is str for value in values):
        if op not in (operator.add, *_COMPARISONS):
            raise UnknownValueError("this operation on a string")
        if op is operator.add and sum(map(len, values)) > LONGEST:
            raise UnknownValueError("so long a string")
    whole = all(type(value) is int for value in values)
    if op is operator.pow and whole and values[1] > 64 and abs(values[0]) > 1:
        raise UnknownValueError("an integer of more than 64 bits")
    return known(op(*values))


_COMPARISONS = (
    *(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge),
    operator.not_,
)


def _has_many(value: Any) -> bool:
    """Whether an operation could grow this value: all but numbers and vectors."""
    most = 1 if type(value).__module__ == "numpy" else 0
    return type(value) is list or getattr(value, "ndim", 0) > most
