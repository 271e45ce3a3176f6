# SPDX-License-Identifier: Apache-2.0
"""The report: tiers, operators and lines, the peak and who made it; and the list of holders."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest

import headrace as hr

MB = 1_000_000


def line_of_caller() -> int:
    return sys._getframe(1).f_lineno


def test_it_sums_by_operator_and_by_line() -> None:
    lines = []
    kept = []
    for _ in range(2):
        kept.append(hr.asarray(np.ones(MB)) * 2)
        lines.append(line_of_caller() - 1)
    kept.append(hr.asarray(np.ones(MB)) * 3)
    for each in kept:
        each.to_numpy()
    report = hr.memory.report()
    multiply = next(share for share in report.by_operator if share.name == "multiply")
    assert multiply.bytes >= 24 * MB
    assert multiply.buffers >= 3
    name = f"multiply at test_memory_report.py:{lines[0]}"
    share = next(share for share in report.by_line if share.name == name)
    assert (share.bytes, share.buffers) == (16 * MB, 2)
    for shares in (report.by_operator, report.by_line):
        assert sum(share.bytes for share in shares) == sum(
            holder.bytes for holder in report.holders if not holder.foreign
        )
        assert [share.bytes for share in shares] == sorted(
            (share.bytes for share in shares), reverse=True
        )


def test_tiers_say_what_statistics_say() -> None:
    view = (hr.asarray(np.ones(MB)) * 2).to_numpy()
    now = hr.memory.stats()
    with hr.memory.limit("3GB"):
        report = hr.memory.report()
    host = report.tiers[0]
    assert host.name == "host"
    assert (host.used, host.cached) == (now.used_bytes, now.cached_bytes)
    assert (host.foreign, host.limit) == (now.foreign_bytes, 3 * 10**9)
    assert 8 * MB <= host.exported <= host.used
    assert host.pinned == sum(holder.pinned_bytes for holder in report.holders)
    assert "3.0 GB" in str(report)
    del view
    after = hr.memory.report()
    assert after.tiers[0].exported <= host.exported - 8 * MB
    assert after.tiers[0].limit is None


def test_the_peak_names_who_made_it() -> None:
    base = hr.memory.stats().peak_bytes
    begin = time.time_ns()
    size = base // 8 + 2 * MB
    big, line = hr.asarray(np.ones(size)) * 2, line_of_caller()
    big.to_numpy()
    del big
    small = hr.asarray(np.ones(MB)) + 1
    small.to_numpy()
    peak = hr.memory.report().peak
    assert peak.bytes == hr.memory.stats().peak_bytes >= 8 * size
    assert 0.99 * peak.bytes <= peak.noted_bytes <= peak.bytes
    assert begin <= peak.time_ns <= time.time_ns()
    assert peak.holders[0].name == f"multiply at test_memory_report.py:{line}"
    assert peak.holders[0].bytes >= 8 * size
    text = str(hr.memory.report())
    assert "peak: " in text
    assert f"multiply at test_memory_report.py:{line}" in text.partition("peak: ")[2]


def test_texts_and_html_are_short_and_escaped() -> None:
    kept = [hr.asarray(np.ones(1000 + k)) * k for k in range(30)]
    for each in kept:
        each.to_numpy()
    report = hr.memory.report(3)
    text = str(report)
    assert repr(report) == text
    assert len(text.splitlines()) < 45
    page = report._repr_html_()
    assert page.count("<table>") == len(report._tables())
    _named("<b>&").to_numpy()
    held = _named("<b>&")
    held.to_numpy()
    page = hr.memory.report(1000)._repr_html_()
    assert "<b>" not in page
    assert hr.memory.report(0).by_operator


def _named(file: str) -> hr.Array:
    """A value that was made in a file of this name."""
    names = {"hr": hr, "np": np}
    exec(compile("x = hr.asarray(np.ones(5000)) * 2", file, "exec"), names)
    value: hr.Array = names["x"]
    return value


def test_holders_are_a_list_and_a_table() -> None:
    empty = hr.memory.Holders()
    assert repr(empty) == "0 bytes in 0 buffers"
    kept, line = hr.asarray(np.ones(MB)) * 2, line_of_caller()
    kept.to_numpy()
    found = hr.memory.leaks()
    assert isinstance(found, list)
    assert found.total_bytes == sum(holder.bytes for holder in found)
    text = repr(found)
    assert f"test_memory_report.py:{line}" in text
    assert f"{found.total_bytes:,} bytes in {len(found):,} buffers" in text
    sizes = [int(row.split()[0].replace(",", "")) for row in text.splitlines()[1:-1]]
    assert sizes == sorted(sizes, reverse=True)
    assert "<table>" in found._repr_html_()


@pytest.mark.parametrize("count", [0, 1, 100])
def test_the_rest_is_summed(count: int) -> None:
    kept = [hr.asarray(np.ones(100)) * 2, hr.asarray(np.ones(100)) + 2]
    for each in kept:
        each.to_numpy()
    report = hr.memory.report(count)
    rest = max(0, len(report.by_operator) - count)
    assert (f"{rest:,} others" in str(report)) == (rest > 0)
