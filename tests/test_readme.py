"""The README's snippets run and print what it says; its links and fragments of news are sound."""

import re
from pathlib import Path

import pytest
from helpers import python_blocks, run_blocks

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = python_blocks(README)
FRAGMENT = re.compile(r"[\w-]+\.(feature|fix|perf|api|doc)\.md")


def test_the_snippets_run_and_print_what_is_written():
    assert any(">>> " in block for block in BLOCKS)
    assert run_blocks(BLOCKS, "README.md") == ""


def test_a_wrong_output_is_noticed():
    assert "Expected" in run_blocks([">>> 1 + 1\n3\n"], "page")


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_links_inside_the_repository_lead_somewhere(target):
    assert (ROOT / target).exists()


def test_news_fragments_are_named_and_one_sentence_long():
    for path in (ROOT / "changes").glob("*.md"):
        if path.name != "README.md":
            assert FRAGMENT.fullmatch(path.name)
            assert len(path.read_text(encoding="utf-8").strip().splitlines()) == 1
