# SPDX-License-Identifier: Apache-2.0
"""What stands at the path: files, links, pipes, devices, parts of killed writers, nothing."""

from __future__ import annotations

import copy
import errno
import os
import pickle
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headrace as hr

FRAME = hr.DataFrame({"a": [1, 2], "s": ["x", None]})
KINDS = pytest.mark.parametrize("kind", ["csv", "parquet", "json", "ipc"])


def write_as(frame: hr.DataFrame, kind: str, path: Path) -> None:
    """Write a frame to a file; as JSON its lines."""
    options = {"orient": "records", "lines": True} if kind == "json" else {}
    getattr(frame, f"to_{kind}")(path, **options)


def page(path: Path) -> None:
    """Save a report."""
    report = hr.report.Report("a page")
    report.add_text("A part", "one line")
    report.save(path)


def log(path: Path) -> None:
    """Write the events of some work."""
    with hr.memory.log() as events:
        FRAME.a.sum().item()
    events.to_csv(path)


def trace(path: Path) -> None:
    """Save the steps of some work."""
    with hr.profile() as steps:
        FRAME.a.sum().item()
    steps.save(path)


#: Everything that writes a file, with an ending that it takes and the first bytes that it writes.
WRITERS: dict[str, tuple[Callable[[Path], None], str, bytes]] = {
    "csv": (FRAME.to_csv, ".csv", b"a,s\n"),
    "parquet": (FRAME.to_parquet, ".parquet", b"PAR1"),
    "json": (lambda path: write_as(FRAME, "json", path), ".json", b'{"a":'),
    "ipc": (FRAME.to_ipc, ".arrow", b"ARROW1"),
    "plot": (lambda path: hr.plot.line(np.arange(9.0)).save(path), ".png", b"\x89PNG"),
    "report": (page, ".html", b"<!doctype html>"),
    "log": (log, ".csv", b"Thread,"),
    "trace": (trace, ".json", b"{"),
    "timeline": (lambda path: hr.memory.timeline().save(path), ".svg", b"<svg"),
}


@pytest.fixture(params=WRITERS)
def writer(request: pytest.FixtureRequest) -> tuple[Callable[[Path], None], str, bytes]:
    """Give one that writes."""
    return WRITERS[request.param]


def device(folder: Path, ending: str, minor: int) -> Path:
    """Make a device node of our own: 3 is null, 7 is full."""
    path = folder / f"device{ending}"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        os.close(os.open(path, os.O_WRONLY))
    except PermissionError:
        pytest.skip("this user, or this file system, has no devices")
    return path


def test_a_file_keeps_its_mode(writer: Any, tmp_path: Path) -> None:
    write, ending, begin = writer
    path = tmp_path / f"x{ending}"
    path.write_bytes(b"old")
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 1234, 1234)
    write(path)
    assert path.read_bytes().lower().startswith(begin.lower())
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.geteuid() != 0 or path.stat().st_uid == 1234
    assert os.listdir(tmp_path) == [path.name]


def test_links_are_followed(writer: Any, tmp_path: Path) -> None:
    write, ending, begin = writer
    folder = tmp_path / "folder"
    folder.mkdir()
    inner, outer = folder / f"inner{ending}", tmp_path / f"outer{ending}"
    inner.symlink_to(f"x{ending}")  # which is not there yet
    outer.symlink_to(inner)
    for _ in range(2):
        write(outer)
        assert outer.is_symlink()
        assert inner.is_symlink()
        assert (folder / f"x{ending}").read_bytes().lower().startswith(begin.lower())
        assert len(os.listdir(tmp_path)) + len(os.listdir(folder)) == 4


def test_a_circle_of_links_is_an_error(writer: Any, tmp_path: Path) -> None:
    write, ending, _ = writer
    path = tmp_path / f"x{ending}"
    path.symlink_to(path)
    with pytest.raises(hr.InputError) as raised:
        write(path)
    assert raised.value.errno == errno.ELOOP
    assert path.is_symlink()


def test_a_pipe_is_written_directly(writer: Any, tmp_path: Path) -> None:
    write, ending, begin = writer
    path = tmp_path / f"pipe{ending}"
    os.mkfifo(path)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()), daemon=True)
    reader.start()
    write(path)
    reader.join()
    assert got[0].lower().startswith(begin.lower())
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert os.listdir(tmp_path) == [path.name]


def test_a_device_stays_a_device(writer: Any, tmp_path: Path) -> None:
    write, ending, _ = writer
    path = device(tmp_path, ending, 3)
    write(path)
    assert stat.S_ISCHR(path.lstat().st_mode)
    assert os.listdir(tmp_path) == [path.name]


def test_a_full_disk_is_an_error(writer: Any, tmp_path: Path) -> None:
    write, ending, _ = writer
    path = device(tmp_path, ending, 7)
    with pytest.raises(hr.InputError, match="No space left") as raised:
        write(path)
    assert (raised.value.errno, raised.value.filename) == (errno.ENOSPC, str(path))
    assert stat.S_ISCHR(path.lstat().st_mode)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("/dev/stdout", "csv"),
        ("/dev/stdout", "parquet"),
        ("/dev/fd/1", "json"),
        ("/proc/self/fd/1", "ipc"),
    ],
)
def test_standard_output(name: str, kind: str, tmp_path: Path) -> None:
    options = "orient='records', lines=True" if kind == "json" else ""
    code = (
        "import headrace as hr; "
        f"hr.DataFrame({{'a': [1]}}).to_{kind}({name!r}, {options}); print('end')"
    )
    run = [sys.executable, "-c", code]
    into_pipe = subprocess.run(run, capture_output=True, check=True).stdout
    assert into_pipe.startswith(WRITERS[kind][2][:1])
    assert into_pipe.endswith(b"end\n")
    path = tmp_path / "out"
    with open(path, "wb") as out:
        out.write(b"begin\n")
        out.flush()
        subprocess.run(run, stdout=out, check=True)
    assert path.read_bytes() == b"begin\n" + into_pipe


def test_names_at_the_limit(tmp_path: Path) -> None:
    for name in ("x" * 255, "é" * 127):
        FRAME.to_csv(tmp_path / name)
        assert len(hr.read_csv(tmp_path / name)) == 2
    # A name that is no UTF-8.
    other = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv")
    FRAME.to_csv(other)
    assert len(hr.read_csv(other)) == 2
    with pytest.raises(FileNotFoundError) as raised:
        hr.read_csv(other + "\udce9")
    assert raised.value.filename == other + "\udce9"


KILLED = """
import sys, numpy as np, headrace as hr
frame = hr.DataFrame({"a": np.arange(300_000), "b": np.arange(300_000) % 7.5})
options = {"orient": "records", "lines": True} if sys.argv[2] == "json" else {}
for turn in range(10_000):
    getattr(frame, "to_" + sys.argv[2])(sys.argv[1], **options)
    if turn == 0:
        print("ready", flush=True)
"""


def parts_in(folder: Path, but: str) -> list[str]:
    """Name what else is there."""
    return [name for name in os.listdir(folder) if name != but]


FORKED = """
import os, sys, headrace as hr
sink = hr._core.Sink("test", sys.argv[1], False)
sink.write(b"a\\n1\\n")
child = os.fork()
if child == 0:
    sys.exit()
os.waitpid(child, 0)
sink.commit()
"""


def test_a_forked_child_leaves_the_part_to_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED, str(path)], check=True)
    assert path.read_bytes() == b"a\n1\n"


@pytest.mark.parametrize("stalls", [False, True], ids=["nobody reads", "the reader stalls"])
@KINDS
def test_ctrl_c_at_a_pipe_that_waits(kind: str, stalls: bool, tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK) if stalls else -1
    frame = hr.DataFrame({"a": np.random.default_rng(1).normal(size=100_000)})
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, signal.pthread_kill, [threading.get_ident(), signal.SIGINT])
    timer.start()
    begin = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            write_as(frame, kind, path)
    finally:
        signal.signal(signal.SIGINT, former)
        timer.join()
        if stalls:
            os.close(reader)
    assert time.monotonic() - begin < 5
    assert os.listdir(tmp_path) == ["pipe"]


FULL_IN_THE_MIDDLE = """
import os, resource, signal, sys, numpy as np, headrace as hr
kind, path = sys.argv[1:]
frame = hr.DataFrame({"a": np.arange(1_000_000), "b": np.arange(1_000_000) * 0.37})
options = {"orient": "records", "lines": True} if kind == "json" else {}
write = lambda: getattr(frame, "to_" + kind)(path, **options)
before = open(path, "rb").read()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, resource.RLIM_INFINITY))
try:
    write()
except hr.InputError as error:
    print(error.errno)
assert open(path, "rb").read() == before
assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)]
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
write()
print(len(getattr(hr, "read_" + kind)(path)))
"""


@KINDS
def test_a_disk_that_is_full_in_the_middle(kind: str, tmp_path: Path) -> None:
    """While later pieces are formatted: nothing stays, and the next call works."""
    path = tmp_path / f"x.{kind}"
    write_as(FRAME, kind, path)
    run = [sys.executable, "-c", FULL_IN_THE_MIDDLE, kind, str(path)]
    out = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert out.split() == [str(errno.EFBIG), "1000000"]


@KINDS
@pytest.mark.parametrize("after", [0.01, 0.03, 0.1])
def test_ctrl_c_in_the_middle_of_a_file(kind: str, after: float, tmp_path: Path) -> None:
    path = tmp_path / "x"
    frame = hr.DataFrame({"a": np.arange(1_000_000), "b": np.arange(1_000_000) * 0.37})
    path.write_bytes(b"before")
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(after, signal.pthread_kill, [threading.get_ident(), signal.SIGINT])
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            for _ in range(1000):  # until the timer rings
                write_as(frame, kind, path)
    finally:
        signal.signal(signal.SIGINT, former)
        timer.join()
    assert os.listdir(tmp_path) == ["x"]
    whole = tmp_path / "whole"
    write_as(frame, kind, whole)
    assert path.read_bytes() in (b"before", whole.read_bytes())


@KINDS
def test_what_a_killed_writer_left_goes_at_the_next_write(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.{kind}"
    write_as(FRAME, kind, path)
    left = 0
    rounds = int(os.environ.get("HEADRACE_EXAMPLES", "0")) // 50 or 4
    for turn in range(rounds):
        children = [
            subprocess.Popen(
                [sys.executable, "-c", KILLED, str(path), kind], stdout=subprocess.PIPE
            )
            for _ in range(2)
        ]
        for child in children:
            assert child.stdout is not None
            child.stdout.readline()
        time.sleep(0.02 + 0.013 * (turn % 8))
        for child in children:
            child.send_signal(signal.SIGKILL)
            child.communicate()
        left += len(parts_in(tmp_path, path.name))
        assert len(getattr(hr, f"read_{kind}")(path)) in (2, 300_000)  # whole at any time
    assert left > 0
    write_as(FRAME, kind, path)
    assert parts_in(tmp_path, path.name) == []


def test_parts_of_living_writers_and_files_of_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    others = ["x.csv.part-0", "x.csv.headrace-part", "y.csv.headrace-part-0"]
    for name in others:
        (tmp_path / name).write_text("mine")
    (tmp_path / "x.csv.headrace-part-3").mkdir()
    os.mkfifo(tmp_path / "x.csv.headrace-part-2")
    first, second = (hr._core.Sink("test", str(path), False) for _ in range(2))
    for sink, text in ((first, b"a\n1\n"), (second, b"a\n2\n")):
        sink.write(text)
    assert len(os.listdir(tmp_path)) == len(others) + 4
    second.commit()
    FRAME.to_csv(path)
    first.commit()
    assert path.read_bytes() == b"a\n1\n"
    kept = {*others, "x.csv", "x.csv.headrace-part-2", "x.csv.headrace-part-3"}
    assert set(os.listdir(tmp_path)) == kept


def test_what_the_system_refuses_is_an_error_of_python(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a\n1\n")
    missing, below = tmp_path / "no" / "x.csv", tmp_path / "file" / "x"
    reads: list[Callable[[Any], Any]] = [
        hr.read_csv,
        hr.scan_csv,
        hr.read_parquet,
        hr.scan_parquet,
        hr.memory.replay,
    ]
    writes: list[Callable[[Any], Any]] = [FRAME.to_csv, FRAME.to_parquet, page]
    for call in (*reads, *writes[:2]):
        for path, kind, code in (
            (missing, FileNotFoundError, errno.ENOENT),
            (below, NotADirectoryError, errno.ENOTDIR),
            (tmp_path, IsADirectoryError, errno.EISDIR),
        ):
            if path == tmp_path and call in reads[:4]:
                continue  # all files in it
            with pytest.raises(kind) as raised:
                call(path)
            error = raised.value
            assert isinstance(error, hr.InputError), call
            assert (error.errno, error.filename) == (code, str(path)), call
            assert (error.path, error.strerror) == (str(path), os.strerror(code)), call
            assert str(path) in str(error)
            for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
                assert type(again) is type(error)
                assert again.__dict__ == error.__dict__
                assert (str(again), again.errno, again.filename, again.strerror) == (
                    str(error),
                    error.errno,
                    error.filename,
                    error.strerror,
                )


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_what_one_may_not_read_or_write(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")
    path.chmod(0o600)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o005)
    code = f"""
import os, headrace as hr, pyarrow.parquet
frame = hr.DataFrame({{"a": [1]}})
hr.read_csv(b"a\\n1\\n"), hr.read_parquet  # loads what another user may not read
os.setresuid(65534, 65534, 65534)
for call in (hr.read_csv, hr.read_parquet, frame.to_csv, frame.to_parquet):
    try:
        call({str(path)!r})
    except PermissionError as error:
        assert isinstance(error, hr.InputError) and error.filename == {str(path)!r}, call
        assert (error.errno, error.strerror) == (13, "Permission denied"), call
    else:
        raise AssertionError(call)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_errors_of_bytes_are_no_errors_of_the_system() -> None:
    with pytest.raises(hr.InputError) as raised:
        hr.read_csv(b"a,b\n1,2\n3\n")
    error = raised.value
    assert type(error) is hr.InputError
    assert (error.errno, error.strerror, error.line) == (None, None, 3)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.line) == (hr.InputError, str(error), 3)
