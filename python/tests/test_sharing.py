# SPDX-License-Identifier: Apache-2.0
"""Values in several processes: shared segments and pickle."""

from __future__ import annotations

import copy
import datetime
import gc
import multiprocessing
import os
import pickle
import resource
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr
from headrace import _core

DAY = datetime.date(2024, 2, 29)
TIME = datetime.datetime(2024, 2, 29, 12, 30, 0, 5)


def frame(rows: int) -> hr.DataFrame:
    i = np.arange(rows)
    words = ["", "a", "twelve bytes", "thirteen bytes and more", None]
    return hr.DataFrame(
        {
            "i": hr.Series([None if k % 5 == 2 else k for k in range(rows)], dtype="int32"),
            "x": i * 0.5,
            "b": hr.Series([None if k % 7 == 1 else k % 2 == 0 for k in range(rows)], dtype="bool"),
            "s": hr.Series([words[k % 5] for k in range(rows)], dtype="string"),
            "c": hr.Series([words[k % 5] for k in range(rows)], dtype="category"),
            "d": hr.Series(
                [None if k % 3 == 0 else DAY + datetime.timedelta(k) for k in range(rows)],
                dtype="date",
            ),
            "t": hr.Series(
                [None if k % 4 == 0 else TIME + datetime.timedelta(k) for k in range(rows)],
                dtype="datetime64[us]",
            ),
        }
    )


def same(a: Any, b: Any) -> bool:
    if isinstance(a, hr.DataFrame):
        return (
            a.columns == b.columns
            and list(a.dtypes.values()) == list(b.dtypes.values())
            and a.to_dict() == b.to_dict()
        )
    if isinstance(a, hr.Series):
        return a.name == b.name and a.dtype == b.dtype and a.to_list() == b.to_list()
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a.to_numpy(), b.to_numpy())


def values() -> list[Any]:
    table = frame(1000)
    array = hr.asarray(np.arange(24.0).reshape(2, 3, 4))
    return [
        table,
        frame(0),
        hr.DataFrame(),
        table[3:900],
        table["s"][7:500],
        table["b"][3:777],
        table["c"][999:],
        hr.Series([1.5, None], name="n"),
        hr.Series([1.5, None]),
        array,
        array.T,
        array[1],
        array[:, ::-1],
        hr.asarray(np.arange(5))[2],
        hr.asarray(np.array([True, False])),
        hr.asarray(np.array([1 + 2j])),
        hr.asarray(np.empty((0, 3))),
    ]


def child(code: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "import headrace as hr, sys\n" + textwrap.dedent(code), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def answer(code: str, *arguments: str, **options: Any) -> str:
    process = child(code, *arguments, **options)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip()


def soon(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + 10
    while not holds() and time.monotonic() < end:
        gc.collect()
        time.sleep(0.01)
    return holds()


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def resident_shared() -> int:
    """Bytes of shared memory that are mapped and touched."""
    with open("/proc/self/status") as lines:
        line = next(line for line in lines if line.startswith("RssShmem"))
    return int(line.split()[1]) * 1024


# ---- sharing -----------------------------------------------------------------------------------
@pytest.mark.parametrize("index", range(len(values())))
def test_every_value_comes_back(index: int) -> None:
    value = values()[index]
    with hr.share(value) as handle:
        hr.memory.ledger().clear()
        assert same(hr.attach(handle), value)
        assert same(hr.attach(handle.token), value)
        there = hr.attach(pickle.loads(pickle.dumps(handle)))
        assert type(there) is type(value)
        hr.eval(there)
    assert same(there, value)


def test_another_process_reads_the_same_memory() -> None:
    with hr.sharing():
        table = hr.DataFrame({"x": hr.asarray(np.arange(300_000.0)) * 2})
        hr.eval(table)
    used = hr.memory.stats().used_bytes
    with hr.no_copies(strict=True):
        handle = hr.share(table)
    assert hr.memory.stats().used_bytes == used
    assert handle.nbytes == 2_400_000
    code = """
        with hr.no_copies(strict=True):
            there = hr.attach(sys.argv[1])
        stats = hr.memory.stats()
        view = there.x.to_numpy()
        print(view.sum(), view.flags.writeable, stats.used_bytes, stats.foreign_bytes,
              hr.memory.ledger().total_bytes)
    """
    assert answer(code, handle.token).split() == [
        str(np.arange(300_000.0).sum() * 2),
        "False",
        "0",
        "2400000",
        "0",
    ]
    assert soon(lambda: handle.leases == 0)


def test_what_lies_elsewhere_is_copied_once_as_asked() -> None:
    x = hr.asarray(np.arange(1000.0))
    hr.memory.ledger().clear()
    with hr.no_copies():
        handle = hr.share(x)
    assert [(e.op, e.bytes, e.asked) for e in hr.memory.ledger()] == [("share", 8000, True)]
    with (
        pytest.raises(hr.InvalidArgumentError, match="a copy inside no_copies"),
        hr.no_copies(strict=True),
    ):
        hr.share(x)
    assert same(hr.attach(handle), x)


def test_the_block_makes_results_of_workers_shared() -> None:
    rows = 400_000
    with hr.sharing():
        table = hr.DataFrame({"x": np.arange(rows) % 100})
        kept = table[table.x > 10]
        hr.eval(kept)
    with hr.no_copies(strict=True), hr.share(kept) as handle:
        assert hr.attach(handle).x.sum().item() == kept.x.sum().item()


def test_nobody_can_write_or_cut_it() -> None:
    handle = hr.share(hr.asarray(np.arange(100_000.0)))
    code = """
        import ctypes, mmap
        there = hr.attach(sys.argv[1]).to_numpy()
        libc = ctypes.CDLL(None, use_errno=True)
        page = ctypes.c_void_p(there.ctypes.data // 4096 * 4096)
        print(libc.mprotect(page, 4096, mmap.PROT_READ | mmap.PROT_WRITE))
    """
    assert answer(code, handle.token) == "-1"


def test_the_value_outlives_a_killed_owner() -> None:
    owner = child(
        """
        import numpy as np, time
        handle = hr.share(hr.DataFrame({"x": np.arange(500_000), "s": ["word"] * 500_000}))
        print(handle.token, flush=True)
        time.sleep(600)
        """
    )
    assert owner.stdout is not None
    token = owner.stdout.readline().strip()
    there = hr.attach(token)
    assert isinstance(there, hr.DataFrame)
    owner.send_signal(signal.SIGKILL)
    owner.communicate()
    assert there.x.sum().item() == 499_999 * 250_000 and there.s[499_999] == "word"
    with pytest.raises(hr.InputError, match="is gone"):
        hr.attach(token)


def test_a_killed_peer_ends_its_lease() -> None:
    handle = hr.share(hr.asarray(np.arange(100_000)))
    peer = child(
        "held = hr.attach(sys.argv[1]); print('ok', flush=True); sys.stdin.read()", handle.token
    )
    assert peer.stdout is not None and peer.stdout.readline() == "ok\n"
    assert handle.leases == 1
    peer.kill()
    peer.communicate()
    assert soon(lambda: handle.leases == 0)


def test_the_owner_keeps_the_memory_until_the_last_lease_ends() -> None:
    gc.collect()
    used = hr.memory.stats().used_bytes
    handle = hr.share(hr.asarray(np.arange(1_000_000)))
    there: Any = hr.attach(handle)
    handle.close()
    assert hr.memory.stats().used_bytes >= used + 8_000_000
    other = hr.share(hr.asarray(np.zeros(1_000_000, "int64")))  # not over what is held
    assert there.sum().item() == 999_999 * 500_000
    other.close()
    there = None
    assert soon(lambda: hr.memory.stats().used_bytes < used + 1_000_000)


def test_bad_tokens_and_closed_handles() -> None:
    handle = hr.share(hr.asarray([1.0]))
    assert "1 attached" not in repr(handle) and "8 B" in repr(handle)
    token = handle.token
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    with pytest.raises(hr.InvalidArgumentError, match="no longer shared"):
        hr.attach(wrong)
    for bad in ["", "x", token + "a", token.upper(), token.replace(":", "/"), token[:-1] + "é"]:
        with pytest.raises(hr.InvalidArgumentError, match="not a token"):
            hr.attach(bad)
    with pytest.raises(hr.TypeMismatchError, match="expected a handle"):
        hr.attach(5)  # type: ignore[arg-type]
    with pytest.raises(hr.TypeMismatchError, match="expected an array, a series or a frame"):
        hr.share([1, 2])  # type: ignore[arg-type]
    handle.close()
    assert "closed" in repr(handle) and handle.nbytes == 0
    with pytest.raises(hr.InvalidArgumentError, match="keep the result of share"):
        hr.attach(handle)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_is_refused() -> None:
    handle = hr.share(hr.asarray([1.0]))
    code = """
        import os
        hr.attach  # loads what another user may not read
        os.setuid(65534)
        try:
            hr.attach(sys.argv[1])
        except hr.InputError as error:
            print(error)
    """
    assert "belongs to another user" in answer(code, handle.token)
    assert handle.leases == 0


def test_a_budget_holds_for_shared_copies() -> None:
    x = hr.asarray(np.zeros(4_000_000))
    gc.collect()
    hr.memory.trim()
    limit = hr.memory.stats().used_bytes + 20_000_000
    with hr.memory.limit(limit), pytest.raises(hr.OutOfMemoryError):
        hr.share(x)
    assert hr.attach(hr.share(x)).shape == (4_000_000,)


def test_a_thousand_times_leaks_nothing() -> None:
    shared_before = resident_shared()
    x = hr.asarray(np.arange(50_000.0))

    def once() -> None:
        with hr.share(x) as handle:
            assert hr.attach(handle)[7].item() == 7.0

    for _ in range(20):
        once()
    gc.collect()
    hr.memory.trim()
    open_before, used = descriptors(), hr.memory.stats().used_bytes
    foreign = hr.memory.stats().foreign_bytes
    for _ in range(1000):
        once()
    # Less is no leak: what an earlier test gave back may arrive late.
    assert soon(lambda: hr.memory.stats().used_bytes <= used), (used, hr.memory.stats())
    hr.memory.trim()
    assert soon(lambda: descriptors() <= open_before)
    assert hr.memory.stats().foreign_bytes <= foreign
    assert resident_shared() < shared_before + 4_000_000


def test_free_segments_are_taken_again() -> None:
    shared_before = resident_shared()  # a simulated device's memory is shared memory as well
    x = hr.asarray(np.arange(1_000_000.0))
    hr.share(x).close()
    assert soon(lambda: hr.memory.stats().cached_bytes >= 8_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    hr.share(x).close()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 500  # of 1954 pages
    hr.memory.trim()
    assert resident_shared() < shared_before + 4_000_000


# ---- other processes by multiprocessing and fork -----------------------------------------------
def _double(inbox: Any, outbox: Any) -> None:
    while (value := inbox.get()) is not None:
        if isinstance(value, hr.SharedHandle):
            value = hr.attach(value)
        outbox.put(value * 2 if isinstance(value, hr.Array) else value)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_values_go_through_queues(method: str) -> None:
    context = multiprocessing.get_context(method)
    inbox, outbox = context.Queue(), context.Queue()
    worker = context.Process(target=_double, args=(inbox, outbox))
    worker.start()
    x, table = hr.asarray(np.arange(100_000.0)), frame(500)
    handle = hr.share(x)
    for value in (x, table, handle, x[:5], None):
        inbox.put(value)
    assert same(outbox.get(timeout=60), x * 2)
    assert same(outbox.get(timeout=60), table)
    assert same(outbox.get(timeout=60), x * 2)
    assert same(outbox.get(timeout=60), x[:5] * 2)
    worker.join(60)
    assert worker.exitcode == 0 and handle.nbytes == 800_000


def test_a_forked_child_reads_its_parents_values() -> None:
    with hr.sharing():
        x = hr.asarray(np.arange(400_000.0)) + 1
        small = hr.asarray(np.arange(10.0)) + 1
        hr.eval(x, small)
    expected = x.sum().item()
    ready, go = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(go)
            os.read(ready, 1)  # until the parent made other values
            with hr.sharing():
                mine = x + 1
                hr.eval(mine)
            good = x.sum().item() == expected and small.sum().item() == 55.0
            good &= mine.sum().item() == expected + 400_000
            good &= same(hr.attach(hr.share(mine)), mine)
            status = 0 if good else 2
        finally:
            os._exit(status)
    os.close(ready)
    del x, small
    with hr.sharing():
        others = [hr.asarray(np.zeros(400_000)) - k for k in range(3)]
        tiny = [hr.asarray(np.zeros(10)) - k for k in range(3)]
        hr.eval(*others, *tiny)
    os.close(go)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


# ---- pickle ------------------------------------------------------------------------------------
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_in_band(protocol: int) -> None:
    for value in values():
        again = pickle.loads(pickle.dumps(value, protocol=protocol))
        assert isinstance(again, type(value)) and same(again, value)


def test_pickle_out_of_band_copies_nothing() -> None:
    table = frame(5000)
    array = hr.asarray(np.arange(100_000.0)) + 1
    hr.eval(table, array)
    with hr.no_copies(strict=True):
        hr.memory.ledger().clear()
        for value in (table, array, array[5:], table["x"]):
            buffers: list[pickle.PickleBuffer] = []
            text = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
            assert len(text) < 4000
            assert all(memoryview(buffer).readonly for buffer in buffers)
            assert same(pickle.loads(text, buffers=buffers), value)
        assert hr.memory.ledger().total_bytes == 0
    buffers = []
    text = pickle.dumps(array, protocol=5, buffer_callback=buffers.append)
    again = pickle.loads(text, buffers=buffers)
    assert np.shares_memory(again.to_numpy(), array.to_numpy())
    del array, buffers
    gc.collect()
    assert again[0].item() == 1.0


def test_pickle_below_5_shows_one_asked_copy() -> None:
    x = hr.asarray(np.arange(1000.0))
    hr.memory.ledger().clear()
    text = pickle.dumps(x, protocol=4)
    assert [(e.op, e.bytes, e.asked) for e in hr.memory.ledger()] == [("pickle", 8000, True)]
    hr.memory.ledger().clear()
    assert same(pickle.loads(text), x)
    assert hr.memory.ledger().total_bytes == 0


def test_a_few_rows_of_much_text_are_a_small_pickle() -> None:
    column = hr.Series([f"a rather long text {k}" for k in range(10_000)])
    assert len(pickle.dumps(column[5000:5010])) < 5000  # with the numbers of the rows
    assert len(pickle.dumps(column.head())) < 5000


def test_pickle_takes_any_bytes_and_believes_none() -> None:
    table = frame(100)
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(table, protocol=5, buffer_callback=buffers.append)
    received = [bytes(buffer) for buffer in buffers]
    assert same(pickle.loads(text, buffers=received), table)
    shifted = [memoryview(b"x" + part)[1:] for part in received]
    assert same(pickle.loads(text, buffers=shifted), table)
    assert same(pickle.loads(text, buffers=[bytearray(part) for part in received]), table)
    with pytest.raises(hr.InvalidArgumentError, match="a segment is shorter"):
        pickle.loads(text, buffers=[part[:-1] for part in received])
    header, pieces = _core.serialize(table._table(), "test")
    with pytest.raises(hr.InvalidArgumentError, match="number of segments"):
        _core.deserialize(header, pieces[:-1], "test")


@given(data=st.data())
def test_damaged_headers_are_errors(data: st.DataObject) -> None:
    header, pieces = _core.serialize(frame(70)._table(), "test")
    damaged = bytearray(header)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(damaged)) | st.just(len(damaged)))
    try:
        table, _ = _core.deserialize(bytes(damaged[:end]), pieces, "unpickle")
        for k in range(table.num_columns):
            table.column(k).to_list()
    except (hr.InvalidArgumentError, UnicodeDecodeError):
        pass


def test_rejects_and_names_travel() -> None:
    table = hr.DataFrame({"x": [1]})
    table.rejects = hr.DataFrame({"line": [2], "text": ["bad"]})
    for again in (pickle.loads(pickle.dumps(table)), copy.copy(table), copy.deepcopy(table)):
        assert again.rejects is not None and again.rejects.text.to_list() == ["bad"]
    assert pickle.loads(pickle.dumps(hr.Series([1], name="n"))).name == "n"
    assert hr.attach(hr.share(hr.Series([1], name="n"))).name == "n"  # type: ignore[union-attr]


def test_copies_share() -> None:
    x = hr.asarray(np.arange(10.0)) + 1
    table = frame(10)
    hr.memory.ledger().clear()
    for make in (copy.copy, copy.deepcopy):
        assert np.shares_memory(make(x).to_numpy(), x.to_numpy())
        other = make(table)
        assert same(other, table)
        other["new"] = 1
        assert "new" not in table
        assert make(table["s"]).name == "s"
    assert hr.memory.ledger().total_bytes == 0


def test_deferred_values_run_when_they_are_sent() -> None:
    x = hr.asarray(np.arange(10.0))
    node = x * 2 + 1
    assert not node._node.is_ready
    assert same(pickle.loads(pickle.dumps(node)), x * 2 + 1)
    assert node._node.is_ready
