# SPDX-License-Identifier: Apache-2.0
"""Traced functions of a group give what calls for each group give, and what pandas gives."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import headrace as hr

ROWS = 200
DRAW = np.random.default_rng(7)
DATA: dict[str, Any] = {
    "k": [None if i % 19 == 0 else "abcdef"[i * i % 6] for i in range(ROWS)],
    "j": DRAW.integers(0, 3, ROWS),
    "x": [float("nan") if i % 11 == 0 else float(v) for i, v in enumerate(DRAW.normal(size=ROWS))],
    "y": DRAW.random(ROWS) + 0.1,
    "n": DRAW.integers(-5, 5, ROWS),
    "b": DRAW.random(ROWS) > 0.5,
}
OURS, THEIRS = hr.DataFrame(DATA), pd.DataFrame(DATA)
LIMIT = 0.5


class Called:
    """A function that cannot be traced."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.__name__ = "called"

    def __call__(self, group: Any) -> Any:
        return self.function(group)


def close(found: Any, wanted: Any) -> bool:
    """Whether values are equal, missing ones included."""
    missing = [v is None or v is pd.NA or v != v for v in (found, wanted)]
    return missing[0] == missing[1] if any(missing) else bool(np.isclose(found, wanted, rtol=1e-12))


def agree(found: list[Any], wanted: list[Any]) -> bool:
    """Whether lists of values are equal."""
    return len(found) == len(wanted) and all(map(close, found, wanted))


def no_calls(call: Callable[[], Any]) -> Any:
    """The result of a call that runs no Python function for each group."""
    with hr.strict():
        return call()


FRAMES: dict[str, Callable[[Any], Any]] = {
    "ratio": lambda g: g.x.sum() / g.y.sum(),
    "weighted": lambda g: (g.x * g.y).sum() / g.y.sum(),
    "masked": lambda g: g.x[g.y > LIMIT].mean(),
    "masked twice": lambda g: g.x[(g.y > LIMIT) & (g.n > 0)].sum() + 1,
    "frame mask": lambda g: g[g.b].x.max() - g[g.b].x.min(),
    "by name": lambda g: g["n"].max() - g["n"].min(),
    "share": lambda g: (g.n > 0).mean(),
    "spread": lambda g: g.x.quantile(0.9) - g.y.quantile(0.1),
    "numpy": lambda g: np.sqrt(g.y.mean()) + np.log(g.y).sum(),
    "centred": lambda g: ((g.y - g.y.mean()) ** 2).sum(),
    "missing": lambda g: g.x.isna().sum() / g.y.count(),
    "filled": lambda g: g.x.fillna(g.x.mean()).sum(),
    "dropped": lambda g: g.x.dropna().abs().max(),
    "moments": lambda g: g.y.std() / g.y.var(ddof=0),
    "rounded": lambda g: g.y.mean().round(2),
    "any": lambda g: (g.n > 4).any(),
    "whole": lambda g: g.n.sum() // 3 % 2,
    "unique": lambda g: g.n.nunique() - g.n.isin([1, 2]).sum(),
}


@pytest.mark.parametrize("keys", ["k", ["k", "j"]])
@pytest.mark.parametrize("name", FRAMES)
def test_functions_of_frames(name: str, keys: Any) -> None:
    function = FRAMES[name]
    found = no_calls(lambda: OURS.groupby(keys).apply(function))
    called = OURS.groupby(keys).apply(Called(function))
    wanted = THEIRS.groupby(keys)[["x", "y", "n", "b"]].apply(function)
    assert list(found.to_dict()) == list(called.to_dict()) == list(wanted.index)
    assert agree(found.to_list(), called.to_list())
    assert agree(found.to_list(), wanted.tolist())


@pytest.mark.parametrize("name", ["ratio", "weighted", "masked"])
def test_orders_and_labels_of_the_result(name: str) -> None:
    function = FRAMES[name]
    for options in ({"sort": False}, {"dropna": False}):
        wanted = THEIRS.groupby("k", **options)[["x", "y", "n"]].apply(function)
        found = no_calls(lambda options=options: OURS.groupby("k", **options).apply(function))
        assert agree(found.to_list(), wanted.tolist())
    plain = OURS.groupby("k", as_index=False).apply(function)
    assert list(plain.columns) == ["k", "value"]
    assert agree(
        plain.value.to_list(), THEIRS.groupby("k")[["x", "y", "n"]].apply(function).tolist()
    )


COLUMNS: dict[str, Callable[[Any], Any]] = {
    "range": lambda s: s.max() - s.min(),
    "quantiles": lambda s: s.quantile(0.75) - s.quantile(q=0.25),
    "share": lambda s: (s > 0).mean(),
    "positive": lambda s: s[s > 0].sum(),
    "outliers": lambda s: ((s - s.mean()).abs() > s.std()).sum(),
    "squares": lambda s: (s**2).sum() ** LIMIT,
    "negative": lambda s: -s.min(),
}


@pytest.mark.parametrize("column", ["x", "n"])
@pytest.mark.parametrize("name", COLUMNS)
def test_aggregates_of_columns(name: str, column: str) -> None:
    function = COLUMNS[name]
    wanted = THEIRS.groupby("k")[column].agg(function).tolist()
    assert agree(no_calls(lambda: OURS.groupby("k")[column].agg(function)).to_list(), wanted)
    assert agree(OURS.groupby("k")[column].agg(Called(function)).to_list(), wanted)
    assert agree(no_calls(lambda: OURS.groupby("k")[column].apply(function)).to_list(), wanted)


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "scaled": lambda s: (s - s.mean()) / s.std(),
    "doubled": lambda s: s * 2,
    "filled": lambda s: s.fillna(s.mean()),
    "filled by name": lambda s: s.fillna(value=0),
    "mean": lambda s: s.mean(),
    "above": lambda s: s > s.median(),
    "clipped": lambda s: s.clip(-1, 1).abs(),
    "range": lambda s: (s - s.min()) / (s.max() - s.min()),
}


@pytest.mark.parametrize("column", ["x", "n"])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name: str, column: str) -> None:
    function = TRANSFORMS[name]
    found = no_calls(lambda: OURS.groupby("k")[column].transform(function)).to_list()
    wanted = THEIRS.groupby("k")[column].transform(function).tolist()
    called = OURS.groupby("k")[column].transform(Called(function)).to_list()
    if name == "above":  # a mask of rows with a missing key is null here
        known = [i for i, key in enumerate(DATA["k"]) if key]
        found, called, wanted = ([values[i] for i in known] for values in (found, called, wanted))
    assert agree(found, wanted) and agree(called, wanted)


STATE = [0]


def counted(group: Any) -> Any:
    """A function with a state."""
    STATE[0] += 1
    return group.x.sum() + STATE[0]


UNTRACEABLE: dict[str, Callable[[Any], Any]] = {
    "branch": lambda g: g.x.sum() if g.x.sum() > 0 else 0.0,
    "length": lambda g: len(g) + g.x.sum(),
    "loop": lambda g: sum(v for v in g.n),
    "position": lambda g: g.x.iloc[0],
    "largest": lambda g: max(g.y.sum(), 30.0),
    "float": lambda g: float(g.y.sum()) * 2,
    "random": lambda g: g.y.sum() * 0 + (STATE[0] >= 0),
    "constant": lambda g: 1.5,
    "math": lambda g: math.floor(g.y.sum()),
    "other rows": lambda g: (g.y[g.n > 0].sum() + g.y[g.n < 0].mean()) * 0 + len(g.y),
    "sorted": lambda g: sorted(g.n)[0],
}


@pytest.mark.parametrize("name", UNTRACEABLE)
def test_what_cannot_be_traced_is_called(name: str) -> None:
    function = UNTRACEABLE[name]
    wanted = THEIRS.groupby("k")[["x", "y", "n", "b"]].apply(function).tolist()
    assert agree(OURS.groupby("k").apply(function).to_list(), wanted)
    with pytest.raises(hr.UnsupportedError):
        no_calls(lambda: OURS.groupby("k").apply(function))


def test_a_function_with_a_state_is_called_in_order() -> None:
    STATE[0] = 0
    found = OURS.groupby("k").apply(counted).to_list()
    STATE[0] = 0
    assert agree(found, THEIRS.groupby("k")[["x"]].apply(counted).tolist())
