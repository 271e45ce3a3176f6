# SPDX-License-Identifier: Apache-2.0
"""``python -m headrace.sklearn [-m module | script.py] [arguments]``: scikit-learn on our loops.

``HEADRACE_SKLEARN=0`` runs the script as it is.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

from headrace.sklearn import install


def main(arguments: list[str]) -> int:
    """2 for a wrong call; the script ends the process otherwise."""
    as_module = arguments[:1] == ["-m"]
    rest = arguments[as_module:]
    if not rest or rest[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    if not as_module and not Path(rest[0]).is_file():
        print(f"headrace.sklearn: there is no such file: path={rest[0]!r}", file=sys.stderr)
        return 2
    if os.environ.get("HEADRACE_SKLEARN", "1") != "0":
        install()
    sys.argv = rest
    if as_module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(rest[0]).resolve().parent))
        runpy.run_path(rest[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
