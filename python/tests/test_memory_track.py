# SPDX-License-Identifier: Apache-2.0
"""Stacks: buffers remember who asked for them, and nothing is kept where nobody asked."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import headrace as hr


def inner(size: int) -> hr.Array:
    return hr.asarray(np.ones(size)) * 2


def outer(size: int) -> hr.Array:
    return inner(size)


def test_buffers_carry_the_stack_of_the_line_that_made_them() -> None:
    with hr.memory.track(stacks=True) as tracked:
        value = outer(1000)
        held = tracked.live()
        value.to_numpy()
    assert [holder.bytes for holder in held] in ([], [8000])
    (holder,) = [holder for holder in tracked.live() if holder.op == "multiply"]
    lines = holder.stack.splitlines()
    assert [line.rpartition(" in ")[2] for line in lines[:3]] == [
        "inner",
        "outer",
        "test_buffers_carry_the_stack_of_the_line_that_made_them",
    ]
    assert all(line.startswith(__file__ + ":") for line in lines[:3])
    assert len(lines) <= 32
    assert "    " + lines[1] in repr(tracked)
    assert any(lines[1] in leak.stack for leak in hr.memory.leaks())
    assert "<table>" in tracked._repr_html_()
    del value
    assert not [holder for holder in tracked.live() if holder.op == "multiply"]


def test_leak_check_shows_stacks() -> None:
    kept = []
    with (
        pytest.raises(hr.InternalError, match="bytes=8000") as caught,
        hr.memory.track(stacks=True),
        hr.memory.leak_check(),
    ):
        kept.append(outer(1000))
        kept[0].to_numpy()
    assert " in outer" in str(caught.value)


def test_it_ends_with_its_block_and_nests() -> None:
    with hr.memory.track(stacks=True) as first:
        with hr.memory.track() as second:
            a = outer(100)
            a.to_numpy()
        b = outer(200)
        b.to_numpy()
    c = outer(300)
    c.to_numpy()
    assert [holder.stack != "" for holder in first.live() if holder.op == "multiply"] == [
        True,
        True,
        False,
    ]
    assert len([h for h in second.live() if h.op == "multiply"]) == 3
    with pytest.raises(KeyError), hr.memory.track():
        raise KeyError
    d = outer(400)
    d.to_numpy()
    assert hr.memory.leaks()[-1].stack == ""


def test_it_holds_for_all_threads_and_needs_the_trace() -> None:
    kept: list[hr.Array] = []

    def work() -> None:
        kept.append(outer(1000))
        kept[-1].to_numpy()

    with hr.memory.track() as tracked:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert any("<locals>.work" in holder.stack for holder in tracked.live())
    with hr.memory.trace(False), hr.memory.track() as tracked:
        work()
    assert all(holder.stack == "" for holder in tracked.live())


def test_nothing_to_add_is_refused() -> None:
    with pytest.raises(hr.InvalidArgumentError, match="stacks=False"):
        hr.memory.track(stacks=False)
