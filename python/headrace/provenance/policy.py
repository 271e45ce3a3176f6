# SPDX-License-Identifier: Apache-2.0
"""Tags of columns, and the policy that refuses to export values with some of them."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, overload

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import frame_of, is_frame
from headrace.lazy.handle import mark
from headrace.provenance.sources import FIRST_TAG
from headrace.settings import Setting

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame

_numbers: dict[str, int] = {}
_names: list[str] = []


class _State:
    denied: frozenset[str] = frozenset()
    guarded = False


#: What hands values to the outside, by class.
EXPORTS = {
    "DataFrame": """
    to_csv to_parquet to_json to_ipc to_feather to_excel to_sql to_records to_markdown to_latex
    to_html to_string to_dict to_numpy to_arrow to_pandas to_polars_lazy to_torch
    __array__ __dlpack__ __arrow_c_stream__ __arrow_c_device_array__
    """,
    "Series": """
    to_list to_dict to_json to_numpy to_arrow to_pandas to_string to_torch
    _buffer_value __array_interface__ __cuda_array_interface__
    __array__ __dlpack__ __arrow_c_array__ __arrow_c_stream__ __arrow_c_device_array__
    """,
    "Array": """
    _buffer_value __array_interface__ __cuda_array_interface__
    tolist item to_numpy to_torch to_npy
    __array__ __dlpack__ __arrow_c_array__ __arrow_c_device_array__
    """,
}


def tag_of(number: int) -> str | None:
    """The tag of a mark; None for that of a source."""
    return _names[number - FIRST_TAG] if number >= FIRST_TAG else None


def _number(tag: str) -> int:
    if not isinstance(tag, str) or not tag:
        raise TypeMismatchError(f"tag: expected words: tag={tag!r}")
    if tag not in _numbers:
        _numbers[tag] = FIRST_TAG + len(_names)
        _names.append(tag)
    return _numbers[tag]


def _with(frame: DataFrame, column: Any, change: Callable[[set[int]], set[int]]) -> DataFrame:
    name = frame._find(column)
    node = frame._nodes[name]
    marks = sorted(change(set(_core.marks_of(node))))
    return frame_of({**frame._nodes, name: _core.with_marks(node, marks)}, frame._labels)


def tag(frame: DataFrame, column: Any, *tags: str) -> DataFrame:
    """See `DataFrame.tag`."""
    mark("tag")
    return _with(frame, column, lambda marks: marks | {_number(each) for each in tags})


def untag(frame: DataFrame, column: Any, *tags: str) -> DataFrame:
    """See `DataFrame.untag`."""
    mark("untag")
    return _with(frame, column, lambda marks: marks - {_number(each) for each in tags})


def tags_of(nodes: dict[Any, _core.Node]) -> dict[Any, list[str]]:
    """The tags of columns that have some."""
    found = {
        name: sorted(tag for each in _core.marks_of(node) if (tag := tag_of(each)) is not None)
        for name, node in nodes.items()
    }
    return {name: each for name, each in found.items() if each}


@overload
def policy() -> frozenset[str]: ...
@overload
def policy(*, deny: Iterable[str]) -> Setting[frozenset[str]]: ...
def policy(*, deny: Iterable[str] | None = None) -> frozenset[str] | Setting[frozenset[str]]:
    """Return or set the tags whose values may not leave.

    While it is set, exports of frames, series and arrays with values of these tags raise: to files,
    to other libraries, to Python's values. What is shown on the screen is not refused, nor what
    comes from values that were exported before. It guards against oversight, not against code that
    means to get at the values.

    Parameters
    ----------
    deny : set of str, optional
        Tags of `DataFrame.tag`; an empty set allows all. Without it the current ones are returned.

    Returns
    -------
    frozenset of str, or Setting
        A setting that a ``with`` block restores.

    >>> frame = hr.DataFrame({"ssn": ["1", "2"], "x": [1, 2]}).tag("ssn", "personal")
    >>> with hr.policy(deny={"personal"}):
    ...     frame[["x"]].to_dict()
    {'x': [1, 2]}
    """
    if deny is None:
        return _State.denied
    if isinstance(deny, str):
        raise TypeMismatchError(f"policy: expected a set of tags: deny={deny!r}")
    if not _State.guarded:
        _guard()
    wanted = frozenset(deny)
    for each in wanted:
        _number(each)
    return Setting("policy", wanted, _State.denied, _set)


def _set(denied: frozenset[str]) -> None:
    _State.denied = denied


def _guard() -> None:
    """Have all exports ask, from the first policy of the process on."""
    for name, methods in EXPORTS.items():
        cls = getattr(sys.modules["headrace"], name)
        for method in methods.split():
            export = inspect.getattr_static(cls, method)
            if isinstance(export, property):
                assert export.fget is not None
                setattr(cls, method, property(_asking(export.fget, method)))
            else:
                setattr(cls, method, _asking(export, method))
    _State.guarded = True


def _asking(export: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(export)
    def call(x: Any, *args: Any, **words: Any) -> Any:
        # The engine's own Python reads values on its way to other ones.
        if _State.denied and not _is_ours(sys._getframe(1).f_globals.get("__name__", "")):
            _refuse(x, name)
        return export(x, *args, **words)

    return call


def _is_ours(module: str) -> bool:
    return module == "headrace" or module.startswith("headrace.")


def _refuse(x: Any, name: str) -> None:
    nodes = (
        {**x._nodes, **x._labels}
        if is_frame(x)
        else {getattr(x, "name", None) or "values": x._node}
    )
    wrong = {
        column: sorted(_State.denied.intersection(tags)) for column, tags in tags_of(nodes).items()
    }
    wrong = {column: tags for column, tags in wrong.items() if tags}
    if wrong:
        raise InvalidArgumentError(
            f"{name.strip('_')}: the policy denies these tags: columns={wrong}, "
            f"deny={sorted(_State.denied)}; "
            "leave the columns out, or take the tags away with untag() where no one can be told"
        )
