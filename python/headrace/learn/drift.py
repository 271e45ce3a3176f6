# SPDX-License-Identifier: Apache-2.0
"""Drift: which columns of new rows are not distributed as those of a reference."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.frame.columns import is_frame
from headrace.frame.dataframe import DataFrame
from headrace.lazy.handle import is_array
from headrace.learn.base import (
    Estimator,
    check_names,
    check_rows,
    check_shape,
    is_number,
    names_in,
    refuse,
)
from headrace.report import Report
from headrace.series.column import is_series

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from headrace.series.series import Series

    Numbers = np.ndarray[Any, Any]

_BINS = 10
#: A share that is taken for none, or the logarithm of a quotient would be infinite.
_LEAST_SHARE = 1e-4
#: Up to this product of the numbers of rows the distribution of a KS statistic is counted out.
_MOST_COUNTED = 1_000_000
_MOST_CHARTS = 12


# ---- columns -------------------------------------------------------------------------------------
def _summary(series: Series) -> dict[str, Any]:
    """What is kept of a column: its sorted numbers, or its levels and their counts."""
    kind, word = series.dtype.kind, str(series.dtype)
    known = series.dropna()
    made: dict[str, Any] = {"rows": len(series), "known": len(known)}
    if kind in "iufMm":
        numbers = known.astype("int64") if kind in "Mm" else known
        return made | {"kind": "numbers", "values": asarray(numbers.sort_values())}
    if word.startswith("decimal"):
        return made | {"kind": "numbers", "values": asarray(known.astype("float64").sort_values())}
    if word not in ("string", "category", "bool"):
        raise UnsupportedError(
            f"DriftDetector: a column of this dtype cannot be compared: {series.name!r} is {word}; "
            "drop it, or make numbers or strings of it"
        )
    counts = known.astype("str").rename("level").value_counts(sort=False).rename("rows")
    levels = counts.reset_index()
    return made | {"kind": "levels", "values": levels["level"], "counts": levels["rows"]}


def _bins(before: Numbers, *samples: Numbers) -> tuple[Numbers, list[Numbers]]:
    """Upper ends of bins of about equally many numbers, and how many of each sample they hold.

    A number that fills a bin alone has one without its neighbours.
    """
    ends = before[(np.arange(1, _BINS) * (len(before) - 1)) // _BINS].astype(np.float64)
    heavy = ends[1:][ends[1:] == ends[:-1]]
    ends = np.unique(np.concatenate((ends, np.nextafter(heavy, -np.inf))))
    made = []
    for sample in samples:
        below = np.searchsorted(sample, ends, side="right")
        made.append(np.diff(below, prepend=0, append=len(sample)))
    return ends, made


def _levels(before: dict[str, Any], now: dict[str, Any]) -> tuple[Numbers, Numbers, Numbers]:
    """All levels, and how often they were and are there."""
    left, right = (
        DataFrame({"level": side["values"], name: side["counts"]})
        for name, side in (("before", before), ("now", now))
    )
    both = left.merge(right, on="level", how="outer")
    was, is_ = (both[name].fillna(0).astype("int64").to_numpy() for name in ("before", "now"))
    return both["level"].to_numpy(), was, is_


def _pooled(before: Numbers, now: Numbers) -> list[Numbers]:
    """Counts with those too rare for a chi-squared test (less than 5 expected) as one."""
    total = before + now
    rare = total * (min(before.sum(), now.sum()) / max(total.sum(), 1)) < 5
    if rare.sum() < 2:
        return [before, now]
    return [np.append(side[~rare], side[rare].sum()) for side in (before, now)]


# ---- statistics ----------------------------------------------------------------------------------
def stability_index(before: Numbers, now: Numbers) -> float:
    """The population stability index of counts: 0.1 is a shift, 0.25 a large one."""
    p, q = (np.maximum(side / max(side.sum(), 1), _LEAST_SHARE) for side in (before, now))
    return float(((q - p) * np.log(q / p)).sum())


def two_sample_ks(a: Numbers, b: Numbers) -> tuple[float, float]:
    """The largest gap between the distributions of two sorted samples, and its p-value.

    Few rows: by counting (J. Hodges, Arkiv för Matematik 3, 1958), many: by Kolmogorov's limit with
    the correction of J. Vrbik (Pioneer Journal of Theoretical and Applied Statistics 15, 2018).
    """
    m, n = len(a), len(b)
    if not m or not n:
        return math.nan, 1.0
    both = np.concatenate((a, b))
    ranks = (np.searchsorted(side, both, side="right") / len(side) for side in (a, b))
    gap = float(np.abs(np.subtract(*ranks)).max())
    if m * n <= _MOST_COUNTED:
        counted = _counted_ks(round(gap * m * n), *sorted((m, n)))
        if counted > 1e-9:  # below, the subtraction from 1 has left no digits
            return gap, counted
    size = math.sqrt(m * n / (m + n))
    t = size * gap + 1 / (6 * size) + (size * gap - 1) / (4 * size**2)
    terms = (2 * (-1) ** (k - 1) * math.exp(-2 * (k * t) ** 2) for k in range(1, 101))
    return gap, min(max(sum(terms), 0.0), 1.0) if t > 0.2 else 1.0


def _counted_ks(most: int, m: int, n: int) -> float:
    """The share of the orders of two samples in which |i/m - j/n| reaches ``most / (m n)``."""
    paths, scale = np.zeros(n + 1), 0.0
    paths[0] = 1.0
    places = np.arange(n + 1) * m
    for i in range(m + 1):
        inside = np.abs(places - i * n) < most
        paths = np.where(inside, np.cumsum(np.where(inside, paths, 0.0)), 0.0)
        top = paths.max()
        if top == 0:
            return 1.0
        paths /= top
        scale += math.log(top)
    if paths[n] == 0:
        return 1.0
    all_paths = math.lgamma(m + n + 1) - math.lgamma(m + 1) - math.lgamma(n + 1)
    return 1.0 - min(math.exp(scale + math.log(paths[n]) - all_paths), 1.0)


def chi_squared(before: Numbers, now: Numbers) -> tuple[float, float]:
    """Pearson's statistic of two rows of counts, and its p-value."""
    table = np.stack((before, now)).astype(np.float64)
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2 or not table.sum(axis=1).all():
        return 0.0, 1.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    # The upper tail is a finite sum of positive terms, from that of one or two degrees on.
    x, degrees = statistic / 2, table.shape[1] - 1
    if x == 0:
        return statistic, 1.0
    powers = np.arange(degrees // 2) + degrees % 2 / 2
    logs = powers * math.log(x) - x - np.array([math.lgamma(power + 1) for power in powers])
    return statistic, min(math.erfc(math.sqrt(x)) * (degrees % 2) + float(np.exp(logs).sum()), 1.0)


def adjusted(p_values: Numbers) -> Numbers:
    """The false discovery rates at which each is told (Y. Benjamini and Y. Hochberg, 1995)."""
    order = np.argsort(p_values)[::-1]
    count = len(p_values)
    rates = np.minimum.accumulate(p_values[order] * count / np.arange(count, 0, -1))
    made = np.empty(count)
    made[order] = np.minimum(rates, 1.0)
    return made


class DriftDetector(Estimator):
    """Tells which columns of new rows are distributed unlike those of the rows of `fit`.

    Numbers and times are compared by the Kolmogorov-Smirnov test and the population stability index
    (PSI) over ten bins of the reference; strings, categories and bools by the chi-squared test
    (levels too rare for it count as one) and the PSI over levels. Where values are missing, their
    share is tested too. p-values are adjusted over the columns (Benjamini-Hochberg). `fit` keeps
    the sorted numbers of a column, 8 bytes a row, or its levels. The same results for any number
    of threads.

    Parameters
    ----------
    method : {"auto", "psi", "test"}, default "auto"
        A column has drifted if its PSI reaches `psi` (which noise does in few rows), if its
        adjusted p-value is below `alpha` (which tiny shifts are in many rows), or, by default, if
        both are so.
    alpha : float, default 0.05
        The false discovery rate.
    psi : float, default 0.2
        The least PSI of a drift.

    Attributes
    ----------
    reference_ : dict
        What is known of each column.

    >>> usual = hr.DataFrame({"size": np.arange(100.0), "kind": ["a", "b"] * 50})
    >>> detector = hr.learn.DriftDetector().fit(usual)
    >>> detector.drifted(usual.assign(size=usual["size"] + 30))
    ['size']
    """

    _tags: ClassVar[Mapping[str, Any]] = {"input_tags": {"allow_nan": True, "string": True}}
    _fitted_as = "reference_"
    reference_: dict[str, dict[str, Any]]

    def __init__(self, method: str = "auto", alpha: float = 0.05, psi: float = 0.2) -> None:
        self.method = method
        self.alpha = alpha
        self.psi = psi

    def _frame(self, frame: Any, *, fit: bool) -> DataFrame:
        if not is_frame(frame) and not hasattr(frame, "columns") and not hasattr(frame, "schema"):
            rows = check_rows(self, frame, fit=fit, allow_nan=True)
            return DataFrame({name: rows[:, i] for i, name in enumerate(names_in(self))})
        made = frame if is_frame(frame) else DataFrame(frame)
        if fit:
            check_names(self, made, fit=True)
            check_shape(self, made.shape, fit=True, min_rows=1)
            return made
        gone = [name for name in self.reference_ if name not in made.columns]
        if gone:
            raise InvalidArgumentError(f"DriftDetector: columns of fit are missing: columns={gone}")
        return made[list(self.reference_)]

    def fit(self, frame: Any, y: Any = None) -> Self:
        """Keep the distribution of each column of `frame`; nulls and NaN are missing values."""
        self._check_params()
        made = self._frame(frame, fit=True)
        self.reference_ = {name: _summary(made[name]) for name in made.columns}
        return self

    def _check_params(self) -> None:
        if self.method not in ("auto", "psi", "test"):
            refuse(self, "method", "'auto', 'psi' or 'test'")
        for name in ("alpha", "psi"):
            if not (is_number(getattr(self, name)) and getattr(self, name) >= 0):
                refuse(self, name, "a number from 0 on")

    def _check_loaded(self) -> None:
        self._check_params()
        for name, seen in self.reference_.items():
            values, numbers = seen["values"], seen["kind"] == "numbers"
            held = [values] if numbers else [values, seen["counts"]]
            fine = isinstance(name, str) and is_array(values) == numbers and seen["rows"] >= 1
            fine = fine and (
                values.ndim == 1 and values.dtype.kind in "iuf"
                if numbers
                else seen["kind"] == "levels"
                and is_series(values)
                and str(values.dtype) == "string"
            )
            size = len(values) if numbers else int(held[-1].sum())
            if not fine or not 0 <= seen["known"] == size <= seen["rows"]:
                raise ValueError("DriftDetector: what it knows of a column is none")

    def drifted(self, frame: Any) -> list[str]:
        """The names of the columns of `frame` that have drifted, in the order of `fit`."""
        found = self.report(frame)
        return found["column"][found["drifted"]].to_list()

    def report(self, frame: Any) -> DataFrame:
        """A row for each column of `fit`; columns that `fit` did not see are left out.

        Its columns: column, test (``"ks"`` or ``"chi2"``), statistic, p_value (with that of the
        missing values, for two tests), p_adjusted, psi, missing_before, missing (shares),
        new_levels (how many), new_share (of rows), drifted.
        """
        return self._compared(frame)[0]

    def report_page(self, frame: Any, path: str | os.PathLike[str] | None = None) -> Report:
        """The report as a page with a chart of each drifted column, saved if there is a `path`.

        >>> usual = hr.DataFrame({"size": np.arange(100.0)})
        >>> page = hr.learn.DriftDetector().fit(usual).report_page(usual + 60)
        >>> "size: before and now" in page.to_html()
        True
        """
        found, now = self._compared(frame)
        names = found["column"].to_list()
        order = np.argsort(-found["psi"].to_numpy(), kind="stable").tolist()
        told = [i for i in order if found["drifted"].to_list()[i]]
        page = Report("Drift", f"{len(told)} of {len(names)} columns have drifted")
        rows = {
            side: next(iter(of.values()))["rows"]
            for side, of in zip(("rows before", "rows now"), (self.reference_, now), strict=True)
        }
        facts = {"method": self.method, "false discovery rate": self.alpha, "least PSI": self.psi}
        page.add_facts(rows | facts)
        columns = {name: found[name].to_list() for name in found.columns}
        page.add_table(
            "Columns",
            [name.replace("_", " ") for name in columns],
            [[columns[name][i] for name in columns] for i in order],
            bars=["missing before", "missing", "new share"],
            note="By PSI, the largest first.",
        )
        for i in told[:_MOST_CHARTS]:
            self._add_chart(page, names[i], self.reference_[names[i]], now[names[i]])
        if path is not None:
            page.save(path)
        return page

    def _compared(self, frame: Any) -> tuple[DataFrame, dict[str, dict[str, Any]]]:
        self._check_fitted()
        made = self._frame(frame, fit=False)
        if not len(made):
            raise InvalidArgumentError("DriftDetector: Found array with 0 sample(s): rows=0")
        now = {name: _summary(made[name]) for name in self.reference_}
        rows = [self._row(name, before, now[name]) for name, before in self.reference_.items()]
        columns: dict[str, Any] = {key: [row[key] for row in rows] for key in rows[0]}
        columns["p_adjusted"] = adjusted(np.array(columns["p_value"]))
        shifted = np.array(columns["psi"]) >= self.psi
        told = columns["p_adjusted"] < self.alpha
        by = {"auto": shifted & told, "psi": shifted, "test": told}
        return DataFrame(columns | {"drifted": by[self.method]}), now

    def _row(self, name: str, before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
        if before["kind"] != now["kind"]:
            raise TypeMismatchError(
                f"DriftDetector: a column of {before['kind']} has become one of {now['kind']}: "
                f"column={name!r}; convert it as for fit"
            )
        sides = (before, now)
        missing = np.array([side["rows"] - side["known"] for side in sides])
        new, new_rows = 0, 0
        counts: Any
        if before["kind"] == "numbers":
            values = [side["values"].to_numpy() for side in sides]
            test, (statistic, p) = "ks", two_sample_ks(*values)
            counts = _bins(values[0], *values)[1] if before["known"] else [[0], [now["known"]]]
        else:
            _, *found = _levels(before, now)
            new, new_rows = int((found[0] == 0).sum()), int(found[1][found[0] == 0].sum())
            counts = _pooled(*found)
            test, (statistic, p) = "chi2", chi_squared(*counts)
        if missing.any():
            known = [side["known"] for side in sides]
            _, gone = chi_squared(*np.stack((missing, known), axis=1))
            p = min(2 * min(p, gone), 1.0)
            counts = [np.append(side, gap) for side, gap in zip(counts, missing, strict=True)]
        return {
            "column": name,
            "test": test,
            "statistic": statistic,
            "p_value": p,
            "p_adjusted": p,
            "psi": stability_index(*map(np.asarray, counts)),
            "missing_before": missing[0] / before["rows"],
            "missing": missing[1] / now["rows"],
            "new_levels": new,
            "new_share": new_rows / now["rows"],
        }

    def _add_chart(
        self, page: Report, name: str, before: dict[str, Any], now: dict[str, Any]
    ) -> None:
        title = f"{name}: before and now"
        if before["kind"] == "levels":
            levels, *counts = _levels(before, now)
            shares = [side / max(side.sum(), 1) for side in counts]
            order = np.argsort(-np.abs(shares[1] - shares[0]), kind="stable")[:20]
            table = [[str(levels[i]), float(shares[0][i]), float(shares[1][i])] for i in order]
            note = "The levels whose shares changed most."
            page.add_table(
                title, ["level", "before", "now"], table, bars=["before", "now"], note=note
            )
            return
        ranks = np.linspace(0, 1, 201)
        lines = {}
        for word, side in (("before", before), ("now", now)):
            values = side["values"].to_numpy().astype(np.float64)
            values = values[np.isfinite(values)]
            if len(values):
                lines[word] = (values[(ranks * (len(values) - 1)).astype(np.int64)], ranks)
        page.add_lines(title, lines, x=name, y="share of rows up to this value")
