# SPDX-License-Identifier: Apache-2.0
"""The pages that the documentation site adds: C++ from headers, benchmarks from results, links."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import draw_results  # noqa: E402
import make_cpp_api  # noqa: E402
import make_site  # noqa: E402

HEADER = """
/// A table.
/// Of columns.
class HR_API Frame {
 public:
  /// No columns.
  Frame() = default;
  int hidden_without_comment() const;
  /// How many.
  int64_t num_rows() const { return 1; }

 private:
  /// Not shown.
  int secret_;
};

/// Options.
struct Options {
  int n = 1;  ///< how many
};

/// Joins them.
HR_API Frame join(const Frame& a,
                  const Options& options = {});
"""


def test_declarations_of_a_header():
    found = {entry.code: entry for entry in make_cpp_api.entries(HEADER.splitlines())}
    assert (
        next(iter(found)) == "class Frame" and found["class Frame"].doc == "A table.\nOf columns."
    )
    assert found["  Frame() = default"].owner == "Frame"
    assert found["  int64_t num_rows() const"].doc == "How many."
    assert any("int n = 1;  ///< how many" in code for code in found)
    joined = next(code for code in found if "join" in code)
    assert joined.startswith("Frame join(const Frame& a,") and joined.endswith("= {})")
    assert not any("secret" in code or "hidden" in code for code in found)


def test_every_room_with_public_headers_has_a_page():
    pages = make_cpp_api.pages()
    assert {"frame", "signal", "memory", "io", "graph", "learn"} <= set(pages)
    assert "Frame select(const Names& names) const" in pages["frame"]
    assert all(text.count("```") % 2 == 0 for text in pages.values())


def test_links_that_leave_the_site_are_names():
    page = ROOT / "docs/guide/x.md"
    text = make_site.for_site(
        page,
        "[licence](../../LICENSE), [frames](../reference/frame.md#a), [web](https://a.b), "
        "![p](../pictures/speed.svg), [`a.h`](../../headrace/data/column.h)\n"
        "```output\n[x](../../LICENSE)\n```\n",
    )
    assert text == (
        "licence (`LICENSE`), [frames](../reference/frame.md#a), [web](https://a.b), "
        "![p](../pictures/speed.svg), `a.h` (`headrace/data/column.h`)\n"
        "```text\n[x](../../LICENSE)\n```\n"
    )


def test_benchmarks_show_what_was_lost(tmp_path):
    names = draw_results.write(tmp_path / "benchmarks")
    assert {"tpch-cpu", "groups-cpu", "ecg-cpu"} <= set(names)
    for name in names:
        page = (tmp_path / f"benchmarks/{name}.md").read_text()
        ElementTree.parse(tmp_path / f"benchmarks/pictures/{name}.svg")
        ratios = draw_results.ratios(
            draw_results.last_steps(draw_results.RESULTS / f"{name}.jsonl")[1]
        )
        lost = sum(ratio < 1 for by in ratios.values() for ratio in by.values())
        assert f"{lost} of them lost" in page and page.count("\n| ") >= len(ratios)


@pytest.mark.slow
def test_the_site_is_built_without_warnings_and_found_without_a_network(tmp_path):
    pytest.importorskip("furo")
    pytest.importorskip("myst_parser")
    tool = ROOT / "tools/make_site.py"
    done = subprocess.run([sys.executable, tool, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    sync_api = pytest.importorskip("playwright.sync_api")
    from shutil import which

    chromium = which("chromium") or which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium here")
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page()
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto((tmp_path / "html/search.html").as_uri() + "?q=spilled")
        tab.wait_for_selector("#search-results li")
        assert tab.locator("#search-results li", has_text="memory").count()
        assert not [url for url in asked if url.startswith("http")]
        browser.close()
