# SPDX-License-Identifier: Apache-2.0
"""The engine's table of aggregates: names, and the kinds of columns that each form supports."""

from __future__ import annotations

from typing import NamedTuple

from headrace import _core

#: Kinds of dtypes, as in `Dtype.is_of`, that count as numbers.
NUMBERS = "biuf"


class Aggregate(NamedTuple):
    """One row: the kinds are empty for a form that does not exist."""

    name: str
    result: str
    columns: str
    groups: str
    windows: str
    cumulative: str
    across: str


TABLE = {row[0]: Aggregate(*row) for row in _core.aggregates()}
TABLE["cov"] = TABLE["corr"]  # computed here, of the same columns
#: Aggregates of rolling windows.
WINDOWS = tuple(name for name, row in TABLE.items() if row.windows)


def column_kinds(name: str) -> str:
    """Kinds of columns that an aggregate of a whole frame supports."""
    return (TABLE[name].columns if name in TABLE else "") or NUMBERS


def group_kinds(name: str) -> str:
    """Kinds of columns that an aggregate of groups supports."""
    return (TABLE[name].groups if name in TABLE else "") or NUMBERS


def other_kinds_across(name: str) -> str:
    """Kinds of columns that an aggregate along rows supports if there are no numbers."""
    return "".join(each for each in TABLE[name].across if each not in NUMBERS)
