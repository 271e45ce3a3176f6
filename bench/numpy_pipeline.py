# SPDX-License-Identifier: Apache-2.0
"""Twenty array operations by one engine, repeatedly.

A separate program, since an allocator is chosen at process start.

`python bench/numpy_pipeline.py ENGINE VALUES live|drop` runs them once and prints what came out;
then it reads numbers from its input, runs them that many times, and prints seconds by the clock,
by all processors and in the kernel, and page faults, of one run, as a line of JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

OPERATIONS = 20


def numpy_run(values: int) -> tuple[Callable[[bool], Any], Callable[[Any], bytes]]:
    """NumPy, with its current allocator."""
    import numpy as np

    x = np.linspace(0.0, 1.0, values)
    return with_operators(x, np.add, np.multiply, np.subtract, np.absolute), lambda a: a.tobytes()


def with_operators(x: Any, *functions: Callable[..., Any]) -> Callable[[bool], Any]:
    """Four operations, five times; each creates a new array."""
    add, multiply, subtract, absolute = functions

    def work(live: bool) -> Any:
        kept = []
        a = x
        for _ in range(OPERATIONS // 4):
            a = add(a, x)
            kept.append(a)
            a = multiply(a, 0.5)
            kept.append(a)
            a = subtract(a, x)
            kept.append(a)
            a = absolute(a)
            kept.append(a)
            if not live:
                kept.clear()
        return a

    return work


def headrace_run(values: int) -> tuple[Callable[[bool], Any], Callable[[Any], bytes]]:
    """NumPy on Headrace memory."""
    import headrace as hr

    hr.memory.use_for("numpy")
    return numpy_run(values)


def pyarrow_run(pool: str, values: int) -> tuple[Callable[[bool], Any], Callable[[Any], bytes]]:
    """Use pyarrow's functions, with one of its pools."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    pools = {
        "mimalloc": pa.mimalloc_memory_pool,
        "system": pa.system_memory_pool,
        "jemalloc": pa.jemalloc_memory_pool,
    }
    pa.set_memory_pool(pools[pool]())
    pa.set_cpu_count(1)
    x = pa.array(np.linspace(0.0, 1.0, values))
    return (
        with_operators(x, pc.add, pc.multiply, pc.subtract, pc.abs),
        lambda a: a.to_numpy().tobytes(),
    )


def polars_run(values: int) -> tuple[Callable[[bool], Any], Callable[[Any], bytes]]:
    """Polars, eager: a series for each operation."""
    import operator

    import numpy as np
    import polars as pl

    x = pl.Series(np.linspace(0.0, 1.0, values))
    return (
        with_operators(x, operator.add, operator.mul, operator.sub, operator.abs),
        lambda a: a.to_numpy().tobytes(),
    )


def main() -> None:
    """Serve the numbers on standard input until it ends."""
    import hashlib

    engine, values, live = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "live"
    if engine.startswith("pyarrow"):
        work, read = pyarrow_run(engine.split()[1], values)
    else:
        work, read = {"headrace": headrace_run, "polars": polars_run}.get(engine, numpy_run)(values)
    print(hashlib.sha256(read(work(live))).hexdigest(), flush=True)
    for line in sys.stdin:
        calls = int(line)
        usage, cpu, begin = (
            resource.getrusage(resource.RUSAGE_SELF),
            time.process_time(),
            time.perf_counter(),
        )
        for _ in range(calls):
            work(live)
        seconds, busy = time.perf_counter() - begin, time.process_time() - cpu
        after = resource.getrusage(resource.RUSAGE_SELF)
        faults = after.ru_minflt - usage.ru_minflt
        kernel = after.ru_stime - usage.ru_stime
        print(json.dumps([value / calls for value in (seconds, busy, kernel, faults)]), flush=True)


if __name__ == "__main__":
    main()
