# SPDX-License-Identifier: Apache-2.0
"""The table of functions that NetworkX may leave to us, and when it does."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, TypeVar, cast

import networkx as nx

from headrace import _core
from headrace.errors import Error, InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.networkx.graph import RowGraph, rows_of
from headrace.settings import is_strict

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[..., Any]

F = TypeVar("F", bound="Callable[..., Any]")

#: By NetworkX's name.
FUNCTIONS: dict[str, Function] = {}
#: Why a function cannot run with these arguments, "" if it can.
_REFUSALS: dict[str, Function] = {}
#: Graphs of fewer edges stay in NetworkX, which is done before they are read.
SMALLEST = 500
#: Arguments that are functions of users run in NetworkX.
_CALLABLE = ("weight", "distance", "sort_neighbors", "neighbors")


def function(refuse: Function | None = None) -> Callable[[F], F]:
    """Put a function in the table; its first argument becomes a `RowGraph`.

    What the engine refuses raises NotImplementedError, which leaves the call to NetworkX and its
    messages. `refuse` says beforehand, from the graph and the other arguments, why not.
    """

    def put(made: F) -> F:
        @functools.wraps(made)
        def called(G: Any, *arguments: Any, **options: Any) -> Any:
            try:
                return made(rows_of(G), *arguments, **options)
            except (InvalidArgumentError, TypeMismatchError, UnsupportedError) as error:
                raise NotImplementedError(_refused(made.__name__, str(error))) from error
            except NotImplementedError as error:
                _refused(made.__name__, str(error))
                raise

        FUNCTIONS[made.__name__] = called
        if refuse is not None:
            _REFUSALS[made.__name__] = refuse
        return cast("F", called)

    return put


def composed(names: str) -> None:
    """NetworkX's own code on our graph: the functions that it calls are in the table."""
    for name in names.split():
        original = _registered(name).orig_func

        def called(G: Any, *arguments: Any, _original: Function = original, **options: Any) -> Any:
            return _original(rows_of(G), *arguments, **options)

        FUNCTIONS[name] = functools.wraps(original)(called)


def made(names: str) -> None:
    """Graphs by NetworkX's own code, from its graphs or from none, as ours."""
    for name in names.split():
        original = _registered(name).orig_func

        def called(*arguments: Any, _original: Function = original, **options: Any) -> RowGraph:
            given = [_plain(each) for each in arguments]
            return RowGraph(_original(*given, **{k: _plain(v) for k, v in options.items()}))

        FUNCTIONS[name] = functools.wraps(original)(called)


def _plain(value: Any) -> Any:
    return value.original if isinstance(value, RowGraph) else value


def _registered(name: str) -> Any:
    return nx.utils.backends._registered_algorithms[name]


@functools.cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(_registered(name).orig_func)


def can_run(name: str, args: Any, kwargs: dict[str, Any]) -> bool | str:
    """Whether a function of the table takes these arguments, else why not."""
    given = _signature(name).bind(*args, **kwargs).arguments
    for word in _CALLABLE:
        if callable(given.get(word)):
            return _refused(name, f"{word} is a function")
    return _refused(name, _REFUSALS[name](**given)) if name in _REFUSALS else True


def _refused(name: str, why: str) -> bool | str:
    """Why not, which `hr.fallbacks` lists and `hr.strict` raises; True if nothing is against it."""
    if why and is_strict():  # no NotImplementedError, which NetworkX takes for an invitation
        raise Error(
            f"networkx.{name}: {why}, and hr.strict() is on; call it with backend='networkx', or "
            "switch strict mode off"
        )
    if why:
        _core.record_fallback(f"networkx.{name}", why, 0.0)
    return why or True


def convert_from_nx(graph: Any, *, edge_attrs: Any = None, name: str = "", **_: Any) -> RowGraph:
    """NetworkX's graph as rows; attributes of edges that a function names are read at once."""
    try:
        return RowGraph(graph, edge_attrs)
    except NotImplementedError as error:
        _refused(name, str(error))
        raise


def should_run(name: str, args: Any, kwargs: dict[str, Any]) -> bool | str:
    """Whether the graph is worth reading."""
    graph = next(iter(_signature(name).bind(*args, **kwargs).arguments.values()), None)
    adjacency = getattr(graph, "_adj", None)
    if adjacency is None or len(adjacency) >= SMALLEST:
        return True
    edges = 0
    for row in adjacency.values():
        edges += len(row)
        if edges >= SMALLEST:
            return True
    return f"the graph is small: fewer than {SMALLEST} edges"
