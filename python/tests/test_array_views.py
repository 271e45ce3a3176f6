# SPDX-License-Identifier: Apache-2.0
"""In-place changes of views reach the arrays they were taken from, as NumPy's do."""

from __future__ import annotations

import gc
import pickle
import random
import weakref
from typing import Any

import numpy as np
import pytest

import headrace as hr


def ours(n: np.ndarray[Any, Any]) -> hr.Array:
    """Values of ours, in memory of ours."""
    return hr.asarray(n.copy()) + n.dtype.type(0)


def ramp(*shape: int, dtype: str = "int64") -> tuple[hr.Array, np.ndarray[Any, Any]]:
    n = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    return ours(n), n


VIEWS = {
    "slice": lambda x: x[1:3],
    "step": lambda x: x[::-2, 1:],
    "row": lambda x: x[1],
    "column": lambda x: x[:, 1],
    "all": lambda x: x[...],
    "new axis": lambda x: x[:, None, 1:3],
    "of a view": lambda x: x[1:][:, ::2][0],
    "transposed": lambda x: x.T,
    "flat": lambda x: x.reshape(-1),
    "flat rows": lambda x: x[1:].ravel(),
    "halves": lambda x: x[:, ::2].reshape(3, 2, 1)[1:],
    "flipped": lambda x: np.flip(x, 1),
    "expanded": lambda x: np.expand_dims(x, 0)[0, 1],
    "squeezed": lambda x: np.squeeze(x[1:2]),
    "split": lambda x: np.split(x, [1], axis=1)[1],
    "moved": lambda x: np.moveaxis(x, 0, 1)[2],
    "swapped": lambda x: np.swapaxes(x, 0, 1)[1:],
    "turned": lambda x: np.rot90(x)[0],
    "real": np.real,
}


@pytest.mark.parametrize("name", VIEWS)
def test_changes_reach_the_array(name: str) -> None:
    for change in (_add, _assign, _assign_all):
        x, n = ramp(3, 4)
        for array in (x, n):
            part = VIEWS[name](array)
            change(part)
            change(part)
        assert x.tolist() == n.tolist(), change


def _add(part: Any) -> None:
    part += 10


def _assign(part: Any) -> None:
    part[0] = -1


def _assign_all(part: Any) -> None:
    part[...] = part * 2 + 1


COPIES = {
    "reshape of columns": lambda x: x.T.reshape(-1),
    "ravel of columns": lambda x: x[:, ::2].ravel(),
    "positions": lambda x: x[[0, 1]],
    "mask": lambda x: x[x > 3],
    "copy": lambda x: x[1:].copy(),
    "positive": lambda x: +x,
    "rounded": lambda x: x.round(),
    "astype": lambda x: x.astype("int64"),
    "element": lambda x: x[1, 2],
    "rolled": lambda x: np.roll(x, 0),
    "take": lambda x: np.take(x, [1], axis=0),
    "product of one": lambda x: np.prod(x[1:2], axis=0),
    "reshape": lambda x: (
        hr.array_api.reshape(x, (4, 3), copy=True)
        if isinstance(x, hr.Array)
        else x.reshape(4, 3).copy()
    ),
}


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("dtype", ["int64", "complex128"])
def test_copies_are_apart(name: str, dtype: str) -> None:
    if dtype == "complex128" and name in ("mask", "astype"):
        return
    x, n = ramp(3, 4, dtype=dtype)
    for array in (x, n):
        part = COPIES[name](array)
        part += 10
    assert x.tolist() == n.tolist()


def test_parts_of_complex_numbers() -> None:
    x, n = ramp(4, dtype="complex128")
    for z in (x, n):
        z.real += 1
        z[1:].imag -= 2
        part = z[::2].real
        part *= 3
        z.imag = z.real
    assert x.tolist() == n.tolist()
    with pytest.raises(hr.TypeMismatchError, match="no imaginary parts to set"):
        hr.asarray([1.0]).imag = 1.0


def test_rows_of_a_loop() -> None:
    x, n = ramp(3, 4)
    for array in (x, n):
        for row in array:
            row += row[0]
    assert x.tolist() == n.tolist()


def test_halves_are_apart_and_overlaps_refuse() -> None:
    x, n = ramp(8)
    for array in (x, n):
        even, odd, first, last = array[::2], array[1::2], array[:4], array[4:]
        even += 100
        odd *= 2
        assert first.shape == last.shape
    assert x.tolist() == n.tolist()
    first = x[:4]
    x[3:5] = 0
    with pytest.raises(hr.InvalidArgumentError, match=r"snapshot.*view\.copy\(\)"):
        first += 1
    with pytest.raises(hr.InvalidArgumentError, match="snapshot"):
        first[2:] = 1
    assert first.tolist() == n[:4].tolist()  # the old values
    copied = first.copy()
    copied += 1
    assert copied.tolist() == (n[:4] + 1).tolist()
    x[:4] += 1  # a view taken now
    second = x[1:5]
    x[4] = -5
    second[:2] = 7  # elements that have not changed: then the others are as they are now
    assert second.tolist() == x.tolist()[1:5] == [7, 7, 1, -5]


def test_overlapping_views_of_an_array_that_is_gone() -> None:
    a, b, c = (lambda x: (x[:3], x[2:5], x[5:]))(ramp(8)[0])
    a += 1
    c += 1
    assert (a.tolist(), c.tolist()) == ([1, 2, 3], [6, 7, 8])
    with pytest.raises(hr.InvalidArgumentError, match="snapshot"):
        b += 1


def test_many_changes_since() -> None:
    x, _ = ramp(200)
    tail, near = x[150:], x[:2]
    for k in range(100):
        x[k] = -1
    with pytest.raises(hr.InvalidArgumentError, match="snapshot"):
        near += 1
    with pytest.raises(hr.InvalidArgumentError, match="snapshot"):
        tail += 1  # nobody knows any more
    x[150:] += 1


def test_an_element_updated_is_put_once() -> None:
    x, n = ramp(6)
    x[1:3] += 1
    n[1:3] += 1
    assert str(x.explain()).count("setitem") == 1
    assert x.tolist() == n.tolist()


def test_views_hold_no_array() -> None:
    x, _ = ramp(1000)
    held, part = weakref.ref(x), x[1:3]
    part += 1
    node = weakref.ref(x._node)
    del x
    gc.collect()
    assert held() is None and node() is None
    part += 1
    assert part.tolist() == [3, 4]


def test_memory_of_others_is_not_written() -> None:
    n = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    x = hr.asarray(n)
    part = x[0]
    part += 1
    flat = x.reshape(-1)  # a copy, as of NumPy's
    flat += 1
    assert (x.tolist(), n.tolist()) == ([[1, 2, 3], [3, 4, 5]], [[0, 1, 2], [3, 4, 5]])


def test_pickled_views_are_arrays() -> None:
    x, _ = ramp(4)
    part = pickle.loads(pickle.dumps(x[1:]))
    part += 1
    assert x.tolist() == [0, 1, 2, 3]


# ---- outputs -------------------------------------------------------------------------------------
@pytest.mark.parametrize("make", [hr.zeros, hr.empty, hr.ones, lambda shape: hr.full(shape, 2.5)])
def test_code_for_numpy_writes_into_outputs(make: Any) -> None:
    x, other = make((2, 3)), make((2, 3))
    first = x.tolist()
    plan, copied, view = x + 1, x.copy(), x[0]
    out = np.asarray(x)
    assert out.flags.writeable
    assert out.tolist() == first
    out[:] = 7
    assert x.tolist() == [[7] * 3] * 2
    assert (other.tolist(), copied.tolist(), view.tolist()) == (first, first, first[0])
    assert plan.tolist() == [[each + 1 for each in row] for row in first]
    assert make((2, 3)).tolist() == first
    with pytest.raises(hr.InvalidArgumentError, match="snapshot"):
        view += 1
    later, apart = x * 2, +x
    again = np.asarray(x)
    again[0, 0] = -1  # the same memory
    assert (x[0, 0].item(), out[0, 0]) == (-1, -1)
    assert later.tolist() == [[14] * 3] * 2
    assert apart.tolist() == [[7] * 3] * 2
    x[1] = 0
    assert not np.asarray(x).flags.writeable
    assert out.tolist() == [[-1, 7, 7], [7, 7, 7]]


def test_other_arrays_are_no_outputs() -> None:
    x = hr.zeros(3)
    x += 1
    for array in (x, hr.zeros(3)[:2], hr.zeros(3) + 1, hr.asarray([1.0]), hr.zeros(())):
        assert not np.asarray(array).flags.writeable


# ---- random programs -----------------------------------------------------------------------------
def _cut(draw: random.Random, size: int) -> Any:
    if size and draw.random() < 0.25:
        return draw.randrange(-size, size)
    step = draw.choice([1, 1, 2, -1, -2])
    begin, end = (draw.choice([None, draw.randrange(-size - 1, size + 2)]) for _ in range(2))
    return slice(begin, end, step)


def _key(draw: random.Random, shape: tuple[int, ...]) -> Any:
    keys = [_cut(draw, size) for size in shape[: draw.randrange(len(shape) + 1)]]
    if draw.random() < 0.3:
        keys.insert(draw.randrange(len(keys) + 1), None)
    if len([k for k in keys if k is not None]) < len(shape) or all(
        isinstance(k, int) for k in keys
    ):
        keys.append(Ellipsis)
    return tuple(keys)


def _other_shape(draw: random.Random, size: int) -> tuple[int, ...]:
    if size == 0:
        return (0, draw.randrange(1, 3))
    sizes: list[int] = []
    while size > 1:
        divisors = [d for d in range(2, size + 1) if size % d == 0]
        sizes.append(draw.choice(divisors))
        size //= sizes[-1]
    sizes.insert(draw.randrange(len(sizes) + 1), 1)
    return tuple(sizes)


def _view(draw: random.Random, n: Any) -> Any:
    kind = draw.choice(["key", "key", "key", "reshape", "ravel", "axes", "flip", "expand", "split"])
    if kind == "key":
        key = _key(draw, n.shape)
        return lambda a: a[key]
    if kind == "reshape":
        shape = _other_shape(draw, n.size)
        return lambda a: np.reshape(a, shape)
    if kind == "axes":
        order = draw.sample(range(n.ndim), n.ndim)
        return lambda a: np.transpose(a, order)
    if kind == "flip" and n.ndim:
        axis = draw.randrange(n.ndim)
        return lambda a: np.flip(a, axis)
    if kind == "expand":
        axis = draw.randrange(n.ndim + 1)
        return lambda a: np.expand_dims(a, axis)
    if kind == "split" and n.ndim:
        axis = draw.randrange(n.ndim)
        at = draw.randrange(n.shape[axis] + 1)
        return lambda a: np.split(a, [at], axis)[at % 2]
    return np.ravel


def _change(draw: random.Random, n: Any) -> Any:
    kind = draw.choice(["add", "multiply", "set", "add at", "mask", "positions"])
    value = draw.randrange(-3, 4)
    key = _key(draw, n.shape)

    def change(a: Any) -> None:
        if kind == "add":
            a += value
        elif kind == "multiply":
            a *= value
        elif kind == "set":
            a[key] = value
        elif kind == "add at":
            a[key] += value
        elif kind == "mask" or not a.ndim or not a.shape[0]:
            a[a > value] = value
        else:
            a[[0, -1]] = value

    return change


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_of_views_and_changes(seed: int) -> None:
    draw = random.Random(seed)
    shape = tuple(draw.randrange(1, 5) for _ in range(draw.randrange(1, 4)))
    x, n = ramp(*shape)
    if draw.random() < 0.2:
        n = np.asfortranarray(n)
        x = hr.asarray(np.asfortranarray(n.copy(order="F")))
    pairs: list[tuple[Any, Any]] = [(x, n)]
    refused = done = 0
    for _ in range(40):
        place = draw.randrange(len(pairs))
        mine, theirs = pairs[place]
        act = draw.random()
        if act < 0.5:
            view = _view(draw, theirs)
            made = view(mine), view(theirs)
            # A snapshot's views are as old, and refuse changes; its copies stay apart.
            if np.may_share_memory(made[1], n) or made[0].tolist() == made[1].tolist():
                pairs.append(made)
        elif act < 0.6 and place:
            del pairs[place]
        else:
            change = _change(draw, theirs)
            try:
                change(mine)
            except hr.InvalidArgumentError as error:
                assert "snapshot" in str(error)
                refused += 1
                continue
            change(theirs)
            done += 1
            assert mine.tolist() == theirs.tolist()
        assert x.tolist() == n.tolist()
    assert done or refused


def test_an_axis_added_to_what_a_mask_picks() -> None:
    x = hr.asarray(np.arange(6.0)) + 0
    picked = x[x > 2]
    column = picked[:, None]
    assert column.reshape(-1).tolist() == [3, 4, 5]
    assert column[:, 0].tolist() == [3, 4, 5]
    column[0, 0] = 9.0
    assert picked.tolist() == [9, 4, 5]
    assert x[x > 7][:, None].reshape((-1,)).tolist() == []
