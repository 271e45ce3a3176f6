# SPDX-License-Identifier: Apache-2.0
"""Lines on frames of 10 rows, vs. pandas and another build: ./dev bench lines.

HEADRACE_BEFORE=FOLDER names the folder of another build's package, which takes its turns in a
process of its own.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGES = ["numpy", "pandas"]
BAR = 2.0  # vs. the build of 47039b5
COLUMNS = {
    "k": [1, 2, 1, 2, 3, 1, 2, 1, 2, 3],
    "i": list(range(10)),
    "v": [1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
    "s": list("abcabcabca"),
}
OTHER = {"k": [1, 2, 3], "w": [5, 6, 7]}


def works(name: str) -> dict[str, Callable[[], Any]]:
    """The steps with one library; each returns an answer that lists can compare."""
    m = importlib.import_module(name)
    df, other = m.DataFrame(COLUMNS), m.DataFrame(OTHER)
    ready = m.eval if name == "headrace" else lambda value: None
    ready(df)
    ready(other)

    def values(frame: Any) -> Any:
        ready(frame)
        return frame

    #: What a notebook does with a small table, one line each.
    lines: list[Callable[[], Any]] = [
        lambda: values(df.v + 1),
        lambda: values(df.v > 2),
        lambda: values((df.v > 2) & (df.k == 1)),
        lambda: values(df.s == "a"),
        lambda: float(df.v.sum()),
        lambda: float(df.v.mean()),
        lambda: float((df.v * 2 + df.i).sum()),
        lambda: int(df.i.max()),
        lambda: values(df[["k", "v"]]),
        lambda: values(df[df.v > 2]),
        lambda: len(df[df.v > 5]),
        lambda: values(df.sort_values("v")),
        lambda: values(df.groupby("k").v.sum()),
        lambda: values(df.merge(other, on="k")),
        lambda: values(df.assign(z=df.v * 2)),
        lambda: df.iloc[3, 2],
        lambda: df.at[3, "v"],
        lambda: df.v[3],
        lambda: df.v.to_list(),
        lambda: len(df),
        lambda: values(df.v.fillna(0)),
        lambda: values(df.v.isna()),
        lambda: values(df.head(3)),
        lambda: values(df.k.unique()),
        lambda: values(df.s.str.upper()),
        lambda: values(df.i.astype("float64")),
    ]

    def all_lines() -> Any:
        for _ in range(10_000 // len(lines)):
            for line in lines:
                line()
        return [plain(line()) for line in lines]

    def columns() -> Any:
        made = m.DataFrame(COLUMNS)
        for _ in range(1000):
            made["c"] = made.v
        return plain(values(made))

    def filters() -> Any:
        return [len(df[df.i > at % 10]) for at in range(400)]

    def chained() -> Any:
        made = df
        for _ in range(400):
            made = made[made.v > 2]
        return plain(values(made))

    return {
        f"{10_000 // len(lines) * len(lines):,} lines": all_lines,
        'df["c"] = ..., 1,000 times': columns,
        "400 filters": filters,
        "400 filters, each of the last": chained,
        "iloc[i, j], 1,000 times": lambda: [df.iloc[at % 10, 2] for at in range(1000)],
        "at, 1,000 times": lambda: [df.at[at % 10, "v"] for at in range(1000)],
        "a value of a column, 1,000 times": lambda: [df.v[at % 10] for at in range(1000)],
    }


def plain(value: Any) -> Any:
    """Python's own values of a frame, a column or a number."""
    if hasattr(value, "columns"):
        return [plain(value[name]) for name in value.columns]
    return value.tolist() if hasattr(value, "tolist") else value


def serve() -> None:
    """Answer the name of a step on each line with its answer, once it has run."""
    steps = works("headrace")
    for line in sys.stdin:
        print(repr(steps[line.strip()]()), flush=True)


def before(folder: str) -> Callable[[str], str]:
    """A function that runs a step with the package of another build."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--serve"],
        env=os.environ | {"PYTHONPATH": folder},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def ask(step: str) -> str:
        process.stdin.write(step + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    return ask


def equal(ours: Any, theirs: Any) -> str:
    """The same values; another build tells them as text."""
    mine = repr(ours) if isinstance(theirs, str) else ours
    assert mine == theirs, (mine, theirs)
    return "equal"


def main() -> int:
    """Measure all steps."""
    sys.path.pop(0)  # this folder: csv.py here is not Python's
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from measure import Bench, Rival, run

    def steps(bench: Bench, rows: int) -> None:
        ours, pandas = works("headrace"), works("pandas")
        folder = os.environ.get("HEADRACE_BEFORE")
        ask = before(folder) if folder else None
        for step, work in ours.items():
            rivals = [Rival("pandas", pandas[step])]
            if ask:
                bar = BAR if step.endswith("lines") else None
                rivals.append(Rival("build before", lambda step=step: ask(step), bar))
            bench.step(step, work, rivals, equal)

    return run("lines", __doc__, PACKAGES, steps)


if __name__ == "__main__":
    if "--serve" in sys.argv:
        sys.path.pop(0)
        serve()
    else:
        sys.exit(main())
