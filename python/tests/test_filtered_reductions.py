# SPDX-License-Identifier: Apache-2.0
"""Reductions of filtered rows, which compute the mask in their pass, have the bits of the rows."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import headrace as hr

SIZES = (0, 1, 63, 64, 65, 1024, 1025, 131_071, 131_073, 400_001)
KINDS = ("plain", "nan", "null", "int")
WORDS = ("sum", "mean", "min", "max", "count", "var", "std", "skew", "prod")


def frame_of(rows: int, kind: str) -> hr.DataFrame:
    random = np.random.default_rng(rows)
    x, y = random.standard_normal(rows), random.standard_normal(rows)
    if kind == "int":
        return hr.DataFrame({"x": x, "y": random.integers(-5, 100, rows)})
    gone = random.random(rows) < 0.2
    if kind != "plain":
        x[random.random(rows) < 0.1] = np.nan
        y[gone] = np.nan
    frame = hr.DataFrame({"x": x, "y": y})
    if kind == "null":
        frame["y"] = frame.y.where(hr.Series(~gone).to_numpy(), None)
    hr.eval(frame)
    return frame


def bits(number: Any) -> Any:
    """Of a float; what there is instead of one otherwise."""
    return struct.pack("<d", number) if isinstance(number, float) else number


def outcome(work: Callable[[], Any]) -> Any:
    try:
        value = work()
        return bits(value.item() if isinstance(value, hr.Array) else value)
    except hr.Error as error:
        return type(error)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", SIZES)
def test_a_filter_that_is_reduced_has_the_bits_of_its_rows(rows: int, kind: str) -> None:
    frame = frame_of(rows, kind)
    for limit in (-9.0, 0.0, 2.5, 99.0):
        made = frame[frame.x > limit]
        hr.eval(made)
        for word in WORDS:
            fused = outcome(
                lambda limit=limit, word=word: getattr(frame[frame.x > limit].y, word)()
            )
            assert fused == outcome(lambda made=made, word=word: getattr(made.y, word)()), word


@pytest.mark.parametrize("kind", KINDS)
def test_several_reductions_of_one_eval_have_the_same_bits_on_any_threads(kind: str) -> None:
    frame = frame_of(400_001, kind)
    made = frame[(frame.x > 0) & (frame.y < 1)]
    hr.eval(made)

    def reductions(rows: hr.DataFrame) -> list[hr.Array]:
        centred = rows.y - rows.y.mean()
        return [rows.y.sum(), rows.x.mean(), (rows.x * rows.y).sum(), (centred * centred).sum()]

    expected = [bits(each.item()) for each in reductions(made)]
    for threads in (1, 2, 3, 8):
        with hr.threads(threads):
            found = reductions(frame[(frame.x > 0) & (frame.y < 1)])
            hr.eval(*found)
            assert [bits(each.item()) for each in found] == expected


def test_the_mask_is_no_step_of_its_own() -> None:
    frame = frame_of(1000, "plain")
    text = frame[frame.x > 0].y.sum().explain()
    assert "plan: 1 step, 1 full-size pass" in text
    assert "where greater(" in text


def test_under_a_limit_the_mask_is_made_first_and_the_bits_are_the_same(memory_room: Any) -> None:
    frame = frame_of(400_001, "plain")
    with memory_room("1GB"):
        total = frame[frame.x > 0].y.sum()
        assert "plan: 2 steps" in total.explain()
        bounded = bits(total.item())
    assert bits(frame[frame.x > 0].y.sum().item()) == bounded


def test_a_mask_that_others_read_is_made() -> None:
    frame = frame_of(400_001, "plain")
    mask = frame.x > 0
    total, count = frame[mask].y.sum(), mask.sum()
    hr.eval(total, count)
    x, y = frame.x.to_numpy(), frame.y.to_numpy()
    assert count.item() == np.count_nonzero(x > 0)
    np.testing.assert_allclose(total.item(), y[x > 0].sum(), rtol=1e-9)
