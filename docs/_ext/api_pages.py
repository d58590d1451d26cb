"""Write the API reference from the public names of the packages, so that it lacks none."""

from importlib import import_module
from inspect import isclass, isroutine
from pathlib import Path

import multikernel

# The order of the objective: models, kernels, loss, penalty, minimum; then what surrounds it.
PACKAGES = {
    "estimators": "Estimators",
    "kernels": "Kernels",
    "banks": "Banks",
    "losses": "Losses",
    "regularizers": "Regularizers",
    "heuristics": "Weights by a rule",
    "interactions": "Interactions",
    "solvers": "Solvers",
    "likelihoods": "Likelihoods",
    "bayes": "Bayesian inference",
    "bayes.taxonomy": "Objectives side by side",
    "spatial": "Features in space",
    "comparison": "Comparison",
    "files": "Files",
    "displays": "Displays",
    "report": "Reports",
    "persistence": "Model files",
    "datasets": "Data sets",
    "images": "Images",
    "theory": "Theory",
    "reproductions": "Reproductions",
}
TOP = set(dir(multikernel))
HEAD = """API reference
=============

Every public name, by the term of the objective that it belongs to:

.. math:: C \\sum_i \\ell(y_i, f(x_i) + b) + \\tfrac12 \\sum_m \\|f_m\\|^2 / d_m + \\tfrac12 h(d),
          \\qquad f = \\sum_m f_m, \\quad d \\ge 0

The functions :math:`f_m` come from *kernels*, whose numbers sit in *banks*; :math:`\\ell` is a
*loss*, :math:`h` a *regularizer*; *solvers* find the minimum and *estimators* put all of it
together. Names without the name of a package are in ``multikernel`` itself:
``from multikernel import MKLClassifier``.
"""


def public_names(package):
    """The public names of a package that are classes or functions, and its registries."""
    module = import_module(f"multikernel.{package}")
    wanted = getattr(module, "__all__", None)
    if wanted is None:  # a module that is public by its names at the top
        wanted = [
            n for n in TOP if getattr(getattr(module, n, None), "__module__", "") == module.__name__
        ]
    values = {name: getattr(module, name) for name in wanted}
    parts = [name for name, value in values.items() if isclass(value) or isroutine(value)]
    tables = {name: value for name, value in values.items() if name not in parts}
    return sorted(parts, key=str.lower), tables


def full_name(package, name):
    """The shortest path by which a user imports a name."""
    inside = f"multikernel.{package}"
    same = name in TOP and getattr(multikernel, name) is getattr(import_module(inside), name)
    return f"multikernel.{name}" if same else f"{inside}.{name}"


def all_names():
    """Map every public name to its full name; names at the top go before others."""
    found = {}
    for package in PACKAGES:
        for name in public_names(package)[0]:
            full = full_name(package, name)
            if name not in found or full.count(".") < found[name].count("."):
                found[name] = full
    return found


def section(package, title):
    """One package: its docstring's first line, its names, the strings of its registry."""
    parts, tables = public_names(package)
    says = import_module(f"multikernel.{package}").__doc__.splitlines()[0]
    _, _, after = says.partition(": ")
    sentence = after[:1].upper() + after[1:] if after else says
    lines = [title, "-" * len(title), "", sentence, "", ".. currentmodule:: multikernel", ""]
    lines += [".. autosummary::", "   :toctree: .", "   :nosignatures:", ""]
    lines += [f"   {full_name(package, name).removeprefix('multikernel.')}" for name in parts]
    for name, table in tables.items():
        keys = ", ".join(f"``{key!r}``" for key in table)
        lines += ["", f".. py:data:: {package}.{name}", "", f"   Answers to {keys}."]
    return "\n".join(lines) + "\n"


def write_pages(app, config):
    """Write the page and tell autosummary that names at the top have pages of their bare name."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    text = "\n".join([HEAD, *(section(package, title) for package, title in PACKAGES.items())])
    page = folder / "index.rst"
    if not page.exists() or page.read_text("utf-8") != text:
        page.write_text(text, "utf-8")
    config.autosummary_filename_map = {
        full: name for name, full in all_names().items() if full == f"multikernel.{name}"
    }


def skip_foreign(app, what, name, obj, skip, options):
    """Leave out what scikit-learn gives to every estimator."""
    home = getattr(obj, "__module__", None) or ""
    return True if home.startswith(("sklearn", "numpy", "builtins")) else None


def setup(app):
    """Register the page and the filter."""
    app.connect("config-inited", write_pages, priority=100)
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True}
