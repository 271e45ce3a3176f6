# SPDX-License-Identifier: Apache-2.0
"""Row labels: the columns that serve as a frame's index, and selection by them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.indexing import (
    Labels,
    Locator,
    PositionLocator,
    RowNumbers,
    domain_of,
    is_mask,
    is_several,
    one_label,
    positions,
    refuse_numbers,
)
from headrace.frame.setitem import is_of_locator, lost_assignment
from headrace.lazy.handle import mark
from headrace.rows import by_position, given_name, pandas_labels, picked_domain, renumbered
from headrace.series.series import Series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.frame.sort import NaPosition

_SHOWN = 5


class FrameLabels:
    """The part of `DataFrame` that handles labels."""

    __slots__ = ()

    @property
    def index(self: Any) -> Series | DataFrame:
        """The row labels: a series, a frame for several levels, positions if none are set.

        >>> import headrace as hr
        >>> hr.DataFrame({"id": ["a", "b"], "x": [1, 2]}).set_index("id").index.to_list()
        ['a', 'b']
        """
        if not self._labels:
            return RowNumbers(self._aligned(positions(len(self))), domain_of(self))
        if len(self._labels) == 1:
            ((name, node),) = self._labels.items()
            return Labels(node, name)
        from headrace.frame.dataframe import DataFrame

        return DataFrame._of(dict(self._labels))

    @index.setter
    def index(self: Any, labels: Any) -> None:
        name = getattr(labels, "name", None) or "index"
        node = self._aligned(labels if isinstance(labels, Series) else Series(list(labels)))
        self._labels = {name: node}
        if name in self._nodes:
            self._nodes[name] = node

    def set_index(self: Any, keys: Any, *, drop: bool = False, append: bool = False) -> DataFrame:
        """Use columns as the labels of the rows.

        Nothing is computed or sorted until `loc` needs it. Labels may repeat.

        Parameters
        ----------
        keys : str, Series or list of these
            Columns by name (which remain columns), or series over the same rows, which become
            columns.
        drop : bool
            Whether to hide the columns, as in pandas. They are kept by default.
        append : bool
            Append to the existing labels.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": ["a", "b", "c"], "x": [1, 2, 3]}).set_index("id")
        >>> df.loc["b", "x"], df.loc[["c", "a"]].x.to_list(), df.loc["b":].x.to_list()
        (2, [3, 1], [2, 3])
        """
        from headrace.frame.dataframe import DataFrame

        mark("set_index")
        result = DataFrame(self)
        names: list[str] = list(self._labels) if append else []
        for key in keys if isinstance(keys, list | tuple) else [keys]:
            if isinstance(key, str):
                names.append(result._find(key))
                continue
            name = getattr(key, "name", None) or "index"
            node = Series(by_position(key))._node
            result._put(name, node)
            names.append(name)
        if not names:
            raise InvalidArgumentError("set_index: missing label; pass a column name")
        kept = {**self._labels, **result._nodes}
        result._labels = {name: kept[name] for name in names}
        if drop:
            result._nodes = {n: node for n, node in result._nodes.items() if n not in names}
        return result

    def reset_index(self: Any, level: Any = None, *, drop: bool = False) -> DataFrame:
        """Remove labels; label columns are kept, or dropped with ``drop=True``.

        `level` removes only some labels, by name or position.

        >>> import headrace as hr
        >>> hr.DataFrame({"id": [1], "x": [2]}).set_index("id").reset_index(drop=True).columns
        ['x']
        """
        from headrace.frame.dataframe import DataFrame

        if level is not None:
            gone = dict(level_keys(self, level, "reset_index"))
            kept = {n: node for n, node in self._labels.items() if n not in gone}
            shown = {n: v for n, v in self._nodes.items() if n not in gone}
            nodes = shown if drop else {**gone, **self._nodes}
            if kept:
                return DataFrame._of(nodes, kept)
        elif drop:
            nodes = {n: v for n, v in self._nodes.items() if n not in self._labels}
        else:
            nodes = {**self._labels, **self._nodes} if self._hidden() else self._nodes
        return DataFrame._of({name: renumbered(node) for name, node in nodes.items()})

    @property
    def loc(self: Any) -> Locator:
        """Select rows by label: one, a list, a slice (both ends included), a mask; then columns.

        ``frame.loc[mask, "x"] = value`` assigns to the selected rows.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 3], "y": [4, 5, 6]})
        >>> df.loc[df.x > 1, "y"] = 0
        >>> df.loc[:, "y"].to_list(), df.loc[2].x
        ([4, 0, 0], 3)
        """
        return Locator(self)

    @property
    def iloc(self: Any) -> PositionLocator:
        """Select rows, then columns, by position: one, a list, a slice or a mask.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 3], "y": [4, 5, 6]})
        >>> df.iloc[-1].y, df.iloc[:2, 0].to_list(), df.iloc[0, 1]
        (6, [1, 2], 4)
        """
        return PositionLocator(self)

    @property
    def at(self: Any) -> Locator:
        """One value by label and column name: the same as `loc`.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.at[1, "x"]
        2
        """
        return Locator(self)

    @property
    def iat(self: Any) -> PositionLocator:
        """One value by row and column position: the same as `iloc`.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.iat[2, 1]
        2.5
        """
        return PositionLocator(self)

    def take(self: Any, indices: Any, axis: int | str = 0) -> DataFrame:
        """The rows, or with ``axis=1`` the columns, at these positions: the same as `iloc`.

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [1, 2, 3]}).take([2, 0]).x.to_list()
        [3, 1]
        """
        taken: DataFrame = self.iloc[:, indices] if axis in (1, "columns") else self.iloc[indices]
        return taken

    def sort_index(
        self: Any,
        *,
        level: Any = None,
        ascending: bool | list[bool] = True,
        na_position: NaPosition = "last",
    ) -> DataFrame:
        """Sort the rows by label; the sort is stable.

        `level` (names or positions) sorts by these labels first, then by the others, unless
        `ascending` is a list.

        >>> import headrace as hr
        >>> hr.DataFrame({"id": ["b", "a"], "x": [1, 2]}).set_index("id").sort_index().x.to_list()
        [2, 1]
        """
        from headrace.frame.sort import sort_by_nodes

        mark("sort_index")
        if self._labels:
            first = {} if level is None else dict(level_keys(self, level, "sort_index"))
            alone = bool(first) and isinstance(ascending, list)
            keys = list((first if alone else {**first, **self._labels}).values())
            return sort_by_nodes("sort_index", self, keys, ascending, na_position)
        refuse_numbers("sort_index", None, domain_of(self))
        return self if ascending else self[::-1]  # type: ignore[no-any-return]


class LabelledSeries(Series):
    """A series with row labels, from a labelled frame or a group-by.

    >>> import headrace as hr
    >>> df = hr.DataFrame({"id": [2, 1, 2], "x": [1.0, 5.0, 3.0]})
    >>> means = df.groupby("id").x.mean()
    >>> means.to_list(), means.to_dict(), means.reset_index().columns
    ([5.0, 2.0], {1: 5.0, 2: 2.0}, ['id', 'x'])
    >>> (means * 2).loc[1]
    10.0
    """

    __slots__ = ("_frame",)

    def __init__(
        self, frame: Any, name: str | None = None, dtype: Any = None, index: Any = None
    ) -> None:
        from headrace.frame.dataframe import DataFrame

        if not isinstance(frame, DataFrame):
            name = given_name(frame) if name is None else name
            frame = _labelled_values(frame, name, dtype, index)
        super().__init__(list(frame._nodes.values())[-1], name)
        self._frame: DataFrame = frame  # label columns first, then the values

    def _like(self, node: _core.Node) -> LabelledSeries:
        from headrace.frame.dataframe import DataFrame

        nodes = {**self._frame._nodes, self._frame.columns[-1]: node}
        return LabelledSeries(DataFrame._of(nodes, self._frame._labels), self.name)

    def _of_rows(self, frame: DataFrame) -> LabelledSeries:
        return LabelledSeries(frame, self.name)

    @property
    def index(self) -> Series | DataFrame:
        """The label of each value; a frame for several levels."""
        labels: Series | DataFrame = self._frame.index
        return labels

    def reset_index(self, *, drop: bool = False, name: str | None = None) -> Any:
        """A frame of the labels and the values, named `name`; with ``drop`` only the values."""
        if drop:
            return Series(renumbered(self._node), self.name)
        return self.to_frame(name).reset_index()

    def to_frame(self, name: str | None = None) -> DataFrame:
        """A frame of the labels and the values."""
        last = self._frame.columns[-1]
        return self._frame if name is None else self._frame.rename({last: name})

    def to_dict(self) -> dict[Any, Any]:
        """Values by label, or by tuples of labels."""
        *keys, values = self._frame.to_dict().values()
        return dict(
            zip(keys[0] if len(keys) == 1 else zip(*keys, strict=True), values, strict=True)
        )

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Pairs of label and value."""
        *keys, values = self._frame.to_dict().values()
        labels = keys[0] if len(keys) == 1 else zip(*keys, strict=True)
        return iter(zip(labels, values, strict=True))

    def rename(self, name: str) -> LabelledSeries:
        """The same values under another name."""
        return LabelledSeries(self.to_frame(name), name)

    def __getitem__(self, key: Any) -> Any:
        """The value at a label, or at a position if labels are not numbers; several likewise.

        Masks and slices always select rows.
        """
        key = one_label(key(self) if callable(key) else key)
        if isinstance(key, slice) or is_mask(key):
            return self._of_rows(self._frame[key])
        texts = isinstance(key, list) and any(isinstance(each, str | tuple) for each in key)
        if isinstance(key, str | tuple) or texts or self._numbered():
            return self.loc[key]
        return self._of_rows(self._frame[key]) if is_several(key) else super().__getitem__(key)

    def _numbered(self) -> bool:
        """Whether the rows have a single numeric label."""
        labels = list(self._frame._labels.values())
        return len(labels) == 1 and Series(labels[0]).dtype.is_of("biuf")

    def __contains__(self, label: Any) -> bool:
        """Whether this label exists."""
        try:
            found = Locator(self._frame)._equal_mask(label)
        except (InvalidArgumentError, TypeMismatchError):
            return False  # a label of another type
        return bool(found.any().item())

    def head(self, n: int = 5) -> LabelledSeries:
        """The first rows; see `Series.head`."""
        return self._of_rows(self._frame.head(n))

    def drop(self, labels: Any) -> LabelledSeries:
        """Drop the values of a label, or of a list of labels; see `DataFrame.drop`.

        >>> import headrace as hr
        >>> hr.Series({"a": 1, "b": 2}).drop("a").to_dict()
        {'b': 2}
        """
        return self._of_rows(self._frame.drop(index=labels))

    def tail(self, n: int = 5) -> LabelledSeries:
        """The last rows; see `Series.tail`."""
        return self._of_rows(self._frame.tail(n))

    def sort_values(
        self,
        *,
        ascending: bool = True,
        na_position: NaPosition = "last",
        ignore_index: bool = False,
        kind: str | None = None,
        key: Callable[[Series], Series] | None = None,
    ) -> Series:
        """Sort the values with their labels; see `Series.sort_values`."""
        last = self._frame.columns[-1]
        ordered = self._of_rows(
            self._frame.sort_values(last, ascending=ascending, na_position=na_position, key=key)
        )
        return Series(ordered._node, self.name) if ignore_index else ordered

    def sort_index(
        self, *, ascending: bool | list[bool] = True, na_position: NaPosition = "last"
    ) -> LabelledSeries:
        """Sort the values by label."""
        return self._of_rows(self._frame.sort_index(ascending=ascending, na_position=na_position))

    def nlargest(
        self, n: int = 5, keep: Literal["first", "last", "all"] = "first"
    ) -> LabelledSeries:
        """The `n` largest values with their labels; see `Series.nlargest`."""
        return self._of_rows(self._frame.nlargest(n, self._frame.columns[-1], keep))

    def nsmallest(
        self, n: int = 5, keep: Literal["first", "last", "all"] = "first"
    ) -> LabelledSeries:
        """The `n` smallest values with their labels; see `Series.nsmallest`."""
        return self._of_rows(self._frame.nsmallest(n, self._frame.columns[-1], keep))

    def to_pandas(self) -> Any:
        """A pandas series with the labels as its index."""
        return self._frame.to_pandas().iloc[:, 0].rename(self.name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return LabelledSeries, (self._frame, self.name)

    def __repr__(self) -> str:
        return repr(self._frame)

    def _repr_html_(self) -> str:
        return self._frame._repr_html_()


def _labelled_values(values: Any, name: str | None, dtype: Any, index: Any) -> DataFrame:
    """A frame of labels and values, from a dictionary or from values and labels."""
    from headrace.frame.construct import is_single, repeated
    from headrace.frame.dataframe import DataFrame

    if isinstance(values, dict):
        if index is not None:
            raise InvalidArgumentError("Series: a dictionary already has labels; do not pass index")
        index, values = list(values), list(values.values())
    if index is None:
        names = pandas_labels(values)
        word = name or "value"
        word = f"{word}_value" if word in names else word
        table = DataFrame(values.to_frame(word)).reset_index()
        return (table if dtype is None else table.astype({word: dtype})).set_index(names)
    labels = index if isinstance(index, Series) else Series(list(index))
    own = labels.name or "index"
    made = DataFrame({own: labels})
    word = name or "value"
    if word == own:
        word = f"{word}_value"
    if is_single(values):
        values = Series(repeated(made._nodes[own], values))
    column = Series(values, dtype=dtype)
    made[word] = Series(_core.in_domain(column._node, made._nodes[own].domain))
    return made.set_index(own)


class SeriesLocator:
    """``series.loc`` and ``series.iloc``: values by label, and by position."""

    __slots__ = ("_by_position", "_series")

    def __init__(self, series: Series, by_position: bool) -> None:
        self._series = series
        self._by_position = by_position

    def __getitem__(self, key: Any) -> Any:
        """One value, or a series selected by a list, a slice or a mask."""
        series = self._series
        key = key(series) if callable(key) else key
        frame = framed(series)
        name = frame.columns[-1]
        if self._by_position:
            found = PositionLocator(frame)[key, len(frame.columns) - 1]
        else:
            found = Locator(frame).pick(key, name)
        if not isinstance(found, Series):
            return found
        return found.rename(series.name) if series.name else Series(found)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign to some rows; the handle is rebound, its source is unchanged."""
        from headrace.frame.dataframe import DataFrame

        if is_of_locator(sys.getrefcount(self._series)):
            raise lost_assignment(key)
        series = self._series
        frame = DataFrame(framed(series))
        name = frame.columns[-1]
        if self._by_position:
            frame.iloc[key, len(frame.columns) - 1] = value
        elif isinstance(key, slice) and not frame._labels:
            frame.iloc[key, 0] = value  # as in `__getitem__`
        else:
            frame.loc[key, name] = value
        series._node = frame._nodes[name]
        if isinstance(series, LabelledSeries):
            series._frame = frame


def without_labels(frame: DataFrame, ignore_index: bool) -> DataFrame:
    """The frame; with ``ignore_index=True`` without label columns and renumbered."""
    return frame.reset_index(drop=True) if ignore_index else frame


def level_keys(
    frame: DataFrame | None, level: Any, op: str = "groupby"
) -> list[tuple[str, _core.Node]]:
    """The labels selected by `level` (position or name), as keys."""
    labels = dict(frame._labels) if frame is not None else {}
    names = list(labels)
    keys: list[tuple[str, _core.Node]] = []
    for each in level if isinstance(level, list | tuple) else [level]:
        name = names[each] if isinstance(each, int) and -len(names) <= each < len(names) else each
        if name not in labels:
            raise InvalidArgumentError(
                f"{op}: no such label level: level={each!r}, labels={names}; use set_index first"
            )
        keys.append((name, labels[name]))
    return keys


def framed(series: Series) -> DataFrame:
    """A series as the last column of a frame with its labels."""
    from headrace.frame.dataframe import DataFrame

    if isinstance(series, LabelledSeries):
        return series._frame
    return DataFrame._of({series.name or "value": series._node})


def picked_again(values: Any) -> Any:
    """Rebuild a pickled frame or series of selected rows."""
    if isinstance(values, Series):
        return Series(_core.in_domain(values._node, picked_domain()), values.name)
    return values._in_domain(picked_domain())


def relabelled(frame: DataFrame, labels: list[str], columns: list[str]) -> DataFrame:
    """Rebuild a pickled frame with its labels."""
    made: DataFrame = frame.set_index(labels)[list(columns)]
    return made
