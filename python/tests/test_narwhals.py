# SPDX-License-Identifier: Apache-2.0
"""The plug-in of narwhals: the same program on Polars and on our frames gives the same values."""

import datetime
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headrace as hr

nw = pytest.importorskip("narwhals")
pl = pytest.importorskip("polars")
RUNNER = Path(__file__).resolve().parents[2] / "tools/run_narwhals_tests.py"
SIZES = [0, 1, 2, 63, 64, 65, 3000]
Program = Callable[[Any], Any]
x, y, k, t, b = (nw.col(name) for name in ("x", "y", "k", "t", "b"))
z = x.fill_nan(None)  # Polars compares NaN as the largest number, we as NumPy


def columns_of(rows: int) -> dict[str, Any]:
    """Numbers with null and NaN, keys with null, times and truth values."""
    rng = np.random.default_rng(rows)
    number = rng.integers(-5, 6, rows)
    x = [None if i % 7 == 3 else float(v) / 2 for i, v in enumerate(number)]
    x = [math.nan if i % 11 == 5 else v for i, v in enumerate(x)]
    start = datetime.datetime(2020, 1, 31, 12)
    return {
        "x": pl.Series(x, dtype=pl.Float64),
        "y": pl.Series(rng.integers(-3, 4, rows)),
        "k": pl.Series(
            [None if i % 9 == 4 else "abcd"[v] for i, v in enumerate(rng.integers(0, 4, rows))],
            dtype=pl.String,
        ),
        "t": pl.Series(
            [start + datetime.timedelta(hours=int(v)) for v in rng.integers(0, 9000, rows)],
            dtype=pl.Datetime("us"),
        ),
        "b": pl.Series(
            [None if i % 5 == 2 else bool(v > 0) for i, v in enumerate(number)], dtype=pl.Boolean
        ),
        "row": pl.Series(np.arange(rows)),
    }


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and isinstance(theirs, int | float):
        if math.isnan(ours) or math.isnan(theirs):
            return math.isnan(ours) and math.isnan(theirs)
        return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return bool(ours == theirs) and (ours is None) == (theirs is None)


def check(program: Program, columns: dict[str, Any]) -> None:
    """Both give the same names, values and kinds of dtypes."""
    theirs = pl.DataFrame(columns)
    ours = hr.DataFrame(theirs)
    expected = program(nw.from_native(theirs, eager_only=True))
    found = program(nw.from_native(ours, eager_only=True))
    if not hasattr(expected, "columns"):
        expected, found = ({"value": [v]} for v in (expected, found))
    else:
        kinds = [
            {name: dtype.is_float() for name, dtype in frame.schema.items()}
            for frame in (found, expected)
        ]
        assert kinds[0] == kinds[1]
        expected, found = (frame.to_dict(as_series=False) for frame in (expected, found))
    assert list(found) == list(expected)
    for name, values in expected.items():
        wrong = [
            (row, a, e)
            for row, (a, e) in enumerate(zip(found[name], values, strict=True))
            if not same(a, e)
        ]
        assert not wrong, (name, wrong[:5])


ROW_BY_ROW: dict[str, Any] = {
    "arithmetic": [x + y, x - 1, 2 * x, y / 2, y // 2, y % 3, y**2, 1 - x, -y, (x * y).alias("p")],
    "of zero": [y // 0, y % 0, y / y, y // y],
    "compare": [
        z > 0,
        z == y,
        z != 1.0,
        y <= 1,
        k == "a",
        k != "b",
        t > datetime.datetime(2020, 6, 1),
    ],
    "logic": [b & (y > 0), b | (y > 0), ~b, b ^ (y > 0)],
    "missing": [
        x.is_null(),
        x.is_nan(),
        x.is_finite(),
        x.fill_null(0.0),
        x.fill_nan(None),
        k.fill_null("z"),
    ],
    "bounds": [
        x.clip(-1.0, 1.0),
        y.clip(lower_bound=0),
        y.is_between(-1, 1),
        y.is_between(-1, 1, "none"),
    ],
    "maths": [
        y.abs(),
        y.abs().sqrt(),
        y.exp(),
        (y.abs() + 1).log(),
        x.round(0),
        x.floor(),
        x.ceil(),
        y.sin(),
        y.cos(),
    ],
    "members": [y.is_in([1, 2]), k.is_in(["a", "q"])],
    "cast": [y.cast(nw.Float32), y.cast(nw.String), x.is_null().cast(nw.Int8), t.cast(nw.Date)],
    "when": [nw.when(y > 0).then(x).otherwise(0.0).alias("w"), nw.when(b).then(y).alias("v")],
    "across": [
        nw.sum_horizontal("x", "y").alias("s"),
        nw.min_horizontal("y", "row").alias("l"),
        nw.max_horizontal("y", "row").alias("h"),
        nw.coalesce("x", nw.lit(7.0)).alias("c"),
        nw.concat_str(k, y.cast(nw.String), separator="-").alias("t2"),
        nw.concat_str(k, y.cast(nw.String), separator="-", ignore_nulls=True).alias("t3"),
        nw.any_horizontal(b, y > 0, ignore_nulls=True).alias("any"),
    ],
    "strings": [
        k.str.to_uppercase(),
        k.str.len_chars().alias("n"),
        k.str.starts_with("a").alias("a"),
        k.str.replace_all("a", "zz").alias("r"),
        k.str.contains("[ab]").alias("m"),
        (k + "x").alias("cat"),
        k.str.slice(0, 1).alias("s"),
        k.str.zfill(3).alias("z"),
    ],
    "times": [
        t.dt.year().alias("a"),
        t.dt.month().alias("m"),
        t.dt.weekday().alias("w"),
        t.dt.ordinal_day().alias("o"),
        t.dt.truncate("1d").alias("d"),
        t.dt.truncate("1mo").alias("mo"),
        t.dt.truncate("2q").alias("q"),
        t.dt.offset_by("3d").alias("p"),
        t.dt.offset_by("-1mo").alias("b1"),
        t.dt.timestamp("ms").alias("ms"),
        t.dt.date().alias("date"),
        t.dt.to_string("%Y/%m/%d").alias("text"),
        t.dt.hour().alias("h"),
        t.dt.convert_time_zone("Asia/Kathmandu").alias("zone"),
    ],
    "neighbours": [
        y.shift(1),
        y.diff().alias("d"),
        y.cum_sum().alias("c"),
        x.fill_nan(None).cum_max().alias("m"),
        y.cum_sum(reverse=True).alias("r"),
        x.cum_count().alias("n"),
        y.rank("min").alias("k1"),
        y.rank("dense", descending=True).alias("k2"),
        y.rank("ordinal").alias("k3"),
        y.rank().alias("k4"),
        y.rolling_sum(3).alias("s"),
        y.rolling_mean(4, min_samples=2, center=True).alias("a"),
        y.rolling_var(3, min_samples=2).alias("v"),
        x.fill_nan(None).fill_null(strategy="forward").alias("f"),
        x.fill_nan(None).fill_null(strategy="backward", limit=1).alias("g"),
        y.ewm_mean(com=1).alias("e"),
        k.is_first_distinct().alias("u1"),
        k.is_last_distinct().alias("u2"),
        k.is_unique().alias("u3"),
        k.is_duplicated().alias("u4"),
    ],
}


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("name", ROW_BY_ROW)
def test_functions_of_rows(name: str, rows: int) -> None:
    columns = columns_of(rows)
    for expression in ROW_BY_ROW[name]:
        check(lambda frame, e=expression: frame.select(e), columns)
    unique = [e.alias(f"{i}") for i, e in enumerate(ROW_BY_ROW[name])]
    check(lambda frame: frame.with_columns(*unique), columns)


REDUCTIONS = [
    x.sum(),
    x.mean(),
    y.sum(),
    y.mean(),
    y.std(),
    y.var(ddof=0),
    y.min(),
    y.max(),
    y.median(),
    x.count(),
    x.null_count(),
    y.n_unique(),
    k.n_unique(),
    k.min(),
    k.max(),
    t.max(),
    b.any(),
    b.all(),
    y.quantile(0.3, "linear"),
    y.skew(),
    y.kurtosis(),
    nw.len(),
    b.sum(),
    x.fill_nan(None).max(),
    k.count(),
    nw.cov("y", "row"),
]


@pytest.mark.parametrize("rows", SIZES)
def test_reductions_and_what_is_combined_with_them(rows: int) -> None:
    columns = columns_of(rows)
    for expression in REDUCTIONS:
        check(lambda frame, e=expression: frame.select(e), columns)
    check(lambda frame: frame.select(y - y.mean(), (z > z.mean()).alias("above")), columns)
    check(lambda frame: frame.select(y, s=y.sum(), one=nw.lit(1)), columns)
    for name in ("sum", "mean", "min", "max", "len", "n_unique", "arg_max", "null_count"):
        check(lambda frame, n=name: getattr(frame["y"], n)(), columns)


@pytest.mark.parametrize("rows", [2, 65, 3000])
def test_correlation(rows: int) -> None:
    for method in ("pearson", "spearman"):
        check(lambda f, m=method: f.select(nw.corr("y", "row", method=m)), columns_of(rows))


ROWS: dict[str, Program] = {
    "filter": lambda f: f.filter(z > 0, k != "a"),
    "filter by a list": lambda f: f.filter([i % 2 == 0 for i in range(len(f))]),
    "sort": lambda f: f.sort("k", "y", "row", descending=[True, False, True]),
    "sort floats": lambda f: f.sort("x", "row", nulls_last=True),
    "sort floats down": lambda f: f.sort("x", "row", descending=True),
    "head and tail": lambda f: nw.concat([f.head(3), f.tail(2), f[1:2], f.head(-1)]),
    "steps": lambda f: f.gather_every(3, 1),
    "unique": lambda f: f.unique(["k", "y"], keep="first", maintain_order=True),
    "unique last": lambda f: f.unique("k", keep="last", maintain_order=True),
    "unique none": lambda f: f.unique(["k", "y"], keep="none", maintain_order=True),
    "drop_nulls": lambda f: f.drop_nulls(["x", "b"]),
    "row index": lambda f: f.with_row_index("i"),
    "row index by": lambda f: f.with_row_index("i", order_by=["y", "row"]),
    "unpivot": lambda f: f.unpivot(["y", "row"], index="k"),
    "names": lambda f: f.rename({"x": "z"}).drop("b").select(nw.all().name.suffix("_")),
    "selectors": lambda f: f.select(nw.selectors.numeric() * 2),
    "concat": lambda f: nw.concat([f.select("x", "y"), f.select("y", "k")], how="diagonal"),
    "side by side": lambda f: nw.concat([f.select("x"), f.select("k")], how="horizontal"),
    "top_k": lambda f: f.top_k(3, by=["row"]),
    "series": lambda f: f["y"].sort(descending=True).to_frame(),
    "value_counts": lambda f: f["k"].value_counts(sort=False).sort("k"),
    "dummies": lambda f: f["k"].to_dummies(),
    "hist": lambda f: f["y"].hist(bins=[-4.0, -1.0, 0.0, 2.5]),
    "mode": lambda f: f["y"].mode(keep="all").sort().to_frame(),
    "scatter": lambda f: (
        f["y"].scatter(list(range(0, len(f), 2)), [9] * len(range(0, len(f), 2))).to_frame()
    ),
    "zip_with": lambda f: f["y"].zip_with(f["y"] > 0, f["row"]).to_frame(),
    "replace": lambda f: f.select(y.replace_strict(list(range(-3, 4)), list("abcdefg"))),
    "replace else": lambda f: f.select(y.replace_strict([1, 2], [10, 20], default=0)),
    "split": lambda f: f.select(k.fill_null("a,b").str.split(",")),
    "structs": lambda f: f.select(nw.struct("y", "k").alias("s")).select(
        "s", nw.col("s").struct.field("k")
    ),
    "explode": lambda f: f.select(k.fill_null("a,b,c").str.split(","), y).explode("k"),
    "of lists": lambda f: f.select(k.fill_null("a,b,a").str.split(",")).select(
        n=nw.col("k").list.len(),
        first=nw.col("k").list.get(0),
        b=nw.col("k").list.contains("b"),
        s=nw.col("k").list.sort(),
        u=nw.col("k").list.unique(maintain_order=True),
    ),
}


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("name", ROWS)
def test_functions_of_frames(name: str, rows: int) -> None:
    if rows == 0 and name in ("filter by a list", "dummies", "row index by", "hist"):
        pytest.skip("Polars differs without rows")
    check(ROWS[name], columns_of(rows))


GROUPS = [
    x.sum(),
    y.mean(),
    y.std(),
    y.var(ddof=0).alias("v"),
    y.min().alias("l"),
    k.max().alias("h"),
    x.count().alias("c"),
    nw.len().alias("n"),
    x.n_unique().alias("u"),
    x.null_count().alias("z"),
    y.first().alias("f"),
    x.last().alias("e"),
    y.median().alias("m"),
    b.any().alias("any"),
    b.all().alias("all"),
    (y * 2 + 1).sum().alias("twice"),
    (x - y).mean().alias("d"),
]


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("keys", [["k"], ["y"], ["k", "b"]])
def test_groups(keys: list[str], rows: int) -> None:
    columns = columns_of(rows)
    for expression in GROUPS:
        named = expression.alias("value")
        check(lambda f, e=named: f.group_by(*keys).agg(e).sort(*keys), columns)
        check(lambda f, e=named: f.group_by(*keys, drop_null_keys=True).agg(e).sort(*keys), columns)
        if rows:
            check(lambda f, e=named: f.with_columns(e.over(*keys)), columns)
    several = [each.alias(f"{i}") for i, each in enumerate(GROUPS)]
    check(lambda f: f.group_by(*keys).agg(*several).sort(*keys), columns)


OVER = [
    y.cum_sum(),
    y.cum_sum(reverse=True),
    x.cum_count(),
    y.shift(1),
    y.shift(-2),
    y.diff(),
    y.rank("min"),
    y.rolling_sum(2),
    y.first(),
    y.last(),
    y.sum(),
    x.fill_nan(None).fill_null(strategy="forward"),
]


@pytest.mark.parametrize("rows", SIZES[1:])
def test_windows_of_partitions_in_an_order(rows: int) -> None:
    columns = columns_of(rows)
    for expression in OVER:
        named = expression.alias("value")
        check(lambda f, e=named: f.with_columns(e.over("k", order_by="row")), columns)
        check(lambda f, e=named: f.with_columns(e.over("k", order_by=["y", "row"])), columns)
        if "rank" not in repr(expression):
            check(lambda f, e=named: f.with_columns(e.over(order_by=["y", "row"])), columns)


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("how", ["inner", "left", "full", "semi", "anti", "cross"])
def test_joins(how: str, rows: int) -> None:
    columns = {name: values.head(65) for name, values in columns_of(rows).items()}
    words: dict[str, Any] = {} if how == "cross" else {"on": ["k", "y"]}

    def program(frame: Any) -> Any:
        right = frame.select("k", "y", z=nw.col("row") * 10).head(30)
        made = frame.select("row", "k", "y").join(right, how=how, **words)
        names = [n for n in ("row", "z") if n in made.columns]
        return made.sort(*names, nulls_last=True)

    check(program, columns)


@pytest.mark.parametrize("strategy", ["backward", "forward", "nearest"])
def test_asof_joins(strategy: str) -> None:
    def program(frame: Any) -> Any:
        left = frame.select(row=nw.col("row") * 10, k=nw.col("k").fill_null("a"))
        right = left.gather_every(7).with_columns(z=nw.col("row"), row=nw.col("row") + 3)
        return left.join_asof(right, on="row", by="k", strategy=strategy)

    check(program, columns_of(200))


def test_pivot() -> None:
    def program(frame: Any, how: str, several: bool) -> Any:
        values = ["y", "row"] if several else ["y"]
        held = frame.drop_nulls().rename({"b": "flag"})
        words = {"aggregate_function": how, "sort_columns": True}
        return held.pivot("k", index="flag", values=values, **words).sort("flag")

    for how in ("min", "max", "sum", "mean", "len", "first", "last"):
        for several in (False, True):
            check(lambda f, h=how, s=several: program(f, h, s), columns_of(300))


def test_frames_stay_lazy_and_nothing_is_copied() -> None:
    frame = hr.DataFrame({"x": np.arange(100_000.0), "y": np.arange(100_000)})
    hr.memory.ledger().clear()
    with hr.no_copies():
        made = nw.from_native(frame).with_columns(z=x * 2 + y).filter(y > 10)
        native = nw.to_native(made)
        assert type(native) is hr.DataFrame
        assert not native.z._node.is_ready
        assert native.z.sum().item() == 3.0 * sum(range(11, 100_000))
    assert hr.memory.ledger().total_bytes == 0
    assert nw.to_native(nw.from_native(frame)) is frame


def test_other_backends_get_the_rows_when_asked() -> None:
    frame = nw.from_native(hr.DataFrame({"x": [1, None], "k": ["a", "b"]}))
    for backend in ("polars", "duckdb"):
        found = frame.lazy(backend).filter(nw.col("x").is_null()).collect("pyarrow")
        assert found["k"].to_list() == ["b"]
    for backend in ("polars", "pandas", "pyarrow"):
        assert frame.lazy().collect(backend)["k"].to_list() == ["a", "b"]


def test_the_plug_in_is_found_by_its_name() -> None:
    made = nw.from_dict({"x": [1, 2]}, backend="headrace")
    assert type(made.to_native()) is hr.DataFrame
    assert type(nw.new_series("x", [1, 2], nw.Int8, backend="headrace").to_native()) is hr.Series
    assert nw.from_native(frame := hr.DataFrame({"x": [1]})).to_native() is frame


def test_what_there_is_not_is_refused_by_name() -> None:
    frame = nw.from_native(hr.DataFrame({"x": [1], "k": ["a"]}))
    for dtype in (nw.Int128, nw.Time, nw.Binary, nw.Struct({"a": nw.Int8})):
        with pytest.raises(NotImplementedError):
            frame.with_columns(nw.col("x").cast(dtype))
    with pytest.raises(hr.UnsupportedError, match="skew"):
        frame.group_by("k").agg(nw.col("x").skew())
    with pytest.raises(hr.UnsupportedError, match="cum_sum"):
        frame.group_by("k").agg(nw.col("x").cum_sum().max())
    with pytest.raises(nw.exceptions.ColumnNotFoundError):
        frame.select("nope")
    with pytest.raises(nw.exceptions.ShapeError):
        frame["x"] + nw.from_native(hr.Series([1, 2]), series_only=True)
    assert frame.select(nw.col("x") + 1)["x"].to_list() == [2]  # the next call works


def test_narwhals_own_tests_pass() -> None:
    folder = os.environ.get("HEADRACE_NARWHALS")
    if not folder:
        pytest.skip("HEADRACE_NARWHALS names no copy of narwhals' repository")
    run = subprocess.run(
        [sys.executable, str(RUNNER), folder], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
