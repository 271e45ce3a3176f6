# SPDX-License-Identifier: Apache-2.0
"""What was read and drawn, by the marks that the engine keeps with columns."""

from __future__ import annotations

import functools
import glob
import json
import os
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

from headrace import _core
from headrace.frame.columns import is_frame

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame

Params = ParamSpec("Params")
Result = TypeVar("Result")

#: Draws of random numbers that are remembered.
_MOST_DRAWS = 10_000
#: Marks from here on are tags, those below columns of sources.
FIRST_TAG = 1 << 31


class File(NamedTuple):
    """A file as it was when it was read."""

    path: str
    bytes: int
    modified_ns: int


class Source(NamedTuple):
    """A call that read columns or drew numbers; `arguments` is None where no record can hold it."""

    call: str
    arguments: dict[str, Any] | None
    files: tuple[File, ...]
    columns: tuple[Any, ...]


class _State:
    next_mark = 1


_by_mark: dict[int, tuple[Source, int]] = {}
_first_marks: dict[tuple[Any, ...], int] = {}
_draws: deque[tuple[Any, ...]] = deque()


def source_of(mark: int) -> tuple[Source, Any] | None:
    """The source of a mark and its column; None for a tag, and for what was forgotten."""
    found = _by_mark.get(mark)
    return None if found is None else (found[0], found[0].columns[found[1]])


def file_at(path: str) -> File:
    """The file at a path as it is now."""
    now = os.stat(path)
    return File(path, now.st_size, now.st_mtime_ns)


def _paths(source: Any) -> list[str]:
    """The local files that a reader finds."""
    if isinstance(source, list | tuple):
        return [path for each in source for path in _paths(each)]
    if not isinstance(source, str | os.PathLike):
        return []
    path = os.path.abspath(os.fspath(source))
    if os.path.isdir(path):
        found = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
        return sorted(found)
    if os.path.isfile(path):
        return [path]
    return sorted(each for each in glob.glob(path, recursive=True) if os.path.isfile(each))


def _plain(value: Any) -> Any:
    """A source or an option as JSON can hold it; raises TypeError for others."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {key: _plain(each) for key, each in value.items()}
        raise TypeError("a key is no string")
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"a {type(value).__name__} is not of JSON")


def _absolute(source: Any) -> Any:
    if isinstance(source, list):
        return [_absolute(each) for each in source]
    return source if "://" in source else os.path.abspath(source)


def _mark(source: Source, nodes: list[_core.Node], key: tuple[Any, ...]) -> int:
    """Mark columns, those of an equal source with the same marks; the first one."""
    first = _first_marks.get(key)
    if first is None or first not in _by_mark:
        first = _State.next_mark
        _State.next_mark += len(nodes)
        for place in range(len(nodes)):
            _by_mark[first + place] = source, place
        _first_marks[key] = first
    _core.mark_sources(nodes, first)
    return first


def _note_read(call: str, source: Any, words: dict[str, Any], frame: DataFrame) -> None:
    arguments: dict[str, Any] | None
    try:
        arguments = {"source": _absolute(_plain(source)), **_plain(words)}
        files = tuple(file_at(path) for path in _paths(source))
    except (TypeError, OSError):
        arguments, files = None, ()
    made = Source(call, arguments, files, tuple(frame._nodes))
    told = json.dumps(arguments, sort_keys=True) if arguments is not None else str(_State.next_mark)
    _mark(made, list(frame._nodes.values()), (call, told, files, made.columns))


def recorded(read: Callable[Params, Result]) -> Callable[Params, Result]:
    """A reader whose columns know where they come from."""
    name = read.__name__

    @functools.wraps(read)
    def call(*args: Params.args, **words: Params.kwargs) -> Result:
        made = read(*args, **words)
        if is_frame(made) and made._nodes:
            source = args[0] if args else words.get("source")
            rest = {key: value for key, value in words.items() if key != "source"}
            _note_read(name, source if len(args) < 2 else object(), rest, made)
        return made

    return call


def note_draw(word: str, words: tuple[Any, ...], node: _core.Node) -> None:
    """Mark random numbers by what draws them again: the words of ``_core.random_<word>``."""
    key = (word, *words)
    is_new = key not in _first_marks
    if is_new and len(_draws) >= _MOST_DRAWS:
        del _by_mark[_first_marks.pop(_draws.popleft())]
    _mark(Source(f"random_{word}", {"words": list(words)}, (), ("values",)), [node], key)
    if is_new:
        _draws.append(key)
