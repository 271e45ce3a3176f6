# SPDX-License-Identifier: Apache-2.0
"""Categories, bins, smallest dtypes and other correlations: what pandas gives."""

import numpy as np
import pandas as pd
import pytest
from headrace.compare import difference

import headrace as hr

NAN = float("nan")


@pytest.mark.parametrize(
    "text",
    [
        "m.Series(['b', 'a', None, 'b']).astype('category').cat.categories",
        "m.Series(['b', 'a', None, 'b']).astype('category').cat.codes",
        "m.Series(['b', 'a', None, 'b'], dtype='category').cat.codes",
        "m.DataFrame({'a': ['y', 'x']}).astype({'a': 'category'}).a.cat.categories",
        "m.read_csv(io.StringIO('a\\ny\\nx\\n'), dtype={'a': 'category'}).a.cat.codes",
        "m.Series(['b', 'a', None, 'b']).astype('category').value_counts()",
        "m.Series(['b', 'a', None]).astype('category').value_counts(dropna=False)",
        "m.Series(['b', 'a', 'b']).astype('category').cat.add_categories(['c']).value_counts()",
        "m.Series(['b', 'a', 'b']).astype('category').value_counts(normalize=True)",
        "m.Series(['b', 'a', 'c', 'a']).astype('category').value_counts(sort=False)",
        "m.Series(pd.Categorical(['b', 'a'], ['c', 'b', 'a'])).value_counts()",
        "m.Series(pd.Categorical(['b', 'a'], ['c', 'b', 'a'])).cat.codes",
        "m.cut(m.Series([1, 5, 9, 5]), [0, 3, 6, 8, 10], labels=[3, 2, 1, 0])",
        "m.cut(m.Series([1, 5, nan, 50]), [0, 3, 6], labels=[0.5, 1.5])",
        "m.cut(m.Series([1, 5, 9, 5]), [0, 3, 6, 8, 10]).value_counts()",
        "m.cut(m.Series([1, 5, 9, 5]), [0, 3, 6, 8, 10], labels=list('dcba')).value_counts()",
        "m.cut(m.Series([1, 5, 9, 5]), [0, 3, 6, 8, 10]).value_counts(sort=False)",
        "m.qcut(m.Series([1, 5, 9, 5]), 2, labels=[2, 1]).astype(int)",
        "m.Series([1.0, nan, 3]).astype('Int64')",
        "m.Series(['1', '2']).astype('Int64')",
        "m.Series([True, False]).astype('Int8')",
        "m.Series([2**60 + 1, 5]).astype('Int64')",
        "m.Series([1.5, nan]).astype('Float32')",
        "m.to_numeric(m.Series([1, 200, 3]), downcast='integer')",
        "m.to_numeric(m.Series([1.0, 2.0]), downcast='integer')",
        "m.to_numeric(m.Series([1.5, 2.0]), downcast='integer')",
        "m.to_numeric(m.Series([1, 70000]), downcast='unsigned')",
        "m.to_numeric(m.Series(['1', 'x']), errors='coerce', downcast='float')",
        "m.Series([1, 2, 3, 4]).corr(m.Series([1, 3, 2, 4]), method='kendall')",
        "m.DataFrame({'x': [1, 2, 3, 4], 'y': [1, nan, 2, 5.0]}).corr(method='kendall')",
        "m.DataFrame({'x': [1, 2, 3, 4], 'y': [1, nan, 2, 5.0]}).corr(method='spearman')",
        "m.Series(['a', 'b', None, 'a']).replace({'a': 1, 'b': 2})",
        "m.DataFrame({'p': ['a', 'b'], 'q': ['b', 'b']}).replace({'a': 1.5, 'b': 2.5})",
        "m.Series([1, 2, 1]).replace({1: 'one', 2: 'two'})",
        "m.DataFrame({'s': ['a'], 'x': [1.5], 'n': [2]}).select_dtypes(np.number)",
        "m.DataFrame({'s': ['a'], 'x': [1.5], 'n': [2]}).select_dtypes(exclude=[np.number])",
    ],
)
def test_equal(text):
    """The same values, labels and order."""
    import io

    names = {"nan": NAN, "pd": pd, "np": np, "io": io}
    wanted, found = (eval(text, {"m": m, **names}) for m in (pd, hr))
    assert difference(wanted, found) is None


def test_dtypes():
    """The smallest dtype that holds all values."""
    for values, kind, dtype in (
        ([1, -3], "integer", "int8"),
        ([1, 300], "signed", "int16"),
        ([1, 300], "unsigned", "uint16"),
        ([-1, 300], "unsigned", "int64"),
        ([1.5, 2.5], "float", "float32"),
        ([1.5, 2.5], "integer", "float64"),
        ([1.0, NAN], "integer", "float64"),
    ):
        assert hr.to_numeric(hr.Series(values), downcast=kind).dtype == dtype
        assert pd.to_numeric(pd.Series(values), downcast=kind).dtype == dtype
    with pytest.raises(hr.InvalidArgumentError, match="downcast"):
        hr.to_numeric(hr.Series([1]), downcast="small")
    with pytest.raises(hr.InvalidArgumentError, match="whole"):
        hr.Series([1.5]).astype("Int64")


def test_a_replacement_of_some_values_keeps_the_dtype():
    """Strings and numbers do not mix in a column."""
    with pytest.raises(hr.TypeMismatchError):
        hr.Series(["a", "b"]).replace({"a": 1})


def test_names_of_errors():
    """``except pandas.errors.MergeError`` goes on working."""
    left = hr.DataFrame({"k": [1, 1], "x": [1, 2]})
    with pytest.raises(hr.errors.MergeError):
        len(left.merge(left, on="k", validate="1:1"))
    with pytest.raises(hr.errors.EmptyDataError):
        hr.read_csv(b"")


def test_an_index_of_categories_has_their_attributes() -> None:
    df = hr.DataFrame({"k": hr.Series(["b", "a", "b"], dtype="category"), "x": [1, 2, 3]})
    index = df.groupby("k", observed=False).sum().index
    assert index.categories.to_list() == ["a", "b"]
    assert index.codes.to_list() == [0, 1]
    assert index.ordered is False
    with pytest.raises(AttributeError, match="categories"):
        _ = df.set_index("x").index.categories
