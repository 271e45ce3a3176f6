# SPDX-License-Identifier: Apache-2.0
"""Process-wide settings: a call takes effect at once, a ``with`` block restores it at its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Generic, Literal, TypeVar, overload

from headrace import _core
from headrace._loader import engine
from headrace.errors import DeviceError, InvalidArgumentError

T = TypeVar("T")


class Setting(Generic[T]):
    """A setting that was just made; as a context manager it restores the previous value."""

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
    """Return or set the number of worker threads.

    Results do not depend on it. The initial value comes from ``HEADRACE_THREADS``, else it is the
    number of processors available to the process.

    Parameters
    ----------
    count : int, optional
        1 to 1024; without it the current number is returned.

    Returns
    -------
    int or Setting
        The current number, or a setting that a ``with`` block restores.

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
    device: str = "cpu"  # HEADRACE_DEVICE and HEADRACE_STRICT give the initial values
    strict: bool = os.environ.get("HEADRACE_STRICT", "") not in ("", "0")


def _no_cuda_reason() -> str:
    """Why no GPU can be used; empty if one can."""
    if not _core.built_with_cuda():
        return "this build does not include CUDA"
    return _core.why_no_cuda()


def _set_device(name: str) -> None:
    kind, colon, _ = name.partition(":")
    if kind not in (("cuda", "sim") if colon else _DEVICES):
        raise InvalidArgumentError(
            f"device: unknown device: device={name!r}; expected 'cpu', 'cuda', 'sim' or 'auto', "
            "or several GPUs: 'cuda:0,1' or 'cuda:all'"
        )
    if kind == "cuda" and _no_cuda_reason():
        raise DeviceError(
            f"device: {_no_cuda_reason()}: device={name!r}; use device('auto') or device('cpu')"
        )
    is_auto = name == "auto"
    _core.set_default_place("cpu" if is_auto else name)
    _core.set_auto_place("cuda" if is_auto and not _no_cuda_reason() else "cpu")
    _State.device = name


def _first_device() -> str:
    """What HEADRACE_DEVICE names: "sim:limit=256MB" has settings after the name."""
    name = os.environ.get("HEADRACE_DEVICE") or "cpu"
    return name if name.startswith("cuda:") else name.partition(":")[0]


_set_device(_first_device())


@overload
def device() -> str: ...
@overload
def device(name: Device | str) -> Setting[str]: ...
def device(name: Device | str | None = None) -> str | Setting[str]:
    """Return or set where new work runs: ``"cpu"``, ``"cuda"``, ``"sim"`` or ``"auto"``.

    Work runs where its data is; the setting applies to new data from a file or a formula. The
    initial value comes from ``HEADRACE_DEVICE``, else it is the CPU, since not all operators have
    kernels: those without run on the host between two copies, as listed by `fallbacks`. With
    ``"auto"`` data stays on the host, and each plan over 100,000 rows or more runs those steps on a
    GPU that make the whole plan faster, moves included; ``explain()`` shows which. Columns that
    were sent keep a copy there while they live and the GPU has room. Without a GPU it is the same
    as ``"cpu"``. ``"sim"`` is a simulated device, whose memory the host cannot
    touch: for tests without a GPU.

    New data that the device has no room for is kept on the host. Of such data, ``sort_values``,
    group-by and ``merge`` run on the device in slices that fit, with the same bits, and their
    results go there if they are small; other steps run on the host, as listed by `fallbacks`.

    With several devices, ``"cuda:0,1"`` or ``"cuda:all"``, the rows of new data are cut evenly over
    them, as by ``x.to("cuda:0,1")``: each works on its own rows, and results have the bits of one
    device. Element-wise work, filters and reductions copy next to nothing; sorts exchange rows, a
    join repeats its right side; what has no form for several devices gathers its inputs at the
    first one. ``explain()`` shows the device of each step.

    Parameters
    ----------
    name : {"cpu", "cuda", "sim", "auto"} or str, optional
        Also ``"cuda:1"``, ``"cuda:0,1"`` and ``"cuda:all"``. Without it the current device is
        returned.

    Returns
    -------
    str or Setting
        The current device, or a setting that a ``with`` block restores.

    Raises
    ------
    DeviceError
        For ``"cuda"`` if no CUDA device can be used, or not one of this number; the message says
        why.

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
    """Turn slow fallbacks into errors.

    See `fallbacks`: work that would run on the CPU for lack of a GPU kernel raises DeviceError, for
    lack of memory there OutOfMemoryError, and a Python function called per row UnsupportedError.
    The initial value comes from ``HEADRACE_STRICT``.

    Parameters
    ----------
    on : bool
        Whether fallbacks raise from now on.

    Returns
    -------
    Setting
        A setting that a ``with`` block restores.

    >>> with hr.strict():
    ...     hr.Series([1, 2]).map(str)
    Traceback (most recent call last):
    headrace.UnsupportedError: map: ...
    """
    return Setting("strict", on, _State.strict, _set_strict)


class Fallbacks(tuple[tuple[str, str, float], ...]):
    """Slow fallbacks: operator, reason, seconds."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self:
            return "no fallbacks"
        return "\n".join(f"{op}: {reason} ({cost:.3f} s)" for op, reason, cost in self)


def fallbacks() -> Fallbacks:
    """List slow fallbacks: work on the CPU instead of a GPU, row by row in Python, through pyarrow.

    Returns
    -------
    Fallbacks
        A tuple of (operator, reason, seconds), with seconds summed over all runs.

    >>> hr.Series([1, 2]).map(str).to_list()
    ['1', '2']
    >>> "map" in [operator for operator, *_ in hr.fallbacks()]
    True
    """
    return Fallbacks((op, reason, seconds) for op, reason, seconds, _ in _core.fallbacks())


class Advice(tuple[tuple[str, str, str], ...]):
    """Performance advice, one entry per operator and line: (operator, line, text)."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self:
            return "no advice"
        return "\n".join(f"{op}{f' at {line}' if line else ''}: {text}" for op, line, text in self)


def advice() -> Advice:
    """List performance advice that the engine collected while it ran.

    Currently: results spilled to disk and fetched more than twice, Python code run per row or
    group, frames grown by `concat` or `append` in a loop, round trips through pandas, and sorts
    whose order is never used.

    Returns
    -------
    Advice
        A tuple of (operator, line, text), oldest first; each line of code is listed once.

    >>> hr.Series([1, 2]).map(str).to_list()
    ['1', '2']
    >>> hr.advice()[-1][2]
    'Python code ran once per row; use arithmetic, where(), .str or .dt methods, or map a dict'
    """
    return Advice(_core.advice())


class Info(dict[str, str]):
    """Build and environment information; prints as two columns."""

    def __repr__(self) -> str:
        width = max(len(name) for name in self)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in self.items())


def _device_text() -> str:
    name = _State.device
    if reason := _no_cuda_reason():
        return f"{'cpu' if name == 'auto' else name} ({reason})"
    if name == "auto":
        return f"auto ({_core.cuda_device_name(0)}, where a plan is faster with it)"
    return f"{name} ({_core.cuda_device_name(0)} is available: device('cuda'))"


def info() -> Info:
    """Describe this build, what it uses on this machine, and why.

    Returns
    -------
    Info
        A mapping of names to strings; prints as two columns.

    >>> hr.info()["device"].startswith("cpu")
    True
    """
    import platform  # on first use: it loads much

    limit = _core.memory_limit()

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
