# SPDX-License-Identifier: Apache-2.0
"""Settings of the process: each call sets at once, and a ``with`` block undoes it at its end."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Generic, Literal, TypeVar, overload

from headrace import _core
from headrace.errors import DeviceError, InvalidArgumentError

T = TypeVar("T")


class ModuleOfFunctions(ModuleType):
    """A module whose functions are called: ``hr.threads = 4`` is an error, not a lost setting."""

    def __setattr__(self, name: str, value: object) -> None:
        is_value = not callable(value) and not isinstance(value, ModuleType)
        if is_value and isinstance(self.__dict__.get(name), FunctionType):
            raise InvalidArgumentError(
                f"{self.__name__}: {name} is a function: {name}={value!r}; call it: "
                f"{name}({value!r})"
            )
        super().__setattr__(name, value)


class Setting(Generic[T]):
    """A setting that was just made; as a context manager it restores the former value."""

    def __init__(self, name: str, value: T, former: T, apply: Callable[[T], None]) -> None:
        apply(value)
        self._name = name
        self._former = former
        self._apply = apply
        self.value = value

    def __enter__(self) -> T:
        return self.value

    def __exit__(self, *args: object) -> None:
        self._apply(self._former)

    def __repr__(self) -> str:
        return f"{self._name}: {self.value}"


@overload
def threads() -> int: ...
@overload
def threads(count: int) -> Setting[int]: ...
def threads(count: int | None = None) -> int | Setting[int]:
    """Say how many threads work on a job, or set it.

    Results do not depend on it. The first value comes from ``HEADRACE_THREADS``, else it is the
    number of processors that the process may use.

    Parameters
    ----------
    count : int, optional
        1 to 1024; without it the present number is returned.

    Returns
    -------
    int or Setting
        The present number, or the setting, which a ``with`` block undoes.

    Examples
    --------
    >>> import headrace as hr
    >>> with hr.threads(2):
    ...     hr.threads()
    2
    """
    if count is None:
        return _core.threads()
    return Setting("threads", count, _core.threads(), _core.set_threads)


Device = Literal["cpu", "cuda", "sim", "auto"]
_DEVICES = ("cpu", "cuda", "sim", "auto")


class _State:
    device: Device = "cpu"  # HEADRACE_DEVICE and HEADRACE_STRICT say the first values
    strict: bool = os.environ.get("HEADRACE_STRICT", "") not in ("", "0")


def _no_cuda_reason() -> str:
    """Why no GPU can be used; empty when one can."""
    if not _core.built_with_cuda():
        return "this build has no CUDA"
    return _core.why_no_cuda()


def _set_device(name: Device) -> None:
    if name not in _DEVICES:
        raise InvalidArgumentError(
            f"device: unknown device: device={name!r}; use one of 'cpu', 'cuda', 'sim', 'auto'"
        )
    if name == "cuda" and _no_cuda_reason():
        raise DeviceError(
            f"device: {_no_cuda_reason()}: device='cuda'; use device('auto') or device('cpu')"
        )
    _core.set_default_place(_found(name))
    _State.device = name


def _found(name: Device) -> str:
    """What "auto" finds here."""
    if name != "auto":
        return name
    return "cpu" if _no_cuda_reason() else "cuda"


# "sim:limit=256MB" has the simulated device's settings behind its name.
_set_device((os.environ.get("HEADRACE_DEVICE") or "cpu").partition(":")[0])  # type: ignore[arg-type]


@overload
def device() -> Device: ...
@overload
def device(name: Device) -> Setting[Device]: ...
def device(name: Device | None = None) -> Device | Setting[Device]:
    """Say where new work runs, or set it: ``"cpu"``, ``"cuda"``, ``"sim"`` or ``"auto"``.

    Work follows the place of its data; the setting decides for data that come new from a file or a
    formula. The first value comes from ``HEADRACE_DEVICE``, else it is the CPU, since not all
    operators have kernels: those without run on the host between two copies, as `fallbacks` tells.
    ``"auto"`` is the GPU where one can be used, and else the CPU. ``"sim"`` is the simulated
    device, memory that the host cannot touch: for tests of what a GPU needs.

    Parameters
    ----------
    name : {"cpu", "cuda", "sim", "auto"}, optional
        Without it the present device is returned.

    Returns
    -------
    str or Setting
        The present device, or the setting, which a ``with`` block undoes.

    Raises
    ------
    DeviceError
        For ``"cuda"`` where no CUDA device can be used; the message says why.

    Examples
    --------
    >>> import headrace as hr
    >>> with hr.device("cpu"):
    ...     hr.device()
    'cpu'
    """
    if name is None:
        return _State.device
    return Setting("device", name, _State.device, _set_device)


def is_strict() -> bool:
    """Whether `strict` is on."""
    return _State.strict


def _set_strict(on: bool) -> None:
    _core.set_strict(on)
    _State.strict = on


_set_strict(_State.strict)


def strict(on: bool = True) -> Setting[bool]:
    """Turn fallbacks to slower ways into errors.

    See `fallbacks`: what would run on the CPU because a GPU has no kernel for it raises
    DeviceError, and a Python function for each row UnsupportedError. The first value comes from
    ``HEADRACE_STRICT``.

    Parameters
    ----------
    on : bool
        Whether to be strict from now on.

    Returns
    -------
    Setting
        The setting, which a ``with`` block undoes.

    Examples
    --------
    >>> import headrace as hr
    >>> with hr.strict():
    ...     hr.Series([1, 2]).map(str)
    Traceback (most recent call last):
    headrace.UnsupportedError: map: ...
    """
    return Setting("strict", on, _State.strict, _set_strict)


class Fallbacks(tuple[tuple[str, str, float], ...]):
    """What ran in a slower way than asked: operator, reason, seconds."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self:
            return "no fallbacks"
        return "\n".join(f"{op}: {reason} ({cost:.3f} s)" for op, reason, cost in self)


def fallbacks() -> Fallbacks:
    """List what ran in a slower way than asked: on the CPU instead of a GPU, row by row in Python.

    Returns
    -------
    Fallbacks
        A tuple of (operator, reason, seconds), the seconds summed over all runs.

    Examples
    --------
    >>> import headrace as hr
    >>> hr.Series([1, 2]).map(str).to_list()
    ['1', '2']
    >>> hr.fallbacks()[-1][0]
    'map'
    """
    return Fallbacks((op, reason, seconds) for op, reason, seconds, _ in _core.fallbacks())


class Advice(tuple[tuple[str, str, str], ...]):
    """What could go better, one entry for each operator and line: (operator, line, text)."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self:
            return "no advice"
        return "\n".join(f"{op}{f' at {line}' if line else ''}: {text}" for op, line, text in self)


def advice() -> Advice:
    """List what the engine saw while it ran that you could do better.

    So far: work that was evicted to the disk and fetched again more than twice, Python code that
    ran for each row or group, frames that grow by `concat` or `append` in a loop, values that went
    to pandas and came back, and rows sorted for what does not look at their order.

    Returns
    -------
    Advice
        A tuple of (operator, line, text), oldest first; the same line of code stands in it once.

    Examples
    --------
    >>> import headrace as hr
    >>> hr.Series([1, 2]).map(str).to_list()
    ['1', '2']
    >>> hr.advice()[-1][2]
    'Python code ran for each row; write arithmetic, where() or .str and .dt methods, or map a dict'
    """
    return Advice(_core.advice())


class Info(dict[str, str]):
    """What this build is and what it uses; prints as two columns."""

    def __repr__(self) -> str:
        width = max(len(name) for name in self)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in self.items())


def _device_text() -> str:
    name = _found(_State.device)
    if reason := _no_cuda_reason():
        return f"{name} ({reason})"
    return f"{name} ({_core.cuda_device_name(0)} is here: device('cuda'))"


def info() -> Info:
    """Say what this build is, what it uses on this machine, and why.

    Returns
    -------
    Info
        Names and texts; prints as two columns.

    Examples
    --------
    >>> import headrace as hr
    >>> hr.info()["device"].startswith("cpu")
    True
    """
    limit = _core.memory_limit()
    from headrace.engine import engine

    return Info(
        headrace=_core.version,
        engine=f"{engine}, {'with' if _core.built_with_cuda() else 'without'} CUDA",
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        threads=str(_core.threads()),
        simd=_core.simd_level(),
        device=_device_text(),
        memory_limit="none" if limit == sys.maxsize else _core.format_bytes(limit),
    )
