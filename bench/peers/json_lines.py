# SPDX-License-Identifier: Apache-2.0
"""JSON lines, read and written: DuckDB, Polars, pyarrow, pysimdjson. ./dev bench json_lines."""

from __future__ import annotations

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
import pyarrow.compute
import pyarrow.json
from measure import WORKERS, Bench, Rival, run

import headrace as hr

BAR = 1.3
PACKAGES = ["polars", "duckdb", "pyarrow"]
#: Blocks of pyarrow's reader, as large as makes it fastest.
BLOCK = 1 << 23


def flat(rows: int) -> pl.DataFrame:
    """Integers, floats, a bool, short and long strings."""
    random = np.random.default_rng(27)
    words = np.array(["lamp", "pen", "ink", "a chair of oak wood", 'say "yes"', "Öl"])
    return pl.DataFrame(
        {
            "id": np.arange(rows),
            "count": random.integers(0, 1000, rows),
            "price": (random.random(rows) * 1e4).round(2),
            "ratio": random.random(rows),
            "open": random.random(rows) < 0.5,
            "item": words[random.integers(0, len(words), rows)],
            "note": [f"order {k} of {k % 97} by the house" for k in range(rows)],
        }
    )


def nested(rows: int) -> pl.DataFrame:
    """A struct with a list in it, a list of structs, nulls."""
    few = flat(rows)
    tags = pl.concat_list(pl.col("item"), pl.col("count").cast(pl.String))
    return few.select(
        "id",
        pl.struct("count", "price", tags=tags).alias("order"),
        pl.concat_list(pl.struct(k="count", v="ratio"), pl.struct(k="id", v="price")).alias(
            "pairs"
        ),
        pl.when(pl.col("open")).then("note").alias("note"),
    )


def in_duckdb(query: str) -> Callable[[], Any]:
    """Run a query on two threads to an Arrow table."""

    def work() -> Any:
        with duckdb.connect() as connection:
            connection.execute(f"set threads={WORKERS}")
            return connection.sql(query).to_arrow_table()

    return work


def in_simdjson(path: str) -> pa.Table:
    """Each line to Python's objects, these to columns: what pysimdjson offers."""
    import simdjson

    parser = simdjson.Parser()
    with open(path, "rb") as file:
        return pa.Table.from_pylist([parser.parse(line).as_dict() for line in file])


def same_rows(names: list[str]) -> Callable[[Any, Any], str]:
    """Compare a thousand rows at both ends as Python's values, and the sum of the first column."""

    def compare(ours: Any, theirs: Any) -> str:
        theirs = theirs.to_arrow() if isinstance(theirs, pl.DataFrame) else theirs
        assert len(ours) == theirs.num_rows
        assert int(ours[names[0]].sum()) == pa.compute.sum(theirs[names[0]]).as_py()
        for begin in (0, max(len(ours) - 1000, 0)):
            few = ours.iloc[begin : begin + 1000]
            for name in names:
                assert few[name].to_list() == theirs[name].slice(begin, 1000).to_pylist(), name
        return "equal at both ends"

    return compare


def steps(bench: Bench, rows: int) -> None:
    """Read flat and nested lines, write flat ones."""
    pa.set_cpu_count(WORKERS)
    blocks = pyarrow.json.ReadOptions(use_threads=True, block_size=BLOCK)
    for kind, make in (("lines", flat), ("nested", nested)):
        if not bench.wants(f"json read {kind}"):
            continue
        path = str(
            bench.file(
                f"json-{kind}-{rows}.json", lambda to, make=make: make(rows).write_ndjson(to)
            )
        )
        query = f"select * from read_json('{path}', format = 'newline_delimited')"
        rivals = [
            Rival("duckdb", in_duckdb(query), BAR),
            Rival("polars", lambda path=path: pl.read_ndjson(path), BAR),
            Rival(
                "pyarrow",
                lambda path=path: pyarrow.json.read_json(path, read_options=blocks),
                BAR,
            ),
        ]
        if importlib.util.find_spec("simdjson"):
            rivals.append(Rival("pysimdjson", lambda path=path: in_simdjson(path), BAR))
        bench.step(
            f"json read {kind}",
            lambda path=path: hr.read_json(path, lines=True),
            rivals,
            same_rows(make(0).columns),
            Path(path).stat().st_size,
            rows,
        )
    if bench.wants("json write"):
        writes(bench, rows)


def writes(bench: Bench, rows: int) -> None:
    """Write lines."""
    theirs = flat(rows)
    table = theirs.to_arrow()
    ours = hr.from_arrow(table)
    hr.eval(ours)
    paths = {name: str(bench.folder / f"{name}.json") for name in ("ours", "pl", "db")}

    def by(work: Callable[[str], Any], name: str) -> Callable[[], str]:
        def done() -> str:
            work(paths[name])
            return paths[name]

        return done

    def by_duckdb(path: str) -> None:
        with duckdb.connect() as connection:
            connection.execute(f"set threads={WORKERS}")
            connection.register("t", table)
            connection.execute(f"copy t to '{path}' (format json)")

    def same(one: str, other: str) -> str:
        return same_rows(theirs.columns)(hr.read_json(one), pl.read_ndjson(other))

    bench.step(
        "json write",
        by(lambda path: ours.to_json(path, lines=True, durable=False), "ours"),
        [
            Rival("polars", by(theirs.write_ndjson, "pl"), BAR),
            Rival("duckdb", by(by_duckdb, "db"), BAR),
        ],
        same,
        0,
        rows,
    )


if __name__ == "__main__":
    sys.exit(run("json", __doc__, PACKAGES, steps))
