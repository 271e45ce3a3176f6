# SPDX-License-Identifier: Apache-2.0
"""The report of the ECG job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace import memory
from headrace.demo import generator
from headrace.report import Report
from headrace.settings import info

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from headrace.demo.run import Results, Scored

_DRAWN = 12
_MAX_POINTS = 30_000


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(seconds, 60)
    return f"{int(minutes) // 60}:{int(minutes) % 60:02}:{seconds:04.1f}"


def _captions(results: Results, beats: Sequence[int]) -> list[str]:
    """Time of each beat, and its kind if known."""
    kinds, rate = results.kinds, results.source.rate
    return [
        f"at {_clock(int(results.beats[i]) / rate)}" + (f"\n{kinds[i]}" if kinds else "")
        for i in beats
    ]


def _facts(results: Results, models: Sequence[Scored]) -> dict[str, object]:
    import numpy as np

    rate, found = results.source.rate, len(results.plan.positions)
    typical = 60 * rate / float(np.median(results.plan.intervals.to_numpy()))
    facts: dict[str, object] = {
        "samples": len(results.plan.ecg),
        "beats found": found,
        "beats a minute, median": f"{typical:.0f}",
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
    if results.kinds is not None:
        planted = np.isin(np.array(results.kinds), generator.KINDS[1:])
        marks["planted abnormal beats"] = results.beats[planted]
    for model in models:
        worst = np.argsort(-model.score, kind="stable")[:_DRAWN]
        marks[f"most unusual, {model.name}"] = np.sort(results.beats[first + worst])
    report.add_envelope(
        "The whole recording",
        plan.ecg,
        rate=source.rate,
        label=source.column,
        unit=source.unit,
        marks=marks,
        note=(
            "Zoom to single beats with the wheel or the buttons, drag to pan, "
            "double-click to reset."
        ),
    )
    seconds = plan.intervals.to_numpy() / source.rate
    report.add_histogram(
        "Beat-to-beat times",
        plan.counts,
        plan.edges,
        x="time to the next beat [s]",
        y="beats",
        lines={f"median {np.median(seconds):.3f} s": float(np.median(seconds))},
        note=(
            f"{len(seconds) - len(results.beats):,} of {len(seconds):,} are dropped as "
            "artefacts: not between 0.3 and 2 s."
        ),
    )
    if results.kinds is None:
        chosen = np.linspace(0, len(results.beats) - 1, 6).astype(int).tolist()
    else:
        kinds = np.array(results.kinds)
        of_kind = {kind: np.flatnonzero(kinds == kind).tolist() for kind in generator.KINDS}
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
        half=True,
    )


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
    worst = order[:_DRAWN]
    captions = [
        f"{f'{model.score[k]:#.3g}'.rstrip('.')} {caption}"
        for k, caption in zip(worst, _captions(results, (first + worst).tolist()), strict=True)
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
        note="Highest scores first.",
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
