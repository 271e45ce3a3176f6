# SPDX-License-Identifier: Apache-2.0
"""Headrace: a lazy data engine for frames, arrays and signals over one memory.

>>> import headrace as hr
>>> x = hr.asarray([3.0, 4.0])
>>> float((x * x).sum())
25.0
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if sys.argv[:2] == ["-m", "lint"] and sys.orig_argv[-len(sys.argv)] == "headrace":
    # Python imports the package before its __main__: a check of source code does not load the rest.
    from headrace.lint.command import main as _lint

    sys.exit(_lint(sys.argv[2:]))

from headrace import _loader as _loader  # before anything that imports the binary module

# isort: split
from headrace import errors as errors  # first, so that the engine's errors become these classes
from headrace import linalg, memory, signal
from headrace._core import version as __version__
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.array.create import (
    arange,
    eye,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from headrace.diagnostics.doctor import doctor
from headrace.display.options import get_option, option_context, options, reset_option, set_option
from headrace.errors import (
    ColumnNotFoundError,
    ConvergenceError,
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
from headrace.facade import name_functions
from headrace.frame.concat import concat
from headrace.frame.dataframe import DataFrame
from headrace.frame.merge import merge
from headrace.frame.reshape import cut, factorize, qcut
from headrace.frame.sort import argsort, sort
from headrace.groupby.resample import Grouper
from headrace.groupby.rows import NamedAgg
from headrace.interop.exchange import from_arrow, from_dlpack, from_pandas
from headrace.interop.narwhals import __narwhals_namespace__ as __narwhals_namespace__
from headrace.interop.pandas_functions import (
    isna,
    isnull,
    melt,
    notna,
    notnull,
    pivot,
    pivot_table,
    unique,
)
from headrace.interop.pandas_types import NA, Categorical, CategoricalDtype, DatetimeTZDtype
from headrace.interop.sharing import SharedHandle, attach, share, sharing
from headrace.interop.through_pandas import (
    json_normalize,
    read_pickle,
    read_sql,
    read_sql_query,
    read_sql_table,
)
from headrace.interop.to_numeric import to_numeric
from headrace.io.csv import read_csv, read_table, scan_csv
from headrace.io.excel import read_excel
from headrace.io.fixed_width import read_fwf
from headrace.io.ipc import read_feather, read_ipc, scan_ipc
from headrace.io.json import read_json, scan_json
from headrace.io.log import read_log
from headrace.io.npy import read_npy, read_npz, write_npz
from headrace.io.parquet import read_parquet, scan_parquet
from headrace.lazy.handle import eval
from headrace.lazy.profile import profile
from headrace.memory import no_copies
from headrace.progress import watch as _watch
from headrace.reshape.asof import merge_asof, merge_ordered
from headrace.reshape.pivot import crosstab, get_dummies, wide_to_long
from headrace.series.index import Index, MultiIndex
from headrace.series.parse_times import to_datetime, to_timedelta
from headrace.series.series import Series
from headrace.settings import ModuleOfFunctions, advice, device, fallbacks, info, strict, threads
from headrace.times import offsets
from headrace.times.offsets import DateOffset
from headrace.times.ranges import bdate_range, date_range, period_range, timedelta_range
from headrace.times.scalars import NaT, Timedelta, Timestamp

__all__ = [
    "NA",
    "Array",
    "Categorical",
    "CategoricalDtype",
    "ColumnNotFoundError",
    "ConvergenceError",
    "DataFrame",
    "DateOffset",
    "DatetimeTZDtype",
    "DeviceError",
    "Error",
    "ExchangeError",
    "Grouper",
    "Index",
    "InputError",
    "InternalError",
    "InvalidArgumentError",
    "MultiIndex",
    "NaT",
    "NamedAgg",
    "OutOfMemoryError",
    "Series",
    "SharedHandle",
    "Timedelta",
    "Timestamp",
    "TypeMismatchError",
    "UnsupportedError",
    "__version__",
    "advice",
    "api",
    "arange",
    "argsort",
    "array_api",
    "asarray",
    "attach",
    "bdate_range",
    "cluster",
    "concat",
    "crosstab",
    "cut",
    "dask",
    "date_range",
    "demo",
    "device",
    "doctor",
    "errors",
    "eval",
    "eye",
    "factorize",
    "fallbacks",
    "fft",
    "from_arrow",
    "from_dlpack",
    "from_pandas",
    "full",
    "full_like",
    "get_dummies",
    "get_option",
    "graph",
    "info",
    "isna",
    "isnull",
    "json_normalize",
    "learn",
    "linalg",
    "linspace",
    "melt",
    "memory",
    "merge",
    "merge_asof",
    "merge_ordered",
    "no_copies",
    "notna",
    "notnull",
    "offsets",
    "ones",
    "ones_like",
    "option_context",
    "options",
    "period_range",
    "pivot",
    "pivot_table",
    "plot",
    "profile",
    "qcut",
    "random",
    "read_csv",
    "read_excel",
    "read_feather",
    "read_fwf",
    "read_ipc",
    "read_json",
    "read_log",
    "read_npy",
    "read_npz",
    "read_parquet",
    "read_pickle",
    "read_sql",
    "read_sql_query",
    "read_sql_table",
    "read_table",
    "report",
    "reset_option",
    "scan_csv",
    "scan_ipc",
    "scan_json",
    "scan_parquet",
    "set_option",
    "share",
    "sharing",
    "signal",
    "sklearn",
    "sort",
    "sql",
    "stream",
    "strict",
    "testing",
    "threads",
    "timedelta_range",
    "to_datetime",
    "to_numeric",
    "to_timedelta",
    "torch",
    "unique",
    "wide_to_long",
    "write_npz",
    "zeros",
    "zeros_like",
]

name_functions(globals(), __all__)
_watch()
sys.modules[__name__].__class__ = ModuleOfFunctions

if TYPE_CHECKING:
    from headrace import api as api
    from headrace import array_api as array_api
    from headrace import dask as dask
    from headrace import demo as demo
    from headrace import fft as fft
    from headrace import graph as graph
    from headrace import learn as learn
    from headrace import plot as plot
    from headrace import random as random
    from headrace import report as report
    from headrace import sklearn as sklearn
    from headrace import sql as sql
    from headrace import stream as stream
    from headrace import tensor as tensor
    from headrace import testing as testing
    from headrace import torch as torch
    from headrace.dask.workers import cluster as cluster

#: Modules that are imported on first use.
_LATER = [
    *(
        "api",
        "array_api",
        "dask",
        "demo",
        "fft",
        "graph",
        "learn",
        "plot",
        "random",
        "report",
        "sklearn",
        "sql",
    ),
    *("stream", "tensor", "testing", "torch"),
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Import a module on first use, so that `import headrace` stays short."""
    if name not in _LATER and name != "cluster":
        from headrace.facade import no_attribute

        raise no_attribute("module 'headrace' has no attribute", name, (), sys.modules[__name__])
    import importlib

    if name == "cluster":
        return importlib.import_module("headrace.dask").cluster
    return importlib.import_module(f"headrace.{name}")
