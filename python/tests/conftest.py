# SPDX-License-Identifier: Apache-2.0
"""Settings that all Python tests share."""

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import headrace as hr
from headrace import _core

os.environ["COLUMNS"] = "100"  # what is shown does not depend on who runs the tests

# The same examples in every run: a failure that cannot be repeated helps nobody. Time limits are
# off, since the machines that run the tests are busy.
settings.register_profile(
    "headrace", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("headrace")


@pytest.fixture(autouse=True)
def empty_ledger() -> None:
    """No test sees the copies of the tests before it."""
    hr.memory.ledger().clear()


@pytest.fixture(scope="module", autouse=True)
def quick_collections() -> None:
    """Collections of garbage in the tests of a file skip what was there before."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def memory_room() -> Callable[[int | str], Any]:
    """Make memory limits of so many bytes over what cannot leave the memory.

    The rest of what earlier tests of the process hold goes to the disk first: it would make room
    when a test needs some, and what stays, such as plans of Fourier transforms, would take it.
    """

    def limit(size: int | str) -> Any:
        gc.collect()
        with hr.memory.limit(size):
            room = hr.memory.limit()
        with hr.memory.limit(1):
            pass
        return hr.memory.limit(hr.memory.stats().used_bytes + room)

    return limit


@pytest.fixture(params=["sim", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The simulated device and, if there is one, a GPU; no step has fallen back so far."""
    if request.param == "cuda" and (not _core.built_with_cuda() or _core.why_no_cuda()):
        pytest.skip("no GPU here")
    _core.clear_fallbacks()  # first: the default place is what HEADRACE_DEVICE says then
    monkeypatch.setenv("HEADRACE_DEVICE", "sim:devices=3,limit=256MB,latency=0us")
    yield request.param
    _core.clear_fallbacks()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Blocks between guard pages neither wait in a pool nor move to the disk."""
    if item.get_closest_marker("pool") and os.environ.get("HEADRACE_DEBUG_MEMORY") == "1":
        pytest.skip("needs the pool, and guard pages stand in its place")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many promises are kept, whichever processes ran them."""
    kinds = ("passed", "failed", "skipped", "xfailed")
    reports = [each for kind in kinds for each in terminalreporter.getreports(kind)]
    promises = [each for each in reports if "test_promises.py::" in each.nodeid]
    if promises:
        kept = sum(each.passed for each in promises)
        skipped = sum(each.skipped and "xfail" not in each.keywords for each in promises)
        terminalreporter.write_line(
            f"promises kept: {kept} of {len(promises)}; not tried here: {skipped}"
        )


@pytest.fixture
def bench_lines(tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    """Run a bench of `bench/peers` with options; the lines that it writes."""

    def run(task: str, *options: str) -> list[dict[str, Any]]:
        output = tmp_path / "bench.jsonl"
        script = Path(__file__).resolve().parents[2] / "bench/peers" / task
        line = [sys.executable, str(script), "--runs", "1", "--output", str(output), *options]
        done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return [json.loads(text) for text in output.read_text().splitlines()]

    return run
