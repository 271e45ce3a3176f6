# SPDX-License-Identifier: Apache-2.0
"""Names of a query: what each column stands for, in the query itself and in those around it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from headrace import _core
from headrace.errors import ColumnNotFoundError, InvalidArgumentError, UnsupportedError
from headrace.sql.relation import Field, Relation
from headrace.sql.values import Constant, Operand, is_nested, null_column, value_of

#: The table of hidden fields that hold columns of the query around this one.
OUTER = " outer"
#: The table of hidden fields that hold what expressions are already computed as.
COMPUTED = " computed"
#: The table of hidden fields that hold aggregates which subqueries read.
FOLDED = " folded"
#: The table of hidden fields that hold the items of a list, for its lambda.
ITEM = " item"
Expression = Any  # of sqlglot, which is imported on first use
_numbers = itertools.count()


class Correlation:
    """The columns that a query uses of the one around it.

    In a first pass each is a null of its type and written down; in a second one each is a hidden
    field of the query's relation.
    """

    __slots__ = ("bound", "domain", "found", "parent")

    def __init__(self, parent: Scope) -> None:
        self.parent: Scope = parent
        #: By the name of the hidden field: table and name in the scope around.
        self.found: dict[str, tuple[str, str]] = {}
        self.bound: bool = False
        #: The distinct rows of these columns, once made.
        self.domain: Relation | None = None

    def lookup(self, table: str, name: str) -> Operand | None:
        """The type of a column of the query around this one, as a null."""
        operand = self.parent.find(table, name)
        if operand is None:
            return None
        self.found[f"{table}.{name}"] = (table, name)
        return Constant(None, operand.dtype)


class QueryPlanner(Protocol):
    """What lowers a query to a relation: the way back for subqueries."""

    #: Values of parameters by name or number.
    parameters: Mapping[str, Constant]

    def lower(self, query: Expression, correlation: Correlation | None) -> Relation:
        """The relation of a query."""

    def table(self, node: Expression) -> Relation:
        """A table of FROM, alone."""

    def rows_where(
        self,
        select: Expression,
        choose: Callable[[Scope], list[Expression] | None],
        correlation: Correlation,
    ) -> Scope | None:
        """The rows of FROM where conditions hold that `choose` gives; None if it gives none."""

    def filtered(self, scope: Scope, conditions: list[Expression]) -> Scope:
        """The rows where all conditions are true, which may hold subqueries."""

    def value(self, scope: Scope, node: Expression) -> Operand:
        """The value of an expression."""

    def folded(
        self, scope: Scope, key: _core.Node, call: Expression, wanted: _core.Node
    ) -> Operand:
        """An aggregate of the rows with equal keys, for each wanted key."""


class Scope:
    """A relation, what its expressions are already computed as, and the query around it."""

    __slots__ = (
        "_alive",
        "_index",
        "aliases",
        "computed",
        "domain",
        "made_by",
        "outer",
        "planner",
        "relation",
    )

    def __init__(
        self, relation: Relation, outer: Correlation | None, planner: QueryPlanner
    ) -> None:
        self.relation: Relation = relation
        self.outer: Correlation | None = outer
        self.planner: QueryPlanner = planner
        #: Expressions, or the numbers of nodes with a subquery: a constant or a hidden field.
        self.computed: dict[Expression, Constant | str] = {}
        #: The distinct rows of the columns of the query around, where they are joined as such.
        self.domain: Relation | None = None
        #: The SELECT whose tables and conditions give just these rows, and what of its conditions
        #: is not done.
        self.made_by: tuple[Expression, list[Expression]] | None = None
        #: Nodes whose numbers are in `computed`: they must not go to others.
        self._alive: tuple[Expression, ...] = ()
        self.aliases: dict[str, Expression] = {}
        self._index: dict[tuple[str, str], list[Field]] | None = None

    def over(self, relation: Relation) -> Scope:
        """The same names over other rows, whose relation carries what is computed."""
        made = Scope(relation, self.outer, self.planner)
        made.aliases, made.computed, made.domain = self.aliases, self.computed, self.domain
        made._alive = self._alive
        return made

    def value(self, computed: Constant | str) -> Operand:
        """What an expression is computed as."""
        if isinstance(computed, Constant):
            return computed
        found = self.field(COMPUTED, computed)
        assert found is not None
        return found.value

    def compute_node(self, node: Expression, operand: Operand) -> None:
        """Keep the value of this one node, which holds a subquery."""
        self.compute(id(node), operand)
        self._alive = (*self._alive, node)

    def compute(self, key: Expression, operand: Operand) -> None:
        """Keep the value of an expression as a hidden field."""
        if isinstance(operand, Constant):
            self.computed[key] = operand
            return
        name = f"#{next(_numbers)}"
        self.computed = {**self.computed, key: name}
        self.with_fields([Field(COMPUTED, name, operand, True)])

    def _fields(self, table: str, name: str) -> list[Field]:
        if self._index is None:
            self._index = {}
            for field in self.relation.fields:
                own = field.name.lower()
                self._index.setdefault((field.table, own), []).append(field)
                if not field.hidden and field.table:
                    self._index.setdefault(("", own), []).append(field)
        return self._index.get((table, name), [])

    def has(self, table: str, name: str) -> bool:
        """Whether there are fields of this name."""
        return bool(self._fields(table, name))

    def field(self, table: str, name: str) -> Field | None:
        """The field of this name, of lower case; None if there is none."""
        found = self._fields(table, name)
        if len(found) > 1:
            raise InvalidArgumentError(
                f"sql: the column name is ambiguous: name={name!r}, "
                f"tables={sorted({f.table for f in found})}; write table.{name}"
            )
        return found[0] if found else None

    def find(self, table: str, name: str) -> Operand | None:
        """A column of this query, or of one around it."""
        field = self.field(table, name)
        if field is not None:
            return field.value
        if self.outer is None:
            return self.alias(name) if not table and name in self.aliases else None
        hidden = self.field(OUTER, f"{table}.{name}")
        if hidden is not None:
            return hidden.value
        if not table and name in self.aliases:
            return self.alias(name)
        found = self.outer.lookup(table, name)
        if found is not None and self.outer.bound:  # a null of its type is no answer here
            raise UnsupportedError(
                f"sql: a column of the query around in this place: column={name!r}"
            )
        if isinstance(found, Constant) and is_nested(found.dtype):
            return value_of(null_column(self.relation.rows, found.dtype))
        return found

    def alias(self, name: str) -> Operand:
        """The value of an expression of SELECT that is read before it is made."""
        aliases = self.aliases
        self.aliases = {k: v for k, v in aliases.items() if k != name}
        try:
            return self.planner.value(self, aliases[name])
        finally:
            self.aliases = aliases

    def column(self, table: str, name: str) -> Operand:
        """As `find`; raises if there is no such column."""
        found = self.find(table, name)
        if found is None:
            names = [f"{f.table}.{f.name}" for f in self.relation.fields if not f.hidden]
            asked = f"{table}.{name}" if table else name
            raise ColumnNotFoundError(
                f"sql: no such column: name={asked!r}; the columns are {', '.join(names[:40])}"
            )
        return found

    def with_fields(self, fields: list[Field]) -> None:
        """Add fields to the relation."""
        self.relation = self.relation.with_fields(fields)
        self._index = None
