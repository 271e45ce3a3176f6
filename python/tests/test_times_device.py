# SPDX-License-Identifier: Apache-2.0
"""Parts and floors of times on the simulated device, and on a GPU if there is one: the host's."""

import numpy as np
import pyarrow as pa
import pytest

import headrace as hr

FIELDS = ["year", "month", "day", "dayofyear", "days_in_month", "quarter", "hour", "date"]
FIELDS += ["is_month_end", "is_quarter_start", "is_leap_year"]
WORK = {
    "floor": lambda d: d["ns"].dt.floor("15min"),
    "round": lambda d: d["ns"].dt.round("h"),
    "fused": lambda d: d["s"].dt.year * 100 + d["s"].dt.month,
    "units": lambda d: d["s"] < d["ns"],
    "date and time": lambda d: d["day"] < d["ns"],
    "filter": lambda d: d[d["ns"].dt.month == 3]["ns"],
}


def frame_of(rows):
    """Times far from now and near it, some of them missing."""
    random = np.random.default_rng(rows)

    def nullable(values):
        return pa.array(values, mask=random.random(rows) < 0.2)

    far = random.integers(-(2**31), 2**31 - 1, rows).astype("i4")
    return hr.from_arrow(
        pa.table(
            {
                "s": nullable(random.integers(-(2**40), 2**40, rows).astype("M8[s]")),
                "ns": pa.array(random.integers(-(2**62), 2**62, rows).astype("M8[ns]")),
                "day": nullable(far).cast(pa.date32()),
            }
        )
    )


def same(ours, theirs):
    columns = [hr.DataFrame({"a": each}).to_arrow()["a"] for each in (ours, theirs)]
    if pa.types.is_date(columns[0].type):  # beyond what Python's dates hold
        columns = [column.cast(pa.int32()) for column in columns]
    return columns[0].equals(columns[1])


@pytest.mark.parametrize("name", ["s", "ns", "day"])
def test_fields_are_the_hosts(device, name):
    for rows in (0, 1, 65, 3000):
        frame = frame_of(rows)
        there = frame.to(device)
        for field in FIELDS:
            assert same(getattr(there[name].dt, field), getattr(frame[name].dt, field)), field
        for start in ("MS", "QS", "YS"):
            assert same(there[name].dt.floor(start), frame[name].dt.floor(start)), start
    assert not hr.fallbacks()


def test_every_day_of_four_centuries(device):
    days = pa.array(np.arange(-1000, 146_097 + 1000, dtype="i4")).cast(pa.date32())
    frame = hr.from_arrow(pa.table({"day": days}))
    there = frame.to(device)
    for field in FIELDS:
        assert same(getattr(there["day"].dt, field), getattr(frame["day"].dt, field)), field
    assert same(there["day"].dt.floor("QS"), frame["day"].dt.floor("QS"))


def test_expressions_of_times_are_the_hosts(device):
    for rows in (1, 65, 3000):
        frame = frame_of(rows)
        there = frame.to(device)
        for name, work in WORK.items():
            assert same(work(there), work(frame)), name
    assert not hr.fallbacks()
