# SPDX-License-Identifier: Apache-2.0
"""Tags of columns, and the policy that keeps values with some of them inside."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

from headrace import _core
from headrace.errors import TypeMismatchError
from headrace.frame.columns import frame_of
from headrace.lazy.handle import mark
from headrace.provenance.sources import label_of
from headrace.settings import Setting

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame


def _checked(op: str, tags: Iterable[str]) -> list[str]:
    made = sorted(set(tags)) if not isinstance(tags, str) else [""]
    if not all(isinstance(each, str) and each for each in made):
        raise TypeMismatchError(f"{op}: expected words: tags={tags!r:.60}; give strings")
    return made


def tag(frame: DataFrame, column: Any, tags: tuple[str, ...]) -> DataFrame:
    """See `DataFrame.tag`."""
    mark("tag")
    name = frame._find(column)
    node = _core.add_tags(frame._nodes[name], label_of(name), _checked("tag", tags))
    return frame_of({**frame._nodes, name: node}, frame._labels)


def untag(frame: DataFrame, column: Any, tags: tuple[str, ...]) -> DataFrame:
    """See `DataFrame.untag`."""
    mark("untag")
    name = frame._find(column)
    node = _core.remove_tags(frame._nodes[name], _checked("untag", tags))
    return frame_of({**frame._nodes, name: node}, frame._labels)


def tags_of(nodes: Iterable[tuple[Any, _core.Node]]) -> dict[Any, list[str]]:
    """The tags of columns that have some; columns of one name have those of all."""
    found: dict[Any, set[str]] = {}
    for name, node in nodes:
        found.setdefault(name, set()).update(
            words for is_tag, words, _ in _core.marks_of(node) if is_tag
        )
    return {name: sorted(each) for name, each in found.items() if each}


@overload
def policy() -> frozenset[str]: ...
@overload
def policy(*, deny: Iterable[str]) -> Setting[frozenset[str]]: ...
def policy(*, deny: Iterable[str] | None = None) -> frozenset[str] | Setting[frozenset[str]]:
    """Return or set the tags whose values may not leave.

    While it is set, whatever takes values with these tags out of the engine raises: files, NumPy,
    Arrow, pandas and other libraries, Python's values, iteration, pickle. What is shown has dots in
    their place. It holds for the process, not for a thread.

    It guards against oversight, not against code that means to get at the values: masks, keys of
    sorts and joins and row counts are not tagged, nor are graphs, models and results of Python
    functions, nor what came back from a file or from pickle.

    Parameters
    ----------
    deny : set of str, optional
        Tags of `DataFrame.tag`; an empty set allows all. Without it the current ones are returned.

    Returns
    -------
    frozenset of str, or Setting
        A setting that a ``with`` block restores.

    Raises
    ------
    TypeMismatchError
        For tags that are not words.

    >>> frame = hr.DataFrame({"ssn": ["1", "2"], "x": [1, 2]}).tag("ssn", "personal")
    >>> with hr.policy(deny={"personal"}):
    ...     frame[["x"]].to_dict()
    {'x': [1, 2]}
    """
    now = frozenset(_core.denied_tags())
    if deny is None:
        return now
    wanted = frozenset(_checked("policy", deny))
    return Setting("policy", wanted, now, lambda tags: _core.deny_tags(sorted(tags)))
