# SPDX-License-Identifier: Apache-2.0
"""Frames between workers: buffers go to the socket and come from it without a copy."""

from __future__ import annotations

import pickle
from typing import Any

from distributed.protocol.serialize import dask_deserialize, dask_serialize

from headrace.array.array import Array
from headrace.frame.dataframe import DataFrame
from headrace.series.series import Series


@dask_serialize.register((DataFrame, Series, Array))
def serialize(value: Any, context: Any = None) -> tuple[dict[str, Any], list[Any]]:
    """A header and the memory in place; evaluates.

    Dask receives the first buffer together with the header, at an address that no value may have.
    A buffer of one byte stands there, so that those of the columns get memory of their own.
    """
    buffers: list[pickle.PickleBuffer] = []
    header = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return {"pickled": header}, [bytearray(1), *(buffer.raw() for buffer in buffers)]


@dask_deserialize.register((DataFrame, Series, Array))
def deserialize(header: dict[str, Any], frames: list[Any]) -> Any:
    """The value over the memory that came; sizes, offsets and dtypes are checked."""
    return pickle.loads(header["pickled"], buffers=frames[1:])
