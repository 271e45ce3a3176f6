# SPDX-License-Identifier: Apache-2.0
"""An ETL of loans, in one file or in many, under a quarter of its memory: ./dev bench mortgage."""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import duckdb
import numpy as np
import pyarrow as pa
from measure import OURS, WORKERS, Bench, Rival, run, show
from pyarrow import csv

import headrace as hr

PACKAGES = ["numpy", "duckdb", "pyarrow"]
QUARTERS = 12
MONTHS = 24  #: that a loan is seen, on average
FILES = (1, 112)
LEAST_ROWS = 1_000_000
PATIENCE = 60.0  #: seconds for DuckDB, which under a small limit may spill without an end
PERFORMANCE = {
    "loan_id": "int64",
    "month": "date",
    "servicer": "category",
    "interest_rate": "float64",
    "upb": "float64",
    "loan_age": "float64",
    "remaining_months": "float64",
    "status": "int32",
    "zero_balance": "int32",
}
ACQUISITION = {
    "loan_id": "int64",
    "channel": "category",
    "seller": "category",
    "orig_rate": "float64",
    "orig_upb": "float64",
    "ltv": "float64",
    "dti": "float64",
    "score": "float64",
    "first_home": "category",
    "purpose": "category",
    "state": "category",
}
SELLERS = [f"SELLER {k}, INC." for k in range(40)]
STATES = [f"{a}{b}" for a in "ACDFGHIKLMN" for b in "AEILT"]
CSV = csv.WriteOptions(include_header=False, delimiter="|")


# ---- the data ------------------------------------------------------------------------------------
def acquisitions(random: np.random.Generator, ids: Any) -> pa.Table:
    """One row per loan; one score in fifty is missing."""
    count = len(ids)

    def words(choices: list[str]) -> Any:
        return np.array(choices)[random.integers(0, len(choices), count)]

    return pa.table(
        {
            "loan_id": ids,
            "channel": words(["R", "C", "B"]),
            "seller": words(SELLERS),
            "orig_rate": random.integers(16, 64, count) / 8,
            "orig_upb": random.integers(50, 700, count) * 1000.0,
            "ltv": random.integers(30, 98, count).astype(float),
            "dti": random.integers(5, 64, count).astype(float),
            "score": pa.array(
                random.integers(500, 850, count).astype(float), mask=random.random(count) < 0.02
            ),
            "first_home": words(["Y", "N", "U"]),
            "purpose": words(["P", "C", "R"]),
            "state": words(STATES),
        }
    )


def performances(random: np.random.Generator, loans: pa.Table, quarter: int) -> pa.Table:
    """One row per loan and month, by loan; one in four loans is late at times."""
    count = len(loans)
    length = random.integers(MONTHS // 2, MONTHS * 3 // 2, count)
    loan = np.repeat(np.arange(count), length)
    age = np.arange(len(loan)) - np.repeat(np.cumsum(length) - length, length)
    first = np.datetime64("2000-01") + 3 * quarter
    late = (random.random(count) < 0.25)[loan] & (random.random(len(loan)) < 0.3)
    status = np.where(late, random.integers(1, 9, len(loan)), 0)
    upb = np.asarray(loans["orig_upb"])[loan] * (1 - age / 360)
    closed = (age == length[loan] - 1) & (random.random(len(loan)) < 0.5)
    return pa.table(
        {
            "loan_id": np.asarray(loans["loan_id"])[loan],
            "month": pa.array((first + age).astype("datetime64[D]")),
            "servicer": np.array(SELLERS)[random.integers(0, len(SELLERS), count)][loan],
            "interest_rate": np.asarray(loans["orig_rate"])[loan],
            "upb": pa.array(np.where(closed, 0.0, np.round(upb, 2)), mask=age < 2),
            "loan_age": age.astype(float),
            "remaining_months": 360.0 - age,
            "status": status.astype(np.int32),
            "zero_balance": closed.astype(np.int32),
        }
    )


def write(table: pa.Table, folder: Path, name: str, files: int) -> list[str]:
    """Write a table as several files."""
    paths = []
    edges = np.linspace(0, len(table), files + 1).astype(int)
    for k, (begin, end) in enumerate(itertools.pairwise(edges)):
        paths.append(str(folder / f"{name}-{files}-{k:03d}.csv"))
        csv.write_csv(table.slice(begin, end - begin), paths[-1], CSV)
    return paths


# ---- ours ----------------------------------------------------------------------------------------
def read(paths: list[str], dtypes: dict[str, str]) -> hr.DataFrame:
    """Read all files of one kind."""
    return hr.concat(
        [hr.read_csv(path, delimiter="|", names=list(dtypes), dtypes=dtypes) for path in paths]
    )


def features(rows: hr.DataFrame) -> hr.DataFrame:
    """Worst status and lowest balance of the year before each month."""
    parts = []
    months = rows.year * 12 + rows.month
    for k in range(1, 13):
        part = rows[["loan_id", "status", "upb"]]
        part["year_number"] = (months - 24000 - k) // 12
        made = part.groupby(["loan_id", "year_number"], sort=False, as_index=False).agg(
            worst=("status", "max"), least=("upb", "min")
        )
        made["delinquency_12"] = (made.worst > 3).astype("int32") + (made.least == 0).astype(
            "int32"
        )
        made["year"] = (made.year_number * 12 + 24000 + k - 1) // 12
        made["month"] = made.year * 0 + k
        parts.append(made[["loan_id", "year", "month", "delinquency_12", "least"]])
    return hr.concat(parts)


def etl(performance: list[str], acquisition: list[str]) -> hr.DataFrame:
    """Features of each loan and month joined with the loan's attributes."""
    perf, loans = read(performance, PERFORMANCE), read(acquisition, ACQUISITION)
    ever = perf.groupby("loan_id", sort=False, as_index=False).agg(worst=("status", "max"))
    for days, least in ((30, 1), (90, 3), (180, 6)):
        ever[f"ever_{days}"] = (ever.worst >= least).astype("int32")
        late = perf[perf.status >= least].groupby("loan_id", sort=False)
        ever = ever.merge(late.agg(**{f"first_{days}": ("month", "min")}), "left", on="loan_id")
    rows = perf[["loan_id", "status"]]
    rows["year"] = perf.month.dt.year.astype("int64")
    rows["month"] = perf.month.dt.month.astype("int64")
    rows["upb"] = perf.upb.fillna(999999999.0)
    both = rows[["loan_id", "year", "month"]].merge(ever, "left", on="loan_id")
    both = both.merge(features(rows), "left", on=["loan_id", "year", "month"])
    perf["year"], perf["number"] = rows.year, rows.month
    both = both.rename({"month": "number"})
    final = perf.merge(both, "left", on=["loan_id", "year", "number"])
    final = final.merge(loans, "left", on="loan_id")
    final["delinquency_12"] = (final.delinquency_12.fillna(0) > 0).astype("int32")
    final = final.drop(["month", "first_30", "first_90", "first_180", "year", "number"])
    for name in final.columns:
        if final[name].dtype == "category":
            final[name] = final[name].cat.codes
        final[name] = final[name].fillna(-1)
    hr.eval(final)
    return final


# ---- DuckDB --------------------------------------------------------------------------------------
def sql_of(performance: list[str], acquisition: list[str]) -> list[str]:
    """The same in SQL, into a table."""
    kinds = {"category": "VARCHAR", "float64": "DOUBLE", "int64": "BIGINT", "int32": "INTEGER"}

    def source(paths: list[str], dtypes: dict[str, str]) -> str:
        columns = ", ".join(f"'{n}': '{kinds.get(d, d.upper())}'" for n, d in dtypes.items())
        return f"read_csv({paths}, delim='|', header=false, columns={{{columns}}})"

    years = " union all ".join(
        f"""select loan_id, (n * 12 + 24000 + {k} - 1) // 12 as year, {k} as number,
        (max(status) > 3)::int + (min(upb) = 0)::int as delinquency_12, min(upb) as least
        from (select *, (year * 12 + number - {k}) // 12 - 2000 as n from slim)
        group by loan_id, n"""
        for k in range(1, 13)
    )
    firsts = ", ".join(
        f"(max(status) >= {least})::int as ever_{days}, "
        f"min(month) filter (status >= {least}) as first_{days}"
        for days, least in ((30, 1), (90, 3), (180, 6))
    )
    return [
        f"create table perf as from {source(performance, PERFORMANCE)}",
        f"create table loans as from {source(acquisition, ACQUISITION)}",
        """create view slim as select loan_id, status, coalesce(upb, 999999999.0) as upb,
        year(month) as year, month(month) as number from perf""",
        f"""create table final as
        with ever as (select loan_id, max(status) as worst, {firsts} from perf group by loan_id),
        years as ({years}),
        both_ as (select s.loan_id, s.year, s.number, worst, ever_30, ever_90, ever_180,
          delinquency_12, least from slim s left join ever using (loan_id)
          left join years using (loan_id, year, number))
        select p.loan_id, interest_rate, coalesce(upb, -1) as upb, loan_age, remaining_months,
          status, zero_balance, worst, ever_30, ever_90, ever_180,
          (coalesce(delinquency_12, 0) > 0)::int as delinquency_12, coalesce(least, -1) as least,
          orig_rate, orig_upb, ltv, dti, coalesce(score, -1) as score,
          servicer, channel, seller, first_home, purpose, state
        from perf p left join both_ b on p.loan_id = b.loan_id and year(p.month) = b.year
          and month(p.month) = b.number left join loans on p.loan_id = loans.loan_id""",
    ]


def etl_in_duckdb(statements: list[str], limit: int, folder: str) -> Any:
    """Run it in a separate database; return the sums of the numeric columns.

    The database is a file: an in-memory one does not finish under the limit. Raises
    InterruptException if that does not finish either.
    """
    file = Path(folder) / f"headrace-mortgage-{os.getpid()}.duckdb"
    base = duckdb.connect(
        str(file),
        config={
            "threads": WORKERS,
            "temp_directory": folder,
            "memory_limit": f"{limit}B",
            "preserve_insertion_order": False,
        },
    )
    late = threading.Timer(PATIENCE, base.interrupt)
    late.start()
    try:
        for statement in statements:
            base.execute(statement)
        shape = base.execute("describe final").fetchall()
        names = [name for name, kind, *_ in shape if kind != "VARCHAR"]
        sums = ", ".join(f"sum({name})" for name in names)
        found = base.execute(f"select count(*), {sums} from final").fetchone()
        assert found
        return dict(zip(["rows", *names], map(float, found), strict=True))
    finally:
        late.cancel()
        base.close()
        file.unlink()


# ---- the steps -----------------------------------------------------------------------------------
def bits_of(frame: hr.DataFrame) -> dict[str, bytes]:
    """All columns, to compare bit by bit."""
    return {name: frame[name].to_numpy().tobytes() for name in frame.columns}


def same_sums(ours: Any, theirs: Any) -> str:
    """The sums of all columns that both have as numbers."""
    found = {"rows": float(len(ours))}
    found |= {name: float(ours[name].sum()) for name in theirs if name != "rows"}
    for name, value in theirs.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-9, err_msg=name)
    return f"equal sums of {len(theirs) - 1} columns ({len(ours):,} rows)"


def same_bits(ours: Any, theirs: Any) -> str:
    """The same frame, bit by bit."""
    a, b = bits_of(ours), bits_of(theirs)
    assert a.keys() == b.keys(), f"columns {list(a)} and {list(b)}"
    for name in a:
        assert a[name] == b[name], f"column {name} differs"
    return "same bits"


def steps(bench: Bench, rows: int) -> None:
    """Run on a tenth of the rows of the other tasks."""
    rows //= 10
    wanted = [files for files in FILES if bench.wants(step_of(files))]
    if not wanted:
        return
    if rows < LEAST_ROWS:
        show(f"mortgage: left out below {10 * LEAST_ROWS:,} rows: what the workers pin must fit")
        return
    random = np.random.default_rng(11)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        ids = random.permutation(rows // MONTHS).astype(np.int64) + 100_000_000_000
        loans = [acquisitions(random, part) for part in np.array_split(ids, QUARTERS)]
        months = [performances(random, part, k) for k, part in enumerate(loans)]
        acquisition = write(pa.concat_tables(loans), folder, "acquisition", 1)
        everything = pa.concat_tables(months)
        for files in wanted:
            paths = write(everything, folder, "performance", files)
            one(bench, step_of(files), paths, acquisition)


def step_of(files: int) -> str:
    """The name of a row."""
    return f"ETL of {files} file" + "s" * (files > 1)


def one(bench: Bench, step: str, paths: list[str], acquisition: list[str]) -> None:
    """One number of files: the limit is a quarter of what it takes without one."""
    hr.memory.trim()
    base = hr.memory.stats().used_bytes
    with hr.memory.stats() as stats:
        rows = len(etl(paths, acquisition))
    footprint = stats.peak_bytes - base
    limit = footprint // 4

    def limited() -> hr.DataFrame:
        with hr.memory.limit(base + limit):
            return etl(paths, acquisition)

    statements = sql_of(paths, acquisition)
    disk = hr.memory.spill().directory
    bench.value(f"{step}, footprint", OURS, footprint / 1e6, "MB")
    before = hr.memory.spill()
    limited()
    after = hr.memory.spill()
    moved = after.written_bytes + after.fetched_bytes - before.written_bytes - before.fetched_bytes
    bench.value(f"{step}, moved", OURS, moved / 1e6, "MB")
    room = limit
    while True:  # the least limit, doubled, under which DuckDB finishes each time
        rival = "duckdb" if room == limit else f"duckdb, {room // limit} x the limit"
        try:
            bench.step(
                step,
                limited,
                [
                    # The limit returned the cached pages: without one, first with new pages.
                    Rival("no limit, new pages", lambda: etl(paths, acquisition)),
                    Rival("no limit", lambda: etl(paths, acquisition), 1 / 3),
                    Rival(
                        rival, lambda room=room: etl_in_duckdb(statements, room, disk), 1, same_sums
                    ),
                ],
                same_bits,
                rows=rows,
            )
            break
        except (duckdb.OutOfMemoryException, duckdb.InterruptException):
            room *= 2


if __name__ == "__main__":
    sys.exit(run("mortgage", __doc__, PACKAGES, steps))
