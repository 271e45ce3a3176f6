# SPDX-License-Identifier: Apache-2.0
"""Files of an object store: a small server that speaks S3, and clients that users have."""

from __future__ import annotations

import datetime
import http.server
import re
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import pytest

import headrace as hr

fsspec = pytest.importorskip("fsspec")

BUCKET = "lake"
#: Keys of one answer to a listing: fewer than there are, so that clients ask for more.
PAGE = 2
TIME = datetime.datetime(2024, 2, 29, tzinfo=datetime.UTC)


class Store:
    """The objects of one bucket, and what was asked for them."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        #: (method, key, bytes of the answer)
        self.requests: list[tuple[str, str, int]] = []

    def sent(self, key: str) -> int:
        """Bytes of an object that were fetched so far."""
        return sum(size for method, of, size in self.requests if method == "GET" and of == key)

    def put(self, folder: Path) -> None:
        """Take the files of a folder."""
        for path in folder.rglob("*"):
            if path.is_file():
                self.objects[path.relative_to(folder).as_posix()] = path.read_bytes()


class Requests(http.server.BaseHTTPRequestHandler):
    """Answers HEAD, GET (also of ranges) and ListObjectsV2."""

    protocol_version = "HTTP/1.1"
    store: Store

    def log_message(self, *args: Any) -> None:
        """Say nothing."""

    def answer(self, code: int, body: bytes, **headers: str) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, code: int, word: str) -> None:
        body = f"<Error><Code>{word}</Code><Message>{word}</Message></Error>".encode()
        self.answer(code, body, Content_Type="application/xml")

    def do_HEAD(self) -> None:
        """Tell the size."""
        self.do_GET()

    def do_GET(self) -> None:
        """Give an object, a part of it, or a list."""
        url = urllib.parse.urlsplit(self.path)
        bucket, _, key = urllib.parse.unquote(url.path).lstrip("/").partition("/")
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        if bucket != BUCKET:
            return self.refuse(404, "NoSuchBucket")
        if not key:
            return self.list_keys(query)
        if key not in self.store.objects:
            self.store.requests.append((self.command, key, 0))
            return self.refuse(404, "NoSuchKey")
        body, code, more = self.store.objects[key], 200, {}
        whole = len(body)
        if found := re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", "")):
            first, last = found.groups()
            begin = int(first) if first else whole - int(last)
            end = min(int(last), whole - 1) if first and last else whole - 1
            body, code = body[begin : end + 1], 206
            more = {"Content_Range": f"bytes {begin}-{end}/{whole}"}
        self.store.requests.append((self.command, key, len(body)))
        return self.answer(
            code,
            body,
            ETag=f'"{hash(self.store.objects[key]) & 0xFFFF:x}"',
            Last_Modified=TIME.strftime("%a, %d %b %Y %H:%M:%S GMT"),
            Accept_Ranges="bytes",
            Content_Type="application/octet-stream",
            **more,
        )

    def list_keys(self, query: dict[str, str]) -> None:
        """A page of the names below a prefix, those behind the delimiter put together."""
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        after = query.get("continuation-token") or query.get("start-after", "")
        names: list[tuple[str, bool]] = []
        for key in sorted(self.store.objects):
            if not key.startswith(prefix):
                continue
            front, found, _ = key[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
            name = (prefix + front + delimiter, True) if found else (key, False)
            if name not in names and name[0] > after:
                names.append(name)
        page, rest = names[:PAGE], names[PAGE:]
        told = [
            f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>"
            if is_folder
            else f"<Contents><Key>{escape(name)}</Key>"
            f"<LastModified>{TIME.strftime('%Y-%m-%dT%H:%M:%S.000Z')}</LastModified>"
            f"<ETag>&quot;0&quot;</ETag><Size>{len(self.store.objects[name])}</Size>"
            "<StorageClass>STANDARD</StorageClass></Contents>"
            for name, is_folder in page
        ]
        if rest:
            told.append(f"<NextContinuationToken>{escape(page[-1][0])}</NextContinuationToken>")
        body = (
            '<?xml version="1.0" encoding="UTF-8"?>'
            '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Name>{BUCKET}</Name><Prefix>{escape(prefix)}</Prefix>"
            f"<KeyCount>{len(page)}</KeyCount><MaxKeys>{PAGE}</MaxKeys>"
            f"<IsTruncated>{'true' if rest else 'false'}</IsTruncated>"
            f"{''.join(told)}</ListBucketResult>"
        )
        self.answer(200, body.encode(), Content_Type="application/xml")


@pytest.fixture
def store() -> Iterator[tuple[Store, str]]:
    """Serve an empty bucket."""
    handler = type("Handler", (Requests,), {"store": Store()})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield handler.store, f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def s3fs_client(endpoint: str) -> tuple[str, dict[str, Any]]:
    """What users of s3fs write."""
    pytest.importorskip("s3fs")
    options = {
        "endpoint_url": endpoint,
        "key": "key",
        "secret": "secret",
        "client_kwargs": {"region_name": "us-east-1"},
        "skip_instance_cache": True,
    }
    return f"s3://{BUCKET}", options


def pyarrow_client(endpoint: str) -> tuple[str, dict[str, Any]]:
    """The client of Arrow behind fsspec."""
    pytest.importorskip("pyarrow")
    from fsspec.implementations.arrow import ArrowFSWrapper
    from pyarrow import fs

    class ArrowS3(ArrowFSWrapper):
        protocol = "arrow-s3"

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            return path.removeprefix("arrow-s3://").rstrip("/")  # the bucket comes first

        def __init__(self, endpoint: str, **options: Any) -> None:
            client = fs.S3FileSystem(
                access_key="key",
                secret_key="secret",
                region="us-east-1",
                scheme="http",
                endpoint_override=endpoint.removeprefix("http://"),
            )
            super().__init__(client, **options)

    fsspec.register_implementation("arrow-s3", ArrowS3, clobber=True)
    return f"arrow-s3://{BUCKET}", {"endpoint": endpoint, "skip_instance_cache": True}


CLIENTS = {"s3fs": s3fs_client, "pyarrow": pyarrow_client}
#: By format: reads, scans, and writes.
FORMATS: dict[str, tuple[Callable[..., Any], Callable[..., Any], str]] = {
    "csv": (hr.read_csv, hr.scan_csv, "to_csv"),
    "parquet": (hr.read_parquet, hr.scan_parquet, "to_parquet"),
}
EACH_CLIENT = pytest.mark.parametrize("client", CLIENTS)


@EACH_CLIENT
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("which", [0, 1], ids=["read", "scan"])
def test_files_patterns_and_folders_of_a_bucket(client, format, which, store, tmp_path):
    objects, endpoint = store
    url, options = CLIENTS[client](endpoint)
    read, write = FORMATS[format][which], FORMATS[format][2]
    for year, name, rows in (
        (2023, "a", [1, 2]),
        (2023, "b", [3]),
        (2024, "a", [4]),
        (2024, "c d", [5, 6]),
        (2025, "a", [7]),
    ):
        path = tmp_path / "trips" / f"year={year}" / f"{name}.{format}"
        path.parent.mkdir(parents=True, exist_ok=True)
        getattr(hr.DataFrame({"x": rows, "s": [str(x) for x in rows]}), write)(path)
    objects.put(tmp_path)
    objects.objects["trips/_SUCCESS"] = b""

    one = read(f"{url}/trips/year=2023/a.{format}", storage_options=options)
    assert one.to_dict() == {"x": [1, 2], "s": ["1", "2"]} or one.s.to_list() == [1, 2]
    whole = read(f"{url}/trips", storage_options=options, include_file_paths="file")
    assert whole.x.to_list() == [1, 2, 3, 4, 5, 6, 7]
    assert whole.year.to_list() == [2023, 2023, 2023, 2024, 2024, 2024, 2025]
    assert whole.file.to_list()[4] == f"{url}/trips/year=2024/c d.{format}"
    some = read(f"{url}/trips/year=*/a.{format}", storage_options=options)
    assert some.x.to_list() == [1, 2, 4, 7]
    assert some.year.to_list() == [2023, 2023, 2024, 2025]
    for missing in (f"{url}/trips/none.{format}", f"{url}/trips/none*"):
        with pytest.raises(FileNotFoundError) as raised:
            read(missing, storage_options=options)
        assert isinstance(raised.value, hr.InputError)
        assert raised.value.path == missing


@EACH_CLIENT
@pytest.mark.parametrize("which", [0, 1], ids=["read", "scan"])
def test_only_the_wanted_bytes_of_an_object_are_fetched(client, which, store, tmp_path):
    """Of one column in twenty, of one row group in ten; without options for it."""
    objects, endpoint = store
    url, options = CLIENTS[client](endpoint)
    draw = np.random.default_rng(1)
    columns = {f"c{k}": draw.normal(size=100_000) for k in range(20)}
    columns["n"] = np.arange(100_000)
    (tmp_path / "bucket").mkdir()
    path = tmp_path / "bucket" / "x.parquet"
    hr.DataFrame(columns).to_parquet(path, row_group_size=10_000)
    objects.put(tmp_path / "bucket")
    size = path.stat().st_size

    read = FORMATS["parquet"][which]
    frame = read(f"{url}/x.parquet", columns=["c3"], storage_options=options)
    assert frame.c3.to_list() == columns["c3"].tolist()
    column = objects.sent("x.parquet")
    assert size / 21 < column < size / 10
    if which == 1:
        scan = hr.scan_parquet(f"{url}/x.parquet", storage_options=options)
        few = scan[scan.n >= 99_000]
        assert few.c5.to_list() == columns["c5"][99_000:].tolist()
        assert objects.sent("x.parquet") - column < size / 10


@EACH_CLIENT
@pytest.mark.parametrize("codec", ["gzip", "none"])
def test_text_of_an_object_is_read_once(client, codec, store, tmp_path):
    import gzip

    objects, endpoint = store
    url, options = CLIENTS[client](endpoint)
    text = "n,x\n" + "".join(f"{k},{k / 7}\n" for k in range(200_000))
    packed = gzip.compress(text.encode(), 1) if codec == "gzip" else text.encode()
    objects.objects["deep/x.csv"] = packed
    frame = hr.read_csv(f"{url}/deep/x.csv", storage_options=options)
    assert len(frame) == 200_000
    assert frame.n.sum().item() == sum(range(200_000))
    assert len(packed) <= objects.sent("deep/x.csv") < 1.2 * len(packed)


@EACH_CLIENT
def test_an_object_that_breaks_off(client, store, tmp_path):
    """What the server no longer has is an error with the URL, and the next call works."""
    objects, endpoint = store
    url, options = CLIENTS[client](endpoint)
    hr.DataFrame({"x": range(1000)}).to_parquet(tmp_path / "x.parquet")
    objects.put(tmp_path)
    scan = hr.scan_parquet(f"{url}/x.parquet", storage_options=options)
    kept = objects.objects.pop("x.parquet")
    with pytest.raises((OSError, hr.Error)):
        scan.x.to_list()
    objects.objects["x.parquet"] = kept
    again = hr.scan_parquet(f"{url}/x.parquet", storage_options=options)
    assert again.x.sum().item() == sum(range(1000))
