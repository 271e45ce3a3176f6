# SPDX-License-Identifier: Apache-2.0
"""IP addresses against Python's `ipaddress`, and templates of messages by Drain."""

import ipaddress
import random

import numpy as np
import pytest

import headrace as hr

ADDRESSES = [
    "0.0.0.0",
    "255.255.255.255",
    "256.0.0.1",
    "1.2.3",
    "1.2.3.4.5",
    "01.2.3.4",
    "1.2.3.04",
    "1..2.3",
    "1.2.3.4.",
    "10.0.0.1",
    "::",
    "::1",
    "1::",
    "1::8",
    "1:2:3:4:5:6:7:8",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7::",
    "::2:3:4:5:6:7:8",
    "1::3::5",
    ":1",
    "1:",
    "::ffff:1.2.3.4",
    "1:2:3:4:5:6:1.2.3.4",
    "1:2:3:4:5:6:7:1.2.3.4",
    "1::5:1.2.3.4",
    "::1.2.3.256",
    "12345::",
    "g::",
    "fe80::1",
    "FE80::A",
    "1:2:3:4:5::1.2.3.4",
    "1:2:3:4:5:6::1.2.3.4",
    "1.2.3.4::",
    "::1.2.3.4:5",
    ":::",
    ":::1",
    "x",
]


def is_valid(kind: type, text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def random_addresses(count: int) -> list[str]:
    choose = random.Random(3)
    parts = ["0", "1", "ab", "FFFF", "12345", ":", "::", ".", "1.2.3.4", "256", "99", "g", "a:b:c"]
    made = ["".join(choose.choices(parts, k=choose.randrange(1, 9))) for _ in range(count)]
    for _ in range(count):
        groups = [f"{choose.randrange(1 << 16):x}" for _ in range(choose.randrange(1, 9))]
        if choose.random() < 0.7:
            groups.insert(choose.randrange(len(groups) + 1), "")
        made.append(":".join(groups))
        made.append(".".join(str(choose.randrange(300)) for _ in range(choose.randrange(3, 6))))
    return made


def test_addresses_are_those_of_python():
    texts = [*ADDRESSES, *random_addresses(20_000), "1.2.3.4\n", "\n1.2.3.4", "1.2.3.4 ", ""]
    series = hr.Series([*texts, None])
    v4 = [is_valid(ipaddress.IPv4Address, text) for text in texts]
    v6 = [is_valid(ipaddress.IPv6Address, text) for text in texts]
    assert sum(v4) > 1000 and sum(v6) > 1000
    assert series.str.is_ipv4().to_list() == [*v4, False]
    wrong = [
        text
        for text, ours, theirs in zip(texts, series.str.is_ipv6().to_list(), v6, strict=False)
        if ours != theirs
    ]
    assert not wrong, wrong[:20]
    numbers = [
        int(ipaddress.IPv4Address(text)) if ok else None for text, ok in zip(texts, v4, strict=True)
    ]
    assert series.str.ip_to_int().to_list() == [*numbers, None]


@pytest.mark.parametrize(
    "network", ["10.0.0.0/8", "0.0.0.0/0", "1.2.3.4", "10.9.8.7/12", "1.2.3.0/31"]
)
def test_networks_are_those_of_python(network):
    texts = [text for text in random_addresses(3000) if is_valid(ipaddress.IPv4Address, text)]
    texts += [
        "10.0.0.0",
        "10.255.255.255",
        "11.0.0.0",
        "9.255.255.255",
        "1.2.3.0",
        "1.2.3.1",
        "1.2.3.2",
    ]
    wanted = ipaddress.ip_network(network, strict=False)
    expected = [ipaddress.ip_address(text) in wanted for text in texts]
    frame = hr.DataFrame({"ip": [*texts, None, "x"], "n": np.arange(len(texts) + 2)})
    assert frame.ip.str.in_subnet(network).to_list() == [*expected, False, False]
    assert len(frame[frame.ip.str.in_subnet(network)]) == sum(expected)


def test_networks_that_are_none():
    series = hr.Series(["1.2.3.4"], name="ip")
    with pytest.raises(hr.InvalidArgumentError, match=r"in_subnet: not a network: network='10/99'"):
        series.str.in_subnet("10/99")
    with pytest.raises(hr.UnsupportedError, match=r"IPv6 are not supported: network='fe80::/10'"):
        series.str.in_subnet("fe80::/10")
    assert series.str.ip_to_int().name == "ip" and series.str.in_subnet("1.0.0.0/8").to_list() == [
        True
    ]


def test_addresses_of_a_log():
    line = b'%s - - [17/May/2015:10:05:03 +0200] "GET / HTTP/1.1" 200 512 "-" "curl/8"\n'
    log = hr.read_log(b"".join(line % host for host in (b"10.0.0.9", b"8.8.8.8", b"10.1.1.1")))
    assert log[log.host.str.in_subnet("10.0.0.0/8")].host.to_list() == ["10.0.0.9", "10.1.1.1"]


# ---- templates -----------------------------------------------------------------------------------
def naive(messages, depth=4, similarity=0.5, most=100):
    """Drain as the paper has it, by paths instead of a tree: codes and templates."""
    groups, leaves, codes, children = [], {}, [], {}

    def searched(words):
        path = (len(words),)
        for word in words[: depth - 3]:
            known = children.get(path, [])
            path += (word if word in known else "<*>",)
        return path

    def inserted(words):
        path = (len(words),)
        for word in words[: depth - 3]:
            known = children.setdefault(path, [])
            room = most if "<*>" in known else most - 1
            if word not in known and (any(c.isdigit() for c in word) or len(known) >= room):
                word = "<*>"
            if word not in known:
                known.append(word)
            path += (word,)
        return path

    for message in messages:
        words = message.split()
        scores = []
        for number in leaves.get(searched(words), []):
            pairs = list(zip(groups[number], words, strict=True))
            same = sum(a == b != "<*>" for a, b in pairs)
            scores.append((same / len(words), groups[number].count("<*>"), -number))
        best = max(scores, default=(-1, 0, 0))
        number = -best[2]
        if best[0] >= similarity:
            pairs = zip(groups[number], words, strict=True)
            groups[number] = [a if a == b else "<*>" for a, b in pairs]
        else:
            number = len(groups)
            groups.append(words)
            leaves.setdefault(inserted(words), []).append(number)
        codes.append(number)
    return codes, [" ".join(words) for words in groups]


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 3000])
@pytest.mark.parametrize("depth", [3, 4, 6])
def test_templates_are_those_of_drain(rows, depth):
    choose = random.Random(rows)
    words = ["open", "close", "port", "user", "from", "7", "x9", "failed", "ok", "<*>"]
    messages = [" ".join(choose.choices(words, k=choose.randrange(1, 6))) for _ in range(rows)]
    messages = list(dict.fromkeys(messages))
    for similarity in (0.3, 0.5, 1.0):
        found = hr.text.templates(messages, depth=depth, similarity=similarity, masks=())
        codes, texts = naive(messages, depth, similarity)
        assert found.codes.to_list() == codes and found.table.template.to_list() == texts
        assert found.table["count"].to_list() == [codes.count(k) for k in range(len(texts))]


def test_templates_of_many_children():
    messages = [f"{chr(97 + k // 26)}{chr(97 + k % 26)} end" for k in range(300)]
    found = hr.text.templates(messages, max_children=5, similarity=0.4)
    codes, texts = naive(messages, most=5, similarity=0.4)
    assert found.codes.to_list() == codes and found.table.template.to_list() == texts
    assert len(texts) == 5 and "<*> end" in texts


def test_masks_repeats_nulls_and_threads():
    messages = ["from 10.0.0.1:80 at 0xFF", None, "from 10.0.0.2 at 0x1", "other", None] * 40_000
    made = []
    for threads in (1, 2, 4):
        with hr.threads(threads):
            found = hr.text.templates(hr.Series(messages))
            made.append((found.codes.to_list(), found.table.to_dict()))
    assert made[0] == made[1] == made[2]
    assert made[0][0][:5] == [0, None, 0, 1, None]
    assert made[0][1] == {"template": ["from <*> at <*>", "other"], "count": [80_000, 40_000]}


def test_wrong_options_are_named():
    for options, message in (
        ({"depth": 2}, "templates: too few levels: depth=2"),
        ({"similarity": 1.5}, "templates: no share: similarity=1.5"),
    ):
        with pytest.raises(hr.InvalidArgumentError, match=message):
            hr.text.templates(["a"], **options)
    with pytest.raises(hr.TypeMismatchError, match="templates: expected strings: dtype='int64'"):
        hr.text.templates([1, 2])
    assert hr.text.templates(["a"]).table.template.to_list() == ["a"]
