"""Sphinx's settings for the reading site; build.py runs it."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import repository
from docutils import nodes
from formulas import setup_formulas
from myst_nb.core.render import NbElementRenderer
from myst_nb.sphinx_ import HideCodeCellNode, depart_HideCellInput

project = "Transformer Lessons"
html_title = project
language = "en"
extensions = ["myst_nb"]
exclude_patterns = ["beside"]

nb_execution_mode = "off"  # the outputs are those that are committed
nb_ipywidgets_js = {}  # no widgets, so nothing to load for them
myst_enable_extensions = ["dollarmath", "amsmath", "attrs_block"]
myst_heading_anchors = 3
myst_heading_slug_func = "anchors.slug"

html_theme = "furo"
html_favicon = html_logo = "static/favicon.svg"
templates_path = ["templates"]
html_context = {"home": repository.home()}
html_static_path = ["static", "../transformer_lessons/exercises/questions/answers.js"]
html_css_files = ["site.css", "pages.css"]
html_js_files = ["answers.js", "site.js", "presenting.js", "place.js", "remember.js"]
html_math_renderer = "mathml"
html_copy_source = False
html_use_index = False
html_show_sourcelink = False
html_show_copyright = False
pygments_style = "github-light-high-contrast"
pygments_dark_style = "github-dark-high-contrast"


def render_image(self, data, render=NbElementRenderer.render_image):
    """A picture in an output, with the alternative text that was saved with it."""
    nodes = render(self, data)
    nodes[0]["alt"] = data.output_metadata.get(data.mime_type, {}).get("alt", "")
    nodes[0]["loading"] = "lazy"
    return nodes


NbElementRenderer.render_image = render_image


def visit_fold(translator, node):
    """A fold is named by its own words, "Show the output", and what is folded above an output is code."""
    what = "code" if "above-input" in node["classes"] else "output"
    what = "imports" if "tag_imports" in node.parent["classes"] else what
    translator.body.append(
        f'<details class="admonition hide {" ".join(node["classes"])}">\n<summary>\n'
        f'<p class="collapsed admonition-title">Show the {what}</p>\n'
        f'<p class="expanded admonition-title">Hide the {what}</p>\n</summary>\n'
    )


def open_here_alone(app, page, template, context, doctree):
    """The side bar lists exercises and modules on their own pages only: on all, that took a third of the build."""
    if toctree := context.get("toctree"):
        context["toctree"] = lambda **options: toctree(**options | {"collapse": True})


def keep_signs_with_formulas(app, page, template, context, doctree):
    """A bracket before a formula and a full stop behind it stay on its line."""
    formula = r"(\(?<math xmlns=\"[^\"]*\">(?:(?!</math>).)*</math>[.,;:!?)]+)"
    if "<math" in context.get("body", ""):
        context["body"] = re.sub(formula, r'<span class="whole">\1</span>', context["body"], flags=re.DOTALL)


LONG_EXTRA = 5  # minutes


def fold_extras(app, document, page):
    """A long extra is folded below its first paragraph: who skips it does not scroll through it."""
    for section in list(document.findall(nodes.section)):
        told = next((part for part in section.children[1:2] if isinstance(part, nodes.paragraph)), None)
        minutes = told and re.match(r"Extra · (\d+) minutes", told.astext())
        if minutes and int(minutes[1]) >= LONG_EXTRA:
            begin = '<details class="extra"><summary>Open this extra</summary><section>'
            section.insert(2, nodes.raw("", begin, format="html"))
            section.append(nodes.raw("", "</section></details>", format="html"))


LOOKED_UP = ("exercises/index", "try", "wrong_lines", "notebooks/glossary", "reference/index", "teaching", "evidence")


def stand_alone(app, page, template, context, doctree):
    """Nobody reads the glossary after the last exercise: what is looked up has no page before it and none after."""
    if page in LOOKED_UP:
        context["prev"] = context["next"] = None


def only_used(styles, used):
    """The rules of a flat style sheet, without those for classes that are used nowhere; of :is(…), one is enough."""

    def are_known(selector):
        return set(re.findall(r"\.([a-zA-Z][\w-]*)", selector)) <= used

    def is_used(selector):
        here = re.sub(r":not\([^)]*\)|\[[^]]*\]", "", selector)
        return are_known(
            re.sub(r":is\(([^()]*)\)", lambda one: next(filter(are_known, one[1].split(",")), one[1]), here)
        )

    def kept(rule):
        selectors = list(filter(is_used, [rule[1]] if "(" in rule[1] else rule[1].split(",")))
        return f"{','.join(selectors)}{{{rule[2]}}}" if selectors else ""

    styles = re.sub(r"/\*.*?\*/", "", styles, flags=re.DOTALL)
    return re.sub(r"([^{}]+)\{([^{}]*)\}", kept, styles)


def shorten_the_start_pages_styles(app, error):
    """The theme's styles and those of coloured code: the start page loads only what it, or a script, can use."""
    page = Path(app.outdir, "index.html")
    text = page.read_text(encoding="utf-8")
    scripts = [path.read_text(encoding="utf-8") for path in Path(app.outdir, "_static").rglob("*.js")]
    used = set(re.findall(r"[\w-]+", "\n".join([text, *scripts])))
    for name in ("styles/furo.css", "pygments.css", "site.css"):
        styles = Path(app.outdir, "_static", name)
        short = styles.with_name(f"start-{styles.name}")
        short.write_text(only_used(styles.read_text(encoding="utf-8"), used), encoding="utf-8")
        text = text.replace(f"_static/{name}", f"_static/{name.replace(styles.name, short.name)}")
    frame, section, rest = text.partition("<section ")  # the rest has code, whose indentation counts
    page.write_text(re.sub(r"^[ \t]+|^\n", "", frame, flags=re.MULTILINE) + section + rest, encoding="utf-8")


UNUSED = (
    "answers.js",
    "place.js",
    "presenting.js",
    "pages.css",
    "mystnb",
    "furo-extensions",
    "doctools",
    "sphinx_highlight",
    "documentation_options",
)


def lighten_the_start_page(app, page, template, context, doctree):
    """The start page has no cells, questions or search words to mark: it needs neither their styles nor scripts."""
    if page == "index":
        for kind in ("css_files", "script_files"):
            files = context.get(kind, [])
            context[kind] = [file for file in files if not any(name in str(file.filename) for name in UNUSED)]


def squeeze(app, error):
    """Own styles and scripts, and those that colour code, travel without remarks and indentation."""
    static = Path(app.outdir, "_static")
    for name in ("pygments.css", "site.css", "pages.css"):
        text = re.sub(r"/\*.*?\*/", "", (static / name).read_text(encoding="utf-8"), flags=re.DOTALL)
        text = re.sub(r"\s*([{};])\s*", r"\1", text)
        (static / name).write_text(re.sub(r"([\w-]+): |, ", lambda mark: mark[0].strip(), text), encoding="utf-8")
    for name in ("site.js", "presenting.js", "place.js", "remember.js", "recording.js", "start.js", "wrong_lines.js"):
        text = (static / name).read_text(encoding="utf-8")
        (static / name).write_text(re.sub(r"^\s+|^\s*//.*\n|  // .*$", "", text, flags=re.MULTILINE), encoding="utf-8")


def setup(app):
    app.connect("doctree-resolved", fold_extras)
    app.connect("html-page-context", lighten_the_start_page, priority=950)  # after all that add files
    app.connect("html-page-context", open_here_alone, priority=400)  # before Furo
    app.connect("html-page-context", keep_signs_with_formulas)
    app.connect("build-finished", squeeze, priority=900)  # after Furo has written its colours
    app.connect("build-finished", shorten_the_start_pages_styles, priority=950)
    app.connect("html-page-context", stand_alone, priority=400)  # before Furo
    app.add_node(HideCodeCellNode, override=True, html=(visit_fold, depart_HideCellInput))
    setup_formulas(app)
