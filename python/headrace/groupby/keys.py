# SPDX-License-Identifier: Apache-2.0
"""The method `groupby` of frames and series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidArgumentError
from headrace.series.column import is_series

if TYPE_CHECKING:
    from headrace.groupby.groupby import GroupBy


def groupby(
    self: Any,
    by: Any = None,
    *,
    level: Any = None,
    as_index: bool = True,
    sort: bool = True,
    dropna: bool = True,
    order: bool = True,
    observed: bool = True,
    group_keys: bool = True,
) -> GroupBy:
    """Group the rows of a frame, or the values of a series, by key.

    Aggregates of a frame are frames with the keys as their first columns; those of a series, or of
    a single selected column, are series labelled by the keys.

    Parameters
    ----------
    by : str, Series or list of these
        Column names, or series and expressions over rows of this frame.
    level : int, str or list of these, optional
        Label levels by position or name, instead of `by`.
    as_index : bool
        Whether the keys become labels; if not, an aggregate of one column is a frame too. A series
        has no other columns: True.
    sort : bool
        Sort groups by key; else keep them in order of first appearance.
    dropna : bool
        Drop rows with null or NaN in a key; else null and NaN are keys, at the end.
    order : bool
        False with ``sort=False``: groups in the cheapest order, the same in each run.
    observed, group_keys : bool
        Accepted for pandas compatibility, without effect: only categories that occur are
        groups, and keys are always columns.

    >>> import headrace as hr
    >>> df = hr.DataFrame({"id": ["b", "a", "b"], "x": [1.0, 2.0, 3.0]})
    >>> df.groupby("id").x.mean().to_dict()
    {'a': 2.0, 'b': 2.0}
    >>> df.x.groupby(df.id).sum().to_dict()
    {'a': 2.0, 'b': 4.0}
    """
    from headrace.frame.labels import level_keys
    from headrace.groupby.groupby import GroupBy, SeriesGroupBy, group_order, keys_of

    if is_series(self):
        if not as_index:
            raise InvalidArgumentError(
                "groupby: keys of a series are labels: as_index=False; group a frame instead"
            )
        nodes = {self.name or "value": self._node}
        frame = getattr(self, "_frame", None)
        keys = keys_of(None, by) if level is None else level_keys(frame, level)
        return SeriesGroupBy(keys, nodes, group_order(sort, order), dropna)
    keys = keys_of(self, by) if level is None else level_keys(self, level)
    return GroupBy(keys, self._nodes, group_order(sort, order), dropna, as_index)
