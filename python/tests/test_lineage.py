# SPDX-License-Identifier: Apache-2.0
"""Lineage of columns, records that are replayed, tags and policies."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import headrace as hr


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    n = 140_000
    frame = hr.DataFrame(
        {
            "id": rng.integers(0, 1000, n),
            "a": rng.normal(size=n),
            "b": rng.normal(size=n),
            "s": np.array(["x", "yy", None], object)[rng.integers(0, 3, n)],
        }
    )
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    return str(path)


def columns(x):
    record = hr.lineage(x)
    return {
        name: sorted((record["sources"][e["source"]]["call"], e["column"]) for e in found)
        for name, found in record["columns"].items()
    }


@pytest.mark.parametrize("call", ["read_parquet", "scan_parquet"])
def test_columns_follow_values(rows, call):
    frame = getattr(hr, call)(rows)
    made = frame.assign(c=frame["a"] * 2 + frame["b"], d=1)
    made = made[made["id"] > 5].sort_values("b")
    expected = {
        "id": [(call, "id")],
        "a": [(call, "a")],
        "b": [(call, "b")],
        "s": [(call, "s")],
        "c": [(call, "a"), (call, "b")],
        "d": [],
    }
    assert columns(made) == expected
    hr.eval(made)
    assert columns(made) == expected  # also when the plan has run
    grouped = made.groupby("id", as_index=False).agg(m=("c", "mean"), t=("s", "max"))
    assert columns(grouped) == {"id": expected["id"], "m": expected["c"], "t": expected["s"]}
    joined = grouped.merge(frame[["id", "b"]], on="id", how="left")
    assert columns(joined)["b"] == [(call, "b")] and columns(joined)["m"] == expected["c"]
    assert columns(frame["a"].rolling(3).mean().rename("r")) == {"r": [(call, "a")]}
    assert columns(frame["s"].str.upper() + "!") == {"s": [(call, "s")]}
    assert columns(hr.asarray(frame["a"]) * 2) == {"values": [(call, "a")]}
    assert columns(frame.head(3)) == {n: [(call, n)] for n in frame.columns}


def test_a_csv_file_is_a_source(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,x\n2,y\n")
    for call in (hr.read_csv, hr.scan_csv):
        record = hr.lineage(call(path, dtypes={"a": "int32"}))
        assert record["columns"]["a"] == [{"source": 0, "column": "a"}]
        (source,) = record["sources"]
        assert source["call"] == call.__name__
        assert source["arguments"] == {"source": str(path), "dtypes": {"a": "int32"}}
        (file,) = source["files"]
        assert file["path"] == str(path) and file["bytes"] == 12
        assert hr.replay(json.loads(json.dumps(record))).to_dict() == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("call", ["read_parquet", "scan_parquet"])
def test_replay_gives_the_same_bits(rows, tmp_path, call, threads):
    def work():
        frame = getattr(hr, call)(rows)
        kept = frame[frame["a"] > -1.0]
        kept = kept.assign(
            z=(kept["a"] - kept["a"].mean()) / kept["a"].std(), w=kept["s"].str.len()
        )
        means = kept.groupby("id", as_index=False)["z"].mean().rename({"z": "mean"})
        return kept.merge(means, on="id").sort_values(["id", "a"]).head(5000)

    x = work()
    record = hr.lineage(x)
    record.save(tmp_path / "record.json")
    assert record["fingerprint"] == hr.lineage(work())["fingerprint"]
    assert record["fingerprint"] != hr.lineage(work().head(3))["fingerprint"]
    expected = x.to_pandas()
    with hr.threads(threads):
        again = hr.replay(tmp_path / "record.json").to_pandas()
    assert expected.equals(again)


def test_series_arrays_and_labels(rows):
    frame = hr.scan_parquet(rows)
    series = (frame["a"] + frame["b"]).rename("sum")
    made = hr.replay(hr.lineage(series))
    assert made.name == "sum" and made.to_list() == series.to_list()
    array = hr.asarray(hr.scan_parquet(rows)["a"]) ** 2
    record = hr.lineage(array)
    assert (hr.replay(record).to_numpy() == array.to_numpy()).all()
    table = hr.scan_parquet(rows).groupby("id")[["a"]].sum()
    again = hr.replay(hr.lineage(table))
    assert again.index.to_list() == table.index.to_list()
    assert again["a"].to_list() == table["a"].to_list()


def test_small_values_in_memory_are_part_of_the_record():
    small = hr.DataFrame({"k": [1, 2, 3], "v": ["a", "b", None]})
    record = hr.lineage(small[small["k"] > 1])
    assert record["columns"] == {"k": [], "v": []} and record["sources"] == []
    assert hr.replay(json.loads(json.dumps(record))).to_dict() == {"k": [2, 3], "v": ["b", None]}
    large = hr.DataFrame({"v": np.arange(1_000_000)})
    record = hr.lineage(large[large["v"] > 5])
    assert record["plan"] is None and "too large" in record["why"]
    with pytest.raises(hr.InvalidArgumentError, match=r"has no plan.*too large"):
        hr.replay(record)


def test_plans_that_ran_are_gone(rows):
    frame = hr.scan_parquet(rows)
    x = frame["a"] * 2
    x.to_numpy()
    record = hr.lineage(x)
    assert record["plan"] is None and "before the values are used" in record["why"]
    assert record["columns"]["a"] == [{"source": 0, "column": "a"}]
    frame = hr.scan_parquet(rows)
    hr.eval(frame["a"])  # a source that has its values is still read again
    assert hr.replay(hr.lineage(frame["a"] * 2)).to_list() == x.to_list()


def test_changes_are_named(rows, tmp_path):
    frame = hr.scan_parquet(rows)
    plain = hr.lineage(frame["a"] * 2)
    hashed = hr.lineage(frame["b"] * 2, hashes=True)
    assert hr.replay(hashed).to_list() == (frame["b"] * 2).to_list()
    now = os.stat(rows)
    os.utime(rows, ns=(now.st_atime_ns, now.st_mtime_ns + 10**9))
    with pytest.raises(hr.InputError, match=r"a file was written since.*rows.parquet"):
        hr.replay(plain)
    hr.replay(hashed)  # the contents are the same
    data = bytearray(Path(rows).read_bytes())
    data[len(data) // 2] ^= 1
    Path(rows).write_bytes(data)
    with pytest.raises(hr.InputError, match=r"other contents.*rows.parquet"):
        hr.replay(hashed)
    Path(rows).write_bytes(data + b"x")
    with pytest.raises(hr.InputError, match="another size"):
        hr.replay(hashed)
    os.remove(rows)
    with pytest.raises(hr.InputError, match="a file is gone"):
        hr.replay(hashed)
    small = hr.DataFrame({"v": [1, 2]})
    record = hr.lineage(small["v"] + 1, hashes=True)
    record["result"]["v"] = "0"
    with pytest.raises(hr.InvalidArgumentError, match=r"the values differ: columns=\['v'\]"):
        hr.replay(record)
    record["fingerprint"] = "0"
    with pytest.raises(hr.InvalidArgumentError, match="not that of its fingerprint"):
        hr.replay(record)
    for wrong in ({}, {"format": 2}, []):
        with pytest.raises(hr.InvalidArgumentError, match=r"no record of hr.lineage"):
            hr.replay(wrong)
    with pytest.raises(hr.TypeMismatchError, match="type=int"):
        hr.lineage(3)


def test_what_json_cannot_hold_is_not_replayed():
    text = b"a,b\n1,2\n"
    record = hr.lineage(hr.read_csv(text)["a"] + 1)
    assert record["plan"] is None and "cannot be read again" in record["why"]


def test_openlineage(rows, tmp_path):
    frame = hr.scan_parquet(rows)
    record = hr.lineage(frame.assign(c=frame["a"] + frame["b"])[["id", "c"]])
    record.to_openlineage(tmp_path / "event.json", job="sums", output="out.parquet")
    event = json.loads((tmp_path / "event.json").read_text())
    assert event["eventType"] == "COMPLETE" and event["job"] == {
        "namespace": "headrace",
        "name": "sums",
    }
    assert event["inputs"] == [{"namespace": "file", "name": rows}]
    (output,) = event["outputs"]
    fields = output["facets"]["columnLineage"]["fields"]
    assert fields["c"]["inputFields"] == [
        {"namespace": "file", "name": rows, "field": "a"},
        {"namespace": "file", "name": rows, "field": "b"},
    ]


# ---- tags ----------------------------------------------------------------------------------------
def people():
    return hr.DataFrame({"ssn": ["1", "2", "1"], "pay": [5, 6, 7], "x": [1.0, 2.0, 3.0]}).tag(
        "ssn", "personal"
    )


def test_tags_flow():
    frame = people()
    assert frame.tags == {"ssn": ["personal"]}
    both = frame.tag("pay", "money", "personal")
    assert both.tags == {"ssn": ["personal"], "pay": ["money", "personal"]}
    assert frame.tags == {"ssn": ["personal"]}
    made = both.assign(first=both["ssn"].str[0], more=both["pay"] * both["x"])
    hr.eval(made)
    assert made.tags["first"] == ["personal"] and made.tags["more"] == ["money", "personal"]
    assert made[made["pay"] > 5][["x"]].tags == {}
    assert made.untag("more", "personal").tags["more"] == ["money"]
    assert hr.lineage(frame)["tags"] == {"ssn": ["personal"]}
    with pytest.raises(hr.ColumnNotFoundError):
        frame.tag("q", "personal")


def test_a_policy_refuses_exports(tmp_path):
    frame = people()
    with hr.policy(deny={"personal"}) as denied:
        assert denied == hr.policy() == {"personal"}
        for export in (
            lambda: frame.to_csv(tmp_path / "x.csv"),
            lambda: frame.to_parquet(tmp_path / "x.parquet"),
            lambda: frame.to_json(tmp_path / "x.json"),
            lambda: frame.to_ipc(tmp_path / "x.arrow"),
            frame.to_pandas,
            frame.to_arrow,
            frame.to_dict,
            frame["ssn"].to_list,
            frame["ssn"].str.upper().to_numpy,
            lambda: np.asarray(frame["ssn"].str.len()),
        ):
            with pytest.raises(hr.InvalidArgumentError, match=r"policy denies.*'ssn'.*personal"):
                export()
        assert list(tmp_path.iterdir()) == []
        assert frame[["pay", "x"]].to_dict() == {"pay": [5, 6, 7], "x": [1.0, 2.0, 3.0]}
        grouped = frame.groupby("ssn", as_index=False)["pay"].sum()
        assert grouped["pay"].to_list() == [12, 6]
        with pytest.raises(hr.InvalidArgumentError, match="to_dict: the policy denies"):
            grouped.to_dict()
        assert "1" in repr(frame)
    assert hr.policy() == frozenset()
    assert frame.to_dict()["ssn"] == ["1", "2", "1"]
    with pytest.raises(hr.TypeMismatchError, match="expected a set of tags"):
        hr.policy(deny="personal")
