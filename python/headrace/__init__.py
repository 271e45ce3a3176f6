# SPDX-License-Identifier: Apache-2.0
"""Headrace: from the first byte of a file to the last tensor and plot through one memory.

>>> import headrace as hr
>>> hr.memory.ledger().total_bytes  # what was copied so far
0
"""

from headrace import errors as errors  # first: the engine's errors become these classes
from headrace import memory as memory
from headrace._core import version as __version__
from headrace.errors import (
    ColumnNotFoundError,
    DeviceError,
    Error,
    ExchangeError,
    InputError,
    InternalError,
    InvalidArgumentError,
    OutOfMemoryError,
    TypeMismatchError,
    UnsupportedError,
)
from headrace.memory import no_copies
from headrace.settings import device, fallbacks, info, strict, threads

__all__ = [
    "ColumnNotFoundError",
    "DeviceError",
    "Error",
    "ExchangeError",
    "InputError",
    "InternalError",
    "InvalidArgumentError",
    "OutOfMemoryError",
    "TypeMismatchError",
    "UnsupportedError",
    "__version__",
    "device",
    "errors",
    "fallbacks",
    "info",
    "memory",
    "no_copies",
    "strict",
    "threads",
]
