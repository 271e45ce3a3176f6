# SPDX-License-Identifier: Apache-2.0
"""Central moments of groups: of some rows, and of several sets of rows together.

The formulas are those of `headrace/algo/aggregate/moments.h`, in the same order of operations.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

#: What is kept of a column: count, mean, sums of powers of deviations, whether one is infinite.
PARTS = ("n", "m", "s2", "s3", "s4", "inf")


def of_rows(rows: DataFrame, keys: list[str], column: str, dropna: bool, order: bool) -> DataFrame:
    """The moments of a column of each group: the keys, then `PARTS`."""
    x = rows[column].astype("float64")
    frame = rows[keys].assign(x=x)
    groups = frame.groupby(keys, sort=order, dropna=dropna)
    away = x - groups.x.transform("mean")
    square = away * away
    frame = frame.assign(
        s1=away, s2=square, s3=square * away, s4=square * square, inf=(x.abs() == float("inf"))
    )
    spec = {"n": ("x", "count"), "sum": ("x", "sum"), "inf": ("inf", "any")}
    spec |= {name: (name, "sum") for name in ("s1", "s2", "s3", "s4")}
    made = frame.groupby(keys, sort=order, dropna=dropna, as_index=False).agg(**spec)
    sum1, squares, cubes, fourths = (made[name] for name in ("s1", "s2", "s3", "s4"))
    rest = sum1 / made.n
    kept = squares - sum1 * rest
    is_some = kept > made.n * sys.float_info.epsilon * squares
    return made[keys].assign(
        n=made.n,
        m=made["sum"] / made.n + rest,
        s2=kept.where(is_some | (squares == float("inf")), 0.0),
        s3=(cubes - rest * (3 * squares - 2 * sum1 * rest)).where(is_some, 0.0),
        s4=(fourths - rest * (4 * cubes - rest * (6 * squares - 3 * sum1 * rest))).where(
            is_some, 0.0
        ),
        inf=made.inf,
    )


def joined(parts: DataFrame, keys: list[str], dropna: bool, order: bool) -> DataFrame:
    """The moments of each group over all its rows of `parts`, sets of rows apart."""
    base = parts.groupby(keys, sort=order, dropna=dropna).m.transform("first")
    shift = parts.n * (parts.m - base)  # from the first mean: of a set alone it is 0
    groups = parts.assign(w=shift).groupby(keys, sort=order, dropna=dropna)
    away = parts.m - (base + groups.w.transform("sum") / groups.n.transform("sum"))
    square = away * away
    n, s2, s3 = parts.n, parts.s2, parts.s3
    frame = parts[keys].assign(
        n=n,
        base=base,
        w=shift,
        s2=s2 + n * square,
        s3=s3 + 3 * away * s2 + n * square * away,
        s4=parts.s4 + 4 * away * s3 + 6 * square * s2 + n * square * square,
        inf=parts.inf,
    )
    spec = {name: (name, "sum") for name in ("n", "w", "s2", "s3", "s4")}
    made = frame.groupby(keys, sort=order, dropna=dropna, as_index=False).agg(
        **spec, inf=("inf", "any"), base=("base", "first")
    )
    made = made.assign(m=made.base + made.w / made.n)
    return made[[*keys, *PARTS]]


def result(aggregate: str, parts: dict[str, Series], ddof: int) -> Any:
    """An aggregate of the moments of groups; null where there are too few values."""
    n, squares, cubes, fourths = (parts[name] for name in ("n", "s2", "s3", "s4"))
    count = n.astype("float64")
    if aggregate == "skew":
        made = count * (count - 1) ** 0.5 / (count - 2) * (cubes / (squares * squares**0.5))
        made, fewest = made.where(squares != 0, float("nan")), 3
    elif aggregate == "kurt":
        made = (
            (count - 1)
            / ((count - 2) * (count - 3))
            * (count * (count + 1) * (fourths / (squares * squares)) - 3 * (count - 1))
        )
        made, fewest = made.where(squares != 0, float("nan")), 4
    else:
        made, fewest = squares / (count - ddof), ddof + 1
        if aggregate != "var":
            made = made**0.5
        if aggregate == "sem":
            made = made / count**0.5
    made = made.where(~parts["inf"], float("nan"))
    return made.where(n >= fewest)
