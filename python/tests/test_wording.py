# SPDX-License-Identifier: Apache-2.0
"""Messages, docstrings and documents use the field's words, and generated pages are up to date."""

import ast
import importlib.util
import io
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import headrace as hr

ROOT = Path(__file__).resolve().parents[2]

#: Phrases that plain technical English does not use, with what to write instead.
INSTEAD = {
    r"(?:is|are) wanted": "expected ...",
    r"no such word": "invalid value: name=...; expected ...",
    r"no such form": "invalid value: name=...; expected ...",
    r"there is no (?:key|label|column|mean)": "missing ...",
    r"texts": "strings",
    r"a text(?! (?:file|or|table))": "a string",
    r"beside": "next to, with, compared with",
    r"that there are(?: not)?": "existing, vacated, missing",
    r"(?:somebody|nobody)": "name the reader or use the passive",
    r"deferred": "lazy",
    r"looks(?: at)?(?! like| up)": "evaluates, reads",
    r"looked at": "evaluated, used",
    r"a look": "evaluation",
    r"so many": "n, a number of",
    r"one behind the other": "concatenated, stacked",
    r"behind the other": "after",
    r"each two": "each pair of",
    r"misfits?": "does not match",
    r"(?<!there )(?:is|are) no (?:array|column|file|frame|handle|integer|multiple)s?": "not a",
    r"(?<!there )(?:is|are) no (?:number|path|power|row|series|table|text|value)s?": "not a",
    r"has no meaning": "not supported",
    r"as many \w+ as \w+ are": "length mismatch: expected=..., got=...",
    r"do(?:es)? not go together": "cannot be combined",
    r"made[- ]up": "synthetic, generated",
    r"partners?": "match, matches",
    r"that it does not take": "unsupported",
    r"does not (?:have|hold) this": "cannot hold",
    r"speaks? (?:Arrow|DLPack)": "supports",
    r"a walk": "a pass",
    r"one walk": "one pass",
    r"a value a (?:row|column|group)": "one value per ...",
    r"(?:picked|asked) by (?:name|whoever)": "selected",
    r"whoever": "any caller, another process",
    r"in which they are (?:first )?seen": "order of first appearance",
    r"(?:least|greatest) value": "minimum, maximum",
    r"lets? go of": "release",
    r"as (?:it lies|they lie)": "in place",
    r"rows that are none": "not rows",
    r"goes wrong": "fails",
    r"the way (?:out|round)": "alternative",
    r"at the begin": "at the start",
    r"(?:one|value|row|line|file|bit) a (?:row|line|column|sample|key|worker|block)": "one per ...",
    r"is (?:an )?error that names": "raises",
}
WORDS = re.compile(rf"\b(?:{'|'.join(INSTEAD)})\b")

#: Calls of C++ that take the text of a message.
MESSAGE = re.compile(
    r"\b(?:throw_error|error_message|give_advice|refuse\w*|fail|leave_to_host|run_on_host)\b[^(;{]*\("
)


def faults(text: str) -> list[str]:
    """The phrases of a text that are on the list."""
    return WORDS.findall(re.sub(r"\s+", " ", text))


def docstring_nodes(tree: ast.AST) -> set[int]:
    """The identities of all docstring constants."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, owners) and node.body and isinstance(node.body[0], ast.Expr)
    }


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of the comments, docstrings and messages of a Python file."""
    source = path.read_text()
    tree = ast.parse(source)
    documented = docstring_nodes(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) in documented:
                yield (
                    node.lineno,
                    re.sub(r"``[^`]*``|`[^`]*`|^\s*(?:>>>|\.\.\.).*$", "", node.value),
                )
            elif " " in node.value.strip():
                yield node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def page_lines(page: Path) -> Iterator[tuple[int, str]]:
    """Line numbers and lines of a page without its code."""
    text = re.sub(
        r"^```.*?^```$", lambda m: "\n" * m[0].count("\n"), page.read_text(), flags=re.M | re.S
    )
    for number, line in enumerate(text.split("\n"), 1):
        yield number, re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)


def cpp_messages(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of the string literals in the calls of a C++ file that take a message."""
    source = path.read_text()
    for call in re.finditer(MESSAGE, source):
        depth, at, pieces = 1, call.end(), []
        while depth and at < len(source):
            if source[at] == '"':
                literal = re.compile(r'"((?:[^"\\\n]|\\.)*)"').match(source, at)
                assert literal, f"{path}: a literal does not end"
                pieces.append(literal[1])
                at = literal.end()
                continue
            depth += {"(": 1, ")": -1}.get(source[at], 0)
            at += 1
        yield source.count("\n", 0, call.start()) + 1, " | ".join(pieces)


def cpp_comments(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of the comments of a C++ file; neighbouring lines are one comment."""
    source = path.read_text()
    for comment in re.finditer(r"(?:^[ \t]*//[^\n]*\n)+|//[^\n]*", source, re.M):
        text = re.sub(r"^\s*//[/!<]*|`[^`]*`", "", comment[0], flags=re.M)
        yield source.count("\n", 0, comment.start()) + 1, text


def listed(found: Iterator[tuple[int, str]], path: Path) -> list[str]:
    """One line per fault."""
    return [
        f"{path.relative_to(ROOT)}:{n}: {', '.join(w)}" for n, text in found if (w := faults(text))
    ]


def test_the_list_finds_what_it_should() -> None:
    assert faults("str: a column of texts is wanted: dtype='int64'") == ["texts", "is wanted"]
    assert faults("expected a string column: dtype='int64'") == []


@pytest.mark.parametrize("folder", ["python/headrace", "bench", "examples", "tools"])
def test_python_prose(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    left = [fault for path in files for fault in listed(prose(path), path)]
    assert not left, "\n".join(left)


def test_pages() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md")]
    pages += (ROOT / "headrace").rglob("README.md")
    left = [fault for page in sorted(pages) for fault in listed(page_lines(page), page)]
    assert not left, "\n".join(left)


def test_messages_of_the_engine() -> None:
    files = [*(ROOT / "headrace").rglob("*.cpp"), *(ROOT / "headrace").rglob("*.h")]
    files += [*(ROOT / "headrace").rglob("*.cu"), *(ROOT / "python/bind").glob("*")]
    left = [f for path in sorted(files) if path.is_file() for f in listed(cpp_messages(path), path)]
    assert not left, "\n".join(left)


@pytest.mark.parametrize("folder", ["headrace", "python/bind", "bench", "examples"])
def test_comments_of_the_engine(folder: str) -> None:
    files = [f for ending in ("h", "cpp", "cu") for f in (ROOT / folder).rglob(f"*.{ending}")]
    assert files
    left = [fault for path in sorted(files) for fault in listed(cpp_comments(path), path)]
    assert not left, "\n".join(left)


# ---- generated pages -----------------------------------------------------------------------------
def tool(name: str) -> ModuleType:
    """A script of tools/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tools/{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_of_speed_shows_the_last_runs() -> None:
    speed = tool("draw_speed")
    assert speed.PICTURE.read_text() == speed.picture(), "run tools/draw_speed.py"


def test_the_api_pages_are_current() -> None:
    api = tool("make_api")
    old = {page.name: page.read_text() for page in api.FOLDER.glob("*.md")}
    new = api.pages()
    differing = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    assert not differing, "run python tools/make_api.py"


def test_public_names_have_docstrings() -> None:
    api = tool("make_api")
    entries = [e for _, objects in api.topics().values() for e in api.entries_of(objects)]
    assert not [entry.name for entry in entries if not entry.doc]


def test_the_coverage_page_is_current() -> None:
    """Whole with the pinned versions; with others, our names on it are those that we have."""
    coverage = tool("make_coverage")
    # In a process of its own: tests before this one import more of the libraries.
    code = "import make_coverage, sys; sys.stdout.write(make_coverage.page())"
    fresh = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tools"), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    new, old = fresh.stdout, coverage.PAGE.read_text()
    versions = re.compile(r"^Names of .*?\*There\*", re.M)
    if versions.search(new)[0] == versions.search(old)[0]:
        assert new == old, "run tools/make_coverage.py"
        return
    there, missing = (
        re.compile(rf"^\*\*{label}:\*\* (.*?)\n\n", re.M | re.S) for label in ("There", "Not yet")
    )
    known, lost = (
        set(re.findall(r"`(\w+)`", " ".join(found)))
        for found in (there.findall(old), missing.findall(new))
    )
    assert not (known & lost) - set(re.findall(r"`(\w+)`", " ".join(missing.findall(old))))


def test_what_the_coverage_page_names_instead_exists() -> None:
    owners = {"hr": hr, "DataFrame": hr.DataFrame, "Series": hr.Series, "Array": hr.Array}
    for names in tool("make_coverage").ELSEWHERE.values():
        for where in re.findall(r"`([\w.]+)", " ".join(names.values())):
            first, *rest = where.split(".")
            value = owners.get(first)
            for name in rest if value is not None else ():
                assert hasattr(value, name), where
                value = getattr(value, name)
