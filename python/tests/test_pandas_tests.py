# SPDX-License-Identifier: Apache-2.0
"""The runner of pandas' own tests: what it compares, and that a sample still passes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import headrace as hr

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import compare_by_value as by_value  # noqa: E402


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (hr.Series([1, None, 3]), pd.Series([1.0, np.nan, 3.0])),
        (hr.Series(["a", None]), pd.Series(["a", np.nan], dtype=object)),
        (hr.Series(["a", "b"]).astype("category"), pd.Series(["a", "b"])),
        (hr.Series([True, None]), pd.Series([True, np.nan], dtype=object)),
        (hr.Series([1.0], name="x"), pd.Series([1.0 + 1e-7], name="x")),
        (hr.Series([1, 2], index=["a", "b"]), pd.Series([1, 2], index=["a", "b"])),
        (hr.Series(pd.to_datetime(["2024-01-01"])), pd.Series(pd.to_datetime(["2024-01-01"]))),
    ],
)
def test_equal_by_value(left, right):
    by_value.assert_series_equal(left, right)
    by_value.assert_series_equal(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (hr.Series([1, None, 3]), pd.Series([1.0, 2.0, 3.0])),
        (hr.Series([1.0]), pd.Series([1.001])),
        (hr.Series([True, False]), pd.Series([1, 0])),
        (hr.Series([1, 2]), pd.Series(["1", "2"])),
        (hr.Series([1], name="x"), pd.Series([1], name="y")),
        (hr.Series([1], name="x"), pd.Series([1])),
        (hr.Series([1, 2], index=["a", "b"]), pd.Series([1, 2], index=["a", "c"])),
        (hr.Series([1, 2]), pd.Series([1, 2], index=["a", "b"])),
        (hr.Series([2**53 + 1]), pd.Series([2**53])),
        (hr.Series(pd.to_datetime(["2024-01-01"])), pd.Series(pd.to_datetime(["2024-01-02"]))),
    ],
)
def test_different_by_value(left, right):
    with pytest.raises(AssertionError):
        by_value.assert_series_equal(left, right)
    with pytest.raises(AssertionError):
        by_value.assert_series_equal(right, left)


def test_frames_differ_by_columns_labels_and_values():
    frame = hr.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=["p", "q"])
    same = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=["p", "q"])
    by_value.assert_frame_equal(frame, same)
    for other in (same.rename(columns={"a": "c"}), same[["b", "a"]], same.assign(a=[1, 3])):
        with pytest.raises(AssertionError):
            by_value.assert_frame_equal(frame, other)
    with pytest.raises(AssertionError):
        by_value.assert_frame_equal(frame, same.set_axis(["p", "r"]))


def test_a_sample_of_pandas_tests():
    """The figures of all tests are in README.md; `tools/run_pandas_tests.py` makes them."""
    line = [sys.executable, str(TOOLS / "run_pandas_tests.py"), "frame/methods", "--step", "25"]
    line += ["--least", "0.3"]
    run = subprocess.run(line, capture_output=True, text=True, env=os.environ, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    figures = re.search(r"^all\s+(\d+)\s+(\d+)\s+(\d+)", run.stdout, re.M)
    assert figures is not None
    collected, left_out, passed = map(int, figures.groups())
    assert collected == 201
    assert left_out < 0.15 * collected
    assert passed
