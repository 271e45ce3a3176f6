# SPDX-License-Identifier: Apache-2.0
"""Functions of regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.sql.elementwise import bool_value, run, where
from headrace.sql.functions.arguments import constant, text_of
from headrace.sql.syntax import exp
from headrace.sql.values import NULL, Constant, Operand, constant_of, value_of

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


def _regexp_extract(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    """The first match or one of its groups; an empty string without a match."""
    pattern = constant(evaluate(node.expression), "REGEXP_EXTRACT")
    group = node.args.get("group")
    number = 0 if group is None else constant(evaluate(group), "REGEXP_EXTRACT")
    if type(number) is not int or node.args.get("parameters") is not None:
        raise UnsupportedError("sql: names of groups and options: word='REGEXP_EXTRACT'")
    operand = evaluate(node.this)
    if pattern is None or operand.dtype == NULL:
        return Constant(None, "string")
    text = text_of(operand, like)
    found = _core.extract_regex(text, f"({pattern})", "a")
    if not 0 <= number < len(found):
        raise InvalidArgumentError(
            f"sql: no such group: group={number}, groups={len(found) - 1}; count parentheses"
        )
    made = found[number][1]
    made = where(run("is_null", made), "", made)
    return value_of(where(run("is_null", text), None, made))


def _matches_nothing(pattern: str) -> bool:
    """Whether a pattern matches an empty string, or might."""
    try:
        return re.search(pattern, "") is not None
    except re.error:
        return True


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
    if "\\" in fresh:
        raise UnsupportedError("sql: groups in the new text: word='REGEXP_REPLACE'")
    if "g" in words and _matches_nothing(pattern):
        raise UnsupportedError("sql: a pattern of no character: word='REGEXP_REPLACE', option='g'")
    most = -1 if "g" in words else 1
    return value_of(_core.replace_pattern(text_of(operand, like), pattern, "a", True, fresh, most))


def _regexp_all(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    """All matches as a list."""
    pattern = constant(evaluate(node.expression), "REGEXP_EXTRACT_ALL")
    group = node.args.get("group")
    number = 0 if group is None else constant(evaluate(group), "REGEXP_EXTRACT_ALL")
    operand = evaluate(node.this)
    if pattern is None or operand.dtype == NULL:
        return Constant(None, "list[string]")
    groups = len(re.findall(r"(?<!\\)\((?!\?)", pattern))
    if number != 0 or groups or node.args.get("parameters") is not None:
        raise UnsupportedError("sql: groups and options: word='REGEXP_EXTRACT_ALL'")
    return value_of(_core.find_all(text_of(operand, like), pattern, "a"))


def _regexp_split(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    pattern = constant(evaluate(node.expression), "STRING_SPLIT_REGEX")
    operand = evaluate(node.this)
    if operand.dtype == NULL:
        return Constant(None, "list[string]")
    if not pattern:
        raise UnsupportedError("sql: an empty pattern: word='STRING_SPLIT_REGEX'")
    return value_of(_core.split_regex(text_of(operand, like), pattern, "a", -1))


def _similar(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    """SIMILAR TO: the whole string matches the pattern."""
    pattern, operand = constant(evaluate(node.expression), "SIMILAR"), evaluate(node.this)
    if pattern is None or operand.dtype == NULL:
        return Constant(None, "bool")
    return bool_value(_core.test_regex("fullmatch", text_of(operand, like), pattern, "a"))


def _glob(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    """GLOB: * for any characters, ? for one, [...] for one of some."""
    pattern, operand = constant(evaluate(node.expression), "GLOB"), evaluate(node.this)
    if pattern is None or operand.dtype == NULL:
        return Constant(None, "bool")
    if "\\" in pattern or "[" in pattern:
        raise UnsupportedError(f"sql: a set or an escape in a pattern: word='GLOB', {pattern=}")
    words = {"*": "(?s:.*)", "?": "(?s:.)"}
    made = "".join(words.get(c) or (c if c.isalnum() else re.escape(c)) for c in pattern)
    return bool_value(_core.test_regex("fullmatch", text_of(operand, like), made, "a"))


BY_CLASS: dict[Any, Callable[[Expression, Evaluate, _core.Node], Operand]] = {
    exp.SimilarTo: _similar,
    exp.Glob: _glob,
    exp.RegexpLike: _regexp,
    exp.RegexpFullMatch: _regexp,
    exp.RegexpExtract: _regexp_extract,
    exp.RegexpReplace: _regexp_replace,
    exp.RegexpExtractAll: _regexp_all,
    exp.RegexpSplit: _regexp_split,
}
