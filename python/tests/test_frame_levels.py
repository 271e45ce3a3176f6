# SPDX-License-Identifier: Apache-2.0
"""Labels and names of one level and of several: expressions that pandas evaluates as well."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from headrace.rows import Row

import headrace as hr

DATA = {"k": ["b", "a", "b", "a"], "y": [2023, 2024, 2024, 2023], "x": [1, 2, 3, 4]}
DATA["f"] = [0.5, 1.5, 2, 1]


def module(frame: Any) -> Any:
    return hr if isinstance(frame, hr.DataFrame) else pd


def levels(frame: Any) -> Any:
    return frame.set_index(["k", "y"]).sort_index()


def check(ours: Any, theirs: Any) -> None:
    """Equal values, labels and names."""
    loose = {"check_dtype": False, "check_index_type": False, "check_names": False}
    if isinstance(theirs, pd.DataFrame):
        pd.testing.assert_frame_equal(ours.to_pandas(), theirs, check_column_type=False, **loose)
    elif isinstance(ours, Row):
        assert ours.to_dict() == theirs.to_dict()
    elif isinstance(theirs, pd.Series):
        pd.testing.assert_series_equal(ours.to_pandas(), theirs, **loose)
    else:
        assert list(ours) == list(theirs) if hasattr(theirs, "__len__") else ours == theirs


FORMS = [
    "levels(d).loc['a', 2023]",
    "levels(d).loc[('a', 2023), 'x']",
    "levels(d).loc['a']",
    "levels(d).loc[['a']]",
    "levels(d).loc['a':'b']",
    "levels(d).loc[[('a', 2023), ('b', 2024)]]",
    "levels(d).xs(2023, level='y')",
    "levels(d).xs('a')",
    "levels(d).swaplevel()",
    "levels(d).droplevel('y')",
    "levels(d).droplevel(0)",
    "levels(d).reset_index(level='y')",
    "levels(d).reset_index(level=1)",
    "levels(d).reset_index(level='y', drop=True)",
    "d.set_index(['k', 'y']).sort_index(level='y')",
    "d.set_index(['k', 'y']).sort_index(ascending=False)",
    "levels(d).x.unstack(0)",
    "levels(d).x.unstack('k')",
    "levels(d).x.unstack().stack()",
    "levels(d).stack()",
    "levels(d).index.get_level_values('y')",
    "levels(d).index.names",
    "levels(d).index.nlevels",
    "levels(d).rename_axis(['p', 'q']).reset_index()",
    "levels(d).groupby(level='k').x.sum()",
    "levels(d).groupby(level=[0, 1]).x.sum()",
    "levels(d).groupby('y').x.sum()",
    "d.set_index('k').groupby('k').x.sum().reindex(['a', 'z'])",
    "d.reindex(columns=['x', 'q'])",
    "d.set_index('k').rename(index={'a': 'A'})",
    "d.set_index('k').rename(index=str.upper)",
    "d.set_index(d.x * 2).index",
    "d.set_index('k', drop=False)",
    "d.set_index('k', append=True)",
    "module(d).MultiIndex.from_tuples([('a', 1), ('b', 2)], names=['k', 'n'])",
    "d.k.value_counts().reset_index()",
    "d.k.value_counts().reset_index().columns",
    "d.groupby(['k', 'y']).size()",
    "d.groupby(['k', 'y']).size().reset_index()",
    "d.groupby('k').size().to_frame('n')",
    "d.set_index('k').sort_index().loc['a', 'x'].tolist()",
    "[i for i, _ in levels(d).iterrows()]",
    "levels(d).index.tolist()",
    "levels(d).x.idxmax()",
    "levels(d).x.to_dict()",
    "d.set_index('k').drop('a')",
    "levels(d).drop(('a', 2023))",
    "list(d.set_index('k').index.map(str.upper))",
    "d.set_index('k').index.duplicated().tolist()",
    "d.set_index('k').index.is_unique",
    "list(d.set_index('k').index.unique())",
    "levels(d).loc['a', 'x']",
    "levels(d).loc[('a', 2023):('b', 2023)]",
    "levels(d).query('y==2023')",
    "module(d).concat([levels(d), levels(d)])",
    "levels(d).merge(d, on='x')",
    "d.set_index('k').join(d.groupby('k').f.max().rename('mx'))",
    "d.groupby('k')[['x']].sum().merge(d.groupby('k')[['f']].max(), left_index=True, "
    "right_index=True)",
    "d.merge(d.groupby('k').x.sum().rename('tot').to_frame(), left_on='k', right_index=True)",
    "d.describe().loc['mean', 'x']",
    "d.describe().T['mean']",
    "levels(d).sum(axis=1)",
    "levels(d).apply(lambda r: r.x + r.f, axis=1)",
    "d.iloc[1].name",
    "d[['x', 'f']].iloc[0].max()",
    "dict(zip(d.columns, d.iloc[0]))",
    "(d[['x', 'f']].iloc[0] * 2).to_dict()",
    "d.set_index('k').x.rolling(2).sum()",
    "levels(d).x.shift()",
    "levels(d).groupby('k').x.cumsum()",
    "levels(d).groupby('k').x.transform('sum')",
    "levels(d).groupby('k').head(1)",
    "d.groupby('k').agg(t=('x', 'sum')).reset_index().rename(columns={'t': 'T'})",
    "d.set_index('k').nlargest(2, 'x')",
    "d.groupby('k').agg({'x': ['min', 'max']}).swaplevel(axis=1)",
    "d.groupby('k').agg({'x': ['min', 'max']}).droplevel(0, axis=1)",
    "d.set_index('k').index.str.upper().tolist()",
    "d.groupby('k').x.sum() / d.x.sum()",
    "d.groupby('k').agg({'x': ['mean', 'max']})",
    "d.groupby('k')[['x', 'f']].agg(['min', 'max'])",
    "d.groupby('k').agg({'x': ['mean', 'max'], 'f': 'sum'})['x']['mean']",
    "d.groupby('k').agg({'x': ['mean', 'max']})['x', 'mean']",
    "['_'.join(c) for c in d.groupby('k').agg({'x': ['mean', 'max']}).columns]",
    "d.groupby('k').agg({'x': ['mean', 'max']}).columns.droplevel(0)",
    "d.groupby('k').agg({'x': ['mean', 'max']}).columns.get_level_values(1)",
    "d.groupby('k').agg({'x': ['mean', 'max']}).columns.map('_'.join)",
    "d.groupby('k')[['x', 'f']].describe()",
    "d.groupby('k').x.describe()",
    "d.pivot(index='k', columns='y', values='x')",
    "d.pivot(index='k', columns='y', values='x')[2024]",
    "d.pivot(index='k', columns='y')",
    "d.pivot_table(index='k', columns='y', values='x')",
    "d.pivot_table(index='k', columns='y', values=['x', 'f'])",
    "d.pivot_table(index='k', columns='y', values='x', aggfunc=['sum', 'mean'])",
    "d.pivot_table(index='k', columns='y', values=['x'], aggfunc=['sum', 'mean'])",
    "d.pivot_table(index='k', values='x', aggfunc=['sum', 'mean'])",
    "d.set_index(['k', 'y']).unstack()",
    "d.set_index(['k', 'y']).x.unstack()",
    "d.groupby(['k', 'y']).x.sum().unstack(fill_value=0)",
    "d.groupby(['k', 'y'])[['x']].sum().unstack()['x'][2023]",
    "d[['x', 'f']].T",
    "module(d).DataFrame(np.eye(2))[0]",
    "module(d).DataFrame(np.eye(2))",
    "module(d).DataFrame([[1, 2], [3, 4]]).columns",
    "d.groupby('k').agg({'x': ['mean', 'max']}).reset_index().columns",
    "d.groupby('k').agg(['min', 'max']).loc['a', ('x', 'min')]",
    "d.groupby('k').agg({'x': ['mean', 'max']}).sort_values(('x', 'mean'))",
    "d.pivot_table(index='k', columns='y', values='x', margins=True, aggfunc='sum')",
    "d.groupby(['k']).agg({'x': ['mean']}).xs('mean', axis=1, level=1)",
    "d.pivot(index='k', columns='y', values='x').reset_index()",
    "d.pivot(index='k', columns='y', values='x').sum()",
    "d.pivot(index='k', columns='y', values='x').stack()",
    "d.set_index(['k', 'y']).groupby(level=0).x.sum()",
    "d.groupby('k').size().reset_index(name='n')",
]


@pytest.mark.parametrize("form", FORMS)
def test_as_pandas(form: str) -> None:
    values = []
    for frame in (hr.DataFrame(DATA), pd.DataFrame(DATA)):
        names = {"d": frame, "levels": levels, "module": module, "np": np}
        values.append(eval(form, names))
    check(*values)


def test_names_of_one_level_after_an_aggregate() -> None:
    for frame in (hr.DataFrame(DATA), pd.DataFrame(DATA)):
        made = frame.groupby("k").agg({"x": ["mean", "max"]})
        made[("x", "r")] = made[("x", "max")] - made[("x", "mean")]
        made.columns = ["_".join(name) for name in made.columns]
        assert list(made.reset_index().columns) == ["k", "x_mean", "x_max", "x_r"]
        assert made.x_r.to_list() == [1.0, 1.0]
        made.index = ["p", "q"]
        made.loc["r", "x_max"] = 5
        assert made.index.tolist() == ["p", "q", "r"]


def test_other_rows_are_aligned_when_asked() -> None:
    df = hr.DataFrame(DATA).set_index("k").groupby("k").x.sum()
    other = df[df > 4]
    with pytest.raises(hr.InvalidArgumentError, match="merge"):
        df + other
    one, two = df.align(other)
    assert (one + two).to_dict() == {"a": 12, "b": None}
