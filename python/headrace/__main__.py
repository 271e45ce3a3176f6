# SPDX-License-Identifier: Apache-2.0
"""The commands of the package: `python -m headrace lint` and `python -m headrace doctor`."""

from __future__ import annotations

import sys
from importlib import import_module

_COMMANDS = {
    "lint": "find slow patterns in code",
    "doctor": "check what Headrace needs of this machine",
}
_WRONG_USAGE = 2


def main() -> int:
    """Run the command that the first argument names."""
    word = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if word in _COMMANDS:
        return import_module(f"headrace.{word}.command").main(sys.argv[2:])
    lines = [f"  {name:<8} {what}" for name, what in _COMMANDS.items()]
    print("usage: python -m headrace COMMAND ...", *lines, sep="\n")
    return 0 if word in ("-h", "--help") else _WRONG_USAGE


if __name__ == "__main__":
    sys.exit(main())
