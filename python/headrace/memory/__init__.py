# SPDX-License-Identifier: Apache-2.0
"""The one memory: its budget, its statistics, who holds it, and the ledger of copies."""

from headrace.memory.budget import Limit, Statistics, limit, stats, trim
from headrace.memory.leaks import Holder, LeakCheck, leak_check, leaks
from headrace.memory.ledger import Ledger, LedgerEntry, ledger, no_copies
from headrace.memory.log import Log, MemoryEvent, log, trace
from headrace.memory.report import report

__all__ = [
    "Holder",
    "LeakCheck",
    "Ledger",
    "LedgerEntry",
    "Limit",
    "Log",
    "MemoryEvent",
    "Statistics",
    "leak_check",
    "leaks",
    "ledger",
    "limit",
    "log",
    "no_copies",
    "report",
    "stats",
    "trace",
    "trim",
]
