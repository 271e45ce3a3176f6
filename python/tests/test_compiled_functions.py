# SPDX-License-Identifier: Apache-2.0
"""Functions compiled by Numba give the values of Python, or are not compiled."""

import math
from typing import Any

import numpy as np
import pytest
from headrace.lazy import compiled

import headrace as hr

pytest.importorskip("numba")

NAN = float("nan")
VALUES = [0.5, 9.5, 3.25, -7.0, NAN, 1e300, 1.0, 0.1, 1e-300, 123456.789]
STEP = 2.0


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile for few rows."""
    monkeypatch.setattr(compiled, "_FEWEST_ROWS", 1)


def halved(x: float) -> int:
    """A counter."""
    n = 0
    while x > 1:
        x = x / 2
        n += 1
    return n


def root(x: float) -> float:
    """Newton's steps."""
    if not x > 0:
        return NAN
    made = x
    while abs(made * made - x) > 1e-9 * x and made * made < 1e301:
        made = (made + x / made) / 2
    return made


def counted_down(x: float) -> float:
    """A counter and a sum."""
    total = 0.0
    left = 100
    while left > 0 and total < x:
        total = total + left * 0.75
        left = left - 3
    return total - x


def reached(x: float) -> bool:
    """A bool."""
    while x < 8:
        x = x * STEP if x > 0 else 8.0
    return x < 16


def early(x: float) -> int:
    """A loop over a range, left early."""
    for i in range(60):
        if x < i:
            return i
    return -1


EXACT = [halved, root, counted_down, reached, early]


@pytest.mark.parametrize("function", EXACT)
def test_compiled_values_are_those_of_python(function: Any) -> None:
    found = compiled.of_values(function, hr.Series(VALUES))
    assert found is not None
    wanted = [function(value) for value in VALUES]
    assert [repr(v) for v in found.to_list()] == [repr(v) for v in wanted]
    draw = np.random.default_rng(3).normal(size=3000) * 50
    with hr.strict():
        many = hr.Series(draw).map(function).to_list()
    assert [repr(v) for v in many] == [repr(function(v)) for v in draw.tolist()]


def doubled(x: float) -> float:
    """An integer that leaves int64."""
    n = 1
    while n < x:
        n = n * 2
    return n / 2


def summed(x: float) -> int:
    """A sum of integers that leaves int64."""
    n, m, i = 1, 1, 0
    while i < 100:
        n, m, i = m, n + m, i + 1
    return n


def squared(x: float) -> float:
    """A power."""
    while x > 2:
        x = x**0.5
    return x


def rooted(x: float) -> float:
    """A function that raises for negative values."""
    while x > 2:
        x = math.sqrt(x)
    return x


def smaller(x: float) -> float:
    """The builtin `min`, which takes NaN in its own way."""
    while x > 2:
        x = min(x / 2, 5.0)
    return x


def rest(x: float) -> float:
    """A remainder."""
    while x > 100:
        x = x / 2
    return x % 3


def mixed(x: float) -> Any:
    """A bool or a float."""
    while x > 2:
        x = x / 2
    return True if x > 1.5 else x


def mixed_variable(x: float) -> Any:
    """A bool in a variable of floats."""
    made: Any = False
    while x > 2:
        x = x / 2
        made = x
    return made


def named(x: float) -> Any:
    """A string."""
    while x > 2:
        x = x / 2
    return "a" if x > 1.5 else "b"


def large(x: float) -> float:
    """An integer that floats do not hold."""
    while x > 2:
        x = x / 2
    return x + 9007199254740993


REFUSED = [doubled, summed, squared, rooted, smaller, rest, mixed, mixed_variable, named, large]


@pytest.mark.parametrize("function", REFUSED)
def test_what_could_differ_is_not_compiled(function: Any) -> None:
    assert compiled.of_values(function, hr.Series([1.0, 3.0])) is None


def test_an_error_is_that_of_python() -> None:
    def divided(x: float) -> float:
        while x > 1:
            x = x - 1
        return 1 / x

    assert hr.Series([1.5, 0.5]).map(divided).to_list() == [2.0, 2.0]
    with pytest.raises(ZeroDivisionError):
        hr.Series([1.5, 0.0]).map(divided)


def test_globals_are_read_at_each_call() -> None:
    global STEP
    try:
        for STEP in (2.0, 3.0, 5.0):
            found = compiled.of_values(reached, hr.Series(VALUES))
            assert found is not None and found.to_list() == [reached(v) for v in VALUES]
    finally:
        STEP = 2.0


def test_nulls_integers_and_few_rows_are_left_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled.of_values(halved, hr.Series([1.0, None])) is None
    assert compiled.of_values(halved, hr.Series([1, 2])) is None
    monkeypatch.setattr(compiled, "_FEWEST_ROWS", 3)
    assert compiled.of_values(halved, hr.Series([1.0, 2.0])) is None
