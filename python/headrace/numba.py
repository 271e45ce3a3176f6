# SPDX-License-Identifier: Apache-2.0
"""Headrace as Numba's memory manager on a GPU: ``NUMBA_CUDA_MEMORY_MANAGER=headrace.numba``."""

from __future__ import annotations

import ctypes
import weakref
from importlib import import_module
from typing import Any

from headrace import _core
from headrace.errors import OutOfMemoryError, UnsupportedError

cuda: Any = import_module("numba.cuda")


def _pointer(address: int) -> Any:
    """An address in the type that this Numba's bindings use."""
    if getattr(import_module("numba.cuda.cudadrv.driver"), "USE_NV_BINDING", True):
        try:
            return import_module("cuda.bindings.driver").CUdeviceptr(address)
        except ImportError:  # older versions use ctypes
            pass
    return ctypes.c_uint64(address)


class MemoryManager(cuda.HostOnlyCUDAMemoryManager):  # type: ignore[misc]
    """Numba's device memory from Headrace; host memory stays Numba's own."""

    @property
    def interface_version(self) -> int:
        """The version of Numba's interface."""
        return 1

    def initialize(self) -> None:
        """Nothing to set up."""

    def memalloc(self, size: int) -> Any:
        """Allocate bytes on the device of the context.

        Parameters
        ----------
        size : int
            Bytes.

        Returns
        -------
        numba.cuda.MemoryPointer
            Freed when Numba releases it.
        """
        device = self.context.device.id
        address = _core.device_allocate(size, device)
        if size > 0 and not address:
            raise OutOfMemoryError(_core.last_refusal())

        def free() -> None:
            _core.device_free(address)

        context = weakref.proxy(self.context)
        return cuda.MemoryPointer(context, _pointer(address), size, finalizer=free)

    def get_memory_info(self) -> Any:
        """Free and total bytes of the device."""
        return cuda.MemoryInfo(*_core.device_memory(self.context.device.id))

    def get_ipc_handle(self, memory: Any) -> Any:
        """Raise: memory of the driver's pool cannot be shared between processes."""
        raise UnsupportedError(
            "numba: memory from a stream-ordered pool cannot be shared between "
            "processes: operation=get_ipc_handle; copy it to the host"
        )


_numba_memory_manager = MemoryManager
