# SPDX-License-Identifier: Apache-2.0
"""Compares the benchmarks of two built trees in pairs: tools/compare_builds.py BEFORE TASK...

BEFORE is another checkout with its own build; this tree is the one after it. Each task runs in the
two trees in turn, in fresh processes, each with the scripts of its tree and without competitors. A
ratio is the median time before over the median time after: below 1x, this tree is slower.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import runpy
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: How this script calls itself in a tree, to run one task there without competitors.
ALONE = "--alone"


def run_alone(script: str) -> None:
    """Run a task's script with our own work alone."""
    import measure

    step, fresh = measure.Bench.step, measure.Bench.fresh

    def alone(run, self, name, ours, rivals, *rest, **options):
        known = len(self.rows)
        run(self, name, ours, [], *rest, **options)
        for row in self.rows[known:][:1]:  # tasks sum up what they find of each competitor
            self.rows += [row | {"engine": rival.name, "ratio": 1.0} for rival in rivals]

    def step_alone(self, *rest, **options):
        alone(step, self, *rest, **options)

    def fresh_alone(self, *rest, **options):
        alone(fresh, self, *rest, **options)

    measure.Bench.step, measure.Bench.fresh = step_alone, fresh_alone
    runpy.run_path(script, run_name="__main__")


def times_of(tree: Path, task: str, options: argparse.Namespace, folder: Path) -> dict[str, float]:
    """Run a task in a tree once: median seconds by step."""
    output = folder / f"{task}.jsonl"
    output.unlink(missing_ok=True)
    path = os.pathsep.join(
        [f"{tree / 'build/dev/site'}", f"{tree / 'bench'}", os.environ.get("PYTHONPATH", "")]
    )
    line = [sys.executable, __file__, ALONE, str(tree / "bench/peers" / f"{task}.py")]
    line += ["--runs", str(options.runs), "--folder", str(options.folder or folder)]
    line += ["--output", str(output)] + (["--rows", str(options.rows)] if options.rows else [])
    done = subprocess.run(
        line, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    if not output.exists():
        raise SystemExit(f"{task} in {tree} did not run:\n{done.stderr[-2000:]}")
    lines = [json.loads(text) for text in output.read_text().splitlines()]
    return {line["step"]: line["median_s"] for line in lines if line["kind"] == "step"}


def main() -> None:
    """Print a line a step, and the geometric mean of each task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, help="the other tree")
    parser.add_argument("tasks", nargs="+", help="tasks of ./dev bench")
    parser.add_argument("--rows", type=int, help="rows of the input (default: of the task)")
    parser.add_argument("--runs", type=int, default=3, help="runs of a step in a process")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each tree")
    parser.add_argument("--processors", type=int, default=2, help="processors to use")
    parser.add_argument("--folder", type=Path, help="keep the input files here, use them again")
    parser.add_argument("--output", type=Path, help="append JSON lines to this file")
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.processors])
    trees = {"before": options.before.resolve(), "after": ROOT}
    for task in options.tasks:
        with tempfile.TemporaryDirectory() as name:
            times: dict[str, dict[str, list[float]]] = {tree: {} for tree in trees}
            for _ in range(options.rounds):
                for tree, path in trees.items():
                    for step, seconds in times_of(path, task, options, Path(name)).items():
                        times[tree].setdefault(step, []).append(seconds)
        ratios = []
        for step in times["before"].keys() & times["after"].keys():
            before, after = (statistics.median(times[tree][step]) for tree in trees)
            best = min(times["before"][step]) / min(times["after"][step])
            ratios.append((before / after, best, step, before, after))
        for ratio, best, step, before, after in sorted(ratios):
            print(
                f"{task:9} {step:32} {before * 1e3:9.2f} ms {after * 1e3:9.2f} ms "
                f"{ratio:6.2f}x, best of each {best:.2f}x",
                flush=True,
            )
            if options.output:
                row = {"task": task, "kind": "pair", "step": step, "before_s": before}
                row |= {"after_s": after, "ratio": ratio, "ratio_of_best": best}
                with options.output.open("a") as file:
                    file.write(json.dumps(row) + "\n")
        if ratios:
            mean = math.exp(statistics.fmean(math.log(ratio[0]) for ratio in ratios))
            print(f"{task:9} mean of {len(ratios)} steps {mean:.2f}x", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == [ALONE]:
        sys.argv = sys.argv[2:]
        run_alone(sys.argv[0])
    else:
        main()
