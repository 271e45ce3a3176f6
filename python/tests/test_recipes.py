# SPDX-License-Identifier: Apache-2.0
"""Recipes of docs/guide/beyond-one-machine.md: what Ray and Spark call, and they themselves where
they are installed."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import headrace as hr

pa = pytest.importorskip("pyarrow")
dask = pytest.importorskip("dask")
pytestmark = pytest.mark.filterwarnings("default")

SCHEMA = pa.schema([("city", pa.string()), ("km", pa.float64()), ("hours", pa.float64())])
SPARK_SCHEMA = "city string, km double, hours double"
ROWS = 1000


def long_trips(batch):
    rows = hr.DataFrame(batch)
    rows = rows[rows.km > 2]
    return pa.table(rows.assign(hours=rows.km / 5)).cast(SCHEMA)


def long_trips_of(batches):
    for batch in batches:
        yield from long_trips(batch).to_batches()


def trips() -> pa.Table:
    km = np.arange(ROWS) % 7 / 2
    return pa.table({"city": ["Oslo", None, "Rome", "Bern"] * (ROWS // 4), "km": km})


def wanted() -> list[dict[str, object]]:
    return [{**row, "hours": row["km"] / 5} for row in trips().to_pylist() if row["km"] > 2]


@pytest.mark.parametrize("rows", [1, 63, 64, 65, ROWS])
def test_functions_take_batches_as_they_come(rows):
    batches = trips().to_batches(max_chunksize=rows)
    made = list(long_trips_of(batch.slice(0) for batch in batches))
    assert all(isinstance(each, pa.RecordBatch) and each.schema == SCHEMA for each in made)
    assert [row for each in made for row in each.to_pylist()] == wanted()
    assert long_trips(batches[0].slice(0, 0)).num_rows == 0


def test_batches_of_an_object_store_are_not_copied():
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, trips().schema) as writer:
        writer.write_table(trips())
    stored = pa.ipc.open_stream(sink.getvalue()).read_all()  # read-only, as those of Ray
    before = hr.memory.ledger().total_bytes
    frame = hr.DataFrame(stored)
    assert frame.km.sum().item() == sum(row["km"] for row in trips().to_pylist())
    assert hr.memory.ledger().total_bytes - before <= 64 * ROWS  # views of strings, at most


def test_another_scheduler_of_dask():
    """Dask on Ray is a `get` that pickles functions and values, and runs them elsewhere."""
    from dask.local import get_sync as run
    from distributed.protocol.pickle import dumps, loads

    def get(graph, keys, **options):
        with ThreadPoolExecutor(1) as elsewhere:
            sent = elsewhere.submit(lambda: run(loads(dumps(graph)), keys)).result()
        return pickle.loads(pickle.dumps(sent, protocol=5))

    words = {"dataframe.backend": "headrace", "dataframe.convert-string": False}
    with dask.config.set({**words, "dataframe.shuffle.method": "tasks", "scheduler": get}):
        frame = hr.DataFrame(trips())
        parts = hr.dask.from_frame(frame, partitions=4)
        assert parts.km.sum().compute() == frame.km.sum().item()
        found = parts.groupby("city").km.sum().compute().to_dict()
        assert found == frame.groupby("city").km.sum().to_dict()


def test_ray():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        data = ray.data.from_arrow(trips()).map_batches(long_trips, batch_format="pyarrow")
        key = ("km", "city")
        found = sorted(data.take_all(), key=lambda row: [str(row[name]) for name in key])
        assert found == sorted(wanted(), key=lambda row: [str(row[name]) for name in key])
        from ray.util.dask import ray_dask_get

        words = {"dataframe.backend": "headrace", "dataframe.convert-string": False}
        with dask.config.set({**words, "scheduler": ray_dask_get}):
            parts = hr.dask.from_frame(hr.DataFrame(trips()), partitions=4)
            assert parts.km.sum().compute() == hr.DataFrame(trips()).km.sum().item()
    finally:
        ray.shutdown()


def test_spark():
    sql = pytest.importorskip("pyspark.sql")
    spark = sql.SparkSession.builder.master("local[1]").getOrCreate()
    try:
        rows = spark.createDataFrame(trips()).mapInArrow(long_trips_of, SPARK_SCHEMA)
        found = [row.asDict() for row in rows.collect()]
        assert found == wanted()
    finally:
        spark.stop()
