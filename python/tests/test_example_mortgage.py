# SPDX-License-Identifier: Apache-2.0
"""The mortgage job of examples/mortgage: split or not, limited or not, the same bits."""

import sys
from pathlib import Path

import numpy as np
import pytest

import headrace as hr

FOLDER = str(Path(__file__).parents[2] / "examples/mortgage")
LOANS = 4000


@pytest.fixture(scope="module", autouse=True)
def _path():
    pytest.importorskip("xgboost")
    sys.path.insert(0, FOLDER)
    yield
    sys.path.remove(FOLDER)
    for name in ("loans", "etl", "job", "main"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files of a few loans, by their number."""
    import loans

    folder = tmp_path_factory.mktemp("loans")
    return {count: loans.write(folder / str(count), LOANS, count) for count in (1, 112)}


def text(pattern):
    paths = sorted(Path(pattern).parent.glob(Path(pattern).name))
    return len(paths), b"".join(path.read_bytes() for path in paths)


def test_files(files):
    one, many = files[1], files[112]
    assert [text(pattern)[0] for pattern in (*one, *many)] == [1, 1, 28, 112]
    assert [text(a)[1] for a in one] == [text(a)[1] for a in many]
    assert text(one.acquisition)[1].count(b"\n") == LOANS
    first = text(one.performance)[1].split(b"\n", 1)[0].decode().split("|")
    assert first[1] == "2000-01-01" and first[4] == "" and len(first) == 9


def test_no_other_split(tmp_path):
    import loans

    with pytest.raises(ValueError, match="files=7"):
        loans.write(tmp_path / "x", 10, 7)


@pytest.fixture(scope="module")
def unsplit(files):
    """Features and labels."""
    import etl

    final = etl.etl(hr, *etl.read(files[1]))
    hr.eval(final)
    return final


def test_many_files_are_one(files, unsplit):
    import etl

    many = etl.etl(hr, *etl.read(files[112]))
    assert list(many.columns) == list(unsplit.columns)
    for name in many.columns:
        np.testing.assert_array_equal(many[name].to_numpy(), unsplit[name].to_numpy())


def test_like_pandas(files, unsplit):
    pandas = pytest.importorskip("pandas")
    import etl
    import loans

    parts = []
    for path, kinds in (
        (files[1].performance, loans.PERFORMANCE),
        (files[1].acquisition, loans.ACQUISITION),
    ):
        (path,) = Path(path).parent.glob(Path(path).name)
        dates = [name for name, kind in kinds.items() if kind == "date"]
        dtypes = {name: kind for name, kind in kinds.items() if kind != "date"}
        options = dict(header=None, names=list(kinds), dtype=dtypes, parse_dates=dates)
        parts.append(pandas.read_csv(path, sep="|", **options))
    theirs = etl.etl(pandas, *parts)
    assert list(unsplit.columns) == list(theirs.columns)
    for name in theirs.columns:
        np.testing.assert_array_equal(unsplit[name].to_numpy(), theirs[name].to_numpy())
    assert 0.05 < theirs[etl.LABEL].mean() < 0.5


def test_labels_look_ahead(files, unsplit):
    """A month is labelled if its loan is 120 days late, or paid back, in the year it begins."""
    import etl

    months = etl.read(files[1])[0].iloc[:2000]
    loan, state = months.loan_id.to_numpy(), months.status.to_numpy()
    gone = months.upb.fillna(1.0).to_numpy() == 0
    label = unsplit[etl.LABEL].to_numpy()
    for row in range(1500):
        year = slice(row, row + 12)
        same = loan[year] == loan[row]
        assert label[row] == ((state[year] > 3) | gone[year])[same].any()


def test_correlations(unsplit):
    import etl
    import job

    features = list(unsplit.columns.difference([etl.LABEL]))
    found, present = job.correlate(unsplit, features)
    table = np.column_stack([unsplit[name].to_numpy() for name in features]).astype(float)
    label = unsplit[etl.LABEL].to_numpy()
    expected = [np.corrcoef(column, label)[0, 1] for column in table.T]
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert present == (table != 0).mean()


@pytest.mark.pool
@pytest.mark.parametrize("count", [1, 112])
def test_same_model_in_a_quarter_of_the_memory(files, tmp_path, monkeypatch, capsys, count):
    import main

    monkeypatch.setattr(main, "made_up", lambda *given: files[count])
    words = ["main", "--rounds", "3", "--loans", str(LOANS), "--output", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    assert main.main() == 0
    said = dict(
        line.split(": ", 1) for line in capsys.readouterr().out.splitlines() if ": " in line
    )
    first, _, second, verdict = said["model"].replace(",", "").split()
    assert first == second and verdict == "equal"
    (limit,) = [key for key in said if key.startswith("under the limit of")]
    most = int(limit.split()[-2].replace(",", ""))
    peak = int(said[limit].split()[1].rstrip(",").replace(",", ""))
    free = int(said["peak without a limit"].split()[0].replace(",", ""))
    assert peak <= most == free // 4
    page = (tmp_path / "index.html").read_text()
    for title in ("Memory over time, under the limit", "Feature importances", "zero_balance"):
        assert title in page


def test_too_few_loans(monkeypatch, capsys):
    import main

    monkeypatch.setattr(sys, "argv", ["main", "--loans", "100"])
    with pytest.raises(SystemExit):
        main.main()
    assert "expected 4000 or more" in capsys.readouterr().err
