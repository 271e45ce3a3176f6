# SPDX-License-Identifier: Apache-2.0
"""Let other libraries allocate from Headrace: NumPy, and on a GPU PyTorch, CuPy and Numba."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, OutOfMemoryError, UnsupportedError

Undo = Callable[[], None]


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UnsupportedError(
            f"use_for: {name} is not installed: library={name}; pip install {name}"
        ) from error


def _need_gpu(library: str) -> None:
    if _core.cuda_device_count() == 0:
        fix = "its CPU tensors share ours by from_dlpack and to_torch" if library == "torch" else ""
        raise UnsupportedError(
            f"use_for: {library} allocates on a GPU, but there is no CUDA device: "
            f"library={library}, devices=0; {fix or 'it needs an NVIDIA driver'}"
        )


def _use_numpy() -> Undo:
    numpy = _import("numpy")
    module = "numpy._core" if numpy.lib.NumpyVersion(numpy.__version__) >= "2.0.0" else "numpy.core"
    functions = importlib.import_module(f"{module}.multiarray")._ARRAY_API
    ours = _core.our_numpy_handler()
    before = _core.set_numpy_handler(functions, ours)

    def undo() -> None:
        # The handler is a context variable: another thread or task has its own.
        if before is not ours and _core.numpy_handler(functions) is ours:
            _core.set_numpy_handler(functions, before)
        _core.trim_external()

    return undo


def _use_torch() -> Undo:
    _need_gpu("torch")
    torch = _import("torch")
    library = Path(_core.__file__).with_name("libheadrace.so")
    memory = torch.cuda.memory
    allocator = memory.CUDAPluggableAllocator(str(library), "hr_torch_pool_alloc", "hr_torch_free")
    pool = torch.cuda.MemPool(allocator.allocator())
    scope = torch.cuda.use_mem_pool(pool)
    scope.__enter__()

    def undo() -> None:
        scope.__exit__(None, None, None)
        _KEPT.append((pool, allocator))  # tensors that outlive the scope need both

    return undo


_KEPT: list[Any] = []


def _use_cupy() -> Undo:
    _need_gpu("cupy")
    cuda = _import("cupy").cuda
    allocator = cuda.CFunctionAllocator(0, *_core.cupy_functions(), _core)

    def allocate(size: int) -> Any:
        _core.set_cupy_stream(cuda.get_current_stream().ptr)
        pointer = allocator.malloc(size)
        if size > 0 and not pointer.ptr:
            raise OutOfMemoryError(_core.last_refusal())
        return pointer

    before = cuda.get_allocator()
    cuda.set_allocator(allocate)
    return lambda: cuda.set_allocator(before)


def _use_numba() -> Undo:
    _need_gpu("numba")
    _import("numba")
    driver = _import("numba.cuda.cudadrv.driver")
    manager = importlib.import_module("headrace.numba").MemoryManager
    before = driver._memory_manager
    driver.set_memory_manager(manager)

    def undo() -> None:
        driver._memory_manager = before

    return undo


_LIBRARIES: dict[str, Callable[[], Undo]] = {
    "numpy": _use_numpy,
    "torch": _use_torch,
    "cupy": _use_cupy,
    "numba": _use_numba,
}


class UseFor:
    """Libraries that allocate from Headrace until it is closed or its ``with`` block ends."""

    def __init__(self, libraries: tuple[str, ...]) -> None:
        self.libraries = libraries
        self._undo: list[Undo] = []
        for name in libraries:
            if name not in _LIBRARIES:
                from difflib import get_close_matches  # on first use: it loads much

                close = get_close_matches(str(name), _LIBRARIES, 1)
                hint = f"did you mean {close[0]!r}?" if close else f"one of {', '.join(_LIBRARIES)}"
                raise InvalidArgumentError(f"use_for: no such library: library={name!r}; {hint}")
        _core.clear_refusal()
        try:
            for name in libraries:
                self._undo.append(_LIBRARIES[name]())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Restore the libraries' own allocators; memory they already hold stays valid."""
        while self._undo:
            self._undo.pop()()

    def __enter__(self) -> UseFor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        self.close()
        # The library does not know why allocation failed; our error names the holders. PyTorch's #
        # error is not a MemoryError.
        if isinstance(error, OutOfMemoryError):
            return
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
            text = _core.last_refusal()
            if text and error is not None:
                error.add_note(text)

    def __repr__(self) -> str:
        state = "in use" if self._undo else "closed"
        return f"use_for({', '.join(map(repr, self.libraries))}): {state}"


def use_for(*libraries: str) -> UseFor:
    """Let other libraries allocate from Headrace: one budget, one log, one report.

    Their memory counts as used and as external: it creates pressure on ours, and never moves. What
    does not fit raises the library's own error (``MemoryError``, ``torch.OutOfMemoryError``); when
    it leaves the ``with`` block, a note naming the largest holders is added.

    Parameters
    ----------
    *libraries : str
        ``"numpy"``, and with a GPU ``"torch"``, ``"cupy"`` and ``"numba"``.

    Returns
    -------
    UseFor
        Active immediately, until `close` or the end of its ``with`` block. Memory allocated
        meanwhile stays valid.

    Notes
    -----
    NumPy keeps its allocator in a context variable, so the setting applies to the calling thread or
    task: call `use_for` in each thread, for example as the ``initializer`` of a
    ``ThreadPoolExecutor``. Arrays of 128 KiB or less share slabs of 64 KiB and more; the slabs are
    charged and logged as "small arrays", and the report sums the arrays in them by line.

    >>> import numpy as np
    >>> with hr.memory.use_for("numpy"):
    ...     x = np.ones(100_000)
    >>> [(holder.op, holder.bytes) for holder in hr.memory.leaks() if holder.external]
    [('numpy', 800064)]
    """
    return UseFor(libraries)


def alloc_v1() -> object:
    """Return the C interface through which any library can allocate from Headrace.

    Returns
    -------
    PyCapsule
        Named ``headrace.alloc_v1``: the address of a ``struct hr_alloc_v1``, which
        ``headrace/memory/external/external_allocator_c.h`` declares. It is valid until the
        process ends.

    >>> "headrace.alloc_v1" in repr(hr.memory.alloc_v1())
    True
    """
    return _core.alloc_v1()
