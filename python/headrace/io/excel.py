# SPDX-License-Identifier: Apache-2.0
"""Sheets of Excel and OpenDocument files, opened by python-calamine."""

from __future__ import annotations

import datetime as dt
import io
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, cast

from headrace.dtypes import dtype_word
from headrace.errors import (
    InputError,
    InvalidArgumentError,
    TypeMismatchError,
    UnsupportedError,
    input_error,
)
from headrace.lazy.handle import mark
from headrace.provenance.sources import recorded

if TYPE_CHECKING:
    import numpy.typing as npt

    from headrace.frame.dataframe import DataFrame

    Columns = str | Sequence[int] | Sequence[str] | Callable[[str], bool] | None

__all__ = ["read_excel"]

_LETTERS = re.compile(r"\s*([A-Za-z]{1,3})\s*(?::\s*([A-Za-z]{1,3})\s*)?")


def _workbook(source: Any) -> Any:
    """The opened file."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise UnsupportedError(
            "read_excel: Excel files are opened by python-calamine, which is not installed; "
            "pip install 'headrace[excel]'"
        ) from None
    path = os.fspath(source) if isinstance(source, str | os.PathLike) else None
    try:
        if path is None:
            return CalamineWorkbook.from_object(source)
        with open(path, "rb") as file:
            return CalamineWorkbook.from_object(io.BytesIO(file.read()))
    except OSError as error:
        what = f"read_excel: {error.strerror or error}: path={path!r}"
        raise input_error(what, path or "", error.errno or 0) from error
    except (CalamineError, TypeError) as error:
        raise InputError(
            f"read_excel: the file cannot be opened: source={source!r}, reason={str(error)!r}; "
            "pass an xlsx, xls, xlsb or ods file"
        ) from error


def _place_of(letters: str) -> int:
    place = 0
    for letter in letters.upper():
        place = place * 26 + ord(letter) - ord("A") + 1
    return place - 1


def _places(letters: str) -> list[int]:
    """The columns of "A,C:E"."""
    places: list[int] = []
    for part in letters.split(","):
        found = _LETTERS.fullmatch(part)
        if not found:
            raise InvalidArgumentError(
                f"read_excel: expected letters of columns: usecols={letters!r}; write 'A,C:E'"
            )
        first, last = _place_of(found[1]), _place_of(found[2] or found[1])
        places += range(first, last + 1)
    return places


def _chosen(names: list[str], usecols: Any) -> list[int]:
    """The places of the columns to read."""
    if usecols is None:
        return list(range(len(names)))
    if isinstance(usecols, str):
        return [place for place in _places(usecols) if place < len(names)]
    if callable(usecols):
        return [place for place, name in enumerate(names) if usecols(name)]
    places = []
    for each in usecols:
        if isinstance(each, str) and each not in names:
            from headrace import _core

            _core.no_such_column("read_excel", names, each)
        place = names.index(each) if isinstance(each, str) else each
        if not isinstance(place, int) or not 0 <= place < len(names):
            raise InvalidArgumentError(
                f"read_excel: no column at this position: usecols={each!r}, columns={len(names)}"
            )
        places.append(place)
    return sorted(places)


def _names(row: list[Any]) -> list[str]:
    """Names of columns; empty and repeated ones as pandas calls them."""
    names: list[str] = []
    for place, cell in enumerate(row):
        name = f"Unnamed: {place}" if cell == "" else _text(cell)
        unique, count = name, 0
        while unique in names:
            count += 1
            unique = f"{name}.{count}"
        names.append(unique)
    return names


def _text(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _kind(cell: Any) -> str:
    if isinstance(cell, bool):
        return "bools"
    if isinstance(cell, int | float):
        return "numbers"
    if isinstance(cell, dt.date):
        return "dates"
    if isinstance(cell, dt.timedelta):
        return "durations"
    return "times of day" if isinstance(cell, dt.time) else "strings"


def _values(name: str, cells: list[Any], word: str | None) -> list[Any]:
    """The values of one column: empty cells are null, whole numbers integers."""
    found = [None if cell == "" else cell for cell in cells]
    if word in ("string", "category"):
        return [cell if cell is None else _text(cell) for cell in found]
    kinds = sorted({_kind(cell) for cell in found if cell is not None})
    if len(kinds) > 1 or kinds == ["times of day"]:
        raise TypeMismatchError(
            f"read_excel: a column has {' and '.join(kinds)}: column={name!r}; read it as text by "
            f"dtypes={{{name!r}: 'string'}}"
        )
    if kinds == ["dates"]:
        return [
            dt.datetime.combine(cell, dt.time())
            if isinstance(cell, dt.date) and not isinstance(cell, dt.datetime)
            else cell
            for cell in found
        ]
    if kinds == ["numbers"] and all(cell is None or float(cell).is_integer() for cell in found):
        return [cell if cell is None else int(cell) for cell in found]
    return found if kinds else [None if cell is None else float(cell) for cell in found]


def _cells(book: Any, sheet: int | str) -> list[list[Any]]:
    """The rows of a sheet that the file has."""
    from python_calamine import CalamineError

    by = book.get_sheet_by_name if isinstance(sheet, str) else book.get_sheet_by_index
    try:
        return cast("list[list[Any]]", by(sheet).to_python(skip_empty_area=False))
    except (CalamineError, OSError) as error:
        raise InputError(
            f"read_excel: the sheet is damaged: sheet_name={sheet!r}, reason={str(error)!r}; "
            "write or fetch the file again"
        ) from error


def _sheet(
    book: Any,
    sheet: int | str,
    header: int | None,
    names: Sequence[str] | None,
    usecols: Columns,
    dtypes: Mapping[str, Any],
    skiprows: int,
    nrows: int | None,
) -> DataFrame:
    """One sheet as a frame."""
    from headrace.frame.dataframe import DataFrame

    known = book.sheet_names
    if not known:
        raise InputError("read_excel: the file has no sheets; write or fetch it again")
    if (isinstance(sheet, str) and sheet not in known) or (
        not isinstance(sheet, str) and not 0 <= sheet < len(known)
    ):
        raise InvalidArgumentError(
            f"read_excel: no such sheet: sheet_name={sheet!r}; the file has {known}"
        )
    rows = _cells(book, sheet)[skiprows:]
    if header is not None:
        titles, rows = rows[header : header + 1], rows[header + 1 :]
        labels = _names(titles[0] if titles else [])
    else:
        labels = [str(place) for place in range(max(map(len, rows), default=0))]
    rows = rows if nrows is None else rows[:nrows]
    places = _chosen(labels, usecols)
    wanted = list(names) if names is not None else [labels[place] for place in places]
    if len(wanted) != len(places):
        raise InvalidArgumentError(
            f"read_excel: expected one name per column: names={len(wanted)}, columns={len(places)}"
        )
    words = {name: dtype_word(dtype) for name, dtype in dtypes.items()}
    columns = {
        name: _values(name, [row[place] for row in rows], words.get(name))
        for name, place in zip(wanted, places, strict=True)
    }
    frame: DataFrame = DataFrame(columns)
    given = {name: dtype for name, dtype in words.items() if name in columns}
    return frame.astype(given) if given else frame


@recorded
def read_excel(
    source: str | os.PathLike[str] | IO[bytes],
    sheet_name: int | str | Iterable[int | str] | None = 0,
    *,
    header: int | None = 0,
    names: Sequence[str] | None = None,
    usecols: Columns = None,
    dtypes: Mapping[str, npt.DTypeLike] | None = None,
    skiprows: int = 0,
    nrows: int | None = None,
    dtype: Mapping[str, npt.DTypeLike] | None = None,
) -> Any:
    """Read sheets of an Excel (xlsx, xls, xlsb) or OpenDocument (ods) file by python-calamine.

    Parameters
    ----------
    source : path or binary file object
        The file.
    sheet_name : int, str, list of these or None
        One sheet gives a frame; a list, or None for all, a dictionary of frames.
    header : int or None
        The row of the names, from 0; None: columns are called "0", "1", ...
    names : list of str, optional
        Names of the columns that are read.
    usecols : str, list of int, list of str or function of a name, optional
        The columns to read: "A,C:E" by letters, by place, by name.
    dtypes : {name: dtype}, optional
        Fixed dtypes. Otherwise whole numbers are int64, others float64, dates and times
        ``datetime64[us]``; empty cells are null.
    skiprows, nrows : int
        Rows to leave out at the top, and to read at most.
    dtype
        pandas' name of `dtypes`.

    Raises
    ------
    hr.UnsupportedError
        Without python-calamine: ``pip install 'headrace[excel]'``.
    hr.InputError
        (an OSError) For a file that cannot be opened; for a missing one also a FileNotFoundError.
    hr.TypeMismatchError
        (a TypeError) For a column with values of several kinds: read it as string.

    Notes
    -----
    The cells become Python objects first, so this is as slow as the file is large; formulas give
    the values that were saved with them.

    Examples
    --------
    ``hr.read_excel("prices.xlsx", "2024", usecols="A:C", dtypes={"code": "string"})``
    """
    mark("read_excel")
    if header is not None and not isinstance(header, int):
        raise TypeMismatchError(f"read_excel: expected a row number or None: header={header!r}")
    book = _workbook(source)
    given = {**(dtype or {}), **(dtypes or {})}

    def read(sheet: int | str) -> Any:
        return _sheet(book, sheet, header, names, usecols, given, skiprows, nrows)

    if isinstance(sheet_name, int | str):
        return read(sheet_name)
    return {
        sheet: read(sheet) for sheet in (book.sheet_names if sheet_name is None else sheet_name)
    }
