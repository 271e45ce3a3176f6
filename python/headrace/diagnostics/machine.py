# SPDX-License-Identifier: Apache-2.0
"""Checks of the machine: memory, spill directory, processors, limits of the process, clock, GPU."""

from __future__ import annotations

import os
import re
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from headrace.diagnostics.check import Check, contents, gigabytes

_DAY = 86_400
_LEAST_FILES = 1024
_OF_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
_OPENMP = re.compile(r"/(lib(?:gomp|iomp5|omp)[-.][^/\s]*so[^/\s]*)")


def _of_memory(name: str) -> int:
    match = re.search(rf"^{name}:\s+(\d+) kB", contents("/proc/meminfo"), re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


def memory(limit: int | None, most: int) -> Check:
    """Memory of the machine, what its container may use of it, and Headrace's limit."""
    total, free = _of_memory("MemTotal"), _of_memory("MemAvailable")
    found = f"{gigabytes(total)}, {gigabytes(free)} available"
    if most < total:
        found += f", of which the container may use {gigabytes(most)}"
    found += f"; limit: {gigabytes(limit) if limit else 'none'}"
    share = max(most * 3 // 4 // 10**8 / 10, 0.1)
    fix = f"set HEADRACE_MEMORY_LIMIT={share:g}GB or call hr.memory.limit('{share:g}GB')"
    if limit and limit > most:
        return Check("memory", "broken", f"{found}: the system ends the process before", fix)
    if not limit:
        return Check("memory", "advice", f"{found}: nothing is spilled to disk", fix)
    return Check("memory", "ok", found)


def _file_system(directory: str) -> str:
    """The type of the file system that holds a directory."""
    path, best, kind = os.path.realpath(directory), -1, ""
    for line in contents("/proc/mounts").splitlines():
        _, mount, of = line.split()[:3]
        mount = mount.replace("\\040", " ")
        if len(mount) >= best and (path + "/").startswith(mount.rstrip("/") + "/"):
            best, kind = len(mount), of
    return kind


def spill(directory: str) -> Check:
    """Whether spilled bytes can be written, and where they are."""
    fix = "set HEADRACE_SPILL_DIRECTORY to a directory on a disk, such as /var/tmp"
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(b"spilled")
        free = shutil.disk_usage(directory).free
    except OSError as error:
        return Check("spill", "broken", f"{directory}: {error.strerror}", fix)
    found = f"{directory}: {gigabytes(free)} free"
    kind = _file_system(directory)
    if kind in ("tmpfs", "ramfs"):
        return Check("spill", "advice", f"{found}, but it is memory itself ({kind})", fix)
    if free < _of_memory("MemTotal"):
        return Check("spill", "advice", f"{found}, less than there is memory", fix)
    return Check("spill", "ok", found)


def threads(count: int, cores: int) -> Iterator[Check]:
    """Worker threads against processors, those of other libraries too."""
    found = f"{count} threads for {cores} processors"
    if count > cores:
        yield Check("threads", "advice", found, f"set HEADRACE_THREADS={cores}")
    else:
        yield Check("threads", "ok", found)
    for name in _OF_THREADS:
        value = os.environ.get(name, "")
        if value.isdigit() and int(value) > cores:
            more = f"{name}={value} for {cores} processors"
            yield Check("threads", "advice", more, f"set {name}={cores}")
    pools = sorted(set(_OPENMP.findall(contents("/proc/self/maps"))))
    kinds = {re.split(r"[-.]", pool)[0] for pool in pools}
    if len(kinds) > 1:
        fix = "take these libraries from one source: all from PyPI, or all from conda"
        found = f"{len(kinds)} OpenMP libraries in one process: {', '.join(pools)}"
        yield Check("threads", "advice", found, fix)


def processor(simd: str) -> Check:
    """The instructions that the engine uses."""
    match = re.search(r"^model name\s*:\s*(.+)$", contents("/proc/cpuinfo"), re.MULTILINE)
    model = match[1] if match else os.uname().machine
    library = os.confstr("CS_GNU_LIBC_VERSION") if "CS_GNU_LIBC_VERSION" in os.confstr_names else ""
    found = f"{model}, {simd}, {library or 'a C library other than glibc'}"
    if os.uname().machine == "x86_64" and not simd.startswith("avx"):
        return Check(
            "processor", "advice", found, "use a machine with AVX2: it is several times faster"
        )
    return Check("processor", "ok", found)


def huge_pages() -> Check:
    """Whether large blocks can have large pages."""
    text = contents("/sys/kernel/mm/transparent_hugepage/enabled")
    match = re.search(r"\[(\w+)\]", text)
    if match and match[1] == "never":
        fix = "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
        return Check("huge pages", "advice", "switched off", fix)
    return Check("huge pages", "ok", match[1] if match else "not known")


def process_limits() -> Check:
    """Limits of `ulimit` that hinder."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    space, _ = resource.getrlimit(resource.RLIMIT_AS)
    size, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if files != resource.RLIM_INFINITY and files < _LEAST_FILES:
        return Check("ulimit", "advice", f"{files} open files", "ulimit -n 4096")
    if space != resource.RLIM_INFINITY:
        fix = "ulimit -v unlimited, and hr.memory.limit() in its place"
        return Check("ulimit", "advice", f"addresses up to {gigabytes(space)}", fix)
    if size != resource.RLIM_INFINITY:
        found = f"files up to {gigabytes(size)}, also those of spilled bytes"
        return Check("ulimit", "advice", found, "ulimit -f unlimited")
    return Check("ulimit", "ok", f"{files} open files" if files > 0 else "none")


def clock() -> Check:
    """Whether the clock is behind the files: sources that change are known by their times."""
    now, installed = time.time(), Path(__file__).stat().st_mtime
    if now < installed - _DAY:
        found = f"{time.strftime('%Y-%m-%d', time.gmtime(now))}, before Headrace was installed"
        return Check("clock", "broken", found, "set the system's date")
    return Check("clock", "ok", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(now)))


def gpu(engine: str, why_not: str, version: str) -> Check:
    """Whether a GPU that is there is used."""
    text = contents("/proc/driver/nvidia/version")
    driver = re.search(r"\b(\d{3,}\.[\d.]+)", text)
    has_add_on = "headrace-cu13 is" not in engine or "is installed" in engine
    if not driver and not text:
        if engine.startswith("headrace-cu13") or (has_add_on and "no CUDA driver" in engine):
            fix = "install NVIDIA's driver, or pip uninstall headrace-cu13"
            return Check("GPU", "advice", "headrace-cu13 is installed, but not a driver", fix)
        return Check("GPU", "ok", "no NVIDIA driver: the CPU computes")
    found = f"driver {driver[1] if driver else 'of unknown version'}"
    if "but headrace is version" in engine:
        fix = f"pip install headrace-cu13=={version}"
        return Check("GPU", "broken", f"{found}; {engine.partition('(')[2].rstrip(')')}", fix)
    if "is not installed" in engine and "does not include CUDA" in why_not:
        return Check("GPU", "advice", f"{found}, not used", "pip install headrace-cu13")
    if why_not:
        return Check("GPU", "broken", f"{found}; {why_not}", "run nvidia-smi; update the driver")
    return Check("GPU", "ok", f"{found}, used after hr.device('cuda') or hr.device('auto')")
