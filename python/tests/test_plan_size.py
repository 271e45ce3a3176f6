# SPDX-License-Identifier: Apache-2.0
"""Planning looks at each node and input a bounded number of times, however long a plan is."""

import subprocess
import sys

import numpy as np
import pytest

import headrace as hr
from headrace import _core


def small(rows: int = 10) -> hr.DataFrame:
    """A frame whose memory nobody else writes to, so that operations on it are deferred."""
    frame = hr.DataFrame({"k": list(range(rows)), "v": [float(i) for i in range(rows)]})
    hr.eval(frame)
    return frame


def concats(n):
    f = g = small(3)
    for _ in range(n):
        f = hr.concat([f, g])
    return f


def one_concat(n):
    return hr.concat([small(3)] * n)


def merges(n):
    f = small()
    for i in range(n):
        f = f.merge(small().rename(columns={"v": f"v{i}"}), on="k")[["k", "v"]]
    return f


def merges_of_one_table(n):
    f, g = small(), small().rename(columns={"v": "w"})
    for _ in range(n):
        f = f.merge(g, on="k")[["k", "v"]]
    return f


def filters_and_sorts(n):
    f = small()
    for i in range(n):
        f = f[f.v >= -i].sort_values("v", ascending=i % 2 == 0)
    return f


def groups(n):
    f = small()
    for _ in range(n):
        f = f.groupby("k").sum().reset_index()
    return f


def shifts(n):
    x = small().v
    for _ in range(n):
        x = x.shift(1)
    return x


def sums(n):
    x = small().v
    for _ in range(n):
        x = x + 1
    return x


def sums_of_reductions(n):
    x = small().v
    for _ in range(n):
        x = x - x.mean()
    return x


def parts(n):
    f = small(3 * n)
    return hr.concat([(f[3 * i : 3 * i + 3] + i).sort_values("v") for i in range(n)])


def filtered_parts(n):
    f = small(3 * n)
    return hr.concat([f[f.k == i] for i in range(n)])


def wide(n):
    f = hr.DataFrame({f"c{i}": [3, 1, 2] for i in range(n)})
    hr.eval(f)
    return f


def sorted_columns(n):
    return wide(n).sort_values("c0")


def merged_columns(n):
    return wide(n).merge(wide(n), on="c0", suffixes=("", "_right"))


def grouped_columns(n):
    return wide(n).groupby("c0").sum()


def filtered_columns(n):
    f = wide(n)
    return f[f.c0 > 1].sort_values("c1")


def filtered_sorted_columns(n):
    f = wide(n).sort_values("c0")
    return f[f.c0 > 1]


def missing_of_columns(n):
    return hr.DataFrame({"m": wide(n).isna().sum()})


def scaled_columns(n):
    f = wide(n)
    return (f - f.mean()) / f.std()


def sums_of_columns(n):
    return hr.DataFrame({"s": wide(n).sum()})


PROGRAMS = [
    *(concats, one_concat, merges, merges_of_one_table, filters_and_sorts, groups, shifts, sums),
    *(sums_of_reductions, parts, filtered_parts, sorted_columns, merged_columns, grouped_columns),
    *(filtered_columns, filtered_sorted_columns, missing_of_columns, sums_of_columns),
    scaled_columns,
]


def visits_of(program, n):
    """Visits of all plans that the program makes, and of its run."""
    before = _core.planning_visits()
    hr.eval(program(n))
    return _core.planning_visits() - before


@pytest.mark.parametrize("limit", [None, "64MB"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_planning_grows_with_the_plan(program, limit):
    with hr.memory.limit(limit):
        few, many = visits_of(program, 150), visits_of(program, 600)
    assert many <= 6 * few  # 16 times as many where each node looks at all others


@pytest.mark.parametrize("program", [filters_and_sorts, merges], ids=lambda each: each.__name__)
def test_plans_too_long_to_be_made_better_are_right(program):
    assert program(300).sort_values("k").to_dict() == small().to_dict()


def test_first_rows_of_many_parts():
    f = concats(20_000)  # deeper than the stack
    assert f.head(4).k.to_list() == [0, 1, 2, 0]
    assert f.v.iloc[:5].to_list() == [0.0, 1.0, 2.0, 0.0, 1.0]


def test_first_rows_of_parts_that_change_at_each_step():
    f = g = small(3)
    for _ in range(5000):
        f = hr.concat([f * 1.0 + 1, g])
    assert f.head(2).v.to_list() == [5000.0, 5001.0]


def test_uses_of_many_views_of_one_buffer(memory_room):
    with memory_room("64MB"):
        whole = hr.Series(np.arange(40_000.0)) + 0.0
        pieces = [whole[10 * i : 10 * i + 10].sum() for i in range(4000)]
        hr.eval(*pieces)
        assert float(pieces[-1]) == sum(range(39_990, 40_000))


@pytest.mark.parametrize(
    "program",
    [
        lambda f: f.sort_values("v"),
        lambda f: f.merge(f.rename(columns={"v": "w"}), on="k"),
        lambda f: f.groupby("k").v.sum(),
        lambda f: f.v + 1,
        lambda f: f,
        lambda f: f.head(2),
        lambda f: f.iloc[1:3].v + 1,
        lambda f: (f[["v", "k"]] - f[["v", "k"]].mean()) / f[["v", "k"]].std(),
        lambda f: (f[["v", "k"]] * 2).sum(),
    ],
    ids=["sort", "merge", "group", "add", "ready", "head", "slice", "scores", "sums"],
)
def test_one_operator_over_values_is_not_planned(program):
    assert visits_of(lambda _: program(small()), 1) == 0


def test_slices_of_values_are_there_at_once():
    frame = hr.DataFrame({"a": [1.5, None, 3.0, 4.0], "s": list("wxyz")}, index=list("abcd"))
    hr.eval(frame)
    for part in (frame.head(2), frame.tail(2), frame.iloc[1:3], frame[1:], frame.iloc[3:1]):
        assert all(node.is_ready for node in part._every())
    assert frame.iloc[1:3].to_dict() == {"a": [None, 3.0], "s": ["x", "y"]}
    assert list(frame.iloc[1:3].index) == ["b", "c"]
    assert (frame.head(3).a + frame.iloc[:3].a).to_list() == [3.0, None, 6.0]


def of_numpy(n):
    """A frame over arrays that NumPy may write to: operations on it run at their lines."""
    values = np.arange(3.0 * n).reshape(n, 3)
    return hr.DataFrame({f"c{i}": values[i] for i in range(n)})


@pytest.mark.parametrize(
    "program",
    [
        lambda f: f.isna(),
        lambda f: f.fillna(0),
        lambda f: f * 2,
        lambda f: f.mean(),
        lambda f: f < 3,
    ],
    ids=["isna", "fillna", "multiply", "mean", "less"],
)
def test_columns_of_others_run_together(program):
    frame = of_numpy(500)
    recorder = _core.StepRecorder()
    made = program(frame)
    hr.eval(made)
    assert len(recorder.steps()) <= 4  # not one or more for each column


MEMORY_OF_COLUMNS = """
import numpy as np, headrace as hr

def most():
    with open("/proc/self/status") as lines:
        return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) * 1024

values = np.zeros((20_000, 3))
hr.eval(hr.DataFrame({"a": values[0].COPY()}).sum())
before = most()
total = hr.DataFrame({f"c{i}": each.COPY() for i, each in enumerate(values)}).sum()
hr.eval(total)
print((most() - before) / len(values))
"""


@pytest.mark.parametrize("copy", ["copy", "tolist"])  # of which the second waits
def test_memory_of_a_sum_of_many_columns(copy):
    program = MEMORY_OF_COLUMNS.replace("COPY", copy)
    made = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert float(made.stdout) < 4000  # bytes a column: frame, plan and result
