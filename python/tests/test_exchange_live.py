# SPDX-License-Identifier: Apache-2.0
"""Memory that others may write: what is made of it runs when it is made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import headrace as hr


def _read_only(n: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    n = n[:]
    n.flags.writeable = False
    return n


@pytest.mark.parametrize(
    "taken",
    [
        lambda n: np.asarray(hr.asarray(n)),
        lambda n: _read_only(n),
        lambda n: np.broadcast_to(n, (2, 4)),
        lambda n: np.lib.stride_tricks.sliding_window_view(n, 2),
        lambda n: memoryview(n).toreadonly(),
        lambda n: np.asarray(memoryview(n).toreadonly())[1:],
    ],
)
def test_read_only_views_of_memory_that_its_owner_writes(taken: Any) -> None:
    n = np.arange(4.0)
    x = hr.asarray(taken(n))
    assert x._node.is_live
    y = x + 1
    n[:] = 100
    assert 101 not in y.to_numpy()


def test_memory_that_nobody_writes_is_not_live() -> None:
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    for values in (
        np.asarray(hr.arange(4) + 1),
        np.asarray(hr.arange(4) + 1)[1:],
        np.asarray(hr.Series([1, 2])),
        frozen,
        frozen[1:],
        np.frombuffer(b"abcdefgh"),
    ):
        assert not hr.asarray(values)._node.is_live


def test_functions_through_numpy_of_live_memory_are_live() -> None:
    n = np.arange(9.0).reshape(3, 3)
    x = hr.asarray(n)
    diagonal = np.diagonal(x)
    assert diagonal._node.is_live
    y = diagonal * 2
    n[:] = 0
    assert y.tolist() == [0, 8, 16]


def test_shared_by_dlpack() -> None:
    n = np.arange(3.0)
    y = hr.from_dlpack(n) + 1
    n[:] = 100
    assert y.tolist() == [1, 2, 3]


@pytest.mark.parametrize("copied", [lambda x: x.copy(), lambda x: +x, lambda x: x.astype(x.dtype)])
def test_copies_are_of_the_values_now(copied: Any) -> None:
    n = np.arange(3.0)
    y = copied(hr.asarray(n))
    n[:] = 100
    assert y.tolist() == [0, 1, 2]
