# SPDX-License-Identifier: Apache-2.0
"""Groups of rows that nobody made: filtered and computed while they are folded, same bits."""

import collections

import numpy as np
import pytest
from headrace.lazy.profile import explain

import headrace as hr

MORSEL = 1 << 17
AGGREGATES = ["sum", "mean", "min", "max", "count", "var", "any", "prod"]


def owned(frame):
    """The same rows in memory that nobody else may write to: what is made of them can wait."""
    return hr.from_arrow(frame.to_arrow())


def table(rows, keep):
    """Two keys, numbers with NaN and nulls, and `pick`, true in `keep` of the rows."""
    random = np.random.default_rng(rows)
    x = random.standard_normal(rows)
    x[random.random(rows) < 0.05] = np.nan
    number = hr.Series(random.integers(0, 50, rows))
    frame = hr.DataFrame(
        {
            "k": random.integers(0, 5, rows),
            "t": [("A", "N", "R", None)[i] for i in random.integers(0, 4, rows)],
            "x": x,
            "f": random.standard_normal(rows).astype(np.float32),
            "n": number.where(number > 5),
            "pick": random.random(rows) < keep,
        }
    )
    return owned(frame)


def lines_of(frame, made):
    """The rows with `pick`, and two columns computed of them; all made before, or not."""
    lines = frame[frame.pick]
    lines["y"] = lines.x * (1 - lines.f) + lines.n
    lines["m"] = lines.n * 2
    if made:
        hr.eval(lines)
    return lines


def bits(frame):
    """Columns as bytes, null apart."""
    return {name: np.asarray(frame[name].to_list(), dtype=object).tolist() for name in frame}


def equal(a, b):
    for name in a:
        for x, y in zip(a[name], b[name], strict=True):
            assert x == y or (x != x and y != y), name
        assert len(a[name]) == len(b[name])


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 1025, MORSEL + 1, 3 * MORSEL + 777])
@pytest.mark.parametrize("keep", [0.0, 0.1, 0.7, 1.0])
def test_the_same_bits_as_of_rows_that_were_made(rows, keep):
    frame = table(rows, keep)
    spec = {f"{a}_{c}": (c, a) for c in ("x", "f", "n", "y", "m") for a in AGGREGATES}
    for keys, options in ((["k"], {}), (["t", "k"], {"dropna": False}), (["t"], {"sort": False})):
        found, wanted = (
            lines_of(frame, made).groupby(keys, **options).agg(**spec, size=("x", "size"))
            for made in (False, True)
        )
        equal(bits(found), bits(wanted))


def test_threads_change_nothing():
    frame = table(5 * MORSEL + 5, 0.9)
    results = []
    for count in (1, 2, 4):
        with hr.threads(count):
            lines = lines_of(frame, made=False)
            results.append(bits(lines.groupby("k").agg(y=("y", "sum"), v=("x", "var"))))
    equal(results[0], results[1])
    equal(results[0], results[2])


def test_what_a_plan_computes_while_it_reads_is_told():
    frame = table(100, 0.9)
    lines = lines_of(frame, made=False)
    text = lines.groupby("k").agg(y=("y", "sum"), n=("n", "sum")).explain()
    (step,) = [line for line in text.splitlines() if "groupby" in line]
    assert "fused: add(multiply(x, subtract" in step and "where" in step
    assert "getitem" not in text


def test_rows_that_somebody_else_wants_are_made_once():
    frame = table(1000, 0.9)
    lines = lines_of(frame, made=False)
    groups = lines.groupby("k").agg(y=("y", "sum"))
    order = lines.x.argsort() if hasattr(lines.x, "argsort") else lines.x.rank()
    hr.eval(groups, order)
    np.testing.assert_allclose(
        groups.y.to_list(), lines_of(frame, made=True).groupby("k").agg(y=("y", "sum")).y.to_list()
    )


def test_a_row_that_is_left_out_is_no_error():
    frame = hr.DataFrame({"k": [0, 1, 0], "b": [2, 3, 4], "e": [1, -1, 2]})
    frame = owned(frame)
    lines = frame[frame.e >= 0]
    lines["p"] = lines.b**lines.e
    assert lines.groupby("k").agg(p=("p", "sum")).to_dict() == {"p": [18]}


@pytest.mark.parametrize("many", [5000, 300_000])
def test_many_groups_are_made_first(many):
    random = np.random.default_rng(5)
    frame = hr.DataFrame({"k": random.integers(0, many, 400_000), "x": random.random(400_000)})
    frame = owned(frame)
    found = frame[frame.x > 0.3]
    found["y"] = found.x * 2
    found = found.groupby("k").agg(y=("y", "sum"))
    x, k = frame.x.to_numpy(), frame.k.to_numpy()
    sums = np.bincount(k[x > 0.3], 2 * x[x > 0.3], many)
    np.testing.assert_allclose(found.y.to_numpy(), sums[found.index.to_numpy()], rtol=1e-12)


def groups_and_few(rows=50_000):
    """Sums of many groups, and a frame that has few of the keys, some twice."""
    random = np.random.default_rng(8)
    frame = owned(
        hr.DataFrame(
            {
                "a": random.integers(0, 3000, rows),
                "b": random.integers(0, 7, rows),
                "n": random.integers(-9, 9, rows),
                "x": random.random(rows),
            }
        )
    )
    few = owned(hr.DataFrame({"a": [5, 2999, 5, 4000, 17], "b": [1, 2, 1, 1, 0], "w": range(5)}))
    groups = frame[frame.x > 0.01].groupby(["a", "b"]).agg(n=("n", "sum"), x=("x", "sum"))
    return groups, few


@pytest.mark.parametrize("how", ["inner", "left", "semi", "anti"])
@pytest.mark.parametrize("groups_left", [False, True])
def test_groups_that_a_join_leaves_out_are_not_made(how, groups_left):
    groups, few = groups_and_few()
    made, _ = groups_and_few()
    hr.eval(made)

    def joined(table):
        pair = (table, few) if groups_left else (few, table)
        return pair[0].merge(pair[1], how=how, on=["a", "b"])

    found = joined(groups)
    pushed = "semi-join filter on" in found.explain()
    assert pushed == (not groups_left or how == "inner")
    equal(bits(found), bits(joined(made)))


def test_groups_that_somebody_else_wants_are_made_whole():
    groups, few = groups_and_few()
    joined = few.merge(groups, on=["a", "b"])
    total = groups.n.sum()
    hr.eval(joined, total)
    assert total.item() == groups_and_few()[0].n.sum().item()
    assert len(groups) > 15_000 and joined.n.sum().item() < 10_000


def test_a_group_that_tells_rows_is_made_whole():
    few = groups_and_few()[1]
    frame = owned(hr.DataFrame({"a": list(range(5000)) * 2, "x": np.arange(10_000.0)}))
    last = frame.groupby("a").agg(row=("x", "idxmax"))
    assert few.merge(last, on="a").row.to_list() == [5005, 7999, 5005, 9000, 5017]


def test_what_two_lines_ask_for_is_computed_once():
    frame = table(MORSEL + 9, 0.5)

    def wanted():
        product = frame.x * frame.f
        return [
            product.sum(),
            (frame.x * frame.f).max(),
            frame[frame.n > 9].x.sum(),
            frame[frame.n > 9].x.max(),
            frame[frame.n > 9].f,
            frame[frame.n > 9].f,
        ]

    ours, alone = wanted(), wanted()
    text = explain([each._node for each in ours], analyze=False)
    assert text.count("greater") == 1 and text.count("getitem") == 1
    assert "fused pass: sum(x); max(x), where #1" in text
    hr.eval(*ours)
    for each in alone:
        hr.eval(each)
    for a, b in zip(ours, alone, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    assert len(ours[4]) == len(ours[5]) == len(alone[4])


TWICE = {
    "join": lambda t, u: t.merge(u, on="k"),
    "group-by": lambda t, u: t.groupby("k").agg(x=("x", "sum"), n=("n", "max")),
    "group-by with a filter": lambda t, u: t[t.n > 9].groupby("k").agg(x=("x", "sum")),
    "sort": lambda t, u: t.sort_values(["n", "x"]),
    "distinct": lambda t, u: t.drop_duplicates(["k", "t"]),
    "mask": lambda t, u: t[(t.n > 9) & (t.x < 0.5)],
    "text": lambda t, u: t[t.t.str.contains("A")],
    "members": lambda t, u: t[t.k.isin(u.k)],
    "reduction": lambda t, u: t.assign(x=t.x - t.x.mean())[["x"]],
    "a chain of all": lambda t, u: (
        t[t.t.str.contains("A")].merge(u, on="k").groupby("t").agg(x=("x", "sum")).sort_values("x")
    ),
}


@pytest.mark.parametrize("name", TWICE)
def test_equal_parts_of_a_plan_run_once(name):
    frame, other = table(2000, 0.5), owned(hr.DataFrame({"k": [0, 1, 2], "w": [5, 6, 7]}))

    def steps(*looks):
        with hr.profile() as seen:
            for many in looks:
                hr.eval(*(TWICE[name](frame, other) for _ in range(many)))
        return collections.Counter(step.op for step in seen.steps)

    once, apart = steps(1), steps(1, 1)
    assert apart == once + once
    together = steps(2)
    together["rows"] = once["rows"] = 0  # names of rows, which take no time
    assert +together == +once


@pytest.mark.pool
def test_under_a_limit_it_is_the_same(memory_room):
    random = np.random.default_rng(3)
    rows = 16 * MORSEL
    begin = hr.DataFrame({name: random.random(rows) for name in "xyz"})
    frame = hr.DataFrame({name: begin[name] * 1 for name in "xyz"})
    frame["k"] = (frame.x * 4).astype("int64")
    hr.eval(frame)
    del begin

    def work():
        lines = frame[frame.y > 0.1]
        lines["p"] = lines.x * lines.z
        return bits(lines.groupby("k").agg(p=("p", "sum"), z=("z", "mean"), n=("p", "count")))

    wanted = work()
    with memory_room("40MiB"):
        found = work()
        assert hr.memory.stats().used_bytes <= hr.memory.limit()
    equal(found, wanted)


def test_features_that_are_dropped_leave_no_step():
    frame = table(1000, 0.5)

    def chain(features):
        made = frame
        for k in range(features):
            made = made.assign(**{f"f{k}": np.log1p(made.x * k) + np.sin(made.x)})
            made[f"g{k}"] = made[f"f{k}"].cumsum()
        made = made[made.pick]
        made = made.drop(columns=[f"{c}{k}" for c in "fg" for k in range(features)])
        return made.groupby("k").agg(x=("x", "sum"))

    with_them, without = (chain(count).explain().splitlines() for count in (5, 0))
    assert [line.split("|")[0] for line in with_them] == [line.split("|")[0] for line in without]
    equal(bits(chain(5)), bits(chain(0)))


# ---- fused passes that pick rows ----------------------------------------------------------------
def told(value):
    return explain([value._node], analyze=False)


def picked(frame, made):
    """Results of picked rows, by passes over all rows or over rows that were made before."""
    lines = frame[frame.pick]
    if made:
        hr.eval(lines)
    z = lines.x * 2 - lines.n
    return [
        lines.x.sum(),
        lines.n.sum(),
        lines.f.mean(),
        lines.x.std(),
        (lines.n.fillna(0) + lines.x).max(),
        lines.x.count(),
        z.min(),
        lines.x.isna().sum(),
        lines.b.sum(),
        lines.n.count(),
        ((lines.x - lines.x.mean()) ** 2).sum(),
        (lines.f * lines.n).to_list(),
        lines.b.to_list(),
    ]


@pytest.mark.parametrize("keep", [0, 0.001, 0.1, 0.5, 0.99, 1])
@pytest.mark.parametrize("rows", [0, 1, 1000, MORSEL + 3000])
def test_a_pass_that_picks_rows_has_the_same_bits(rows, keep):
    frame = table(rows, keep)
    frame["b"] = frame.x > 0.3
    hr.eval(frame)
    wanted = [repr(value) for value in picked(frame, made=True)]
    threads = hr.threads()
    try:
        for count in (1, 2, 4):
            hr.threads(count)
            assert [repr(value) for value in picked(frame, made=False)] == wanted
    finally:
        hr.threads(threads)


def test_a_pass_that_picks_rows_makes_no_column():
    frame = table(100_000, 0.5)
    assert "where bitwise_and(" in told(frame[frame.pick & (frame.x > 0)].f.sum())
    with hr.profile() as profile:
        hr.eval(frame[frame.f > 0].x.sum(), frame[frame.f > 0].x * 3)
    assert [step.op for step in profile.steps] == ["greater", "sum"]
    assert "getitem" not in told((frame[frame.x > 1].f * frame[frame.x > 1].x).sum())


def test_picked_rows_that_two_passes_need_are_made_once():
    frame = table(100_000, 0.5)
    x = frame[frame.f > 0].x
    text = told(((x - x.mean()) ** 2).sum())
    assert text.count("where #1") == 1
    assert "getitem" not in text.replace("; getitem", "")


def test_elements_of_arrays_are_picked_by_a_pass():
    x = hr.asarray(np.arange(100_000.0)) * 1
    hr.eval(x)
    with hr.profile() as profile:
        assert float(x[x > 500].sum()) == sum(range(501, 100_000))
        assert float(x[::2][x[::2] > 500].sum()) == sum(range(502, 100_000, 2))
    assert profile.steps[0].op == "sum"


def test_an_error_of_a_row_that_is_not_picked_is_none():
    frame = owned(hr.DataFrame({"n": [2, 3, 4], "e": [1, -1, 2]}))
    assert (frame[frame.e > 0].n ** frame[frame.e > 0].e).sum() == 18


def test_rows_are_picked_under_a_limit():
    frame = table(3 * MORSEL, 0.6)
    wanted = float((frame[frame.pick].x * frame[frame.pick].f).sum())
    limit = hr.memory.stats().limit_bytes
    try:
        hr.memory.limit(hr.memory.stats().used_bytes + 4_000_000)
        assert float((frame[frame.pick].x * frame[frame.pick].f).sum()) == wanted
    finally:
        hr.memory.limit(limit)
