# SPDX-License-Identifier: Apache-2.0
"""The documentation site, for Sphinx; `./dev docs` builds it."""

project = "Headrace"
copyright = "the Headrace authors"
extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "Headrace"
html_copy_source = False
html_show_sourcelink = False
templates_path: list[str] = []
