# SPDX-License-Identifier: Apache-2.0
"""Synthetic loans in text files: bars between the fields, no header, a quarter a file or fewer."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

import headrace as hr

QUARTERS = [f"{year}Q{quarter}" for year in range(2000, 2007) for quarter in range(1, 5)]
PARTS = 4  #: files of a quarter's months, which makes 112
MONTHS = 36  #: that a loan is seen for, at most
FIRST_ID = 100_000_000_000

#: What was known when the loan was made; one row for each loan.
ACQUISITION = {
    "loan_id": "int64",
    "channel": "category",
    "seller": "category",
    "orig_rate": "float64",
    "orig_upb": "float64",
    "ltv": "float64",
    "dti": "float64",
    "score": "float64",
    "first_home": "category",
    "purpose": "category",
    "state": "category",
}
#: What was seen of it since; one row for each loan and month.
PERFORMANCE = {
    "loan_id": "int64",
    "month": "date",
    "servicer": "category",
    "interest_rate": "float64",
    "upb": "float64",
    "loan_age": "float64",
    "remaining_months": "float64",
    "status": "int32",
    "zero_balance": "int32",
}
SELLERS = [f"SELLER {k}, INC." for k in range(40)]
STATES = [f"{a}{b}" for a in "ACDFGHIKLMO" for b in "AEILT"]


class Files(NamedTuple):
    """Patterns for the files of each kind."""

    acquisition: str
    performance: str


def write(folder: Path, loans: int = 100_000, files: int = 112, seed: int = 1) -> Files:
    """Write `loans` loans, about 24 rows each: as 112 files of months, or unsplit as 1.

    A seed gives the same rows on any machine, in the same order whether they are split or not.
    """
    if files not in (1, len(QUARTERS) * PARTS):
        raise ValueError(f"write: no such split: files={files}; expected 1 or 112")
    folder.mkdir(parents=True)
    edges = np.linspace(0, loans, len(QUARTERS) + 1).astype(int).tolist()
    for at, quarter in enumerate(QUARTERS):
        random = hr.random.default_rng(seed * len(QUARTERS) + at)
        ids = FIRST_ID + edges[at] + random.permutation(edges[at + 1] - edges[at]).to_numpy()
        made = _acquisitions(random, ids)
        seen = _performances(random, made, np.datetime64("2000-01") + 3 * at)
        ends = [len(seen) * part // PARTS for part in range(PARTS + 1)]
        split = files > 1
        _append(made, folder / f"Acquisition{f'_{quarter}' if split else ''}.txt")
        for part in range(PARTS):
            name = f"_{quarter}.txt_{part}" if split else ".txt"
            _append(seen.iloc[ends[part] : ends[part + 1]], folder / f"Performance{name}")
    return Files(f"{folder}/Acquisition*.txt", f"{folder}/Performance*.txt*")


def _append(frame: hr.DataFrame, path: Path) -> None:
    with path.open("ab") as file:
        frame.to_csv(file, sep="|", header=False, index=False)


def _acquisitions(random: hr.random.Generator, ids: np.ndarray) -> hr.DataFrame:
    """One row for each loan; one score in fifty is missing."""
    count = len(ids)

    def numbers(low: int, high: int) -> np.ndarray:
        return random.integers(low, high, count).to_numpy()

    def words(choices: list[str]) -> np.ndarray:
        return np.array(choices)[numbers(0, len(choices))]

    made = {
        "loan_id": ids,
        "channel": words(["R", "C", "B"]),
        "seller": words(SELLERS),
        "orig_rate": numbers(16, 64) / 8,
        "orig_upb": numbers(50, 700) * 1000.0,
        "ltv": numbers(30, 98).astype(float),
        "dti": numbers(5, 64).astype(float),
        "score": hr.Series(numbers(500, 850) * 1.0).where(random.random(count) >= 0.02),
        "first_home": words(["Y", "N", "U"]),
        "purpose": words(["P", "C", "R"]),
        "state": words(STATES),
    }
    return hr.DataFrame(made)


def _performances(
    random: hr.random.Generator, loans: hr.DataFrame, first: np.datetime64
) -> hr.DataFrame:
    """One row for each loan and month, loan by loan.

    Each month a loan may fall further behind, or catch up; low scores and large debts make the
    first more likely. Some are paid back, those of high rates sooner.
    """
    count = len(loans)

    def drawn() -> np.ndarray:
        return random.random((count, MONTHS)).to_numpy()

    attributes = ("score", "dti", "ltv", "orig_rate", "orig_upb")
    score, dti, ltv, rate, upb = (loans[name].to_numpy() for name in attributes)
    risk = 0.004 + 0.03 * (score < 600) + 0.01 * (dti > 45) + 0.01 * (ltv > 85)
    status, luck = np.zeros((count, MONTHS), np.int32), drawn()
    for month in range(1, MONTHS):
        before, now = status[:, month - 1], luck[:, month]
        worse = now < np.where(before > 0, 0.45, risk)
        caught_up = now > 0.75
        status[:, month] = np.where(worse, np.minimum(before + 1, 8), before * ~caught_up)
    ends = drawn() < (0.012 + 0.015 * (rate > 6))[:, None]
    ends[:, :3] = False
    length = np.where(ends.any(axis=1), ends.argmax(axis=1) + 1, MONTHS)
    loan = np.repeat(np.arange(count), length)
    age = np.arange(len(loan)) - np.repeat(np.cumsum(length) - length, length)
    closed = ends[loan, age]
    balance = np.where(closed, 0.0, np.round(upb[loan] * (1 - age / 360), 2))
    servicer = random.integers(0, len(SELLERS), count).to_numpy()
    seen = {
        "loan_id": loans.loan_id.to_numpy()[loan],
        "month": (first + age).astype("datetime64[D]"),
        "servicer": np.array(SELLERS)[servicer][loan],
        "interest_rate": rate[loan],
        "upb": hr.Series(balance).where(age >= 6),
        "loan_age": age.astype(float),
        "remaining_months": 360.0 - age,
        "status": status[loan, age],
        "zero_balance": closed.astype(np.int32),
    }
    return hr.DataFrame(seen)
