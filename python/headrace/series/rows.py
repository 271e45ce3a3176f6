# SPDX-License-Identifier: Apache-2.0
"""Rows of a series: by mask, slice and position, the first and last ones, samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.array.construct import selector
from headrace.frame.columns import framed, with_numbers
from headrace.lazy.advice import value_by_value
from headrace.lazy.handle import mark
from headrace.rows import are_picked, is_ready, picked_domain, refuse_apart, same_rows, whole_number
from headrace.series.column import is_series, new_series, series_of, single_value

if TYPE_CHECKING:
    from headrace.series.series import Series


def get_item(series: Series, key: Any) -> Any:
    """See `Series.__getitem__`."""
    mark("getitem")
    node = series._node
    if type(key) is int and is_ready(node, key) and not are_picked(node):
        value_by_value("getitem")
        return single_value(node.row(key))
    key = key(series) if callable(key) else key
    if isinstance(key, slice):
        begin, stop, step = key.indices(len(series))
        if step != 1:
            import numpy as np

            return series[np.arange(begin, stop, step)]
        count = max(stop - begin, 0)
        made = series._like(_core.slice(series._node, begin, count))
        return with_numbers(made, series, lambda node: _core.slice(node, begin, count))
    if is_series(key) and key.dtype == "bool":
        refuse_apart("getitem", [series._node, key._node])
        made = series._like(_core.filter(series._node, key._node))
        return with_numbers(made, series, lambda node: _core.filter(node, key._node))
    if isinstance(key, list) or bool(getattr(key, "ndim", 0)):
        picked = selector(key)
        if picked.dtype == "bool":
            made = series._like(_core.filter(series._node, picked._node))
            return with_numbers(made, series, lambda node: _core.filter(node, picked._node))
        domain = same_rows(series._node, key) if hasattr(key, "tobytes") else picked_domain()

        def pick(node: _core.Node) -> _core.Node:
            return _core.in_domain(_core.take(node, picked._node), domain)

        return with_numbers(series._like(pick(series._node)), series, pick)
    value_by_value("getitem")
    index = whole_number("getitem", "row", key)
    if series._numbers is not None:
        return series.loc[index]
    series._check_label(key)
    length = len(series)
    if not -length <= index < length:
        raise IndexError(f"getitem: row out of range: row={index}, rows={length}")
    return single_value(series[index % length : index % length + 1].to_list()[0])


def sort_index(series: Series, ascending: bool | list[bool]) -> Series:
    """See `Series.sort_index`."""
    if series._numbers is not None:
        frame = framed(series).sort_index(ascending=ascending)
        return frame._series(next(iter(frame._nodes)))
    return series if ascending else series[::-1]


def head(series: Series, n: int = 5) -> Series:
    """See `Series.head`."""
    mark("head")
    n = whole_number("head", "n", n)
    if n < 0:
        return series[:n]
    node = _core.prefix([series._node], n)[0]
    if are_picked(series._node) and not are_picked(node):
        node = _core.in_domain(node, same_rows(series._node, n))
    return with_numbers(
        series_of(node, series.name), series, lambda rows: _core.prefix([rows], n)[0]
    )


def tail(series: Series, n: int = 5) -> Series:
    """See `Series.tail`."""
    n, length = whole_number("tail", "n", n), len(series)
    return new_series(series[max(length - n, 0) if n >= 0 else -n : length])
