# SPDX-License-Identifier: Apache-2.0
"""The cell magic of notebooks: ``%load_ext headrace.sql``, then ``%%sql``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.sql.context import PLANS, is_table, run

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame


def register_magic(shell: Any, registered: dict[str, Any]) -> None:
    """Give a shell the magic `sql` for lines and cells."""

    def sql(line: str, cell: str | None = None) -> DataFrame | None:
        """Run a query over the frames of the notebook; ``%%sql name`` keeps the result."""
        frames = {
            name: value
            for name, value in shell.user_ns.items()
            if not name.startswith("_") and is_table(value)
        }
        made = run(cell or line, frames, registered, "duckdb", None, False, PLANS)
        if cell is None or not line.strip():
            return made
        shell.user_ns[line.strip()] = made
        return None

    shell.register_magic_function(sql, "line_cell", "sql")
