# SPDX-License-Identifier: Apache-2.0
"""The accelerator: programs written for scikit-learn on our loops, unchanged.

``python -m headrace.sklearn script.py``, ``%load_ext headrace.sklearn`` or `install` put subclasses
in the place of scikit-learn's classes. Checks, parameters, random draws and attributes are its own
code; only the loops inside are ours. What they do not do runs in scikit-learn, and `hr.fallbacks`
lists it.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from headrace.errors import InvalidArgumentError

__all__ = ["install", "uninstall"]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


class _Installed:
    """The classes of each module of scikit-learn to be replaced, and those that were."""

    wanted: dict[str, list[str]] = {}  # noqa: RUF012
    made: dict[str, tuple[type[Any], type[Any]]] = {}  # noqa: RUF012


class _Finder(MetaPathFinder):
    """Replaces classes as soon as their module is there."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that others find, with a loader that replaces."""
        if fullname not in _Installed.wanted:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _Replacing(spec.loader)
                return spec
        return None


class _Replacing(Loader):
    """The loader of a module whose classes are replaced."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, then replace."""
        self._loader.exec_module(module)
        _replace(module.__name__)


_FINDER = _Finder()


def _replace(module: str) -> None:
    from headrace.sklearn.classes import subclass

    for name in _Installed.wanted[module]:
        path = f"{module.removeprefix('sklearn.')}.{name}"
        theirs = getattr(sys.modules[module], name)
        ours = subclass(path)
        _Installed.made[path] = theirs, ours
        _swap(theirs, ours)


def _swap(old: type[Any], new: type[Any]) -> None:
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "sklearn" and vars(module).get(old.__name__) is old:
            setattr(module, old.__name__, new)


def _holders(classes: Iterable[type[Any]]) -> list[str]:
    """Names in other modules that hold these classes."""
    known = {id(cls) for cls in classes}
    return sorted(
        f"{name}.{word}"
        for name, module in list(sys.modules.items())
        if isinstance(module, ModuleType) and name.partition(".")[0] not in ("sklearn", "headrace")
        for word, value in list(vars(module).items())
        if isinstance(value, type) and id(value) in known
    )


def install(names: Iterable[str] | None = None) -> None:
    """Put our subclasses in the place of scikit-learn's classes, now and in later imports.

    Data, results, attributes and errors stay scikit-learn's; an object is pickled as
    scikit-learn's. Small work (by shape) stays with scikit-learn, what we do not do falls back to
    it (see `hr.fallbacks`, `hr.strict`). Call it before you import from scikit-learn: classes that
    other modules hold already stay as they are, and one warning names them.

    Parameters
    ----------
    names : iterable of str, optional
        Classes by name; by default all of them.

    >>> hr.sklearn.install(["KMeans"])
    >>> from sklearn.cluster import KMeans
    >>> KMeans(2, n_init=1, random_state=0).fit([[0.0], [1.0], [9.0]]).inertia_
    0.5
    >>> hr.sklearn.uninstall()
    """
    from headrace.sklearn.classes import TABLE

    known = {path.rpartition(".")[2]: path for path in TABLE}
    chosen = list(known if names is None else names)
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise InvalidArgumentError(
            f"install: there is no loop for these classes: names={unknown}; use some of "
            f"{sorted(known)}"
        )
    uninstall()
    for name in chosen:
        module = f"sklearn.{known[name].rpartition('.')[0]}"
        _Installed.wanted.setdefault(module, []).append(name)
    sys.meta_path.insert(0, _FINDER)
    for module in _Installed.wanted:
        if module in sys.modules:
            _replace(module)
    held = _holders(theirs for theirs, _ in _Installed.made.values())
    if not held:
        return
    try:
        warnings.warn(
            f"imported before headrace.sklearn.install(), and not replaced: {', '.join(held)}; "
            "import them again",
            stacklevel=2,
        )
    except UserWarning:  # where warnings are errors, nothing is installed
        uninstall()
        raise


def uninstall() -> None:
    """Give scikit-learn its own classes back; models stay what they are."""
    if _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)
    _Installed.wanted.clear()
    for theirs, ours in _Installed.made.values():
        _swap(ours, theirs)
    _Installed.made.clear()


def load_ipython_extension(_: Any) -> None:
    """``%load_ext headrace.sklearn``."""
    install()


def unload_ipython_extension(_: Any) -> None:
    """``%unload_ext headrace.sklearn``."""
    uninstall()
