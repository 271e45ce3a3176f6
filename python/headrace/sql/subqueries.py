# SPDX-License-Identifier: Apache-2.0
"""Subqueries in expressions: lowered to joins, whether they use the query around or not."""

from __future__ import annotations

from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.groupby.keys import Words
from headrace.sql import operators
from headrace.sql.casts import cast
from headrace.sql.correlated.exists import keyed_exists
from headrace.sql.correlated.scalar import keyed_scalar
from headrace.sql.correlated.windowed import windowed_scalar
from headrace.sql.elementwise import filled, run, where
from headrace.sql.expressions import evaluate
from headrace.sql.functions import nested
from headrace.sql.lists import chosen
from headrace.sql.relation import (
    Field,
    Relation,
    broadcast,
    distinct_nodes,
    groups_of,
    joined,
)
from headrace.sql.scope import OUTER, Correlation, Scope
from headrace.sql.sources.joins import without_null_keys
from headrace.sql.syntax import aggregates_of, exp, is_query, queries_of
from headrace.sql.values import (
    NULL,
    Constant,
    Operand,
    Value,
    column_of,
    common_dtype,
    is_struct,
    item_dtype,
    value_of,
)

Expression = Any
_MARK = " mark"


def attach(scope: Scope, nodes: list[Expression]) -> Scope:
    """The scope with what the subqueries of these expressions give, as hidden fields."""
    for node in nodes:
        for each in queries_of(node, scope.computed):
            if id(each) not in scope.computed:
                scope = _attach_one(scope, each)
    return scope


def _query(node: Expression) -> Expression:
    while isinstance(node, exp.Subquery | exp.Paren):
        if isinstance(node, exp.Subquery) and (node.args.get("limit") or node.args.get("order")):
            break
        node = node.this
    return node


def _attach_one(scope: Scope, node: Expression) -> Scope:
    if isinstance(node, exp.Exists):
        return _mark_exists(scope, node)
    if isinstance(node, exp.In):
        return _mark_in(scope, node)
    if isinstance(node, exp.Binary):
        return _mark_any(scope, node)
    if isinstance(node, exp.Array):
        return _list_of_rows(scope, node)
    return _scalar(scope, node)


def _mark_any(scope: Scope, node: Expression) -> Scope:
    """`= ANY` is IN, `<> ALL` NOT IN; the others compare with the minimum and maximum."""
    side = node.expression
    query = _query(side.this)
    if not is_query(query):  # a list
        query = exp.Select(expressions=[exp.Alias(this=exp.Explode(this=side.this), alias="item")])
    is_any = isinstance(side, exp.Any)
    kind, left = type(node), node.this
    width = len(_values_of(left))
    if is_any == (kind is exp.EQ) and kind in (exp.EQ, exp.NEQ):
        test = exp.In(this=left, query=exp.Subquery(this=query))
        made = _mark_in(scope, test)
        found = made.value(made.computed[id(test)])
        made.compute_node(node, found if is_any else operators.negated(found))
        return made
    if width > 1 and _columns_of(scope, query) == width:
        if kind in (exp.EQ, exp.NEQ):
            test = exp.In(this=left, query=exp.Subquery(this=query))
            made = _mark_in_rows(scope, test, True)
            found = made.value(made.computed[id(test)])
            made.compute_node(node, found if is_any else operators.negated(found))
            return made
        names = [f"item {i}" for i in range(width)]
        row = exp.Tuple(expressions=[exp.column(name, "rows") for name in names])
        columns = [exp.Identifier(this=name) for name in names]
        alias = exp.TableAlias(this=exp.Identifier(this="rows"), columns=columns)
        source = exp.From(this=exp.Subquery(this=query, alias=alias))
        query = exp.Select(expressions=[row], from_=source)
        left = exp.Paren(this=exp.Tuple(expressions=_values_of(left)))
    word = "ANY" if is_any else "ALL"
    if type(node) not in _OPPOSITE:
        raise UnsupportedError(
            f"sql: unsupported: word={word!r}, expression={node.sql('duckdb')[:80]!r}"
        )
    if not is_any:
        return _mark_all(scope, node, left, type(node), query, False)
    return _mark_all(scope, node, left, _OPPOSITE[type(node)], query, True)


def _values_of(node: Expression) -> list[Expression]:
    """The values of a row of several; none of other expressions."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Tuple) and len(node.expressions) > 1:
        return list(node.expressions)
    is_row = isinstance(node, exp.Anonymous) and str(node.this).lower() == "row"
    return list(node.expressions) if is_row else []


_OPPOSITE: dict[Any, Any] = {
    **{exp.EQ: exp.NEQ, exp.NEQ: exp.EQ, exp.LT: exp.GTE, exp.GTE: exp.LT},
    **{exp.GT: exp.LTE, exp.LTE: exp.GT},
}


def _mark_all(
    scope: Scope, node: Expression, left: Expression, kind: Any, query: Expression, negate: bool
) -> Scope:
    """Whether a comparison holds for all rows of a query: null where a null leaves it open."""
    rows, item = _rows_of(query), exp.column("item", "rows")

    def folded(call: Expression) -> Expression:
        select = exp.Select(expressions=[call], from_=exp.From(this=rows.copy()))
        return exp.Subquery(this=select)

    least, most = (folded(call(this=item.copy())) for call in (exp.Min, exp.Max))
    limits = {exp.LT: [least], exp.LTE: [least], exp.GT: [most], exp.GTE: [most]}
    fails: Expression = exp.false()
    for limit in limits.get(kind, [least, most]):
        fails = exp.Or(
            this=fails, expression=exp.Not(this=kind(this=left.copy(), expression=limit))
        )
    nulls = folded(exp.CountIf(this=exp.Is(this=item.copy(), expression=exp.Null())))
    unknown = exp.Or(
        this=exp.GT(this=nulls, expression=exp.Literal.number(0)),
        expression=exp.Is(this=left.copy(), expression=exp.Null()),
    )
    none = exp.EQ(this=folded(exp.Count(this=exp.Star())), expression=exp.Literal.number(0))
    tree = exp.Case(
        ifs=[
            exp.If(this=none, true=exp.true()),
            exp.If(this=fails, true=exp.false()),
            exp.If(this=unknown, true=exp.Null()),
        ],
        default=exp.true(),
    )
    scope = attach(scope, [tree])
    found = operators.as_bool(evaluate(tree, scope))
    return _keep(scope, node, operators.negated(found) if negate else found)


def lower_inner(scope: Scope, query: Expression) -> tuple[Relation, Correlation | None]:
    """The relation of a subquery, with hidden fields for the columns that it uses of this scope."""
    correlation = Correlation(scope)
    relation = scope.planner.lower(query, correlation)
    if not correlation.found:
        return relation, None
    correlation.bound = True
    return scope.planner.lower(query, correlation), correlation


def _visible(relation: Relation, count: int, word: str) -> list[Field]:
    fields = [f for f in relation.fields if not f.hidden]
    if len(fields) != count:
        raise InvalidArgumentError(
            f"sql: a subquery has a wrong number of columns: word={word!r}, expected={count}, "
            f"got={len(fields)}"
        )
    return fields


def outer_keys(
    scope: Scope, inner: Relation, correlation: Correlation
) -> tuple[list[_core.Node], list[_core.Node]]:
    """The columns of the query around, and the hidden fields that stand for them."""
    mine, theirs = [], []
    for name, (table, word) in correlation.found.items():
        own = scope.find(table, word)
        field = next((f for f in inner.fields if f.table == OUTER and f.name == name), None)
        if own is None or field is None:
            continue
        mine.append(column_of(own, scope.relation.rows))
        theirs.append(field.value.node)
    return mine, theirs


def _keep(scope: Scope, node: Expression, operand: Operand) -> Scope:
    made = scope.over(scope.relation)
    made.compute_node(node, operand)
    return made


# ---- scalar --------------------------------------------------------------------------------------


def one_row_always(query: Expression) -> bool:
    """Whether a query folds all of its rows into one."""
    if not isinstance(query, exp.Select) or query.args.get("group"):
        return False
    if query.args.get("limit") or query.args.get("offset") or query.args.get("having"):
        return False
    return any(aggregates_of(each) for each in query.expressions)


def _scalar(scope: Scope, node: Expression) -> Scope:
    query = _query(node)
    made = windowed_scalar(scope, node, query) or keyed_scalar(scope, node, query)
    if made is not None:
        return made
    inner, correlation = lower_inner(scope, query)
    (field,) = _visible(inner, 1, "scalar subquery")
    if field.value.dtype == NULL:
        return _keep(scope, node, Constant(None, NULL))
    if correlation is None:
        return _uncorrelated(scope, node, query, inner, field)
    mine, theirs = outer_keys(scope, inner, correlation)
    right = Relation([field._replace(table=" scalar", hidden=True)], inner.rows)
    base = scope.relation
    rows = joined(base, right, list(zip(mine, theirs, strict=True)), "left", True)
    found = rows.fields[-1].value
    result = scope.over(Relation(rows.fields[:-1], rows.rows))
    result.compute_node(node, found)
    return result


def _uncorrelated(
    scope: Scope, node: Expression, query: Expression, inner: Relation, field: Field
) -> Scope:
    like = scope.relation.rows
    if one_row_always(query):
        single = field.value.node
    else:
        # One row or none: more are an error of the join, whose right keys are unique.
        one = _core.data(_core.column_from_list([0], "int32"), "one row", _core.new_domain())
        right = Relation([field], inner.rows)
        keys = [(one, _core.astype(_core.repeat(inner.rows, 0), "int32"))]
        made = joined(Relation([], one), right, keys, "left", True)
        single = made.fields[-1].value.node
    return _keep(scope, node, value_of(broadcast(single, like), field.value.bits))


def _list_of_rows(scope: Scope, node: Expression) -> Scope:
    """ARRAY (SELECT ...): the values of a query as a list, empty without rows."""
    (query,) = node.expressions
    folded = exp.Subquery(
        this=exp.Select(
            expressions=[exp.ArrayAgg(this=exp.column("item", "rows"))],
            from_=exp.From(this=_rows_of(query)),
        )
    )
    scope = attach(scope, [folded])
    found = evaluate(folded, scope)
    if not isinstance(found, Value):
        raise UnsupportedError(f"sql: unsupported: expression={node.sql('duckdb')[:80]!r}")
    nothing = nested.list_of([Constant(None, item_dtype(found.dtype))], scope.relation.rows)
    assert isinstance(nothing, Value)
    empty = _core.list_slice(nothing.node, 0, 0)
    made = chosen(run("is_null", found.node), empty, found.node)
    return _keep(scope, node, value_of(made))


def _rows_of(query: Expression) -> Expression:
    """A query of one column as the table `rows` with the column `item`."""
    names = exp.TableAlias(this=exp.Identifier(this="rows"), columns=[exp.Identifier(this="item")])
    return exp.Subquery(this=query, alias=names)


# ---- EXISTS --------------------------------------------------------------------------------------


def _count_rows(rows: _core.Node) -> _core.Node:
    """The number of rows, as a column of one row."""
    ones = _core.astype(_core.repeat(rows, 1), "int64")
    (total,) = _core.reduce_columns("sum", [ones], 0)
    return _core.in_domain(_core.stack([total]), _core.new_domain())


def _marked(relation: Relation, mine: list[_core.Node], theirs: list[_core.Node]) -> Relation:
    """With a field that says which rows have these keys on the other side; null equals null."""
    keys = distinct_nodes(theirs)
    flag = Field(_MARK, "match", value_of(_core.repeat(keys[0], 1)), True)
    right = Relation([flag], keys[0])
    made = joined(relation, right, list(zip(mine, keys, strict=True)), "left", True)
    there = run("logical_not", run("is_null", made.fields[-1].value.node))
    return Relation([*made.fields[:-1], flag._replace(value=Value(there, "bool", 1))], made.rows)


def _mark(relation: Relation, name: str) -> _core.Node:
    return next(f.value.node for f in relation.fields if f.table == _MARK and f.name == name)


def _without_marks(relation: Relation) -> Relation:
    return Relation([f for f in relation.fields if f.table != _MARK], relation.rows)


def _mark_exists(scope: Scope, node: Expression) -> Scope:
    inner, correlation = lower_inner(scope, _query(node.this))
    if correlation is None:
        like = scope.relation.rows
        some = run("greater", broadcast(_count_rows(inner.rows), like), 0)
        return _keep(scope, node, Value(some, "bool", 1))
    mine, theirs = outer_keys(scope, inner, correlation)
    relation = _marked(scope.relation, mine, theirs)
    made = scope.over(_without_marks(relation))
    made.compute_node(node, Value(_mark(relation, "match"), "bool", 1))
    return made


def semi_join(scope: Scope, node: Expression, negated: bool) -> Scope | None:
    """The rows for which EXISTS or IN is true, or NOT EXISTS; None where a mark is needed."""
    if isinstance(node, exp.In):
        if node.args.get("query") is None:
            return None
        return _anti_in(scope, node) if negated else _semi_in(scope, node)
    if not isinstance(node, exp.Exists):
        return None
    made = keyed_exists(scope, _query(node.this), negated)
    if made is not None:
        return made
    inner, correlation = lower_inner(scope, _query(node.this))
    if correlation is None:
        return None
    mine, theirs = outer_keys(scope, inner, correlation)
    right = Relation([], theirs[0])
    keys = list(zip(mine, theirs, strict=True))
    return scope.over(joined(scope.relation, right, keys, "anti" if negated else "semi"))


# ---- IN ------------------------------------------------------------------------------------------


def _sides(
    scope: Scope, node: Expression, inner: Relation
) -> tuple[list[Value], list[Value], Relation]:
    """The values and those of the subquery, in common dtypes."""
    given = _values_of(node.this)
    visible = [f for f in inner.fields if not f.hidden]
    unpacked = len(given) == len(visible) and not (
        len(given) == 1 and is_struct(visible[0].value.dtype)
    )
    given = given if unpacked else [node.this]
    fields = _visible(inner, len(given), "IN")
    mine, theirs = [], []
    for each, field in zip(given, fields, strict=True):
        value = evaluate(each, scope)
        other: Operand = field.value
        dtype = common_dtype([value, other], "IN")
        if dtype == NULL:
            dtype = "int32"
        pair = []
        for operand, like in ((value, scope.relation.rows), (other, inner.rows)):
            made = cast(operand, dtype)
            pair.append(value_of(column_of(made, like, dtype)))
        mine.append(pair[0])
        theirs.append(pair[1])
    return mine, theirs, inner


def _semi_in(scope: Scope, node: Expression) -> Scope | None:
    scope = attach(scope, [node.this])
    inner, correlation = lower_inner(scope, _query(node.args["query"]))
    mine, theirs, inner = _sides(scope, node, inner)
    outer: tuple[list[Any], list[Any]] = ([], [])
    if correlation is not None:
        outer = outer_keys(scope, inner, correlation)
    held = Relation(
        [Field(OUTER, str(i), value_of(n), True) for i, n in enumerate(outer[1])], inner.rows
    )
    right, nodes = without_null_keys(held, [v.node for v in theirs])
    keys = list(zip([v.node for v in mine], nodes, strict=True))
    keys += list(zip(outer[0], right.nodes(), strict=True))
    return scope.over(joined(scope.relation, Relation([], nodes[0]), keys, "semi"))


def _anti_in(scope: Scope, node: Expression) -> Scope | None:
    """The rows for which NOT IN is true, where no null leaves that open; None where one may."""
    if len(_values_of(node.this)) > 1:
        return None
    around = attach(scope, [node.this])
    inner, correlation = lower_inner(around, _query(node.args["query"]))
    if correlation is not None:
        return None
    (mine,), (theirs,), inner = _sides(around, node, inner)
    if mine.node.nullable or theirs.node.nullable:
        return None
    keys = [(mine.node, theirs.node)]
    return around.over(joined(around.relation, Relation([], theirs.node), keys, "anti"))


def _mark_in(scope: Scope, node: Expression) -> Scope:
    """True, false or null: null where nothing is equal but a null is on one of the sides."""
    width = len(_values_of(node.this))
    if width > 1 and _columns_of(scope, _query(node.args["query"])) == width:
        return _mark_in_rows(scope, node, False)
    inner, correlation = lower_inner(scope, _query(node.args["query"]))
    mine, theirs, inner = _sides(scope, node, inner)
    outer: tuple[list[Any], list[Any]] = ([], [])
    if correlation is not None:
        outer = outer_keys(scope, inner, correlation)
    nulls = _core.astype(run("is_null", theirs[0].node), "int64")
    relation = scope.relation.with_fields(
        [Field(_MARK, "value", mine[0], True)]
        + [Field(_MARK, f"outer {i}", value_of(n), True) for i, n in enumerate(outer[0])]
    )
    relation = _with_counts(relation, inner, outer[1], nulls)
    held = Relation(
        [Field(OUTER, str(i), value_of(n), True) for i, n in enumerate(outer[1])], inner.rows
    )
    right, nodes = without_null_keys(held, [theirs[0].node])
    keys = [_mark(relation, "value")]
    keys += [_mark(relation, f"outer {i}") for i in range(len(outer[0]))]
    relation = _marked(relation, keys, [nodes[0], *right.nodes()])
    match, value = _mark(relation, "match"), _mark(relation, "value")
    unknown = run("logical_and", run("is_null", value), run("greater", _mark(relation, "rows"), 0))
    unknown = run("logical_or", unknown, run("greater", _mark(relation, "nulls"), 0))
    null = column_of(Constant(None, "bool"), match)
    found = where(unknown, run("logical_or", match, null), match)
    made = scope.over(_without_marks(relation))
    made.compute_node(node, Value(found, "bool", 1))
    return made


def _columns_of(scope: Scope, query: Expression) -> int:
    """The number of columns of a query."""
    inner, _ = lower_inner(scope, query)
    return sum(not f.hidden for f in inner.fields)


def _mark_in_rows(scope: Scope, node: Expression, differs: bool) -> Scope:
    """Whether a row of several values is one of a query, or differs from one.

    It is true where all values are equal, null where a null leaves that open.
    """
    values = _values_of(node.this)
    names = [f"item {i}" for i in range(len(values))]
    rows = exp.Subquery(
        this=_query(node.args["query"]),
        alias=exp.TableAlias(
            this=exp.Identifier(this="rows"), columns=[exp.Identifier(this=n) for n in names]
        ),
    )

    def exists(change: Any) -> Expression:
        same = exp.true()
        for value, name in zip(values, names, strict=True):
            one = exp.EQ(this=value.copy(), expression=exp.column(name, "rows"))
            same = exp.And(this=same, expression=one)
        select = exp.Select(
            expressions=[exp.Literal.number(1)],
            from_=exp.From(this=rows.copy()),
            where=exp.Where(this=change(same)),
        )
        return exp.Exists(this=select)

    def unknown(parts: list[Expression]) -> Expression:
        """Whether nulls leave it open, for rows where one of these is null: few, as a rule."""
        null: Expression = exp.false()
        for each in parts:
            null = exp.Or(this=null, expression=exp.Is(this=each.copy(), expression=exp.Null()))
        return exists(
            lambda same: exp.And(
                this=exp.Paren(this=null),
                expression=exp.Is(this=exp.Paren(this=same), expression=exp.Null()),
            )
        )

    sides = (values, [exp.column(name, "rows") for name in names])

    def wanted(same: Expression) -> Expression:
        return exp.Not(this=exp.Paren(this=same)) if differs else same

    tree = exp.Case(
        ifs=[
            exp.If(this=exists(wanted), true=exp.true()),
            *(exp.If(this=unknown(side), true=exp.Null()) for side in sides),
        ],
        default=exp.false(),
    )
    scope = attach(scope, [tree])
    return _keep(scope, node, operators.as_bool(evaluate(tree, scope)))


def _with_counts(
    relation: Relation, inner: Relation, outer: list[_core.Node], nulls: _core.Node
) -> Relation:
    """With the rows of the subquery and how many of their values are null."""
    like = relation.rows
    if not outer:
        (total,) = _core.reduce_columns("sum", [nulls], 0)
        missing = _core.in_domain(_core.stack([total]), _core.new_domain())
        found = {"rows": _count_rows(inner.rows), "nulls": missing}
        return relation.with_fields(
            Field(_MARK, name, value_of(broadcast(node, like), 48), True)
            for name, node in found.items()
        )
    words = [Words("rows", "size"), Words("nulls", "sum", nulls)]
    groups, sums = groups_of(outer, words)
    right = Relation(
        [
            Field(_MARK, name, value_of(node, 48), True)
            for name, node in zip(("rows", "nulls"), sums, strict=True)
        ],
        sums[0],
    )
    mine = [_mark(relation, f"outer {i}") for i in range(len(outer))]
    both = joined(relation, right, list(zip(mine, groups, strict=True)), "left", True)
    fields = [
        f._replace(value=value_of(filled(f.value.node, 0), 48))
        if f.table == _MARK and f.name in ("rows", "nulls")
        else f
        for f in both.fields
    ]
    return Relation(fields, both.rows)
