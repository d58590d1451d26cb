"""Write the list of references from ``references.bib``, as citations that docstrings can name."""

import re
from pathlib import Path

_ENTRY = re.compile(r"^@\w+\{(\w+),\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^  (\w+)\s*= \{(.*?)\},$", re.MULTILINE | re.DOTALL)
_ACCENTS = {'{\\"o}': "ö", "{\\'e}": "é", "$\\ell_p$": "ℓp", "--": "–"}


def _plain(value):
    for tex, letter in _ACCENTS.items():
        value = value.replace(tex, letter)
    return " ".join(value.replace("{", "").replace("}", "").split())


def _entry(key, body):
    fields = {name: _plain(value) for name, value in _FIELD.findall(body)}
    authors = [" ".join(reversed(a.split(", "))) for a in fields["author"].split(" and ")]
    names = " and ".join(filter(None, [", ".join(authors[:-1]), authors[-1]]))
    where = next(fields[f] for f in ("journal", "booktitle", "howpublished") if f in fields)
    if "eprint" in fields:
        where += f", arXiv:{fields['eprint']}"
    details = ", ".join(fields[f] for f in ("volume", "pages") if f in fields)
    place = f"{where} {details}".strip()
    note = f" {fields['note']}." if "note" in fields else ""
    return f".. [{key}] {names}: *{fields['title']}*. {place}, {fields['year']}.{note}"


def write_references(app, config):
    """Write the page before sources are looked for."""
    bib = (Path(app.srcdir) / "references.bib").read_text("utf-8")
    entries = sorted(_ENTRY.findall(bib))
    text = "\n".join(["References", "==========", "", *(_entry(*entry) for entry in entries), ""])
    page = Path(app.srcdir) / "references.rst"
    if not page.exists() or page.read_text("utf-8") != text:
        page.write_text(text, "utf-8")


def setup(app):
    """Register the page."""
    app.connect("config-inited", write_references)
    return {"parallel_read_safe": True}
