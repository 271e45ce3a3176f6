# SPDX-License-Identifier: Apache-2.0
"""Text and HTML of frames, series and values, beside pandas'."""

import json
import math
import random
import re

import numpy as np
import pandas as pd
import pytest

import headrace as hr


def cells_of(series: hr.Series) -> list[str]:
    """The values in the text of a series."""
    return [line.split()[-1] for line in repr(series).splitlines()[:-1]]


FLOATS = {
    "money": [1234567.891, 123456.789, 12.5],
    "whole": [1.0, 2.0, 30.0],
    "thirds": [1 / 3, 2 / 3, 1e5 / 3],
    "small": [1.5e-7, 1.0],
    "large": [1e15, 1.25],
    "large whole": [1e6, 2e6, 12345678.0],
    "missing": [float("nan"), 2.25],
    "infinite": [float("inf"), -float("inf"), 0.125],
    "signs": [-1.5, 2.0, -1234567.25],
    "zero": [0.0, -0.0],
}


@pytest.mark.parametrize("name", FLOATS)
def test_floats_are_shown_as_pandas_shows_them(name: str) -> None:
    values = FLOATS[name]
    lines = pd.Series(values).to_string().splitlines()
    assert cells_of(hr.Series(values)) == [line.split()[-1] for line in lines]


def test_random_floats_are_shown_as_pandas_shows_them() -> None:
    draw = random.Random(5)
    for _ in range(300):
        size = 10.0 ** draw.randint(-9, 12)
        digits = draw.randint(0, 9)
        values = [round(draw.uniform(-size, size), digits) for _ in range(draw.randint(1, 6))]
        precision = draw.randint(0, 8)
        with hr.option_context("display.precision", precision):
            found = cells_of(hr.Series(values))
        with pd.option_context("display.precision", precision):
            lines = pd.Series(values).to_string().splitlines()
        assert found == [line.split()[-1] for line in lines], (precision, values)


def test_strings_of_whole_frames_and_series() -> None:
    frame = hr.DataFrame({"x": [1.5, 2.25] * 50, "s": ["a", "b"] * 50})
    assert "<th>99</th>" in frame.to_html() and "<th>99</th>" not in frame.to_html(index=False)
    theirs = pd.Series([1.5, 20.25] * 50)
    assert hr.Series(theirs.tolist()).to_string() == theirs.to_string()
    alone = hr.Series([1.5, 20.25]).to_string(index=False).split()
    assert alone == pd.Series([1.5, 20.25]).to_string(index=False).split()


def test_a_series_ends_with_its_name_and_dtype() -> None:
    assert repr(hr.Series([1, 2], name="n")) == repr(pd.Series([1, 2], name="n"))
    assert repr(hr.Series(["a", None])).splitlines() == ["0       a", "1    null", "dtype: string"]
    assert repr(hr.Series([], dtype="int64")) == "Series([], dtype: int64)"
    long = repr(hr.Series(range(1000), name="n")).splitlines()
    assert long[-1] == "Name: n, Length: 1,000, dtype: int64"
    assert len(long) == 12
    labelled = hr.DataFrame({"k": ["a", "b"], "x": [1.5, 2.0]}).set_index("k").x
    assert repr(labelled).splitlines() == ["k", "a    1.5", "b    2.0", "Name: x, dtype: float64"]


def test_labels_stand_apart_and_positions_are_labels() -> None:
    frame = hr.DataFrame({"k": ["a", "b"], "x": [1, 2]})
    assert "│ 1 ║ b" in repr(frame)
    assert "│ b      ║     2 │" in repr(frame.set_index("k"))
    assert "║" not in repr(frame[frame.x > 1])  # whose positions are not their labels
    assert "<th>b</th><td>2</td>" in frame.set_index("k")._repr_html_()


def test_columns_fill_the_line_and_twenty_are_in_html() -> None:
    wide = hr.DataFrame({f"column{i}": [i] for i in range(40)})
    with hr.option_context("display.width", 60):
        text = repr(wide)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 60
    assert "column0" in text and "column39" in text and "column20" not in text
    assert lines[2].count("┆") == 4
    assert lines[0] == "shape: (1, 40)"
    page = wide._repr_html_()
    assert page.count("column") == 20 and "column9<" in page and "column30<" in page
    with hr.option_context("display.max_columns", None, "display.width", 60):
        assert len(re.findall(r"column\d+", repr(wide))) == 40
        assert max(map(len, repr(wide).splitlines())) <= 60
        assert wide._repr_html_().count("column") == 40
    with hr.option_context("display.max_columns", 4):
        assert re.findall(r"column\d+|…", repr(wide).splitlines()[2]) == [
            *("column0", "column1", "…", "column38", "column39")
        ]


def test_options_change_what_is_shown() -> None:
    frame = hr.DataFrame({"x": [1 / 3] * 100, "s": ["long" * 20] * 100})
    with hr.option_context("display.max_rows", None):
        assert len(repr(frame).splitlines()) == 106
    with hr.option_context("display.max_rows", 20, "display.min_rows", 7):
        assert len(repr(frame).splitlines()) == 14
    with hr.option_context("display.float_format", "{:,.1f}".format):
        assert "│         0.3 │"[-6:] in repr(frame[["x"]])
    with hr.option_context("display.max_colwidth", None):
        assert "long" * 20 in repr(frame)
    hr.set_option({"display.precision": 2})
    assert hr.get_option("precision") == 2 and " 0.33 " in repr(frame)
    hr.reset_option("display.precision")
    assert hr.options.display.precision == 6
    hr.options.display.max_rows = 5
    assert hr.get_option("display.max_rows") == 5
    hr.reset_option("all")
    assert "max_rows" in dir(hr.options.display) and dir(hr.options)[0] == "compute"
    with hr.option_context("mode.chained_assignment", None):  # of pandas, without effect
        assert hr.get_option("mode.chained_assignment") is None


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (("display.max_rowz", 1), "no such option: name='display.max_rowz'; did you mean 'display"),
        (("max_c", 1), "several options match"),
        (("display.max_rows", "many"), "expected a count, or None"),
        (("display.precision", None), "expected a count"),
        (("display.float_format", ".2f"), "expected a function"),
        (("display.max_rows",), "expected pairs"),
    ],
)
def test_wrong_options_raise(given: tuple[object, ...], text: str) -> None:
    with pytest.raises(hr.InvalidArgumentError, match=re.escape(text)):
        hr.set_option(*given)
    assert hr.get_option("display.max_rows") == 60


def test_html_has_classes_for_frames_series_rows_and_dtypes() -> None:
    frame = hr.DataFrame({"x": [1.25, 2.0], "s": ["<b>", "c"]})
    assert frame._repr_html_().startswith('<table class="dataframe headrace"')
    assert '<table class="row headrace"' in frame.iloc[0]._repr_html_()
    assert "&lt;b&gt;" in frame.iloc[0]._repr_html_()
    assert "<td>float64</td>" in frame.dtypes._repr_html_()
    page = frame.x._repr_html_()
    assert "shape" not in page and "Name: x, dtype: float64" in page


def test_a_reduction_is_shown_and_used_as_its_number() -> None:
    frame = hr.DataFrame({"x": [1.5, 2.5], "n": [1, 3]})
    mean, total, some = frame.x.mean(), frame.n.sum(), (frame.n > 2).any()
    assert (repr(mean), repr(total), repr(some)) == ("2.0", "4", "True")
    assert json.loads(json.dumps({"mean": mean, "list": [total, some]})) == {
        "mean": 2.0,
        "list": [4, True],
    }
    names = {mean: "m", total: "t"}
    assert names[2.0] == "m" and names[4] == "t" and {4: "four"}[total] == "four"
    assert len({mean, frame.x.mean(), 2.0}) == 1
    assert hash(mean) == hash(np.float64(2.0))
    assert list(range(total)) == [0, 1, 2, 3]
    assert (round(mean), round(mean / 3, 2), int(mean), math.trunc(mean)) == (2, 0.67, 2, 2)
    assert (math.floor(mean), math.ceil(mean / 3), math.sqrt(total)) == (2, 1, 2.0)
    assert f"{mean:.1f} {total:d} {some}" == "2.0 4 True"
    assert format(mean, ".1f") == "2.0"
    assert "abcdef"[total] == "e"
    with pytest.raises(TypeError, match="several values"):
        hash(hr.asarray([1, 2]))
    with pytest.raises(TypeError, match="not JSON serializable"):
        json.dumps(frame.x)


def test_names_complete_in_a_notebook() -> None:
    frame = hr.DataFrame({"Horsepower": [1], "two words": [2]})
    assert frame._ipython_key_completions_() == ["Horsepower", "two words"]
    assert "Horsepower" in dir(frame) and "two words" not in dir(frame)
