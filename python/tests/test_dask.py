# SPDX-License-Identifier: Apache-2.0
"""Frames of ours as partitions of Dask: partitions give what one process gives."""

import math
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest

import headrace as hr

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
import headrace.dask  # noqa: E402
from headrace.dask import bundles, dispatch, readers, transport  # noqa: E402
from headrace.interop.sharing import in_own_memory  # noqa: E402

#: Of 0, 1 and -1: workers of other versions and machines must agree.
PINNED = ["4f329cadfaf7c73c", "e58def9f41dd3fa5", "554c35b79a7d06a5"]
SIZES = [0, 1, 63, 64, 65, 3000]


@pytest.fixture(autouse=True)
def settings():
    words = {"dataframe.backend": "headrace", "dataframe.convert-string": False}
    with dask.config.set({**words, "dataframe.shuffle.method": "tasks", "scheduler": "sync"}):
        yield


def frame_of(rows: int) -> hr.DataFrame:
    rng = np.random.default_rng(rows)
    keys = rng.integers(0, 9, rows)
    return hr.DataFrame(
        {
            "k": [None if i % 17 == 3 else "abcdefghi"[k] for i, k in enumerate(keys)],
            "n": hr.Series(rng.integers(-5, 50, rows)),
            "x": [
                None if i % 13 == 5 else math.nan if i % 11 == 7 else float(v)
                for i, v in enumerate(rng.integers(0, 99, rows))
            ],
        }
        if rows
        else {
            "k": hr.Series([], dtype="string"),
            "n": hr.Series([], dtype="int64"),
            "x": hr.Series([], dtype="float64"),
        }
    )


def same(ours, theirs):
    """Equal rows in any order, with their labels."""
    ours, theirs = (each.to_pandas() for each in (ours, theirs))
    if hasattr(ours, "columns"):
        assert list(ours.columns) == list(theirs.columns)
    rows = [
        sorted(map(repr, each.reset_index().astype("object").fillna("-").to_numpy().tolist()))
        for each in (ours, theirs)
    ]
    assert rows[0] == rows[1]


# ---- registration --------------------------------------------------------------------------------
def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_dask_knows_our_frames_without_importing_us():
    code = """
import sys, dask.dataframe as dd
print("headrace" in sys.modules)
import headrace as hr
print("headrace.dask.dispatch" in sys.modules)
made = dd.from_pandas(hr.DataFrame({"x": [1, 2]}), npartitions=2)
print(type(made).__module__, made.x.to_list())
"""
    assert run(code).split("\n") == ["False", "False", "headrace.dask.collections [1, 2]"]


def test_backend_is_found_by_its_name(tmp_path):
    frame_of(100).to_csv(tmp_path / "a.csv", index=False)
    made = dd.read_csv(str(tmp_path / "a.csv"))
    assert isinstance(made, headrace.dask.DataFrame)
    assert isinstance(made.compute(), hr.DataFrame)
    assert dd.from_dict({"x": [1, 2, 3]}, npartitions=2).x.sum().compute() == 6


def test_partitions_of_pandas_become_ours():
    pd = pytest.importorskip("pandas")
    with dask.config.set({"dataframe.backend": "pandas"}):
        theirs = dd.from_pandas(pd.DataFrame({"x": [1, 2, 3]}), npartitions=2)
    assert isinstance(theirs.to_backend("headrace").compute(), hr.DataFrame)


# ---- answers -------------------------------------------------------------------------------------
@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("partitions", [1, 3, 7])
def test_partitions_give_what_one_frame_gives(rows, partitions):
    frame = frame_of(rows)
    parts = headrace.dask.from_frame(frame, partitions=partitions)
    assert len(parts) == rows
    same(parts.compute(), frame)
    same(parts[parts.n > 3].compute(), frame[frame.n > 3])
    same(parts.assign(z=parts.n * 2).compute(), frame.assign(z=frame.n * 2))
    if not rows:
        return
    assert parts.n.sum().compute() == frame.n.sum().item()
    assert parts.x.count().compute() == frame.x.count().item()
    for how in ("sum", "count", "min", "max", "mean"):
        ours = getattr(parts.groupby("k").n, how)().compute()
        same(ours, getattr(frame.groupby("k").n, how)())


GROUPED = {
    "sum": lambda rows, **words: rows.groupby("k").n.sum(**words),
    "mean": lambda rows, **words: rows.groupby("n").x.mean(**words),
    "two keys": lambda rows, **words: rows.groupby(["k", "n"]).x.max(**words),
    "missing keys": lambda rows, **words: rows.groupby("k", dropna=False).n.count(**words),
    "a frame": lambda rows, **words: rows.groupby("n").min(**words),
    "a dictionary": lambda rows, **words: rows.groupby("n").agg({"x": "sum", "k": "max"}, **words),
    "var": lambda rows, **words: rows.groupby("k").n.var(**words).round(9),
    "nunique": lambda rows, **words: rows.groupby("k").n.nunique(**words),
}


@pytest.mark.parametrize("how", GROUPED)
@pytest.mark.parametrize("partitions", [5, 9])
def test_groups_in_several_partitions(how, partitions):
    frame = frame_of(3000)
    parts = headrace.dask.from_frame(frame, partitions=9)
    made = GROUPED[how](parts, split_out=partitions)
    assert made.npartitions == partitions
    same(made.compute(), GROUPED[how](frame))
    each = [made.partitions[place].compute() for place in range(partitions)]
    assert sum(map(len, each)) == len(GROUPED[how](frame))
    assert min(map(len, each)) > 0 or how != "two keys"


def test_groups_in_several_partitions_take_few_tasks():
    rows = headrace.dask.from_frame(frame_of(3000), partitions=16)
    made = rows.groupby("n").x.sum(split_out=16).optimize()
    tasks = len(dict(made.__dask_graph__()))
    assert tasks < 16 * 16
    again = rows.groupby("n").x.count(split_out=16)
    both = made.to_frame("s").merge(again.to_frame("c"), left_index=True, right_index=True)
    wanted = frame_of(3000).groupby("n").x
    same(both.compute(), hr.DataFrame({"s": wanted.sum(), "c": wanted.count()}))


def test_an_aggregate_with_the_name_of_its_key():
    frame = frame_of(3000)
    parts = headrace.dask.from_frame(frame, partitions=9)
    words = {"k": "count", "n": "sum"}
    made = parts.groupby("k").agg(words, split_out=8, shuffle_method="tasks").compute()
    assert len(made) == len(frame.groupby("k").agg(words))
    assert int(made["k"].sum()) == int(frame["k"].count())


def bits(value) -> list[str]:
    found = value.to_dict().values() if hasattr(value, "to_dict") else [value]
    return [float(each).hex() for each in found]


@pytest.mark.parametrize("rows", [1, 65, readers.MORSEL, 5 * readers.MORSEL + 5])
@pytest.mark.parametrize("how", ["sum", "mean", "var", "std"])
def test_sums_have_the_bits_of_one_process(rows, how):
    rng = np.random.default_rng(rows)
    frame = hr.DataFrame(
        {
            "x": rng.normal(size=rows) * 10.0 ** rng.integers(-9, 9, rows),
            "n": rng.integers(-1000, 1000, rows),
            "z": hr.Series(rng.normal(size=rows)).where(rng.random(rows) > 0.1),
            "f": rng.normal(size=rows).astype(np.float32),
            "none": hr.Series([None] * rows, dtype="float64"),
        }
    )
    parts = headrace.dask.from_frame(frame, partitions=3)
    assert parts.npartitions == min(3, rows)
    for every in (False, 2):
        found = getattr(parts, how)(split_every=every).compute()
        assert bits(found) == bits(getattr(frame, how)())
        assert list(found.to_dict()) == list(frame.columns)
        for name in frame.columns:
            ours = getattr(parts[name], how)(split_every=every).compute()
            wanted = getattr(frame[name], how)().to_numpy()[()]
            assert bits(ours) == bits(wanted), name
            assert ours.dtype == wanted.dtype, name


@pytest.mark.parametrize("how", ["inner", "left", "outer"])
def test_merge_by_a_shuffle(how):
    left, right = frame_of(700), frame_of(64)[["n", "x"]]
    ours = headrace.dask.from_frame(left, partitions=5).merge(
        headrace.dask.from_frame(right, partitions=4), on="n", how=how
    )
    same(
        ours.compute()
        .reset_index(drop=True)
        .sort_values(["n", "k", "x_x", "x_y"])
        .reset_index(drop=True),
        left.merge(right, on="n", how=how)
        .sort_values(["n", "k", "x_x", "x_y"])
        .reset_index(drop=True),
    )


@pytest.mark.parametrize("partitions", [5, 16, 40])
@pytest.mark.parametrize("rows", [3, 3000])
def test_a_shuffle_in_bundles_moves_each_row_once(rows, partitions):
    frame = frame_of(rows)
    parts = headrace.dask.from_frame(frame, partitions=min(7, rows))
    made = parts.shuffle("n", npartitions=partitions)
    assert made.npartitions == partitions
    same(made.compute(), frame)
    few = [made.partitions[place].compute() for place in range(partitions)]
    keys = [set(part.n.to_list()) for part in few]
    assert sum(map(len, few)) == rows
    assert sum(map(len, keys)) == len(set().union(*keys))  # each key in one partition
    picked = made.partitions[[partitions - 1, 1]].compute()
    same(picked, hr.concat([few[-1], few[1]]))
    for part in few:  # rows of a source keep their order
        numbers = [number for number in part.index.to_list() if number < len(frame) // 7]
        assert numbers == sorted(numbers)


def test_a_bundle_larger_than_the_limit():
    rows, size = 200_000, 4
    rng = np.random.default_rng(3)
    pieces = []
    for source in range(6):
        frame = hr.DataFrame({"n": np.arange(rows) + source * rows, "x": rng.random(rows)})
        hr.eval(frame)
        pieces.append((frame, [rows // size * (place + 1) for place in range(size)]))

    def sums():
        made = bundles._joined(pieces, True)
        return [(len(part), part.n.sum().item(), part.x.sum().item()) for part in made]

    whole = sums()
    with hr.memory.limit(6 * rows * 16 // 4):
        assert sums() == whole
        assert hr.memory.stats().used_bytes <= hr.memory.stats().limit_bytes


def test_shuffles_take_few_tasks():
    parts = headrace.dask.from_frame(frame_of(3000), partitions=16)
    for made in (parts.shuffle("n"), parts.sort_values("n")):
        assert len(dict(made.optimize().__dask_graph__())) < 16 * 12
    merged = parts.merge(parts.sort_values("x"), on="n", broadcast=False)
    assert len(dict(merged.optimize().__dask_graph__())) < 16 * 26
    frame = frame_of(3000)
    assert len(merged) == len(frame.merge(frame, on="n"))


@pytest.mark.parametrize("key", ["n", "k"])
def test_sort_over_partitions(key):
    frame = frame_of(900).dropna(subset=["k"])
    ours = headrace.dask.from_frame(frame, partitions=6).sort_values(key).compute()
    assert ours[key].to_list() == frame.sort_values(key)[key].to_list()
    assert sorted(ours.n.to_list()) == sorted(frame.n.to_list())


def test_concat_of_other_columns_keeps_row_numbers():
    first, second = frame_of(64)[["n"]], frame_of(65)[["n", "x"]]
    parts = [dd.from_pandas(each, npartitions=3) for each in (first, second)]
    for columns in (["n"], ["x", "n"]):
        made = dd.concat(parts)[columns].compute()
        whole = hr.concat([first, second])[columns]
        assert made.index.to_list() == whole.index.to_list()
        same(made, whole)


def test_sort_of_partitions_of_many_rows():
    values = np.random.default_rng(1).permutation((1 << 21) + 10)
    parts = headrace.dask.from_frame(hr.DataFrame({"u": values}), partitions=1)
    halves = parts.repartition(npartitions=1).sort_values("u", npartitions=2)
    assert (halves.u.compute().to_numpy() == np.arange(len(values))).all()
    found = hr.Series([0, 5, 9]).searchsorted(hr.Series(values), side="right")
    assert (found == np.searchsorted([0, 5, 9], values, side="right")).all()


def test_names_that_are_no_strings_survive_pickle():
    frame = hr.DataFrame({0: [1, 2], ("x", "y"): [3.0, None]})
    again = pickle.loads(pickle.dumps(frame))
    assert list(again.columns) == [0, ("x", "y")]
    assert again.equals(frame)


# ---- hashes --------------------------------------------------------------------------------------
def test_hashes_do_not_depend_on_the_process_or_the_dtype():
    whole = hr.Series([0, 1, -1])
    found = dispatch.hash_rows(whole, index=False)
    assert [f"{value:016x}" for value in found] == PINNED
    assert (dispatch.hash_rows(whole.astype("float64"), index=False) == found).all()
    assert (dispatch.hash_rows(whole.astype("int8"), index=False) == found).all()


# ---- bytes ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("rows", [0, 1, 65, 1 << 17])
def test_frames_cross_without_a_copy(rows):
    frame = frame_of(rows)
    header, buffers = transport.serialize(frame)
    before = hr.memory.ledger().total_bytes
    received = [np.frombuffer(bytes(each), np.uint8) for each in buffers]
    aligned = []
    for each in received:
        block = np.empty(len(each) + 64, np.uint8)
        begin = -block.ctypes.data % 64
        block[begin : begin + len(each)] = each
        aligned.append(block[begin : begin + len(each)].data)
    again = transport.deserialize(header, aligned)
    assert hr.memory.ledger().total_bytes == before
    assert again.equals(frame)


def test_received_values_may_spill_once_they_take_much_of_the_limit():
    frame = frame_of(1 << 17)
    header, buffers = transport.serialize(frame)
    held = []
    hr.memory.ledger().clear()
    with hr.memory.limit("32MB"):
        for _ in range(12):
            received = [bytes(each) for each in buffers]
            held.append(transport.deserialize(header, received))
        foreign = hr.memory.stats().foreign_bytes
    copied = [entry for entry in hr.memory.ledger() if entry.op == "receive"]
    size = sum(map(len, buffers))
    assert 12 * size > 32e6
    assert foreign <= 32e6 / 8 + size
    assert len(copied) >= 9
    assert all(entry.asked for entry in copied)
    for again in held:
        assert again.equals(frame)


LABELLED = [
    lambda f: f.groupby("k").x.sum(),  # of a group-by, as its partial results arrive
    lambda f: f.groupby("k").x.sum() * 2,
    lambda f: f.groupby(["k", "n"]).x.sum().rename(None),
    lambda f: f.set_index(["k", "n"]),
    lambda f: f.set_index("k", drop=False),  # a column has the name of the labels
    lambda f: f.set_index("k").rename(columns={"x": ("x", 1), "n": ("n", 2)}),
    lambda f: f.assign(k=f.k.astype("category")).set_index("n").k,
    lambda f: f.set_index(["k", "n"])[[]],
    lambda f: f.set_index(["k", "n"]).index,
    lambda f: f[f.n > 20],
    lambda f: f.sort_values("n").head(9),
    lambda f: f[["n", "x"]].sum(),
]


def assert_same(one, other):
    """Values, labels, names and dtypes of two pandas objects."""
    pd = pytest.importorskip("pandas")
    kind = next(kind for kind in (pd.DataFrame, pd.Series, pd.Index) if isinstance(other, kind))
    getattr(pd.testing, f"assert_{kind.__name__.lower().removeprefix('data')}_equal")(one, other)


@pytest.mark.parametrize("make", LABELLED)
def test_received_values_keep_their_labels_when_they_are_copied(make):
    value = make(frame_of(100))
    received = pickle.loads(pickle.dumps(value, protocol=5))
    hr.memory.ledger().clear()
    for each in (value, received):
        copied = in_own_memory(each)
        assert type(copied) is type(received)
        assert_same(copied.to_pandas(), value.to_pandas())
    assert [entry.op for entry in hr.memory.ledger()].count("receive") == 2


BOTH = {end: {transport.SHARES: 1} for end in ("sender", "recipient")}


@pytest.mark.parametrize("make", [lambda f: f, lambda f: f.set_index("k"), lambda f: f.x])
def test_large_values_go_in_shared_segments(make):
    value = make(frame_of(1 << 17))
    header, buffers = transport.serialize(value, BOTH)
    assert sum(map(len, buffers)) < 100_000
    assert len(transport.SENT) == 1
    before = hr.memory.ledger().total_bytes
    again = transport.deserialize(header, buffers)
    assert hr.memory.ledger().total_bytes == before
    assert again.equals(value)
    end = time.monotonic() + 20
    while len(transport.SENT) and time.monotonic() < end:
        time.sleep(0.01)
    assert not len(transport.SENT)  # nothing is held for a value that has arrived
    assert again.equals(value)


def test_values_made_for_sharing_are_not_copied():
    with hr.sharing():
        value = hr.DataFrame({"x": np.arange(1 << 18)}) * 2
        hr.eval(value)
    before = hr.memory.ledger().total_bytes
    again = transport.deserialize(*transport.serialize(value, BOTH))
    assert hr.memory.ledger().total_bytes == before
    assert again.equals(value)


@pytest.mark.parametrize(
    ("sender", "recipient"),
    [({}, {}), (BOTH["sender"], {}), (BOTH["sender"], {transport.SHARES: 2})],
)
def test_others_get_bytes(sender, recipient):
    value = frame_of(1 << 17)
    _, buffers = transport.serialize(value, {"sender": sender, "recipient": recipient})
    assert sum(map(len, buffers)) > 1 << 20
    _, small = transport.serialize(frame_of(64), BOTH)
    assert len(small) > 1


def test_a_value_that_does_not_fit_twice_goes_as_bytes(monkeypatch):
    def share(value):
        raise hr.OutOfMemoryError("no room")

    monkeypatch.setattr(transport, "share", share)
    value = frame_of(1 << 17)
    assert transport.serialize(value, BOTH) == transport.serialize(value)


def test_a_sender_that_is_gone_is_a_closed_connection():
    from distributed.comm.core import CommClosedError

    handle = hr.share(frame_of(65))
    token = handle.token
    handle.close()
    with pytest.raises(CommClosedError, match="no longer shared"):
        transport.attached(token, None)


def test_sizes_and_tokens():
    from dask.sizeof import sizeof
    from dask.tokenize import tokenize

    frame, other = frame_of(500), frame_of(500)
    other["n"] = other.n + 1
    assert sizeof(frame) > 500 * 16
    assert sizeof(frame.n) > 500 * 8
    assert tokenize(frame) == tokenize(frame_of(500))
    assert tokenize(frame) != tokenize(other)


def test_functions_that_name_our_modules_can_be_sent():
    from distributed.protocol.pickle import dumps, loads

    def both() -> list[int]:
        frame = hr.DataFrame({"x": [1, 2]})
        return [
            hr.memory.ledger().total_bytes,
            hr.sql("select x from frame", frame=frame).x.to_list(),
        ]

    assert loads(dumps(both))()[1] == [1, 2]
    assert loads(dumps([hr, hr.memory, hr.sql])) == [hr, hr.memory, hr.sql]


# ---- readers -------------------------------------------------------------------------------------
def test_csv_by_ranges_of_bytes(tmp_path):
    frame = frame_of(3000)
    path = tmp_path / "a.csv"
    frame.to_csv(path, index=False)
    for size in (1000, 4097, "1MB", None):
        made = headrace.dask.read_csv(path, blocksize=size)
        assert made.compute().equals(hr.read_csv(path))
        assert made.x.sum().compute() == hr.read_csv(path).x.sum().item()
    assert headrace.dask.read_csv(path, blocksize=1000).npartitions > 10


def test_a_line_break_in_quotes_at_a_border_is_an_error(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + '1,"x\ny"\n' * 200)
    assert len(headrace.dask.read_csv(path, blocksize=None)) == 200
    with pytest.raises(hr.Error) as caught:
        for size in range(40, 60):
            headrace.dask.read_csv(path, blocksize=size).compute()
    assert "blocksize=None" in caught.value.__notes__[-1]


def test_a_file_that_changed_is_an_error(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n2\n")
    made = headrace.dask.read_csv(path)
    path.write_text("a\n1\n2\n3\n")
    with pytest.raises(hr.InputError, match="changed"):
        made.compute()


def test_parquet_by_row_groups(tmp_path):
    frame = frame_of(3000)
    path = tmp_path / "a.parquet"
    frame.to_parquet(path, row_group_size=500)
    made = headrace.dask.read_parquet(path, blocksize=1)
    assert made.npartitions == 6
    assert made.compute().equals(frame)
    assert made.n.sum().compute() == frame.n.sum().item()
    assert headrace.dask.read_parquet(path).npartitions == 1
    same(
        made[made.n > 40].compute().reset_index(drop=True),
        frame[frame.n > 40].reset_index(drop=True),
    )


def test_partitions_begin_at_morsels():
    assert readers.borders(0, 3) == [0, 0]
    assert readers.borders(10, 3) == [0, 4, 8, 10]
    ends = readers.borders(10 * readers.MORSEL + 5, 4)
    assert all(end % readers.MORSEL == 0 for end in ends[:-1])
    assert ends[-1] == 10 * readers.MORSEL + 5


# ---- words of pandas that Dask uses --------------------------------------------------------------
def test_words_of_pandas_give_what_pandas_gives():
    pd = pytest.importorskip("pandas")
    frame = hr.DataFrame({"k": [3, 1, 2, 1], "s": ["b", "a", "c", "a"], "x": [1.0, 2.0, 3.0, 4.0]})
    theirs = frame.to_pandas()
    one, other = frame.set_index("k"), hr.DataFrame({"k": [1, 3, 9], "y": [5, 6, 7]}).set_index("k")
    for how in ("inner", "left"):
        made = one.merge(other, on="k", how=how).to_pandas()
        wanted = one.to_pandas().merge(other.to_pandas(), on="k", how=how)
        assert made.index.to_list() == wanted.index.to_list()
        assert made.index.name == "k"
        assert made.y.fillna(-1).to_list() == wanted.y.fillna(-1).to_list()
    numbered = frame.iloc[1:].merge(frame.iloc[2:], left_index=True, right_index=True)
    assert numbered.index.to_list() == [2, 3]
    assert frame.join([other.reset_index()[["y"]]]).columns == ["k", "s", "x", "y"]
    levels = [0.0, 0.5, 1.0]
    table = frame.quantile(levels, interpolation="nearest", method="table", numeric_only=False)
    ordered = theirs.sort_values(["k", "s", "x"])
    assert table.s.to_list() == ordered.s.iloc[[0, 2, 3]].to_list()
    assert frame.s.rename(index="t").name == frame.rename(columns={"s": "t"}).t.name == "t"
    kept = frame.astype({"s": "int64", "x": "int64"}, errors="ignore")
    assert [str(each) for each in kept.dtypes] == ["int64", "string", "int64"]
    assert frame.count(numeric_only=True).to_dict() == {"k": 4, "x": 4}
    groups = frame.set_index("k").x.groupby("k").sum()
    assert groups.to_dict() == theirs.set_index("k").x.groupby("k").sum().to_dict()
    assert one.index.get_slice_bound(3, "right") == pd.Index([3, 1, 2, 1]).searchsorted(3, "right")


def test_a_sort_places_the_rows_of_slices_by_position() -> None:
    rng = np.random.default_rng(3)
    frame = hr.DataFrame({"u": rng.permutation(1000), "v": np.arange(1000)})
    frame["s"] = hr.Series([f"row {value}" for value in frame.v.to_list()])
    for ascending in (True, False):
        rows = hr.dask.from_frame(frame, partitions=7).sort_values("u", ascending=ascending)
        assert rows.npartitions == 7
        wanted = frame.sort_values("u", ascending=ascending)
        made = rows.compute(scheduler="sync")
        assert made.u.to_list() == wanted.u.to_list()
        assert made.s.to_list() == wanted.s.to_list()
        assert made.index.to_list() == wanted.index.to_list()
    gaps = hr.DataFrame({"u": [3.5, None, 1.0, float("nan"), 2.0, -1.0] * 9})
    for last in ("first", "last"):
        rows = hr.dask.from_frame(gaps, partitions=4).sort_values("u", na_position=last)
        made = rows.compute(scheduler="sync").u.to_numpy()
        np.testing.assert_array_equal(made, gaps.sort_values("u", na_position=last).u.to_numpy())


def test_a_split_keeps_rows_in_order_with_their_labels() -> None:
    from dask.dataframe.dispatch import group_split_dispatch

    for rows in (0, 1, 65, 70_000):
        frame = hr.DataFrame({"x": np.arange(rows), "s": [str(at) for at in range(rows)]})
        codes = np.random.default_rng(rows).integers(0, 5, rows)
        for value in (frame, frame.set_index("s"), frame[frame.x >= 0], frame.iloc[rows // 2 :]):
            own = codes[len(codes) - len(value) :]
            parts = dict(group_split_dispatch(value, own, 6))
            assert list(parts) == list(range(6))
            whole = value.to_pandas()
            for code, part in parts.items():
                assert part.to_pandas().equals(whole[own == code]), (rows, code)
