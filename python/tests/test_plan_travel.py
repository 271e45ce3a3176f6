# SPDX-License-Identifier: Apache-2.0
"""Plans travel between processes as bytes, and nothing but evaluation changes them."""

import importlib.util
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import headrace as hr
from headrace import _core

ROOT = Path(__file__).resolve().parents[2]
CHILD = """
import pickle, sys
from headrace import _core
nodes = _core.plan_from_bytes(sys.stdin.buffer.read())
assert not any(node.is_ready for node in nodes)
_core.force(nodes)
import headrace as hr
values = [hr.Series(node.value()).to_list() for node in nodes]
sys.stdout.buffer.write(pickle.dumps(values))
"""


def queries():
    spec = importlib.util.spec_from_file_location("tpch_queries", ROOT / "bench/tpch_queries.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tables(rows=3_000):
    """Give TPC-H's tables for q5, small and random."""
    random = np.random.default_rng(5)
    nations = 25
    suppliers, customers, orders = 40, 150, rows // 4
    day = np.datetime64("1992-01-01")
    frames = {
        "region": {
            "r_regionkey": np.arange(5),
            "r_name": ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"],
        },
        "nation": {
            "n_nationkey": np.arange(nations),
            "n_name": [f"nation {i}" for i in range(nations)],
            "n_regionkey": np.arange(nations) % 5,
        },
        "supplier": {
            "s_suppkey": np.arange(suppliers),
            "s_nationkey": random.integers(0, nations, suppliers),
        },
        "customer": {
            "c_custkey": np.arange(customers),
            "c_nationkey": random.integers(0, nations, customers),
        },
        "orders": {
            "o_orderkey": np.arange(orders),
            "o_custkey": random.integers(0, customers, orders),
            "o_orderdate": (day + random.integers(0, 2400, orders)).astype("datetime64[s]"),
        },
        "lineitem": {
            "l_orderkey": random.integers(0, orders, rows),
            "l_suppkey": random.integers(0, suppliers, rows),
            "l_extendedprice": random.random(rows) * 1000,
            "l_discount": random.random(rows) / 10,
        },
    }
    made = {}
    for name, columns in frames.items():
        frame = hr.DataFrame(columns)
        hr.eval(frame)
        made[name] = frame.sort_values(next(iter(columns)))
        hr.eval(made[name])
    made["orders"]["o_orderdate"] = made["orders"].o_orderdate.dt.date
    return SimpleNamespace(**made)


def in_child(nodes):
    data = _core.plan_to_bytes(nodes)
    child = subprocess.run([sys.executable, "-c", CHILD], input=data, capture_output=True)
    assert child.returncode == 0, child.stderr.decode()
    return pickle.loads(child.stdout)


def values_of(frame):
    return list(frame.to_dict("list").values())


def test_tpch_q5_gives_the_same_bits_in_another_process():
    found = queries().q5(tables())
    nodes = list(found._nodes.values())
    assert not any(node.is_ready for node in nodes)
    theirs = in_child(nodes)
    ours = values_of(found)
    assert theirs == ours
    assert len(ours[0]) > 0


PROGRAMS = {
    "strings": lambda f: f[
        f.s.str.contains("1", regex=False) & f.s.str.startswith("a")
    ].s.str.upper(),
    "regex": lambda f: f.s.str.replace(r"(\d)", "<\\1>", regex=True),
    "isin": lambda f: f[f.k.isin([1, 2, 3])].v * 2 + 1,
    "window": lambda f: f.v.rolling(5).mean().shift(2),
    "group": lambda f: f.groupby("k").agg(a=("v", "median"), b=("v", "std")).b,
    "transform": lambda f: f.groupby("k").v.transform("sum").rank(),
    "sort": lambda f: f.sort_values(["s", "v"], ascending=[False, True]).head(7).v,
    "concat": lambda f: hr.concat([f, f[f.v > 0.5]]).drop_duplicates("s").v,
    "dates": lambda f: hr.to_datetime(f.k.astype("string") + "-01-01", format="%Y-%m-%d").dt.year,
    "reduce": lambda f: f.v.where(f.k > 3, 0.0),
}


@pytest.fixture
def frame():
    made = hr.DataFrame(
        {
            "k": [1000 + i % 7 for i in range(500)],
            "v": [((i * 7919) % 1000) / 1000 for i in range(500)],
            "s": ["abc"[i % 3] + str(i % 40) for i in range(500)],
        }
    )
    hr.eval(made)
    return made


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_travel(frame, program):
    found = PROGRAMS[program](frame)
    nodes = [found._node]
    assert not nodes[0].is_ready
    assert in_child(nodes) == [found.to_list()]


@pytest.mark.parametrize("program", PROGRAMS)
def test_explain_changes_nothing(frame, program):
    found = PROGRAMS[program](frame)
    nodes = [found._node]
    before = _core.plan_fingerprint(nodes)
    with ThreadPoolExecutor(2) as pool:
        texts = list(pool.map(lambda _: str(found.explain()), range(8)))
    assert len(set(texts)) == 1
    found.explain(passes=True)
    _core.predicted_costs(nodes)
    assert _core.plan_fingerprint(nodes) == before
    found.to_list()
    assert _core.plan_fingerprint(nodes) != before


def test_explain_of_q5_changes_nothing_and_names_the_passes():
    found = queries().q5(tables())
    nodes = list(found._nodes.values())
    before = _core.plan_fingerprint(nodes)
    first = str(found.explain())
    passes = str(found.explain(passes=True))
    assert str(found.explain()) == first
    assert _core.plan_fingerprint(nodes) == before
    for name in ("plan:", "common_subplans", "filter_pushdown:", "semi_join_pushdown"):
        assert name in passes


def test_what_cannot_travel_says_so(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n2\n")
    total = hr.scan_csv(path).a * 2
    with pytest.raises(hr.UnsupportedError, match="read_csv"):
        _core.plan_to_bytes([total._node])
    hr.eval(total)
    assert in_child_value(total) == [2, 4]


def in_child_value(series):
    return hr.Series(
        _core.plan_from_bytes(_core.plan_to_bytes([series._node]))[0].value()
    ).to_list()


@pytest.mark.parametrize("cut", [0, 1, 10, 50])
def test_bytes_that_are_no_plan_are_errors(frame, cut):
    data = _core.plan_to_bytes([(frame.v * 2)._node])
    with pytest.raises(hr.InvalidArgumentError):
        _core.plan_from_bytes(data[:cut])
    with pytest.raises(hr.InvalidArgumentError):
        _core.plan_from_bytes(b"x" + data)
