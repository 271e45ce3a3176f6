# SPDX-License-Identifier: Apache-2.0
"""MLflow takes frames as datasets, with their lineage as the source (runs where MLflow is)."""

import json

import numpy as np
import pytest

import headrace as hr

mlflow = pytest.importorskip("mlflow")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def frame(tmp_path):
    table = hr.DataFrame(
        {
            "x": np.arange(10),
            "w": np.linspace(0, 1, 10, dtype=np.float32),
            "k": ["a", "b"] * 5,
            "t": np.datetime64("2024-01-01") + np.arange(10),
        }
    )
    table.to_parquet(tmp_path / "rows.parquet")
    return hr.scan_parquet(tmp_path / "rows.parquet")


def test_a_dataset_has_lineage_schema_and_digest(frame):
    made = mlflow.data.from_headrace(frame.assign(y=frame["x"] * 2), targets="y", name="rows")
    told = made.to_dict()
    assert told["name"] == "rows" and told["source_type"] == "headrace"
    columns = json.loads(told["schema"])["mlflow_colspec"]
    kinds = ["long", "float", "string", "datetime", "long"]
    assert [each["type"] for each in columns] == kinds
    assert json.loads(told["profile"]) == {"num_rows": 10, "num_elements": 50}
    again = type(made.source).from_json(told["source"]).load()
    assert again.to_dict() == frame.assign(y=frame["x"] * 2).to_dict()
    assert made.digest == mlflow.data.from_headrace(again).digest and len(made.digest) == 8
    assert made.digest != mlflow.data.from_headrace(frame).digest
    with pytest.raises(hr.ColumnNotFoundError, match="targets='z'"):
        mlflow.data.from_headrace(frame, targets="z")


def test_a_run_keeps_it(frame, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as run:
        mlflow.log_input(mlflow.data.from_headrace(frame), context="training")
    kept = mlflow.get_run(run.info.run_id).inputs.dataset_inputs[0].dataset
    assert kept.source_type == "headrace"
    loaded = mlflow.data.get_source(mlflow.get_run(run.info.run_id).inputs.dataset_inputs[0])
    assert loaded.load()["x"].to_list() == list(range(10))


def test_long_records_leave_the_plan_out():
    frame = hr.DataFrame({"x": np.random.default_rng(0).random(50_000)})
    source = mlflow.data.from_headrace(frame).source
    assert len(source.to_json()) <= 65_535
    with pytest.raises(hr.InvalidArgumentError, match="MLflow takes 65535 letters"):
        source.load()


def test_records_of_wide_frames_fit(tmp_path):
    hr.DataFrame({f"some_column_name_{i}": [1] for i in range(700)}).to_parquet(tmp_path / "a.pq")
    source = mlflow.data.from_headrace(hr.scan_parquet(tmp_path / "a.pq")).source
    assert len(source.to_json()) <= 65_535
    assert len(source.to_dict()["names"]) == 700  # what fits is kept
    with pytest.raises(hr.InvalidArgumentError, match="MLflow takes 65535 letters"):
        source.load()


def test_the_digest_follows_the_order_of_columns():
    frame = hr.DataFrame({"a": [1, 2], "b": [3, 4]})
    turned = frame[["b", "a"]]
    assert mlflow.data.from_headrace(frame).digest != mlflow.data.from_headrace(turned).digest


def test_a_path_is_a_source_of_mlflows_own(frame, tmp_path):
    made = mlflow.data.from_headrace(frame, source=str(tmp_path / "rows.parquet"))
    assert made.to_dict()["source_type"] == "local"
