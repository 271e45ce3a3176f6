# SPDX-License-Identifier: Apache-2.0
"""Parts put together, by `concat` and by `apply` of groups: what pandas gives."""

import numpy as np
import pandas as pd
import pytest
from headrace.compare import difference

import headrace as hr


def frames(m):
    """The same data in a library."""
    a = m.DataFrame({"x": [1, 2], "y": [3.0, 4.0]})
    df = {
        "k": ["b", "a", "b", "a"],
        "j": [1, 1, 2, 2],
        "x": [1.0, 2.0, 3.0, 4.0],
        "y": [5, 6, 7, 8],
    }
    return {
        "m": m,
        "np": np,
        "a": a,
        "b": m.DataFrame({"x": [5], "z": ["q"]}),
        "s": m.Series([1, 2], index=["u", "v"], name="s"),
        "t": m.Series([3, 4], index=["v", "w"], name="t"),
        "la": m.DataFrame({"x": [1, 2], "y": [3.0, 4.0]}, index=["r1", "r2"]),
        "lb": m.DataFrame({"w": [7, 8]}, index=["r2", "r3"]),
        "df": m.DataFrame(df),
    }


@pytest.mark.parametrize(
    "text",
    [
        "m.concat({'a': a, 'b': b})",
        "m.concat([a, b], keys=['a', 'b'], names=['file', 'row'])",
        "m.concat([a, b], keys=['a', 'b']).loc['a']",
        "m.concat([a, b], keys=[2023, 2024], names=['year']).loc[2024]",
        "m.concat([a, b], keys=[('p', 1), ('q', 2)])",
        "m.concat({'a': a, 'b': b}, ignore_index=True)",
        "m.concat([s, t])",
        "m.concat([s, s])",
        "m.concat([s, t], ignore_index=True)",
        "m.concat([s, t], axis=1)",
        "m.concat([s, t], axis=1, join='inner')",
        "m.concat({'one': s, 'two': t}, axis=1)",
        "m.concat([s, t], keys=['k1', 'k2'])",
        "m.concat([la, lb], axis=1)",
        "m.concat([la, lb], axis=1, join='inner')",
        "m.concat({'L': la, 'R': lb}, axis=1)",
        "m.concat({'L': la, 'R': la}, axis=1)['R']",
        "m.concat([la, lb])",
        "m.concat([la, la.iloc[::-1]], keys=['up', 'down'])",
        "m.concat([s, t]).groupby(level=0).sum()",
        "m.concat([a.head(1), a.tail(1)], keys=['h', 't'])",
        "m.concat([None, a])",
        "m.concat([df[df.x > 2]])",
        "m.concat([df.x[df.x > 2]])",
        "m.concat([df[df.x > 2], df[df.x > 9]])",
        "m.concat([df[df.x > 2]], ignore_index=True)",
        "df.groupby('k').apply(lambda g: m.Series({'m': g['x'].mean(), 'n': len(g)}))",
        "df.groupby('k').apply(lambda g: m.Series({'m': g['x'].mean()})).reset_index()",
        "df.groupby(['k', 'j']).apply(lambda g: m.Series({'m': g['x'].mean()}))",
        "df.groupby('k', as_index=False).apply(lambda g: m.Series({'m': g['x'].mean()}))",
        "df.groupby('k').apply(lambda g: g.nlargest(1, 'x'), include_groups=False)",
        "df.groupby('k').apply(lambda g: g.nlargest(1, 'x')).reset_index(level=0)",
        "df.groupby('k', group_keys=False).apply(lambda g: g.head(1))",
        "df.groupby('k')['x'].apply(lambda s: s.nlargest(1))",
        "df.groupby('k')['x'].apply(lambda s: s.sum())",
        "df.groupby('k').apply(lambda g: np.average(g['x'], weights=g['y']))",
        "df.groupby('k').apply(lambda g: g.assign(z=g['x'] - g['x'].mean()))",
        "df.groupby('k').apply(len)",
        "df.groupby('k')[['x', 'y']].apply(lambda g: g.sum())",
        "df.groupby('k')[['x']].apply(lambda g: g.describe())",
        "df.groupby(['k', 'j']).apply(lambda g: g.head(1))",
        "m.concat([g for _, g in df.groupby('k')])",
        "[g.index.tolist() for _, g in df.groupby('k')]",
    ],
)
def test_equal(text):
    """The same values, names, labels and order."""
    wanted, found = (eval(text, frames(m)) for m in (pd, hr))
    assert difference(wanted, found) is None


def test_columns_of_other_labels_on_several_levels():
    """They are refused, not matched by position."""
    one = hr.DataFrame({"k": [1, 1], "j": [1, 2], "x": [1, 2]}).set_index(["k", "j"])
    other = hr.DataFrame({"k": [1, 2], "j": [1, 2], "y": [1, 2]}).set_index(["k", "j"])
    with pytest.raises(hr.InvalidArgumentError, match="labels"):
        hr.concat([one, other], axis=1)
