# SPDX-License-Identifier: Apache-2.0
"""Logs against regular expressions of Python, formats line by line, rejects."""

from __future__ import annotations

import datetime
import gzip
import io
import random
import re

import pytest

import headrace as hr

COMBINED = re.compile(
    r'(\S+) (\S+) (.+?) \[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d+) (\d+|-) '
    r'"((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"'
)
NAMES = ["host", "ident", "user", "time", "request", "status", "bytes", "referrer", "agent"]
UTC = datetime.UTC


def line_of(draw: random.Random) -> str:
    """Draw a combined line, some of them broken."""
    text = draw.choice(["/", "/a b?c=" + "d" * draw.randint(0, 40), r"/\"q\"", "é", r"end\\"])
    when = datetime.datetime(2024, 1, 1, tzinfo=UTC) + datetime.timedelta(
        seconds=draw.randint(0, 10**8)
    )
    zone = draw.choice(["+0000", "-0130", "+0545"])
    size = draw.choice(["-", str(draw.randint(0, 10**12))])
    line = (
        f"{draw.choice(['1.2.3.4', '::1', 'a.host.name'])} - {draw.choice(['-', 'ann', 'o b'])} "
        f'[{when:%d/%b/%Y:%H:%M:%S} {zone}] "GET {text} HTTP/1.1" {draw.randint(100, 599)} {size} '
        f'"{draw.choice(["-", "http://x/" + text])}" "{draw.choice(["-", "Mozilla/5.0 (X)"])}"'
    )
    if draw.random() < 0.1:
        cut = draw.randrange(len(line))
        line = line[:cut] + draw.choice(["", "x", '"', "\x00"]) + line[cut + 1 :]
    return line


def instant(text: str) -> datetime.datetime:
    """Read the time of a line."""
    if not re.fullmatch(r"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}", text, re.ASCII):
        raise ValueError
    return datetime.datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z").astimezone(UTC)


def expected(lines: list[str]) -> tuple[list[tuple], list[int]]:
    """Give the rows and the numbers of bad lines."""
    rows, bad = [], []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        match = COMBINED.fullmatch(line)
        try:
            if not match:
                raise ValueError
            cells = [None if cell == "-" else cell for cell in match.groups()]
            cells[3] = instant(match[4])
            cells[5] = int(match[6])
            cells[6] = None if match[7] == "-" else int(match[7])
            rows.append(tuple(cells))
        except ValueError:
            bad.append(number)
    return rows, bad


def rows_of(frame: hr.DataFrame) -> list[tuple]:
    """Give the rows as tuples of Python's values."""
    return list(zip(*(frame[name].to_list() for name in frame.columns), strict=True))


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 9000])
@pytest.mark.parametrize("threads", [1, 4])
def test_combined_lines_are_those_of_a_regular_expression(count, threads, tmp_path):
    draw = random.Random(count)
    lines = [line_of(draw) for _ in range(count)]
    lines[5:5] = [""] if count > 5 else []
    text = "\n".join(lines) + "\n" * (count % 2)
    rows, bad = expected(lines)
    (tmp_path / "x.log").write_text(text)
    with hr.threads(threads):
        for source in (tmp_path / "x.log", text.encode(), io.BytesIO(text.encode())):
            log = hr.read_log(source)
            assert list(log.columns) == NAMES
            assert rows_of(log) == rows
            assert log.rejects.line.to_list() == bad
    assert len(rows) + len(bad) == len([line for line in lines if line])


def test_lines_across_the_borders_of_pieces(tmp_path):
    """Lines of any length meet the borders at each mebibyte."""
    draw = random.Random(1)
    line = '1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /{} HTTP/1.1" 200 {} "-" "x"\n'
    lengths = [draw.choice([1, 30, 500, 70_000, 1_500_000]) for _ in range(60)]
    text = "".join(line.format("a" * size, k) for k, size in enumerate(lengths))
    (tmp_path / "x.log").write_text(text)
    log = hr.read_log(tmp_path / "x.log")
    assert log.bytes.to_list() == list(range(60))
    assert log.request.str.len().to_list() == [size + 14 for size in lengths]
    for rows in (0, 1, 7, 59, 60, 99):
        assert hr.read_log(tmp_path / "x.log", num_rows=rows).bytes.to_list() == list(
            range(min(rows, 60))
        )
    assert hr.read_log(gzip.compress(text.encode()), columns=["status", "bytes"]).to_dict() == {
        "status": [200] * 60,
        "bytes": list(range(60)),
    }


LINES = {
    "common": (
        '1.2.3.4 - ann [17/May/2015:10:05:03 +0200] "GET /" 304 -',
        {"host": "1.2.3.4", "user": "ann", "status": 304, "bytes": None},
    ),
    "nginx_error": (
        "2015/05/17 10:05:03 [error] 12#34: *90 open() failed, client: 1.2.3.4",
        {"level": "error", "pid": 12, "tid": 34, "connection": 90, "time": "2015-05-17 10:05:03"},
    ),
    "apache_error": (
        "[Fri Sep 09 10:42:29.902022 2011] [core:error] [pid 3:tid 4] [client 7.1.9.1:1] no file",
        {"module": "core", "level": "error", "pid": 3, "tid": 4, "client": "7.1.9.1:1"},
    ),
    "syslog": (
        "<34>Oct 11 22:14:15 mymachine su[230]: failed for lonvick",
        {"priority": 34, "program": "su", "pid": 230, "message": "failed for lonvick"},
    ),
    "syslog5424": (
        '<165>1 2003-10-11T22:14:15.003-02:00 m app 12 ID47 [e@1 a="b]"] text',
        {"priority": 165, "program": "app", "pid": "12", "data": '[e@1 a="b]"]', "message": "text"},
    ),
    "cri": (
        "2016-10-06T00:17:09.669794202Z stdout F log content",
        {"stream": "stdout", "tag": "F", "message": "log content"},
    ),
    "cef": (
        r"CEF:0|Vendor|Product|1.0|100|a \| b|10|src=1.2.3.4 dst=x",
        {"vendor": "Vendor", "name": r"a \| b", "severity": "10", "extension": "src=1.2.3.4 dst=x"},
    ),
}


@pytest.mark.parametrize("format", LINES)
def test_formats(format):
    line, cells = LINES[format]
    log = hr.read_log(f"{line}\r\nno such line\n{line}\n".encode(), format)
    assert log.rejects.line.to_list() == [2]
    assert log.rejects.text.to_list() == ["no such line"]
    for name, cell in cells.items():
        got = log[name].to_list()
        assert [str(x) for x in got] == [str(cell)] * 2, name
    with pytest.raises(hr.InputError, match="does not have the format") as raised:
        hr.read_log(f"{line}\nno such line\n".encode(), format, on_bad="error")
    assert raised.value.line == 2


def test_times():
    log = hr.read_log(f"{LINES['syslog5424'][0]}\n".encode(), "syslog5424")
    assert str(log.time.dtype) == "datetime64[us, UTC]"
    assert log.time.to_list() == [datetime.datetime(2003, 10, 12, 0, 14, 15, 3000, tzinfo=UTC)]
    log = hr.read_log(f"{LINES['apache_error'][0]}\n".encode(), "apache_error")
    assert str(log.time.dtype) == "datetime64[us]"
    assert log.time.to_list() == [datetime.datetime(2011, 9, 9, 10, 42, 29, 902022)]


def test_grok():
    text = b"took 12 ms at 3.5e\ntook x\n\nwell, took 7 ms at .5 and more\n"
    log = hr.read_log(text, pattern="took %{INT:ms:int} ms at %{NUMBER:rate:float}")
    assert log.to_dict() == {"ms": [12, 7], "rate": [3.5, 0.5]}
    assert log.rejects.line.to_list() == [2]
    log = hr.read_log(
        b"2024-01-02 03:04:05,678 WARN a=1\n2024-01-02T03:04:05+01:00 INFO\n",
        pattern=r"%{TIMESTAMP_ISO8601:at:time} %{LOGLEVEL:level}(?: (?<rest>.*))?",
    )
    assert log.level.to_list() == ["WARN", "INFO"]
    assert log["rest"].to_list() == ["a=1", None]
    assert [each.hour for each in log["at"].to_list()] == [3, 2]
    line = f"{LINES['common'][0]}\n".replace("GET /", "GET / HTTP/1.1").encode()
    log = hr.read_log(line, pattern="%{COMMONAPACHELOG}")
    assert (log.verb.to_list(), log.auth.to_list()) == (["GET"], ["ann"])


def test_wrong_patterns_and_formats():
    for pattern, what in (
        ("%{NOSUCH:x}", "unknown pattern: name='NOSUCH'"),
        ("%{INT:x:decimal}", "unknown type"),
        ("%{INT:x", "has no '}'"),
        ("plain", "no field"),
        ("%{INT:x} %{INT:x}", "two fields of one name"),
        ("(?<x>a(?=b))", "invalid pattern"),
    ):
        with pytest.raises(hr.InvalidArgumentError, match=re.escape(what)):
            hr.read_log(b"x\n", pattern=pattern)
    with pytest.raises(hr.InvalidArgumentError, match=r"unknown format: format='iis'.*'combined'"):
        hr.read_log(b"x\n", "iis")
    with pytest.raises(hr.ColumnNotFoundError, match="agnet"):
        hr.read_log(b"", columns=["agnet"])
    with pytest.raises(hr.InvalidArgumentError, match="num_rows=-1"):
        hr.read_log(b"", num_rows=-1)
    with pytest.raises(FileNotFoundError):
        hr.read_log("no/such.log")
    assert hr.read_log(b"").to_dict() == {name: [] for name in NAMES}


def test_values_that_are_none_of_their_dtype():
    line = '1.2.3.4 - - [32/May/2015:10:05:03 +0000] "GET /" 200 1 "-" "-"\n'
    bad = hr.read_log((line + line.replace("32/", "31/").replace("200", "2e2")).encode()).rejects
    assert bad.column.to_list() == [4, 6]
    assert bad.reason.to_list() == ["a value does not match its dtype"] * 2


def test_text_that_is_not_utf8():
    line = b'1.2.3.4 - - [31/May/2015:10:05:03 +0000] "GET /\xff" 200 1 "-" "-"\n'
    log = hr.read_log(line + line.replace(b"\xff", b"a"))
    assert log.request.to_list() == ["GET /a"]
    assert log.rejects.reason.to_list() == ["the line is not UTF-8"]


def test_several_files(tmp_path):
    line = LINES["common"][0]
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=2").mkdir()
    (tmp_path / "day=1" / "a.log").write_text(f"{line}\nx\n")
    (tmp_path / "day=2" / "b.log.gz").write_bytes(gzip.compress(f"{line}\n{line}\n".encode()))
    log = hr.read_log(tmp_path, "common", include_file_paths="file")
    assert log.day.to_list() == [1, 2, 2]
    assert [path.rsplit("/", 1)[1] for path in log.file.to_list()] == [
        "a.log",
        "b.log.gz",
        "b.log.gz",
    ]
    assert log.rejects.to_dict()["line"] == [2]


def test_a_limit_holds(tmp_path):
    draw = random.Random(2)
    lines = [line_of(draw) for _ in range(20_000)] * 10
    (tmp_path / "x.log").write_text("\n".join(lines))
    whole = hr.read_log(tmp_path / "x.log")
    wanted = rows_of(whole)
    del whole
    hr.memory.trim()
    with hr.memory.limit(hr.memory.stats().used_bytes + (18 << 20)):
        log = hr.read_log(tmp_path / "x.log")
        assert len(log) == len(wanted)
    assert rows_of(log) == wanted
