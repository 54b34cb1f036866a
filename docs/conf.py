"""How Sphinx builds the site. Nothing comes from a network, neither at build nor at view time."""

import os
import re
import shutil
import sys
from importlib.metadata import files
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "src"))  # the sources of this checkout, whatever is installed
sys.path.insert(0, str(HERE))  # gallery_order
os.environ.setdefault("OMP_NUM_THREADS", "1")

import auctor  # noqa: E402

project = "auctor"
author = "The auctor developers"
copyright = author
release = version = auctor.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build", "gallery/*.py", "gallery/*.ipynb", "gallery/**/*.md5", "pictures"]
templates_path = ["_templates"]
nitpicky = True
# Names of other libraries: their inventories would have to come from a network.
nitpick_ignore_regex = [("py:.*", r"sklearn\..*")]
# Text in single backticks of a docstring is a piece of code or of a command.
default_role = "code"

# The measured pages are Markdown that GitHub shows too.
myst_heading_anchors = 3
myst_enable_extensions: list[str] = []
# README-like pages start below the first level or skip one.
suppress_warnings = ["myst.header"]

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# `Returns` of a named result has no type that could be linked.
numpydoc_validation_checks: set[str] = set()

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("auctor",),
    "prefer_full_module": set(),
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    # The page of times loads scripts from elsewhere.
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 1000,
    "abort_on_example_error": True,
    # Examples print what they show; the names of a display's fields below its picture say nothing.
    "capture_repr": (),
    "plot_gallery": "True",
    "thumbnail_size": (400, 280),
    "within_subsection_order": "gallery_order.GalleryOrder",
}

html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}
html_title = "auctor"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_search_scorer = str(HERE / "search_order.js")
html_show_sourcelink = False
html_theme_options: dict[str, Any] = {
    "logo": {"text": "auctor"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    # The tables of claims take the whole width.
    "secondary_sidebar_items": {"**": ["page-toc"], "papers/index": [], "papers/claims": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "back_to_top_button": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {
    "index": [],
    "start/*": ["sidebar-nav-bs"],
    "changelog": [],
    "papers/index": [],
    "papers/claims": [],
}
# MathJax is a file of the site: `_copy_mathjax` puts it there.
mathjax_path = "mathjax/tex-chtml.js"
mathjax3_config = {"chtml": {"displayAlign": "left", "displayIndent": "2em"}}


def _copy_mathjax(app: Any, error: Exception | None) -> None:
    """Copy MathJax and its fonts from the package `sphinx-mathjax-offline`: 2 of its 24 MB."""
    if error is not None or app.builder.format != "html":
        return
    target = Path(app.outdir) / "_static" / "mathjax"
    for file in files("sphinx-mathjax-offline") or ():
        _, _, inside = file.as_posix().partition("static/mathjax/")
        if inside == "tex-chtml.js" or inside.startswith("output/chtml/fonts/woff-v2/"):
            (target / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(file.locate()), target / inside)


def _title_links(app: Any, name: str, content: list[str]) -> None:
    """Links between Markdown pages have the other page's title, where GitHub shows its file."""
    content[0] = re.sub(r"\[(\w+\.md)\]\(\1\)", r"[](\1)", content[0])


def _page_links(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """A page that a docstring names as a file of the repository is a link here."""
    lines[:] = [re.sub(r"\bdocs/(\w+)\.md\b", r":doc:`/\1`", line) for line in lines]


def setup(app: Any) -> None:
    app.connect("build-finished", _copy_mathjax)
    app.connect("source-read", _title_links)
    app.connect("autodoc-process-docstring", _page_links)
