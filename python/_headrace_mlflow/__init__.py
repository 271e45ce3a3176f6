# SPDX-License-Identifier: Apache-2.0
"""MLflow finds this by its entry points: `mlflow.data.from_headrace`, with lineage as the source.

MLflow looks at annotations when it registers, so they are no strings here.
"""

import hashlib
import json
from typing import Any

from mlflow.data.dataset import Dataset
from mlflow.data.dataset_source import DatasetSource
from mlflow.types import ColSpec, DataType, Schema

import headrace as hr

#: What MLflow takes of a source, in letters.
_MOST = 65_535
_TYPES = {
    "bool": DataType.boolean,
    "float32": DataType.float,
    "float64": DataType.double,
    "int64": DataType.long,
    "uint32": DataType.long,
    "date": DataType.datetime,
    **dict.fromkeys(("int8", "int16", "int32", "uint8", "uint16"), DataType.integer),
}


class LineageSource(DatasetSource):
    """A record of `hr.lineage`; `load` replays it."""

    def __init__(self, record: dict[str, Any]) -> None:
        why = f"MLflow takes {_MOST} letters of a record; keep it by mlflow.log_dict"
        self.record = dict(record)
        cut = {"plan": None, "columns": {}, "inputs": [], "names": [], "sources": []}
        for name, empty in cut.items():
            if len(json.dumps(self.record)) <= _MOST:
                break
            self.record |= {name: empty, "fingerprint": None, "why": why}

    @staticmethod
    def _get_source_type() -> str:
        return "headrace"

    def load(self) -> Any:
        """The values once more: see `hr.replay`."""
        return hr.replay(self.record)

    @staticmethod
    def _can_resolve(raw_source: Any) -> bool:
        return isinstance(raw_source, dict) and {"plan", "sources", "format"} <= set(raw_source)

    @classmethod
    def _resolve(cls, raw_source: Any) -> "LineageSource":
        return cls(raw_source)

    def to_dict(self) -> dict[str, Any]:
        """The record."""
        return dict(self.record)

    @classmethod
    def from_dict(cls, source_dict: dict[Any, Any]) -> "LineageSource":
        """Of a record."""
        return cls(source_dict)


class HeadraceDataset(Dataset):
    """A frame for `mlflow.log_input`: its digest follows the values, its schema the dtypes."""

    def __init__(
        self,
        df: hr.DataFrame,
        source: DatasetSource,
        targets: str | None = None,
        name: str | None = None,
        digest: str | None = None,
    ) -> None:
        if targets is not None and targets not in df.columns:
            raise hr.ColumnNotFoundError(
                f"from_headrace: unknown column: targets={targets!r}; the columns are "
                f"{list(df.columns)}"
            )
        self.df, self.targets = df, targets
        super().__init__(source=source, name=name, digest=digest)

    def _compute_digest(self) -> str:
        hashes = hr.lineage(self.df, hashes=True)["result"]
        return hashlib.sha256(json.dumps(hashes).encode()).hexdigest()[:8]

    @property
    def profile(self) -> dict[str, int]:
        """Rows, and elements of all columns."""
        rows, columns = self.df.shape
        return {"num_rows": rows, "num_elements": rows * columns}

    @property
    def schema(self) -> Schema:
        """The columns; integers of 64 bits without a sign, decimals and nested ones are strings."""

        def kind(dtype: str) -> DataType:
            known = DataType.datetime if dtype.startswith("datetime64") else DataType.string
            return _TYPES.get(dtype, known)

        dtypes = self.df.dtypes
        return Schema([ColSpec(kind(str(dtypes[name])), str(name)) for name in self.df.columns])

    def to_dict(self) -> dict[str, str]:
        """What MLflow keeps."""
        schema = json.dumps({"mlflow_colspec": self.schema.to_dict()})
        return {**super().to_dict(), "schema": schema, "profile": json.dumps(self.profile)}


def from_headrace(
    df: hr.DataFrame,
    source: str | DatasetSource | None = None,
    targets: str | None = None,
    name: str | None = None,
    digest: str | None = None,
) -> HeadraceDataset:
    """A dataset of MLflow over a frame; without `source` its lineage is the source."""
    if source is None:
        source = LineageSource(hr.lineage(df))
    elif not isinstance(source, DatasetSource):
        # Not above: this registry imports this module for `LineageSource`.
        from mlflow.data.dataset_source_registry import resolve_dataset_source

        source = resolve_dataset_source(source)
    return HeadraceDataset(df, source, targets, name, digest)
