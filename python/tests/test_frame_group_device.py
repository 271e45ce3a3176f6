# SPDX-License-Identifier: Apache-2.0
"""Groups on the simulated device and on a GPU have the host's bits."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import headrace as hr

FLOATS = ["sum", "mean", "var", "std", "sem", "skew", "kurt", "prod"]
OTHERS = ["count", "size", "min", "max", "first", "last", "any", "all", "idxmin", "idxmax"]
MORSEL = 1 << 17


def table(rows, groups, *, nulls=False, heavy=False, key="int64"):
    """Columns of several dtypes: `nulls` and NaN in each, or one key that nine rows of ten have."""
    rng = np.random.default_rng(rows + groups)
    keys = rng.integers(0, groups, rows)
    if heavy:
        keys = np.where(rng.random(rows) < 0.9, groups // 2, keys)
    floats = rng.standard_normal(rows) * np.exp(3 * rng.standard_normal(rows))
    if nulls:
        floats[rng.random(rows) < 0.1] = np.nan
    columns = {
        "k": keys.astype(key) - np.array(3, key),
        "f8": floats,
        "f4": rng.standard_normal(rows).astype("f4"),
        "i8": rng.integers(-(2**62), 2**62, rows),
        "u2": rng.integers(0, 2**16, rows).astype("u2"),
    }
    masks = {name: rng.random(rows) < 0.1 for name in columns}
    return pa.table({n: pa.array(c, mask=masks[n] if nulls else None) for n, c in columns.items()})


def bits(frame):
    """Names, dtypes, nulls and bytes of all columns."""
    result = []
    for name, column in zip(frame.to_arrow().column_names, frame.to_arrow().columns, strict=True):
        values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if pa.types.is_dictionary(values.type) or pa.types.is_string_view(values.type):
            result.append((name, values.to_pylist()))
            continue
        plain = values.cast(pa.int8()) if pa.types.is_boolean(values.type) else values
        if pa.types.is_temporal(plain.type):
            plain = plain.cast(pa.int64())
        there = plain.fill_null(0).to_numpy(zero_copy_only=False)
        result.append((name, str(values.type), values.is_valid().to_pylist(), there.tobytes()))
    return result


def same(work, data, device):
    here = hr.from_arrow(data)
    assert bits(work(here).reset_index()) == bits(work(here.to(device)).reset_index())


def aggregated(frame, by, aggregates, **options):
    wanted = {f"{c}_{a}": (c, a) for c in ("f8", "f4", "i8", "u2") for a in aggregates}
    return frame.groupby(by, **options).agg(**wanted)


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 2047, 2049, MORSEL - 1, MORSEL + 1, 3 * MORSEL])
def test_few_groups_have_the_bits_of_the_host(device, rows):
    for groups, options in ((1, {}), (100, {"sort": False}), (129, {}), (4000, {"sort": False})):
        data = table(rows, groups)
        same(lambda d, o=options: aggregated(d, "k", FLOATS, **o), data, device)
        same(lambda d, o=options: aggregated(d, "k", OTHERS, **o), data, device)
    assert hr.fallbacks() == ()


@pytest.mark.parametrize("kind", [{"nulls": True}, {"heavy": True}, {"key": "int16"}])
def test_missing_values_heavy_keys_and_narrow_keys(device, kind):
    data = table(2 * MORSEL + 5, 300, **kind)
    for options in ({}, {"sort": False}, {"dropna": False}):
        same(lambda d, o=options: aggregated(d, "k", FLOATS, **o), data, device)
        same(lambda d, o=options: aggregated(d, "k", OTHERS, **o), data, device)
    assert hr.fallbacks() == ()


@pytest.mark.parametrize("groups", [40, 30_000, 3_000_000])
def test_nan_as_the_greatest_value(device, groups):
    """What SQL asks of columns without nulls: the first group has NaN alone, the second one NaN."""
    pytest.importorskip("sqlglot")
    data = table(3 * MORSEL, groups).select(["k", "f8", "f4"]).to_pydict()
    keys = np.array(data["k"])
    for name in ("f8", "f4"):
        values = np.array(data[name], name)
        values[keys == keys[0]] = np.nan
        values[np.flatnonzero(keys == keys[keys != keys[0]][0])[0]] = np.nan
        data[name] = values
    query = """SELECT k, sum(f8) AS s, avg(f8) AS a, min(f8) AS l, max(f8) AS g, count(f8) AS c,
        min(f4) AS l4, max(f4) AS g4 FROM data GROUP BY k ORDER BY k"""
    same(lambda d: hr.sql(query, data=d), pa.table(data), device)
    assert "groupby" not in {op for op, *_ in hr.fallbacks()}


@pytest.mark.parametrize("words", [["ab", "cd", "ef"], [f"{a}{b}" for a in "ABC" for b in "xyz"]])
def test_short_strings_of_few_groups(device, words):
    """Their numbers differ in high bits alone."""
    random = np.random.default_rng(3)
    data = table(3 * MORSEL + 7, 50, nulls=True).to_pydict()
    data["t"] = random.choice(words, 3 * MORSEL + 7)
    for keys in ("t", ["k", "t"]):
        for options in ({}, {"sort": False}):
            same(lambda d, k=keys, o=options: aggregated(d, k, FLOATS, **o), pa.table(data), device)
            same(lambda d, k=keys, o=options: aggregated(d, k, OTHERS, **o), pa.table(data), device)
    assert hr.fallbacks() == ()


SUMS = {
    "sum": ("a", "sum"),
    "mean": ("b", "mean"),
    "n": ("a", "size"),
    "there": ("b", "count"),
    "c": ("c", "sum"),
}


def few(rows, groups, *, heavy=False, seed=11):
    """Few keys of several kinds, and floats with NaN, null, infinities and negative zeros."""
    rng = np.random.default_rng(seed + rows + groups)
    at = rng.integers(0, groups, rows)
    if heavy:
        at = np.where(rng.random(rows) < 0.95, groups - 1, at)
    word = [["", "b", "ccc", "\0", "é"][k % 5] + str(k // 5 or "") for k in range(groups)]
    values = rng.standard_normal((3, rows)) * np.exp(3 * rng.standard_normal((3, rows)))
    values[1][rng.random(rows) < 0.2] = np.nan
    values[2][rng.random(rows) < 0.5] = -0.0
    values[2][at == 1] = -0.0
    if rows > 10:
        values[1][3], values[1][7] = np.inf, -np.inf
    gone = rng.random(rows) < 0.1
    return pa.table(
        {
            "k": at * 1000,
            "i": at.astype("int32"),
            "s": pa.array(np.array(word, object)[at], mask=gone),
            "t": pa.array([f"{w} of many bytes" for w in word]).take(pa.array(at)),
            "w": pa.array([f"{chr(65 + 3 * k)}x" for k in range(groups)]).take(pa.array(at)),
            "f": pa.array(np.where(at == 0, np.nan, at), mask=gone),
            "a": values[0],
            "b": pa.array(values[1], mask=rng.random(rows) < 0.1),
            "c": values[2],
        }
    )


@pytest.mark.parametrize("groups", [1, 2, 3, 7, 8, 9, 17])
@pytest.mark.parametrize("heavy", [False, True])
def test_sums_of_fewest_groups(device, groups, heavy):
    """Sums of one to seventeen groups, some of them of nearly all rows."""
    for rows in (1, 31, 255, 256, 257, 5000, MORSEL, 2 * MORSEL + 300):
        data = few(rows, groups, heavy=heavy)
        for by in ("i", "s", "w") if rows > 5000 else ("k", "i", "s", "t", "w"):
            for options in ({}, {"sort": False, "dropna": False}):
                same(lambda d, b=by, o=options: d.groupby(b, **o).agg(**SUMS), data, device)
    data = few(MORSEL + 300, groups)
    for by in ("i", "s"):
        same(lambda d, b=by: d.groupby(b).size().to_frame("n"), data, device)
        same(lambda d, b=by: d[1:].groupby(b).agg(a=("a", "sum"), b=("b", "sum")), data, device)
    assert hr.fallbacks() == ()


@pytest.mark.parametrize("groups", [3, 25])
def test_keys_of_which_few_are_there(device, groups):
    """Short strings alone and next to others: numbers of most are of no row."""
    wanted = SUMS | {"least": ("a", "min"), "last": ("b", "last"), "std": ("c", "std")}
    for rows in (700, MORSEL + 9):
        data = few(rows, groups, heavy=groups == 3)
        for by in ("s", "w", ["s", "i"], ["i", "w"], ["w", "s", "i"], "f"):
            for options in ({}, {"sort": False}, {"dropna": False}):
                for names in (SUMS, wanted):
                    same(
                        lambda d, b=by, o=options, n=names: d.groupby(b, **o).agg(**n), data, device
                    )
    assert hr.fallbacks() == ()


@pytest.mark.parametrize("letters", [1, 2])
@pytest.mark.parametrize("numbers", [1, 4, 8])
def test_words_of_few_letters(device, letters, numbers):
    """From 26 groups of nearly all keys that there are to 5,408 of about 51,000."""
    rows, rng = 3 * MORSEL + 7, np.random.default_rng(letters)
    data = few(rows, numbers)
    codes = rng.integers(0, 26**letters, rows)
    words = [
        "".join(chr(97 + k // 26**at % 26) for at in range(letters)) for k in range(26**letters)
    ]
    gone = rng.random(rows) < 0.01
    data = data.append_column("x", pa.array(np.array(words, object)[codes], mask=gone))
    wanted = SUMS | {"first": ("a", "first"), "std": ("c", "std"), "last": ("b", "last")}
    for options in ({}, {"sort": False}, {"dropna": False}):
        for names in (SUMS, wanted):
            for begin in (0, 1):
                same(
                    lambda d, o=options, n=names, b=begin: d[b:].groupby(["x", "i"], **o).agg(**n),
                    data,
                    device,
                )
    assert hr.fallbacks() == ()


def test_pivot_tables_of_short_strings(device):
    data = few(MORSEL + 9, 20)
    for how in ("mean", "sum", "min"):
        same(lambda d, h=how: d.pivot_table("a", index="i", columns="w", aggfunc=h), data, device)
        same(lambda d, h=how: d.pivot_table("a", index="s", columns="w", aggfunc=h), data, device)


@pytest.mark.parametrize("ending", ["", " of some length"])
def test_strings_next_to_a_number(device, ending):
    data = table(2 * MORSEL, 200).to_pydict()
    free = pa.table(data | {"t": [str(i % 30) + ending for i in range(2 * MORSEL)]})
    told = pa.table(data | {"t": [str(k) + ending for k in data["k"]]})
    for keys, options in ((["k", "t"], {}), (["t", "k"], {}), (["t", "k"], {"sort": False})):
        same(lambda d, k=keys, o=options: aggregated(d, k, FLOATS, **o), free, device)
        assert hr.fallbacks() == ()
    same(lambda d: aggregated(d, ["k", "t"], FLOATS), told, device)


def test_slots_of_several_morsels(device):
    data = table(4 * MORSEL + 1, 100_000, heavy=True)
    same(lambda d: aggregated(d, "k", ["sum", "mean", "count"]), data, device)
    assert hr.fallbacks() == ()


@pytest.mark.parametrize("groups", [257, 4097, 10_000, 70_001])
@pytest.mark.parametrize("kind", [{}, {"nulls": True}, {"heavy": True}])
def test_slots_that_several_blocks_fold(device, groups, kind):
    data = table(3 * MORSEL - 7, groups, **kind)
    for options in ({}, {"sort": False}):
        same(lambda d, o=options: aggregated(d, "k", FLOATS, **o), data, device)
        same(lambda d, o=options: aggregated(d, "k", OTHERS, **o), data, device)
    assert hr.fallbacks() == ()


def test_few_strings_of_many_rows(device):
    names = [*FLOATS, *OTHERS]
    wanted = {f"{c}_{n}": (c, n) for c in ("f8", "i8") for n in names}
    for groups in (1, 900, 30_000, 90_000):
        data = texts(6 * MORSEL + 3, groups, form="an id of many bytes {:09}", nulls=groups == 900)
        for aggregates in (BOTH, wanted):
            same(lambda d, a=aggregates: d.groupby("s", sort=False).agg(**a), data, device)
    assert hr.fallbacks() == ()


def test_keys_of_several_columns_categories_and_times(device):
    rng = np.random.default_rng(5)
    rows = 50_000
    data = pa.table(
        {
            "a": pa.array(rng.integers(0, 30, rows), mask=rng.random(rows) < 0.05),
            "c": pa.array(rng.choice(["x", "zz", "mm"], rows)).dictionary_encode(),
            "b": pa.array(rng.random(rows) < 0.3),
            "t": pa.array(rng.integers(0, 9, rows).astype("datetime64[s]")),
            "v": pa.array(rng.standard_normal(rows)),
        }
    )
    for by in ("a", "c", "b", "t", ["a", "c"], ["c", "a", "b"], ["t", "c"]):
        for options in ({}, {"sort": False}, {"dropna": False}):
            same(lambda d, b=by, o=options: d.groupby(b, **o).agg(s=("v", "sum")), data, device)
    assert hr.fallbacks() == ()


def texts(rows, groups, *, form="{}", nulls=False, seed=3):
    """Keys of strings, and a column of floats."""
    rng = np.random.default_rng(seed + rows + groups)
    drawn = rng.integers(0, groups, rows)
    words = np.array([form.format(k) for k in range(groups)], object)[drawn]
    return pa.table(
        {
            "s": pa.array(words, mask=rng.random(rows) < 0.1 if nulls else None),
            "k": rng.integers(0, 5, rows),
            "f8": rng.standard_normal(rows) * np.exp(3 * rng.standard_normal(rows)),
            "i8": rng.integers(-(2**62), 2**62, rows),
        }
    )


FORMS = ["{}", "k{:04}", "an id of many bytes {:09}", "{0}\0é{0:x}"]
BOTH = {"sum": ("f8", "sum"), "mean": ("f8", "mean"), "least": ("i8", "min"), "n": ("f8", "size")}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("nulls", [False, True])
def test_strings_of_few_groups(device, form, nulls):
    for rows, groups in ((1, 1), (65, 3), (70_000, 2), (70_000, 900), (2 * MORSEL, 20_000)):
        data = texts(rows, groups, form=form, nulls=nulls)
        for options in ({}, {"sort": False}, {"dropna": False}, {"sort": False, "dropna": False}):
            same(lambda d, o=options: d.groupby("s", **o).agg(**BOTH), data, device)
    assert hr.fallbacks() == ()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("nulls", [False, True])
def test_strings_of_many_groups(device, form, nulls):
    data = texts(5 * MORSEL, 300_000, form=form, nulls=nulls)
    for options in ({}, {"sort": False}, {"dropna": False}, {"sort": False, "dropna": False}):
        same(lambda d, o=options: d.groupby("s", **o).agg(**BOTH), data, device)
    assert hr.fallbacks() == ()


def test_strings_next_to_other_keys(device):
    data = texts(3 * MORSEL, 900, form="an id of many bytes {:09}", nulls=True)
    data = data.append_column("t", texts(3 * MORSEL, 7, form="t{}", seed=4)["s"])
    for by in (["s", "k"], ["k", "t"], ["t", "s"], ["t", "k", "s"]):
        for options in ({}, {"sort": False}, {"dropna": False}):
            same(lambda d, b=by, o=options: d.groupby(b, **o).agg(**BOTH), data, device)


@pytest.mark.parametrize("step", [1, 2**40])
def test_integers_far_apart_and_in_the_order_of_their_rows(device, step):
    rng = np.random.default_rng(step % 97)
    for rows, groups in ((5 * MORSEL, 300_000), (5 * MORSEL, 50_000), (3 * MORSEL, 90)):
        drawn = rng.integers(0, groups, rows)
        data = pa.table(
            {
                "k": pa.array(drawn * step, mask=drawn % 11 == 3),
                "f8": rng.standard_normal(rows),
                "i8": rng.integers(-(2**62), 2**62, rows),
            }
        )
        for options in ({}, {"sort": False}, {"dropna": False}, {"sort": False, "dropna": False}):
            same(lambda d, o=options: d.groupby("k", **o).agg(**BOTH), data, device)
    assert hr.fallbacks() == ()


def test_counts_of_strings(device):
    for rows, groups in ((1000, 7), (70_000, 900), (3 * MORSEL, 100_000)):
        data = texts(rows, groups, form="an id of many bytes {:09}", nulls=True)
        same(lambda d: d["s"].value_counts().to_frame(), data, device)


@pytest.mark.parametrize("heavy", [False, True])
def test_many_groups_have_the_bits_of_the_host(device, heavy):
    data = table(4 * MORSEL, 250_000, heavy=heavy)
    names = ["sum", "mean", "min", "max", "prod", "count", "size"]
    same(lambda d: aggregated(d, "k", names), data, device)
    same(lambda d: d.groupby("k").agg(n=("k", "size")), data, device)
    assert heavy or hr.fallbacks() == ()


def test_bools_of_many_groups_and_places_of_equal_values(device):
    data = table(4 * MORSEL, 250_000)
    names = ["min", "max", "any"]
    flags = data.append_column("flag", pc.greater(data["f8"], 0))
    same(lambda d: d.groupby("k").agg(**{n: ("flag", n) for n in names}), flags, device)
    zeros = pa.table({"k": np.arange(100_000) % 1000, "v": np.zeros(100_000, "u4")})
    same(lambda d: d.groupby("k").agg(x=("v", "idxmax"), n=("v", "idxmin")), zeros, device)


@pytest.mark.parametrize("groups", [1, 90, 40_000])
@pytest.mark.parametrize("nulls", [False, True])
def test_medians_quantiles_and_distinct_values_of_groups(device, groups, nulls):
    data = table(2 * MORSEL + 5, groups, nulls=nulls)
    names = ["median", "nunique", "mean"]
    for options in ({}, {"sort": False}, {"dropna": False}):
        same(lambda d, o=options: aggregated(d, "k", names, **o), data, device)
        for way in ("linear", "lower", "higher", "midpoint", "nearest"):
            same(
                lambda d, o=options, w=way: d.groupby("k", **o)[["f8", "i8"]].quantile(
                    0.3, interpolation=w
                ),
                data,
                device,
            )
    assert hr.fallbacks() == ()


def test_order_statistics_of_few_values_zeros_and_infinities(device):
    values = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, None, None, np.nan, -0.0, 3.0, np.inf]
    keys = ["a", "a", "a", "b", "b", "b", "c", "d", "d", "e", None, "b"]
    data = pa.table({"k": keys, "v": values, "n": pa.array(range(12), pa.int16())})
    for options in ({}, {"sort": False}, {"dropna": False}):
        for name in ("median", "nunique"):
            same(
                lambda d, o=options, n=name: d.groupby("k", **o).agg(x=("v", n), y=("n", n)),
                data,
                device,
            )
    assert hr.fallbacks() == ()


@pytest.mark.parametrize("nulls", [False, True])
def test_extremes_of_strings_in_groups(device, nulls):
    wanted = {n: ("s", n) for n in ("min", "max", "nunique", "first", "idxmin")}
    for form in FORMS:
        for rows, groups in ((65, 3), (70_000, 900)):
            data = texts(rows, groups, form=form, nulls=nulls)
            for options in ({}, {"sort": False}):
                same(lambda d, o=options: d.groupby("k", **o).agg(**wanted), data, device)
    gone = pa.table({"k": [1, 1, 2, 2], "s": pa.array([None, None, None, None], pa.string())})
    part = pa.table({"k": [1, 1, 2, 2], "s": pa.array([None, "b", None, None], pa.string())})
    for data in (gone, part):
        same(lambda d: d.groupby("k").agg(a=("s", "min"), b=("s", "max")), data, device)
    assert hr.fallbacks() == ()


def test_what_has_no_kernel_is_told(device):
    data = table(5000, 10)
    same(lambda d: d.groupby("k").agg(m=("i8", "mode")), data, device)
    same(lambda d: d.groupby(["f8", "k"]).agg(m=("f8", "sum")), data, device)
    if device == "cuda":
        assert [operator for operator, _, _ in hr.fallbacks()] == ["groupby", "groupby"]
        with hr.strict(), pytest.raises(hr.DeviceError, match="no kernel"):
            bits(hr.from_arrow(data).to(device).groupby("k").agg(m=("i8", "mode")))
