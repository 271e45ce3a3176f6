# SPDX-License-Identifier: Apache-2.0
"""Lineage of columns, records that are replayed, tags and policies."""

import gc
import itertools
import json
import os
import pickle
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace import _core


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


def test_replay_tags_again():
    frame = hr.DataFrame({"k": ["a", "b"], "v": [1, 2], ("w", 1): [3, 4]})
    frame = frame.tag("k", "personal").tag("v", "money", "personal").tag(("w", 1), "money")
    record = json.loads(json.dumps(hr.lineage(frame)))
    assert hr.replay(record).tags == frame.tags
    labelled = hr.replay(hr.lineage(frame[["k", "v"]].set_index("k")))
    assert labelled.reset_index().tags["k"] == ["personal"]
    series = hr.replay(hr.lineage(frame["v"] * 2))
    array = hr.replay(hr.lineage(hr.asarray(frame["v"]) + 1))
    with hr.policy(deny={"money"}):
        for made in (series, array):
            with pytest.raises(hr.InvalidArgumentError, match="tag='money'"):
                np.asarray(made)


def test_labels_that_print_alike_keep_their_tags():
    frame = hr.DataFrame({1: [1, 2], "1": [3, 4]}).tag(1, "personal")
    record = hr.lineage(frame, hashes=True)
    assert record["tags"] == {"1": ["personal"]}
    again = hr.replay(json.loads(json.dumps(record)))
    assert list(again.columns) == [1, "1"] and again[1].to_list() == [1, 2]
    assert again.tags[1] == ["personal"]
    other = hr.lineage(hr.DataFrame({1: [1, 9], "1": [3, 4]}), hashes=True)
    assert other["result"] != record["result"]


def test_damaged_records_are_refused(rows, tmp_path):
    frame = hr.scan_parquet(rows)
    whole = hr.lineage(frame.assign(c=frame["a"] * 2)[["id", "c"]])
    assert whole["plan"] is not None
    for key in whole:
        kept = {name: value for name, value in whole.items() if name != key}
        for value in (None, 3, "x", [], {}, [[]], ["x"], {"x": 1}, [{"x": 1}], [{"source": 7}]):
            for damaged in (kept, {**kept, key: value}):
                try:
                    made = hr.replay(json.loads(json.dumps(damaged)))
                except (hr.InvalidArgumentError, hr.InputError) as error:
                    assert str(error).startswith("replay: ")
                else:
                    hr.eval(made)
    for key in ("tags", "label_tags"):
        with pytest.raises(hr.InvalidArgumentError, match=r"replay: .*damaged"):
            hr.replay({**hr.lineage(frame), "names": ["id"], key: {"id": "secret"}})
    deep = "[" * 100_000
    for text in ("", "{", "[]", deep, '{"format": 1}', '{"format": 1, "plan": "eA=="}'):
        (tmp_path / "record.json").write_text(text)
        with pytest.raises(hr.InvalidArgumentError, match="replay: "):
            hr.replay(tmp_path / "record.json")


def test_files_are_asked_for_once(rows, monkeypatch, tmp_path):
    for k in range(3):
        hr.DataFrame({"a": [k]}).to_parquet(tmp_path / f"part-{k}.parquet")
    from headrace.provenance.sources import _words

    paths = sorted(str(path) for path in tmp_path.glob("part-*.parquet"))
    asked: list[str] = []
    system = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **how: asked.append(path) or system(path, **how))
    told = json.loads(_words("read_parquet", (paths,), {}))
    assert [file["path"] for file in told["files"]] == paths == asked
    folder, pattern = str(tmp_path), str(tmp_path / "part-*.parquet")
    for source in (folder, pattern):
        found = [f["path"] for f in json.loads(_words("scan_parquet", (source,), {}))["files"]]
        assert set(paths) <= set(found)


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
            with pytest.raises(
                hr.InvalidArgumentError, match=r"policy: .*tag='personal', column='ssn'"
            ):
                export()
        assert list(tmp_path.iterdir()) == []
        assert frame[["pay", "x"]].to_dict() == {"pay": [5, 6, 7], "x": [1.0, 2.0, 3.0]}
        grouped = frame.groupby("ssn", as_index=False)["pay"].sum()
        assert grouped["pay"].to_list() == [12, 6]
        with pytest.raises(hr.InvalidArgumentError, match="policy: values"):
            grouped.to_dict()
        assert "6" in repr(frame) and "…" in repr(frame["ssn"])
    assert hr.policy() == frozenset()
    assert frame.to_dict()["ssn"] == ["1", "2", "1"]
    with pytest.raises(hr.TypeMismatchError, match="expected words"):
        hr.policy(deny="personal")


def test_errors_hide_denied_values():
    frame = hr.DataFrame({"k": ["s3cret", "2"], "x": [1, 2]}).tag("k", "personal")
    attempts = (
        lambda: frame["k"].astype("int64"),
        lambda: frame["k"].astype("float64") + 1,
        lambda: hr.to_datetime(frame["k"]),
        lambda: frame[frame["k"].astype("int64") > 1]["x"],
        lambda: frame.assign(n=frame["k"].astype("int64")).groupby("n")["x"].sum(),
    )
    for attempt in attempts:
        with pytest.raises(hr.Error, match="s3cret"):
            hr.eval(attempt())
        with hr.policy(deny={"personal"}):
            with pytest.raises(hr.Error, match="tag='personal', column='k'") as raised:
                hr.eval(attempt())
            assert "s3cret" not in "".join(traceback.format_exception(raised.value))
    with hr.policy(deny={"personal"}), pytest.raises(hr.Error, match="'abc'"):
        hr.eval(hr.Series(["abc"]).astype("int64"))  # of a column without the tag


# ---- what readers of an earlier version found ----------------------------------------------------
def sources_now():
    gc.collect()
    return _core.count_value_sources()


def test_reads_and_draws_are_forgotten_with_their_columns(rows, tmp_path):
    before = sources_now()
    frames = [hr.scan_parquet(rows), hr.read_parquet(rows)]
    for k in range(20):
        path = tmp_path / f"{k}.csv"
        path.write_text("a\n1\n")
        frames.append(hr.read_csv(path))
    draws = [hr.random.default_rng(7).normal(size=3) for _ in range(50)]
    assert sources_now() > before + 20
    kept = frames[2]["a"] + 1
    del frames, draws
    assert sources_now() == before + 1
    del kept
    assert sources_now() == before


def test_a_generator_is_one_mark():
    rng = hr.random.default_rng(7)
    total = rng.normal(size=8)
    for _ in range(50):
        total = total + rng.random(8)
    record = hr.lineage(total)
    assert record["columns"] == {"values": [{"source": 0, "column": "values"}]}
    assert record["seeds"] == [7]
    assert (hr.replay(record).to_numpy() == total.to_numpy()).all()


def test_draws_in_threads():
    found: list[Any] = []

    def work(seed):
        try:
            for k in range(300):
                made = hr.random.default_rng(k % 5).random(4) + hr.random.default_rng(seed).random(
                    4
                )
                assert hr.lineage(made)["seeds"] in ([k % 5, seed], [seed, k % 5], [seed])
        except BaseException as error:
            found.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not found


def test_sums_of_many_sources_take_linear_time():
    def sums(count):
        begin = time.perf_counter()
        total = hr.random.default_rng(0).random(1)
        for seed in range(count):
            total = total + hr.random.default_rng(seed).random(1)
            hr.eval(total)
        return time.perf_counter() - begin, total

    few, many = min(sums(500)[0] for _ in range(2)), min(sums(2000)[0] for _ in range(2))
    assert many < 10 * few
    assert len(hr.lineage(sums(100)[1])["columns"]["values"]) == 100


@pytest.mark.parametrize("change", ["dtype", "nulls", "rows"])
def test_another_dtype_is_an_error(tmp_path, change):
    path = tmp_path / "rows.parquet"
    hr.DataFrame({"a": np.arange(100)}).to_parquet(path)
    record = hr.lineage(hr.read_parquet(path)["a"] * 3 + 1)
    changed = {
        "dtype": hr.DataFrame({"a": [f"{k}" for k in range(100)]}),
        "nulls": hr.DataFrame({"a": [None, *range(99)]}).astype({"a": "int64"}),
        "rows": hr.DataFrame({"a": np.arange(90)}),
    }[change]
    changed.to_parquet(path)
    now = os.stat(path)
    record["sources"][0]["files"][0] |= {"bytes": now.st_size, "modified_ns": now.st_mtime_ns}
    with pytest.raises(hr.InvalidArgumentError, match="does not fit"):
        hr.replay(record)


def test_records_hold_no_credentials(rows, tmp_path):
    frame = hr.read_parquet(rows, storage_options={"key": "hunter2"})
    record = hr.lineage(frame["a"] * 2)
    assert "hunter2" not in json.dumps(record) and "storage_options" in record["why"]
    with pytest.raises(hr.InvalidArgumentError, match="no credentials: storage_options"):
        hr.replay(record)
    from headrace.provenance.sources import _words

    for address in ("https://me:hunter2@host/rows.csv", "https://host/rows.csv?sig=hunter2"):
        assert "hunter2" not in _words("read_csv", (address,), {})


def test_first_rows_keep_tags():
    frame = people()
    for ready in (False, True):
        if ready:
            hr.eval(frame)
        for made in (frame.head(1), frame.tail(1), frame[1:], frame.iloc[[0]], frame.sample(2)):
            assert made.tags == {"ssn": ["personal"]}
    assert hr.lineage(frame["ssn"].head(2))["tags"] == {"ssn": ["personal"]}
    array = frame.tag("x", "personal")["x"].to_array()
    assert hr.lineage(array[:2] @ array[:2])["tags"] == {"values": ["personal"]}
    found = hr.sql("SELECT ssn || '!' AS k FROM p UNION SELECT ssn FROM p", p=frame)
    assert found.tags == {"k": ["personal"]}
    ones = hr.DataFrame({"a": [1, 2]}).assign(c=1).tag("c", "personal")
    assert (ones["c"] + 1).to_frame().tags == {"c": ["personal"]}
    assert ones.assign(d=ones["a"] + ones["c"]).tags["d"] == ["personal"]


@pytest.mark.parametrize("kind", ["parquet", "csv", "ipc", "json"])
def test_first_rows_of_files_keep_tags(kind, tmp_path):
    frame = hr.DataFrame({"n": [f"name {i}" for i in range(100)], "v": range(100)})
    path = str(tmp_path / f"rows.{kind}")
    getattr(frame, f"to_{kind}")(
        path, **({"orient": "records", "lines": True} if kind == "json" else {})
    )
    scanned = getattr(hr, f"scan_{kind}")(path).tag("n", "personal").tag("v", "personal")
    both = {"n": ["personal"], "v": ["personal"]}
    assert scanned.head(2).tags == scanned.assign(w=1)[["n", "v"]].head(2).tags == both
    assert hr.concat([scanned, scanned]).head(2).tags == both
    assert (scanned["v"] + 1).head(2).to_frame().tags == {"v": ["personal"]}
    assert hr.lineage(scanned.head(2))["columns"] == hr.lineage(scanned)["columns"]
    with hr.policy(deny={"personal"}):
        for made in (scanned.head(2), hr.concat([scanned, frame]).head(2)):
            with pytest.raises(hr.InvalidArgumentError, match="personal"):
                made.to_dict()


def test_matrices_of_denied_columns():
    frame = hr.DataFrame({"a": [1.5, 2.0], "b": [3.0, 4.0]}).tag("a", "personal")
    with hr.policy(deny={"personal"}):
        for call in (
            lambda: frame.to_numpy(),
            lambda: frame.values,
            lambda: np.asarray(frame),
            lambda: frame[["a"]].dot(np.ones((1, 1))),
        ):
            with pytest.raises(hr.InvalidArgumentError, match="personal"):
                np.asarray(call())


SECRET = "s3cret"


def leaks(made: Any) -> bool:
    """Whether something that is none of Headrace's shows the secret."""
    if type(made).__module__.startswith("headrace"):
        return False
    if isinstance(made, bytes | memoryview):
        return SECRET.encode() in bytes(made)
    if hasattr(made, "__next__"):
        made = list(itertools.islice(made, 5))
    if isinstance(made, list | tuple):
        return any(map(leaks, made))
    if isinstance(made, dict):
        return any(map(leaks, made.values()))
    return SECRET in repr(made)


@pytest.mark.parametrize("kind", ["frame", "labelled", "series", "groups", "array"])
def test_no_method_lets_denied_values_through(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = hr.DataFrame({"k": [SECRET, "b", SECRET], "n": [1, 2, 3]}).tag("k", "personal")
    hr.eval(frame)
    value = {
        "frame": frame,
        "labelled": frame.set_index("k"),
        "series": frame["k"],
        "groups": frame.groupby("k"),
        "array": hr.DataFrame({"k": [1.5, 2.5]}).tag("k", "personal")["k"].to_array(),
    }[kind]
    if kind == "array":
        monkeypatch.setattr(f"{__name__}.SECRET", "1.5")
    seen: list[Any] = []
    wrong = []
    assert kind == "groups" or leaks(pickle.dumps(value)) or leaks(value.to_numpy())
    with hr.policy(deny={"personal"}):
        for name in dir(value):
            if name in ("__class__", "__subclasshook__", "__init_subclass__", "_repr_html_"):
                continue
            try:
                made = getattr(value, name)
                if leaks(made):
                    wrong.append(name)
                if callable(made) and not isinstance(made, type) and leaks(made()):
                    wrong.append(f"{name}()")
            except (Exception, pytest.fail.Exception):
                continue
        attempts = {
            "pickle": lambda: pickle.dumps(value),
            "list": lambda: list(value),
            "map": lambda: hr.eval(value.map(lambda each: seen.append(each) or 1)),
            "apply": lambda: hr.eval(value.apply(lambda each: seen.append(each) or 1)),
            "csv": lambda: value.to_csv(),
            "share": lambda: hr.share(value),
            "torch": lambda: value.to_torch(),
            "numpy": lambda: np.asarray(value),
            "buffer": lambda: bytes(memoryview(value)),
            "item": lambda: value[0],
            "loc": lambda: value.loc[value.index[0]],
            "iloc": lambda: value.iloc[0],
            "at": lambda: value.at[0, "k"],
            "records": lambda: list(value.itertuples()),
            "batches": lambda: [b.to_dict() for b in value.iter_batches(1)],
            "group keys": lambda: list(value.groups),
            "dashboard": lambda: hr.plot.dashboard(value, [hr.plot.bar("k")]).save("x.html"),
        }
        for name, attempt in attempts.items():
            try:
                made = attempt()
            except Exception:
                continue
            if leaks(made):
                wrong.append(name)
    assert not wrong
    assert not any(leaks(each) for each in seen)
    for file in tmp_path.rglob("*"):
        assert SECRET.encode() not in file.read_bytes()
