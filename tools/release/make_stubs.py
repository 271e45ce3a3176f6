#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes stubs of glibc and libstdc++ that have the symbols of older versions only.

A wheel for any Linux must not ask for symbols newer than the oldest glibc and libstdc++ it runs on.
Debian's libraries still have their old versions of each symbol, so a library linked against stubs
that list only those runs everywhere. Parts of libstdc++ that are newer come from its archive for
shared libraries and stay inside; `old_glibc.cpp` has the few functions that glibc itself lacked.

The manylinux_2_28 of PEP 600: glibc up to 2.28 and GLIBCXX up to 3.4.24.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

#: The newest version of each family of symbols that a stub has.
NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11)}

#: Libraries whose symbols Debian's libc.so.6 has had since glibc 2.34.
EMPTY = ("libpthread.so.0", "libdl.so.2", "librt.so.1")

_SYMBOL = re.compile(
    r"\s*\d+: \w+ +(?P<size>\w+) (?P<type>\w+) +(?:GLOBAL|WEAK|UNIQUE) +\w+ +(?P<section>\w+)"
    r" (?P<name>\w+)@@?(?P<version>(?P<family>[A-Z]+)_(?P<numbers>[\d.]+))$"
)

#: Section and type of what is no function.
_PLACES = {"OBJECT": (".bss", "object"), "TLS": ('.section .tbss,"awT",%nobits', "tls_object")}


def output_of(*words: str | Path) -> str:
    """What a program prints; a failure ends this one."""
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def symbols_of(library: Path) -> dict[str, re.Match[str]]:
    """For each symbol its newest version that a stub may have, and what readelf says of it."""
    chosen: dict[str, tuple[tuple[int, ...], re.Match[str]]] = {}
    for line in output_of("readelf", "--dyn-syms", "--wide", library).splitlines():
        match = _SYMBOL.match(line)
        if match is None or match["section"] == "UND":
            continue
        version = tuple(map(int, match["numbers"].split(".")))
        if version > NEWEST.get(match["family"], ()):
            continue
        if match["name"] not in chosen or version > chosen[match["name"]][0]:
            chosen[match["name"]] = version, match
    return {name: match for name, (_, match) in chosen.items()}


def make_stub(compiler: str, library: Path, name: str, folder: Path) -> None:
    """Write a stub with the symbols of a library; its soname is `name`."""
    symbols = {} if name in EMPTY else symbols_of(library)
    lines = []
    for i, (symbol, match) in enumerate(symbols.items()):
        section, kind = _PLACES.get(match["type"], (".text", "function"))
        lines += [
            section,
            f".globl s{i}",
            f".type s{i}, %{kind}",
            f".size s{i}, {int(match['size'], 0)}",
            f".symver s{i}, {symbol}@@@{match['version']}",
            f"s{i}: .zero {int(match['size'], 0) if kind != 'function' else 1}",
        ]
    versions = sorted({match["version"] for match in symbols.values()})
    with tempfile.TemporaryDirectory() as place:
        source, script = Path(place, "stub.s"), Path(place, "stub.map")
        source.write_text("\n".join(lines) + "\n")
        script.write_text("".join(f"{each} {{ }};\n" for each in versions))
        out = folder / f"{name.split('.so')[0]}.so"
        options = ["-shared", "-nostdlib", f"-Wl,-soname,{name}", "-fuse-ld=bfd"]
        options += [f"-Wl,--version-script,{script}"] if versions else []
        subprocess.run([compiler, *options, source, "-o", out], check=True)


def make_stubs(compiler: str, folder: Path) -> None:
    """Write stubs of all libraries that a compiler links by itself."""

    def place_of(name: str) -> Path:
        return Path(output_of(compiler, f"-print-file-name={name}"))

    folder.mkdir(parents=True, exist_ok=True)
    for name in ("libc.so.6", "libm.so.6", *EMPTY, "libstdc++.so.6"):
        make_stub(compiler, place_of(name), name, folder)
    # What is newer than the stub comes from the archive, as do a few functions of the C library.
    (loader,) = place_of("libc.so.6").parent.glob("ld-linux-*.so.*")
    others = {"libstdc++": "libstdc++_pic.a", "libc": "libc_nonshared.a"}
    for name, archive in others.items():
        old = (folder / f"{name}.so").rename(folder / f"{name}-old.so")
        script = f"INPUT({old} {place_of(archive)} AS_NEEDED({loader}))\n"
        (folder / f"{name}.so").write_text(script)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--compiler", default="g++")
    options = parser.parse_args()
    make_stubs(options.compiler, options.folder.resolve())
