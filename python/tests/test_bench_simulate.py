# SPDX-License-Identifier: Apache-2.0
"""Recorded tasks are replayed on virtual workers as the worker pool would run them."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from headrace.lazy.profile import ProfileStep, TaskSpan

import headrace as hr

PATH = Path(__file__).resolve().parents[2] / "bench/simulate_tasks.py"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("simulate_tasks", PATH)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


simulate = loaded()
Job, replay = simulate.Job, simulate.replay


def job(*tasks):
    """A job of tasks, each a number of nanoseconds or a list of sections."""
    return Job([[task] if isinstance(task, int) else task for task in tasks])


def step(begin, end, id=0):
    return ProfileStep("op", "", "", begin, end, *[0] * 9, id, [])


def span(job, index, begin, end, outer=(-1, -1), step=0):
    return TaskSpan(step, job, index, *outer, 0, begin, end, end - begin)


# ---- the schedule --------------------------------------------------------------------------------
@pytest.mark.parametrize("workers", [1, 2, 64])
def test_nothing_takes_no_time(workers):
    assert replay([], workers) == 0
    assert replay([job()], workers) == 0
    assert replay([job([], [])], workers) == 0
    assert replay([3, job(), 4], workers) == 7


def test_at_least_one_worker():
    with pytest.raises(ValueError, match="workers=0"):
        replay([], 0)


@pytest.mark.parametrize(
    ("workers", "expected"), [(1, 80), (2, 40), (3, 30), (4, 20), (8, 10), (16, 10)]
)
def test_equal_tasks_share_the_workers(workers, expected):
    assert replay([job(*[10] * 8)], workers) == expected


def test_one_long_task_bounds_the_job():
    first, last = job(100, *[10] * 9), job(*[10] * 9, 100)
    assert [replay([first], n) for n in (1, 2, 4)] == [190, 100, 100]
    # Two workers: five and four of the short ones, then the long one from 40 on.
    # Four: three, two, two and two, then it starts at 20.
    assert [replay([last], n) for n in (1, 2, 4)] == [190, 140, 120]


def test_serial_sections_do_not_shrink():
    sections = [5, job(10, 10, 10, 10), 7, job(10, 10), 3]
    assert [replay(sections, n) for n in (1, 2, 4, 64)] == [75, 45, 35, 35]


def test_tasks_are_given_out_in_order_of_their_index():
    # 0: 30, then 10 at 30; 1: 20, then 20 at 20. In another order it would be 50 or 60.
    assert replay([job(30, 20, 20, 10)], 2) == 40
    assert replay([job(10, 20, 20, 30)], 2) == 50


def test_idle_workers_take_inner_tasks():
    sections = [job([10, job(10, 10, 10, 10), 5], 20)]
    assert replay(sections, 1) == 75
    # The inner job: 0 alone from 10 to 20, both to 30, one task more to 40; then the last 5.
    assert replay(sections, 2) == 45
    # Three workers from 10 to 20, since one is busy with the other task; one task more to 30.
    assert replay(sections, 4) == 35
    assert replay(sections, 5) == 25


def test_a_caller_waits_for_its_inner_job_alone():
    # 0 runs the 5 and waits until 50 for the 50, which 2 took at 0, then for the other task. From
    # 10 on 1 runs the tasks of 30, with the help of 2 from 50 on: 10 to 40, 40 to 70, 50 to 80,
    # 70 to 100.
    sections = [job([job(5, 50)], [10, job(30, 30, 30, 30)])]
    assert replay(sections, 3) == 100
    # A fourth worker is idle at 10 and takes two of them.
    assert replay(sections, 4) == 70


def test_workers_take_the_oldest_job_first():
    # 0 runs the first inner task from 5 to 25. At 10 worker 1 takes the last outer task, not the
    # second inner one, which it runs from 20 to 40.
    sections = [job([5, job(20, 20)], 10, 10)]
    assert replay(sections, 2) == 40


def test_jobs_nest_deeply():
    deep = [job([job([job(8, 8), 1], [job(8, 8), 1]), 1])]
    assert replay(deep, 1) == 35
    assert replay(deep, 4) == 10


# ---- the graph -----------------------------------------------------------------------------------
def test_a_step_without_tasks_is_serial():
    assert simulate.sections(step(100, 150), []) == [50]
    assert simulate.sections(step(100, 100), []) == []


def test_gaps_of_the_caller_are_serial_sections():
    spans = [span(0, 0, 105, 115), span(0, 1, 115, 125), span(1, 0, 130, 140)]
    made = simulate.sections(step(100, 147), spans)
    assert made == [5, job(10, 10), 5, job(10), 7]
    assert replay(made, 2) == 37


def test_time_between_tasks_belongs_to_the_later_one():
    spans = [span(0, 1, 112, 120), span(0, 0, 100, 110)]
    assert simulate.sections(step(100, 120), spans) == [job(10, 10)]


def test_inner_jobs_belong_to_the_task_that_started_them():
    spans = [
        span(7, 0, 10, 40),
        span(7, 1, 41, 50),
        span(8, 0, 15, 25, outer=(7, 0)),
        span(8, 1, 25, 35, outer=(7, 0)),
        span(9, 0, 0, 99, step=1),
    ]
    made = simulate.sections(step(0, 55), spans)
    assert made == [10, job([5, job(10, 10), 5], 10), 5]
    assert replay(made, 1) == 55
    assert replay(made, 3) == 10 + 20 + 5


def test_steps_are_replayed_one_by_one():
    steps = [step(0, 40, id=3), step(50, 60, id=4)]
    spans = [span(0, k, 10 * k, 10 * k + 10, step=3) for k in range(4)]
    assert simulate.replay_steps(steps, spans, 2) == [20, 10]
    assert simulate.replay_steps([], [], 2) == []


def test_a_real_profile_takes_its_own_time_with_one_worker():
    random = np.random.default_rng(1)
    frame = hr.DataFrame({"k": random.integers(0, 50, 200_000), "v": random.random(200_000)})
    with hr.threads(1), hr.profile() as seen:
        hr.eval(frame.sort_values(["k", "v"]), frame.groupby("k").v.median())
    recorded = [each.end_ns - each.begin_ns for each in seen.steps]
    assert simulate.replay_steps(seen.steps, seen.tasks, 1) == recorded
    many = simulate.replay_steps(seen.steps, seen.tasks, 16)
    assert all(0 <= a <= b for a, b in zip(many, recorded, strict=True))
    assert sum(many) < sum(recorded)
