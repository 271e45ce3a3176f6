# SPDX-License-Identifier: Apache-2.0
"""Several CSV files as one frame: their columns, their dtypes, their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import ColumnNotFoundError, Error, InputError
from headrace.frame.columns import frame_of_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.frame.dataframe import DataFrame
    from headrace.io.sources import Sources

#: Rows at the top of a column that mostly tell whether it holds any value.
_TOP = 1024


def scans_of(of: Sources, options: _core.CsvOptions, fixed: bool = False) -> list[_core.CsvScan]:
    """Scans of files that have the same columns; `fixed`: all with the dtypes of the first."""
    scans: list[_core.CsvScan] = []
    ahead: dict[int, _core.CsvScan] = {}
    for at, source in enumerate(of.each):
        try:
            options.few_samples = at > 0
            if at == 1:
                ahead = _opened(of.each, options)
            scan = ahead.get(at) or _core.CsvScan(source, options)
        except ColumnNotFoundError:
            if not scans:
                raise
            options.columns, options.column_indices, options.dtypes = [], [], {}
            first, own = (_core.CsvScan(of.each[k], options).names for k in (0, at))
            of.check_columns(at, first, own)
            raise
        scans.append(scan)
        of.check_columns(at, scans[0].names, scan.names)
        if fixed and at == 0:
            options.dtypes = dict(zip(scan.names, scan.dtypes, strict=True))
    return scans


def _opened(each: list[Any], options: _core.CsvOptions) -> dict[int, _core.CsvScan]:
    """Scans of all paths but the first, opened by all cores; none where one cannot be opened."""
    if not all(isinstance(one, str) for one in each):
        return {}
    try:
        return dict(enumerate(_core.open_csv_paths(each[1:], options), 1))
    except Error:  # opened one by one, each is compared with the first before the next
        return {}


def shared_dtypes(scans: Sequence[_core.CsvScan]) -> dict[str, str]:
    """The dtype of each column that one text of all files would have."""
    dtypes = [dict(zip(scan.names, scan.dtypes, strict=True)) for scan in scans]
    shared = {name: {each[name] for each in dtypes} for name in dtypes[0]}
    frames: list[DataFrame] = []
    if any(len(each) > 1 for each in shared.values()):
        frames += [frame_of_parts(_core.scan_csv(scan), scan.names) for scan in scans]
    return {
        name: _shared([(own[name], frame, name) for own, frame in zip(dtypes, frames, strict=True)])
        if len(found) > 1
        else next(iter(found))
        for name, found in shared.items()
    }


def _shared(columns: list[tuple[str, DataFrame, str]]) -> str:
    """The dtype of one column, of which each file has its own."""
    found = {dtype for dtype, _, _ in columns}
    if len(found) > 1:  # a column of nulls is float64, which says nothing
        found = {d for d, frame, name in columns if d != "float64" or _has_value(frame, name)}
    if found == {"int64", "uint64"}:
        whole = [frame[name] for dtype, frame, name in columns if dtype == "int64"]
        return "float64" if any(bool((each < 0).any()) for each in whole) else "uint64"
    for kinds in (("int64", "uint64", "float64"), ("date", "datetime64[us]", "datetime64[ns]")):
        if found <= {*kinds}:
            return next((kind for kind in reversed(kinds) if kind in found), "float64")
    return found.pop() if len(found) == 1 else "string"


def _has_value(frame: DataFrame, name: str) -> bool:
    """Whether a float64 column has a value; if its text is not of numbers, other files decide."""
    try:
        top = frame[name].head(_TOP)
        return not top.is_null().all() or not frame[name].is_null().all()
    except InputError:
        return False
