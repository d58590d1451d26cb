"""Imports point one way, stay light, and everything concrete is registered and tested."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import instances

import multikernel
from multikernel import (
    heuristics,
    interactions,
    kernels,
    likelihoods,
    losses,
    regularizers,
    solvers,
)
from multikernel._component import concrete_subclasses

SOURCE = Path(multikernel.__file__).parent

# A package may import from packages of a lower level only, but for some siblings.
LEVELS = {
    -1: ["_component"],
    0: [
        "_atomic",
        "_gram_stack",
        "_linalg",
        "_memory",
        "_threads",
        "_validation",
        "_versions",
        "_warnings",
    ],
    1: ["_store", "kernels", "banks", "losses", "likelihoods", "regularizers", "spatial", "images"],
    2: ["_running", "solvers", "datasets", "files", "theory"],
    3: ["interactions", "bayes"],
    4: ["heuristics"],
    5: ["estimators"],
    6: ["displays", "persistence"],
    7: ["comparison"],
    8: ["report"],
    9: ["reproductions"],
    10: ["cli"],
}
LEVEL = {name: level for level, names in LEVELS.items() for name in names}
SIBLINGS = {("likelihoods", "losses")}

HEAVY = [
    "matplotlib",
    "pandas",
    "polars",
    "jinja2",
    "typer",
    "rich",
    "dask",
    "skops",
    "cv2",
    "multikernel.cli",
]

REGISTRIES = {
    "losses": (losses.Loss, losses.LOSSES),
    "likelihoods": (likelihoods.Likelihood, likelihoods.LIKELIHOODS),
    "regularizers": (regularizers.Regularizer, regularizers.REGULARIZERS),
    "solvers": (solvers.Solver, solvers.SOLVERS),
    "interactions": (interactions.Interaction, interactions.INTERACTIONS),
    "heuristics": (heuristics.WeightRule, heuristics.WEIGHT_RULES),
    "kernels": (kernels.KernelFamily, kernels.KERNELS),
}


def parts_imported(path: Path) -> set[str]:
    """The top-level parts of multikernel that a file imports, at any depth of nesting."""
    package = ["multikernel", *path.relative_to(SOURCE).parent.parts]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, node.module] if node.module else base)
            # ``from . import losses`` names parts where the stem is the package itself
            modules = [f"{stem}.{a.name}" for a in node.names] if stem == "multikernel" else [stem]
        else:
            continue
        found |= {m.split(".")[1] for m in modules if m.startswith("multikernel.")}
    return found & set(LEVEL)


FILES = sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE or path.stem in LEVEL)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    part = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    assert part in LEVEL, f"give {part} a level in LEVELS"
    for other in parts_imported(path) - {part}:
        assert LEVEL[other] < LEVEL[part] or (part, other) in SIBLINGS, f"{part} imports {other}"


def test_the_import_reader_sees_every_spelling(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    file = tmp_path / "losses" / "x.py"
    file.parent.mkdir()
    file.write_text(
        "from ..solvers.base import Solver\nfrom .. import cli\nimport multikernel.report\n"
        "def late():\n    from multikernel.displays import WeightsDisplay\n"
        "from .base import Loss\nimport numpy\n"
    )
    assert parts_imported(file) == {"solvers", "cli", "report", "displays", "losses"}


BLOCKER = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in {heavy!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
import multikernel
print([name for name in {heavy!r} if name in sys.modules])
"""


def test_import_needs_and_loads_nothing_heavy():
    """scikit-learn loads pandas and rich where it finds them, so they are hidden from all."""
    code = BLOCKER.format(heavy=HEAVY)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stderr == ""
    assert run.stdout.strip() == "[]"


def top_level_imports(path: Path) -> set[str]:
    """Packages that a file imports as soon as it is imported itself, outside of functions."""
    found, todo = set(), [ast.parse(path.read_text(encoding="utf-8"))]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(str(node.module).partition(".")[0])
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            todo += ast.iter_child_nodes(node)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_heavy_packages_are_imported_inside_functions(path):
    assert not top_level_imports(path) & set(HEAVY)


def import_everything() -> None:
    for path in FILES:
        dotted = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        __import__(f"multikernel.{dotted}")


@pytest.mark.parametrize("kind", REGISTRIES)
def test_every_concrete_part_is_registered(kind):
    import_everything()
    base, registry = REGISTRIES[kind]
    ours = {c for c in concrete_subclasses(base) if c.__module__.startswith("multikernel.")}
    assert ours == set(registry.values())


@pytest.mark.parametrize("kind", REGISTRIES)
def test_every_registered_part_is_covered_by_the_contracts(kind):
    """The contracts run over ``instances``, so each part needs at least one example that works."""
    _, registry = REGISTRIES[kind]
    assert {type(part) for part in instances(registry)} == set(registry.values())


def test_public_names_exist_and_are_documented():
    for name in multikernel.__all__:
        thing = getattr(multikernel, name)
        assert not callable(thing) or thing.__doc__, name
