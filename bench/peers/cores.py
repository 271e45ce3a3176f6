# SPDX-License-Identifier: Apache-2.0
"""Operators with 1 to 16 threads: speed-up, serial part, memory traffic: ./dev bench cores.

The answers must have the same bits with any number of threads. `--simulate` records the tasks of
each operator with one thread and replays them on more workers than the machine may have.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from itertools import chain, repeat
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pyarrow as pa
from measure import OURS, Bench, calls_a_run, parse, time_of, timed
from scaling_operators import OPERATORS, Operator
from simulate_tasks import replay_steps

import headrace as hr

PACKAGES = ["numpy", "polars", "pyarrow"]
FULL = 30_000_000
RUNS = 5
COUNTS = (1, 2, 4, 8, 16)
VIRTUAL = (16, 32, 64)
#: The geometric mean of the speed-ups with the most threads of COUNTS.
LEAST = 11


# ---- answers -------------------------------------------------------------------------------------
def parts_of(answer: Any) -> Iterable[Any]:
    """The values of an answer as NumPy arrays; of strings, where each ends and all bytes."""
    if isinstance(answer, int | float | hr.Array):
        yield np.asarray(answer)
        return
    frame = answer if isinstance(answer, hr.DataFrame) else answer.to_frame()
    for values in frame.to_arrow().combine_chunks().columns:
        if pa.types.is_string_view(values.type) or pa.types.is_string(values.type):
            ends, data = values.cast(pa.large_string()).combine_chunks().buffers()[1:]
            yield from (np.frombuffer(ends, np.int64), np.frombuffer(data, np.uint8))
        else:
            assert values.null_count == 0, "the answer has nulls"
            yield values.to_numpy()


def digest(answer: Any) -> tuple[str, int]:
    """A digest of all bits of an answer, and its bytes."""
    found, size = hashlib.blake2b(), 0
    for part in parts_of(answer):
        found.update(f"{part.dtype} {part.shape}".encode())
        found.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
        size += part.nbytes
    return found.hexdigest(), size


# ---- times ---------------------------------------------------------------------------------------
def times_of(
    step: str, work: Callable[[], Any], counts: list[int], runs: int
) -> tuple[dict[int, list[float]], int]:
    """Seconds of each run with each number of threads, in turn, and the bytes of the answer."""
    answers, calls = {}, {}
    for count in counts:
        with hr.threads(count):
            answer, seconds, _ = timed(work)
            answers[count] = digest(answer)
            del answer
            calls[count] = 1 if seconds > 0.1 else calls_a_run(work)
        if answers[count] != answers[counts[0]]:
            raise AssertionError(f"{step}: another answer with {count} threads than with 1")
    times: dict[int, list[float]] = {count: [] for count in counts}
    for _ in range(runs):
        for count in counts:
            with hr.threads(count):
                times[count].append(time_of(work, calls[count])[0])
    return times, answers[counts[0]][1]


def fit(seconds: dict[int, float]) -> tuple[float, float] | None:
    """Least squares of the relative error of serial + parallel / threads, neither below zero."""
    if len(seconds) < 2:
        return None
    rows = np.array([(1 / time, 1 / (count * time)) for count, time in seconds.items()])
    serial, parallel = np.linalg.lstsq(rows, np.ones(len(rows)))[0]
    if serial < 0 or parallel < 0:
        alone = [float(each.sum() / (each @ each)) for each in rows.T]
        serial, parallel = (0.0, alone[1]) if serial < 0 else (alone[0], 0.0)
    return float(serial), float(parallel)


def profiled(work: Callable[[], Any], runs: int) -> tuple[Any, int]:
    """The profile of the fastest of several runs, and its nanoseconds."""
    found = []
    gc.collect()
    for _ in range(runs):
        with hr.profile() as seen:
            begin = time.perf_counter_ns()
            result = work()
            found.append((time.perf_counter_ns() - begin, seen))
        del result
    nanoseconds, seen = min(found, key=lambda each: each[0])
    return seen, nanoseconds


# ---- forecasts -----------------------------------------------------------------------------------
def traffic(steps: list[Any], read: tuple[int, ...]) -> dict[int, int]:
    """The least bytes that each step moves: inputs, results, and the results that it reads."""
    results = {step.id: step.result_bytes for step in steps}
    return {
        step.id: inputs + step.result_bytes + sum(results.get(each, 0) for each in step.after)
        for step, inputs in zip(steps, chain(read, repeat(0)), strict=False)
    }


def forecasts(
    operator: Operator, medians: dict[int, float], runs: int, bandwidth: float
) -> dict[str, Any]:
    """Replay the tasks of a run with one thread on more workers.

    A step that would need more than half of the copy bandwidth is bound by memory: it counts with
    the time of a copy, if that is longer.
    """
    with hr.threads(1):
        seen, whole = profiled(operator.planned or operator.work, runs)
    outside = whole - sum(step.end_ns - step.begin_ns for step in seen.steps)
    moved = traffic(seen.steps, operator.read)
    in_parallel = {task.step for task in seen.tasks}
    workers = {}
    for count in sorted({*medians, *VIRTUAL}):
        total, bound = float(outside), []
        for step, ns in zip(seen.steps, replay_steps(seen.steps, seen.tasks, count), strict=True):
            need = moved[step.id] / max(ns, 1) * 1e9
            is_bound = step.id in in_parallel and need > bandwidth / 2
            total += max(ns, moved[step.id] / bandwidth * 1e9) if is_bound else ns
            if is_bound:
                bound.append({"op": step.op, "gb_per_s": need / 1e9})
        measured = medians.get(count)
        workers[count] = {
            "ms": total / 1e6,
            "bound_by_memory": bound,
            "measured_ms": measured and measured * 1e3,
            "difference": measured and total / 1e9 / measured - 1,
        }
    return {
        "recorded_ms": whole / 1e6,
        "outside_steps_ms": outside / 1e6,
        "steps": [
            {
                "op": step.op,
                "ms": step.seconds * 1e3,
                "tasks": sum(task.step == step.id for task in seen.tasks),
                "least_bytes": moved[step.id],
            }
            for step in seen.steps
        ],
        "workers": workers,
    }


# ---- the run -------------------------------------------------------------------------------------
def header(counts: list[int]) -> str:
    """The heads of the table's columns."""
    times = "".join(f"{f'{count} thr.':>11}" for count in counts)
    return (
        f"{'operator':30}{times} {'speed-up':>9} {'fit: serial':>12} {'cores':>6} {'serial':>10} "
        f"{'least GB/s':>11} {'of copy':>8}"
    )


def line_of(row: dict[str, Any]) -> str:
    """One line of the table."""
    times = "".join(f"{seconds * 1e3:>8.2f} ms" for seconds in row["median_s"].values())
    serial = "" if row["serial_ms"] is None else f"{row['serial_ms']:.2f} ms"
    return (
        f"{row['step']:30}{times} {row['speedup']:>8.2f}x {serial:>12} {row['cores']:>6.2f} "
        f"{row['profile_serial_ms']:>7.2f} ms {row['gb_per_s']:>11.1f} "
        f"{row['bandwidth_share']:>8.0%}"
    )


def forecast_lines(found: dict[str, Any]) -> Iterable[str]:
    """One line for each number of workers."""
    for count, each in found["workers"].items():
        steps = ", ".join(
            f"{step['op']} ({step['gb_per_s']:.0f} GB/s)" for step in each["bound_by_memory"]
        )
        yield (
            f"    forecast with {count:>2}: {'at least' if steps else '':8} {each['ms']:>8.2f} ms"
            + (
                f", measured {each['measured_ms']:.2f} ms ({each['difference']:+.0%})"
                if each["measured_ms"]
                else ""
            )
            + (f"; bound by memory: {steps}" if steps else "")
        )


def measure(
    bench: Bench, step: str, operator: Operator, counts: list[int], simulate: bool
) -> float:
    """Measure, print and record one operator; return its speed-up."""
    times, written = times_of(step, operator.work, counts, bench.runs)
    medians = {count: statistics.median(each) for count, each in times.items()}
    fitted, fastest = fit(medians), counts[-1]
    with hr.threads(fastest):
        seen, nanoseconds = profiled(operator.planned or operator.work, bench.runs)
    least = sum(operator.read) + written
    row = {
        "kind": "cores",
        "step": step,
        "rows": operator.rows,
        "runs": bench.runs,
        "median_s": medians,
        "min_s": {count: min(each) for count, each in times.items()},
        "spread": {n: (max(each) - min(each)) / medians[n] for n, each in times.items()},
        "speedup": medians[counts[0]] / medians[fastest],
        "serial_ms": fitted and fitted[0] * 1e3,
        "parallel_ms": fitted and fitted[1] * 1e3,
        "threads": fastest,
        "cores": sum(each.processor_ns for each in seen.steps) / nanoseconds,
        "profile_ms": nanoseconds / 1e6,
        "profile_serial_ms": sum(each.serial_ns for each in seen.steps) / 1e6,
        "least_bytes": least,
        "gb_per_s": least / medians[fastest] / 1e9,
        "bandwidth_share": least / medians[fastest] / bench.bandwidth,
    }
    print(line_of(row), flush=True)
    if simulate:
        row["forecast"] = forecasts(operator, medians, bench.runs, bench.bandwidth)
        print("\n".join(forecast_lines(row["forecast"])), flush=True)
    bench.keep(row)
    return float(row["speedup"])


def main() -> int:
    """Measure all operators."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--simulate", action="store_true", help="forecast more workers")
    options = parse("cores", parser, FULL, RUNS)
    counts = [count for count in COUNTS if count <= len(os.sched_getaffinity(0))]
    hr.threads(counts[-1])
    bench = Bench(
        "cores", PACKAGES, options.runs, options.output, options.only, folder=options.folder
    )
    print(f"a copy with {counts[-1]} threads: {bench.bandwidth / 1e9:.1f} GB/s")
    print(header(counts), flush=True)
    gc.collect()
    gc.freeze()  # or each collection before a measurement walks all that was imported
    speedups = [
        measure(bench, step, make(bench, options.rows), counts, options.simulate)
        for step, make in OPERATORS.items()
        if bench.wants(step)
    ]
    if speedups:
        is_whole = options.rows == FULL and not options.only and counts[-1] == COUNTS[-1]
        mean = statistics.geometric_mean(speedups)
        step = f"speed-up, {counts[-1]} threads, mean"
        bench.value(step, OURS, mean, "x", least=LEAST if is_whole else None)
    return bench.close()


if __name__ == "__main__":
    sys.exit(main())
