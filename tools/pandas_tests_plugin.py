# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin that runs pandas' own tests with Headrace in the place of pandas.

The test modules of the installed wheel say `import pandas as pd` and `import pandas._testing as
tm`. While they are imported, `pd` becomes a module that gives Headrace's names, and pandas' own
only where they make inputs or expected values (`INPUTS`, and what Headrace does not have); a pandas
function that is given one of our objects fails. `tm` compares by value (`compare_by_value.py`).

A test passes only if it also called a Headrace method or function from its own code, other than a
constructor or a conversion. `pytest.raises` checks the type of an error, not pandas' words, and
refuses errors that only say that something is missing here. Warnings are not compared.

`tools/run_pandas_tests.py` starts this in a process of its own.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import importlib.abc
import importlib.machinery
import inspect
import json
import os
import re
import signal
import sys
import types
from pathlib import Path
from typing import Any

import compare_by_value
import pandas
import pytest

import headrace

#: Names that make inputs and expected values: pandas' own even where Headrace has them.
INPUTS = frozenset(
    [
        "Timestamp",
        "Timedelta",
        "DateOffset",
        "Period",
        "Interval",
        "NA",
        "NaT",
        "Index",
        "MultiIndex",
        "RangeIndex",
        "DatetimeIndex",
        "TimedeltaIndex",
        "PeriodIndex",
        "CategoricalIndex",
        "IntervalIndex",
        "Categorical",
        "CategoricalDtype",
        "array",
        "date_range",
        "bdate_range",
        "timedelta_range",
        "period_range",
        "interval_range",
        "offsets",
        "api",
        "errors",
        "options",
        "option_context",
        "set_option",
        "reset_option",
        "get_option",
    ]
)
#: Functions that also make inputs: Headrace's if an argument is one of its objects, or names one.
BOTH = frozenset(
    [
        "to_datetime",
        "to_timedelta",
        "to_numeric",
        "unique",
        "factorize",
        "isna",
        "isnull",
        "notna",
        "notnull",
        "read_csv",
    ]
)
#: Methods that compute nothing.
CONVERSIONS = frozenset(
    [
        "to_pandas",
        "to_numpy",
        "to_arrow",
        "to_list",
        "tolist",
        "__array__",
        "__len__",
        "__iter__",
        "__repr__",
        "__str__",
        "__bool__",
        "__hash__",
        "__getattr__",
        "__dir__",
        "__init__",
        "__new__",
        "__setattr__",
        "__setitem__",
        "__delitem__",
        "__getattribute__",
        "__init_subclass__",
        "__reduce_ex__",
        "__del__",
        "__copy__",
        "__deepcopy__",
        "__get__",
        "__set_name__",
        "__class_getitem__",
        "__float__",
        "__int__",
        "__index__",
        "item",
    ]
)
#: What Python says of a call that a signature does not allow.
MISSING_PARAMETER = re.compile(r"unexpected keyword argument|positional argument|required keyword")
SECONDS = 10.0


class State:
    """What the running test has done."""

    calls = 0
    results: Any = None


# ---- the calls into Headrace ---------------------------------------------------------------------
def counted(function: Any) -> Any:
    """The same function, which counts calls from the code of pandas' tests."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if sys._getframe(1).f_globals.get("__name__", "").startswith("pandas."):
            State.calls += 1
        return function(*args, **options)

    return call


def count_methods() -> None:
    """Count the methods of all classes of the package."""
    for name, module in sorted(sys.modules.items()):
        if not name.startswith("headrace."):
            continue
        for made in list(vars(module).values()):
            if isinstance(made, type) and made.__module__ == name:
                for word, value in list(vars(made).items()):
                    public = not word.startswith("_") or word.startswith("__")
                    own = isinstance(value, types.FunctionType | type(headrace.concat))
                    if own and public and word not in CONVERSIONS:
                        with contextlib.suppress(AttributeError, TypeError):
                            setattr(made, word, counted(value))


# ---- pandas as the tests see it ------------------------------------------------------------------
def refuse_ours(name: str, function: Any) -> Any:
    """pandas' function, for pandas' objects only."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if compare_by_value.holds_ours([*args, *options.values()]):
            raise AttributeError(f"headrace has no function {name}")
        return function(*args, **options)

    return call


def either(name: str, ours: Any) -> Any:
    """Our function for our objects, else pandas'."""
    theirs, ours = getattr(pandas, name), counted(ours)

    def call(*args: Any, **options: Any) -> Any:
        mine = compare_by_value.holds_ours([*args, *options.values()])
        return ours(*args, **options) if mine else theirs(*args, **options)

    return call


class Pandas(types.ModuleType):
    """The module that stands for pandas in its tests."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(pandas, name)
        if name in headrace.__all__ and name not in INPUTS:
            value = getattr(headrace, name)
            if not isinstance(value, type):
                value = either(name, value) if name in BOTH else counted(value)
        elif isinstance(value, types.FunctionType) and name not in INPUTS:
            value = refuse_ours(name, value)
        setattr(self, name, value)
        return value


class Testing(types.ModuleType):
    """The module that stands for `pandas._testing`."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(compare_by_value, name, None)
        return getattr(pandas._testing, name) if found is None else found


class Rewritten(importlib.machinery.SourceFileLoader):
    """Loads a module of pandas' tests with other imports."""

    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def source_to_code(self, data: Any, path: Any, **_: Any) -> Any:
        tree = ast.parse(data, path)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name in ("pandas", "pandas._testing"):
                        alias.asname = alias.asname or alias.name
                        alias.name = f"headrace_as_{alias.name.replace('.', '')}"
        return compile(ast.fix_missing_locations(Lenient().visit(tree)), path, "exec")


class Lenient(ast.NodeTransformer):
    """Calls outside functions give an object that raises when used, so that modules import."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        if not re.match(r"pandas(\.core|$)", str(node.module)):
            return node
        names = [each for each in node.names if each.name in headrace.__all__]
        ours = [each for each in names if each.name not in INPUTS]
        return [node, ast.ImportFrom("headrace_as_pandas", ours, 0)] if ours else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.decorator_list = [self.visit(made) for made in node.decorator_list]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        node.body = [self._guarded(each) for each in node.body]  # no lambda sees a class's names
        return node

    def _guarded(self, node: ast.stmt) -> Any:
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
            return self.visit(node)
        attempt: Any = ast.parse("try: pass\nexcept Exception as error: pass").body[0]
        made = ast.parse("_unmade(error)", mode="eval").body
        attempt.body = [node]
        attempt.handlers[0].body = [ast.Assign(node.targets, made)]
        return attempt

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        text = ast.unparse(node.func)
        self.generic_visit(node)
        if not re.match(r"(pd|ser|df|_create_\w+)\b|\(", text):
            return node
        later = ast.Lambda(ast.parse("lambda: 0", mode="eval").body.args, node)
        return ast.Call(ast.Name("_made_or_unmade", ast.Load()), [later], [])


class Unmade:
    """What a test module could not make while it was imported."""

    def __init__(self, error: Exception) -> None:
        self.__dict__["error"] = error

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.__dict__["error"]

    def _raise(self, *args: Any) -> Any:
        raise self.__dict__["error"]

    __call__ = __getitem__ = __len__ = __iter__ = __add__ = __sub__ = __mul__ = __eq__ = _raise
    __hash__ = object.__hash__


def made_or_unmade(make: Any) -> Any:
    """The value, or what stands for it."""
    try:
        return make()
    except Exception as error:
        return Unmade(error)


class Finder(importlib.abc.MetaPathFinder):
    """Finds the modules that are rewritten."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != "pandas.conftest" and not name.startswith("pandas.tests."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            spec.loader = Rewritten(name, spec.origin)
        return spec


# ---- errors --------------------------------------------------------------------------------------
_raises = pytest.raises


def says_missing(error: BaseException, expected: Any, match: str | None) -> bool:
    """Whether an error of the expected type only says that something is not there."""
    if isinstance(error, headrace.UnsupportedError):
        kinds = expected if isinstance(expected, tuple) else (expected,)
        return NotImplementedError not in kinds
    if isinstance(error, TypeError) and MISSING_PARAMETER.search(str(error)):
        return not MISSING_PARAMETER.search(str(match))
    return False


def builtin(kind: Any) -> Any:
    """The built-in class of an error class of pandas: ours are no subclasses of pandas'."""
    if not kind.__module__.startswith("pandas"):
        return kind
    base = next(base for base in kind.__mro__ if base.__module__ == "builtins")
    return (kind, base if base is not Exception else headrace.Error)


@contextlib.contextmanager
def raises_kind(expected: Any, match: str | None = None) -> Any:
    """`pytest.raises` by type alone."""
    kinds = expected if isinstance(expected, tuple) else (expected,)
    flat: list[Any] = []
    for kind in kinds:
        found = builtin(kind)
        flat += found if isinstance(found, tuple) else [found]
    with _raises(tuple(flat)) as info:
        try:
            yield info
        except Exception as error:
            if says_missing(error, expected, match):
                pytest.fail(f"not there: {type(error).__name__}: {error}")
            raise


def raises(expected: Any, *args: Any, match: Any = None, **options: Any) -> Any:
    """What the tests call as `pytest.raises`."""
    if args:
        return _raises(expected, *args, **options)
    return raises_kind(expected, match)


# ---- pytest's hooks ------------------------------------------------------------------------------
def rules() -> list[tuple[str, re.Pattern[str], str]]:
    """The rules of tests that are left out: kind, pattern, reason."""
    text = Path(os.environ["PANDAS_TESTS_RULES"]).read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    found = []
    for line in lines:
        rule, reason = line.split("  # ", 1)
        kind, pattern = rule.split(None, 1)
        found.append((kind, re.compile(pattern.strip()), reason))
    return found


@functools.cache
def source_of(function: Any) -> str:
    """The code of a test."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return ""


def write(**record: Any) -> None:
    """Add a line to the results, at once: the process may die."""
    State.results.write(json.dumps(record) + "\n")
    State.results.flush()


def name_of(nodeid: str) -> str:
    """The test's name below `pandas/tests`."""
    return nodeid.split("pandas/tests/")[-1]


def stand_in() -> None:
    """Stand in for pandas before any of its tests is imported, the first `conftest.py` included."""
    State.results = Path(os.environ["PANDAS_TESTS_RESULTS"]).open("a")  # noqa: SIM115
    for name in headrace.__all__:
        getattr(headrace, name)
    count_methods()
    pd, tm = Pandas("pandas"), Testing("pandas._testing")
    pd.__dict__["testing"] = tm
    sys.modules["headrace_as_pandas"], sys.modules["headrace_as_pandas_testing"] = pd, tm
    vars(builtins).update(_made_or_unmade=made_or_unmade, _unmade=Unmade)
    sys.meta_path.insert(0, Finder())
    pytest.raises = raises
    signal.signal(signal.SIGALRM, out_of_time)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave out what the rules say, and what has a result already."""
    done = {json.loads(line)["id"] for line in Path(State.results.name).read_text().splitlines()}
    step, found, keep = int(os.environ.get("PANDAS_TESTS_STEP", "1")), rules(), []
    for number, item in enumerate(items):
        name = name_of(item.nodeid)
        if number % step or name in done:
            continue
        source = source_of(item.function)
        for kind, pattern, reason in found:
            if kind in ("id", "source") and pattern.search(name if kind == "id" else source):
                write(id=name, outcome="left out", reason=reason)
                break
        else:
            if any(item.iter_markers("xfail")):
                write(id=name, outcome="left out", reason="pandas expects it to fail")
            else:
                keep.append(item)
    items[:] = keep


def out_of_time(*_: Any) -> None:
    """End a test that takes too long."""
    raise TimeoutError(f"no result in {SECONDS} s")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: Any) -> Any:
    """Run one test within its time."""
    write(id=name_of(item.nodeid), outcome="started")
    State.calls = 0
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Any:
    """Write the outcome of one test."""
    report = (yield).get_result()
    name = name_of(item.nodeid)
    if report.skipped:
        write(id=name, outcome="skipped", reason=str(call.excinfo.value)[:80])
    elif report.failed:
        error, where = call.excinfo.value, call.excinfo.traceback
        kind = type(error).__name__
        inside = [str(entry.path) for entry in where if "/headrace/" in str(entry.path)]
        write(
            id=name,
            outcome="failed",
            cause=f"{kind}: {str(error).strip() or where[-1].statement}"[:300],
            phase=report.when,
            line=next(
                (f"{e.path.name}:{e.lineno + 1}" for e in where[::-1] if "/tests/" in str(e.path)),
                "",
            ),
            inside=inside[-1].split("/headrace/")[-1] if inside else "",
        )
    elif report.when == "call":
        if State.calls:
            write(id=name, outcome="passed")
        else:
            write(id=name, outcome="failed", cause="no call into Headrace", phase="call")


stand_in()
