"""The README's snippets run and print what it says; its links and fragments of news are sound."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FRAGMENT = re.compile(r"[\w-]+\.(feature|fix|perf|api|doc)\.md")


def run_block(source: str, names: dict) -> str:
    """Run one block, prompts or not, in a shared namespace and return what went wrong."""
    if ">>> " not in source:
        exec(compile(source, "README.md", "exec"), names)
        return ""
    test = doctest.DocTestParser().get_doctest(source, names, "README.md", "README.md", 0)
    complaints: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=complaints.append, clear_globs=False)
    names.update(test.globs)
    return "".join(complaints)


def test_the_snippets_run_and_print_what_is_written():
    assert any(">>> " in block for block in BLOCKS)
    names: dict = {}
    for block in BLOCKS:
        assert run_block(block, names) == ""


def test_a_wrong_output_is_noticed():
    assert "Expected" in run_block(">>> 1 + 1\n3\n", {})


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_links_inside_the_repository_lead_somewhere(target):
    assert (ROOT / target).exists()


def test_news_fragments_are_named_and_one_sentence_long():
    for path in (ROOT / "changes").glob("*.md"):
        if path.name != "README.md":
            assert FRAGMENT.fullmatch(path.name)
            assert len(path.read_text(encoding="utf-8").strip().splitlines()) == 1
