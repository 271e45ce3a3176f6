# SPDX-License-Identifier: Apache-2.0
"""A plan of ours as a source of Polars' lazy frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from headrace.batches import iter_batches
from headrace.frame.columns import frame_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame

#: Rows that Polars gets at once, unless it asks for another number.
_ROWS = 1 << 17


def to_polars_lazy(frame: DataFrame) -> Any:
    """See `DataFrame.to_polars_lazy`."""
    import polars
    from polars.io.plugins import register_io_source

    nodes = dict(frame._nodes)

    def batches(
        with_columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None
    ) -> Iterator[Any]:
        names = list(nodes) if with_columns is None else with_columns
        asked = frame_of({name: nodes[name] for name in names})
        asked = asked if n_rows is None else asked.head(n_rows)
        for batch in iter_batches(asked, batch_size or _ROWS):
            rows = polars.DataFrame(batch)
            yield rows if predicate is None else rows.filter(predicate)

    schema = polars.DataFrame(frame_of(nodes).head(0)).schema
    return register_io_source(batches, schema=schema, is_pure=True)
