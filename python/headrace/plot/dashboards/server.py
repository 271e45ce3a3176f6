# SPDX-License-Identifier: Apache-2.0
"""Serves a dashboard to this machine alone: a token, known hosts and origins, bounded requests."""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from headrace.errors import Error
from headrace.plot.dashboards import page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headrace.plot.dashboards.board import Board

#: A selection of a thousand keys on each of a hundred charts is smaller.
_MOST_BODY = 1 << 20
#: Requests at a time; a browser has six.
_MOST_REQUESTS = 16
#: Seconds that a request may take to arrive.
_PATIENCE = 10.0


class Server:
    """A thread that answers the page of a board on a port of this machine."""

    port: int
    address: str

    def __init__(self, board: Board, port: int) -> None:
        token = secrets.token_urlsafe(16)
        self._http = _Http(("127.0.0.1", port), board, token)
        self.port = self._http.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}/?token={token}"
        self._thread = threading.Thread(
            target=self._http.serve_forever, name="headrace-dashboard", daemon=True
        )
        self._thread.start()
        # Counted while the browser opens the page.
        threading.Thread(target=_count, args=[board], name="headrace-count", daemon=True).start()

    def stop(self) -> None:
        """Stop answering; requests that run are finished."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def _count(board: Board) -> None:
    with contextlib.suppress(Exception):  # the page asks again, and is told
        board._cells()


class _Http(ThreadingHTTPServer):
    """Bounded in requests at a time and in how long one may take to arrive."""

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, address: tuple[str, int], board: Board, token: str) -> None:
        self.board, self.token = board, token
        self._places = threading.BoundedSemaphore(_MOST_REQUESTS)
        self._arriving: dict[socket.socket, float] = {}
        super().__init__(address, _Handler)
        port = self.server_address[1]
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    def process_request(self, request: Any, client_address: Any) -> None:
        """Hang up where too many are open."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        self._arriving[request] = time.monotonic() + _PATIENCE
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer one request, then make room for another."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._arriving.pop(request, None)
            self._places.release()

    def arrived(self, request: Any) -> None:
        """The whole request has been read."""
        self._arriving.pop(request, None)

    def service_actions(self) -> None:
        """Hang up on requests that take too long to arrive; called about twice a second."""
        now = time.monotonic()
        for request, deadline in list(self._arriving.items()):
            if now > deadline:
                self._arriving.pop(request, None)
                with contextlib.suppress(OSError):  # it has hung up itself
                    request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


class RefusedError(Exception):
    """A request that gets no answer but a status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    server: _Http
    server_version, sys_version = "Headrace", ""
    timeout = _PATIENCE
    disable_nagle_algorithm = True  # a short answer does not wait for what was sent before

    def do_GET(self) -> None:
        """The page."""
        self._answer(self._page)

    def do_POST(self) -> None:
        """What the page asks."""
        self._answer(self._data)

    def log_message(self, *words: Any) -> None:
        pass

    def _answer(self, make: Any) -> None:
        try:
            kind, body, policy = make()
        except RefusedError as refused:
            self._send(refused.status, "text/plain", b"")
            return
        except (Error, MemoryError) as error:
            words = str(error) or "out of memory"
            self._send(400, "text/plain; charset=utf-8", words.encode())
            return
        self._send(200, kind, body, policy)

    def _send(
        self, status: int, kind: str, body: bytes | Iterator[bytes], policy: str = ""
    ) -> None:
        self.close_connection = True
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if isinstance(body, bytes):
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header(
            "Content-Security-Policy", policy or "default-src 'none'; frame-ancestors 'none'"
        )
        self.end_headers()
        for piece in [body] if isinstance(body, bytes) else body:
            self.wfile.write(piece)

    def _check(self, token: str) -> None:
        """Known host and origin, and the token; else nothing is answered."""
        hosts, origin = self.headers.get_all("Host") or [], self.headers.get("Origin")
        if len(hosts) != 1 or hosts[0].lower() not in self.server.hosts:
            raise RefusedError(403)
        if origin is not None and origin.lower() != f"http://{hosts[0].lower()}":
            raise RefusedError(403)
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise RefusedError(403)
        if not hmac.compare_digest(token.encode(errors="replace"), self.server.token.encode()):
            raise RefusedError(403)

    def _page(self) -> tuple[str, Iterator[bytes], str]:
        self.server.arrived(self.connection)
        try:
            parts = urlsplit(self.path)
            token = parse_qs(parts.query, max_num_fields=8).get("token", [""])[0]
        except ValueError:
            raise RefusedError(400) from None
        self._check(token)
        if parts.path != "/":
            raise RefusedError(404)
        before, after, policy = page.live(self.server.board, self.server.token)
        policy = f"{policy}; connect-src 'self'; frame-ancestors 'none'"
        return "text/html; charset=utf-8", self._pieces(before, after), policy

    def _pieces(self, before: str, after: str) -> Iterator[bytes]:
        """The browser builds its charts from the first piece while rows are counted."""
        yield before.encode()
        with contextlib.suppress(Exception):  # the page asks for them, and is told
            yield page.shown(self.server.board).encode()
        yield after.encode()

    def _data(self) -> tuple[str, bytes, str]:
        self._check(self.headers.get("X-Headrace-Token", ""))
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or self.headers.get("Transfer-Encoding"):
            raise RefusedError(411)
        if len(length) > 9 or int(length) > _MOST_BODY:
            raise RefusedError(413)
        body = self.rfile.read(int(length))
        self.server.arrived(self.connection)
        answer = _ANSWERS.get(self.path)
        if answer is None:
            raise RefusedError(404)
        try:
            asked = json.loads(body)
            made = answer(self.server.board, asked)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, IndexError) as bad:
            if isinstance(bad, Error):
                raise
            raise RefusedError(400) from None
        return "application/octet-stream", made, ""


def _select(board: Board, asked: Any) -> bytes:
    with board._lock:
        board._choose_steps(asked["selections"])
        return page.counts(board)


def _cube(board: Board, asked: Any) -> bytes:
    active = asked["active"]
    if not isinstance(active, int) or not 0 <= active < len(board._views):
        raise ValueError
    with board._lock:
        if "selections" in asked:
            board._choose_steps(asked["selections"])
        return page.cubes(board, active)


def _state(board: Board, asked: Any) -> bytes:
    """The counts if another selection holds than the page knows."""
    with board._lock:
        return page.counts(board) if asked["version"] != board._version else page.pack([], {})


_ANSWERS = {"/select": _select, "/cube": _cube, "/state": _state}
