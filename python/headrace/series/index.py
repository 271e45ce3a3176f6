# SPDX-License-Identifier: Apache-2.0
"""The index of a frame: labels as a series, several levels, or the numbers of the rows."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.array.array import Array
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import PickedNumbers, frame_of, new_frame
from headrace.frame.indexing import check_row_numbers, domain_of, positions
from headrace.rows import given, renumbered, unnamed
from headrace.series.column import Column, labelled_series, new_series, same_values, series_of
from headrace.series.datetime import is_time
from headrace.series.duration import is_duration
from headrace.series.series import Series
from headrace.times.ranges import frequency, times_between

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def _words(names: list[Any]) -> list[str]:
    """The names of several levels in a frame: None is no name."""
    return [unnamed(i, len(names)) if name is None else name for i, name in enumerate(names)]


_name_slot: Any = Column.__dict__["name"]


def _put_back(index: Any) -> None:
    """Give renamed labels to the frame or series that they are of."""
    reference = getattr(index, "_owner", None)  # weak: labels do not keep the other columns
    if reference is not None and (owner := reference()) is not None:
        owner.index = index


def _index_again(values: Series, name: Any) -> Index:
    """Rebuild pickled labels."""
    return Index(values._node, name=name)


class Index(Series, role="_index"):
    """The index of a frame: brackets select by position, whatever the labels are.

    >>> df = hr.DataFrame({"x": [1, 2]}, index=hr.to_datetime(["2023-03-01", "2024-05-01"]))
    >>> df.index[0], df.index.year.to_list(), df.index.name
    (Timestamp('2023-03-01 00:00:00'), [2023, 2024], None)
    """

    __slots__ = ("_owner",)
    _owner: Any

    def _like(self, node: _core.Node) -> Any:
        return Index(node, name=self.name)

    @property
    def name(self) -> Any:
        """The name of the labels; setting it renames them in the frame or series they are of."""
        return _name_slot.__get__(self)

    @name.setter
    def name(self, name: Any) -> None:
        _name_slot.__set__(self, name)
        _put_back(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _index_again, (series_of(renumbered(self._node)), self.name)

    def _check_label(self, key: Any, op: str = "getitem") -> None:
        """Numbers are positions here, never labels."""

    def tz_localize(self, tz: Any, ambiguous: Any = "raise", nonexistent: Any = "raise") -> Any:
        """See `Series.dt.tz_localize`."""
        return self.dt.tz_localize(tz, ambiguous, nonexistent)

    def tz_convert(self, tz: Any) -> Any:
        """See `Series.dt.tz_convert`."""
        return self.dt.tz_convert(tz)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Fields of times and categories are attributes of an index: ``df.index.month``."""
            if name[:1] != "_":
                if (is_time(self) or is_duration(self)) and hasattr(self.dt, name):
                    return getattr(self.dt, name)
                if self.dtype == "category" and hasattr(self.cat, name):
                    return getattr(self.cat, name)
            return super().__getattr__(name)

    @property
    def names(self) -> list[Any]:
        """The name of the labels, None without one, in a list; see `name`."""
        return [self.name]

    @names.setter
    def names(self, names: Any) -> None:
        (self.name,) = _one_a_level(names, 1)

    @property
    def nlevels(self) -> int:
        """Always 1; a `MultiIndex` has more."""
        return 1

    @property
    def freq(self) -> None:
        """None: regular steps are not kept; what is set is checked against the times."""
        return None

    @freq.setter
    def freq(self, freq: Any) -> None:
        import numpy as np

        times = self.to_numpy()
        step = frequency("freq", freq)
        if len(times) and not np.array_equal(times_between(times[0], times[-1], step), times):
            raise InvalidArgumentError(f"freq: the times have other steps: freq={freq!r}")

    def get_slice_bound(self, label: Any, side: Literal["left", "right"]) -> int:
        """Where a slice to or from a label ends or begins; the labels ascend."""
        return int(self.searchsorted(label, side))

    def equals(self, other: Any) -> bool:
        """Whether both have the same labels in the same order; evaluates."""
        return isinstance(other, Index) and same_values(self._node, other._node)

    def to_series(self, index: Any = None, name: Any = None) -> Series:
        """The labels as values, labelled by `index`: by themselves if there is none."""
        word = unnamed(0, 1) if self.name is None else self.name
        called = self.name if name is None else name
        made = labelled_series(frame_of({word: self._node}, {word: self._node}), called)
        return made if index is None else new_series(made._plain(), called, index=index)

    def get_level_values(self, level: Any) -> Index:
        """The labels: there is only one level."""
        level_at([self.name], level)
        return self

    def get_loc(self, label: Any) -> int:
        """The position of the first row with a label."""
        return self.to_list().index(label)

    def difference(self, other: Any) -> list[Any]:
        """The labels that are not in `other`, sorted."""
        return sorted(set(self.to_list()) - set(other))

    def intersection(self, other: Any) -> list[Any]:
        """The labels that are in `other` too."""
        return [label for label in self.unique().tolist() if label in set(other)]

    def union(self, other: Any) -> list[Any]:
        """The labels of both, sorted."""
        return sorted({*self.to_list(), *other})


class RowIndex(Index):
    """The index of a frame without labels, tied to the row set that it counts.

    Filtered and sorted rows are numbered from 0 again, so their numbers are invalid elsewhere.
    Pickled, it is an `Index` of plain numbers: the rows that it counts do not travel with it.
    """

    __slots__ = ("_domain",)

    def __init__(self, node: _core.Node, domain: int) -> None:
        super().__init__(node)
        self._domain = domain

    def _like(self, node: _core.Node) -> RowIndex:
        return RowIndex(node, self._domain)

    def isin(self, values: Any) -> Any:
        """See `Series.isin`; raises for row numbers of other rows."""
        check_row_numbers("isin", values, self._domain)
        return super().isin(values)


def level_at(names: list[Any], level: Any) -> int:
    """The position of a level, given by name or by position."""
    if level in names:
        return names.index(level)
    if isinstance(level, int) and -len(names) <= level < len(names):
        return level % len(names)
    raise InvalidArgumentError(f"index: no such label level: level={level!r}, labels={names}")


def _one_a_level(names: Any, levels: int) -> list[Any]:
    """A list of a name for each level."""
    if isinstance(names, str) or len(names := list(names)) != levels:
        raise InvalidArgumentError(f"index: expected a list of {levels} names: names={names!r}")
    return names


class MultiIndex:
    """Row labels of several levels: a tuple for each row.

    >>> index = hr.MultiIndex.from_product([["a", "b"], [1, 2]], names=["k", "n"])
    >>> index.to_list(), index.get_level_values("n").to_list()
    ([('a', 1), ('a', 2), ('b', 1), ('b', 2)], [1, 2, 1, 2])
    >>> hr.DataFrame({"x": [1, 2, 3, 4]}, index=index).loc[("b", 1), "x"]
    3
    """

    __slots__ = ("_frame", "_owner")

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame
        self._owner: Any = None

    def __reduce__(self) -> Any:
        return MultiIndex, (self._frame,)

    @classmethod
    def from_arrays(cls, arrays: Any, names: Any = None) -> MultiIndex:
        """Of one list of labels a level.

        >>> hr.MultiIndex.from_arrays([["a", "b"], [1, 2]]).to_list()
        [('a', 1), ('b', 2)]
        """
        levels = list(arrays)
        given = names if names is not None else [getattr(each, "name", None) for each in levels]
        return cls(new_frame(dict(zip(_words(list(given)), map(list, levels), strict=True))))

    @classmethod
    def from_tuples(cls, tuples: Any, names: Any = None) -> MultiIndex:
        """Of one tuple a row.

        >>> hr.MultiIndex.from_tuples([("a", 1), ("b", 2)]).nlevels
        2
        """
        return cls.from_arrays(list(zip(*tuples, strict=True)), names)

    @classmethod
    def from_product(cls, iterables: Any, names: Any = None) -> MultiIndex:
        """Of all combinations, the last level changing fastest.

        >>> len(hr.MultiIndex.from_product([["a", "b"], range(3)]))
        6
        """
        return cls.from_tuples(itertools.product(*iterables), names)

    @property
    def names(self) -> list[Any]:
        """The names of the levels, None without one; set, also in the frame they are of."""
        return [given(name) for name in self._frame._nodes]

    @names.setter
    def names(self, names: Any) -> None:
        words = _words(_one_a_level(names, self.nlevels))
        self._frame = frame_of(dict(zip(words, self._frame._nodes.values(), strict=True)))
        _put_back(self)

    @property
    def nlevels(self) -> int:
        """The number of levels."""
        return len(self._frame._nodes)

    @property
    def levels(self) -> list[list[Any]]:
        """The distinct labels of each level, sorted."""
        return [sorted(set(each)) for each in self._frame.to_dict().values()]

    @property
    def is_unique(self) -> bool:
        """Whether no row has the labels of another."""
        return not bool(self.duplicated().any())

    def duplicated(self, keep: Any = "first") -> Series:
        """Whether each row has the labels of a kept one; see `Series.duplicated`."""
        return self._frame.duplicated(keep=keep)

    def get_level_values(self, level: Any) -> Index:
        """The labels of a level, by name or position."""
        name = list(self._frame._nodes)[level_at(self.names, level)]
        return Index(self._frame._nodes[name], name=given(name))

    def droplevel(self, level: Any) -> Any:
        """The other levels."""
        gone = list(self._frame._nodes)[level_at(self.names, level)]
        return row_labels(frame_of({}, self._frame.drop(columns=gone)._nodes))

    def to_frame(self, index: bool = True) -> DataFrame:
        """A frame of the levels, labelled by them unless `index` is false."""
        return frame_of(dict(self._frame._nodes), self._frame._nodes if index else None)

    def to_list(self) -> list[Any]:
        """The labels, as tuples."""
        return list(zip(*self._frame.to_dict().values(), strict=True))

    tolist = to_list
    to_flat_index = to_list

    def map(self, function: Any) -> list[Any]:
        """What a function makes of the tuple of each row."""
        return [function(label) for label in self.to_list()]

    def isin(self, values: Any) -> Series:
        """Whether the labels of each row are among some tuples."""
        wanted = set(values)
        found = new_series([label in wanted for label in self.to_list()])
        return new_series(self._frame._aligned(found))

    def union(self, other: Any) -> MultiIndex:
        """The tuples of both, sorted."""
        tuples = sorted({*self.to_list(), *other})
        return MultiIndex.from_tuples(tuples, self.names)

    def equals(self, other: Any) -> bool:
        """Whether both have the same labels in the same order; evaluates."""
        return isinstance(other, MultiIndex) and self._frame.equals(other._frame)

    def unique(self) -> MultiIndex:
        """The distinct tuples, in order of first appearance."""
        return MultiIndex(self._frame.drop_duplicates())

    def to_pandas(self) -> Any:
        """A `pandas.MultiIndex`."""
        return self.to_frame().to_pandas().index

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int):
            return tuple(self._frame.iloc[key])
        return MultiIndex(self._frame[key])

    def __len__(self) -> int:
        return len(self._frame)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_list())

    def __contains__(self, label: Any) -> bool:
        return label in self.to_list()

    def __repr__(self) -> str:
        return f"MultiIndex({self._frame!r})"


def row_labels(frame: DataFrame) -> Index | MultiIndex:
    """See `DataFrame.index`."""
    if isinstance(frame._labels, PickedNumbers):
        (numbers,) = frame._numbered()._labels.values()
        return Index(numbers)
    if not frame._labels:
        return RowIndex(frame._aligned(positions(len(frame))), domain_of(frame))
    if len(frame._labels) == 1:
        ((name, node),) = frame._labels.items()
        return Index(node, name=given(name))
    return MultiIndex(frame_of(dict(frame._labels)))


class RowNumber(Array, role="_row_number"):
    """A row number tied to its row set: the result of `idxmax`."""

    __slots__ = ("_domain",)

    def __init__(self, node: _core.Node, domain: int) -> None:
        super().__init__(node)
        self._domain = domain

    def _like(self, node: _core.Node) -> Array:
        return Array(node)
