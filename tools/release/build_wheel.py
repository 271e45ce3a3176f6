#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel for any Linux with glibc 2.28 or later, for this machine or for aarch64.

Debian's compiler links against stubs of an older glibc and libstdc++ (`make_stubs.py`). RE2 is
compiled from Debian's source, as Debian's library needs Debian's glibc; the other libraries are
archives that go inside. auditwheel and abi3audit judge the result.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from make_stubs import make_stubs

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/release"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
LIBRARIES = ("libbrotli-dev", "libfast-float-dev", "libhwy-dev", "liblzma-dev", "libzstd-dev",
             "zlib1g-dev", "libpython3.11-dev")  # fmt: skip
#: Debian's name of each machine that wheels are built for.
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def run(*words: str | Path, cwd: Path = ROOT, **environment: str) -> None:
    """Run a program; a failure ends this one."""
    print("$", shlex.join(map(str, words)), flush=True)
    subprocess.run(words, cwd=cwd, env={**os.environ, **environment}, check=True)


class Packages:
    """Debian's packages of any architecture, without installing them and without root."""

    def __init__(self, architecture: str) -> None:
        self.folder = FOLDER / f"debian-{architecture}"
        for each in ("lists/partial", "cache/archives/partial"):
            (self.folder / each).mkdir(parents=True, exist_ok=True)
        (self.folder / "status").touch()
        places = f"[signed-by={KEYRING}] http://deb.debian.org/debian bookworm main\n"
        (self.folder / "sources.list").write_text(f"deb {places}deb-src {places}")
        settings = {
            "APT::Architecture": architecture,
            "APT::Architectures": architecture,
            "APT::Sandbox::User": "",
            "Dir::State::Lists": self.folder / "lists",
            "Dir::State::status": self.folder / "status",
            "Dir::Cache": self.folder / "cache",
            "Dir::Etc::sourcelist": self.folder / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
        }
        self.apt = ("apt-get", "-q", *(f"-o{name}={value}" for name, value in settings.items()))
        run(*self.apt, "update")

    def unpack(self, folder: str, *names: str) -> Path:
        """Unpack packages into a folder; the path of that."""
        root = self.folder / folder
        if not root.exists():
            half = self.folder / "half"
            shutil.rmtree(half, ignore_errors=True)
            half.mkdir()
            run(*self.apt, "download", *names, cwd=half)
            for package in half.glob("*.deb"):
                run("dpkg-deb", "-x", package, half)
            half.rename(root)
        return root

    def source(self, name: str) -> Path:
        """The unpacked source of a package, with Debian's patches."""
        folder = self.folder / name
        if not folder.exists():
            for old in self.folder.glob(f"{name}_*.dsc"):
                old.unlink()
            run(*self.apt, "source", "--download-only", name, cwd=self.folder)
            (description,) = self.folder.glob(f"{name}_*.dsc")
            half = self.folder / "half-source"
            shutil.rmtree(half, ignore_errors=True)
            run("dpkg-source", "-x", description, half)
            half.rename(folder)
        return folder


def source_of_re2(packages: Packages) -> Path:
    """RE2's source with its tables, which Debian makes from its own Unicode data."""
    folder = packages.source("re2")
    tables = ("unicode_casefold", "unicode_groups", "perl_groups")
    system = {"PATH": "/usr/bin:/bin"}  # Debian's Python has six
    run("make", "REBUILD_TABLES=1", *(f"re2/{each}.cc" for each in tables), cwd=folder, **system)
    return folder


def build(machine: str, out: Path) -> Path:
    """Build the wheel of a machine, judge it, and return its path."""
    native = machine == os.uname().machine
    compiler = "g++" if native else f"{machine}-linux-gnu-g++"
    packages = Packages(MACHINES[machine])
    stubs = FOLDER / f"stubs-{machine}"
    make_stubs(compiler, stubs)
    defines = {"HEADRACE_STUBS": stubs, "HEADRACE_RE2_SOURCE": source_of_re2(packages)}
    if not native:
        root = packages.unpack("root", *LIBRARIES)
        headers = root / "usr/include"
        defines |= {
            "CMAKE_SYSTEM_NAME": "Linux",
            "CMAKE_SYSTEM_PROCESSOR": machine,
            "CMAKE_LIBRARY_ARCHITECTURE": f"{machine}-linux-gnu",
            "CMAKE_CXX_COMPILER": compiler,
            "CMAKE_FIND_ROOT_PATH": root,
            "CMAKE_FIND_ROOT_PATH_MODE_INCLUDE": "ONLY",
            "CMAKE_FIND_ROOT_PATH_MODE_LIBRARY": "ONLY",
            "Python_INCLUDE_DIR": headers / "python3.11",
            "CMAKE_CXX_FLAGS": f"-isystem {headers}",
        }
    words = [f"-Ccmake.define.{name}={value}" for name, value in defines.items()]
    # CMake remembers settings: those of this build are not for the plain wheel. As deep as other
    # builds, or the compiler's cache has nothing for it: folders are known relative to the build's.
    words.append(f"-Cbuild-dir={ROOT / f'build/release-{machine}'}")
    built = FOLDER / f"wheel-{machine}"
    shutil.rmtree(built, ignore_errors=True)
    platform = {"_PYTHON_HOST_PLATFORM": f"linux-{machine}"}
    wheel = ("wheel", "-q", "--no-build-isolation", "--no-deps", "-w", built, *words, ROOT)
    run(sys.executable, "-m", "pip", *wheel, **platform)
    (made,) = built.glob("headrace-*.whl")
    plat = f"manylinux_2_28_{machine}"
    for old in out.glob(f"headrace-*-{plat}.whl"):
        old.unlink()
    # auditwheel offers only tags of the machine that it believes to run on.
    audit = f"import platform, sys; platform.machine = lambda: {machine!r}; "
    audit += "from auditwheel.main import main; sys.exit(main())"
    repair = ("repair", "--plat", plat, "--only-plat", "-w", out, made)
    run(sys.executable, "-c", audit, *repair)
    (wheel,) = out.glob(f"headrace-*-abi3-{plat}.whl")
    run("abi3audit", "--strict", "--summary", wheel)
    return wheel


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machine", choices=MACHINES, default=os.uname().machine)
    parser.add_argument("--out", type=Path, default=ROOT / "build/wheel")
    options = parser.parse_args()
    print(build(options.machine, options.out.resolve()))
