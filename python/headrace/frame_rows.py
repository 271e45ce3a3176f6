# SPDX-License-Identifier: Apache-2.0
"""The part of `DataFrame` that picks, orders and joins rows."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.deferred import caller_variables, mark
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.rows import are_picked, picked_domain, same_rows, whole_number
from headrace.series import Series

if TYPE_CHECKING:
    from headrace.frame import DataFrame
    from headrace.sorting import NaPosition


class FrameRows:
    """Rows of a frame by what they hold and in which order."""

    __slots__ = ()

    # ---- rows by what they hold --------------------------------------------------------------
    def query(self: Any, text: str) -> DataFrame:
        """The rows for which an expression over columns, given as text, is true.

        The text is parsed, never run as code: names are columns (in backticks where they are no
        words; ``index`` is the label), ``@name`` is a variable of the caller; arithmetic,
        comparisons (chained too), ``in`` with a list, ``and``, ``or``, ``not`` (``&`` and ``|``
        bind as weakly as these), the methods of `.str` and `.dt`, tests and reductions of a column,
        and the functions ``abs exp log sqrt sin ...`` work.

        Notes
        -----
        A text costs no more than its length and the data allow, and runs nothing of the caller's
        objects: of a variable it takes numbers, texts, times, lists and arrays of these, items of
        lists and dictionaries, and attributes that an object holds, not those that it computes. But
        it can compare any variable of the caller's function and module with the data: do not take
        a text of a stranger where these hold secrets.

        Examples
        --------
        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 3], "a b": ["u", "v", "v"]})
        >>> least = 2
        >>> df.query("x >= @least and `a b` in ['v']").x.to_list()
        [2, 3]
        """
        from headrace.frame import DataFrame
        from headrace.query import cut, evaluate

        mark("query")
        mask = evaluate(text, self, caller_variables())
        if not isinstance(mask, Series) or mask.dtype.kind != "b":
            raise TypeMismatchError(f"query: the text is no condition on rows: text={cut(text)!r}")
        return DataFrame(self[mask])

    def eval(self: Any, text: str) -> Any:
        """The column that an expression over columns stands for; ``"z = ..."`` gives a frame.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2], "y": [3, 5]})
        >>> df.eval("x + y").to_list(), df.eval("z = y - x").z.to_list()
        ([4, 7], [2, 3])
        """
        from headrace.query import evaluate, target_of

        mark("eval")
        name, expression = target_of(text)
        made = evaluate(expression, self, caller_variables())
        return made if name is None else self.assign(**{name: made})

    def isnull(self: Any) -> DataFrame:
        """The same as `isna`."""
        return self.isna()  # type: ignore[no-any-return]

    def isna(self: Any) -> DataFrame:
        """True where a value is null or NaN, column by column."""
        from headrace.frame import DataFrame

        found = {name: self[name].isna()._node for name in self._unlabelled()}
        return DataFrame._of({**self._nodes, **found}, self._labels)

    def fillna(self: Any, value: Any) -> DataFrame:
        """Null and NaN replaced by `value`, or by column from a mapping ``{name: value}``.

        A reduction of a frame, as ``df.mean()`` is one, has its columns' values too, and so has a
        frame of the same rows.
        """
        from headrace.column_values import by_column
        from headrace.frame import DataFrame

        mark("fillna")
        value = by_column(value)
        if isinstance(value, DataFrame):
            value = {name: value[name] for name in value._unlabelled()}
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
        """The rows without null and NaN in `subset` (all columns).

        With ``how="all"`` those with some value, with `thresh` those with so many values. With
        ``axis=1`` the columns, which looks at them.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"a": [1, None, 3], "b": [4, None, None]})
        >>> df.dropna().a.to_list(), df.dropna(how="all").a.to_list()
        ([1], [1, 3])
        """
        from headrace.frame import DataFrame
        from headrace.labels import without_labels

        mark("dropna")
        if how not in ("any", "all"):
            raise InvalidArgumentError(f"dropna: no such word: how={how!r}; pass any or all")
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
        """The columns without missing values, with some value, or with `thresh` values."""
        names = self._unlabelled()
        counts = [self[name].count() for name in names]
        _core.force([count._node for count in counts])
        least = thresh if thresh is not None else len(self) if how == "any" else 1
        found = {name for name, count in zip(names, counts, strict=True) if int(count) >= least}
        return self[[n for n in self.columns if n in found or n in self._labels]]  # type: ignore[no-any-return]

    def astype(self: Any, dtype: Any) -> DataFrame:
        """Columns as another dtype, or by column from a mapping ``{name: dtype}``."""
        from headrace.frame import DataFrame

        mark("astype")
        wanted = dtype if isinstance(dtype, Mapping) else dict.fromkeys(self._unlabelled(), dtype)
        for name in wanted.keys():  # noqa: SIM118 (dtypes of a frame too)
            self._find(name)
        cast = {name: self[name].astype(each)._node for name, each in wanted.items()}
        return DataFrame._of({**self._nodes, **cast}, self._labels)

    def merge(
        self: Any,
        right: DataFrame | Series,
        how: str = "inner",
        on: str | list[str] | None = None,
        left_on: Any = None,
        right_on: Any = None,
        suffixes: tuple[str | None, str | None] = ("_x", "_y"),
        indicator: bool | str = False,
        validate: str | None = None,
        left_index: bool = False,
        right_index: bool = False,
        sort: bool = False,
    ) -> DataFrame:
        """Rows of both frames whose keys are equal, side by side.

        Left rows in order, of each its partners in order; of an outer join then the right rows
        without one; of a right join right rows in order. Null equals null, and NaN equals NaN.
        Columns of the side without a row are null, and stay of their dtype.

        Parameters
        ----------
        right : DataFrame or Series
            The other frame, or a column with its labels.
        how : {"inner", "left", "right", "outer", "semi", "anti", "cross"}
            Which rows stay; semi and anti: left rows that have a partner, or none.
        on : str or list of str, optional
            Names of the keys in both frames; all names they share when no key is given.
        left_on, right_on : str, Series or list of these, optional
            Keys of each side; integers and floats of any width agree.
        suffixes : tuple
            Appended to other columns that both frames have.
        indicator : bool or str
            A last column (named `_merge`, or this) of the side that the row is from.
        validate : {"1:1", "1:m", "m:1", "m:m"}, optional
            Raise when keys of a side come twice and should not; pandas' long words work too.
        left_index, right_index : bool
            Take the labels of a side as its keys; those of the left one are labels of the result.
        sort : bool
            The result in the order of its keys.

        Raises
        ------
        ColumnNotFoundError
            For a name that is no column.
        TypeMismatchError
            For keys of dtypes that are not compared, such as texts and numbers.
        InvalidArgumentError
            For options that do not fit, and, when it runs, for keys against `validate` or a result
            of 2^31 rows.

        Notes
        -----
        Keys are equal as ``==`` says: times of any units and zones by their instants (a key of one
        name has the zone of the left frame), decimals and floats as float64.

        Keys from a range of at most four times the right rows take a few ns a row and core, others
        about 40. Where every left row has one partner, the left columns are shared. The table of
        the right keys follows Birler, Schmidt, Fent and Neumann, "Simple, efficient, and robust
        hash tables for join processing", DaMoN 2024.

        >>> import headrace as hr
        >>> loans = hr.DataFrame({"id": [1, 2, 2], "paid": [5.0, 6.0, 7.0]})
        >>> people = hr.DataFrame({"id": [2, 1], "name": ["Bo", "Al"]})
        >>> loans.merge(people, on="id").to_dict()
        {'id': [1, 2, 2], 'paid': [5.0, 6.0, 7.0], 'name': ['Al', 'Bo', 'Bo']}
        """
        from headrace.joining import merge

        words = (how, on, left_on, right_on, suffixes, indicator, validate)
        return merge(self, right, *words, left_index, right_index, sort)

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
        """Columns of a labelled frame or series beside these, by labels or by columns `on`.

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
                f"join: both frames have columns of these names: columns={both}; pass rsuffix"
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
        """The rows of this frame and of another, or one row from a mapping, as a new frame.

        In a loop all rows are copied each time, so `hr.advice` names the line then.

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [1]}).append({"x": 2}, ignore_index=True).x.to_list()
        [1, 2]
        """
        from headrace.concatenation import rows_of
        from headrace.frame import DataFrame
        from headrace.functions import grows
        from headrace.labels import without_labels

        mark("append")
        grows("append", "collect the rows in a list and make one frame of it, behind the loop")
        if isinstance(other, Mapping):
            other = [dict(other)]
        rows = other if isinstance(other, DataFrame) else DataFrame(other)
        return without_labels(rows_of([self, rows]), ignore_index)

    def head(self: Any, n: int = 5) -> DataFrame:
        """The first `n` rows, computed from no more than these where the plan allows it.

        All but the last ``-n`` when `n` is negative, as in pandas.
        """
        from headrace.frame import DataFrame

        mark("head")
        n = whole_number("head", "n", n)
        if n < 0:
            return DataFrame(self[:n])
        every = self._everything()
        domain = same_rows(next(iter(every.values()), None), n)
        nodes = _core.prefix(list(every.values()), n)
        return self._of_rows(list(every), [_core.in_domain(node, domain) for node in nodes])  # type: ignore[no-any-return]

    def tail(self: Any, n: int = 5) -> DataFrame:
        """The last `n` rows; all but the first ``-n`` when `n` is negative."""
        from headrace.frame import DataFrame

        n, length = whole_number("tail", "n", n), len(self)
        return DataFrame(self[max(length - n, 0) if n >= 0 else -n : length])

    # ---- order -------------------------------------------------------------------------------
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
        """The rows in the order of columns, as a new frame; equal rows stay in their order.

        Only the keys and the columns that somebody looks at are sorted; `head` of the result takes
        the first rows without sorting the others. Under a memory limit the sort spills by itself.

        Parameters
        ----------
        by : str or list of str
            Columns; the first one counts most. Strings compare by their bytes, categories by their
            text unless they are ordered, false before true.
        ascending : bool or list of bool
            One for all keys, or one a key.
        na_position : {"last", "first"}
            Where rows with a null or NaN in a key go, whatever its direction.
        ignore_index : bool
            Without the columns that are labels.
        kind : str, optional
            Without a meaning: the sort is always stable.
        key : function, optional
            Of each column, what is compared: ``key=lambda column: column.str.lower()``.

        Returns
        -------
        DataFrame
            Deferred. Rows without labels do not remember their old places, as pandas' do.

        Raises
        ------
        ColumnNotFoundError
            For a name that the frame does not have.
        InvalidArgumentError
            When `ascending` has another length than `by`.

        Examples
        --------
        >>> import headrace as hr
        >>> df = hr.DataFrame({"k": ["b", "a", "b"], "v": [1, 2, 3]})
        >>> df.sort_values(["k", "v"], ascending=[True, False]).to_dict()
        {'k': ['a', 'b', 'b'], 'v': [2, 3, 1]}
        """
        from headrace.labels import without_labels
        from headrace.sorting import sort_frame

        if by is None:
            raise InvalidArgumentError(
                "sort_values: columns are wanted: by=None; name one, or a list of them"
            )
        return without_labels(sort_frame(self, by, ascending, na_position, key), ignore_index)

    def nlargest(
        self: Any,
        n: int,
        columns: str | Sequence[str],
        keep: Literal["first", "last", "all"] = "first",
    ) -> DataFrame:
        """The `n` rows with the greatest values in `columns`, greatest first, without a full sort.

        Rows with missing values come last; of equal rows the first ones are taken, the last, or
        all that are equal to the last one (which is looked at).

        >>> import headrace as hr
        >>> hr.DataFrame({"v": [3, 9, 4], "w": ["a", "b", "c"]}).nlargest(2, "v").w.to_list()
        ['b', 'c']
        """
        from headrace.sorting import first_of_frame

        return first_of_frame("nlargest", self, n, columns, True, keep)

    def nsmallest(
        self: Any,
        n: int,
        columns: str | Sequence[str],
        keep: Literal["first", "last", "all"] = "first",
    ) -> DataFrame:
        """The `n` rows with the least values in `columns`, least first; see `nlargest`."""
        from headrace.sorting import first_of_frame

        return first_of_frame("nsmallest", self, n, columns, False, keep)
