# SPDX-License-Identifier: Apache-2.0
"""Run the example specs of Mosaic on `hr.sql.Context` in a browser, compared with DuckDB.

    python tools/run_mosaic_specs.py FOLDER [--only NAME] [--pictures FOLDER]

FOLDER has `specs/*.json` (docs/public/specs/json of github.com/uwdata/mosaic) and `data/`, where
random tables with the same columns are written for those that are on the web only. Needs the
package mosaic-widget, of which only its page is used, and Chromium. Each statement runs in DuckDB
and here; answers are compared, and the page draws ours. Tables from files come from DuckDB.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import decimal
import http.server
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

import headrace as hr

FROM_FILES = re.compile(r"\b(read_\w+|st_read)\s*\(|from '|install |load ", re.IGNORECASE)
WEB = re.compile(r"'https://[\w.-]+/data/")
ENDED = 12_000  #: virtual milliseconds of the page
ROWS = 200_000  #: of a table that is made

#: Tables that the specs read from the web.
MADE = {
    "flights-10m": "(-30 + 60 * random() + exp(6 * random()))::smallint as ARR_DELAY, "
    "(100 + 2500 * random() ** 2)::smallint as DISTANCE, (24 * random())::float as DEP_TIME",
    "gaia-5m": "360 * random() as l, degrees(asin(2 * random() - 1)) as b, "
    "(25 * random() - 5)::float as parallax, (6 + 15 * random())::float as phot_g_mean_mag, "
    "(5 * random() - 0.5)::float as bp_rp",
    "observable-latency": "epoch_ms(1706227200000 + (2016 * random())::int * 300000) as time, "
    "(10 ** (4 * random()))::int as latency, range::int as count, "
    "'/route/' || (30 * random() ** 2)::int as route",
    "nyc-rides-2010": "timestamp '2010-01-01' + to_seconds((259200 * random())::int) as "
    "pickup_datetime, -74.02 + 0.1 * random() as pickup_longitude, 40.7 + 0.1 * random() as "
    "pickup_latitude, -74.02 + 0.1 * random() as dropoff_longitude, 40.7 + 0.1 * random() as "
    "dropoff_latitude",
    "stocks_after_2006": "'S' || (range // 500) as Symbol, date '2006-01-01' + "
    "(range % 500)::int as Date, (20 + range // 2000 + 5 * sin(range / 40) + random()) as Close",
}

PAGE = """<!doctype html><meta charset=utf-8><link rel=stylesheet href=/index.css>
<div id=chart></div>
<script type=module>
const told = (kind, text) => fetch("/told", {method: "POST", body: JSON.stringify([kind, text])});
window.onerror = (text) => told("error", String(text));
window.onunhandledrejection = (event) => told("error", String(event.reason));
console.error = (...words) => told("error", words.map(String).join(" "));
import widget from "/index.js";
const values = {spec: await (await fetch("/spec")).json(), params: {}, preagg_schema: "mosaic"};
const listeners = [];
const model = {
  get: (name) => values[name], set: (name, value) => { values[name] = value; }, save_changes() {},
  on: (name, listener) => { if (name == "msg:custom") listeners.push(listener); },
  async send(message) {
    const answer = await fetch("/query", {method: "POST", body: JSON.stringify(message)});
    const failed = answer.headers.get("x-error");
    const data = new DataView(await answer.arrayBuffer());
    const reply = {uuid: message.uuid, ...(failed ? {error: failed} : {type: message.type})};
    listeners.forEach((listener) => listener(reply, [data]));
  },
};
await widget.initialize?.({model});
await widget.render({model, el: document.getElementById("chart")});
setTimeout(() => {
  for (const svg of document.querySelectorAll("svg"))
    svg.dispatchEvent(new PointerEvent("pointerenter"));
}, 3000);
setTimeout(() => {
  for (const area of document.querySelectorAll("rect.overlay")) {
    const box = area.getBoundingClientRect(), at = (share) => ({bubbles: true, view: window,
      clientX: box.x + share * box.width, clientY: box.y + share * box.height});
    area.dispatchEvent(new MouseEvent("mousedown", at(0.3)));
    window.dispatchEvent(new MouseEvent("mousemove", at(0.6)));
    window.dispatchEvent(new MouseEvent("mouseup", at(0.6)));
  }
}, 5000);
</script>"""


def make_tables(folder: Path) -> None:
    """Write the tables of `MADE` that are not in the folder."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("select setseed(0.5)")
        for name, columns in MADE.items():
            path = folder / f"{name}.parquet"
            if not path.exists():
                connection.execute(f"copy (select {columns} from range({ROWS})) to '{path}'")


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows in one order; whole decimals as integers, BIGINT for HUGEINT (see sql.md)."""

    def plain(value: Any) -> Any:
        if isinstance(value, decimal.Decimal) and value == int(value):
            return int(value)
        return "BIGINT" if value == "HUGEINT" else value

    rows = [tuple(map(plain, row.values())) for row in table.to_pylist()]
    return sorted(rows, key=lambda row: [f"{v:.5g}" if type(v) is float else repr(v) for v in row])


def is_near(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two rows are the same; sums of floats in another order differ in the last digits."""
    return all(
        a == b or (type(a) is type(b) is float and (math.isclose(a, b, rel_tol=1e-9) or a != a))
        for a, b in zip(one, other, strict=True)
    )


def types_of(table: pa.Table) -> list[str]:
    """The Arrow types; one name for layouts of strings and for integers (see sql.md)."""
    same = {"large_string": "string", "string_view": "string", "decimal128(38, 0)": "int64"}
    same |= {f"{sign}int{bits}": "int64" for sign in ("", "u") for bits in (8, 16, 32)}
    return [same.get(str(field.type), str(field.type)) for field in table.schema]


class Session:
    """One page: its statements, in both engines."""

    def __init__(self, spec: Path, folder: Path) -> None:
        self.spec, self.found = spec, collections.Counter[str]()
        self.notes: list[str] = []
        self.lock = threading.Lock()
        self.theirs = duckdb.connect(config={"threads": 2})
        self.context = hr.sql.Context()
        self.ours = self.context.mosaic()
        os.chdir(folder)

    def note(self, kind: str, text: str) -> None:
        self.found[kind] += 1
        if kind not in ("equal", "loaded"):
            self.notes.append(f"  {kind}: {text[:400]}")

    def answer(self, message: dict[str, str]) -> bytes:
        """The bytes for the page; raises what it is told as an error."""
        with self.lock:
            return self._answer(message["type"], WEB.sub("'data/", message["sql"]))

    def _answer(self, kind: str, sql: str) -> bytes:
        if kind == "exec" and FROM_FILES.search(sql):
            before = set(self._tables())
            self.theirs.execute(sql)
            for name in set(self._tables()) - before:
                self.ours.register(name, self.theirs.sql(f'from "{name}"').to_arrow_table())
            self.note("loaded", sql)
            return b""
        wanted: Any = None
        try:
            if kind == "arrow":
                wanted = self.theirs.query(sql).to_arrow_table()
            else:
                self.theirs.execute(sql)
        except duckdb.Error as error:
            self.note("DuckDB refuses", f"{sql}: {error}")
            raise
        try:
            if kind == "exec":
                self.ours.execute(sql)
                self.note("equal", sql)
                return b""
            made = self.ours.query(sql).arrow().read_all()
        except hr.UnsupportedError as error:
            self.note("refused", f"{sql}: {error}")
            raise
        except Exception as error:
            self.note("failed", f"{sql}: {type(error).__name__}: {error}")
            raise
        if made.column_names != wanted.column_names:
            self.note("names differ", f"{sql}: {made.column_names} {wanted.column_names}")
        elif not self._same_rows(sql, rows_of(made), rows_of(wanted)):
            pass
        elif types_of(made) != types_of(wanted):
            self.note("types differ", f"{sql}: {types_of(made)} {types_of(wanted)}")
        else:
            self.note("equal", sql)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, made.schema) as writer:
            writer.write_table(made)
        return sink.getvalue().to_pybytes()

    def _same_rows(self, sql: str, ours: list[Any], theirs: list[Any]) -> bool:
        pairs = [(a, b) for a, b in zip(ours, theirs, strict=False) if not is_near(a, b)]
        if pairs or len(ours) != len(theirs):
            self.note("DIFFERENT", f"{sql}: {len(ours)} and {len(theirs)} rows, {pairs[:2]}")
            return False
        return True

    def _tables(self) -> list[str]:
        query = "select table_name from information_schema.tables where table_schema = 'main'"
        return [name for (name,) in self.theirs.execute(query).fetchall()]


def handler_of(session: Session, static: Path) -> type[http.server.BaseHTTPRequestHandler]:
    """The page, its files and its queries, on this machine only."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *words: Any) -> None:
            pass

        def handle_one_request(self) -> None:
            with contextlib.suppress(BrokenPipeError):  # the page was closed
                super().handle_one_request()

        def give(self, data: bytes, kind: str, **headers: str) -> None:
            self.send_response(200)
            for name, value in {"content-type": kind, **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            if self.path == "/":
                self.give(PAGE.encode(), "text/html")
            elif self.path == "/spec":
                self.give(session.spec.read_bytes(), "application/json")
            elif self.path in ("/index.js", "/index.css"):
                kind = "text/javascript" if self.path.endswith("js") else "text/css"
                self.give((static / self.path[1:]).read_bytes(), kind)
            else:
                self.send_error(404)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path == "/told":
                session.note("page error", body[1])
                self.give(b"", "text/plain")
                return
            try:
                data = session.answer(body)
            except Exception as error:
                text = " ".join(str(error).split())[:300].encode("ascii", "replace").decode()
                self.give(b"", "text/plain", x_error=text or "error")
            else:
                self.give(data, "application/octet-stream")

    return Handler


def run(spec: Path, folder: Path, static: Path, picture: Path) -> Session:
    """Open one spec's page until its time is over."""
    session = Session(spec, folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_of(session, static))
    server.daemon_threads = False
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        line = [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            f"--user-data-dir={profile}", f"--virtual-time-budget={ENDED}",
            "--window-size=900,700", f"--screenshot={picture}",
            f"http://127.0.0.1:{server.server_address[1]}/",
        ]  # fmt: skip
        try:
            subprocess.run(line, capture_output=True, timeout=90, check=False)
        except subprocess.TimeoutExpired:
            session.note("page error", "no end within 90 seconds")
    server.shutdown()
    server.server_close()
    return session


def main() -> int:
    """Run the specs and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args()
    found = importlib.util.find_spec("mosaic_widget")
    if found is None or found.origin is None:
        print("mosaic-widget is not installed", file=sys.stderr)
        return 2
    static, folder = Path(found.origin).parent / "static", options.folder.resolve()
    make_tables(folder / "data")
    total: collections.Counter[str] = collections.Counter()
    clean = count = 0
    with tempfile.TemporaryDirectory() as name:
        pictures = (options.pictures or Path(name)).resolve()
        pictures.mkdir(parents=True, exist_ok=True)
        for spec in sorted((folder / "specs").glob("*.json")):
            if options.only not in spec.stem:
                continue
            session = run(spec, folder, static, pictures / f"{spec.stem}.png")
            print(spec.stem, dict(session.found), *session.notes, sep="\n  ", flush=True)
            total += session.found
            count += 1
            clean += not session.notes
    print(f"{clean} of {count} specs clean:", dict(total))
    return 1 if total["DIFFERENT"] or total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
