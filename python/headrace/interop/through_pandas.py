# SPDX-License-Identifier: Apache-2.0
"""Readers and writers of formats that the engine does not have yet, by pandas."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.interop.exchange import from_pandas
from headrace.settings import is_strict

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def pandas_module(op: str) -> Any:
    """The module; raises if it is not installed."""
    try:
        import pandas
    except ImportError:
        raise UnsupportedError(
            f"{op}: pandas is needed for this format: install pandas, or use to_csv or to_parquet"
        ) from None
    return pandas


def called(op: str, function: Callable[[], Any]) -> Any:
    """What a function of pandas gives, listed by `hr.fallbacks`; raises under `hr.strict`."""
    if is_strict():
        raise UnsupportedError(
            f"{op}: pandas does it, and hr.strict() is on; use read_csv, to_csv or Parquet with "
            "options of the engine, or switch strict mode off"
        )
    start = time.perf_counter()
    made = function()
    _core.record_fallback(op, "by pandas", time.perf_counter() - start)
    return made


def _as_ours(made: Any) -> Any:
    """A frame; a dictionary of frames by name, or an iterator of parts, as pandas gives them."""
    if isinstance(made, dict):
        return {name: from_pandas(each) for name, each in made.items()}
    return from_pandas(made) if hasattr(made, "index") else map(from_pandas, made)


def _reader(name: str) -> Callable[..., Any]:
    def read(*args: Any, **kwargs: Any) -> Any:
        pandas = pandas_module(name)
        return _as_ours(called(name, lambda: getattr(pandas, name)(*args, **kwargs)))

    read.__name__ = read.__qualname__ = name
    read.__doc__ = f"""Read by ``pandas.{name}``, which copies; `hr.fallbacks` lists it.

    Takes what pandas takes, and needs pandas; the result is one frame, or several where pandas
    gives several.
    """
    return read


read_json: Callable[..., Any] = _reader("read_json")
read_sql: Callable[..., Any] = _reader("read_sql")
read_sql_query: Callable[..., Any] = _reader("read_sql_query")
read_sql_table: Callable[..., Any] = _reader("read_sql_table")
json_normalize: Callable[..., Any] = _reader("json_normalize")


def read_pickle(*args: Any, **kwargs: Any) -> DataFrame:
    """Raise UnsupportedError: a pickle runs the code that is in it; use `read_parquet`."""
    raise UnsupportedError(
        "read_pickle: a pickle may run any code: use read_parquet, or hr.from_pandas of a file "
        "that you trust"
    )


def written(frame: DataFrame | Series, op: str, *args: Any, **kwargs: Any) -> Any:
    """What a writer of pandas gives for a frame or a series."""
    pandas_module(op)
    return called(op, lambda: getattr(frame.to_pandas(), op)(*args, **kwargs))
