# SPDX-License-Identifier: Apache-2.0
"""What PyTorch saves for the backward pass goes to host memory and comes back."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap

import pytest

import headrace as hr
from headrace import _core

torch = pytest.importorskip("torch")

GPU = torch.cuda.is_available() and not _core.why_no_cuda()


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request):
    if request.param == "cuda" and not GPU:
        pytest.skip("no GPU here")
    return request.param


def model(device, width=256, layers=6):
    torch.manual_seed(1)
    blocks = [
        torch.nn.Sequential(
            torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.LayerNorm(width)
        )
        for _ in range(layers)
    ]
    return torch.nn.Sequential(*blocks).to(device)


def train(net, x, steps=3, **options):
    """Losses and the last gradients, and what was offloaded (None: nothing)."""
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01)
    losses, offload = [], None
    for _ in range(steps):
        optimiser.zero_grad()
        if options:
            with hr.memory.offload_saved_tensors(**options) as offload:
                loss = (net(x) ** 2).mean()
                loss.backward()
        else:
            loss = (net(x) ** 2).mean()
            loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses, [p.grad.clone() for p in net.parameters()], offload


def same(ours, theirs):
    assert ours[0] == theirs[0]
    for a, b in zip(ours[1], theirs[1], strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("prefetch", [0, 1, 3])
@pytest.mark.parametrize("window", [0, "1GB"])
def test_losses_and_gradients_are_the_same(device, prefetch, window):
    x = torch.randn(512, 256, device=device)
    plain = train(model(device), x)
    net = model(device)
    ours = train(net, x, keep=net, prefetch=prefetch, window=window, least="100kB")
    same(ours, plain)
    assert ours[2].offloaded_bytes > 10 * x.numel() * 4
    if device == "cuda" and window == 0:
        assert ours[2].fetched_bytes == ours[2].offloaded_bytes
    assert f"{_core.format_bytes(ours[2].offloaded_bytes)} left" in repr(ours[2])


def test_a_tensor_saved_twice_goes_once_and_parameters_stay(device):
    x = torch.randn(512, 512, device=device, requires_grad=True)
    with hr.memory.offload_saved_tensors(least=0) as offload:
        y = x.sin()  # saves x
        z = y * y  # saves y, twice
        w = y.exp() * x  # saves its result, y's other use, x again
        (z + w).sum().backward()
    assert offload.offloaded_bytes == 3 * x.numel() * 4
    expected = torch.cos(x) * (2 * x.sin()) + x.sin().exp() * (torch.cos(x) * x + 1)
    torch.testing.assert_close(x.grad, expected)
    net = model(device)
    with hr.memory.offload_saved_tensors(keep=net, least=0) as offload:
        before = offload.offloaded_bytes
        net[0][0](torch.zeros(1, 256, device=device, requires_grad=True)).sum().backward()
        assert offload.offloaded_bytes - before <= 1024


def test_a_graph_that_is_kept_and_one_that_is_dropped(device):
    x = torch.randn(300, 300, device=device, requires_grad=True)
    with hr.memory.offload_saved_tensors(least=0, window=0):
        loss = (x.sin() * x.cos()).sum()
        loss.backward(retain_graph=True)
        first = x.grad.clone()
        loss.backward()
        assert torch.equal(x.grad, 2 * first)
        _ = (x.sin() * x.cos()).sum()  # nobody asks for its gradient
    del loss, _
    gc.collect()
    assert [h for h in hr.memory.leaks() if h.op == "offload_saved_tensors"] == []


def test_layouts_and_dtypes_come_back_as_they_were(device):
    for make in (
        lambda: torch.randn(4, 8, 16, 16, device=device).to(memory_format=torch.channels_last),
        lambda: torch.randn(64, 64, device=device).T,
        lambda: torch.randn(64, 64, device=device)[::2, ::3],
        lambda: torch.randn(64, 64, device=device, dtype=torch.float64),
        lambda: torch.randn(64, 64, device=device).to(torch.bfloat16),
    ):
        x = make()
        seen = []
        with hr.memory.offload_saved_tensors(least=0, window=0) as offload:
            packed = offload._pack(x)
            if x.device.type == "cuda":
                torch.cuda.synchronize()
            seen = offload._unpack(packed)
        assert torch.equal(seen, x)
        assert seen.dtype == x.dtype
        if x.is_contiguous(memory_format=torch.channels_last) and x.dim() == 4:
            assert seen.is_contiguous(memory_format=torch.channels_last)


def test_wrong_words():
    with pytest.raises(hr.InvalidArgumentError, match="prefetch=-1"):
        hr.memory.offload_saved_tensors(prefetch=-1)


def test_activations_of_the_cpu_leave_for_the_disk_under_a_limit():
    code = """
        import torch, headrace as hr
        torch.manual_seed(0)
        net = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(12)])
        x = torch.randn(4096, 512)
        def loss(**offload):
            net.zero_grad()
            with hr.memory.offload_saved_tensors(keep=net, **offload) as used:
                result = (net(x) ** 2).mean()
                result.backward()
            return result.item(), net[0].weight.grad.clone(), used.offloaded_bytes
        plain = loss(least="1TB")
        with hr.memory.limit("24MiB"):
            ours = loss(least="1MB")
            assert hr.memory.spill().evicted_bytes > 40e6, hr.memory.spill()
        assert plain[0] == ours[0] and torch.equal(plain[1], ours[1]) and ours[2] > 80e6
        print("same")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ,
    )
    assert done.stdout == "same\n", done.stderr
