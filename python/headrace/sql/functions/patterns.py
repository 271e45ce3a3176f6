# SPDX-License-Identifier: Apache-2.0
"""Patterns: LIKE, GLOB and regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.sql import operators
from headrace.sql.elementwise import bool_value, run, where
from headrace.sql.functions.arguments import constant, text_of
from headrace.sql.lists import mapped, null_where_null
from headrace.sql.syntax import exp
from headrace.sql.values import NULL, Constant, Operand, Value, constant_of, null_column, value_of

Expression = Any
Evaluate = Callable[[Expression], Operand]


def _with_options(pattern: str, options: Operand, word: str) -> str:
    """A pattern with the options that DuckDB takes as letters."""
    letters = constant(options, word) or ""
    if "l" in letters:
        pattern = "".join(f"\\{c}" if not c.isalnum() and ord(c) < 128 else c for c in pattern)
    kept = "".join(dict.fromkeys(c for c in letters if c in "is"))
    if set(letters) - set("cisl"):
        raise UnsupportedError(f"sql: options of patterns: word={word!r}, options={letters!r}")
    return f"(?{kept}){pattern}" if kept else pattern


def _regexp(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    pattern = constant(evaluate(node.expression), "REGEXP_MATCHES")
    options = node.args.get("flag") or node.args.get("options")
    how = "fullmatch" if isinstance(node, exp.RegexpFullMatch) else "contains"
    operand = evaluate(node.this)
    if pattern is None or operand.dtype == NULL:
        return Constant(None, "bool")
    if options is not None:
        pattern = _with_options(pattern, evaluate(options), "REGEXP_MATCHES")
    return bool_value(_core.test_regex(how, text_of(operand, like), pattern, "a"))


def _groups_of(text: _core.Node, pattern: str) -> list[_core.Node]:
    """The first match and its groups, null without a match."""
    return [column for _, column in _core.extract_regex(text, f"({pattern})", "a")]


def _group_names(node: Expression, evaluate: Evaluate) -> list[str] | None:
    """Names for the groups, given as a list; None for a number."""
    group = node.args.get("group")
    if not isinstance(group, exp.Array):
        return None
    names = [constant(evaluate(each), "REGEXP_EXTRACT") for each in group.expressions]
    if len({name.lower() for name in names}) != len(names) or not names:
        raise InvalidArgumentError(f"sql: a name of a group is there twice: names={names}")
    return names


def _pattern_of(node: Expression, evaluate: Evaluate, word: str) -> str | None:
    """The pattern with its options; None for null."""
    pattern: str | None = constant(evaluate(node.expression), word)
    options = node.args.get("parameters")
    if pattern is None or options is None:
        return pattern
    return _with_options(pattern, evaluate(options), word)


def _chosen_groups(
    node: Expression, evaluate: Evaluate, groups: list[_core.Node], word: str
) -> list[tuple[str, _core.Node]] | _core.Node:
    """The group of a number, or those that have names."""
    names = _group_names(node, evaluate)
    if names is not None:
        if len(names) >= len(groups):
            raise InvalidArgumentError(
                f"sql: more names than groups: names={len(names)}, groups={len(groups) - 1}"
            )
        return list(zip(names, groups[1:], strict=False))
    group = node.args.get("group")
    number = 0 if group is None else constant(evaluate(group), word)
    if type(number) is not int or not 0 <= number < len(groups):
        raise InvalidArgumentError(
            f"sql: no such group: group={number}, groups={len(groups) - 1}; count parentheses"
        )
    return groups[number]


_MOST_GROUPS = 9


def _regexp_extract(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    """The first match or some of its groups; empty strings without a match."""
    pattern = _pattern_of(node, evaluate, "REGEXP_EXTRACT")
    operand = evaluate(node.this)
    if pattern is None or operand.dtype == NULL:
        return Constant(None, "string")
    text = text_of(operand, like)
    groups = _groups_of(text, pattern)
    if not isinstance(node.args.get("group") or exp.Array(), exp.Array):
        number = constant(evaluate(node.args["group"]), "REGEXP_EXTRACT")
        if number is None or (type(number) is int and len(groups) <= number <= _MOST_GROUPS):
            return value_of(where(run("is_null", text), None, ""))
    found = _chosen_groups(node, evaluate, groups, "REGEXP_EXTRACT")

    def filled_in(made: _core.Node) -> _core.Node:
        return where(run("is_null", made), "", made)

    if not isinstance(found, list):
        return value_of(where(run("is_null", text), None, filled_in(found)))
    columns = [filled_in(made) for _, made in found]
    made = _core.structs_of([name for name, _ in found], columns)
    return value_of(null_where_null(made, value_of(text)))


def _matches_nothing(pattern: str) -> bool:
    """Whether a pattern matches an empty string, or might."""
    try:
        return re.search(pattern, "") is not None
    except re.error:
        return True


def _with_later_groups(fresh: str) -> str:
    """Each group by the next number."""

    def change(found: re.Match[str]) -> str:
        if found[1].isdigit():
            return f"\\g<{int(found[1]) + 1}>"
        if found[1] == "\\":
            return found[0]
        raise InvalidArgumentError(
            f"sql: expected a group number after a backslash: word='REGEXP_REPLACE', {fresh=}; "
            "write \\\\ for a backslash"
        )

    return re.sub(r"(?s)\\(.?)", change, fresh)


def _regexp_replace(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    pattern = constant(evaluate(node.expression), "REGEXP_REPLACE")
    fresh = constant(evaluate(node.args["replacement"]), "REGEXP_REPLACE")
    options = node.args.get("modifiers")
    words = "" if options is None else constant(evaluate(options), "REGEXP_REPLACE")
    if words is None or node.args.get("position") is not None:
        raise UnsupportedError("sql: a position: word='REGEXP_REPLACE'")
    if pattern is not None:
        plain = constant_of(words.replace("g", ""))
        pattern = _with_options(pattern, plain, "REGEXP_REPLACE")
    operand = evaluate(node.this)
    if pattern is None or fresh is None or operand.dtype == NULL:
        return Constant(None, "string")
    if "\\" in fresh:  # the whole match is group 0, which the engine counts from 1 on
        pattern, fresh = f"({pattern})", _with_later_groups(fresh)
    if "g" in words and _matches_nothing(pattern):
        raise UnsupportedError("sql: a pattern of no character: word='REGEXP_REPLACE', option='g'")
    most = -1 if "g" in words else 1
    return value_of(_core.replace_pattern(text_of(operand, like), pattern, "a", True, fresh, most))


def _reads_around(pattern: str) -> bool:
    """Whether a match depends on more of the text than its ends at most."""
    plain = re.sub(r"\\[^bBAz]", "", pattern)
    plain = re.sub(r"\[\^?\]?[^\]]*\]", "", plain)
    if "|" not in re.sub(r"\([^()]*\)", "", plain):  # all matches begin or end there
        plain = plain.removeprefix("^").removesuffix("$")
    return re.search(r"[\\^$]", plain) is not None


def _without_groups(pattern: str) -> str:
    """The pattern with groups that are not counted."""
    made, place, in_set = "", 0, False
    while place < len(pattern):
        each = pattern[place]
        if each == "\\":
            made += pattern[place : place + 2]
            place += 2
            continue
        if in_set:
            in_set = each != "]"
        elif each == "[":
            in_set = True
            after = pattern[place + 1 : place + 3]
            more = 2 if after.startswith("^]") else 1 if after.startswith(("]", "^")) else 0
            each += pattern[place + 1 : place + 1 + more]
            place += more
        elif each == "(" and not pattern.startswith("(?", place):
            each = "(?:"
        elif each == "(" and (name := re.match(r"\(\?P?<\w+>", pattern[place:])):
            each, place = "(?:", place + len(name[0]) - 1
        made += each
        place += 1
    return made


def _regexp_all(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    """All matches, or some of their groups, as a list."""
    pattern = _pattern_of(node, evaluate, "REGEXP_EXTRACT_ALL")
    operand = evaluate(node.this)
    if pattern is None or operand.dtype == NULL:
        return Constant(None, "list[string]")
    if "[[" in pattern and "(" in pattern.partition("[[")[2].partition("]]")[0]:
        raise UnsupportedError("sql: a set with a parenthesis: word='REGEXP_EXTRACT_ALL'")
    matches = value_of(_core.find_all(text_of(operand, like), _without_groups(pattern), "a"))
    group = node.args.get("group")
    if group is None or (isinstance(group, exp.Literal) and group.name == "0"):
        return matches
    if not isinstance(group, exp.Array) and constant(evaluate(group), "REGEXP_EXTRACT_ALL") is None:
        return value_of(null_column(like, "list[string]"))

    def change(items: Value) -> Operand:
        groups = [items.node, *_groups_of(items.node, f"^(?:{pattern})$")[1:]]
        found = _chosen_groups(node, evaluate, groups, "REGEXP_EXTRACT_ALL")
        if not isinstance(found, list):
            return value_of(found)
        return value_of(_core.structs_of([name for name, _ in found], [c for _, c in found]))

    if _reads_around(pattern):
        raise UnsupportedError(
            "sql: groups of a pattern that reads the text around: word='REGEXP_EXTRACT_ALL', "
            f"{pattern=}"
        )
    return mapped(matches, change)


def _regexp_split(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    pattern = constant(evaluate(node.expression), "STRING_SPLIT_REGEX")
    operand = evaluate(node.this)
    if operand.dtype == NULL:
        return Constant(None, "list[string]")
    if not pattern or _matches_nothing(pattern):
        raise UnsupportedError("sql: a pattern of no character: word='STRING_SPLIT_REGEX'")
    return value_of(_core.split_regex(text_of(operand, like), _without_groups(pattern), "a", -1))


def _similar(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    """SIMILAR TO: the whole string matches the pattern."""
    pattern, operand = constant(evaluate(node.expression), "SIMILAR"), evaluate(node.this)
    if pattern is None or operand.dtype == NULL:
        return Constant(None, "bool")
    return bool_value(_core.test_regex("fullmatch", text_of(operand, like), pattern, "a"))


def _like(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    value, pattern = evaluate(node.this), evaluate(node.expression)
    if NULL in (value.dtype, pattern.dtype):
        return Constant(None, "bool")
    words = constant(pattern, "LIKE")
    if words is None:
        return Constant(None, "bool")
    text = text_of(value, like)
    words = words.replace("\\", "\\\\")
    if isinstance(node, exp.ILike):
        text, words = _core.change_case("lower", text), words.lower()
    made = bool_value(_core.test_text("like", text, [words]))
    return operators.negated(made) if node.args.get("negate") else made


def _escape(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    inner, mark = node.this, constant(evaluate(node.expression), "ESCAPE")
    negate = isinstance(inner, exp.Not)
    inner = inner.this if negate else inner
    if not isinstance(inner, exp.Like | exp.ILike) or (mark is not None and len(mark) > 1):
        raise UnsupportedError("sql: unsupported: word='ESCAPE'")
    negate = negate != bool(inner.args.get("negate"))
    pattern = constant(evaluate(inner.expression), "LIKE")
    operand = evaluate(inner.this)
    if mark is None or pattern is None or operand.dtype == NULL:
        return Constant(None, "bool")
    text = text_of(operand, like)
    if isinstance(inner, exp.ILike):
        text, pattern, mark = _core.change_case("lower", text), pattern.lower(), mark.lower()
    words, place = "", 0
    while place < len(pattern):
        each = pattern[place]
        if mark and each == mark:
            place += 1
            if place == len(pattern):
                raise InvalidArgumentError(
                    f"sql: a pattern ends in its escape: word='LIKE', {pattern=}; double it"
                )
            each = pattern[place]
            words += f"\\{each}" if each in "%_\\" else each
        else:
            words += "\\\\" if each == "\\" else each
        place += 1
    made = bool_value(_core.test_text("like", text, [words]))
    return operators.negated(made) if negate else made


def _glob(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    """GLOB: * for any characters, ? for one, [...] for one of some."""
    pattern, operand = constant(evaluate(node.expression), "GLOB"), evaluate(node.this)
    if pattern is None or operand.dtype == NULL:
        return Constant(None, "bool")
    made = _regex_of_glob(pattern)
    if made is None:
        return operators.choose(operators.is_null(operand), Constant(None, "bool"), _FALSE)
    return bool_value(_core.test_regex("fullmatch", text_of(operand, like), made, "a"))


_FALSE = Constant(False, "bool")
#: Of bytes, as DuckDB reads them.
_GLOB = {"*": r"\C*", "?": r"\C"}


def _regex_of_glob(pattern: str) -> str | None:
    """The regular expression of a pattern; None where it matches nothing."""
    made, place = "", 0
    while place < len(pattern):
        each = pattern[place]
        place += 1
        if each == "\\":
            if place == len(pattern):
                return None
            made += re.escape(pattern[place])
            place += 1
        elif each == "[":
            negated = pattern.startswith("!", place)
            place += negated
            end = pattern.find("]", place + 1)
            if end < 0:
                return None
            inside = pattern[place:end]
            if not inside.isascii():
                raise UnsupportedError(f"sql: a set of these characters: word='GLOB', {pattern=}")
            made += f"[{'^' if negated else ''}{_set_of(inside)}]"
            place = end + 1
        else:
            made += _GLOB.get(each) or (each if each.isalnum() else re.escape(each))
    return made


def _set_of(inside: str) -> str:
    """The characters of a set, in which a - between two is a range."""
    made, place = "", 0
    while place < len(inside):
        first, after = inside[place], inside[place + 1 : place + 3]
        if len(after) == 2 and after[0] == "-":
            low, high = min(first, after[1]), max(first, after[1])
            if low == first:
                made += f"\\x{{{ord(low):x}}}-\\x{{{ord(high):x}}}"
            place += 3
            continue
        made += f"\\x{{{ord(first):x}}}"
        place += 1
    return made or r"^\x{0}-\x{10FFFF}"


BY_CLASS: dict[Any, Callable[[Expression, Evaluate, _core.Node], Operand]] = {
    exp.SimilarTo: _similar,
    exp.Glob: _glob,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _escape,
    exp.RegexpLike: _regexp,
    exp.RegexpFullMatch: _regexp,
    exp.RegexpExtract: _regexp_extract,
    exp.RegexpReplace: _regexp_replace,
    exp.RegexpExtractAll: _regexp_all,
    exp.RegexpSplit: _regexp_split,
}
