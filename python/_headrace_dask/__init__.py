# SPDX-License-Identifier: Apache-2.0
"""What Dask imports when it is imported itself: registers Headrace's types without loading it.

Dask's dispatches look a type up by its top-level package first. So each one gets a function to call
at the first object of `headrace`: it imports the module of `headrace.dask` that registers the rest.
Workers learn the types in the same way.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

#: Modules of Dask and the dispatches in them that know our types.
DISPATCHES = {
    "dask.tokenize": "normalize_token",
    "dask.dataframe.dispatch": """
        make_meta_dispatch make_meta_obj meta_nonempty hash_object_dispatch group_split_dispatch
        get_parallel_type categorical_dtype_dispatch concat_dispatch tolist_dispatch
        is_categorical_dtype_dispatch union_categoricals_dispatch grouper_dispatch
        partd_encode_dispatch
        pyarrow_schema_dispatch from_pyarrow_table_dispatch to_pyarrow_table_dispatch
        to_pandas_dispatch
    """,
    "dask._dispatch": "get_collection_type",
    "dask.array.dispatch": "percentile_lookup",
    "distributed.protocol.serialize": "dask_serialize dask_deserialize",
}


def _load() -> None:
    importlib.import_module("headrace.dask.dispatch")


def _load_transport() -> None:
    importlib.import_module("headrace.dask.transport")


def _register(module: ModuleType) -> None:
    load = _load_transport if module.__name__.startswith("distributed") else _load
    for name in DISPATCHES[module.__name__].split():
        getattr(module, name).register_lazy("headrace", load)


class _AfterImport:
    """A finder on `sys.meta_path` that registers with a module of Dask once it has run."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in DISPATCHES:
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)  # type: ignore[arg-type]
        if spec is None or spec.loader is None:
            return None
        loader: Any = spec.loader
        run = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            run(module)
            _register(module)

        loader.exec_module = exec_module
        return spec


def register(sizeof: Any) -> None:
    """Be called by Dask, which has this as its entry point ``dask.sizeof``."""
    sizeof.register_lazy("headrace", _load)
    for name in DISPATCHES:
        if name in sys.modules:
            _register(sys.modules[name])
    if not any(isinstance(finder, _AfterImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterImport())  # type: ignore[arg-type]
