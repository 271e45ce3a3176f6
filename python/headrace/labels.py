# SPDX-License-Identifier: Apache-2.0
"""Labels of rows: the columns that a frame remembers as its index, and rows picked by them."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.deferred import Deferred, mark
from headrace.errors import ColumnNotFoundError, InvalidArgumentError, TypeMismatchError
from headrace.series import Series

if TYPE_CHECKING:
    from headrace.frame import DataFrame
    from headrace.sorting import NaPosition

_SHOWN = 5


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
        if name.startswith("_") or name not in self._row:
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


def positions(rows: int) -> Series:
    """0, 1, 2, ..., the labels of rows that have none."""
    import numpy as np

    return Series(np.arange(rows), "index")


def _no_label(op: str, wanted: Any, labels: Iterable[str], fix: str = "") -> ColumnNotFoundError:
    names = ", ".join(labels) or "the positions of the rows"
    return ColumnNotFoundError(
        f"{op}: no row has this label: label={wanted!r}; the labels are {names}{fix}"
    )


def _is_mask(key: Any) -> bool:
    if isinstance(key, Deferred) or hasattr(key, "__array_interface__"):
        return str(key.dtype) == "bool"
    return isinstance(key, list) and bool(key) and all(isinstance(each, bool) for each in key)


def _is_missing(label: Any) -> bool:
    return label is None or (isinstance(label, float) and math.isnan(label))


def _is_several(key: Any) -> bool:
    return isinstance(key, list | range | Deferred) or bool(getattr(key, "ndim", 0))


def plain(column: Series) -> Series:
    """Categories as strings, which other strings are equal to; without labels of their own."""
    column = Series(column._node)
    return column.astype("string") if column.dtype == "category" else column


def _row_of(frame: DataFrame) -> Row:
    return Row({name: values[0] for name, values in frame.to_dict().items()})


class Locator:
    """What ``frame.loc`` gives: rows by their labels or a mask, then columns by their names."""

    __slots__ = ("_frame",)

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame

    # ---- the two halves of a key -------------------------------------------------------------
    def _halves(self, key: Any) -> tuple[Any, Any]:
        labels = len(self._frame._labels)
        if not isinstance(key, tuple):
            return key, None
        if labels > 1 and not (len(key) == 2 and (isinstance(key[0], tuple | slice | list))):
            if len(key) == 2 and _is_mask(key[0]):
                return key
            return key, None
        if len(key) != 2:
            raise InvalidArgumentError(f"loc: rows and columns are wanted: key={key!r}")
        return key

    def _names(self, columns: Any) -> list[str]:
        frame = self._frame
        if columns is None:
            return frame.columns
        if isinstance(columns, slice):
            names = frame.columns
            first = 0 if columns.start is None else names.index(frame._find(columns.start))
            last = (
                len(names) if columns.stop is None else names.index(frame._find(columns.stop)) + 1
            )
            return names[first : last : columns.step]
        return [frame._find(name) for name in columns]

    # ---- rows --------------------------------------------------------------------------------
    def _slice_mask(self, key: slice) -> Series | None:
        """The rows whose label is between both ends; None for all rows."""
        if key.step is not None:
            raise InvalidArgumentError(f"loc: a slice of labels takes no step: step={key.step!r}")
        if key.start is None and key.stop is None:
            return None
        labels = self._label_columns()
        if len(labels) != 1:
            raise InvalidArgumentError(
                f"loc: a slice wants one label: labels={list(self._frame._labels)}; use a mask"
            )
        (label,) = labels
        ends = []
        if key.start is not None:
            ends.append(label >= key.start)
        if key.stop is not None:
            ends.append(label <= key.stop)
        mask: Series = functools.reduce(operator.and_, ends)
        return mask

    def _label_columns(self) -> list[Series]:
        frame = self._frame
        if frame._labels:
            return [Series(node, name) for name, node in frame._labels.items()]
        return [Series(frame._aligned(positions(len(frame))), "index")]

    def _equal_mask(self, key: Any) -> Series:
        """The rows with this label, or with these first labels of several."""
        wanted = key if isinstance(key, tuple) else (key,)
        labels = self._label_columns()
        if len(wanted) > len(labels):
            raise InvalidArgumentError(
                f"loc: more labels than the frame has: key={key!r}, "
                f"labels={list(self._frame._labels)}"
            )
        tests = [
            label.isna() if _is_missing(each) else label == each
            for label, each in zip(labels, wanted, strict=False)
        ]
        mask: Series = functools.reduce(operator.and_, tests).fill_null(False)
        return mask

    def _places(self, key: Any) -> Any:
        """The positions of the rows with these labels, in the order of `key`; they all exist."""
        from headrace.frame import DataFrame

        labels = self._label_columns()
        several = len(labels) > 1
        wanted = list(zip(*key, strict=True)) if several else [key]
        if several and len(wanted) != len(labels):
            raise InvalidArgumentError(f"loc: tuples of all labels are wanted: key={key!r}")
        names = [f"label {i}" for i in range(len(labels))]
        left = DataFrame(
            {
                n: Series(list(w) if isinstance(w, tuple | range) else w)
                for n, w in zip(names, wanted, strict=True)
            }
        )
        if len(left) == 0:
            return []
        right = DataFrame({n: plain(label) for n, label in zip(names, labels, strict=True)})
        right["place"] = Series(right._aligned(positions(len(right))))
        found = left.merge(right, on=names, how="left")
        absent = found[found.place.is_null()]
        if len(absent):
            values = list(zip(*absent[names].to_dict().values(), strict=True))[:_SHOWN]
            shown = values if several else [value for (value,) in values]
            raise _no_label("loc", shown, self._frame._labels)
        return found.place.to_numpy()

    def _rows(self, key: Any) -> tuple[DataFrame, bool]:
        """The rows, and whether it is one that was asked for by its label."""
        frame = self._frame
        if isinstance(key, slice):
            if not frame._labels and key.step is None and key.stop is not None and key.stop >= 0:
                return frame[key.start : key.stop + 1], False
            mask = self._slice_mask(key)
            return (frame if mask is None else frame[mask]), False
        if _is_mask(key):
            return frame[key], False
        if _is_several(key):
            import numpy as np

            return frame[np.asarray(self._places(key), np.int64)], False
        if not frame._labels:
            row = key if isinstance(key, int) else -1
            if not 0 <= row < len(frame):
                raise _no_label("loc", key, [])
            return frame[row : row + 1], True
        found = frame[self._equal_mask(key)]
        if len(found) == 0:
            raise _no_label("loc", key, frame._labels)
        wanted = len(key) if isinstance(key, tuple) else 1
        return found, len(found) == 1 and wanted == len(frame._labels)

    def __getitem__(self, key: Any) -> Any:
        """Rows by label, list of labels, slice of labels (both ends count) or mask."""
        mark("loc")
        return self.pick(*self._halves(key))

    def pick(self, rows: Any, columns: Any) -> Any:
        """The rows and columns that the two halves of a key mean."""
        found, single = self._rows(rows(self._frame) if callable(rows) else rows)
        if isinstance(columns, str):
            series = found[columns]
            return series.to_list()[0] if single else series
        picked = found if columns is None else found[self._names(columns)]
        return _row_of(picked) if single else picked

    def __setitem__(self, key: Any, value: Any) -> None:
        """Values of some rows: ``frame.loc[frame.x > 3, "y"] = 0``; other rows stay as they are."""
        mark("loc")
        frame = self._frame
        rows, columns = self._halves(key)
        if callable(rows):
            rows = rows(frame)
        names = [columns] if isinstance(columns, str) else self._names(columns)
        mask = self._mask(rows)
        for name in names:
            if mask is None:
                frame[name] = value
                continue
            if value is None:
                frame[name] = frame[name].where(~mask)
            elif name in frame:
                frame[name] = frame[name].where(~mask, value)
            else:
                filled = value if isinstance(value, Series) else _core.repeat(mask._node, value)
                frame[name] = Series(filled).where(mask)

    def _mask(self, rows: Any) -> Series | None:
        """The rows that are meant; None for all."""
        if isinstance(rows, slice):
            return self._slice_mask(rows)
        if _is_mask(rows):
            node = self._frame._aligned(Series(rows))
            mask: Series = Series(node).fill_null(False)
            return mask
        if _is_several(rows):
            (label,) = self._label_columns()
            self._places(rows)  # an error for those that are not there
            return label.isin(rows)
        mask = self._equal_mask(rows)
        if not bool(mask.any().item()):
            raise _no_label("loc", rows, self._frame._labels, "; concat adds rows")
        return mask


class PositionLocator:
    """What ``frame.iloc`` gives: rows and columns by their positions."""

    __slots__ = ("_frame",)

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame

    def __getitem__(self, key: Any) -> Any:
        """One row by its position, or rows by a slice, a list or a mask; then columns likewise."""
        mark("iloc")
        frame = self._frame
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        if callable(rows):
            rows = rows(frame)
        single_column = not isinstance(columns, slice | list) and not getattr(columns, "ndim", 0)
        names = frame.columns
        if single_column:
            at = operator.index(columns)
            if not -len(names) <= at < len(names):
                raise IndexError(f"iloc: column out of range: column={at}, columns={len(names)}")
            picked = [names[at]]
        elif isinstance(columns, slice):
            picked = names[columns]
        else:
            picked = [names[operator.index(at)] for at in columns]
        if isinstance(rows, slice) or _is_mask(rows):
            found = frame[picked][rows]
        elif _is_several(rows):
            found = frame[picked][self._checked(rows)]
        else:
            at, length = operator.index(rows), len(frame)
            if not -length <= at < length:
                raise IndexError(f"iloc: row out of range: row={at}, rows={length}")
            row = _row_of(frame[picked][at % length : at % length + 1])
            return row[picked[0]] if single_column else row
        return found[picked[0]] if single_column else found

    def _checked(self, rows: Any) -> Any:
        import numpy as np

        at, length = np.asarray(rows), len(self._frame)
        if at.size and at.dtype.kind not in "iu":
            raise TypeMismatchError(f"iloc: positions are integers: dtype={str(at.dtype)!r}")
        at = at.astype(np.int64)
        if at.size and not (-length <= at.min() and at.max() < length):
            raise IndexError(f"iloc: row out of range: rows={length}")
        return np.where(at < 0, at + length, at)


class FrameLabels:
    """The part of `DataFrame` that knows labels."""

    __slots__ = ()

    @property
    def index(self: Any) -> Series | DataFrame:
        """The label of each row: a series, a frame of several labels, positions when none are set.

        >>> import headrace as hr
        >>> hr.DataFrame({"id": ["a", "b"], "x": [1, 2]}).set_index("id").index.to_list()
        ['a', 'b']
        """
        if not self._labels:
            return Series(self._aligned(positions(len(self))), "index")
        if len(self._labels) == 1:
            ((name, node),) = self._labels.items()
            return Series(node, name)
        from headrace.frame import DataFrame

        return DataFrame._of(dict(self._labels))

    def set_index(self: Any, keys: Any, *, append: bool = False) -> DataFrame:
        """The same frame with columns remembered as the labels of its rows.

        Nothing is computed, sorted or looked up before `loc` asks. Labels may repeat.

        Parameters
        ----------
        keys : str, Series or list of these
            Columns by name (they stay columns), or series of the same rows, which become columns.
        append : bool
            Behind the labels that are there.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": ["a", "b", "c"], "x": [1, 2, 3]}).set_index("id")
        >>> df.loc["b", "x"], df.loc[["c", "a"]].x.to_list(), df.loc["b":].x.to_list()
        (2, [3, 1], [2, 3])
        """
        from headrace.frame import DataFrame

        mark("set_index")
        result = DataFrame(self)
        names: list[str] = list(self._labels) if append else []
        for key in keys if isinstance(keys, list | tuple) else [keys]:
            if isinstance(key, str):
                names.append(result._find(key))
                continue
            name = getattr(key, "name", None) or "index"
            result[name] = key
            names.append(name)
        if not names:
            raise InvalidArgumentError("set_index: there is no label; name a column")
        kept = {**self._labels, **result._nodes}
        result._labels = {name: kept[name] for name in names}
        return result

    def reset_index(self: Any, *, drop: bool = False) -> DataFrame:
        """The same rows without labels; the columns stay, with ``drop=True`` those of labels go.

        >>> import headrace as hr
        >>> hr.DataFrame({"id": [1], "x": [2]}).set_index("id").reset_index(drop=True).columns
        ['x']
        """
        from headrace.frame import DataFrame

        if drop:
            return DataFrame._of({n: v for n, v in self._nodes.items() if n not in self._labels})
        return DataFrame._of({**self._labels, **self._nodes} if self._hidden() else self._nodes)

    @property
    def loc(self: Any) -> Locator:
        """Rows by label: one, a list, a slice with both ends, or a mask; then columns by name.

        ``frame.loc[mask, "x"] = value`` sets values of some rows.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 3], "y": [4, 5, 6]})
        >>> df.loc[df.x > 1, "y"] = 0
        >>> df.loc[:, "y"].to_list(), df.loc[2].x
        ([4, 0, 0], 3)
        """
        return Locator(self)

    @property
    def iloc(self: Any) -> PositionLocator:
        """Rows, then columns, by position: one, a list, a slice or a mask.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 3], "y": [4, 5, 6]})
        >>> df.iloc[-1].y, df.iloc[:2, 0].to_list(), df.iloc[0, 1]
        (6, [1, 2], 4)
        """
        return PositionLocator(self)

    def sort_index(
        self: Any, *, ascending: bool | list[bool] = True, na_position: NaPosition = "last"
    ) -> DataFrame:
        """The rows in the order of their labels; equal ones stay in theirs.

        >>> import headrace as hr
        >>> hr.DataFrame({"id": ["b", "a"], "x": [1, 2]}).set_index("id").sort_index().x.to_list()
        [2, 1]
        """
        from headrace.sorting import sort_by_nodes

        mark("sort_index")
        if self._labels:
            keys = list(self._labels.values())
            return sort_by_nodes("sort_index", self, keys, ascending, na_position)
        return self if ascending else self[::-1]  # type: ignore[no-any-return]


class LabelledSeries(Series):
    """Values beside the labels of their rows, from a frame with labels or a group-by.

    >>> import headrace as hr
    >>> df = hr.DataFrame({"id": [2, 1, 2], "x": [1.0, 5.0, 3.0]})
    >>> means = df.groupby("id").x.mean()
    >>> means.to_list(), means.to_dict(), means.reset_index().columns
    ([5.0, 2.0], {1: 5.0, 2: 2.0}, ['id', 'x'])
    >>> (means * 2).loc[1]
    10.0
    """

    __slots__ = ("_frame",)

    def __init__(self, frame: DataFrame, name: str | None) -> None:
        super().__init__(list(frame._nodes.values())[-1], name)
        self._frame = frame  # the labels as its first columns, then the values

    def _like(self, node: _core.Node) -> LabelledSeries:
        from headrace.frame import DataFrame

        nodes = {**self._frame._nodes, self._frame.columns[-1]: node}
        return LabelledSeries(DataFrame._of(nodes, self._frame._labels), self.name)

    def _of_rows(self, frame: DataFrame) -> LabelledSeries:
        return LabelledSeries(frame, self.name)

    @property
    def index(self) -> Series | DataFrame:
        """The label of each value; a frame when there are several labels."""
        labels: Series | DataFrame = self._frame.index
        return labels

    def reset_index(self, *, drop: bool = False) -> Any:
        """The labels and the values as a frame; with ``drop=True`` the values alone."""
        return Series(self._node, self.name) if drop else self._frame.reset_index()

    def to_frame(self, name: str | None = None) -> DataFrame:
        """A frame of the labels and the values."""
        last = self._frame.columns[-1]
        return self._frame if name is None else self._frame.rename({last: name})

    def rename_values(self, name: str) -> LabelledSeries:
        """The same values under another name, here and in the frame."""
        return LabelledSeries(self.to_frame(name), name)

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
        return LabelledSeries(self._frame, name)

    def __getitem__(self, key: Any) -> Any:
        """The value at a label that is a text or at a position; rows by mask, slice, positions."""
        if isinstance(key, str):
            return self.loc[key]
        if isinstance(key, slice) or _is_mask(key) or _is_several(key):
            return self._of_rows(self._frame[key])
        return super().__getitem__(key)

    def head(self, rows: int = 5) -> LabelledSeries:
        """The first rows; see `Series.head`."""
        return self._of_rows(self._frame.head(rows))

    def tail(self, rows: int = 5) -> LabelledSeries:
        """The last rows; see `Series.tail`."""
        return self._of_rows(self._frame.tail(rows))

    def sort_values(
        self, *, ascending: bool = True, na_position: NaPosition = "last"
    ) -> LabelledSeries:
        """The values in order, with their labels; see `Series.sort_values`."""
        last = self._frame.columns[-1]
        return self._of_rows(
            self._frame.sort_values(last, ascending=ascending, na_position=na_position)
        )

    def sort_index(
        self, *, ascending: bool | list[bool] = True, na_position: NaPosition = "last"
    ) -> LabelledSeries:
        """The values in the order of their labels."""
        return self._of_rows(self._frame.sort_index(ascending=ascending, na_position=na_position))

    def nlargest(self, n: int = 5) -> LabelledSeries:
        """The `n` greatest values with their labels; see `Series.nlargest`."""
        return self._of_rows(self._frame.nlargest(n, self._frame.columns[-1]))

    def nsmallest(self, n: int = 5) -> LabelledSeries:
        """The `n` least values with their labels; see `Series.nsmallest`."""
        return self._of_rows(self._frame.nsmallest(n, self._frame.columns[-1]))

    def to_pandas(self) -> Any:
        """A pandas series with the labels as its index."""
        return self._frame.to_pandas().iloc[:, 0].rename(self.name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return LabelledSeries, (self._frame, self.name)

    def __repr__(self) -> str:
        return repr(self._frame)

    def _repr_html_(self) -> str:
        return self._frame._repr_html_()


class SeriesLocator:
    """What ``series.loc`` and ``series.iloc`` give: values by label, and by position."""

    __slots__ = ("_by_position", "_series")

    def __init__(self, series: Series, by_position: bool) -> None:
        self._series = series
        self._by_position = by_position

    def __getitem__(self, key: Any) -> Any:
        """One value, or a series of those that a list, a slice or a mask means."""
        series = self._series
        frame = framed(series)
        name = frame.columns[-1]
        if self._by_position:
            found = PositionLocator(frame)[key, len(frame.columns) - 1]
        else:
            found = Locator(frame).pick(key, name)
        if not isinstance(found, Series):
            return found
        return found.rename(series.name) if series.name else Series(found)


def framed(series: Series) -> DataFrame:
    """A series as the last column of a frame that has its labels."""
    from headrace.frame import DataFrame

    if isinstance(series, LabelledSeries):
        return series._frame
    return DataFrame._of({series.name or "value": series._node})


def relabelled(frame: DataFrame, labels: list[str], columns: list[str]) -> DataFrame:
    """A pickled frame with its labels again."""
    made: DataFrame = frame.set_index(labels)[list(columns)]
    return made
