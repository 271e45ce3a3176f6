# SPDX-License-Identifier: Apache-2.0
"""What steps took: profiles, and plans with figures."""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from headrace.lazy.profile import ExplainedStep

import headrace as hr


def frozen(values: np.ndarray) -> np.ndarray:
    """Memory that nobody writes, so that nothing runs before it is looked at."""
    values.flags.writeable = False
    return values


def test_a_profile_has_each_step_with_its_line_and_size() -> None:
    x = hr.asarray(frozen(np.arange(300_000.0)))
    with hr.profile() as outer:
        hr.eval(x * 2)
        with hr.profile() as inner:
            hr.eval((x + 1).sum())
    hr.eval(x - 3)
    assert [step.op for step in inner.steps] == ["sum"]
    assert [step.op for step in outer.steps] == ["multiply", "sum"]
    first = outer.steps[0]
    assert first.line.startswith("test_plan_profile.py:") and first.rows == 300_000
    assert first.result_bytes == 2_400_000 <= first.used_bytes and first.seconds > 0
    assert first.end_ns <= outer.steps[1].begin_ns
    assert "multiply" in repr(outer) and "<table>" in outer._repr_html_()
    assert repr(hr.profile()) == "0 steps in 0.00 ms"


def ops_of(*values: hr.Series) -> list[str]:
    """The steps that values take."""
    with hr.profile() as seen:
        hr.eval(*values)
    return [step.op for step in seen.steps]


@pytest.mark.pool
def test_a_profile_tells_what_threads_waited_for_the_disk() -> None:
    random = np.random.default_rng(1)
    df = hr.DataFrame({"k": frozen(random.integers(0, 1 << 40, 1_000_000))})

    def sorted_rows() -> tuple[hr.Profile, str]:
        with hr.profile() as seen:
            hr.eval(df.sort_values("k"))
        return seen, df.sort_values("k").explain(analyze=True)

    plain, text = sorted_rows()
    assert plain.steps[0].waited_ns == 0 and "waiting" not in text
    gc.collect()  # what is freed meanwhile would leave more room
    with hr.memory.limit(hr.memory.stats().used_bytes + 6_000_000):
        limited, text = sorted_rows()
    assert limited.steps[0].written_bytes > 0 and limited.steps[0].waited_ns > 0
    assert "ms of threads waiting for it" in text and "disk wait ms" in repr(limited)


@pytest.mark.pool
def test_under_a_limit_columns_are_made_when_they_are_wanted() -> None:
    rows = 1 << 19  # 4 MiB a column
    df = hr.DataFrame({name: frozen(np.arange(rows)) for name in "xy"})

    def groups() -> list[hr.Series]:
        return [df.x.groupby((df.x + k) // 3).sum() for k in range(3)]

    with hr.threads(2), hr.memory.limit(hr.memory.stats().used_bytes + (40 << 20)):
        late = groups()
        assert ops_of(*late) == ["floor_divide", "groupby"] * 3
        assert ops_of(df.x + 1, df.x * 2, df.x - 3) == ["add"]  # one reading of x
        assert ops_of(df.x + 4, df.y * 4) == ["add", "multiply"]
    early = groups()
    assert ops_of(*early) == ["floor_divide", *["groupby"] * 3]
    assert ops_of(df.x + 5, df.y * 5) == ["add"]
    for a, b in zip(early, late, strict=True):
        assert a.to_numpy().tobytes() == b.to_numpy().tobytes()


@pytest.mark.pool
def test_a_pass_holds_no_more_columns_than_fit() -> None:
    x = hr.Series(frozen(np.arange(1 << 17)))  # one morsel, 1 MiB
    with hr.memory.limit(hr.memory.stats().used_bytes + (40 << 20)):
        made = [x + k for k in range(64)]
        assert 2 <= len(ops_of(*made)) <= 16
        assert [each[5] for each in made] == list(range(5, 69))


def test_a_failing_step_leaves_the_profile_whole() -> None:
    x = hr.Series([1, 2, 3])
    with hr.profile() as seen:
        with pytest.raises(hr.InvalidArgumentError):
            x[np.array([7])].to_list()
        assert (x + 1).to_list() == [2, 3, 4]
    assert [step.op for step in seen.steps] == ["add"]


def test_threads_share_a_profile() -> None:
    x = hr.asarray(np.arange(1000.0))
    with hr.profile() as seen, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: hr.eval(x * k), range(20)))
    assert len(seen.steps) == 20


def test_a_trace_has_bars_and_the_curve_of_memory(tmp_path: Path) -> None:
    with hr.profile() as seen:
        hr.eval(hr.asarray(np.ones(1000)) + 1)
    seen.save(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    (bar,) = (event for event in events if event.get("cat") == "plan")
    assert bar["name"] == "add" and bar["args"]["rows"] == 1000 and bar["dur"] > 0
    assert any(event["ph"] == "C" and event["args"]["used_bytes"] > 0 for event in events)


@pytest.mark.pool
def test_a_plan_says_what_its_steps_took_and_moved() -> None:
    values = {"k": frozen(np.arange(4_000_000) % 1000), "x": frozen(np.arange(4e6))}
    frame = hr.DataFrame(values)
    plan = frame.sort_values("x", ascending=False)
    with hr.memory.limit(hr.memory.stats().used_bytes + 40_000_000):
        text = plan.explain(analyze=True)
    (line,) = (line for line in text.split("\n") if "sort_values" in line)
    figures = r"\d+\.\d\d ms, 4,000,000 rows, 64.0 MB, \d+\.\d MB held"
    wanted = (
        rf" \| {figures} \(predicted {figures}\), .* in memory, .* moved(, .* waiting for it)?$"
    )
    assert re.search(wanted, line), line
    assert "sort_values" not in plan[["k"]].explain().split("ready")[0]


def test_a_plan_predicts_rows_and_is_a_table_in_a_notebook() -> None:
    frame = hr.DataFrame({"k": np.arange(9000) % 30, "x": np.arange(9000.0)})
    plan = frame[frame.x > 10].groupby("k", as_index=False).x.sum()
    text = plan.explain(analyze=True)
    assert "30 rows" in text and "predicted" in text and "in memory" in text, text
    html = text._repr_html_()
    # The steps and a header; then a header, and what was predicted and measured of each step.
    assert html.count("<tr>") == 3 * text.count("  #") + 2
    assert html.count("predicted") == len(text.steps) == text.count("  #")
    scanned = hr.scan_csv(b"a,b\n" + b"1,2\n" * 300)
    text = scanned[["a"]].explain(analyze=True)
    assert "300 rows, 2.4 kB" in text.partition("(predicted")[2]
    assert not plan.explain().steps


def prices(make: Callable[[int], hr.DataFrame | hr.Series], rows: int) -> list[ExplainedStep]:
    plan = make(rows)
    return plan.explain(analyze=True).steps


def frame_of(rows: int) -> hr.DataFrame:
    at = np.random.default_rng(1).permutation(rows)
    frame = hr.DataFrame({"k": frozen(at % 1000), "x": frozen(at * 0.5), "y": frozen(at)})
    hr.eval(frame)
    return frame


def joined_of(rows: int) -> hr.DataFrame:
    keys = np.random.default_rng(2).permutation(rows)[: rows * 5 // 8]
    other = hr.DataFrame({"y": frozen(keys.copy()), "z": frozen(keys * 2)})
    return frame_of(rows).merge(other, on="y")


PLANS: dict[str, Callable[[int], hr.DataFrame | hr.Series]] = {
    "chain": lambda rows: frame_of(rows).pipe(lambda f: f.x * 2 + f.y),
    "filter": lambda rows: frame_of(rows).pipe(lambda f: f[f.k < 333]),
    "group-by": lambda rows: (
        frame_of(rows).groupby("k", as_index=False).agg(a=("x", "sum"), b=("y", "max"))
    ),
    "sort": lambda rows: frame_of(rows).sort_values("x"),
    "join": joined_of,
    "text": lambda rows: hr.scan_csv(b"a,b\n" + b"1.5,2\n" * rows),
}


@pytest.mark.parametrize("name", PLANS)
def test_time_and_memory_are_predicted(name: str) -> None:
    few, many = (prices(PLANS[name], rows) for rows in (500_000, 2_000_000))
    assert len(few) == len(many) > 0
    for steps in (few, many):
        for guess, _ in steps:
            assert guess.seconds is not None and guess.seconds > 0
            assert guess.memory_bytes is not None and guess.memory_bytes > 0
            assert guess.rows is not None and guess.result_bytes is not None
    for less, more in zip(few, many, strict=True):
        assert less.predicted.seconds < more.predicted.seconds
        assert less.predicted.memory_bytes <= more.predicted.memory_bytes
    predicted = max(step.predicted.memory_bytes or 0 for step in many)
    measured = max(step.measured.memory_bytes for step in many)
    assert measured / 2 < predicted < measured * 2, (predicted, measured)
    # Of the time only that it is no nonsense, since machines differ and are busy.
    took = sum(step.measured.seconds for step in many)
    thought = sum(step.predicted.seconds or 0 for step in many)
    assert took / 5000 < thought < took * 100


def keyed_of(groups: int) -> hr.DataFrame:
    rows, random = 1_000_000, np.random.default_rng(3)
    keys = random.integers(0, groups, rows)
    root = max(int(groups**0.5), 1)
    frame = hr.DataFrame(
        {
            "near": frozen(keys),
            "far": frozen(keys * 1_000_003),
            "a": frozen(keys // root),
            "b": frozen(keys % root),
            "x": frozen(random.normal(size=rows)),
        }
    )
    frame["text"] = "customer number " + frame.near.astype("string")
    hr.eval(frame)
    return frame


def other_of(groups: int, times: int) -> hr.DataFrame:
    keys = np.repeat(np.arange(groups), times)
    return hr.DataFrame({"near": frozen(keys), "z": frozen(keys * 0.5)})


KEYED: dict[str, Callable[[hr.DataFrame, int], hr.DataFrame | hr.Series]] = {
    **{
        f"{aggregate} by {' '.join(keys)}": (
            lambda frame, _, keys=keys, aggregate=aggregate: frame.groupby(
                keys, as_index=False
            ).agg(r=("x", aggregate))
        )
        for keys in (["near"], ["far"], ["text"], ["a", "b"])
        for aggregate in ("sum", "count", "median", "nunique")
    },
    "filtered": lambda frame, _: frame[frame.x > 0].groupby("far", as_index=False).x.mean(),
    "distinct": lambda frame, _: frame[["far", "x"]].drop_duplicates("far"),
    "join 1": lambda frame, groups: frame[["near", "x"]].merge(other_of(groups, 1), on="near"),
    "join 3": lambda frame, groups: frame[["near", "x"]].merge(other_of(groups, 3), on="near"),
    "left join": lambda frame, groups: frame[["near", "x"]].merge(
        other_of(groups // 4, 2), on="near", how="left"
    ),
    "transform": lambda frame, _: frame.groupby("near").x.transform("sum"),
    "cumsum": lambda frame, _: frame.groupby("near").x.cumsum(),
    "rank": lambda frame, _: frame.x.rank(),
}


def are_near(guess: float, measured: float, unit: float) -> bool:
    """Within a factor of 2.5, or both small."""
    return (guess + unit) / 2.5 <= measured + unit <= (guess + unit) * 2.5


@pytest.mark.pool
@pytest.mark.parametrize("groups", [10, 10_000, 1_000_000])
def test_keys_tell_of_rows_and_memory(groups: int) -> None:
    frame = keyed_of(groups)
    wrong = []
    for name, make in KEYED.items():
        steps = make(frame, groups).explain(analyze=True).steps
        for guess, step in steps:
            assert guess.rows is not None and guess.memory_bytes is not None, name
            if not are_near(guess.rows, step.rows, 100):
                wrong.append((name, "rows", guess.rows, step.rows))
        predicted = max(guess.memory_bytes or 0 for guess, _ in steps)
        measured = max(step.memory_bytes for _, step in steps)
        if not are_near(predicted, measured, 1e6):
            wrong.append((name, "bytes", predicted, measured))
    assert not wrong, wrong


def test_rows_sorted_for_nothing_are_told() -> None:
    frame = hr.DataFrame({"k": [2, 1, 2], "x": [3.0, 2.0, 1.0]})
    hr._core.clear_advice()
    frame.sort_values("x").groupby("k").x.first().to_dict()
    frame.sort_values("x").x.to_list()
    assert not hr.advice()
    frame.sort_values("x").groupby("k").x.sum().to_dict()
    ((op, line, text),) = hr.advice()
    assert op == "sort_values" and "test_plan_profile.py" in line and "redundant sort" in text


def test_a_timeline_has_the_work_of_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADRACE_DEVICE", "sim:devices=3,limit=256MB,latency=0us")
    with hr.profile() as seen:
        x = hr.asarray(np.arange(300_000.0)).to("sim")
        (x * 2).to_numpy()
    spans = seen.device_spans
    assert [span.op for span in spans] == ["to sim:0", "multiply", "to host"]
    assert [span.bytes for span in spans] == [2_400_000, 0, 2_400_000]
    assert all(span.place == "sim:0" and span.begin_ns <= span.end_ns for span in spans)
    assert spans[0].end_ns <= spans[1].begin_ns and spans[1].end_ns <= spans[2].begin_ns
    seen.save(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    bars = {e["name"]: e for e in events if e["ph"] == "X"}
    assert bars["to host"]["args"] == {"bytes": 2_400_000} and bars["to host"]["tid"] >= 2
    assert any(e["name"] == "thread_name" and "sim:0" in e["args"]["name"] for e in events)
    with hr.profile() as nothing:
        pass
    assert nothing.device_spans == []


def test_ranges_of_nvtx_go_to_the_library_that_is_named(tmp_path: Path) -> None:
    source = tmp_path / "nvtx.c"
    source.write_text(
        "#include <stdio.h>\nstatic int depth;\n"
        'int nvtxRangePushA(const char* name) { printf("push %s\\n", name); return depth++; }\n'
        'int nvtxRangePop(void) { printf("pop\\n"); fflush(stdout); return --depth; }\n'
    )
    library = tmp_path / "libnvtx.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    code = "import headrace as hr; hr.eval((hr.asarray([1.0, 2.0]) + 1).sum())"

    def output(wish: str, program: str = code) -> str:
        env = {**os.environ, "HEADRACE_NVTX": wish}
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=env, check=True
        )
        return done.stdout

    assert output(str(library)) == "push sum\npop\n"
    assert output("") == ""
    why = "from headrace import _core; print(_core.why_no_nvtx())"
    assert "cannot load the NVTX library: HEADRACE_NVTX=/none.so" in output("/none.so", why)
    assert "not set" in output("0", why)
