# SPDX-License-Identifier: Apache-2.0
"""`LabelledSeries`: a series with row labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.facade import facade
from headrace.frame.columns import frame_of, is_frame, new_frame
from headrace.frame.indexing import Locator, is_mask, is_several, one_label
from headrace.rows import given_name, renumbered
from headrace.series.column import is_series, labelled_series, new_series, series_of
from headrace.series.series import Series
from headrace.series.strings import is_text

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.frame.sort import NaPosition
    from headrace.series.series import Series


@facade("Series")
class LabelledSeries(Series, role="_labelled"):
    """A series with row labels, from a labelled frame or a group-by.

    >>> df = hr.DataFrame({"id": [2, 1, 2], "x": [1.0, 5.0, 3.0]})
    >>> means = df.groupby("id").x.mean()
    >>> means.to_list(), means.to_dict(), means.reset_index().columns
    ([5.0, 2.0], {1: 5.0, 2: 2.0}, ['id', 'x'])
    >>> (means * 2).loc[1]
    10.0
    """

    __slots__ = ()

    def __init__(
        self,
        data: Any = None,
        index: Any = None,
        dtype: Any = None,
        name: str | None = None,
        copy: bool | None = None,
    ) -> None:
        frame = data
        if not is_frame(data):
            name = given_name(data) if name is None else name
            frame = _labelled_values(data, name, dtype, index, copy)
        (node,) = frame._nodes.values()
        super().__init__(node, name=name)
        self._frame: DataFrame = frame  # of the values and their labels

    def _like(self, node: _core.Node) -> LabelledSeries:
        (name,) = self._frame._nodes
        return labelled_series(frame_of({name: node}, self._frame._labels), self.name)

    def _levels(self) -> list[_core.Node]:
        return self._frame._levels()

    def _of_rows(self, frame: DataFrame) -> LabelledSeries:
        return labelled_series(frame, self.name)

    def reset_index(self, level: Any = None, *, drop: bool = False, name: Any = None) -> Any:
        """A frame of the labels and the values, named `name`; with ``drop`` only the values.

        `level` is only for some of the labels; see `DataFrame.reset_index`.
        """
        if name is None and self.name is None:
            name = 0  # pandas' name of a series without one
        if level is not None:
            made = self.to_frame(name).reset_index(level, drop=drop)
            return labelled_series(made, self.name) if drop and made._labels else made
        if drop:
            return new_series(renumbered(self._node), self.name)
        return self.to_frame(name).reset_index()

    def to_frame(self, name: Any = None) -> DataFrame:
        """A frame of the labels and the values."""
        (own,) = self._frame._nodes
        word = own if name is None else name
        return frame_of({word: self._node}, self._frame._labels)

    def to_dict(self) -> dict[Any, Any]:
        """Values by label, or by tuples of labels."""
        return dict(self.items())

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Pairs of label and value."""
        return iter(zip(self._frame._label_list(), self.to_list(), strict=True))

    def unstack(self, level: Any = -1, fill_value: Any = None) -> DataFrame:
        """Turn a level of the labels into columns; see `DataFrame.unstack`.

        >>> df = hr.DataFrame({"k": ["a", "a", "b"], "n": ["x", "y", "x"], "v": [1, 2, 3]})
        >>> df.groupby(["k", "n"]).v.sum().unstack(fill_value=0).to_dict()
        {'x': [1, 3], 'y': [2, 0]}
        """
        made = self._frame.unstack(level, fill_value)
        return frame_of(made._below(*self._frame._nodes), made._labels)

    def xs(self, key: Any, *, level: Any = None) -> Any:
        """The values with a label, without its level; see `DataFrame.xs`.

        >>> df = hr.DataFrame({"k": ["a", "a"], "n": [1, 2], "v": [3, 4]})
        >>> df.groupby(["k", "n"]).v.sum().xs("a").to_dict()
        {1: 3, 2: 4}
        """
        found = self._frame.xs(key, level=level)
        return labelled_series(found, self.name) if is_frame(found) else self.loc[key]

    def droplevel(self, level: Any) -> LabelledSeries:
        """The values without some levels of their labels; see `DataFrame.droplevel`."""
        return labelled_series(self._frame.droplevel(level), self.name)

    def swaplevel(self, i: Any = -2, j: Any = -1) -> LabelledSeries:
        """The values with two levels of their labels exchanged; see `DataFrame.swaplevel`."""
        return labelled_series(self._frame.swaplevel(i, j), self.name)

    def rename_axis(self, mapper: Any = ..., *, index: Any = ...) -> LabelledSeries:
        """The values with other names of their labels; see `DataFrame.rename_axis`."""
        return labelled_series(self._frame.rename_axis(mapper, index=index), self.name)

    def rename(self, name: Any = None, *, index: Any = None) -> LabelledSeries:
        """The same values under another name; a mapping or a function is one of labels.

        >>> hr.Series({"a": 1, "b": 2}).rename({"a": "z"}).to_dict()
        {'z': 1, 'b': 2}
        """
        words = index if name is None else name  # pandas calls the name `index`
        if isinstance(words, Mapping) or callable(words) or is_series(words):
            return labelled_series(self._frame.rename(index=words), self.name)
        return labelled_series(self.to_frame(words), words)

    def __getitem__(self, key: Any) -> Any:
        """The value at a label, or at a position if labels are not numbers; several likewise.

        Masks and slices always select rows.
        """
        key = one_label(key(self) if callable(key) else key)
        key = key.to_list() if is_series(key) and is_text(key) else key
        if isinstance(key, slice) or is_mask(key):
            return self._of_rows(self._frame[key])
        texts = isinstance(key, list) and any(isinstance(each, str | tuple) for each in key)
        if isinstance(key, str | tuple) or texts or self._numbered():
            return self.loc[key]
        return self._of_rows(self._frame[key]) if is_several(key) else super().__getitem__(key)

    def _numbered(self) -> bool:
        """Whether the rows have a single numeric label."""
        labels = list(self._frame._labels.values())
        return len(labels) == 1 and new_series(labels[0]).dtype.is_of("biuf")

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
        (last,) = self._frame._nodes
        ordered = self._of_rows(
            self._frame.sort_values(last, ascending=ascending, na_position=na_position, key=key)
        )
        return series_of(ordered._node, self.name) if ignore_index else ordered

    def sort_index(
        self, *, ascending: bool | list[bool] = True, na_position: NaPosition = "last"
    ) -> LabelledSeries:
        """Sort the values by label."""
        return self._of_rows(self._frame.sort_index(ascending=ascending, na_position=na_position))

    def nlargest(
        self, n: int = 5, keep: Literal["first", "last", "all"] = "first"
    ) -> LabelledSeries:
        """The `n` largest values with their labels; see `Series.nlargest`."""
        return self._of_rows(self._frame.nlargest(n, list(self._frame._nodes), keep))

    def nsmallest(
        self, n: int = 5, keep: Literal["first", "last", "all"] = "first"
    ) -> LabelledSeries:
        """The `n` smallest values with their labels; see `Series.nsmallest`."""
        return self._of_rows(self._frame.nsmallest(n, list(self._frame._nodes), keep))

    def to_pandas(self) -> Any:
        """A pandas series with the labels as its index."""
        return self._frame.to_pandas().iloc[:, 0].rename(self.name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return labelled_series, (self._frame, self.name)


def _labelled_values(
    values: Any, name: str | None, dtype: Any, index: Any, copy: bool | None
) -> DataFrame:
    """A frame of labels and values, from a dictionary or from values and labels."""
    if isinstance(values, dict):
        if index is not None:
            raise InvalidArgumentError("Series: a dictionary already has labels; do not pass index")
        index, values = list(values), list(values.values())
    word = name or "value"
    if index is None:
        return new_frame(values.to_frame(word), dtype=dtype, copy=copy)
    return new_frame({word: values}, index=index, dtype=dtype, copy=copy)


class GroupSeries(LabelledSeries, role="_group_series"):
    """An aggregate of one column: one value per group, labelled by the keys."""

    __slots__ = ()

    def _value(self) -> Any:
        _core.force(self._frame._every())  # in one pass
        return self._node.value()
