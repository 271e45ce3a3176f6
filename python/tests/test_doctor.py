# SPDX-License-Identifier: Apache-2.0
"""Each check of `hr.doctor` on machines that are as they should be, and on others."""

import json
import os
import re
import resource
import time
import tomllib
import types
from pathlib import Path

import pytest
from headrace.diagnostics import doctor as of_all
from headrace.diagnostics import libraries, machine
from headrace.diagnostics.check import Check
from headrace.diagnostics.command import main
from headrace.diagnostics.doctor import Diagnosis

import headrace as hr

GB = 10**9
ADD_ON = "headrace-cu13"
CPU_ONLY = "does not include CUDA"
NO_DRIVER = f"headrace ({ADD_ON} is installed, but there is no CUDA driver)"
TWO_VERSIONS = f"headrace ({ADD_ON} is version 1, but headrace is version 2)"


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the system's files say: a machine of 16 GB without containers and GPU."""
    said = {"/proc/meminfo": "MemTotal:  16000000 kB\nMemAvailable:  8000000 kB\n"}
    monkeypatch.setattr(machine, "contents", lambda path: said.get(path, ""))
    return said


def test_of_this_machine() -> None:
    found = hr.doctor()
    names = [each.name for each in found]
    assert names[:5] == ["engine", "processor", "GPU", "memory", "spill"]
    assert {"threads", "huge pages", "ulimit", "clock", "libraries"} <= set(names)
    assert all(each.fix or each.state == "ok" for each in found)
    assert len(repr(found).splitlines()) == len(found)
    assert not found.is_broken, found


def test_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main([]) == 0
    assert re.search(r"^ok +engine +\d", capsys.readouterr().out, re.M)
    assert main(["--json"]) == 0
    first = json.loads(capsys.readouterr().out)[0]
    assert (first["name"], first["state"]) == ("engine", "ok")
    monkeypatch.setattr(machine, "clock", lambda: Check("clock", "broken", "behind", "set it"))
    assert main([]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"broken +clock +behind; set it", lines[-1])


def test_an_engine_that_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other checks are still there."""

    def missing(name: str) -> None:
        raise ImportError("libheadrace.so: cannot open shared object file")

    monkeypatch.setattr(of_all, "import_module", missing)
    found = Diagnosis(of_all._checks())
    assert found[0].state == "broken" and "libheadrace.so" in found[0].found
    assert "reinstall" in found[0].fix and found.is_broken and len(found) > 4


@pytest.mark.parametrize(
    ("limit", "container", "state", "words"),
    [
        (4 * GB, None, "ok", "limit: 4.0 GB"),
        (None, None, "advice", "HEADRACE_MEMORY_LIMIT=12.2GB"),
        (17 * GB, None, "broken", "the system ends the process before"),
        (4 * GB, 2 * GB, "broken", "the container may use 2.0 GB"),
        (None, 2 * GB, "advice", "HEADRACE_MEMORY_LIMIT=1.5GB"),
        (GB, 2 * GB, "ok", "the container may use 2.0 GB"),
    ],
)
def test_memory(
    files: dict[str, str], limit: int | None, container: int | None, state: str, words: str
) -> None:
    found = machine.memory(limit, container or 16_000_000 * 1024)
    assert found.state == state and words in f"{found.found}; {found.fix}"


def test_spill(files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files["/proc/mounts"] = f"disk / ext4 rw\ntmpfs {tmp_path}/of\\040memory tmpfs rw"
    free = [99 * GB]
    usage = types.SimpleNamespace
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda _: usage(free=free[0]))
    assert machine.spill(str(tmp_path)).state == "ok"
    (tmp_path / "of memory").mkdir()
    assert "tmpfs" in machine.spill(str(tmp_path / "of memory")).found
    missing = machine.spill(str(tmp_path / "missing"))
    assert missing.state == "broken" and "HEADRACE_SPILL_DIRECTORY" in missing.fix
    free[0] = GB
    assert machine.spill(str(tmp_path)).state == "advice"


def test_threads(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in machine._OF_THREADS:
        monkeypatch.delenv(name, raising=False)
    assert [each.state for each in machine.threads(8, 8)] == ["ok"]
    (found,) = machine.threads(8, 3)
    assert found == ("threads", "advice", "8 threads for 3 processors", "set HEADRACE_THREADS=3")
    monkeypatch.setenv("OMP_NUM_THREADS", "64")
    files["/proc/self/maps"] = "7f r-xp /a/libgomp-a34b.so.1.0.0\n7f r-xp /b/libomp.so\n"
    found = list(machine.threads(2, 3))
    assert [each.state for each in found] == ["ok", "advice", "advice"]
    assert "OMP_NUM_THREADS=64" in found[1].found and "2 OpenMP libraries" in found[2].found


@pytest.mark.parametrize(
    ("engine", "why_not", "driver", "state", "words"),
    [
        (f"headrace ({ADD_ON} is not installed)", CPU_ONLY, False, "ok", "the CPU computes"),
        (
            f"headrace ({ADD_ON} is not installed)",
            CPU_ONLY,
            True,
            "advice",
            "pip install headrace-",
        ),
        (NO_DRIVER, CPU_ONLY, False, "advice", "install NVIDIA's driver"),
        (TWO_VERSIONS, CPU_ONLY, True, "broken", f"pip install {ADD_ON}==2"),
        ("headrace-cu13", "CUDA driver version is insufficient", True, "broken", "nvidia-smi"),
        ("headrace-cu13", "", True, "ok", "580.65.06"),
    ],
)
def test_gpu(
    files: dict[str, str], engine: str, why_not: str, driver: bool, state: str, words: str
) -> None:
    if driver:
        text = "NVRM version: NVIDIA UNIX Open Kernel Module  580.65.06  Release Build"
        files["/proc/driver/nvidia/version"] = text
    found = machine.gpu(engine, why_not, "2")
    assert found.state == state and words in f"{found.found}; {found.fix}"


def test_others(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    files["/sys/kernel/mm/transparent_hugepage/enabled"] = "always madvise [never]"
    assert machine.huge_pages().state == "advice"
    assert machine.processor("avx2").state == "ok"
    assert machine.processor("base").state == ("advice" if os.uname().machine == "x86_64" else "ok")
    free = resource.RLIM_INFINITY
    limits = dict.fromkeys(
        (resource.RLIMIT_NOFILE, resource.RLIMIT_AS, resource.RLIMIT_FSIZE), free
    )
    monkeypatch.setattr(resource, "getrlimit", lambda name: (limits[name], free))
    assert machine.process_limits().state == "ok"
    for name, words in (("FSIZE", "-f"), ("AS", "-v"), ("NOFILE", "-n")):
        limits[getattr(resource, f"RLIMIT_{name}")] = 256
        assert words in machine.process_limits().fix
    monkeypatch.setattr(time, "time", lambda: 3.0)
    assert machine.clock().state == "broken"


def test_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {"numpy": "1.24.1", "pandas": "2.3.0", "polars": "3.0", "numba": "0.68.9"}
    monkeypatch.setattr(libraries, "_installed", lambda name: installed.get(name, ""))
    found = {each.name: each for each in libraries.libraries()}
    assert {name: each.state for name, each in found.items()} == {
        "numpy": "broken", "pandas": "advice", "polars": "advice", "libraries": "ok",
    }  # fmt: skip
    assert "older" in found["pandas"].found and "newer" in found["polars"].found
    assert found["libraries"].found == "numba 0.68.9"
    installed["numpy"] = "1.26.4"
    assert "numpy 1.26.4" in list(libraries.libraries())[-1].found
    assert list(libraries.scipy_arrays()) == []


def test_tested_versions_are_those_of_the_tests() -> None:
    text = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text()
    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    pins = dict(pin.split("==") for of in ("torch", "run", "test") for pin in extras[of])
    assert {name: pins[name] for name in libraries.TESTED} == libraries.TESTED
