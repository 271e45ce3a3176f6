# SPDX-License-Identifier: Apache-2.0
"""`hr.asarray`: arrays over the memory of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import dtype_word
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import is_frame
from headrace.interop.exchange import tensor_from
from headrace.lazy.handle import array_of, is_array, mark
from headrace.series.column import is_series

if TYPE_CHECKING:
    import numpy.typing as npt

    from headrace.array.array import Array


def selector(key: Any) -> Array:
    """Positions or a mask as an array."""
    made = asarray(key)
    # A list without elements holds no positions, whatever dtype NumPy gives it.
    return made.astype("int64") if isinstance(key, list) and 0 in made.shape else made


def _integers(values: Any, word: str) -> Any:
    """Python numbers for a dtype of integers, whose bounds they are checked against."""
    import numpy as np

    if "int" not in word:
        return values
    try:
        # NumPy would parse text, which is not taken for numbers here.
        return np.asarray(values, word) if np.asarray(values).dtype.kind in "biufO" else values
    except OverflowError as error:
        raise OverflowError(f"asarray: {error}; use a dtype that holds it") from None
    except (TypeError, ValueError) as error:
        if "NaN" in str(error):
            raise InvalidArgumentError(f"asarray: {error}; use a dtype that holds it") from None
        return values  # refused with what does not fit


def asarray(values: Any, dtype: npt.DTypeLike | None = None) -> Array:
    """An array over `values`: the same memory where the source allows it, never a silent copy.

    Parameters
    ----------
    values : array_like
        A NumPy array, anything with `__dlpack__`, `__array_interface__`, the buffer protocol or
        Arrow's `__arrow_c_array__`; a Series without nulls; or Python numbers, which are built
        into an array.
    dtype : dtype, optional
        Converts if it differs, which the ledger records.

    Notes
    -----
    Operations on memory that its owner may still write run immediately, so that a later write
    changes no result: one pass over memory each, where a lazy chain makes a single one. Freeze the
    memory first (``n.flags.writeable = False``), or let `hr.Series` copy it.

    >>> import numpy as np
    >>> n = np.arange(3.0)
    >>> a = hr.asarray(n)
    >>> np.asarray(a).ctypes.data == n.ctypes.data
    True
    """
    mark("asarray")
    if is_array(values):
        result = values
    elif is_series(values):
        result = array_of(_core.as_tensor(values._node))
    elif is_frame(values):
        result = values.to_array()
    else:
        if dtype is not None and isinstance(values, int | list | tuple):
            values = _integers(values, dtype_word(dtype))
        tensor, live = tensor_from(values)
        result = array_of(_core.data(tensor, live=live))
    if dtype is None or dtype_word(dtype) == result._node.dtype:
        return result
    return result.astype(dtype)
