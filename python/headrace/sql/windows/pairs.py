# SPDX-License-Identifier: Apache-2.0
"""Frames as pairs: each row of a window with each row of its frame, folded as groups are.

It serves every aggregate and every frame, for as many pairs as a partition has rows, squared;
frames that the engine folds by itself do not come here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.sql import operators
from headrace.sql.aggregates import group
from headrace.sql.elementwise import filled, run, where
from headrace.sql.expressions import evaluate
from headrace.sql.relation import Field, Relation, joined
from headrace.sql.scope import Scope
from headrace.sql.syntax import exp, named
from headrace.sql.values import Constant, Operand, Value, column_value, value_of

Expression = Any
_FRAME = " frame"
_COUNTS = (exp.Count, exp.CountIf, exp.RegrCount)


class Positions(Protocol):
    """Where the rows of a sorted relation stand."""

    like: _core.Node

    def row(self) -> _core.Node:
        """0, 1, 2, ... over all rows."""

    def start(self) -> _core.Node:
        """The first row of the partition."""

    def peer_start(self) -> _core.Node:
        """The first row that is equal in the order."""

    def peer_end(self) -> _core.Node:
        """One past the last row that is equal in the order."""

    def dense(self) -> _core.Node:
        """How many different values of the order there are up to the row."""


class Frame:
    """What a frame is of: its kind, bounds, what is left out, and the order."""

    def __init__(self, spec: Expression | None, order: tuple[Expression, ...]) -> None:
        found = {} if spec is None else spec.args
        self.kind: str = named(found.get("kind") or "range")
        self.begin: tuple[Any, str] = _bound_of(
            found.get("start") or "UNBOUNDED", found.get("start_side") or "PRECEDING"
        )
        self.end: tuple[Any, str] = _bound_of(
            found.get("end") or "CURRENT ROW", found.get("end_side") or ""
        )
        self.exclude: str = str(found.get("exclude") or "").upper()
        self.order: tuple[Expression, ...] = order


def _bound_of(bound: Any, side: Any) -> tuple[Any, str]:
    word = bound if isinstance(bound, str) else ""
    return (word.upper() or bound), named(side)


def folded(scope: Scope, key: _core.Node, call: Expression, wanted: _core.Node) -> Operand:
    """An aggregate of the rows with equal keys, for each wanted key; null or 0 for no rows.

    The wanted keys are in order.
    """
    field = Field(_FRAME, "key", value_of(key), True)
    inner = scope.over(scope.relation.with_fields([field]))
    name = exp.Column(this=exp.Identifier(this="key"), table=exp.Identifier(this=_FRAME))
    grouped = group(inner, [name], [call], False)
    found = column_value(evaluate(call, grouped), grouped.relation.rows)
    keys = grouped.relation.fields[0].value.node
    by_key = Relation([Field("", "key", value_of(keys)), Field("", "found", found)], keys)
    known, values = by_key.sorted([(keys, False)]).nodes()
    at = _core.asof_rows(wanted, known, [], [], "backward", True, None, None)
    at = _core.in_domain(at, wanted.domain)
    nearest = _core.in_domain(_core.asof_values(known, at), wanted.domain)
    same = filled(run("equal", nearest, wanted), False)
    node = _core.in_domain(_core.asof_values(values, where(same, at, -1)), wanted.domain)
    inside = call.this if isinstance(call, exp.Filter) else call
    if isinstance(inside, exp.Anonymous) and named(inside.this) == "entropy":
        return value_of(where(run("is_null", node), 0.0, node))
    return value_of(filled(node, 0) if isinstance(inside, _COUNTS) else node, found.bits)


def of_frames(scope: Scope, places: Positions, frame: Frame, call: Expression) -> Operand:
    """An aggregate of the frame of each row."""
    pairs = Pairs(scope, places, frame)
    return folded(pairs.scope, pairs.own("row"), call, places.row())


def neighbour(
    scope: Scope, places: Positions, value: Expression, step: int, other: Operand
) -> Operand:
    """LAG and LEAD that pass over nulls: the value that is `step` non-null values away."""
    before = step < 0
    spec = exp.WindowSpec(
        kind="ROWS",
        start="UNBOUNDED" if before else exp.Literal.number(1),
        start_side="PRECEDING" if before else "FOLLOWING",
        end=exp.Literal.number(1) if before else "UNBOUNDED",
        end_side="PRECEDING" if before else "FOLLOWING",
    )
    found = at_place(scope, places, Frame(spec, ()), value, step, True)
    return operators.coalesce([found, other])


def at_place(
    scope: Scope,
    places: Positions,
    frame: Frame,
    value: Expression,
    place: int,
    skip_null: bool,
    order: tuple[Expression, ...] = (),
) -> Operand:
    """The value at a place of the frame, from 1 on, or from its end if negative."""
    inner = value.copy()
    if order:
        inner = exp.Order(this=inner, expressions=[each.copy() for each in order])
    call: Expression = exp.ArrayAgg(this=inner)
    if skip_null:
        there = exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))
        call = exp.Filter(this=call, expression=exp.Where(this=there))
    lists = of_frames(scope, places, frame, call)
    assert isinstance(lists, Value)
    return value_of(_core.list_item(lists.node, place - 1 if place > 0 else place))


class Pairs:
    """The pairs of rows and rows of their frames as a scope of the latter."""

    def __init__(
        self,
        scope: Scope,
        places: Positions,
        frame: Frame,
        more: Mapping[str, _core.Node] | None = None,
    ) -> None:
        self._frame = frame
        self._scope = scope
        wanted: dict[str, _core.Node] = {
            "row": places.row(),
            "start": places.start(),
            "peers": places.peer_start(),
            "peers end": places.peer_end(),
            **(more or {}),
        }
        if frame.kind == "groups":
            wanted["dense"] = places.dense()
        ends = {"low": frame.begin[0], "high": frame.end[0]}
        steps = {
            name: evaluate(bound, scope)
            for name, bound in ends.items()
            if not isinstance(bound, str)
        }
        self._steps = steps
        values: dict[str, Value] = {name: value_of(node) for name, node in wanted.items()}
        values |= {name: each for name, each in steps.items() if isinstance(each, Value)}
        if frame.kind == "range" and steps:
            if len(frame.order) != 1:
                raise InvalidArgumentError("sql: RANGE with an offset needs one ORDER BY value")
            values["order"] = column_value(evaluate(frame.order[0].this, scope), places.like)
        left = Relation(
            [Field(_FRAME, f"own {name}", each, True) for name, each in values.items()],
            places.row(),
        )
        right = scope.relation.with_fields(
            [Field(_FRAME, name, each, True) for name, each in values.items()]
        )
        made = joined(left, right, [(places.start(), places.start())], "inner")
        self._fields = {f.name: f.value for f in made.fields if f.table == _FRAME}
        mask = self._mask()
        kept = made if mask is None else made.filtered(mask)
        self._fields = {f.name: f.value for f in kept.fields if f.table == _FRAME}
        own = [f for f in kept.fields if f.table != _FRAME]
        self.scope: Scope = scope.over(Relation(own, kept.rows))

    def other(self, name: str) -> _core.Node:
        """A column of the row that is in the frame."""
        return self._fields[name].node

    def own(self, name: str) -> _core.Node:
        """A column of the row whose frame it is."""
        return self._fields[f"own {name}"].node

    def _mask(self) -> _core.Node | None:
        tests = [self._limit("low", *self._frame.begin), self._limit("high", *self._frame.end)]
        row, own = self._fields["row"].node, self.own("row")
        inside = run(
            "logical_and",
            run("greater_equal", row, self.own("peers")),
            run("less", row, self.own("peers end")),
        )
        if self._frame.exclude == "CURRENT ROW":
            tests.append(run("not_equal", row, own))
        elif self._frame.exclude == "GROUP":
            tests.append(run("logical_not", inside))
        elif self._frame.exclude == "TIES":
            tests.append(run("logical_or", run("logical_not", inside), run("equal", row, own)))
        elif self._frame.exclude not in ("", "NO OTHERS"):
            raise UnsupportedError(f"sql: unsupported: word='EXCLUDE {self._frame.exclude}'")
        found = [each for each in tests if each is not None]
        if not found:
            return None
        made = found[0]
        for each in found[1:]:
            made = run("logical_and", made, each)
        return made

    def _limit(self, name: str, bound: Any, side: str) -> _core.Node | None:
        """Whether the other row is not before or after the frame."""
        op = "greater_equal" if name == "low" else "less_equal"
        row = self._fields["row"].node
        if bound == "UNBOUNDED":
            return None
        if bound == "CURRENT ROW":
            if self._frame.kind == "rows":
                return run(op, row, self.own("row"))
            if name == "low":
                return run(op, row, self.own("peers"))
            return run("less", row, self.own("peers end"))
        step = self._steps[name]
        given = step.value if isinstance(step, Constant) else None
        if isinstance(given, int | float) and given < 0:
            raise InvalidArgumentError(
                f"sql: the offset of a frame is below zero: offset={given!r}"
            )
        if isinstance(step, Value):
            step = self._fields[f"own {name}"]
        down = side == "preceding"
        if self._frame.kind == "range":
            return self._in_range(name, op, step, down)
        if isinstance(step, Constant) and type(step.value) is not int:
            raise UnsupportedError(f"sql: the offset of a frame: word='ROWS', {step.value=}")
        word = "row" if self._frame.kind == "rows" else "dense"
        moved = operators.arithmetic(
            "subtract" if down else "add", self._fields[f"own {word}"], step
        )
        found = operators.compare(op, self._fields[word], moved)
        assert isinstance(found, Value)
        return filled(found.node, False)

    def _in_range(self, name: str, op: str, step: Operand, down: bool) -> _core.Node:
        value, own = self._fields["order"], self._fields["own order"]
        is_descending = bool(self._frame.order[0].args.get("desc"))
        moved = operators.arithmetic("subtract" if down != is_descending else "add", own, step)
        if is_descending:
            op = {"greater_equal": "less_equal", "less_equal": "greater_equal"}[op]
        test = operators.compare(op, value, moved)
        assert isinstance(test, Value)
        row, mine = self._fields["row"].node, self.own("row")
        # Null stands at one end: it is within a frame that has no end there.
        side = run("greater" if name == "low" else "less", row, mine)
        null = run("logical_and", run("is_null", value.node), side)
        near = run("logical_or", filled(test.node, False), null)
        if name == "low":
            peers = run("greater_equal", row, self.own("peers"))
        else:
            peers = run("less", row, self.own("peers end"))
        return where(run("is_null", own.node), peers, near)
