# SPDX-License-Identifier: Apache-2.0
"""Arrays as other dtypes, and as the objects of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from headrace import _core
from headrace.dtypes import dtype_word
from headrace.lazy.handle import mark

if TYPE_CHECKING:
    import numpy.typing as npt
    import torch

    from headrace.array.array import Array

A = TypeVar("A", bound="Array")


class Flags(NamedTuple):
    """Layout flags of an array, as NumPy and XGBoost read them."""

    c_contiguous: bool
    f_contiguous: bool
    writeable: bool


def as_dtype(array: A, dtype: npt.DTypeLike) -> A:
    """See `Array.astype`."""
    word = dtype_word(dtype)
    if word == array._node.dtype:
        return array._like(array.copy()._node)
    mark("cast")
    if word.startswith("complex") or array._node.dtype.startswith("complex"):
        return array._like(_core.complex_cast(array._node, word))
    return array._like(_core.elementwise("cast", [array._node], word))


def as_index(array: Array) -> int:
    """The only element of an integer array, as an index."""
    if array.dtype.kind not in "iu":
        raise TypeError(f"only integer arrays can be used as an index: dtype={array.dtype.name}")
    return int(array.item())


def to_torch(array: Array) -> torch.Tensor:
    """See `Array.to_torch`."""
    import warnings

    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return torch.from_dlpack(array)
