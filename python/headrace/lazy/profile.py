# SPDX-License-Identifier: Apache-2.0
"""Cost of each step of a plan: `hr.profile()` and `explain(analyze=True)`."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.io.atomic_write import write_file
from headrace.memory.tables import html_table, size_text, text_table

#: Rows of a trace: 1 has the steps, those from 2 on the device streams.
_FIRST_LANE = 1000


class ProfileStep(NamedTuple):
    """One step of a plan."""

    op: str
    line: str
    note: str  #: the operator's note on its work, ``"row groups 3 of 40"``
    begin_ns: int
    end_ns: int
    rows: int
    result_bytes: int
    used_bytes: int  #: memory in use at its end
    memory_bytes: int  #: its peak memory
    written_bytes: int
    fetched_bytes: int
    waited_ns: int  #: for these moves, of all threads
    processor_ns: int  #: of all threads
    serial_ns: int  #: time in which at most one thread worked on it
    id: int  #: a number of the process
    after: list[int]  #: the `id` of steps whose results it read

    @property
    def seconds(self) -> float:
        """Duration."""
        return (self.end_ns - self.begin_ns) / 1e9

    @property
    def cores(self) -> float:
        """Cores at work, on average over its duration."""
        return self.processor_ns / max(self.end_ns - self.begin_ns, 1)


class TaskSpan(NamedTuple):
    """One task that a thread ran for a step: a morsel, a partition, a column."""

    step: int  #: the step's `id`
    job: int  #: the parallel section
    task: int  #: its index within the job
    outer_job: int  #: the job whose task started this one; -1: none
    outer_task: int  #: and the index of that task
    lane: int  #: the thread: 0 the caller's, 1 and up the workers
    begin_ns: int
    end_ns: int
    processor_ns: int  #: of the thread; 0 for a task inside another one of the same thread


class DeviceSpan(NamedTuple):
    """Work of an operator on a device stream, or a copy."""

    op: str
    place: str
    stream: int
    begin_ns: int
    end_ns: int
    bytes: int  #: copied between host and device


class Profile:
    """The steps that ran in a ``with hr.profile()`` block, as a text or HTML table.

    Attributes
    ----------
    steps : list of ProfileStep
        In order of completion; a snapshot while the block runs.
    tasks : list of TaskSpan
        What each thread did for them.
    device_spans : list of DeviceSpan
        Work on device streams, by the device clock.
    """

    _HEADER = (
        *("#", "operator", "line", "ms", "share", "cores", "serial ms", "after"),
        *("rows", "result", "held", "in memory", "to disk", "back", "disk wait ms"),
    )

    def __init__(self) -> None:
        self._recorder: _core.StepRecorder | None = None
        self._devices: _core.DeviceRecorder | None = None
        self._steps: list[ProfileStep] = []
        self._tasks: list[TaskSpan] = []
        self._spans: list[DeviceSpan] = []

    def __enter__(self) -> Self:
        self._recorder, self._devices = _core.StepRecorder(), _core.DeviceRecorder()
        return self

    def __exit__(self, *error: object) -> None:
        self._steps, self._tasks, self._spans = self.steps, self.tasks, self.device_spans
        self._recorder = self._devices = None

    @property
    def steps(self) -> list[ProfileStep]:
        """The steps so far."""
        if self._recorder is None:
            return self._steps
        return [ProfileStep(*step) for step in self._recorder.steps()]

    @property
    def tasks(self) -> list[TaskSpan]:
        """Tasks of the steps so far."""
        if self._recorder is None:
            return self._tasks
        return [TaskSpan(*task) for task in self._recorder.tasks()]

    @property
    def device_spans(self) -> list[DeviceSpan]:
        """Device work so far; waits for its completion."""
        if self._devices is None:
            return self._spans
        return [DeviceSpan(*span) for span in self._devices.spans()]

    @property
    def seconds(self) -> float:
        """Total of all steps."""
        return sum(step.seconds for step in self.steps)

    def _rows(self) -> list[tuple[str, ...]]:
        whole = self.seconds or 1.0
        numbers = {step.id: number for number, step in enumerate(self.steps, 1)}
        return [
            (
                f"#{numbers[step.id]}",
                step.op,
                step.line,
                f"{step.seconds * 1e3:.2f}",
                f"{step.seconds / whole:.0%}",
                f"{step.cores:.1f}",
                f"{step.serial_ns / 1e6:.2f}",
                _after_text(step, numbers),
                f"{step.rows:,}",
                size_text(step.result_bytes),
                size_text(step.memory_bytes),
                size_text(step.used_bytes),
                size_text(step.written_bytes) if step.written_bytes else "",
                size_text(step.fetched_bytes) if step.fetched_bytes else "",
                f"{step.waited_ns / 1e6:.2f}" if step.waited_ns else "",
            )
            for step in self.steps
        ]

    def __repr__(self) -> str:
        total = f"{len(self.steps)} steps in {self.seconds * 1e3:.2f} ms"
        return f"{text_table(self._HEADER, self._rows())}\n{total}" if self.steps else total

    def _repr_html_(self) -> str:
        return html_table(self._HEADER, self._rows())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a trace for Perfetto (ui.perfetto.dev) and Chrome's about:tracing.

        One bar per step with line, rows and bytes, one track per thread with its tasks, a curve of
        memory in use, and one track per device stream with its kernels and copies.
        """
        events: list[dict[str, Any]] = [
            {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "headrace"}}
        ]
        names = {step.id: step.op for step in self.steps}
        lanes = sorted({task.lane for task in self.tasks})
        for lane in lanes:
            title = {"name": f"worker {lane}" if lane else "caller"}
            row = _FIRST_LANE + lane
            events.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": row, "args": title})
        for task in self.tasks:
            bar = {"ph": "X", "name": names[task.step], "cat": "task", "pid": 1}
            begin, end = task.begin_ns / 1e3, task.end_ns / 1e3
            where = {"step": task.step, "job": task.job, "task": task.task}
            bar |= {"tid": _FIRST_LANE + task.lane, "ts": begin, "dur": end - begin, "args": where}
            events.append(bar)
        rows: dict[tuple[str, int], int] = {}
        for span in self.device_spans:
            row = rows.setdefault((span.place, span.stream), len(rows) + 2)
            bar = {"ph": "X", "name": span.op, "cat": "device", "pid": 1, "tid": row}
            begin, end = span.begin_ns / 1e3, span.end_ns / 1e3
            named: dict[str, Any] = {"bytes": span.bytes} if span.bytes else {}
            events.append(bar | {"ts": begin, "dur": end - begin, "args": named})
        for (place, _), row in rows.items():
            named_row = {"name": f"{place} stream {row - 1}"}
            thread = {"ph": "M", "name": "thread_name", "pid": 1, "tid": row, "args": named_row}
            events.append(thread)
        for step in self.steps:
            begin, end = step.begin_ns / 1e3, step.end_ns / 1e3
            named = {
                "line": step.line,
                "step": step.id,
                "after": step.after,
                "cores": round(step.cores, 2),
                "serial_ms": step.serial_ns / 1e6,
                "rows": step.rows,
                "result_bytes": step.result_bytes,
                "memory_bytes": step.memory_bytes,
            }
            if step.note:
                named["note"] = step.note
            if step.written_bytes or step.fetched_bytes:
                named |= {"to_disk": step.written_bytes, "back": step.fetched_bytes}
                named["disk_wait_ms"] = step.waited_ns / 1e6
            bar = {"ph": "X", "name": step.op, "cat": "plan", "pid": 1, "tid": 1}
            events.append(bar | {"ts": begin, "dur": end - begin, "args": named})
            used = {"used_bytes": step.used_bytes}
            events.append({"ph": "C", "name": "memory", "pid": 1, "ts": end, "args": used})
        import json  # on first use: it loads much

        trace = json.dumps({"traceEvents": events, "displayTimeUnit": "ms"})
        write_file("save", path, trace)


def profile() -> Profile:
    """Record each step of a plan inside the ``with`` block, in all threads.

    Returns
    -------
    Profile
        A table of operators, lines, times, cores, rows and bytes; `save` writes it for Perfetto.

    >>> with hr.profile() as seen:
    ...     hr.eval(hr.asarray([1.0, 2.0]) + 1)
    >>> seen.steps[0].op, seen.steps[0].rows
    ('add', 2)

    Notes
    -----
    With ``HEADRACE_NVTX=1`` each step is also an NVTX range, for Nsight Systems and Nsight Compute;
    a path as value names the library if it is not on the search path.
    """
    return Profile()


class Guess(NamedTuple):
    """The prediction of a step's result and cost before it ran; None if unknown."""

    rows: int | None
    result_bytes: int | None
    seconds: float | None
    memory_bytes: int | None


class ExplainedStep(NamedTuple):
    """One step of a plan that ran."""

    predicted: Guess
    measured: ProfileStep


class Explanation(str):
    """The steps of a plan: text, and a table in a notebook.

    Attributes
    ----------
    steps : list of ExplainedStep
        Prediction and measurement of each step; empty unless the plan was analysed.
    """

    steps: list[ExplainedStep]

    def of_query(self, query: str) -> Explanation:
        """With a query before the steps; the same for an empty one."""
        if not query:
            return self
        made = Explanation(f"{query.strip()}\n\n{self}")
        made.__dict__.update(self.__dict__)
        return made

    _HEADER = ("step", "what", "yields", "passes", "line")
    _FIGURES = (
        *("", "rows", "result", "ms", "held", "cores", "serial ms", "after"),
        *("to disk", "back", "disk wait ms", "note"),
    )

    def __new__(cls, text: str, steps: Sequence[ExplainedStep] = ()) -> Self:
        """The plan's text with the figures of its steps."""
        made = super().__new__(cls, text)
        made.steps = list(steps)
        return made

    def _repr_html_(self) -> str:
        first, *lines = self.rstrip("\n").split("\n")
        rows = []
        for line in lines:
            what, *rest = line.strip().split(" | ")
            number, _, does = what.partition(" ")
            does, _, yields = does.rpartition(" -> ")
            passes = rest[0].removeprefix("passes ") if rest else ""
            where = rest[1] if len(rest) > 1 and " ms, " not in rest[1] else ""
            rows.append((number, does or what, yields, passes, where))
        table = html_table(self._HEADER, rows) if rows else ""
        return f"<p>{html.escape(first)}</p>{table}{self._figures()}"

    def _figures(self) -> str:
        """A table of predictions and measurements."""
        rows: list[tuple[str, ...]] = []
        numbers = {each.measured.id: number for number, each in enumerate(self.steps, 1)}
        for number, (guess, step) in enumerate(self.steps, 1):
            rows.append((f"#{number} predicted", *_texts(*guess), *[""] * 7))
            moved = (step.written_bytes, step.fetched_bytes)
            measured = _texts(step.rows, step.result_bytes, step.seconds, step.memory_bytes)
            threads = (
                f"{step.cores:.1f}",
                f"{step.serial_ns / 1e6:.2f}",
                _after_text(step, numbers),
            )
            disk = (size_text(size) if size else "" for size in moved)
            waited = f"{step.waited_ns / 1e6:.2f}" if step.waited_ns else ""
            rows.append(("measured", *measured, *threads, *disk, waited, step.note))
        return html_table(self._FIGURES, rows) if rows else ""


def _texts(
    rows: int | None, result: int | None, seconds: float | None, memory: int | None
) -> tuple[str, str, str, str]:
    """Rows, bytes, milliseconds and bytes, formatted; "?" if unknown."""
    return (
        "?" if rows is None else f"{rows:,}",
        "?" if result is None else size_text(result),
        "?" if seconds is None else f"{seconds * 1e3:.2f}",
        "?" if memory is None else size_text(memory),
    )


def _sentence(texts: tuple[str, str, str, str]) -> str:
    rows, result, time, memory = texts
    return f"{time} ms, {rows} rows, {result}, {memory} held"


def _after_text(step: ProfileStep, numbers: dict[int, int]) -> str:
    """The steps whose results it read, "#1 #3"."""
    return " ".join(f"#{numbers[each]}" for each in step.after if each in numbers)


def _told(step: ProfileStep, guess: Guess, numbers: dict[int, int]) -> str:
    """A step's measurement and prediction."""
    after = _after_text(step, numbers)
    measured = _texts(step.rows, step.result_bytes, step.seconds, step.memory_bytes)
    disk = step.written_bytes + step.fetched_bytes
    return (
        f" | {_sentence(measured)} (predicted {_sentence(_texts(*guess))})"
        f", {step.cores:.1f} cores, {step.serial_ns / 1e6:.2f} ms serial"
        + (f", after {after}" if after else "")
        + f", {size_text(step.used_bytes)} in memory"
        + (f", {step.note}" if step.note else "")
        + (f", {size_text(disk)} moved" if disk else "")
        + (f", {step.waited_ns / 1e6:.2f} ms of threads waiting for it" if step.waited_ns else "")
    )


def explain(nodes: list[_core.Node], analyze: bool, passes: bool = False) -> Explanation:
    """The plan as text; `analyze` runs it and reports each step."""
    if passes:
        if analyze:
            raise InvalidArgumentError("explain: pass either analyze=True or passes=True")
        return Explanation(_core.explain_passes(nodes))
    text, _, _, sizes = _core.explain(nodes)
    if not analyze:
        return Explanation(text)
    costs = _core.predicted_costs(nodes)
    with profile() as seen:
        _core.force(nodes)
    guesses = [
        Guess(
            rows=None if rows < 0 else rows,
            result_bytes=None if size < 0 else size,
            seconds=None if time < 0 else time / 1e9,
            memory_bytes=None if memory < 0 else memory,
        )
        for (rows, size), (time, memory) in zip(sizes, costs, strict=True)
    ]
    lines = text.split("\n")
    steps = [ExplainedStep(*pair) for pair in zip(guesses, seen.steps, strict=False)]
    numbers = {each.measured.id: number for number, each in enumerate(steps, 1)}
    rest = iter(steps)
    for at, line in enumerate(lines):
        if line.startswith("  #") and (step := next(rest, None)):
            lines[at] += _told(step.measured, step.predicted, numbers)
    return Explanation("\n".join(lines), steps)
