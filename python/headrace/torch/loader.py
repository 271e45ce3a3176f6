# SPDX-License-Identifier: Apache-2.0
"""`hr.torch.Loader`: batches for training, one ahead of the step that uses them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.batches import BatchReader, RowOrder, check_batches, fit_in, rows_of_nodes
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.lazy.handle import array_of, mark
from headrace.series.column import series_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame


#: Of the memory limit: smaller features are put together as one matrix before the first batch.
_SHARE = 0.2
#: Rows, and their bytes, that are gathered at once: each call wakes threads and takes turns with
#: the step, so small batches share one.
_TOGETHER, _TOGETHER_BYTES = 1 << 16, 1 << 22


class Loader:
    """Batches of the rows of a frame as PyTorch's tensors: an `IterableDataset` of batches.

    The frame may be any plan, of a file too; it is evaluated once, before the first batch, and what
    exceeds the memory limit waits on the disk. Each epoch has each row once, in an order that is a
    function of seed and epoch alone: shuffled over all rows, the same for any number of threads and
    any memory limit. Batches are gathered by the engine's threads while the step before runs; there
    are no worker processes. Tensors are handed over without a copy.

    Parameters
    ----------
    frame : DataFrame
        Columns of numbers and bools; floats may be null, which becomes NaN.
    batch_size : int
        Rows per batch; the last one may be shorter.
    features : str or list of str, optional
        These columns as one contiguous matrix a batch, of their common dtype (bools: uint8); one
        name is a vector. By default a batch is a dictionary of all columns, each a vector.
    label : str, optional
        With `features`: a column that makes the batch a pair of features and label.
    shuffle : bool
        Whether the rows come in random order.
    seed : int
        Of the order.
    rank, world : int, optional
        Of how many processes this is which one; by default what `torch.distributed` says, if it
        runs. Each takes every `world`-th row of the same order. So that all have equally many
        batches, those that are a row short take one of the first again.
    prefetch : int
        How many batches are made ahead; 0 makes each when it is asked for.
    device : torch.device or str, optional
        Where the tensors go.
    pin : bool
        Whether tensors for a CUDA device go there through pinned memory, while the step runs.
    drop_last : bool
        Whether a last batch that is shorter is left out.

    Raises
    ------
    TypeMismatchError
        For columns of other than numbers, by name.
    InvalidArgumentError
        For a batch size or rank that cannot be.

    Notes
    -----
    ``len(loader)`` is the number of batches. A pass that ends is followed by the next epoch, one
    that is broken off by the same; `set_epoch` chooses one.
    `state_dict` and `load_state_dict` (torchdata's words) go on in the middle of an epoch with the
    batches that were not yielded yet. For a `torch.utils.data.DataLoader` pass ``batch_size=None``
    and no workers.

    >>> frame = hr.DataFrame({"x": [1.0, 2.0, 3.0], "y": [0, 1, 1]})
    >>> loader = hr.torch.Loader(  # doctest: +SKIP
    ...     frame, 2, features=["x"], label="y", shuffle=False
    ... )
    >>> [x.shape for x, y in loader]  # doctest: +SKIP
    [torch.Size([2, 1]), torch.Size([1, 1])]
    """

    def __new__(cls, *args: Any, **options: Any) -> Any:
        """An object that PyTorch takes for an `IterableDataset`; PyTorch is imported here."""
        return object.__new__(_dataset_class(cls))

    def __init__(
        self,
        frame: DataFrame,
        batch_size: int,
        *,
        features: str | Sequence[str] | None = None,
        label: str | None = None,
        shuffle: bool = True,
        seed: int = 0,
        rank: int | None = None,
        world: int | None = None,
        prefetch: int = 2,
        device: Any = None,
        pin: bool = True,
        drop_last: bool = False,
    ) -> None:
        rank, world = _ranks(rank, world)
        self._size = check_batches("Loader", "batch_size", batch_size, rank, world)
        if label is not None and features is None:
            raise InvalidArgumentError(
                f"Loader: a label without features: label={label!r}; pass features=, or take the "
                "column from the dictionary"
            )
        if prefetch < 0:
            raise InvalidArgumentError(f"Loader: expected 0 or more: prefetch={prefetch}")
        self._names = _names_of(frame, features)
        self._single = isinstance(features, str)
        self._matrix = features is not None
        columns = [*self._names, *([label] if label is not None else [])]
        self._nodes = [frame._nodes[frame._find(name)] for name in columns]
        _check_numbers(columns, self._nodes)
        self._label = label
        self._words = {"shuffle": shuffle, "seed": seed, "rank": rank, "world": world}
        self._prefetch, self._device, self._pin = prefetch, device, pin
        self._drop_last = drop_last
        self._epoch, self._first = 0, 0
        self._next: int | None = None
        self._rows: int | None = None
        #: Whether the first node is the matrix of all features: a row of it is in one place.
        self._is_whole = False

    def _order(self) -> RowOrder:
        if self._rows is None:
            mark("Loader")
            self._rows = rows_of_nodes(self._nodes)
            count = len(self._names)
            if self._matrix and not self._single and fit_in(self._nodes, _SHARE):
                self._nodes = [_matrix(self._nodes[:count]), *self._nodes[count:]]
                self._is_whole = True
        words: dict[str, Any] = self._words
        return RowOrder(self._rows, epoch=self._epoch, repeat=words["world"] > 1, **words)

    def __len__(self) -> int:
        rows = self._order().count
        return rows // self._size if self._drop_last else -(-rows // self._size)

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch of the next pass: all its batches, in that epoch's order."""
        self._epoch, self._first = int(epoch), 0

    def state_dict(self) -> dict[str, Any]:
        """Where the pass is: plain numbers for a checkpoint."""
        batch = self._first if self._next is None else self._next
        return {"epoch": self._epoch, "batch": batch, "seed": self._words["seed"]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Let the next pass go on where `state_dict` was taken."""
        if state["seed"] != self._words["seed"]:
            raise InvalidArgumentError(
                f"Loader: the state is of another order: seed={state['seed']!r}, "
                f"expected={self._words['seed']!r}; make the loader with that seed"
            )
        self._epoch, self._first, self._next = int(state["epoch"]), int(state["batch"]), None

    def __iter__(self) -> Iterator[Any]:
        _refuse_workers()
        order = self._order()
        last, first = len(self), self._first
        self._first = 0
        if first >= last:  # a state that was taken after the last batch
            first = 0
            self._epoch += bool(last)
            order = self._order()
        reader = BatchReader(self._nodes, order, gathers=self._is_whole) if last else None
        self._next = first
        for number, batch in enumerate(self._ahead(reader, order, first, last), first + 1):
            self._next = number
            if number == last:
                self._epoch, self._next = self._epoch + 1, None
            yield batch

    def _ahead(
        self, reader: BatchReader | None, order: RowOrder, first: int, last: int
    ) -> Iterator[Any]:
        """The batches, `prefetch` of them or more made before they are asked for."""
        step = self._together()
        parts = [(begin, min(begin + step, last)) for begin in range(first, last, step)]
        if not self._prefetch:
            for begin, end in parts:
                yield from map(self._placed, self._made(reader, order, begin, end))
            return
        most = -(-self._prefetch // step)
        waiting: deque[Future[Any]] = deque()
        with ThreadPoolExecutor(1, "headrace-loader") as pool:
            try:
                for begin, end in parts:
                    waiting.append(pool.submit(self._made, reader, order, begin, end))
                    if len(waiting) > most:
                        yield from map(self._placed, waiting.popleft().result())
                while waiting:
                    yield from map(self._placed, waiting.popleft().result())
            finally:
                for each in waiting:
                    each.cancel()

    def _together(self) -> int:
        """How many batches are gathered by one call, and are views of its rows."""
        import numpy as np

        row = sum(np.dtype(str(n.dtype)).itemsize * math.prod(n.shape[1:]) for n in self._nodes)
        return max(min(_TOGETHER_BYTES // row, _TOGETHER) // self._size, 1)

    def _made(self, reader: BatchReader | None, order: RowOrder, begin: int, end: int) -> Any:
        """Successive batches of tensors on the host."""
        assert reader is not None
        nodes = reader.batch(begin * self._size, min(end * self._size, order.count))
        if not self._matrix:
            columns = [_vector(node).split(self._size) for node in nodes]
            return [
                dict(zip(self._names, each, strict=True)) for each in zip(*columns, strict=True)
            ]
        label = nodes.pop() if self._label is not None else None
        if self._single:
            made = _vector(nodes[0])
        else:
            made = array_of(nodes[0] if self._is_whole else _matrix(nodes)).to_torch()
        batches = made.split(self._size)
        return (
            batches
            if label is None
            else list(zip(batches, _vector(label).split(self._size), strict=True))
        )

    def _placed(self, batch: Any) -> Any:
        """The batch on its device."""
        if self._device is None:
            return batch
        if isinstance(batch, tuple):
            return tuple(map(self._moved, batch))
        if isinstance(batch, dict):
            return {name: self._moved(tensor) for name, tensor in batch.items()}
        return self._moved(batch)

    def _moved(self, tensor: Any) -> Any:
        fast = self._pin and str(self._device).startswith("cuda")
        tensor = tensor.pin_memory() if fast else tensor
        return tensor.to(self._device, non_blocking=fast)


_classes: dict[type, type] = {}


def _dataset_class(cls: type) -> type:
    """The class as a subclass of PyTorch's `IterableDataset`, too."""
    if cls not in _classes:
        from torch.utils.data import IterableDataset

        words = {"__doc__": cls.__doc__, "__module__": cls.__module__, "__new__": object.__new__}
        made = type(cls.__name__, (cls, IterableDataset), {**words, "__qualname__": cls.__name__})
        _classes[cls] = made
    return _classes[cls]


def _ranks(rank: int | None, world: int | None) -> tuple[int, int]:
    """What is given, else what `torch.distributed` says."""
    if (rank is None) != (world is None):
        raise InvalidArgumentError(
            f"Loader: rank and world go together: rank={rank!r}, world={world!r}"
        )
    if rank is not None and world is not None:
        return rank, world
    from torch import distributed

    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return 0, 1


def _names_of(frame: DataFrame, features: str | Sequence[str] | None) -> list[Any]:
    if features is None:
        return list(frame._nodes)
    names = [features] if isinstance(features, str) else list(features)
    if not names:
        raise InvalidArgumentError("Loader: no features: features=[]; pass names of columns")
    return names


def _check_numbers(names: Sequence[Any], nodes: Sequence[_core.Node]) -> None:
    wrong = [n for n, node in zip(names, nodes, strict=True) if not _is_number(node)]
    if wrong:
        raise TypeMismatchError(
            f"Loader: expected columns of numbers: columns={wrong}; encode them first "
            "(hr.learn.OrdinalEncoder, cat.codes, astype), or select others with features="
        )


def _is_number(node: _core.Node) -> bool:
    return series_of(node).dtype.kind in "biuf"


def _vector(node: _core.Node) -> Any:
    """A column as a tensor; bools as bytes, null as NaN."""
    return array_of(_core.data(node.value().dense("Loader"))).to_torch()


def _matrix(nodes: Sequence[_core.Node]) -> _core.Node:
    """Columns as one row-major matrix of their common dtype, written once."""
    import numpy as np

    dtype = np.result_type(*{np.dtype(str(node.dtype)) for node in nodes}).name
    dtype = "uint8" if dtype == "bool" else dtype
    columns = list(nodes)
    if dtype != "float64":
        columns = [n if n.dtype == dtype else _core.astype(n, dtype) for n in nodes]
        _core.force(columns)
    made = _core.matrix_of(columns, dtype)
    if made is None:
        raise TypeMismatchError(
            f"Loader: whole numbers are null: dtype={dtype!r}; use fillna or dropna first"
        )
    return made


def _refuse_workers() -> None:
    from torch.utils.data import get_worker_info

    if get_worker_info() is not None:
        raise InvalidArgumentError(
            "Loader: worker processes would each read all rows: use num_workers=0; the engine's "
            "threads make the batches"
        )
