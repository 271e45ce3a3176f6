# SPDX-License-Identifier: Apache-2.0
"""Each rule finds what it should and nothing else; files, notebooks, formats and exit statuses."""

import ast
import contextlib
import json
import os
import random
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from headrace.lint import source
from headrace.lint.checker import Checker
from headrace.lint.command import main
from headrace.lint.flake8 import Plugin
from headrace.lint.rules import RULES, message
from headrace.lint.source import check

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/lint.md").read_text()
BEGIN = re.search(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)[1]
EXAMPLES = {
    match[1]: re.findall(r"^```py\n(.*?)^```$", match[2], re.M | re.S)
    for match in re.finditer(r"^### (HR\d{3}).*?\n(.*?)(?=^### |\Z)", PAGE, re.M | re.S)
}
IMPORTS = "import headrace as hr\nimport numpy as np\nimport pandas as pd\nimport polars as pl\n"
RULES_OF_ROWS = message("HR001", "iterrows")
FRAME = "df = pd.DataFrame({'a': [1], 'b': [2]})\n"


def codes(code: str) -> list[str]:
    """The codes of what is found in code that begins with the usual imports."""
    return [each.code for each in check(IMPORTS + FRAME + textwrap.dedent(code), "job.py")]


def test_every_rule_is_documented() -> None:
    assert list(EXAMPLES) == list(RULES) and len(RULES) == 18
    assert all(len(blocks) == 2 for blocks in EXAMPLES.values())


@pytest.mark.parametrize("code", list(RULES))
def test_examples_of_the_page(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first example is found, the second is not, and both run."""
    bad, good = EXAMPLES[code]
    assert [each.code for each in check(BEGIN + bad, "job.py")].count(code) >= 1
    assert check(BEGIN + good, "job.py") == []
    if code == "HR017":
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    exec(BEGIN + good, {})
    if code not in ("HR005", "HR006"):  # Headrace refuses some of what is reported
        exec(BEGIN + bad, {})


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("for i, row in enumerate(unknown.iterrows()): pass", "HR001"),
        ("x = [r.a for r in unknown.itertuples(index=False)]", "HR001"),
        ("for row in pl.read_csv('a').iter_rows(): pass", "HR001"),
        ("first = next(df.iterrows())", ""),
        ("x = [t for t in df.itertuples(index=False, name=None)]", ""),
        ("for each in rows.iterate(): pass", ""),
        ("for f in fs:\n    df = pd.concat([df, f])", "HR002"),
        ("for f in fs:\n    out = out.append(f)", "HR002"),
        ("while go():\n    x = np.append(x, go())", "HR002"),
        ("for f in fs:\n    self.x = np.vstack((self.x, f))", "HR002"),
        ("for f in fs:\n    out.append(f)", ""),
        ("for f in fs:\n    df = pd.concat([a, f])", ""),
        ("for f in fs:\n    x = f()\n    x = np.append(x, 1)", ""),
        ("for f in (1, 2):\n    df = pd.concat([df, f])", ""),
        ("df = pd.concat([df, df])", ""),
        ("df.apply(lambda r: r.a * 2 + abs(r['b']), axis='columns')", "HR003"),
        ("df.apply(lambda r: np.sqrt(r.a), 1)", "HR003"),
        ("def f(r):\n    'Doc.'\n    return r.a - r.b\ndf.apply(f, axis=1)", "HR003"),
        ("df.apply(lambda r: r.a if r.b else 0, axis=1)", ""),
        ("df.apply(lambda r: r.sum(), axis=1)", ""),
        ("df.apply(lambda r: r.name + r.dtype, axis=1)", ""),
        ("df.apply(lambda c: c.a + 1)", ""),
        ("for i in range(len(df)):\n    x = df.iloc[i]", "HR004"),
        ("for i in range(n):\n    x = df.iat[i, 0]", "HR004"),
        ("for i in range(n):\n    x = v[i].item()", "HR004"),
        ("for i in df.index:\n    x = df.loc[i, 'a']", "HR004"),
        ("s = pd.Series([1])\nx = [float(s[i]) for i in range(n)]", "HR004"),
        ("for i in range(n):\n    x = df.iloc[i:]", ""),
        ("for i in range(n):\n    x = df.iloc[:, i]", ""),
        ("for i in range(n):\n    df.iloc[i] = 0", ""),
        ("for i in range(df.shape[1]):\n    x = df.iloc[i]", ""),
        ("for i in range(n):\n    x = float(v[i])", ""),
        ("for k in keys:\n    x = df.loc[k]", ""),
        ("x = df.iloc[i]", ""),
        ("df['a'][0] = 1", "HR005"),
        ("df[df.a > 1]['b'] = 1", "HR005"),
        ("df.loc[m]['b'] += 1", "HR005"),
        ("d = {}\nd['a']['b'] = 1", ""),
        ("df.loc[0, 'a'] = 1", ""),
        ("x = df['a'][0]", ""),
        ("unknown.drop(columns='a', inplace=True)", "HR006"),
        ("df.drop(columns='a', inplace=False)", ""),
        ("layer = ReLU(inplace=True)", ""),
        ("super().drop('a', inplace=True)", ""),
        ("nn.relu(x, inplace=True)", ""),
        ("df2 = pd.DataFrame(df.values, columns=['x', 'y'])", "HR007"),
        ("s = pd.Series(df.a.to_numpy())", "HR007"),
        ("p = pl.read_csv('a').to_pandas()\nx = pl.from_pandas(p)", "HR007"),
        ("x = hr.DataFrame(df)", ""),
        ("x = pd.DataFrame(d.values())", ""),
        ("x = df.to_numpy()", ""),
        ("x = df.sort_values('a').iloc[:5]", "HR008"),
        ("x = df.sort_values('a').tail(1)", "HR008"),
        ("x = pl.read_csv('a').sort('x').head(3)", "HR008"),
        ("x = df.sort_values('a')", ""),
        ("x = df.sort_values('a').iloc[5:]", ""),
        ("x = df.sort_index().head(2)", ""),
        ("x = df.groupby('a').agg(np.sum)", "HR009"),
        ("g = df.groupby('a')\nx = g.b.apply(lambda v: np.mean(v))", "HR009"),
        ("x = df.groupby('a').apply(len)", "HR009"),
        ("x = df.groupby('a').apply(lambda g: g.b.max() - g.b.min())", ""),
        ("x = df.groupby('a').agg('sum')", ""),
        ("x = df.apply(np.sum)", ""),
        ("x = df.groupby('a').b.apply(lambda v: v.mean(skipna=False))", ""),
        ("n = len(unknown[(unknown.a > 1) & (unknown.b < 2)])", "HR010"),
        ("m = df.a > 1\nn = len(df[m])", "HR010"),
        ("n = df.loc[df.a > 1].shape[0]", "HR010"),
        ("n = len(df[['a']])", ""),
        ("n = len(x[a > b])", ""),
        ("n = len(df[name])", ""),
        ("x = pd.concat([pd.read_csv(f) for f in fs])", "HR011"),
        ("x = pd.concat(map(pd.read_parquet, fs), ignore_index=True)", "HR011"),
        ("fs = [pd.read_csv(f) for f in names]\nx = pd.concat(fs)", "HR011"),
        ("x = pd.concat([pd.read_csv(f) for f in fs], axis=1)", ""),
        ("x = [pd.read_csv(f) for f in fs]", ""),
        ("for f in fs:\n    df = df.merge(f, on='k')", "HR012"),
        ("for f in fs:\n    df = pd.merge(df, f)", "HR012"),
        ("for f in fs:\n    x = df.merge(f, on='k')", ""),
        ("for f in fs:\n    text = text.join(f)", ""),
        ("x = df.a != None", "HR013"),
        ("x = value == float('nan')", "HR013"),
        ("x = value == None", ""),
        ("x = df.a is None", ""),
        ("x = df.a == 'nan'", ""),
        ("with pytest.raises(ValueError):\n    df.drop('z', inplace=True)", ""),
        ("h = hr.read_csv('a')\nx = [h.a.to_numpy(), h.b.to_numpy(), h['c'].to_numpy()]", "HR014"),
        ("x = [df.a.to_numpy(), df.b.to_numpy(), df.c.to_numpy()]", ""),
        ("def f():\n    t = pd.read_csv('a')\n    return t['x'] + t['y']", "HR015"),
        ("def f():\n    t = pd.read_parquet('a')\n    return t[['x', 'y']]", "HR015"),
        ("def f():\n    t = pd.read_csv('a')\n    return t['x'], t", ""),
        ("def f():\n    t = pd.read_csv(io.StringIO('a'))\n    return t['x']", ""),
        ("def f():\n    t = pd.read_csv('a', usecols=['x'])\n    return t['x']", ""),
        ("def f():\n    t = pd.read_csv('a')\n    t['x'] = 1\n    return t['x']", ""),
        ("n = 5_000_000\nx = np.zeros(n)\ny = x * 2 + 1", "HR016"),
        ("x = np.zeros(500)\ny = x * 2 + 1", ""),
        ("x = np.zeros(5_000_000)\ny = x * 2", ""),
        ("y = np.zeros(10**7) + 10**12", ""),
        ("import torch\nx = np.zeros(3)\nt = torch.tensor(x)", "HR017"),
        ("import torch\nt = torch.tensor([1, 2])", ""),
        ("x = df.sample(frac=0.5)", "HR018"),
        ("x = df.sample(5, random_state=1)", ""),
        ("x = random.sample(range(9), 5)", ""),
        ("np.random.seed(0)\nx = df.sample(5)", ""),
    ],
)
def test_rules(code: str, found: str) -> None:
    """What is found, and what is like it and is not."""
    assert codes(code) == ([found] if found else [])


def test_names_are_forgotten() -> None:
    """A name that holds something else is no frame any more."""
    assert codes("x = df\nx['a'][0] = 1") == ["HR005"]
    assert codes("x = df\nx = load()\nx['a'][0] = 1") == []
    assert codes("def f(df):\n    df['a'][0] = 1") == []
    assert codes("def f(x: pd.DataFrame):\n    x['a'][0] = 1") == ["HR005"]
    assert codes("def f(x: 'pd.DataFrame'):\n    x['a'][0] = 1") == ["HR005"]
    assert codes("for df in frames():\n    df['a'][0] = 1") == []


@pytest.mark.parametrize(
    ("comment", "stays"),
    [
        ("# noqa", False),
        ("# noqa: HR006", False),
        ("#NOQA:HR001,HR006 because", False),
        ("# noqa: E501, HR006", False),
        ("# noqa: HR001", True),
        ("# noqa: E501", True),
        ("# a comment", True),
    ],
)
def test_noqa(comment: str, stays: bool) -> None:
    assert codes(f"df.drop('a', inplace=True)  {comment}") == ["HR006"] * stays
    assert codes(f"df.drop(\n    'a',  {comment}\n    inplace=True,\n)") == ["HR006"] * stays


def test_places_count_characters() -> None:
    (found,) = check("é = 'ü'; x.drop(inplace=True)\n", "a.py")
    assert (found.line, found.column, found.end_line, found.end_column) == (1, 10, 1, 30)
    assert found.place == "a.py:1:10"


def everything(text: str) -> list[tuple[int, str]]:
    """What the rules find when all of a file is parsed."""
    found = Checker(ast.parse(text), text, source._CHECKS).run()
    return sorted({(each.node.lineno, each.code) for each in found})


def test_parts_of_a_file_give_what_all_of_it_gives() -> None:
    """Only what may hold a finding is parsed; that loses nothing and moves nothing."""
    blocks = [block for pair in EXAMPLES.values() for block in pair]
    choose = random.Random(0)
    for turn in range(60):
        parts = [BEGIN]
        for i in range(12):
            body = textwrap.indent(choose.choice(blocks), "    ")
            kind = choose.randrange(4)
            if kind == 0:
                parts.append(f"def f{i}():\n{body}\n")
            elif kind == 1:
                method = textwrap.indent(body, "    ")
                begin = f"class C{i}:\n    x = 1\n\n    @staticmethod\n    def f():\n"
                parts.append(f"{begin}{method}\n    def g(self):\n        pass\n")
            elif kind == 2:
                parts.append(f'def g{i}():\n    """Text\ndef f(): # of a string\n    """\n')
            else:
                parts.append("def h():\n    return 1\n\n\n@property\n# comment\ndef k(): pass\n")
        text = "\n".join(parts)
        found = [(each.line, each.code) for each in check(text, "a.py")]
        assert sorted(set(found)) == everything(text), turn


def test_code_in_strings_is_no_code() -> None:
    code = "for _, row in df.iterrows():\n    pass\n"
    assert check(f'x = """\n{code}"""\n', "a.py") == []
    assert check(f"def f():\n    '''\n{code}'''\n    x.drop(inplace=True)\n", "a.py")[0].line == 6


def notebook(*cells: str, kind: str = "code") -> str:
    parts = [{"cell_type": kind, "source": each.splitlines(keepends=True)} for each in cells]
    text = {"cell_type": "markdown", "source": "df.iterrows()"}
    return json.dumps({"cells": [text, *parts], "nbformat": 4})


def test_notebooks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cells are one program; what is no Python is left out."""
    path = tmp_path / "work.ipynb"
    path.write_text(
        notebook(
            "%matplotlib inline\nimport pandas as pd\ndf = pd.read_csv('a')\n!ls\ndf?",
            "%%bash\nfor x in $(ls); do echo; done",
            "%%time\n\ndf['a'][0] = 1",
            "def unfinished(",
            "for row in df.itertuples(): pass",
        )
    )
    assert main([str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.removeprefix(str(path)).split(" ")[:3] for line in lines] == [
        [":cell", "4:3:1:", "HR005"],
        [":cell", "6:1:12:", "HR001"],
    ]
    path.write_text("{}")
    assert main([str(path)]) == 2
    assert "no notebook" in capsys.readouterr().err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/job.py").write_text(
        "for _, row in df.iterrows():\n    df.drop(inplace=True)\n"
    )
    (tmp_path / "clean.py").write_text("x = 1\n")
    for hidden in (".git", "venv"):
        (tmp_path / hidden).mkdir()
        (tmp_path / hidden / "job.py").write_text("df.drop(inplace=True)\n")
    (tmp_path / "venv/pyvenv.cfg").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("options", "status", "found"),
    [
        (["."], 1, ["HR001", "HR006"]),
        (["sub/job.py", "--select", "HR006"], 1, ["HR006"]),
        (["sub", "--select=HR0", "--ignore=hr001"], 1, ["HR006"]),
        (["sub", "--ignore=HR001,HR006"], 0, []),
        (["clean.py"], 0, []),
        (["clean.py", "missing.py"], 2, []),
        (["sub/job.py", "missing.py"], 2, ["HR001", "HR006"]),
    ],
)
def test_command(
    folder: Path,
    options: list[str],
    status: int,
    found: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(options) == status
    out, err = capsys.readouterr()
    assert [line.split()[1] for line in out.splitlines()] == found
    assert ("cannot read missing.py: No such file" in err) == (status == 2)


def test_wrong_usage_and_wrong_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in ([], ["x.py", "--select=X"], ["x.py", "--format=xml"]):
        with pytest.raises(SystemExit) as raised:
            main(options)
        assert raised.value.code == 2
    (folder / "bad.py").write_text("x = 1\nfor _ in df.iterrows(:\n")
    (folder / "bytes.py").write_bytes(b"x.drop(inplace=True) # \xff\n")
    (folder / "null.py").write_bytes(b"x.drop(inplace=True)\0\n")
    (folder / "deep.py").write_text("x.drop(inplace=True)\nx = " + "(" * 5000 + "\n")
    for name in ("bad.py", "bytes.py", "null.py", "deep.py"):
        assert main([name]) == 2, name
    assert "cannot read bad.py:2: " in capsys.readouterr().err
    (folder / "latin.py").write_bytes(b"# coding: latin-1\nx = '\xe9'; x.drop(inplace=True)\n")
    assert main(["latin.py"]) == 1
    assert "latin.py:2:10: HR006" in capsys.readouterr().out


def test_formats(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["sub", "--format=json"])
    first, second = json.loads(capsys.readouterr().out)
    assert (first["code"], first["line"], first["path"]) == ("HR001", 1, "sub/job.py")
    main(["sub", "--format=sarif"])
    sarif = json.loads(capsys.readouterr().out)
    (run,) = sarif["runs"]
    assert sarif["version"] == "2.1.0" and len(run["tool"]["driver"]["rules"]) == 18
    result = run["results"][1]
    assert result["ruleId"] == "HR006" and result["level"] == "warning"
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "HR006"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "sub/job.py"
    assert place["region"] == {"startLine": 2, "startColumn": 5, "endLine": 2, "endColumn": 26}
    main(["sub", "--format=github"])
    line = capsys.readouterr().out.splitlines()[1]
    head = "::warning file=sub/job.py,line=2,endLine=2,col=5,endColumn=26,title=HR006::drop("
    assert line.startswith(head)
    assert second["end_column"] == 26
    os.rename("sub/job.py", "sub/a,b%.py")
    main(["sub", "--format=github"])
    assert "file=sub/a%2Cb%25.py," in capsys.readouterr().out


def test_flake8_plugin() -> None:
    lines = ["import pandas\n", "x.drop(inplace=True)\n"]
    ((line, column, message, kind),) = Plugin(ast.parse("".join(lines)), lines).run()
    assert (line, column, kind) == (2, 0, Plugin) and message.startswith("HR006 ")


def test_bytes_of_any_kind() -> None:
    """Text that is nearly Python raises SyntaxError or gives findings, never another error."""
    choose = random.Random(1)
    words = ["df", ".", "iterrows(", "inplace=True", ")", "[", "]", ":", "for", "in", "\n", '"""']
    words += ["'''", "'x'", "==", "np.nan", "lambda", "#", "\\", "float(", "]["]
    for _ in range(2000):
        text = " ".join(choose.choice(words) for _ in range(choose.randrange(1, 30)))
        with contextlib.suppress(SyntaxError):
            check(text, "a.py")


def test_the_command_loads_little(tmp_path: Path) -> None:
    """Neither the engine nor a library of frames or arrays is imported."""
    path = tmp_path / "job.py"
    path.write_text("for _, row in df.iterrows():\n    pass\n")
    command = [sys.executable, "-X", "importtime", "-m", "headrace", "lint", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == f"{path}:1:15: HR001 {RULES_OF_ROWS}\n"
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "headrace.lint.source" in loaded
    heavy = {"numpy", "pandas", "inspect", "headrace._core", "headrace.errors", "headrace.memory"}
    assert not loaded & heavy
    assert subprocess.run(command[:-1], capture_output=True).returncode == 2


def test_other_commands(tmp_path: Path) -> None:
    """An unknown command is refused, and the package loads as ever where `lint` is an argument."""
    command = [sys.executable, "-m", "headrace"]
    done = subprocess.run([*command, "nonsense"], capture_output=True, text=True)
    assert done.returncode == 2 and "doctor" in done.stdout
    (tmp_path / "other.py").write_text("import headrace; print(headrace.Series([1, 2]).sum())\n")
    done = subprocess.run(
        [sys.executable, "-m", "other", "lint"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.strip().endswith("3"), done.stderr
