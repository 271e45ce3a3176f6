# SPDX-License-Identifier: Apache-2.0
"""`hr.cluster`: workers of one budget, reached with a token, that end with the process."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import headrace as hr

pytest.importorskip("distributed")
from headrace.dask import transport

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
ROWS = 1 << 18
PROGRAM = """
import os, time
import headrace as hr

if __name__ == "__main__":
    with hr.cluster(workers=2, memory="1GB") as cluster:
        print(*cluster.client.run(os.getpid).values(), flush=True)
        time.sleep(600)
"""


@pytest.fixture(scope="module")
def cluster():
    with hr.cluster(workers=2, memory="1GB") as made:
        yield made


def numbers() -> hr.DataFrame:
    rng = np.random.default_rng(1)
    return hr.DataFrame({"k": rng.integers(0, 50, ROWS), "v": rng.integers(0, 1000, ROWS)})


def test_answers_are_those_of_one_process(cluster):
    frame = numbers()
    rows = cluster.scatter(frame, 2)
    assert rows.npartitions == 2
    assert rows.v.sum().compute() == frame.v.sum().item()
    assert rows.compute().equals(frame)
    right = hr.DataFrame({"k": np.arange(50), "w": np.arange(50) % 7})
    merged = rows.merge(cluster.scatter(right, 1), on="k")
    wanted = frame.merge(right, on="k")
    assert merged.w.sum().compute() == wanted.w.sum().item()
    found = merged.groupby("k").w.sum().compute()
    assert found.to_dict() == wanted.groupby("k").w.sum().to_dict()
    assert rows.sort_values("v").v.compute().to_list() == frame.sort_values("v").v.to_list()


def test_the_budget_is_shared_out(cluster):
    limits = cluster.client.run(hr.memory.limit)
    assert len(limits) == 2
    assert all(0 < each < 500_000_000 for each in limits.values())
    assert cluster.map(len, [[1], [2, 3]]) == [1, 2]


def test_large_columns_go_to_another_worker_in_shared_segments(cluster):
    def made():
        with hr.sharing():
            frame = hr.DataFrame(
                {"x": np.arange(1 << 18), "s": ["a long string of text", "b"] * (1 << 17)}
            )
            hr.eval(frame)
        return frame

    def copied(frame=None):
        return hr.memory.ledger().total_bytes

    def share_again(frame):
        before = hr.memory.ledger().total_bytes
        with hr.share(frame):
            return hr.memory.ledger().total_bytes - before

    client = cluster.client
    here, there = client.run(copied)
    future = client.submit(made, workers=[here])
    before = client.submit(copied, workers=[there], pure=False).result()
    assert client.submit(copied, future, workers=[there]).result() == before
    if client.run(transport.shares)[there] is not None:  # what lies in segments is shared as it is
        assert client.submit(share_again, future, workers=[there]).result() == 0
    assert client.submit(lambda frame: frame.x.sum().item(), future, workers=[there]).result() == (
        (1 << 18) * ((1 << 18) - 1) // 2
    )
    assert future.result().s.iloc[0] == "a long string of text"  # here too


def test_errors_of_tasks_are_ours(cluster):
    def fails(part: hr.DataFrame) -> hr.DataFrame:
        return part.assign(z=part.v.astype("string").str.cat(["x"]))

    rows = cluster.scatter(numbers().head(100), 1)
    with pytest.raises(hr.Error):
        rows.map_partitions(fails, meta=rows._meta.assign(z="")).compute()
    assert len(rows) == 100


def test_who_does_not_know_the_token_is_turned_away(cluster):
    host, port = cluster.client.scheduler.address.removeprefix("headrace://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as stranger:
        stranger.sendall(b"0" * 64)
        assert stranger.recv(1) == b""  # closed, and nothing was said
    assert host == "127.0.0.1"


def test_a_budget_that_is_too_small_is_refused():
    with pytest.raises(hr.InvalidArgumentError, match="budget is too small"):
        hr.cluster(workers=4, memory="200MB")


def test_a_killed_worker_does_not_change_the_answer(cluster):
    frame = numbers()
    work = hr.dask.from_frame(frame, partitions=2).groupby("k").v.sum()
    future = cluster.client.compute(work)
    os.kill(next(iter(cluster.client.run(os.getpid).values())), signal.SIGKILL)
    assert future.result(timeout=120).to_dict() == frame.groupby("k").v.sum().to_dict()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_no_process_is_left(tmp_path, how):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    line = [sys.executable, str(program)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(line, start_new_session=True, **pipes) as running:
        workers = list(map(int, running.stdout.readline().split()))
        assert len(workers) == 2
        if how == signal.SIGKILL:
            running.kill()
        else:
            os.killpg(running.pid, how)
        running.wait(timeout=60)
        end = time.monotonic() + 20  # on an idle machine less than one
        while of_session(running.pid) and time.monotonic() < end:
            time.sleep(0.1)
        assert not any(map(runs, workers))
        assert not of_session(running.pid)  # what started the workers neither


def of_session(session: int) -> list[int]:
    """The processes of a session that still run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, number = path.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(number) == session and state != "Z":
            found.append(int(path.parent.name))
    return found


def runs(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
