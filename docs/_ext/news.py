"""The directive ``news``: the fragments of ``changes/`` as lists, one for each kind of change."""

from pathlib import Path

from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

CHANGES = Path(__file__).parents[2] / "changes"
KINDS = {
    "feature": "New",
    "api": "Changed",
    "fix": "Mended",
    "perf": "Faster",
    "doc": "Documentation",
}


def news_lines():
    """Markdown: a heading per kind, a point per fragment."""
    for kind, title in KINDS.items():
        fragments = sorted(CHANGES.glob(f"*.{kind}.md"))
        if fragments:
            yield from (f"**{title}**", "")
            yield from ("- " + " ".join(f.read_text("utf-8").split()) for f in fragments)
            yield ""


class News(SphinxDirective):
    """What has changed since the last release."""

    def run(self):
        """Parse the fragments where the directive stands."""
        for fragment in CHANGES.glob("*.md"):
            self.env.note_dependency(str(fragment))
        self.content = StringList(list(news_lines()), source="changes")
        return self.parse_content_to_nodes()


def setup(app):
    """Register the directive."""
    app.add_directive("news", News)
    return {"parallel_read_safe": True}
