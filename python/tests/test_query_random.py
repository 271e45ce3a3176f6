# SPDX-License-Identifier: Apache-2.0
"""Random texts as queries: none calls the caller's objects, takes long or raises another's error.

Two thousand a run, the same each time; ``HEADRACE_EXAMPLES=100000`` takes that many new ones.
"""

from __future__ import annotations

import os
import random
import re
import resource
import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_query import NAMES, calls, recorder

import headrace as hr

EXAMPLES = int(os.environ.get("HEADRACE_EXAMPLES", "0"))
TOKENS = [
    *("a", "x", "b", "s", "day", "span", "index", "`a b`", "`", "@", "@i", "@limits", "@deep"),
    *("@job", "@job.prop", "@held", "@objects", "@pandas", "@array", "@math", "@os", "@row"),
    *("0", "1", "-1", "2", "0.5", "1e308", "9" * 19, "9" * 30, "9**9**9", "0x7f", "1_000", "1j"),
    *("'v'", "'%d'", "''", '"u"', "'\\ud800'", "\ud800", "'é'", "b'x'", "f'{a}'", "'", '"', "\\"),
    *("==", "!=", "<", "<=", ">", ">=", "=", "+", "-", "*", "/", "//", "%", "**", "&", "|", "^"),
    *("~", "<<", ">>", "@=", ":=", "and", "or", "not", "in", "not in", "is", "if", "else", "for"),
    *("lambda", "await", "yield", "None", "True", "False", "...", "(", ")", "[", "]", "{", "}"),
    *(",", ":", ";", ".", "#", "\n", "\t", "\x00", "*a", "**@limits", "=1", "[0]", "['k']", "[:1]"),
    *(".str", ".dt", ".str.len()", ".dt.year", ".sum()", ".mean()", ".isna()", ".abs()", ".rank()"),
    *(".shift(1)", ".shift(10**30)", ".round(2)", ".round(-10**9)", ".isin([1, 2])", ".isin(@job)"),
    *(".str.contains('v')", ".str.replace('v', 'vvvv')", ".str.get(-1)", ".str.slice(0, 9**9, 2)"),
    *(".str.extract('(v)')", ".str.cat(s)", ".str.like('%')", ".str.contains('(a{1000}){1000}')"),
    *(".dt.floor('D')", ".dt.strftime('%Y')", ".dt.tz_localize('UTC')", ".dt.add_months(9**18)"),
    *(".fillna(@job)", ".quantile(0.5)", ".quantile([0.1, 2])", ".clip(1, 2)", ".between(1, 3)"),
    *(".__class__", ".to_list()", ".values", ".value", ".low", ".exp()", ".apply(exp)", ".name"),
    *("exp(", "sqrt(a)", "log(x)", "sin(@job)", "arctan2(a, x)", "abs(", "floor(@objects)"),
]
INJECTIONS = [
    "__import__('os').system('true')",
    "().__class__.__base__.__subclasses__()",
    "a.__class__.__init__.__globals__['os'].system('true')",
    "@job.exp().prop",
    "@os.system('true')",
    "@os.environ['HOME'] == s",
    "@__builtins__['eval']('1')",
    "exp(@job) > 0",
    "a.map(@job)",
    "s.str.replace('v', @job)",
    "[@job for a in b]",
    "(lambda: @job)()",
    "f'{@job}' == s",
    "a in @job and a > @job[0]",
    "@pd.read_pickle('x')",
    "@hr.read_csv('/etc/passwd')",
    "a.to_csv('x')",
    "s == '%9999999999d' % 1",
    "a > 9**9**9",
    "a.str.len.__self__",
    "@deep['k']['low'].__class__ > a",
    "{**@held}",
    "print(a)",
    "exp(a, @row)",
]
NUMBERS = ["a", "x", "1", "2", "-3", "0.5", "@i", "@limits.low", "a.abs()", "x.round(1)", "sqrt(a)"]
TESTS = ["b", "s == 'v'", "s in ['u', 'w']", "s.str.len() > 1", "day >= '2024-01-02'", "x.notna()"]
FORBIDDEN = ("exec", "os.", "subprocess.", "socket.", "shutil.", "pty.", "ctypes.", "import")
EVENTS: list[str] = []
WATCHED = False


def number(draw: random.Random, depth: int) -> str:
    """An expression of numbers."""
    if depth <= 0 or draw.random() < 0.3:
        return draw.choice(NUMBERS)
    op = draw.choice(["+", "-", "*", "/"])
    made = f"{number(draw, depth - 1)} {op} {number(draw, depth - 1)}"
    return f"({made})" if draw.random() < 0.5 else made


def condition(draw: random.Random, depth: int) -> str:
    """A condition as users write it."""
    kind = draw.random()
    if depth <= 0 or kind < 0.2:
        return draw.choice(TESTS)
    if kind < 0.5:
        op = draw.choice(["<", "<=", ">", ">=", "==", "!="])
        made = f"{number(draw, depth - 1)} {op} {number(draw, depth - 1)}"
        return made + (" < 3" if op == "<" and draw.random() < 0.3 else "")
    if kind < 0.6:
        return f"a {draw.choice(['in', 'not in'])} [1, {draw.randint(0, 5)}]"
    if kind < 0.7:
        return f"not ({condition(draw, depth - 1)})"
    op = draw.choice(["and", "or", "&", "|"])
    return f"({condition(draw, depth - 1)}) {op} ({condition(draw, depth - 1)})"


def mutated(draw: random.Random, text: str) -> str:
    """The text with a few letters or tokens lost, doubled or put in."""
    for _ in range(draw.randint(1, 4)):
        at, to = sorted(draw.randint(0, len(text)) for _ in range(2))
        piece = draw.choice(["", text[at:to] * 2, draw.choice(TOKENS), draw.choice(INJECTIONS)])
        text = text[:at] + piece + text[min(to, at + 12) :]
    return text


def any_text(draw: random.Random) -> str:
    """A text of one of these kinds, at times a very long one."""
    kind = draw.random()
    if kind < 0.4:
        space = draw.choice(["", " ", " "])
        return space.join(draw.choices(TOKENS, k=draw.randint(1, 25)))
    if kind < 0.7:
        return mutated(draw, condition(draw, 4))
    if kind < 0.85:
        return mutated(draw, draw.choice(INJECTIONS))
    if kind < 0.99:
        return condition(draw, 5)
    count = draw.choice([10, 100, 1000, 10_000, 100_000])
    first, last = draw.choice(TOKENS), draw.choice(TOKENS)
    space = draw.choice(["", " ", " or ", " + "])
    return (space.join([first] * count) + space + last)[: 10**6]


def watch(event: str, arguments: Any) -> None:
    """Note what goes out of the process."""
    if WATCHED and event.startswith(FORBIDDEN) and not event.startswith("os.listdir"):
        EVENTS.append(f"{event} {arguments!r:.80}")


@pytest.fixture(scope="module")
def frame() -> hr.DataFrame:
    days = [np.datetime64(f"2024-01-0{day}", "us") for day in (1, 2, 3)]
    return hr.DataFrame(
        {
            "a": [1, 2, 3],
            "x": [0.5, None, -2.0],
            "b": [True, False, True],
            "s": ["u", None, "v"],
            "a b": [1, 2, 3],
            "day": days,
            "span": hr.Series([1, 2, 3]).astype("timedelta64[s]"),
        }
    )


def test_any_text_gives_rows_or_an_error(frame: hr.DataFrame) -> None:
    global WATCHED
    job = recorder()
    objects = np.empty(3, dtype=object)
    for i in range(3):
        objects[i] = job
    names = {
        **NAMES,
        **{"job": job, "held": {"k": job, "j": [job]}, "objects": objects, "os": os, "pd": pd},
        **{"pandas": pd.Series(objects), "row": np.zeros(3), "hr": hr, "frame": frame},
    }
    ways = {way: eval(f"lambda text: frame.{way}(text)", names) for way in ("query", "eval")}
    seed = random.randrange(10**9) if EXAMPLES else 20
    draw = random.Random(seed)
    sys.addaudithook(watch)
    for text in ("a > 1", "s.str.contains('v')", "day.dt.year > a.rank()"):  # imports
        frame.query(text).to_dict()
    slowest, most, good = (0.0, ""), (0, ""), 0
    for _ in range(EXAMPLES or 2000):
        text = any_text(draw)
        way = draw.choice(["query", "query", "eval"])
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begin = time.process_time()
        WATCHED = True
        try:
            with warnings.catch_warnings(), calls() as noted:
                warnings.simplefilter("ignore")
                made = ways[way](text)
                if isinstance(made, hr.DataFrame | hr.Series):
                    hr.eval(made)
            good += 1
        except hr.Error as error:
            assert len(str(error)) < 5000, (seed, text[:500])
        except Exception as error:
            raise AssertionError(f"seed={seed}, {way}: {text[:500]!r}") from error
        finally:
            WATCHED = False
        slowest = max(slowest, (time.process_time() - begin, text[:200]))
        more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
        most = max(most, (more, text[:200]))
        assert not noted, (seed, text[:500], noted)
        assert not EVENTS, (seed, text[:500], EVENTS)
    print(f"seed {seed}: {good} gave rows, slowest {slowest}, most memory {most[0]} KiB {most[1]}")
    assert slowest[0] < 1, slowest
    assert most[0] < 100_000, most  # KiB


def test_random_conditions_are_those_of_pandas() -> None:
    draw = random.Random(7)
    theirs = pd.DataFrame(
        {
            "a": np.arange(-4, 60) % 7,
            "x": [draw.choice([0.5, -2.5, 3.0, float("nan")]) for _ in range(64)],
            "b": [draw.random() < 0.5 for _ in range(64)],
            "s": [draw.choice(["u", "v", "ww"]) for _ in range(64)],
            "day": pd.to_datetime([f"2024-01-0{draw.randint(1, 4)}" for _ in range(64)]),
        }
    )
    theirs["row"] = np.arange(64)
    ours = hr.from_pandas(theirs)
    columns = re.compile(r"\b[abxs]\b|day|@row")
    for _ in range(200):
        text = condition(draw, 4)
        while not columns.search(text):
            text = condition(draw, 4)
        names = {**NAMES, "ours": ours, "text": text}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = theirs.query(text, engine="python", local_dict=NAMES).row.tolist()
        assert eval("ours.query(text)", names).row.to_list() == wanted, text
