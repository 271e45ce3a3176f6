#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/coverage.md: which names of pandas, NumPy and SciPy Headrace has.

Run it with the package, pandas, NumPy and SciPy installed: `python tools/make_coverage.py`. The
names come from the installed packages; `ELSEWHERE` says what to use for some of the others.
"""

from __future__ import annotations

import datetime
import inspect
import textwrap
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
import scipy.fft
import scipy.signal
from headrace.array.array_function import FUNCTIONS
from headrace.groupby import groupby as group
from headrace.interop.ways_round import known_way
from headrace.series.categorical import CategoryAccessor
from headrace.series.datetime import TimeAccessor
from headrace.series.strings import TextAccessor
from headrace.windows import rolling
from pandas.api.typing import DataFrameGroupBy, Rolling, SeriesGroupBy

import headrace as hr
from headrace import _core

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/coverage.md"

#: What errors call the objects of a section, whose ways round they tell.
OBJECTS = {
    "pandas functions": ("hr", hr),
    "pandas.DataFrame": ("DataFrame", hr.DataFrame),
    "pandas.Series": ("Series", hr.Series),
    "pandas.Series.str": ("Series.str", TextAccessor),
    "pandas.Series.dt": ("Series.dt", TimeAccessor),
    "pandas.Series.cat": ("Series.cat", CategoryAccessor),
    "pandas group-by": ("GroupBy", group.GroupBy),
    "pandas rolling": ("Rolling", rolling.Rolling),
}
#: What to use instead of names of NumPy and SciPy. Code in backticks is checked to exist.
ELSEWHERE: dict[str, dict[str, str]] = {
    "NumPy functions": {
        "asanyarray": "`hr.asarray`",
        "array": "`hr.asarray`",
        "from_dlpack": "`hr.from_dlpack`",
        "concatenate": "`hr.concat` of series",
        "concat": "`hr.concat` of series",
        "convolve": "`hr.signal.fft_convolve`",
        "median": "`Series.median`",
        "nanmedian": "`Series.median`",
        "quantile": "`Series.quantile`",
        "nanquantile": "`Series.quantile`",
        "percentile": "`Series.quantile`",
        "cumsum": "`Series.cumsum`",
        "cumulative_sum": "`Series.cumsum`",
        "cumprod": "`Series.cumprod`",
        "cumulative_prod": "`Series.cumprod`",
        "unique": "`hr.unique`",
        "nansum": "`Series.sum`",
        "nanprod": "`Series.prod`",
        "nanmean": "`Series.mean`",
        "nanstd": "`Series.std`",
        "nanvar": "`Series.var`",
        "nanmin": "`Series.min`",
        "nanmax": "`Series.max`",
        "isin": "`Series.isin`",
        "corrcoef": "`DataFrame.corr`",
        "cov": "`DataFrame.cov`",
        "digitize": "`hr.cut`",
        "loadtxt": "`hr.read_csv`",
        "genfromtxt": "`hr.read_csv`",
        "savetxt": "`DataFrame.to_csv`",
        "nan_to_num": "`Series.fillna`",
        "bincount": "`Series.value_counts`",
        "astype": "`Array.astype`",
    },
    "scipy.signal": {
        "convolve": "`hr.signal.fft_convolve`",
        "fftconvolve": "`hr.signal.fft_convolve`",
        "oaconvolve": "`hr.signal.fft_convolve`",
        "find_peaks": "`hr.signal.non_max_suppression`",
        "argrelmax": "`hr.signal.non_max_suppression`",
    },
}


class Section(NamedTuple):
    """One package or class: its names, split in three."""

    title: str
    there: list[str]
    elsewhere: dict[str, str]
    missing: list[str]


def is_function(value: object) -> bool:
    """Whether a member of a module counts as one of its functions."""
    return callable(value) and not inspect.isclass(value) and not inspect.ismodule(value)


def names_of(owner: object, keep: Callable[[Any], bool] = lambda _: True) -> set[str]:
    """The public names of a class, an accessor or a module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {n for n in dir(owner) if n[0] != "_" and keep(getattr(owner, n, None))}


def section(title: str, theirs: Iterable[str], ours: Iterable[str]) -> Section:
    """Split their names by whether they are ours, elsewhere, or missing."""
    names, own = set(theirs) - {"test"}, set(ours)
    ways = ELSEWHERE.get(title, {})
    if title in OBJECTS:
        what, kind = OBJECTS[title]
        ways = {name: known_way(what, name, kind) for name in names - own}
    elsewhere = {n: w for n, w in ways.items() if w and n in names - own}
    return Section(title, sorted(names & own), elsewhere, sorted(names - own - set(elsewhere)))


def sections() -> list[Section]:
    """All sections of the page."""
    times = [datetime.datetime(2024, 1, 1)], [datetime.timedelta(1)]
    ours, theirs = [hr.Series(t).dt for t in times], [pd.Series(t).dt for t in times]
    operators = set(_core.elementwise_ops())
    numpy_names = names_of(np, is_function) - {"expm1x"}  # added by numexpr, which pandas imports
    on_arrays = {
        name
        for name in numpy_names
        if name == "asarray"
        or getattr(getattr(np, name), "__name__", "") in FUNCTIONS
        or (isinstance(getattr(np, name), np.ufunc) and getattr(np, name).__name__ in operators)
    }
    groups = names_of(group.GroupBy) | names_of(group.SeriesGroupBy)
    return [
        section(
            "pandas functions",
            names_of(pd, is_function),
            names_of(hr, is_function) - {"eval"},  # `hr.eval` evaluates lazy values
        ),
        section("pandas.DataFrame", names_of(pd.DataFrame), names_of(hr.DataFrame)),
        section("pandas.Series", names_of(pd.Series), names_of(hr.Series)),
        section("pandas.Series.str", names_of(pd.Series.str), names_of(hr.Series(["a"]).str)),
        section(
            "pandas.Series.dt",
            names_of(theirs[0]) | names_of(theirs[1]),
            names_of(ours[0]) | names_of(ours[1]),
        ),
        section(
            "pandas.Series.cat",
            names_of(pd.Series(["a"], dtype="category").cat),
            names_of(hr.Series(["a"], dtype="category").cat),
        ),
        section("pandas group-by", names_of(DataFrameGroupBy) | names_of(SeriesGroupBy), groups),
        section("pandas rolling", names_of(Rolling), names_of(rolling.Rolling)),
        section("NumPy functions", numpy_names, on_arrays),
        section("scipy.signal", names_of(scipy.signal, is_function), names_of(hr.signal)),
        section("scipy.fft", names_of(scipy.fft, is_function), names_of(hr.fft)),
    ]


def paragraph(label: str, names: Iterable[str]) -> str:
    """One wrapped paragraph of names."""
    text = f"**{label}:** " + ", ".join(names)
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def page() -> str:
    """The text of docs/reference/coverage.md."""
    versions = f"pandas {pd.__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    found = sections()
    lines = [
        "# Coverage of pandas, NumPy and SciPy",
        "",
        "<!-- Written by tools/make_coverage.py; do not edit. -->",
        f"Names of {versions}. *There*: the same name exists here ([differences](pandas.md)).",
        "*Elsewhere*: what errors say to use instead is in parentheses. *Not yet*: convert with",
        "`to_pandas()` or `to_numpy()`, which share memory where they can.",
        "",
        "| | there | elsewhere | not yet |",
        "|---|---:|---:|---:|",
        *(
            f"| [{s.title}](#{s.title.lower().replace(' ', '-').replace('.', '')}) "
            f"| {len(s.there)} | {len(s.elsewhere)} | {len(s.missing)} |"
            for s in found
        ),
    ]
    for s in found:
        lines += ["", f"## {s.title}"]
        if s.there:
            lines += [paragraph("There", (f"`{n}`" for n in s.there))]
        if s.elsewhere:
            pairs = (f"`{name}` ({where})" for name, where in sorted(s.elsewhere.items()))
            lines += ["", paragraph("Elsewhere", pairs)]
        if s.missing:
            lines += ["", paragraph("Not yet", (f"`{n}`" for n in s.missing))]
    lines += ["", "Other parts of SciPy have no counterpart here yet."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
