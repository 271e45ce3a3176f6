# SPDX-License-Identifier: Apache-2.0
"""Names and options that are not there: each error names the nearest way."""

import inspect
import pickle
import re
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import headrace as hr

FRAME = hr.DataFrame({"price": [1.0], "city": ["a"], "time": hr.to_datetime(["2020-01-01"])})
OBJECTS: dict[str, Any] = {
    "frame": FRAME,
    "series": FRAME.price,
    "groups": FRAME.groupby("city"),
    "str": FRAME.city.str,
    "dt": FRAME.time.dt,
    "cat": FRAME.city.astype("category").cat,
    "rolling": FRAME.price.rolling(1),
    "array": hr.asarray([1.0]),
    "hr": hr,
    **{name: getattr(hr, name) for name in ("signal", "fft", "plot", "learn")},
}
WORDS = [
    line.split("\t")
    for line in (Path(__file__).parent / "missing_words.tsv").read_text().splitlines()[1:]
]
#: Modules inside of pandas.
INSIDE = {
    "NA",
    "NaT",
    "api",
    "compat",
    "core",
    "pandas",
    "test",
    "tseries",
    "util",
    "arrays",
    "array",
    "io",
}


def way(value: Any, name: str) -> str:
    """What the error for a missing name says to do."""
    with pytest.raises(AttributeError) as caught:
        getattr(value, name)
    return str(caught.value).partition("; ")[2]


def test_every_missing_word_names_the_nearest_way() -> None:
    missing = [each for each in WORDS if not hasattr(OBJECTS[each[0]], each[1])]
    assert len(missing) >= 250 and len(missing) > 0.8 * len(WORDS)
    wrong = [
        (kind, word, way(OBJECTS[kind], word))
        for kind, word, expected in missing
        if not way(OBJECTS[kind], word).startswith(expected)
    ]
    assert not wrong


def pandas_names() -> list[tuple[str, str]]:
    """The public names of pandas, by object."""
    theirs = pd.DataFrame({"price": [1.0], "city": ["a"], "time": pd.to_datetime(["2020-01-01"])})
    found = {
        "frame": pd.DataFrame,
        "series": pd.Series,
        "groups": type(theirs.groupby("city")),
        "str": type(theirs.city.str),
        "dt": type(theirs.time.dt),
        "rolling": type(theirs.price.rolling(1)),
    }
    names = [(kind, name) for kind, value in found.items() for name in dir(value)]
    names += [("hr", name) for name in pd.__all__]
    return [each for each in names if not each[1].startswith("_") and each[1] not in INSIDE]


def test_every_name_of_pandas_is_there_or_has_a_way_round() -> None:
    missing = [(k, n) for k, n in pandas_names() if n not in dir(OBJECTS[k])]
    without = [
        (k, n) for k, n in missing if not re.match("use |leave|set |ask", way(OBJECTS[k], n))
    ]
    assert [
        (kind, name)
        for kind, name in without
        if not re.match("columns|frames|aggregate|write|keep|it is", way(OBJECTS[kind], name))
    ] == []


WRONG_OPTIONS = """
f.corr(metod='spearman') | DataFrame.corr() got an unexpected keyword argument 'metod'; did you mean 'method'?
f.sort_values(bye='price') | DataFrame.sort_values() got an unexpected keyword argument 'bye'; did you mean 'by'?
f.price.fillna(valeu=0) | Series.fillna() got an unexpected keyword argument 'valeu'; did you mean 'value'?
f.city.str.split(seperator=',') | Series.str.split() got an unexpected keyword argument 'seperator'; the options are
f.time.dt.floor(frequency='D') | Series.dt.floor() got an unexpected keyword argument 'frequency'; the options are
f.groupby('city').head(rows=2) | GroupBy.head() got an unexpected keyword argument 'rows'; the options are n
f.filter(itmes=['price']) | DataFrame.filter() got an unexpected keyword argument 'itmes'; did you mean 'items'?
f.price.sum(skipna=True, foo=1) | Series.sum() got an unexpected keyword argument
hr.concat([f], ignoreindex=True) | hr.concat() got an unexpected keyword argument 'ignoreindex'; did you mean 'ignore_index'?
hr.merge(f, f, onn='city') | hr.merge() got an unexpected keyword argument 'onn'; did you mean 'on'?
hr.to_datetime(['2024'], formatt='%Y') | hr.to_datetime() got an unexpected keyword argument 'formatt'; did you mean 'format'?
hr.asarray([1.0]).sum(axes=0) | Array.sum() got an unexpected keyword argument 'axes'; did you mean 'axis'?
"""  # noqa: E501


@pytest.mark.parametrize("line", WRONG_OPTIONS.strip().splitlines())
def test_a_wrong_option_names_its_method_and_the_nearest(line: str) -> None:
    call, text = line.split(" | ")
    with pytest.raises(TypeError, match=re.escape(text)):
        eval(call, {"f": FRAME, "hr": hr})


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("f.merge(f, on='city', copy=False)", "f.merge(f, on='city')"),
        ("f[['price']].cumsum(axis=0, skipna=True, numeric_only=False)", "f[['price']].cumsum()"),
        ("f.groupby('city').price.sum(engine=None)", "f.groupby('city').price.sum()"),
        ("f.bfill(axis=0, limit=None, inplace=False)", "f.bfill()"),
        ("hr.merge(f, f, on='city', copy=False)", "f.merge(f, on='city')"),
        ("f.astype({'price': 'float64'}, copy=True)", "f.astype({'price': 'float64'})"),
        ("f.price.add(1, level=None, fill_value=None)", "f.price.add(1)"),
        ("f.price.rolling(1, win_type=None, on=None).sum()", "f.price.rolling(1).sum()"),
        ("f.price.sort_index(kind='mergesort', sort_remaining=True)", "f.price.sort_index()"),
    ],
)
def test_options_of_pandas_that_change_nothing_are_accepted(text: str, plain: str) -> None:
    assert eval(text, {"f": FRAME, "hr": hr}).to_dict() == eval(plain, {"f": FRAME}).to_dict()


def test_an_error_inside_of_a_method_stays_as_it_is() -> None:
    def broken(frame: hr.DataFrame) -> None:
        frame.price.fillna(**{"nothing": 1})  # type: ignore[arg-type]

    with pytest.raises(TypeError, match=r"^Series.fillna\(\) got"):
        FRAME.pipe(broken)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'other'"):
        FRAME.price.dot(axis=0)  # type: ignore[call-arg]


def test_public_functions_are_like_functions() -> None:
    head = hr.DataFrame.head
    assert head.__name__ == FRAME.head.__name__ == "head"
    assert inspect.isroutine(head)
    assert inspect.isroutine(hr.concat)
    assert FRAME.head(n=1).price.to_list() == FRAME.price.head(*[1]).to_list()
    assert head(FRAME, **{"n": 1}).price.to_list() == hr.DataFrame.head(FRAME, 1).price.to_list()
    assert pickle.loads(pickle.dumps(hr.concat)) is hr.concat
    assert weakref.ref(head)() is head
    assert FRAME.head.__self__ is FRAME
    assert repr(hr.concat).startswith("<function concat")


def test_signatures_show_plain_types() -> None:
    text = str(inspect.signature(hr.DataFrame.merge))
    assert text.startswith("(self, right: DataFrame | Series, how: str = 'inner', on: str |")
    assert '"' not in text
    assert '"' not in str(inspect.signature(hr.to_datetime)) and "'" not in str(
        inspect.signature(hr.threads)
    )
    assert pickle.loads(pickle.dumps(hr.concat)) is hr.concat
    assert "-> Series" in str(inspect.signature(hr.Series.rename))
    assert hr.DataFrame.merge.__qualname__ == "DataFrame.merge"


def test_large_numpy_calls_name_what_the_engine_has() -> None:
    many = hr.asarray(np.zeros(1 << 21))
    with pytest.raises(hr.UnsupportedError, match=r"hr\.signal\.fft_convolve has it"):
        np.convolve(many, [1.0])


@pytest.mark.parametrize(
    "name", ["", "signal", "fft", "plot", "learn", "memory", "report", "errors"]
)
def test_modules_list_their_public_names(name: str) -> None:
    module = getattr(hr, name) if name else hr
    assert dir(module) == sorted(module.__all__)
    assert not [each for each in dir(module) if not hasattr(module, each)]


def test_tracebacks_in_a_notebook_show_the_lines_of_the_user(tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    program = tmp_path / "program.py"
    program.write_text(
        "import headrace as hr\n"
        "def mine(frame):\n"
        "    return frame.x.astype('int64').to_list()\n"
        "mine(hr.DataFrame({'x': ['a']}))\n"
    )
    line = [sys.executable, "-m", "IPython", "--colors=NoColor", "-c", f"%run {program}"]
    env = {"IPYTHONDIR": str(tmp_path), "PYTHONPATH": str(Path(hr.__file__).parents[1])}
    shown = subprocess.run(line, capture_output=True, text=True, env=env, check=False).stdout
    assert re.findall(r"^File (\S+?):(\d+)", shown, re.MULTILINE) == [
        (str(program), "4"),
        (str(program), "3"),
    ]
    assert "cannot parse a string as a number" in shown
