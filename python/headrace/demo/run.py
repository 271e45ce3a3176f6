# SPDX-License-Identifier: Apache-2.0
"""The ECG job step by step, each one measured: what `python -m headrace.demo` runs."""

from __future__ import annotations

import hashlib
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from headrace import _core, memory, plot
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.demo import generator, job
from headrace.demo.meter import Meter
from headrace.demo.truth import TOLERANCE, area, match
from headrace.errors import InvalidArgumentError
from headrace.io.csv import read_csv, scan_csv
from headrace.lazy import handle as deferred
from headrace.learn import PCA

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float32]

#: Fewest kept beats that a model can learn from.
_LEAST_BEATS = 40
_LEAST_RATE = 50.0
_LEAST_SECONDS = 10


class Truth(NamedTuple):
    """Position and kind of each beat."""

    positions: Integers
    labels: list[str]


class Input(NamedTuple):
    """A CSV file with an ECG in one column, and its ground truth if known."""

    path: Path
    column: str
    rate: float
    unit: str
    truth: Truth | None


class Scored(NamedTuple):
    """A model's scores of the later beats."""

    name: str
    score: Floats
    x: Floats
    y: Floats
    area: float | None  #: under the ROC curve, on the planted beats; None without ground truth


class Results(NamedTuple):
    """The results of a run; handles that keep their values."""

    source: Input
    meter: Meter
    plan: job.Plan
    picture: plot.Plot
    train: Array  #: the beats of the first 75 %
    test: Array
    beats: Integers  #: the position of each kept beat
    kinds: list[str] | None  #: label of each kept beat, or "no beat"
    missed: int | None  #: true beats that were missed
    false: int | None  #: detections that are not beats
    filled: int  #: missing values replaced by the mean

    def digest(self) -> str:
        """A 16-character digest of every bit of the results of steps 3 to 6."""
        hashed = hashlib.sha256()
        for values in self.plan[1:]:
            hashed.update(values.to_numpy().data)
        return hashed.hexdigest()[:16]


def made_up(cache: Path, hours: float, seed: int, progress: Callable[[], None]) -> Input:
    """The synthetic input: the file in `cache` if present, else a new one."""
    code = zlib.crc32(Path(generator.__file__).read_bytes())
    stem = f"ecg-{hours:g}h-seed{seed}"
    path, truth = cache / f"{stem}-{code:08x}.csv", cache / f"{stem}-{code:08x}-truth.csv"
    if not (path.exists() and truth.exists()):
        progress()
        cache.mkdir(parents=True, exist_ok=True)
        for old in cache.glob(f"{stem}-*"):
            old.unlink()
        partial = cache / f".{stem}.{os.getpid()}"
        try:
            beats = generator.ecg(partial, hours, seed)
            beats.to_csv(truth)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    table = read_csv(truth)
    known = Truth(table.position.to_numpy(), table.label.to_list())
    return Input(path, "ecg", generator.RATE, "mV", known)


def own(path: Path, column: str | None, rate: float | None) -> Input:
    """A user's file; bad options raise a one-line error."""
    if rate is None:
        raise InvalidArgumentError("demo: the sampling rate is missing; add --rate HZ")
    if not _LEAST_RATE <= rate < float("inf"):
        raise InvalidArgumentError(
            f"demo: the rate is too low for an ECG: rate={rate:g}; expected at least "
            f"{_LEAST_RATE:g} samples per second"
        )
    dtypes = scan_csv(path).dtypes
    columns = list(dtypes.keys())
    if column is None and len(columns) > 1:
        raise InvalidArgumentError(
            f"demo: the file has several columns; add --column NAME, one of: {', '.join(columns)}"
        )
    chosen = column or columns[0]
    if dtypes.get(chosen) == "string":
        raise InvalidArgumentError(
            f"demo: the column holds text, not numbers: column={chosen!r}; "
            f"choose with --column, one of: {', '.join(columns)}"
        )
    return Input(path, chosen, rate, "", None)


def _read(source: Input) -> tuple[Array, int]:
    """The signal as an array, and the number of missing values, replaced by the mean."""
    series = read_csv(source.path, columns=[source.column], dtypes={source.column: "float32"})[
        source.column
    ]
    rows, present, least, most = (
        len(series), int(series.count()), float(series.min()), float(series.max())
    )  # fmt: skip
    if not present or not float("-inf") < least < most < float("inf"):
        raise InvalidArgumentError(
            f"demo: the column holds no signal: column={source.column!r}, rows={rows}, "
            f"values={present}, least={least:g}, most={most:g}; its values must be finite "
            "and vary"
        )
    if present < rows:
        series = series.fillna(float(series.mean()))
    return asarray(series), rows - present


def find_beats(source: Input, meter: Meter, progress: Callable[[str], None]) -> Results:
    """Steps 1 to 6, each evaluated separately so that it can be measured."""
    progress("reading the CSV file")
    memory.ledger().clear()
    ecg = asarray([0.0])
    with meter.step("1 read the CSV file", lambda: len(ecg), lambda: _size(source) + ecg.nbytes):
        ecg, filled = _read(source)
    rows = len(ecg)
    if rows < _LEAST_SECONDS * source.rate:
        raise InvalidArgumentError(
            f"demo: too short: rows={rows}, rate={source.rate:g}; "
            f"an ECG of {_LEAST_SECONDS} seconds or more is needed"
        )
    plan = job.plan(ecg, source.rate)

    progress("drawing the whole series")
    with meter.step("2 picture of the whole", lambda: rows, lambda: ecg.nbytes):
        picture = plot.line(ecg, rate=source.rate, unit=source.unit, title=source.path.name)
    progress("convolving with a Ricker wavelet")
    with meter.step("3 wavelet and convolution", lambda: rows, lambda: 2 * ecg.nbytes):
        _force(plan.response)
    progress("finding the peaks")
    # The threshold needs the standard deviation: the response is read twice.
    with meter.step("4 peaks", lambda: rows, lambda: 2 * ecg.nbytes + rows):
        _force(plan.gate)
    progress("intervals and their histogram")
    with meter.step("5 positions, intervals, histogram", lambda: rows, lambda: rows):
        _force(plan.positions, plan.intervals, plan.counts, plan.edges)
    progress("cutting the beats")
    with meter.step(
        "6 prune, cut, normalise", lambda: rows, lambda: ecg.nbytes + plan.beats.nbytes
    ):
        _force(plan.begins, plan.beats)

    found, kept = len(plan.positions), len(plan.begins)
    if kept < _LEAST_BEATS:
        raise InvalidArgumentError(
            f"demo: too few beats to learn from: rows={rows}, found={found}, kept={kept}, "
            f"needed={_LEAST_BEATS}; is --rate {source.rate:g} right, and the column an ECG?"
        )
    kinds, missed, false = None, None, None
    beats = plan.begins.to_numpy() + round(0.25 * source.rate)
    if source.truth is not None:
        reach = TOLERANCE * source.rate
        pairs = match(plan.positions.to_numpy(), source.truth.positions, reach)
        false = int((pairs < 0).sum())
        missed = len(source.truth.positions) - (found - false)
        labels = [*source.truth.labels, "no beat"]
        kinds = [labels[k] for k in match(beats, source.truth.positions, reach)]
    split = kept * 3 // 4
    train, test = plan.beats[:split], plan.beats[split:]
    return Results(source, meter, plan, picture, train, test, beats, kinds, missed, false, filled)


def with_pca(results: Results) -> Scored:
    """Step 7 with the built-in model: two components, scored by reconstruction error."""
    beats = results.plan.beats
    with results.meter.step(
        "7 PCA: learn and score",
        lambda: len(beats),
        lambda: 2 * results.train.nbytes + beats.nbytes,
    ):
        pca = PCA(2).fit(results.train)
        place, score = pca.transform(results.test), pca.reconstruction_error(results.test)
        _force(place, score)
    coordinates = place.to_numpy()
    return _scored("PCA", results, score.to_numpy(), coordinates)


def with_autoencoder(results: Results, seed: int, progress: Callable[[float], None]) -> Scored:
    """Step 7 with PyTorch; raises whatever PyTorch raises."""
    from headrace.demo.autoencoder import train_and_score

    with results.meter.step("7 autoencoder: learn and score", lambda: len(results.plan.beats)):
        score, place = train_and_score(results.train, results.test, seed, progress)
    return _scored("autoencoder", results, score, place)


def _scored(name: str, results: Results, score: Floats, place: Floats) -> Scored:
    import numpy as np

    known = None
    if results.kinds is not None:
        kinds = np.array(results.kinds[len(results.train) :])
        known = area(score, np.isin(kinds, generator.KINDS[1:]))
    return Scored(name, score, place[:, 0], place[:, 1], known)


def _force(*arrays: Array) -> None:
    """Evaluate the arrays."""
    deferred.eval(*arrays)
    if any(array.device.startswith("cuda") for array in arrays):
        _core.synchronize_device()


def _size(source: Input) -> int:
    return source.path.stat().st_size
