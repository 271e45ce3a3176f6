# SPDX-License-Identifier: Apache-2.0
"""Memory shared with PyTorch both ways (runs in the environment that has it)."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr

torch = pytest.importorskip("torch")

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "float32", "float64", "complex64"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7,), (3, 4), (0, 2), ()])
def test_tensors_are_the_same_memory(dtype: str, shape: tuple[int, ...]) -> None:
    n = np.ones(shape, dtype)
    x = hr.asarray(n)
    tensor = x.to_torch()
    assert tensor.shape == shape
    assert torch.from_dlpack(x).data_ptr() == tensor.data_ptr()
    back = hr.asarray(tensor)
    assert back.dtype == dtype
    np.testing.assert_array_equal(back.to_numpy(), n)
    if n.size:
        assert tensor.data_ptr() == back.to_numpy().ctypes.data == n.ctypes.data
    assert hr.memory.ledger().total_bytes == 0


def test_strides_series_and_frames_go_over() -> None:
    x = hr.asarray(np.arange(12.0).reshape(3, 4))
    assert x.T.to_torch().stride() == (1, 4)
    assert hr.asarray(x.T.to_torch()[1:, ::2]).tolist() == x.to_numpy().T[1:, ::2].tolist()
    s = hr.Series(np.arange(5.0), copy=False)
    assert s.to_torch().sum() == 10
    assert hr.Series(torch.arange(3), copy=False).to_list() == [0, 1, 2]
    assert hr.memory.ledger().total_bytes == 0
    with pytest.raises(hr.Error, match=r"fillna|dropna"):
        hr.Series([1.0, None]).to_torch()
    with pytest.raises(hr.UnsupportedError, match="cast"):
        hr.asarray(torch.zeros(2, dtype=torch.bfloat16))


def test_a_tensor_that_needs_its_gradient_says_so() -> None:
    with pytest.raises((RuntimeError, BufferError), match=r"detach|grad"):
        hr.asarray(torch.zeros(2, requires_grad=True))


def test_a_later_write_by_torch_changes_no_result() -> None:
    tensor = torch.arange(4.0)
    twice = hr.asarray(tensor) * 2
    tensor[:] = 9
    assert twice.tolist() == [0, 2, 4, 6]


def test_memory_lives_as_long_as_its_tensor() -> None:
    with hr.memory.leak_check():
        tensor = (hr.asarray(np.arange(1000.0)) * 2).to_torch()
        assert tensor[999] == 1998
        del tensor
