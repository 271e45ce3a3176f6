# SPDX-License-Identifier: Apache-2.0
"""Templates of log messages by Drain (He and others, "Drain: An Online Log Parsing Approach with
Fixed Depth Tree", ICWS 2017).

The engine masks the messages and finds the distinct ones, which go through the tree in the order in
which they first appear.
"""  # noqa: D205

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import new_frame
from headrace.frame.reshape import factorize
from headrace.lazy.handle import mark
from headrace.series.column import new_series
from headrace.series.strings import is_text

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

#: What stands for any word in a template.
ANY = "<*>"
#: Addresses with a port, UUIDs, and hexadecimal numbers.
MASKS = (
    r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b",
    r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b",
    r"\b0[xX][0-9a-fA-F]+\b",
)


class Templates(NamedTuple):
    """The template of each message, and what the templates are."""

    codes: Series  #: int64: the row of `table` that a message has; null for null
    table: DataFrame  #: template, and the count of its messages, in the order of first appearance


class _Group:
    """Messages of one template."""

    __slots__ = ("number", "words")

    def __init__(self, number: int, words: list[str]) -> None:
        self.number, self.words = number, words


class _Tree:
    """The tree: by the number of words, then by the first ones, to lists of groups."""

    def __init__(self, depth: int, similarity: float, max_children: int) -> None:
        self._depth, self._similarity, self._most = depth - 3, similarity, max_children
        self._root: dict[int, Any] = {}
        self.groups: list[_Group] = []

    def number_of(self, message: str) -> int:
        """The group of a message, which may be a new one."""
        words = message.split()
        leaf = self._find(words)
        group = None if leaf is None else self._nearest(leaf, words)
        if group is None:
            group = _Group(len(self.groups), words)
            self.groups.append(group)
            self._add(words).append(group)
        else:
            pairs = zip(group.words, words, strict=True)
            group.words = [mine if mine == word else ANY for mine, word in pairs]
        return group.number

    def _find(self, words: list[str]) -> list[_Group] | None:
        node = self._root.get(len(words))
        for word in words[: self._depth]:
            if node is None:
                return None
            node = node.get(word, node.get(ANY))
        return None if node is None else node.setdefault(None, [])

    def _add(self, words: list[str]) -> list[_Group]:
        node = self._root.setdefault(len(words), {})
        for word in words[: self._depth]:
            node = node.setdefault(self._branch(node, word), {})
        return node.setdefault(None, [])

    def _branch(self, node: dict[str, Any], word: str) -> str:
        """Where a word goes: words with digits, and those beyond the most children, share one."""
        if word in node:
            return word
        if any(letter.isdigit() for letter in word):
            return ANY
        room = self._most if ANY in node else self._most - 1
        return word if len(node) < room else ANY

    def _nearest(self, groups: list[_Group], words: list[str]) -> _Group | None:
        """The group with the most equal words, of equal ones that with the most parameters."""
        best, most = None, (-1.0, -1)
        for group in groups:
            same = sum(mine == word for mine, word in zip(group.words, words, strict=True))
            any_ = group.words.count(ANY)
            both = sum(word == mine == ANY for mine, word in zip(group.words, words, strict=True))
            found = ((same - both) / len(words) if words else 1.0, any_)
            if found > most:
                best, most = group, found
        return best if most[0] >= self._similarity else None


def templates(
    messages: Any,
    *,
    depth: int = 4,
    similarity: float = 0.5,
    max_children: int = 100,
    masks: Sequence[str] = MASKS,
) -> Templates:
    r"""Find the templates of log messages: what is constant in them, and ``<*>`` for what varies.

    Parameters
    ----------
    messages : Series or array_like of str
        The messages alone, without time and level; see `hr.read_log`.
    depth : int
        Levels of Drain's tree: 4 tells messages apart by their number of words and the first one,
        each more by another one.
    similarity : float
        The least share of equal words for a message to have a template.
    max_children : int
        Different words at one place of the tree, beyond which the others share a branch.
    masks : sequence of str
        Regular expressions (RE2) whose matches become ``<*>`` first: addresses with their port,
        UUIDs and hexadecimal numbers by default.

    Returns
    -------
    Templates
        `codes`, the template of each row, and `table`, the templates with their counts.

    Raises
    ------
    hr.InvalidArgumentError
        (a ValueError) For a depth below 3, or a similarity outside of 0 to 1.

    Notes
    -----
    Masks and distinct messages are found on all cores; each distinct one takes about 20 us.
    The messages are evaluated.

    >>> said = ["open port 80", "open port 443", "closed by 10.0.0.7:99", "closed by 10.0.0.8:1"]
    >>> found = hr.text.templates(said)
    >>> found.codes.to_list(), found.table.template.to_list()
    ([0, 0, 1, 1], ['open port <*>', 'closed by <*>'])
    """
    mark("templates")
    if depth < 3:
        raise InvalidArgumentError(f"templates: too few levels: depth={depth}; expected 3 or more")
    if not 0 <= similarity <= 1:
        raise InvalidArgumentError(f"templates: no share: similarity={similarity}; expected 0 to 1")
    masked = new_series(messages)
    if not is_text(masked) and len(masked):
        raise TypeMismatchError(
            f"templates: expected strings: dtype={str(masked.dtype)!r}; use astype('string')"
        )
    for each in masks if len(masked) else ():
        masked = masked.str.replace(each, ANY, regex=True)
    codes, distinct = factorize(masked)
    tree = _Tree(depth, similarity, max_children)
    numbers = np.array([tree.number_of(text) for text in distinct.to_list()] + [-1], np.int64)
    found = numbers[codes.to_numpy()]  # of a null the last one
    counts = np.bincount(found[found >= 0], minlength=len(tree.groups))
    words = [" ".join(group.words) for group in tree.groups]
    column = new_series(found)
    table = new_frame({"template": new_series(words, dtype="string"), "count": counts})
    return Templates(column.where(column >= 0), table)
