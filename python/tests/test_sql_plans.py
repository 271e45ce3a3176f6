# SPDX-License-Identifier: Apache-2.0
"""Plans of SQL that are used again: for the same columns only, and apart from earlier results."""

from __future__ import annotations

import gc
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import headrace as hr

pytest.importorskip("sqlglot")

from headrace.sql import context as contexts

QUERY = "select k, sum(v) as total from t group by k order by k"


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries that were planned, and not found."""
    found: list[str] = []
    plain = contexts.parsed

    def parsed(query: str, dialect: str) -> Any:
        found.append(query)
        return plain(query, dialect)

    monkeypatch.setattr(contexts, "parsed", parsed)
    return found


def table(values: list[Any] | None = None) -> hr.DataFrame:
    return hr.DataFrame({"k": ["x", "y", "x"], "v": values or [1, 2, 3]})


def test_a_known_query_is_not_planned_again(planned: list[str]) -> None:
    t = table()
    first, second = hr.sql(QUERY, t=t), hr.sql(QUERY, t=t)
    assert planned == [QUERY]
    assert first.to_dict() == second.to_dict() == {"k": ["x", "y"], "total": [4, 2]}
    assert (first.total == second.total).to_list() == [True, True]  # the same rows
    assert hr.sql(QUERY, t=t).explain()  # with its own text
    assert planned == [QUERY]


def test_results_are_not_kept_by_the_plan() -> None:
    t = table()
    hr.sql(QUERY, t=t).to_dict()
    made = hr.sql(QUERY, t=t)
    assert not made._nodes["total"].is_ready
    made.to_dict()
    assert made._nodes["total"].is_ready
    assert not hr.sql(QUERY, t=t)._nodes["total"].is_ready


def test_a_changed_column_or_dtype_or_name_is_planned_again(planned: list[str]) -> None:
    t = table()
    query = "select k, max(v) as most from t group by k order by k"
    assert hr.sql(query, t=t).to_dict()["most"] == [3, 2]
    t["v"] = t.v * 10
    assert hr.sql(query, t=t).to_dict()["most"] == [30, 20]
    t["v"] = t.v.astype("string")
    assert hr.sql(query, t=t).to_dict()["most"] == ["30", "20"]
    assert len(planned) == 3
    with pytest.raises(hr.ColumnNotFoundError):
        hr.sql(query, t=t.rename(columns={"v": "w"}))
    renamed = t.rename(columns={"k": "v", "v": "k"})
    assert hr.sql(query, t=renamed).to_dict() == {"k": ["10", "20", "30"], "most": ["x", "y", "x"]}


def test_another_frame_of_the_same_name_is_planned_again(planned: list[str]) -> None:
    one, other = table(), table([5, 6, 7])
    for _ in range(2):
        assert hr.sql(QUERY, t=one).to_dict()["total"] == [4, 2]
        assert hr.sql(QUERY, t=other).to_dict()["total"] == [12, 6]
    assert len(planned) == 4
    assert hr.sql(QUERY, t=other.copy()).to_dict()["total"] == [12, 6]


def test_a_table_of_the_caller_is_the_one_of_the_call(planned: list[str]) -> None:
    def ask(t: hr.DataFrame) -> list[Any]:
        return hr.sql(QUERY).to_dict()["total"]

    one, other = table(), table([5, 6, 7])
    assert [ask(one), ask(one), ask(other), ask(one)] == [[4, 2], [4, 2], [12, 6], [4, 2]]
    assert len(planned) == 3


def test_parameters_are_part_of_the_question(planned: list[str]) -> None:
    t, query = table(), "select v + ? as w from t"
    made = [hr.sql(query, t=t, params=[value]) for value in (1, 1, 1.0, True, "1")[:3]]
    assert [str(each.w.dtype) for each in made] == ["int64", "int64", "float64"]
    assert len(planned) == 2


def test_views_and_tables_of_a_context() -> None:
    context = hr.sql.Context(t=table())
    context.sql("create view big as select * from t where v > 1")
    ask = "select count(*) as n from big"
    assert [context.sql(ask).to_dict()["n"] for _ in range(2)] == [[2], [2]]
    context.sql("create or replace view big as select * from t where v > 2")
    assert context.sql(ask).to_dict()["n"] == [1]
    context.register("t", table([9, 9, 9]))
    assert context.sql(ask).to_dict()["n"] == [3]
    context.sql("drop view big")
    with pytest.raises(hr.ColumnNotFoundError):
        context.sql(ask)


def test_a_plan_goes_with_its_columns() -> None:
    context = hr.sql.Context(t=table())
    context.sql("select v from t")
    context.sql("select v + 1 as w from t")
    assert len(context._plans._plans) == 2
    context.unregister("t")
    gc.collect()
    assert len(context._plans._plans) == 0


def test_the_number_of_plans_is_bounded() -> None:
    context = hr.sql.Context(t=table())
    for number in range(200):
        context.sql(f"select v + {number} as w from t")
    assert len(context._plans._plans) == 128
    assert context.sql("select v + 199 as w from t").to_dict()["w"] == [200, 201, 202]


def test_what_changes_by_itself_is_planned_each_time(planned: list[str]) -> None:
    t = table()
    for query in (
        "select current_date as d from t",
        "with recursive c(n) as (select 1 union all select n + 1 from c where n < 3) from c",
    ):
        hr.sql(query, t=t)
        hr.sql(query, t=t)
    assert len(planned) == 4


def test_a_lazy_source_is_shared(tmp_path: Any) -> None:
    path = tmp_path / "t.csv"
    table().to_csv(path, index=False)
    t = hr.scan_csv(path)
    for _ in range(2):
        assert hr.sql(QUERY, t=t).to_dict() == {"k": ["x", "y"], "total": [4, 2]}


def test_columns_of_joins_that_are_never_read_share_nothing_that_runs() -> None:
    u = hr.DataFrame({"k": ["x", "y"], "w": [1.5, 2.5], "unread": [1, 2]})
    inner = "(select *, unread + 1 as more from u)"
    query = f"select t.k, w from t join {inner} u on t.k = u.k order by w, t.k"
    t = table()
    wanted = {"k": ["x", "x", "y"], "w": [1.5, 1.5, 2.5]}
    for threads in (1, 2, 4):
        with hr.threads(threads):
            assert hr.sql(query, t=t, u=u).to_dict() == wanted


def test_groups_of_a_left_join_are_made_before_it() -> None:
    u = hr.DataFrame(
        {"k": [1, 2, 2, None, 3] * 20, "v": [5, None, 7, 8, None] * 20, "d": [0.5] * 100}
    )
    t = hr.DataFrame({"k": [1, 2, 2, None, 3, 4], "g": ["a", "b", "b", "c", "c", None]})
    query = """select g, count(v) as n, min(v) as low, max(u.k) as high
        from t left join u on t.k = u.k and d > 0 group by g order by g"""
    wanted = {
        "g": ["a", "b", "c", None],
        "n": [20, 40, 0, 0],
        "low": [5, 7, None, None],
        "high": [1, 2, 3, None],
    }
    assert "key 0" in hr.sql(query, t=t, u=u).explain()
    assert hr.sql(query, t=t, u=u).to_dict() == wanted
    one = hr.sql(query, t=t, u=u)  # columns that run apart are of the same rows
    for name, values in wanted.items():
        assert one[name].to_list() == values
    for word in ("sum(d)", "count(*)"):
        made = hr.sql(f"select g, {word} as x from t left join u using (k) group by g", t=t, u=u)
        assert "key 0" not in made.explain()


def test_a_known_plan_has_the_passes_of_the_first() -> None:
    t = hr.DataFrame({"k": range(100), "g": [i % 10 for i in range(100)], "unread": range(100)})
    lines = hr.DataFrame({"k": [i % 100 for i in range(2000)], "v": range(2000), "w": range(2000)})
    groups = hr.DataFrame({"g": [3, 4], "name": ["x", "y"], "more": [1, 2]})
    query = """select name, sum(v) as s from lines join t on lines.k = t.k join groups on
        t.g = groups.g where name = 'x' group by name"""
    plans = [hr.sql(query, t=t, lines=lines, groups=groups).explain() for _ in range(3)]
    assert "keys of another join" in plans[0]
    assert plans[1] == plans[2] == plans[0]
    made = [hr.sql(query, t=t, lines=lines, groups=groups).to_dict() for _ in range(2)]
    total = sum(v for v in range(2000) if v % 100 % 10 == 3)
    assert made == [{"name": ["x"], "s": [total]}] * 2


def test_threads_take_known_plans_while_others_run() -> None:
    frame = hr.DataFrame({"k": list(range(100_000)), "v": [0.5] * 100_000})
    query = "SELECT k % 10 AS g, sum(v) AS s FROM frame WHERE v > 0.1 GROUP BY ALL ORDER BY g"

    def answer(turn: int) -> object:
        if turn % 3 == 2:
            return pickle.loads(pickle.dumps(hr.sql(query, frame=frame))).s.to_list()
        return hr.sql(query, frame=frame).s.to_list()

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(answer, range(60))) == [[5000.0] * 10] * 60
