# SPDX-License-Identifier: Apache-2.0
"""The mortgage job of examples/mortgage, under a quarter of its memory: ./dev bench mortgage."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples/mortgage"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import duckdb
import loans
import numpy as np
import pandas
import xgboost
from etl import LABEL, etl, read
from job import PARAMETERS
from loans import ACQUISITION, PERFORMANCE, Files
from measure import OURS, WORKERS, Bench, Rival, run, show

import headrace as hr

PACKAGES = ["numpy", "pandas", "duckdb", "xgboost-cpu"]
SPLITS = (1, 112)
LEAST_ROWS = 1_000_000
ROWS_OF_A_LOAN = 29
ROUNDS = 20
PATIENCE = 60.0  #: seconds for DuckDB, which under a small limit may spill without an end


# ---- ours ----------------------------------------------------------------------------------------
def table(files: Files) -> hr.DataFrame:
    """Features and labels."""
    final = etl(hr, *read(files))
    hr.eval(final)
    return final


def matrix(files: Files) -> xgboost.QuantileDMatrix:
    """The same as XGBoost's matrix."""
    return hr.learn.xgboost_matrix(etl(hr, *read(files)), label=LABEL)


# ---- pandas --------------------------------------------------------------------------------------
def pandas_table(files: Files) -> pandas.DataFrame:
    """The same program in pandas, of unsplit files."""
    parts = []
    for pattern, kinds in ((files.performance, PERFORMANCE), (files.acquisition, ACQUISITION)):
        (path,) = Path(pattern).parent.glob(Path(pattern).name)
        dates = [name for name, kind in kinds.items() if kind == "date"]
        dtypes: Any = {name: kind for name, kind in kinds.items() if kind != "date"}
        parts.append(
            pandas.read_csv(
                path, sep="|", header=None, names=list(kinds), dtype=dtypes, parse_dates=dates
            )
        )
    return etl(pandas, *parts)


def pandas_matrix(files: Files) -> xgboost.QuantileDMatrix:
    """XGBoost's matrix of it."""
    final = pandas_table(files)
    return xgboost.QuantileDMatrix(final.drop(columns=LABEL), final[LABEL])


# ---- DuckDB --------------------------------------------------------------------------------------
def sql_of(files: Files) -> list[str]:
    """The same in SQL, into a table."""
    kinds = {"category": "VARCHAR", "float64": "DOUBLE", "int64": "BIGINT", "int32": "INTEGER"}

    def source(paths: str, dtypes: dict[str, str]) -> str:
        columns = ", ".join(f"'{n}': '{kinds.get(d, d.upper())}'" for n, d in dtypes.items())
        return f"read_csv('{paths}', delim='|', header=false, columns={{{columns}}})"

    years = " union all ".join(
        f"""select loan_id, n as year, {k} as number,
        (max(status) > 3)::int + (min(upb) = 0)::int as delinquency_12
        from (select *, (year * 12 + number - {k}) // 12 as n from slim)
        group by loan_id, n"""
        for k in range(1, 13)
    )
    firsts = ", ".join(
        f"(max(status) >= {least})::int as ever_{days}, "
        f"min(month) filter (status >= {least}) as first_{days}"
        for days, least in ((30, 1), (90, 3), (180, 6))
    )
    return [
        f"create table perf as from {source(files.performance, PERFORMANCE)}",
        f"create table loans as from {source(files.acquisition, ACQUISITION)}",
        """create view slim as select loan_id, status, coalesce(upb, 999999999.0) as upb,
        year(month) as year, month(month) as number from perf""",
        f"""create table final as
        with ever as (select loan_id, max(status) as worst, {firsts} from perf group by loan_id),
        years as ({years}),
        both_ as (select s.loan_id, s.year, s.number, worst, ever_30, ever_90, ever_180,
          delinquency_12 from slim s left join ever using (loan_id)
          left join years using (loan_id, year, number))
        select interest_rate, coalesce(upb, -1) as upb, loan_age, remaining_months,
          status, zero_balance, ever_30, ever_90, ever_180,
          (coalesce(delinquency_12, 0) > 0)::int as delinquency_12,
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


def same_cuts(ours: Any, theirs: Any) -> str:
    """The same bins of all values."""
    for a, b in zip(ours.get_quantile_cut(), theirs.get_quantile_cut(), strict=True):
        np.testing.assert_array_equal(a, b)
    return "same bins"


def model(matrix: xgboost.DMatrix) -> bytes:
    """What XGBoost learns."""
    return bytes(xgboost.train(PARAMETERS, matrix, ROUNDS).save_raw())


def same_bytes(ours: bytes, theirs: bytes) -> str:
    """The same model."""
    assert ours == theirs
    return "same bytes"


def steps(bench: Bench, rows: int) -> None:
    """Run on a tenth of the rows of the other tasks."""
    rows //= 10
    wanted = [split for split in SPLITS if bench.wants(step_of(split))]
    learns = bench.wants("ETL to matrix") or bench.wants("train")
    if not (wanted or learns):
        return
    if rows < LEAST_ROWS:
        show(f"mortgage: left out below {10 * LEAST_ROWS:,} rows: what the workers pin must fit")
        return
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        made = {
            split: loans.write(Path(name) / str(split), rows // ROWS_OF_A_LOAN, split)
            for split in sorted({*wanted, *([1] if learns else [])})
        }
        for split in wanted:
            one(bench, step_of(split), made[split])
        if learns:
            learning(bench, made[1])


def step_of(split: int) -> str:
    """The name of a row."""
    return f"ETL of {split} file" + "s" * (split > 1)


def one(bench: Bench, step: str, files: Files) -> None:
    """One number of files: the limit is a quarter of what it takes without one."""
    hr.memory.trim()
    base = hr.memory.stats().used_bytes
    with hr.memory.stats() as stats:
        rows = len(table(files))
    footprint = stats.peak_bytes - base
    limit = footprint // 4

    def limited() -> hr.DataFrame:
        with hr.memory.limit(base + limit):
            return table(files)

    statements = sql_of(files)
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
                    Rival("no limit, new pages", lambda: table(files)),
                    Rival("no limit", lambda: table(files), 1 / 3),
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


def learning(bench: Bench, files: Files) -> None:
    """From files to XGBoost's matrix, and the training on it, against the way of pandas."""
    ours, theirs = matrix(files), pandas_matrix(files)
    rows = ours.num_row()
    bench.step(
        "ETL to matrix",
        lambda: matrix(files),
        [Rival("pandas", lambda: pandas_matrix(files), 2)],
        same_cuts,
        rows=rows,
    )
    bench.step(
        "train",
        lambda: model(ours),
        [Rival("of pandas", lambda: model(theirs), 1 / 1.05)],
        same_bytes,
        rows=rows,
    )


if __name__ == "__main__":
    sys.exit(run("mortgage", __doc__, PACKAGES, steps))
