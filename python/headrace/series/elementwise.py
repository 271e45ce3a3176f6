# SPDX-License-Identifier: Apache-2.0
"""The part of `Series` that tests, selects and fills values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from headrace import _core
from headrace.array.construct import asarray
from headrace.dtypes import INTEGERS, dtype_word, has_no_nan, is_object
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.frame.columns import with_numbers
from headrace.groupby.keys import Words
from headrace.lazy.handle import Deferred, mark
from headrace.rows import by_position, is_missing
from headrace.series import categorical
from headrace.series.categorical import as_pandas_categories
from headrace.series.column import is_labelled, new_series, series_of
from headrace.series.timezone import know_zone

if TYPE_CHECKING:
    import numpy.typing as npt

    from headrace.series.series import Series

    Values = TypeVar("Values", bound=Series)

#: Below it, floats hold every integer.
_EXACT = 2.0**53


def _mask_of(condition: Any) -> Any:
    """A condition as a column, or as a one-element array."""
    if isinstance(condition, Deferred):
        return condition
    import numpy as np

    return new_series(condition) if np.ndim(condition) else asarray(condition)


def drop_duplicates(series: Series, *, keep: Literal["first", "last", False] = "first") -> Series:
    """See `Series.drop_duplicates`."""
    if keep != "first" or is_labelled(series):
        return series[~series.duplicated(keep)]
    found = series.unique()
    domain = found._node.domain | _core.PICKED_ROWS
    made: Series = found._like(_core.in_domain(found._node, domain))

    def pick(node: _core.Node) -> _core.Node:
        keys, first = [("key", series._node)], [Words("", "first_row")]
        rows = _core.part(_core.group_by(keys, first, "first", False), 1)
        return _core.in_domain(_core.take(node, rows), domain)

    return with_numbers(made, series, pick)


def isin(series: Series, values: Any) -> Series:
    """See `Series.isin`."""
    mark("isin")
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise TypeMismatchError(f"isin: expected a list of values: values={values!r}")
    if not isinstance(values, Deferred) and not hasattr(values, "__array_interface__"):
        values = list(values)
    if isinstance(values, list) and all(value is None for value in values):
        return series.is_null() if values else series.is_null() & False
    if isinstance(values, list) and len({isinstance(v, str) for v in values} - {None}) > 1:
        # values of another kind never match, so they are dropped
        texts = series._node.item_dtype == "string" or (
            series.dtype.kind == "M" and all(isinstance(v, str | None) for v in values)
        )
        values = [v for v in values if v is None or isinstance(v, str) == texts]
        if not values:
            return series.is_null() & False
    wanted = new_series(by_position(values))
    if wanted.dtype == series._node.item_dtype == "string" != series.dtype:
        wanted = wanted.astype("category")
    elif wanted.dtype == "string" and series.dtype.kind == "M":
        know_zone(str(series.dtype))
    return series._like(_core.is_in(series._node, wanted._node))


def between(
    series: Series,
    left: Any,
    right: Any,
    inclusive: Literal["both", "neither", "left", "right"] = "both",
) -> Series:
    """See `Series.between`."""
    if inclusive not in ("both", "neither", "left", "right"):
        raise InvalidArgumentError(
            f"between: invalid value: inclusive={inclusive!r}; expected 'both', "
            "'neither', 'left' or 'right'"
        )
    low = series >= left if inclusive in ("both", "left") else series > left
    high = series <= right if inclusive in ("both", "right") else series < right
    return low & high


def where(series: Series, condition: Any, other: Any = None) -> Series:
    """See `Series.where`."""
    condition = condition(series) if callable(condition) else condition
    other = other(series) if callable(other) else other
    values = _mask_of(condition), series, other
    return series._elementwise("where", *values, missing_is_false=True)


def mask(series: Series, condition: Any, other: Any = None) -> Series:
    """See `Series.mask`."""
    condition = condition(series) if callable(condition) else condition
    chosen = _mask_of(condition)
    return series.where(chosen._elementwise("invert", chosen, missing_is_false=True), other)


def clip(series: Series, lower: Any = None, upper: Any = None, *, axis: Any = None) -> Series:
    """See `Series.clip`."""
    made: Series = series
    for op, bound in (("maximum", lower), ("minimum", upper)):
        if is_missing(bound):
            continue
        kept, made = made, made._elementwise(op, made, bound)
        if getattr(bound, "ndim", 0):
            made = made.where(new_series(bound).notna(), kept)
    return made


def replace(series: Series, to_replace: Any, value: Any = None, *, regex: bool = False) -> Series:
    """See `Series.replace`."""
    several = isinstance(to_replace, list | tuple)
    if isinstance(to_replace, Mapping):
        pairs = list(to_replace.items())
    elif several and isinstance(value, list | tuple):
        if len(to_replace) != len(value):
            raise InvalidArgumentError(
                "replace: number of new values does not match the old ones: "
                f"expected={len(to_replace)}, got={len(value)}"
            )
        pairs = list(zip(to_replace, value, strict=True))
    else:
        pairs = [(old, value) for old in (to_replace if several else [to_replace])]
    result: Series = series
    for old, new in pairs:
        if regex:
            result = result.str.replace(old, new, regex=True)
            continue
        try:
            found = series.isna() if is_missing(old) else series == old
        except (TypeMismatchError, UnsupportedError):
            continue  # a value of another kind
        try:
            result = result._elementwise("where", found, new, result, missing_is_false=True)
        except (InvalidArgumentError, TypeMismatchError, UnsupportedError):
            some: Any = found.any()
            if some.item():
                kinds = {old: new for old, new in pairs if not is_missing(old)}
                if not set(series.dropna().unique().to_list()) <= kinds.keys():
                    raise  # some values keep the old dtype
                return series.map(kinds)
    return result


def isna(series: Values) -> Values:
    """See `Series.isna`."""
    null = series.is_null()
    return (
        null | series._elementwise("isnan", series, missing_is_false=True)
        if is_float(series)
        else null
    )


def fillna(series: Values, value: Any) -> Values:
    """See `Series.fillna`."""
    if isinstance(value, Mapping | list | tuple):
        raise TypeMismatchError(
            f"fillna: expected a single value or a series: value={value!r}; build a "
            "series from the values, or fill frame columns with a mapping"
        )
    if series.dtype == "category" and not is_missing(value):
        made: Any = categorical.fillna(series, value)
        return made
    try:
        filled = series.fill_null(value)
    except (InvalidArgumentError, TypeMismatchError, UnsupportedError):
        missing: Any = series.isna()
        several = bool(getattr(value, "ndim", 0))
        if value is not None and not several and not missing.any().item():
            return missing._like(series._node)
        kind = str(getattr(value, "dtype", type(value).__name__))
        if not (kind.startswith("float") and series._node.dtype in INTEGERS):
            raise
        return series.astype("float64").fillna(value)
    if not is_float(series):
        return filled
    return series._elementwise("where", filled.is_nan(), value, filled)


def ffill(series: Series, limit: int | None = None, limit_area: str | None = None) -> Series:
    """See `Series.ffill`."""
    mark("ffill")
    made: Series = series._like(_core.fill_missing(series._node, False))
    return within_limit(series, made, "forward", limit, limit_area)


def bfill(series: Series, limit: int | None = None, limit_area: str | None = None) -> Series:
    """See `Series.bfill`."""
    mark("bfill")
    made: Series = series._like(_core.fill_missing(series._node, True))
    return within_limit(series, made, "backward", limit, limit_area)


def within_limit(
    series: Series, filled: Series, direction: str, limit: int | None, area: str | None
) -> Series:
    """The filled values at most `limit` rows from a value before or after, or on both sides.

    With `area` only between values ("inside"), or before the first and after the last ("outside").
    """
    for word, value, allowed in (
        ("limit_direction", direction, ("forward", "backward", "both")),
        ("limit_area", area, (None, "inside", "outside")),
    ):
        if value not in allowed:
            raise InvalidArgumentError(
                f"fill: invalid value: {word}={value!r}; expected one of {allowed}"
            )
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise InvalidArgumentError(f"fill: expected a positive integer: limit={limit!r}")
    if limit is None and area is None:
        return filled
    there = series.notna()
    places = series._like(row_positions(series._plain())._node)
    known = places.where(there)
    before, after = places - ffill(known), bfill(known) - places
    inside = before.notna() & after.notna()
    most = limit or _core.ALL_ROWS
    kept = {"forward": before <= most, "backward": after <= most}
    near = kept.get(direction, kept["forward"] | kept["backward"])
    if area is not None:
        near = near & (inside if area == "inside" else ~inside)
    return series.where(there, filled.where(near))


def row_positions(series: Series) -> Series:
    """0, 1, 2, ... for the rows, without evaluating their number."""
    ones = series_of(series._node).is_null().astype("int64") * 0 + 1
    return ones.cumsum() - 1


def dropna(series: Series) -> Series:
    """See `Series.dropna`."""
    return series[series.notna()]


def is_float(series: Series) -> bool:
    """Whether the values are floats, which NaN is among."""
    return series.dtype.kind == "f"


def as_dtype(series: Values, dtype: npt.DTypeLike) -> Values:
    """See `Series.astype`."""
    if is_object(dtype):
        return series
    word, own = dtype_word(dtype), series._node.dtype
    if word == "category" and (not isinstance(dtype, str) or hasattr(dtype, "categories")):
        return as_pandas_categories(series, dtype)  # type: ignore[return-value]
    if has_no_nan(dtype) or str(dtype).startswith(("Int", "UInt")):
        return _without_nan(series, word)
    if word == own:
        return series
    if word in ("string", "date"):
        know_zone(own)
    elif own in ("string", "category"):
        know_zone(word)
    mark("astype")
    node = _core.astype(series._node, word)
    return series._like(_core.sorted_categories(node) if word == "category" else node)


def convert_dtypes(series: Series) -> Series:
    """See `Series.convert_dtypes`."""
    if not is_float(series):
        return series
    found = series.where(series.notna())
    whole: Any = (found.isna() | (found % 1 == 0) & (abs(found) < _EXACT)).all()
    return found.astype("int64") if whole.item() else found


def _without_nan(series: Values, word: str) -> Values:
    """Values as a dtype of pandas that has no NaN, which becomes null; integers stay exact."""
    floats = series.dtype.is_of("f")
    made = series.where(series.notna()) if floats else series
    if floats and word[0] in "iu" and (made % 1).abs().max().item():
        raise InvalidArgumentError(
            f"astype: the values are not all whole: dtype={word!r}; use round() first"
        )
    made = made.astype(word)
    return made.where(made.notna())


def interpolate(
    series: Series,
    method: str = "linear",
    limit: int | None = None,
    direction: str | None = None,
    area: str | None = None,
) -> Series:
    """See `Series.interpolate`."""
    direction = (direction or "forward").lower()
    if not series.dtype.is_of("iuf"):
        raise TypeMismatchError(
            f"interpolate: expected numbers: dtype={str(series.dtype)!r}; use ffill or bfill"
        )
    values = series.astype("float64")
    there = values.notna()
    places = _row_places(values) if method == "linear" else _label_places(series, method)
    known = places.where(there)
    low, high = values.where(there).ffill(), values.where(there).bfill()
    left, right = known.ffill(), known.bfill()
    if method == "nearest":  # the lower one of two as near; nothing beyond the ends
        near = low.where(places - left <= right - places, high).where(left.notna())
        return within_limit(values, values.where(there, near), direction, limit, area)
    line = low + (high - low) * ((places - left) / (right - left))
    if direction != "backward":
        line = line.where(right.notna(), low)
    if direction != "forward":
        line = line.where(left.notna(), high)
    found: Series = values.where(there, line)
    return within_limit(values, found, direction, limit, area)


def _row_places(values: Series) -> Series:
    return values._like(row_positions(values._plain())._node).astype("float64")


def interpolate_numbers(column: Any, *words: Any) -> Any:
    """The same of a frame's column, which stays as it is without missing numbers."""
    if not column.dtype.is_of("iuf") or not (column.dtype.is_of("f") or column.isna().any()):
        return column
    return interpolate(column, *words)


def _label_places(series: Series, method: str) -> Series:
    """The labels as numbers: times or numbers."""
    if method not in ("time", "index", "values", "nearest"):
        raise UnsupportedError(
            f"interpolate: expected 'linear', 'time', 'index' or 'nearest': method={method!r}; use "
            "scipy.interpolate"
        )
    labels: Any = series.index
    timed = str(labels.dtype).startswith(("date", "timedelta"))
    if method == "time" and not timed:
        raise TypeMismatchError(
            f"interpolate: expected times as labels: dtype={str(labels.dtype)!r}; use set_index"
        )
    made: Series = series._like(_core.in_domain(labels._node, series._node.domain))
    if timed:
        made = made.astype("int64")
        made = made - made.min()
    return made.astype("float64")


def transform(series: Series, func: Any) -> Any:
    """See `Series.transform`."""
    if isinstance(func, str):
        if hasattr(series, func):
            return getattr(series, func)()
        import numpy as np

        if not isinstance(getattr(np, func, None), np.ufunc):
            raise InvalidArgumentError(f"transform: unknown function: func={func!r}")
        return getattr(np, func)(series)
    made = func(series)
    if not isinstance(made, Deferred) or not made._node.shape:
        raise InvalidArgumentError(
            f"transform: expected a value for each row: func={func!r}, got={type(made).__name__!r}"
        )
    return made
