# SPDX-License-Identifier: Apache-2.0
"""A script that runs step by step, once with pandas and once with Headrace."""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import io
import random
import re
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import headrace as hr
from headrace.compare.values import difference, is_data, is_ours

_CELL = re.compile(r"^# ?%%")
_MAGIC = re.compile(r"^[%!].*$", re.M)
_SLOWER, _AT_LEAST = 1.5, 0.005


@dataclass
class Outcome:
    """What a step of a script did: its line, its text, differences, an error, both times."""

    line: int
    text: str
    differences: list[str] = field(default_factory=list)
    error: str | None = None
    pandas: float = 0.0
    seconds: float = 0.0

    @property
    def works(self) -> bool:
        """Whether Headrace gives what pandas gives."""
        return not self.differences and self.error is None

    @property
    def is_slower(self) -> bool:
        """Whether Headrace took longer by more than half, and more than 5 ms."""
        return self.works and self.seconds > max(_SLOWER * self.pandas, self.pandas + _AT_LEAST)


class _Step(NamedTuple):
    line: int
    text: str
    body: list[ast.stmt]

    def names(self) -> set[str]:
        """The variables that the step mentions."""
        nodes = (node for statement in self.body for node in ast.walk(statement))
        return {node.id for node in nodes if isinstance(node, ast.Name)} | {
            (alias.asname or alias.name).partition(".")[0]
            for statement in self.body
            if isinstance(statement, ast.Import | ast.ImportFrom)
            for alias in statement.names
        }

    def codes(self, path: str) -> tuple[CodeType, CodeType | None]:
        """The statements, and the expression at the end, which a notebook shows."""
        body, last = self.body, None
        if isinstance(self.body[-1], ast.Expr):
            body = self.body[:-1]
            last = compile(ast.Expression(self.body[-1].value), path, "eval")
        return compile(ast.Module(body, []), path, "exec"), last


def _steps(text: str, path: str) -> list[_Step]:
    """The cells of a script that has some, else its statements."""
    text = _MAGIC.sub("pass", text)
    lines = text.splitlines()
    statements = ast.parse(text, path).body
    starts = [i + 1 for i, line in enumerate(lines) if _CELL.match(line)]
    cells: dict[int, list[ast.stmt]] = {}
    for statement in statements:
        before = [start for start in starts if start <= statement.lineno]
        key = (before[-1] if before else 0) if starts else statement.lineno
        cells.setdefault(key, []).append(statement)
    return [
        _Step(body[0].lineno, "\n".join(lines[body[0].lineno - 1 : body[-1].end_lineno]), body)
        for body in cells.values()
    ]


class _World:
    """The names of a script under one of the two libraries."""

    def __init__(self, path: str, library: str) -> None:
        self._library = library
        self.shown: list[Any] = []
        own = {"__import__": self._import, "print": self._show, "display": self._show}
        self.names: dict[str, Any] = {
            "__name__": "__main__",
            "__file__": path,
            "__builtins__": {**vars(builtins), **own},
        }
        self.state = (random.getstate(), np.random.get_state())

    def _import(self, name: str, *how: Any) -> Any:
        first, dot, rest = name.partition(".")
        return __import__(self._library + dot + rest if first == "pandas" else name, *how)

    def _show(self, *values: Any, **_: Any) -> None:
        self.shown += values

    def run(self, step: _Step, path: str) -> tuple[Exception | None, float]:
        """Run a step; what raised, and seconds with all values there."""
        self.shown = []
        random.setstate(self.state[0])
        np.random.set_state(self.state[1])
        code, last = step.codes(path)
        raised = None
        started = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(code, self.names)
                if last is not None:
                    self._show(eval(last, self.names))
                known = [self.names.get(name) for name in step.names()]
                for value in filter(is_ours, [*self.shown, *known]):
                    hr.eval(value)
            except Exception as error:
                raised = error
        seconds = time.perf_counter() - started
        self.state = (random.getstate(), np.random.get_state())
        return raised, seconds


def _ours(value: Any) -> Any:
    """A value of pandas as one of ours; raises if there is none."""
    if isinstance(value, list | tuple | set) and type(value) in (list, tuple, set):
        return type(value)(map(_ours, value))
    if isinstance(value, dict):
        return {key: _ours(each) for key, each in value.items()}
    if isinstance(value, pd.Index):
        value = pd.Series(value)
    if isinstance(value, pd.DataFrame | pd.Series):
        made = hr.from_pandas(_with_texts(value))
        if told := difference(value, made):
            raise hr.UnsupportedError(told)
        return made
    return copy.deepcopy(value)


def _with_texts(value: Any) -> Any:
    """Periods and bins as text, as they are in Headrace."""
    if isinstance(value, pd.DataFrame):
        value = value.copy(deep=False)
        for i in range(value.shape[1]):
            value.isetitem(i, _with_texts(value.iloc[:, i]))
    elif isinstance(value.dtype, pd.PeriodDtype | pd.IntervalDtype):
        value = value.astype(str).where(value.notna(), None)
    elif isinstance(value.dtype, pd.CategoricalDtype) and value.cat.categories.dtype == "interval":
        value = value.cat.rename_categories(map(str, value.cat.categories))
    if isinstance(value.index, pd.PeriodIndex | pd.IntervalIndex | pd.CategoricalIndex):
        value = value.set_axis(pd.Index(map(str, value.index), name=value.index.name))
    return value


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def compare(text: str, path: str = "<script>") -> Iterator[Outcome]:
    """Run a script with pandas and with Headrace; an outcome for each step, as it is done.

    ``import pandas`` means Headrace in the second run. After each step all variables that it
    mentions, and all values that it shows or prints, are compared. After an error or a difference
    these variables are taken from pandas, so that each step is judged on its own. The outcome of a
    step that pandas cannot run is right if Headrace raises as well.

    Parameters
    ----------
    text : str
        The script. Lines ``# %%`` part it into steps, else each statement is one.
    path : str
        Its name in tracebacks and as ``__file__``.

    >>> script = '''
    ... import pandas as pd
    ... df = pd.DataFrame({"x": [3, 1, 2]})
    ... df.sort_values("x")
    ... '''
    >>> [(step.line, step.works) for step in compare(script)]
    [(2, True), (3, True), (4, True)]
    """
    theirs, ours = _World(path, "pandas"), _World(path, "headrace")
    lost: dict[str, str] = {}
    for step in _steps(text, path):
        outcome = Outcome(step.line, step.text)
        before = {name: id(value) for name, value in theirs.names.items()}
        refused, outcome.pandas = theirs.run(step, path)
        mentioned = step.names()
        changed = {n for n, value in theirs.names.items() if before.get(n) != id(value)}
        unknown = sorted(name for name in mentioned & lost.keys() if not _binds(step, name))
        if unknown:
            outcome.error = f"needs {unknown[0]!r}, which was not to be had: {lost[unknown[0]]}"
        else:
            raised, outcome.seconds = ours.run(step, path)
            if raised is not None and refused is None:
                outcome.error = _error_text(raised)
            elif refused is not None and raised is None:
                outcome.differences.append(f"pandas raises {_error_text(refused)}")
            elif refused is None:
                _judge(outcome, theirs, ours, mentioned | changed)
        for name in mentioned | changed:
            lost.pop(name, None)
        if not outcome.works:
            _adopt(theirs, ours, mentioned | changed, lost)
        yield outcome


def _binds(step: _Step, name: str) -> bool:
    """Whether a step sets a variable before it reads it: its first statement assigns it alone."""
    first = step.body[0]
    if not isinstance(first, ast.Assign):
        return False
    read = {node.id for node in ast.walk(first.value) if isinstance(node, ast.Name)}
    return name not in read and any(
        isinstance(target, ast.Name) and target.id == name for target in first.targets
    )


def _judge(outcome: Outcome, theirs: _World, ours: _World, names: set[str]) -> None:
    """Compare what both runs of a step show, and their variables."""
    pairs = [("shown", one, other) for one, other in zip(theirs.shown, ours.shown, strict=False)]
    if len(theirs.shown) != len(ours.shown):
        told = f"pandas shows {len(theirs.shown)} values, Headrace {len(ours.shown)}"
        outcome.differences.append(told)
    for name in sorted(name for name in names & theirs.names.keys() if name[:2] != "__"):
        if name not in ours.names:
            outcome.differences.append(f"{name}: is not set")
        else:
            pairs.append((name, theirs.names[name], ours.names[name]))
    for name, wanted, found in pairs:
        if not is_data(wanted):
            continue
        try:
            told_one = difference(wanted, found, name)
        except Exception as error:  # of a lazy value, or one that has no form of pandas
            outcome.error = _error_text(error)
            return
        if told_one:
            outcome.differences.append(told_one)


def _adopt(theirs: _World, ours: _World, names: set[str], lost: dict[str, str]) -> None:
    """Take variables from pandas' run, and its random numbers."""
    ours.state = theirs.state
    for name in names & theirs.names.keys():
        value = theirs.names[name]
        if is_data(value) or isinstance(value, np.random.Generator | np.random.RandomState):
            try:
                ours.names[name] = _ours(value)
            except Exception as error:
                ours.names.pop(name, None)
                lost[name] = _error_text(error)
        elif name not in ours.names:
            lost[name] = f"a {type(value).__name__} of pandas"
