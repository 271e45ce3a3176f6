# SPDX-License-Identifier: Apache-2.0
"""Rows of frames on the simulated device, and on a GPU if there is one: the host's rows."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import headrace as hr

ROWS = (0, 1, 63, 64, 65, 2**17 + 1)


def frame_of(rows):
    """Columns of several dtypes, most of them with nulls; floats have NaN and -0.0, too."""
    random = np.random.default_rng(rows)
    x = random.standard_normal(rows)
    x[random.random(rows) < 0.05] = np.nan
    x[random.random(rows) < 0.05] = -0.0
    words = np.array(["", "a", "bc", "a long text of many bytes", "abcdefgh", "abcdefghi"], object)

    def nullable(values):
        return pa.array(values, mask=random.random(rows) < 0.2)

    return hr.from_arrow(
        pa.table(
            {
                "wide": pa.array(random.integers(-(2**62), 2**62, rows)),
                "few": nullable(random.integers(-50, 50, rows)),
                "x": nullable(x),
                "f": pa.array(random.random(rows).astype("f4")),
                "flag": nullable(random.random(rows) < 0.5),
                "word": nullable(words[random.integers(0, len(words), rows)]),
                "day": nullable(random.integers(0, 10**6, rows).astype("M8[ms]")),
            }
        )
    )


def as_values(frame):
    """The columns as lists, in which NaN is equal to NaN."""
    table = frame.to_arrow()
    return {
        name: ["NaN" if value != value else value for value in table.column(name).to_pylist()]
        for name in table.column_names
    }


RANKS = ("average", "min", "max", "first", "dense")

WORK = {
    "filter": lambda d: d[d["x"] > 0],
    "filter by nulls": lambda d: d[(d["few"] > 3) & d["flag"].fillna(False)],
    "filter and compute": lambda d: hr.DataFrame({"y": d[d["few"] > 0]["x"] * 2 + 1}),
    "arithmetic": lambda d: hr.DataFrame({"a": d["few"] * 2 + d["wide"], "b": d["x"] / d["f"]}),
    "comparisons": lambda d: hr.DataFrame({"a": d["few"] > d["x"], "b": d["few"] != 3}),
    "nulls": lambda d: hr.DataFrame(
        {"a": d["x"].fillna(7.0), "b": d["few"].isna(), "c": d["word"].isna()}
    ),
    "where": lambda d: hr.DataFrame({"a": d["x"].where(d["few"] > 0), "b": d["few"].fillna(0)}),
    "sort with a column": lambda d: d[["wide", "x"]].sort_values("wide"),
    "sort alone": lambda d: d[["wide"]].sort_values("wide", ascending=False),
    "sort by two": lambda d: d.sort_values(["few", "x"]),
    "sort by strings": lambda d: d.sort_values(["word", "day"], na_position="first"),
    "sort by strings, then numbers": lambda d: d.sort_values(["few", "word", "x"], ascending=False),
    "first of strings": lambda d: d.sort_values("word").head(9),
    "sort both ways": lambda d: d.sort_values(["flag", "f"], ascending=[False, True]),
    "first of a sort": lambda d: d.sort_values("x").head(17),
    "largest": lambda d: d[["wide", "f"]].nlargest(10, "f"),
    "distinct": lambda d: d.drop_duplicates("few"),
    "distinct pairs": lambda d: d.drop_duplicates(["few", "flag"]),
    "distinct floats": lambda d: d.drop_duplicates("x"),
    "distinct strings": lambda d: d.drop_duplicates("word"),
    "distinct strings and flags": lambda d: d.drop_duplicates(["word", "flag"]),
    "distinct wide": lambda d: d.drop_duplicates(["wide", "x", "day"]),
    "concat": lambda d: hr.concat([d, d[d["f"] > 0.3]]),
    "shift": lambda d: hr.DataFrame({"a": d["few"].shift(3), "b": d["word"].shift(-2)}),
    "differences": lambda d: hr.DataFrame(
        {
            f"{name} {periods}": d[name].diff(periods)
            for name in ("wide", "few", "x", "f")
            for periods in (1, -2, 64, 0, 2**40, -(2**40))
        }
    ),
    "filled": lambda d: hr.DataFrame(
        {
            **{f"{name} forward": d[name].ffill() for name in d},
            **{f"{name} backward": d[name].bfill() for name in d},
        }
    ),
    "ranks": lambda d: hr.DataFrame(
        {
            **{how: d["x"].rank(method=how) for how in RANKS},
            **{f"{how} of words": d["word"].rank(method=how, ascending=False) for how in RANKS},
            "of days": d["day"].rank(),
        }
    ),
    "ranks in groups": lambda d: hr.DataFrame(
        {
            **{how: d.groupby("few")["x"].rank(method=how) for how in RANKS},
            **{f"{how} in words": d.groupby("word")["wide"].rank(method=how) for how in RANKS},
        }
    ),
    "places in groups": lambda d: hr.DataFrame(
        {
            "a": d.groupby("word")["wide"].shift(2),
            "b": d.groupby(["few", "flag"])["word"].shift(-1),
            "c": d.groupby("few").cumcount(),
            "d": d.groupby("word", dropna=False)["x"].shift(1),
        }
    ),
    "aggregates of each row's group": lambda d: hr.DataFrame(
        {
            "a": d.groupby("word")["f"].transform("sum"),
            "b": d.groupby(["few", "flag"])["x"].transform("mean"),
        }
    ),
    "distinct values counted": lambda d: hr.DataFrame(
        {name: [d[name].nunique().item(), d[name].nunique(dropna=False).item()] for name in d}
    ),
    "groups of floats": lambda d: (
        d.assign(y=d["x"].round(1)).groupby("y").agg(s=("f", "sum"), n=("x", "size")).reset_index()
    ),
}


@pytest.mark.parametrize("what", WORK)
def test_rows_are_the_hosts(device, what):
    for rows in ROWS:
        frame = frame_of(rows)
        there = frame.to(device)
        assert as_values(WORK[what](there)) == as_values(WORK[what](frame)), rows
    assert hr.fallbacks() == ()


def test_sums_skip_nulls_there(device):
    frame = frame_of(300_001)
    there = frame.to(device)
    for name in ("few", "x"):
        for how in ("sum", "mean", "std", "min", "max", "count"):
            ours, theirs = getattr(there[name], how)(), getattr(frame[name], how)()
            assert np.float64(ours.item()).tobytes() == np.float64(theirs.item()).tobytes(), how
    assert there["few"].isna().sum().item() == frame["few"].isna().sum().item()


@pytest.mark.parametrize("way", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_quantiles_of_columns(device, way):
    for rows in ROWS[1:]:
        frame = frame_of(rows)
        there = frame.to(device)
        for name in ("wide", "few", "x", "f"):
            for q in (0.0, 0.3, 0.5, 1.0):
                try:
                    wanted = frame[name].quantile(q, interpolation=way).item()
                except hr.InvalidArgumentError:  # no value is there
                    continue
                found = there[name].quantile(q, interpolation=way).item()
                assert np.float64(found).tobytes() == np.float64(wanted).tobytes(), (rows, name, q)
    assert hr.fallbacks() == ()


def test_categories_sort_by_their_values(device):
    words = hr.Series(["b", None, "a", "c", "a", "b"] * 1000).astype("category")
    frame = hr.DataFrame({"word": words, "row": np.arange(6000)})
    there = frame.to(device)
    assert as_values(there.sort_values("word")) == as_values(frame.sort_values("word"))
    assert as_values(there.drop_duplicates("word")) == as_values(frame.drop_duplicates("word"))
    assert hr.fallbacks() == ()


def test_first_rows_of_parts_that_are_there(device):
    frame = hr.DataFrame({"x": list(range(30)), "y": [0.5] * 30}).to(device)
    both = hr.concat([frame, frame.head(-1)], ignore_index=True)
    first = both.head(-14).reset_index(drop=True)
    made = -first.y + abs(first.x)
    assert made.device == f"{device}:0"
    assert made.to_list() == [x - 0.5 for x in [*range(30), *range(15)]]


@pytest.mark.parametrize(
    "pick",
    [lambda f: f.sort_values("k"), lambda f: f[f.k > 1], lambda f: f.sort_values("k").iloc[1:]],
)
def test_picked_rows_keep_their_labels_when_they_move(pick):
    frame = pick(hr.DataFrame({"k": [3, 1, 2], "v": [1.0, 2.0, 3.0]}))
    expected = frame.to_pandas()
    pd.testing.assert_frame_equal(frame.to("sim").to("cpu").to_pandas(), expected)
    pd.testing.assert_series_equal(frame.v.to("sim").to("cpu").to_pandas(), expected.v)
