"""Settings of the documentation: ``make docs`` builds it, offline and without warnings."""

import os
import sys
import warnings
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))
os.environ["PYTHONWARNINGS"] = "error"  # of examples that run in processes of their own
warnings.filterwarnings("error", module="multikernel")

project = "multikernel"
author = "the multikernel authors"
copyright = author
version = release = "0.1"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "api_pages",
    "code_links",
    "mathml",
    "news",
    "references",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_ext", "_templates"]
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r"(sklearn|numpy|scipy|pandas|matplotlib)\..*")]
suppress_warnings = ["config.cache", "ref.citation"]  # not every reference is on a page

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # types are in the docstrings
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "multikernel"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc", "sg_download_links"],
}
html_sidebars = {"tutorial": [], "which-model": [], "notation": [], "extend": [], "changelog": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "order_of_examples.key",
    "backreferences_dir": "auto_examples/backreferences",
    "doc_module": ("multikernel",),
    "reference_url": {"multikernel": None},
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 3600,
    "write_computation_times": False,
    "download_all_examples": False,
    "capture_repr": ("_repr_html_", "__repr__"),
    "ignore_repr_types": r"matplotlib|multikernel\.displays",
    "image_scrapers": ("matplotlib",),
    "parallel": int(os.environ.get("JOBS", "2")),
}
