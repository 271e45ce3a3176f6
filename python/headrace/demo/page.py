# SPDX-License-Identifier: Apache-2.0
"""The report of the ECG job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace import memory, plot, signal
from headrace.demo import generator
from headrace.demo.rhythm import Rhythm, bins, pairs, rhythm_of, tachogram, variability, windows
from headrace.demo.unusual import is_noise, most_unusual
from headrace.plot.chart import Chart, Side
from headrace.plot.clouds import shaded
from headrace.plot.figure import COLORS
from headrace.plot.marks import Picture
from headrace.report import Report
from headrace.settings import info

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from headrace.demo.run import Results, Scored

_DRAWN = 12
_MAX_POINTS = 30_000
#: The sides of the Poincaré plot in pixels, and values of the tachogram each second.
_PLANE, _MOMENTS = 420, 4


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(seconds, 60)
    return f"{int(minutes) // 60}:{int(minutes) % 60:02}:{seconds:04.1f}"


def _hours(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60}:{minutes % 60:02}"


def _captions(results: Results, beats: Sequence[int]) -> list[str]:
    """Time of each beat, and its kind if known."""
    kinds, rate = results.kinds, results.source.rate
    return [
        f"at {_clock(int(results.beats[i]) / rate)}" + (f"\n{kinds[i]}" if kinds else "")
        for i in beats
    ]


def _rhythm(results: Results) -> Rhythm:
    return rhythm_of(results.plan.positions.to_numpy(), results.source.rate)


def _facts(results: Results, models: Sequence[Scored]) -> dict[str, object]:
    found = len(results.plan.positions)
    whole = variability(_rhythm(results))
    facts: dict[str, object] = {
        "samples": len(results.plan.ecg),
        "beats found": found,
        "beats a minute, mean": f"{whole.rate:.0f}",
        "SDNN": f"{whole.sdnn:.0f} ms",
        "RMSSD": f"{whole.rmssd:.0f} ms",
        "intervals not normal": f"{whole.left_out:.2%}",
    }
    if results.source.truth is not None and results.missed is not None:
        facts["of the true beats found"] = (
            f"{1 - results.missed / len(results.source.truth[0]):.2%}"
        )
        facts["false ones"] = f"{(results.false or 0) / found:.2%}"
    for model in models:
        if model.area is not None:
            facts[f"ROC area, {model.name}"] = f"{model.area:.4f}"
    return facts


def _add_signal(report: Report, results: Results, models: Sequence[Scored]) -> None:
    """The series with marks, the histogram, and beats of each kind."""
    import numpy as np

    source, plan = results.source, results.plan
    first = len(results.train)
    marks = {"beats": plan.positions.to_numpy()}
    kinds: dict[str, Sequence[str]] = {}
    if results.kinds is not None:
        known = np.array(results.kinds)
        planted = np.isin(known, generator.KINDS[1:])
        marks["planted abnormal beats"] = results.beats[planted]
        kinds["planted abnormal beats"] = known[planted].tolist()
    noise = _noise(results)
    for model in models:
        shown = most_unusual(results.test.to_numpy(), model.score, noise, _DRAWN).rows
        name = f"most unusual, {model.name}"
        marks[name] = results.beats[first + np.array(shown, np.int64)]
        kinds[name] = [f"score {model.score[k]:.3g}" for k in shown]
    report.add_envelope(
        "The whole recording",
        plan.ecg,
        rate=source.rate,
        label=source.column,
        unit=source.unit,
        marks=marks,
        kinds=kinds,
        ecg_grid=True,
        note=(
            "Zoom to single beats with the wheel or the buttons, drag to pan, double-click to "
            "reset. On the grid of ECG paper a small box is 0.04 s and 0.1 mV, a large one 0.2 s "
            "and 0.5 mV."
        ),
    )
    _add_rhythm(report, results)
    seconds = plan.intervals.to_numpy() / source.rate
    count, low, high = bins(source.rate)
    counts, edges = signal.histogram(plan.intervals, count, (low, high))
    report.add_histogram(
        "Beat-to-beat times",
        counts,
        edges.to_numpy() / source.rate,
        x="time to the next beat [s]",
        y="beats",
        lines={f"median {np.median(seconds):.3f} s": float(np.median(seconds))},
        note=(
            f"{len(seconds) - len(results.beats):,} of {len(seconds):,} are dropped as artefacts: "
            f"not between 0.3 and 2 s. A bin is {1000 * (high - low) / count / source.rate:.4g} "
            "ms, a whole number of samples."
        ),
    )
    _add_poincare(report, results)
    if results.kinds is None:
        chosen = np.linspace(0, len(results.beats) - 1, 6).astype(int).tolist()
    else:
        known = np.array(results.kinds)
        of_kind = {kind: np.flatnonzero(known == kind).tolist() for kind in generator.KINDS}
        chosen = of_kind["normal"][:1]
        chosen += [found[len(found) // 2] for found in of_kind.values() if found]
    report.add_rows(
        "Some beats",
        plan.beats.to_numpy()[chosen],
        _captions(results, chosen),
        positions=results.beats[chosen],
        reference=plan.beats.to_numpy().mean(axis=0),
        reference_name="mean beat",
        rate=source.rate,
        label="beat, mean 0 and standard deviation 1",
        note="What the models see: 0.6 s around each beat, cut before the next one.",
    )


def _add_rhythm(report: Report, results: Results) -> None:
    """Heart rate, tachogram, and the measures of each hour."""
    import numpy as np

    length = len(results.plan.ecg) / results.source.rate
    rhythm = _rhythm(results)
    parts = windows(length, 1500)
    found = [variability(rhythm, *part) for part in parts]
    unit, scale = ("h", 3600.0) if length >= 5400 else ("min", 60.0)
    middles = [(begin + end) / 2 / scale for begin, end in parts]
    report.add_lines(
        "Heart rate",
        {
            "mean": (middles, [each.rate for each in found]),
            "fastest": (middles, [each.fastest for each in found]),
            "slowest": (middles, [each.slowest for each in found]),
        },
        x=f"time [{unit}]",
        y="beats a minute",
        zero=False,
        note=(
            f"Of normal intervals in each {parts[0][1] - parts[0][0]:.4g} s: those within 20 % of "
            "the median of the 11 around them."
        ),
    )
    report.add_envelope(
        "RR tachogram",
        tachogram(rhythm, length, _MOMENTS),
        rate=_MOMENTS,
        label="RR interval",
        unit="s",
        note=(
            f"The normal interval between beats that holds at each moment, {_MOMENTS} a second. "
            "Gaps are early beats, pauses and artefacts."
        ),
    )
    hours = windows(length, 12)
    if length > 7200:
        hours = [(at, min(at + 3600, length)) for at in np.arange(0.0, length, 3600).tolist()]
    planted = None
    if results.kinds is not None:
        known = zip(results.beats.tolist(), results.kinds, strict=True)
        planted = [at / results.source.rate for at, kind in known if kind in generator.KINDS[1:]]
    rows: list[list[object]] = []
    for begin, end in hours:
        each = variability(rhythm, begin, end)
        rows.append([
            f"{_hours(begin)} to {_hours(end)}", each.beats, round(each.rate, 1),
            round(each.slowest, 1), round(each.fastest, 1), round(each.sdnn, 1),
            round(each.rmssd, 1), each.left_out,
        ])  # fmt: skip
        if planted is not None:
            rows[-1].append(sum(begin <= at < end for at in planted))
    columns = ["time", "beats", "heart rate", "slowest", "fastest", "SDNN [ms]", "RMSSD [ms]"]
    columns += ["not normal"] + (["planted abnormal"] if planted is not None else [])
    report.add_table(
        "Hour by hour" if length > 7200 else "Part by part",
        columns,
        rows,
        bars=["not normal"],
        note=(
            "Heart rates in beats a minute. SDNN is the standard deviation of normal intervals, "
            "RMSSD the root of the mean squared difference of neighbouring ones."
        ),
    )


def _add_poincare(report: Report, results: Results) -> None:
    """Each interval against the next one; pixels are whole samples."""
    import numpy as np

    rhythm = _rhythm(results)
    one, other = pairs(rhythm)
    if not len(one):
        return
    low, high = (float(each) for each in np.floor(np.percentile(np.r_[one, other], [0.05, 99.95])))
    step = max(int(np.ceil((high - low + 1) / _PLANE)), 1)
    cells = max(int(np.ceil((high - low + 1) / step)), 8)
    scale = 1000 / rhythm.rate
    ends = ((low - 0.5) * scale, (low - 0.5 + cells * step) * scale)
    whole = variability(rhythm)
    short = whole.rmssd / 2**0.5
    long = max(2 * whole.sdnn**2 - short**2, 0.0) ** 0.5
    counts = plot.raster_points(one * scale, other * scale, ends, ends, cells, cells).to_numpy()
    ink = COLORS[6]  # reads on white and on near black
    picture = Picture("", ink, shaded(counts[None], [ink], "eq_hist"), ends, ends)
    sides = Side("RR interval [ms]", ends), Side("next RR interval [ms]", ends)
    report.add_plot(
        "Poincaré plot",
        Chart([picture], *sides, size=(_PLANE, _PLANE)),
        note=(
            f"SD1 {short:.0f} ms across the diagonal, SD2 {long:.0f} ms along it (normal ones). "
            "A cell is a whole number of samples wide; its cover follows the rank of its beats."
        ),
        half=True,
    )


def _noise(results: Results) -> npt.NDArray[np.bool_]:
    """Which later beats are noise."""
    train = results.train.to_numpy()
    return is_noise(results.test.to_numpy(), train[:: max(len(train) // 5000, 1)])


_MODELS = {
    "PCA": (
        "PCA",
        "The two directions of largest variance among the beats of the first 75 % of "
        "the time. A later beat's score is its mean squared reconstruction error.",
        ("first component", "second component"),
    ),
    "autoencoder": (
        "Autoencoder",
        "A variational autoencoder in PyTorch, trained on the beats of the first 75 % of the time. "
        "The score of a later beat is how unlikely the model finds it (the negative evidence lower "
        "bound).",
        ("first latent coordinate", "second latent coordinate"),
    ),
}


def _add_model(report: Report, results: Results, model: Scored) -> None:
    """The later beats in the model's plane, and those with the highest scores."""
    import numpy as np

    title, note, axes = _MODELS[model.name]
    first = len(results.train)
    order = np.argsort(-model.score, kind="stable")
    shown = np.sort(order[:_MAX_POINTS])
    beats = (first + shown).tolist()
    mean = results.train.to_numpy().mean(axis=0)
    planted = None
    if results.kinds is not None:
        planted = np.isin(np.array(results.kinds)[beats], generator.KINDS[1:])
    report.add_scatter(
        f"{title}: later beats",
        model.x[shown],
        model.y[shown],
        model.score[shown],
        rows=results.test.to_numpy()[shown],
        captions=_captions(results, beats),
        positions=results.beats[beats],
        reference=mean,
        reference_name="mean beat of the first 75 %",
        flag=planted,
        flag_name="planted abnormal",
        x_label=axes[0],
        y_label=axes[1],
        row_name="The chosen beat",
        rate=results.source.rate,
        label="this beat",
        note=note,
    )
    found = most_unusual(results.test.to_numpy(), model.score, _noise(results), _DRAWN)
    worst = np.array(found.rows, np.int64)
    told = zip(worst, found.alike, _captions(results, (first + worst).tolist()), strict=True)
    captions = [
        f"{f'{model.score[k]:#.3g}'.rstrip('.')} {caption}" + (f"\n{n:,} like it" if n else "")
        for k, n, caption in told
    ]
    report.add_rows(
        f"{title}: most unusual",
        results.test.to_numpy()[worst],
        captions,
        positions=results.beats[first + worst],
        reference=mean,
        reference_name="mean beat of the first 75 %",
        rate=results.source.rate,
        label="beat",
        note=(
            "Highest scores first, one beat of each shape (those that correlate by 0.9); "
            f"{found.artefacts:,} noisy beats of such scores are left out."
        ),
    )


def _add_costs(report: Report, results: Results) -> None:
    """The cost of each step, memory over time, copies, and the environment."""
    import numpy as np

    meter = results.meter
    columns, rows = meter.table()
    report.add_table(
        "Steps",
        columns,
        rows,
        bars=["of bandwidth"],
        note=(
            "Bandwidth: the least a step must read and write, relative to a plain copy "
            f"({meter.bandwidth / 1e9:.1f} GB/s). Peak: memory of the engine."
        ),
    )
    first = meter.steps[:7]
    end = first[-1].begin + first[-1].seconds
    times, used = meter.samples()
    inside = (times <= end) & (times >= first[0].begin - 0.01)
    thin = max(1, int(inside.sum()) // 2000)
    shown = times[inside][::thin]
    lines = {"memory of the engine": (shown, used[inside][::thin] / 1e6)}
    if (limit := memory.limit()) is not None:
        lines["limit"] = (shown[[0, -1]], np.full(2, limit / 1e6))
    report.add_lines(
        "Memory over time",
        lines,
        x="time [s]",
        y="held [MB]",
        bands=[(step.name, step.begin, step.begin + step.seconds) for step in first],
        note="Bytes in live buffers of the engine, every 2 ms, up to the first model.",
    )
    entries = [
        [e.op, e.reason, e.bytes, f"{e.source} to {e.target}", e.line] for e in memory.ledger()
    ]
    total = sum(step.copied for step in meter.steps if step.name[0] <= "7")
    report.add_table(
        "Copies",
        ["operator", "reason", "bytes", "where", "line"],
        entries,
        note=(f"Copies and conversions of existing values: {total:,} bytes between steps 1 and 7."),
    )
    report.add_table("Environment", ["what", "value"], [[n, v] for n, v in info().items()])


def save(path: Path, results: Results, models: Sequence[Scored]) -> None:
    """Write the report: one file, and the picture of the whole series next to it."""
    source = results.source
    made = (
        "synthesized from a real record" if source.truth is not None else f"column {source.column}"
    )
    rows = len(results.plan.ecg)
    hours = rows / source.rate / 3600
    length = f"{hours:.3g} hours" if hours >= 1 else f"{hours * 60:.3g} minutes"
    report = Report(
        f"ECG: {source.path.name}" if source.truth is None else "A long ECG, beat by beat",
        f"{rows:,} samples, {length} at {source.rate:.6g} Hz, {made}",
    )
    report.add_facts(_facts(results, models))
    _add_signal(report, results, models)
    for model in reversed(models):
        _add_model(report, results, model)
    _add_costs(report, results)
    report.save(path)
    results.picture.save(path.with_name("ecg.svg"))
