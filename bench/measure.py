# SPDX-License-Identifier: Apache-2.0
"""Compares engines: answers first, then timed runs in turn, then targets."""

from __future__ import annotations

import argparse
import datetime
import gc
import importlib.metadata
import importlib.util
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from headrace.demo.meter import copy_bandwidth

import headrace as hr

ROOT = Path(__file__).resolve().parents[1]
OURS = "headrace"
#: Threads of each engine.
WORKERS = int(os.environ.get("HEADRACE_BENCH_THREADS", "2"))
FULL = 20_000_000
#: Seconds before a run: OpenBLAS's threads spin for up to 0.1 s after a call, on our cores.
REST = 0.12
#: Rivals that not every machine has.
EXTRA = [name for name in ("bottleneck", "numexpr") if importlib.util.find_spec(name)]
DTYPES = {"f64": np.float64, "f32": np.float32}


class Rival(NamedTuple):
    """Another engine for a step; `bar` is the required speedup over it (None: only shown)."""

    name: str
    work: Callable[[], Any]
    bar: float | None = None
    #: Compares (ours, theirs): raises AssertionError, or tells how equal they are.
    same: Callable[[Any, Any], str] | None = None


# ---- answers -------------------------------------------------------------------------------------
def shared(x: Any) -> Any:
    """Our array on the memory of a frozen NumPy array, so that it stays lazy."""
    x.setflags(write=False)
    return hr.asarray(x)


def equal(ours: Any, theirs: Any) -> str:
    """Compare values bit for bit (NaN equals NaN)."""
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (ours, theirs)), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    return "equal"


def close_to(relative: float) -> Any:
    """Compare with a tolerance that is relative to the largest value."""

    def compare(ours: Any, theirs: Any) -> str:
        a, b = np.asarray(ours), np.asarray(theirs)
        assert a.shape == b.shape, f"shapes {a.shape} and {b.shape}"
        scale = float(np.abs(b).max()) if b.size else 1.0
        worst = float(np.abs(a - b).max()) / scale if b.size else 0.0
        assert worst <= relative, f"{worst:.1e} of the largest value apart, allowed {relative:.0e}"
        return f"within {worst:.0e} of the largest (allowed {relative:.0e})"

    return compare


def count_near(share: float) -> Any:
    """Compare two counts that follow different rules or rounding."""

    def compare(ours: Any, theirs: Any) -> str:
        a, b = (x if np.ndim(x) == 0 else np.count_nonzero(x) for x in (ours, theirs))
        assert abs(int(a) - int(b)) <= share * int(b), f"counts {a} and {b}, allowed {share:.0%}"
        return f"counts {int(a)} and {int(b)} (allowed {share:.0%})"

    return compare


# ---- times ---------------------------------------------------------------------------------------
def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    model = platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    found = {"cpu": model, "cores": len(os.sched_getaffinity(0)), "memory_gb": round(memory / 1e9)}
    if smi := shutil.which("nvidia-smi"):
        line = [smi, "--query-gpu=name,driver_version", "--format=csv,noheader"]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if name := done.stdout.strip():
            found["gpu"] = name.replace(", ", ", driver ")
    return found


def commit() -> str:
    """The commit of this tree, with a + when files differ from it."""
    git = ["git", "-C", str(ROOT)]
    try:
        name = subprocess.check_output([*git, "rev-parse", "--short", "HEAD"], text=True).strip()
        changed = subprocess.check_output([*git, "status", "--porcelain", "-uno"], text=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return name + ("+" if changed.strip() else "")


def time_of(work: Callable[[], Any], calls: int) -> tuple[float, float]:
    """Wall and processor seconds of one call, the mean of several calls.

    The result of a single call is freed outside the measurement.
    """
    gc.collect()
    time.sleep(REST)
    for _ in range(calls - 1):  # short calls do not measure how threads wake up
        work()
    cpu, begin = time.process_time(), time.perf_counter()
    for _ in range(calls):
        result = work()
    seconds, busy = time.perf_counter() - begin, time.process_time() - cpu
    del result
    return seconds / calls, busy / calls


def calls_a_run(work: Callable[[], Any]) -> int:
    """Enough calls for a run of about 20 ms: short steps are not timed with cold caches."""
    return min(1000, max(1, int(0.02 / time_of(work, 1)[0])))


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return a result, its wall and its processor seconds."""
    cpu, begin = time.process_time(), time.perf_counter()
    return work(), time.perf_counter() - begin, time.process_time() - cpu


def run_of(line: list[str]) -> tuple[dict[str, Any], float, float]:
    """Run a program: its JSON output, wall and processor seconds."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([sys.executable, *line], stdout=subprocess.PIPE, check=True)
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return json.loads(done.stdout), seconds, busy


class Bench:
    """A run over many steps: measures, prints, records JSON lines."""

    def __init__(
        self,
        task: str,
        packages: list[str],
        runs: int,
        output: Path | None,
        only: str = "",
        folder: Path | None = None,
    ) -> None:
        self.task, self.runs, self.output, self.only = task, max(runs, 1), output, only
        self.scratch = None if folder else tempfile.TemporaryDirectory()
        self.folder = folder or Path(self.scratch.name)
        self.bandwidth = copy_bandwidth()
        self.id = uuid.uuid4().hex[:12]
        self.rows: list[dict[str, Any]] = []
        self.wrong: list[str] = []
        self.keep(
            {
                "kind": "run",
                "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                "commit": commit(),
                "machine": machine(),
                "threads": hr.threads(),
                "load": os.getloadavg()[0],
                "copy_gb_per_s": round(self.bandwidth / 1e9, 1),
                "versions": {"python": platform.python_version()}
                | {name: importlib.metadata.version(name) for name in packages},
            }
        )

    def keep(self, line: dict[str, Any]) -> None:
        """Append a JSON line to the output."""
        if self.output is not None:
            with self.output.open("a") as file:
                file.write(json.dumps({"task": self.task, "run": self.id} | line) + "\n")

    def wants(self, step: str) -> bool:
        """Whether a step was requested."""
        return self.only in step

    def file(self, name: str, write: Callable[[Path], Any]) -> Path:
        """Return an input file, written once; removed after the run unless --folder is given."""
        path = self.folder / name
        if not path.exists():
            show(f"writing {name}")
            self.folder.mkdir(parents=True, exist_ok=True)
            part = path.with_name(name + ".part")
            write(part)
            part.rename(path)
        return path

    def step(
        self,
        step: str,
        ours: Callable[[], Any],
        rivals: list[Rival],
        same: Callable[[Any, Any], str],
        moved: int = 0,
        rows: int = 0,
        more_runs: int = 1,
    ) -> None:
        """Compare the answers, then time ours and each rival in turn, `runs` times `more_runs`.

        One run is that which gives the answers. `moved` is the least number of bytes that the step
        must read and write.
        """
        if not self.wants(step):
            return
        works = {OURS: ours} | {rival.name: rival.work for rival in rivals}
        told, first = {}, {}
        answer, *first[OURS] = timed(ours)
        for rival in rivals:
            theirs, *first[rival.name] = timed(rival.work)
            told[rival.name] = self.tell(step, rival.name, rival.same or same, answer, theirs)
            del theirs
        del answer
        runs = self.runs * more_runs
        calls = {
            name: 1 if runs == 1 or (first[name][0] > 1 and name != OURS) else calls_a_run(work)
            for name, work in works.items()
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
        if runs == 1:
            times = {name: [(wall, busy)] for name, (wall, busy) in first.items()}
        else:
            for turn in range(runs):
                # There and back: no engine always runs behind the same one, with its caches.
                for name in list(works)[:: -1 if turn % 2 else 1]:
                    times[name].append(time_of(works[name], calls[name]))
        for name, measured in times.items():
            more = {"answer": told.get(name), "calls_a_run": calls[name]}
            bar = {rival.name: rival.bar for rival in rivals}.get(name)
            self.judge(step, name, measured, times[OURS], bar, moved, rows, more)

    def fresh(
        self,
        step: str,
        program: list[str],
        rivals: list[Rival],
        same: Callable[[Any, Any], str],
        rows: int = 0,
        most_bytes: int | None = None,
    ) -> None:
        """Like `step`, but run a program with the engine's name, each time in a new process.

        It prints its answer as JSON, with `peak_bytes`: its peak memory above the imports, which
        may be at most `most_bytes` for us. The work of a rival is not called.
        """
        if not self.wants(step):
            return
        bars = {OURS: None} | {rival.name: rival.bar for rival in rivals}
        lines = {name: [word.replace("ENGINE", name) for word in program] for name in bars}
        found = {name: [run_of(line)] for name, line in lines.items()}  # and fills caches
        answers = {name: runs[0][0] for name, runs in found.items()}
        told = {
            rival.name: self.tell(
                step, rival.name, rival.same or same, answers[OURS], answers[rival.name]
            )
            for rival in rivals
        }
        if self.runs > 1:
            found = {name: [] for name in lines}
            for _ in range(self.runs):
                for name, line in lines.items():
                    found[name].append(run_of(line))
        times = {name: [(wall, busy) for _, wall, busy in runs] for name, runs in found.items()}
        for name, bar in bars.items():
            more = {"answer": told.get(name), "calls_a_run": 1}
            self.judge(step, name, times[name], times[OURS], bar, 0, rows, more)
        for name in bars:
            peak = max(answer["peak_bytes"] for answer, _, _ in found[name])
            bound = most_bytes if name == OURS else None
            self.value(f"{step}, peak", name, peak / 2**20, "MiB", bound and bound / 2**20)

    def value(
        self,
        step: str,
        engine: str,
        value: float,
        unit: str,
        most: float | None = None,
        least: float | None = None,
    ) -> None:
        """Record and print a number that is not a time; `most` or `least` is its target."""
        bound, word = (least, "at least") if most is None else (most, "at most")
        met = None if bound is None else value <= bound if least is None else value >= bound
        row = {"kind": "value", "step": step, "engine": engine, "value": value, "unit": unit}
        self.rows.append(row | {"bar": bound, "bound": word, "met": met})
        self.keep(self.rows[-1])
        bar = "" if bound is None else f"{word} {bound:g} {'met' if met else 'MISSED'}"
        label = step if engine == OURS else ""
        print(f"{label:28} {engine:26} {value:>7.2f} {unit} {bar}".rstrip(), flush=True)

    def check(self, step: str, claim: Callable[[], str]) -> None:
        """Run a check that raises AssertionError on failure, else returns what it found."""
        if not self.wants(step):
            return
        try:
            found = claim()
        except AssertionError as error:
            found = f"WRONG: {' '.join(str(error).split())[:200]}"
            self.wrong.append(f"{step}: {found}")
        self.keep({"kind": "check", "step": step, "found": found})
        print(f"{step:28} {found}", flush=True)

    def tell(
        self, step: str, name: str, same: Callable[[Any, Any], str], ours: Any, theirs: Any
    ) -> str:
        """Compare a rival's answer with ours; differences are reported at the end."""
        try:
            return same(ours, theirs)
        except AssertionError as error:
            told = f"DIFFERENT: {' '.join(str(error).split())[:200]}"
            self.wrong.append(f"{step}: {name}: {told}")
            return told

    def left_out(self, step: str, name: str, why: str) -> None:
        """Report a missing row, and why."""
        self.keep({"kind": "missing", "step": step, "engine": name, "why": why})
        print(f"{step:28} {name:26} left out: {why}", flush=True)

    def judge(
        self,
        step: str,
        name: str,
        measured: list[tuple[float, float]],
        base: list[tuple[float, float]],
        bar: float | None,
        moved: int = 0,
        rows: int = 0,
        more: dict[str, Any] | None = None,
    ) -> None:
        """Record and print wall and processor seconds of one engine's runs."""
        seconds = [pair[0] for pair in measured]
        median = statistics.median(seconds)
        ratio = median / statistics.median(pair[0] for pair in base)
        row = {
            "kind": "step",
            "step": step,
            "engine": name,
            "rows": rows,
            "runs": len(measured),
            "median_s": median,
            "min_s": min(seconds),
            "cpu_s": statistics.median(pair[1] for pair in measured),
            "spread": (max(seconds) - min(seconds)) / median,
            "ratio": ratio,
            "bar": bar,
            "met": None if bar is None else ratio >= bar,
            "moved_bytes": moved,
            "bandwidth_share": moved / median / self.bandwidth if moved else None,
        }
        self.rows.append(row | (more or {}))
        self.keep(self.rows[-1])
        print(table_line(self.rows[-1]), flush=True)

    def close(self) -> int:
        """Print missed targets and differences; 1 if an answer differs, else 0."""
        judged = [row for row in self.rows if row["met"] is not None]
        missed = [row for row in judged if not row["met"]]
        print(f"\n{len(judged) - len(missed)} of {len(judged)} bars met")
        for row in missed:
            told = (
                f"{row['ratio']:.2f}x {row['engine']}, bar {row['bar']:.3g}x"
                if row["kind"] == "step"
                else f"{row['value']:.2f} {row['unit']}, {row['bound']} {row['bar']:g}"
            )
            print(f"MISSED  {row['step']}: {told}")
        for text in self.wrong:
            print(f"WRONG   {text}")
        if self.output is not None:
            print(f"kept in {self.output}")
        if self.scratch is not None:
            self.scratch.cleanup()
        return 1 if self.wrong else 0


HEADER = (
    f"{'step':28} {'engine':26} {'median':>10} {'min':>10} {'spread':>7} {'cpu':>10} {'ratio':>7} "
    f"{'bar':>11} {'of bus':>7}  answer"
)


def table_line(row: dict[str, Any]) -> str:
    """One line of the printed table."""
    ours = row["engine"] == OURS
    bar = "" if row["bar"] is None else f"{row['bar']:.3g}x {'met' if row['met'] else 'MISSED'}"
    share = "" if row["bandwidth_share"] is None else f"{row['bandwidth_share']:.0%}"
    return (
        f"{row['step'] if ours else '':28} {row['engine']:26} {row['median_s'] * 1e3:>7.2f} ms "
        f"{row['min_s'] * 1e3:>7.2f} ms {row['spread']:>7.0%} {row['cpu_s'] * 1e3:>7.2f} ms "
        f"{'' if ours else format(row['ratio'], '.2f') + 'x':>7} {bar:>11} {share:>7}"
        f"  {row.get('answer') or ''}"
    ).rstrip()


def show(text: str) -> None:
    """Print progress, separate from the table."""
    print(text, file=sys.stderr, flush=True)


# ---- running -------------------------------------------------------------------------------------
def parse(
    results: str, parser: argparse.ArgumentParser, rows: int = FULL, runs: int = 7
) -> argparse.Namespace:
    """Parse the command line of a task; only complete runs of full size are recorded by default."""
    parser.add_argument("--rows", type=int, default=rows, help="rows of the input")
    parser.add_argument("--runs", type=int, default=runs, help="timed runs of each engine")
    parser.add_argument("--only", default="", help="only the steps whose name holds this")
    parser.add_argument("--folder", type=Path, help="keep the input files here, use them again")
    parser.add_argument("--output", type=Path, help="JSON lines (default: bench/results)")
    options = parser.parse_args()
    if options.output is None and options.rows == rows and not options.only:
        options.output = ROOT / f"bench/results/{results}.jsonl"
    return options


def run(task: str, about: str | None, packages: list[str], steps: Callable[..., None]) -> int:
    """Run the steps of a task, called with the bench and the number of rows."""
    options = parse(f"{task}-cpu", argparse.ArgumentParser(description=about))
    hr.threads(WORKERS)
    bench = Bench(task, packages, options.runs, options.output, options.only, folder=options.folder)
    print(HEADER, flush=True)
    gc.collect()
    gc.freeze()  # or each collection before a measurement walks all that was imported
    steps(bench, options.rows)
    return bench.close()
