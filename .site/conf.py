"""Sphinx's settings for the reading site; build.py runs it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from formulas import setup_formulas
from myst_nb.core.render import NbElementRenderer

project = "Transformer Lessons"
html_title = project
language = "en"
extensions = ["myst_nb"]
exclude_patterns = []

nb_execution_mode = "off"  # the outputs are those that are committed
nb_ipywidgets_js = {}  # no widgets, so nothing to load for them
myst_enable_extensions = ["dollarmath", "amsmath", "attrs_block"]
myst_heading_anchors = 3
myst_heading_slug_func = "anchors.slug"

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_math_renderer = "mathml"
html_copy_source = False
html_use_index = False
html_show_sourcelink = False
html_show_copyright = False
html_show_search_summary = False  # it is fetched, and a page that is a file may not fetch
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def render_image(self, data, render=NbElementRenderer.render_image):
    """A picture in an output, with the alternative text that was saved with it."""
    nodes = render(self, data)
    nodes[0]["alt"] = data.output_metadata.get(data.mime_type, {}).get("alt", "")
    return nodes


NbElementRenderer.render_image = render_image


def name_levels(app, page, template, context, doctree):
    """The side bar's captions are headings: of which level, Furo does not say."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')


def setup(app):
    setup_formulas(app)
    app.connect("html-page-context", name_levels, priority=900)  # after Furo
