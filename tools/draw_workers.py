#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/pictures/workers.svg: the ETL of loans over four workers, one of which is killed.

Usage: draw_workers.py [LOANS]: 100,000. Writes the loans of examples/mortgage to a temporary
folder, makes features and labels of them with a cluster, kills a worker in the middle, and samples
what each worker holds. The answer must be that of one process.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from draw_cores import COLORS, line
from draw_speed import ROOT, drawing

sys.path.append(str(ROOT / "examples/mortgage"))

import cloudpickle
import etl
import loans as text_files

import headrace as hr

for each in (etl, text_files):
    cloudpickle.register_pickle_by_value(each)

PICTURE = ROOT / "docs/pictures/workers.svg"
LEFT, RIGHT, TOP, HEIGHT, GAP = 60.0, 700.0, 44.0, 64.0, 16.0
WORKERS, PARTITIONS, BUDGET = 4, 16, 4_000_000_000
SUMS = ["delinquency_12", "ever_30", "ever_90", "ever_180"]


def features(months: Any, loans: Any) -> Any:
    """The sums of labels over the loans of a partition, and how many rows there are."""
    made = etl.etl(hr, months, loans)
    sums = {name: [int(made[name].sum().item())] for name in SUMS}
    return hr.DataFrame({**sums, "rows": [len(made)]})


def over_workers(cluster: Any, files: Any) -> Any:
    """The whole work as a collection: read, bring the months of a loan together, make features."""
    import dask.dataframe as dd

    parts = []
    kinds = (
        (files.performance, text_files.PERFORMANCE),
        (files.acquisition, text_files.ACQUISITION),
    )
    for pattern, dtypes in kinds:
        paths = sorted(map(str, Path(pattern).parent.glob(Path(pattern).name)))
        rows = cluster.read_csv(
            paths, sep="|", header=None, names=list(dtypes), dtypes=dtypes, blocksize="16MB"
        )
        parts.append(rows.shuffle("loan_id", npartitions=PARTITIONS))
    meta = hr.DataFrame({name: hr.Series([], dtype="int64") for name in [*SUMS, "rows"]})
    return dd.map_partitions(features, *parts, meta=meta, align_dataframes=False).sum()


def held(pid: int) -> int:
    """Anonymous and shared memory of a process in bytes; 0 once it has ended."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    wanted = ("RssAnon:", "RssShmem:")
    return sum(int(row.split()[1]) << 10 for row in text.splitlines() if row.startswith(wanted))


class Sampler(threading.Thread):
    """What each worker holds, again and again."""

    def __init__(self, pids: list[int], parent: int) -> None:
        super().__init__(daemon=True)
        self.parent, self.lanes = parent, [[pid] for pid in pids]
        self.start_s, self.is_over = time.perf_counter(), False
        #: By lane: process, seconds, bytes.
        self.seen: list[list[tuple[int, float, int]]] = [[] for _ in self.lanes]

    def run(self) -> None:
        """Sample each 20 ms; a process that is new takes the lane of one that ended."""
        while not self.is_over:
            now = time.perf_counter() - self.start_s
            self._look_for_new()
            for lane, seen in zip(self.lanes, self.seen, strict=True):
                seen.append((lane[-1], now, held(lane[-1])))
            time.sleep(0.02)

    def _look_for_new(self) -> None:
        """Give the process that starts for one that ended its lane."""
        alive = set()
        for task in Path(f"/proc/{self.parent}/task").glob("*/children"):
            alive.update(map(int, task.read_text().split()))
        for pid in alive - {pid for lane in self.lanes for pid in lane}:
            ended = [lane for lane in self.lanes if lane[-1] not in alive]
            if ended:
                ended[0].append(pid)


def measure(loans: int) -> tuple[Sampler, float, float]:
    """Run the work, kill a worker, compare; the samples, and when it was killed and over."""
    with tempfile.TemporaryDirectory() as name:
        files = text_files.write(Path(name) / "loans", loans)
        whole = etl.etl(hr, *etl.read(files))
        wanted = [*(int(whole[each].sum().item()) for each in SUMS), len(whole)]
        del whole
        with hr.cluster(workers=WORKERS, memory=BUDGET, threads=1) as cluster:
            client = cluster.client
            start = time.perf_counter()
            over_workers(cluster, files).compute()
            usual = time.perf_counter() - start
            (parent,) = set(client.run(os.getppid).values())
            sampler = Sampler(list(client.run(os.getpid).values()), parent)
            sampler.start()
            future = client.compute(over_workers(cluster, files))
            time.sleep(0.45 * usual)
            os.kill(sampler.lanes[1][0], signal.SIGKILL)
            killed = time.perf_counter() - sampler.start_s
            found = [int(each) for each in future.result().to_dict().values()]
            ended = time.perf_counter() - sampler.start_s
            sampler.is_over = True
            sampler.join()
    if found != wanted:
        raise SystemExit(f"draw_workers: the answer differs: got={found}, expected={wanted}")
    return sampler, killed, ended


def picture(sampler: Sampler, killed: float, ended: float, loans: int) -> str:
    """The picture of one run as SVG text: a lane for each worker."""
    most = max(size for seen in sampler.seen for _, _, size in seen)
    title = "The ETL of loans over four workers: memory of each"
    body = [f'<text x="0" y="16" font-weight="600">{title}</text>']

    def across(second: float) -> float:
        return LEFT + second / ended * (RIGHT - LEFT)

    for at, seen in enumerate(sampler.seen):
        base = TOP + at * (HEIGHT + GAP) + HEIGHT
        color = COLORS[at]
        body.append(line([(LEFT, base), (RIGHT, base)], "#e2e8f0"))
        body.append(f'<text x="0" y="{base - 4:.1f}">worker {at + 1}</text>')
        for pid in dict.fromkeys(each[0] for each in seen):
            points = [(across(s), base - b / most * HEIGHT) for p, s, b in seen if p == pid and b]
            if len(points) > 1:
                body.append(
                    line(points[:: max(1, len(points) // 300)], color, 'stroke-width="1.4"')
                )
    top, bottom = TOP + HEIGHT + GAP, TOP + 2 * HEIGHT + GAP
    body.append(line([(across(killed), top), (across(killed), bottom)], "#0f172a"))
    body.append(f'<text x="{across(killed) + 5:.1f}" y="{top + 10:.1f}">kill -9</text>')
    bottom = TOP + WORKERS * (HEIGHT + GAP)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        body.append(
            f'<text x="{across(share * ended):.1f}" y="{bottom + 6:.1f}" text-anchor="middle">'
            f"{share * ended:.1f} s</text>"
        )
    note = (
        f"{loans:,} loans in 140 text files; the highest line is {most / 1e6:,.0f} MB, and one "
        f"budget of {BUDGET / 1e9:g} GB holds for all. The answer is that of one process."
    )
    body.append(f'<text x="0" y="{bottom + 30:.1f}" font-size="11">{note}</text>')
    return drawing(body, bottom + 42)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    PICTURE.write_text(picture(*measure(count), count))
