# SPDX-License-Identifier: Apache-2.0
"""`headrace.compare`: it finds what differs, what is missing, and goes on."""

import datetime as dt
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from headrace.compare import compare, difference

import headrace as hr

NAN = float("nan")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (1.0, 1),
        (0.1 + 0.2, 0.3),
        (NAN, None),
        (pd.NaT, None),
        (pd.Timestamp("2024-01-05"), dt.date(2024, 1, 5)),
        (np.datetime64("2024-01-05T03:00"), dt.datetime(2024, 1, 5, 3)),
        (pd.Timedelta("1h"), dt.timedelta(hours=1)),
        (pd.Interval(0, 18), "(0, 18]"),
        ([1, [2, NAN]], (1, [2, None])),
        ({"a": pd.Series([1])}, {"a": hr.Series([1.0])}),
        (pd.Index(["a", "b"]), ["a", "b"]),
        (np.eye(2), np.eye(2)),
        (pd.DataFrame({2024: [1]}), hr.DataFrame({"2024": [1]})),
        (pd.Series(["x", None], name="s"), hr.Series(["x", None])),
        (pd.Series([1, 2], index=["a", "b"]), hr.Series({"a": 1, "b": 2})),
        (np.float64(2.5), hr.Series([2.0, 3.0]).mean()),
        (pd.DataFrame({"a": [1]}, index=[3]), hr.DataFrame({"a": [1]})),
        (pd.Series([0, 0], index=["a", "b"]), hr.Series({"b": 0, "a": 0})),
    ],
)
def test_equal_values(wanted, found):
    """What a reader takes for the same is the same."""
    assert difference(wanted, found) is None


@pytest.mark.parametrize(
    ("wanted", "found", "says"),
    [
        (1.0, 1.001, "pandas 1.0, Headrace 1.001"),
        ("1", 1, "pandas '1', Headrace 1"),
        ([1, 2], [2, 1], "[0]"),
        (pd.DataFrame({"a": [1]}), hr.DataFrame({"b": [1]}), "columns"),
        (pd.DataFrame({"a": [1, 2]}), hr.DataFrame({"a": [1]}), "2 rows"),
        (pd.DataFrame({"a": [1.0, NAN]}), hr.DataFrame({"a": [1, 0]}), "['a']: row 1"),
        (pd.Series([1, 2], index=["a", "b"]), hr.Series({"a": 1, "c": 2}), "labels: row 1"),
        (pd.Series([1, 2], index=["a", "b"]), hr.Series([1, 2]), "no labels"),
        (pd.Series([1, 1], index=["a", "b"], name="count"), hr.Series({"b": 1, "a": 1}), "labels"),
        (pd.Series([1]), hr.Series([None]), "row 0"),
        (np.eye(2), np.eye(3), "shape"),
        ({"a": 1}, {"b": 1}, "keys"),
        (pd.DataFrame({"a": [1]}), hr.Series([1]), "a frame"),
    ],
)
def test_different_values(wanted, found, says):
    """A difference is told with its place."""
    assert says in difference(wanted, found)


def steps(text):
    return list(compare(text))


def test_a_missing_word_does_not_stop_the_script():
    """The error is told, and what the step set comes from pandas."""
    *_, wrong, after = steps(
        "import pandas as pd\n"
        "s = pd.Series([1.0]) if pd.__name__ == 'pandas' else pd.Series([1.0]).absent\n"
        "s * 2"
    )
    assert "absent" in wrong.error and not wrong.differences
    assert after.works


def test_a_difference_is_told_once():
    """After it, the value of pandas goes on."""
    *_, wrong, after = steps("import pandas as pd\ns = pd.Series([len(pd.__name__)])\ns + 1")
    assert wrong.differences == ["s: row 0: pandas 6, Headrace 8"]
    assert after.works


def test_prints_cells_and_random_numbers():
    """Printed values are compared; random numbers are the same in both runs."""
    done = steps(
        "# %% first\nimport pandas as pd\nimport numpy as np\nnp.random.seed(1)\n"
        "s = pd.Series(np.random.rand(4))\n"
        "# %% second\nprint(s.mean(), len(pd.__name__))\n"
        "# %% third\nt = s + np.random.rand(4)\n"
    )
    assert [step.line for step in done] == [2, 7, 9]
    assert [step.works for step in done] == [True, False, True]
    assert done[1].differences == ["shown: pandas 6, Headrace 8"]


def test_what_pandas_refuses():
    """A step that raises in both is right, else it is a difference."""
    text = "import pandas as pd\npd.Series([1]).absent\nif pd.__name__ == 'pandas':\n    1 / 0"
    _, both, one = steps(text)
    assert both.works
    assert "pandas raises ZeroDivisionError" in one.differences[0]


def test_the_command(tmp_path):
    """It prints what is wrong, and its status says whether something is."""
    script = tmp_path / "script.py"
    call = [sys.executable, "-m", "headrace.compare"]
    script.write_text("import pandas as pd\npd.Series([1, 2]).sum()\n")
    good = subprocess.run([*call, str(script)], capture_output=True, text=True)
    assert good.returncode == 0 and "2 steps: 2 agree" in good.stdout, good
    script.write_text(
        "import pandas as pd\npd.Series([1]).plot()\n%matplotlib inline\nlen(pd.__name__)\n"
    )
    bad = subprocess.run([*call, str(script)], capture_output=True, text=True)
    assert bad.returncode == 1
    assert "line 4: len(pd.__name__)\n  shown: pandas 6, Headrace 8\n" in bad.stdout
    assert subprocess.run(call, capture_output=True).returncode == 2
    assert subprocess.run([*call, "no such"], capture_output=True).returncode == 2
