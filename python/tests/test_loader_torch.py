# SPDX-License-Identifier: Apache-2.0
"""`hr.torch.Loader` (runs in the environment that has PyTorch)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headrace as hr

torch = pytest.importorskip("torch")


def frame_of(rows: int) -> hr.DataFrame:
    x = np.arange(rows, dtype="float32")
    return hr.DataFrame(
        {"row": np.arange(rows), "x": x, "half": x / 2, "y": np.arange(rows) % 2 == 0}
    )


def rows_of(loader: Any) -> list[int]:
    return [int(row) for batch in loader for row in batch["row"]]


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 1000, 2**17 + 3])
@pytest.mark.parametrize("shuffle", [False, True])
def test_each_row_comes_once_an_epoch(rows: int, shuffle: bool) -> None:
    loader = hr.torch.Loader(frame_of(rows), 1000, shuffle=shuffle, seed=1)
    first = rows_of(loader)
    assert sorted(first) == list(range(rows)) and len(loader) == -(-rows // 1000)
    second = rows_of(loader)
    assert sorted(second) == list(range(rows))
    assert (first == second) == (not shuffle or rows < 2)
    loader.set_epoch(0)
    assert rows_of(loader) == first


def test_batches_are_matrices_vectors_and_pairs() -> None:
    frame = frame_of(10)
    x, y = next(iter(hr.torch.Loader(frame, 4, features=["x", "half"], label="y", shuffle=False)))
    assert x.dtype == torch.float32 and x.is_contiguous() and x.shape == (4, 2)
    assert x.tolist() == [[0, 0], [1, 0.5], [2, 1], [3, 1.5]]
    assert y.dtype == torch.bool and y.tolist() == [True, False, True, False]
    mixed = next(iter(hr.torch.Loader(frame, 4, features=["row", "x"], shuffle=False)))
    assert mixed.dtype == torch.float64
    vector = next(iter(hr.torch.Loader(frame, 4, features="row", shuffle=False)))
    assert vector.dtype == torch.int64 and vector.tolist() == [0, 1, 2, 3]
    whole = next(iter(hr.torch.Loader(frame, 4)))
    assert list(whole) == ["row", "x", "half", "y"]
    missing = hr.DataFrame({"x": [1.0, None, 3.0]})
    (only,) = hr.torch.Loader(missing, 3, features="x", shuffle=False)
    assert torch.isnan(only).tolist() == [False, True, False]


def test_the_order_is_that_of_iter_batches() -> None:
    frame = frame_of(200_000)
    loader = hr.torch.Loader(frame, 999, seed=4)
    expected = [
        row for b in frame.iter_batches(999, shuffle=True, seed=4) for row in b.row.to_list()
    ]
    assert rows_of(loader) == expected


@pytest.mark.parametrize("prefetch", [0, 1, 4])
@pytest.mark.parametrize("after", [0, 1, 5, 9, 10])
def test_a_pass_goes_on_where_its_state_was_taken(prefetch: int, after: int) -> None:
    frame = frame_of(1000)

    def loader() -> Any:
        return hr.torch.Loader(frame, 100, seed=7, prefetch=prefetch)

    whole = loader()
    batches = [[b["row"].tolist() for b in whole] for _ in range(2)]
    begun = loader()
    passing = iter(begun)
    for _ in range(after):
        next(passing)
    state = begun.state_dict()
    rest = [b["row"].tolist() for b in passing]
    resumed = loader()
    resumed.load_state_dict(state)
    assert resumed.state_dict() == state
    found = [b["row"].tolist() for b in resumed]
    assert found == (batches[0][after:] or batches[1])
    assert rest == batches[0][after:]
    if after < 10:
        assert [b["row"].tolist() for b in resumed] == batches[1]
    with pytest.raises(hr.InvalidArgumentError, match="seed=7"):
        hr.torch.Loader(frame, 100, seed=8).load_state_dict(state)


@pytest.mark.parametrize("rows", [1, 7, 1000, 1001])
def test_ranks_take_equally_many_and_all_rows(rows: int) -> None:
    frame = frame_of(rows)
    parts = [rows_of(hr.torch.Loader(frame, 64, rank=r, world=4)) for r in range(4)]
    assert len({len(part) for part in parts}) == 1
    assert {row for part in parts for row in part} == set(range(rows))
    assert sum(map(len, parts)) - rows < 4
    dropped = [hr.torch.Loader(frame, 64, rank=r, world=4, drop_last=True) for r in range(4)]
    assert {len(list(each)) for each in dropped} == {len(dropped[0])}


def test_a_data_loader_takes_it() -> None:
    loader = hr.torch.Loader(frame_of(100), 30)
    assert isinstance(loader, torch.utils.data.IterableDataset) and isinstance(
        loader, hr.torch.Loader
    )
    data = torch.utils.data.DataLoader(loader, batch_size=None)
    assert len(data) == 4
    assert sorted(int(row) for batch in data for row in batch["row"]) == list(range(100))


def test_tensors_are_the_engines_memory() -> None:
    frame = frame_of(10_000)
    loader = hr.torch.Loader(frame, 5000, features="row")
    hr.memory.ledger().clear()
    kept = list(loader)
    assert hr.memory.ledger().total_bytes == 0  # gathered once, handed over as it is
    assert sorted(int(v) for batch in kept for v in batch) == list(range(10_000))


def test_a_scan_larger_than_the_limit(tmp_path: Path, memory_room: Any) -> None:
    rows = 300_000
    path = tmp_path / "rows.csv"
    columns = {"row": np.arange(rows), **{f"x{i}": np.arange(rows) / 3 for i in range(5)}}
    hr.DataFrame(columns).to_csv(path, index=False)
    with memory_room("16MB"):
        loader = hr.torch.Loader(hr.scan_csv(path), 4096, features=["row", "x4"], seed=2)
        seen = np.zeros(rows, dtype=int)
        for batch in loader:
            row = batch[:, 0].numpy().astype(int)
            seen[row] += 1
            np.testing.assert_array_equal(batch[:, 1].numpy(), row / 3)
    assert (seen == 1).all()


def test_a_model_learns_from_it() -> None:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 3)).astype("float32")
    frame = hr.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": x @ [1.0, -2.0, 3.0]})
    frame["y"] = frame.y.astype("float32")
    model = torch.nn.Linear(3, 1)
    step = torch.optim.SGD(model.parameters(), lr=0.1)
    for features, label in hr.torch.Loader(frame, 256, features=["a", "b", "c"], label="y"):
        step.zero_grad()
        torch.nn.functional.mse_loss(model(features)[:, 0], label).backward()
        step.step()
    assert np.allclose(model.weight.detach().numpy(), [[1, -2, 3]], atol=1e-2)


def test_what_cannot_be_is_refused_by_name() -> None:
    frame = hr.DataFrame({"k": ["a", "b"], "x": [1, None]})
    with pytest.raises(hr.TypeMismatchError, match=r"columns=\['k'\]"):
        hr.torch.Loader(frame, 1)
    with pytest.raises(hr.Error, match="nope"):
        hr.torch.Loader(frame, 1, features=["nope"])
    with pytest.raises(hr.Error, match=r"fillna|dropna"):
        list(hr.torch.Loader(frame, 1, features=["x"]))
    for words in ({"batch_size": 0}, {"batch_size": 1, "rank": 3, "world": 2}):
        with pytest.raises(hr.InvalidArgumentError):
            hr.torch.Loader(frame, features=["x"], **words)
    with pytest.raises(hr.InvalidArgumentError, match="label"):
        hr.torch.Loader(frame, 1, label="x")
    with pytest.raises(hr.InvalidArgumentError, match="together"):
        hr.torch.Loader(frame, 1, features=["x"], rank=0)
    data = torch.utils.data.DataLoader(
        hr.torch.Loader(frame.dropna(), 1, features=["x"]), batch_size=None, num_workers=1
    )
    with pytest.raises(Exception, match="num_workers=0"):
        list(data)


def test_an_error_ahead_is_raised_by_the_step_that_wants_it() -> None:
    frame = hr.DataFrame({"x": [1.0, 2.0]})
    loader = hr.torch.Loader(frame, 1, features="x", prefetch=2)
    for _ in loader:
        break  # a pass that is left does not hold up the next
    assert sorted(float(each) for each in loader) == [1.0, 2.0]
