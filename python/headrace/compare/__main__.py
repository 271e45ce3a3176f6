# SPDX-License-Identifier: Apache-2.0
"""``python -m headrace.compare script.py [arguments of the script]``."""

from __future__ import annotations

import sys
from pathlib import Path

from headrace.compare.script import Outcome, compare


def told(step: Outcome) -> list[str]:
    """The lines about a step: none if it agrees and is not slower."""
    first, *more = step.text.splitlines()
    lines = [f"  {each}" for each in step.differences]
    if step.error:
        lines.append(f"  missing: {step.error}")
    if step.is_slower:
        lines.append(f"  slower: {step.seconds * 1e3:.1f} ms, pandas {step.pandas * 1e3:.1f} ms")
    return [f"line {step.line}: {first}{' ...' if more else ''}", *lines] if lines else []


def main(arguments: list[str]) -> int:
    """0 if nothing differs and nothing is missing, 1 if something is, 2 for a wrong call."""
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    path = Path(arguments[0])
    if not path.is_file():
        print(f"compare: there is no such file: path={str(path)!r}", file=sys.stderr)
        return 2
    sys.argv = arguments
    sys.path.insert(0, str(path.resolve().parent))
    steps = []
    for step in compare(path.read_text(encoding="utf-8"), str(path)):
        steps.append(step)
        print("\n".join(told(step)), end="\n" if told(step) else "", flush=True)
    differ = sum(bool(step.differences) for step in steps)
    missing = sum(bool(step.error) for step in steps)
    print(
        f"{len(steps)} steps: {sum(step.works for step in steps)} agree, {differ} differ, "
        f"{missing} missing; {sum(step.is_slower for step in steps)} slower"
    )
    return int(differ + missing > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
