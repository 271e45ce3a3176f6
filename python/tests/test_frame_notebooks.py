# SPDX-License-Identifier: Apache-2.0
"""Forms met in notebooks, run by pandas and by us: the same values, names and order."""

import pandas as pd
import pytest
from shown_values import same, shown
from test_frame_like_pandas import rows, run

import headrace as hr

EQUAL = rows(r"""
m.date_range("2023-01-01", periods=3, freq="h").hour / 24
m.date_range("2023-01-31", periods=3, freq="ME").strftime("%d %b")
m.date_range("2023-01-01", periods=4)[1:3].day_name()
m.date_range("2023-01-01", periods=3).to_series().diff()
m.DataFrame({"a": [1, 2]}, index=m.date_range("2023-01-01", periods=2, name="d"))
m.to_datetime(["Jan 2022", "Mar 2022"], format="%b %Y").strftime("%Y-%m")
m.to_timedelta(["1h", "90min"]).total_seconds()
m.timedelta_range("0h", "2h", freq="h").total_seconds()
r = m.Series([1, 2], index=m.date_range("2023-01-01", periods=2, freq="MS"));; r.index.freq = "MS"
""")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", EQUAL)
def test_the_same_as_pandas(text):
    ours, theirs = shown(run(hr, text)), shown(run(pd, text))
    assert same(ours, theirs), (ours, theirs)
