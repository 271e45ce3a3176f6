# SPDX-License-Identifier: Apache-2.0
"""Ibis' expressions on our frames, compared with its DuckDB backend."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import headrace as hr

ibis = pytest.importorskip("ibis")
pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

#: Of Ibis with pandas 3 and DuckDB 2.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
_ = ibis._


def tables() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=500).round(3)
    t = pd.DataFrame(
        {
            "k": np.array(["a", "b", "c"])[rng.integers(0, 3, 500)],
            "x": np.where(rng.random(500) < 0.1, np.nan, x),
            "i": rng.integers(-5, 9, 500),
            "t": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 10**6, 500), "s"),
        }
    )
    u = pd.DataFrame({"k": ["a", "b", "d"], "w": [1.5, 2.5, 3.5]})
    return {"t": pa.Table.from_pandas(t), "u": pa.Table.from_pandas(u)}


@pytest.fixture(scope="module")
def backends() -> tuple[Any, Any]:
    from headrace.interop.ibis import Backend

    duck = ibis.duckdb.connect()
    for name, table in tables().items():
        duck.con.register(name, table)
    return Backend().connect(tables()), duck


def by_order(*order: str, **more: Any) -> Any:
    return ibis.window(order_by=list(order), **more)


EXPRESSIONS: dict[str, Callable[[Any, Any], Any]] = {
    "filter": lambda t, u: t.filter(t.x > 0, t.k != "b").select("k", "i", y=t.x * 2 + t.i),
    "group": lambda t, u: t.group_by("k").agg(
        n=_.count(), s=_.x.sum(), m=_.x.mean(), lo=_.i.min(), d=_.i.nunique(), sd=_.x.std()
    ),
    "having": lambda t, u: t.group_by("i").having(_.count() > 30).agg(n=_.count()),
    "order": lambda t, u: t.order_by(ibis.desc("i"), "x", "t").limit(20),
    "join": lambda t, u: t.join(u, "k").select("k", "x", "w"),
    "left join": lambda t, u: t.left_join(u, "k").select(t.k, "x", "w"),
    "anti join": lambda t, u: t.anti_join(u, "k").k.value_counts(),
    "window": lambda t, u: t.mutate(
        r=ibis.row_number().over(by_order("x", "i", "t", group_by="k")),
        c=_.x.sum().over(group_by="k"),
        d=ibis.dense_rank().over(by_order("i", group_by="k")),
    ).select("k", "x", "r", "c", "d"),
    "lag": lambda t, u: t.mutate(v=_.i.lag().over(by_order("t", "i", "x"))).select("t", "v"),
    "strings": lambda t, u: t.select(
        a=t.k.upper(),
        b=t.k.length(),
        c=t.k + "!",
        d=t.k.contains("a"),
        e=t.k.replace("a", "zz"),
        f=t.k.substr(0, 1),
    ),
    "times": lambda t, u: t.select(
        a=t.t.year(), b=t.t.month(), c=t.t.date(), d=t.t.hour(), e=t.t.truncate("D")
    ),
    "cases": lambda t, u: t.select(c=ibis.cases((t.i > 3, "hi"), (t.i < 0, "lo"), else_="mid")),
    "nulls": lambda t, u: t.select(
        a=t.x.fill_null(0), b=t.x.isnull(), c=ibis.coalesce(t.x, t.i), d=t.x.nullif(0)
    ),
    "numbers": lambda t, u: t.select(
        a=t.x.abs(), b=t.x.round(1), c=t.x.floor(), d=t.i % 3, e=t.i // 2, f=(t.x.abs() + 1).log()
    ),
    "casts": lambda t, u: t.select(
        a=t.i.cast("string"), b=t.x.cast("int64"), c=t.i.cast("boolean")
    ),
    "union": lambda t, u: t.select("k").union(u.select("k"), distinct=True),
    "distinct": lambda t, u: t.select("k", "i").distinct(),
    "scalar": lambda t, u: t.x.sum(),
    "column": lambda t, u: t.i,
    "memtable": lambda t, u: ibis.memtable({"k": ["a"], "q": [1]}).join(t, "k").select("k", "i"),
    "subquery": lambda t, u: t.filter(t.x > t.x.mean(), t.k.isin(u.k)),
    "quantiles": lambda t, u: t.group_by("k").agg(q=_.x.median(), z=_.x.quantile(0.25)),
    "conditions": lambda t, u: t.group_by("k").agg(
        s=_.i.sum(where=_.x > 0), n=_.i.count(where=_.i > 2)
    ),
    "between": lambda t, u: t.filter(t.t.between("2024-01-03", "2024-01-06")).count(),
}


def plain(value: Any) -> Any:
    """Rows in one order; what is not asked for in order has none."""
    if isinstance(value, pd.DataFrame):
        return value.sort_values(list(value.columns)).reset_index(drop=True)
    return value.sort_values().reset_index(drop=True) if isinstance(value, pd.Series) else value


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions_give_the_answers_of_duckdb(name: str, backends: tuple[Any, Any]) -> None:
    ours, theirs = (
        plain(EXPRESSIONS[name](each.table("t"), each.table("u")).execute()) for each in backends
    )
    if isinstance(theirs, pd.DataFrame):
        pd.testing.assert_frame_equal(ours, theirs)
    elif isinstance(theirs, pd.Series):
        pd.testing.assert_series_equal(ours, theirs)
    else:
        assert ours == pytest.approx(theirs, rel=1e-12)


def test_tables_and_results(backends: tuple[Any, Any]) -> None:
    con, _duck = backends
    assert con.list_tables() == ["t", "u"] and con.list_tables(like="^u") == ["u"]
    assert con.table("u").schema().to_pyarrow() == pa.schema([("k", "string"), ("w", "float64")])
    made = con.create_table("v", hr.DataFrame({"a": [1, 2]}))
    assert made.a.sum().execute() == 3
    lazy = con.to_frame(con.table("v").mutate(b=con.table("v").a + 1))
    assert lazy.to_dict() == {"a": [1, 2], "b": [2, 3]}
    more = con.create_table("w", con.table("v").filter(con.table("v").a > 1))
    assert more.to_pyarrow().to_pydict() == {"a": [2]}
    assert con.sql("select a * 2 as b from v order by 1").execute().b.tolist() == [2, 4]
    batches = con.to_pyarrow_batches(con.table("t"), chunk_size=200)
    assert sum(len(batch) for batch in batches) == 500
    con.drop_table("v")
    con.drop_table("w")
    with pytest.raises(ibis.common.exceptions.TableNotFound):
        con.table("v")
    first = con.table("t").i.first(order_by="x")
    assert con.execute(first) == _duck.execute(_duck.table("t").i.first(order_by="x"))
