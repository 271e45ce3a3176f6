# SPDX-License-Identifier: Apache-2.0
"""Replays the recorded tasks of a step on any number of virtual workers.

`hr.profile()` records which tasks a step ran, in which jobs, and when. With one thread the record
has no waiting in it, so it says how long each task takes and how much of the step is serial.
`sections` turns it into a graph, and `replay` schedules that graph as the worker pool does:

- A step is a sequence of sections: serial ones, which its caller runs, and jobs.
- A job's tasks are given out in order of their index, to its caller and to idle workers.
- A task is a sequence of sections too. The worker of a task that starts a job is that job's caller:
  until the job is done it works on nothing else.
- An idle worker takes tasks of the oldest job that has some left, and stays until all are given
  out.

A task includes the time between it and the one before it, so that one worker takes exactly the
recorded time. The forecast has no cost of waking workers and assumes that tasks do not slow each
other down, as they do when they share memory bandwidth, caches or processor cores.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeAlias


class Step(Protocol):
    """What is used of a `ProfileStep`."""

    @property
    def id(self) -> int: ...
    @property
    def begin_ns(self) -> int: ...
    @property
    def end_ns(self) -> int: ...


class Span(Protocol):
    """What is used of a `TaskSpan`."""

    @property
    def step(self) -> int: ...
    @property
    def job(self) -> int: ...
    @property
    def task(self) -> int: ...
    @property
    def outer_job(self) -> int: ...
    @property
    def outer_task(self) -> int: ...
    @property
    def begin_ns(self) -> int: ...
    @property
    def end_ns(self) -> int: ...


class Job(NamedTuple):
    """A parallel section: tasks in order of their index."""

    tasks: list[Sections]


#: Nanoseconds of serial work, and jobs, one after another.
Sections: TypeAlias = "list[int | Job]"


# ---- the graph -----------------------------------------------------------------------------------
def sections(step: Step, spans: Iterable[Span]) -> Sections:
    """Return the sections of a step, from the tasks of a profile with one thread."""
    jobs: dict[tuple[int, int], dict[int, list[Span]]] = defaultdict(lambda: defaultdict(list))
    for span in spans:
        if span.step == step.id:
            jobs[span.outer_job, span.outer_task][span.job].append(span)

    def between(begin: int, end: int, outer: tuple[int, int]) -> Sections:
        made: Sections = []
        at = begin
        inner = [sorted(job, key=lambda span: span.task) for job in jobs[outer].values()]
        for job in sorted(inner, key=lambda job: job[0].begin_ns):
            if job[0].begin_ns > at:
                made.append(job[0].begin_ns - at)
            at = job[0].begin_ns
            tasks = []
            for span in job:
                tasks.append(between(min(at, span.begin_ns), span.end_ns, (span.job, span.task)))
                at = max(at, span.end_ns)
            made.append(Job(tasks))
        if end > at:
            made.append(end - at)
        return made

    return between(step.begin_ns, step.end_ns, (-1, -1))


# ---- the schedule --------------------------------------------------------------------------------
class _Run:
    """A job that was started."""

    def __init__(self, job: Job, caller: int) -> None:
        self.tasks, self.caller = job.tasks, caller
        self.given, self.done = 0, 0

    @property
    def has_tasks(self) -> bool:
        return self.given < len(self.tasks)


class _Task:
    """A task that was begun, or the step itself."""

    def __init__(self, sections: Sections, run: _Run | None) -> None:
        self.sections, self.run = sections, run
        self.next = 0
        self.inner: _Run | None = None  # the job that it waits for


class _Pool:
    """The workers; number 0 is the caller of the step."""

    def __init__(self, workers: int) -> None:
        self.begun: list[list[_Task]] = [[] for _ in range(workers)]  # the innermost last
        self.staying: list[_Run | None] = [None] * workers  # each worker's last job
        self.idle = list(range(1, workers))  # a heap
        self.open: list[_Run] = []  # with tasks left, the oldest first
        self.events: list[tuple[int, int, int]] = []  # time, order, worker
        self.count = 0
        self.now = 0

    def wake(self, worker: int, after: int = 0) -> None:
        """Have a worker continue after some time."""
        heapq.heappush(self.events, (self.now + after, self.count, worker))
        self.count += 1

    def begin(self, worker: int, run: _Run) -> None:
        """Give the next task of a job to a worker."""
        self.begun[worker].append(_Task(run.tasks[run.given], run))
        run.given += 1
        if not run.has_tasks:
            self.open.remove(run)

    def start(self, worker: int, job: Job) -> _Run:
        """Start a job and wake as many workers as it can use."""
        run = _Run(job, worker)
        self.open.append(run)
        for _ in range(min(len(self.idle), len(job.tasks) - 1)):
            self.wake(heapq.heappop(self.idle))
        return run

    def finish(self, worker: int) -> None:
        """End a worker's innermost task; a caller that waited for it continues."""
        run = self.begun[worker].pop().run
        if run is None:
            return
        run.done += 1
        if run.done == len(run.tasks) and run.caller != worker:
            self.wake(run.caller)

    def find(self, worker: int) -> bool:
        """Give a task to a worker that has none; false if all are given out."""
        run = self.staying[worker]
        if run is None or not run.has_tasks:
            run = self.open[0] if self.open else None
        self.staying[worker] = run
        if run is None:
            heapq.heappush(self.idle, worker)
            return False
        self.begin(worker, run)
        return True

    def advance(self, worker: int) -> None:
        """Continue a worker until it works for some time, waits or is idle."""
        while True:
            if not self.begun[worker] and (worker == 0 or not self.find(worker)):
                return
            task = self.begun[worker][-1]
            if task.inner and task.inner.has_tasks:
                self.begin(worker, task.inner)
            elif task.inner and task.inner.done < len(task.inner.tasks):
                return
            elif task.next == len(task.sections):
                self.finish(worker)
            else:
                task.inner = None
                section = task.sections[task.next]
                task.next += 1
                if isinstance(section, int):
                    self.wake(worker, section)
                    return
                if section.tasks:
                    task.inner = self.start(worker, section)


def replay(sections: Sections, workers: int) -> int:
    """Return the nanoseconds that a number of workers take, the caller included."""
    if workers < 1:
        raise ValueError(f"replay: expected at least one worker: workers={workers}")
    pool = _Pool(workers)
    pool.begun[0].append(_Task(sections, None))
    pool.wake(0)
    while pool.begun[0]:
        pool.now, _, worker = heapq.heappop(pool.events)
        pool.advance(worker)
    return pool.now


def replay_steps(steps: Sequence[Step], spans: Iterable[Span], workers: int) -> list[int]:
    """Return the nanoseconds of each step of a profile; steps run one after another."""
    of_step: dict[int, list[Span]] = defaultdict(list)
    for span in spans:
        of_step[span.step].append(span)
    return [replay(sections(step, of_step[step.id]), workers) for step in steps]
