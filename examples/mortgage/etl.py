# SPDX-License-Identifier: Apache-2.0
"""From loans and their months to what a model learns from, in the words of pandas."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from loans import ACQUISITION, PERFORMANCE, Files

import headrace as hr

LABEL = "delinquency_12"
#: Not to learn from: keys, and what the label is made of.
DROPPED = [
    "loan_id", "month", "year", "number", "worst", "first_30", "first_90", "first_180"
]  # fmt: skip


def read(files: Files) -> tuple[hr.DataFrame, hr.DataFrame]:
    """Months and loans, each a frame of however many files."""
    kinds = (files.performance, PERFORMANCE), (files.acquisition, ACQUISITION)
    months, loans = (
        hr.read_csv(pattern, sep="|", header=None, names=list(dtypes), dtypes=dtypes)
        for pattern, dtypes in kinds
    )
    return months, loans


def etl(pd: ModuleType, months: Any, loans: Any) -> Any:
    """Features and label of each month of each loan; `pd` is Headrace or pandas."""
    months = months.assign(
        year=months.month.dt.year.astype("int64"), number=months.month.dt.month.astype("int64")
    )
    final = months.merge(ever_late(months), "left", on="loan_id")
    final = final.merge(next_years(pd, months), "left", on=["loan_id", "year", "number"])
    final = final.merge(loans, "left", on="loan_id")
    final[LABEL] = (final[LABEL].fillna(0) > 0).astype("int32")
    return codes(final.drop(columns=DROPPED))


def ever_late(months: Any) -> Any:
    """The worst state of each loan: whether it was ever late, and since when."""
    ever = months.groupby("loan_id", sort=False, as_index=False).agg(worst=("status", "max"))
    for days, least in ((30, 1), (90, 3), (180, 6)):
        ever[f"ever_{days}"] = (ever.worst >= least).astype("int32")
        late = months[months.status >= least].groupby("loan_id", sort=False)
        ever = ever.merge(late.agg(**{f"first_{days}": ("month", "min")}), "left", on="loan_id")
    return ever


def next_years(pd: ModuleType, months: Any) -> Any:
    """A look ahead inside of each loan: what it comes to in the year that a month begins.

    Years that begin in January are groups of rows, and so are those that begin in February, ...
    """
    parts = []
    number = months.year * 12 + months.number
    balance = months.upb.fillna(999_999_999.0)
    for first in range(1, 13):
        part = months[["loan_id", "status"]].assign(upb=balance, since=(number - first) // 12)
        made = part.groupby(["loan_id", "since"], sort=False, as_index=False).agg(
            worst=("status", "max"), least=("upb", "min")
        )
        made[LABEL] = (made.worst > 3).astype("int32") + (made.least == 0).astype("int32")
        made["number"] = made.since * 0 + first
        parts.append(made[["loan_id", "since", "number", LABEL]])
    return pd.concat(parts).rename(columns={"since": "year"})


def codes(final: Any) -> Any:
    """Numbers only: codes of categories, and -1 for what is missing."""
    for name in final.columns:
        if str(final[name].dtype) == "category":
            final[name] = final[name].cat.codes
        final[name] = final[name].fillna(-1)
    return final
