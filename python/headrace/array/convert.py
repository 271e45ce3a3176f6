# SPDX-License-Identifier: Apache-2.0
"""Arrays as other dtypes, and as the objects of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from headrace import _core
from headrace.dtypes import dtype_word
from headrace.lazy.handle import mark
from headrace.series.column import series_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

    from headrace.array.array import Array
    from headrace.series.series import Series

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
        return array
    mark("cast")
    converted: A = array._like(_core.elementwise("cast", [array._node], word))
    return converted


def as_index(array: Array) -> int:
    """The only element of an integer array, as an index."""
    if array.dtype.kind not in "iu":
        raise TypeError(f"only integer arrays can be used as an index: dtype={array.dtype.name}")
    return int(array.item())


def to_numpy(array: Array) -> np.ndarray[Any, Any]:
    """See `Array.to_numpy`."""
    import numpy as np

    return np.asarray(array._value())


def to_torch(array: Array) -> torch.Tensor:
    """See `Array.to_torch`."""
    import warnings

    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return torch.from_dlpack(array)


def to_series(array: Array, name: str | None = None) -> Series:
    """See `Array.to_series`."""
    mark("to_series")
    return series_of(_core.as_column(array._node), name)


def flags(array: Array) -> Flags:
    """See `Array.flags`."""
    view = array.to_numpy()
    return Flags(view.flags.c_contiguous, view.flags.f_contiguous, False)


def arrow_array(array: Array, requested_schema: Any) -> tuple[object, object]:
    """The array in Arrow's C interface."""
    column: _core.Column = array.to_series()._value()
    return column.__arrow_c_array__(requested_schema)


def arrow_device_array(array: Array, requested_schema: Any) -> tuple[object, object]:
    """The array in Arrow's C interface, on its device."""
    column: _core.Column = array.to_series()._value_there()
    return column.__arrow_c_device_array__(requested_schema)
