# SPDX-License-Identifier: Apache-2.0
"""Trace Python functions with values that represent whole columns."""

from __future__ import annotations

import datetime
import functools
import math
import operator
from typing import TYPE_CHECKING, Any, ClassVar

from headrace import _core
from headrace.facade import is_probed
from headrace.frame.construct import repeated
from headrace.lazy.handle import Deferred
from headrace.lazy.traceable import is_traceable
from headrace.rows import is_missing
from headrace.series.column import new_series, series_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headrace.series.series import Series

#: Of one run of the function, of all its runs, and of operations in one run.
_MOST_BRANCHES = 32
_MOST_RUNS = 64
_MOST_STEPS = 500
_LARGEST_INT = 2**63 - 1
_EXACT_IN_FLOATS = 2**53
_SMALL = 2**32
_MOST_BITS = 64
_NUMBERS = ("int", "float")
_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_LOGIC = ("bitwise_and", "bitwise_or", "bitwise_xor")
_DIVISIONS = ("divide", "floor_divide", "remainder")


class NotTraceableError(Exception):
    """An operation on a value that has no column equivalent."""


class _Branches:
    """The branches taken by the function, and the rows that would have raised an error."""

    def __init__(self, taken: list[bool]) -> None:
        self.taken = taken
        self.steps = 0
        self.conditions: list[Series] = []
        self.errors: list[Series] = []

    def decide(self, condition: Series) -> bool:
        place = len(self.conditions)
        if place == _MOST_BRANCHES:
            raise NotTraceableError
        self.conditions.append(condition)
        if place == len(self.taken):
            self.taken.append(True)
        return self.taken[place]

    def must_not_be(self, error: Series) -> None:
        """Rows that reach this point raise an error where this is true."""
        for taken, condition in zip(self.taken, self.conditions, strict=False):
            error = error & (condition if taken else ~condition)
        self.errors.append(error.fill_null(False))


def _kind_of_dtype(dtype: Any) -> str:
    kinds = {"b": "bool", "i": "int", "u": "int", "f": "float", "m": "span", "M": "time"}
    word = "text" if dtype == "string" else kinds.get(dtype.kind, "")
    if not word or str(dtype).startswith("decimal"):
        raise NotTraceableError
    return word


def _kind(value: Any) -> str:
    """The kind of a value, column or constant."""
    if isinstance(value, Traced):
        return value._kind
    if isinstance(value, Deferred) or type(value).__module__ == "numpy":
        return _kind_of_dtype(value.dtype)
    for plain, kind in (
        *((bool, "bool"), (int, "int"), (float, "float"), (str, "text")),
        *((datetime.date, "time"), (datetime.timedelta, "span"), (type(None), "none")),
    ):
        if isinstance(value, plain):
            return kind
    raise NotTraceableError


def _is_of_numpy(value: Any) -> bool:
    """Whether this has NumPy semantics, which wrap and divide by zero."""
    if isinstance(value, Traced):
        return value._of_numpy
    return isinstance(value, Deferred) or type(value).__module__ == "numpy"


def _plain(value: Any) -> Any:
    return value._column if isinstance(value, Traced) else value


def _bounds(value: Any) -> tuple[int, int]:
    """The smallest and the largest integer; evaluates a column once."""
    if not isinstance(value, Traced):
        return int(value), int(value)
    if value._kind == "bool":
        return 0, 1
    if value._bounds is None:
        column = value._column.fill_null(0) if value._column._node.nullable else value._column
        ends = column.min(), column.max()
        _core.force([each._node for each in ends])
        value._bounds = int(ends[0]), int(ends[1])
    return value._bounds


def _int_bounds(op: str, left: Any, right: Any) -> tuple[int, int] | None:
    """The bounds of an integer operation that may overflow int64, unlike in Python."""
    if op == "power":
        if isinstance(right, Traced) or not 0 <= right <= _MOST_BITS:
            raise NotTraceableError
        most = max(map(abs, _bounds(left))) ** right
        low, high = -most, most
    elif op in ("add", "subtract", "multiply"):
        moved = [side for side in (left, right) if not isinstance(side, Traced)]
        if op != "multiply" and moved and abs(moved[0]) < _SMALL:
            return None  # only for integers near the limits of int64
        act = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul}[op]
        found = [act(a, b) for a in _bounds(left) for b in _bounds(right)]
        low, high = min(found), max(found)
    else:
        return None
    if low < -_LARGEST_INT or high > _LARGEST_INT:
        raise NotTraceableError
    return low, high


def _result_kind(op: str, left: str, right: str, of_numpy: bool) -> str:
    """The kind of a result; raises if columns and values would compute it differently."""
    if op in _COMPARISONS:
        fits = left == right or {left, right} <= {*_NUMBERS, "bool"}
        if fits:
            return "bool"
    elif op in _LOGIC:
        if left == right and left in ("bool", "int"):
            return left
    elif left == right == "bool":
        if of_numpy and op in ("add", "multiply"):
            return "bool"  # "or" and "and"; in Python these are integers
    elif {left, right} <= {*_NUMBERS, "bool"}:
        return "float" if "float" in (left, right) or op == "divide" else "int"
    elif op == "add" and left == right == "text":
        return "text"
    elif op == "subtract" and left == right == "time":
        return "span"
    elif (op in ("add", "subtract") and (left, right) == ("time", "span")) or (
        op == "add" and (left, right) == ("span", "time")
    ):
        return "time"
    raise NotTraceableError


class Traced:
    """A value per row: a column with the semantics of its Python values.

    Unsupported operations, or those undefined for a dtype, make the function run row by row.
    """

    __slots__ = ("_bounds", "_branches", "_column", "_kind", "_of_numpy")
    __array_priority__: ClassVar[float] = 1000.0
    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __init__(
        self, column: Series, branches: _Branches, of_numpy: bool, bounds: Any = None
    ) -> None:
        branches.steps += 1
        if branches.steps > _MOST_STEPS:  # of a loop
            raise NotTraceableError
        self._column, self._branches, self._of_numpy = column, branches, of_numpy
        self._kind = _kind_of_dtype(column.dtype)
        self._bounds: tuple[int, int] | None = bounds

    def _made(self, column: Any, of_numpy: bool, bounds: Any = None) -> Traced:
        return Traced(series_of(column._node), self._branches, of_numpy, bounds)

    def _with(self, op: str, left: Any, right: Any) -> Traced:
        kinds = _kind(left), _kind(right)
        of_numpy = _is_of_numpy(left) or _is_of_numpy(right)
        kind = _result_kind(op, *kinds, of_numpy)
        bounds = None
        if op in _DIVISIONS and (not of_numpy or kind == "int"):
            self._no_zero(right)
        if not of_numpy and kind == "int":
            bounds = _int_bounds(op, left, right)
        sides = _plain(left), _plain(right)
        made = self._column._elementwise(op, *sides, missing_is_false=op in _COMPARISONS)
        if op == "power" and kind == "float" and not of_numpy:
            self._check_power(left, right, made)
        return self._made(made, of_numpy, bounds)

    def _no_zero(self, divisor: Any) -> None:
        if isinstance(divisor, Traced):
            self._branches.must_not_be(divisor._column == 0)
        elif divisor == 0:
            raise NotTraceableError

    def _check_power(self, base: Any, exponent: Any, made: Series) -> None:
        """Python gives complex numbers and errors where NumPy gives NaN and infinities."""
        if not isinstance(exponent, Traced) and exponent >= 0 and exponent == math.floor(exponent):
            return
        finite = made - made == 0
        for side in (base, exponent):
            if isinstance(side, Traced):
                finite = finite | ~(side._column - side._column == 0)
        self._branches.must_not_be(~finite)

    def __bool__(self) -> bool:
        if self._kind == "bool":
            return self._branches.decide(self._column.fill_null(False))
        if self._kind in _NUMBERS:
            return self._branches.decide((self._column != 0).fill_null(True))
        raise NotTraceableError

    def __invert__(self) -> Traced:
        if self._kind == "int" or (self._kind == "bool" and self._of_numpy):
            return self._made(~self._column, self._of_numpy)
        raise NotTraceableError

    def __neg__(self) -> Traced:
        if self._kind == "int":
            return self._with("subtract", 0, self)
        return self._unary("negative", ("float", "span"))

    def __pos__(self) -> Traced:
        return self._unary("", (*_NUMBERS, "span"))

    def __abs__(self) -> Traced:
        return self._unary("abs", _NUMBERS)

    def _unary(self, op: str, kinds: tuple[str, ...]) -> Traced:
        if self._kind not in kinds:
            raise NotTraceableError
        made = self._column._elementwise(op, self._column) if op else self._column
        return self._made(made, self._of_numpy, None if op else self._bounds)

    def __divmod__(self, other: Any) -> tuple[Traced, Traced]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Traced, Traced]:
        return other // self, other % self

    def __round__(self, digits: Any = None) -> Traced:
        if not self._of_numpy or type(digits) is not int:  # Python rounds exactly, to int
            raise NotTraceableError
        return self.round(digits)

    def round(self, decimals: int = 0) -> Traced:
        """The method of NumPy's numbers."""
        if not self._of_numpy or self._kind not in _NUMBERS:
            raise NotTraceableError
        return self._made(self._column.round(decimals), True)

    def __repr__(self) -> str:
        raise NotTraceableError

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        raise NotTraceableError

    # ---- NumPy -----------------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        kinds = {_kind(each) for each in inputs}
        if method != "__call__" or kwargs or not kinds <= {*_NUMBERS, "bool"}:
            raise NotTraceableError
        if ufunc.__name__ not in _core.elementwise_ops():
            raise NotTraceableError
        if ufunc.__name__ == "isnan":
            return self._made(self._column.isna(), True)
        if ufunc.__name__ in _COMPARISONS:
            return self._with(ufunc.__name__, *inputs)
        made = self._column._elementwise(ufunc.__name__, *map(_plain, inputs))
        return self._made(made, True)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        function = _FUNCTIONS.get(func.__name__)
        if function is None or kwargs:
            raise NotTraceableError
        return function(*args)


def _binary(op: str) -> tuple[Any, Any]:
    return (
        lambda self, other: self._with(op, self, other),
        lambda self, other: self._with(op, other, self),
    )


for _word, _op in (
    *(("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide")),
    *(("floordiv", "floor_divide"), ("mod", "remainder"), ("pow", "power")),
    *(("and", "bitwise_and"), ("or", "bitwise_or"), ("xor", "bitwise_xor")),
):
    _straight, _turned = _binary(_op)
    setattr(Traced, f"__{_word}__", _straight)
    setattr(Traced, f"__r{_word}__", _turned)
for _word, _op in zip(("eq", "ne", "lt", "le", "gt", "ge"), _COMPARISONS, strict=True):
    setattr(Traced, f"__{_word}__", _binary(_op)[0])


def _choose(condition: Series, yes: Any, no: Any) -> Any:
    """Choose per row by a condition without nulls; both sides are of one kind, or None."""
    kinds = _kind(yes), _kind(no)
    if kinds == ("none", "none"):
        return None
    if "none" in kinds:
        given = no if kinds[0] == "none" else yes
        mask = ~condition if kinds[0] == "none" else condition
        column = given._column if isinstance(given, Traced) else _repeated(condition, given)
        made = column.where(mask)
    else:
        yes, no = _as_floats(yes, no), _as_floats(no, yes)
        is_mixed = (
            _is_of_numpy(yes) and _is_of_numpy(no) and {*map(_kind, (yes, no))} == {*_NUMBERS}
        )
        if _kind(yes) != _kind(no) and not is_mixed:
            raise NotTraceableError
        made = condition._elementwise("where", condition, _plain(yes), _plain(no))
    like = next((each for each in (yes, no) if isinstance(each, Traced)), None)
    of_numpy = like is not None and like._of_numpy
    branches = like._branches if like is not None else _Branches([])
    return Traced(series_of(made._node), branches, of_numpy)


def _repeated(like: Series, value: Any) -> Series:
    return new_series(repeated(like._node, value))


def _as_floats(value: Any, beside: Any) -> Any:
    """Convert an integer constant to float if the other operand is a float column."""
    whole = type(value) is int and abs(value) <= _EXACT_IN_FLOATS
    return float(value) if whole and _kind(beside) == "float" else value


def _where(condition: Any, yes: Any, no: Any) -> Any:
    if _kind(condition) != "bool" or not isinstance(condition, Traced):
        raise NotTraceableError
    made = _choose(condition._column.fill_null(False), yes, no)
    made._of_numpy = True
    return made


def _select(conditions: Any, values: Any, default: Any = 0) -> Any:
    made = default
    for condition, value in zip(reversed(conditions), reversed(values), strict=True):
        made = _where(condition, value, made)
    return made


def _clip(value: Any, low: Any, high: Any) -> Any:
    if not isinstance(value, Traced) or value._kind not in _NUMBERS:
        raise NotTraceableError
    for bound in (low, high):
        if bound is not None and _kind(bound) != value._kind:
            raise NotTraceableError
    return value._made(value._column.clip(_plain(low), _plain(high)), True)


def _round(value: Any, decimals: Any = 0) -> Any:
    if not isinstance(value, Traced) or type(decimals) is not int:
        raise NotTraceableError
    return value._made(value._column.round(decimals), True)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "where": _where,
    "select": _select,
    "clip": _clip,
    "round": _round,
    "around": _round,
}


class TracedRow:
    """The values of a row by column name."""

    __slots__ = ("_branches", "_columns", "_of_numpy")

    def __init__(self, columns: Mapping[str, Series], branches: _Branches, of_numpy: bool) -> None:
        self._columns, self._branches, self._of_numpy = columns, branches, of_numpy

    def __getitem__(self, name: str) -> Traced:
        return Traced(self._columns[name], self._branches, self._of_numpy)

    def __getattr__(self, name: str) -> Traced:
        if is_probed(name) or name not in self._columns:
            raise AttributeError(name)
        return self[name]

    __hash__: ClassVar[None] = None  # type: ignore[assignment]


def _every_branch(
    call: Callable[[_Branches], Any], taken: list[bool], errors: list[Series], runs: list[None]
) -> Any:
    """The result over all branches with this prefix, each run once."""
    if len(runs) == _MOST_RUNS:
        raise NotTraceableError
    runs.append(None)
    branches = _Branches(list(taken))
    made = call(branches)
    errors += branches.errors
    for place in reversed(range(len(taken), len(branches.conditions))):
        other = _every_branch(call, [*branches.taken[:place], False], errors, runs)
        made = _choose(branches.conditions[place], made, other)
    return made


def _traced(call: Callable[[_Branches], Any], rows: _core.Node) -> Series | None:
    errors: list[Series] = []
    try:
        made = _every_branch(call, [], errors, [])
        if errors and bool(functools.reduce(operator.or_, errors).any().item()):
            return None
    except Exception:
        return None  # run row by row for the result, or the error of the first row that raises
    if not isinstance(made, Traced):
        return None
    node = made._column._node
    return made._column if node.domain == rows.domain and node.shape == rows.shape else None


def of_values(function: Any, column: Series, skip: bool) -> Series | None:
    """A function of each number of a column, as one step; None if it must be called per row.

    For nulls it is called once, with NaN, unless they are skipped. Numbers have Python semantics,
    as in pandas.
    """
    if not is_traceable(function) or column.dtype == "uint64":
        return None
    column = series_of(column._node).astype("float64" if column.dtype.kind == "f" else "int64")
    made = _traced(lambda branches: function(Traced(column, branches, False)), column._node)
    if made is None or not column._node.nullable:
        return made
    try:
        absent = None if skip else function(math.nan)
        return made.where(~column.is_null(), None if is_missing(absent) else absent)
    except Exception:
        return None


def of_rows(function: Any, columns: dict[str, Series]) -> Series | None:
    """A function of each row, as one step; None if it must be called per row.

    All-numeric rows have NumPy semantics, as in pandas, others Python's.
    """
    if not is_traceable(function):
        return None
    of_numpy = all(column.dtype.is_of("iuf") for column in columns.values())
    first = next(iter(columns.values()))
    return _traced(lambda branches: function(TracedRow(columns, branches, of_numpy)), first._node)
