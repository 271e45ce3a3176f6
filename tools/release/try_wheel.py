#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs a wheel into a new environment and compares what README's first example prints.

It needs Python's own library alone, so that it also runs in a bare container or under an emulator:
``chroot FOLDER python3 try_wheel.py WHEEL README``.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path


def example_of(readme: str) -> tuple[str, str]:
    """The first example, with the hidden lines that make its input, and what it prints."""
    shown = readme.index("```output\n")
    program = "\n".join(re.findall(r"```python\n(.*?)```", readme[:shown], re.DOTALL))
    return program, readme[shown:].split("```")[1].removeprefix("output\n")


def main(wheel: Path, readme: Path) -> int:
    """Install, run and compare; the exit status."""
    program, expected = example_of(readme.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder, "bin/python")
        subprocess.run([python, "-m", "pip", "install", "-q", wheel], check=True)
        found = subprocess.run(
            [python, "-I", "-c", program],
            cwd=folder,
            check=True,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        ).stdout
    print(found, end="")
    if found.strip() != expected.strip():
        print(f"try_wheel: README's example prints something else; expected\n{expected}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
