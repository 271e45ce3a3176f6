# SPDX-License-Identifier: Apache-2.0
"""The results that C++ is compared with (headrace/frame/dtypes_test.cpp) are those of Python."""

import importlib.util
from pathlib import Path

PATH = Path(__file__).resolve().parents[2] / "tools/make_dtype_results.py"


def test_the_results_are_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("make_dtype_results", PATH)
    assert spec
    assert spec.loader
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    found, expected = list(tool.results()), tool.RESULTS.read_text().splitlines()
    assert len(found) > 800
    assert found == expected, "run tools/make_dtype_results.py"
