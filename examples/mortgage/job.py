# SPDX-License-Identifier: Apache-2.0
"""The mortgage job step by step, each one measured: from text files to boosted trees."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import xgboost
from etl import LABEL, etl, read
from headrace.demo.meter import Meter
from headrace.learn.metrics import roc_auc_score
from loans import Files

import headrace as hr

PARAMETERS = {
    "objective": "binary:logistic",
    "tree_method": "hist",
    "max_depth": 8,
    "eta": 0.1,
    "seed": 1,
}
PARTS = 64  #: of the rows, one after the other in CSR form


class Result(NamedTuple):
    """What a run found, and what it took."""

    meter: Meter
    rows: int
    features: list[str]
    late: float  #: share of rows with the label
    correlations: np.ndarray  #: of each feature with the label
    present: float  #: share of values other than 0, which CSR keeps
    model: bytes
    gains: dict[str, float]  #: what the splits by a feature gain, of 1
    area: float  #: under the ROC curve, on the later rows
    bins: int  #: bytes of XGBoost's, which are not of our memory
    peak: int  #: bytes of the engine, beyond those held before


def run(files: Files, rounds: int = 30) -> Result:
    """The whole job; under a limit it gives the same bits."""
    held = hr.memory.stats().used_bytes
    meter = Meter()

    def step(name: str, rows: int = 0):
        return meter.step(name, lambda: rows)

    try:
        with step("1 read the files"):
            months, loans = read(files)
        rows = len(months)
        with step("2 join, look ahead, label", rows):
            final = etl(hr, months, loans)
            del months, loans
            hr.eval(final)
        features = list(final.columns.difference([LABEL]))
        train, test = final.iloc[: rows * 3 // 4], final.iloc[rows * 3 // 4 :]
        with step("3 CSR: correlations", rows):
            correlations, present = correlate(final, features)
        with step("4 XGBoost's matrix", len(train)):
            matrix = hr.learn.xgboost_matrix(train, label=LABEL)
        with step("5 train", len(train)):
            booster = xgboost.train(PARAMETERS, matrix, rounds)
        with step("6 score the later rows", len(test)):
            scores = booster.predict(hr.learn.xgboost_matrix(test, LABEL, reference=matrix))
            area = float(roc_auc_score(test[LABEL], scores))
        late = float(final[LABEL].mean())
    finally:
        meter.close()
    gain = booster.get_score(importance_type="total_gain")
    whole = sum(gain.values()) or 1.0
    return Result(
        meter,
        rows,
        features,
        late,
        correlations,
        present,
        bytes(booster.save_raw()),
        {name: gain.get(name, 0.0) / whole for name in features},
        area,
        matrix.num_nonmissing(),
        max(each.peak for each in meter.steps) - held,
    )


def correlate(frame: hr.DataFrame, features: list[str]) -> tuple[np.ndarray, float]:
    """Correlation of each feature with the label, from the rows in CSR form, part by part."""
    rows, present = len(frame), 0
    label = frame[LABEL]
    mean, deviation = float(label.mean()), float(label.std(ddof=0))
    total = np.zeros(len(features))
    edges = [rows * part // PARTS for part in range(PARTS + 1)]
    for begin, end in itertools.pairwise(edges):
        part = hr.tensor.csr_matrix(frame[features].iloc[begin:end])
        total += (part.T @ (label.iloc[begin:end] - mean)).to_numpy()
        present += part.nnz
    deviations = np.array([float(frame[name].std(ddof=0)) for name in features]) * deviation
    found = np.divide(total / rows, deviations, where=deviations > 0, out=np.zeros(len(features)))
    return found, present / (rows * len(features))
