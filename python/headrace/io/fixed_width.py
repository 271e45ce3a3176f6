# SPDX-License-Identifier: Apache-2.0
"""Text whose fields stand at fixed places of each line."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, cast

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.io import csv, pandas_csv
from headrace.lazy.handle import mark
from headrace.provenance.sources import recorded
from headrace.rows import whole_number

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import BinaryIO

    from headrace.frame.dataframe import DataFrame

    Source = str | os.PathLike[str] | bytes | BinaryIO

__all__ = ["read_fwf"]

_OP = "read_fwf"
#: Options of `read_csv` that have no meaning here.
_NONE_OF_OURS = ("delimiter", "sep", "quote", "quotechar", "quoting", "hive_partitioning")


@recorded
def read_fwf(
    source: Source | Sequence[Source],
    *,
    colspecs: Literal["infer"] | Sequence[tuple[int | None, int | None]] = "infer",
    widths: Sequence[int] | None = None,
    infer_nrows: int = 100,
    delimiter: str | None = None,
    on_bad: Literal["error", "reject"] = "error",
    **options: Any,
) -> DataFrame:
    r"""Read text whose fields stand at fixed places of each line.

    Parameters
    ----------
    source : path, URL, bytes or binary file object, or a list of these
        Files as for `read_csv`.
    colspecs : "infer" or list of (int, int)
        First character of each column and the one behind its last; None: to the end of the line.
        "infer": the places that hold more than blanks in some of the first lines.
    widths : list of int, optional
        Widths of columns that stand side by side, instead of `colspecs`.
    infer_nrows : int
        Lines to look at for "infer".
    delimiter : str, optional
        Characters that are cut off at both ends of a field; blanks and tabs.
    on_bad, **options
        As for `read_csv`: ``names``, ``header``, ``dtypes``, ``null_words``, ``columns``,
        ``skip_rows``, ``num_rows``, ``comment``, ``compression`` and pandas' names. Quotes mean
        nothing.

    Raises
    ------
    hr.InvalidArgumentError
        (a ValueError) For columns that end before they begin, or both of `colspecs` and `widths`.
    hr.InputError
        (an OSError) As for `read_csv`.

    >>> text = b"name  size\nlamp    12\npen      3\n"
    >>> hr.read_fwf(text).to_dict()
    {'name': ['lamp', 'pen'], 'size': [12, 3]}
    >>> hr.read_fwf(text, widths=[4, 6], names=["n", "s"], skiprows=1).s.sum().item()
    15
    """
    mark(_OP)
    places = _places(colspecs, widths)
    for name in _NONE_OF_OURS:
        if name in options:
            raise TypeMismatchError(
                f"{_OP}: unknown option: option={name!r}; fields are cut by colspecs= or widths="
            )
    blanks = " \t" if delimiter is None else delimiter
    if not isinstance(blanks, str) or not blanks.isascii():
        raise TypeMismatchError(f"{_OP}: expected ASCII characters: delimiter={delimiter!r}")
    given = {name: each for name, each in options.items() if name not in pandas_csv.IGNORED}
    encoding, parse_dates, index_col = (given.pop(name, None) for name in pandas_csv.OPTIONS)
    comment = given.pop("comment", None)
    skipped = given.pop("skiprows", given.pop("skip_rows", 0))
    of = csv.found(_OP, source, given)
    given, most = csv.row_limit(_OP, given, of)
    lines = whole_number(_OP, "infer_nrows", infer_nrows)
    skipped = csv.row_count(_OP, "skip_rows", skipped)
    words = csv.csv_options(_OP, cast(csv.CsvOptions, given), on_bad)

    def read(at: int, rows: int | None) -> DataFrame:
        if rows is not None:
            words.num_rows = rows
        text = pandas_csv.in_utf8(of.each[at], encoding)
        table, bad = _core.read_fwf(text, places, lines, blanks, comment, skipped, words)
        return of.frame(at, table, bad if on_bad == "reject" else None)

    made = of.rows(read, most)
    rejects = made._rejects
    made = pandas_csv.with_times(made, parse_dates)
    made = pandas_csv.with_labels(made, index_col)
    made._rejects = rejects
    return made


def _places(colspecs: Any, widths: Any) -> list[tuple[int, int]]:
    """Pairs of characters; none: to be inferred."""
    if widths is not None:
        if colspecs != "infer":
            raise InvalidArgumentError(
                f"{_OP}: columns are given twice: colspecs={colspecs!r}, widths={widths!r}; pass "
                "one of them"
            )
        ends = [0]
        for width in widths:
            ends.append(ends[-1] + whole_number(_OP, "widths", width))
        return list(pairwise(ends))
    if isinstance(colspecs, str):
        if colspecs != "infer":
            raise InvalidArgumentError(
                f"{_OP}: invalid value: colspecs={colspecs!r}; expected 'infer' or pairs of "
                "characters"
            )
        return []
    places = []
    for pair in colspecs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeMismatchError(f"{_OP}: expected pairs of characters: colspecs={colspecs!r}")
        begin, end = pair
        places.append(
            (
                0 if begin is None else whole_number(_OP, "colspecs", begin),
                -1 if end is None else whole_number(_OP, "colspecs", end),
            )
        )
    if not places:
        raise InvalidArgumentError(f"{_OP}: no columns: colspecs=[]; pass at least one")
    return places
