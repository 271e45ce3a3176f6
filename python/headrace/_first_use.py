# SPDX-License-Identifier: Apache-2.0
"""Parts of the package are imported at their first use: the engine, public names, public classes.

``import headrace`` runs `headrace/__init__.py` and this module alone.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import get_ident
from importlib import _bootstrap, import_module
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping

#: With the engine: the first applies the environment's settings, the second shows long work.
_WITH_THE_ENGINE = ("headrace.settings", "headrace.display.progress")


#: A fork waits no longer for the imports of other threads, which may wait for the one that forks.
_SECONDS_BEFORE_A_FORK = 2.0
#: The modules, and the threads that import them, for which a fork has waited that long.
_WAITED_FOR: set[tuple[str, Any]] = set()


def _wait_for_imports() -> None:
    """Let other threads end their imports: a child of a fork would wait for them for ever.

    The first use of a name imports in any thread, so a fork meets an import more often than in
    packages that are imported as a whole.
    """
    own, end = get_ident(), time.monotonic() + _SECONDS_BEFORE_A_FORK
    locks: dict[str, Any] = getattr(_bootstrap, "_module_locks", {})
    while True:
        found = {name: getattr(find(), "owner", None) for name, find in list(locks.items())}
        held = {each for each in found.items() if each[1] not in (None, own)} - _WAITED_FOR
        if not held:
            return
        if time.monotonic() >= end:
            _WAITED_FOR.update(held)  # a program that runs while it is imported: once is enough
            return
        time.sleep(0.001)


os.register_at_fork(before=_wait_for_imports)


class ModuleOfFunctions(ModuleType):
    """A module that rejects assignment to its functions, such as ``hr.threads = 4``."""

    def __setattr__(self, name: str, value: object) -> None:
        if not callable(value) and not isinstance(value, ModuleType) and name in dir(self):
            import inspect  # on first use: it loads much

            from headrace.errors import InvalidArgumentError

            if inspect.isroutine(getattr(self, name, None)):
                raise InvalidArgumentError(
                    f"{self.__name__}: {name} is a function: {name}={value!r}; call it: "
                    f"{name}({value!r})"
                )
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        # cloudpickle, by which Dask and Ray send functions, knows plain modules only.
        return import_module, (self.__name__,)


class Package(ModuleOfFunctions):
    """The module `headrace`, whose public names are imported when they are asked for first."""

    #: Public modules, and the modules of other public names, below the package.
    _rooms: dict[str, str]
    _homes: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        if name == "_core":
            return self._start()
        if name == "__version__":
            return self._start().version
        own = vars(self)
        if name in own["_rooms"]:
            found: Any = import_module(f"{self.__name__}.{own['_rooms'][name]}")
        elif name in own["_homes"]:
            found = getattr(import_module(f"{self.__name__}.{own['_homes'][name]}"), name)
            if type(found) is FunctionType and name in own["__all__"]:
                found = _explained(name, found)
        else:
            self._refuse(name)
        own[name] = found
        return found

    def _start(self) -> Any:
        """Load the engine; it comes again if a setting of the environment is refused."""
        vars(self)["_core"] = import_module("headrace._loader").core
        try:
            for name in _WITH_THE_ENGINE:
                import_module(name)
        except BaseException:
            del vars(self)["_core"]
            raise
        return vars(self)["_core"]

    def _refuse(self, name: str) -> NoReturn:
        if name.startswith("_"):  # asked for by copy, pickle, notebooks
            raise AttributeError(f"module 'headrace' has no attribute {name!r}")
        from headrace.facade import no_attribute

        load_public_classes()  # the error may name their methods
        raise no_attribute("module 'headrace' has no attribute", name, (), self)


def _explained(name: str, function: Any) -> Any:
    """A public function that explains options which it does not have."""
    if hasattr(function, "__wrapped__"):
        return function
    from headrace.facade import named

    made = named(f"hr.{name}")(function)
    # Where it was defined too, for pickle.
    setattr(sys.modules[function.__module__], function.__name__, made)
    return made


def make_package(name: str, rooms: str, homes: Mapping[str, str]) -> None:
    """Let the package import `rooms`, its public modules, and names by their `homes` on use."""
    own = vars(sys.modules[name])
    own["_rooms"] = {room.rpartition(".")[2]: room for room in rooms.split()}
    own["_homes"] = {word: home for home, words in homes.items() for word in words.split()}
    sys.modules[name].__class__ = Package


def load_public_classes() -> None:
    """Import frames, which import series, arrays and all other public classes."""
    import_module("headrace.frame.dataframe")


class _PublicClass:
    """Stands for a class above a module until one is made, or asked for, the first time."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Any:
        load_public_classes()
        return getattr(owner, self._name)


def public_class() -> Any:
    """A class variable that a public class of a higher module replaces by itself."""
    return _PublicClass()
