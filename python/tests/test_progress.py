# SPDX-License-Identifier: Apache-2.0
"""Bars of long work: they begin after two seconds, and leave nothing behind."""

import io
import sys
import time

import numpy as np
import pytest
from headrace.display import progress

import headrace as hr


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Makes stderr a terminal; pytest changes stderr between the phases of a test."""

    def make():
        monkeypatch.setattr(sys, "stderr", Terminal())
        return sys.stderr

    monkeypatch.setattr(progress, "_WAIT", 0.1)
    monkeypatch.setattr(progress, "_SILENCE", 0.3)
    yield make
    hr._core.set_progress(None)


def test_long_work_shows_a_bar_that_goes_away(terminal):
    terminal, watch = terminal(), progress.Watch()
    watch(0, 10)
    assert terminal.getvalue() == ""
    time.sleep(0.15)
    watch(5, 10)
    time.sleep(0.05)
    assert "█" * 12 + "░" * 12 in terminal.getvalue()
    watch._thread.join(timeout=5)
    assert not watch._thread.is_alive() and terminal.getvalue().endswith("\r\033[K")


def test_many_jobs_show_seconds_alone(terminal):
    terminal, watch = terminal(), progress.Watch()
    for _ in range(5):
        time.sleep(0.05)
        watch(9, 10)
        watch(1, 10)
    time.sleep(0.15)
    assert "working 0." in terminal.getvalue()
    watch._thread.join(timeout=5)


def test_a_bar_with_a_name_stands_alone(terminal):
    terminal, watch = terminal(), progress.Watch()
    with progress.Progress(2) as bar:
        bar.step("search")
        watch(0, 10)
        time.sleep(0.15)
        watch(1, 10)
    assert watch._thread is None and "search" in terminal.getvalue()
    assert progress.Watch.hidden == 0


def test_fits_report_to_it(terminal):
    terminal = terminal()
    progress.watch()
    rows = np.random.default_rng(0).normal(size=(1500, 20))
    hr.learn.TSNE(random_state=0).fit_transform(rows)
    assert "█" in terminal.getvalue()


def test_nothing_is_written_elsewhere(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(hr._core, "set_progress", None)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    progress.watch()
