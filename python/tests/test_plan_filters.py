# SPDX-License-Identifier: Apache-2.0
"""Filters that move before joins, sorts and group-bys and into files: the same rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import headrace as hr

HOW = ["inner", "left", "right", "outer", "semi", "anti"]


def sides(seed: int = 0, rows: int = 300) -> tuple[hr.DataFrame, hr.DataFrame]:
    rng = np.random.default_rng(seed)

    def column(most: int, size: int) -> list[Any]:
        values = rng.integers(0, most, size).tolist()
        return [None if rng.random() < 0.1 else value for value in values]

    words = ["", "a", "ab", "a longer piece of text", "ä"]
    left = {
        "k": column(40, rows),
        "x": column(20, rows),
        "s": [words[i] for i in rng.integers(0, 5, rows)],
    }
    right = {"k": column(40, rows // 2), "y": column(20, rows // 2)}
    right["t"] = [None if rng.random() < 0.2 else words[i] for i in rng.integers(0, 5, rows // 2)]
    return hr.DataFrame(left), hr.DataFrame(right)


Filter = Callable[[hr.DataFrame], hr.Series]
LEFT: dict[str, Filter] = {
    "number": lambda f: f.x > 7,
    "null test": lambda f: f.x.isna(),
    "key": lambda f: f.k < 11,
    "text": lambda f: f.s.str.contains("a") & (f.x > 3),
    "member": lambda f: f.x.isin([1, 2, 3, None]),
    "chosen": lambda f: (f.x.fillna(0) * 2 + f.k.fillna(1)) > 30,
    "either": lambda f: (f.x > 15) | (f.k < 4),
    "whole column": lambda f: f.x > f.x.mean(),
}
RIGHT: dict[str, Filter] = {
    "number": lambda f: f.y > 7,
    "null test": lambda f: f.y.isna(),
    "text": lambda f: f.t == "ab",
    "not": lambda f: ~(f.y > 7),
    "both": lambda f: (f.y > 3) & (f.x > 3) & (f.x > f.y - 5),
    "where": lambda f: f.y.fillna(100) > 50,
}


def looked_at(make: Callable[[], hr.DataFrame], where: Filter) -> tuple[Any, Any]:
    """The rows where the filter may move, and where the frame is there before."""
    lazy = make()
    moved = lazy[where(lazy)].to_dict()
    ready = make()
    hr.eval(ready)
    return moved, ready[where(ready)].to_dict()


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", [*LEFT, *(f"{name} of right" for name in RIGHT)])
def test_rows_of_a_filtered_join_are_the_same(how: str, name: str) -> None:
    of_right = name.endswith(" of right")
    if of_right and how in ("semi", "anti"):
        pytest.skip("such joins have left columns only")
    where = RIGHT[name.removesuffix(" of right")] if of_right else LEFT[name]
    left, right = sides()
    moved, stayed = looked_at(lambda: left.merge(right, how=how, on="k"), where)
    assert moved == stayed


@pytest.mark.parametrize("how", HOW)
def test_computed_columns_and_two_filters_pass(how: str) -> None:
    left, right = sides(1)

    def make() -> hr.DataFrame:
        joined = left.merge(right, how=how, left_on="k", right_on="y")
        return joined.assign(z=joined.x * 2 + 1, one=1)

    names = ["k", "x"] if how in ("semi", "anti") else ["k_x", "x"]
    lazy, ready = make(), make()
    hr.eval(ready)
    results = []
    for frame in (lazy, ready):
        first = frame[(frame.z > 9) & (frame.one == 1)]
        second = first[first[names[0]].notna()]
        results.append(second.to_dict())
    assert results[0] == results[1]


def test_explain_shows_where_a_filter_went() -> None:
    left, right = sides()
    joined = left.merge(right, on="k")
    text = joined[(joined.x > 7) & (joined.y < 5) & (joined.x > joined.y)].explain()
    assert text.count("getitem [mask, before merge]") >= 2, text
    assert "getitem [mask]" in text, text  # what both sides have to tell
    kept = left.merge(right, how="left", on="k")
    assert "before merge" not in kept[kept.y.isna()].explain()
    turned = kept[kept.y > 3].explain()
    assert "how=inner (was left)" in turned
    assert "before merge" in turned


def test_a_frame_that_others_read_stays_whole() -> None:
    left, right = sides()
    joined = left.merge(right, on="k")
    some = joined[joined.x > 7]
    total, few = joined.x.sum(), some.x.sum()
    hr.eval(total, few)
    values = [x for x in joined.x.to_list() if x is not None]
    assert int(total) == sum(values)
    assert int(few) == sum(x for x in values if x > 7)
    # Looked at once more it is made whole, and kept.
    again = left.merge(right, on="k")
    one, two = again[again.x > 7], again[again.x > 9]
    assert "before merge" in one.explain()
    assert "before merge" in two.explain()  # looking at a plan changes nothing
    hr.eval(one)
    assert "before merge" not in two.explain()
    assert two.x.to_list() == [x for x in one.x.to_list() if x > 9]


def test_checks_of_a_join_see_all_rows() -> None:
    left = hr.DataFrame({"k": [1, 1, 2], "x": [1, 2, 3]})
    joined = left.merge(hr.DataFrame({"k": [1, 2], "y": [1, 2]}), on="k", validate="1:1")
    with pytest.raises(hr.InvalidArgumentError):
        joined[joined.x > 2].to_dict()


@pytest.mark.parametrize("ascending", [True, False])
def test_sorted_rows(ascending: bool) -> None:
    left, _ = sides(2)
    moved, stayed = looked_at(
        lambda: left.sort_values(["x", "k"], ascending=ascending),
        lambda f: (f.k > 7) & (f.s != "a"),
    )
    assert moved == stayed
    frame = left.sort_values("x")
    assert "before sort_values" in frame[frame.k > 7].explain()
    first = left.sort_values("x").head(9)
    assert first[first.k > 7].to_dict() == {
        name: [
            v for v, k in zip(values, first.to_dict()["k"], strict=True) if k is not None and k > 7
        ]
        for name, values in first.to_dict().items()
    }


def test_groups() -> None:
    left, _ = sides(3)

    def make() -> hr.DataFrame:
        return left.groupby(["k", "s"], as_index=False, dropna=False).agg(
            n=("x", "count"), total=("x", "sum"), top=("x", "max")
        )

    for where in (lambda f: f.k > 7, lambda f: (f.s == "ab") & (f.total > 9), lambda f: f.n > 2):
        moved, stayed = looked_at(make, where)
        assert moved == stayed
    frame = make()
    # The group-by picks the rows itself.
    assert ", where #1" in frame[(frame.k > 7) & (frame.n > 1)].explain()
    frame = make()
    assert ", where #" not in frame[frame.n > 1].explain()


def csv_text(rows: int = 4000) -> bytes:
    rng = np.random.default_rng(5)
    lines = ["a,b,s,when,c,flag"]
    words = ["red", "green", "a text of more than twelve bytes", '"quoted, with ""more"""', ""]
    for i in range(rows):
        b = "" if rng.random() < 0.1 else f"{rng.random():.6f}"
        day = f"2024-{1 + i % 12:02}-{1 + i % 28:02}"
        word = words[int(rng.integers(0, 5))]
        lines.append(f"{i},{b},{word},{day},k{i % 7},{str(i % 3 == 0).lower()}")
    return "\n".join(lines).encode()


CSV: dict[str, Filter] = {
    "number": lambda f: f.a % 10 == 3,
    "few": lambda f: f.a == 1234,
    "none": lambda f: f.a < 0,
    "all": lambda f: f.a >= 0,
    "nulls": lambda f: f.b.isna(),
    "text": lambda f: f.s.str.contains("quoted") & (f.b > 0.5),
    "day": lambda f: f.when >= "2024-07-01",
    "category": lambda f: f.c == "k3",
    "bool": lambda f: f.flag,
    "columns": lambda f: (f.b * 4000 > f.a) | (f.s == "red"),
    "member": lambda f: f.a.isin([5, 6, 3999]),
}


@pytest.mark.parametrize("name", CSV)
def test_rows_of_a_filtered_file_are_the_same(name: str, tmp_path: Any) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(csv_text())
    options: dict[str, Any] = {"dtypes": {"c": "category"}}
    where = CSV[name]
    scan, whole = hr.scan_csv(path, **options), hr.read_csv(path, **options)
    some, expected = scan[where(scan)], whole[where(whole)]
    assert "rows.csv where" in some.explain()
    assert some.to_dict() == expected.to_dict()
    assert some.c.cat.codes.to_list() == expected.c.cat.codes.to_list()
    for column in ("b", "s", "c", "flag"):  # some columns only, and not the ones that tell
        scan = hr.scan_csv(path, **options)
        assert scan[where(scan)][column].to_list() == expected[column].to_list()


def test_filters_reach_a_file_below_other_steps(tmp_path: Any) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(csv_text())

    def make(read: Callable[..., hr.DataFrame]) -> hr.DataFrame:
        frame = read(path)
        frame = frame.assign(double=frame.b * 2)
        names = hr.DataFrame({"c": [f"k{i}" for i in range(5)], "name": list("vwxyz")})
        joined = frame.merge(names, on="c").sort_values("double")
        joined = joined[(joined.double > 0.5) & (joined.name != "w") & (joined.a > 100)]
        return joined[joined.s == "red"]

    lazy, whole = make(hr.scan_csv), make(hr.read_csv)
    text = lazy.explain()
    assert "rows.csv where" in text
    assert "before merge" in text
    assert lazy.to_dict() == whole.to_dict()
    totals = make(hr.scan_csv).groupby("c").b.sum().to_dict()
    assert totals == make(hr.read_csv).groupby("c").b.sum().to_dict()


def test_a_filter_that_asks_about_other_rows_reads_them(tmp_path: Any) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(csv_text())
    scan, whole = hr.scan_csv(path), hr.read_csv(path)
    assert scan[scan.b > scan.b.mean()].to_dict() == whole[whole.b > whole.b.mean()].to_dict()
    few = hr.DataFrame({"a": [7, 9, 5000]})
    scan = hr.scan_csv(path)
    kept = scan[scan.a.isin(few.a + 1)]
    assert "rows.csv where" in kept.explain()
    assert kept.a.to_list() == [8, 10]
    scan = hr.scan_csv(path)
    limit = few.a.max() / 1000
    assert scan[scan.b * 10 > limit].a.to_list() == whole[whole.b * 10 > 5].a.to_list()


def test_bad_fields_of_rows_that_go_are_not_looked_at(tmp_path: Any) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,x\n2,5\n3,6\n")
    scan = hr.scan_csv(path, dtypes={"b": "int64"})
    assert scan[scan.a > 1].to_dict() == {"a": [2, 3], "b": [5, 6]}
    with pytest.raises(hr.InputError, match="line=2"):
        scan[scan.a < 2].to_dict()
    path.write_text("a,b\n1,5\n2\n3,6\n")
    scan = hr.scan_csv(path)
    with pytest.raises(hr.InputError, match="line=3"):
        scan[scan.a < 2].to_dict()


def test_rows_that_go_take_no_memory(tmp_path: Any) -> None:
    path = tmp_path / "rows.csv"
    rows = 2_000_000
    hr.DataFrame(
        {"a": np.arange(rows), "b": np.arange(rows) * 0.5, "c": np.arange(rows) * 0.25}
    ).to_csv(path)

    scan = hr.scan_csv(path)
    some = scan[scan.a % 1000 == 7]
    before = hr.memory.stats().used_bytes
    with hr.memory.stats() as stats:
        total = float((some.b + some.c).sum())
    assert total == sum(a * 0.75 for a in range(7, rows, 1000))
    assert stats.peak_bytes - before < 24 * rows / 2


def test_rows_put_one_behind_the_other(tmp_path: Any) -> None:
    left, other = sides(7)[0], sides(8)[0]

    def make() -> hr.DataFrame:
        frame = hr.concat([left, other[other.k > 3], left.sort_values("x")])
        return frame.assign(z=frame.x + 1)

    for where in (lambda f: (f.x > 7) & (f.s != "a"), lambda f: f.z.isna(), lambda f: f.k < 0):
        moved, stayed = looked_at(make, where)
        assert moved == stayed
    frame = make()
    assert "before concat" in frame[frame.x > 7].explain()
    paths = [tmp_path / f"{k}.csv" for k in range(3)]
    for k, path in enumerate(paths):
        path.write_text("a,b\n" + "".join(f"{row},{row * k}\n" for row in range(50)))
    frame = hr.concat([hr.scan_csv(path) for path in paths])
    some = frame[(frame.b > 40) & (frame.a < 30)]
    assert some.explain().count(".csv where") == 3
    assert some.a.to_list() == [a for k in range(3) for a in range(30) if a * k > 40]
    numbers = hr.concat([left.x, other.x])
    kept = numbers[numbers > 15]
    values = [x for x in left.x.to_list() + other.x.to_list() if x is not None and x > 15]
    assert kept.to_list() == values


def test_the_first_of_equal_rows() -> None:
    left, _ = sides(9)
    for subset in (None, ["k"], ["k", "s"]):
        for where in (lambda f: f.k > 7, lambda f: (f.s == "ab") & (f.k > 7), lambda f: f.x > 3):
            moved, stayed = looked_at(lambda subset=subset: left.drop_duplicates(subset), where)
            assert moved == stayed
    frame = left.drop_duplicates(["k"])
    assert "before drop_duplicates" in frame[frame.k > 7].explain()
    frame = left.drop_duplicates(["k"])
    assert "before drop_duplicates" not in frame[frame.x > 7].explain()


def test_rows_picked_of_picked_rows_with_positions_of_their_own() -> None:
    df = hr.DataFrame({"x": [1.0, 5.0, 9.0, None], "y": [0.0, 1.0, None, 2.0]})
    df = df[(df.x > 0) | (df.y > 0)].reset_index(drop=True)
    df = df.dropna(subset=["x", "y"]).reset_index(drop=True)
    assert df.x.between(2, 12).to_list() == [False, True]
