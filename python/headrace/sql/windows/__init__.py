# SPDX-License-Identifier: Apache-2.0
"""Window functions: rows sorted by partition and order, and positions in them."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any, NamedTuple

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.groupby.keys import Words
from headrace.sql import operators
from headrace.sql.aggregates.calls import word
from headrace.sql.aggregates.folder import call_of
from headrace.sql.casts import cast
from headrace.sql.clauses.ordering import sort_keys
from headrace.sql.elementwise import filled, halves_of, run, where, whole_of
from headrace.sql.expressions import evaluate
from headrace.sql.nested.keys import as_keys
from headrace.sql.relation import row_numbers
from headrace.sql.scope import OUTER, Scope
from headrace.sql.subqueries import attach
from headrace.sql.syntax import exp, is_aggregate, named
from headrace.sql.values import (
    FLOATS,
    INTEGERS,
    NOTHING,
    NULL,
    Constant,
    Operand,
    Value,
    column_of,
    is_decimal,
    is_time,
    precision_and_scale,
    type_name,
    value_of,
)
from headrace.sql.windows.order import in_argument_order, tile_of, with_order
from headrace.sql.windows.pairs import Frame, at_place, folded, neighbour, of_frames

Expression = Any
Bound = tuple[str, int]


class Spec(NamedTuple):
    """What a window is of."""

    partition: tuple[Expression, ...]
    order: tuple[Expression, ...]


class Places:
    """Positions of the rows in the sorted relation, each made when it is asked for."""

    def __init__(self, scope: Scope, keys: list[_core.Node], order: list[_core.Node]) -> None:
        self.scope: Scope = scope
        self.like: _core.Node = scope.relation.rows
        self._keys = as_keys(keys) or [_core.repeat(self.like, 0)]
        self._every = [*self._keys, *as_keys(order)]
        self.has_order: bool = bool(order)
        self._made: dict[str, _core.Node] = {}

    def _kept(self, name: str, make: Callable[[], _core.Node]) -> _core.Node:
        if name not in self._made:
            made = make()
            self._made[name] = made if made.dtype == "int64" else _core.astype(made, "int64")
        return self._made[name]

    def _place(self, keys: list[_core.Node]) -> _core.Node:
        made = _core.part(_core.group_places(keys, False), 0)
        return _core.in_domain(made, self.like.domain)

    def row(self) -> _core.Node:
        """0, 1, 2, ... over all rows."""
        return self._kept(
            "row", lambda: run("subtract", _core.astype(row_numbers(self.like), "int64"), 1)
        )

    def place(self) -> _core.Node:
        """The place in the partition, from 0 on."""
        return self._kept("place", lambda: self._place(self._keys))

    def start(self) -> _core.Node:
        """The first row of the partition."""
        return self._kept("start", lambda: run("subtract", self.row(), self.place()))

    def size(self) -> _core.Node:
        """The rows of the partition."""
        return self._kept("size", lambda: self.folded(word("size")))

    def end(self) -> _core.Node:
        """One past the last row of the partition."""
        return self._kept("end", lambda: run("add", self.start(), self.size()))

    def peer_start(self) -> _core.Node:
        """The first row that is equal in the order."""
        return self._kept(
            "peers",
            lambda: run(
                "subtract",
                self.row(),
                _core.astype(self._place(self._every), "int64"),
            ),
        )

    def peer_end(self) -> _core.Node:
        """One past the last row that is equal in the order."""

        def make() -> _core.Node:
            size = _core.group_transform(self._every, word("size", self._every[0]), False)
            return run("add", self.peer_start(), _core.in_domain(size, self.like.domain))

        return self._kept("peer end", make)

    def dense(self) -> _core.Node:
        """How many different values of the order there are up to the row."""

        def make() -> _core.Node:
            first = _core.astype(run("equal", self.peer_start(), self.row()), "int64")
            table = _core.group_cumulative(self._keys, [first], False, "cumsum")
            return _core.in_domain(_core.part(table, 0), self.like.domain)

        return self._kept("dense", make)

    def folded(self, words: Words) -> _core.Node:
        """An aggregate of the partition for each row."""
        if words.values is None:
            words = words._replace(values=self._keys[0])
        made = _core.group_transform(self._keys, words, False)
        return _core.in_domain(made, self.like.domain)

    def taken(self, node: _core.Node, places: _core.Node, inside: _core.Node) -> _core.Node:
        """The values at these rows, null where it is not inside."""
        found = _core.take(node, where(inside, places, 0))
        return where(inside, _core.in_domain(found, self.like.domain), None)


def attach_windows(
    scope: Scope, windows: list[Expression], named_windows: list[Expression]
) -> Scope:
    """The scope with the values of window functions as hidden fields."""
    known = {named(each.this.name): each for each in named_windows}
    waiting = [w for w in dict.fromkeys(windows) if w not in scope.computed]
    while waiting:
        spec = _spec(waiting[0], known)
        mine = [w for w in waiting if _spec(w, known) == spec]
        waiting = [w for w in waiting if w not in mine]
        scope = attach(scope, [*spec.partition, *spec.order])
        scope, places = _sorted(scope, spec)
        for each in mine:
            scope.compute(each, _value(each, scope, places, known))
    return scope


def _clauses(node: Expression, known: dict[str, Expression]) -> tuple[Any, Any, Any]:
    """Partition, order and frame of a window: its own, else those of the one that it names."""
    parts = [node.args.get(each) for each in ("partition_by", "order", "spec")]
    seen: set[str] = set()
    while node.alias:
        name = named(node.alias)
        if name not in known or name in seen:
            raise InvalidArgumentError(f"sql: no such window: name={node.alias!r}")
        seen.add(name)
        node = known[name]
        parts = [
            mine or node.args.get(each)
            for mine, each in zip(parts, ("partition_by", "order", "spec"), strict=True)
        ]
    return parts[0], parts[1], parts[2]


def _spec(node: Expression, known: dict[str, Expression]) -> Spec:
    partition, order, _ = _clauses(node, known)
    return Spec(tuple(partition or ()), tuple(order.expressions if order is not None else ()))


def _sorted(scope: Scope, spec: Spec) -> tuple[Scope, Places]:
    partition = [evaluate(each, scope) for each in spec.partition]
    partition += [f.value for f in scope.relation.fields if f.table == OUTER]
    partition = [each for each in partition if isinstance(each, Value)]
    order = [
        (
            evaluate(each.this, scope),
            bool(each.args.get("desc")),
            bool(each.args.get("nulls_first")),
        )
        for each in spec.order
    ]
    order = [item for item in order if isinstance(item[0], Value)]
    made = scope.over(scope.relation)
    for i, each in enumerate(partition):
        made.compute(f"partition {i}", each)
    for i, (operand, _, _) in enumerate(order):
        made.compute(f"order {i}", operand)
    items = [(operand, False, False) for operand in partition] + order
    keys = sort_keys(items, made.relation.rows)
    if keys:
        made = made.over(made.relation.sorted(keys))
    parts = [_node(made, f"partition {i}") for i in range(len(partition))]
    orders = [_node(made, f"order {i}") for i in range(len(order))]
    # Names of the next sort are free again.
    made.computed = {
        k: v
        for k, v in made.computed.items()
        if not (isinstance(k, str) and k.startswith(("partition ", "order ")))
    }
    return made, Places(made, parts, orders)


def _node(scope: Scope, key: str) -> _core.Node:
    operand = scope.value(scope.computed[key])
    assert isinstance(operand, Value)
    return operand.node


# ---- functions -----------------------------------------------------------------------------------


def _value(node: Expression, scope: Scope, places: Places, known: dict[str, Expression]) -> Operand:
    call = node.this
    skip_null = isinstance(call, exp.IgnoreNulls)
    if isinstance(call, exp.IgnoreNulls | exp.RespectNulls):
        call = call.this
    inner = call.this if isinstance(call, exp.Filter) else call
    if isinstance(inner, exp.IgnoreNulls | exp.RespectNulls):
        skip_null, inner = isinstance(inner, exp.IgnoreNulls), inner.this
    _, order, spec = _clauses(node, known)
    frame = Frame(spec, tuple(order.expressions if order is not None else ()))
    if isinstance(inner, exp.Lag | exp.Lead):
        inner = _placed(inner)
    handler = _RANKS.get(type(inner))
    if handler is not None or isinstance(inner, exp.Lag | exp.Lead):
        inner, items = with_order(inner)
        if isinstance(call, exp.Filter):
            raise UnsupportedError("sql: FILTER needs an aggregate function: word='FILTER'")
        if items and not skip_null:
            return in_argument_order(scope, places, frame, inner, items)
        if items:
            raise UnsupportedError("sql: unsupported: word='IGNORE NULLS', with ORDER BY")
        if handler is not None:
            return handler(inner, scope, places)
    if isinstance(call, exp.Filter) and not is_aggregate(inner):
        raise UnsupportedError("sql: FILTER needs an aggregate function: word='FILTER'")
    if isinstance(inner.this, exp.IgnoreNulls | exp.RespectNulls):
        skip_null = isinstance(inner.this, exp.IgnoreNulls)
        inner = inner.copy()
        inner.set("this", inner.this.this)
    if isinstance(inner, exp.Lag | exp.Lead):
        return _shifted(inner, scope, places, skip_null)
    is_plain = _is_plain(spec)
    if isinstance(inner, exp.FirstValue | exp.First | exp.LastValue | exp.Last | exp.NthValue):
        plain = is_plain and not skip_null and inner is call
        if plain and not any(isinstance(each, exp.Order) for each in inner.args.values()):
            return _picked(inner, scope, places, *_frame(spec, places))
        return _picked_of_pairs(inner, call, scope, places, frame, skip_null)
    if not is_aggregate(call):
        raise UnsupportedError(
            f"sql: unsupported window function: expression={call.sql('duckdb')[:80]!r}"
        )
    if skip_null and not isinstance(inner, exp.AnyValue):
        raise UnsupportedError("sql: unsupported: word='IGNORE NULLS'")
    if not is_plain:
        return of_frames(scope, places, frame, call)
    begin, end = _frame(spec, places)
    is_whole = begin is places.start() and end is places.end()
    if not _folds(inner):
        if is_whole:
            return folded(scope, begin, call, begin)
        return of_frames(scope, places, frame, call)
    made = call_of(call, scope)
    if is_whole:
        return made.finish([places.folded(word) for word in made.words])
    if not all(_is_framed(word) for word in made.words):
        return of_frames(scope, places, frame, call)
    return made.finish([_framed(word, places, begin, end) for word in made.words])


#: Aggregates whose parts the engine folds in windows.
_FOLDED = (
    *(exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.CountIf, exp.LogicalAnd, exp.LogicalOr),
    *(exp.AnyValue, exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Variance, exp.VariancePop),
)
_FOLDED_NAMES = ("bool_and", "bool_or", "product", "mean", "countif", "arbitrary")


def _folds(call: Expression) -> bool:
    """Whether the call is one of parts that the engine folds in windows."""
    if isinstance(call, exp.Anonymous):
        return named(call.this) in _FOLDED_NAMES
    is_plain = not isinstance(call.this, exp.Distinct | exp.Order) and not call.args.get("count")
    return isinstance(call, _FOLDED) and is_plain


def _picked_of_pairs(
    inner: Expression,
    call: Expression,
    scope: Scope,
    places: Places,
    frame: Frame,
    skip_null: bool,
) -> Operand:
    """FIRST_VALUE, LAST_VALUE and NTH_VALUE of any frame, or without nulls."""
    if isinstance(inner, exp.NthValue):
        plain, items = with_order(inner)
        offset = evaluate(plain.args["offset"], scope)
        if not isinstance(offset, Constant) or type(offset.value) is not int or inner is not call:
            raise UnsupportedError("sql: a column as an offset: word='NTH_VALUE'")
        if offset.value < 1:
            return Constant(None, evaluate(plain.this, scope).dtype)
        return at_place(scope, places, frame, plain.this, offset.value, skip_null, items)
    kind = exp.First if isinstance(inner, exp.FirstValue | exp.First) else exp.Last
    made: Expression = kind(this=inner.this.copy())
    if skip_null:
        made = exp.IgnoreNulls(this=made)
    if isinstance(call, exp.Filter):
        made = exp.Filter(this=made, expression=call.expression.copy())
    return of_frames(scope, places, frame, made)


def _ntile(node: Expression, scope: Scope, places: Places) -> Operand:
    count = evaluate(node.this, scope)
    if isinstance(count, Constant) and count.value is None:
        return Constant(None, "int64")
    if not isinstance(count, Constant) or type(count.value) is not int or count.value < 1:
        raise UnsupportedError("sql: expected a number from 1 on: word='NTILE'")
    return value_of(tile_of(places.place(), places.size(), count.value), 48)


def _rank(node: Expression, scope: Scope, places: Places) -> _core.Node:
    if not places.has_order:
        return _core.astype(_core.repeat(places.like, 1), "int64")
    return run("add", run("subtract", places.peer_start(), places.start()), 1)


def _percent_rank(node: Expression, scope: Scope, places: Places) -> _core.Node:
    before = run("subtract", _rank(node, scope, places), 1)
    others = run("subtract", places.size(), 1)
    return where(run("equal", others, 0), 0.0, run("divide", before, others))


def _cume_dist(node: Expression, scope: Scope, places: Places) -> _core.Node:
    end = places.peer_end() if places.has_order else places.end()
    return run("divide", run("subtract", end, places.start()), places.size())


def _dense_rank(node: Expression, scope: Scope, places: Places) -> _core.Node:
    return places.dense() if places.has_order else _rank(node, scope, places)


def _number(
    make: Callable[[Expression, Scope, Places], _core.Node],
) -> Callable[[Expression, Scope, Places], Operand]:
    return lambda node, scope, places: value_of(make(node, scope, places), 48)


_RANKS: dict[Any, Callable[[Expression, Scope, Places], Operand]] = {
    exp.RowNumber: _number(lambda node, scope, places: run("add", places.place(), 1)),
    exp.Rank: _number(_rank),
    exp.DenseRank: _number(_dense_rank),
    exp.PercentRank: _number(_percent_rank),
    exp.CumeDist: _number(_cume_dist),
    exp.Ntile: _ntile,
}


def _placed(node: Expression) -> Expression:
    """LAG and LEAD with arguments by name in their places."""
    named_ones = [k for k in ("this", "offset", "default") if isinstance(node.args.get(k), _NAMED)]
    if not named_ones:
        return node
    made = node.copy()
    found = [made.args[key] for key in named_ones]
    for key in named_ones:
        made.set(key, None)
    for each in found:
        name = {"col": "this"}.get(named(each.this.name), named(each.this.name))
        if name not in ("this", "offset", "default") or made.args.get(name) is not None:
            raise InvalidArgumentError(f"sql: no such argument: argument={each.this.name!r}")
        made.set(name, each.expression)
    if made.this is None:
        raise InvalidArgumentError("sql: an argument is missing: argument='col'")
    return made


_NAMED = (exp.PropertyEQ, exp.Kwarg)


def _shifted(node: Expression, scope: Scope, places: Places, skip_null: bool) -> Operand:
    value = evaluate(node.this, scope)
    offset = node.args.get("offset")
    step: Operand = Constant(1, "int32") if offset is None else evaluate(offset, scope)
    other = node.args.get("default")
    default: Operand = NOTHING if other is None else evaluate(other, scope)
    default = default if NULL in (value.dtype, default.dtype) else cast(default, value.dtype)
    if isinstance(step, Value) and not skip_null:
        offsets = filled(_core.astype(step.node, "int64"), 0)
        op = "subtract" if isinstance(node, exp.Lag) else "add"
        made = _moved(value, run(op, places.row(), offsets), places, default)
        if not step.node.nullable:
            return made
        return operators.choose(operators.is_null(step), Constant(None, made.dtype), made)
    if isinstance(step, Constant) and step.value is None:
        return Constant(None, value.dtype)
    if not isinstance(step, Constant):
        raise UnsupportedError("sql: a column as an offset: word='LAG'")
    moved = -step.value if isinstance(node, exp.Lag) else step.value
    if skip_null and moved:
        return neighbour(scope, places, node.this, moved, default)
    return _moved(value, run("add", places.row(), moved), places, default)


def _moved(value: Operand, row: _core.Node, places: Places, default: Operand) -> Operand:
    """The values at these rows of the partition, else another value."""
    inside = run(
        "logical_and", run("greater_equal", row, places.start()), run("less", row, places.end())
    )
    made = places.taken(column_of(value, places.like), row, inside)
    found = value_of(made, value.bits if isinstance(value, Value) else 64)
    return operators.choose(Value(inside, "bool", 1), found, default)


def _picked(
    node: Expression, scope: Scope, places: Places, begin: _core.Node, end: _core.Node
) -> Operand:
    value = evaluate(node.this, scope)
    row = begin
    if isinstance(node, exp.LastValue | exp.Last):
        row = run("subtract", end, 1)
    elif isinstance(node, exp.NthValue):
        offset = evaluate(node.args["offset"], scope)
        if not isinstance(offset, Constant) or offset.value is None:
            raise UnsupportedError("sql: a column as an offset: word='NTH_VALUE'")
        row = run("add", begin, offset.value - 1)
    inside = run("logical_and", run("greater_equal", row, begin), run("less", row, end))
    made = places.taken(column_of(value, places.like), row, inside)
    return value_of(made, value.bits if isinstance(value, Value) else 64)


# ---- frames --------------------------------------------------------------------------------------


def _is_plain(spec: Expression | None) -> bool:
    """Whether the rows of a frame stand together, between places that are counted in rows."""
    if spec is None:
        return True
    if str(spec.args.get("exclude") or "NO OTHERS").upper() != "NO OTHERS":
        return False
    is_rows = named(spec.args.get("kind") or "rows") == "rows"
    bounds = [each for each in (spec.args.get("start"), spec.args.get("end")) if each is not None]
    return all(
        isinstance(each, str) or (is_rows and isinstance(each, exp.Literal) and each.is_int)
        for each in bounds
    )


def _frame(spec: Expression | None, places: Places) -> tuple[_core.Node, _core.Node]:
    """The first row of each plain frame and one past the last."""
    if spec is None:
        return places.start(), places.peer_end() if places.has_order else places.end()
    kind = named(spec.args.get("kind") or "rows")
    begin = _bound(spec.args.get("start"), spec.args.get("start_side"), kind, places, False)
    end = _bound(
        spec.args.get("end") or "CURRENT ROW", spec.args.get("end_side"), kind, places, True
    )
    return begin, run("maximum", begin, end)


def _bound(bound: Any, side: Any, kind: str, places: Places, is_end: bool) -> _core.Node:
    word = bound if isinstance(bound, str) else getattr(bound, "name", "")
    direction = named(side or "")
    if str(word).upper() == "UNBOUNDED":
        return places.end() if direction == "following" else places.start()
    if str(word).upper() == "CURRENT ROW":
        if kind == "rows":
            return run("add", places.row(), 1) if is_end else places.row()
        if not places.has_order:
            return places.end() if is_end else places.start()
        return places.peer_end() if is_end else places.peer_start()
    count = int(bound.name)
    moved = run("add", places.row(), (count if direction == "following" else -count) + is_end)
    return run("minimum", run("maximum", moved, places.start()), places.end())


def _is_framed(words: Words) -> bool:
    """Whether the engine folds this part over frames."""
    if words.aggregate in ("size", "count") or words.values is None:
        return True
    dtype = words.values.dtype
    if is_decimal(dtype):
        return precision_and_scale(dtype)[0] in (*range(19), 38)
    known = dtype in FLOATS or (dtype in INTEGERS and dtype != "uint64")
    return words.aggregate in ("sum", "min", "max") and (known or is_time(dtype))


def _framed(words: Words, places: Places, begin: _core.Node, end: _core.Node) -> _core.Node:
    """An aggregate of frames."""
    kind, node = words.aggregate, words.values
    if kind == "size" or node is None:
        return run("subtract", end, begin)
    dtype = node.dtype
    if words.nan_is_value:
        made = _framed(words._replace(nan_is_value=False), places, begin, end)
        is_nan = _core.astype(run("isnan", node), "int64")
        nans = _core.window_frame("sum", begin, end, is_nan)
        found = run("greater", nans, 0)
        if kind == "min":
            found = run("logical_and", found, run("equal", nans, run("subtract", end, begin)))
        return where(filled(found, False), float("nan"), made)
    if kind == "count":
        there = run("logical_not", run("is_null", node))
        if dtype in FLOATS:
            there = run("logical_and", there, run("logical_not", run("isnan", node)))
        return _core.window_frame("sum", begin, end, _core.astype(filled(there, False), "int64"))

    def folded(values: _core.Node) -> _core.Node:
        return _core.window_frame(kind, begin, end, values)

    if kind in ("sum", "min", "max"):
        if dtype in INTEGERS and dtype != "uint64":
            made = folded(_core.astype(node, "int64"))
            return made if kind == "sum" else _core.astype(made, dtype)
        if dtype in FLOATS:
            return _core.astype(folded(_core.astype(node, "float64")), dtype)
        if is_decimal(dtype):
            return _decimals(node, kind, folded)
        if dtype == "date" or dtype.startswith("datetime64"):
            storage = "int32" if dtype == "date" else "int64"
            made = folded(_core.astype(_core.retype(node, storage), "int64"))
            return _core.retype(_core.astype(made, storage), dtype)
    raise UnsupportedError(
        f"sql: an aggregate of a frame: word={kind.upper()!r}, type={type_name(dtype)}; use the "
        "whole partition"
    )


def _decimals(
    node: _core.Node, kind: str, folded: Callable[[_core.Node], _core.Node]
) -> _core.Node:
    """Decimals as integers of their last digit, whose sums are taken in two halves."""
    precision, scale = precision_and_scale(node.dtype)
    if precision > 18 and precision != 38:
        raise UnsupportedError(
            f"sql: an aggregate of a frame: type={type_name(node.dtype)}; cast to DECIMAL(18, 2)"
        )
    units = _core.astype(run("multiply", node, 10**scale) if scale else node, "int64")
    if kind == "sum":
        whole = whole_of(*(folded(half) for half in halves_of(units)))
    else:
        whole = folded(units)
    exact = _core.astype(whole, "decimal128(20, 0)")
    if scale:
        exact = run("multiply", exact, decimal.Decimal(1).scaleb(-scale))
    return _core.astype(exact, f"decimal128(38, {scale})" if kind == "sum" else node.dtype)
