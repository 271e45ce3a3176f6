# SPDX-License-Identifier: Apache-2.0
"""Random plans of columns and arrays: whatever is fused, cut or looked at early, NumPy agrees."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

BINARY = ["add", "subtract", "multiply", "minimum", "maximum", "less", "greater_equal", "equal"]
UNARY = ["negative", "absolute", "square", "sign"]
REDUCTIONS = ["sum", "min", "max", "any", "all"]


class Plan:
    """Pairs of a deferred value and NumPy's eager one, grown step by step."""

    def __init__(self, draw: st.DrawFn, rows: int, seed: int) -> None:
        self.draw = draw
        rng = np.random.default_rng(seed)
        table = {name: rng.integers(-9, 10, rows) for name in ("a", "b", "c")}
        text = "a,b,c\n" + "".join(
            f"{a},{b},{c}\n" for a, b, c in zip(*table.values(), strict=True)
        )
        dtypes = dict.fromkeys(table, "int64")
        self.pairs: list[tuple[Any, np.ndarray]] = []
        scanned = hr.scan_csv(text.encode(), dtypes=dtypes)  # the length is not known yet
        framed = hr.DataFrame(table)
        for name, values in table.items():
            self.pairs += [(scanned[name], values), (framed[name], values)]
            frozen = values.copy()
            frozen.flags.writeable = False
            self.pairs.append((hr.asarray(frozen), values))

    def pick(self) -> tuple[Any, np.ndarray]:
        return self.pairs[self.draw(st.integers(0, len(self.pairs) - 1))]

    def step(self) -> None:
        x, n = self.pick()
        kind = self.draw(st.sampled_from(["binary", "unary", "reduce", "rows", "look", "where"]))
        if kind == "look":
            np.testing.assert_array_equal(np.asarray(x.to_numpy()), n)
            return
        if n.dtype == bool and kind in ("unary", "binary"):
            x, n = x.astype("int64"), n.astype("int64")
        if kind == "unary":
            call = getattr(np, self.draw(st.sampled_from(UNARY)))
            self.add(lambda: call(x), lambda: call(n))
        elif kind == "binary":
            call = getattr(np, self.draw(st.sampled_from(BINARY)))
            y, m = self.partner(n)
            self.add(lambda: call(x, y), lambda: call(n, m))
        elif kind == "where":
            y, m = self.partner(n)
            self.add(lambda: np.where(x > 0, x, y), lambda: np.where(n > 0, n, m))
        elif kind == "reduce":
            name = self.draw(st.sampled_from(REDUCTIONS))
            if n.size:
                self.add(lambda: getattr(x, name)(), lambda: np.asarray(getattr(n, name)()))
        elif n.ndim:
            self.rows(x, n)

    def partner(self, n: np.ndarray) -> tuple[Any, Any]:
        """Another operand: a literal, or a value that NumPy would broadcast."""
        if self.draw(st.booleans()):
            literal = self.draw(st.integers(-3, 3))
            return literal, literal
        y, m = self.pick()
        return (y, m) if m.shape == n.shape or not m.ndim or not n.ndim else (1, 1)

    def rows(self, x: Any, n: np.ndarray) -> None:
        cut = self.draw(st.sampled_from(["slice", "mask", "head", "trim", "take", "array"]))
        if cut == "slice":
            key = self.draw(st.slices(len(n)))
            self.add(lambda: x[key], lambda: n[key])
        elif cut == "mask":
            self.add(lambda: x[x > 0], lambda: n[n > 0])
        elif cut == "head" and isinstance(x, hr.Series):
            self.add(lambda: x.head(3), lambda: n[:3])
        elif cut == "trim":
            self.add(lambda: x[1:], lambda: n[1:])
        elif cut == "take" and len(n):
            at = np.array([0, len(n) - 1, -1])
            self.add(lambda: x[at], lambda: n[at])
        elif cut == "array" and isinstance(x, hr.Series) and n.dtype != bool:
            self.add(x.to_array, lambda: n)

    def add(self, ours: Any, theirs: Any) -> None:
        try:
            value = ours()
        except hr.InvalidArgumentError as error:
            # Rows of two sources, and sizes that only the data can tell, do not mix.
            assert any(word in str(error) for word in ("join", "lengths", "frames")), error
            return
        self.pairs.append((value, theirs()))


@given(st.data(), st.sampled_from([0, 1, 5, 64, 65, 1025]), st.integers(0, 99), st.integers(1, 25))
def test_random_plans_equal_numpy(data: st.DataObject, rows: int, seed: int, steps: int) -> None:
    plan = Plan(data.draw, rows, seed)
    for _ in range(steps):
        plan.step()
    values = [x for x, _ in plan.pairs]
    if data.draw(st.booleans()):
        hr.eval(*values)
    for x, n in reversed(plan.pairs):
        got = x.to_numpy()
        assert got.dtype == n.dtype
        assert got.shape == n.shape
        np.testing.assert_array_equal(got, n)
