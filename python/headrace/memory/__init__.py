# SPDX-License-Identifier: Apache-2.0
"""Memory: budget, statistics, holders, and the ledger of copies."""

import sys

from headrace._first_use import ModuleOfFunctions
from headrace.memory.adaptors import (
    AlignAdaptor,
    DelayAdaptor,
    FaultAdaptor,
    LimitAdaptor,
    LiveBlock,
    LogAdaptor,
    PressureAdaptor,
    RateLimitAdaptor,
    ResourceStatistics,
    StatisticsAdaptor,
    TrackAdaptor,
)
from headrace.memory.budget import Limit, Statistics, limit, stats, trim
from headrace.memory.external import UseFor, alloc_v1, use_for
from headrace.memory.leaks import Holder, Holders, LeakCheck, leak_check, leaks
from headrace.memory.ledger import Ledger, LedgerEntry, ledger, no_copies
from headrace.memory.log import Log, MemoryEvent, log, trace
from headrace.memory.managed import advise, managed_resource, prefetch
from headrace.memory.offload import offload_saved_tensors
from headrace.memory.replay import Replayed, replay
from headrace.memory.report import MemoryReport, Peak, Share, Tier, report
from headrace.memory.resources import (
    BinningResource,
    CallbackResource,
    FixedSizeResource,
    PoolResource,
    Resource,
    current_resource,
    set_current_resource,
    system_resource,
    use_resource,
)
from headrace.memory.spill import DeviceSpill, Spill, spill
from headrace.memory.timeline import Area, Timeline, timeline
from headrace.memory.track import Track, track

__all__ = [
    "AlignAdaptor",
    "Area",
    "BinningResource",
    "CallbackResource",
    "DelayAdaptor",
    "DeviceSpill",
    "FaultAdaptor",
    "FixedSizeResource",
    "Holder",
    "Holders",
    "LeakCheck",
    "Ledger",
    "LedgerEntry",
    "Limit",
    "LimitAdaptor",
    "LiveBlock",
    "Log",
    "LogAdaptor",
    "MemoryEvent",
    "MemoryReport",
    "Peak",
    "PoolResource",
    "PressureAdaptor",
    "RateLimitAdaptor",
    "Replayed",
    "Resource",
    "ResourceStatistics",
    "Share",
    "Spill",
    "Statistics",
    "StatisticsAdaptor",
    "Tier",
    "Timeline",
    "Track",
    "TrackAdaptor",
    "UseFor",
    "advise",
    "alloc_v1",
    "current_resource",
    "leak_check",
    "leaks",
    "ledger",
    "limit",
    "log",
    "managed_resource",
    "no_copies",
    "offload_saved_tensors",
    "prefetch",
    "replay",
    "report",
    "set_current_resource",
    "spill",
    "stats",
    "system_resource",
    "timeline",
    "trace",
    "track",
    "trim",
    "use_for",
    "use_resource",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


sys.modules[__name__].__class__ = ModuleOfFunctions
