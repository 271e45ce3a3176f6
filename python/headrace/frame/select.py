# SPDX-License-Identifier: Apache-2.0
"""The part of `DataFrame` that sets, selects, drops and renames columns."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.construct import columns_of_array, columns_of_rows, is_single, repeated
from headrace.frame.setitem import is_temporary, lost_assignment
from headrace.lazy.handle import mark
from headrace.rows import by_position
from headrace.series.series import Series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame

_COLUMNS = (1, "columns")
_KINDS = {"number": "iufm", "bool": "b", "object": "UO", "string": "U", "str": "U"}
_MORE_KINDS = {"category": "O", "datetime": "M", "datetime64": "M", "float": "f", "int": "i"}


def _names(columns: Any) -> list[str]:
    return [columns] if isinstance(columns, str) else list(columns)


def _is_of(column: Series, kind: Any) -> bool:
    """Whether a dtype matches an argument of `select_dtypes`."""
    from headrace.dtypes import dtype_word

    letters = {**_KINDS, **_MORE_KINDS}.get(kind) if isinstance(kind, str) else None
    if letters is not None:
        return column.dtype.is_of(letters)
    return str(column.dtype) == dtype_word(kind)


class FrameColumns:
    """Columns of a frame by name."""

    __slots__ = ()

    def __setitem__(self: Any, name: Any, values: Any) -> None:
        """Set a column: the handle points at a new node, existing columns are never written.

        A list of names takes a frame or array with as many columns, rows of as many values, one
        value or column per name, or one for all. A boolean mask or frame sets the selected values.
        """
        from headrace.frame.dataframe import DataFrame

        mark("setitem")
        if is_temporary(sys.getrefcount(self), self):
            raise lost_assignment(name)
        if isinstance(name, list) and all(isinstance(each, str) for each in name):
            parts = [values[n] for n in values.columns] if isinstance(values, DataFrame) else values
            if is_single(parts) or isinstance(parts, Series):
                parts = [parts] * len(name)
            elif getattr(parts, "ndim", 1) == 2:
                parts = list(columns_of_array(parts, name).values())
            elif isinstance(parts, list) and all(isinstance(row, list | tuple) for row in parts):
                parts = list(columns_of_rows(parts, name).values())
            if len(parts) != len(name):
                raise InvalidArgumentError(
                    f"setitem: number of columns does not match the names: expected={len(name)}, "
                    f"got={len(parts)}"
                )
            made = DataFrame(self)  # on an error the frame is unchanged
            for each, part in zip(name, parts, strict=True):
                made[each] = part
            self._nodes, self._labels = made._nodes, made._labels
            return
        if isinstance(name, DataFrame):
            self._nodes = self.mask(name, values)._nodes
            return
        if isinstance(name, Series) and name.dtype == "bool":
            self.loc[name] = values
            return
        if not isinstance(name, str):
            raise TypeMismatchError(
                f"setitem: a column name must be a string: name={name!r}; use df.loc[rows, "
                "name] = value for some rows"
            )
        if isinstance(values, DataFrame) and len(values._unlabelled()) == 1:
            values = values[values._unlabelled()[0]]
        if is_single(values):
            rows = next(iter(self._nodes.values()), None)
            values = [values] if rows is None else Series(repeated(rows, values))
        node = Series(by_position(values))._node
        if isinstance(values, Series):
            self._refuse_free("setitem", node)
        self._put(name, node)

    def __setattr__(self: Any, name: str, values: Any) -> None:
        own = name.startswith("_") and hasattr(type(self), name)
        if own or name in ("rejects", "columns", "index"):
            object.__setattr__(self, name, values)
        elif name in self._nodes:
            if is_temporary(sys.getrefcount(self), self):
                raise lost_assignment(name)
            self[name] = values
        else:
            raise AttributeError(f"use brackets for a new column: df[{name!r}] = ...")

    def __delitem__(self: Any, name: str) -> None:
        mark("delitem")
        del self._nodes[self._find(name)]
        self._labels.pop(name, None)

    def _find(self: Any, name: str) -> str:
        if not isinstance(name, str):
            raise TypeMismatchError(
                f"DataFrame: a column name must be a string: name={name!r}; the columns are "
                f"{', '.join(self._nodes)}"
            )
        if name not in self._nodes:
            _core.no_such_column("DataFrame", self.columns, name)
        return name

    def pop(self: Any, name: str) -> Series:
        """Remove a column from this frame and return it.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.pop("x").to_list(), df.columns
        ([1, 2, 2], ['y'])
        """
        column: Series = self[name]
        del self[name]
        return column

    def insert(self: Any, loc: int, column: str, value: Any) -> None:
        """Insert a new column at position `loc`.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2]})
        >>> df.insert(0, "id", ["a", "b"])
        >>> df.columns
        ['id', 'x']
        """
        if column in self._nodes:
            raise InvalidArgumentError(f"insert: the column already exists: column={column!r}")
        names = list(self._nodes)
        self[column] = value
        names.insert(loc, column)
        self._nodes = {name: self._nodes[name] for name in names}

    def get(self: Any, name: str, default: Any = None) -> Any:
        """A column by name, or `default` if there is none.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.get("x").to_list(), df.get("z") is None
        ([1, 2, 2], True)
        """
        return self[name] if name in self._nodes else default

    def keys(self: Any) -> Any:
        """The column names.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> list(df.keys())
        ['x', 'y']
        """
        return self.columns

    def items(self: Any) -> Iterator[tuple[str, Series]]:
        """Pairs of name and column.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> [name for name, column in df.items()]
        ['x', 'y']
        """
        return iter([(name, self[name]) for name in self._nodes])

    # ---- other columns ---------------------------------------------------------------------------
    def assign(self: Any, **columns: Series | Callable[[DataFrame], Any] | Any) -> DataFrame:
        """A new frame with columns added or replaced; callables receive the frame.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.assign(z=lambda f: f.x * 2).columns
        ['x', 'y', 'z']
        """
        from headrace.frame.dataframe import DataFrame

        result = DataFrame(self)
        for name, values in columns.items():
            result[name] = values(result) if callable(values) else values
        return result

    def drop(
        self: Any,
        labels: Any = None,
        *,
        axis: int | str | None = None,
        columns: str | list[str] | None = None,
        index: Any = None,
        errors: str = "raise",
    ) -> DataFrame:
        """A new frame without some columns, or with `index` or ``axis=0`` without rows by label.

        Without `axis`, strings that are not columns drop rows if the rows have labels.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 3], "y": [4, 5, 6]})
        >>> df.drop(columns="x").columns, df.drop(index=[0]).x.to_list()
        (['y'], [2, 3])
        """
        from headrace.frame.dataframe import DataFrame
        from headrace.frame.indexing import RowNumber, RowNumbers, check_row_numbers, domain_of

        mark("drop")
        if errors not in ("raise", "ignore"):
            raise InvalidArgumentError(
                f"drop: invalid value: errors={errors!r}; expected 'raise' or 'ignore'"
            )
        if isinstance(labels, RowNumber):
            labels, index = None, labels
        if labels is not None:
            labels = labels if hasattr(labels, "__iter__") else [labels]
            texts = isinstance(labels, str) or all(isinstance(each, str) for each in labels)
            if axis is None:
                known = not self._labels or any(n in self._nodes for n in _names(labels))
                axis = 1 if known else 0
            if axis in _COLUMNS and (texts or columns is not None):
                columns = labels
            else:  # column names are strings, so other values mean rows
                index = labels
        made = DataFrame(self)
        if columns is not None:
            ignored = errors == "ignore"
            gone = {n for n in _names(columns) if not ignored or n in self._nodes}
            for name in gone:
                self._find(name)
            kept = {name: node for name, node in self._nodes.items() if name not in gone}
            left = {name: node for name, node in self._labels.items() if name not in gone}
            made = DataFrame._of(kept, left)
        if index is not None:
            if isinstance(index, RowNumber):
                check_row_numbers("drop", index, domain_of(self))
                return DataFrame(made[made.index != index])
            several = isinstance(index, list | range | Series) or hasattr(index, "ndim")
            if errors == "raise":
                self.loc[index if several else [index]]  # raises for missing ones
            own = isinstance(index, RowNumbers)
            found = made.index.isin(index if own else list(index) if several else [index])
            made = made[~found]
        return made

    def rename(
        self: Any,
        mapper: Mapping[str, str] | Callable[[str], str] | None = None,
        *,
        columns: Mapping[str, str] | Callable[[str], str] | None = None,
        axis: int | str = 1,
        errors: str = "raise",
    ) -> DataFrame:
        """A new frame with columns renamed by ``{old: new}`` or a function of names.

        An unknown name raises, unless ``errors="ignore"``.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1], "y": [2]})
        >>> df.rename({"x": "a"}).columns, df.rename(columns=str.upper).columns
        (['a', 'y'], ['X', 'Y'])
        """
        from headrace.frame.dataframe import DataFrame

        words = mapper if columns is None else columns
        if words is None or axis not in _COLUMNS:
            raise InvalidArgumentError(
                f"rename: only columns can be renamed: axis={axis!r}; row labels are values, "
                "set them with set_index"
            )
        if callable(words):
            words = {name: words(name) for name in self._nodes}
        for name in words if errors != "ignore" else ():
            self._find(name)
        names = [words.get(name, name) for name in self._nodes]
        if len(set(names)) < len(names):
            raise InvalidArgumentError(f"rename: duplicate column name: columns={names}")
        labels = {words.get(name, name): node for name, node in self._labels.items()}
        return DataFrame._of(dict(zip(names, self._nodes.values(), strict=True)), labels)

    def add_prefix(self: Any, prefix: str) -> DataFrame:
        """A new frame with `prefix` before each name.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.add_prefix("a_").columns
        ['a_x', 'a_y']
        """
        return self.rename(lambda name: f"{prefix}{name}")  # type: ignore[no-any-return]

    def add_suffix(self: Any, suffix: str) -> DataFrame:
        """A new frame with `suffix` after each name.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.add_suffix("_a").columns
        ['x_a', 'y_a']
        """
        return self.rename(lambda name: f"{name}{suffix}")  # type: ignore[no-any-return]

    def filter(
        self: Any,
        items: Iterable[str] | None = None,
        *,
        like: str | None = None,
        regex: str | None = None,
    ) -> DataFrame:
        """Select columns by name: those in `items`, containing `like`, or matching `regex`.

        >>> import headrace as hr
        >>> hr.DataFrame({"x_1": [1], "y": [2], "x_2": [3]}).filter(like="x_").columns
        ['x_1', 'x_2']
        """
        if sum(each is not None for each in (items, like, regex)) != 1:
            raise InvalidArgumentError("filter: expected exactly one of items, like and regex")
        if items is not None:
            return self[[name for name in items if name in self._nodes]]  # type: ignore[no-any-return]
        if like is not None:
            return self[[name for name in self._nodes if like in name]]  # type: ignore[no-any-return]
        assert regex is not None
        return self[[name for name in self._nodes if re.search(regex, name)]]  # type: ignore[no-any-return]

    def select_dtypes(self: Any, include: Any = None, exclude: Any = None) -> DataFrame:
        """Select columns by dtype: dtypes, or ``"number"``, ``"string"``, ``"datetime"``, ...

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [1], "s": ["a"], "y": [0.5]}).select_dtypes("number").columns
        ['x', 'y']
        """
        if include is None and exclude is None:
            raise InvalidArgumentError("select_dtypes: pass include or exclude")

        def among(name: str, kinds: Any) -> bool:
            several = kinds if isinstance(kinds, list | tuple) else [kinds]
            return any(_is_of(self[name], kind) for kind in several)

        names = [n for n in self._nodes if include is None or among(n, include)]
        return self[[n for n in names if exclude is None or not among(n, exclude)]]  # type: ignore[no-any-return]
