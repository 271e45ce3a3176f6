# SPDX-License-Identifier: Apache-2.0
"""Python functions over values and rows: traced or called row by row, always pandas' results."""

from __future__ import annotations

import datetime as dt
import functools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from headrace.lazy import tracing

import headrace as hr

NAN = float("nan")
FACTOR = 3
NAMES = {1: "one", 2: "two"}
WANTED = (1, 2)
VALUES = {
    "ints": [1, 2, 0, -3, 7],
    "floats": [1.5, NAN, 0.0, -2.0, 3.0],
    "no zero": [1, -2, 5],
}


def helper(x: Any) -> Any:
    return x * FACTOR if x > 1 else x


def by_steps(x: Any) -> Any:
    y = x * 2
    if y > 3:
        y += 1
    elif y < 0:
        return 0 * x
    return y


def by_loop(x: Any) -> Any:
    n = 0
    while n < x:
        n += 2
    return n


def by_errors(x: Any) -> Any:
    try:
        return 1 / x
    except ZeroDivisionError:
        return 0.0


def by_inner(x: Any) -> Any:
    def twice(y: Any) -> Any:
        return y * 2

    return twice(x)


class Counter:
    """Callable, with state."""

    def __init__(self) -> None:
        self.sum = 0

    def __call__(self, x: Any) -> Any:
        self.sum += 1
        return self.sum + x

    def method(self, x: Any) -> Any:
        return self(x)


def counting() -> Callable[[Any], Any]:
    seen = 0

    def count(x: Any) -> Any:
        nonlocal seen
        seen += 1
        return x + seen

    return count


def remembering() -> Callable[[Any], Any]:
    last = [0]
    return lambda x: last.__setitem__(0, last[0] + 1) or last[0] + x


def carrying() -> Callable[[Any], Any]:
    def inner(x: Any) -> Any:
        return x

    inner.seen = []  # type: ignore[attr-defined]
    return lambda x: inner.seen.append(1) or x + len(inner.seen)  # type: ignore[attr-defined]


# A function is made anew for each library, so that state begins anew.
TRACED = {
    "arithmetic": lambda: lambda x: x * 2 + 1 - x / 4,
    "global": lambda: lambda x: x * FACTOR,
    "default": lambda: lambda x, k=2: x * k,
    "closure": lambda: (lambda k: lambda x: x + k)(5),
    "branch": lambda: lambda x: x if x > 0 else -x,
    "branches": lambda: by_steps,
    "labels": lambda: lambda x: "big" if x > 2 else "middle" if x > 0 else "small",
    "none": lambda: lambda x: x if x > 1 else None,
    "relu": lambda: lambda x: x * 1.5 if x > 1 else 0,
    "chain": lambda: lambda x: 0 < x < 3,
    "and": lambda: lambda x: x > 0 and x < 2,
    "or": lambda: lambda x: x < 0 or x > 2,
    "not": lambda: lambda x: not x > 1,
    "value or": lambda: lambda x: x or 5,
    "in": lambda: lambda x: x in WANTED,
    "not equal": lambda: lambda x: x != x,
    "masks": lambda: lambda x: (x > 1) & (x < 3),
    "walrus": lambda: lambda x: (y := x * 2) + y,
    "calls": lambda: lambda x: helper(x) + 1,
    "abs": lambda: abs,
    "min and max": lambda: lambda x: max(min(x, 2), -1),
    "divmod": lambda: lambda x: divmod(x, 2)[0] - divmod(x, 2)[1],
    "remainder": lambda: lambda x: x % 3 + x // 2,
    "square": lambda: lambda x: x**2,
    "guarded": lambda: lambda x: 10 / x if x else 0,
    "math of constants": lambda: lambda x: x * math.pi + math.sqrt(2),
    "ufunc": lambda: np.sign,
    "ufunc inside": lambda: lambda x: np.maximum(x, 1) + 1,
    "np.where": lambda: lambda x: np.where(x > 1, 1, 0) + 0,
    "partial": lambda: functools.partial(lambda x, k: x * k, k=3),
}
BY_ROWS = {
    "random": lambda: lambda x: x + random.random(),
    "np.random": lambda: lambda x: x + np.random.rand(),
    "counter": counting,
    "list": remembering,
    "attribute": carrying,
    "object": Counter,
    "method": lambda: Counter().method,
    "partial of an object": lambda: functools.partial(Counter()),
    "mutable default": lambda: lambda x, seen=[]: seen.append(x) or len(seen),
    "dictionary": lambda: lambda x: NAMES.get(x, "other"),
    "dictionary's method": lambda: {1: 5.0}.get,
    "item": lambda: lambda x: {0: 1}[0] + x,
    "try": lambda: by_errors,
    "loop": lambda: by_loop,
    "inner function": lambda: by_inner,
    "comprehension": lambda: lambda x: sum([x + i for i in range(2)]),
    "generator": lambda: lambda x: sum(x + i for i in range(2)),
    "f-string": lambda: lambda x: f"{x:.1f}",
    "percent": lambda: lambda x: "%s" % x,  # noqa: UP031
    "format": lambda: "{:.1f}".format,
    "str": lambda: str,
    "is None": lambda: lambda x: x is None,
    "isinstance": lambda: lambda x: isinstance(x, float),
    "star": lambda: lambda *a: a[0] + 1,
    "set": lambda: lambda x: x in {1, 2},
    "not of a bool": lambda: lambda x: ~(x > 1),
    "sum of bools": lambda: lambda x: (x > 0) + (x > 1),
    "round": lambda: lambda x: round(x / 3, 2),
    "math": lambda: lambda x: math.sqrt(abs(x)),
    "a method of columns": lambda: lambda x: x - x.mean(),
    "a method of columns again": lambda: lambda x: x.shift(),
    "other kind": lambda: lambda x: x == "a",
    "constant": lambda: lambda x: 5,
    "identity": lambda: lambda x: x is WANTED or x,
    "print": lambda: lambda x: print(end="") or x,
    "global list": lambda: lambda x: len(VALUES) + x,
    "large power": lambda: lambda x: x**40 % 7,
}
#: Those that divide by their argument are traced where it is never zero.
DIVISIONS = {
    "divide": lambda: lambda x: 10 / x,
    "floor": lambda: lambda x: 10 // x,
    "remainder": lambda: lambda x: 10 % x,
    "power": lambda: lambda x: x**-1.0,
}


def outcome(call: Callable[[], Any]) -> Any:
    """The values, with None for what is missing, or the error."""
    random.seed(1)
    np.random.seed(1)
    try:
        values = call()
    except Exception as error:
        return type(error)
    values = [v.item() if hasattr(v, "item") else v for v in values.tolist()]
    return [None if v is None or v != v else v for v in values]


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("name", [*TRACED, *BY_ROWS, *DIVISIONS])
def test_map_is_that_of_pandas(name: str, values: str) -> None:
    make = (TRACED | BY_ROWS | DIVISIONS)[name]
    data = VALUES[values]
    hr._core.clear_fallbacks()
    ours = outcome(lambda: hr.Series(data).map(make()))
    assert ours == outcome(lambda: pd.Series(data).map(make()))
    called = bool(hr.fallbacks()) or isinstance(ours, type)
    if name in DIVISIONS:
        assert called == (values != "no zero")
    elif not (name == "large power" and values == "floats"):
        assert called == (name in BY_ROWS)


def test_nulls_are_seen_as_nan() -> None:
    data = [1.5, None, 0.0, -2.0]
    for name, make in (TRACED | BY_ROWS).items():
        ignored = outcome(lambda make=make: hr.Series(data).map(make(), na_action="ignore"))
        there = outcome(lambda make=make: hr.Series([v for v in data if v is not None]).map(make()))
        gone = isinstance(there, list)
        assert ignored == ([there[0], None, *there[1:]] if gone else there), name
        whole = outcome(lambda make=make: hr.Series(data).map(make()))
        nans = outcome(lambda make=make: hr.Series(np.array(data, float), copy=False).map(make()))
        assert repr(whole).replace("nan", "None") == repr(nans).replace("nan", "None"), name


def test_a_function_is_called_once_a_row_in_order() -> None:
    seen: list[Any] = []
    s = hr.Series([3, 1, None, 2])
    made = s.map(lambda v: seen.append(v) or v, na_action="ignore")
    assert made.to_list() == [3, 1, None, 2]
    assert seen == [3, 1, 2]
    df = hr.DataFrame({"a": [3, 1, 2]})
    seen.clear()
    df.apply(lambda row: seen.append(row.a), axis=1)
    assert seen == [3, 1, 2]


def test_globals_are_read_at_each_call() -> None:
    global FACTOR
    try:
        for FACTOR in (3, 4, 2.5):
            assert hr.Series([2]).map(lambda x: x * FACTOR).to_list() == [2 * FACTOR]
        FACTOR = [1]  # type: ignore[assignment]
        assert not tracing.is_traceable(lambda x: x * FACTOR)
    finally:
        FACTOR = 3


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64", "float32"])
def test_numbers_are_those_of_python(dtype: str) -> None:
    values = np.array([1, 100, 77], dtype)
    for function in (lambda x: x * 100 - 300, lambda x: x / 3, lambda x: -x):
        ours, theirs = hr.Series(values).map(function), pd.Series(values).map(function)
        assert ours.to_list() == theirs.tolist()
        assert str(ours.dtype) == str(theirs.dtype)


def test_integers_that_leave_int64_do_not_wrap() -> None:
    s = hr.Series([10**10, -7])
    for function in (lambda x: x * x % 1000, lambda x: x**3 // 10**13, lambda x: (x + x) * x % 7):
        assert s.map(function).to_list() == [function(10**10), function(-7)]


ROWS = {
    "numbers": {"a": [1, 0, -2], "b": [2.0, NAN, 0.5]},
    "integers": {"a": [1, 4, -2], "b": [2, 7, 5]},
    "with texts": {"a": [1, 5, -2], "b": [2.0, 1.0, 0.5], "s": ["u", "v", "w"]},
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(
    "function",
    [
        lambda r: r.a + r["b"],
        lambda r: r.a / r.b,
        lambda r: r["a"] if r["a"] > r["b"] else r["a"] * 2,
        lambda r: "fast" if r["b"] > 1 else "slow",
        lambda r: r.a > 0 and r.b > 1,
        lambda r: r.b != 2,
        lambda r: not r.b > 1,
        lambda r: (r.a > 0) & (r.b > 1),
        lambda r: (r.a > 0) + (r.b > 1),
        lambda r: np.sqrt(abs(r.b)),
        lambda r: r.a + random.random(),
        lambda r: r["a"] * FACTOR,
        lambda r: max(r.a, 1),
    ],
)
def test_rows_are_those_of_pandas(function: Any, rows: str) -> None:
    ours, theirs = hr.DataFrame(ROWS[rows]), pd.DataFrame(ROWS[rows])
    found = outcome(lambda: ours.apply(function, axis=1))
    assert found == outcome(lambda: theirs.apply(function, axis=1))


def test_a_missing_value_is_less_than_nothing() -> None:
    """Nulls in rows compare as NaN does."""
    columns: dict[str, Any] = {"hp": [150, None, 90], "w": [1.0, None, None]}
    ours, theirs = hr.DataFrame(columns), pd.DataFrame(columns)
    for function in (
        lambda r: "fast" if r["hp"] > 100 else "slow",
        lambda r: r.hp > 100,
        lambda r: r.w != r.w,
        lambda r: "heavy" if r.w else "light",
        lambda r: 1 if np.isnan(r.w) else 0,
        lambda r: r.hp * 2 if r.hp > 0 else r.w,
    ):
        got, expected = (
            outcome(lambda f=frame, g=function: f.apply(g, axis=1)) for frame in (ours, theirs)
        )
        assert got == expected


def test_rows_of_texts_and_times() -> None:
    day = dt.timedelta(days=1)
    df = hr.DataFrame(
        {
            "s": ["a", "b"],
            "t": [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 5)],
            "u": [dt.datetime(2024, 1, 2), dt.datetime(2024, 1, 4)],
        }
    )
    with hr.strict():
        assert df.apply(lambda r: r.s + "!", axis=1).to_list() == ["a!", "b!"]
        assert df.apply(lambda r: r.u - r.t, axis=1).to_list() == [day, -day]
        assert df.apply(lambda r: r.u if r.u > r.t else r.t, axis=1).to_list() == [
            dt.datetime(2024, 1, 2),
            dt.datetime(2024, 1, 5),
        ]
    assert df.apply(lambda r: r.s.upper(), axis=1).to_list() == ["A", "B"]
    assert df.apply(lambda r: r.t.year, axis=1).to_list() == [2024, 2024]


def graded(x: float) -> str:
    """A chain of branches."""
    if x >= 9:
        return "A"
    elif x >= 8:
        return "B"
    elif x >= 7:
        return "C"
    elif x >= 6:
        return "D"
    elif x >= 5:
        return "E"
    elif x >= 4:
        return "F"
    elif x >= 3:
        return "G"
    elif x >= 2:
        return "H"
    return "I" if x > 1 else "J"


def smoothed(x: float) -> float:
    """A loop of constant length."""
    made = x
    for i in range(1, 6):
        made = made * 0.5 + i / x
    return made


def stepped(x: float) -> float:
    """A loop over constants that ends early."""
    for limit in (-1, 0, 2, 5):
        if x < limit:
            return limit * 1.0
    return x / 1


def counted(x: float) -> float:
    """A loop of constant length with a condition in front."""
    steps = 0
    while steps < 4:
        x, steps = x / 2 + steps, steps + 1
    return x


def halved(x: float) -> float:
    """A loop whose length depends on the value."""
    while x > 1:
        x = x / 2
    return x


def doubled(x: float) -> float:
    """A loop that leaves int64."""
    made = 1
    for _ in range(70):
        made = made * 2
    return made % (x + 2000.5)


def endless(x: float) -> float:
    """A loop that is too long to unroll."""
    for _ in range(2000):
        x = x + 1
    return x


@pytest.mark.parametrize("function", [graded, smoothed, stepped, counted])
@pytest.mark.parametrize("values", [[0.5, 9.5, 3.25, -7.0, NAN, 4.0, 6.0], [1, 5, 9, -3, 7]])
def test_chains_and_loops_are_traced(function: Any, values: list[Any]) -> None:
    with hr.strict():
        found = outcome(lambda: hr.Series(values).map(function))
        rows = outcome(lambda: hr.DataFrame({"x": values}).apply(lambda r: function(r.x), axis=1))
    assert found == outcome(lambda: pd.Series(values).map(function)) == rows


@pytest.mark.parametrize("function", [halved, doubled, endless])
def test_other_loops_run_row_by_row(function: Any) -> None:
    values = [0.5, 9.5, 3.25, 1000.0]
    hr._core.clear_fallbacks()
    assert outcome(lambda: hr.Series(values).map(function)) == outcome(
        lambda: pd.Series(values).map(function)
    )
    assert hr.fallbacks()


def test_too_many_branches_run_row_by_row() -> None:
    values = list(range(12))
    function = lambda x: x in (1, 3, 5, 7, 9, 11, 13)  # noqa: E731
    assert hr.Series(values).map(function).to_list() == [v in (1, 3, 5, 7, 9, 11) for v in values]
