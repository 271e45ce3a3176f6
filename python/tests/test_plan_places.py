# SPDX-License-Identifier: Apache-2.0
"""Plans over the host's data that run in part on a device, where that takes less time."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from pandas.testing import assert_frame_equal, assert_series_equal

import headrace as hr
from headrace import _core

ROWS = 300_000
RANDOM = np.random.default_rng(0)
FRAME = hr.DataFrame(
    {
        "k": RANDOM.integers(0, 100_000, ROWS),
        "s": RANDOM.integers(0, 50, ROWS),
        "v": RANDOM.random(ROWS),
        "n": np.where(RANDOM.random(ROWS) < 0.1, np.nan, RANDOM.random(ROWS)),
        "t": RANDOM.choice(["ab", "cd", "ef"], ROWS),
    }
)
SMALL = hr.DataFrame({"k": RANDOM.permutation(100_000), "w": RANDOM.random(100_000)})

PROGRAMS: dict[str, Callable[[], Any]] = {
    "sort": lambda: FRAME.sort_values(["k", "v"]),
    "strings": lambda: FRAME.sort_values(["t", "v"]).head(1000),
    "group": lambda: FRAME.groupby("k").v.agg(["sum", "mean", "count"]),
    "join": lambda: FRAME.merge(SMALL, on="k").groupby("s").w.sum(),
    "left join": lambda: FRAME.merge(SMALL[SMALL.w > 0.5], on="k", how="left").sort_values("v"),
    "filter": lambda: FRAME[(FRAME.v > 0.5) & (FRAME.k % 7 == 0)].sort_values("v").head(10),
    "filter by text": lambda: FRAME[FRAME.t == "ab"].groupby("k").v.max().sort_values(),
    "chain": lambda: ((FRAME.v * 2 + FRAME.k).cumsum() - FRAME.v.mean()).sum(),
    "top": lambda: FRAME.nlargest(5, "v"),
    "distinct": lambda: FRAME.k.drop_duplicates(),
    "upper": lambda: FRAME.assign(u=FRAME.t.str.upper()).groupby("u").v.mean(),
    "window": lambda: FRAME.groupby("s").v.cumsum().sum(),
    "nulls": lambda: FRAME.fillna({"n": 0.5}).sort_values(["s", "n"]).n,
    "pivot": lambda: FRAME.pivot_table(index="s", columns="t", values="v", aggfunc="mean"),
    "concat": lambda: hr.concat([FRAME, FRAME]).sort_values("k").v.sum(),
}


@pytest.fixture
def places(device: str) -> Iterator[str]:
    """A device on which plans may run; data stays on the host."""
    with hr.device("cpu"):
        _core.set_auto_place(device)
        yield device
        _core.set_auto_place("cpu")


def answer(program: Callable[[], Any]) -> Any:
    made = program()
    return made.to_pandas() if hasattr(made, "to_pandas") else made.item()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_plan_gives_the_hosts_answer(places: str, name: str) -> None:
    found = answer(PROGRAMS[name])
    _core.set_auto_place("cpu")
    expected = answer(PROGRAMS[name])
    if isinstance(expected, float):
        assert found == expected
    else:
        check = assert_frame_equal if expected.ndim == 2 else assert_series_equal
        check(found, expected, check_exact=True)


def test_moves_are_steps_that_explain_shows(places: str) -> None:
    made = FRAME.sort_values(["k", "v"])
    plan = str(made.explain())
    assert f"to [{places}:0]" in plan
    assert "to [host]" in plan
    before = _core.ledger_bytes()
    made.to_pandas()
    assert _core.ledger_bytes() - before >= 2 * ROWS * 8
    assert made["k"].device == "host"


def test_few_rows_stay(places: str) -> None:
    plan = str(FRAME.head(1000).sort_values(["k", "v"]).explain())
    assert places not in plan


def test_what_a_plan_made_on_the_way_is_there_for_the_next(places: str) -> None:
    sorted_rows = FRAME.sort_values(["k", "v"])
    total = sorted_rows.v.cumsum()
    expected = total.to_pandas()
    assert sorted_rows.v.to_pandas().cumsum().to_list() == pytest.approx(expected.to_list())
    assert sorted_rows.v.device == "host"
