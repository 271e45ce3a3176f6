# SPDX-License-Identifier: Apache-2.0
"""Every operation on every pair of dtypes and literals, beside pandas and DuckDB."""

from __future__ import annotations

import functools
import importlib.util
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dtype_walk as walk
import numpy as np
import pandas as pd
import pytest

import headrace as hr

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def test_columns_give_the_values_of_pandas_or_an_exception() -> None:
    mine, other = functools.cache(walk.ours), functools.cache(walk.theirs)
    unexplained, used = [], Counter[int]()
    for case in walk.cases():
        how, ours, theirs = walk.beside_pandas(case, mine, other)
        number = walk.exception_of(case, how) if how else -1
        used[number] += 1
        if not number:
            unexplained.append((case, how, ours, theirs))
    assert not unexplained[:20]
    assert {*range(1, len(walk.EXCEPTIONS) + 1)} <= {*used}, "an exception that holds no more"
    assert used[-1] > 30_000


def test_both_null_rules_are_those_of_sql() -> None:
    duckdb = pytest.importorskip("duckdb")
    table, names = walk.sql_table()
    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'; SET threads = 1")
    database.register("walk", table)
    columns = {each: hr.Series(walk.with_nulls(*each), dtype=each[0]) for each in names}
    mask, compared = hr.Series(walk.MASK), 0
    for case, missing_is_false in walk.ruled_cases():
        left, right = columns[case.left, 0], columns[case.right, 1]
        values = (mask, left, right) if case.op == "where" else (left, right)
        ours = walk.outcome(
            lambda values=values, op=walk.RULED[case.op][0], rule=missing_is_false: values[
                0
            ]._elementwise(op, *values, missing_is_false=rule)
        )
        if isinstance(ours, Exception):
            continue  # beside pandas these are numbered
        sides = names[case.left, 0], names[case.right, 1]
        query = f"SELECT {walk.sql_of(case.op, *sides, missing_is_false)} FROM walk"
        try:
            theirs = walk.plain(row[0] for row in database.execute(query).fetchall())
        except duckdb.Error:
            continue
        compared += 1
        same = [
            (a is None) == (b is None) and walk.alike(a, b, 1e-6)
            for a, b in zip(ours, theirs, strict=True)
        ]
        assert all(same), (case, missing_is_false, ours, theirs)
    assert compared > 2_500


def test_dtypes_with_nulls_by_name_compute_as_in_pandas() -> None:
    @functools.cache
    def mine(dtype: str, side: int) -> hr.Series:
        return hr.Series(walk.with_nulls(walk.NULLABLE[dtype], side), dtype=dtype)

    @functools.cache
    def other(dtype: str, side: int) -> pd.Series:
        return pd.Series(walk.with_nulls(walk.NULLABLE[dtype], side), dtype=dtype)

    unexplained, used = [], Counter[int]()
    for case in walk.nullable_cases():
        how, ours, theirs = walk.beside_pandas(case, mine, other)
        if not how and not isinstance(ours, Exception):
            missing = [[value is None for value in values] for values in (ours, theirs)]
            how = "" if missing[0] == missing[1] else "NaN"
        if how == "pandas raises":
            continue
        number = walk.nullable_exception_of(case, how) if how else -1
        used[number] += 1
        if not number:
            unexplained.append((case, how, ours, theirs))
    assert not unexplained[:20]
    count = len(walk.EXCEPTIONS) + len(walk.NULLABLE_EXCEPTIONS)
    assert {count - 1, count} <= {*used}


def test_the_types_page_is_current() -> None:
    spec = importlib.util.spec_from_file_location("make_types", ROOT / "tools/make_types.py")
    assert spec and spec.loader
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.page() == tool.PAGE.read_text(), "run python tools/make_types.py"


def test_nan_is_null_in_pandas_floats_with_nulls() -> None:
    values: list[Any] = [1.0, float("nan"), None]
    for dtype in ("Float32", "Float64", pd.Float64Dtype()):
        for series in (hr.Series(values, dtype=dtype), hr.Series(values).astype(dtype)):
            assert series.to_list() == [1.0, None, None]
            assert (series != 1).to_list() == [False, True, True]
            assert len(hr.DataFrame({"x": series})[series == 1]) == 1
    assert hr.Series([1, 2], dtype="Int64").dtype == "int64"
    assert hr.Series(["a", None], dtype="string[pyarrow]").dtype == "string"
    with pytest.raises(hr.TypeMismatchError, match=r"dtype='Float64'; read 'float64' and use"):
        hr.read_csv(b"x\nnan\n", dtypes={"x": "Float64"})
