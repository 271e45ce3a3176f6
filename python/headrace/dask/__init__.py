# SPDX-License-Identifier: Apache-2.0
"""Frames of Headrace as partitions of Dask, on this machine's cores or on a cluster.

``dask.config.set({"dataframe.backend": "headrace"})`` makes `dask.dataframe` read into our frames;
`from_frame` makes a collection of one of ours. Partitions are `headrace.DataFrame`: a task builds a
plan, which runs at the end of the task. Needs ``headrace[dask]``.

>>> frame = hr.DataFrame({"k": ["a", "b", "a"], "x": [1, 2, 3]})
>>> rows = hr.dask.from_frame(frame, partitions=2)  # doctest: +SKIP
>>> rows.groupby("k").x.sum().compute().to_dict()  # doctest: +SKIP
{'a': 4, 'b': 2}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.facade import on_first_use

if TYPE_CHECKING:
    from headrace.dask.backend import HeadraceBackend as HeadraceBackend
    from headrace.dask.collections import DataFrame as DataFrame
    from headrace.dask.collections import Index as Index
    from headrace.dask.collections import Series as Series
    from headrace.dask.readers import from_frame as from_frame
    from headrace.dask.readers import read_csv as read_csv
    from headrace.dask.readers import read_json as read_json
    from headrace.dask.readers import read_parquet as read_parquet
    from headrace.dask.workers import Cluster as Cluster
    from headrace.dask.workers import cluster as cluster

__all__ = [
    "Cluster",
    "DataFrame",
    "HeadraceBackend",
    "Index",
    "Series",
    "cluster",
    "from_frame",
    "read_csv",
    "read_json",
    "read_parquet",
]

#: Modules, which import Dask, and the public names in them.
_MODULES = {
    "backend": "HeadraceBackend",
    "collections": "DataFrame Index Series",
    "readers": "from_frame read_csv read_json read_parquet",
    "workers": "Cluster cluster",
}
_find = on_first_use(__name__, _MODULES)


def __dir__() -> list[str]:
    """The public names."""
    return __all__


def __getattr__(name: str) -> Any:
    """Import a module on first use."""
    try:
        return _find(name)
    except ModuleNotFoundError as error:
        if error.name not in ("dask", "distributed"):
            raise
        raise ImportError(
            f"dask: Dask is not installed: package={error.name!r}; pip install headrace[dask]"
        ) from None
