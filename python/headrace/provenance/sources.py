# SPDX-License-Identifier: Apache-2.0
"""What was read and drawn: words that the engine keeps with the columns, as long as they live."""

from __future__ import annotations

import contextlib
import functools
import glob
import json
import os
import stat
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

from headrace import _core
from headrace.frame.columns import is_frame

Params = ParamSpec("Params")
Result = TypeVar("Result")

#: Options that hold credentials: no record has them.
_SECRET = frozenset({"storage_options", "filesystem", "headers"})


def label_of(name: Any) -> str:
    """The name of a column as records have it."""
    return name if isinstance(name, str) else repr(name)


def file_at(path: str, now: os.stat_result | None = None) -> dict[str, Any]:
    """The file at a path as it is now."""
    now = now or os.stat(path)
    return {"path": path, "bytes": now.st_size, "modified_ns": now.st_mtime_ns}


def _files_of(pattern: str) -> Iterator[dict[str, Any]]:
    """The files that a pattern names, in order."""
    for path in sorted(glob.iglob(pattern, recursive=True)):
        with contextlib.suppress(OSError):
            now = os.stat(path)
            if stat.S_ISREG(now.st_mode):
                yield file_at(path, now)


def _files(source: Any) -> list[dict[str, Any]]:
    """The local files that a reader finds; asks the system once for each."""
    if isinstance(source, list | tuple):
        return [file for each in source for file in _files(each)]
    if not isinstance(source, str | os.PathLike) or "://" in os.fspath(source):
        return []
    path = os.path.abspath(os.fspath(source))
    try:
        now = os.stat(path)
    except FileNotFoundError:
        return list(_files_of(path))
    if not stat.S_ISDIR(now.st_mode):
        return [file_at(path, now)] if stat.S_ISREG(now.st_mode) else []
    inside = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    return [file_at(each) for each in sorted(inside)]


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


def _public(source: Any) -> Any:
    """A path from the root, or an address; raises TypeError for one that holds a password."""
    if isinstance(source, list):
        return [_public(each) for each in source]
    if "://" not in source:
        return os.path.abspath(source)
    from urllib.parse import urlsplit

    parts = urlsplit(source)
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise TypeError("an address may hold credentials")
    return source


def _words(call: str, args: tuple[Any, ...], words: dict[str, Any]) -> str:
    """A source as JSON; its arguments are None, with the reason, where no record can hold them."""
    made: dict[str, Any] = {"call": call, "arguments": None, "files": []}
    try:
        if len(args) > 1:
            raise TypeError("options without names")
        if secret := sorted(_SECRET.intersection(words)):
            raise TypeError(f"records hold no credentials: {secret[0]}")
        rest = dict(words)
        source = args[0] if args else rest.pop("source")
        made["arguments"] = {"source": _public(_plain(source)), **_plain(rest)}
        made["files"] = _files(source)
    except (TypeError, KeyError, OSError, ValueError) as error:  # the reader says what is wrong
        made["arguments"], made["why"] = None, str(error)
    return json.dumps(made, sort_keys=True)


def recorded(read: Callable[Params, Result]) -> Callable[Params, Result]:
    """A reader whose columns know where they come from."""
    name = read.__name__

    @functools.wraps(read)
    def call(*args: Params.args, **words: Params.kwargs) -> Result:
        told = _words(name, args, words)  # the files as they are before they are read
        made = read(*args, **words)
        if is_frame(made):
            columns = [label_of(each) for each in made._nodes]
            _core.mark_sources(list(made._nodes.values()), told, columns)
        return made

    return call


def note_draw(word: str, words: tuple[Any, ...], node: _core.Node) -> None:
    """Mark random numbers by their generator, and note the words of ``_core.random_<word>``."""
    given = [each.item() if hasattr(each, "item") else each for each in words]
    draw = {"call": f"random_{word}", "arguments": {"words": given}, "files": []}
    _core.mark_sources([node], json.dumps(draw), ["values"], _generator(given[-2]))


@functools.lru_cache(maxsize=64)
def _generator(seed: int) -> str:
    return json.dumps({"call": "random", "arguments": {"seed": seed}, "files": []})
