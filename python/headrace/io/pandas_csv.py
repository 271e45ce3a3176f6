# SPDX-License-Identifier: Apache-2.0
"""Options of pandas' `read_csv` that change the source or the frame, not how text is parsed."""

from __future__ import annotations

import codecs
import io
import os
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.series.parse_times import to_datetime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.frame.dataframe import DataFrame

#: In the order in which they are used; each is None unless given.
OPTIONS = ("encoding", "parse_dates", "index_col")
_UTF8 = ("utf-8", "utf-8-sig", "ascii")


def in_utf8(source: Any, encoding: str | None) -> Any:
    """The source as it is, or as UTF-8 bytes if it is text or has another encoding; read whole."""
    if isinstance(source, io.TextIOBase):
        return source.read().encode()
    try:
        name = "utf-8" if encoding is None else codecs.lookup(encoding).name
    except (LookupError, TypeError):
        raise InvalidArgumentError(
            f"read_csv: unknown encoding: encoding={encoding!r}; use 'utf-8', 'latin-1' or another "
            "that Python knows"
        ) from None
    if name in _UTF8:
        return source
    if isinstance(source, str | os.PathLike):
        with open(source, encoding=name, newline="") as file:
            return file.read().encode()
    return (source if isinstance(source, bytes) else source.read()).decode(name).encode()


def with_times(frame: DataFrame, parse_dates: Any) -> DataFrame:
    """The frame with times in the columns that `parse_dates` lists; the others are inferred."""
    if parse_dates is None or isinstance(parse_dates, bool):
        return frame
    if not isinstance(parse_dates, list | tuple):
        raise TypeMismatchError(
            f"read_csv: expected a bool or a list of columns: parse_dates={parse_dates!r}"
        )
    times = {name: to_datetime(frame[name]) for name in _names(frame, parse_dates, "parse_dates")}
    return frame.assign(**times)


def with_labels(frame: DataFrame, index_col: Any) -> DataFrame:
    """The frame with the columns of `index_col` as labels."""
    if index_col is None or index_col is False:
        return frame
    several = isinstance(index_col, list | tuple)
    return frame.set_index(_names(frame, index_col if several else [index_col], "index_col"))


def _names(frame: DataFrame, columns: Sequence[str | int], option: str) -> list[str]:
    """Column names, given as these or by position."""
    names = frame.columns
    for each in columns:
        if type(each) is int and not -len(names) <= each < len(names):
            raise InvalidArgumentError(
                f"read_csv: there is no such column: {option}={each}, columns={len(names)}"
            )
    return [names[each] if type(each) is int else str(each) for each in columns]
