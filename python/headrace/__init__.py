# SPDX-License-Identifier: Apache-2.0
"""Headrace: a lazy data engine for frames, arrays and signals over one memory.

>>> import headrace as hr
>>> x = hr.asarray([3.0, 4.0])
>>> float((x * x).sum())
25.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace._first_use import make_package

if TYPE_CHECKING:
    from headrace import (
        api,
        array_api,
        dask,
        demo,
        errors,
        fft,
        graph,
        learn,
        linalg,
        memory,
        plot,
        random,
        report,
        signal,
        sklearn,
        sql,
        stream,
        testing,
        text,
        torch,
    )
    from headrace import tensor as tensor
    from headrace._core import version as __version__
    from headrace.array.array import Array
    from headrace.array.construct import asarray
    from headrace.array.create import (
        arange,
        empty,
        empty_like,
        eye,
        full,
        full_like,
        linspace,
        ones,
        ones_like,
        zeros,
        zeros_like,
    )
    from headrace.dask import cluster
    from headrace.diagnostics.doctor import doctor
    from headrace.display.options import (
        get_option,
        option_context,
        options,
        reset_option,
        set_option,
    )
    from headrace.errors import (
        ColumnNotFoundError,
        ConvergenceError,
        DeviceError,
        Error,
        ExchangeError,
        InputError,
        InternalError,
        InvalidArgumentError,
        OutOfBoundsError,
        OutOfMemoryError,
        TypeMismatchError,
        UnsupportedError,
    )
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
    from headrace.provenance.lineage import lineage, replay
    from headrace.provenance.policy import policy
    from headrace.reshape.asof import merge_asof, merge_ordered
    from headrace.reshape.pivot import crosstab, get_dummies, wide_to_long
    from headrace.series.index import Index, MultiIndex
    from headrace.series.parse_times import to_datetime, to_timedelta
    from headrace.series.series import Series
    from headrace.settings import advice, device, fallbacks, info, strict, threads
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
    "OutOfBoundsError",
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
    "empty",
    "empty_like",
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
    "lineage",
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
    "policy",
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
    "replay",
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
    "text",
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


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


#: Public modules, and modules with the names that they define; each is imported at its first use.
_ROOMS = """
    api array_api dask demo errors fft graph learn linalg memory plot random report signal sklearn
    sql stream tensor testing text times.offsets torch
"""
_HOMES = {
    "array.array": "Array",
    "array.construct": "asarray",
    "array.create": """
        arange empty empty_like eye full full_like linspace ones ones_like zeros zeros_like
    """,
    "dask": "cluster",
    "diagnostics.doctor": "doctor",
    "display.magics": "load_ipython_extension",
    "display.options": "get_option option_context options reset_option set_option",
    "errors": """
        ColumnNotFoundError ConvergenceError DeviceError Error ExchangeError InputError
        InternalError InvalidArgumentError OutOfBoundsError OutOfMemoryError TypeMismatchError
        UnsupportedError
    """,
    "frame.concat": "concat",
    "frame.dataframe": "DataFrame",
    "frame.merge": "merge",
    "frame.reshape": "cut factorize qcut",
    "frame.sort": "argsort sort",
    "groupby.resample": "Grouper",
    "groupby.rows": "NamedAgg",
    "interop.exchange": "from_arrow from_dlpack from_pandas",
    "interop.narwhals": "__narwhals_namespace__",
    "interop.pandas_functions": "isna isnull melt notna notnull pivot pivot_table unique",
    "interop.pandas_types": "Categorical CategoricalDtype DatetimeTZDtype NA",
    "interop.sharing": "SharedHandle attach share sharing",
    "interop.through_pandas": "json_normalize read_pickle read_sql read_sql_query read_sql_table",
    "interop.to_numeric": "to_numeric",
    "io.csv": "read_csv read_table scan_csv",
    "io.excel": "read_excel",
    "io.fixed_width": "read_fwf",
    "io.ipc": "read_feather read_ipc scan_ipc",
    "io.json": "read_json scan_json",
    "io.log": "read_log",
    "io.npy": "read_npy read_npz write_npz",
    "provenance.lineage": "lineage replay",
    "provenance.policy": "policy",
    "io.parquet": "read_parquet scan_parquet",
    "lazy.handle": "eval",
    "lazy.profile": "profile",
    "memory": "no_copies",
    "reshape.asof": "merge_asof merge_ordered",
    "reshape.pivot": "crosstab get_dummies wide_to_long",
    "series.index": "Index MultiIndex",
    "series.parse_times": "to_datetime to_timedelta",
    "series.series": "Series",
    "settings": "advice device fallbacks info strict threads",
    "times.offsets": "DateOffset",
    "times.ranges": "bdate_range date_range period_range timedelta_range",
    "times.scalars": "NaT Timedelta Timestamp",
}

make_package(__name__, _ROOMS, _HOMES)
