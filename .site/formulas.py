"""Turns formulas into MathML while the site is built, so that pages need no script to show them.

Docutils translates them; what it does not know stops the build, which treats warnings as errors.
"""

import re

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

THIN = '<mspace width="0.17em"></mspace>'
APPLY = "<mo>&ApplyFunction;</mo>"  # stands after the name of a function
BAR = '<mo stretchy="false">|</mo>'


def mathml(text, block):
    """TeX as MathML, spaced as in TeX: thin spaces beside the name of a function, none inside bars.

    For docutils, the 12 of ½ (frac12) is one number, the numerator, unless each has braces of its own.
    """
    found = tex2mathml(re.sub(r"(\\[td]?frac) *(\w)(\w)", r"\1{\2}{\3}", text), as_block=block)
    found = re.sub(rf"(</m[a-np-z]\w*>|\|</mo>)(\s*)(?=<mi>\w+</mi>\s*{APPLY})", rf"\1{THIN}\2", found)
    found = re.sub(rf"{APPLY}(?=\s*<m[a-np-z])", APPLY + THIN, found)
    return found.replace(BAR, '<mo stretchy="false" lspace="0" rspace="0">|</mo>')


def visit(translator, node, block):
    try:
        formula = mathml(node.astext(), block)
    except MathError as error:
        logging.getLogger(__name__).warning("formula %r: %s", node.astext(), error, location=node)
        formula = ""
    translator.body.append(f'<div class="formula">{formula}</div>' if block else formula)
    raise SkipNode


def setup_formulas(app):
    app.add_html_math_renderer(
        "mathml",
        (lambda translator, node: visit(translator, node, False), None),
        (lambda translator, node: visit(translator, node, True), None),
    )
