# SPDX-License-Identifier: Apache-2.0
"""Resources in Python: stacks, the current one, callbacks on any thread and at exit, faults."""

import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import headrace as hr

memory = hr.memory


def job(size=300_000):
    return float((hr.asarray(np.arange(size, dtype=np.float64)) * 2 + 1).sum())


EXPECTED = float((np.arange(300_000, dtype=np.float64) * 2 + 1).sum())

ADAPTORS = [
    lambda r: memory.LimitAdaptor(r, "1GB"),
    lambda r: memory.RateLimitAdaptor(r, "1TB"),
    memory.StatisticsAdaptor,
    memory.LogAdaptor,
    memory.TrackAdaptor,
    lambda r: memory.AlignAdaptor(r, 4096, "1kB"),
    lambda r: memory.PressureAdaptor(r, lambda size: False),
    lambda r: memory.FaultAdaptor(r),
    lambda r: memory.DelayAdaptor(r, 1e-6, 1e-6),
    lambda r: memory.PoolResource(r, "10MB"),
    lambda r: memory.FixedSizeResource(r, "4KiB", 16),
    lambda r: memory.BinningResource(r, [("1KiB", None), ("4KiB", r)]),
    lambda r: memory.CallbackResource(r.allocate, r.deallocate),
]


@pytest.mark.parametrize("outer", ADAPTORS)
@pytest.mark.parametrize("inner", ADAPTORS)
def test_every_stack_works_and_gives_all_back(inner, outer):
    below = memory.TrackAdaptor(memory.system_resource())
    stack = outer(inner(below))
    with memory.use_resource(stack):
        assert job() == EXPECTED
        x = hr.asarray(np.ones(100_000)) + 1
        hr.eval(x)
    assert below.live_blocks()
    assert np.asarray(x)[99_999] == 2
    del x, stack
    assert below.live_blocks() == [] and below.wrong_deallocations == 0


def test_the_set_resource_is_used_by_all_threads_and_may_go():
    before = memory.current_resource()
    counting = memory.StatisticsAdaptor()
    memory.set_current_resource(counting)
    try:
        assert memory.current_resource() == counting
        assert hash(memory.current_resource()) == hash(counting)
        x = hr.asarray(np.ones(100_000)) + 1
        thread = threading.Thread(target=hr.eval, args=(x,))
        thread.start()
        thread.join()
    finally:
        memory.set_current_resource(before)
    assert counting.read().used_bytes == 800_000
    assert memory.current_resource() == before != counting
    assert x[5].item() == 2
    del x
    assert counting.read().live_blocks == 0


def test_scopes_nest_and_belong_to_their_thread():
    a, b = memory.StatisticsAdaptor(), memory.StatisticsAdaptor()
    seen = []
    with memory.use_resource(a) as first:
        assert first is a
        with memory.use_resource(b):
            assert memory.current_resource() == b
            thread = threading.Thread(target=lambda: seen.append(memory.current_resource()))
            thread.start()
            thread.join()
        assert memory.current_resource() == a
    assert seen[0] not in (a, b) and memory.current_resource() == seen[0]


@pytest.mark.pool
def test_a_scope_ends_where_it_began():
    scope = memory.use_resource(memory.system_resource())
    scope.__enter__()
    caught = []

    def leave():
        with pytest.raises(hr.InvalidArgumentError, match="thread that entered") as error:
            scope.__exit__()
        caught.append(error)

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    with pytest.raises(hr.InvalidArgumentError, match="already entered"):
        scope.__enter__()
    scope.__exit__()
    assert caught and memory.current_resource().describe() == "pool over system"


@pytest.mark.parametrize(
    ("raised", "expected"),
    [(ValueError, hr.InvalidArgumentError), (MemoryError, hr.OutOfMemoryError)],
)
def test_what_a_callback_raises_is_an_error_of_the_operator(raised, expected):
    def allocate(size, alignment):
        raise raised("boom")

    resource = memory.CallbackResource(allocate, lambda *block: None)
    with memory.use_resource(resource), pytest.raises(expected, match=r"callback raised.*boom"):
        job()
    assert job() == EXPECTED


@pytest.mark.parametrize("answer", [None, 0, "no address", 12345])
def test_what_is_no_block_is_an_error(answer):
    freed = []
    resource = memory.CallbackResource(lambda *request: answer, lambda *block: freed.append(block))
    with pytest.raises(hr.Error, match="callback"):
        resource.allocate(100)
    assert freed == ([(12345, 100, 64)] if answer == 12345 else [])


def test_what_deallocate_raises_is_reported(monkeypatch):
    system = memory.system_resource()
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", reported.append)

    def deallocate(*block):
        system.deallocate(*block)
        raise ValueError("too late")

    resource = memory.CallbackResource(system.allocate, deallocate)
    resource.deallocate(resource.allocate(100), 100)
    assert [str(report.exc_value) for report in reported] == ["too late"]


def test_callbacks_serve_many_threads():
    system = memory.system_resource()
    resource = memory.CallbackResource(system.allocate, system.deallocate)
    track = memory.TrackAdaptor(memory.PoolResource(resource, 1000))

    def work():
        for _ in range(200):
            track.deallocate(track.allocate(5000), 5000)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert track.live_blocks() == [] and track.wrong_deallocations == 0


def test_pressure_frees_and_its_errors_pass():
    limit = memory.LimitAdaptor(limit_bytes=10_000)
    cache = [limit.allocate(3000) for _ in range(3)]
    asked = []

    def let_go(size):
        asked.append(size)
        if not cache:
            raise RuntimeError("nothing left")
        limit.deallocate(cache.pop(), 3000)
        return True

    pressure = memory.PressureAdaptor(limit, let_go)
    pressure.deallocate(pressure.allocate(6400), 6400)
    assert asked == [6400, 6400]
    with pytest.raises(hr.InvalidArgumentError, match=r"pressure_adaptor.*nothing left"):
        pressure.allocate(20_000)


def test_each_failing_allocation_leaves_the_next_run_right():
    counting = memory.FaultAdaptor()
    with memory.use_resource(counting):
        assert job() == EXPECTED
    assert counting.requests > 0
    for first in range(1, counting.requests + 1):
        for for_ever in (False, True):
            fault = memory.FaultAdaptor(first=first, for_ever=for_ever)
            with memory.leak_check():
                try:
                    with memory.use_resource(fault):
                        assert job() == EXPECTED
                except hr.OutOfMemoryError:
                    pass
            assert fault.faults > 0 and job() == EXPECTED


def test_a_pool_of_ones_own_counts_as_cached_and_is_trimmed():
    pool = memory.PoolResource()
    pool.deallocate(pool.allocate(100_000), 100_000)
    assert pool.cached_bytes >= 100_000
    assert pool.trim() >= 100_000 and pool.cached_bytes == 0


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: memory.LimitAdaptor(limit_bytes=-1),
        lambda: memory.RateLimitAdaptor(bytes_per_second=0),
        lambda: memory.AlignAdaptor(alignment=3),
        lambda: memory.AlignAdaptor(alignment=-4),
        lambda: memory.FaultAdaptor(probability=2),
        lambda: memory.FixedSizeResource(block_bytes=0),
        lambda: memory.LogAdaptor(capacity=0),
        lambda: memory.DelayAdaptor(allocate_seconds=-1),
        lambda: memory.system_resource().allocate(-1),
        lambda: memory.system_resource().allocate(1, 3),
    ],
)
def test_wrong_arguments(wrong):
    with pytest.raises(hr.InvalidArgumentError):
        wrong()


def run(code, **environment):
    import os

    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
        check=False,
    )


def test_callbacks_are_not_called_when_the_interpreter_ends():
    done = run(
        """
        import headrace as hr, numpy as np
        system = hr.memory.system_resource()
        def deallocate(*block):
            print("freed", flush=True)
            system.deallocate(*block)
        resource = hr.memory.CallbackResource(system.allocate, deallocate)
        hr.memory.set_current_resource(hr.memory.PressureAdaptor(resource, lambda size: False))
        x = hr.asarray(np.ones(100_000)) + 1
        y = hr.asarray(np.ones(100_000)) + 2
        hr.eval(x, y)
        del y
        print("end", flush=True)
        """
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[-1] == "end" and "freed" in done.stdout


def test_guard_pages_by_environment():
    done = run(
        """
        import headrace as hr, numpy as np
        assert hr.memory.current_resource().describe() == "guard"
        x = hr.signal.fft_convolve(np.ones(5000), np.ones(31)).to_numpy()
        print(x[2500])
        """,
        HEADRACE_DEBUG_MEMORY="1",
    )
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["31.0"], "")
