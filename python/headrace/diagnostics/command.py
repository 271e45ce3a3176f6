# SPDX-License-Identifier: Apache-2.0
"""The command `python -m headrace doctor`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from headrace.diagnostics.doctor import doctor


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m headrace doctor",
        description="Check what Headrace needs of this machine.",
        epilog="Exit status: 1 if something is broken, else 0.",
    )
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    found = doctor()
    as_json = json.dumps([each._asdict() for each in found], indent=1)
    sys.stdout.write((as_json if options.json else repr(found)) + "\n")
    return int(found.is_broken)
