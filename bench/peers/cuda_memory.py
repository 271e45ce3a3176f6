# SPDX-License-Identifier: Apache-2.0
"""GPU memory under artificial limits: what is offloaded, and at what cost."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import measure
import numpy as np
from headrace.demo import generator, job

import headrace as hr
from headrace import _core

MB = 10**6
PARTS, PART = 16, 8 * 2**20  # a loop over 16 arrays of 64 MiB
PASSES = 10


def seconds_of(work: Callable[[], Any], runs: int) -> tuple[Any, float]:
    """The result, and the median seconds to completion."""
    times = []
    for _ in range(runs):
        _core.synchronize_device()
        begin = time.perf_counter()
        result = work()
        _core.synchronize_device()
        times.append(time.perf_counter() - begin)
    return result, statistics.median(times)


def moved() -> tuple[int, int]:
    spilled = hr.memory.spill().devices.get("cuda:0")
    return (0, 0) if spilled is None else (spilled.copied_bytes, spilled.fetched_bytes)


# ---- our own arrays ------------------------------------------------------------------------------
def loop(parts: list[Any]) -> list[float]:
    """Ten passes over all parts, as in training: each is read and transformed."""
    total = 0.0
    for k in range(PASSES):
        for part in parts:
            total += float((part * (k + 1) + 0.5).sum())
    return [total]


def device_tier(bench: measure.Bench) -> None:
    random = np.random.default_rng(1)
    host = [random.random(PART) for _ in range(PARTS)]

    def made() -> list[Any]:
        parts = [hr.asarray(x).to("cuda") for x in host]
        hr.eval(*parts)
        return parts

    parts = made()
    plain, base = seconds_of(lambda: loop(parts), bench.runs)
    footprint = PARTS * PART * 8
    bench.value("loop of 1.07 GB, no limit", measure.OURS, base * 1e3, "ms")
    parts = []
    for ratio in (0.5, 1.25, 2, 4):
        with hr.memory.limit(int(footprint / ratio), device="cuda"):
            parts = made()
            before = moved()
            ours, seconds = seconds_of(lambda p=parts: loop(p), bench.runs)
            copied, fetched = (
                (b - a) / bench.runs / 1e9 for a, b in zip(before, moved(), strict=True)
            )
            used = _core.memory_statistics("cuda").used_bytes
            bench.check(
                f"loop at {ratio} times the limit",
                lambda a=ours, u=used, r=ratio: (
                    measure.equal(np.array(a), np.array(plain))
                    + (f", {u / 1e6:.0f} MB held" if u <= footprint / r else ", LIMIT BROKEN")
                ),
            )
            name = f"loop at {ratio} times the limit"
            bench.value(name, measure.OURS, seconds * 1e3, "ms")
            bench.value(name, "times no limit", seconds / base, "x")
            bench.value(name, "came back", fetched, "GB")
            bench.value(name, "copied out", copied, "GB")
            parts = []


def whole_job(bench: measure.Bench) -> None:
    """The ECG job on the GPU with and without a limit far below the card: the same bits."""
    samples = np.tile(generator.record().samples, 40)[:20_000_000]

    def run() -> list[np.ndarray[Any, Any]]:
        with hr.device("cuda"):
            plan = job.plan(hr.asarray(samples).to("cuda"), 360.0)
            hr.eval(*plan)
            return [np.asarray(x) for x in plan]

    plain, base = seconds_of(run, bench.runs)
    most = _core.memory_statistics("cuda").peak_bytes
    bench.value("ECG job of 20M rows, results on the host", measure.OURS, base * 1e3, "ms")
    for limit in ("160MB", "130MB", "110MB"):
        with hr.memory.limit(limit, device="cuda"):
            before = moved()
            try:
                ours, seconds = seconds_of(run, bench.runs)
            except hr.OutOfMemoryError as error:
                bench.check(f"ECG job under {limit}", lambda e=error: f"refused: {e}"[:900])
                continue
            out = (moved()[0] - before[0]) / bench.runs / 1e6
        bench.check(
            f"ECG job under {limit}",
            lambda a=ours, o=out: measure.equal(tuple(a), tuple(plain)) + f", {o:.0f} MB left",
        )
        bench.value(f"ECG job under {limit}", measure.OURS, seconds * 1e3, "ms")
    bench.value("ECG job, peak without a limit", measure.OURS, most / 1e6, "MB")


# ---- PyTorch -------------------------------------------------------------------------------------
def training(bench: measure.Bench, width: int, layers: int) -> None:
    """Offload activations of 2 and 3 times the batch that fits to pinned memory and fetch them."""
    import torch

    card = torch.cuda.get_device_properties(0).total_memory
    limit = 6 * 10**9
    # An autoencoder: each layer saves what goes into its matrix and into its function.
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        *[part for _ in range(layers) for part in (torch.nn.Linear(width, width), torch.nn.GELU())]
    ).cuda()

    def step(x: Any, prefetch: int | None) -> float:
        net.zero_grad(set_to_none=True)
        if prefetch is None:
            loss = torch.nn.functional.mse_loss(net(x), x)
            loss.backward()
        else:
            with hr.memory.offload_saved_tensors(net, prefetch=prefetch, window="512MiB"):
                loss = torch.nn.functional.mse_loss(net(x), x)
                loss.backward()
        return loss.item()

    def timed(x: Any, prefetch: int | None) -> tuple[float, float, float, float]:
        step(x, prefetch)
        torch.cuda.reset_peak_memory_stats()
        times, result = [], 0.0
        for _ in range(max(bench.runs, 3)):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            result = step(x, prefetch)
            torch.cuda.synchronize()
            times.append(time.perf_counter() - begin)
        gradient = float(net[0].weight.grad.double().abs().sum())
        return result, gradient, statistics.median(times), torch.cuda.max_memory_allocated() / 1e9

    def does_fit(batch: int) -> bool:
        torch.cuda.set_per_process_memory_fraction(limit / card)
        try:
            step(torch.randn(batch, width, device="cuda"), None)
        except torch.OutOfMemoryError:
            return False
        finally:
            net.zero_grad(set_to_none=True)
            torch.cuda.empty_cache()
            torch.cuda.set_per_process_memory_fraction(1.0)
        return True

    fits = 1024
    while does_fit(fits + 1024):
        fits += 1024
    name = f"{layers} layers of {width}, float32"
    for times in (1, 2, 3):
        x = torch.randn(times * fits, width, generator=torch.Generator().manual_seed(5)).cuda()
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction(1.0)
        loss, gradient, free_seconds, peak = timed(x, None)
        row = f"{name}, batch {times * fits}, {times}x"
        bench.value(row, "no limit, no offload", free_seconds * 1e3, "ms")
        bench.value(row, "peak without offload", peak, "GB")
        net.zero_grad(set_to_none=True)
        torch.cuda.empty_cache()
        fitted = does_fit(times * fits)
        assert fitted == (times == 1), times
        bench.check(f"{row}: {limit / 1e9:.0f} GB", lambda f=fitted: "fits" if f else "does not")
        torch.cuda.set_per_process_memory_fraction(limit / card)
        found = {}
        for prefetch in (0, 2):
            torch.cuda.empty_cache()
            found[prefetch] = timed(x, prefetch)
            bench.value(row, f"prefetch={prefetch}", found[prefetch][2] * 1e3, "ms")
            bench.value(row, f"peak, prefetch={prefetch}", found[prefetch][3], "GB")
            bench.check(
                f"{row}, prefetch={prefetch}: loss, gradient",
                lambda f=found[prefetch], w=(loss, gradient): measure.equal(
                    np.array(f[:2]), np.array(w)
                ),
            )
        bench.value(row, "prefetch, times faster", found[0][2] / found[2][2], "x", least=1.2)
        bench.value(row, "offload / no limit", found[2][2] / free_seconds, "x")
        del x
        net.zero_grad(set_to_none=True)
    torch.cuda.set_per_process_memory_fraction(1.0)
    net = None
    torch.cuda.empty_cache()
    hr.memory.trim()


# ---- managed memory ------------------------------------------------------------------------------
def managed(bench: measure.Bench) -> None:
    """One gigabyte, far below the card's memory: pages fetched on demand, or prefetched."""
    host = np.random.default_rng(3).random(2**27)
    resource = hr.memory.managed_resource()
    with hr.memory.use_resource(resource):
        x = hr.asarray(host).to("cuda")
        hr.eval(x)
    plain = hr.asarray(host).to("cuda")
    hr.eval(plain)
    expected, base = seconds_of(lambda: float(plain.sum()), bench.runs)

    def sum_after(place: str) -> Callable[[], float]:
        def work() -> float:
            return float(x.sum())

        hr.memory.prefetch(x, place)
        _core.synchronize_device()
        return work

    bench.value("sum of 1.07 GB, device memory", measure.OURS, base * 1e3, "ms")
    faults = statistics.median(
        seconds_of(sum_after("cpu"), 1)[1] for _ in range(max(bench.runs, 3))
    )
    ahead = statistics.median(
        seconds_of(sum_after("cuda"), 1)[1] for _ in range(max(bench.runs, 3))
    )
    bench.value("managed, pages on the host: faults", measure.OURS, faults * 1e3, "ms")
    bench.value("managed, fetched ahead", measure.OURS, ahead * 1e3, "ms")
    bench.check("managed sum", lambda: measure.equal(np.array(float(x.sum())), np.array(expected)))
    hr.memory.advise(x, "read_mostly")
    hr.memory.advise(x, "accessed", "cpu")

    def refused() -> str:
        free = _core.device_memory(0)[0]
        try:
            resource.allocate(free + 2**30)
        except hr.OutOfMemoryError as error:
            return str(error)[:200]
        raise AssertionError("not refused")

    bench.check("managed beyond the card", refused)


# ---- other libraries -----------------------------------------------------------------------------
def hooks(bench: measure.Bench) -> None:
    """PyTorch, CuPy and Numba allocate from us: one budget, one report, errors with holders."""

    def external() -> int:
        return _core.memory_statistics("cuda").external_bytes

    def torch_hook() -> str:
        import torch

        with hr.memory.use_for("torch"):
            x = torch.ones(4 * MB, device="cuda")
            held = external()
            assert float(x.sum()) == 4 * MB
        assert held >= 16 * MB, held
        return f"{held / 1e6:.0f} MB counted"

    def cupy_hook() -> str:
        import cupy

        with hr.memory.use_for("cupy"):
            x = cupy.ones(4 * MB, dtype="f4")
            held = external()
            assert float(x.sum()) == 4 * MB
            lines = {h.line for h in hr.memory.leaks() if h.op == "cupy"}
        del x
        assert held >= 16 * MB, held
        return f"{held / 1e6:.0f} MB counted, {sorted(lines)[:1]}"

    def cupy_limit() -> str:
        import cupy

        ours = [hr.asarray(np.arange(MB, dtype="f8")).to("cuda") for _ in range(8)]
        hr.eval(*ours)
        used = _core.memory_statistics("cuda").used_bytes
        with hr.memory.limit(used + MB, device="cuda"), hr.memory.use_for("cupy"):
            x = cupy.ones(3 * MB, dtype="f8")  # 24 MB: ours leave for it
            assert float(x.sum()) == 3 * MB
            left = hr.memory.spill().devices["cuda:0"].evicted_bytes
            try:
                cupy.ones(100 * MB, dtype="f8")
                raise AssertionError("not refused")
            except (MemoryError, hr.OutOfMemoryError) as error:
                text = str(error).splitlines()[0]
            del x
        assert all(float(x[k]) == k for k, x in enumerate(ours))
        return f"{left / 1e6:.0f} MB of ours left for CuPy; then: {text[:160]}"

    def numba_hook() -> str:
        from numba import cuda

        with hr.memory.use_for("numba"):
            before = external()
            x = cuda.to_device(np.ones(2 * MB))
            held = external() - before
            assert x.copy_to_host().sum() == 2 * MB
            del x
        return f"{held / 1e6:.0f} MB counted"

    for name, work in (
        ("use_for torch", torch_hook),
        ("use_for cupy", cupy_hook),
        ("use_for cupy under a limit", cupy_limit),
        ("use_for numba", numba_hook),
    ):
        try:
            bench.check(name, work)
        except ImportError as error:
            bench.left_out(name, name.split()[1], str(error))
        except Exception as error:  # the others go on
            bench.check(name, lambda e=error: f"FAILED: {type(e).__name__}: {e}"[:300])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--output", type=Path, default=Path(measure.ROOT / "bench/results/cuda-memory.jsonl")
    )
    parser.add_argument("--only", default="")
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=24)
    options = parser.parse_args()
    bench = measure.Bench("cuda_memory", ["numpy", "torch"], options.runs, options.output)
    bench.keep({"kind": "device", "name": _core.cuda_device_name(0)})
    for name, work in (
        ("hooks", hooks),
        ("tier", device_tier),
        ("job", whole_job),
        ("managed", managed),
        ("training", lambda b: training(b, options.width, options.layers)),
    ):
        if options.only in name:
            work(bench)
    if bench.wrong:
        raise SystemExit("\n".join(bench.wrong))


if __name__ == "__main__":
    main()
