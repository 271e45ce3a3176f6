# SPDX-License-Identifier: Apache-2.0
"""Rules for single expressions and assignments."""

from __future__ import annotations

import ast

from headrace.lint.checker import Check, Checker, root_of
from headrace.lint.kinds import FRAMES, dotted, keyword, kind_of, library_function

#: Methods of pandas that take inplace=.
_INPLACE = {
    *("bfill", "clip", "drop", "drop_duplicates", "dropna", "eval", "ffill", "fillna"),
    *("interpolate", "mask", "query", "rename", "rename_axis", "replace", "reset_index"),
    *("set_axis", "set_index", "set_names", "sort_index", "sort_values", "where", "set_levels"),
    *("set_codes", "add_categories", "remove_categories", "rename_categories"),
    *("reorder_categories", "set_categories", "remove_unused_categories", "as_ordered"),
    "as_unordered",
}
_NAMED = {"sum", "mean", "median", "min", "max", "prod", "any", "all", "count", "nunique", "size"}
_NAMED |= {"first", "last", "std", "var"}
_BUILTIN = {"sum": "sum", "min": "min", "max": "max", "len": "size", "any": "any", "all": "all"}
_OF_NUMPY = {"sum", "mean", "median", "min", "max", "prod", "any", "all"}
#: Attributes of a row other than its columns.
_OF_ROWS = {"name", "dtype", "index", "values", "array", "shape", "size", "ndim", "T", "nbytes"}
_OF_ROWS |= {"str", "dt", "cat", "loc", "iloc", "at", "iat", "hasnans", "is_unique", "empty"}
_LARGE = 1_000_000
_ARITHMETIC = (
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.operator, ast.unaryop, ast.cmpop, ast.Constant),
    *(ast.Load, ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.keyword),
)


def _lambda(node: ast.expr | None, checker: Checker) -> tuple[str, ast.expr] | None:
    """The parameter and the value of a lambda, or of a function of one statement."""
    if type(node) is ast.Name and node.id in checker.functions:
        function = checker.functions[node.id]
        body = [s for s in function.body if not _is_docstring(s)]
        if len(body) == 1 and type(body[0]) is ast.Return and body[0].value:
            return _parameter(function.args, body[0].value)
    return _parameter(node.args, node.body) if type(node) is ast.Lambda else None


def _is_docstring(node: ast.stmt) -> bool:
    return type(node) is ast.Expr and type(node.value) is ast.Constant


def _parameter(arguments: ast.arguments, value: ast.expr) -> tuple[str, ast.expr] | None:
    given = [*arguments.posonlyargs, *arguments.args]
    if len(given) != 1 or arguments.vararg or arguments.kwonlyargs:
        return None
    return given[0].arg, value


def _is_field(node: ast.expr, row: str) -> bool:
    """Whether this is `row["a"]` or `row.a`."""
    if type(node) is ast.Subscript:
        key = node.slice
        return type(node.value) is ast.Name and node.value.id == row and type(key) is ast.Constant
    if type(node) is not ast.Attribute or node.attr in _OF_ROWS:
        return False
    return type(node.value) is ast.Name and node.value.id == row


def _is_arithmetic(node: ast.expr, row: str, checker: Checker) -> bool:
    """Whether a value is computed of a row's fields by what works on whole columns as well."""
    if _is_field(node, row) or type(node) is ast.Constant:
        return True
    if type(node) is ast.Name:
        return node.id != row
    if type(node) is ast.BinOp:
        return all(_is_arithmetic(side, row, checker) for side in (node.left, node.right))
    if type(node) is ast.UnaryOp:
        return type(node.op) is not ast.Not and _is_arithmetic(node.operand, row, checker)
    if type(node) is ast.Compare:
        plain = len(node.ops) == 1 and not isinstance(
            node.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot
        )
        return plain and all(
            _is_arithmetic(side, row, checker) for side in (node.left, *node.comparators)
        )
    if type(node) is ast.Call and not node.keywords:
        library, _ = library_function(node.func, checker.names)
        absolute = type(node.func) is ast.Name and node.func.id == "abs"
        return (library == "numpy" or absolute) and all(
            _is_arithmetic(each, row, checker) for each in node.args
        )
    return False


def rowwise_apply(checker: Checker, node: ast.Call) -> None:
    """HR003: `frame.apply(lambda row: row.a + row.b, axis=1)`."""
    if type(node.func) is not ast.Attribute or node.func.attr != "apply" or not node.args:
        return
    axis = node.args[1] if len(node.args) > 1 else keyword(node, "axis")
    if type(axis) is not ast.Constant or axis.value not in (1, "columns"):
        return
    function = _lambda(node.args[0], checker)
    if not function or type(function[1]) in (ast.Constant, ast.Name):
        return
    row, value = function
    fields = any(_is_field(each, row) for each in ast.walk(value) if isinstance(each, ast.expr))
    if fields and not keyword(node, "raw") and _is_arithmetic(value, row, checker):
        checker.report(node, "HR003")


def chained_assignment(checker: Checker, node: ast.Assign | ast.AugAssign) -> None:
    """HR005: `frame[rows]["a"] = value`."""
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if type(target) is not ast.Subscript:
            continue
        of = target.value
        if type(of) is ast.Attribute and of.attr in ("loc", "iloc", "at", "iat"):
            of = of.value
        if type(of) is not ast.Subscript:
            continue
        inner = of.value
        by_place = type(inner) is ast.Attribute and inner.attr in ("loc", "iloc")
        owner = kind_of(inner.value if by_place else inner, checker.names)  # type: ignore[attr-defined]
        if owner and owner.what == "frame":
            checker.report(target, "HR005")


def in_place(checker: Checker, node: ast.Call) -> None:
    """HR006: `inplace=True`."""
    value = keyword(node, "inplace")
    if type(value) is not ast.Constant or value.value is not True:
        return
    if type(node.func) is not ast.Attribute or node.func.attr not in _INPLACE:
        return
    of = node.func.value
    if not (type(of) is ast.Call and type(of.func) is ast.Name and of.func.id in ("type", "super")):
        checker.report(node, "HR006", node.func.attr)


def there_and_back(checker: Checker, node: ast.Call) -> None:
    """HR007: `DataFrame(frame.values)`, `from_pandas(frame.to_pandas())`."""
    library, word = library_function(node.func, checker.names)
    if library not in FRAMES or not node.args:
        return
    of = node.args[0]
    kind = kind_of(of, checker.names)
    if not kind or not kind.origin:
        return
    way = of.func if type(of) is ast.Call else of
    word_out = way.attr if type(way) is ast.Attribute else "to_pandas"
    makes = word in ("from_pandas", "DataFrame", "Series")
    from_pandas = kind.library == "pandas" != library
    from_numpy = (kind.library, kind.origin) == ("numpy", library) and type(of) is not ast.Name
    if makes and (from_pandas or from_numpy):
        checker.report(node, "HR007", word_out)


def _is_first_rows(node: ast.AST) -> ast.expr | None:
    """What is cut to its first or last rows by this, if it is."""
    if type(node) is ast.Call and type(node.func) is ast.Attribute:
        return node.func.value if node.func.attr in ("head", "tail") else None
    if type(node) is ast.Subscript and type(node.slice) is ast.Slice:
        bounds = node.slice
        if bounds.step or (bounds.lower is None) == (bounds.upper is None):
            return None
        end = bounds.upper or bounds.lower
        is_back = type(end) is ast.UnaryOp
        if is_back != (bounds.upper is None):
            return None
        of = node.value
        return of.value if type(of) is ast.Attribute and of.attr == "iloc" else of
    return None


def sorted_for_a_few(checker: Checker, node: ast.AST) -> None:
    """HR008: `frame.sort_values("a").head(10)`."""
    of = _is_first_rows(node)
    if type(of) is not ast.Call or type(of.func) is not ast.Attribute:
        return
    word = of.func.attr
    if word == "sort_values":
        by_lists = any(isinstance(each, ast.Starred) for each in of.args)
        if not by_lists and not keyword(of, "key", "axis", "na_position"):
            checker.report(node, "HR008", word)
    elif word == "sort":
        kind = kind_of(of.func.value, checker.names)
        if kind and kind.what in ("frame", "lazy", "series") and kind.library != "pandas":
            checker.report(node, "HR008", word)


def named_aggregate(checker: Checker, node: ast.Call) -> None:
    """HR009: `groupby("k").apply(lambda g: g.x.sum())`."""
    if type(node.func) is not ast.Attribute or not node.args or len(node.args) > 1:
        return
    method = node.func.attr
    if method not in ("apply", "agg", "aggregate", "transform") or node.keywords:
        return
    owner = node.func.value
    if type(owner) is ast.Subscript or type(owner) is ast.Attribute:
        owner = owner.value if not _is_groupby(owner, checker) else owner
    if not _is_groupby(owner, checker):
        return
    word = _aggregate_of(node.args[0], checker, method)
    if word and not (method == "transform" and word == "size"):
        by_name = f".transform({word!r})" if method == "transform" else f".{word}()"
        checker.report(node, "HR009", method, by_name)


def _is_groupby(node: ast.expr, checker: Checker) -> bool:
    if type(node) is ast.Call and type(node.func) is ast.Attribute:
        return node.func.attr in ("groupby", "group_by")
    kind = kind_of(node, checker.names)
    return bool(kind and kind.what == "groupby")


def _aggregate_of(node: ast.expr, checker: Checker, method: str) -> str:
    """The aggregate that a function computes; empty if it is another."""
    library, word = library_function(node, checker.names)
    if library == "numpy":
        return word if word in _OF_NUMPY else ""
    if type(node) is ast.Name and checker.names.get(node.id) is None:
        return _BUILTIN.get(node.id, "") if node.id not in checker.functions else ""
    if type(node) is not ast.Lambda or not (function := _lambda(node, checker)):
        return ""
    group, value = function
    if type(value) is not ast.Call:
        return ""
    if type(value.func) is ast.Name and value.func.id == "len" and len(value.args) == 1:
        of: ast.expr = value.args[0]
        return "size" if type(of) is ast.Name and of.id == group else ""
    library, word = library_function(value.func, checker.names)
    if library == "numpy" and word in _OF_NUMPY and len(value.args) == 1 and not value.keywords:
        of = value.args[0]
    elif type(value.func) is ast.Attribute and not value.args and not value.keywords:
        word, of = value.func.attr, value.func.value
    else:
        return ""
    is_group = type(of) is ast.Name and of.id == group
    if not is_group and not (_is_field(of, group) and method == "apply"):
        return ""
    return word if word in _NAMED and not (word == "size" and is_group) else ""


def counted_copy(checker: Checker, node: ast.AST) -> None:
    """HR010: `len(frame[frame.a > 1])` and `frame[frame.a > 1].shape[0]`."""
    if type(node) is ast.Call and type(node.func) is ast.Name and node.func.id == "len":
        of = node.args[0] if node.args else None
    elif type(node) is ast.Subscript and type(node.value) is ast.Attribute:
        is_rows = type(node.slice) is ast.Constant and node.slice.value == 0
        of = node.value.value if is_rows and node.value.attr == "shape" else None
    else:
        return
    if type(of) is not ast.Subscript or type(of.ctx) is not ast.Load:
        return
    owner = of.value
    if type(owner) is ast.Attribute and owner.attr == "loc":
        owner = owner.value
    rows = kind_of(of.slice, checker.names)
    kind = kind_of(owner, checker.names)
    of_known = bool(rows and rows.what == "mask" and kind and kind.what in ("frame", "series"))
    if of_known or _compares_itself(of.slice, owner):
        checker.report(node, "HR010")


def _compares_itself(mask: ast.expr, owner: ast.expr) -> bool:
    """Whether a mask compares the frame that it filters, such as `x.a > 1` of `x`."""
    if type(mask) is ast.BinOp and type(mask.op) in (ast.BitAnd, ast.BitOr):
        return _compares_itself(mask.left, owner) or _compares_itself(mask.right, owner)
    if type(mask) is not ast.Compare or len(mask.ops) > 1:
        return False
    if isinstance(mask.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot):
        return False
    left, name = mask.left, root_of(owner)
    if type(left) is ast.Call or type(name) is not ast.Name or type(owner) is ast.Call:
        return False
    text = ast.unparse(owner)
    of = left.value if type(left) in (ast.Attribute, ast.Subscript) else left  # type: ignore[attr-defined]
    return ast.unparse(of) == text or (ast.unparse(left) == text)


def compared_with_nothing(checker: Checker, node: ast.Compare) -> None:
    """HR013: `x == np.nan`, `column == None`."""
    sides = [node.left, *node.comparators]
    for at, operator in enumerate(node.ops):
        if type(operator) not in (ast.Eq, ast.NotEq):
            continue
        sign = "==" if type(operator) is ast.Eq else "!="
        answer = "never true" if sign == "==" else "always true"
        pair = (sides[at], sides[at + 1])
        for one, other in (pair, pair[::-1]):
            if _is_nan(one, checker):
                said = f"{sign} nan", answer, "x.isna(), or math.isnan(x) of a number"
                checker.report(node, "HR013", *said)
                return
            kind = kind_of(other, checker.names)
            is_none = type(one) is ast.Constant and one.value is None
            if is_none and kind and kind.what in ("frame", "series"):
                checker.report(node, "HR013", f"{sign} None", answer, "x.isna()")
                return


def _is_nan(node: ast.expr, checker: Checker) -> bool:
    if dotted(node, checker.names) in ("numpy.nan", "numpy.NaN", "numpy.NAN", "math.nan"):
        return True
    if type(node) is not ast.Call or type(node.func) is not ast.Name or node.func.id != "float":
        return False
    text = node.args[0] if node.args else None
    return type(text) is ast.Constant and str(text.value).lower() == "nan"


def temporaries(checker: Checker, node: ast.BinOp) -> None:
    """HR016: `a * b + c` of large NumPy arrays."""
    kind = kind_of(node, checker.names)
    if not kind or (kind.what, kind.library) != ("array", "numpy") or kind.size < _LARGE:
        return
    operators = [each for each in ast.walk(node) if type(each) is ast.BinOp]
    inside = {id(side) for each in operators for side in (each.left, each.right)}
    kinds = [kind_of(each, checker.names) for each in operators]
    large = [each for each in kinds if each and each.what == "array" and each.size >= _LARGE]
    checker.inner_operators |= inside
    if len(large) > 1 and id(node) not in checker.inner_operators:
        checker.report(node, "HR016", len(large), f"{kind.size:,.0f}")


def copied_tensor(checker: Checker, node: ast.Call) -> None:
    """HR017: `torch.tensor(array)`."""
    if dotted(node.func, checker.names) != "torch.tensor" or not node.args:
        return
    kind = kind_of(node.args[0], checker.names)
    if kind and kind.what in ("array", "series"):
        checker.report(node, "HR017")


def unseeded_sample(checker: Checker, node: ast.Call) -> None:
    """HR018: `frame.sample(n=10)` without a seed."""
    if type(node.func) is not ast.Attribute or node.func.attr != "sample":
        return
    if keyword(node, "random_state", "seed", "weights") or any(
        each.arg is None for each in node.keywords
    ):
        return
    if "random.seed(" in checker.text:
        return
    kind = kind_of(node.func.value, checker.names)
    if kind and kind.what in ("frame", "series"):
        checker.report(node, "HR018", "random_state" if kind.library != "polars" else "seed")
    elif not kind and keyword(node, "frac") and not dotted(node.func, checker.names):
        checker.report(node, "HR018", "random_state")


CHECKS: dict[type, list[Check]] = {
    ast.Assign: [chained_assignment],
    ast.BinOp: [temporaries],
    ast.Call: [
        *(rowwise_apply, in_place, there_and_back, sorted_for_a_few, named_aggregate),
        *(counted_copy, copied_tensor, unseeded_sample),
    ],
    ast.Compare: [compared_with_nothing],
    ast.Subscript: [sorted_for_a_few, counted_copy],
}
