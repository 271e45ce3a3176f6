# SPDX-License-Identifier: Apache-2.0
"""The commands of the package: `python -m headrace lint` and `python -m headrace doctor`."""

from __future__ import annotations

import sys
from importlib import import_module

#: What each command does, and the module that does it.
_COMMANDS = {
    "lint": ("find slow patterns in code", "headrace.lint.command"),
    "doctor": ("check what Headrace needs of this machine", "headrace.diagnostics.command"),
}
_WRONG_USAGE = 2


def main() -> int:
    """Run the command that the first argument names."""
    word = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if word in _COMMANDS:
        return import_module(_COMMANDS[word][1]).main(sys.argv[2:])
    lines = [f"  {name:<8} {what}" for name, (what, _) in _COMMANDS.items()]
    print("usage: python -m headrace COMMAND ...", *lines, sep="\n")
    return 0 if word in ("-h", "--help") else _WRONG_USAGE


if __name__ == "__main__":
    sys.exit(main())
