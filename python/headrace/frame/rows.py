# SPDX-License-Identifier: Apache-2.0
"""The part of `DataFrame` that filters, sorts and joins rows."""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace._caller import user_variables
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.merge import merge
from headrace.lazy.handle import mark
from headrace.rows import are_picked, picked_domain, same_rows, whole_number
from headrace.series.series import Series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.frame.sort import NaPosition


class FrameRows:
    """Rows of a frame by value and order."""

    __slots__ = ()

    # ---- rows by value ---------------------------------------------------------------------------
    def query(self: Any, text: str) -> DataFrame:
        """Filter rows by an expression over columns, given as a string.

        The expression is parsed, never run as code: names are columns (in backticks if they are not
        identifiers; ``index`` is the label), ``@name`` is a variable of the caller; arithmetic,
        comparisons (chained too), ``in`` with a list, ``and``, ``or``, ``not`` (``&`` and ``|``
        bind as weakly as these), the methods of `.str` and `.dt`, tests and reductions of a column,
        and the functions ``abs exp log sqrt sin ...`` work.

        Notes
        -----
        The cost is bounded by the length of the expression and the data, and no code of the
        caller's objects runs: variables may be numbers, strings, times, lists and arrays of these,
        items of lists and dictionaries, and stored (not computed) attributes. An expression can
        compare any variable of the caller's function and module with the data: do not accept one
        from untrusted users if these hold secrets.

        Examples
        --------
        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 3], "a b": ["u", "v", "v"]})
        >>> least = 2
        >>> df.query("x >= @least and `a b` in ['v']").x.to_list()
        [2, 3]
        """
        from headrace.frame.dataframe import DataFrame
        from headrace.frame.query import cut, evaluate

        mark("query")
        mask = evaluate(text, self, user_variables())
        if not isinstance(mask, Series) or mask.dtype.kind != "b":
            raise TypeMismatchError(
                f"query: the expression is not a row condition: text={cut(text)!r}"
            )
        return DataFrame(self[mask])

    def eval(self: Any, text: str) -> Any:
        """Evaluate an expression over columns to a column; ``"z = ..."`` gives a frame.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2], "y": [3, 5]})
        >>> df.eval("x + y").to_list(), df.eval("z = y - x").z.to_list()
        ([4, 7], [2, 3])
        """
        from headrace.frame.query import evaluate, target_of

        mark("eval")
        name, expression = target_of(text)
        made = evaluate(expression, self, user_variables())
        return made if name is None else self.assign(**{name: made})

    def isnull(self: Any) -> DataFrame:
        """The same as `isna`."""
        return self.isna()  # type: ignore[no-any-return]

    def isna(self: Any) -> DataFrame:
        """True where a value is null or NaN, column by column.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.isna().y.to_list()
        [False, True, False]
        """
        from headrace.frame.dataframe import DataFrame

        mark("isna")
        names = self._unlabelled()
        found = _core.elementwise_columns("isna", [self._nodes[name] for name in names])
        made = dict(zip(names, found, strict=True))
        return DataFrame._of({**self._nodes, **made}, self._labels)

    def fillna(self: Any, value: Any) -> DataFrame:
        """Replace null and NaN by `value`, or per column by a mapping ``{name: value}``.

        A reduction such as ``df.mean()``, or a frame with the same rows, fills column by column.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.fillna({"y": 0.0}).y.to_list()
        [0.5, 0.0, 2.5]
        """
        from headrace.frame.column_reductions import by_column
        from headrace.frame.dataframe import DataFrame

        mark("fillna")
        value = by_column(value)
        if isinstance(value, DataFrame):
            value = {name: value[name] for name in value._unlabelled()}
        # Of columns that do not hold the value, those with missing ones are found below.
        with contextlib.suppress(InvalidArgumentError, TypeMismatchError):
            if (made := self._with_number("fillna", value)) is not None:
                return made  # type: ignore[no-any-return]
        values = value if isinstance(value, Mapping) else dict.fromkeys(self._unlabelled(), value)
        for name in values.keys():  # noqa: SIM118 (a row of a frame too)
            self._find(name)
        filled = {name: self[name].fillna(each)._node for name, each in values.items()}
        return DataFrame._of({**self._nodes, **filled}, self._labels)

    def dropna(
        self: Any,
        subset: str | list[str] | None = None,
        how: Literal["any", "all"] = "any",
        *,
        axis: int | str = 0,
        thresh: int | None = None,
        ignore_index: bool = False,
    ) -> DataFrame:
        """Drop rows with null or NaN in `subset` (all columns).

        ``how="all"`` drops only rows without any value, `thresh` rows with fewer values. With
        ``axis=1`` columns are dropped, which evaluates them.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"a": [1, None, 3], "b": [4, None, None]})
        >>> df.dropna().a.to_list(), df.dropna(how="all").a.to_list()
        ([1], [1, 3])
        """
        from headrace.frame.dataframe import DataFrame
        from headrace.frame.labels import without_labels

        mark("dropna")
        if how not in ("any", "all"):
            raise InvalidArgumentError(
                f"dropna: invalid value: how={how!r}; expected 'any' or 'all'"
            )
        names = [subset] if isinstance(subset, str) else subset or self._unlabelled()
        if axis in (1, "columns"):
            return self._whole_columns(how, thresh)  # type: ignore[no-any-return]
        present = [self[self._find(name)].notna() for name in names]
        if not present:
            return DataFrame(self)
        if thresh is not None:
            counts = [mask.astype("int64") for mask in present]
            kept = functools.reduce(operator.add, counts) >= thresh
        else:
            kept = functools.reduce(operator.and_ if how == "any" else operator.or_, present)
        return without_labels(DataFrame(self[kept]), ignore_index)

    def _whole_columns(self: Any, how: str, thresh: int | None) -> DataFrame:
        """The columns without missing values, with any value, or with `thresh` values."""
        names = self._unlabelled()
        counts = [self[name].count() for name in names]
        _core.force([count._node for count in counts])
        least = thresh if thresh is not None else len(self) if how == "any" else 1
        found = {name for name, count in zip(names, counts, strict=True) if int(count) >= least}
        return self[[n for n in self.columns if n in found or n in self._labels]]  # type: ignore[no-any-return]

    def astype(self: Any, dtype: Any) -> DataFrame:
        """Convert columns to another dtype, or per column by a mapping ``{name: dtype}``.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2], "y": [0.5, 1.5]})
        >>> df.astype({"x": "float32"}).x.dtype.name
        'float32'
        """
        from headrace.frame.dataframe import DataFrame

        mark("astype")
        wanted = dtype if isinstance(dtype, Mapping) else dict.fromkeys(self._unlabelled(), dtype)
        for name in wanted.keys():  # noqa: SIM118 (dtypes of a frame too)
            self._find(name)
        cast = {name: self[name].astype(each)._node for name, each in wanted.items()}
        return DataFrame._of({**self._nodes, **cast}, self._labels)

    merge = merge

    def join(
        self: Any,
        other: DataFrame | Series,
        on: str | list[str] | None = None,
        how: str = "left",
        lsuffix: str = "",
        rsuffix: str = "",
        *,
        sort: bool = False,
        validate: str | None = None,
    ) -> DataFrame:
        """Join columns of a labelled frame or series, by labels or by columns `on`.

        >>> import headrace as hr
        >>> names = hr.DataFrame({"id": [1, 2], "name": ["Al", "Bo"]}).set_index("id")
        >>> hr.DataFrame({"id": [2, 3], "x": [5, 6]}).join(names, on="id").to_dict()
        {'id': [2, 3], 'x': [5, 6], 'name': ['Bo', None]}
        """
        if isinstance(other, Series):
            other = other.to_frame()
        mine = list(other._labels)
        both = [n for n in other.columns if n in self.columns and n not in mine]
        if both and not (lsuffix or rsuffix):
            raise InvalidArgumentError(
                f"join: overlapping column names: columns={both}; pass rsuffix"
            )
        made: DataFrame = self.merge(
            other,
            how,
            left_on=on,
            left_index=on is None,
            right_index=True,
            suffixes=(lsuffix, rsuffix),
            validate=validate,
            sort=sort,
        )
        first = next(iter(self._nodes.values()), None)
        if first is None or not are_picked(first) or made._labels:
            return made
        return made._in_domain(picked_domain())

    def append(self: Any, other: Any, ignore_index: bool = False) -> DataFrame:
        """A new frame with the rows of another one, or one row from a mapping, appended.

        A loop copies all rows each time; `hr.advice` names the line.

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [1]}).append({"x": 2}, ignore_index=True).x.to_list()
        [1, 2]
        """
        from headrace.frame.apply import grows
        from headrace.frame.concat import rows_of
        from headrace.frame.dataframe import DataFrame
        from headrace.frame.labels import without_labels

        mark("append")
        grows("append", "collect the rows in a list and build one frame after the loop")
        if isinstance(other, Mapping):
            other = [dict(other)]
        rows = other if isinstance(other, DataFrame) else DataFrame(other)
        return without_labels(rows_of([self, rows]), ignore_index)

    def head(self: Any, n: int = 5) -> DataFrame:
        """The first `n` rows, computed from no more than these where the plan allows.

        All but the last ``-n`` if `n` is negative, as in pandas.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.head(2).x.to_list()
        [1, 2]
        """
        from headrace.frame.dataframe import DataFrame

        mark("head")
        n = whole_number("head", "n", n)
        if n < 0:
            return DataFrame(self[:n])
        every = self._everything()
        domain = same_rows(next(iter(every.values()), None), n)
        nodes = _core.prefix(list(every.values()), n)
        return self._of_rows(list(every), [_core.in_domain(node, domain) for node in nodes])  # type: ignore[no-any-return]

    def tail(self: Any, n: int = 5) -> DataFrame:
        """The last `n` rows; all but the first ``-n`` if `n` is negative.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.tail(1).to_dict()
        {'x': [2], 'y': [2.5]}
        """
        from headrace.frame.dataframe import DataFrame

        n, length = whole_number("tail", "n", n), len(self)
        return DataFrame(self[max(length - n, 0) if n >= 0 else -n : length])

    # ---- order -----------------------------------------------------------------------------------
    def sort_values(
        self: Any,
        by: str | Sequence[str] | None = None,
        *,
        ascending: bool | Sequence[bool] = True,
        na_position: NaPosition = "last",
        ignore_index: bool = False,
        kind: str | None = None,
        key: Callable[[Series], Series] | None = None,
    ) -> DataFrame:
        """Sort the rows by columns into a new frame; the sort is stable.

        Only the keys and the columns in use are sorted; `head` of the result selects the first rows
        without a full sort. Under a memory limit the sort spills to disk.

        Parameters
        ----------
        by : str or list of str
            Columns, most significant first. Strings compare bytewise, unordered categories
            alphabetically, false before true.
        ascending : bool or list of bool
            One for all keys, or one per key.
        na_position : {"last", "first"}
            Where rows with a null or NaN in a key go, regardless of direction.
        ignore_index : bool
            Without the columns that are labels.
        kind : str, optional
            Ignored: the sort is always stable.
        key : function, optional
            Applied to each column before comparing: ``key=lambda column: column.str.lower()``.

        Returns
        -------
        DataFrame
            Lazy. Rows without labels do not keep their old positions, unlike in pandas.

        Raises
        ------
        ColumnNotFoundError
            For an unknown column name.
        InvalidArgumentError
            If `ascending` and `by` differ in length.

        Examples
        --------
        >>> import headrace as hr
        >>> df = hr.DataFrame({"k": ["b", "a", "b"], "v": [1, 2, 3]})
        >>> df.sort_values(["k", "v"], ascending=[True, False]).to_dict()
        {'k': ['a', 'b', 'b'], 'v': [2, 3, 1]}
        """
        from headrace.frame.labels import without_labels
        from headrace.frame.sort import sort_frame

        if by is None:
            raise InvalidArgumentError(
                "sort_values: missing sort key: by=None; pass a column name or a list of them"
            )
        return without_labels(sort_frame(self, by, ascending, na_position, key), ignore_index)

    def nlargest(
        self: Any,
        n: int,
        columns: str | Sequence[str],
        keep: Literal["first", "last", "all"] = "first",
    ) -> DataFrame:
        """The `n` rows with the largest values in `columns`, largest first, without a full sort.

        Rows with missing values come last; `keep` takes the first or last of equal rows, or all
        rows equal to the last one (which is evaluated).

        >>> import headrace as hr
        >>> hr.DataFrame({"v": [3, 9, 4], "w": ["a", "b", "c"]}).nlargest(2, "v").w.to_list()
        ['b', 'c']
        """
        from headrace.frame.sort import first_of_frame

        return first_of_frame("nlargest", self, n, columns, True, keep)

    def nsmallest(
        self: Any,
        n: int,
        columns: str | Sequence[str],
        keep: Literal["first", "last", "all"] = "first",
    ) -> DataFrame:
        """The `n` rows with the smallest values in `columns`, smallest first; see `nlargest`.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.nsmallest(1, "y").to_dict()
        {'x': [1], 'y': [0.5]}
        """
        from headrace.frame.sort import first_of_frame

        return first_of_frame("nsmallest", self, n, columns, False, keep)
