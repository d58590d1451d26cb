"""Links that write themselves: names in code, keys of references, names in docstrings."""

import re

from api_pages import all_names
from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

NAMES = all_names()
_NAME = re.compile(r"(?:mk\.|multikernel\.)?(?:[a-z]+\.)?([A-Za-z_]\w+)(?:\(.*\))?", re.DOTALL)
_KEY = re.compile(r"\[([A-Z]+\d\d)\]")
_TYPE = re.compile(r"^(\s*[\w, ]+ : )(.*)$")
_FIXED = (nodes.literal, nodes.literal_block, nodes.reference, addnodes.pending_xref)


class CodeLinks(SphinxTransform):
    """Turn a literal such as ``LpNorm(p=1)`` into a link to the page of its class."""

    default_priority = 5

    def apply(self, **kwargs):
        """Wrap every literal that is a public name."""
        for literal in list(self.document.findall(nodes.literal)):
            match = _NAME.fullmatch(literal.astext())
            if not match or match[1] not in NAMES or isinstance(literal.parent, _FIXED):
                continue
            target = {"refdomain": "py", "reftype": "obj", "reftarget": NAMES[match[1]]}
            link = addnodes.pending_xref("", refexplicit=True, **target)
            literal.replace_self(link)
            link += literal


class KeyLinks(SphinxTransform):
    """Turn ``[TS10]`` in the text of a page into a citation."""

    default_priority = 5

    def apply(self, **kwargs):
        """Split every text that holds keys."""
        for text in list(self.document.findall(nodes.Text)):
            pieces = _KEY.split(text.astext())
            if len(pieces) > 1 and not isinstance(text.parent, (*_FIXED, nodes.citation_reference)):
                new = [self._cite(p) if i % 2 else nodes.Text(p) for i, p in enumerate(pieces)]
                text.parent.replace(text, new)

    def _cite(self, key):
        citation = nodes.citation_reference(f"[{key}]_", key, refname=key)
        self.document.note_citation_ref(citation)
        return citation


def find_public(app, env, node, contnode):
    """Resolve a name by its last part, where a docstring gives it without its package."""
    full = NAMES.get(node.get("reftarget", "").rpartition(".")[2])
    if node.get("refdomain") != "py" or full is None or full == node["reftarget"]:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(
        env, node["refdoc"], app.builder, "obj", full, addnodes.pending_xref(), contnode
    )


def plain_types(app, what, name, obj, options, lines):
    """Escape what is no markup: ``weights_`` in types, ``__...``, ``*y`` in shapes."""
    for i, line in enumerate(lines):
        if found := _TYPE.match(line):
            lines[i] = found[1] + re.sub(r"(?<=\w)(_+)(?=\W|$)", r"\\\1", found[2])
        lines[i] = re.sub(r"__(?=\.\.\.)", r"\\_\\_", lines[i])
        lines[i] = re.sub(r"(?<=, )\*(?=\w)", r"\\*", lines[i])


def setup(app):
    """Register transforms and handlers."""
    app.add_transform(CodeLinks)
    app.add_transform(KeyLinks)
    app.connect("missing-reference", find_public)
    app.connect("autodoc-process-docstring", plain_types, priority=400)
    return {"parallel_read_safe": True}
