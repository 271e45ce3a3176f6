# SPDX-License-Identifier: Apache-2.0
"""The demo: its made-up input, its command line, its numbers, and what it says to bad input."""

import hashlib
import re
import subprocess
import sys

import numpy as np
import pytest
from headrace.demo import __main__ as command
from headrace.demo import generator, job, page, run, truth
from headrace.demo.meter import Meter
from headrace.demo.unusual import is_noise, most_unusual

import headrace as hr

HOURS = 0.2
# Of 20,000 rows with seed 1; each change of the generator changes it.
DIGEST = "9c25a48b58081ae90a0fffad2d5636e1d09382ba86c5bbbecafdbe919af14eec"
# Full-size passes of steps 1 to 6: CSV 2 (find the rows, parse), convolution, deviation, peaks,
# positions 2 (count, write), windows.
PASSES = 8


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small made-up input."""
    return run.made_up(tmp_path_factory.mktemp("cache"), HOURS, 1, lambda: None)


@pytest.fixture(scope="module")
def results(made):
    """The job on it, in this process."""
    meter = Meter()
    found = run.find_beats(made, meter, lambda name: None)
    yield found
    meter.close()


@pytest.fixture
def own_csv(tmp_path):
    """A user's file: the record, with a column of time and one of text."""
    record = generator.record()
    rows = len(record.samples)
    path = tmp_path / "my.csv"
    columns = {
        "time": np.arange(rows) / 360,
        "ecg": record.samples,
        "note": ["none"] * rows,
    }
    hr.DataFrame(columns).to_csv(path)
    return path


def call(monkeypatch, *words):
    """Run the command line in this process; its exit status."""
    monkeypatch.setattr(sys, "argv", ["demo", *map(str, words)])
    try:
        return command.main()
    except SystemExit as leaving:
        return leaving.code


@pytest.mark.pool
def test_the_same_bits_under_a_limit(tmp_path):
    words = [sys.executable, "-m", "headrace.demo", "--hours", "3", "--no-torch"]
    words += ["--cache", tmp_path / "cache", "--output", tmp_path / "report"]
    lines = []
    for limit in ([], ["--limit", "16MB"]):
        done = subprocess.run([*words, *limit], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        lines.append(dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line))
    free, short = lines
    assert free["results"] == short["results"]
    peak, evicted, _ = map(
        lambda number: int(number.replace(",", "")),
        re.findall(r"[\d,]*\d", short["under the limit of 16,000,000 bytes"]),
    )
    assert 8_000_000 < peak <= 16_000_000
    assert evicted > 0
    assert '"limit"' in (tmp_path / "report/index.html").read_text()


# ---- the made-up input ---------------------------------------------------------------------------
def test_the_same_bytes_for_any_threads(tmp_path):
    for threads in (1, 2, 4):
        path = tmp_path / f"{threads}.csv"
        with hr.threads(threads):
            hr.demo.ecg(path, hours=0.02)
        assert hashlib.sha256(path.read_bytes()).hexdigest() == DIGEST
    hr.demo.ecg(path, hours=0.02, seed=2)
    assert hashlib.sha256(path.read_bytes()).hexdigest() != DIGEST


def test_input_and_truth(tmp_path):
    beats = hr.demo.ecg(tmp_path / "ecg.csv", hours=0.1)
    frame = hr.read_csv(tmp_path / "ecg.csv")
    assert frame.columns == ["ecg"]
    assert len(frame) == 100_000
    signal, positions, kinds = generator.synthesize(100_000, 1)
    np.testing.assert_array_equal(frame.ecg, signal)
    assert beats.position.to_list() == positions.tolist()
    assert beats.label.to_list() == [hr.demo.KINDS[k] for k in kinds]
    assert set(beats.label.to_list()) == set(hr.demo.KINDS)
    assert (np.diff(positions) > 0.3 * hr.demo.RATE).all()


@pytest.mark.parametrize("hours", [0, -1, 1e-4, 1e6, float("nan"), float("inf")])
def test_no_such_length(hours):
    with pytest.raises(hr.InvalidArgumentError, match="length out of range: hours="):
        hr.demo.ecg("nowhere.csv", hours=hours)


def test_the_input_is_reused(made):
    stamp = made.path.stat().st_mtime_ns
    again = run.made_up(made.path.parent, HOURS, 1, lambda: pytest.fail("made again"))
    assert again.path == made.path
    assert made.path.stat().st_mtime_ns == stamp
    assert len(list(made.path.parent.iterdir())) == 2


# ---- judging -------------------------------------------------------------------------------------
def test_match():
    found, beats = np.array([10, 22, 23, 50, 90]), np.array([12, 21, 40, 52, 70, 91])
    assert truth.match(found, beats, 2.0).tolist() == [0, 1, -1, 3, 5]
    assert truth.match(found[:0], beats, 2.0).tolist() == []
    assert truth.match(found, beats[:0], 2.0).tolist() == [-1] * 5


def test_area():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    score, planted = rng.integers(0, 50, 1000).astype(np.float32), rng.random(1000) < 0.1
    assert truth.area(score, planted) == pytest.approx(metrics.roc_auc_score(planted, score))
    assert np.isnan(truth.area(score, np.zeros(1000, bool)))


# ---- the job -------------------------------------------------------------------------------------
def test_nothing_is_copied_between_steps_1_and_7(results):
    run.with_pca(results)
    assert [step.copied for step in results.meter.steps] == [0] * len(results.meter.steps)
    assert hr.memory.ledger().total_bytes == 0


def test_beats_and_outliers_are_found(results):
    beats = len(results.source.truth.positions)
    assert results.missed <= 0.01 * beats
    assert results.false <= 0.01 * len(results.plan.positions)
    first, second = run.with_pca(results), run.with_pca(results)
    assert first.area >= 0.90
    np.testing.assert_array_equal(first.score, second.score)


def test_unusual_beats_are_no_artefacts(results):
    score = run.with_pca(results).score
    beats, first = results.test.to_numpy(), len(results.train)
    noise = is_noise(beats, results.train.to_numpy())
    kinds = results.kinds[first:]
    noisy = [k in ("burst", "no beat") for k in kinds]
    worst = np.argsort(-score, kind="stable")[:12]
    assert sum(noisy[k] for k in worst) >= 3  # what the highest scores alone would show
    found = most_unusual(beats, score, noise, 12)
    assert sum(noisy[k] for k in found.rows) <= 1
    assert {"ventricular", "wide"} <= {kinds[k] for k in found.rows}
    assert found.artefacts >= 3


def test_explain_tells_the_passes(made):
    ecg = hr.asarray(hr.scan_csv(made.path, dtypes="float32").ecg)
    plan = job.plan(ecg, generator.RATE)
    assert re.search(rf"\b{PASSES} full-size passes", plan.beats.explain())


def test_the_report_gains_the_second_model(results, tmp_path):
    pca = run.with_pca(results)
    page.save(tmp_path / "index.html", results, [pca])
    one = (tmp_path / "index.html").read_text()
    page.save(tmp_path / "index.html", results, [pca, pca._replace(name="autoencoder")])
    two = (tmp_path / "index.html").read_text()
    assert "<h2>PCA: later beats</h2>" in one
    assert "<h2>Autoencoder" not in one
    assert "<h2>PCA: later beats</h2>" in two
    assert "<h2>Autoencoder: later beats</h2>" in two
    # The series, the tachogram, some beats, later beats, unusual beats.
    assert one.count('id="blob-') == 5
    assert two.count('id="blob-') == 5  # the same rows stand in the page once
    assert (tmp_path / "ecg.svg").exists()


# ---- the command line ----------------------------------------------------------------------------
def test_whole_run(tmp_path):
    words = f"-m headrace.demo --hours {HOURS} --no-torch".split()
    folders = ("--cache", tmp_path / "cache", "--output", tmp_path / "out")
    texts = []
    for _ in range(2):
        done = subprocess.run([sys.executable, *words, *folders], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""  # no progress bar where no terminal reads
        texts.append(
            [line for line in done.stdout.splitlines() if " found" in line or "area" in line]
        )
    assert texts[0] == texts[1]
    assert "copied between steps 1 and 7: 0 bytes" in done.stdout
    assert "open it in a browser" in done.stdout
    assert float(texts[0][-1].rpartition(" ")[2]) >= 0.90
    assert [line[0] for line in done.stdout.splitlines() if re.match(r"\d ", line)] == list(
        "12345678"
    )
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["ecg.svg", "index.html"]


def test_own_file(own_csv, tmp_path, monkeypatch, capsys):
    output = tmp_path / "out"
    words = (own_csv, "--column", "ecg", "--rate", 360, "--no-torch", "--output", output)
    assert call(monkeypatch, *words) == 0
    said = capsys.readouterr().out
    assert "PCA: " in said
    assert "area" not in said  # nobody knows the truth
    assert "truth" not in said
    assert "my.csv" in (output / "index.html").read_text()


def test_missing_values_become_the_mean(tmp_path, monkeypatch, capsys):
    samples = generator.record().samples
    lines = [f"{x}" if i % 1000 else "NA" for i, x in enumerate(samples)]
    path = tmp_path / "one_column.csv"
    path.write_text("\n".join(["ecg", *lines, ""]))
    words = (path, "--rate", 360, "--no-torch", "--output", tmp_path / "out")
    assert call(monkeypatch, *words) == 0
    assert "missing values replaced by the mean: 108" in capsys.readouterr().out


def test_without_torch_it_goes_on_and_says_so(own_csv, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    output = tmp_path / "out"
    words = (own_csv, "--column", "ecg", "--rate", 360, "--output", output)
    assert call(monkeypatch, *words) == 0
    assert "autoencoder: skipped, PyTorch cannot be used" in capsys.readouterr().out
    assert "PCA: later beats" in (output / "index.html").read_text()


FLAT = "ecg\n" + "1.5\n" * 5000
SHORT = "ecg\n" + "".join(f"{x}\n" for x in (np.arange(4000) % 300 < 5) * 1.0)
QUIET = "ecg\n" + "".join(f"{x}\n" for x in np.arange(5000) / 5000)


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        (None, "--rate 360", "no such file"),
        (None, ". --rate 360", "no file in the folder"),
        (None, "--column x", "pass it first"),
        (None, "--hours 0", "--hours 0: expected 0.02 to 1000"),
        (None, "--hours nan", "--hours nan: expected 0.02 to 1000"),
        (None, "--speed 3", "unrecognized arguments: --speed"),
        (
            "a,b\n1,2\n",
            "--rate 360",
            "the file has several columns; add --column NAME, one of: a, b",
        ),
        ("a,b\n1,2\n", "--rate 360 --column c", "no such column: name='c'"),
        ("a,b\n1,x\n", "--rate 360 --column b", "holds text, not numbers: column='b'"),
        ("a\n1\n", "", "the sampling rate is missing"),
        ("a\n1\n", "--rate 0", "the rate is too low for an ECG: rate=0"),
        ("a\n1\n", "--rate -5", "the rate is too low for an ECG: rate=-5"),
        ("a\n1\n", "--rate nan", "the rate is too low for an ECG: rate=nan"),
        ("a\n1\n", "--rate x", "invalid float value: 'x'"),
        ("a\n1\n2\n", "--rate 360", "too short: rows=2"),
        ("", "--rate 360", "no rows"),
        ("a\n", "--rate 360", "the column holds no signal: column='a', rows=0"),
        ("a\n1\ninf\n", "--rate 360", "the column holds no signal"),
        (FLAT, "--rate 360", "the column holds no signal"),
        (SHORT, "--rate 360", "too few beats to learn from"),
        (QUIET, "--rate 360", "too few beats to learn from"),
    ],
)
def test_bad_input_is_one_line(tmp_path, monkeypatch, capsys, text, words, said):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / "my.csv").write_text(text)
    own = text is not None or words == "--rate 360"
    status = call(monkeypatch, *(["my.csv"] if own else []), *words.split(), "--cache", "cache")
    assert status == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1
    assert err.startswith("headrace.demo: ")
    assert {path.name for path in tmp_path.iterdir()} <= {"my.csv"}
