# SPDX-License-Identifier: Apache-2.0
"""Random programs of pandas' words over frames on a device: what the host shows, bit for bit.

Run as a program for more rounds, each with all operators:
``python test_frame_programs_device.py 100 [seed]``.
"""

from __future__ import annotations

import datetime as dt
import random
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pandas_programs import OPERATORS, columns, form_of, shape_of
from random_ways import run_rounds
from shown_values import same
from test_frame_differential_pandas import ROWS, TOGETHER, folder, frame_of, results

import headrace as hr

ROUNDS = 12
LIBM = ("cbrt", "hypot", "exp", "log", "sin", "cos", "tan", "**", "pow")  # CUDA's own, within ulps


def check(shape: str, forms: list[str], seed: int, rows: int, device: str) -> int:
    """Programs of one shape; how many were errors in both places."""
    made = np.random.default_rng(seed)
    data, other = columns(made, rows), columns(made, min(rows, 40))
    side = {"j": other["j"], "k": other["k"], "u": other["i"], "v": other["x"]}
    common = {"np": np, "dt": dt, "pd": pd, "pa": pa, "pl": pl, "data": data, "limit": 3, "m": hr}

    def at(place: str) -> list[Any]:
        df, g = (frame_of(hr, each).to(place) for each in (data, side))
        return results(shape, forms, {"df": df, "g": g, "path": f"{folder()}/{place}", **common})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here, there = at("cpu"), at(device)
    for form, a, b in zip(forms, here, there, strict=True):
        program = f"{shape}\n{form}\n(rows of seed {seed}, {rows})\n"
        is_rounded = device == "cuda" and any(name in shape + form for name in LIBM)
        equal = same(a, b) if is_rounded else repr(a) == repr(b)
        assert equal, f"{program}here  {a!r}\nthere {b!r}"
    return sum(isinstance(each, Exception) for each in here)


def check_round(seed: int, rows: int | None = None, device: str = "sim") -> dict[str, int]:
    """A program of each operator; how many, and how many of them were errors in both places."""
    rng, errors = random.Random(seed), 0
    operators = rng.sample(list(OPERATORS), len(OPERATORS))
    for at in range(0, len(operators), TOGETHER):
        shape = shape_of(rng)
        forms = [form_of(each, rng)[0] for each in operators[at : at + TOGETHER]]
        size = rng.choice(ROWS) if rows is None else rows
        errors += check(shape, forms, rng.getrandbits(32), size, device)
    return {"programs": len(operators), "errors in both": errors}


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_random_programs_have_the_bits_of_the_host(device: str, seed: int) -> None:
    check_round(seed, device=device)


if __name__ == "__main__":
    from headrace import _core

    place = "cuda" if _core.built_with_cuda() and not _core.why_no_cuda() else "sim"
    run_rounds(lambda seed, rows: check_round(seed, rows, place), len(OPERATORS))
