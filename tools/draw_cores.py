#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/pictures/cores.svg from the last run of `./dev bench cores`: `draw_cores.py`.

A line is an operator: its speed-up by threads, both on logarithmic axes.
"""

from __future__ import annotations

import math
import statistics
from typing import Any

from draw_speed import ROOT, drawing, last_run, machine_of

PICTURE = ROOT / "docs/pictures/cores.svg"
LEFT, RIGHT, TOP, BOTTOM = 30.0, 510.0, 40.0, 410.0
#: Least distance of labels.
LABEL = 14.0
COLORS = ("#c2410c", "#0f766e", "#1d4ed8", "#a21caf", "#4d7c0f", "#b45309", "#475569")


def apart(wanted: list[float], least: float, lowest: float) -> list[float]:
    """Move rising positions as far apart as labels need, none beyond the lowest."""
    made = list(wanted)
    for k in range(1, len(made)):
        made[k] = max(made[k], made[k - 1] + least)
    if made:
        made[-1] = min(made[-1], lowest)
    for k in range(len(made) - 2, -1, -1):
        made[k] = min(made[k], made[k + 1] - least)
    return made


def line(points: list[tuple[float, float]], color: str, more: str = "") -> str:
    """A thin line through some points."""
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f'<path d="M{path}" stroke="{color}" fill="none" {more}/>'


def picture(head: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """The picture of one run as SVG text."""
    times = {row["step"]: list(row["median_s"].values()) for row in rows}
    counts = sorted({int(count) for row in rows for count in row["median_s"]})
    if len(counts) < 2:
        raise SystemExit("draw_cores: the last run has one number of threads only")
    speedups = {step: [each[0] / time for time in each] for step, each in times.items()}
    every = [*counts, *(speedup for each in speedups.values() for speedup in each)]
    least, most = min(every), max(every)

    def point(count: float, speedup: float) -> tuple[float, float]:
        x, y = math.log(count) / math.log(counts[-1]), math.log(speedup / least)
        return LEFT + x * (RIGHT - LEFT), BOTTOM - y / math.log(most / least) * (BOTTOM - TOP)

    body = [f'<text x="0" y="16" font-weight="600">Speed-up by threads, 1 to {counts[-1]}</text>']
    for count in counts:
        x, y = point(count, count)
        body.append(
            line([(x, TOP), (x, BOTTOM)], "#e2e8f0")
            + line([(LEFT, y), (RIGHT, y)], "#e2e8f0")
            + f'<text x="{x:.1f}" y="{BOTTOM + 16:.1f}" text-anchor="middle">{count}</text>'
            + f'<text x="{LEFT - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{count}x</text>'
        )
    body.append(
        line([point(count, count) for count in counts], "#475569", 'stroke-dasharray="5 4"')
    )
    order = sorted(speedups, key=lambda step: -speedups[step][-1])
    labels = apart([point(1, speedups[step][-1])[1] for step in order], LABEL, BOTTOM)
    for k, (step, y) in enumerate(zip(order, labels, strict=True)):
        color, last = COLORS[k % len(COLORS)], speedups[step][-1]
        points = [point(*each) for each in zip(counts, speedups[step], strict=True)]
        body.append(
            line(points, color)
            + line([points[-1], (RIGHT + 14, y)], color, 'stroke-width="0.4"')
            + f'<text x="{RIGHT + 18:.1f}" y="{y + 4:.1f}" font-size="11" fill="{color}">'
            f"{last:.1f}x {step}</text>"
        )
    mean = statistics.geometric_mean(each[-1] for each in speedups.values())
    note = (
        f"Geometric mean {mean:.1f}x with {counts[-1]} threads; dashed: ideal. "
        f"{machine_of(head)}, {str(head['date'])[:10]}; bench/results"
    )
    body.append(f'<text x="0" y="{BOTTOM + 38:.1f}" font-size="11">{note}</text>')
    return drawing(body, BOTTOM + 50)


if __name__ == "__main__":
    try:
        PICTURE.write_text(picture(*last_run("cores", "cores")))
    except FileNotFoundError:
        raise SystemExit("draw_cores: no results yet; run ./dev bench cores") from None
