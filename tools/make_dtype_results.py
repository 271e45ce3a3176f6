#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what operations on columns of each dtype give in Python, which C++ must give as well.

Reads testdata/frames/dtypes.csv and writes testdata/frames/dtype_results.txt, with a line for each
operation that gives a result: the others are errors.
"""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import headrace as hr

FOLDER = Path(__file__).resolve().parents[1] / "testdata/frames"
RESULTS = FOLDER / "dtype_results.txt"
DTYPES = {
    "label": "category",
    "second": "datetime64[s]",
    "nano": "datetime64[ns]",
    "utc": "datetime64[us, UTC]",
    "zoned": "datetime64[s, +02:00]",
    "price": "decimal128(9, 2)",
    "rate": "decimal128(15, 4)",
}


def add(left: Any, right: Any) -> Any:
    """Their sum as the engine knows it: Python makes text of dates and strings, as pandas does."""
    kinds = {
        getattr(each, "dtype", "string" if isinstance(each, str) else "") for each in (left, right)
    }
    if kinds == {"date", "string"}:
        raise hr.TypeMismatchError("add: text")
    return left + right


OPERATORS = {
    "+": add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">=": operator.ge,
}
LITERALS = {
    "'b'": "b",
    "'2024-03-01'": "2024-03-01",
    "'2024-02-29 02:00'": "2024-02-29 02:00",
    "date": date(2024, 3, 1),
    "36 hours": timedelta(hours=36),
    "2.25": Decimal("2.25"),
}
AGGREGATES = (
    *("min", "max", "count", "size", "first", "last", "nunique", "sum"),
    *("mean", "median", "quantile", "var", "std", "any", "all"),
)


def rows(frame: Any) -> str:
    """Dtypes and values of a frame on a line."""
    lines = frame.to_csv().splitlines()[1:]
    return f"{', '.join(str(frame[name].dtype) for name in frame.columns)}: {'; '.join(lines)}"


def line(title: str, compute: Callable[[], Any]) -> Iterator[str]:
    """The line of a result; none for an error."""
    try:
        made = compute()
        yield f"{title}: {rows(made if isinstance(made, hr.DataFrame) else made.to_frame('x'))}"
    except hr.Error:
        return


def results() -> Iterator[str]:
    """All lines."""
    frame = hr.read_csv(FOLDER / "dtypes.csv", dtypes=DTYPES)
    frame["took"] = frame.second - frame.day
    frame["wait"] = frame.nano - frame.second
    row = hr.Series(range(len(frame)))
    for left in frame.columns:
        table = re.sub(r"^(.).*[║╥╬╨]", r"\1", repr(frame[[left]]), flags=re.M)
        yield f"to_string {left}: {table}".replace("\n", "\\n")
        for word, function in OPERATORS.items():
            for name, value in LITERALS.items():
                yield from line(f"{left} {word} {name}", lambda: function(frame[left], value))
                yield from line(f"{name} {word} {left}", lambda: function(value, frame[left]))
            for right in frame.columns:
                yield from line(
                    f"{left} {word} {right}", lambda: function(frame[left], frame[right])
                )
        for name, value in LITERALS.items():
            yield from line(f"fillna {left} {name}", lambda: frame[left].shift().fillna(value))
        yield from line(
            f"group {left}",
            lambda: (
                frame.groupby(left)
                .agg(count=("price", "count"), first=("second", "first"))
                .reset_index()
            ),
        )
        for word in AGGREGATES:
            yield from line(
                f"{word} {left}", lambda: frame.groupby("label").agg(x=(left, word)).reset_index()
            )
        yield from line(f"sort {left}", lambda: frame.assign(i=row).sort_values(left)[["i"]])
        for right in frame.columns:
            yield from line(
                f"concat {left} {right}",
                lambda: hr.concat([frame[name].to_frame("x") for name in (left, right)]),
            )
            for how in ("inner", "outer"):
                yield from line(
                    f"merge {left} {right} {how}",
                    lambda: hr.DataFrame({"k": frame[left], "i": row}).merge(
                        hr.DataFrame({"k": frame[right], "j": row}), on="k", how=how
                    ),
                )


if __name__ == "__main__":
    text = "".join(f"{each}\n" for each in results())
    sys.exit(RESULTS.write_text(text) == 0)
