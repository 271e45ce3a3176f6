# SPDX-License-Identifier: Apache-2.0
"""Assertions for tests, under pandas' names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.facade import missing_of_module
from headrace.frame.columns import frame_of, framed
from headrace.series.column import series_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

__all__ = ["assert_frame_equal", "assert_series_equal"]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


__getattr__: Callable[[str], Any] = missing_of_module(__name__)


def _close(left: Any, right: Any, rtol: float, atol: float) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        both_missing = math.isnan(left) and math.isnan(right)
        return both_missing or math.isclose(left, right, rel_tol=rtol, abs_tol=atol)
    return bool(left == right)


def assert_frame_equal(
    left: DataFrame,
    right: DataFrame,
    check_dtype: bool = True,
    *,
    check_exact: bool = False,
    check_like: bool = False,
    rtol: float = 1e-5,
    atol: float = 1e-8,
) -> None:
    """Raise AssertionError, naming the first difference, unless two frames are equal.

    Parameters
    ----------
    check_dtype : bool
        Whether dtypes must be equal.
    check_exact : bool
        Whether floats must be equal to the last bit, else within `rtol` and `atol`.
    check_like : bool
        Whether the order of the columns is ignored.

    >>> hr.testing.assert_frame_equal(hr.DataFrame({"x": [1.0]}), hr.DataFrame({"x": [1.0 + 1e-9]}))
    """
    names, others = list(left.columns), list(right.columns)
    if check_like:
        names, others = sorted(names), sorted(others)
    if names != others:
        raise AssertionError(f"columns differ: left={names}, right={others}")
    if list(left._labels) != list(right._labels):
        raise AssertionError(
            f"labels differ: left={list(left._labels)}, right={list(right._labels)}"
        )
    if len(left) != len(right):
        raise AssertionError(f"rows differ: left={len(left)}, right={len(right)}")
    tolerances = (0.0, 0.0) if check_exact else (rtol, atol)
    ours, theirs = ([*side._labels.items(), *side._nodes.items()] for side in (left, right))
    _core.force([node for _, node in [*ours, *theirs]])
    for (name, mine), (_, wanted) in zip(sorted(ours), sorted(theirs), strict=True):
        if check_dtype and mine.dtype != wanted.dtype:
            raise AssertionError(
                f"dtypes differ: column={name!r}, left={mine.dtype}, right={wanted.dtype}"
            )
        values = (series_of(node).to_list() for node in (mine, wanted))
        for row, (one, other) in enumerate(zip(*values, strict=True)):
            if not _close(one, other, *tolerances):
                raise AssertionError(
                    f"values differ: column={name!r}, row={row}, left={one!r}, right={other!r}"
                )


def assert_series_equal(
    left: Series,
    right: Series,
    check_dtype: bool = True,
    *,
    check_names: bool = True,
    **options: Any,
) -> None:
    """Raise AssertionError unless two series are equal; see `assert_frame_equal`.

    >>> hr.testing.assert_series_equal(hr.Series([1], name="a"), hr.Series([1], name="a"))
    """
    if check_names and left.name != right.name:
        raise AssertionError(f"names differ: left={left.name!r}, right={right.name!r}")
    frames = []
    for side in (left, right):
        frame = framed(side)
        (node,) = frame._nodes.values()
        frames.append(frame_of({"value": node}, frame._labels))
    assert_frame_equal(frames[0], frames[1], check_dtype, **options)
