# SPDX-License-Identifier: Apache-2.0
"""What a worker does before its first task."""

from __future__ import annotations

import signal
import threading
from typing import Any

import distributed

import headrace.dask.dispatch
import headrace.dask.transport  # noqa: F401
from headrace.memory.budget import limit
from headrace.settings import threads


class WorkerSetup(distributed.WorkerPlugin):  # type: ignore[misc]
    """Gives each worker its share of the budget and of the cores."""

    name = "headrace"

    def __init__(self, memory: int | None, cores: int | None) -> None:
        self.memory = memory
        self.cores = cores

    def setup(self, worker: Any) -> None:
        """Run in the worker before its first task."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asked
        if self.memory is not None:
            limit(self.memory)
        if self.cores is not None:
            threads(self.cores)
