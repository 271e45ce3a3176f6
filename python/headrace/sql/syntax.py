# SPDX-License-Identifier: Apache-2.0
"""Queries as trees of sqlglot, and what is asked of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from headrace.errors import InvalidArgumentError, UnsupportedError

Expression = Any


def _import() -> Any:
    try:
        import sqlglot
    except ImportError:
        raise UnsupportedError(
            "sql: sqlglot is not installed: package='sqlglot'; pip install headrace[sql]"
        ) from None
    return sqlglot


sqlglot: Any = _import()
exp: Any = sqlglot.exp
_dialects: dict[str, Any] = {}


def _dialect(name: str) -> Any:
    """A dialect whose places in lists stay as they are written."""
    if name not in _dialects:
        made = sqlglot.Dialect.get_or_raise(name)
        made.INDEX_OFFSET = 0
        _dialects[name] = made
    return _dialects[name]


_TYPED = frozenset(("date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"))
_TYPED_STRING = re.compile(r"(?i)\b(?:date|timestamp)(?:_s|_ms|_ns)?\s*'[^']*'\s*::")


def _with_typed_strings(query: str) -> str:
    """`date '2020-01-01'::varchar` casts the date, where sqlglot reads a date of the string."""
    tokens = sqlglot.tokenize(query, read=_dialect("duckdb"))
    pieces, at = [], 0
    for word, text, mark in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if word.text.lower() in _TYPED and text.token_type.name == "STRING" and mark.text == "::":
            pieces.append(f"{query[at : word.start]}({query[word.start : text.end + 1]})")
            at = text.end + 1
    return "".join([*pieces, query[at:]])


_NEAREST = re.compile(r"(?i)\bnearest\s")


def _with_nearest_counts(query: str) -> str:
    """`NEAREST BY` takes one row, and EXACT is what all joins are, which sqlglot reads neither."""
    tokens = sqlglot.tokenize(query, read=_dialect("duckdb"))
    words = [token.text.lower() for token in tokens]
    pieces, at = [], 0
    for place in range(1, len(tokens) - 1):
        token, after = tokens[place], tokens[place + 1]
        if words[place] != "nearest" or not (words[place + 1] == "by" or after.text.isdigit()):
            continue
        if words[place - 1] == "exact":
            pieces.append(query[at : tokens[place - 1].start])
            at = token.start
        if words[place + 1] == "by":
            pieces.append(f"{query[at : token.end + 1]} 1")
            at = token.end + 1
    return "".join([*pieces, query[at:]])


def statements(query: str, dialect: str) -> list[Expression]:
    """The statements of a script; raises for what is no SQL."""
    try:
        text = _with_typed_strings(query) if _TYPED_STRING.search(query) else query
        text = _with_nearest_counts(text) if _NEAREST.search(text) else text
        found = sqlglot.parse(text, read=_dialect(dialect))
        trees = [each for each in found if each is not None and not isinstance(each, exp.Semicolon)]
    except sqlglot.errors.SqlglotError as error:
        details = getattr(error, "errors", None)
        if details:
            at = details[0]
            raise InvalidArgumentError(
                f"sql: {at['description'].rstrip('.')}: line={at['line']}, column={at['col']}, "
                f"near={at['highlight']!r}; mend the query"
            ) from None
        raise InvalidArgumentError(f"sql: {error}; mend the query") from None
    if "all" in query.lower():
        for tree in trees:
            _read_all_of_lists(tree)
    return trees


def parsed(query: str, dialect: str) -> Expression:
    """The one statement of a query; raises for several."""
    trees = statements(query, dialect)
    if len(trees) != 1:
        raise InvalidArgumentError(
            f"sql: expected one statement: statements={len(trees)}; call it for each"
        )
    return trees[0]


def table_name(table: Expression) -> str:
    """The name of a table as contexts have it: with its schema unless that is main."""
    if table.args.get("catalog"):
        raise UnsupportedError(f"sql: unsupported table: expression={table.sql('duckdb')!r}")
    schema = named(table.db)
    return named(table.name) if schema in ("", "main") else f"{schema}.{named(table.name)}"


def _read_all_of_lists(tree: Expression) -> None:
    """`= ALL (list)`, which sqlglot takes for a function."""
    for node in list(tree.find_all(exp.Anonymous)):
        if named(node.this) == "all" and isinstance(node.parent, exp.Binary):
            node.replace(exp.All(this=node.expressions[0]))


def is_query(node: Expression) -> bool:
    """A query inside another one."""
    return isinstance(node, exp.Query)


def walk(node: Expression, within_windows: bool = True) -> Iterator[Expression]:
    """A node and those below it; not into queries, nor into windows if these are left out."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        if is_query(each) or (not within_windows and isinstance(each, exp.Window)):
            continue
        waiting += [child for child in each.iter_expressions(reverse=True)]


def replaced(node: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """The tree with what `change` gives for its nodes; None keeps a node. Not into queries."""
    new = change(node)
    if new is not None:
        return new
    if is_query(node):
        return node
    for key, value in list(node.args.items()):
        if isinstance(value, exp.Expression):
            made = replaced(value, change)
            if made is not value:
                node.set(key, made)
        elif isinstance(value, list):
            for place, each in enumerate(value):
                if isinstance(each, exp.Expression):
                    made = replaced(each, change)
                    if made is not each:
                        node.set(key, [*node.args[key][:place], made, *node.args[key][place + 1 :]])
    return node


def with_aliases(
    condition: Expression, aliases: Mapping[str, Expression], is_column: Callable[[str], bool]
) -> Expression:
    """A condition of WHERE with the expressions of SELECT's aliases where FROM has no such column.

    They come before the columns of the query around.
    """

    def change(each: Expression) -> Expression | None:
        if not isinstance(each, exp.Column) or each.table or isinstance(each.this, exp.Star):
            return None
        name = named(each.name)
        if name not in aliases or is_column(name):
            return None
        rest = {word: node for word, node in aliases.items() if word != name}
        return exp.Paren(this=with_aliases(aliases[name], rest, is_column))

    return replaced(condition if is_query(condition) else condition.copy(), change)


def aliases_of(select: Expression) -> dict[str, Expression]:
    """The expressions that SELECT names."""
    return {named(e.alias): e.this for e in select.expressions if isinstance(e, exp.Alias)}


def conjuncts(condition: Expression | None) -> list[Expression]:
    """The conditions that AND puts together; those that all sides of an OR share stand apart."""
    if condition is None:
        return []
    if isinstance(condition, exp.Paren):
        return conjuncts(condition.this)
    if isinstance(condition, exp.And):
        return conjuncts(condition.this) + conjuncts(condition.expression)
    if isinstance(condition, exp.Or):
        sides = [conjuncts(side) for side in disjuncts(condition)]
        shared = [each for each in sides[0] if all(each in side for side in sides[1:])]
        if shared:
            rests = [[each for each in side if each not in shared] for side in sides]
            if not all(rests):
                return shared
            return [*shared, any_of([all_of(rest) for rest in rests])]
    return [condition]


def conditions_of(select: Expression) -> list[Expression]:
    """The conditions of WHERE and of inner joins."""
    where = select.args.get("where")
    found = conjuncts(where.this) if where is not None else []
    for join in select.args.get("joins") or []:
        found += conjuncts(join.args.get("on"))
    return found


def tables_of_joins(select: Expression) -> dict[str, Expression] | None:
    """The tables of FROM by alias; None where it has others than tables of inner joins."""
    source = select.args.get("from_")
    found: dict[str, Expression] = {}
    for each in [source, *(select.args.get("joins") or [])] if source is not None else []:
        table = each.this
        if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
            return None
        if any(each.args.get(word) for word in ("side", "method", "using", "nearest")):
            return None
        if named(each.args.get("kind") or "") not in ("", "inner", "cross"):
            return None
        alias = table.args.get("alias")
        name = named(table.alias or table.name)
        if table.args.get("joins") or name in found or (alias and alias.args.get("columns")):
            return None
        found[name] = table
    return found or None


def disjuncts(condition: Expression) -> list[Expression]:
    """The conditions that OR puts together."""
    if isinstance(condition, exp.Paren) and isinstance(condition.this, exp.Or):
        return disjuncts(condition.this)
    if isinstance(condition, exp.Or):
        return disjuncts(condition.this) + disjuncts(condition.expression)
    return [condition]


def all_of(conditions: list[Expression]) -> Expression:
    """The conditions put together by AND."""
    made = conditions[0].copy()
    for each in conditions[1:]:
        made = exp.And(this=made, expression=each.copy())
    return made


def any_of(conditions: list[Expression]) -> Expression:
    """The conditions put together by OR."""
    made = conditions[0]
    for each in conditions[1:]:
        made = exp.Or(this=made, expression=each)
    return made


#: Functions that fold rows, by sqlglot's class or by their own name.
_AGGREGATE_NAMES = frozenset(
    (
        "arg_max",
        "arg_min",
        "max_by",
        "min_by",
        "any_value",
        "mean",
        "bool_and",
        "bool_or",
        "product",
        "median",
        "mode",
        "first",
        "last",
        "kurtosis",
        "mad",
        "entropy",
        "skewness",
        "sem",
        "count_star",
        "geomean",
        "arbitrary",
        "arg_max_null",
        "arg_min_null",
        "arg_max_nulls_last",
        "arg_min_nulls_last",
        "kurtosis_pop",
        "favg",
        "fsum",
        "sumkahan",
        "kahan_sum",
        "countif",
        "covar_pop",
        "covar_samp",
        "corr",
        "regr_count",
        "regr_avgx",
        "regr_avgy",
        "regr_sxx",
        "regr_syy",
        "regr_sxy",
        "regr_slope",
        "regr_intercept",
        "regr_r2",
    )
)


def is_aggregate(node: Expression) -> bool:
    """Whether this folds rows."""
    if isinstance(node, exp.Filter | exp.WithinGroup):
        return True
    if isinstance(node, exp.IgnoreNulls | exp.RespectNulls):
        return is_aggregate(node.this)
    if isinstance(node, exp.AggFunc):
        return True
    return isinstance(node, exp.Anonymous) and str(node.this).lower() in _AGGREGATE_NAMES


def folds_all_columns(node: Expression) -> bool:
    """Whether an expression has aggregates, and reads columns in these alone."""
    calls = aggregates_of(node)
    if not calls or queries_of(node) or windows_of(node):
        return False
    return len(columns_of(node)) == sum(len(columns_of(call)) for call in calls)


def columns_of(node: Expression) -> list[Expression]:
    """The columns of an expression, those of subqueries left out."""
    return [each for each in walk(node) if isinstance(each, exp.Column)]


def may_raise(nodes: Iterable[Expression]) -> bool:
    """Whether expressions may be errors, as CAST is; TRY_CAST is not."""
    return any(type(each) is exp.Cast for node in nodes for each in node.find_all(exp.Cast))


def aggregates_of(node: Expression) -> list[Expression]:
    """The outermost aggregates of an expression, those of windows left out."""
    found = []
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if is_query(each):
            continue
        if isinstance(each, exp.Window):  # its function folds windows, its operands may fold groups
            call = each.this
            while isinstance(call, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
                waiting += [call.expression] if isinstance(call, exp.Filter) else []
                call = call.this
            waiting += list(call.iter_expressions())
            waiting += [c for key in ("partition_by", "order") for c in _listed(each.args.get(key))]
            continue
        if is_aggregate(each):
            found.append(each)
            continue
        waiting += list(each.iter_expressions())
    return found


def _listed(value: Any) -> list[Expression]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def windows_of(node: Expression) -> list[Expression]:
    """The window functions of an expression, inner ones first."""
    return [each for each in walk(node) if isinstance(each, exp.Window)][::-1]


def queries_of(node: Expression, known: Mapping[Any, Any] | None = None) -> list[Expression]:
    """The expressions that hold a subquery: scalar ones, EXISTS, IN, ANY and ALL.

    Not those in expressions that are `known`.
    """
    found = []
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if known and each in known:
            continue
        if isinstance(each, exp.In) and each.args.get("query") is not None:
            found.append(each)
            waiting.append(each.this)
        elif isinstance(each, exp.Exists | exp.Subquery | exp.Select) or _is_array_of_rows(each):
            found.append(each)
        elif isinstance(each, exp.Binary) and isinstance(each.expression, exp.Any | exp.All):
            found.append(each)
            waiting.append(each.this)
        elif not is_query(each):
            waiting += list(each.iter_expressions())
    return found[::-1]


def _is_array_of_rows(node: Expression) -> bool:
    """Whether this is ARRAY (SELECT ...)."""
    return isinstance(node, exp.Array) and any(is_query(each) for each in node.expressions)


def named(word: Any) -> str:
    """A name in lower case: SQL's names are the same in any case."""
    return str(word).lower()


#: What is read of a node besides its operands: all else that the parser finds is refused, so that
#: no word of a query is left out in silence.
_READ = """
    Alias=alias Between=low,high CTE=alias,materialized Case=default,ifs Cast=to TryCast=to,safe
    Column=table,db,catalog Concat=coalesce,safe Count=big_int DPipe=safe Div=typed,safe
    Coalesce=is_nvl,is_null Group=all,grouping_sets,rollup,cube Identifier=quoted
    Greatest=ignore_nulls Least=ignore_nulls If=true,false In=query,unnest,field Interval=unit
    Join=on,side,kind,using,method,nearest Nearest=count,approximate,similarity
    Lag=offset,default Lead=offset,default NthValue=offset
    Like=negate ILike=negate Literal=is_string Ordered=desc,nulls_first Replace=replacement
    Round=decimals Substring=start,length Trim=position,expression StrPosition=substr
    Select=distinct,from_,group,having,joins,limit,offset,order,qualify,where,windows,with_
    Select+=laterals,match,cluster,distribute,sort,pivots,into,locks,sample,connect,prewhere
    Union=distinct,with_,order,limit,offset,by_name Intersect=distinct,with_,order,limit,offset
    Except=distinct,with_,order,limit,offset Star=except_,replace,rename Distinct=on
    Subquery=alias,order,limit,offset,with_,joins Table=alias,joins,db,sample,pivots
    TableAlias=columns
    DateTrunc=unit TimestampTrunc=unit,input_type_preserved DateDiff=unit,date_part_boundary
    TimeToStr=format Repeat=times Values=alias,order,limit,offset With=recursive RegexpLike=flag
    Window=alias,order,over,partition_by,spec WindowSpec=start,start_side,end,end_side,kind,exclude
    ColumnDef=kind DataType=nested,values,kind Placeholder=value,kind Parameter=value,kind
    Lateral=alias,view,outer
    Limit=offset Fetch=count,direction Unnest=alias,offset Array=value_constructor
    ArraySort=nulls_first,asc ArrayDistinct=check_null
    GenerateSeries=start,end,step,is_end_exclusive
    GroupConcat=separator Lambda=colon Comprehension=iterator,condition,position
    ArrayConcat=null_propagation ConcatWs=safe,coalesce SplitPart=delimiter,part_index
    RegexpExtract=group,parameters,null_if_pos_overflow
    Pad=fill_pattern,is_left Translate=from_,to RegexpFullMatch=options LastDay=unit Max=count
    Min=count ArgMax=count ArgMin=count Quantile=quantile DateFromParts=year,month,day
    RegexpExtractAll=group,parameters UnixToTime=scale ArraySlice=start,end,step,is_length
    Reduce=initial,merge,finish SHA2=length Overlay=from_,for_
    JarowinklerSimilarity=case_insensitive
    RegexpReplace=replacement,modifiers,single_replace,position
"""
_OPERANDS = frozenset(("this", "expression", "expressions"))


def _words_read() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for entry in _READ.split():
        name, _, words = entry.partition("=")
        name = name.rstrip("+")
        found[name] = found.get(name, _OPERANDS) | frozenset(words.split(","))
    return found


_KNOWN = _words_read()


def check_words(tree: Expression) -> None:
    """Raise for a part of a query that is not read."""
    for node in tree.walk():
        known = _KNOWN.get(type(node).__name__, _OPERANDS)
        for key, value in node.args.items():
            if key not in known and value is not None and value is not False and value != []:
                raise UnsupportedError(
                    f"sql: unsupported: word={key.strip('_').upper()!r}, "
                    f"expression={node.sql('duckdb')[:80]!r}"
                )
