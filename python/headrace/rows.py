# SPDX-License-Identifier: Apache-2.0
"""Names of columns and labels, and one row as a value."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from headrace import _core
from headrace.errors import TypeMismatchError

_PARTS_KEPT = 4096
_BYTES_KEPT = 1 << 12
_parts: dict[tuple[Any, ...], int] = {}


def same_rows(node: _core.Node | None, key: Any) -> int:
    """The row domain of a slice, of the first rows, or of a few positions in an array of NumPy.

    It is the same for the same part of a domain.
    """
    if node is None or not node.domain or getattr(key, "nbytes", 0) > _BYTES_KEPT:
        return _core.new_domain()
    what: tuple[Any, ...] = (key,)
    if isinstance(key, slice):
        what = (key.start, key.stop, key.step)
    elif hasattr(key, "tobytes"):
        what = (key.dtype.str, key.tobytes())
    if len(_parts) >= _PARTS_KEPT:
        _parts.clear()
    return _parts.setdefault((node.domain, *what), _core.new_domain())


def pandas_labels(values: Any) -> list[str]:
    """The levels of the index of a pandas frame or series; none where it only counts rows."""
    if type(values).__module__.partition(".")[0] != "pandas":
        return []  # an index of ours would run the plan
    index: Any = getattr(values, "index", None)
    if not hasattr(index, "nlevels"):
        return []
    if index.nlevels > 1:
        return [f"level_{i}" if n is None else str(n) for i, n in enumerate(index.names)]
    if index.name is None:
        return [] if index.dtype.kind in "iu" else ["index"]
    return [str(index.name)]


def given_name(values: Any) -> str | None:
    """The name that a series of pandas or Polars has."""
    name = getattr(values, "name", None)
    return None if name is None or name == "" or callable(name) else str(name)


def by_position(values: Any) -> Any:
    """Values that are taken row by row: a pandas series without its index."""
    return values.reset_index(drop=True) if pandas_labels(values) else values


def whole_number(op: str, word: str, value: Any) -> int:
    """A whole number: an int, one of NumPy's, or an array of one integer, which is looked at."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeMismatchError(
            f"{op}: not a whole number: {word}={value!r}; pass an int"
        ) from None


def is_probed(name: str) -> bool:
    """Whether copy, pickle and notebooks ask for such attributes, so that no column is meant."""
    return name.startswith(("__", "_repr_", "_ipython_")) or name in ("_nodes", "_row")


def no_attribute(what: str, name: str, columns: Iterable[str], kind: type) -> AttributeError:
    """An error that names what was meant, else the columns where there are some."""
    from difflib import get_close_matches

    names = list(columns)
    words = [*names, *(word for word in dir(kind) if not word.startswith("_"))]
    close = get_close_matches(name, words, 1)
    fix = f"; the columns are {', '.join(names)}" if names else ""
    return AttributeError(f"{what} {name!r}{f'; did you mean {close[0]!r}?' if close else fix}")


class Names(list[str]):
    """Names of columns: a list with the few words of pandas' index that programs use on them.

    >>> Names(["x", "y", "z"]).difference(["y"])
    ['x', 'z']
    """

    def difference(self, other: Iterable[str]) -> Names:
        """The names that are not in `other`, sorted."""
        gone = set(other)
        return Names(sorted(name for name in self if name not in gone))

    def tolist(self) -> list[str]:
        """A plain list."""
        return list(self)

    to_list = tolist


class Row(Mapping[str, Any]):
    """One row: its values by name of their column, as items and as attributes.

    >>> import headrace as hr
    >>> row = hr.DataFrame({"a": [1, 2], "b": ["x", None]}).iloc[1]
    >>> row["a"], row.b, dict(row)
    (2, None, {'a': 2, 'b': None})
    """

    __slots__ = ("_row",)

    def __init__(self, values: dict[str, Any]) -> None:
        self._row = values

    def __getitem__(self, name: str) -> Any:
        if name not in self._row:
            _core.no_such_column("row", list(self._row), str(name))
        return self._row[name]

    def __getattr__(self, name: str) -> Any:
        if is_probed(name) or name not in self._row:
            raise AttributeError(f"this row has no column {name!r}")
        return self._row[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._row)

    def __len__(self) -> int:
        return len(self._row)

    def to_dict(self) -> dict[str, Any]:
        """Values by name."""
        return dict(self._row)

    def __repr__(self) -> str:
        return f"Row({', '.join(f'{name}={value!r}' for name, value in self._row.items())})"
