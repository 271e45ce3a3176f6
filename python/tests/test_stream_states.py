# SPDX-License-Identifier: Apache-2.0
"""States of aggregates: the bits of the batch answer, files, merging."""

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace import _core

#: Aggregates whose values have the bits of the batch answer however many morsels there are.
EXACT = ["sum", "prod", "mean", "min", "max", "first", "last", "count", "size", "any", "all"]
MOMENTS = ["var", "std", "sem", "skew", "kurt"]


def rows(count: int, groups: int = 7, seed: int = 0) -> hr.DataFrame:
    rng = np.random.default_rng(seed)
    v = rng.normal(size=count) * 10.0 ** rng.integers(-8, 8, size=count)
    v[rng.random(count) < 0.05] = np.nan
    words = np.array(["pear", "fig", "apple", None], dtype=object)
    return hr.DataFrame(
        {
            "k": rng.integers(0, groups, size=count),
            "s": words[rng.integers(0, 3, size=count)],
            "v": v,
            "f": rng.normal(size=count).astype("float32"),
            "n": rng.integers(-5, 5, size=count),
            "w": words[rng.integers(0, 4, size=count)],
        }
    )


def bits(frame: hr.DataFrame) -> dict[str, Any]:
    """Labels and values, floats as their bits."""
    frame = frame.reset_index()
    made = {}
    for name in frame.columns:
        series = frame[name]
        if series.dtype in ("float64", "float32"):
            null = series.is_null().to_numpy()
            values = np.array(series.fill_null(0).to_numpy())
            values[np.isnan(values)] = np.nan  # of one sign
            made[name] = [
                None if gone else each
                for gone, each in zip(null, values.view(f"i{values.itemsize}"), strict=True)
            ]
        else:
            made[name] = series.to_list()
    return {"dtypes": [str(frame[n].dtype) for n in frame.columns], **made}


def cuts(count: int, pieces: int, seed: int) -> list[tuple[int, int]]:
    rng = np.random.default_rng(seed)
    at = np.sort(rng.integers(0, count + 1, size=pieces - 1)).tolist() if pieces > 1 else []
    edges = [0, *at, count]
    return list(pairwise(edges))


def spec(aggregates: list[str]) -> dict[str, tuple[str, str]]:
    made = {f"v {how}": ("v", how) for how in aggregates}
    made |= {f"f {how}": ("f", how) for how in aggregates}
    made |= {f"n {how}": ("n", how) for how in aggregates}
    for how in ("min", "max", "first", "last", "count"):
        if how in aggregates:
            made[f"w {how}"] = ("w", how)
    return made


@pytest.fixture
def small_morsels() -> Any:
    before = _core.morsel_rows()
    _core.set_morsel_rows(1024)
    yield
    _core.set_morsel_rows(before)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1023, 1024, 1025, 2500, 20_000])
@pytest.mark.parametrize("keys", [["k"], ["s", "k"]])
def test_groups_have_the_bits_of_all_rows(count: int, keys: list[str], small_morsels: Any) -> None:
    frame = rows(count)
    words = spec(EXACT + (MOMENTS if count <= 1024 else []))
    expected = bits(frame.groupby(keys).agg(**words))
    for seed in range(3):
        state = frame.head(0).groupby(keys).incremental(**words)
        for begin, end in cuts(count, 1 + seed * 5, seed):
            state.update(frame.iloc[begin:end])
        assert state.rows == count
        assert bits(state.value()) == expected
        assert bits(state.value()) == expected  # looking changes nothing


def test_groups_over_whole_morsels() -> None:
    frame = rows(2 * 2**17 + 1000, groups=300)
    words = spec(EXACT)
    state = frame.iloc[:70_000].groupby("k").incremental(**words)
    state.update(frame.iloc[70_000:200_000])
    state.update(frame.iloc[200_000:])
    assert bits(state.value()) == bits(frame.groupby("k").agg(**words))


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_moments_do_not_depend_on_cuts(threads: int, small_morsels: Any) -> None:
    frame = rows(12_345)
    words = spec(MOMENTS)
    with hr.threads(threads):
        expected = None
        for seed in range(4):
            state = frame.head(0).groupby("k").incremental(**words)
            for begin, end in cuts(len(frame), 1 + seed * 4, seed):
                state.update(frame.iloc[begin:end])
            made = bits(state.value())
            assert expected is None or made == expected
            expected = made
        batch = frame.groupby("k").agg(**words)
        for name in batch.columns:
            tolerance = 1e-5 if name.startswith("f") else 1e-9
            np.testing.assert_allclose(
                state.value()[name].to_numpy(), batch[name].to_numpy(), rtol=tolerance
            )


def test_many_groups_are_within_roundings(small_morsels: Any) -> None:
    frame = rows(20_000, groups=5000)
    words = {"v": ("v", "sum"), "n": ("n", "sum"), "c": ("w", "count")}
    state = frame.head(0).groupby("k").incremental(**words)
    for begin, end in cuts(len(frame), 9, 1):
        state.update(frame.iloc[begin:end])
    made, batch = state.value(), frame.groupby("k").agg(**words)
    assert made.n.to_list() == batch.n.to_list() and made.c.to_list() == batch.c.to_list()
    np.testing.assert_allclose(made.v.to_numpy(), batch.v.to_numpy(), rtol=1e-12)


def test_order_and_missing_keys(small_morsels: Any) -> None:
    frame = rows(5000).assign(k=rows(5000, seed=3).w)
    for sort in (True, False):
        for dropna in (True, False):
            groups = frame.groupby("k", sort=sort, dropna=dropna)
            state = (
                frame.head(0).groupby("k", sort=sort, dropna=dropna).incremental(total=("n", "sum"))
            )
            for begin, end in cuts(5000, 6, 2):
                state.update(frame.iloc[begin:end])
            assert bits(state.value()) == bits(groups.agg(total=("n", "sum")))


def test_infinities_are_kept(small_morsels: Any) -> None:
    v = np.ones(4000)
    v[100], v[1500] = np.inf, -np.inf
    v[2000:2002] = np.nan
    frame = hr.DataFrame({"k": np.arange(4000) % 2, "v": v})
    state = frame.head(0).groupby("k").incremental(["sum", "mean", "prod"])
    for begin, end in cuts(4000, 7, 3):
        state.update(frame.iloc[begin:end])
    assert bits(state.value()) == bits(frame.groupby("k").agg(["sum", "mean", "prod"]))
    assert np.isnan(state.value()[("v", "sum")].to_numpy()[0])


@pytest.mark.parametrize("count", [0, 1, 65, 1024, 9000, 3 * 2**17 + 77])
def test_columns_have_the_bits_of_all_rows(count: int) -> None:
    frame = rows(count)
    how = ["sum", "mean", "min", "max", "count", "var", "std", "skew", "kurt", "prod"]
    words = {f"{name} {each}": (name, each) for name in ("v", "f", "n") for each in how}
    for seed in range(3):
        state = frame.head(0).incremental(**words)
        for begin, end in cuts(count, 1 + 4 * seed, seed):
            state.update(frame.iloc[begin:end])
        made = state.value()
        for name, (column, each) in words.items():
            found = made[name].to_list()[0]
            if count == 0 and each in ("min", "max"):
                assert found is None
                continue
            value = np.asarray(getattr(frame[column], each)())
            if found is None:
                assert np.isnan(float(value))
            else:
                assert np.asarray(found, value.dtype).tobytes() == value.tobytes(), name


def test_merging_states(small_morsels: Any) -> None:
    frame = rows(7000)
    words = spec(["sum", "min", "count", "first"])
    exact = {name: pair for name, pair in words.items() if pair[0] in ("n", "w")}
    parts = []
    for begin, end in ((0, 1500), (1500, 5000), (5000, 7000)):
        parts.append(frame.iloc[begin:end].groupby("k").incremental(**exact))
    for other in parts[1:]:
        parts[0].merge(other)
    assert parts[0].rows == 7000
    assert bits(parts[0].value()) == bits(frame.groupby("k").agg(**exact))

    few = frame.iloc[:1500].groupby("k").incremental(**words)
    few.merge(frame.iloc[1500:2400].groupby("k").incremental(**words))
    assert bits(few.value()) == bits(frame.iloc[:2400].groupby("k").agg(**words))

    left = frame.iloc[:2048].incremental(total=("v", "sum"), low=("n", "min"))
    left.merge(frame.iloc[2048:4096].incremental(total=("v", "sum"), low=("n", "min")))
    assert left.value().total.item() == frame.iloc[:4096].v.sum().item()
    with pytest.raises(hr.TypeMismatchError, match="other aggregates"):
        left.merge(frame.incremental(total=("v", "mean"), low=("n", "min")))
    with pytest.raises(hr.TypeMismatchError, match="other aggregates"):
        left.merge(few)


def test_wrong_batches_change_nothing() -> None:
    frame = rows(100)
    state = frame.groupby("k").incremental(total=("v", "sum"))
    before = bits(state.value())
    with pytest.raises(hr.ColumnNotFoundError, match="column='v'"):
        state.update(frame[["k"]])
    with pytest.raises(hr.TypeMismatchError, match="another dtype: column='v', dtype='int64'"):
        state.update(frame.assign(v=1))
    with pytest.raises(hr.TypeMismatchError, match="expected a frame"):
        state.update([1, 2])  # type: ignore[arg-type]
    assert bits(state.value()) == before and state.rows == 100
    with pytest.raises(hr.UnsupportedError, match="aggregate='median'"):
        frame.groupby("k").incremental(m=("v", "median"))
    with pytest.raises(hr.TypeMismatchError, match="does not support the column"):
        frame.groupby("k").incremental(m=("w", "mean"))
    with pytest.raises(hr.TypeMismatchError, match="expected numbers"):
        frame.incremental(m=("w", "max"))
    with pytest.raises(hr.InvalidArgumentError, match="has no column with this key"):
        frame.groupby(frame.k % 2).incremental(m=("v", "sum"))
    state.update(frame)
    assert state.rows == 200


def test_files_have_the_state(tmp_path: Path, small_morsels: Any) -> None:
    frame = rows(6000)
    words = spec(EXACT + MOMENTS)
    state = frame.iloc[:2500].groupby(["s", "k"]).incremental(**words)
    state.save(tmp_path / "a.state", position={"offset": 7})
    again = hr.stream.load(tmp_path / "a.state")
    assert again.rows == 2500 and again.position == {"offset": 7}
    for each in (state, again):
        each.update(frame.iloc[2500:])
    assert bits(again.value()) == bits(state.value())
    assert os.listdir(tmp_path) == ["a.state"]

    columns = frame.iloc[:2500].incremental(total=("v", "sum"), shape=("f", "kurt"))
    columns.save(tmp_path / "b.state")
    more = hr.stream.load(tmp_path / "b.state")
    more.update(frame.iloc[2500:])
    assert more.value().total.item() == frame.v.sum().item()
    assert more.value()["shape"].to_list()[0] == frame.f.kurt().item()
    with pytest.raises(hr.InvalidArgumentError, match="what JSON can hold"):
        state.save(tmp_path / "a.state", position=object())
    assert hr.stream.load(tmp_path / "a.state").rows == 2500


def test_damaged_files_are_errors(tmp_path: Path, small_morsels: Any) -> None:
    path = tmp_path / "a.state"
    with pytest.raises(FileNotFoundError):
        hr.stream.load(path)
    rows(3000).groupby("s").incremental(total=("v", "sum"), m=("f", "var")).save(path)
    good = path.read_bytes()
    rng = np.random.default_rng(1)
    for size in [0, 5, 23, 24, 100, len(good) - 1]:
        path.write_bytes(good[:size])
        with pytest.raises(hr.InputError, match="load: "):
            hr.stream.load(path)
    for _ in range(200):
        bad = bytearray(good)
        bad[rng.integers(0, len(bad))] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(bad))
        with pytest.raises((hr.InputError, hr.UnsupportedError), match="load: "):
            hr.stream.load(path)


def forged(good: bytes, header: dict[str, Any]) -> bytes:
    """The same file with another header and a checksum that fits."""
    import json
    import struct
    import zlib

    (size,) = struct.unpack_from("<Q", good, 16)
    text = json.dumps(header).encode()
    body = struct.pack("<Q", len(text)) + text + good[24 + size :]
    return good[:12] + struct.pack("<I", zlib.crc32(body)) + body


def test_forged_files_are_errors(tmp_path: Path, small_morsels: Any) -> None:
    import json
    import struct

    path = tmp_path / "a.state"
    for state in (
        rows(3000).groupby("s").incremental(total=("v", "sum"), m=("f", "var")),
        rows(3000).incremental(total=("v", "sum")),
    ):
        state.save(path)
        good = path.read_bytes()
        (size,) = struct.unpack_from("<Q", good, 16)
        header = json.loads(good[24 : 24 + size])
        assert hr.stream.load(path).rows == 3000
        wrong: list[tuple[str, Any]] = [
            *(("rows", each) for each in (-1, 1.5, "x", None, 10, 2**70)),
            *(("open", each) for each in (-1, 0, 2**40)),
            *(("kind", each) for each in ("model", None, [])),
            *(("dtypes", each) for each in ({}, None, {"v": "int64"}, {"v": 3})),
            *(("folded", each) for each in ([], [-1], [0], [99], None, ["a"])),
            *(("words", each) for each in ({}, None, [], {"columns": [[1, 2, 3]]})),
            *(("morsel", each) for each in (0, None, 2048)),
            *(("tables", each) for each in ([], [1], [-5], None, [2**70])),
        ]
        for name, value in wrong:
            path.write_bytes(forged(good, {**header, name: value}))
            with pytest.raises(hr.Error, match="load: "):
                hr.stream.load(path)
        for columns in ([["a", "eval", "v"]], [["a", "sum", "nothing"]], [["a", "sum"]], "x"):
            words = {**header["words"], "columns": columns}
            path.write_bytes(forged(good, {**header, "words": words}))
            with pytest.raises(hr.InputError, match="load: "):
                hr.stream.load(path)
