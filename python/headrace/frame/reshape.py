# SPDX-License-Identifier: Apache-2.0
"""Reshaping: samples, bins, codes, pivot tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import frame_of, new_frame
from headrace.frame.concat import concat
from headrace.frame.indexing import positions
from headrace.lazy.handle import mark
from headrace.reshape.alignment import rows_apart
from headrace.rows import by_position, given, unnamed, whole_number, with_levels
from headrace.series.categorical import entries_of
from headrace.series.column import (
    is_index,
    is_series,
    new_series,
    series_of,
    series_over,
    with_rows_of,
)

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

#: Most rows that may become columns.
_MOST_TURNED = 10_000


# ---- repeated rows -------------------------------------------------------------------------------


# ---- samples -------------------------------------------------------------------------------------
def sampled_rows(
    rows: int,
    n: int | None,
    frac: float | None,
    replace: bool,
    random_state: Any,
    weights: Any = None,
) -> Any:
    """Positions of sampled rows, the same as pandas draws from a seed."""
    import numpy as np

    if (n is None) == (frac is None) and n is not None:
        raise InvalidArgumentError(
            f"sample: got both n and frac: n={n}, frac={frac}; pass one of them"
        )
    if frac is not None:
        size = round(frac * rows)
    else:
        size = 1 if n is None else whole_number("sample", "n", n)
    if size < 0 or (size > rows and not replace):
        raise InvalidArgumentError(
            f"sample: not enough rows: n={size}, rows={rows}; pass replace=True"
        )
    if isinstance(random_state, np.random.RandomState | np.random.Generator):
        chance: Any = random_state
    elif random_state is None:  # draws a few of many rows without numbering all of them
        chance = np.random.default_rng()
    else:
        chance = np.random.RandomState(random_state)
    if weights is None:
        return chance.choice(rows, size=size, replace=replace)
    shares = np.nan_to_num(np.asarray(weights, np.float64), posinf=-1)
    total = shares.sum()
    if len(shares) != rows or (shares < 0).any() or total == 0:
        raise InvalidArgumentError(
            f"sample: expected one finite weight of at least 0 per row: weights={len(shares)}, "
            f"rows={rows}, sum={total}"
        )
    if not replace and size * shares.max() > total:
        raise InvalidArgumentError(
            f"sample: a weight is too large to draw without replacement: n={size}; pass "
            "replace=True, or fewer rows"
        )
    return chance.choice(rows, size=size, replace=replace, p=shares / total)


def weights_of(rows: Any, weights: Any) -> Any:
    """Weights of `sample` as an array: values, a series, or the name of a column."""
    import numpy as np

    if isinstance(weights, str):
        weights = rows[weights]
    if is_series(weights):
        return weights.astype("float64").fillna(0.0).to_numpy()
    return None if weights is None else np.asarray(weights)


# ---- codes and bins ------------------------------------------------------------------------------
def factorize(
    values: Any, *, sort: bool = False, use_na_sentinel: bool = True
) -> tuple[Series, Series]:
    """A code for each value, and the distinct values that the codes stand for.

    Parameters
    ----------
    values : Series, or what `hr.Series` takes
        One-dimensional values.
    sort : bool
        Sort the distinct values; else keep the order of first appearance.
    use_na_sentinel : bool
        Whether missing values get code -1; else they are among the distinct values.

    Returns
    -------
    codes, uniques : Series
        int64 codes, one per row, -1 for null or NaN; the distinct values without these.

    >>> codes, uniques = hr.factorize(["b", None, "a", "b"])
    >>> codes.to_list(), uniques.to_list()
    ([0, -1, 1, 0], ['b', 'a'])
    """
    mark("factorize")
    series = new_series(by_position(values))
    plain = series._plain()
    uniques = new_series((plain.dropna() if use_na_sentinel else plain).unique())
    if sort:
        uniques = uniques.sort_values().reset_index(drop=True)
    known = new_frame({"key": uniques, "code": positions(len(uniques))})
    rows = frame_of({"key": series._node})
    codes = rows.merge(known, on="key", how="left").code.fill_null(-1)
    return with_rows_of(new_series(codes), series._node), uniques


def _edge(value: float, digits: int) -> float:
    """An edge with a number of decimals; below 1 counted after the leading zeros."""
    import numpy as np

    if 0 < abs(value) < 1:
        digits -= 1 + math.floor(math.log10(abs(value)))
    return float(np.around(value, digits)) if digits < 300 else value  # the smallest floats


def _bin_names(
    edges: list[Any], whole: bool, right: bool, lowest: bool, precision: int
) -> list[str]:
    """Bin names in pandas' interval notation, with enough digits to tell them apart."""
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
    """Times or durations and bin edges as integers, and the dtype of the edges."""
    dtype = str(values.dtype)
    if isinstance(bins, int):
        whole = values.astype("int64")
        edges = _equal_edges(whole, bins, right).round().tolist()
        counted = new_series([int(edge) for edge in edges], dtype="int64")
        return whole, counted, counted.astype(dtype)
    given = new_series(bins)
    given = given.astype(dtype) if given.dtype == "string" else given
    own = _core.comparable_counts("cut", values._node, given._node)
    if not own:
        raise TypeMismatchError(
            f"cut: the edges do not match the values: dtype={dtype!r}, edges={str(given.dtype)!r}"
        )
    return new_series(own[0]).astype("int64"), new_series(own[1]).astype("int64"), given


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
    labels: Sequence[Any] | bool | None = None,
    include_lowest: bool = False,
    precision: int = 3,
    retbins: bool = False,
) -> Any:
    """Bin numbers, times or durations into ordered categories.

    Parameters
    ----------
    x : Series, or what `hr.Series` takes
        Numbers, times or durations.
    bins : int or list
        Number of bins of equal width over the range of `x` (which is evaluated), or increasing
        edges.
    right : bool
        Whether a bin includes its right edge, else its left one.
    labels : list of str or of numbers, or False, optional
        Names of the bins, ``(1, 5]`` by default; False gives their numbers. Labels that are numbers
        give a column of numbers.
    include_lowest : bool
        Whether the first bin includes its left edge too.
    precision : int
        Decimals in the names.
    retbins : bool
        Return the edges as well.

    Returns
    -------
    Series
        One category per row, null for missing values and those outside all bins; with `retbins` a
        pair with the edges as a NumPy array.

    Raises
    ------
    InvalidArgumentError
        For edges that do not increase, or if labels and bins differ in number.

    Notes
    -----
    One fused pass with one comparison per edge, meant for up to a few hundred bins.

    >>> hr.cut(hr.Series([1, 5, 12]), [0, 4, 10], labels=["low", "high"]).to_list()
    ['low', 'high', None]
    """
    import numpy as np

    mark("cut")
    values = x if is_series(x) and not is_index(x) else new_series(x)
    if values.dtype.kind in "mM":
        integers, counted, given = _counts_and_edges(values, bins, right)
        shows_edges = labels in (None, True)
        made = cut(
            *(values._like(integers._node), counted.to_list()),
            right=right,
            labels=_intervals(_shown_edges(given), right) if shows_edges else labels,
            include_lowest=include_lowest,
        )
        return (made, given.to_numpy()) if retbins else made
    if values.dtype.startswith("decimal"):
        values = values.astype("float64")
    if values.dtype.kind not in "iuf":
        raise TypeMismatchError(f"cut: expected numbers or times: dtype={str(values.dtype)!r}")
    lowest = include_lowest and right
    if isinstance(bins, int):
        edges, whole = _equal_edges(values, bins, right), False
    else:
        edges = np.asarray(bins)
        whole = edges.dtype.kind in "iu"
    if edges.ndim != 1 or len(edges) < 1 or not (edges[1:] > edges[:-1]).all():
        raise InvalidArgumentError(
            f"cut: expected at least one bin edge, in increasing order: bins={bins!r}"
        )
    count = len(edges) - 1
    passed = [values > e if right else values >= e for e in edges.tolist()]
    if lowest:
        passed[0] = values >= edges[0].item()
    number = passed[-1].astype("int64") * 0
    for test in passed[1:-1]:
        number = number + test.astype("int64")
    inside = passed[0]._elementwise("bitwise_and", passed[0], ~passed[-1], missing_is_false=True)
    if labels is False:
        made = values._like(number.where(inside)._node)
        return (made, edges) if retbins else made
    names: list[Any] = (
        _bin_names(edges.tolist(), whole, right, lowest, precision)
        if labels is None or labels is True
        else list(labels)
    )
    if len(names) != count:
        raise InvalidArgumentError(
            f"cut: number of labels does not match the bins: expected={count}, got={len(names)}"
        )
    if len(set(names)) != count:
        raise InvalidArgumentError(f"cut: duplicate labels: labels={names}")
    at = number.where(inside, count).fill_null(count)
    found = series_of(_core.take(entries_of(names, True), at._node))
    made = values._like(with_rows_of(found, values._node)._node)
    return (made, edges) if retbins else made


def qcut(
    x: Any,
    q: int | Sequence[float],
    *,
    labels: Sequence[Any] | bool | None = None,
    precision: int = 3,
    retbins: bool = False,
    duplicates: Literal["raise", "drop"] = "raise",
) -> Any:
    """Bin numbers by quantiles; see `hr.cut`.

    Parameters
    ----------
    x : Series, or what `hr.Series` takes
        Numbers; their quantiles are evaluated.
    q : int or list of float
        Number of bins of about equal size, or the quantiles themselves.
    duplicates : {"raise", "drop"}
        Whether equal quantiles raise, or are merged into one edge.

    Raises
    ------
    InvalidArgumentError
        For equal quantiles, unless they are dropped.

    >>> hr.qcut(hr.Series([1, 2, 3, 9]), 2, labels=["low", "high"]).to_list()
    ['low', 'low', 'high', 'high']
    """
    import numpy as np

    mark("qcut")
    if duplicates not in ("raise", "drop"):
        raise InvalidArgumentError(
            f"qcut: invalid value: duplicates={duplicates!r}; expected 'raise' or 'drop'"
        )
    values = x if is_series(x) and not is_index(x) else new_series(x)
    levels = np.linspace(0, 1, q + 1).tolist() if isinstance(q, int) else list(q)
    edges = values.quantile(levels).tolist()
    distinct = np.unique(edges).tolist()
    if duplicates == "raise" and len(distinct) < len(edges):
        raise InvalidArgumentError(
            f"qcut: equal quantiles: edges={edges}; pass duplicates='drop' or fewer quantiles"
        )
    if duplicates == "drop":
        edges = distinct
    return cut(
        values, edges, labels=labels, include_lowest=True, precision=precision, retbins=retbins
    )


def _equal_edges(values: Series, bins: int, right: bool) -> Any:
    """Edges as in pandas: the open end is moved out by a thousandth of the range."""
    import numpy as np

    if bins < 1:
        raise InvalidArgumentError(f"cut: expected at least one bin: bins={bins}")
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


def transpose(frame: DataFrame) -> DataFrame:
    """See `DataFrame.T`."""
    import numpy as np

    mark("transpose")
    rows, names = len(frame), frame.columns
    if rows > _MOST_TURNED:
        raise InvalidArgumentError(
            f"transpose: too many rows to become columns: rows={rows}, limit={_MOST_TURNED}"
        )
    if not names:
        raise InvalidArgumentError("transpose: the frame has no columns: columns=0")
    whole = series_of(_core.concat([frame._nodes[name] for name in names]))
    levels = tuple(given(name) for name in frame._labels)
    heads = [with_levels(label, levels) for label in frame._label_list()]
    places = np.arange(len(whole)).reshape(-1, rows).T
    made = {
        head: series_of(_core.take(whole._node, series_over(at)._node))
        for head, at in zip(heads, places, strict=True)
    }
    if len(made) < rows:
        raise InvalidArgumentError(f"transpose: duplicate labels: labels={list(heads)}")
    down = zip(*names, strict=True) if names.nlevels > 1 else [names]
    called = names.names
    words = [unnamed(i, len(called)) if n is None else n for i, n in enumerate(called)]
    labels = {w: new_series(list(each)) for w, each in zip(words, down, strict=True)}
    return rows_apart(made, labels)


def melt(
    frame: DataFrame,
    id_vars: str | list[str] | None = None,
    value_vars: str | list[str] | None = None,
    var_name: str | None = None,
    value_name: str = "value",
) -> DataFrame:
    """See `DataFrame.melt`."""
    var_name = var_name or frame.columns.name or "variable"
    mark("melt")
    ids = [id_vars] if isinstance(id_vars, str) else list(id_vars or [])
    picked = [value_vars] if isinstance(value_vars, str) else value_vars
    names = [n for n in frame.columns if n not in ids] if picked is None else picked
    if not names:
        raise InvalidArgumentError("melt: no columns to melt; pass value_vars")
    parts = []
    for name in names:
        part = frame_of({n: frame._nodes[frame._find(n)] for n in ids})
        part[value_name] = new_series(frame._nodes[frame._find(name)])
        part[var_name] = name
        parts.append(part[[*ids, var_name, value_name]])
    return concat(parts, ignore_index=True)
