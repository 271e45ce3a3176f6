# SPDX-License-Identifier: Apache-2.0
"""More on a device than its limit holds, seen from Python: on the simulated one, and on a GPU."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import headrace as hr
from headrace import _core

CUDA = _core.built_with_cuda() and not _core.why_no_cuda()
DEVICES = [
    "sim",
    pytest.param("cuda", marks=[pytest.mark.gpu, pytest.mark.skipif(not CUDA, reason="no GPU")]),
]


def run(code, device, **variables):
    """Run a program of its own whose device has 32 MiB; what it printed."""
    begin = """
        import gc
        import numpy as np
        import headrace as hr
        from headrace import _core
        DEVICE = "{device}"
        LIMIT = 32 * 2**20
        if DEVICE == "cuda":
            hr.memory.limit(LIMIT, device="cuda")
        def there(k):  # 4 MiB
            x = hr.asarray(np.arange(2.0**19) + k).to(DEVICE)
            hr.eval(x)
            return x
        def moved():
            return hr.memory.spill().devices[f"{{DEVICE}}" if DEVICE == "sim" else "cuda:0"]
    """
    text = textwrap.dedent(begin).format(device=device) + textwrap.dedent(code)
    variables["HEADRACE_DEVICE"] = "sim:limit=32MiB,h2d=1TB/s,d2h=1TB/s,latency=0us"
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("device", DEVICES)
def test_a_chain_over_three_times_the_device(device):
    code = """
        parts = [there(k) for k in range(24)]
        sums = [float((part * 2 + 1).sum()) for part in parts]
        again = [float((part * 2 + 1).sum()) for part in reversed(parts)][::-1]
        expected = [float(((np.arange(2.0**19) + k) * 2 + 1).sum()) for k in range(24)]
        assert sums == again and np.allclose(sums, expected, rtol=1e-12)
        assert moved().evicted_bytes >= 16 * 2**22 and moved().fetched_bytes > 0
        assert _core.memory_statistics(DEVICE).peak_bytes <= LIMIT
        kinds = {(entry.source, entry.target) for entry in hr.memory.ledger()
                 if entry.reason == "memory limit"}
        name = f"{DEVICE}:0"
        assert kinds == {(name, "pinned"), ("pinned", name)}, kinds
        report = hr.memory.report()
        tiers = {tier.name: tier for tier in report.tiers}
        assert set(tiers) == {"host", "disk", "pinned", DEVICE if DEVICE == "sim" else name}
        assert tiers["pinned"].used == moved().pinned_bytes > 0
        assert "pinned" in report and hr.fallbacks() == ()
        with hr.no_copies():  # what the limit moves is no copy
            hr.eval(parts[0] + 1)
        print("same")
    """
    assert run(code, device) == "same\n"


@pytest.mark.pool
@pytest.mark.parametrize("device", DEVICES)
def test_pinned_memory_is_a_setting_and_the_host_and_its_disk_follow(device):
    code = """
        hr.memory.spill(pinned="8MiB")
        assert hr.memory.spill().pinned_limit_bytes == 8 * 2**20
        with hr.memory.limit(_core.memory_statistics("cpu").used_bytes + 40 * 2**20):
            parts = [there(k) for k in range(40)]
            assert moved().pinned_bytes <= 8 * 2**20
            assert moved().host_bytes >= 96 * 2**20
            assert hr.memory.spill().evicted_bytes > 0
            for k, part in enumerate(parts):
                assert float(part[5]) == 5 + k
        print("same")
    """
    assert run(code, device) == "same\n"


@pytest.mark.parametrize("device", DEVICES)
def test_columns_that_have_left_a_device_are_known_and_come_back(device):
    code = """
        numbers = np.arange(2.0**19)
        def column(k):
            values = [None, *(numbers[1:] + k).tolist()] if k == 7 else numbers + k
            made = hr.Series(values, dtype="float64").to(DEVICE)
            hr.eval(made)
            return made
        parts = [column(k) for k in range(24)]
        for k, part in enumerate(parts):
            missing = 15.0 if k == 7 else 0.0
            whole = 2 * (numbers.sum() + 2**19 * k) + 2**19
            assert float((part * 2 + 1).sum()) == whole - missing
            assert int(part[:1000].isna().sum()) == (k == 7)
        left = hr.DataFrame({"k": np.arange(2**16) % 64, "x": np.arange(2**16)}).to(DEVICE)
        right = hr.DataFrame({"k": np.arange(64), "y": np.arange(64)}).to(DEVICE)
        for how in ("inner", "left", "outer"):
            assert int(left.merge(right, on="k", how=how)["y"].sum()) == 63 * 32 * 1024
        print("same")
    """
    assert run(code, device) == "same\n"


@pytest.mark.parametrize("device", DEVICES)
def test_what_cannot_leave_is_named(device):
    code = """
        kept = [there(k) for k in range(3)]
        try:
            hr.eval(hr.asarray(np.zeros(2**23)).to(DEVICE))  # 64 MiB
            print("no error")
        except hr.OutOfMemoryError as error:
            text = str(error)
        assert "out of memory on the device: requested=67.1 MB, limit=33.6 MB" in text, text
        assert f"tier={DEVICE}:0" in text and "evicted what could be evicted" in text
        assert len(text.splitlines()) <= 15
        assert float(kept[2].sum()) == float((np.arange(2.0**19) + 2).sum())  # all goes on
        print("same")
    """
    assert run(code, device) == "same\n"


def test_the_settings_come_back():
    before = hr.memory.spill().pinned_limit_bytes
    with hr.memory.spill(pinned="1MB") as spilled:
        assert spilled.pinned_limit_bytes == 10**6
    assert hr.memory.spill().pinned_limit_bytes == before
    with pytest.raises(hr.InvalidArgumentError, match="negative"):
        hr.memory.spill(pinned=-1)


def test_managed_memory_needs_a_gpu():
    if CUDA:
        pytest.skip("a GPU is here")
    with pytest.raises(hr.DeviceError, match="managed_resource"):
        hr.memory.managed_resource()
    with pytest.raises(hr.InvalidArgumentError, match="not managed memory"):
        hr.memory.prefetch(hr.asarray(np.arange(3.0)), "cpu")
    with pytest.raises(hr.InvalidArgumentError, match="invalid value: advice='often'"):
        hr.memory.advise(hr.asarray(np.arange(3.0)), "often")


@pytest.mark.gpu
@pytest.mark.skipif(not CUDA, reason="no GPU here")
def test_managed_memory_of_a_gpu():
    with hr.memory.use_resource(hr.memory.managed_resource()):
        x = hr.asarray(np.arange(2.0**20)).to("cuda")
        hr.eval(x)
    for place in ("cpu", "cuda"):
        hr.memory.prefetch(x, place)
        assert float((x + 1).sum()) == 2.0**19 * (2**20 + 1)
    hr.memory.advise(x, "read_mostly")
    with pytest.raises(hr.OutOfMemoryError, match="more managed memory than the card has free"):
        hr.memory.managed_resource().allocate(_core.device_memory(0)[1])
    with pytest.raises(hr.InvalidArgumentError, match="not managed memory"):
        hr.memory.prefetch(hr.asarray([1.0]).to("cuda"), "cpu")


@pytest.mark.gpu
@pytest.mark.skipif(not CUDA, reason="no GPU here")
def test_pytorch_raises_its_own_error_when_we_refuse():
    torch = pytest.importorskip("torch")
    used = _core.memory_statistics("cuda").used_bytes
    with hr.memory.limit(used + 64 * 10**6, device="cuda"):
        with pytest.raises(torch.OutOfMemoryError) as caught, hr.memory.use_for("torch"):
            torch.empty(10**8, device="cuda")
        assert "torch: out of memory on the device" in "".join(caught.value.__notes__)
        with hr.memory.use_for("torch"):
            assert torch.ones(1000, device="cuda").sum().item() == 1000


@pytest.mark.gpu
@pytest.mark.skipif(not CUDA, reason="no GPU here")
def test_freed_memory_of_a_device_is_kept_and_trimmed():
    hr.eval(hr.asarray(np.arange(100_000.0)).to("cuda") + 1)
    assert _core.memory_statistics("cuda").cached_bytes >= 800_000
    _core.synchronize_device()
    assert hr.memory.trim() >= 800_000


def test_work_on_the_host_loads_no_driver():
    program = """if True:
        import headrace as hr
        with hr.memory.limit("50MB"), hr.memory.stats() as stats:
            frame = hr.read_csv(b"a,b\\n1,2\\n3,4\\n")
            assert frame.sort_values("a").b.sum().item() == 6 and stats.peak_bytes > 0
        hr.memory.report()
    """
    made = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"LD_DEBUG": "files"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "libheadrace.so" in made.stderr and "libcuda.so" not in made.stderr
