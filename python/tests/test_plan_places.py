# SPDX-License-Identifier: Apache-2.0
"""Plans over the host's data that run in part on a device, where that takes less time."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pandas.testing import assert_frame_equal, assert_series_equal

import headrace as hr
from headrace import _core

ROWS = 300_000
#: The tables of the tests, held no longer than these run.
OF = SimpleNamespace()


@pytest.fixture(scope="module", autouse=True)
def tables() -> Iterator[None]:
    random = np.random.default_rng(0)
    OF.all = hr.DataFrame(
        {
            "k": random.integers(0, 100_000, ROWS),
            "s": random.integers(0, 50, ROWS),
            "v": random.random(ROWS),
            "n": np.where(random.random(ROWS) < 0.1, np.nan, random.random(ROWS)),
            "t": random.choice(["ab", "cd", "ef"], ROWS),
        }
    )
    OF.few = hr.DataFrame({"k": random.permutation(100_000), "w": random.random(100_000)})
    yield
    del OF.all, OF.few


def frame_of(rows: int) -> hr.DataFrame:
    random = np.random.default_rng(1)
    made = hr.DataFrame(
        {
            "k": random.integers(0, rows, rows),
            "v": random.random(rows),
            "n": np.where(random.random(rows) < 0.1, np.nan, 1.0),
            "t": random.choice(["ab", "a long text of thirty letters"], rows),
        }
    )
    hr.eval(made)
    return made


PROGRAMS: dict[str, Callable[[], Any]] = {
    "sort": lambda: OF.all.sort_values(["k", "v"]),
    "strings": lambda: OF.all.sort_values(["t", "v"]).head(1000),
    "group": lambda: OF.all.groupby("k").v.agg(["sum", "mean", "count"]),
    "join": lambda: OF.all.merge(OF.few, on="k").groupby("s").w.sum(),
    "left join": lambda: OF.all.merge(OF.few[OF.few.w > 0.5], on="k", how="left").sort_values("v"),
    "filter": lambda: OF.all[(OF.all.v > 0.5) & (OF.all.k % 7 == 0)].sort_values("v").head(10),
    "filter by text": lambda: OF.all[OF.all.t == "ab"].groupby("k").v.max().sort_values(),
    "chain": lambda: ((OF.all.v * 2 + OF.all.k).cumsum() - OF.all.v.mean()).sum(),
    "top": lambda: OF.all.nlargest(5, "v"),
    "distinct": lambda: OF.all.k.drop_duplicates(),
    "upper": lambda: OF.all.assign(u=OF.all.t.str.upper()).groupby("u").v.mean(),
    "window": lambda: OF.all.groupby("s").v.cumsum().sum(),
    "nulls": lambda: OF.all.fillna({"n": 0.5}).sort_values(["s", "n"]).n,
    "pivot": lambda: OF.all.pivot_table(index="s", columns="t", values="v", aggfunc="mean"),
    "concat": lambda: hr.concat([OF.all, OF.all]).sort_values("k").v.sum(),
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
    made = frame_of(ROWS).sort_values(["k", "v"])
    with hr.threads(1):
        plan = str(made.explain())
        assert f"to [{places}:0]" in plan
        assert "to [host]" in plan
        before = _core.ledger_bytes()
        made.to_pandas()
    assert _core.ledger_bytes() - before >= 2 * ROWS * 8
    assert made["k"].device == "host"


def test_few_rows_stay(places: str) -> None:
    plan = str(OF.all.head(1000).sort_values(["k", "v"]).explain())
    assert places not in plan


def test_what_has_no_kernel_for_these_dtypes_stays(places: str) -> None:
    running = OF.all.groupby("s").v.cumsum()
    assert "to [" not in str(running.explain())
    assert running.sum() > 0
    assert not hr.fallbacks()


def test_what_a_plan_made_on_the_way_is_there_for_the_next(places: str) -> None:
    sorted_rows = OF.all.sort_values(["k", "v"])
    total = sorted_rows.v.cumsum()
    expected = total.to_pandas()
    assert sorted_rows.v.to_pandas().cumsum().to_list() == pytest.approx(expected.to_list())
    assert sorted_rows.v.device == "host"


def used_bytes(device: str) -> int:
    if device == "cuda":
        _core.synchronize_device()
    return _core.memory_statistics(device).used_bytes


def moved_by(frame: hr.DataFrame) -> int:
    before = _core.ledger_bytes()
    hr.eval(frame)
    return _core.ledger_bytes() - before


def test_a_later_plan_finds_the_columns_there(places: str) -> None:
    frame = frame_of(ROWS)
    before = used_bytes(places)
    with hr.threads(1):
        first = frame.sort_values(["k", "v"])
        both_ways = moved_by(first)
        again = frame.sort_values(["k", "v"])
        assert f"to [{places}:0]" not in str(again.explain())
        assert 0 < moved_by(again) < 0.6 * both_ways
        assert_frame_equal(again.to_pandas(), first.to_pandas(), check_exact=True)
    assert used_bytes(places) > before
    del first, again, frame
    assert used_bytes(places) == before
