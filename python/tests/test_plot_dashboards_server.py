# SPDX-License-Identifier: Apache-2.0
"""A dashboard answers its own page alone, and no request stops it or takes much memory."""

import base64
import http.client
import json
import random
import socket
import struct
import time
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from headrace.plot.dashboards import server as serving

import headrace as hr


@pytest.fixture
def board():
    frame = hr.DataFrame({"x": np.arange(1000) % 50, "y": np.arange(1000) % 7})
    made = hr.plot.dashboard(frame, [hr.plot.histogram("x"), hr.plot.histogram("y")])
    made.show(open=False)
    yield made
    made.close()


def parts(board) -> tuple[int, str]:
    where = urlsplit(board.show(open=False))
    return where.port, parse_qs(where.query)["token"][0]


def ask(board, method, path, body=None, **headers):
    """Status, headers and body of an answer."""
    port, token = parts(board)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    given = {"X-Headrace-Token": token, **{k.replace("_", "-"): v for k, v in headers.items()}}
    connection.request(method, path, body, given)
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()


def counts(board):
    """What the server answers to its page."""
    status, _, body = ask(board, "POST", "/select", json.dumps({"selections": {}}))
    assert status == 200
    return unpack(body)


def unpack(body):
    (size,) = struct.unpack_from("<I", body)
    facts, at, arrays = json.loads(body[4 : 4 + size]), 4 + size, []
    for kind, count in facts["arrays"]:
        arrays.append(np.frombuffer(body, "<" + kind, count, at))
        at += -(-arrays[-1].nbytes // 8) * 8
    assert at == len(body)
    return facts, arrays


def test_serves_its_page_and_numbers(board):
    address = board.show(open=False)
    assert address.startswith("http://127.0.0.1:")
    status, headers, body = ask(board, "GET", address.partition("/?")[2].join(["/?", ""]))
    assert status == 200 and b"<canvas" not in body and b"sha256-" in body
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
    request = {"selections": {"0": [[0, 10]]}}
    status, _, body = ask(board, "POST", "/select", json.dumps(request))
    facts, (x, y, left) = unpack(body)
    assert status == 200 and facts["selections"] == {"0": [[0, 10]]}
    assert x.tolist() == [20] * 50 and y.sum() == 200 and left.tolist() == [200]
    assert len(board.frame) == 200
    status, _, body = ask(board, "POST", "/cube", json.dumps({"active": 0}))
    facts, (cube, left) = unpack(body)
    assert facts["steps"] == [50] and cube.reshape(50, 7)[:10].sum(0).tolist() == y.tolist()
    status, _, body = ask(board, "POST", "/state", json.dumps({"version": board._version}))
    assert unpack(body)[1] == []
    board.select("y", 0, 3)
    status, _, body = ask(board, "POST", "/state", json.dumps({"version": facts["version"]}))
    assert unpack(body)[0]["selections"] == {"0": [[0, 10]], "1": [[0, 3]]}


def piece_and_rest(board, while_open):
    """The first piece of the page, read before `while_open` is called, and all after it."""
    where = urlsplit(board.show(open=False))
    with socket.create_connection(("127.0.0.1", where.port), 20) as client:
        line = f"GET /?{where.query} HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n"
        client.sendall(line.encode())
        client.settimeout(20)
        first = rest = b""
        while b'id="held">' not in first:
            first += client.recv(1 << 16)
        while_open()
        while piece := client.recv(1 << 16):
            rest += piece
    before, held, after = (first + rest).partition(b'id="held">')
    return before + held, first.partition(held)[2], after


def test_the_page_opens_while_rows_are_counted(board):
    board._lock.acquire()  # as while rows are counted
    before, early, held = piece_and_rest(board, board._lock.release)
    assert b"class Board" in before and early == b""
    text, after = held.split(b"</script>", 1)
    assert unpack(base64.b64decode(text))[1][-1].tolist() == [1000]
    assert b"headrace.start();" in after and after.rstrip().endswith(b"</html>")


@pytest.mark.parametrize("kind", [hr.OutOfMemoryError, MemoryError])
def test_a_page_without_counts_asks_for_them(board, monkeypatch, kind):
    def fails():
        raise kind("count_cubes: out of memory")

    monkeypatch.setattr(board, "_cells", fails)
    _, _, held = piece_and_rest(board, lambda: None)
    assert held.startswith(b"</script>") and held.rstrip().endswith(b"</html>")
    status, _, body = ask(board, "POST", "/state", json.dumps({"version": -1}))
    assert status == 400 and b"out of memory" in body


@pytest.mark.parametrize(
    "headers",
    [
        {"X_Headrace_Token": "wrong"},
        {"X_Headrace_Token": ""},
        {"X_Headrace_Token": "\u00e9\u00ff"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Host": "evil.example:80"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_strangers_are_refused(board, headers):
    for path in ("/select", "/cube", "/state"):
        status, _, body = ask(board, "POST", path, '{"selections": {"0": [[0, 1]]}}', **headers)
        assert (status, body) == (403, b"")
    _, token = parts(board)
    if "X_Headrace_Token" not in headers:
        assert ask(board, "GET", f"/?token={token}", **headers)[0] == 403
    assert len(board.frame) == 1000


def test_the_page_needs_the_token(board):
    for path in ("/", "/?token=", "/?token=x", "/?token=%00", "/?" + "a=1&" * 99, "/../etc/passwd"):
        assert ask(board, "GET", path)[0] in (400, 403, 404)
    _, token = parts(board)
    assert ask(board, "GET", f"/other?token={token}")[0] == 404
    assert token not in repr(board)
    port, _ = parts(board)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", port), 2)  # another address of this machine


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "null", '{"selections": 3}', '{"selections": {"9": [[0, 1]]}}',
     '{"selections": {"x": [[0, 1]]}}', '{"selections": {"0": [[0, 99]]}}',
     '{"selections": {"0": [[5, 1]]}}', '{"selections": {"0": [[0.5, 1]]}}',
     '{"selections": {"0": [3]}}', '{"selections": {"0": []}}',
     '{"selections": {"0": [[true, 9]]}}',
     "[" * 100_000, '{"selections": {"0": [[0, 1e400]]}}', "\x00\x01"],
)  # fmt: skip
def test_bad_bodies_are_errors(board, body):
    assert ask(board, "POST", "/select", body)[0] == 400
    assert ask(board, "POST", "/cube", body)[0] == 400
    assert len(board.frame) == 1000
    counts(board)


def raw(board, data: bytes, patience: float = 20.0) -> bytes:
    port, _ = parts(board)
    with socket.create_connection(("127.0.0.1", port), patience) as there:
        try:
            there.sendall(data)
            there.shutdown(socket.SHUT_WR)
            return there.recv(1 << 16)
        except OSError:
            return b""


def test_huge_bodies_are_not_read(board):
    port, token = parts(board)
    head = f"POST /select HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Headrace-Token: {token}\r\n"
    for length in (10**9, 10**30, "9" * 5000, -1, "1_0", "x", ""):
        answer = raw(board, f"{head}Content-Length: {length}\r\n\r\n".encode())
        assert answer[9:12] in (b"413", b"411"), length
    chunked = f"{head}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    assert raw(board, chunked)[9:12] == b"411"
    # A body that goes on and on: hung up, not kept.
    long = f"{head}Content-Length: {1 << 30}\r\n\r\n".encode() + bytes(1 << 24)
    assert raw(board, long)[9:12] in (b"413", b"")
    counts(board)


def test_slow_clients_are_hung_up_and_others_answered(board, monkeypatch):
    port, _ = parts(board)
    monkeypatch.setattr(serving, "_PATIENCE", 1.0)
    slow = [socket.create_connection(("127.0.0.1", port), 20) for _ in range(10)]
    for each in slow:
        each.sendall(b"POST /select HTTP/1.1\r\nHost: ")
    time.sleep(0.2)
    counts(board)
    begin, gone = time.monotonic(), 0
    for each in slow:
        try:
            while each.recv(100):
                pass
        except OSError:
            pass
        gone += 1
        each.close()
    assert gone == 10 and time.monotonic() - begin < 8


def test_too_many_connections_are_hung_up(board):
    port, _ = parts(board)
    many = [socket.create_connection(("127.0.0.1", port), 20) for _ in range(60)]
    time.sleep(0.3)
    for each in many:
        each.close()
    time.sleep(0.3)
    counts(board)


def random_requests(board, number):
    """Words of requests in random order, each row of them on a connection of its own."""
    rng = random.Random(0)
    port, token = parts(board)
    words = [b"GET", b"POST", b"/select", b"/cube", b" HTTP/1.1", b"\r\n", b"\r\n\r\n", b"Host: ",
             b"Content-Length: ", b"99999", b"0", b"{", b"\x00", b"\xff\xfe", token.encode(), b" ",
             f"127.0.0.1:{port}".encode(), b"X-Headrace-Token: ", b"A" * 70_000]  # fmt: skip
    for _ in range(number):
        raw(board, b"".join(rng.choice(words) for _ in range(rng.randint(0, 20))))


def test_random_requests_stop_nothing(board):
    random_requests(board, 1500)
    _, arrays = counts(board)
    assert arrays[-1].tolist() == [1000]


def test_close_frees_the_port(board):
    port, _ = parts(board)
    board.close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), 2)
    board.close()
