"""The pages of the documentation run and print what they say; so do the examples."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import python_blocks

import multikernel

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
WITH_CODE = [page for page in PAGES if python_blocks(page.read_text(encoding="utf-8"))]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
TITLES = {path.stem: path.read_text(encoding="utf-8").splitlines()[1] for path in EXAMPLES}
KEYS = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text("utf-8"), re.M))
CITATION = re.compile(r"\[([A-Z]+\d\d)\]")
RUN_PAGE = """
import sys, warnings
from pathlib import Path
from helpers import python_blocks, run_blocks
import multikernel.displays
warnings.simplefilter("error")
page = Path(sys.argv[1])
print(run_blocks(python_blocks(page.read_text(encoding="utf-8")), page.name), end="")
"""


def run_python(*arguments):
    """Run Python in a process of its own, which finds the package and these tests."""
    package, tests = Path(multikernel.__file__).parents[1], Path(__file__).parent
    paths = os.pathsep.join([str(package), str(tests), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": paths, "MPLBACKEND": "Agg"}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, env=env, capture_output=True, encoding="utf-8", timeout=120)


def test_there_are_pages_with_code_and_examples():
    assert {"models.md", "tikhonov-ivanov.md", "extend.md"} <= {page.name for page in WITH_CODE}
    assert len(EXAMPLES) >= 15


def extension(name):
    """A module of the documentation's own extensions, which are no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/_ext/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
def test_the_snippets_run_and_print_what_is_written(page):
    """In a process of its own, because a page may define parts that are nowhere registered."""
    done = run_python("-c", RUN_PAGE, page)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def test_a_wrong_output_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n```\n", encoding="utf-8")
    assert "Expected" in run_python("-c", RUN_PAGE, page).stdout


def source_of(target):
    """What a page of the gallery is made from; any other target is itself."""
    made = re.fullmatch(r"auto_examples/(\w+)\.rst", target)
    if made is None:
        return target
    return "../examples/README.rst" if made[1] == "index" else f"../examples/{made[1]}.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / source_of(target)).exists(), target


def test_every_citation_has_its_reference():
    sources = [*PAGES, *Path(multikernel.__file__).parent.rglob("*.py")]
    cited = {key for path in sources for key in CITATION.findall(path.read_text("utf-8"))}
    assert "TS10" in cited
    assert cited <= KEYS


@pytest.mark.parametrize("name", sorted(multikernel.regularizers.REGULARIZERS))
def test_every_regularizer_is_on_the_page_of_models(name):
    text = (ROOT / "docs/models.md").read_text(encoding="utf-8")
    assert multikernel.regularizers.REGULARIZERS[name].__name__ in text


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_the_examples_run_without_a_screen(example):
    done = run_python("-W", "error", example)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("stem", TITLES)
def test_the_title_of_an_example_is_a_question(stem):
    assert TITLES[stem].endswith("?")


def test_no_question_is_asked_twice():
    assert len(set(TITLES.values())) == len(TITLES)


def test_the_gallery_has_an_order():
    assert set(extension("order_of_examples").ORDER) == set(TITLES)


def test_the_reference_has_every_package():
    folders = Path(multikernel.__file__).parent.glob("*/__init__.py")
    packages = {folder.parent.name for folder in folders} - {"cli"}
    assert packages <= set(extension("api_pages").PACKAGES)


def test_the_reference_has_every_name_at_the_top():
    names = extension("api_pages").all_names()
    assert {
        name for name in multikernel.__all__ if names.get(name) != f"multikernel.{name}"
    } == set()


def test_estimators_link_to_their_page_in_the_reference():
    """Pages of names at the top are called by the bare name, see docs/_ext/api_pages.py."""
    names = extension("api_pages").all_names()
    classes = [getattr(multikernel, name) for name in multikernel.__all__]
    estimators = [c for c in classes if hasattr(c, "predict")]
    for cls in [*estimators, multikernel.SourcePreparation]:
        assert cls()._get_doc_link().endswith(f"/api/{cls.__name__}.html")
        assert names[cls.__name__] == f"multikernel.{cls.__name__}"
