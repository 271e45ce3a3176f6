# SPDX-License-Identifier: Apache-2.0
"""`hr.cluster`: workers on this machine, or those of a scheduler, with one memory budget."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import secrets
from itertools import pairwise
from multiprocessing import forkserver
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import eval
from headrace.memory.budget import bytes_of
from headrace.memory.tables import size_text

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What the scheduler takes, and of a worker what is not in our budget: Python and its modules.
_SCHEDULER_BYTES = 100_000_000
_PYTHON_BYTES = 150_000_000
_LEAST_SHARE = 64_000_000
_MOST_WORKERS = 4

#: Dask neither spills our frames, which the engine does, nor ends a worker by its resident set,
#: which counts shared and file-backed pages.
_OWN_MEMORY = {
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
}
#: Of the process from which workers are forked: Dask's own, which it sets too late for that one.
#: Strings have the same hashes in all workers.
_ENVIRONMENT = {
    "MALLOC_TRIM_THRESHOLD_": "65536",
    "PYTHONHASHSEED": "6640",
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
}
#: What the web servers of the scheduler and of the workers answer without a dashboard: nothing.
_NO_PAGES: dict[str, list[str]] = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
_SETTINGS = {
    "dataframe.backend": "headrace",
    "dataframe.convert-string": False,
    "dataframe.shuffle.method": "tasks",
    "distributed.comm.compression": False,
    "distributed.comm.timeouts.connect": "10s",
    "distributed.comm.timeouts.tcp": "30s",
    # A lost worker is started again, however long that takes; without any, tasks raise.
    "distributed.deploy.lost-worker-timeout": "1h",
    "distributed.scheduler.no-workers-timeout": "45s",
    "distributed.scheduler.allowed-failures": 3,
    "distributed.worker.multiprocessing-method": "forkserver",
}


class Cluster:
    """Workers with frames of ours; see `headrace.cluster`."""

    def __init__(self, client: Any, owned: Any, words: str, settings: Any) -> None:
        #: The `distributed.Client`, for everything that Dask does.
        self.client = client
        self._owned = owned
        self._words = words
        self._settings = settings

    @property
    def dashboard_link(self) -> str | None:
        """The address of Dask's dashboard; None without one."""
        link = self.client.dashboard_link if self._owned is None else self._owned.dashboard_link
        return str(link) if link else None

    def scatter(self, frame: Any, partitions: int | None = None) -> Any:
        """A collection of the rows of a frame, kept by the workers.

        They cannot be computed again: if a worker that holds some is lost, computations with them
        raise.

        Parameters
        ----------
        frame : DataFrame or Series
            Evaluated.
        partitions : int, optional
            As in `headrace.dask.from_frame`; twice the number of workers.
        """
        import dask.dataframe as dd

        from headrace.dask.dispatch import make_meta
        from headrace.dask.readers import borders

        eval(frame)
        count = 2 * len(self.client.nthreads()) if partitions is None else partitions
        ends = borders(len(frame), count)
        parts = [frame.iloc[begin:end] for begin, end in pairwise(ends)]
        held = self.client.scatter(parts, direct=True, hash=False)
        return dd.from_delayed(held, meta=make_meta(frame), verify_meta=False)

    def read_csv(self, source: Any, **options: Any) -> Any:
        """See `headrace.dask.read_csv`."""
        from headrace.dask.readers import read_csv

        return read_csv(source, **options)

    def read_parquet(self, source: Any, **options: Any) -> Any:
        """See `headrace.dask.read_parquet`."""
        from headrace.dask.readers import read_parquet

        return read_parquet(source, **options)

    def map(self, function: Any, parts: Iterable[Any]) -> list[Any]:
        """What a function makes of each part, on the workers, in order."""
        made: list[Any] = self.client.gather(self.client.map(function, list(parts)))
        return made

    def close(self) -> None:
        """End the workers that this call started; a scheduler of others goes on."""
        if self._settings is None:
            return
        with contextlib.suppress(Exception):
            self.client.close(timeout=5)
        if self._owned is not None:
            with contextlib.suppress(TimeoutError):  # nannies kill what works on meanwhile
                self._owned.close(timeout=5)
        self._settings.__exit__(None, None, None)
        self._settings = None

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Cluster({self._words})"


def _available_memory() -> int:
    """60 % of the memory of this machine, or of its container."""
    return int(0.6 * _core.machine_memory())


def cluster(
    address: str | None = None,
    *,
    workers: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    dashboard: str | None = None,
    security: Any = None,
) -> Cluster:
    """Start workers on this machine, or connect to a scheduler.

    Collections of `dask.dataframe` then run there, with frames of Headrace as partitions, until the
    end of the ``with`` block or `close`.

    Parameters
    ----------
    address : str, optional
        Of a scheduler that runs already, of any kind of cluster. Nothing is started or ended then.
    workers : int, optional
        Processes; one for each core, at most 4.
    threads : int, optional
        Of the engine in each process; the cores are shared out.
    memory : int or str, optional
        One budget for all: the scheduler, this process and the workers, which get equal shares and
        spill to disk beyond them. 60 % of the memory of the machine.
    dashboard : str, optional
        Where Dask shows its dashboard: ``":8787"``. None needs no port.
    security : distributed.Security, optional
        TLS for workers on other hosts. Without it workers listen on this machine only, and to
        those who have the cluster's secret token.

    Raises
    ------
    hr.InvalidArgumentError
        If the budget is too small for the workers.

    >>> with hr.cluster(workers=1, memory="1GB") as workers:  # doctest: +SKIP
    ...     workers.scatter(hr.DataFrame({"x": [1, 2]})).x.sum().compute().item()
    3
    """
    if address is None:
        _start_fork_server()
    dask = _dask()
    settings = dask.config.set({**_SETTINGS, **_OWN_MEMORY, **({} if dashboard else _NO_PAGES)})
    settings.__enter__()
    try:
        if address is not None:
            return _attached(address, threads, security, settings)
        return _started(workers, threads, memory, dashboard, security, settings)
    except BaseException:
        settings.__exit__(None, None, None)
        raise


def _start_fork_server() -> None:
    """Start the process from which workers are forked, if none runs."""
    multiprocessing.set_forkserver_preload(["headrace.dask.fork_server"])
    own = {name: os.environ.get(name) for name in _ENVIRONMENT}
    os.environ.update({name: word for name, word in _ENVIRONMENT.items() if own[name] is None})
    try:
        forkserver.ensure_running()
    finally:
        for name, word in own.items():
            if word is None:
                del os.environ[name]


def _dask() -> Any:
    """Dask, with its workers: loaded when the first cluster starts."""
    try:
        import dask
        import dask.dataframe
        import distributed  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError(
            f"cluster: Dask is not installed: package={error.name!r}; pip install headrace[dask]"
        ) from None
    return dask


def _attached(address: str, threads: int | None, security: Any, settings: Any) -> Cluster:
    import distributed

    from headrace.dask.worker_setup import WorkerSetup

    client = distributed.Client(address, security=security, set_as_default=True)
    client.register_plugin(WorkerSetup(None, threads))
    return Cluster(client, None, f"{address}, {len(client.nthreads())} workers", settings)


def _started(
    workers: int | None,
    threads: int | None,
    memory: int | str | None,
    dashboard: str | None,
    security: Any,
    settings: Any,
) -> Cluster:
    import dask
    import distributed

    from headrace.dask import connections
    from headrace.dask.worker_setup import WorkerSetup

    cores = len(os.sched_getaffinity(0))
    count = min(_MOST_WORKERS, cores) if workers is None else workers
    if count < 1:
        raise InvalidArgumentError(f"cluster: expected at least one worker: workers={workers}")
    each = max(1, cores // count) if threads is None else threads
    budget = _available_memory() if memory is None else bytes_of(memory)
    held = _core.memory_statistics().used_bytes
    share = (budget - _SCHEDULER_BYTES - held) // count
    if share - _PYTHON_BYTES < _LEAST_SHARE:
        raise InvalidArgumentError(
            f"cluster: the budget is too small for the workers: memory={size_text(budget)}, "
            f"workers={count}, held here={size_text(held)}; a worker needs "
            f"{size_text(_PYTHON_BYTES + _LEAST_SHARE)}: pass fewer workers, or more memory"
        )
    if dask.config.get(connections.TOKEN, None) is None:
        dask.config.set({connections.TOKEN: secrets.token_hex(32)})
    owned = distributed.LocalCluster(
        n_workers=count,
        threads_per_worker=1,
        host="127.0.0.1" if security is None else None,
        protocol="headrace://" if security is None else None,
        security=security,
        dashboard_address=dashboard,
        scheduler_kwargs={} if dashboard else {"dashboard_address": "127.0.0.1:0"},
        memory_limit=share,
        plugins=[WorkerSetup(share - _PYTHON_BYTES, each)],
    )
    client = distributed.Client(owned, set_as_default=True)
    words = f"{count} workers of {each} threads, memory {size_text(budget)}"
    return Cluster(client, owned, words, settings)
