# SPDX-License-Identifier: Apache-2.0
"""The process from which the workers of a cluster are forked: it imports what they need once.

It imports while the process that asked does, and a worker that was lost is there again at once.
Only that process imports this module.
"""

from __future__ import annotations

import gc
import resource

import dask.dataframe  # noqa: F401
import distributed.nanny
import distributed.shuffle
import distributed.worker  # noqa: F401

import headrace.dask.connections
import headrace.dask.readers
import headrace.dask.worker_setup  # noqa: F401

# Values in shared segments take descriptors: as many as the system allows.
_most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (_most, _most))
# Workers share the pages of what is loaded as long as they do not write to them.
gc.collect()
gc.freeze()
