# SPDX-License-Identifier: Apache-2.0
"""Distinct rows and their number, against pandas: few and many keys, ranges and hashes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import headrace as hr

ROWS = 300_000


def columns() -> dict[str, Any]:
    random = np.random.default_rng(3)
    wide = random.integers(-(2**62), 2**62, ROWS)
    floats = random.integers(0, 200_000, ROWS) / 7.0
    floats[random.random(ROWS) < 0.1] = np.nan
    floats[::9] = -0.0
    return {
        "few": random.integers(0, 100, ROWS),
        "late": np.sort(random.integers(0, 50_000, ROWS)),
        "range": random.integers(5, ROWS, ROWS),
        "wide": wide,
        "repeated": wide[random.integers(0, 20_000, ROWS)],
        "zero": np.where(random.random(ROWS) < 0.01, 0, wide),
        "floats": floats,
        "bools": random.random(ROWS) < 0.5,
        "small": random.integers(-128, 127, ROWS).astype(np.int8),
    }


@pytest.fixture(scope="module")
def both() -> tuple[hr.DataFrame, pd.DataFrame]:
    made = columns()
    frame = hr.DataFrame(made)
    hr.eval(frame)
    return frame, pd.DataFrame(made)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("name", list(columns()))
def test_distinct_values_are_those_of_pandas(both: Any, name: str, threads: int) -> None:
    frame, expected = both
    with hr.threads(threads):
        assert frame[name].nunique().item() == expected[name].nunique()
        assert frame[name].nunique(dropna=False).item() == expected[name].nunique(dropna=False)
        np.testing.assert_array_equal(frame[name].unique().to_numpy(), expected[name].unique())
        found = frame.drop_duplicates(name)
        wanted = expected.drop_duplicates(name)
        for each in ("few", name, "wide"):
            np.testing.assert_array_equal(found[each].to_numpy(), wanted[each].to_numpy())


def test_several_keys_nulls_and_strings(both: Any) -> None:
    frame, expected = both
    for keys in (["few", "small"], ["range", "bools"], ["wide", "floats"]):
        np.testing.assert_array_equal(
            frame.drop_duplicates(keys).wide.to_numpy(),
            expected.drop_duplicates(keys).wide.to_numpy(),
        )
    words = [None if k % 5 == 0 else f"word {k}" for k in expected.range.tolist()]
    column = hr.Series(words)
    assert column.nunique().item() == len({word for word in words if word is not None})
    assert column.nunique(dropna=False).item() == len(set(words))
    assert column.unique().to_list() == list(dict.fromkeys(words))
    numbers = [None if k % 5 == 0 else k for k in expected.range.tolist()]
    assert hr.Series(numbers).unique().to_list() == list(dict.fromkeys(numbers))
    assert hr.Series(numbers).nunique().item() == len(set(numbers)) - 1


def test_filtered_and_empty_rows_and_a_limit(both: Any, memory_room: Any) -> None:
    frame, expected = both
    for limit in (50, 1000):
        found = frame[frame.few > limit].drop_duplicates("range")
        wanted = expected[expected.few > limit].drop_duplicates("range")
        np.testing.assert_array_equal(found.wide.to_numpy(), wanted.wide.to_numpy())
        count = frame[frame.few > limit].wide.nunique().item()
        assert count == expected[expected.few > limit].wide.nunique()
    with memory_room("1GB"):
        bounded = frame.drop_duplicates("range")
        assert frame.wide.nunique().item() == expected.wide.nunique()
        rows = bounded.wide.to_numpy()
    np.testing.assert_array_equal(rows, frame.drop_duplicates("range").wide.to_numpy())
