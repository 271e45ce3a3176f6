# SPDX-License-Identifier: Apache-2.0
"""Many files against one, logs, CSV written, a scan under a limit: ./dev bench sources."""

from __future__ import annotations

import datetime
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
from measure import OURS, WORKERS, Bench, Rival, run
from mixed_frame import mixed_frame, with_offsets

import headrace as hr

PACKAGES = ["polars", "duckdb", "pyarrow"]
FILES = 112
MOST_OF_ONE, WRITE_BAR, LOG_BAR, GROK_BAR = 1 / 1.1, 1.3, 3.0, 20.0
LOG_SECONDS = 0.4
COMBINED = (
    r'^(?P<host>\S+) (?P<ident>\S+) (?P<user>\S+) \[(?P<time>[^\]]+)\] "(?P<request>[^"]*)" '
    r'(?P<status>\d+) (?P<bytes>\S+) "(?P<referrer>[^"]*)" "(?P<agent>[^"]*)"$'
)


def many_files(bench: Bench, kind: str, rows: int) -> tuple[str, str]:
    """Return one file and a pattern of 112 files with the same rows."""

    def write(path: Path) -> None:
        frame = hr.from_arrow(mixed_frame(rows).to_arrow())
        frame.to_csv(path, durable=False) if kind == "csv" else frame.to_parquet(path)

    one = bench.file(f"sources-{rows}.{kind}", write)
    folder = bench.folder / f"sources-{rows}-{kind}"
    if not folder.exists():
        folder.mkdir()
        read = hr.read_csv if kind == "csv" else hr.read_parquet
        frame = read(one)
        for k in range(FILES):
            part = frame[k * rows // FILES : (k + 1) * rows // FILES]
            path = folder / f"{k:03d}.{kind}"
            part.to_csv(path, durable=False) if kind == "csv" else part.to_parquet(path)
    return str(one), str(folder / f"*.{kind}")


def row_groups(bench: Bench, one: str, rows: int) -> str:
    """Return one file with the bytes of the 112: each has dictionaries of its own."""
    size = (rows + FILES - 1) // FILES

    def write(path: Path) -> None:
        hr.read_parquet(one).to_parquet(path, row_group_size=size)

    return str(bench.file(f"sources-groups-{rows}.parquet", write))


def same_as_ours(ours: Any, theirs: Any) -> str:
    """Compare two frames of ours."""
    hr.testing.assert_frame_equal(ours, theirs)
    return "equal"


def log_file(bench: Bench, rows: int) -> str:
    """Return combined lines as a web server writes them, about 220 bytes each."""

    def write(path: Path) -> None:
        draw = np.random.default_rng(5)
        pages = [f"/data/{k}/page-{k * 7919 % 997}.html?id={k * 31}" for k in range(4000)]
        agents = [
            f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML) Chrome/{v}.0 Safari/537.36"
            for v in range(80, 130)
        ]
        start = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
        picks = draw.integers(0, 1 << 30, (rows, 6))
        with open(path, "w") as file:
            for k, (a, b, c, d, e, f) in enumerate(picks.tolist()):
                when = start + datetime.timedelta(seconds=k // 3)
                user = "-" if d % 4 else f"user{d % 500}"
                size = "-" if e % 50 == 0 else e % 200_000
                link = "-" if f % 3 == 0 else f"https://example.org{pages[f % 4000]}"
                file.write(
                    f"{a % 223 + 1}.{a >> 8 & 255}.{a >> 16 & 255}.{b & 255} - {user} "
                    f'[{when:%d/%b/%Y:%H:%M:%S +0000}] "GET {pages[c % 4000]} HTTP/1.1" '
                    f'{(200, 200, 200, 304, 404)[b % 5]} {size} "{link}" "{agents[d % 50]}"\n'
                )

    return str(bench.file(f"combined-{rows}.log", write))


def log_in_polars(path: str) -> Callable[[], Any]:
    """Extract groups of a regular expression and cast them."""

    def work() -> pl.DataFrame:
        lines = pl.scan_csv(
            path, has_header=False, new_columns=["line"], separator="\x01", quote_char=None
        )
        fields = lines.select(pl.col("line").str.extract_groups(COMBINED).struct.unnest())
        text = {
            name: pl.when(pl.col(name) != "-").then(pl.col(name))
            for name in ("host", "ident", "user", "referrer", "agent", "bytes")
        }
        return fields.select(
            text["host"],
            text["ident"],
            text["user"],
            pl.col("time").str.to_datetime("%d/%b/%Y:%H:%M:%S %z"),
            "request",
            pl.col("status").cast(pl.Int64),
            text["bytes"].cast(pl.Int64),
            text["referrer"],
            text["agent"],
        ).collect()

    return work


def log_in_pygrok(path: str, rows: int) -> Callable[[], Any]:
    """Match each line, as far as `rows`."""
    from itertools import islice

    from pygrok import Grok

    grok = Grok("%{COMBINEDAPACHELOG}")

    def work() -> list[Any]:
        with open(path) as file:
            return [grok.match(line) for line in islice(file, rows)]

    return work


def same_log(ours: Any, theirs: Any) -> str:
    """Compare all columns with a frame of Polars; with matches of pygrok their number."""
    if isinstance(theirs, list):
        assert all(theirs)
        return f"{len(theirs)} lines match"
    other = theirs.with_columns(pl.col("time").dt.convert_time_zone("UTC"))
    made = pl.DataFrame(ours.to_arrow())
    for name in other.columns:
        assert made[name].equals(other[name].cast(made[name].dtype), null_equal=True), name
    return "equal"


def logs(bench: Bench, rows: int) -> None:
    """Read combined lines to nine typed columns."""
    path = log_file(bench, rows)
    moved = Path(path).stat().st_size + rows * (6 * 16 + 3 * 8)
    rivals = [Rival("polars", log_in_polars(path), LOG_BAR)]
    bench.step("log combined", lambda: hr.read_log(path), rivals, same_log, moved, rows)
    if bench.wants("log combined"):
        of = "log combined", OURS
        least = min(r["median_s"] for r in bench.rows if (r["step"], r["engine"]) == of)
        bench.value("log combined, 1e6 lines", OURS, least * 1e6 / rows, "s", most=LOG_SECONDS)
    few = rows // 50
    if importlib.util.find_spec("pygrok"):
        rivals = [Rival("pygrok", log_in_pygrok(path, few), GROK_BAR)]
        ours = lambda: hr.read_log(path, num_rows=few)  # noqa: E731
        bench.step("log, a 50th", ours, rivals, same_log, moved // 50, few)


def writes(bench: Bench, rows: int) -> None:
    """Write the mixed frame."""
    if not bench.wants("csv write"):
        return
    theirs = mixed_frame(rows)
    ours = hr.from_arrow(theirs.to_arrow())
    hr.eval(*[ours[name] for name in ours.columns])
    paths = {name: str(bench.folder / f"{name}.csv") for name in ("ours", "pl", "pa", "db")}
    pa.set_cpu_count(WORKERS)
    table = with_offsets(theirs)

    def in_duckdb() -> str:
        with duckdb.connect() as connection:
            connection.execute(f"set threads={WORKERS}")
            connection.register("t", table)
            connection.execute(f"copy t to '{paths['db']}' (header)")
        return paths["db"]

    def by(write: Callable[[str], Any], name: str) -> Callable[[], str]:
        def work() -> str:
            write(paths[name])
            return paths[name]

        return work

    def same(one: str, other: str) -> str:
        return same_as_ours(hr.read_csv(one), hr.read_csv(other))

    bench.step(
        "csv write",
        by(lambda path: ours.to_csv(path, durable=False), "ours"),
        [
            Rival("polars", by(theirs.write_csv, "pl"), WRITE_BAR),
            Rival("pyarrow", by(lambda path: pyarrow.csv.write_csv(table, path), "pa"), WRITE_BAR),
            Rival("duckdb", in_duckdb, WRITE_BAR),
        ],
        same,
        0,
        rows,
    )


def under_a_limit(bench: Bench, kind: str, rows: int) -> None:
    """Group a file by a key while a quarter of its columns fits: the same bits."""
    step = f"{kind} into a group-by, limit 1/4"
    if not bench.wants(step):
        return
    path, _ = many_files(bench, kind, rows)
    scan = hr.scan_csv if kind == "csv" else hr.scan_parquet

    def work() -> Any:
        frame = scan(path)
        made = frame.groupby("id3").agg({"v1": "sum", "v3": "mean", "id6": "max"}).reset_index()
        hr.eval(*[made[name] for name in made.columns])
        return made

    def limited() -> Any:
        hr.memory.trim()
        with hr.memory.limit(hr.memory.stats().used_bytes + rows * (16 + 3 * 8) // 4):
            return work()

    bench.step(step, limited, [Rival("no limit", work)], same_as_ours, 0, rows)


def steps(bench: Bench, rows: int) -> None:
    """Read 112 files and one; logs; written CSV; scans under a limit."""
    reads = {"csv": hr.read_csv, "parquet": hr.read_parquet}
    for kind, read in reads.items():
        if bench.wants(f"112 {kind}"):
            one, many = many_files(bench, kind, rows // 2)
            rivals = [Rival("one file", lambda read=read, one=one: read(one), MOST_OF_ONE)]
            if kind == "parquet":
                alike = row_groups(bench, one, rows // 2)
                rivals.append(
                    Rival("112 row groups", lambda alike=alike: hr.read_parquet(alike), MOST_OF_ONE)
                )
            bench.step(
                f"112 {kind} files",
                lambda read=read, many=many: read(many),
                rivals,
                same_as_ours,
                0,
                rows // 2,
            )
    if bench.wants("log"):
        logs(bench, rows // 20)
    writes(bench, rows // 2)
    for kind in reads:
        under_a_limit(bench, kind, rows // 2)


if __name__ == "__main__":
    sys.exit(run("sources", __doc__, PACKAGES, steps))
