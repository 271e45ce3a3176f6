# SPDX-License-Identifier: Apache-2.0
"""Strings of frames on the simulated device, and on a GPU if there is one: the host's values."""

import numpy as np
import pyarrow as pa
import pytest

import headrace as hr

WORDS = ["", "a", "ab", "  pad ", "twelve bytes", "thirteen byte", "a long text of many bytes"]
WORDS += ["a long text of many bytez", "prefix-suffix", " \t x \n", "x" * 100, "abcabc", "suffix"]
ACCENTS = ["naïve", "ÀÉ", "  é  ", "日本語のテキスト"]


def frame_of(rows, accents):
    random = np.random.default_rng(rows)
    words = np.array(WORDS + (ACCENTS if accents else []), object)
    drawn = [words[random.integers(0, len(words), rows)] for _ in range(2)]
    return hr.from_arrow(
        pa.table(
            {
                "s": pa.array(drawn[0], pa.string(), mask=random.random(rows) < 0.2),
                "t": pa.array(drawn[1], pa.string()),
                "c": pa.array(drawn[1], pa.string()).dictionary_encode(),
                "x": pa.array(random.random(rows)),
            }
        )
    )


WORK = {
    "equal": lambda d: d["s"] == "ab",
    "equal to a long one": lambda d: d["s"] != "a long text of many bytes",
    "order": lambda d: d["s"] < "a long text of many bytey",
    "order of columns": lambda d: d["s"] >= d["t"],
    "equal columns": lambda d: d["t"] == d["s"],
    "category": lambda d: d["c"] == "ab",
    "no such category": lambda d: d["c"] != "nothing",
    "contains": lambda d: d["s"].str.contains("text of", regex=False),
    "contains nothing": lambda d: d["s"].str.contains("", regex=False),
    "starts": lambda d: d["s"].str.startswith("a long text of"),
    "ends": lambda d: d["c"].str.endswith("suffix"),
    "length": lambda d: d["s"].str.len(),
    "slice": lambda d: d["s"].str.slice(1, 15),
    "slice from the end": lambda d: d["t"].str.slice(-13),
    "strip": lambda d: d["s"].str.strip(),
    "strip letters": lambda d: d["t"].str.rstrip("xbé "),
    "lower": lambda d: d["s"].str.lower(),
    "upper": lambda d: d["t"].str.upper(),
    "filter": lambda d: d[(d["x"] > 0.3) & (d["s"] == "ab")]["x"],
    "chain": lambda d: d["s"].str.strip().str.slice(0, 13) == "a long text o",
}


def values_of(column):
    return hr.DataFrame({"a": column}).to_arrow()["a"].to_pylist()


@pytest.mark.parametrize("accents", [False, True])
def test_strings_are_the_hosts(device, accents):
    for rows in (0, 1, 63, 64, 65, 3000):
        frame = frame_of(rows, accents)
        there = frame.to(device)
        for name, work in WORK.items():
            assert values_of(work(there)) == values_of(work(frame)), (name, rows)
            if rows == 3000:
                part = slice(5, rows - 3)
                assert values_of(work(there[part])) == values_of(work(frame[part])), name
    told = {reason for _, reason, *_ in hr.fallbacks()}
    falls_back = device == "cuda" and accents
    letters = "the case of other letters than ASCII has no kernel for CUDA"
    assert told == ({letters} if falls_back else set())
