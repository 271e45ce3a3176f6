# SPDX-License-Identifier: Apache-2.0
"""Texts as operands: columns of strings and categories, and Python's str."""

from __future__ import annotations

import builtins
import operator
from functools import reduce
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.deferred import Deferred, mark
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError

if TYPE_CHECKING:
    from headrace.series import Series

#: Operators on two texts, and the same with the sides turned round.
_TURNED = {
    "equal": "equal",
    "not_equal": "not_equal",
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
}
#: What has a meaning in a regular expression.
_SIGNS = "\\.^$*+?{}[]|()"


def is_text(value: Any) -> bool:
    """A str, or a column of strings or categories."""
    return isinstance(value, str) or (
        isinstance(value, Deferred) and value._node.dtype in ("string", "category")
    )


def text_node(op: str, values: tuple[Any, ...]) -> _core.Node | None:
    """The node of an operator on texts, or None for what takes none."""
    texts = [is_text(value) for value in values]
    if op in _TURNED and all(texts):
        return _compare(op, *values)
    if op == "fill_null" and all(texts):
        return _choose(values[0].is_null(), values[1], values[0])
    if op == "where" and all(texts[1:]) and isinstance(values[0], Deferred):
        return _choose(*values)
    return None


def _compare(op: str, left: Any, right: Any) -> _core.Node:
    """The node of a comparison of which one side at least is a column."""
    if isinstance(left, str):
        return _core.compare_text(_TURNED[op], right._node, left)
    if isinstance(right, str):
        return _core.compare_text(op, left._node, right)
    return _core.compare_text(op, left._node, right._node)


def _choose(condition: Any, yes: Any, no: Any) -> _core.Node:
    """The node of texts by condition; at least one of `yes` and `no` is a column."""
    sides = [
        _core.repeat(condition._node, value) if isinstance(value, str) else value._node
        for value in (yes, no)
    ]
    return _core.choose_text(condition._node, *sides)


class TextAccessor:
    """Each text of a column: what it holds, and pieces of it; null stays null.

    Characters are counted as Python counts them. Of categories each distinct text is looked at
    once.
    """

    __slots__ = ("_series",)

    def __init__(self, series: Series) -> None:
        if not is_text(series):
            raise TypeMismatchError(
                f"str: not a column of texts: dtype={str(series.dtype)!r}; "
                "use astype('string') first"
            )
        self._series = series

    def _made(self, node: _core.Node) -> Series:
        series: Series = self._series._like(node)
        return series

    def _test(self, test: str, pattern: Any) -> Series:
        mark("str")
        if not isinstance(pattern, str):
            raise TypeMismatchError(f"{test}: a text is wanted: pattern={pattern!r}")
        return self._made(_core.test_text(test, self._series._node, pattern))

    def contains(self, pat: str, regex: bool = True) -> Series:
        """True where a text holds `pat`.

        Parameters
        ----------
        pat : str
            A text, or, with `regex`, one that a regular expression would take as it is; others are
            not there yet (`like` finds most of them).
        regex : bool
            Whether dots, stars and the like have a meaning.

        >>> import headrace as hr
        >>> hr.Series(["steel nut", "brass nut"]).str.contains("steel").to_list()
        [True, False]
        """
        if regex and isinstance(pat, str) and any(sign in pat for sign in _SIGNS):
            raise UnsupportedError(
                f"contains: regular expressions are not there yet: pat={pat!r}; "
                "pass regex=False, or use str.like"
            )
        return self._test("contains", pat)

    def startswith(self, pat: str | tuple[str, ...]) -> Series:
        """True where a text begins with `pat`, or one of several."""
        return self._any("startswith", pat)

    def endswith(self, pat: str | tuple[str, ...]) -> Series:
        """True where a text ends with `pat`, or one of several."""
        return self._any("endswith", pat)

    def _any(self, test: str, patterns: str | tuple[str, ...]) -> Series:
        if not isinstance(patterns, tuple):
            return self._test(test, patterns)
        if not patterns:
            raise InvalidArgumentError(f"{test}: there is no text to look for")
        return reduce(operator.or_, (self._test(test, each) for each in patterns))

    def like(self, pattern: str) -> Series:
        """True where a text is like `pattern`, as in SQL: ``%`` is any text, ``_`` one character.

        A backslash takes the character behind it as it is.

        >>> import headrace as hr
        >>> hr.Series(["steel nut", "brass nut"]).str.like("_teel%").to_list()
        [True, False]
        """
        return self._test("like", pattern)

    def slice(self, start: int | None = None, stop: int | None = None) -> Series:
        """Characters from `start` to before `stop`; negative ones count from the end."""
        mark("str")
        end = 2**62 if stop is None else stop
        return self._made(_core.slice_text(self._series._node, start or 0, end))

    def __getitem__(self, key: int | builtins.slice) -> Series:
        """One character, or a slice of them."""
        if isinstance(key, builtins.slice):
            if key.step not in (None, 1):
                raise InvalidArgumentError(f"str: a slice takes no step: step={key.step}")
            return self.slice(key.start, key.stop)
        return self.slice(key, key + 1 if key != -1 else None)

    def len(self) -> Series:
        """Characters of each text: int32."""
        mark("str")
        return self._made(_core.text_length(self._series._node))
