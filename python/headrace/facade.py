# SPDX-License-Identifier: Apache-2.0
"""What public classes have in common: errors that name the nearest way, and plain signatures."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from headrace import _core
from headrace.errors import Error
from headrace.interop.ways_round import FACADES, nearest, way_round

if TYPE_CHECKING:
    from headrace.series.series import Series

Class = TypeVar("Class", bound=type)
Call = TypeVar("Call", bound=Callable[..., Any])

#: Options of pandas that change nothing, whatever their value is.
_WITHOUT_EFFECT = ["copy", "engine", "engine_kwargs", "cache", "kind", "memory_map", "low_memory"]
#: Options of pandas that change nothing at this value, its default.
_AT_DEFAULT: dict[Any, str] = {
    None: """
    axis closed downcast dtype exclude fill_method fill_value filters freq global_dict how include
    key keys level levels limit limit_area limit_direction local_dict locale method min_periods
    na_action name names on order out percentiles resolvers sorter stable step storage_options
    suffix tolerance tz unit weights win_type
    """,
    False: """
    allow_duplicates bool_only dayfirst group_keys ignore_index inplace numeric_only raw sparse
    sort union_categories verify_integrity yearfirst
    """,
    True: "drop_level future_stack skipna sort_remaining",
}
_DEFAULTS = {name: value for value, names in _AT_DEFAULT.items() for name in names.split()}
#: Methods whose `axis` is not that of the rows when it is left out.
_OTHER_AXIS = ("filter", "add_prefix", "add_suffix", "melt")


class _PlainText(str):
    """An annotation that signatures show without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self).replace("builtins.", "")


def _changes_nothing(method: str, name: str, value: Any) -> bool:
    if name in _WITHOUT_EFFECT:
        return True
    if name == "axis" and method not in _OTHER_AXIS and value in (0, "index"):
        return True
    return name in _DEFAULTS and value is _DEFAULTS[name]


def _called_again(
    function: Callable[..., Any], word: str, args: Any, kwargs: dict[str, Any]
) -> Any:
    """Call without options of pandas that change nothing; raise for others, naming the nearest."""
    options = inspect.signature(function).parameters
    method = word.rpartition(".")[2]
    wrong = [
        name
        for name, value in kwargs.items()
        if name not in options and not _changes_nothing(method, name, value)
    ]
    if not wrong:
        return function(*args, **{n: value for n, value in kwargs.items() if n in options})
    words = [name for name in options if name != "self"]
    close = nearest(wrong[0], words)
    fix = f"did you mean {close!r}?" if close else f"the options are {', '.join(words) or 'none'}"
    raise _WrongOptionError(
        f"{word}() got an unexpected keyword argument {wrong[0]!r}; {fix}"
    ) from None


def named(word: str) -> Callable[[Call], Call]:
    """Let a public function explain options that it does not have, as `word`."""

    def explaining(function: Call) -> Call:
        plain = function.__annotations__
        plain.update({name: _PlainText(text) for name, text in plain.items()})

        def again(*args: Any, **kwargs: Any) -> Any:
            return _called_again(function, word, args, kwargs)

        made: Any = _core.explained(function, "unexpected keyword", again)
        return functools.update_wrapper(made, function)  # type: ignore[return-value]

    return explaining


def facade(word: str) -> Callable[[Class], Class]:
    """Let a public class explain names and options that it does not have; errors call it `word`."""

    def made(cls: Class) -> Class:
        FACADES.setdefault(word, cls)
        inherited = (pair for base in reversed(cls.__mro__) for pair in vars(base).items())
        for name, method in dict(inherited).items():
            own = type(method) is FunctionType and not hasattr(method, "__wrapped__")
            if own and not name.startswith("_"):
                setattr(cls, name, named(f"{word}.{name}")(method))
        if not hasattr(cls, "__getattr__"):
            setattr(cls, "__getattr__", functools.partialmethod(_missing, word))  # noqa: B010
        return cls

    return made


class Field(property):
    """A property of an accessor, whose `_field` makes it by its name, the first it gets."""

    _name = ""

    def __init__(self, doc: str, example: str = "") -> None:
        def field(accessor: Any) -> Series:
            return accessor._field(self._name)

        super().__init__(field)
        self._text = f"{doc}\n\n{example}".rstrip()

    def __set_name__(self, owner: type, name: str) -> None:
        if not self._name:
            self._name, self.__doc__ = name, self._text.format(name=name)
            self.__module__ = owner.__module__  # where its example is looked for


def _missing(value: Any, word: str, name: str) -> Any:
    if is_probed(name):
        raise AttributeError(name)
    raise no_attribute(f"{word} has no attribute", name, (), type(value))


def missing_of_module(name: str) -> Callable[[str], Any]:
    """The `__getattr__` of a public module."""

    def missing(word: str) -> Any:
        if is_probed(word):
            raise AttributeError(word)
        what = "hr" + name.removeprefix("headrace")
        raise no_attribute(f"{what} has no attribute", word, (), sys.modules[name])

    return missing


def on_first_use(name: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a public module whose names its `modules` define, imported on use."""
    homes = {word: module for module, words in modules.items() for word in words.split()}
    missing = missing_of_module(name)

    def find(word: str) -> Any:
        if word not in homes:
            return missing(word)
        found = getattr(importlib.import_module(f"{name}.{homes[word]}"), word)
        setattr(sys.modules[name], word, found)
        return found

    return find


def is_probed(name: str) -> bool:
    """Whether this is an attribute probed by copy, pickle or notebooks, not a column."""
    return name.startswith(("__", "_repr_", "_ipython_")) or name in ("_nodes", "_row")


class _NoAttributeError(AttributeError):
    """Looks for the nearest way when it is shown: `hasattr` asks for many that are not there."""

    def __init__(self, what: str, name: str, columns: Iterable[str], kind: Any) -> None:
        super().__init__(what, name)
        self._columns, self._kind = columns, kind

    def __str__(self) -> str:
        what, name = self.args
        way = way_round(what.partition(" has ")[0], name, list(map(str, self._columns)), self._kind)
        return f"{what} {name!r}{f'; {way}' if way else ''}"

    def __reduce__(self) -> Any:
        return AttributeError, (str(self),)

    _render_traceback_ = Error._render_traceback_


class _WrongOptionError(TypeError):
    """The error of Python for an unknown keyword, with the nearest one."""

    _render_traceback_ = Error._render_traceback_


_kind: type[Exception]
for _kind, _name in ((_NoAttributeError, "AttributeError"), (_WrongOptionError, "TypeError")):
    _kind.__name__ = _kind.__qualname__ = _name  # users see Python's own classes
    _kind.__module__ = "builtins"


def no_attribute(what: str, name: str, columns: Iterable[str], kind: Any) -> AttributeError:
    """An error that names the nearest way, else lists the columns if there are any."""
    return _NoAttributeError(what, name, columns, kind)
