# SPDX-License-Identifier: Apache-2.0
"""hr.learn.xgboost_matrix compared with the way through NumPy: ./dev bench boost [--rows N]."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import xgboost
from measure import OURS, Bench, Rival, equal, run
from whole_job import status_bytes

import headrace as hr

PACKAGES = ["numpy", "xgboost-cpu"]
FEATURES = 30
MOST_ROWS = 1_000_000


def table(rows: int) -> hr.DataFrame:
    """Features of normal numbers, and a label that some of them decide."""
    rng = np.random.default_rng(1)
    frame = hr.DataFrame({f"x{i}": frozen(rng.normal(size=rows)) for i in range(FEATURES)})
    frame["y"] = (frame["x0"] + frame["x1"] * frame["x2"] > 0).astype("float32")
    hr.eval(frame)
    return frame


def frozen(x: np.ndarray) -> np.ndarray:
    """Memory that a frame shares."""
    x.setflags(write=False)
    return x


def ours(frame: hr.DataFrame) -> Any:
    return hr.learn.xgboost_matrix(frame, label="y")


def theirs(frame: hr.DataFrame, made: Any = xgboost.QuantileDMatrix) -> Any:
    return made(frame.drop(columns="y").to_numpy(), frame["y"].to_numpy())


def cuts(matrix: Any) -> tuple[np.ndarray, ...]:
    return matrix.get_quantile_cut()


def trained(matrix: Any) -> np.ndarray:
    """The first tree, for which a `DMatrix` is binned, and its predictions."""
    parameters = {"objective": "binary:logistic", "tree_method": "hist"}
    return xgboost.train(parameters, matrix, 1).predict(matrix)


def steps(bench: Bench, rows: int) -> None:
    """Matrices of a frame in memory."""
    rows = min(rows, MOST_ROWS)
    frame = table(rows)
    moved = 9 * FEATURES * rows
    bench.step(
        f"matrix {rows:,} x {FEATURES}",
        lambda: ours(frame),
        [Rival("NumPy, QuantileDMatrix", lambda: theirs(frame), 1.3)],
        lambda a, b: equal(cuts(a), cuts(b)),
        moved,
        rows,
    )
    bench.step(
        f"matrix and one tree, {rows:,} x {FEATURES}",
        lambda: trained(ours(frame)),
        [Rival("NumPy, DMatrix", lambda: trained(theirs(frame, xgboost.DMatrix)), 1.3)],
        equal,
        moved,
        rows,
    )
    hr.memory.ledger().clear()
    ours(frame)
    bench.value("bytes copied", OURS, hr.memory.ledger().total_bytes, "bytes", most=0)
    bench.fresh(
        "new process",
        [str(Path(__file__).resolve()), "ENGINE", str(rows)],
        [Rival("NumPy", lambda: None)],
        equal_sums,
        rows,
        moved,
    )


def equal_sums(a: dict[str, Any], b: dict[str, Any]) -> str:
    assert a["cuts"] == b["cuts"]
    return "equal"


def alone(engine: str, rows: int) -> None:
    """Make data and matrix, and print the peak of both."""
    xgboost.QuantileDMatrix(np.ones((2, 1)))  # threads
    hr.eval(hr.asarray(np.ones(1000)) + 1)
    resident = status_bytes("VmRSS")
    frame = table(rows)
    data = status_bytes("VmHWM") - resident
    matrix = (ours if engine == OURS else theirs)(frame)
    peak = status_bytes("VmHWM") - resident
    total = float(sum(part.astype("f8").sum() for part in cuts(matrix)))
    print(json.dumps({"cuts": total, "data_bytes": data, "peak_bytes": peak}))


if __name__ == "__main__":
    if sys.argv[1:2] in ([OURS], ["NumPy"]):
        alone(sys.argv[1], int(sys.argv[2]))
    else:
        sys.exit(run("boost", __doc__, PACKAGES, steps))
