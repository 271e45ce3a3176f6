# SPDX-License-Identifier: Apache-2.0
"""Distances and products of lists of numbers, item by item."""

from __future__ import annotations

from collections.abc import Callable

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.sql.casts import cast, common
from headrace.sql.elementwise import filled, run, where
from headrace.sql.functions import nested
from headrace.sql.functions.list_items import items_at
from headrace.sql.lists import items_of, places_of, relisted
from headrace.sql.values import NULL, Constant, Operand, item_dtype, value_of

ByName = Callable[[list[Operand], _core.Node], Operand]


class _Sums:
    """Sums over the items of two lists of one length, in doubles."""

    def __init__(self, operands: list[Operand], word: str) -> None:
        _, both = common(operands, word)
        self.first, other = (nested.as_list(each, word) for each in both)
        inner = item_dtype(self.first.dtype)
        #: Whether the result is of 32 bits.
        self.is_single: bool = inner == "float32"
        if inner not in ("float32", "float64"):
            doubles = [nested.as_list(cast(each, "list[float64]"), word) for each in both]
            self.first, other = doubles
        self._rows, items = items_of(self.first)
        pairs = items_at(other, self._rows, places_of(self._rows))
        self.mine, self.theirs = (_core.astype(v.node, "float64") for v in (items, pairs))
        sizes = [_core.list_length(each.node) for each in (self.first, other)]
        self._other, self._bad = other, filled(run("not_equal", *sizes), False)

    def sum(self, values: _core.Node) -> _core.Node:
        """The sum for each list: NaN where one is in it, 0 without items."""
        lists = relisted(self.first, self._rows, values)
        nan = relisted(self.first, self._rows, filled(run("isnan", values), False))
        missing = relisted(self.first, self._rows, run("is_null", values))
        bad = run("logical_or", self._bad, filled(self._reduced(missing, "any"), False))
        # A cast of infinity to an integer is the engine's error with the row.
        checked = _core.astype(where(bad, float("inf"), 0.0), "int64")
        total = where(self._reduced(nan, "any"), float("nan"), self._reduced(lists, "sum"))
        return run("add", filled(total, 0), _core.astype(checked, "float64"))

    def _reduced(self, lists: _core.Node, word: str) -> _core.Node:
        return _core.in_domain(_core.list_reduce(lists, word), self.first.node.domain)

    def result(self, node: _core.Node) -> Operand:
        """A number for each row, null where one of the lists is."""
        for each in (self.first, self._other):
            if each.node.nullable:
                node = where(run("is_null", each.node), None, node)
        return value_of(_core.astype(node, "float32") if self.is_single else node)


def _product(sums: _Sums) -> _core.Node:
    return sums.sum(run("multiply", sums.mine, sums.theirs))


def _distance(sums: _Sums) -> _core.Node:
    step = run("subtract", sums.mine, sums.theirs)
    return run("sqrt", sums.sum(run("multiply", step, step)))


def _cosine(sums: _Sums) -> _core.Node:
    """The cosine of the angle between two lists, from -1 to 1; NaN of a list of zeros."""
    sizes = [sums.sum(run("multiply", each, each)) for each in (sums.mine, sums.theirs)]
    cosine = run("divide", _product(sums), run("sqrt", run("multiply", *sizes)))
    limited = where(
        run("greater", cosine, 1.0), 1.0, where(run("less", cosine, -1.0), -1.0, cosine)
    )
    return where(filled(run("isnan", cosine), False), float("nan"), limited)


def _of(word: str, make: Callable[[_Sums], _core.Node]) -> ByName:
    def call(operands: list[Operand], like: _core.Node) -> Operand:
        if len(operands) != 2:
            raise UnsupportedError(f"sql: expected two lists: word={word!r}")
        if any(each.dtype == NULL or isinstance(each, Constant) for each in operands):
            return Constant(None, "float64")
        sums = _Sums(operands, word)
        return sums.result(make(sums))

    return call


_KINDS: dict[str, Callable[[_Sums], _core.Node]] = {
    "distance": _distance,
    "inner_product": _product,
    "dot_product": _product,
    "negative_inner_product": lambda sums: run("negative", _product(sums)),
    "negative_dot_product": lambda sums: run("negative", _product(sums)),
    "cosine_similarity": _cosine,
    "cosine_distance": lambda sums: run("subtract", 1.0, _cosine(sums)),
}
BY_NAME: dict[str, ByName] = {
    f"{prefix}_{name}": _of(f"{prefix}_{name}".upper(), make)
    for prefix in ("list", "array")
    for name, make in _KINDS.items()
}
