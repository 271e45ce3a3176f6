# SPDX-License-Identifier: Apache-2.0
"""Names and dtypes of columns, with the common methods of a pandas Index and Series."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from headrace import _core
from headrace.display.markup import pairs_html, pairs_text
from headrace.errors import InvalidArgumentError
from headrace.facade import is_probed
from headrace.frame.column_reductions import by_column
from headrace.rows import Row, levels_of_names, plain_name, with_levels
from headrace.series.column import new_series, single_value


def masked_names(mask: Any, names: list[str]) -> Names | None:
    """The names where a column mask is true; None for anything else.

    A mask has one bool per column, in order, or labelled by column name.
    """
    if str(getattr(mask, "dtype", "")) == "bool":
        named = by_column(mask)
        if not isinstance(named, Mapping):
            mask = mask.tolist()
        elif sorted(named) != sorted(names):
            raise InvalidArgumentError(
                f"columns: the mask is labelled by other columns: labels={list(named)}, "
                f"columns={names}"
            )
        else:
            return Names(name for name in names if named[name])
    if not (isinstance(mask, list) and mask and all(isinstance(each, bool) for each in mask)):
        return None
    if len(mask) != len(names):
        raise InvalidArgumentError(
            f"columns: mask length does not match the columns: expected={len(names)}, "
            f"got={len(mask)}"
        )
    return Names(name for name, each in zip(names, mask, strict=True) if each)


class Names(list[Any]):
    """Column names: a list with the common methods of a pandas Index.

    >>> Names(["x", "y", "z"]).difference(["y"])
    ['x', 'z']
    """

    _owner: Any = None  # the frame whose columns have these names

    @property
    def names(self) -> list[Any]:
        """What the levels of the names are called, None without a name; may be set.

        >>> df = hr.DataFrame({"day": [1, 1], "city": ["a", "b"], "t": [20.5, 23.0]})
        >>> table = df.pivot(index="day", columns="city", values="t")
        >>> table.columns.names, table.columns.name
        (['city'], 'city')
        """
        levels = self.nlevels
        known = levels_of_names(self)
        return list(known) if known and len(known) == levels else [None] * levels

    @names.setter
    def names(self, names: Any) -> None:
        levels = tuple(names)
        if len(levels) != self.nlevels:
            raise InvalidArgumentError(
                f"columns: number of names does not match the levels: names={list(levels)}, "
                f"levels={self.nlevels}"
            )
        self[:] = [with_levels(name, levels) for name in self]
        if self._owner is not None:
            nodes = self._owner._nodes
            self._owner._nodes = dict(zip(self, nodes.values(), strict=True))

    @property
    def name(self) -> Any:
        """What the names are called; None of several levels."""
        return self.names[0] if self.nlevels == 1 else None

    @name.setter
    def name(self, name: Any) -> None:
        self.names = [name]

    def _level(self, level: Any) -> int:
        """The position of a level, given by name or position."""
        names = self.names
        if level in names:
            return names.index(level)
        if isinstance(level, int) and -len(names) <= level < len(names):
            return level % len(names)
        raise InvalidArgumentError(f"columns: no such level: level={level!r}, levels={names}")

    def __getitem__(self, key: Any) -> Any:
        """One name, or the names of a slice, a list of positions or a mask."""
        if isinstance(key, slice):
            return Names(list.__getitem__(self, key))
        if (kept := masked_names(key, self)) is not None:
            return kept
        if isinstance(key, list) or bool(getattr(key, "ndim", 0)):
            return Names(list.__getitem__(self, operator.index(at)) for at in key)
        return list.__getitem__(self, key)

    def __eq__(self, other: object) -> Any:
        """Whether a list has the same names; one bool per name for a string."""
        return list.__eq__(self, other) if not isinstance(other, str) else self.isin([other])

    def __ne__(self, other: object) -> Any:
        return list.__ne__(self, other) if not isinstance(other, str) else ~self.isin([other])

    __hash__ = None

    def isin(self, names: Iterable[str]) -> Any:
        """A boolean array: which names are among `names`."""
        import numpy as np

        wanted = set(names)
        return np.array([name in wanted for name in self], bool)

    def difference(self, other: Iterable[str]) -> Names:
        """The names that are not in `other`, sorted."""
        gone = set(other)
        return Names(sorted(name for name in self if name not in gone))

    def intersection(self, other: Iterable[str]) -> Names:
        """The names that are in `other` too."""
        return self[self.isin(other)]

    def union(self, other: Iterable[str]) -> Names:
        """The names of both, sorted."""
        return Names(sorted({*self, *other}))

    def drop(self, names: str | Iterable[str]) -> Names:
        """All names but these, which must exist."""
        gone = [names] if isinstance(names, str) else list(names)
        for name in gone:
            self.get_loc(name)
        return self[~self.isin(gone)]

    def get_loc(self, name: str) -> int:
        """The position of a name."""
        if name not in self:
            _core.no_such_column("columns", list(self), str(name))
        return self.index(name)

    @property
    def nlevels(self) -> int:
        """The number of levels: the length of names that are tuples."""
        return max((len(name) for name in self if isinstance(name, tuple)), default=1)

    def get_level_values(self, level: Any) -> Names:
        """A level of names that are tuples, by position or name.

        >>> Names([("x", "min"), ("x", "max")]).get_level_values(1)
        ['min', 'max']
        """
        at, known = self._level(level), self.names
        parts = [name[at] if isinstance(name, tuple) else name for name in self]
        return Names(with_levels(part, (known[at],)) for part in parts)

    @property
    def levels(self) -> list[Any]:
        """The distinct names of each level, sorted."""
        return [sorted(set(self.get_level_values(i))) for i in range(self.nlevels)]

    def droplevel(self, level: Any = 0) -> Names:
        """Names without a level."""
        gone, called = self._level(level), self.names
        kept = [i for i in range(len(called)) if i != gone]
        levels = tuple(called[i] for i in kept)
        short = [tuple(name[i] for i in kept) for name in self]
        return Names(with_levels(n[0] if len(n) == 1 else n, levels) for n in short)

    def swaplevel(self, i: Any = -2, j: Any = -1) -> Names:
        """Names with two levels exchanged."""
        called = self.names
        order = list(range(len(called)))
        one, other = self._level(i), self._level(j)
        order[one], order[other] = other, one
        levels = tuple(called[at] for at in order)
        return Names(with_levels(tuple(name[at] for at in order), levels) for name in self)

    def map(self, function: Any) -> Names:
        """What a function or a mapping makes of each name."""
        call = function if callable(function) else function.get
        return Names(call(name) for name in self)

    def astype(self, dtype: Any) -> Names:
        """The names as text or as integers; as objects they stay as they are."""
        if dtype in (object, "object"):
            return Names(self)
        return self.map(str if dtype in (str, "str", "string") else int)

    @property
    def dtype(self) -> Any:
        """NumPy's dtype of the names: integers, else objects."""
        import numpy as np

        return np.dtype("int64" if self and all(type(n) is int for n in self) else object)

    def equals(self, other: Any) -> bool:
        """Whether the names are the same, in the same order."""
        return self.tolist() == list(other)

    def to_flat_index(self) -> Names:
        """The names themselves."""
        return Names(map(plain_name, self))

    @property
    def str(self) -> Any:
        """`Series.str` of the names as a series."""
        return new_series(list(self), dtype="string").str

    @property
    def values(self) -> Any:
        """The names as a NumPy array."""
        import numpy as np

        return np.array(list(self), object)

    def tolist(self) -> Any:
        """A plain list."""
        return list(map(plain_name, self))

    to_list = tolist


Row._index_of = Names
Row._single = staticmethod(single_value)


class Dtypes(dict[str, Any]):
    """Column dtypes by name, with the common methods of a pandas Series.

    >>> dtypes = hr.DataFrame({"a": [1], "b": ["x"], "c": [2]}).dtypes
    >>> dtypes == "int64", dtypes[dtypes == "int64"].index
    (array([ True, False,  True]), ['a', 'c'])
    """

    def __getitem__(self, key: Any) -> Any:
        """The dtype of a column, or those selected by a mask."""
        kept = masked_names(key, list(self.keys()))
        if kept is None:
            return dict.__getitem__(self, key)
        return Dtypes({name: dict.__getitem__(self, name) for name in kept})

    def __eq__(self, other: object) -> Any:
        """Whether a dictionary is equal; one bool per column for a dtype."""
        import numpy as np

        if isinstance(other, Mapping):
            return dict.__eq__(self, other)
        return np.array([dtype == other for dtype in dict.values(self)], bool)

    def __ne__(self, other: object) -> Any:
        return ~self.__eq__(other) if not isinstance(other, Mapping) else dict.__ne__(self, other)

    __hash__ = None

    def __repr__(self) -> str:
        return pairs_text(self)

    def _repr_html_(self) -> str:
        return pairs_html(self)

    def __iter__(self) -> Iterator[Any]:
        return iter(dict.values(self))

    def _as_series(self, op: str) -> Any:
        """The dtypes as text, by name."""
        return new_series({name: str(dtype) for name, dtype in self.items()})

    def __getattr__(self, name: str) -> Any:
        """Methods of a series, of the dtypes as text: ``df.dtypes.value_counts()``."""
        if is_probed(name):
            raise AttributeError(name)
        return getattr(self._as_series(name), name)

    @property
    def loc(self) -> Dtypes:
        """The dtypes by name."""
        return self

    @property
    def iloc(self) -> list[Any]:
        """The dtypes by position."""
        return list(dict.values(self))

    def to_list(self) -> list[Any]:
        """The dtypes."""
        return self.iloc

    tolist = to_list

    @property
    def index(self) -> Names:
        """The names."""
        return Names(self.keys())
