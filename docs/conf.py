"""The site of these pages: ``sphinx-build -W docs build/site`` (docs/contributing.md says why Sphinx)."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from generated import write  # noqa: E402

from diagnose import __version__  # noqa: E402

write(HERE)

project = "diagnose"
author = copyright = "the authors of diagnose"
release = version = __version__
extensions = ["myst_parser"]
exclude_patterns = ["screenshots", "_build"]
root_doc = "index"
source_suffix = {".md": "markdown"}
myst_heading_anchors = 3
html_theme = "alabaster"
html_theme_options = {
    "description": "Why a PyTorch job failed of a device placement, and what to change",
    "page_width": "1240px",
    "body_max_width": "auto",
    "sidebar_width": "240px",
    "fixed_sidebar": True,
}
html_sidebars = {"**": ["about.html", "searchfield.html", "navigation.html"]}
html_show_sourcelink = False
smartquotes = False  # sentences of kb/ quote code
