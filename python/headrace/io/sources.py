# SPDX-License-Identifier: Apache-2.0
"""What readers read: paths, folders, patterns, lists and URLs, and the columns of their names."""

from __future__ import annotations

import datetime
import errno
import glob
import os
import re
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError, input_error
from headrace.frame.columns import frame_of, frame_of_parts, frame_of_table, without_labels
from headrace.frame.concat import rows_of
from headrace.frame.construct import repeated
from headrace.lazy import handle as deferred
from headrace.series.column import new_series, series_of, series_over, with_rows_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_NULL = "__HIVE_DEFAULT_PARTITION__"
_PART = ".headrace-part-"
#: Rows from which on the buffers of columns are large enough to leave memory under a limit.
_RUN = 1 << 16


class Sources(NamedTuple):
    """The sources of one call, in order, and what their names say."""

    op: str
    #: Paths, bytes and file objects, as the engine opens them.
    each: list[Any]
    #: What messages call them.
    titles: list[str]
    #: False for one source that is named itself: not by a list, a pattern or a folder.
    are_several: bool
    #: A value a source, by column.
    values: dict[str, list[Any]]

    def table(self) -> _core.Table:
        """The columns of `values`, a row a source."""
        return frame_of(
            {name: new_series(each, dtype=_dtype(each))._node for name, each in self.values.items()}
        )._table()

    def with_values(self, frame: DataFrame, at: int) -> DataFrame:
        """The rows of a source with the values of `values` behind its own columns."""
        any_row = frame._any_node()
        if not self.values or any_row is None:
            return frame
        nodes = dict(frame._nodes)
        for name, values in self.values.items():
            nodes.pop(name, None)
            one = values[at]
            if not isinstance(one, int | str):
                one = new_series([one], dtype=_dtype(values))
            nodes[name] = repeated(any_row, one)
        return frame_of(nodes, frame._labels)

    def with_values_of_rows(self, frame: DataFrame, rows: list[int]) -> DataFrame:
        """The same for the rows of all sources, each repeated for the rows of its source."""
        any_row = frame._any_node()
        if not self.values or any_row is None:
            return frame
        import numpy as np  # late: importing headrace does not load it

        source = np.repeat(np.arange(len(rows), dtype=np.int32), rows)
        positions = series_over(source)._node
        nodes = dict(frame._nodes)
        for name, values in self.values.items():
            each = new_series(values, dtype=_dtype(values))._node
            nodes.pop(name, None)
            nodes[name] = with_rows_of(series_of(_core.take(each, positions)), any_row)._node
        return frame_of(nodes, frame._labels)

    def frame(self, at: int, table: _core.Table, rejects: _core.Table | None) -> DataFrame:
        """What was read of the source at a place."""
        frame = self.with_values(frame_of_table(table, kept=_core.take_kept()), at)
        frame._rejects = None if rejects is None else frame_of_table(rejects)
        return frame

    def rows(
        self, read: Callable[[int, int | None], DataFrame], most: int | None = None
    ) -> DataFrame:
        """The rows of all sources, and what they reject, until there are enough rows.

        `read` takes the number of a source and the rows that are left, and gives its frame. Frames
        of other columns than the first one's raise InputError. Small ones are put together.
        """
        if not self.are_several:
            return read(0, most)
        frames: list[DataFrame] = []
        rejects: list[DataFrame] = []
        run, rows = 0, 0  # the first frame, and the rows, of those that are not put together yet
        for at, title in enumerate(self.titles):
            frame = read(at, most)
            if at > 0:
                self.check_frame(at, frames[0], frame)
            if frame._rejects is not None:
                rejects.append(frame._rejects.assign(path=title))
            frames.append(frame)
            rows += len(frame)
            most = None if most is None else most - len(frame)
            if rows >= _RUN:
                if len(frames) - run > 1:
                    deferred.eval(whole := stacked(frames[run:]))
                    frames[run:] = [whole]
                run, rows = len(frames), 0
            if most == 0:
                break
        made = stacked(frames)
        made._rejects = stacked(rejects) if rejects else None
        return made

    def check_frame(self, at: int, first: DataFrame, own: DataFrame) -> None:
        """Raise if the frame of the source at a place does not go with the first one's."""
        self.check_columns(at, first.columns, own.columns)
        dtypes = own.dtypes
        for name, dtype in first.dtypes.items():
            if dtypes[name] == dtype or _are_numbers(dtypes[name], dtype):
                continue
            path = self.titles[at]
            raise input_error(
                f"{self.op}: a column has another dtype than in the first file: "
                f"column={name!r}, dtype={str(dtypes[name])!r}, first_dtype={str(dtype)!r}, "
                f"path={path!r}, first={self.titles[0]!r}; read the files apart and cast",
                path,
            )

    def check_columns(self, at: int, first: list[str], own: list[str]) -> None:
        """Raise if the source at a place has other columns than the first one."""
        if set(first) == set(own):
            return
        path, missing = self.titles[at], [name for name in first if name not in own]
        raise input_error(
            f"{self.op}: the files have different columns: path={path!r}, "
            f"first={self.titles[0]!r}, missing={missing}, "
            f"unexpected={[name for name in own if name not in first]}; choose shared columns, or "
            "read them separately",
            path,
        )


def _are_numbers(*dtypes: Any) -> bool:
    return all(getattr(dtype, "kind", "O") in "iuf" for dtype in dtypes)


def find(
    op: str,
    source: Any,
    *,
    include_file_paths: str | None = None,
    hive_partitioning: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Sources:
    """The sources that a reader was given.

    Parameters
    ----------
    source : path, URL, bytes or binary file object, or a list of these
        A folder stands for all files in it and below; a path with ``*``, ``?``, ``[...]`` or
        ``**``, that is not itself a file, for those that match; both in the order of their names.
    include_file_paths : str, optional
        Name of a column for the path that each row comes from.
    hive_partitioning : bool, optional
        Whether folders named ``key=value`` make columns; None: those of a folder or a pattern do.
    storage_options : dict, optional
        Options of the file system of a URL, for fsspec.
    """
    listed = isinstance(source, list | tuple)
    if listed and not source:
        raise input_error(
            f"{op}: expected paths, found nothing to read: sources=[]; pass at least one path"
        )
    options = dict(storage_options or {})
    found = [each for one in (source if listed else [source]) for each in _expand(op, one, options)]
    several = listed or len(found) != 1 or found[0].root is not None
    each = [kept(one.source) if listed else one.source for one in found]
    titles = [one.title or f"<source {at}>" for at, one in enumerate(found)]
    values = _partitions(op, found, titles, hive_partitioning)
    if include_file_paths is not None:
        if include_file_paths in values:
            raise InvalidArgumentError(
                f"{op}: two columns of one name: include_file_paths={include_file_paths!r}; pass "
                "another name"
            )
        values[include_file_paths] = titles
    return Sources(op, each, titles, several, values)


class _Found(NamedTuple):
    source: Any
    title: str = ""
    #: Where the folders begin that a folder or a pattern stands for; None: named itself.
    root: int | None = None


def _expand(op: str, source: Any, options: dict[str, Any]) -> list[_Found]:
    path = os.fspath(source) if isinstance(source, str | os.PathLike) else source
    if not isinstance(path, str):
        return [_Found(as_file(op, path))]
    if path.startswith("file://"):
        path = urllib.request.url2pathname(urllib.parse.urlparse(path).path)
    if _URL.match(path):
        return _expand_url(op, path, options)
    if os.path.isdir(path):
        below = _files_below(path)
        if not below:
            raise _nothing(op, "no file in the folder", path)
        root = len(path.rstrip("/")) + 1
        return [_Found(each, each, root) for each in below]
    if not glob.has_magic(path) or os.path.lexists(path):
        return [_Found(path, path)]
    matches = sorted(each for each in glob.iglob(path, recursive=True) if not os.path.isdir(each))
    if not matches:
        raise _nothing(op, "no file matches the pattern", path)
    root = _pattern_root(path)
    return [_Found(each, each, root) for each in matches]


def _nothing(op: str, what: str, path: str) -> Exception:
    return input_error(f"{op}: {what}: path={path!r}; check the path", path, errno.ENOENT)


def _pattern_root(pattern: str) -> int:
    """Where the first part with a special character begins."""
    front = pattern[: next(at for at, c in enumerate(pattern) if c in "*?[")]
    return front.rfind("/") + 1


def _files_below(folder: str) -> list[str]:
    """All files but hidden ones, marks of other programs (``_SUCCESS``) and unfinished writes."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_aside(name) or "=" in name)
        found += [
            os.path.join(place, name) for name in names if not _is_aside(name) and _PART not in name
        ]
    return sorted(found)


def _is_aside(name: str) -> bool:
    return name.startswith((".", "_"))


# ---- URLs ----------------------------------------------------------------------------------------
def _expand_url(op: str, url: str, options: dict[str, Any]) -> list[_Found]:
    try:
        import fsspec
    except ImportError:
        if url.startswith(("http://", "https://")):
            return [_Found(_asked(op, url, lambda: urllib.request.urlopen(url)), url)]
        raise UnsupportedError(
            f"{op}: URLs are read by fsspec, which is not installed: path={url!r}; pip install "
            "'headrace[fsspec]'"
        ) from None

    def listed() -> list[_Found]:
        system, path = fsspec.core.url_to_fs(url, **options)
        if glob.has_magic(path):
            paths, root = system.glob(path), _pattern_root(path)
            paths = [each for each in paths if not system.isdir(each)]
        elif "http" not in system.protocol and system.isdir(path):
            root = len(path.rstrip("/")) + 1
            paths = [
                each
                for each in system.find(path)
                if not any(_is_aside(part) and "=" not in part for part in each[root:].split("/"))
            ]
        else:
            return [_Found(_opened(op, system, path, url, options), url)]
        if not paths:
            raise _nothing(op, "no file matches the URL", url)
        made = []
        for each in sorted(paths):
            name = system.unstrip_protocol(each)
            begin = root + len(name) - len(each)
            made.append(_Found(_opened(op, system, each, name, options), name, begin))
        return made

    return _asked(op, url, listed)


def _opened(op: str, system: Any, path: str, url: str, options: dict[str, Any]) -> Any:
    """A remote file, which messages call by its URL."""
    # Of Parquet files parts are read: what s3fs fetches ahead of each (50 MB) is often the rest.
    is_given = any("cache_type" in name or "block_size" in name for name in options)
    words = {"cache_type": "none"} if op.endswith("parquet") and not is_given else {}
    file = system.open(path, "rb", **words)
    if not hasattr(file, "full_name"):
        file.full_name = url
    return file


def _asked(op: str, url: str, ask: Callable[[], Any]) -> Any:
    """What a file system answers; its errors become ours."""
    try:
        return ask()
    except (ImportError, ValueError) as error:
        raise UnsupportedError(
            f"{op}: fsspec does not read this kind of URL, or lacks a package: path={url!r}; "
            f"{error}"
        ) from error
    except FileNotFoundError as error:
        if getattr(error, "path", None):
            raise
        raise _nothing(op, "there is no such file", url) from error
    except OSError as error:
        code = error.errno if isinstance(error.errno, int) else 0
        raise input_error(
            f"{op}: the file system refused: path={url!r}, error={error}; check the URL and "
            "storage_options=",
            url,
            code,
        ) from error


# ---- partitions ----------------------------------------------------------------------------------
def _partitions(
    op: str, found: list[_Found], titles: list[str], wanted: bool | None
) -> dict[str, list[Any]]:
    """The values of folders named ``key=value``, by key."""
    if wanted is False or (wanted is None and any(one.root is None for one in found)):
        return {}
    each = [_keys(one) for one in found]
    for keys, title in zip(each, titles, strict=True):
        if list(keys) != list(each[0]):
            raise input_error(
                f"{op}: the folders of the files have different keys: path={title!r}, "
                f"keys={list(keys)}, first={titles[0]!r}, first_keys={list(each[0])}; read them "
                "apart, or pass hive_partitioning=False",
                title,
            )
    return {key: _typed([keys[key] for keys in each]) for key in each[0]}


def _keys(one: _Found) -> dict[str, str | None]:
    keys: dict[str, str | None] = {}
    for part in one.title[one.root or 0 :].split("/")[:-1]:
        key, equals, value = part.partition("=")
        if key and equals:
            value = urllib.parse.unquote(value)
            keys[urllib.parse.unquote(key)] = None if value == _NULL else value
    return keys


def _typed(values: list[str | None]) -> list[Any]:
    """Integers or dates, where all are; else strings."""
    known = [value for value in values if value is not None]
    if known and all(re.fullmatch(r"-?\d{1,18}", value) for value in known):
        return [None if value is None else int(value) for value in values]
    try:
        if known and all(re.fullmatch(r"\d{4}-\d\d-\d\d", value) for value in known):
            return [None if v is None else datetime.date.fromisoformat(v) for v in values]
    except ValueError:
        pass
    return list(values)


def _dtype(values: list[Any]) -> str:
    one = next((value for value in values if value is not None), "")
    return {int: "int64", datetime.date: "date"}.get(type(one), "string")


# ---- frames --------------------------------------------------------------------------------------
def kept(source: Any) -> Any:
    """A source that can be read more than once: a file object that cannot seek is read whole."""
    if not hasattr(source, "read") or hasattr(source, "full_name"):
        return source
    text = source.read()
    return text.encode() if isinstance(text, str) else text


class _Pieces:
    """Pieces of bytes as a file object."""

    def __init__(self, op: str, pieces: Iterator[Any]) -> None:
        self._op, self._pieces, self._rest = op, pieces, memoryview(b"")

    def read(self, size: int = -1) -> bytes:
        """At most these bytes, fewer at the end of a piece; all that are left for -1."""
        if size < 0:
            return b"".join(iter(lambda: self.read(1 << 30), b""))
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            if not isinstance(piece, bytes | bytearray | memoryview):
                raise InvalidArgumentError(
                    f"{self._op}: expected pieces of bytes: piece={type(piece).__name__!r}; "
                    "encode strings as UTF-8"
                )
            self._rest = memoryview(piece).cast("B")
        made, self._rest = bytes(self._rest[:size]), self._rest[size:]
        return made


def as_file(op: str, source: Any) -> Any:
    """An iterator of bytes as a file object; another source as it is."""
    is_plain = not isinstance(source, Iterator) or hasattr(source, "read")
    return source if is_plain else _Pieces(op, source)


def stacked(frames: list[DataFrame], most: int | None = None) -> DataFrame:
    """The rows of all frames, at most some of them, numbered through unless they have labels."""
    made = rows_of(frames)
    made = made if most is None else made.head(most)
    return without_labels(made, not made._labels)


def scanned(files: list[_core.ParquetFile], places: list[list[int]], of: Sources) -> DataFrame:
    """The columns of several Parquet files, and the values of the sources, as plan nodes."""
    names = [files[0].names[at] for at in places[0]]
    node = _core.scan_parquet_files(files, places, of.table(), f"{len(files)} files")
    return frame_of_parts(node, [*names, *of.values])
