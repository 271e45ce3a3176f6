# SPDX-License-Identifier: Apache-2.0
"""Magics of notebooks: ``%load_ext headrace``, then ``%%sql``, ``%%hrprofile`` and ``%memory``."""

from __future__ import annotations

from typing import Any

from headrace import sql
from headrace.lazy.profile import profile
from headrace.memory.budget import limit
from headrace.memory.report import report


def load_ipython_extension(shell: Any) -> None:
    """Give a shell the magics."""

    def hrprofile(line: str, cell: str | None = None) -> None:
        """Run code and show the steps that the engine took; ``%%hrprofile name`` keeps them."""
        with profile() as measured:
            done = shell.run_cell(line if cell is None else cell, store_history=False)
        if cell is not None and line.strip():
            shell.user_ns[line.strip()] = measured
        if done.success:
            _display(measured)

    def memory(line: str) -> None:
        """Show what memory holds; ``%memory 2GB`` sets the limit, ``%memory none`` removes it."""
        size = line.strip()
        if size:
            limit(None if size.lower() == "none" else size)
        _display(report())

    sql.load_ipython_extension(shell)
    shell.register_magic_function(hrprofile, "line_cell", "hrprofile")
    shell.register_magic_function(memory, "line", "memory")


def _display(value: Any) -> None:
    from IPython.display import display

    display(value)
