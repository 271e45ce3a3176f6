# SPDX-License-Identifier: Apache-2.0
"""The rules: codes, what they find, and what to write instead."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """What a rule finds."""

    title: str
    fix: str
    is_advice: bool = False  # a matter of speed only on large data


RULES = {
    "HR001": Rule(
        "{0} loops over rows in Python", "write out = a + b on whole columns, or where()"
    ),
    "HR002": Rule(
        "{0} in a loop copies all rows each time", "collect the parts in a list and join them once"
    ),
    "HR003": Rule(
        "apply(axis=1) calls Python for each row",
        "write the same arithmetic on whole columns: frame.a + frame.b",
    ),
    "HR004": Rule(
        "{0} reads one element at a time in a loop",
        "compute on the whole column, or take its values once by to_numpy() or to_list()",
    ),
    "HR005": Rule(
        "chained assignment may change a copy only",
        "write frame.loc[rows, column] = value, or frame[column] = where(...)",
    ),
    "HR006": Rule(
        "{0}(inplace=True) changes the object under all its names", "write x = x.{0}(...)"
    ),
    "HR007": Rule("{0} and back copies the data and loses labels", "stay with the first object"),
    "HR008": Rule("{0} sorts all rows for a few", "write nlargest(n, by) or nsmallest(n, by)"),
    "HR009": Rule(
        "groupby.{0} of a function calls Python for each group", "name the aggregate: {1}"
    ),
    "HR010": Rule("a filtered copy is made only to count rows", "write int(mask.sum())"),
    "HR011": Rule(
        "{0} reads files one by one, to join them",
        "hr.{0} takes a list or a pattern: hr.{0}('folder/*')",
    ),
    "HR012": Rule(
        "{0} in a loop copies all rows each time",
        "join the small frames first, or concat and pivot them, then merge once",
    ),
    "HR013": Rule("x {0} is {1}", "write {2}"),
    "HR014": Rule(
        "to_numpy of {0} columns evaluates the plan of {1} as often",
        "call hr.eval on the columns first, or {1}[[...]].to_numpy()",
    ),
    "HR015": Rule("{0} reads all columns, of which {1} used", "write {2}=[{3}]"),
    "HR016": Rule(
        "{0} operators in a row make temporaries of {1} elements each",
        "hr.asarray(x) computes them in one pass, without temporaries",
        is_advice=True,
    ),
    "HR017": Rule("torch.tensor copies the array", "write torch.from_dlpack(array)"),
    "HR018": Rule("a sample without a seed differs in each run", "write {0}=0"),
}


class Finding(NamedTuple):
    """A place that a rule finds. Lines and columns count from 1."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    code: str
    message: str
    cell: int = 0  # of a notebook, counted from 1; 0 in a file of Python

    @property
    def place(self) -> str:
        """File, line and column."""
        cell = f"cell {self.cell}:" if self.cell else ""
        return f"{self.path}:{cell}{self.line}:{self.column}"


def message(code: str, *words: object) -> str:
    """What a finding says: what is wrong; the fix."""
    rule = RULES[code]
    return f"{rule.title}; {rule.fix}".format(*words)
