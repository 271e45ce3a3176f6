# SPDX-License-Identifier: Apache-2.0
"""Offload what PyTorch saves for the backward pass until it is needed."""

from __future__ import annotations

import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError, OutOfMemoryError
from headrace.memory.budget import bytes_of
from headrace.memory.tables import size_text

if TYPE_CHECKING:
    import torch


class _Saved:
    """One saved tensor and the location of its bytes."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.index = 0
        self.shape, self.dtype = tensor.shape, tensor.dtype
        self.device = tensor.device
        self.source: torch.Tensor | None = tensor.detach()  # until it is copied
        self.there: torch.Tensor | None = None  # the fetched tensor
        self.host: Any = None  # a CPU tensor
        self.storage: Any = None  # weak: shows whether the tensor was freed
        self.uses = 0  # number of times it was saved
        self.left: Any = None  # events after the copies
        self.arrived: Any = None

    def __del__(self) -> None:
        # An unused fetch must not be freed before its copy is done.
        if self.there is not None and self.arrived is not None:
            self.arrived.wait()


class offload_saved_tensors:  # noqa: N801
    """Keep tensors for the backward pass in host memory inside a ``with`` block.

    GPU tensors that PyTorch saves in the block are copied to Headrace's pinned memory in the
    background and freed once copied; the backward pass prefetches them. So a batch fits whose
    activations do not. Values and gradients are the same. CPU tensors are copied into memory that
    can be spilled to disk under `hr.memory.limit`.

    Run the forward and the backward pass inside the block, one block per step or one for all.

    Parameters
    ----------
    keep : torch.nn.Module or iterable of torch.Tensor, optional
        Tensors to leave in place: the model, whose parameters are saved too.
    prefetch : int
        How many tensors to fetch ahead of the one in use; 0: each is fetched on demand.
    least : int or str
        Smaller tensors are not offloaded.
    window : int or str
        How many bytes may be queued for copying before the forward pass waits. Tensors still queued
        when the backward pass begins need not be fetched.

    Attributes
    ----------
    offloaded_bytes, fetched_bytes : int
        Copied to the host, and back.

    >>> hr.memory.offload_saved_tensors(prefetch=2)
    offload_saved_tensors: 0 B left, 0 B came back
    """

    def __init__(
        self,
        keep: Any = (),
        *,
        prefetch: int = 2,
        least: int | str = "1MB",
        window: int | str = "512MiB",
    ) -> None:
        if prefetch < 0:
            raise InvalidArgumentError(
                f"offload_saved_tensors: prefetch is negative: prefetch={prefetch}; expected "
                "0 or more"
            )
        tensors = [*keep.parameters(), *keep.buffers()] if hasattr(keep, "parameters") else keep
        self._keep = {tensor.untyped_storage().data_ptr() for tensor in tensors}
        self._prefetch, self._least, self._window = prefetch, bytes_of(least), bytes_of(window)
        # The graph owns what it saved; kept here in forward order and by identity.
        self._saved: list[weakref.ref[_Saved]] = []
        self._known: weakref.WeakValueDictionary[Any, _Saved] = weakref.WeakValueDictionary()
        self._leaving: deque[_Saved] = deque()
        self._coming: deque[tuple[torch.cuda.Event, torch.Tensor]] = deque()  # copies in flight
        self._waiting_bytes = 0
        self._streams: dict[Any, torch.cuda.Stream] = {}
        self._hooks: Any = None
        self.offloaded_bytes: int = 0
        self.fetched_bytes: int = 0

    def __enter__(self) -> offload_saved_tensors:
        import torch

        self._torch = torch
        self._hooks = torch.autograd.graph.saved_tensors_hooks(self._pack, self._unpack)
        self._hooks.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._hooks.__exit__(*error)
        self._finish_leaving(0)
        while self._coming:
            self._coming.popleft()[0].synchronize()
        self._known.clear()
        self._saved.clear()

    def __repr__(self) -> str:
        left, back = size_text(self.offloaded_bytes), size_text(self.fetched_bytes)
        return f"offload_saved_tensors: {left} left, {back} came back"

    # ---- the forward pass ------------------------------------------------------------------------
    def _pack(self, tensor: torch.Tensor) -> torch.Tensor | _Saved:
        size = tensor.numel() * tensor.element_size()
        storage = tensor.untyped_storage()
        if (
            size < self._least
            or tensor.layout != self._torch.strided
            or tensor.device.type not in ("cuda", "cpu")
            or storage.data_ptr() in self._keep
        ):
            return tensor
        key = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, tensor._version)
        saved = self._known.get(key)
        if saved is None or saved.storage.expired():
            saved = self._known[key] = _Saved(tensor)
            saved.storage = self._torch.multiprocessing.reductions.StorageWeakRef(storage)
            while self._saved and self._saved[-1]() is None:
                self._saved.pop()
            saved.index = len(self._saved)
            self._saved.append(weakref.ref(saved))
            self.offloaded_bytes += size
            (self._leave if tensor.is_cuda else self._copy)(saved, tensor, size)
        saved.uses += 1
        return saved

    def _host(self, tensor: torch.Tensor, size: int, pinned: bool) -> torch.Tensor:
        """Host memory with the layout of a tensor, if that is dense."""
        torch = self._torch
        made = _core.host_bytes(size, pinned)
        flat = torch.from_dlpack(made).view(tensor.dtype)
        dense = torch.empty_like(tensor, device="meta").stride() == tensor.stride()
        host = flat.as_strided(tensor.shape, tensor.stride()) if dense else flat.view(tensor.shape)
        host._headrace = made
        return host

    def _copy(self, saved: _Saved, tensor: torch.Tensor, size: int) -> None:
        host = self._host(tensor, size, pinned=False)
        host.copy_(tensor.detach())
        _core.seal(host._headrace)
        saved.host, saved.source = host, None

    def _stream(self, device: torch.device) -> torch.cuda.Stream:
        if device not in self._streams:
            self._streams[device] = self._torch.cuda.Stream(device)
        return self._streams[device]

    def _leave(self, saved: _Saved, tensor: torch.Tensor, size: int) -> None:
        cuda = self._torch.cuda
        try:
            saved.host = self._host(tensor, size, pinned=True)
        except OutOfMemoryError:  # pinned memory counts against the host's budget and never moves
            self._copy(saved, tensor, size)
            return
        stream = self._stream(tensor.device)
        stream.wait_stream(cuda.current_stream(tensor.device))
        with cuda.stream(stream):
            saved.host.copy_(tensor.detach(), non_blocking=True)
            saved.left = stream.record_event()
        self._leaving.append(saved)
        self._waiting_bytes += size
        self._finish_leaving(self._window)

    def _finish_leaving(self, window: int) -> None:
        """Free copied tensors, and wait until at most `window` bytes are queued."""
        while self._leaving:
            oldest = self._leaving[0]
            if not oldest.left.query():
                if self._waiting_bytes <= window:
                    break
                oldest.left.synchronize()
            self._leaving.popleft()
            self._waiting_bytes -= oldest.host.numel() * oldest.host.element_size()
            oldest.source = None

    # ---- the backward pass -----------------------------------------------------------------------
    def _unpack(self, saved: torch.Tensor | _Saved) -> torch.Tensor:
        if not isinstance(saved, _Saved):
            return saved
        if saved.device.type == "cpu":
            assert saved.host is not None
            return saved.host
        while self._coming and self._coming[0][0].query():
            self._coming.popleft()
        self._finish_leaving(self._window)
        tensor = self._fetch(saved)
        for ahead in range(saved.index - 1, max(saved.index - 1 - self._prefetch, -1), -1):
            if ahead < len(self._saved) and (next_one := self._saved[ahead]()) is not None:
                self._fetch(next_one)
        if saved.arrived is not None:
            self._torch.cuda.current_stream(saved.device).wait_event(saved.arrived)
        saved.uses -= 1
        if saved.uses <= 0:  # all users have it; a second pass fetches it again
            saved.there = saved.arrived = None
        return tensor

    def _fetch(self, saved: _Saved) -> torch.Tensor:
        """The tensor on its device, or in flight to it."""
        if saved.source is not None:
            return saved.source
        if saved.there is None:
            cuda, host = self._torch.cuda, saved.host
            # Allocated on the computing stream, which uses and frees it.
            saved.there = self._torch.empty_strided(
                saved.shape, host.stride(), dtype=saved.dtype, device=saved.device
            )
            stream = self._stream(saved.device)
            stream.wait_stream(cuda.current_stream(saved.device))
            with cuda.stream(stream):
                saved.there.copy_(host, non_blocking=True)
                saved.arrived = stream.record_event()
            self._coming.append((saved.arrived, host))
            self.fetched_bytes += host.numel() * host.element_size()
        return saved.there
