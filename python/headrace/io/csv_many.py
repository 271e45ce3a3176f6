# SPDX-License-Identifier: Apache-2.0
"""Several CSV files as one frame: their list, their names, their dtypes, their rows."""

from __future__ import annotations

import errno
import glob
import os
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import ColumnNotFoundError, InputError, input_error
from headrace.frame.columns import frame_of_parts, without_labels
from headrace.frame.concat import rows_of
from headrace.lazy import handle as deferred

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headrace.frame.dataframe import DataFrame

#: Rows at the top of a column that mostly tell whether it holds any value.
_TOP = 1024
#: Rows from which on the buffers of columns are large enough to leave memory under a limit.
_RUN = 1 << 16


def files_of(op: str, source: Any) -> list[Any] | None:
    """The sources of a list or of a glob, whose paths are sorted; None for a single source."""
    if not isinstance(source, list | tuple):
        return _matches(op, source)
    if not source:
        raise input_error(
            f"{op}: expected paths, found nothing to read: sources=[]; pass at least one path"
        )
    return [each for one in source for each in _matches(op, one) or [kept(one)]]


def _matches(op: str, source: Any) -> list[str] | None:
    pattern = os.fspath(source) if isinstance(source, str | os.PathLike) else None
    if not isinstance(pattern, str) or "://" in pattern or not glob.has_magic(pattern):
        return None
    if os.path.lexists(pattern):
        return None
    found = [path for path in glob.iglob(pattern, recursive=True) if not os.path.isdir(path)]
    if not found:
        what = f"{op}: no file matches the pattern: path={pattern!r}; check folder and pattern"
        raise input_error(what, pattern, errno.ENOENT)
    return sorted(found)


def opened(source: Any) -> Any:
    """A path as the engine takes it, another source as it is."""
    return os.fspath(source) if isinstance(source, str | os.PathLike) else source


def kept(source: Any) -> Any:
    """A source that can be read more than once: a file object is read whole."""
    if not hasattr(source, "read"):
        return source
    text = source.read()
    return text.encode() if isinstance(text, str) else text


def title(source: Any, at: int) -> str:
    """How messages call a source: by its path, or by its place in the list."""
    return os.fspath(source) if isinstance(source, str | os.PathLike) else f"<source {at}>"


def scans_of(
    op: str, files: Sequence[Any], options: _core.CsvOptions, fixed: bool = False
) -> list[_core.CsvScan]:
    """Scans of files that have the same columns; `fixed`: all with the dtypes of the first."""
    scans: list[_core.CsvScan] = []
    for at, file in enumerate(files):
        try:
            scan = _core.CsvScan(opened(file), options)
        except ColumnNotFoundError:
            if not scans:
                raise
            options.columns, options.column_indices, options.dtypes = [], [], {}
            both = (_core.CsvScan(opened(files[k]), options).names for k in (0, at))
            raise _different(op, files, at, *both) from None
        scans.append(scan)
        check_names(op, files, at, scans[0].names, scan.names)
        if fixed and at == 0:
            options.dtypes = dict(zip(scan.names, scan.dtypes, strict=True))
    return scans


def check_names(op: str, files: Sequence[Any], at: int, first: list[str], names: list[str]) -> None:
    """Raise if the file at a place has other columns than the first one."""
    if set(first) != set(names):
        raise _different(op, files, at, first, names)


def _different(
    op: str, files: Sequence[Any], at: int, first: list[str], names: list[str]
) -> InputError:
    path, missing = title(files[at], at), [name for name in first if name not in names]
    return input_error(
        f"{op}: the files have different columns: path={path!r}, first={title(files[0], 0)!r}, "
        f"missing={missing}, unexpected={[name for name in names if name not in first]}; choose "
        "shared columns with usecols=, or read them apart",
        path,
    )


def shared_dtypes(scans: Sequence[_core.CsvScan]) -> dict[str, str]:
    """The dtype of each column that one text of all files would have."""
    dtypes = [dict(zip(scan.names, scan.dtypes, strict=True)) for scan in scans]
    frames = [frame_of_parts(_core.scan_csv(scan), scan.names) for scan in scans]
    return {
        name: _shared(
            [(each[name], frame, name) for each, frame in zip(dtypes, frames, strict=True)]
        )
        for name in dtypes[0]
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


def stacked(frames: list[DataFrame], most: int | None = None) -> DataFrame:
    """The rows of all frames, at most some of them, numbered through unless they have labels."""
    made = rows_of(frames)
    made = made if most is None else made.head(most)
    return without_labels(made, not made._labels)


def up_to(
    most: int | None, files: int, read: Callable[[int, int | None], DataFrame]
) -> list[DataFrame]:
    """What is read of the files until there are enough rows; small ones are put together."""
    frames: list[DataFrame] = []
    run, rows = 0, 0  # the first frame, and the rows, of those that are not put together yet
    for at in range(files):
        frames.append(read(at, most))
        rows += len(frames[-1])
        most = None if most is None else most - len(frames[-1])
        if rows >= _RUN:
            if len(frames) - run > 1:
                deferred.eval(whole := stacked(frames[run:]))
                frames[run:] = [whole]
            run, rows = len(frames), 0
        if most == 0:
            break
    return frames
