# SPDX-License-Identifier: Apache-2.0
"""What PyTorch saves for the backward pass leaves the GPU until it is needed."""

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
    """One tensor that was saved: where its bytes are."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.index = 0
        self.shape, self.dtype = tensor.shape, tensor.dtype
        self.device = tensor.device
        self.source: torch.Tensor | None = tensor.detach()  # until it was copied
        self.there: torch.Tensor | None = None  # what came back
        self.host: Any = None  # a tensor of the CPU
        self.storage: Any = None  # weak: tells whether the tensor was freed
        self.uses = 0  # saved so often
        self.left: Any = None  # events behind the copies
        self.arrived: Any = None

    def __del__(self) -> None:
        # What came back for nobody is not given away before the copy is done.
        if self.there is not None and self.arrived is not None:
            self.arrived.wait()


class offload_saved_tensors:  # noqa: N801
    """Keep what the backward pass needs in host memory inside of a ``with`` block.

    What PyTorch saves in the block on a GPU is copied to pinned memory of Headrace while the work
    goes on, and freed there once the copy is done; in the backward pass it comes back ahead of its
    use. So a batch fits whose activations do not. Values and gradients are the same. Tensors of
    the CPU are copied into memory that can leave for the disk under `hr.memory.limit`.

    Run the forward and the backward pass inside of the block, one block for each step or one for
    all of them.

    Parameters
    ----------
    keep : torch.nn.Module or iterable of torch.Tensor, optional
        Tensors that stay where they are: the model, whose parameters are saved too.
    prefetch : int
        How many tensors are on their way back ahead of the one in use; 0: each comes when it is
        asked for.
    least : int or str
        Smaller tensors stay.
    window : int or str
        How many bytes may wait for their copy before the forward pass waits too. What waits when
        the backward pass begins need not come back.

    Attributes
    ----------
    offloaded_bytes, fetched_bytes : int
        Copied to the host, and back.

    Examples
    --------
    >>> import headrace as hr
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
                f"offload_saved_tensors: prefetch is negative: prefetch={prefetch}; pass 0 or more"
            )
        tensors = [*keep.parameters(), *keep.buffers()] if hasattr(keep, "parameters") else keep
        self._keep = {tensor.untyped_storage().data_ptr() for tensor in tensors}
        self._prefetch, self._least, self._window = prefetch, bytes_of(least), bytes_of(window)
        # The graph holds what it saved; here in the order of the forward pass, and by what it is.
        self._saved: list[weakref.ref[_Saved]] = []
        self._known: weakref.WeakValueDictionary[Any, _Saved] = weakref.WeakValueDictionary()
        self._leaving: deque[_Saved] = deque()
        self._coming: deque[tuple[torch.cuda.Event, torch.Tensor]] = deque()  # copies in flight
        self._waiting_bytes = 0
        self._streams: dict[Any, torch.cuda.Stream] = {}
        self._hooks: Any = None
        self.offloaded_bytes = self.fetched_bytes = 0

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
        """Host memory of ours with the layout of a tensor, if that has no holes."""
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
        except OutOfMemoryError:  # pinned memory counts in the host's budget and never moves
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
        """Free what was copied, and wait until no more than a window waits."""
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
        if saved.uses <= 0:  # all that saved it have it; a second pass fetches it again
            saved.there = saved.arrived = None
        return tensor

    def _fetch(self, saved: _Saved) -> torch.Tensor:
        """Give the tensor on its device, or on its way there."""
        if saved.source is not None:
            return saved.source
        if saved.there is None:
            cuda, host = self._torch.cuda, saved.host
            # Of the computing stream's memory, since that uses and frees it.
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
