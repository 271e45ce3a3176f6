# SPDX-License-Identifier: Apache-2.0
"""Headrace: a lazy data engine for frames, arrays and signals over one memory.

>>> import headrace as hr
>>> x = hr.asarray([3.0, 4.0])
>>> float((x * x).sum())
25.0
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from headrace import engine as engine  # before anything that imports the binary module

# isort: split
from headrace import demo, fft, learn, memory, plot, signal
from headrace import errors as errors  # first, so that the engine's errors become these classes
from headrace._core import version as __version__
from headrace.array import Array, asarray
from headrace.concatenation import concat
from headrace.deferred import eval
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
from headrace.exchange import from_arrow, from_dlpack, from_pandas
from headrace.frame import DataFrame
from headrace.group_picks import NamedAgg
from headrace.io import read_csv, scan_csv
from headrace.joining import merge
from headrace.memory import no_copies
from headrace.pandas_functions import isna, isnull, melt, notna, notnull, pivot_table, unique
from headrace.parquet import read_parquet, scan_parquet
from headrace.profiling import profile
from headrace.reshaping import cut, factorize, qcut
from headrace.series import Series
from headrace.settings import (
    ModuleOfFunctions,
    advice,
    device,
    fallbacks,
    info,
    strict,
    threads,
)
from headrace.sharing import SharedHandle, attach, share, sharing
from headrace.sorting import argsort, sort
from headrace.text import to_numeric
from headrace.time_texts import to_datetime, to_timedelta

__all__ = [
    "Array",
    "ColumnNotFoundError",
    "DataFrame",
    "DeviceError",
    "Error",
    "ExchangeError",
    "InputError",
    "InternalError",
    "InvalidArgumentError",
    "NamedAgg",
    "OutOfMemoryError",
    "Series",
    "SharedHandle",
    "TypeMismatchError",
    "UnsupportedError",
    "__version__",
    "advice",
    "argsort",
    "asarray",
    "attach",
    "concat",
    "cut",
    "demo",
    "device",
    "errors",
    "eval",
    "factorize",
    "fallbacks",
    "fft",
    "from_arrow",
    "from_dlpack",
    "from_pandas",
    "info",
    "isna",
    "isnull",
    "learn",
    "melt",
    "memory",
    "merge",
    "no_copies",
    "notna",
    "notnull",
    "pivot_table",
    "plot",
    "profile",
    "qcut",
    "read_csv",
    "read_parquet",
    "report",
    "scan_csv",
    "scan_parquet",
    "share",
    "sharing",
    "signal",
    "sort",
    "strict",
    "threads",
    "to_datetime",
    "to_numeric",
    "to_timedelta",
    "unique",
]

sys.modules[__name__].__class__ = ModuleOfFunctions

if TYPE_CHECKING:
    from types import ModuleType

    from headrace import report as report


def __getattr__(name: str) -> ModuleType:
    """Import `hr.report` on first use: it loads much of the standard library."""
    if name != "report":
        raise AttributeError(f"module 'headrace' has no attribute {name!r}")
    import importlib

    return importlib.import_module("headrace.report")
