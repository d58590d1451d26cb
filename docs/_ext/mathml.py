"""Formulas as MathML, which browsers draw themselves: no script, no font, no network."""

import re

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml, pick_math_environment
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
_PLAIN = {  # what docutils does not know, in words that it knows
    r"\\[bB]igg?[lrm]?(?![a-zA-Z])": "",  # MathML stretches delimiters by itself
    r"\\textstyle\b": "",
    r"\\dots\b": r"\\ldots",
    r"\\([td]?frac)\s*([a-z\d])": r"\\\1{\2}",  # \tfrac12 is \tfrac{1}{2}
    r"\\([td]?frac\{[a-z\d]\})\s*([a-z\d])": r"\\\1{\2}",
    r"\{\\rm (\w+)\}": r"\\mathrm{\1}",
}


def _mathml(node, block):
    source = node.astext().strip()
    for pattern, plain in _PLAIN.items():
        source = re.sub(pattern, plain, source)
    environment = pick_math_environment(source)
    if block and environment.startswith("align"):
        source = f"\\begin{{{environment}}}{source}\\end{{{environment}}}"
    try:
        tree = latex2mathml.tex2mathml(source, as_block=block)
    except MathError as error:
        LOGGER.warning("formula %r: %s", source, error, location=node)
        return nodes.literal(source, source).astext()
    return tree if isinstance(tree, str) else tree.toxml()


def visit_inline(self, node):
    """Write an inline formula."""
    self.body.append(f'<span class="math">{_mathml(node, block=False)}</span>')
    raise nodes.SkipNode


def visit_block(self, node):
    """Write a displayed formula, which scrolls where it is too wide."""
    self.body.append(f'<div class="math">{_mathml(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True}
