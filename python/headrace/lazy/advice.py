# SPDX-License-Identifier: Apache-2.0
"""Performance advice about Python code in loops, and values that leave and come back."""

from __future__ import annotations

from typing import Any

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.settings import is_strict


def row_by_row(op: str, fix: str) -> None:
    """Advise against Python code per row; raise under `hr.strict`."""
    if is_strict():
        raise UnsupportedError(
            f"{op}: Python code would run once per row, and hr.strict() is on; {fix}"
        )
    _core.give_advice(op, _core.user_line(), f"Python code ran once per row; {fix}")


def group_by_group(op: str, fix: str) -> None:
    """Advise against Python code per group; raise under `hr.strict`."""
    if is_strict():
        raise UnsupportedError(
            f"{op}: Python code would run once per group, and hr.strict() is on; {fix}"
        )
    _core.give_advice(op, _core.user_line(), f"Python code ran once per group; {fix}")


def window_by_window(op: str, fix: str) -> None:
    """Advise against Python code per window; raise under `hr.strict`."""
    if is_strict():
        raise UnsupportedError(
            f"{op}: Python code would run once per window, and hr.strict() is on; {fix}"
        )
    _core.give_advice(op, _core.user_line(), f"Python code ran once per window; {fix}")


_REPEATS = 8


_VALUES = 200


_seen: dict[str, int] = {}


def grows(op: str, fix: str, times: int = _REPEATS) -> None:
    """Advise when one line calls this repeatedly."""
    line = _core.user_line()
    _seen[line] = _seen.get(line, 0) + 1
    if _seen[line] == times:
        _core.give_advice(op, line, f"called {times} or more times by one line; {fix}")


def value_by_value(op: str) -> None:
    """Advise when one line reads values one at a time."""
    grows(op, "work on whole columns, or call to_list() once", _VALUES)


def goes_to_python(op: str, rows: int) -> None:
    """Advise against a loop over many values."""
    if rows >= _VALUES:
        text = (
            "values are read one at a time from Python; work on the whole column, or call to_list()"
        )
        _core.give_advice(op, _core.user_line(), text)


#: Key in pandas' `attrs`.
_FROM_HERE = "headrace"


def sent(made: Any) -> Any:
    """A pandas object that remembers the line that made it."""
    made.attrs[_FROM_HERE] = _core.user_line()
    return made


def came_back(op: str, values: Any) -> None:
    """Advise when values come back from pandas."""
    line = getattr(values, "attrs", {}).get(_FROM_HERE)
    if line is not None:
        text = (
            f"these values went to pandas at {line} and came back; do the steps in "
            "between on Headrace frames"
        )
        _core.give_advice(op, _core.user_line(), text)
