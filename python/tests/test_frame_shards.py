# SPDX-License-Identifier: Apache-2.0
"""Frames over several devices: the bits of the host, at the devices that the plan names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from random_ways import way
from test_frame_programs_device import check_round

import headrace as hr
from headrace import _core

TWO, THREE = "sim:0,1", "sim:0,1,2"
ROUNDS = 12


@pytest.fixture(autouse=True)
def small_morsels(device: str) -> Iterator[None]:
    """Shards of few rows: their borders are multiples of a morsel."""
    if device == "cuda":
        pytest.skip("simulated devices stand for those of a host with several GPUs")
    with way(2, 64, None):
        yield


def frame(rows: int = 1000) -> hr.DataFrame:
    rng = np.random.default_rng(rows)
    data = {
        "k": rng.integers(0, 7, rows),
        "i": rng.integers(-1000, 1000, rows),
        "x": rng.normal(size=rows) * 10.0 ** rng.integers(-8, 8, rows),
    }
    made = hr.DataFrame(data)
    made["y"] = made.x.where(made.i > -500)
    hr.eval(made)
    return made


def explained(value: hr.Series | hr.DataFrame) -> str:
    return str(value.explain())


@pytest.mark.parametrize("devices", [TWO, THREE])
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_random_programs_have_the_bits_of_the_host(devices: str, seed: int) -> None:
    check_round(seed, device=devices)


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 128, 129, 1000])
def test_rows_are_cut_and_gathered(rows: int) -> None:
    f = frame(rows)
    for devices in (TWO, THREE):
        g = f.to(devices)
        assert repr(g.to_pandas().values.tolist()) == repr(f.to_pandas().values.tolist())
        assert g.x.device == ",".join(f"sim:{k}" for k in range(devices.count(",") + 1))


def test_chains_filters_and_reductions_run_at_each_device() -> None:
    f = frame(5000)
    g = f.to(THREE)

    def programs(f: hr.DataFrame) -> list[object]:
        h = f[f.i > 100]
        return [
            *((f.x * 2 + f.i).agg(name) for name in ("sum", "mean", "std", "min", "max", "count")),
            *(h.y.agg(name) for name in ("sum", "mean", "var", "min", "max", "count")),
            h.x.to_list(),
            h[h.k == 3].y.fillna(0).to_list(),
            (h.x + h.y).sum(),
            f.x.argmin(),
            h.x.argmax(),
        ]

    assert repr(programs(f)) == repr(programs(g))
    text = explained((g.x * 2 + g.i).sum())
    assert all(f"| sim:{k} |" in text for k in range(3)) and "gather" not in text


def test_sorts_send_ranges_to_devices() -> None:
    f = frame(3000)
    g = f.to(THREE)
    for by, ascending in ((["k", "i"], True), (["x"], False), (["y"], True), (["y", "k"], False)):
        for missing in ("first", "last"):
            there = g.sort_values(by, ascending=ascending, na_position=missing)
            here = f.sort_values(by, ascending=ascending, na_position=missing)
            for name in f.columns:
                assert repr(there[name].to_list()) == repr(here[name].to_list()), (by, name)
    text = explained(g.sort_values("i").x)
    assert text.count("sort_values") >= 3 and "| sim:2 |" in text
    assert repr(g.nlargest(5, "x").i.to_list()) == repr(f.nlargest(5, "x").i.to_list())


AGGREGATES = ("sum", "mean", "min", "max", "count", "first", "last", "median", "std")


def grouped(f: hr.DataFrame, keys: list[str], name: str, sort: bool) -> str:
    groups = f.groupby(keys, sort=sort, dropna=name != "sum")
    made = groups[["i", "x", "y"]].agg(name).reset_index()
    return repr([made[column].to_list() for column in made.columns])


@pytest.mark.parametrize("devices", [TWO, THREE])
@pytest.mark.parametrize("rows", [1, 200, 5000])
def test_groups_of_shards_are_grouped_again(devices: str, rows: int) -> None:
    f = frame(rows)
    f["m"] = (f.i % 5).where(f.i > -800)
    f["wide"] = f.i * 1_000_003
    f["many"] = f.i * 7
    f["x"] = f.x.where(f.i != 17, np.inf).where(f.i != 18, -np.inf)
    f["text"] = f.k.astype("string")
    g = f.to(devices)
    for keys in (["k"], ["m"], ["k", "m"], ["wide"], ["many"], ["text"]):
        for sort in (True, False):
            for name in AGGREGATES:
                assert grouped(g, keys, name, sort) == grouped(f, keys, name, sort), (keys, name)
    picked = [each[each.i > 0].groupby("k").x.sum().to_list() for each in (f, g)]
    assert repr(picked[0]) == repr(picked[1])


def test_groups_are_made_at_each_device() -> None:
    f = frame(5000)
    g = f.to(TWO)
    for text in (explained(g.groupby("k").i.sum()), explained(g.groupby("k").x.mean())):
        assert "| sim:1 |" in text and text.count("groupby") >= 3


def test_joins_meet_the_whole_right_side() -> None:
    f = frame(2000)
    other = hr.DataFrame({"k": [0, 2, 4, 4, 9], "w": [1.5, 2.5, 3.5, 4.5, 5.5]})
    for devices in (TWO, THREE):
        g = f.to(devices)
        for side in (other, other.to("sim:0"), other.to(devices)):
            for how in ("inner", "left", "right", "outer"):
                here = f.merge(other, on="k", how=how).to_pandas().values.tolist()
                there = g.merge(side, on="k", how=how).to_pandas().values.tolist()
                assert repr(there) == repr(here), how


def test_evaluated_values_stay_at_their_devices() -> None:
    f = frame(2000)
    g = f.to(THREE)
    h = (g.x * 2)[g.i > 0]
    hr.eval(g)
    before = _core.ledger_bytes()
    hr.eval(h)
    assert (h + 1).max().item() == ((f.x * 2)[f.i > 0] + 1).max().item()
    assert _core.ledger_bytes() - before < 8_000
    assert h.device == "sim:0,sim:1,sim:2"
    assert repr(h.to_list()) == repr((f.x * 2)[f.i > 0].to_list())
    assert len(h) == int((f.i > 0).sum().item())


def test_limits_are_those_of_each_device() -> None:
    rows = 24 << 20  # 192 MB a column, where a device has 256 MB
    x = hr.arange(rows) * 1.0
    two = hr.DataFrame({"x": x, "y": x + 1}).to(TWO)
    assert (two.x + two.y).sum().item() == float(rows) ** 2


def test_new_values_are_cut() -> None:
    with hr.device(TWO):
        assert hr.device() == TWO
        x = hr.arange(10_000)
        assert (x * x).sum().item() == sum(k * k for k in range(10_000))
        assert "| sim:1 |" in explained((x * x).sum())


def test_files_are_read_on_the_host_and_cut(tmp_path: Path) -> None:
    f = frame(3000)
    f.to_parquet(tmp_path / "f.parquet")
    expected = repr([(f.x + f.i).sum().item(), f[f.k == 2].i.to_list()])
    with hr.device(TWO):
        g = hr.scan_parquet(tmp_path / "f.parquet")
        assert "| sim:1 |" in explained((g.x + g.i).sum())
        assert repr([(g.x + g.i).sum().item(), g[g.k == 2].i.to_list()]) == expected
        hr.eval(g)
        assert g.x.device == "sim:0,sim:1"


def test_unknown_devices_name_those_that_exist() -> None:
    f = frame(10)
    with pytest.raises(hr.DeviceError, match=r"sim:7.*devices=3"):
        f.to("sim:0,7")
    with pytest.raises(hr.InvalidArgumentError, match="named twice"):
        f.to("sim:1,1")
    with pytest.raises(hr.InvalidArgumentError, match="unknown device"):
        f.to("sim:0,gpu:1")
    with pytest.raises(hr.InvalidArgumentError, match="unknown device"):
        hr.device("tpu:0,1").__enter__()
