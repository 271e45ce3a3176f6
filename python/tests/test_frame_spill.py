# SPDX-License-Identifier: Apache-2.0
"""Operators over rows that nearly all differ run under a quarter of their frame."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import headrace as hr

ROWS = 1_200_000
OPERATORS: dict[str, Callable[[Any], Any]] = {
    "groupby": lambda f: f.groupby("k").agg({"v": ["mean", "std"], "w": "max"}),
    "groupby in order of first sight": lambda f: f.groupby("k", sort=False).v.first(),
    "groupby of two keys": lambda f: f.groupby(["k", "v"]).w.sum(),
    "median": lambda f: f.groupby("k").v.median(),
    "transform": lambda f: f.groupby("k").v.transform("sum"),
    "cumsum": lambda f: f.groupby("k").v.cumsum(),
    "rank within groups": lambda f: f.groupby("w").v.rank(),
    "rank": lambda f: f.v.rank(),
    "drop_duplicates": lambda f: f.drop_duplicates(),
    "drop_duplicates of a column": lambda f: f.drop_duplicates("k"),
    "duplicated": lambda f: f.duplicated("k"),
    "nunique": lambda f: f.k.nunique(),
    "unique": lambda f: f.k.unique(),
    "value_counts": lambda f: f.k.value_counts(),
    "quantile": lambda f: f.v.quantile([0.1, 0.5]),
    "sort": lambda f: f.sort_values(["k", "v"], ascending=[False, True]),
    "merge": lambda f: f.merge(f[["k", "v"]].head(ROWS // 3), on="k"),
    "isin": lambda f: f.k.isin(f.k.head(ROWS // 3)),
}


OF_NUMBERS = ("rank within groups", "rank", "quantile")  # the keys' kind makes no difference


@pytest.fixture(scope="module", params=["integers", "strings"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def held() -> int:
    """What tests before keep in memory."""
    gc.collect()
    return hr.memory.stats().used_bytes


@pytest.fixture(scope="module")
def frame(kind: str, held: int) -> Iterator[hr.DataFrame]:
    random = np.random.default_rng(11)
    keys = random.integers(0, ROWS, ROWS)
    wide = keys * 2**40 if kind == "integers" else [f"key {key:09d}" for key in keys]
    v, w = random.random(ROWS), random.integers(0, 1000, ROWS)
    made = hr.DataFrame({"k": hr.Series(wide), "v": v, "w": w})
    made = made.assign(k=made.k + (1 if kind == "integers" else ""), v=made.v * 2, w=made.w + 1)
    hr.eval(made)
    yield made


def test_few_texts_of_many_rows_hold_no_codes_in_memory(held: int) -> None:
    """A code of four bytes a row would be four fifths of the limit."""
    rows = 2_000_000
    made = hr.DataFrame({"i": np.arange(rows) % 800_000})
    made["s"] = (made.i % 1000).astype("string")
    hr.eval(made)
    with hr.memory.limit(held + 10_000_000):
        sizes = made.groupby(["i", "s"]).size()
        hr.eval(sizes)
    assert (len(sizes), int(sizes.sum())) == (800_000, rows)


def table(result: Any) -> Any:
    return result.to_arrow() if hasattr(result, "to_arrow") else np.asarray(result).tolist()


@pytest.mark.pool
@pytest.mark.parametrize("name", OPERATORS)
def test_gives_the_same_bits_under_a_limit(
    kind: str, held: int, frame: hr.DataFrame, name: str
) -> None:
    if kind == "strings" and name in OF_NUMBERS:
        pytest.skip("as of integers")
    wanted = table(OPERATORS[name](frame))
    size = (32 if kind == "strings" else 24) * ROWS
    with hr.memory.limit(held + size // 4):
        found = OPERATORS[name](frame)
        hr.eval(found)
    assert table(found) == wanted
