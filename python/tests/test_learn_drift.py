# SPDX-License-Identifier: Apache-2.0
"""Drift of columns: statistics beside SciPy's, decisions, the report and its page."""

import numpy as np
import pytest

import headrace as hr
from headrace import learn
from headrace.learn import drift

stats = pytest.importorskip("scipy.stats")
pd = pytest.importorskip("pandas")


@pytest.mark.parametrize("seed", range(30))
def test_ks_is_scipys(seed):
    rng = np.random.default_rng(seed)
    a = np.sort(rng.normal(size=rng.integers(1, 400)))
    b = np.sort(rng.normal(rng.uniform(0, 0.5), size=rng.integers(1, 400)))
    if seed % 3 == 0:
        a, b = np.round(a, 1), np.round(b, 1)
    gap, p = drift.two_sample_ks(a, b)
    expected = stats.ks_2samp(a, b, method="exact")
    assert gap == pytest.approx(expected.statistic, rel=1e-12)
    assert p == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_ks_of_many_rows_is_scipys(seed):
    rng = np.random.default_rng(seed)
    a = np.sort(rng.normal(size=5000))
    b = np.sort(rng.normal(0.01 * seed, size=9000))
    gap, p = drift.two_sample_ks(a, b)
    expected = stats.ks_2samp(a, b, method="asymp")
    assert (gap, p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-3, abs=1e-12)


def test_ks_of_samples_apart():
    assert drift.two_sample_ks(np.arange(100.0), np.arange(100.0)) == (0.0, 1.0)
    gap, p = drift.two_sample_ks(np.arange(100.0), np.arange(500.0, 600.0))
    assert gap == 1 and 0 < p < 1e-30
    gap, p = drift.two_sample_ks(np.arange(0.0), np.arange(5.0))
    assert np.isnan(gap) and p == 1


@pytest.mark.parametrize("seed", range(20))
def test_chi_squared_is_scipys(seed):
    rng = np.random.default_rng(seed)
    levels = rng.integers(2, 60)
    before, now = rng.poisson(20, levels) + 1, rng.poisson(30, levels)
    expected = stats.chi2_contingency([before, now], correction=False)
    found = drift.chi_squared(before, now)
    assert found == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


def test_chi_squared_without_anything_to_compare():
    assert drift.chi_squared(np.array([5]), np.array([7])) == (0.0, 1.0)
    assert drift.chi_squared(np.array([5, 5]), np.array([0, 0])) == (0.0, 1.0)
    assert drift.chi_squared(np.array([5, 5]), np.array([7, 7])) == (0.0, 1.0)


def test_adjusted_is_scipys():
    p = np.random.default_rng(0).uniform(size=50) ** 3
    np.testing.assert_allclose(drift.adjusted(p), stats.false_discovery_control(p))


def test_stability_index():
    before, now = np.array([50, 50]), np.array([90, 10])
    expected = 0.4 * np.log(0.9 / 0.5) - 0.4 * np.log(0.1 / 0.5)
    assert drift.stability_index(before, now) == pytest.approx(expected)
    assert drift.stability_index(before, before * 3) == 0


def usual(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    return hr.DataFrame(
        {
            "size": rng.normal(size=rows),
            "gap": np.where(rng.uniform(size=rows) < 0.1, np.nan, rng.normal(size=rows)),
            "kind": rng.choice(["a", "b", "c"], rows),
            "day": np.datetime64("2024-01-01", "s") + rng.integers(0, 10**6, rows),
            "on": rng.uniform(size=rows) < 0.3,
            "zero": np.where(rng.uniform(size=rows) < 0.9, 0, rng.integers(1, 50, rows)),
        }
    )


def test_nothing_drifts_by_itself():
    detector = learn.DriftDetector().fit(usual())
    assert detector.drifted(usual()) == []
    assert all(detector.drifted(usual(seed=seed)) == [] for seed in range(1, 20))


@pytest.mark.parametrize("method", ["auto", "psi", "test"])
def test_each_kind_of_drift_is_seen(method):
    frame = usual()
    detector = learn.DriftDetector(method).fit(frame)
    changes = {
        "size": frame["size"] * 3,
        "gap": frame["gap"].where(frame["size"] > 0, None),
        "kind": hr.Series(["d"] * 100 + ["a"] * 300),
        "day": frame["day"] + np.timedelta64(30, "D"),
        "on": ~frame["on"],
        "zero": hr.Series(np.full(400, 7)),
    }
    for name, change in changes.items():
        assert detector.drifted(frame.assign(**{name: change})) == [name]


def test_methods_differ():
    rng = np.random.default_rng(1)
    many = hr.DataFrame({"a": rng.normal(size=200_000)})
    tiny_shift = hr.DataFrame({"a": rng.normal(0.05, size=200_000)})
    few, noise = (hr.DataFrame({"a": rng.normal(size=15)}) for _ in range(2))
    found = {
        method: (
            learn.DriftDetector(method).fit(many).drifted(tiny_shift),
            learn.DriftDetector(method).fit(few).drifted(noise),
        )
        for method in ("auto", "psi", "test")
    }
    assert found == {"auto": ([], []), "psi": ([], ["a"]), "test": (["a"], [])}


def test_report():
    frame = usual()
    now = frame.assign(kind=hr.Series(["d"] * 100 + ["a"] * 300), gap=frame["size"])
    report = learn.DriftDetector().fit(frame).report(now).set_index("column")
    assert list(report.columns) == [
        *("test", "statistic", "p_value", "p_adjusted", "psi", "missing_before", "missing"),
        *("new_levels", "new_share", "drifted"),
    ]
    assert report.loc["kind", "new_levels"] == 1 and report.loc["kind", "new_share"] == 0.25
    assert report.loc["gap", "missing"] == 0 and 0.05 < report.loc["gap", "missing_before"] < 0.2
    assert report["test"].to_list() == ["ks", "ks", "chi2", "ks", "chi2", "ks"]
    counts = [[(frame["kind"] == k).sum() for k in "abcd"], [300, 0, 0, 100]]
    expected = stats.chi2_contingency(counts, correction=False)
    assert report.loc["kind", "statistic"] == pytest.approx(expected.statistic)
    p = stats.false_discovery_control(report["p_value"].to_numpy())
    np.testing.assert_allclose(report["p_adjusted"], p)


def test_rare_levels_count_as_one():
    frame = hr.DataFrame({"a": ["x"] * 50 + [f"r{i}" for i in range(50)]})
    now = hr.DataFrame({"a": ["x"] * 50 + [f"s{i}" for i in range(50)]})
    report = learn.DriftDetector().fit(frame).report(now)
    assert report["p_value"].to_list() == [1.0] and report["new_levels"].to_list() == [50]


def test_categories_and_frames_of_others():
    frame = usual(100)
    as_category = frame.assign(kind=frame["kind"].astype("category"))
    detector = learn.DriftDetector().fit(as_category)
    assert detector.drifted(frame.to_pandas()) == []
    assert detector.drifted(frame[["zero", "on", "day", "kind", "gap", "size"]]) == []
    rows = np.random.default_rng(0).normal(size=(100, 2))
    assert learn.DriftDetector().fit(rows).drifted(rows + np.array([0, 9])) == ["x1"]


def test_columns_without_values():
    frame = hr.DataFrame({"a": [None, 1.0, 2.0] * 30, "b": ["x", None, "y"] * 30})
    none = frame.assign(
        a=hr.Series([None] * 90, dtype="float64"), b=hr.Series([None] * 90, dtype="string")
    )
    assert learn.DriftDetector().fit(frame).drifted(none) == ["a", "b"]
    assert learn.DriftDetector().fit(none).drifted(frame) == ["a", "b"]
    assert learn.DriftDetector().fit(none).drifted(none) == []


def test_page(tmp_path):
    frame = usual()
    now = frame.assign(kind=hr.Series(["<d>"] * 400), size=frame["size"] + 2)
    detector = learn.DriftDetector().fit(frame)
    page = detector.report_page(now, tmp_path / "drift.html").to_html()
    assert (tmp_path / "drift.html").read_text("utf-8") == page
    assert "2 of 6 columns have drifted" in page
    assert "kind: before and now" in page and "&lt;d&gt;" in page and "<d>" not in page
    assert "size: before and now" in page and "gap: before and now" not in page


@pytest.mark.parametrize(
    "options, message",
    [({"method": "x"}, "method"), ({"alpha": -1}, "alpha"), ({"psi": "x"}, "psi")],
)
def test_wrong_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        learn.DriftDetector(**options).fit(usual(10))


def test_wrong_frames():
    detector = learn.DriftDetector().fit(usual(10))
    with pytest.raises(ValueError, match=r"missing: columns=\['kind'\]"):
        detector.report(usual(10).drop(columns="kind"))
    with pytest.raises(TypeError, match="column='size'"):
        detector.report(usual(10).assign(size="a"))
    with pytest.raises(ValueError, match="0 sample"):
        detector.report(usual(10).head(0))
    with pytest.raises(hr.UnsupportedError, match="'a' is list"):
        learn.DriftDetector().fit(hr.DataFrame({"a": [[1], [2]]}))


def test_same_results_for_any_threads():
    found = []
    for threads in (1, 2, 4):
        with hr.threads(threads):
            detector = learn.DriftDetector().fit(usual(20_000))
            found.append(detector.report(usual(20_000, 1)).to_pandas())
    for other in found[1:]:
        pd.testing.assert_frame_equal(found[0], other, check_exact=True)
