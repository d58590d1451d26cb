"""save_report: one HTML file with the verdict, the tables and the pictures, readable anywhere."""

from __future__ import annotations

import io
import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import numpy as np

from .._atomic import write_atomically
from ..displays import ConvergenceDisplay, WeightsDisplay
from ..displays._style import INK

MAX_TABLE_ROWS = 200

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class _Table:
    """Cells as text; ``numeric`` says which columns align right."""

    header: list[str]
    rows: list[list[str]]
    numeric: list[bool]
    n_left_out: int = 0


def save_report(
    path: str | os.PathLike[str],
    *,
    title: str,
    verdict: Sequence[str],
    data: Columns,
    comparison: Columns,
    kernel_table: Columns,
    gap: Sequence[float],
    passes: Sequence[float] | None = None,
    tol: float | None = None,
    versions: Mapping[str, str] | None = None,
) -> Path:
    """Write one self-contained HTML file that explains a fitted model.

    The file loads nothing from elsewhere and holds no script; every text given here is escaped. It
    is written beside its place and then moved, so a crash leaves the old report or the new one.

    Parameters
    ----------
    path : path-like
        Where to write; missing folders are made.
    title : str
        Heading.
    verdict : sequence of str
        The sentences to read first.
    data, comparison : mapping of columns or DataFrame
        The sources, and the models compared; shown as they are.
    kernel_table : mapping of columns or DataFrame
        As ``kernel_table_`` of a fitted estimator; the heaviest 200 kernels are listed.
    gap : sequence of float
        Relative duality gap after every iteration; the last one is the certificate.
    passes : sequence of float, default=None
        Bank passes used by then.
    tol : float, default=None
        The gap asked for.
    versions : mapping of str, default=None
        Names and versions of packages; those installed by default.

    Returns
    -------
    path : Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from multikernel.report import save_report
    >>> table = {"source": ["rna"], "family": ["linear"], "parameter": [None], "weight": [1.0]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save_report(
    ...         f"{folder}/report.html", title="One source", verdict=["Nothing to choose."],
    ...         data={"source": ["rna"]}, comparison={"model": ["alone"]}, kernel_table=table,
    ...         gap=[1e-2, 1e-6], tol=1e-4,
    ...     )
    ...     path.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    weights = WeightsDisplay.from_table(kernel_table)
    convergence = ConvergenceDisplay(gap, passes=passes, tol=tol)
    page = _template("report").render(
        title=title,
        verdict=list(verdict),
        data=_table(data),
        comparison=_table(comparison),
        kernels=_table(_heaviest(kernel_table), len(weights.weights)),
        shares=weights.shares(),
        weights_svg=_svg(weights.plot().figure_, "weights"),
        convergence_svg=_svg(convergence.plot().figure_, "convergence"),
        certificate=_certificate(float(gap[-1]), tol),
        versions=dict(versions or installed_versions()),
    )
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, page.encode("utf-8"))
    return path


def installed_versions() -> dict[str, str]:
    """Versions of Python and of the packages a result depends on."""
    names = ("multikernel", "numpy", "scipy", "scikit-learn")
    return {"python": platform.python_version()} | {name: _version(name) for name in names}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed as a package"


def _template(name: str) -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    folder = resources.files(__package__).joinpath("templates")
    environment = Environment(
        loader=FunctionLoader(lambda file: folder.joinpath(file).read_text("utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(f"{name}.html.j2")


def _certificate(gap: float, tol: float | None) -> str:
    bound = (
        f"The relative duality gap is {gap:.1e}: the objective is within this share of its minimum."
    )
    if tol is None:
        return bound
    return f"{bound} The tolerance asked for, {tol:g}, was {'' if gap <= tol else 'not '}reached."


def _heaviest(table: Columns) -> dict[str, list[Any]]:
    order = np.argsort(-np.asarray(table["weight"], dtype=float), kind="stable")[:MAX_TABLE_ROWS]
    return {name: [list(table[name])[m] for m in order] for name in table}


def _table(columns: Columns, n_rows: int | None = None) -> _Table:
    cells = [list(columns[name]) for name in columns]
    rows = [[cell_text(value) for value in row] for row in zip(*cells, strict=True)]
    numeric = [any(isinstance(v, (int, float, np.number)) for v in column) for column in cells]
    left_out = 0 if n_rows is None else n_rows - len(rows)
    return _Table([str(name) for name in columns], rows, numeric, left_out)


def cell_text(value: Any) -> str:
    """A value as tables show it."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "–"
    if isinstance(value, (float, np.floating)):
        return f"{value:.3g}"
    return str(value)


def _svg(figure: Any, prefix: str) -> Any:
    """A figure as inline SVG whose lines and letters take the colour of the page's text."""
    from markupsafe import Markup
    from matplotlib import pyplot as plt
    from matplotlib import rc_context

    buffer = io.StringIO()
    empty = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": prefix}):
        figure.savefig(buffer, format="svg", transparent=True, metadata=empty)
    plt.close(figure)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)  # labels repeated as comments
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)  # ids unique in the page
    return Markup(svg)  # safe: letters are drawn as paths, so no text of the user is left
