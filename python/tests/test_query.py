# SPDX-License-Identifier: Apache-2.0
"""What a query reads of the caller's objects, what it refuses, and that its cost is bounded."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import enum
import math
import os
import resource
import time
import types
from collections import defaultdict, namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import headrace as hr

FRAME = {"a": [1, 2, 3, 4], "x": [0.5, 1.5, -2.0, 4.0], "s": ["u", "v", "%d", "v"]}
DAYS = [dt.datetime(2024, 1, day) for day in (1, 2, 3, 4)]


class Color(enum.IntEnum):
    RED = 2


class Word(enum.StrEnum):
    V = "v"


@dataclasses.dataclass
class Limits:
    low: int = 2
    words: tuple[str, ...] = ("u", "v")


class Slotted:
    __slots__ = ("low",)
    kinds = ("u",)

    def __init__(self) -> None:
        self.low = 3


Pair = namedtuple("Pair", "low high")


class Today(dt.datetime):
    """As libraries for tests make one."""


NAMES: dict[str, Any] = {
    "limits": Limits(),
    "slotted": Slotted(),
    "pair": Pair(2, 3),
    "space": types.SimpleNamespace(low=2, d={"k": [1, 4]}),
    "deep": {"k": {"low": 2}, 3: [4]},
    "default": defaultdict(int, {"k": 2}),
    "span": range(2, 4),
    "Color": Color,
    "Word": Word,
    "Limits": Limits,
    "math": math,
    "today": Today(2024, 1, 2, 12),
    "day": dt.timedelta(days=1),
    "stamp": pd.Timestamp(2024, 1, 3),
    "array": np.array([1, 4]),
    "row": np.array([2, 2, 2, 2]),
    "words": np.array(["u", "w"], dtype=object),
    "other": pd.DataFrame({"a": [2, 3]}),
    "index": pd.Index([3, 4]),
    "texts": pd.Series(["u"], dtype=object),
    "keys": {"u": 1, "w": 2}.keys(),
    "number": np.float64(1.5),
    "i": 1,
    "prefix": "",
}


@pytest.mark.parametrize(
    "text",
    [
        *("a > @limits.low", "s in @limits.words", "a > @Limits.low", "a > @slotted.low"),
        *("s in @slotted.kinds", "a == @pair.low or a == @pair[1]", "a in @space.d['k']"),
        *("a < @deep['k']['low']", "a == @deep[3][0]", "a == @default['k']", "a in @span"),
        *("a < @span.stop", "a == @Color.RED", "a == @Color.RED.value", "s == @Word.V"),
        *("x < @math.pi", "day > @today", "day == @stamp", "a in @array"),
        *("a == @array[1]", "a > @row", "a > @row * 2 - 2", "a < @array.size", "s in @words"),
        *("a in @other.a", "a in @other['a']", "a in @index", "s in @texts", "s in @keys"),
        *("x > @number", "a > 2 ** @i", "s == @prefix + 'v'", "a == @stamp.day", "a > -2 ** 2"),
        *("a + a + a > 7", "s.str.replace('v', 'www') == 'www'", "exp(x) > 2 and sqrt(a) < 2"),
        *("a > sqrt(4)", "a > floor(2.5)", "arctan2(x, a) > 0", "s == '%d'", 's == "v" # or not'),
        *("s.str.startswith('v') & (a > 2)", "a.isin([1, 2])", "not a.isin(@array) | x < 0"),
    ],
)
def test_what_users_of_pandas_write(text: str) -> None:
    theirs = pd.DataFrame({**FRAME, "day": DAYS})
    ours = hr.from_pandas(theirs)
    wanted = theirs.query(text, engine="python", local_dict=NAMES)
    got = eval("ours.query(text)", {**NAMES, "ours": ours, "text": text})
    assert got.a.to_list() == wanted.a.to_list()


#: Calls of objects of `recorder`, while there is a list for them.
CALLS: list[str] | None = None


def _noted(name: str) -> Any:
    def method(self: Any, *values: Any, **options: Any) -> Any:
        if CALLS is not None:
            CALLS.append(name)
            raise RuntimeError(name)
        return getattr(object, name, lambda *_: NotImplemented)(self, *values)

    return method


@contextlib.contextmanager
def calls() -> Iterator[list[str]]:
    """Note calls of the methods of recorders."""
    global CALLS
    CALLS = noted = []
    try:
        yield noted
    finally:
        CALLS = None


def _all_methods() -> dict[str, Any]:
    names = {
        name for kind in (int, str, list, dict, set, np.ndarray, pd.Series) for name in dir(kind)
    }
    names |= {"exp", "sqrt", "sin", "floor", "conjugate", "to_list", "isoformat", "item", "job"}
    names |= {"__array__", "__array_ufunc__", "__array_function__", "__dlpack__", "__float__"}
    names |= {"__index__", "__fspath__", "__arrow_c_stream__", "__arrow_c_array__", "__missing__"}
    names |= {"__array_interface__", "__call__", "__getattr__", "__get__", "__del__"}
    skip = {"__new__", "__init__", "__class__", "__dict__", "__doc__", "__init_subclass__"}
    skip |= {"__subclasshook__", "__class_getitem__", "__slots__", "__del__", "__get__"}
    return {name: _noted(name) for name in names - skip}


def recorder() -> Any:
    """An object that notes each call, look-up of an attribute, comparison or conversion."""
    methods = _all_methods()
    methods["prop"] = property(_noted("prop"))
    methods["__class__"] = property(_noted("__class__"))
    return type("Recorder", (), methods)()


@pytest.mark.parametrize(
    "text",
    [
        *("exp(@job) > 0", "sqrt(@job) > a", "a > @job", "@job > a", "a == @job", "@job == @job"),
        *("a in @job", "a in [@job]", "a.isin(@job)", "a.isin([1, @job])", "a in @many"),
        *("a > @job.prop", "a > @job.exp", "a > @job.exp()", "a > @job[0]", "a > @job['k']"),
        *("a > @held[@job]", "a + @job > 1", "-@job > a", "not @job", "~@job", "@job and a > 1"),
        *("a.fillna(@job) > 1", "a.shift(@job) > 1", "a.clip(upper=@job) > 1", "a > @objects"),
        *("a.between(@job, 3)", "s.str.contains(@job)", "s.str.cat(@job) == 'u'", "@job.str.len()"),
        *("a > exp(@objects)", "@objects + 1 > 2", "a in @objects", "a > @pandas", "a in @pandas"),
        *("@pandas * 2 > a", "a > @held['k']", "a in @held", "a > @held['k'].prop", "@job"),
        *("arctan2(a, @job) > 0", "exp(a, @row) > 0", "a < @missing['x']", "a > @plain_int"),
    ],
)
def test_nothing_of_the_callers_objects_runs(text: str) -> None:
    job = recorder()
    many, held = [job, job], {"k": job}
    objects = np.empty(4, dtype=object)
    for i in range(4):
        objects[i] = job
    pandas = pd.Series(objects)
    row = np.zeros(4)
    missing = type("Missing", (dict,), {"__missing__": _noted("__missing__")})()
    plain_int = type("Int", (int,), _all_methods())(2)
    frame = hr.DataFrame(FRAME)
    with calls() as noted, contextlib.suppress(hr.Error):
        frame.query(text).to_dict()
    assert noted == [] and row.tolist() == [0.0] * 4
    assert many and held and pandas is not None and missing == {} and plain_int is not None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a > 9**9**9", "more than 64 bits"),
        ("a > 10**30", "more than 64 bits"),
        ("a > 2 ** 64", "more than 64 bits"),
        ("a > 9223372036854775807 * 3", "more than 64 bits"),
        ("a > 10.0 ** 400", "query: "),
        ("a > (0 - 1) ** 0.5", "type complex"),
        ("a > 1 / 0", "division by zero"),
        ("s == '%9999999999d' % 1", "on a string"),
        ("s == 'a' * 10000000000", "on a string"),
        ("a in [1] * 10000000000", "on several values"),
        ("a > 1 << 10**10", "more than 64 bits|LShift"),
        ("a > 1 << 10", "LShift"),
        ("a.shift(10**30) > 1", "more than 64 bits"),
        ("a.shift(2**63) > 1", "query: |64 bits"),
        ("a in @far", "so long a range"),
        ("a > @__builtins__['len']", "no such variable"),
        ("s == @os.environ['HOME']", "type _Environ"),
        ("s == @os.sep.join", "join of this"),
        ("a > @os.path.sep", "type module"),
        ("-" * 100_000 + "a > 1", "too long"),
        ("-" * 9_000 + "a > 1", "nested too deeply"),
        ("not " * 2000 + "a > 1", "nested too deeply"),
        ("a > " + "+".join(["a"] * 2900), "nested too deeply|operations"),
        ("a > 1 " + "or a > 1 " * 4000, "operations on columns"),
        ("a > 1 and s == 'x", "unterminated string"),
        ('"\\' + '"\\' * 20_000, "unterminated string|invalid syntax"),
        ("a" * 200_000 + " > 1", "too long: characters=200004"),
        ("s" + ".str.replace('v', 'vvvvvvvvvv')" * 10 + " == 'v'", "strings grow|deeply"),
        ("a.shift(**@limits) > 1", "query: "),
        ("a.shift(1, 2, 3, 4, 5) > 1", "query: .*argument"),
        ("a.shift(nonsense=1) > 1", "query: .*nonsense"),
        ("a > [1, 2]", "query: "),
        ("s == '\ud800'", "query|surrogate|UTF"),
        ("s.str.contains('(') > 0", "no condition|contains"),
        ("a > 1\x00", "invalid syntax"),
        ("'" + "x" * 5000 + "' > 1", "xxx…"),
    ],
)
def test_what_a_text_may_not_cost(text: str, says: str) -> None:
    far, limits = range(10**12), {"periods": 1}
    frame = hr.DataFrame(FRAME)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    with pytest.raises(hr.Error, match=says) as found:
        frame.query(text).to_dict()
    assert time.process_time() - begin < 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB
    assert len(str(found.value)) < 2000
    assert far and limits and os


def test_moments_of_the_caller_move() -> None:
    ours = hr.DataFrame({"day": DAYS})
    today, week, one = Today(2024, 1, 4), dt.timedelta(days=2), pd.Timedelta(days=1)
    assert len(ours.query("day >= @today - @week")) == len(ours.query("day > @today - 3 * @one"))
    assert today and week and one


def test_long_texts_that_are_fine() -> None:
    frame = hr.DataFrame(FRAME)
    assert frame.query("a.round(-1000000000) == 0 and x.round(10**9) == x").a.to_list() == [
        1,
        2,
        3,
        4,
    ]
    assert frame.query("(" * 150 + "a" + ")" * 150 + " > 3").a.to_list() == [4]
    numbers = [1, *range(1000, 13_000)]
    assert frame.query(f"a in {numbers}").a.to_list() == [1]
    assert frame.query(" or ".join(f"a == {i}" for i in range(2, 1000))).a.to_list() == [2, 3, 4]
    assert frame.query("+".join(["a"] * 500) + " > 1500").a.to_list() == [4]
    assert frame.eval("z = " + "+".join(["a"] * 100)).z.to_list() == [100, 200, 300, 400]
    with pytest.raises(hr.InvalidArgumentError, match="too long: characters"):
        frame.eval("z = " + " " * 100_000 + "a")


def test_names_like_stand_ins_are_names() -> None:
    frame = hr.DataFrame({"a b": [1, 2], "_column_0_": [3, 4]})
    assert frame.query("`a b` == 1 and _column_0_ == 3")._column_0_.to_list() == [3]
