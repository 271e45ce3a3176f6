# SPDX-License-Identifier: Apache-2.0
"""Random programs of pandas' words: what pandas shows, the same bits for any threads and limit.

Run as a program for more rounds, each with all operators:
``python test_frame_differential_pandas.py 100000 [seed]``.
"""

from __future__ import annotations

import atexit
import datetime as dt
import functools
import random
import shutil
import tempfile
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas_programs import OPERATORS, columns, form_of, shape_of
from random_ways import LEAST_SPILLED, run_in_two_ways, run_rounds
from shown_values import same, shown

import headrace as hr

ROUNDS = 30  # each has a program of every operator
ROWS = (0, 1, 5, 30, 63, 64, 65, 70, 130, 200)
TOGETHER = 12  # operators on the same rows

Forms = list[tuple[str, str]]


@functools.cache
def folder() -> str:
    """For files, which the next program writes anew."""
    made = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, made)
    return made


def frame_of(m: Any, data: dict[str, Any]) -> Any:
    """A frame of a library; texts stay such where there are none."""
    dtype = "string" if m is hr else "str"
    texts = {name: m.Series(data[name].tolist(), dtype=dtype) for name in "kt" if name in data}
    return m.DataFrame({**data, **texts})


def results(shape: str, forms: list[str], names: dict[str, Any]) -> list[Any]:
    """What each form shows of the rows; that it is an error, in place of a value."""
    exec(shape, names)
    shows = []
    for form in forms:
        try:
            shows.append(shown(eval(form, names)))
        except hr.OutOfMemoryError:
            raise
        except Exception as error:
            shows.append(error)
    return shows


def check(shape: str, forms: Forms, seed: int, rows: int) -> int:
    """Programs of one shape; how many were errors in both."""
    made = np.random.default_rng(seed)
    data, other = columns(made, rows), columns(made, min(rows, 40))
    side = {"j": other["j"], "k": other["k"], "u": other["i"], "v": other["x"]}
    common = {"np": np, "dt": dt, "pd": pd, "pa": pa, "pl": pl, "data": data, "limit": 3}

    def ours() -> list[Any]:
        names = {"m": hr, "df": frame_of(hr, data), "g": frame_of(hr, side), **common}
        return results(shape, [form for form, _ in forms], {**names, "path": f"{folder()}/ours"})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = run_in_two_ways(ours, random.Random(seed), rows)
        names = {"m": pd, "df": frame_of(pd, data), "g": frame_of(pd, side), **common}
        theirs = results(shape, [f for _, f in forms], {**names, "path": f"{folder()}/theirs"})
    errors, many = 0, rows >= LEAST_SPILLED or "merge(" in shape
    for (form, _), a, b, c in zip(forms, first, second, theirs, strict=True):
        program = f"{shape}\n{form}\n(rows of seed {seed}, {rows})\n"
        assert repr(a) == repr(b), f"{program}in two ways: {a}\n{b}"
        if isinstance(a, Exception) and isinstance(c, Exception):
            errors += 1
        elif not (many and "prod(" in form):  # number 42 of docs/reference/pandas.md
            assert same(a, c), f"{program}ours   {a!r}\ntheirs {c!r}"
    return errors


def smallest(shape: str, forms: Forms, seed: int, rows: int) -> None:
    """Fail with one form, fewer steps and rows if that fails too."""
    lines = shape.splitlines()
    shapes = [lines[:k] + lines[k + 1 :] for k in range(len(lines))] + [lines]
    for form in forms:
        for fewer in [size for size in ROWS if size < rows] + [rows]:
            for less in shapes:
                check("\n".join(less), [form], seed, fewer)
    check(shape, forms, seed, rows)


def check_round(seed: int, rows: int | None = None) -> dict[str, int]:
    """A program of each operator; how many, and how many of them were errors in both."""
    rng, errors = random.Random(seed), 0
    operators = rng.sample(list(OPERATORS), len(OPERATORS))
    for at in range(0, len(operators), TOGETHER):
        shape = shape_of(rng)
        forms = [form_of(operator, rng) for operator in operators[at : at + TOGETHER]]
        of, size = rng.getrandbits(32), rng.choice(ROWS) if rows is None else rows
        try:
            errors += check(shape, forms, of, size)
        except AssertionError:
            smallest(shape, forms, of, size)
            raise
    return {"programs": len(operators), "errors in both": errors}


@settings(max_examples=ROUNDS)
@given(st.integers(0, 2**32))
def test_random_programs_are_those_of_pandas(seed: int) -> None:
    check_round(seed)


@pytest.mark.pool
def test_programs_that_spill() -> None:
    evicted = hr.memory.spill().evicted_bytes
    check_round(0, LEAST_SPILLED)
    assert hr.memory.spill().evicted_bytes > evicted


if __name__ == "__main__":
    run_rounds(check_round, len(OPERATORS))
