# SPDX-License-Identifier: Apache-2.0
"""`hr.concat`: rows of several frames or series, one behind the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headrace import _core
from headrace.deferred import mark
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame import DataFrame
from headrace.functions import grows
from headrace.series import Series


def concat(frames: Iterable[DataFrame | Series]) -> Any:
    """The rows of all frames, or of all series, one after the other.

    Columns are those of the first frame; the others have the same names in any order. Numbers of
    different dtypes take the one they have in common; categories get one dictionary.

    >>> import headrace as hr
    >>> hr.concat([hr.DataFrame({"x": [1]}), hr.DataFrame({"x": [2.5]})]).x.to_list()
    [1.0, 2.5]
    """
    mark("concat")
    grows("concat", "collect the parts in a list and concat them once, behind the loop")
    parts = list(frames)
    if not parts:
        raise InvalidArgumentError("concat: there is nothing to join")
    series = [part for part in parts if isinstance(part, Series)]
    tables = [part for part in parts if isinstance(part, DataFrame)]
    if len(series) == len(parts):
        return Series(_core.concat([part._node for part in series]), series[0].name)
    if len(tables) < len(parts):
        raise TypeMismatchError(
            "concat: frames or series are wanted, not both: "
            f"types={sorted({type(part).__name__ for part in parts})}"
        )
    names = tables[0].columns
    for at, part in enumerate(tables):
        if sorted(part.columns) != sorted(names):
            raise InvalidArgumentError(
                f"concat: frames have different columns: at={at}, columns={part.columns}, "
                f"first={names}"
            )
    domain = _core.new_domain()
    joined = {
        name: _core.in_domain(_core.concat([part._nodes[name] for part in tables]), domain)
        for name in names
    }
    labels = list(tables[0]._labels)
    kept = all(list(part._labels) == labels and not part._hidden() for part in tables)
    return DataFrame._of(joined, {name: joined[name] for name in labels} if kept else None)
