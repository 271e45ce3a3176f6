# SPDX-License-Identifier: Apache-2.0
"""Joins follow the data: rows, order and bits of the host on the simulated device and on a GPU."""

import itertools

import numpy as np
import pytest

import headrace as hr

KINDS = ("inner", "left", "right", "outer", "semi", "anti")


def there(frame, device):
    return hr.DataFrame({name: frame[name].to(device) for name in frame.columns})


def same(here, moved, device):
    assert moved.columns == here.columns
    assert len(moved) == len(here)
    for name in here.columns:
        if len(here):
            assert moved[name].device == f"{device}:0"
        back = moved[name].to("cpu")
        assert back.dtype == here[name].dtype
        np.testing.assert_array_equal(np.asarray(back.is_null()), np.asarray(here[name].is_null()))
        if here[name].dtype in ("string", "category"):
            assert back.to_list() == here[name].to_list()
        else:
            ours, theirs = (column[~column.is_null()] for column in (back, here[name]))
            np.testing.assert_array_equal(ours.to_numpy(), theirs.to_numpy())


def side(keys, name, nulls, seed):
    random = np.random.default_rng(seed)
    values = hr.Series(random.standard_normal(len(keys)))
    frame = hr.DataFrame({"k": keys, name: values, name * 2: random.integers(0, 2, len(keys)) > 0})
    if len(keys) < 5000:
        frame[name * 3] = hr.Series([f"text number {i % 50} of a row" for i in range(len(keys))])
    if nulls:
        frame["k"] = frame["k"].where(frame[name] < 1)
        frame[name] = frame[name].where(frame[name] > -1)
    return frame


def keys(spread, rows, seed):
    random = np.random.default_rng(seed)
    if spread == "unique":
        return random.permutation(2 * rows)[:rows]
    if spread == "few":
        return random.integers(0, 40, rows)
    if spread == "wide":
        return random.integers(0, rows // 2 + 1, rows) * 1_000_000_007
    return np.where(random.random(rows) < 0.9, 7, random.integers(0, rows + 1, rows))  # one key


@pytest.mark.parametrize("spread", ["unique", "few", "wide", "heavy"])
@pytest.mark.parametrize("nulls", [False, True])
def test_kinds_and_sizes(device, spread, nulls):
    sizes = ((0, 5), (5, 0), (1, 1), (64, 63), (65, 64), (300, 200))
    if spread in ("unique", "wide") and not nulls:
        sizes += ((131_073, 131_071),)
    for rows, others in sizes:
        left = side(keys(spread, rows, 1), "x", nulls, 3)
        right = side(keys(spread, others, 2), "y", nulls, 4)
        moved = there(left, device), there(right, device)
        for how in KINDS:
            same(
                left.merge(right, on="k", how=how),
                moved[0].merge(moved[1], on="k", how=how),
                device,
            )
    assert hr.fallbacks() == ()


@pytest.mark.parametrize(
    "dtype",
    [
        "i1",
        "i2",
        "i4",
        "u1",
        "u2",
        "u4",
        "u8",
        "f4",
        "f8",
        "?",
        "datetime64[D]",
        "M8[us]",
        "m8[ms]",
    ],
)
def test_dtypes_of_keys(device, dtype):
    random = np.random.default_rng(5)
    drawn = [random.integers(0, 60, rows) for rows in (150, 120)]
    if dtype in ("f4", "f8"):
        special = [np.nan, -0.0, 0.0, np.inf, -np.inf]
        drawn = [np.where(values < 5, np.take(special, values % 5), values / 3) for values in drawn]
    left, right = (side(values.astype(dtype), name, True, 6) for values, name in zip(drawn, "xy"))
    moved = there(left, device), there(right, device)
    for how in KINDS:
        same(left.merge(right, on="k", how=how), moved[0].merge(moved[1], on="k", how=how), device)
    assert hr.fallbacks() == ()


def test_several_keys_and_the_indicator(device):
    random = np.random.default_rng(8)
    sides = []
    for rows, name in ((2000, "x"), (1500, "y")):
        frame = side(random.integers(0, 30, rows), name, True, rows)
        frame["d"] = hr.Series(random.integers(0, 20, rows).astype("datetime64[D]"))
        frame["f"] = hr.Series(random.integers(0, 2, rows) > 0)
        sides.append(frame)
    moved = [there(frame, device) for frame in sides]
    for on, how in itertools.product((["k", "d"], ["f", "k", "d"]), KINDS):
        indicator = how not in ("semi", "anti")
        here, far = (
            left.merge(right, on=on, how=how, indicator=indicator, suffixes=("", "_2"))
            for left, right in (sides, moved)
        )
        same(here, far, device)
    assert hr.fallbacks() == ()


def test_categories_of_one_dictionary(device):
    words = [None if i % 11 == 0 else f"word {i * 7 % 90}" for i in range(2000)]
    both = hr.Series(words).astype("category")
    left = hr.DataFrame({"k": both[:1200], "x": np.arange(1200)})
    right = hr.DataFrame({"k": both[1200:], "y": np.arange(800) / 4})
    for how in KINDS:
        here = left.merge(right, on="k", how=how)
        same(here, there(left, device).merge(there(right, device), on="k", how=how), device)
    assert hr.fallbacks() == ()


@pytest.mark.parametrize("spread", [3, 60, 5000])
def test_strings(device, spread):
    random = np.random.default_rng(spread)

    def texts(rows):
        start = ["", "\0", "a shared start of some bytes ", "é"]
        drawn = random.integers(0, spread, rows)
        return [None if k % 13 == 5 else f"{start[k % 4]}{k * k}" for k in drawn.tolist()]

    for rows, others in ((0, 5), (5, 0), (1, 1), (300, 200), (min(80 * spread, 3000), 200)):
        sides = []
        for count, name in ((rows, "x"), (others, "y")):
            frame = side(random.integers(0, 9, count), name, True, count)
            frame["s"] = hr.Series(texts(count), dtype="string")
            sides.append(frame)
        moved = [there(frame, device) for frame in sides]
        for on, how in itertools.product(("s", ["k", "s"]), KINDS):
            here, far = (
                left.merge(right, on=on, how=how, suffixes=("", "_2"))
                for left, right in (sides, moved)
            )
            same(here, far, device)
    assert hr.fallbacks() == ()


def test_strings_that_must_be_unique(device):
    some = hr.DataFrame({"s": ["a", "b", "c", None], "x": np.arange(4)})
    other = hr.DataFrame({"s": ["x", "y", "c"], "y": np.arange(3)})
    pairs = (some, other), (there(some, device), there(other, device))
    for validate in ("1:1", "1:m", "m:1"):
        here, far = (a.merge(b, on="s", how="left", validate=validate) for a, b in pairs)
        same(here, far, device)
    assert hr.fallbacks() == ()


def test_joins_of_joins(device):
    random = np.random.default_rng(10)
    lines = hr.DataFrame(
        {"o": random.integers(0, 900, 20_000), "x": random.standard_normal(20_000)}
    )
    orders = hr.DataFrame({"o": np.arange(1000), "c": random.integers(0, 90, 1000)})
    few = hr.DataFrame({"c": np.arange(5), "z": np.arange(5) / 8})

    def work(*frames):
        return frames[0].merge(frames[1], on="o").merge(frames[2], on="c", how="inner")

    same(work(lines, orders, few), work(*(there(f, device) for f in (lines, orders, few))), device)
    assert hr.fallbacks() == ()


def test_errors_are_those_of_the_host(device):
    few = hr.DataFrame({"k": np.arange(500) % 40})
    texts = []
    for frame in (few, there(few, device)):
        for validate in ("1:1", "m:1"):
            with pytest.raises(hr.InvalidArgumentError, match="not unique") as raised:
                hr.eval(frame.merge(frame, on="k", validate=validate))
            texts.append(str(raised.value).splitlines()[0])
    assert texts[:2] == texts[2:]
    same_key = there(hr.DataFrame({"k": np.zeros(50_000, "i8")}), device)
    with pytest.raises(hr.InvalidArgumentError, match="too many rows: rows=2500000000"):
        hr.eval(same_key.merge(same_key, on="k"))
    same(few.merge(few, on="k"), there(few, device).merge(there(few, device), on="k"), device)


def test_what_has_no_kernel_runs_on_the_host_and_is_told(device):
    random = np.random.default_rng(9)
    whole = random.integers(-(2**62), 2**62, 300)
    left = hr.DataFrame({"a": whole, "b": np.arange(300) % 7})
    moved = there(left, device)
    on = ["a", "b"]
    same(left.merge(left, on=on, how="left"), moved.merge(moved, on=on, how="left"), device)
    reasons = [reason for op, reason, _ in hr.fallbacks() if op == "merge"]
    expected = ["keys of more than 64 bits have no kernel for CUDA"]
    assert reasons == (expected if device == "cuda" else [])
