#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Dask's own tests of `dask_expr`, from its installed wheel, on frames of ours.

``PYTHONPATH`` has the built package. The tests take the library of the configured backend for their
frames, so both sides are ours: what one process gives and what partitions give. Results are
compared as pandas objects. Prints how many tests pass, fail and are skipped. A failure that a rule
of tools/dask_tests_left_out.txt explains is an exception. 1 if another counts.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from run_sklearn_tests import Outcomes, rules

TOOLS = Path(__file__).resolve().parent
FILES = ["reductions", "groupby", "merge", "shuffle", "concat", "repartition"]
FILES += ["string_accessor", "distributed", "cumulative"]


def plain(value: Any) -> Any:
    """A pandas object without columns of Arrow: null is NaN, as the tests of Dask take it."""
    import pandas as pd

    made = value.to_pandas() if hasattr(value, "to_pandas") else value
    if isinstance(made, pd.Series) and made.index.name == "column":
        made = made.rename(None).rename_axis(None)  # ours are named after the aggregate
    if isinstance(made, pd.DataFrame):
        made = made.copy(deep=False)
        for at in range(made.shape[1]):
            made.isetitem(at, plain(made.iloc[:, at]))
        made.index = plain(made.index)
    elif isinstance(made, pd.Series):
        made = pd.Series(_plain_values(made.array), plain(made.index), name=made.name)
    elif isinstance(made, pd.Index) and not isinstance(made, pd.MultiIndex):
        made = pd.Index(_plain_values(made.array), name=made.name)
    elif type(made).__module__.startswith("headrace.array") and made.ndim == 0:
        made = made.to_numpy()[()]
    return made


def _plain_values(values: Any) -> Any:
    import pandas as pd

    if not isinstance(values.dtype, pd.ArrowDtype):
        return values
    kind = values.dtype.kind
    if kind in "iub" and values.isna().any():
        return values.to_numpy("float64", na_value=float("nan"))
    if kind in "iubf":
        return values.to_numpy(values.dtype.numpy_dtype, na_value=float("nan"))
    return pd.array(values.to_numpy(), dtype=values.dtype.numpy_dtype if kind in "mM" else None)


def check_collection(original: Any) -> Any:
    """Dask's check of a result against its collection, of results that are ours.

    Dask wants one Python class and pandas' own index of names; ours are alike by kind. Names and
    dtypes are compared as Dask does, of what pandas makes of both.
    """
    import dask.dataframe.utils as utils

    def checked(
        dsk: Any,
        check_names: bool = True,
        check_dtypes: bool = True,
        result: Any = None,
        scheduler: Any = None,
    ) -> Any:
        if not hasattr(dsk, "__dask_graph__"):
            return plain(dsk)
        meta = dsk._meta
        made = dsk.compute(scheduler=scheduler) if result is None else result
        if not any(
            like(meta)
            for like in (utils.is_dataframe_like, utils.is_series_like, utils.is_index_like)
        ):
            return plain(made)
        for like in (utils.is_dataframe_like, utils.is_series_like, utils.is_index_like):
            assert like(made) == like(meta), (type(made), type(meta))
        ours, expected = plain(made), plain(meta)
        if utils.is_dataframe_like(made):
            if check_names:
                assert list(ours.columns) == list(expected.columns) == list(dsk.columns)
        elif check_names and hasattr(ours, "name"):
            assert ours.name == expected.name
            assert dsk.name == ours.name or expected.name is None
        if check_dtypes and not utils.is_index_like(made):
            utils.assert_dask_dtypes(_Plain(expected), ours)
        return ours

    return checked


class _Plain:
    """A collection to Dask's comparison of dtypes."""

    def __init__(self, meta: Any) -> None:
        self._meta = meta


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", help="test files by their word: groupby; all nine")
    parser.add_argument("-k", dest="match", default="", help="pytest's expression of names")
    parser.add_argument("--trace", action="store_true", help="show where tests fail")
    options = parser.parse_args()
    os.environ |= {"DASK_DATAFRAME__BACKEND": "headrace", "DASK_DATAFRAME__CONVERT_STRING": "False"}
    import dask.dataframe.utils
    from dask.dataframe.dask_expr import tests

    dask.dataframe.utils._check_dask = check_collection(dask.dataframe.utils._check_dask)
    root = Path(tests.__file__).parent
    line = ["-q", "-p", "no:cacheprovider", "-p", "no:warnings", "-c", os.devnull]
    line += ["--tb=short" if options.trace else "--tb=line", "--rootdir", str(root)]
    line += ["-k", options.match] if options.match else []
    outcomes = Outcomes()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        files = [f"{root}/test_{word}.py" for word in options.targets or FILES]
        code = pytest.main([*line, *files], plugins=[outcomes])
    if code not in (0, 1, 5):
        raise SystemExit(printed.getvalue()[-3000:])
    if options.trace:
        print(printed.getvalue())
    failures, reasons = outcomes.failures, Counter[str]()
    for rule, reason in rules(TOOLS / "dask_tests_left_out.txt"):
        for name in [name for name in failures if rule.search(name)]:
            reasons[reason] += 1
            del failures[name]
    for name, cause in failures.items():
        print(f"FAILED: {name}: {cause}")
    counts = outcomes.counts
    print(f"passed {counts['passed']}, open {len(failures)}, skipped {counts['skipped']}")
    print(f"exceptions: {sum(reasons.values())}: {dict(reasons)}")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
