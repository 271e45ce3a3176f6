# SPDX-License-Identifier: Apache-2.0
"""Long rows to wide columns and back: pivot tables, unstack, stack, cross tables, dummies."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of, framed, is_frame, new_frame
from headrace.frame.concat import concat, rows_of
from headrace.frame.construct import repeated
from headrace.groupby.keys import level_keys
from headrace.lazy.handle import eval, mark
from headrace.reshape.alignment import rows_apart, taken_or_missing
from headrace.rows import by_position, free_name, given, unnamed, with_levels
from headrace.series.column import is_series, labelled_series, new_series, series_of, series_over

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def _several(names: Any) -> list[Any]:
    """One or several names or keys as a list."""
    if names is None:
        return []
    return list(names) if isinstance(names, list | tuple) else [names]


def _cells(op: str, long: DataFrame, keys: list[str], columns: list[str]) -> tuple[Any, ...]:
    """Distinct row keys, column names, and the row of `long` for each cell; -1 if there is none."""
    import numpy as np

    eval(long)  # its few rows are asked for several times
    whole = long.dropna(subset=[*keys, *columns]) if long._nodes else long
    if len(whole) < len(long):
        raise InvalidArgumentError(f"{op}: a key is missing; use dropna first: keys={keys}")
    across = long.groupby(columns, sort=len(columns) == 1 or op == "pivot_table")
    down = long.groupby(keys)
    heads = frame_of(across.size()._frame._labels).to_dict().values()
    names = [each[0] if len(each) == 1 else each for each in zip(*heads, strict=True)]
    rows = frame_of(down.size()._frame._labels)
    at = down.ngroup().to_numpy() * len(names) + across.ngroup().to_numpy()
    cells = np.full(len(rows) * len(names), -1)
    cells[at] = np.arange(len(at))
    if len(at) and (cells >= 0).sum() < len(at):
        raise InvalidArgumentError(
            f"{op}: several rows have the same keys: keys={[*keys, *columns]}; use pivot_table"
        )
    return rows, names, cells.reshape(len(rows), len(names)).T


def _spread(
    op: str,
    long: DataFrame,
    keys: list[str],
    columns: list[str],
    values: list[str],
    fill_value: Any = None,
    alone: bool = False,
) -> DataFrame:
    """One row per key, which labels it, and one column per value of `columns`.

    Names are tuples of a name among `values` and the value, just the value if `alone`.
    """
    rows, names, cells = _cells(op, long, keys, columns)
    called = tuple(given(name) for name in columns)
    made: dict[Any, Series] = {}
    for value in values:
        for name, places in zip(names, cells, strict=True):
            word = name if alone else (value, *(name if isinstance(name, tuple) else (name,)))
            word = with_levels(word, called if alone else (None, *called))
            if word in made:
                raise InvalidArgumentError(f"{op}: duplicate column name: name={word!r}")
            made[word] = taken_or_missing(long._nodes[value], places, fill_value)
    return rows_apart(made, {name: rows[name] for name in keys})


def _with_other_labels(frame: DataFrame) -> DataFrame:
    """Labels as columns, unless columns have their names."""
    kept = {name: node for name, node in frame._labels.items() if name not in frame._nodes}
    return frame_of({**frame_of(frame._nodes, kept)._with_labels()})


def pivot(frame: DataFrame, columns: Any, index: Any = None, values: Any = None) -> DataFrame:
    """See `DataFrame.pivot`."""
    mark("pivot")
    keys = list(frame._labels) if index is None else _several(index)
    if not keys:
        raise InvalidArgumentError("pivot: missing key; pass a column name as index")
    across = _several(columns)
    wanted = _several(values) or [n for n in frame.columns if n not in {*keys, *across}]
    long = _with_other_labels(frame)
    alone = isinstance(values, str)
    return _spread("pivot", long[[*keys, *across, *wanted]], keys, across, wanted, None, alone)


def unstack(frame: DataFrame, level: Any = -1, fill_value: Any = None) -> Any:
    """See `DataFrame.unstack`."""
    mark("unstack")
    if len(frame._labels) < 2:
        return _in_one_column(frame, names_first=True)
    across = [name for name, _ in level_keys(frame, level, "unstack")]
    keys = [name for name in frame._labels if name not in across]
    long = frame_of(frame._with_labels())
    return _spread("unstack", long, keys, across, frame.columns, fill_value)


def stack(frame: DataFrame, level: Any = -1) -> Any:
    """See `DataFrame.stack`."""
    mark("stack")
    levels = frame.columns.nlevels
    if levels == 1:
        return _in_one_column(frame, names_first=False)
    at = frame.columns._level(level)
    called = frame.columns.names
    rest_called = tuple(called[:at] + called[at + 1 :])
    heads: dict[Any, dict[Any, _core.Node]] = {}
    for name, node in frame._nodes.items():
        rest = name[:at] + name[at + 1 :]
        head = with_levels(rest if levels > 2 else rest[0], rest_called)
        heads.setdefault(head, {})[with_levels(name[at], (called[at],))] = node
    rows = dict.fromkeys(frame.columns.get_level_values(at))
    parts = {
        head: _in_one_column(
            frame_of(
                {n: own[n] if n in own else repeated(frame._every()[0], math.nan) for n in rows},
                frame._labels,
            ),
            names_first=False,
        )
        for head, own in heads.items()
    }
    labels = framed(next(iter(parts.values())))._labels
    return rows_apart(parts, {name: series_of(node) for name, node in labels.items()})


def _in_one_column(frame: DataFrame, names_first: bool) -> Series:
    """All values, labelled by the rows' labels and the column names: row by row, or by column."""
    import numpy as np

    names, rows = frame.columns, len(frame)
    if not names:
        raise InvalidArgumentError("stack: expected columns: columns=[]")
    keys: dict[str, Series] = {n: series_of(v) for n, v in frame._labels.items()}
    if not keys:
        keys[unnamed(0, 2)] = series_over(np.arange(rows))
    whole = concat([new_series(frame._nodes[name]) for name in names])
    order = np.arange(rows * len(names))
    if not names_first:
        order = order.reshape(len(names), rows).T.ravel()
    own = {n: taken_or_missing(v._node, order % rows) for n, v in keys.items()}
    level = names.name or unnamed(0 if names_first else len(keys), len(keys) + 1)
    heads: dict[Any, Any] = {level: taken_or_missing(new_series(names)._node, order // rows)}
    made = {**heads, **own} if names_first else {**own, **heads}
    return labelled_series(rows_apart({"value": taken_or_missing(whole._node, order)}, made), None)


def pivot_table(
    frame: DataFrame,
    values: Any = None,
    index: Any = None,
    columns: Any = None,
    aggfunc: Any = "mean",
    fill_value: Any = None,
    margins: bool = False,
    margins_name: str = "All",
    *,
    dropna: bool = True,
    observed: bool = True,
    sort: bool = True,
) -> DataFrame:
    """See `DataFrame.pivot_table`."""
    mark("pivot_table")
    how: dict[str, Any] = {"observed": observed, "sort": sort}
    frame = _with_other_labels(frame)  # its own columns: keys are added
    keys, across = (_named(frame, each) for each in (index, columns))
    if not keys:
        raise InvalidArgumentError("pivot_table: missing key; pass a column name as index")
    if aggfunc == "size" and not margins:
        counts = frame.groupby([*keys, *across], **how).size()
        if not across:
            return counts
        table = unstack(counts.to_frame("size"), across, fill_value)
        return table.droplevel(0, axis=1)
    if aggfunc == "size":  # of rows, whichever values are missing
        values = free_name("size", frame.columns)
        frame[values] = 1
    if isinstance(aggfunc, list | tuple):
        tables = [
            pivot_table(
                *(frame, values, keys, across, each, fill_value, margins, margins_name),
                dropna=dropna,
                **how,
            )
            for each in aggfunc
        ]
        named: dict[Any, Series] = {}
        for each, table in zip(aggfunc, tables, strict=True):
            word = each if isinstance(each, str) else each.__name__
            called = (None, *table.columns.names)
            named |= {
                with_levels((word, *(n if isinstance(n, tuple) else (n,))), called): series_of(v)
                for n, v in table._nodes.items()
            }
        return rows_apart(named, {n: series_of(v) for n, v in tables[0]._labels.items()})
    taken = {*keys, *across}
    wanted = (
        list(aggfunc)
        if isinstance(aggfunc, dict)
        else _several(values)
        or [n for n in frame.columns if n not in taken and frame[n].dtype.is_of("biuf")]
    )
    wanted = sorted(wanted)
    spec = {n: aggfunc[n] if isinstance(aggfunc, dict) else aggfunc for n in wanted}
    alone = isinstance(values, str) or not across
    table = _table(frame, keys, across, wanted, spec, alone, dropna=dropna, **how)
    if margins:
        table = _with_margins(frame, table, keys, across, wanted, spec, margins_name, alone)
    if fill_value is None:
        return table
    return table.fillna(fill_value)


def _named(frame: DataFrame, keys: Any) -> list[str]:
    """The names of keys, which may be columns of the frame or series; these become columns."""
    names = []
    for each in _several(keys):
        if hasattr(each, "named_spans"):  # `hr.Grouper`
            name, spans = each.named_spans(frame)
            frame[name] = spans
            names.append(name)
        elif is_series(each):
            name = each.name or free_name("key", frame.columns)
            frame[name] = each
            names.append(name)
        else:
            names.append(frame._find(each))
    return names


def _table(
    frame: DataFrame,
    keys: list[str],
    across: list[str],
    wanted: list[str],
    spec: dict[str, Any],
    alone: bool,
    *,
    dropna: bool = True,
    **how: bool,
) -> DataFrame:
    """The aggregates of each cell."""
    long: DataFrame = frame.groupby([*keys, *across], **how).agg(spec)
    long = long.dropna(how="all") if dropna else long
    if not across:
        return long
    return _spread("pivot_table", frame_of(long._with_labels()), keys, across, wanted, None, alone)


def _plain_rows(table: DataFrame) -> DataFrame:
    """The labels as first columns, under their own names."""
    return frame_of({**table._labels, **table._nodes})


def _with_margins(
    frame: DataFrame,
    table: DataFrame,
    keys: list[str],
    across: list[str],
    wanted: list[str],
    spec: dict[str, Any],
    name: str,
    alone: bool,
) -> DataFrame:
    """A table with a last row and last columns of the aggregates over all others."""
    whole = frame.dropna(subset=[*keys, *across, *wanted])
    table = _plain_rows(table).astype(dict.fromkeys(keys, "string"))
    every = whole.assign(**dict.fromkeys(keys, name))
    below = _plain_rows(_table(every, keys, across, wanted, spec, alone))
    names = table.columns[len(keys) :]
    if across:
        right, corner = (_plain_rows(t.groupby(keys).agg(spec)) for t in (whole, every))
        width = len(names) // len(wanted)
        for i, value in enumerate(wanted):
            end: Any = name if alone else (value, name)
            names.insert((i + 1) * width + i, end)
            table = rows_apart({**dict(table.items()), end: right[value]})
            below = rows_apart({**dict(below.items()), end: corner[value]})
    rows = rows_of([table, below])
    return rows_apart({n: rows[n] for n in [*keys, *names]}).set_index(keys)


def crosstab(
    index: Any,
    columns: Any,
    values: Any = None,
    *,
    rownames: list[str] | None = None,
    colnames: list[str] | None = None,
    aggfunc: Any = None,
    margins: bool = False,
    margins_name: str = "All",
    normalize: bool | Literal["all", "index", "columns"] = False,
) -> DataFrame:
    """Count the rows for each pair of keys, or aggregate `values` over them.

    Parameters
    ----------
    index, columns : Series, or a list of them
        The keys of the rows and of the columns of the result; rows with a missing key are dropped.
    values : Series, optional
        Numbers to aggregate by `aggfunc`; without them the rows are counted.
    rownames, colnames : list of str, optional
        Names of the keys, instead of their own.
    aggfunc : str or callable, optional
        An aggregate as in `DataFrame.pivot_table`.
    margins : bool
        Add totals as a last row and a last column named `margins_name`.
    normalize : bool or {"all", "index", "columns"}
        Divide by the sum of all cells, of each row or of each column.

    Returns
    -------
    DataFrame
        Counts are int64, 0 for combinations without rows; aggregates are null for these.

    Raises
    ------
    InvalidArgumentError
        For only one of `values` and `aggfunc`, or an unknown `normalize`.

    >>> df = hr.DataFrame({"k": ["a", "b", "a"], "g": ["x", "x", "y"]})
    >>> hr.crosstab(df.k, df.g).to_dict()
    {'x': [1, 1], 'y': [1, 0]}
    """
    mark("crosstab")
    if (values is None) != (aggfunc is None):
        raise InvalidArgumentError("crosstab: values and aggfunc belong together; pass both")
    if normalize not in (False, True, "all", "index", "columns"):
        raise InvalidArgumentError(
            f"crosstab: invalid value: normalize={normalize!r}; expected True, 'all', 'index' or "
            "'columns'"
        )
    made: dict[str, Any] = {}
    names: list[list[str]] = []
    for word, keys, called in (("row", index, rownames), ("col", columns, colnames)):
        several = keys if isinstance(keys, list) and any(map(is_series, keys)) else [keys]
        names.append([])
        for at, each in enumerate(several):
            key = new_series(by_position(each))
            usual = key.name or f"{word}_{at}"
            name = free_name(usual if called is None else called[at], made)
            made[name] = each if is_series(each) else key.to_numpy()
            names[-1].append(name)
    frame = new_frame()
    for name in sorted(made, key=lambda name: not is_series(made[name])):  # arrays have no labels
        frame[name] = made[name]
    value = free_name("value", frame.columns)
    frame[value] = 1 if values is None else values
    how = "sum" if aggfunc is None else aggfunc
    table = pivot_table(
        frame, value, names[0], names[1], how, margins=margins, margins_name=margins_name
    )
    counts = table.columns
    if values is None:
        table = table.fillna(dict.fromkeys(counts, 0))
    if normalize is False:
        return table
    own = [n for n in counts if not margins or n != margins_name]
    if normalize == "index":  # the margins of rows and of columns would be 1
        total = table[own].sum(axis=1)
        shares = {name: table[name] / total for name in own}
    elif normalize == "columns":
        table = table[: len(table) - 1] if margins else table
        shares = {name: table[name] / table[name].sum() for name in counts}
    else:
        whole = table[:-1][own] if margins else table
        number = sum(whole[name].sum() for name in own)
        shares = {name: table[name] / number for name in counts}
    labels = {name: series_of(node) for name, node in table._labels.items()}
    return rows_apart(shares, labels)


def get_dummies(
    data: Any,
    prefix: Any = None,
    prefix_sep: str = "_",
    *,
    dummy_na: bool = False,
    columns: list[str] | None = None,
    drop_first: bool = False,
    dtype: Any = bool,
) -> DataFrame:
    """One indicator column for each distinct value of a series, or of the text columns of a frame.

    Parameters
    ----------
    data : DataFrame, Series, or what `hr.Series` takes
        The distinct values are evaluated; categories keep their order, other values are sorted.
    prefix : str, list of str or dict, optional
        What names begin with: for a frame the column names by default.
    prefix_sep : str
        Between prefix and value.
    dummy_na : bool
        Add a column for missing values, named ``nan``; else they are false everywhere.
    columns : list of str, optional
        The columns to replace; all of strings and categories by default.
    drop_first : bool
        Leave out the first value of each column.
    dtype : dtype
        Of the indicators.

    >>> hr.get_dummies(hr.DataFrame({"x": [1, 2], "k": ["a", "b"]})).to_dict()
    {'x': [1, 2], 'k_a': [True, False], 'k_b': [False, True]}
    """
    mark("get_dummies")
    alone = not is_frame(data)
    frame = data
    if alone:
        values = data if is_series(data) else new_series(by_position(data))
        frame = frame_of({"value": values._node}, framed(values)._labels)
    names = frame._names_of("UO") if columns is None else [frame._find(n) for n in columns]
    names = ["value"] if alone else names
    given = prefix if isinstance(prefix, list | dict) else [prefix] * len(names)
    if len(given) != len(names):
        raise InvalidArgumentError(
            f"get_dummies: number of prefixes does not match the columns: prefix={prefix!r}, "
            f"columns={names}"
        )
    words = given if isinstance(given, dict) else dict(zip(names, given, strict=True))
    made = frame_of({n: v for n, v in frame._nodes.items() if n not in names}, frame._labels)
    for name in names:
        column = frame[name]
        word = words.get(name)
        front = f"{word}{prefix_sep}" if word else "" if alone else f"{name}{prefix_sep}"
        is_category = column.dtype == "category"
        distinct = column.cat.categories if is_category else column.dropna().unique().sort_values()
        for value in new_series(distinct).to_list()[1 if drop_first else 0 :]:
            made._put(f"{front}{value}", (column == value).astype(dtype)._node)
        if dummy_na:
            made._put(f"{front}nan", column.isna().astype(dtype)._node)
    return made


def wide_to_long(
    frame: DataFrame, stubnames: Any, i: Any, j: str, sep: str = "", suffix: str = r"\d+"
) -> DataFrame:
    """Unpivot groups of columns whose names are a stub, `sep` and a suffix.

    Parameters
    ----------
    stubnames : str or list of str
        What the names of the columns of a group begin with: a column of the result each.
    i : str or list of str
        Columns that identify the rows.
    j : str
        Name of the label column of suffixes; integers if all are.
    suffix : str
        A regular expression of the suffixes.

    Returns
    -------
    DataFrame
        Labelled by `i` and `j`: all rows of the first suffix, then of the second, and so on.

    >>> df = hr.DataFrame({"id": [1, 2], "x1": [3, 4], "x2": [5, 6]})
    >>> hr.wide_to_long(df, "x", i="id", j="t").to_dict()
    {'x': [3, 4, 5, 6]}
    """
    import numpy as np

    mark("wide_to_long")
    keys, stubs = _several(i), _several(stubnames)
    found = {
        (stub, match[1]): name
        for stub in stubs
        for name in frame.columns
        if (match := re.fullmatch(re.escape(stub + sep) + f"({suffix})", name))
    }
    if not found:
        raise InvalidArgumentError(f"wide_to_long: no column matches: stubnames={stubs}")
    ends = list(dict.fromkeys(end for _, end in found))
    whole = all(end.isdigit() for end in ends)
    rest = [n for n in frame.columns if n not in {*keys, *found.values()}]
    parts = []
    for end in sorted(ends, key=int if whole else str):
        part = frame[[*keys, *rest]].assign(**{j: int(end) if whole else end})
        for stub in stubs:
            part[stub] = frame[found[stub, end]] if (stub, end) in found else float("nan")
        parts.append(part[[*keys, j, *rest, *stubs]])
    rows = rows_of(parts)
    if len(keys) > 1:  # row by row
        order = np.arange(len(rows)).reshape(len(parts), -1).T.ravel()
        rows = frame_of({n: each[order]._node for n, each in rows.items()})
    return rows_apart({n: rows[n] for n in rows.columns}).set_index([*keys, j])
