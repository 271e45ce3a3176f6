# SPDX-License-Identifier: Apache-2.0
"""The command line of the ECG job: `python -m headrace.demo`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import NoReturn

from headrace import memory
from headrace.demo import page, run
from headrace.demo.meter import Meter
from headrace.display.progress import Progress
from headrace.errors import Error

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headrace"


class _Parser(argparse.ArgumentParser):
    """Reports a bad command line in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def _options() -> argparse.Namespace:
    parser = _Parser(
        prog="headrace.demo",
        description=(
            "Find and score the beats of a long ECG: synthetic, or from your own CSV file."
        ),
        allow_abbrev=False,
    )
    parser.add_argument("file", nargs="?", type=Path, help="your own CSV file")
    parser.add_argument(
        "--column", help="the column with the ECG (required if the file has several)"
    )
    parser.add_argument("--rate", type=float, help="samples per second")
    parser.add_argument(
        "--hours", type=float, default=20.0, help="length of the synthetic ECG (default 20)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the synthetic ECG and the models (default 1)"
    )
    parser.add_argument(
        "--no-torch", action="store_true", help="skip PyTorch; use only the built-in model"
    )
    parser.add_argument(
        "--limit", help='memory limit of the engine, such as "150MB" (default: none)'
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("ecg-report"),
        help="folder for the report (default ecg-report)",
    )
    parser.add_argument(
        "--cache", type=Path, default=_CACHE, help=f"folder for the synthetic ECG ({_CACHE})"
    )
    options = parser.parse_args()
    if options.file is None and (options.column or options.rate is not None):
        parser.error("--column and --rate apply to your own file: pass it first")
    if options.file is None and not 0.02 <= options.hours <= 1000:
        parser.error(f"--hours {options.hours:g}: expected 0.02 to 1000")
    if options.output.exists() and not options.output.is_dir():
        parser.error(f"--output {options.output}: not a folder")
    if options.limit is not None:
        try:
            memory.limit(options.limit)
        except Error as error:
            parser.error(f"--limit {options.limit}: {error}")
    return options


def _numbers(results: run.Results) -> list[str]:
    """The figures that the table does not show, one per line."""
    found, kept = len(results.plan.positions), len(results.beats)
    lines = [f"beats: {found:,} found, {kept:,} kept"]
    truth = results.source.truth
    if truth is not None and results.missed is not None and results.false is not None:
        share = 1 - results.missed / len(truth.positions)
        lines.append(
            f"truth: {share:.2%} of {len(truth.positions):,} beats found within 75 ms, "
            f"{results.false / found:.2%} of the detections are false"
        )
    if results.filled:
        lines.append(f"missing values replaced by the mean: {results.filled:,}")
    return lines


def _model_line(scored: run.Scored, results: run.Results) -> str:
    judged = f"{scored.name}: {len(results.test):,} later beats scored"
    if scored.area is None:
        return judged
    return f"{judged}, area under the ROC curve on the planted ones {scored.area:.4f}"


def _under_limit(meter: Meter) -> str:
    """What the limit did."""
    spilled = memory.spill()
    peak = max(step.peak for step in meter.steps)
    return (
        f"under the limit of {memory.limit():,} bytes: peak {peak:,}, spilled to disk "
        f"{spilled.evicted_bytes:,} and fetched {spilled.fetched_bytes:,}"
    )


def _closing(report: Path) -> str:
    """How to open the report, and what to try next."""
    path = os.environ.get("PYTHONPATH")
    python = f"{f'PYTHONPATH={path} ' if path else ''}{sys.executable}"
    return f"""
Report: {report}
  open it in a browser, for example: xdg-open {report}
The same job on your own file:
  ./dev demo my.csv --column ecg --rate 250
or a first look at it in Python; start
  {python}
  >>> df = hr.read_csv("my.csv")
  >>> hr.plot.line(df.ecg, rate=250).save("my.html")"""


def _work(options: argparse.Namespace) -> None:
    report = options.output / "index.html"
    with Progress(9 if options.no_torch else 11) as bar:
        bar.step("checking the input")
        if options.file is not None:
            source = run.own(options.file, options.column, options.rate)
        else:
            source = run.made_up(
                options.cache, options.hours, options.seed, lambda: bar.step("generating the input")
            )
        meter = Meter()
        results = run.find_beats(source, meter, bar.step)
        bar.step("PCA")
        models = [run.with_pca(results)]
        copied = memory.ledger().total_bytes
        bar.step("writing the report")
        with meter.step("8 report", lambda: len(results.plan.ecg)):
            page.save(report, results, models)
        failed = ""
        if not options.no_torch:
            bar.step("autoencoder (PyTorch)")
            before = memory.ledger().total_bytes
            try:
                models.append(run.with_autoencoder(results, options.seed, bar.update))
            except Exception as error:  # whatever PyTorch raises: the report is complete without it
                failed = f"autoencoder: skipped, PyTorch cannot be used ({error})"
            else:
                copied += memory.ledger().total_bytes - before
                bar.step("updating the report")
                page.save(report, results, models)
        meter.close()
    rows = f"{len(results.plan.ecg):,} rows at {source.rate:.6g} Hz"
    print(f"input: {source.path}, column {source.column}, {rows}\n\n{meter.text()}\n")
    print(*_numbers(results), *(_model_line(each, results) for each in models), sep="\n")
    if failed:
        print(failed)
    print(f"copied between steps 1 and 7: {copied:,} bytes")
    print(f"results: {results.digest()}")
    if options.limit is not None:
        print(_under_limit(meter))
    print(_closing(report))


def main() -> int:
    """Run the job; bad input gives one line and exit status 2."""
    options = _options()
    try:
        _work(options)
    except (Error, OSError) as error:
        print(f"headrace.demo: {str(error).removeprefix('demo: ')}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
