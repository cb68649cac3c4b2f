# SPDX-License-Identifier: MIT
"""The settings of Sphinx for ./dev docs; site.py lays out what it reads."""
from pathlib import Path

project = "Weir"
copyright = "2026 Weir authors"
root_doc = "index"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 6
# A block without a language is output of a terminal, or a drawing.
highlight_language = "none"
# Blocks show parts of files, which need not be whole programs.
suppress_warnings = ["misc.highlighting_failure"]
html_theme = "sphinx_rtd_theme"
html_theme_options = {"navigation_depth": 2, "collapse_navigation": True}
# Not `html_search_scorer`, which changes a file that the package takes from Debian's Sphinx.
html_static_path = [str(Path(__file__).with_name("static"))]
html_js_files = ["scorer.js"]
html_copy_source = False
html_show_sphinx = False
# The same pages from the same tree.
html_last_updated_fmt = None
