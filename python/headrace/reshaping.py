# SPDX-License-Identifier: Apache-2.0
"""Rows in other forms: samples, bins, codes, pivot tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.deferred import mark
from headrace.durations import counts, unit_of
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.rows import by_position, whole_number

if TYPE_CHECKING:
    from headrace.frame import DataFrame
    from headrace.series import Series

#: Rows of a frame that may become columns.
_MOST_TURNED = 10_000


# ---- rows that come again ------------------------------------------------------------------------
def repeated_rows(keys: list[_core.Node], keep: str | bool) -> _core.Node:
    """The node of a mask of rows whose keys are in another row that counts more."""
    from headrace.group import Words
    from headrace.series import Series

    if keep not in ("first", "last", False):
        raise InvalidArgumentError(
            f"duplicated: no such word: keep={keep!r}; pass first, last or False"
        )
    if _core.are_unique(keys):
        return _core.repeat(keys[0], False)
    place = _core.in_domain(_core.part(_core.group_places(keys, False), 0), keys[0].domain)
    if keep == "first":
        return (Series(place) > 0)._node
    rows = Series(_core.group_transform(keys, Words("rows", "size", keys[0]), False))
    if keep == "last":
        return (Series(place) < rows - 1)._node
    return (rows > 1)._node


# ---- samples -------------------------------------------------------------------------------------
def sampled_rows(
    rows: int, n: int | None, frac: float | None, replace: bool, random_state: Any
) -> Any:
    """Positions of rows by chance, those that pandas draws."""
    import numpy as np

    if (n is None) == (frac is None) and n is not None:
        raise InvalidArgumentError(f"sample: pass n or frac, not both: n={n}, frac={frac}")
    if frac is not None:
        size = round(frac * rows)
    else:
        size = 1 if n is None else whole_number("sample", "n", n)
    if size < 0 or (size > rows and not replace):
        raise InvalidArgumentError(
            f"sample: there are not so many rows: n={size}, rows={rows}; pass replace=True"
        )
    if isinstance(random_state, np.random.RandomState | np.random.Generator):
        chance: Any = random_state
    else:
        chance = np.random.RandomState(random_state)
    return chance.choice(rows, size=size, replace=replace)


# ---- codes and bins ------------------------------------------------------------------------------
def factorize(
    values: Any, *, sort: bool = False, use_na_sentinel: bool = True
) -> tuple[Series, Series]:
    """A code for each value, and the distinct values that the codes stand for.

    Parameters
    ----------
    values : Series, or what `hr.Series` takes
        One dimension.
    sort : bool
        Distinct values in their order; else in the order in which they are first seen.
    use_na_sentinel : bool
        Whether missing values are -1; else they are among the distinct values.

    Returns
    -------
    codes, uniques : Series
        int64 codes of the same rows, -1 for a null or NaN; the distinct values without these.

    Examples
    --------
    >>> import headrace as hr
    >>> codes, uniques = hr.factorize(["b", None, "a", "b"])
    >>> codes.to_list(), uniques.to_list()
    ([0, -1, 1, 0], ['b', 'a'])
    """
    from headrace.frame import DataFrame
    from headrace.functions import with_rows_of
    from headrace.locators import positions
    from headrace.series import Series

    mark("factorize")
    series = Series(by_position(values))
    plain = series._plain()
    uniques = Series((plain.dropna() if use_na_sentinel else plain).unique())
    if sort:
        uniques = uniques.sort_values().reset_index(drop=True)
    known = DataFrame({"key": uniques, "code": positions(len(uniques))})
    rows = DataFrame._of({"key": series._node})
    codes = rows.merge(known, on="key", how="left").code.fill_null(-1)
    return with_rows_of(Series(codes), series._node), uniques


def _edge(value: float, digits: int) -> float:
    """An edge with so many digits behind the point; below 1 so many behind the zeros."""
    import numpy as np

    if 0 < abs(value) < 1:
        digits -= 1 + math.floor(math.log10(abs(value)))
    return float(np.around(value, digits)) if digits < 300 else value  # the least floats


def _bin_names(
    edges: list[Any], whole: bool, right: bool, lowest: bool, precision: int
) -> list[str]:
    """The bins as pandas writes intervals, with as many digits as keep them apart."""
    if whole and not lowest:
        return _intervals([str(int(edge)) for edge in edges], right)
    for digits in range(precision, 20):
        shown = [_edge(float(edge), digits) for edge in edges]
        if len(set(shown)) == len(edges):
            break
    if lowest:
        shown[0] -= 10.0**-digits
    return _intervals([str(edge) for edge in shown], right)


def _intervals(shown: Sequence[str], right: bool) -> list[str]:
    left, close = ("(", "]") if right else ("[", ")")
    return [f"{left}{a}, {b}{close}" for a, b in itertools.pairwise(shown)]


def _counts_and_edges(values: Series, bins: Any, right: bool) -> tuple[Series, Series, Series]:
    """Times or durations as integers, the edges of bins as such, and what these are."""
    from headrace.series import Series
    from headrace.times import in_one_unit

    dtype = str(values.dtype)
    if isinstance(bins, int):
        whole = counts(values, unit_of(dtype))
        edges = _equal_edges(whole, bins, right).round().tolist()
        counted = Series([int(edge) for edge in edges], dtype="int64")
        return whole, counted, counted.astype(dtype)
    given = Series(bins)
    given = given.astype(dtype) if given.dtype == "string" else given
    own = in_one_unit("cut", values, given)
    if not own:
        raise TypeMismatchError(
            f"cut: edges of other values: dtype={dtype!r}, edges={str(given.dtype)!r}"
        )
    return Series(own[0]).astype("int64"), Series(own[1]).astype("int64"), given


def _shown_edges(edges: Series) -> list[str]:
    texts: list[str] = edges.astype("string").to_list()
    midnight = " 00:00:00"
    whole = all(text.endswith(midnight) for text in texts)
    return [text.removesuffix(midnight) if whole else text for text in texts]


def cut(
    x: Any,
    bins: int | Sequence[float],
    *,
    right: bool = True,
    labels: Sequence[str] | bool | None = None,
    include_lowest: bool = False,
    precision: int = 3,
    retbins: bool = False,
) -> Any:
    """The bin that each number, time or duration falls into, as ordered categories.

    Parameters
    ----------
    x : Series, or what `hr.Series` takes
        Numbers, times or durations.
    bins : int or list
        So many bins of equal width over the range of `x` (which is looked at), or their edges,
        increasing.
    right : bool
        Whether a bin holds its right edge, else its left one.
    labels : list of str or False, optional
        Names of the bins, ``(1, 5]`` by default; False gives their numbers.
    include_lowest : bool
        Whether the first bin holds its left edge too.
    precision : int
        Digits of the names behind the point.
    retbins : bool
        Return the edges as well.

    Returns
    -------
    Series
        Of the same rows, null for what is missing or in no bin; with `retbins` a pair of it and the
        edges, a NumPy array.

    Raises
    ------
    InvalidArgumentError
        For edges that do not increase, and as many labels as bins not given.

    Notes
    -----
    One fused pass with a comparison an edge, so meant for up to some hundred bins.

    Examples
    --------
    >>> import headrace as hr
    >>> hr.cut(hr.Series([1, 5, 12]), [0, 4, 10], labels=["low", "high"]).to_list()
    ['low', 'high', None]
    """
    import numpy as np

    from headrace.series import Series

    mark("cut")
    values = Series(x)
    if values.dtype.kind in "mM":
        integers, counted, given = _counts_and_edges(values, bins, right)
        names = _intervals(_shown_edges(given), right) if labels in (None, True) else labels
        made = cut(
            *(values._like(integers._node), counted.to_list()),
            right=right,
            labels=names,
            include_lowest=include_lowest,
        )
        return (made, given.to_numpy()) if retbins else made
    if values.dtype.startswith("decimal"):
        values = values.astype("float64")
    if values.dtype.kind not in "iuf":
        raise TypeMismatchError(f"cut: numbers or times are wanted: dtype={str(values.dtype)!r}")
    lowest = include_lowest and right
    if isinstance(bins, int):
        edges, whole = _equal_edges(values, bins, right), False
    else:
        edges = np.asarray(bins)
        whole = edges.dtype.kind in "iu"
    if edges.ndim != 1 or len(edges) < 1 or not (edges[1:] > edges[:-1]).all():
        raise InvalidArgumentError(f"cut: edges increase, and there is one at least: bins={bins!r}")
    count = len(edges) - 1
    passed = [values > e if right else values >= e for e in edges.tolist()]
    if lowest:
        passed[0] = values >= edges[0].item()
    number = passed[-1].astype("int64") * 0
    for test in passed[1:-1]:
        number = number + test.astype("int64")
    inside = (passed[0] & ~passed[-1]).fill_null(False)
    if labels is False:
        made = values._like(number.where(inside)._node)
        return (made, edges) if retbins else made
    names = (
        _bin_names(edges.tolist(), whole, right, lowest, precision)
        if labels is None or labels is True
        else [str(label) for label in labels]
    )
    if len(names) != count:
        raise InvalidArgumentError(
            f"cut: a label for each bin is wanted: bins={count}, labels={len(names)}"
        )
    if len(set(names)) != count:
        raise InvalidArgumentError(f"cut: labels repeat: labels={names}")
    at = number.where(inside, count).fill_null(count)
    entries = _core.ordered_categories(Series([*names, None], dtype="category")._node)
    from headrace.functions import with_rows_of

    found = Series(_core.take(entries, at._node))
    made = values._like(with_rows_of(found, values._node)._node)
    return (made, edges) if retbins else made


def qcut(
    x: Any,
    q: int | Sequence[float],
    *,
    labels: Sequence[str] | bool | None = None,
    precision: int = 3,
    retbins: bool = False,
    duplicates: Literal["raise", "drop"] = "raise",
) -> Any:
    """The bin between quantiles that each number falls into; see `hr.cut`.

    Parameters
    ----------
    x : Series, or what `hr.Series` takes
        Numbers, of which the quantiles are looked at.
    q : int or list of float
        So many bins of about as many rows, or the quantiles themselves.
    duplicates : {"raise", "drop"}
        Quantiles that are equal, since so many rows are, are an error, or one edge.

    Raises
    ------
    InvalidArgumentError
        For equal quantiles, unless they are dropped.

    Examples
    --------
    >>> import headrace as hr
    >>> hr.qcut(hr.Series([1, 2, 3, 9]), 2, labels=["low", "high"]).to_list()
    ['low', 'low', 'high', 'high']
    """
    import numpy as np

    from headrace.series import Series

    mark("qcut")
    if duplicates not in ("raise", "drop"):
        raise InvalidArgumentError(
            f"qcut: no such word: duplicates={duplicates!r}; pass raise or drop"
        )
    values = Series(x)
    levels = np.linspace(0, 1, q + 1).tolist() if isinstance(q, int) else list(q)
    edges = values.quantile(levels).tolist()
    distinct = np.unique(edges).tolist()
    if duplicates == "raise" and len(distinct) < len(edges):
        raise InvalidArgumentError(
            f"qcut: quantiles are equal: edges={edges}; pass duplicates='drop' or fewer of them"
        )
    if duplicates == "drop":
        edges = distinct
    return cut(
        values, edges, labels=labels, include_lowest=True, precision=precision, retbins=retbins
    )


def _equal_edges(values: Series, bins: int, right: bool) -> Any:
    """Edges as pandas sets them: the open end a thousandth of the range further out."""
    import numpy as np

    if bins < 1:
        raise InvalidArgumentError(f"cut: there is one bin at least: bins={bins}")
    low, high = values.astype("float64").min(), values.astype("float64").max()
    _core.force([low._node, high._node])
    least, most = float(low), float(high)
    if not np.isfinite(least) or not np.isfinite(most):
        raise InvalidArgumentError(
            f"cut: the range of the values is not finite: min={least}, max={most}; pass edges"
        )
    if least == most:
        least -= 0.001 * abs(least) if least != 0 else 0.001
        most += 0.001 * abs(most) if most != 0 else 0.001
        return np.linspace(least, most, bins + 1)
    edges = np.linspace(least, most, bins + 1)
    change = (most - least) * 0.001
    if right:
        edges[0] -= change
    else:
        edges[-1] += change
    return edges


# ---- the part of DataFrame -----------------------------------------------------------------------
class FrameShapes:
    """The part of `DataFrame` that gives rows another form."""

    __slots__ = ()

    def sample(
        self: Any,
        n: int | None = None,
        *,
        frac: float | None = None,
        replace: bool = False,
        random_state: Any = None,
    ) -> DataFrame:
        """Rows by chance, in random order: `n` of them (1), or the share `frac` of all.

        With an integer as `random_state` the rows are those that pandas draws.

        >>> import headrace as hr
        >>> hr.DataFrame({"a": [1, 2, 3, 4]}).sample(n=2, random_state=0).a.to_list()
        [3, 4]
        """
        mark("sample")
        rows: DataFrame = self[sampled_rows(len(self), n, frac, replace, random_state)]
        return rows

    def value_counts(
        self: Any,
        subset: str | list[str] | None = None,
        normalize: bool = False,
        sort: bool = True,
        ascending: bool = False,
        dropna: bool = True,
    ) -> Any:
        """How often each row occurs (in the columns of `subset`), the most frequent first.

        Of equals the one seen first. With `normalize` the share of all rows that are counted.

        >>> import headrace as hr
        >>> hr.DataFrame({"a": [1, 1, 2], "b": ["x", "x", "y"]}).value_counts().to_dict()
        {(1, 'x'): 2, (2, 'y'): 1}
        """
        names = [subset] if isinstance(subset, str) else subset or self._unlabelled()
        from headrace.series_reductions import counted_values

        counted = self.groupby(names, sort=False, dropna=dropna).size()
        return counted_values(counted, normalize, sort, ascending)

    def nunique(self: Any, dropna: bool = True) -> Any:
        """The number of distinct values of each column.

        >>> import headrace as hr
        >>> hr.DataFrame({"a": [1, 1, 2], "b": ["x", "x", None]}).nunique().to_dict()
        {'a': 2, 'b': 1}
        """
        from headrace.column_values import column_values

        return column_values({n: self[n].nunique(dropna) for n in self._unlabelled()}, "nunique")

    @property
    def T(self: Any) -> DataFrame:  # noqa: N802
        """Rows as columns and columns as rows, of a small frame; looks.

        The columns have the labels of the rows as their names, or their positions; the rows are
        labelled by the names of the columns.

        Raises
        ------
        TypeMismatchError
            Columns of different types, which no column holds.
        InvalidArgumentError
            More rows than the 10,000 that make columns still.

        >>> import headrace as hr
        >>> hr.DataFrame({"a": [1, 2], "b": [3.0, 4.0]}).agg(["min", "max"]).T.to_dict()
        {'min': [1.0, 3.0], 'max': [2.0, 4.0]}
        """
        import numpy as np

        from headrace.frame import DataFrame
        from headrace.joining import agreed
        from headrace.series import Series

        mark("transpose")
        rows, names = len(self), self._unlabelled()
        if rows > _MOST_TURNED:
            raise InvalidArgumentError(
                f"transpose: too many rows to be columns: rows={rows}, most={_MOST_TURNED}"
            )
        if not names:
            raise InvalidArgumentError("transpose: there is no column")
        whole = Series(_core.concat(agreed([self._nodes[name] for name in names])))
        keys = [column.to_list() for column in (Series(node) for node in self._labels.values())]
        heads = ["_".join(map(str, key)) for key in zip(*keys, strict=True)] or range(rows)
        places = np.arange(len(whole)).reshape(-1, rows).T
        made = {
            str(head): Series(_core.take(whole._node, Series(at)._node))
            for head, at in zip(heads, places, strict=True)
        }
        if len(made) < rows:
            raise InvalidArgumentError(f"transpose: labels repeat: labels={list(heads)}")
        return DataFrame(made, index=Series(names, name="column"))

    def transpose(self: Any) -> DataFrame:
        """The same as `T`."""
        return self.T  # type: ignore[no-any-return]

    def pivot_table(
        self: Any,
        values: str | list[str] | None = None,
        index: str | list[str] | None = None,
        columns: str | None = None,
        aggfunc: str = "mean",
        fill_value: Any = None,
    ) -> DataFrame:
        """An aggregate of `values` with a row a key of `index` and a column a value of `columns`.

        Parameters
        ----------
        values : str or list of str, optional
            Columns of numbers; several give columns ``x_a`` for value x at column a.
        index : str or list of str
            Keys, which become the labels.
        columns : str, optional
            The column whose distinct values become names; they are looked at now.
        aggfunc : str
            An aggregate as `agg` takes it.
        fill_value : optional
            Instead of null where there are no rows.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"d": [1, 1, 2], "s": ["a", "b", "a"], "x": [1.0, 2.0, 3.0]})
        >>> df.pivot_table(values="x", index="d", columns="s").to_dict()
        {'d': [1, 2], 'a': [1.0, 3.0], 'b': [2.0, None]}
        """
        from headrace.frame import DataFrame

        mark("pivot_table")
        keys = [index] if isinstance(index, str) else list(index or [])
        if not keys:
            raise InvalidArgumentError("pivot_table: there is no key; name a column as index")
        taken = {*keys, columns}
        wanted = (
            [values]
            if isinstance(values, str)
            else values
            or [n for n in self.columns if n not in taken and self[n].dtype.is_of("biuf")]
        )
        spec = dict.fromkeys(wanted, aggfunc)
        if columns is None:
            return self.groupby(keys).agg(spec)  # type: ignore[no-any-return]
        groups = self.groupby([*keys, columns]).agg(spec).reset_index()
        at = groups[columns].unique().dropna().sort_values()
        parts: dict[str, Any] = {name: groups[name] for name in keys}
        made: list[str] = []
        for value in wanted:
            for each in at.to_list():
                name = str(each) if len(wanted) == 1 else f"{value}_{each}"
                if name in parts:
                    raise InvalidArgumentError(
                        f"pivot_table: a name would be repeated: name={name!r}"
                    )
                parts[name] = groups[value].where(groups[columns] == each)
                made.append(name)
        spread = DataFrame(parts).groupby(keys).agg(dict.fromkeys(made, "first"))
        if fill_value is None:
            return spread  # type: ignore[no-any-return]
        return spread.fillna(dict.fromkeys(made, fill_value))  # type: ignore[no-any-return]

    def melt(
        self: Any,
        id_vars: str | list[str] | None = None,
        value_vars: str | list[str] | None = None,
        var_name: str = "variable",
        value_name: str = "value",
    ) -> DataFrame:
        """Columns under each other: a row for each row and column of `value_vars`.

        >>> import headrace as hr
        >>> hr.DataFrame({"id": [1, 2], "a": [3, 4], "b": [5, 6]}).melt("id").to_dict()
        {'id': [1, 2, 1, 2], 'variable': ['a', 'a', 'b', 'b'], 'value': [3, 4, 5, 6]}
        """
        from headrace.concatenation import concat
        from headrace.frame import DataFrame
        from headrace.series import Series

        mark("melt")
        ids = [id_vars] if isinstance(id_vars, str) else list(id_vars or [])
        picked = [value_vars] if isinstance(value_vars, str) else value_vars
        names = [n for n in self.columns if n not in ids] if picked is None else picked
        if not names:
            raise InvalidArgumentError("melt: there is no column to put under the others")
        parts = []
        for name in names:
            part = DataFrame._of({n: self._nodes[self._find(n)] for n in ids})
            part[value_name] = Series(self._nodes[self._find(name)])
            part[var_name] = name
            parts.append(part[[*ids, var_name, value_name]])
        melted: DataFrame = concat(parts, ignore_index=True)
        return melted
