# SPDX-License-Identifier: Apache-2.0
"""Streams: text that comes piece by piece, files that grow, windows, checkpoints, Kafka."""

import json
import os
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_stream_states import bits

import headrace as hr
from headrace import _core

#: Cuts of the text; the full number by the environment.
CUTS = int(os.environ.get("HEADRACE_STREAM_CUTS", "40"))
WORDS = {"total": ("v", "sum"), "mean": ("v", "mean"), "n": ("v", "count"), "low": ("s", "min")}


def text_of(rows: int, seed: int = 0) -> bytes:
    """CSV with quotes, line ends in quotes, doubled quotes, empty fields and long lines."""
    rng = np.random.default_rng(seed)
    words = ["pear", '"a, b"', '"two\nlines"', '"say ""hi"""', "", "x" * 70, '"\r\n"']
    lines = ["k,v,s"]
    for i in range(rows):
        value = (
            "" if rng.random() < 0.1 else repr(float(rng.normal() * 10.0 ** rng.integers(-6, 6)))
        )
        lines.append(f"{int(rng.integers(0, 9))},{value},{words[int(rng.integers(0, 7))]}")
        if i == 0:
            lines[-1] = "1,0.5,pear"  # what decides the dtypes
    end = "\r\n" if seed % 2 else "\n"
    return (end.join(lines) + (end if seed % 3 else "")).encode()


def pieces_of(text: bytes, rng: np.random.Generator) -> list[bytes]:
    edges = sorted({0, len(text), *rng.integers(0, len(text), size=rng.integers(0, 12)).tolist()})
    return [text[a:b] for a, b in pairwise(edges)]


@pytest.fixture
def small_morsels() -> Iterator[None]:
    before = _core.morsel_rows()
    _core.set_morsel_rows(1024)
    yield
    _core.set_morsel_rows(before)


@pytest.mark.parametrize("seed", range(4))
def test_any_cut_gives_the_batch_answer(seed: int, tmp_path: Path, small_morsels: None) -> None:
    """Random cuts, and random ends of the process: each row counts once."""
    text = text_of(2600, seed)
    whole = hr.read_csv(text)
    expected = bits(whole.groupby("k").agg(**WORDS))
    rng = np.random.default_rng(seed)
    for cut in range(-(-CUTS // 4)):
        path = tmp_path / f"{cut}.state"
        pieces = pieces_of(text, rng)
        while True:
            stops = int(rng.integers(1, 8)) if rng.random() < 0.5 else 10**9
            seen = 0

            def flow_on(frame: hr.DataFrame, most: int = stops) -> None:
                nonlocal seen
                seen += 1
                if seen == most:
                    raise KeyboardInterrupt

            stream = hr.read_csv(iter(pieces), follow=True, dtypes={"v": "float64"})
            try:
                stream.groupby("k").agg(**WORDS).sink(flow_on, checkpoint=path)
            except KeyboardInterrupt:
                pieces = pieces_of(text, rng)  # the next time it comes in other pieces
                continue
            break
        state = hr.stream.load(path)
        assert state.rows == len(whole)
        assert bits(state.value()) == expected


def test_json_and_logs_in_pieces(small_morsels: None) -> None:
    rng = np.random.default_rng(3)
    lines = [
        json.dumps({"k": int(i % 5), "v": float(rng.normal()), "s": "a\nb"}) for i in range(1500)
    ]
    text = "\n".join(lines).encode()
    expected = bits(hr.read_json(text, lines=True).groupby("k").agg(t=("v", "sum")))
    for _ in range(10):
        frames = list(hr.read_json(iter(pieces_of(text, rng)), follow=True))
        state = frames[0].head(0).groupby("k").incremental(t=("v", "sum"))
        for frame in frames:
            state.update(frame)
        assert bits(state.value()) == expected
    log = b"".join(b"took %d ms\n" % i for i in range(300)) + b"no such line\n"
    found = list(hr.read_log(iter(pieces_of(log, rng)), pattern="took %{INT:ms:int}", follow=True))
    assert hr.concat(found).ms.to_list() == list(range(300))
    assert [r for f in found for r in f.rejects.line.to_list()] == [301]


def test_columns_stay_those_of_the_first_lines() -> None:
    pieces = [b'{"a": 1, "b": "x"}\n', b'{"b": "y", "c": 4}\n', b'{"a": 3, "b": null}\n']
    frames = list(hr.read_json(iter(pieces), follow=True))
    assert [frame.to_dict() for frame in frames] == [
        {"a": [1], "b": ["x"]},
        {"a": [None], "b": ["y"]},
        {"a": [3], "b": [None]},
    ]
    pieces = [b'{"a": 1}\n', b'{"a": 2.5}\n']
    with pytest.raises(hr.InputError, match="line=2"):
        list(hr.read_json(iter(pieces), follow=True))
    frames = list(hr.read_json(iter(pieces), follow=True, dtypes={"a": "float64", "z": "string"}))
    assert [frame.to_dict() for frame in frames] == [
        {"a": [1.0], "z": [None]},
        {"a": [2.5], "z": [None]},
    ]


def test_bytes_of_an_iterator_are_one_text() -> None:
    text = text_of(500, 1)
    rng = np.random.default_rng(0)
    expected = hr.read_csv(text)
    assert hr.read_csv(iter(pieces_of(text, rng))).to_dict() == expected.to_dict()
    assert hr.read_json(iter([b'{"a":', b" 1}\n"]), lines=True).to_dict() == {"a": [1]}
    with pytest.raises(hr.InvalidArgumentError, match="expected pieces of bytes: piece='str'"):
        hr.read_csv(iter(["a,b\n"]))  # type: ignore[call-overload]


def test_errors_name_the_line_of_the_text() -> None:
    pieces = [b"a,b\n1,2\n", b"3,4\n5,x\n", b"7,8\n"]
    with pytest.raises(hr.InputError, match="line=4") as caught:
        list(hr.read_csv(iter(pieces), follow=True))
    assert caught.value.line == 4
    frames = list(hr.read_csv(iter(pieces), follow=True, on_bad="reject"))
    assert [frame.a.to_list() for frame in frames] == [[1], [3], [7]]
    assert frames[1].rejects.line.to_list() == [4]
    with pytest.raises(hr.UnsupportedError, match="option='num_rows'"):
        hr.read_csv(iter(pieces), follow=True, num_rows=3)
    with pytest.raises(hr.TypeMismatchError, match="expected a path"):
        hr.read_csv([b"a\n1\n"], follow=True)  # type: ignore[call-overload]


def test_lines_that_are_skipped_may_come_alone() -> None:
    pieces = [b"made by\n", b"us\na", b",b\n", b"1,x\n", b"2,y\n"]
    frames = list(hr.read_csv(iter(pieces), follow=True, skip_rows=2))
    assert [frame.to_dict() for frame in frames] == [
        {"a": [1], "b": ["x"]},
        {"a": [2], "b": ["y"]},
    ]


class Follower:
    """A thread that reads a stream, and the frames that it has."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.frames = stream, []
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            for frame in self.stream:
                self.frames.append(frame)
        except BaseException as error:
            self.error = error

    def rows(self) -> list[Any]:
        return [value for frame in list(self.frames) for value in frame.a.to_list()]

    def until(self, expected: list[Any]) -> None:
        end = time.monotonic() + 20
        while self.rows() != expected and time.monotonic() < end and self._thread.is_alive():
            time.sleep(0.005)
        assert self.error is None and self.rows() == expected

    def close(self) -> None:
        self.stream.close()
        self._thread.join(20)
        assert not self._thread.is_alive()


def test_a_file_that_grows(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n1,x\n2,")
    follower = Follower(hr.read_csv(path, follow=True, poll="5ms"))
    follower.until([1])
    with path.open("ab") as file:
        file.write(b'"y\n')
        file.flush()
        time.sleep(0.05)
        assert follower.rows() == [1]  # the row goes on behind the line end in quotes
        file.write(b'z"\n3,q\n4')
    follower.until([1, 2, 3])
    follower.close()
    assert follower.rows() == [1, 2, 3]  # half a row is no row
    position = json.loads(json.dumps(follower.stream.position))
    with path.open("ab") as file:
        file.write(b",r\n5,s\n")
    follower = Follower(hr.read_csv(path, follow=True, poll="5ms", position=position))
    follower.until([4, 5])
    follower.close()


def test_rotation_and_truncation(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"a": 1}\n{"a": 2}')
    follower = Follower(hr.read_json(path, follow=True, poll="5ms"))
    follower.until([1])
    os.rename(path, tmp_path / "a.json.1")
    time.sleep(0.03)
    path.write_bytes(b'{"a": 3}\n')
    follower.until([1, 2, 3])  # the last line of the old file had no end
    with path.open("wb") as file:  # copied and truncated
        time.sleep(0.05)
        file.write(b'{"a": 4}\n')
    follower.until([1, 2, 3, 4])
    follower.close()


def test_a_position_in_a_rotated_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a\n1\n")
    follower = Follower(hr.read_csv(path, follow=True, poll="5ms"))
    follower.until([1])
    follower.close()
    position = follower.stream.position
    with path.open("ab") as file:
        file.write(b"2\n")
    os.rename(path, tmp_path / "a.csv.1")
    path.write_bytes(b"a\n3\n")
    follower = Follower(hr.read_csv(path, follow=True, poll="5ms", position=position))
    follower.until([2, 3])
    follower.close()
    for wrong in (3, {}, {**position, "offset": -1}, {**position, "schema": {"names": [1]}}):
        with pytest.raises(hr.InvalidArgumentError, match="position"):
            hr.read_csv(path, follow=True, position=wrong)
    os.unlink(tmp_path / "a.csv.1")
    with pytest.raises(hr.InputError, match="not the one of the position"):
        hr.read_csv(path, follow=True, position=position)
    with pytest.raises(FileNotFoundError):
        hr.read_csv(tmp_path / "none.csv", follow=True)


def test_other_columns_after_a_rotation_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a\n1\n")
    follower = Follower(hr.read_csv(path, follow=True, poll="5ms"))
    follower.until([1])
    os.rename(path, tmp_path / "old")
    path.write_bytes(b"b\n3\n")
    follower._thread.join(20)
    assert isinstance(follower.error, hr.InputError)
    assert "other columns: columns=['b'], expected=['a']" in str(follower.error)


def times(rows: int, seed: int) -> hr.DataFrame:
    """Times that mostly grow; a few come late, some have none."""
    rng = np.random.default_rng(seed)
    at = np.cumsum(rng.integers(0, 3_000_000, size=rows)) - rng.integers(0, 40_000_000, size=rows)
    late = rng.random(rows) < 0.03
    at[late] -= 500_000_000
    frame = hr.DataFrame({"t": at.astype("datetime64[us]") + np.timedelta64(20000, "D")})
    frame["k"] = rng.integers(0, 4, size=rows)
    frame["v"] = rng.normal(size=rows)
    frame["t"] = frame.t.where(rng.random(rows) > 0.01)
    hr.eval(frame)
    return frame


def expected_windows(frame: hr.DataFrame, size: int, every: int, lateness: int) -> Any:
    """The naive definition, row by row: rows by window, and which rows are late."""
    latest, windows, late = None, {}, []
    for row, moment in enumerate(frame.t.to_list()):
        if moment is None:
            late.append(row)
            continue
        at = round((moment - np.datetime64(0, "us").item()).total_seconds() * 10**6)
        begins = [at // every * every - i * every for i in range(size // every)][::-1]
        known = latest
        latest = at if latest is None else max(latest, at)
        open_ones = [b for b in begins if known is None or b + size > known - lateness]
        for begin in open_ones:
            windows.setdefault(begin, []).append(row)
        if not open_ones:
            late.append(row)
    return windows, late


@pytest.mark.parametrize("every", [60, 20])
@pytest.mark.parametrize("seed", range(3))
def test_windows_of_time(every: int, seed: int, small_morsels: None) -> None:
    frame = times(3000, seed)
    windows, late = expected_windows(frame, 60 * 10**6, every * 10**6, 15 * 10**6)
    rows = [(begin, row) for begin, each in sorted(windows.items()) for row in each]
    taken = frame.iloc[[row for _, row in rows]].reset_index(drop=True)
    taken["t"] = np.array([begin for begin, _ in rows]).astype("datetime64[us]")
    counts = taken.groupby(["t", "k"]).agg(n=("v", "size"), high=("v", "max"))
    total = taken.groupby(["t", "k"]).agg(total=("v", "sum"))
    assert len(late) > 20
    rng = np.random.default_rng(seed)
    found_before = None
    for _ in range(3):
        edges = sorted({0, 3000, *rng.integers(0, 3000, size=15).tolist()})
        cuts = list(pairwise(edges))
        lost: list[hr.DataFrame] = []
        stream = Batches([frame.iloc[a:b] for a, b in cuts])
        flow = stream.window("1min", on="t", every=f"{every}s", lateness="15s", late=lost.append)
        flow = flow.groupby("k").agg(n=("v", "size"), high=("v", "max"), total=("v", "sum"))
        made = hr.concat([part.reset_index() for part in flow])
        assert made.t.is_monotonic_increasing
        made = made.sort_values(["t", "k"]).set_index(["t", "k"])
        assert bits(made[["n", "high"]]) == bits(counts)
        np.testing.assert_allclose(
            made.total.to_numpy(), total.total.to_numpy(), rtol=1e-9, atol=1e-12
        )
        assert flow.late_rows == len(late) == sum(map(len, lost))
        assert [v for each in lost for v in each.v.to_list()] == frame.iloc[late].v.to_list()
        assert found_before is None or bits(made) == found_before
        found_before = bits(made)


class Batches(hr.stream.Stream):
    """Frames of a test as a stream."""

    def __init__(self, frames: list[hr.DataFrame], stop: int = 10**9) -> None:
        self._frames, self._stop, self._skip = frames, stop, 0
        self.done = 0

    def _batches(self) -> Iterator[hr.DataFrame]:
        for number, frame in enumerate(self._frames):
            if number < self._skip:
                continue
            if number == self._stop:
                raise KeyboardInterrupt
            self.position = number + 1
            yield frame
        self.is_over = True

    def seek(self, position: Any) -> None:
        self._skip = position

    def close(self) -> None:
        self._stop = 0

    def committed(self) -> None:
        self.done += 1


def test_windows_go_on_from_a_checkpoint(tmp_path: Path) -> None:
    frame = times(2000, 5)
    frames = [frame.iloc[a : a + 100] for a in range(0, 2000, 100)]
    out, expected = tmp_path / "out.csv", tmp_path / "expected.csv"
    words = {"n": ("v", "size"), "total": ("v", "sum")}

    def flow(stop: int = 10**9) -> Any:
        stream = Batches(frames, stop)
        return stream.window("1min", on="t", lateness="10s").groupby("k").agg(**words)

    flow().sink(expected)
    for stop in (3, 4, 9, 15, 10**9):
        try:
            flow(stop).sink(out, checkpoint=tmp_path / "a.state")
        except KeyboardInterrupt:
            with out.open("ab") as file:
                file.write(b"half a line that was written before the process ended")
    assert out.read_bytes() == expected.read_bytes()
    with pytest.raises(hr.InvalidArgumentError, match="other windows"):
        Batches(frames).window("2min", on="t").agg(**words).sink(
            out, checkpoint=tmp_path / "a.state"
        )
    with pytest.raises(hr.InvalidArgumentError, match="a step that divides"):
        Batches(frames).window("1min", on="t", every="25s")
    with pytest.raises(hr.TypeMismatchError, match="expected a column of times"):
        list(Batches(frames).window("1min", on="v").agg(n=("v", "size")))


def test_groups_to_a_file(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    hr.read_csv(iter([b"k,v\na,1\n", b"b,2\na,3\n"]), follow=True).groupby("k").agg(
        total=("v", "sum")
    ).sink(out)
    assert out.read_bytes() == b"k,total\na,4\nb,2\n"


class Message:
    """As much of a message as a consumer gives."""

    def __init__(self, value: bytes | None, offset: int, part: int = 0) -> None:
        self._value, self._offset, self._part = value, offset, part

    def value(self) -> bytes | None:
        return self._value

    def error(self) -> None:
        return None

    def topic(self) -> str:
        return "clicks"

    def partition(self) -> int:
        return self._part

    def offset(self) -> int:
        return self._offset


class Consumer:
    """A consumer of messages of a list, which goes on behind the last commit."""

    def __init__(self, messages: list[Message], begin: int = 0) -> None:
        self.messages, self.at, self.commits = messages, begin, []

    def poll(self, timeout: float) -> Message | None:
        if self.at == len(self.messages):
            return None
        self.at += 1
        return self.messages[self.at - 1]

    def commit(self, asynchronous: bool) -> None:
        assert not asynchronous
        self.commits.append(self.at)


def test_messages_of_a_consumer(tmp_path: Path) -> None:
    messages = [Message(b'{"k": %d, "v": %d}' % (i % 3, i), i) for i in range(10)]
    messages.insert(4, Message(None, 100, part=1))
    stream = hr.stream.from_kafka(Consumer(messages), batch=4, timeout=0.05)
    consumer = stream._consumer  # type: ignore[attr-defined]
    rows, commits = [], []
    for frame in stream:
        rows += frame.v.to_list()
        commits.append(list(consumer.commits))
        if len(rows) == 10:
            stream.close()
    assert rows == list(range(10))
    assert commits[:2] == [[], [4]] and consumer.commits[-1] == 11

    # A commit that is lost: the messages come again, and count once.
    path, words = tmp_path / "a.state", {"total": ("v", "sum"), "n": ("v", "count")}
    for begin, most in ((0, 2), (0, 3)):
        stream = hr.stream.from_kafka(Consumer(messages, begin), batch=4, timeout=0.05)
        seen: list[Any] = []

        def take(
            frame: hr.DataFrame, all_of: Any = seen, of: Any = stream, end: int = most
        ) -> None:
            all_of.append(frame)
            if len(all_of) == end or int(frame.n.sum()) == 10:
                of.close()

        stream.groupby("k").agg(**words).sink(take, checkpoint=path)
    assert hr.stream.load(path).value().to_dict() == {"total": [18, 12, 15], "n": [4, 3, 3]}
    with pytest.raises(hr.TypeMismatchError, match="expected a consumer"):
        hr.stream.from_kafka(object())
    with pytest.raises(hr.InvalidArgumentError, match="pass names="):
        hr.stream.from_kafka(Consumer([]), format="csv")


def test_kafka_itself(tmp_path: Path) -> None:
    """The broker inside librdkafka."""
    kafka = pytest.importorskip("confluent_kafka")
    producer = kafka.Producer({"test.mock.num.brokers": 1, "bootstrap.servers": ""})
    broker = next(iter(producer.list_topics(timeout=20).brokers.values()))
    for i in range(2000):
        producer.produce("clicks", b"%d,%d" % (i % 7, i), partition=0)
    assert producer.flush(30) == 0
    words = {"total": ("v", "sum"), "n": ("v", "count")}
    path = tmp_path / "a.state"
    for stop in (600, 2000):
        consumer = kafka.Consumer(
            {
                "bootstrap.servers": f"{broker.host}:{broker.port}",
                "group.id": "test",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
        consumer.subscribe(["clicks"])
        stream = hr.stream.from_kafka(
            consumer, format="csv", names=["k", "v"], batch=500, timeout=0.5
        )

        def take(frame: hr.DataFrame, of: Any = stream, end: int = stop) -> None:
            if int(frame.n.sum()) >= end:
                of.close()

        stream.groupby("k").agg(**words).sink(take, checkpoint=path)
        consumer.close()
    state = hr.stream.load(path)
    expected = hr.DataFrame({"k": np.arange(2000) % 7, "v": np.arange(2000)}).groupby("k")
    assert state.rows == 2000 and bits(state.value()) == bits(expected.agg(**words))
