# SPDX-License-Identifier: Apache-2.0
"""What a name or an expression holds, as far as the lines above it tell."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

#: Libraries whose frames the rules know.
FRAMES = ("headrace", "pandas", "polars", "cudf")

FILES = ("read_csv", "read_table", "read_parquet", "read_json", "read_ipc", "read_feather")
_MAKE_FRAMES = {
    *FILES,
    *("DataFrame", "read_excel", "read_fwf", "read_log", "read_sql", "read_sql_query"),
    *("merge", "merge_asof", "merge_ordered", "melt", "pivot_table", "crosstab", "get_dummies"),
    *("from_pandas", "from_arrow", "from_records", "json_normalize", "wide_to_long"),
}
_FRAME_TO_FRAME = {
    *("head", "tail", "copy", "clone", "sort_values", "sort_index", "sort", "drop", "dropna"),
    *("fillna", "ffill", "bfill", "reset_index", "set_index", "rename", "assign", "merge", "join"),
    *("query", "sample", "filter", "select", "with_columns", "astype", "drop_duplicates"),
    *("nlargest", "nsmallest", "replace", "round", "melt", "pivot", "pivot_table", "reindex"),
    *("where", "mask", "clip", "explode", "drop_nulls", "fill_null", "unique", "isna", "notna"),
    *("add_prefix", "add_suffix", "abs", "diff", "shift", "cumsum", "interpolate", "set_axis"),
}
_SERIES_TO_SERIES = {
    *("head", "tail", "copy", "sort_values", "sort_index", "fillna", "ffill", "bfill", "astype"),
    *("dropna", "reset_index", "rename", "replace", "round", "map", "shift", "diff", "cumsum"),
    *("cumprod", "abs", "clip", "where", "mask", "drop_duplicates", "sample", "reindex", "rank"),
    *("pct_change", "nlargest", "nsmallest", "value_counts", "interpolate", "apply"),
}
_MASKS = {"isna", "isnull", "notna", "notnull", "isin", "between", "duplicated", "is_null", "is_in"}
#: Attributes of frames other than columns.
_OF_FRAMES = {
    *("loc", "iloc", "at", "iat", "index", "columns", "values", "shape", "size", "ndim", "dtypes"),
    *("T", "plot", "attrs", "flags", "empty", "axes", "style", "str", "dt", "cat", "schema"),
    *("height", "width", "name", "names"),
    *("groupby", "sum", "mean", "min", "max", "count", "info", "describe", "apply"),
    *_FRAME_TO_FRAME,
}
_NUMPY_ARRAYS = {
    *("array", "asarray", "zeros", "ones", "full", "empty", "arange", "linspace", "rand", "randn"),
    *("random", "normal", "uniform", "integers", "standard_normal", "zeros_like", "ones_like"),
    *("exp", "log", "sqrt", "sin", "cos", "abs", "where", "cumsum", "diff", "sort", "concatenate"),
}
_SIZED = {
    *("zeros", "ones", "full", "empty", "arange", "linspace", "rand", "randn", "random"),
    *("standard_normal",),
}
_BY_SIZE = {"normal", "uniform", "integers"}
_ELEMENT_WISE = {"exp", "log", "sqrt", "sin", "cos", "abs", "sort", "cumsum"}


class Kind(NamedTuple):
    """What is known of a value."""

    what: str  # "name" (imported), "frame", "lazy", "series", "mask", "groupby", "array", "number"
    library: str = ""  # of a name: its whole path
    size: float = 0  # elements of an array, or the number
    origin: str = ""  # library of the object that to_pandas or to_numpy exported


Names = dict[str, Kind | None]


def dotted(node: ast.expr, names: Names) -> str:
    """The path of an imported name, such as "pandas.DataFrame"; empty for others."""
    if type(node) is ast.Name:
        kind = names.get(node.id)
        return kind.library if kind and kind.what == "name" else ""
    if type(node) is ast.Attribute:
        owner = dotted(node.value, names)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def library_function(node: ast.expr, names: Names) -> tuple[str, str]:
    """The library and the last word of an imported function; empty for others."""
    path = dotted(node, names)
    return (path.partition(".")[0], path.rpartition(".")[2]) if "." in path else ("", "")


def keyword(call: ast.Call, *words: str) -> ast.expr | None:
    """The value of the first of these keywords that is there."""
    return next((each.value for each in call.keywords if each.arg in words), None)


def number(node: ast.expr | None, names: Names) -> float:
    """The value of a constant, as far as it is known; else 0."""
    if type(node) is ast.Constant and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]
    if type(node) is ast.Name:
        kind = names.get(node.id)
        return kind.size if kind and kind.what == "number" else 0
    if type(node) is ast.Call and type(node.func) is ast.Name and node.func.id == "int":
        return number(node.args[0], names) if node.args else 0
    if type(node) is ast.BinOp:
        left, right = number(node.left, names), number(node.right, names)
        if type(node.op) is ast.Mult:
            return left * right
        if type(node.op) is ast.Pow and 0 < left <= 1000 and 0 < right <= 100:
            return left**right
    return 0


def _elements(node: ast.expr | None, names: Names) -> float:
    """How many elements an array of this shape has; 0 if unknown."""
    if type(node) not in (ast.Tuple, ast.List):
        return number(node, names)
    product = 1.0
    for each in node.elts:  # type: ignore[union-attr]
        product *= number(each, names)
    return product


def kind_of(node: ast.expr | None, names: Names) -> Kind | None:
    """What this expression gives, or None."""
    look = _LOOKS.get(type(node))
    return look(node, names) if look else None


def _of_name(node: ast.Name, names: Names) -> Kind | None:
    return names.get(node.id)


def _of_attribute(node: ast.Attribute, names: Names) -> Kind | None:
    if path := dotted(node, names):
        return Kind("name", path)
    owner = kind_of(node.value, names)
    if not owner:
        return None
    if owner.what == "frame":
        if node.attr == "values":
            return Kind("array", "numpy", origin=owner.library)
        if node.attr == "T":
            return owner
        if node.attr not in _OF_FRAMES and node.attr[0] != "_":
            return Kind("series", owner.library)
    if owner.what in ("series", "mask") and node.attr == "values":
        return Kind("array", "numpy", origin=owner.library)
    return None


def _of_call(node: ast.Call, names: Names) -> Kind | None:
    path = dotted(node.func, names)
    if path:
        return _of_function(path, node, names)
    if type(node.func) is not ast.Attribute:
        return None
    method, owner = node.func.attr, kind_of(node.func.value, names)
    if keyword(node, "inplace"):
        return None
    if method == "to_pandas":
        library = owner.library if owner else "headrace or polars"
        what = owner.what if owner and owner.what == "series" else "frame"
        return Kind(what, "pandas", origin=library)
    if not owner:
        return Kind("array", "numpy") if method == "to_numpy" else None
    return _of_method(method, owner, node, names)


def _of_function(path: str, node: ast.Call, names: Names) -> Kind | None:
    library, word = path.partition(".")[0], path.rpartition(".")[2]
    if library in FRAMES:
        if word.startswith("read_") and keyword(node, "chunksize", "iterator", "follow"):
            return None
        if word in _MAKE_FRAMES:
            return Kind("frame", library)
        if word == "concat":
            parts = node.args[0] if node.args else None
            first = parts.elts[0] if type(parts) is ast.List and parts.elts else None
            return kind_of(first, names) or Kind("frame", library)
        if word == "Series":
            return Kind("series", library)
        if word.startswith("scan_") or word == "LazyFrame":
            return Kind("lazy", library)
        if word == "asarray" and library == "headrace":
            return Kind("array", library)
    if library == "numpy":
        return _of_numpy(word, node, names)
    return None


def _of_numpy(word: str, node: ast.Call, names: Names) -> Kind | None:
    if word == "default_rng":
        return Kind("name", "numpy.random")
    if word not in _NUMPY_ARRAYS:
        return None
    size = 0.0
    if word in _ELEMENT_WISE and node.args:
        of = kind_of(node.args[0], names)
        if not of or of.what != "array":
            return None  # of a series it is a series
        size = of.size
    elif word == "linspace":
        size = number(node.args[2] if len(node.args) > 2 else keyword(node, "num"), names)
    elif word == "arange" and len(node.args) > 1:
        size = number(node.args[1], names) if len(node.args) == 2 else 0
    elif word in _SIZED:
        size = _elements(node.args[0] if node.args else keyword(node, "size", "shape"), names)
        if word in ("rand", "randn"):
            for each in node.args[1:]:
                size *= number(each, names)
    elif word in _BY_SIZE:
        size = _elements(keyword(node, "size"), names)
    if word in _SIZED and not node.args and not node.keywords:
        return None  # random() is a number
    if word in _BY_SIZE and not size and not keyword(node, "size") and len(node.args) < 3:
        return None
    return Kind("array", "numpy", size)


def _of_method(method: str, owner: Kind, node: ast.Call, names: Names) -> Kind | None:
    what, library = owner.what, owner.library
    if method in ("groupby", "group_by") and what in ("frame", "lazy", "series"):
        return Kind("groupby", library)
    if method == "to_numpy" and what in ("frame", "series", "mask"):
        return Kind("array", "numpy", origin=library)
    if method == "copy":
        return owner
    if what == "frame":
        if method == "lazy":
            return Kind("lazy", library)
        return owner._replace(origin="") if method in _FRAME_TO_FRAME else None
    if what == "lazy":
        if method == "collect":
            return Kind("frame", library)
        return owner if method in _FRAME_TO_FRAME else None
    if what == "series":
        if method in _MASKS:
            return Kind("mask", library)
        return Kind("series", library) if method in _SERIES_TO_SERIES else None
    if what == "array" and method in ("astype", "ravel", "reshape"):
        return owner
    return None


def _of_subscript(node: ast.Subscript, names: Names) -> Kind | None:
    of, key = node.value, node.slice
    through_loc = type(of) is ast.Attribute and of.attr in ("loc", "iloc")
    owner = kind_of(of.value if through_loc else of, names)  # type: ignore[attr-defined]
    if not owner:
        return None
    rows = kind_of(key, names)
    is_mask = type(key) is ast.Slice or bool(rows and rows.what == "mask")
    if owner.what == "frame":
        if is_mask or (not through_loc and type(key) is ast.List):
            return owner._replace(origin="")
        if not through_loc and type(key) is ast.Constant and type(key.value) is str:
            return Kind("series", owner.library)
        return None
    if owner.what == "series" and is_mask:
        return owner
    if owner.what == "groupby":
        return owner
    if owner.what == "array" and type(key) is ast.Slice:
        return owner._replace(size=0)
    return None


def _of_operator(node: ast.BinOp, names: Names) -> Kind | None:
    if value := number(node, names):
        return Kind("number", size=value)
    sides = (kind_of(node.left, names), kind_of(node.right, names))
    known = [side for side in sides if side and side.what in ("frame", "series", "mask", "array")]
    if not known:
        return None
    first = next((side for side in known if side.what in ("frame", "series")), known[0])
    if first.what == "mask" and type(node.op) not in (ast.BitAnd, ast.BitOr, ast.BitXor):
        return Kind("series", first.library)
    return first._replace(size=max(side.size for side in known), origin="")


def _of_comparison(node: ast.Compare, names: Names) -> Kind | None:
    if len(node.ops) > 1 or type(node.ops[0]) in (ast.In, ast.NotIn, ast.Is, ast.IsNot):
        return None
    for side in (node.left, node.comparators[0]):
        kind = kind_of(side, names)
        if kind and kind.what in ("frame", "series"):
            return Kind("mask", kind.library)
    return None


def _of_unary(node: ast.UnaryOp, names: Names) -> Kind | None:
    return None if type(node.op) is ast.Not else kind_of(node.operand, names)


def _of_constant(node: ast.Constant, names: Names) -> Kind | None:
    value = node.value
    return Kind("number", size=value) if type(value) in (int, float) else None  # type: ignore[arg-type]


_LOOKS: dict[type, Callable[[Any, Names], Kind | None]] = {
    ast.Name: _of_name,
    ast.Attribute: _of_attribute,
    ast.Call: _of_call,
    ast.Subscript: _of_subscript,
    ast.BinOp: _of_operator,
    ast.Compare: _of_comparison,
    ast.UnaryOp: _of_unary,
    ast.Constant: _of_constant,
}


def annotated(node: ast.expr | None, names: Names) -> Kind | None:
    """What a parameter of this annotation holds."""
    if type(node) is ast.Constant and type(node.value) is str:
        try:
            node = ast.parse(node.value, mode="eval").body
        except SyntaxError:
            return None
    library, word = library_function(node, names) if node else ("", "")
    if library in FRAMES and word in ("DataFrame", "Series", "LazyFrame"):
        return Kind({"DataFrame": "frame", "Series": "series"}.get(word, "lazy"), library)
    return None
