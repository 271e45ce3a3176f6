# SPDX-License-Identifier: Apache-2.0
"""Libraries of plots and models take frames and series as they are."""

from typing import Any

import numpy as np
import pytest

import headrace as hr


@pytest.fixture
def frame() -> hr.DataFrame:
    """Numbers, strings, times and categories, with a null."""
    made = hr.DataFrame(
        {
            "x": [1.0, 2.0, 3.0],
            "y": [3, 1, 2],
            "k": ["a", "b", "a"],
            "t": hr.to_datetime(["2020-01-01", "2020-01-02", None]),
        }
    )
    made["c"] = made.k.astype("category")
    return made


@pytest.fixture
def axes() -> Any:
    """New axes of matplotlib, without a screen."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    return Figure().subplots()


def test_narwhals_takes_frames_and_series(frame: hr.DataFrame) -> None:
    narwhals = pytest.importorskip("narwhals")
    guest = narwhals.from_native(frame)
    assert {name: str(kind) for name, kind in guest.schema.items()} == {
        "x": "Float64",
        "y": "Int64",
        "k": "String",
        "t": "Datetime(time_unit='us', time_zone=None)",
        "c": "Categorical",
    }
    assert guest.filter(narwhals.col("y") > 1)["k"].to_list() == ["a", "a"]
    assert guest["k"].str.to_uppercase().to_list() == ["A", "B", "A"]
    series = narwhals.from_native(frame.t, series_only=True)
    assert series.name == "t" and series.null_count() == 1
    assert narwhals.from_native(frame[frame.y > 1].x, series_only=True).sum() == 4.0
    with pytest.raises(TypeError):
        narwhals.from_native(frame, series_only=True)


def test_altair(frame: hr.DataFrame) -> None:
    altair = pytest.importorskip("altair")
    chart = altair.Chart(frame).mark_point().encode(x="x", y="t", color="k").to_dict()
    kinds = {name: each["type"] for name, each in chart["encoding"].items()}
    assert kinds == {"x": "quantitative", "y": "temporal", "color": "nominal"}
    (rows,) = chart["datasets"].values()
    assert [(row["x"], row["k"]) for row in rows] == [(1.0, "a"), (2.0, "b"), (3.0, "a")]


def test_plotly(frame: hr.DataFrame) -> None:
    express = pytest.importorskip("plotly.express")
    figure = express.scatter(frame, x="x", y="y", color="k")
    assert [(trace.name, list(trace.x)) for trace in figure.data] == [("a", [1, 3]), ("b", [2])]
    assert list(express.histogram(frame.x).data[0].x) == [1.0, 2.0, 3.0]
    assert list(express.line(x=frame.x, y=frame.y).data[0].y) == [3, 1, 2]


def test_bokeh(frame: hr.DataFrame) -> None:
    models = pytest.importorskip("bokeh.models")
    data = models.ColumnDataSource(frame).data
    assert list(data["x"]) == [1.0, 2.0, 3.0] and list(data["k"]) == ["a", "b", "a"]


def test_plots_copy_no_column() -> None:
    altair, express = pytest.importorskip("altair"), pytest.importorskip("plotly.express")
    numbers = hr.DataFrame({"x": np.arange(1000.0), "y": np.arange(1000), "k": ["a", "b"] * 500})
    hr.memory.ledger().clear()
    assert len(express.scatter(numbers, x="x", y="y", color="k").data) == 2
    assert altair.Chart(numbers).mark_point().encode(x="x", y="y").to_dict()["datasets"]
    assert hr.memory.ledger().total_bytes == 0


def test_matplotlib(frame: hr.DataFrame, axes: Any) -> None:
    (line,) = axes.plot(frame.x, frame.y)
    assert list(line.get_xdata()) == [1, 2, 3] and list(line.get_ydata()) == [3, 1, 2]
    (line,) = axes.plot(frame.x)
    assert list(line.get_ydata()) == [1, 2, 3]
    (line,) = axes.plot("x", "y", "", data=frame)
    assert list(line.get_ydata()) == [3, 1, 2]
    assert axes.scatter(frame.x, frame.y, c=frame.y).get_array().tolist() == [3, 1, 2]
    assert axes.hist(frame.x, bins=2)[0].tolist() == [1, 2]


def test_matplotlib_takes_categories_and_times(frame: hr.DataFrame, axes: Any) -> None:
    assert [bar.get_height() for bar in axes.bar(frame.k[:2], frame.y[:2])] == [3, 1]
    (line,) = axes.figure.add_subplot().plot(frame.t[:2], frame.x[:2])
    assert line.get_xdata().dtype.kind == "M"


def test_seaborn(frame: hr.DataFrame, axes: Any) -> None:
    seaborn = pytest.importorskip("seaborn")
    seaborn.scatterplot(data=frame, x="x", y="y", hue="k", ax=axes)
    assert axes.collections[0].get_offsets().tolist() == [[1, 3], [2, 1], [3, 2]]
    bars = axes.figure.add_subplot()
    seaborn.barplot(data=frame, x="c", y="y", errorbar=None, ax=bars)
    assert [bar.get_height() for bar in bars.patches] == [2.5, 1.0]


def test_scikit_learn_takes_columns_by_name(frame: hr.DataFrame) -> None:
    pytest.importorskip("sklearn")
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    prepare = ColumnTransformer(
        [
            ("number", StandardScaler(), ["x", "y"]),
            ("class", OneHotEncoder(sparse_output=False), ["k"]),
        ]
    )
    found = prepare.fit_transform(frame)
    assert list(prepare.feature_names_in_) == ["x", "y", "k", "t", "c"]
    scaled = (frame.x - frame.x.mean()) / frame.x.std(ddof=0)
    assert np.allclose(found[:, 0], scaled.to_numpy())
    assert found[:, 2:].tolist() == [[1, 0], [0, 1], [1, 0]]
    names = ["number__x", "number__y", "class__k_a", "class__k_b"]
    assert list(prepare.set_output(transform="pandas").fit_transform(frame).columns) == names
    model = LinearRegression().fit(frame[["x"]], frame.y)
    assert list(model.feature_names_in_) == ["x"]
    assert np.allclose(model.predict(frame[["x"]]), [2.5, 2.0, 1.5])
    parts = train_test_split(frame[["x"]], frame.y, random_state=0)
    assert [type(part) for part in parts] == [hr.DataFrame] * 2 + [hr.Series] * 2
    assert sorted(parts[0].x.to_list() + parts[1].x.to_list()) == [1.0, 2.0, 3.0]
