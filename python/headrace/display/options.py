# SPDX-License-Identifier: Apache-2.0
"""Display options, under pandas' names."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterator
from typing import Any

from headrace.errors import InvalidArgumentError

_DEFAULTS: dict[str, Any] = {
    "display.max_rows": 60,
    "display.min_rows": 10,
    "display.max_columns": 0,
    "display.width": None,
    "display.max_colwidth": 50,
    "display.precision": 6,
    "display.float_format": None,
}
#: Options of pandas that change nothing here.
_WITHOUT_EFFECT: dict[str, Any] = {
    "compute.use_bottleneck": True,
    "compute.use_numba": False,
    "compute.use_numexpr": True,
    "display.chop_threshold": None,
    "display.colheader_justify": "right",
    "display.date_dayfirst": False,
    "display.date_yearfirst": False,
    "display.encoding": "utf-8",
    "display.expand_frame_repr": True,
    "display.html.border": 1,
    "display.html.table_schema": False,
    "display.html.use_mathjax": True,
    "display.large_repr": "truncate",
    "display.max_categories": 8,
    "display.max_dir_items": 100,
    "display.max_info_columns": 100,
    "display.max_info_rows": 1690785,
    "display.max_seq_items": 100,
    "display.memory_usage": True,
    "display.multi_sparse": True,
    "display.notebook_repr_html": True,
    "display.show_dimensions": "truncate",
    "display.unicode.ambiguous_as_wide": False,
    "display.unicode.east_asian_width": False,
    "future.infer_string": True,
    "future.no_silent_downcasting": True,
    "io.excel.xlsx.writer": "auto",
    "mode.chained_assignment": "warn",
    "mode.copy_on_write": True,
    "plotting.backend": "matplotlib",
    "styler.render.max_elements": 262144,
}
_COUNTS = ("display.min_rows", "display.precision")
_COUNTS_OR_NONE = (
    "display.max_rows",
    "display.max_columns",
    "display.width",
    "display.max_colwidth",
)

_values: dict[str, Any] = {**_DEFAULTS, **_WITHOUT_EFFECT}


def option(name: str) -> Any:
    """The value of an option of the display, by its last word."""
    return _values[f"display.{name}"]


def _found(name: str) -> str:
    """The full name of an option; a unique part of it will do, as in pandas."""
    if name in _values:
        return name
    pattern = str(name).lower()
    matches = [each for each in _values if pattern in each]
    if len(matches) != 1:
        near = difflib.get_close_matches(pattern, _values, 1, 0.4) or ["display.max_rows"]
        what = "several options match" if matches else "no such option"
        fix = f"one of {', '.join(matches)}" if matches else f"did you mean {near[0]!r}?"
        raise InvalidArgumentError(f"option: {what}: name={name!r}; {fix}")
    return matches[0]


def _check(name: str, value: Any) -> None:
    count = type(value) is int and value >= 0
    if name in _COUNTS and not count:
        raise InvalidArgumentError(f"set_option: expected a count: {name}={value!r}; for example 6")
    if name in _COUNTS_OR_NONE and not (count or value is None):
        raise InvalidArgumentError(
            f"set_option: expected a count, or None for no limit: {name}={value!r}"
        )
    if name == "display.float_format" and not (value is None or callable(value)):
        raise InvalidArgumentError(
            f"set_option: expected a function of a float: {name}={value!r}; for example "
            "'{:.2f}'.format"
        )


def _pairs(op: str, given: tuple[Any, ...]) -> dict[str, Any]:
    if len(given) == 1 and isinstance(given[0], dict):
        given = tuple(each for pair in given[0].items() for each in pair)
    if not given or len(given) % 2:
        raise InvalidArgumentError(
            f"{op}: expected pairs of name and value: got={len(given)} values; for example "
            f"{op}('display.max_rows', 100)"
        )
    pairs = {_found(name): value for name, value in zip(given[::2], given[1::2], strict=True)}
    for name, value in pairs.items():
        _check(name, value)
    return pairs


def set_option(*pairs: Any) -> None:
    """Set options of the display, as pairs of name and value, or a dictionary of them.

    ``display.max_rows`` (60; longer frames show ``display.min_rows``, 10), ``display.max_columns``
    (0: what fits the terminal, and 20 in HTML; None: all), ``display.width`` (None: that of the
    terminal), ``display.max_colwidth`` (50), ``display.precision`` (6 digits of floats) and
    ``display.float_format`` (a function). pandas' other options are accepted without effect.

    >>> hr.set_option("display.precision", 2)
    >>> hr.Series([1.23456])
    0    1.23
    dtype: float64
    >>> hr.reset_option("display.precision")
    """
    _values.update(_pairs("set_option", pairs))


def get_option(name: str) -> Any:
    """The value of an option.

    >>> hr.get_option("display.max_rows")
    60
    """
    return _values[_found(name)]


def reset_option(name: str) -> None:
    """Give an option its first value again; ``"all"`` or a part of names resets several.

    >>> hr.reset_option("display")
    """
    everything = {**_DEFAULTS, **_WITHOUT_EFFECT}
    names = [each for each in everything if name == "all" or name in each] or [_found(name)]
    _values.update({each: everything[each] for each in names})


@contextlib.contextmanager
def option_context(*pairs: Any) -> Iterator[None]:
    """Options that hold within a ``with`` block.

    >>> with hr.option_context("display.max_rows", 4, "display.min_rows", 2):
    ...     print(hr.Series(range(9), name="x"))
    0    0
    1    1
    …    …
    Name: x, Length: 9, dtype: int64
    """
    given = _pairs("option_context", pairs)
    former = {name: _values[name] for name in given}
    _values.update(given)
    try:
        yield
    finally:
        _values.update(former)


class Options:
    """``hr.options.display.max_rows``: options as attributes."""

    __slots__ = ("_prefix",)

    def __init__(self, prefix: str = "") -> None:
        object.__setattr__(self, "_prefix", prefix)

    def __getattr__(self, name: str) -> Any:
        full = f"{self._prefix}{name}"
        if full in _values:
            return _values[full]
        if not any(each.startswith(f"{full}.") for each in _values):
            raise AttributeError(f"options: no such option: name={full!r}")
        return Options(f"{full}.")

    def __setattr__(self, name: str, value: Any) -> None:
        set_option(f"{self._prefix}{name}", value)

    def __repr__(self) -> str:
        return f"hr.options.{self._prefix}".rstrip(".")

    def __dir__(self) -> list[str]:
        inside = (
            each.removeprefix(self._prefix) for each in _values if each.startswith(self._prefix)
        )
        return sorted({each.partition(".")[0] for each in inside})


options: Options = Options()
