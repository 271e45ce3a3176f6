#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/pictures/speed.svg from the last runs in bench/results: `python tools/draw_speed.py`.

A bar is the sum of the median times of a task's steps; of engines with several modes (Polars lazy,
eager, streaming) each step counts its fastest one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs/pictures/speed.svg"
ENGINES = ("headrace", "polars", "duckdb", "pandas")
LABELS = {"headrace": "Headrace", "polars": "Polars", "duckdb": "DuckDB", "pandas": "pandas"}
COLORS = {"headrace": "#c2410c", "polars": "#64748b", "duckdb": "#94a3b8", "pandas": "#cbd5e1"}


class Task(NamedTuple):
    """A group of bars: steps of one file of results."""

    title: str
    file: str
    steps: tuple[str, ...]  # their first words; empty for all


TASKS = (
    Task("TPC-H, scale 1: 22 queries", "tpch", ()),
    Task("group-by, 10⁷ rows: 20 queries of db-benchmark", "groups", ("q",)),
    Task("join, 10⁷ rows: 5 queries of db-benchmark", "joins", ("q",)),
    Task("sort of 10⁷ rows by strings", "frames", ("sort by strings",)),
    Task("read_csv: 500 MB of numbers", "ecg", ("read_csv f64",)),
)


def last_run(file: str, kind: str = "step") -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The head of the last run in a file of results, and its lines of a kind."""
    head: dict[str, Any] = {}
    steps: list[dict[str, Any]] = []
    for line in (ROOT / f"bench/results/{file}.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["kind"] == "run":
            head, steps = entry, []
        elif entry["kind"] == kind:
            steps.append(entry)
    return head, steps


def machine_of(head: dict[str, Any]) -> str:
    """Cores and memory of the machine of a run."""
    machine = head["machine"]
    return f"{machine['cores']} cores ({machine['cpu']}), {machine['memory_gb']} GB"


def drawing(body: list[str], height: float) -> str:
    """A picture of elements as SVG text."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 0 760 {height}" '
        'font-family="system-ui,sans-serif" font-size="12" fill="#475569">\n'
        '<rect x="-8" width="760" height="100%" fill="#fff"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def seconds(task: Task) -> dict[str, float]:
    """Total seconds of each engine that ran all steps of a task."""
    best: dict[str, dict[str, float]] = {}
    for entry in last_run(f"{task.file}-cpu")[1]:
        step, engine = str(entry["step"]), str(entry["engine"]).split()[0]
        if engine in ENGINES and (not task.steps or step.startswith(task.steps)):
            times = best.setdefault(engine, {})
            times[step] = min(times.get(step, 1e9), float(str(entry["median_s"])))
    return {
        e: sum(best[e].values()) for e in ENGINES if len(best.get(e, ())) == len(best["headrace"])
    }


def picture() -> str:
    """The picture as SVG text."""
    left, wide, row, gap = 76, 550, 17, 34
    body, y = [], 12
    dates = sorted(str(last_run(f"{task.file}-cpu")[0]["date"])[:10] for task in TASKS)
    machine = machine_of(last_run("groups-cpu")[0])
    for task in TASKS:
        times = seconds(task)
        most = max(times.values())
        body.append(f'<text x="0" y="{y + 12}" font-weight="600">{task.title}</text>')
        y += 20
        for engine, time in times.items():
            size = wide * time / most
            ratio = "" if engine == "headrace" else f" ({time / times['headrace']:.1f}x)"
            body.append(
                f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{LABELS[engine]}</text>'
                f'<rect x="{left}" y="{y + 2}" width="{size:.1f}" height="{row - 4}" '
                f'fill="{COLORS[engine]}"/>'
                f'<text x="{left + size + 6:.1f}" y="{y + 12}">{time:.2f} s{ratio}</text>'
            )
            y += row
        y += gap - row
    note = (
        "Seconds, less is better; Polars in its fastest mode per query. "
        f"{machine}, {dates[0]} to {dates[-1]}; bench/results"
    )
    body.append(f'<text x="0" y="{y + 8}" font-size="11">{note}</text>')
    return drawing(body, y + 22)


if __name__ == "__main__":
    PICTURE.write_text(picture())
