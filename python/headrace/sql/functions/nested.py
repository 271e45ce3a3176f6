# SPDX-License-Identifier: Apache-2.0
"""Lists and structs: literals, items and fields, and the functions of DuckDB on them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence

from headrace import _core
from headrace.errors import (
    ColumnNotFoundError,
    InvalidArgumentError,
    TypeMismatchError,
    UnsupportedError,
)
from headrace.sql import operators
from headrace.sql.casts import cast, common
from headrace.sql.elementwise import bool_value, filled, halves_of, run, where, whole_of
from headrace.sql.lists import (
    chosen_items,
    grouped,
    items_of,
    mapped,
    null_where_null,
    places_of,
    relisted,
    rows_from_zero,
)
from headrace.sql.nested.keys import unique_items
from headrace.sql.relation import broadcast, one_row
from headrace.sql.values import (
    INTEGERS,
    NULL,
    TIMESTAMP,
    Constant,
    ConstantExpectedError,
    Operand,
    Value,
    column_of,
    is_decimal,
    is_list,
    is_nested,
    is_struct,
    is_time,
    item_dtype,
    list_dtype,
    stored_dtype,
    struct_dtype,
    struct_fields,
    type_name,
    value_of,
)


def list_of(operands: Sequence[Operand], like: _core.Node) -> Operand:
    """A list of these values in each row."""
    dtype, operands = common(list(operands), "a list") if operands else (NULL, [])
    if all(isinstance(each, Constant) for each in operands):
        node = broadcast(_listed(operands, stored_dtype(dtype), one_row().rows), like)
    else:
        node = _listed(operands, stored_dtype(dtype), like)
    keeps = dtype == NULL or is_nested(dtype)
    return Value(node, list_dtype(dtype) if keeps else node.dtype)


def _listed(operands: Sequence[Operand], dtype: str, like: _core.Node) -> _core.Node:
    nodes = [column_of(each, like, dtype) for each in operands or [Constant(None, dtype)]]
    rows = rows_from_zero(like)
    values = _core.concat(nodes) if len(nodes) > 1 else nodes[0]
    numbers = _core.concat([rows] * len(nodes)) if len(nodes) > 1 else rows
    made = _core.in_domain(grouped(values, numbers, like), like.domain)
    return made if operands else _core.list_slice(made, 0, 0)


def as_list(operand: Operand, word: str) -> Value:
    """The operand, which must be a list."""
    if isinstance(operand, Value) and is_list(operand.dtype):
        return operand
    raise TypeMismatchError(
        f"sql: expected a list: function={word!r}, type={type_name(operand.dtype)}"
    )


def whole(operand: Operand, word: str) -> int | None:
    """A constant integer; None for null."""
    if isinstance(operand, Constant) and (operand.value is None or type(operand.value) is int):
        return operand.value
    if isinstance(operand, Value) and operand.dtype in INTEGERS:
        raise ConstantExpectedError(operand, word)
    raise UnsupportedError(f"sql: expected a constant integer: word={word!r}")


# ---- items ---------------------------------------------------------------------------------------


def item(operand: Operand, at: Operand, word: str = "LIST_EXTRACT") -> Operand:
    """The item at a place, from 1 on, or from the end if negative."""
    if isinstance(operand, Constant) and is_list(operand.dtype):
        return Constant(None, item_dtype(operand.dtype))
    lists = as_list(operand, word)
    place = whole(at, word)
    if place is None or place == 0:
        return Constant(None, item_dtype(lists.dtype))
    return value_of(_core.list_item(lists.node, place - 1 if place > 0 else place))


def part(operand: Operand, begin: Operand | None, end: Operand | None) -> Operand:
    """The items from one place to another, both counted."""
    lists = as_list(operand, "LIST_SLICE")
    first = None if begin is None else whole(begin, "LIST_SLICE")
    last = None if end is None else whole(end, "LIST_SLICE")
    if (begin is not None and first is None) or (end is not None and last is None):
        return Constant(None, lists.dtype)
    low = None if first is None or first == 0 else first - 1 if first > 0 else first
    high: int | None = last
    if last is not None and last < 0:
        high = None if last == -1 else last + 1
    return value_of(_core.list_slice(lists.node, low, high))


def contains(operand: Operand, wanted: Operand, word: str = "LIST_CONTAINS") -> Operand:
    """Whether an item is equal to the value."""
    if NULL in (operand.dtype, wanted.dtype):
        return Constant(None, "bool")
    lists = as_list(operand, word)
    found = _core.list_reduce(mapped(lists, _equal_to(lists, wanted)).node, "any")
    null = run("is_null", lists.node)
    if isinstance(wanted, Value):
        null = run("logical_or", null, run("is_null", wanted.node))
    return bool_value(where(null, None, _core.in_domain(found, lists.node.domain)))


def _equal(a: Operand, b: Operand) -> Operand:
    return operators.compare("equal", a, b)


def _equal_to(
    lists: Value, wanted: Operand, equal: Callable[[Operand, Operand], Operand] = _equal
) -> Callable[[Value], Operand]:
    def change(items: Value) -> Operand:
        if isinstance(wanted, Constant):
            return equal(items, wanted)
        rows, _ = items_of(lists)
        own = _core.in_domain(_core.take(wanted.node, rows), items.node.domain)
        return equal(items, value_of(own, wanted.bits))

    return change


def position(operand: Operand, wanted: Operand) -> Operand:
    """The place of the first item that is equal to the value; null for none."""
    if operand.dtype == NULL:
        return Constant(None, "int32")
    lists = as_list(operand, "LIST_POSITION")
    rows, items = items_of(lists)
    same = _equal_to(lists, wanted, operators.is_same)(items)
    found_at = filled(column_of(operators.as_bool(same), items.node, "bool"), False)
    there = where(found_at, places_of(rows), None)
    found = _core.list_reduce(relisted(lists, rows, there), "min")
    return value_of(_core.in_domain(found, lists.node.domain), 32)


def length(operand: Operand) -> Operand:
    """The number of items."""
    if operand.dtype == NULL:
        return Constant(None, "int64")
    return value_of(_core.list_length(as_list(operand, "LEN").node), 48)


def joined_lists(operands: Sequence[Operand], null_is_empty: bool) -> Operand:
    """The items of several lists, one list after the other."""
    given = [each for each in operands if each.dtype != NULL]
    if len(given) < len(operands) and not null_is_empty:
        return Constant(None, given[0].dtype if given else NULL)
    if not given:
        return Constant(None, NULL)
    _, given = common(given, "||")
    lists = [as_list(each, "LIST_CONCAT") for each in given]
    if len(lists) == 1:
        return lists[0]
    rows, values = [], []
    for each in lists:
        own, items = items_of(each)
        empty = run("equal", filled(_core.list_length(each.node), 0), 0)
        gone = _core.in_domain(_core.take(empty, own), own.domain)
        rows.append(where(gone, None, _core.astype(own, "int64")))
        values.append(items.node)
    made = grouped(_core.concat(values), _core.concat(rows), lists[0].node)
    return value_of(made if null_is_empty else null_where_null(made, *lists))


def repeated(operand: Operand, times: int) -> Operand:
    """The items of a list several times."""
    lists = as_list(operand, "REPEAT")
    if times <= 0:
        return value_of(_core.list_slice(lists.node, 0, 0))
    half = repeated(lists, times // 2)
    more = [half, half] if times > 1 else []
    return joined_lists([*more, *([lists] if times % 2 else [])], False)


def without_nulls(lists: Value) -> Value:
    """The items that are not null."""
    rows, items = items_of(lists)
    return value_of(chosen_items(lists, rows, run("logical_not", run("is_null", items.node))))


def _reduced(lists: Value, word: str) -> Operand:
    made = _core.in_domain(_core.list_reduce(lists.node, word), lists.node.domain)
    return value_of(made)


def _has_some(lists: Value) -> _core.Node:
    """Whether an item is not null."""
    return run("greater", filled(_core.list_length(without_nulls(lists).node), 0), 0)


def _half_of(number: int) -> Callable[[Value], Operand]:
    return lambda items: value_of(halves_of(items.node)[number])


def _total(lists: Value) -> Operand:
    """The sum; null without items, an error beyond 64 bits."""
    inner = item_dtype(lists.dtype)
    if inner == "uint64":
        raise UnsupportedError("sql: unsupported: word='LIST_SUM', type=UBIGINT[]")
    if inner == "int64":
        halves = [mapped(lists, _half_of(n)) for n in (0, 1)]
        total = whole_of(*(_core.list_reduce(each.node, "sum") for each in halves))
    else:
        total = _core.list_reduce(lists.node, "sum")
    total = _core.in_domain(total, lists.node.domain)
    return value_of(where(_has_some(lists), total, None))


def _truth(lists: Value, word: str) -> Operand:
    """Of bools; null without one."""
    found = _core.in_domain(_core.list_reduce(lists.node, word), lists.node.domain)
    return bool_value(where(_has_some(lists), found, None))


def _count(lists: Value) -> Operand:
    """How many items are not null."""
    return value_of(_core.list_length(without_nulls(lists).node), 48)


_REDUCTIONS: dict[str, Callable[[Value], Operand]] = {
    "min": lambda lists: _reduced(lists, "min"),
    "max": lambda lists: _reduced(lists, "max"),
    "avg": lambda lists: _reduced(lists, "mean"),
    "sum": _total,
    "count": _count,
    "first": lambda lists: item(lists, Constant(1, "int32")),
    "last": lambda lists: item(lists, Constant(-1, "int32")),
    "bool_or": lambda lists: _truth(lists, "any"),
    "bool_and": lambda lists: _truth(lists, "all"),
}


def _reduction(name: str) -> Callable[[list[Operand], _core.Node], Operand]:
    return lambda operands, like: aggregated(operands[0], name)


def aggregated(operand: Operand, name: str) -> Operand:
    """An aggregate of the items of each list."""
    if operand.dtype == NULL:
        return Constant(None, NULL)
    lists = as_list(operand, f"LIST_{name.upper()}")
    if not reduces(lists, name):
        raise UnsupportedError(f"sql: unsupported: word='LIST_{name.upper()}'")
    return _REDUCTIONS[name](lists)


def reduces(lists: Value, name: str) -> bool:
    """Whether the engine folds the items of each list by this aggregate as SQL does."""
    inner = item_dtype(lists.dtype)
    if name not in _REDUCTIONS or is_list(inner) or is_struct(inner):
        return name in ("count", "first", "last")
    if inner in ("float32", "float64") or is_decimal(inner):
        return name not in ("min", "max", "avg", "sum")
    return inner not in ("string", "bool") or name not in ("min", "max")


def sorted_lists(operand: Operand, options: Sequence[Operand], reverse: bool = False) -> Operand:
    """The items in order, null first as in DuckDB unless asked otherwise."""
    if operand.dtype == NULL:
        return Constant(None, NULL)
    lists = as_list(operand, "LIST_SORT")
    words = [str(each.value).lower() for each in options if isinstance(each, Constant)]
    if len(words) != len(options):
        raise UnsupportedError("sql: expected constant options: word='LIST_SORT'")
    if not sorts(lists):
        raise UnsupportedError("sql: lists of doubles, which may hold NaN: word='LIST_SORT'")
    descending = (words[0] == "desc") if words else False
    first = words[1] == "nulls first" if len(words) > 1 else False
    return value_of(_core.list_sort(lists.node, descending != reverse, first))


def sorts(lists: Value) -> bool:
    """Whether the engine orders the items of lists as SQL does."""
    inner = item_dtype(lists.dtype)
    return inner not in ("float32", "float64") and not is_list(inner) and not is_struct(inner)


def distinct(operand: Operand) -> Operand:
    """The different items that are not null."""
    if operand.dtype == NULL:
        return Constant(None, NULL)
    return _once(as_list(operand, "LIST_DISTINCT"))


def _once(lists: Value) -> Value:
    """The different items that are not null."""
    return value_of(unique_items(without_nulls(lists).node))


def flattened(operand: Operand) -> Operand:
    """The items of the items."""
    if operand.dtype == NULL:
        return Constant(None, NULL)
    lists = as_list(operand, "FLATTEN")
    if item_dtype(lists.dtype) == NULL:  # lists that are all null
        return value_of(null_where_null(_core.list_slice(lists.node, 0, 0), lists))
    if not is_list(item_dtype(lists.dtype)):
        raise TypeMismatchError(
            f"sql: expected a list of lists: function='FLATTEN', type={type_name(lists.dtype)}"
        )
    rows, inner = items_of(lists)
    own, items = items_of(inner)
    empty = run("equal", filled(_core.list_length(inner.node), 0), 0)
    gone = _core.in_domain(_core.take(empty, own), own.domain)
    at = _core.in_domain(_core.take(_core.astype(rows, "int64"), own), own.domain)
    return value_of(null_where_null(grouped(items.node, where(gone, None, at), lists.node), lists))


def series(
    start: Operand, end: Operand, step: Operand, inclusive: bool, like: _core.Node
) -> Operand:
    """Integers from one to another as a list."""
    for each in (start, end):
        if isinstance(each, Value) and is_time(each.dtype):
            raise ConstantExpectedError(each, "RANGE")
    if any(isinstance(each, Value) for each in (start, end, step)):
        return _series_of_columns(start, end, step, inclusive, like)
    if any(is_time(each.dtype) for each in (start, end)):
        return _series_of_times(start, end, step, inclusive, like)
    begin, last, by = (whole(each, "RANGE") for each in (start, end, step))
    if begin is None or last is None or by is None:
        return Constant(None, "list[int64]")
    if by == 0:
        raise InvalidArgumentError("sql: the step is 0: word='RANGE'")
    found = range(begin, last + (1 if by > 0 else -1) if inclusive else last, by)
    column = _core.column_from_list([list(found)], "list[int64]")
    return value_of(broadcast(_core.data(column, "range", _core.new_domain()), like))


def _series_of_times(
    start: Operand, end: Operand, step: Operand, inclusive: bool, like: _core.Node
) -> Operand:
    """Times from one to another by an interval as a list."""
    begin, last = (cast(each, TIMESTAMP) for each in (start, end))
    assert isinstance(begin, Constant)
    assert isinstance(last, Constant)
    if begin.value is None or last.value is None or step.dtype == NULL:
        return Constant(None, f"list[{TIMESTAMP}]")
    if not isinstance(step, Constant) or step.dtype != "interval":
        raise TypeMismatchError(
            f"sql: expected an interval: word='RANGE', type={type_name(step.dtype)}"
        )
    zero = operators.arithmetic("add", begin, step)
    assert isinstance(zero, Constant)
    is_up = zero.value > begin.value
    if zero.value == begin.value:
        raise InvalidArgumentError("sql: the step is 0: word='RANGE'")
    found: list[datetime.datetime] = []
    place: Operand = begin
    while isinstance(place, Constant):
        if place.value > last.value if is_up else place.value < last.value:
            break
        if place.value == last.value and not inclusive:
            break
        if len(found) >= 1 << _SERIES_BITS:
            raise UnsupportedError(f"sql: a list is too long: word='RANGE', items={len(found)}")
        found.append(place.value)
        place = operators.arithmetic("add", place, step)
    column = _core.column_from_list([found], f"list[{TIMESTAMP}]")
    return value_of(broadcast(_core.data(column, "range", _core.new_domain()), like))


#: A list of a series has fewer items than 2 to this power.
_SERIES_BITS = 20


def _series_of_columns(
    start: Operand, end: Operand, step: Operand, inclusive: bool, like: _core.Node
) -> Operand:
    """As `series`, of columns: places are doubled until each row has as many as it needs."""
    by = whole(step, "RANGE")
    if by is None or NULL in (start.dtype, end.dtype):
        return Constant(None, "list[int64]")
    if by == 0:
        raise InvalidArgumentError("sql: the step is 0: word='RANGE'")
    begin, last = (column_of(cast(each, "int64"), like, "int64") for each in (start, end))
    span = run("subtract", last, begin) if by > 0 else run("subtract", begin, last)
    count = run(
        "add", run("floor_divide", run("subtract", span, 0 if inclusive else 1), abs(by)), 1
    )
    # A cast of infinity to an integer is the engine's error with the row.
    large = filled(run("greater_equal", count, 1 << _SERIES_BITS), False)
    checked = _core.astype(where(large, float("inf"), 0.0), "int64")
    count = run("add", filled(count, 0), checked)
    parts = [rows_from_zero(like), begin, count, _core.astype(_core.repeat(like, 0), "int64")]
    parts = _core.filter_columns(parts, run("greater", count, 0))
    for bit in range(_SERIES_BITS):
        place = run("add", parts[3], 1 << bit)
        more = _core.filter_columns([*parts[:3], place], run("less", place, parts[2]))
        domain = _core.new_domain()
        pairs = zip(parts, more, strict=True)
        parts = [_core.in_domain(_core.concat([a, b]), domain) for a, b in pairs]
    items = run("add", parts[1], run("multiply", parts[3], by))
    made = _core.in_domain(grouped(items, parts[0], like), like.domain)
    ends = [each for each in (start, end) if isinstance(each, Value)]
    return value_of(null_where_null(made, *ends))


# ---- structs -------------------------------------------------------------------------------------


def struct_of(names: Sequence[str], operands: Sequence[Operand], like: _core.Node) -> Operand:
    """A struct of these values in each row."""
    if not names:
        raise UnsupportedError("sql: unsupported type: type='STRUCT()'; a struct has fields")
    nodes = [column_of(each, like, "int32" if each.dtype == NULL else "") for each in operands]
    dtypes = [
        each.dtype if each.dtype == NULL or is_nested(each.dtype) else node.dtype
        for each, node in zip(operands, nodes, strict=True)
    ]
    node = _core.structs_of(list(names), nodes)
    return Value(node, struct_dtype(list(zip(names, dtypes, strict=True))))


def struct_names(dtype: str) -> list[str]:
    """The names of the fields."""
    return [name for name, _ in struct_fields(dtype)]


def field(operand: Operand, name: str) -> Operand:
    """The field of a struct, its name in any case."""
    if not isinstance(operand, Value) or not is_struct(operand.dtype):
        raise TypeMismatchError(
            f"sql: expected a struct: field={name!r}, type={type_name(operand.dtype)}"
        )
    names = struct_names(operand.dtype)
    for each in names:
        if each.lower() == name.lower():
            return value_of(_core.struct_field(operand.node, each))
    raise ColumnNotFoundError(f"sql: no such field: name={name!r}, fields={', '.join(names)}")


# ---- by name ----------------------------------------------------------------------------------


def _list_value(operands: list[Operand], like: _core.Node) -> Operand:
    return list_of(operands, like)


def row_of(operands: list[Operand], like: _core.Node) -> Operand:
    """A row: a struct whose fields have the names that DuckDB gives them in Arrow."""
    return struct_of([f"element{place + 1}" for place in range(len(operands))], operands, like)


def _named_aggregate(operands: list[Operand], like: _core.Node) -> Operand:
    if len(operands) != 2 or not isinstance(operands[1], Constant):
        raise UnsupportedError("sql: expected a list and a name: word='LIST_AGGREGATE'")
    return aggregated(operands[0], str(operands[1].value).lower())


def _unique(operands: list[Operand], like: _core.Node) -> Operand:
    return length(distinct(operands[0]))


def _reversed(operands: list[Operand], like: _core.Node) -> Operand:
    if operands[0].dtype == NULL:
        return operands[0]
    return value_of(_core.list_reverse(as_list(operands[0], "LIST_REVERSE").node))


def has_any(a: Operand, b: Operand) -> Operand:
    """Whether two lists share an item."""
    if NULL in (a.dtype, b.dtype):
        return Constant(None, "bool")
    _, (one, other) = common([a, b], "&&")
    first, second = as_list(one, "LIST_HAS_ANY"), as_list(other, "LIST_HAS_ANY")
    both = [_core.list_length(_once(each).node) for each in (first, second)]
    every = as_list(joined_lists([without_nulls(first), without_nulls(second)], False), "&&")
    total = _core.list_length(_once(every).node)
    return bool_value(run("less", total, run("add", both[0], both[1])))


def has_all(a: Operand, b: Operand) -> Operand:
    """Whether each item of the second list is one of the first."""
    if NULL in (a.dtype, b.dtype):
        return Constant(None, "bool")
    _, (one, other) = common([a, b], "@>")
    first, second = as_list(one, "LIST_HAS_ALL"), as_list(other, "LIST_HAS_ALL")
    own = _core.list_length(_once(first).node)
    every = as_list(joined_lists([without_nulls(first), without_nulls(second)], False), "@>")
    total = _core.list_length(_once(every).node)
    return bool_value(run("equal", total, own))


BY_NAME: dict[str, Callable[[list[Operand], _core.Node], Operand]] = {
    **{n: _list_value for n in ("list_value", "list_pack")},
    **{
        n: _named_aggregate
        for n in ("list_aggregate", "list_aggr", "array_aggregate", "array_aggr", "aggregate")
    },
    **{f"list_{name}": _reduction(name) for name in _REDUCTIONS},
    **{
        n: lambda o, like: contains(o[0], o[1])
        for n in ("list_contains", "array_contains", "list_has", "array_has")
    },
    **{
        n: lambda o, like: position(o[0], o[1])
        for n in ("list_position", "list_indexof", "array_position", "array_indexof")
    },
    **{
        n: lambda o, like: joined_lists(o, True)
        for n in ("list_concat", "list_cat", "array_concat", "array_cat")
    },
    **{
        n: lambda o, like: joined_lists([o[0], list_of([o[1]], like)], True)
        for n in ("list_append", "array_append", "array_push_back")
    },
    **{
        n: lambda o, like: joined_lists([list_of([o[0]], like), o[1]], True)
        for n in ("list_prepend",)
    },
    **{
        n: lambda o, like: joined_lists([list_of([o[1]], like), o[0]], True)
        for n in ("array_prepend", "array_push_front")
    },
    **{n: lambda o, like: sorted_lists(o[0], o[1:]) for n in ("list_sort", "array_sort")},
    **{
        n: lambda o, like: sorted_lists(o[0], o[1:], True)
        for n in ("list_reverse_sort", "array_reverse_sort")
    },
    **{n: _reversed for n in ("list_reverse", "array_reverse")},
    **{n: lambda o, like: distinct(o[0]) for n in ("list_distinct", "array_distinct")},
    **{n: _unique for n in ("list_unique", "array_unique")},
    **{n: lambda o, like: has_any(o[0], o[1]) for n in ("list_has_any", "array_has_any")},
    **{n: lambda o, like: has_all(o[0], o[1]) for n in ("list_has_all", "array_has_all")},
    "flatten": lambda o, like: flattened(o[0]),
    "row": row_of,
}
