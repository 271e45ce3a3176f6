# SPDX-License-Identifier: Apache-2.0
"""The backend ``"headrace"`` of `dask.dataframe`."""

from __future__ import annotations

from typing import Any

from dask.dataframe.backends import DataFrameBackendEntrypoint
from dask.dataframe.dask_expr._collection import new_collection
from dask.dataframe.dask_expr._expr import ToBackend

from headrace.dask import readers
from headrace.frame.columns import is_frame, new_frame
from headrace.frame.construct import from_dict
from headrace.interop.exchange import from_pandas
from headrace.series.column import is_series


def _ours(value: Any) -> Any:
    """A partition as ours."""
    if is_frame(value) or is_series(value):
        return value
    if type(value).__module__.partition(".")[0] == "pandas":
        return from_pandas(value)
    return new_frame(value)


class ToHeadrace(ToBackend):  # type: ignore[misc]
    """Partitions of pandas or others, as ours."""

    @staticmethod
    def operation(df: Any, options: Any) -> Any:
        """Convert one partition."""
        return _ours(df)

    def _simplify_down(self) -> Any:
        if is_frame(self.frame._meta) or is_series(self.frame._meta):
            return self.frame
        return None


class HeadraceBackend(DataFrameBackendEntrypoint):  # type: ignore[misc]
    """What ``dask.config.set({"dataframe.backend": "headrace"})`` takes."""

    @staticmethod
    def from_dict(
        data: dict[str, Any],
        npartitions: int = 1,
        orient: str = "columns",
        dtype: Any = None,
        columns: Any = None,
        **options: Any,
    ) -> Any:
        """A collection of columns by name, or of rows by label."""
        frame = from_dict(data, orient, columns)
        frame = frame if dtype is None else frame.astype(dtype)
        return readers.from_frame(frame, partitions=npartitions)

    @staticmethod
    def read_csv(urlpath: Any, **options: Any) -> Any:
        """See `headrace.dask.read_csv`."""
        return readers.read_csv(urlpath, **options)

    @staticmethod
    def read_parquet(path: Any, **options: Any) -> Any:
        """See `headrace.dask.read_parquet`."""
        return readers.read_parquet(path, **options)

    @staticmethod
    def read_json(url_path: Any, **options: Any) -> Any:
        """See `headrace.dask.read_json`."""
        return readers.read_json(url_path, **options)

    @classmethod
    def to_backend(cls, data: Any, **options: Any) -> Any:
        """A collection with the rows of another backend."""
        return new_collection(ToHeadrace(data, options))
