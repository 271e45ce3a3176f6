# SPDX-License-Identifier: Apache-2.0
"""Loans to boosted trees in a quarter of the memory: python examples/mortgage/main.py [--help]."""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import sys
import zlib
from pathlib import Path

import loans
import numpy as np
from job import Result, run

import headrace as hr

SHARE = 4  #: the limit is this part of the peak
LEAST_LOANS = 4000


def made_up(cache: Path, count: int, files: int) -> loans.Files:
    """The files of synthetic loans in `cache`, made if they are not there."""
    code = zlib.crc32(Path(loans.__file__).read_bytes())
    folder = cache / f"mortgage-{count}-{files}-{code:08x}"
    if not folder.exists():
        partial = cache / f".{folder.name}.{os.getpid()}"
        try:
            loans.write(partial, count, files)
            partial.replace(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return loans.Files(*(f"{folder}/{name}*.txt*" for name in ("Acquisition", "Performance")))


def lines(free: Result, short: Result, limit: int) -> list[str]:
    """What the two runs show."""
    spilled = hr.memory.spill()
    best = sorted(free.gains, key=free.gains.get, reverse=True)[:5]
    digests = [hashlib.sha256(each.model).hexdigest()[:16] for each in (free, short)]
    same = free.model == short.model
    return [
        f"rows: {free.rows:,} with {len(free.features)} features, {free.late:.1%} labelled late",
        f"CSR: {free.present:.0%} of the values are not 0",
        f"peak without a limit: {free.peak:,} bytes",
        f"under the limit of {limit:,} bytes: peak {short.peak:,}, spilled to disk "
        f"{spilled.evicted_bytes:,} and fetched {spilled.fetched_bytes:,}",
        f"XGBoost's own bins, in neither: {short.bins:,} bytes",
        f"area under the ROC curve on the later rows: {short.area:.4f}",
        f"features of most gain: {', '.join(f'{name} {free.gains[name]:.1%}' for name in best)}",
        f"model: {digests[0]} and {digests[1]}, {'equal' if same else 'DIFFERENT'}",
    ]


def save(path: Path, free: Result, short: Result, limit: int, held: int) -> None:
    """Write the report page."""
    report = hr.report.Report(
        "Mortgages: text files to boosted trees",
        f"{free.rows:,} rows, once without a limit of memory and once under a quarter of what "
        "that took",
    )
    report.add_facts(
        {
            "rows": free.rows,
            "peak without a limit": f"{free.peak / 1e6:.3g} MB",
            "limit": f"{limit / 1e6:.3g} MB",
            "peak under it": f"{short.peak / 1e6:.3g} MB",
            "XGBoost's own bins": f"{short.bins / 1e6:.3g} MB",
            "ROC area, later rows": f"{short.area:.4f}",
            "models": "equal" if free.model == short.model else "different",
        }
    )
    for title, result in (("under the limit", short), ("without a limit", free)):
        times, used = result.meter.samples()
        thin = max(1, len(times) // 2000)
        at, line = times[::thin], (used[::thin] - held) / 1e6
        shown = {"memory of the engine": (at, line)}
        if result is short:
            shown["limit"] = (at[[0, -1]], np.full(2, limit / 1e6))
        report.add_lines(
            f"Memory over time, {title}",
            shown,
            x="time [s]",
            y="held [MB]",
            bands=[
                (each.name, each.begin, each.begin + each.seconds) for each in result.meter.steps
            ],
            note="Bytes in live buffers of the engine, every 2 ms. What XGBoost holds is its own.",
        )
    ranked = sorted(
        zip(free.features, free.gains.values(), free.correlations.tolist(), strict=True),
        key=lambda row: -row[1],
    )
    report.add_table(
        "Feature importances",
        ["feature", "share of the gain", "correlation with the label"],
        ranked,
        bars=["share of the gain"],
        note=(
            "Gain: what splits by a feature take from the loss, of all splits of the model. "
            "Features that begin with ever_ look at the whole life of a loan."
        ),
    )
    for title, result in (("under the limit", short), ("without a limit", free)):
        report.add_table(f"Steps {title}", *result.meter.table(), bars=["of bandwidth"])
    report.add_table("Environment", ["what", "value"], list(hr.info().items()))
    report.save(path)


def main() -> int:
    """Run the job twice; exit status 1 if the models differ."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--loans", type=int, default=40_000, help="29 rows each (40000)")
    parser.add_argument("--files", type=int, default=112, choices=[1, 112], help="(112)")
    parser.add_argument("--rounds", type=int, default=30, help="trees of the model (30)")
    parser.add_argument("--cache", type=Path, default=Path("build/demo"), help="for the files")
    parser.add_argument("--output", type=Path, default=Path("mortgage-report"), help="a folder")
    options = parser.parse_args()
    if options.loans < LEAST_LOANS:
        parser.error(
            f"--loans {options.loans}: expected {LEAST_LOANS} or more: a quarter of the "
            "memory must hold what the threads work on"
        )
    files = made_up(options.cache, options.loans, options.files)
    free = run(files, options.rounds)
    hr.memory.trim()
    held, limit = hr.memory.stats().used_bytes, free.peak // SHARE
    with hr.memory.limit(held + limit):
        short = run(files, options.rounds)
    save(options.output / "index.html", free, short, limit, held)
    for title, result in (("without a limit", free), ("under the limit", short)):
        print(f"{title}\n{result.meter.text()}\n")
    print(*lines(free, short, limit), sep="\n")
    print(f"report: {options.output / 'index.html'}")
    return int(free.model != short.model)


if __name__ == "__main__":
    sys.exit(main())
