# SPDX-License-Identifier: Apache-2.0
"""What to use for names of pandas, NumPy and SciPy that Headrace does not have."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

_FEW = 20
#: The public classes, by what errors call them.
FACADES: dict[str, type] = {}

#: Names, with the object before a dot where it matters, and what to use instead.
_WAYS = {
    # frames and series
    "hist": "use df.plot.hist(), or np.histogram(column)",
    "boxplot": "use df.plot.box()",
    "hr.plot.scatter": "use df.plot.scatter(), or hr.plot.points in a dashboard",
    "style": "use to_html(), or to_pandas().style",
    "ix": "use loc by label, iloc by position",
    "Series.append GroupBy.append": "use hr.concat([a, b])",
    "iteritems": "use items()",
    "applymap": "use map on the columns, or arithmetic on the frame",
    "lookup": "use melt, and merge on the labels",
    "mad": "use (x - x.mean()).abs().mean()",
    "slice_shift tshift": "use shift",
    "to_pickle to_hdf to_orc to_iceberg": "use to_parquet",
    "to_stata to_xarray to_xml to_clipboard to_gbq": "use to_pandas().{}(...)",
    "to_period": "use dt.to_period of a column of times",
    "to_timestamp": "use hr.to_datetime",
    "swapaxes": "use T",
    "Series.T Series.transpose": "leave it out: a column is its own transpose",
    "array": "use to_numpy()",
    "hr.array": "use hr.Series, or hr.asarray for numbers",
    "axes": "use index and columns",
    "asof": "use ffill() and loc, or merge_asof",
    "Series.update": "use fillna, combine_first or where",
    "Series.combine": "use arithmetic, where() or combine_first()",
    "isetitem": "use df[df.columns[i]] = values",
    "reindex_like": "use reindex(other.index)",
    "reorder_levels": "use swaplevel, or reset_index and set_index",
    "radd rsub rmul rdiv rtruediv rfloordiv rmod rpow": "write the operator: 1 - df",
    "divmod rdivmod": "use // and %",
    "select": "use loc, filter or select_dtypes",
    "sparse": "leave it out: columns are dense and flat",
    "set_flags flags": "leave it out",
    "attrs": "keep notes in a variable of your own",
    "bool": "use item()",
    "Series.swaplevel": "use reset_index and set_index",
    "Series.dtypes Array.dtypes": "use dtype",
    "Series.filter": "use loc with a list of labels, or a mask",
    "Series.pop": "use loc",
    "Series.memory_usage": "use nbytes",
    "Series.rename_axis Series.unstack Series.xs Series.droplevel": "set labels first: set_index",
    "Series.add_prefix Series.add_suffix": "use .index and string arithmetic",
    "Series.columns": "it is one column: use name, or to_frame()",
    "Series.join Series.merge": "use to_frame().{}, or map",
    "Series.split": "use .str.split()",
    "Series.iterrows Series.itertuples": "use items()",
    # groups and windows
    "GroupBy.ohlc": "use agg(open=('x', 'first'), high=('x', 'max'), low=('x', 'min'), ...)",
    "GroupBy.take": "use nth",
    "GroupBy.unique": "use drop_duplicates of keys and column",
    "GroupBy.corrwith": "use corr",
    "GroupBy.ndim GroupBy.dtype GroupBy.level GroupBy.keys": "ask the frame",
    "GroupBy.is_monotonic_increasing GroupBy.is_monotonic_decreasing": (
        "use apply(lambda column: column.{})"
    ),
    "GroupBy.plot GroupBy.hist GroupBy.boxplot": "aggregate first, then hr.plot or matplotlib",
    "GroupBy.sort_values": "sort the frame first: groups keep the order of rows",
    "GroupBy.reset_index": "aggregate first: groupby(...).sum().reset_index()",
    "GroupBy.to_frame": "aggregate first, or iterate over the groups",
    "Rolling.exclusions Rolling.ndim": "leave it out",
    # strings, times, categories
    "Series.str.index Series.str.rindex": "use find",
    "Series.str.isascii": "use str.fullmatch(r'[\\x00-\\x7f]*')",
    "Series.str.join": "use map: strings are joined by their lists, str.split().str.join(...)",
    "Series.str.format": "use string arithmetic: 'a ' + column",
    "Series.dt.timetz": "use strftime('%H:%M:%S')",
    "Series.dt.freq": "use diff()",
    "Series.dt.week Series.dt.weekofyear": "use isocalendar().week",
    # the package
    "DatetimeIndex": "use hr.to_datetime, hr.date_range",
    "TimedeltaIndex": "use hr.to_timedelta",
    "RangeIndex": "leave it out: rows are numbered without labels",
    "CategoricalIndex IntervalIndex PeriodIndex Float64Index Int64Index": "use a column of labels",
    "IndexSlice": "use xs, or a mask: df[df.k == 1]",
    "Interval IntervalDtype interval_range arrays": "use hr.cut, whose bins are categories",
    "Period PeriodDtype": "use dt.to_period of a column of times",
    "infer_freq": "use times.diff().value_counts()",
    "tseries": "use hr.offsets",
    "Int8Dtype Int16Dtype Int32Dtype Int64Dtype UInt8Dtype UInt16Dtype UInt32Dtype UInt64Dtype "
    "Float32Dtype Float64Dtype BooleanDtype StringDtype ArrowDtype SparseDtype": (
        "use the name of a dtype: 'int64', 'bool', 'string', 'datetime64[us, UTC]'"
    ),
    "ExcelFile": "use hr.read_excel(path, sheet_name=...)",
    "ExcelWriter": "use to_excel(path, sheet_name=...)",
    "HDFStore": "use to_parquet and hr.read_parquet",
    "lreshape": "use hr.wide_to_long",
    "from_dummies": "use idxmax(axis=1)",
    "read_html": "use hr.from_pandas(pandas.read_html(...)[0])",
    "read_clipboard read_hdf read_orc read_sas read_spss read_stata read_xml read_iceberg": (
        "use hr.from_pandas(pandas.{}(...))"
    ),
    "read_avro": "use hr.from_arrow(polars.read_avro(...))",
    "set_eng_float_format": "use hr.set_option('display.float_format', ...)",
    "describe_option": "use help(hr.set_option)",
    "show_versions": "use hr.info()",
    "col NamedFunc": "use a function of the frame: df.assign(y=lambda d: d.x * 2)",
    "plotting": "use hr.plot",
    "Flags": "leave it out",
    "lit": "use the value itself",
    "LazyFrame": "use hr.scan_csv or hr.scan_parquet: frames are lazy",
    # NumPy and SciPy
    "hr.ndarray": "use hr.Array",
    "hr.signal.convolve hr.signal.fftconvolve hr.signal.oaconvolve": "use hr.signal.fft_convolve",
    "numpy.convolve": "hr.signal.fft_convolve has it",
    "numpy.rfft numpy.irfft numpy.fft numpy.ifft": "hr.fft.{} has it",
    "numpy.percentile numpy.nanpercentile numpy.nanquantile": "quantile of a column has it",
    "numpy.nanmean numpy.nansum numpy.nanmin numpy.nanmax numpy.nanstd numpy.nanmedian": (
        "columns skip missing values: use column.mean(), column.sum(), ..."
    ),
    "numpy.unique": "hr.unique and column.value_counts() have it",
    "numpy.concatenate numpy.append": "hr.concat has it",
    "numpy.corrcoef": "column.corr has it",
    "numpy.digitize": "hr.cut has it",
    "numpy.bincount": "column.value_counts() has it",
}
WAYS_ROUND = {
    name: way.replace("{}", name.rpartition(".")[2])
    for names, way in _WAYS.items()
    for name in names.split()
}
#: Libraries that may have what a module or an array does not.
_LIBRARIES = {
    "hr": ("numpy", "use numpy.{}; hr.asarray takes its result"),
    "hr.fft": ("scipy.fft", "use scipy.fft.{}(x.to_numpy())"),
    "hr.signal": ("scipy.signal", "use scipy.signal.{}(x.to_numpy(), ...)"),
    "Array": ("numpy", "use numpy.{}(array)"),
}
#: Objects that may have it.
_ELSEWHERE = {
    "hr": "use hr.{}",
    "Series": "columns have it: df['x'].{}",
    "DataFrame": "frames have it: to_frame().{}",
    "Series.str": "use .str.{}",
    "Series.dt": "use .dt.{}",
    "Series.cat": "use .cat.{}",
}


def nearest(name: str, words: list[str]) -> str:
    """The most similar word; empty if none is near."""
    import difflib  # on first use: for errors

    near = difflib.get_close_matches(name.lower(), [word.lower() for word in words], 1, 0.72)
    return next((word for word in words if near and word.lower() == near[0]), "")


def _listed(what: str, name: str) -> str:
    return WAYS_ROUND.get(f"{what}.{name}") or WAYS_ROUND.get(name, "")


def _elsewhere(what: str, name: str, kind: Any) -> str:
    library, way = _LIBRARIES.get(what, ("", ""))
    if library:
        try:
            if hasattr(importlib.import_module(library), name):
                return way.format(name)
        except ImportError:  # it is not installed
            pass
    for word, way in _ELSEWHERE.items():
        other: Any = sys.modules["headrace"] if word == "hr" else FACADES.get(word)
        if word != what and kind is not other and name in dir(other):
            return way.format(name).replace("to_frame()", "df" if what == "hr" else "to_frame()")
    return ""


def known_way(what: str, name: str, kind: Any) -> str:
    """What to use for a name of pandas, NumPy or SciPy; empty if nothing is known."""
    return _listed(what, name) or _elsewhere(what, name, kind)


def way_round(what: str, name: str, columns: list[str], kind: Any) -> str:
    """What to do for a name that an object does not have, as errors say it; empty if unknown."""
    what = "hr" if what.startswith("module ") else {"groupby": "GroupBy"}.get(what, what)
    if way := known_way(what, name, kind):
        return way
    own = [*columns, *(word for word in dir(kind) if not word.startswith("_"))]
    if close := nearest(name, own):
        return f"did you mean {close!r}?"
    known = [
        word.rpartition(".")[2]
        for word in WAYS_ROUND
        if word.count(".") == 0 or word.startswith(f"{what}.")
    ]
    if close := nearest(name, known):
        return f"did you mean {close!r}? It is not here: {_listed(what, close)}"
    if isinstance(kind, ModuleType):
        columns = dir(kind) if len(dir(kind)) <= _FEW else []
        return f"there is {', '.join(columns)}" if columns else ""
    return f"the columns are {', '.join(columns)}" if columns else ""
