# SPDX-License-Identifier: Apache-2.0
"""Random relational programs: the rows that DuckDB gives, in its order, with the same bits for any
threads, limit and spilling.

Run as a program for more rounds, each with all operators: ``python test_frame_differential.py
100000 [seed]``.
"""

from __future__ import annotations

import functools
import random
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_ways import LEAST_SPILLED, run_in_two_ways, run_rounds
from relational_program_more import OPERATORS, MoreProgram

import headrace as hr

ROUNDS = 40  # of programs, an operator at least one in each
ROWS = (0, 1, 5, 30, 63, 64, 65, 70, 130, 200)

Step = tuple[str, int]  # an operator, and the seed of its operands


@functools.cache
def base() -> Any:
    """A DuckDB of one thread that changes no plan, since the tables are small."""
    made = duckdb.connect(":memory:", config={"threads": 1})
    made.execute("PRAGMA disable_optimizer")
    return made


def as_floats(column: pa.ChunkedArray) -> np.ndarray:
    return column.cast(pa.float64()).to_numpy()


def differ(ours: pa.ChunkedArray, theirs: pa.ChunkedArray) -> bool:
    """Floats up to their rounding; DuckDB's integers may be wider."""
    if len(ours) != len(theirs) or ours.null_count != theirs.null_count:
        return True
    if pa.types.is_string(theirs.type):
        return not ours.cast(pa.string()).equals(theirs)
    a, b = as_floats(ours), as_floats(theirs)
    return not (
        np.array_equal(a, b, equal_nan=True)
        or np.allclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True)
    )


def bits(column: pa.ChunkedArray) -> list[Any]:
    """Floats as their bits."""
    if pa.types.is_floating(column.type):
        return [column.is_null(), column.fill_null(0).to_numpy().tobytes()]
    return [column.combine_chunks()]


def check(steps: list[Step], seed: int, rows: int) -> list[str]:
    """One program; the operators that it has."""
    made: list[MoreProgram] = []

    def ours() -> pa.Table:
        program = MoreProgram(random.Random(seed), rows)
        for step in steps:
            program.step(*step)
        made.append(program)
        return pa.table(program.frame[["r", *program.kinds]].to_arrow())

    first, second = run_in_two_ways(ours, random.Random(seed), rows)
    program = made[0]
    if not program.queries:
        return []
    told = f"{steps}, seed {seed}, {rows} rows\n{program.query()}\n"
    for name, table in program.tables.items():
        base().register(name, table)
    theirs = base().sql(program.query()).to_arrow_table()
    for name in program.tables:
        base().unregister(name)
    for name in program.kinds:  # r is what both made for the order
        a, b, c = first[name], second[name], theirs[name]
        assert bits(a) == bits(b), f"{told}{name} in two ways: {a[:40]}\n{b[:40]}"
        assert not differ(a, c), f"{told}{name}: ours {a[:40]}\ntheirs {c[:40]}"
    return program.used


def smallest(steps: list[Step], seed: int, rows: int) -> None:
    """Fail with fewer steps and rows if that fails too."""
    for fewer in ROWS:
        for k in range(len(steps) + (fewer < rows)):
            less = steps[:k] + steps[k + 1 :]
            try:
                check(less, seed, min(fewer, rows))
            except AssertionError:
                return smallest(less, seed, min(fewer, rows))
    check(steps, seed, rows)


def check_round(seed: int, rows: int | None = None) -> dict[str, int]:
    """Programs that together have each operator; how many."""
    rng, programs = random.Random(seed), 0
    words = rng.sample(OPERATORS, len(OPERATORS))
    while words:
        steps = [(word, rng.getrandbits(32)) for word in words[: rng.randrange(2, 6)]]
        of, size = rng.getrandbits(32), rng.choice(ROWS) if rows is None else rows
        try:
            used = check(steps, of, size)
        except AssertionError:
            smallest(steps, of, size)
            raise
        words = [word for word in words if word not in used]
        programs += 1
    return {"programs": programs}


@settings(max_examples=ROUNDS)
@given(st.integers(0, 2**32))
def test_random_programs_are_those_of_duckdb(seed: int) -> None:
    check_round(seed)


@pytest.mark.pool
def test_programs_that_spill() -> None:
    evicted = hr.memory.spill().evicted_bytes
    for seed in range(3):
        check_round(seed, LEAST_SPILLED + 500 * seed)
    assert hr.memory.spill().evicted_bytes > evicted


def test_programs_over_morsels() -> None:
    # The others make many rows, or take DuckDB minutes.
    quick = ["filter assign group text", "sort distinct date case", "aggregate", "category counts"]
    for seed, words in enumerate(quick):
        check([(word, seed) for word in words.split()], seed, 2**17 + 100)


def test_groups_of_which_one_key_was_looked_at_keep_their_rows() -> None:
    check([("group", 894803597), ("outer", 3644263603)], 4263633094, 8999)


if __name__ == "__main__":
    run_rounds(check_round, len(OPERATORS))
