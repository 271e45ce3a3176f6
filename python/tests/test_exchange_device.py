# SPDX-License-Identifier: Apache-2.0
"""Memory of devices shared with other libraries: the same addresses, the order of their streams."""

import ctypes
import gc
import time

import numpy as np
import pyarrow as pa
import pytest

import headrace as hr
from headrace import _core

CUDA = _core.built_with_cuda() and not _core.why_no_cuda()
gpu = [pytest.mark.gpu, pytest.mark.skipif(not CUDA, reason="no GPU here")]


class Inner(ctypes.Structure):
    """`struct ArrowArray`, as its specification writes it."""


Inner._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Inner))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


class DeviceArray(ctypes.Structure):
    """`struct ArrowDeviceArray`."""

    _fields_ = [
        ("array", Inner),
        ("device_id", ctypes.c_int64),
        ("device_type", ctypes.c_int32),
        ("sync_event", ctypes.c_void_p),
        ("reserved", ctypes.c_int64 * 3),
    ]


def seen(capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return DeviceArray.from_address(get(capsule, b"arrow_device_array"))


@pytest.fixture(params=["sim", pytest.param("cuda", marks=gpu)])
def device(request, monkeypatch):
    monkeypatch.setenv("HEADRACE_DEVICE", "sim:devices=3,limit=256MB,latency=0us")
    return request.param


def there(x, device):
    return hr.asarray(x).to(device)


def used(device):
    """Bytes in use there when nothing changes any more: its queue also frees."""
    before = -1
    while (now := _core.memory_statistics(device).used_bytes) != before:
        before = now
        time.sleep(0.05)
    return now


def address(x):
    """Where an array or a series is, which its owner keeps there meanwhile."""
    _, capsule = x.__arrow_c_device_array__()
    return seen(capsule).array.buffers[1]


# ---- Arrow -------------------------------------------------------------------------------------
def test_arrays_of_the_host_go_both_ways_with_pyarrow():
    x = np.arange(1000.0)
    ours = pa.array(hr.Series(x, copy=False))
    assert ours.buffers()[1].address == x.ctypes.data
    _, capsule = hr.Series(x).__arrow_c_device_array__()
    assert (seen(capsule).device_type, seen(capsule).device_id) == (1, -1)
    batch = pa.record_batch({"a": [1, None, 3], "b": ["x", "y", None], "c": [1.5, 2.5, 3.5]})
    frame = hr.from_arrow(batch)
    assert frame.to_arrow().to_pydict() == batch.to_pydict()
    assert frame["c"].to_numpy().ctypes.data == batch.column(2).buffers()[1].address
    table = pa.RecordBatch._import_from_c_device_capsule(*frame.__arrow_c_device_array__())
    assert table.column(2).buffers()[1].address == batch.column(2).buffers()[1].address
    assert hr.from_arrow(pa.array([], "f8")).to_list() == []


def test_a_column_of_a_device_is_the_same_memory_at_both_ends(device):
    for dtype in ("f8", "f4", "i2", "u8", "?", "M8[us]"):
        values = (np.arange(300) % 7).astype(dtype)
        column = hr.Series(values).to(device)
        back = hr.from_arrow(column)
        assert back.device == f"{device}:0"
        assert address(back) == address(column)
        np.testing.assert_array_equal(back.to_numpy(), values)
    part = hr.Series(np.arange(300.0)).to(device)
    np.testing.assert_array_equal((hr.from_arrow(part) * 2).to_numpy(), np.arange(300.0) * 2)
    assert hr.memory.ledger().total_bytes >= 0
    kinds = {"sim": 12, "cuda": 2}
    _, capsule = column.__arrow_c_device_array__()
    assert (seen(capsule).device_type, seen(capsule).device_id) == (kinds[device], 0)
    assert (seen(capsule).sync_event is not None) == (device == "cuda")


def test_frames_nulls_and_what_has_no_form_there(device):
    frame = hr.DataFrame({"a": [1.5, None, 3.5] * 100, "b": list(range(300))})
    moved = hr.DataFrame({name: frame[name].to(device) for name in frame.columns})
    back = hr.from_arrow(moved)
    assert back["a"].device == f"{device}:0"
    assert back["a"].to_list() == frame["a"].to_list()
    assert back["b"].sum().item() == sum(range(300))
    texts = hr.Series(["a", "b"]).to(device)
    with pytest.raises(hr.UnsupportedError, match="strings cannot be exported from a device"):
        texts.__arrow_c_device_array__()
    with pytest.raises(hr.DeviceError, match=r"on a device.*__arrow_c_device_array__"):
        moved["a"]._value_there().__arrow_c_array__()
    mixed = hr.DataFrame({"a": moved["a"]})
    mixed["c"] = hr.Series(np.arange(300))
    with pytest.raises(hr.Error, match="different places"):
        mixed.__arrow_c_device_array__()


def test_an_export_keeps_the_memory_and_lets_it_go(device):
    hr.memory.trim()
    gc.collect()
    before = used(device)
    column = hr.Series(np.arange(100_000.0)).to(device)
    kept = column.__arrow_c_device_array__()
    hr.eval(column)
    del column
    gc.collect()
    assert used(device) - before >= 800_000
    del kept
    gc.collect()
    assert used(device) == before


# ---- DLPack and the CUDA array interface ---------------------------------------------------------
def test_data_of_the_host_have_no_cuda_array_interface(device):
    assert not hasattr(hr.asarray(np.arange(3.0)), "__cuda_array_interface__")
    assert hasattr(there(np.arange(3.0), device), "__cuda_array_interface__") == (device == "cuda")


def cuda_library(name):
    module = pytest.importorskip(name)
    if name == "torch" and not module.cuda.is_available():
        pytest.skip("this PyTorch sees no GPU")
    return module


@pytest.fixture
def noise():
    return np.random.default_rng(0).standard_normal(100_000)


class TestOnGpu:
    pytestmark = gpu

    def test_torch(self, noise):
        torch = cuda_library("torch")
        x = there(noise, "cuda") * 2
        tensor = x.to_torch()
        assert tensor.is_cuda
        assert tensor.data_ptr() == x.__cuda_array_interface__["data"][0]
        with pytest.raises(TypeError, match="read only"):  # PyTorch takes such memory by DLPack
            torch.as_tensor(x, device="cuda")
        np.testing.assert_array_equal(tensor.cpu().numpy(), x.to_numpy())
        series = hr.Series(noise).to("cuda")
        column = torch.from_dlpack(series)
        assert series.__dlpack_device__() == (2, 0)
        assert column.data_ptr() == address(series)
        assert (column.cpu().numpy() == noise).all()
        with torch.cuda.stream(torch.cuda.Stream()):
            side = torch.from_dlpack(there(noise, "cuda") + 1)
            assert (side.cpu().numpy() == noise + 1).all()
            made = torch.arange(100_000, device="cuda", dtype=torch.float64)
            for _ in range(20):
                made = made + 1  # queued, not done, when it is handed over
            ours = hr.from_dlpack(made)
            assert ours.device == "cuda:0"
            assert ours.__cuda_array_interface__["data"][0] == made.data_ptr()
            np.testing.assert_array_equal(ours.to_numpy(), np.arange(100_000.0) + 20)

    def test_cupy(self, noise):
        cupy = cuda_library("cupy")
        x = there(noise, "cuda")
        for theirs in (cupy.asarray(x), cupy.from_dlpack(x)):
            assert theirs.data.ptr == x.__cuda_array_interface__["data"][0]
            np.testing.assert_array_equal(theirs.get(), noise)
        with cupy.cuda.Stream(non_blocking=True):
            made = cupy.arange(100_000, dtype="f8")
            for _ in range(20):
                made = made + 1
            ours = hr.from_dlpack(made)
            assert ours.__cuda_array_interface__["data"][0] == made.data.ptr
            np.testing.assert_array_equal((ours * 2).to_numpy(), (np.arange(100_000.0) + 20) * 2)

    def test_jax(self, noise, monkeypatch):
        monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        jax = cuda_library("jax")
        if not any(d.platform == "gpu" for d in jax.devices()):
            pytest.skip("this JAX sees no GPU")
        jax.config.update("jax_enable_x64", True)
        x = there(noise, "cuda")
        theirs = jax.dlpack.from_dlpack(x)
        assert theirs.unsafe_buffer_pointer() == x.__cuda_array_interface__["data"][0]
        np.testing.assert_array_equal(np.asarray(theirs), noise)
        made = jax.numpy.arange(1000.0) + 1
        ours = hr.from_dlpack(made)
        assert ours.__cuda_array_interface__["data"][0] == made.unsafe_buffer_pointer()
        np.testing.assert_array_equal(ours.to_numpy(), np.arange(1000.0) + 1)

    def test_numba(self, noise):
        numba_cuda = pytest.importorskip("numba.cuda")
        x = there(noise, "cuda")
        theirs = numba_cuda.as_cuda_array(x)
        assert theirs.device_ctypes_pointer.value == x.__cuda_array_interface__["data"][0]
        np.testing.assert_array_equal(theirs.copy_to_host(), noise)
        made = numba_cuda.to_device(noise)
        assert made.__cuda_array_interface__["data"][0]


# ---- kernels that users wrote --------------------------------------------------------------------
@pytest.mark.gpu
@pytest.mark.skipif(not CUDA, reason="no GPU here")
def test_kernels_of_numba_run_on_our_arrays_without_a_copy(noise, monkeypatch):
    """Suppression and embedding as the paper's authors write them, beside ours."""
    for gone in ("row_stack", "in1d", "trapz"):  # numba-cuda 0.3 names them, NumPy 2.5 does not
        monkeypatch.setattr(np, gone, np.vstack, raising=False)
    cuda = pytest.importorskip("numba.cuda")

    @cuda.jit
    def suppress(signal, half, threshold, gate):
        i = cuda.grid(1)
        if i >= signal.size:
            return
        value = signal[i]
        peak = value >= threshold
        for j in range(max(0, i - half), min(signal.size, i + half + 1)):
            if (j < i and signal[j] >= value) or (j > i and signal[j] > value):
                peak = False
        gate[i] = peak

    @cuda.jit
    def embed(signal, begins, rows):
        i, j = cuda.grid(2)
        if i < rows.shape[0] and j < rows.shape[1]:
            at = begins[i] + j
            rows[i, j] = signal[at] if 0 <= at < signal.size else 0.0

    x = there(noise, "cuda")
    hr.eval(x)
    copied = hr.memory.ledger().total_bytes
    gate = cuda.device_array(noise.size, np.uint8)
    suppress[(noise.size + 255) // 256, 256](x, 15, 1.0, gate)
    ours = hr.signal.non_max_suppression(x, 31, 1.0)
    hr.eval(ours)
    peaks = hr.signal.nonzero(ours)
    rows = cuda.device_array((len(peaks), 64), np.float64)
    embed[((len(peaks) + 15) // 16, 4), (16, 16)](x, peaks - 32, rows)
    windows = hr.signal.segments(x, peaks - 32, width=64)
    hr.eval(windows)
    assert hr.memory.ledger().total_bytes == copied
    np.testing.assert_array_equal(gate.copy_to_host(), np.asarray(ours).astype(np.uint8))
    np.testing.assert_array_equal(rows.copy_to_host(), np.asarray(windows))


def test_series_of_a_device_are_arrow_arrays_of_the_host(device):
    for values in (["x", "a string of many bytes", None, ""], [1.5, None, 3.0], [True, None]):
        assert hr.Series(values).to(device).to_arrow().to_pylist() == values
