# SPDX-License-Identifier: Apache-2.0
"""Options of pandas that are a few lines here: the same values as pandas gives."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import headrace as hr

DATA = {
    "k": ["b", "a", "b", "a"],
    "j": [2, 1, 1, 2],
    "x": [1.0, 2.0, 4.0, 8.0],
    "y": [15, 25, -35, 149],
    "b": [False, True, False, True],
}


def values(made: Any) -> Any:
    """Plain values of what either library gives."""
    if isinstance(made, tuple):
        return [values(each) for each in made]
    if hasattr(made, "columns"):
        return {str(name): values(made[name]) for name in made.columns}
    if hasattr(made, "to_list") or hasattr(made, "tolist"):
        made = made.to_list() if hasattr(made, "to_list") else made.tolist()
    several = made if isinstance(made, list) else [made]
    found = [None if v != v else v for v in several]
    return [v if v is None or isinstance(v, str) else round(float(v), 9) for v in found]


@pytest.mark.parametrize(
    "text",
    [
        "len(f.groupby('k'))",
        "f.groupby('k').cumcount(ascending=False)",
        "f.groupby('k').x.sem()",
        "f.groupby('k').x.sem(ddof=0)",
        "f.groupby('k')[['x', 'y']].sem().y",
        "f[['x', 'y', 'k']].corr(numeric_only=True).x",
        "f[['x', 'y', 'k']].cov(numeric_only=True).y",
        "f.rank(numeric_only=True)",
        "m.Series(['b', None, 'a', 'b']).factorize(use_na_sentinel=False)[0]",
        "m.factorize(np.array([2.0, np.nan, 1.0]), sort=True, use_na_sentinel=False)[0]",
        "m.melt(f, id_vars='k', value_vars=['x', 'y'])",
        "m.pivot_table(f, values='x', index='k').x",
        "m.isna(None)",
        "m.isna(float('nan'))",
        "m.notna('x')",
        "m.isna(f.x.mean())",
        "f.b.round(-1)",
        "m.isna(f.x)",
        "m.notna(f)",
        "m.unique(f.k)",
        "f.b.median()",
        "f[['b', 'x']].median()['b']",
        "f.b.cummax()",
        "f.b.cummin()",
        "f.y.round(-1)",
        "f.y.round(-2)",
        "f.y.round(-30)",
        "f.y.astype('int16').round(-1)",
        "f.y.astype('uint64').where(f.y > 0, 5).round(-1)",
        "f[['x', 'y']].round(-1)",
        "m.cut(f.x, [0, 2, 8]).astype('str' if m is pd else 'string')",
        "m.cut(f.x, [1, 2, 8], include_lowest=True).astype('str' if m is pd else 'string')",
        "f.set_index(['k', 'j']).sort_index(level='j').x",
        "f.set_index(['k', 'j']).sort_index(level=1, ascending=[True]).x",
        "f.set_index(['k', 'j']).sort_index(level=['j', 'k'], ascending=[False, True]).x",
        "f.set_index(['k', 'j']).reset_index(level='j').loc['a'].x",
        "f.set_index(['k', 'j']).reset_index(level=0, drop=True).loc[2].x",
        "f.set_index('k').drop('a').x",
        "f.set_index('k').drop(['a']).x",
        "f.drop('x', axis=1).y",
    ],
)
def test_options_of_pandas(text: str) -> None:
    made = []
    for library in (hr, pd):
        names = {"m": library, "f": library.DataFrame(DATA), "np": np, "hr": hr, "pd": pd}
        made.append(values(eval(text, names)))
    assert made[0] == made[1]


def test_dtypes_stay_through_these() -> None:
    frame = hr.DataFrame(DATA)
    assert frame.y.astype("int16").round(-1).dtype == "int16"
    assert frame.b.cummax().dtype == "bool"
    codes, uniques = hr.factorize(["b", None], use_na_sentinel=False)
    assert (codes.to_list(), uniques.to_list()) == ([0, 1], ["b", None])
    assert hr.Series([True, None, False]).cummax().to_list() == [True, None, True]
    assert hr.Series([15, None]).round(-1).to_list() == [20, None]


def test_labels_that_are_not_there_are_named() -> None:
    labelled = hr.DataFrame(DATA).set_index("k")
    with pytest.raises(
        hr.InvalidArgumentError, match=r"sort_index: no such label level: level='q'"
    ):
        labelled.sort_index(level="q")
    with pytest.raises(hr.InvalidArgumentError, match=r"reset_index: no such label level: level=3"):
        labelled.reset_index(level=3)
    with pytest.raises(hr.ColumnNotFoundError, match=r"label=\['q'\]"):
        labelled.drop("q")
    with pytest.raises(hr.ColumnNotFoundError, match="name='q'"):
        hr.DataFrame(DATA).drop("q")
    assert labelled.drop("x").columns == ["j", "y", "b"]


def test_groups_are_true_without_a_look() -> None:
    with hr.profile() as profile:
        assert hr.DataFrame(DATA).groupby("k")
    assert not profile.steps


def test_eval_in_place_and_arrays_of_a_dtype() -> None:
    frame, theirs = hr.DataFrame({"x": [1, 2]}), pd.DataFrame({"x": [1, 2]})
    assert frame.eval("y = x * 2", inplace=True) is None
    theirs["y"] = theirs.x * 2
    assert frame.to_dict("list") == theirs.to_dict("list")
    ours = frame.to_numpy(dtype="float32")
    assert ours.dtype == np.float32 and ours.tolist() == theirs.to_numpy("float32").tolist()
