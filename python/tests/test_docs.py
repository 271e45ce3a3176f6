# SPDX-License-Identifier: Apache-2.0
"""Runs every Python block of README.md and docs/: the blocks of a page share one namespace.

A block of `>>>` lines is a doctest. A block followed by one marked `output` must print that text.
"""

import contextlib
import doctest
import gc
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    page
    for page in [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
    if "```python\n" in page.read_text()
]
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n+```output\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
DOCTEST_FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def run_doctest(code: str, namespace: dict[str, object], page: str, line: int) -> None:
    """Run a block of `>>>` lines and keep its names for the blocks after it."""
    examples = doctest.DocTestParser().get_doctest(code, namespace, page, page, line)
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=DOCTEST_FLAGS).run(
        examples, out=said.append, clear_globs=False
    )
    namespace.update(examples.globs)
    assert not result.failed, "".join(said)


def parameter(page: Path) -> object:
    """A page as a case; that of the memory shows limits."""
    name = str(page.relative_to(ROOT))
    marks = [pytest.mark.pool] if name == "docs/reference/memory.md" else []
    return pytest.param(page, id=name, marks=marks)


@pytest.mark.parametrize("page", [parameter(page) for page in PAGES])
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of a page runs in a new folder, in order."""
    monkeypatch.chdir(tmp_path)
    gc.collect()  # pages show who holds memory: not what other tests left in cycles
    namespace: dict[str, object] = {"__name__": "__main__"}
    text = page.read_text()
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 1
        if ">>> " in block["code"]:
            run_doctest(block["code"], namespace, page.name, line)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            # The line offset makes a traceback point into the page.
            exec(compile("\n" * line + block["code"], str(page), "exec"), namespace)
        if block["output"] is not None:
            assert printed.getvalue().split() == block["output"].split()
