# SPDX-License-Identifier: Apache-2.0
"""Batches for training, compared with PyTorch's DataLoader; its environment has PyTorch."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch
from measure import Bench, Rival, run
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler, TensorDataset

import headrace as hr

PACKAGES = ["numpy", "torch"]
COLUMNS, BATCH = 8, 4096
#: Rows that a loader of single rows gets: its time is one of rows.
FEW = 100_000


class Rows(Dataset[Any]):
    """Rows one by one, as most programs have them."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def __len__(self) -> int:
        return len(self.matrix)

    def __getitem__(self, row: int) -> Any:
        return self.matrix[row]


def totals(batches: Iterable[Any]) -> tuple[int, Any]:
    """What a training step would at least do: read each batch; rows and sums of columns.

    By NumPy: PyTorch's threads spin between sums, which takes the cores from both sides.
    """
    rows, total = 0, np.zeros(COLUMNS)
    for batch in batches:
        rows += len(batch)
        total += batch.numpy().sum(0, dtype=np.float64)
    return rows, total


def sampled(data: TensorDataset, seed: int) -> Iterator[Any]:
    """Whole batches of a tensor by lists of row numbers."""
    source = RandomSampler(data, generator=torch.Generator().manual_seed(seed))
    for rows in BatchSampler(source, BATCH, drop_last=False):
        yield data[rows][0]


def same(ours: Any, theirs: Any) -> str:
    """Each row once: their number, and the sums of columns."""
    assert ours[0] == theirs[0], (ours[0], theirs[0])
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-9)
    return "rows and sums equal"


def steps(bench: Bench, rows: int) -> None:
    """Shuffled epochs: by rows of few, by batches of many, of a frame and of a file."""
    rng = np.random.default_rng(0)
    names = [f"x{i}" for i in range(COLUMNS)]
    for count, step in ((FEW, "row dataset"), (max(rows, FEW), "tensor dataset")):
        matrix = rng.normal(size=(count, COLUMNS)).astype("float32")
        frame = hr.DataFrame(dict(zip(names, np.ascontiguousarray(matrix.T), strict=True)))
        ours = hr.torch.Loader(frame, BATCH, features=names, seed=1)
        tensor = torch.from_numpy(matrix)
        if step == "row dataset":
            theirs: Any = DataLoader(Rows(tensor), batch_size=BATCH, shuffle=True)
            rivals = [Rival("DataLoader", lambda r=theirs: totals(r), 20.0)]
        else:
            data = TensorDataset(tensor)
            rivals = [Rival("BatchSampler", lambda d=data: totals(sampled(d, 1)), 1.5)]
        name = f"{step}: {COLUMNS} columns, batch {BATCH}"
        bench.step(
            name, lambda o=ours: totals(o), rivals, same, moved=2 * matrix.nbytes, rows=count
        )


if __name__ == "__main__":
    sys.exit(run("loaders", __doc__, PACKAGES, steps))
