#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of benchmarks for the documentation site, drawn from `bench/results`.

A page is a file of results. The last run of each step counts, and each step is shown: those that
are slower than a rival, and those that miss their bar, too.
"""

from __future__ import annotations

import html
import json
import math
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench/results"
OURS = "headrace"
ROW, LEFT, WIDE = 18, 330, 360
COLORS = ("#94a3b8", "#0f766e", "#b45309", "#1d4ed8", "#a21caf", "#4d7c0f")
#: Ratios of the picture's ends.
LEAST, MOST = 0.25, 64.0

Row = dict[str, Any]


def last_steps(path: Path) -> tuple[dict[str, Row], dict[tuple[str, str], Row]]:
    """The heads of runs by id, and the last measurement of each step and engine."""
    heads: dict[str, Row] = {}
    steps: dict[tuple[str, str], Row] = {}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        if row.get("kind") == "run":
            heads[row["run"]] = row
        elif row.get("kind") == "step" and isinstance(row.get("median_s"), float):
            steps[row["step"], row["engine"]] = row
    return heads, steps


def ratios(steps: dict[tuple[str, str], Row]) -> dict[str, dict[str, float]]:
    """By step and rival: the rival's time over ours, of the same run."""
    made: dict[str, dict[str, float]] = {}
    for (step, engine), row in steps.items():
        ours = steps.get((step, OURS))
        if engine != OURS and ours and ours["run"] == row["run"] and ours["median_s"] > 0:
            made.setdefault(step, {})[engine] = row["median_s"] / ours["median_s"]
    return made


def picture(found: dict[str, dict[str, float]], colors: dict[str, str]) -> str:
    """Ratios as dots on a logarithmic axis: right of the line we are faster."""

    def x(ratio: float) -> float:
        share = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
        return LEFT + WIDE * share

    high = ROW * len(found) + 44
    parts = []
    for ratio in (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64):
        width = 2 if ratio == 1 else 1
        parts.append(
            f'<path d="M{x(ratio):.1f} 18V{high - 22}" stroke="#64748b" stroke-width="{width}" '
            f'opacity="{1 if ratio == 1 else 0.3}"/>'
            f'<text x="{x(ratio):.1f}" y="12" text-anchor="middle">{ratio:g}x</text>'
        )
    for place, (step, by) in enumerate(found.items()):
        y = 30 + ROW * place
        name = html.escape(step if len(step) < 52 else f"{step[:50]}...")
        parts.append(f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{name}</text>')
        for rival, ratio in by.items():
            title = f"<title>{html.escape(f'{step}: {rival} {ratio:.2f}x')}</title>"
            dot = f'cx="{x(ratio):.1f}" cy="{y}" r="5" fill="{colors[rival]}" fill-opacity="0.85"'
            parts.append(f"<circle {dot}>{title}</circle>")
    at = float(LEFT)
    for rival, color in colors.items():
        parts.append(
            f'<circle cx="{at}" cy="{high - 8}" r="5" fill="{color}"/>'
            f'<text x="{at + 9}" y="{high - 4}">{html.escape(rival)}</text>'
        )
        at += 26 + 7 * len(rival)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="720" viewBox="0 0 {max(720, at)} {high}" '
        f'style="max-width:100%" role="img" aria-label="Times as fast as rivals" '
        f'font-family="system-ui,sans-serif" font-size="12" fill="#64748b">{"".join(parts)}</svg>'
    )


def machine(head: Row) -> str:
    """Where a run was measured."""
    of = head["machine"]
    gpu = f", {of['gpu'].partition(',')[0]}" if "gpu" in of else ""
    versions = {name: v for name, v in head["versions"].items() if name != "python"}
    rivals = ", ".join(f"{name} {version}" for name, version in versions.items())
    threads = head.get("threads", of["cores"])
    return f"{of['cpu']}, {threads} threads, {of['memory_gb']} GB{gpu}; {rivals}"


def page_of(path: Path) -> str | None:
    """The page of a file of results; None if it compares no times."""
    heads, steps = last_steps(path)
    found = ratios(steps)
    if not found:
        return None
    rivals = sorted({rival for by in found.values() for rival in by})
    behind = sum(ratio < 1 for by in found.values() for ratio in by.values())
    count = sum(map(len, found.values()))
    used = sorted({steps[step, OURS]["run"] for step in found} & heads.keys())
    days = sorted(str(heads[run]["date"])[:10] for run in used)
    when = f" Measured {days[0]} to {days[-1]}." if days else ""
    lines = [
        f"# {path.stem}",
        "",
        "Times of rivals over ours, of the same run: right of 1x we are faster. "
        f"{count} comparisons, {behind} of them lost.{when}",
        "",
        *(f"- {machine(heads[run])}" for run in used[-3:]),
        "",
        f"![Times as fast as rivals](pictures/{path.stem}.svg)",
        "",
        "| step | ours | " + " | ".join(rivals) + " |",
        "|---|---|" + "---|" * len(rivals),
    ]
    for step, by in found.items():
        ours = steps[step, OURS]["median_s"]
        cells = [f"{by[rival]:.2f}x" if rival in by else "" for rival in rivals]
        name = step.replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")
        lines.append(f"| {name} | {seconds(ours)} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def seconds(time: float) -> str:
    """A time with a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if time >= size:
            return f"{time / size:.3g} {unit}"
    return f"{time * 1e6:.3g} µs"


def write(folder: Path) -> list[str]:
    """Write the pages and their pictures; returns the names of the pages."""
    (folder / "pictures").mkdir(parents=True)
    names = []
    for path in sorted(RESULTS.glob("*.jsonl")):
        if (page := page_of(path)) is not None:
            (folder / f"{path.stem}.md").write_text(page)
            found = ratios(last_steps(path)[1])
            rivals = sorted({rival for by in found.values() for rival in by})
            colors = {rival: COLORS[k % len(COLORS)] for k, rival in enumerate(rivals)}
            (folder / f"pictures/{path.stem}.svg").write_text(picture(found, colors))
            names.append(path.stem)
    return names
