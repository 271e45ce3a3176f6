#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a .dist-info into build/<tree>/site, so that others find the entry points as if installed.

Usage: site_metadata.py SITE VERSION
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path


def main(site: str, version: str) -> None:
    """Write what importlib.metadata reads."""
    root = Path(__file__).resolve().parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items()), ""]
    folder = Path(site, f"headrace-{version}.dist-info")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: headrace\nVersion: {version}\n")
    (folder / "entry_points.txt").write_text("\n".join(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
