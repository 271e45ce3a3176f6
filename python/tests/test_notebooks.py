# SPDX-License-Identifier: Apache-2.0
"""Magics in IPython, and a notebook that runs in a kernel and becomes a page."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import headrace as hr

pytest.importorskip("IPython")


def in_shell(code: str, tmp_path: Path) -> str:
    """What a fresh process prints that has a `shell` with the extension."""
    head = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "headrace")
import headrace as hr
ns = shell.user_ns
ns["hr"] = hr
"""
    done = subprocess.run(
        [sys.executable, "-c", head + code],
        capture_output=True,
        text=True,
        env=os.environ | {"IPYTHONDIR": str(tmp_path)},
    )
    return done.stdout + done.stderr


def test_sql_over_the_frames_of_the_notebook(tmp_path):
    said = in_shell(
        """
ns["trips"] = hr.DataFrame({"k": ["a", "b", "a"], "x": [1, 2, 4]})
found = shell.run_line_magic("sql", "select sum(x) as s from trips")
print(found.to_dict())
print(shell.run_cell_magic("sql", "sums", "select k, sum(x) as s from trips group by k order by k"))
print(ns["sums"].to_dict())
shell.run_cell("%sql select * from nonsense")
print(shell.run_line_magic("sql", "select max(x) as m from trips").to_dict())
""",
        tmp_path,
    )
    assert "{'s': [7]}" in said and "None\\n{'k': ['a', 'b'], 's': [5, 2]}" in said.replace(
        "\n", "\\n"
    )
    assert "nonsense" in said and "{'m': [4]}" in said


def test_profiles_of_cells(tmp_path):
    said = in_shell(
        """
shell.run_cell_magic("hrprofile", "steps", "made = hr.asarray([1.0, 2.0]).sum().item()\\nmade + 1")
print("made", ns["made"], "steps", len(ns["steps"].steps))
shell.run_line_magic("hrprofile", "hr.asarray([3.0]).sum().item()")
shell.run_cell_magic("hrprofile", "", "1 / 0")
print("next", shell.run_cell("1 + 1").result)
""",
        tmp_path,
    )
    assert "made 3.0 steps 1" in said and "4.0" in said and said.count("operator") == 2
    assert "ZeroDivisionError" in said and "next 2" in said


def test_memory(tmp_path):
    said = in_shell(
        """
shell.run_line_magic("memory", "")
shell.run_line_magic("memory", "2GB")
print("limit", hr.memory.limit())
shell.run_line_magic("memory", "none")
print("limit", hr.memory.limit())
shell.run_cell("%memory much")
print("limit", hr.memory.limit())
""",
        tmp_path,
    )
    assert "limit 2000000000" in said and said.count("limit None") == 2 and "much" in said


CELLS = [
    "%load_ext headrace\nimport numpy as np, headrace as hr, time\nfrom headrace import _core",
    'df = hr.DataFrame({"k": ["a", "b", "a"], "x": [1, 2, 4]})\ndf',
    "%%sql\nselect k, sum(x) as total from df group by k order by k",
    "%%hrprofile\ndf.x.sum().item()",
    "%memory",
    'df.plot.bar("k", "x", title="Bars of a notebook")',
    "df.x.plot(title='A line')",
    # Work with reports, as of the engine, for longer than a line waits.
    "from headrace.display import progress\nprogress._WAIT, progress._SILENCE = 0.2, 0.5\n"
    "watch = progress.Watch()\n"
    "for k in range(8):\n    watch(k, 8); time.sleep(0.1)\n"
    "watch._thread.join()",
]


@pytest.mark.slow
def test_a_notebook_runs_and_becomes_a_page(tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    kernel = tmp_path / "kernels/ours"
    kernel.mkdir(parents=True)
    line = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": line, "display_name": "ours"}))
    paths = [str(tmp_path), *filter(None, [os.environ.get("JUPYTER_PATH")])]
    monkeypatch.setenv("JUPYTER_PATH", os.pathsep.join(paths))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    seen = []

    class Client(nbclient.NotebookClient):
        """Keeps the lines of progress, which are gone at the end."""

        def process_message(self, message, cell, cell_index):
            content = message["content"]
            if message["msg_type"] in ("display_data", "update_display_data"):
                seen.append(content["data"].get("text/plain", ""))
            return super().process_message(message, cell, cell_index)

    Client(book, timeout=120, kernel_name="ours").execute()
    shown = [[each.get("data", {}) for each in cell.outputs] for cell in book.cells]
    assert "total" in shown[2][0]["text/html"] and "<svg" in shown[5][0]["text/html"]
    assert "operator" in shown[3][-1]["text/html"] and shown[4][0]
    assert any("in memory" in line and "interrupt the kernel" in line for line in seen)
    assert shown[7][-1].get("text/plain", "") == ""  # the line has gone

    exporter = pytest.importorskip("nbconvert").HTMLExporter()
    exporter.mathjax_url = exporter.require_js_url = exporter.jquery_url = ""
    page = tmp_path / "page.html"
    page.write_text(exporter.from_notebook_node(book)[0])
    in_browser(page)


def in_browser(page: Path) -> None:
    """The page shows the charts, and asks for nothing."""
    import shutil

    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium here")
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page()
        asked, errors = [], []
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto(page.as_uri())
        assert tab.locator("svg text", has_text="Bars of a notebook").is_visible()
        assert tab.locator("svg rect").count() >= 3
        assert not [url for url in asked if url.startswith("http")]
        browser.close()


def test_the_extension_loads_little():
    """The import machinery of IPython asks for the function by `hasattr`."""
    assert hasattr(hr, "load_ipython_extension")
    assert "load_ipython_extension" not in dir(hr)
