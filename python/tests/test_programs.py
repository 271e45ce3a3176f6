# SPDX-License-Identifier: Apache-2.0
"""Programs as pandas users write them, run by pandas and by us; what works goes on working.

`testdata/programs/failing.txt` lists the cells of each program that do not give pandas' results
yet. A cell that is not listed and fails is a failure; `python python/tests/test_programs.py` prints
all that fail, and with ``--record`` writes the list anew.
"""

import os
import sys
import tempfile
from pathlib import Path

import pytest
from headrace.compare import compare

PROGRAMS = Path(__file__).resolve().parents[2] / "testdata/programs"
LIST = PROGRAMS / "failing.txt"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py"))


def outcomes(name):
    """What the cells of a program did, in an empty folder."""
    path = PROGRAMS / f"{name}.py"
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return list(compare(path.read_text(), str(path)))
        finally:
            os.chdir(before)


def recorded():
    """Program -> the numbers of the cells that may fail."""
    lines = (line.partition(":") for line in LIST.read_text().splitlines() if line[:1] != "#")
    return {name: set(map(int, cells.split())) for name, _, cells in lines}


@pytest.mark.parametrize("name", NAMES)
def test_program(name):
    """No cell fails that worked before."""
    known = recorded().get(name, set())
    failed = {i: cell for i, cell in enumerate(outcomes(name), 1) if not cell.works}
    new = [
        (cell.line, cell.error or cell.differences) for i, cell in failed.items() if i not in known
    ]
    assert not new, f"{name}.py: cells that worked before: {new}"


def main(record):
    """Print what fails; with `record` write the list."""
    lines, cells, whole = [], 0, 0
    total = 0
    for name in NAMES:
        done = outcomes(name)
        failed = [i for i, cell in enumerate(done, 1) if not cell.works]
        total += len(done)
        cells += len(done) - len(failed)
        whole += not failed
        lines += [f"{name}: {' '.join(map(str, failed))}"] if failed else []
        for i in failed:
            cell = done[i - 1]
            print(f"{name}.py:{cell.line}: {cell.error or ' | '.join(cell.differences)}"[:400])
    print(f"{cells} of {total} cells, {whole} of {len(NAMES)} programs")
    if record:
        head = (
            f"# Cells that fail, by program: {cells} of {total} cells work, "
            f"{whole} of {len(NAMES)} programs."
        )
        LIST.write_text("\n".join([head, *lines]) + "\n")


if __name__ == "__main__":
    main("--record" in sys.argv)
