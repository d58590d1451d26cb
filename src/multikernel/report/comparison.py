"""save_comparison_report: one HTML file that says whether combining sources helps."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._atomic import write_atomically
from .report import MAX_TABLE_ROWS, Columns, _table, _template, installed_versions

if TYPE_CHECKING:
    from ..comparison import Comparison

_MOST_FOLDS = 10  # shown one by one
_MODEL_COLUMNS = {
    "model": "model",
    "score": "score",
    "sd": "sd",
    "folds": "folds",
    "kernels": "kernels in use",
    "seconds": "seconds per fit",
    "difference": "difference",
    "p_value": "p",
    "worse": "P(worse)",
    "same": "P(same)",
    "better": "P(better)",
}
_IMPORTANCE_COLUMNS = {
    "source": "source",
    "share": "share of the weight",
    "alone": "score alone",
    "drop": "cost of leaving it out",
    "p_value": "p",
}


def save_comparison_report(
    path: str | os.PathLike[str],
    comparison: Comparison,
    *,
    title: str = "Does combining sources help?",
    data: Columns | None = None,
    notes: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
) -> Path:
    """Write one self-contained HTML file about a comparison, finished or not.

    Like :func:`save_report`, it loads nothing from elsewhere, holds no script, escapes every text
    and is written as a whole or not at all.

    Parameters
    ----------
    path : path-like
        Where to write; missing folders are made.
    comparison : Comparison
    title : str
        Heading.
    data : mapping of columns or DataFrame, optional
        What is known about the sources; by default how many samples have each.
    notes : sequence of str
        Sentences about the data.
    settings : mapping of str, optional
        What was asked for.
    files : mapping of str, optional
        Hashes of the files by their names.

    Returns
    -------
    path : Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import multikernel as mk
    >>> from multikernel.report.comparison import save_comparison_report
    >>> rng = np.random.default_rng(0)
    >>> X = {"good": rng.normal(size=(60, 2)), "useless": rng.normal(size=(60, 2))}
    >>> y = np.where(X["good"][:, 0] > 0, "patient", "control")
    >>> result = mk.compare(X, y, models=["uniform sum"], cv=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = save_comparison_report(f"{folder}/report.html", result).read_text("utf-8")
    >>> "good alone" in page
    True
    """
    sources: Columns = {
        "source": comparison.sources,
        "samples": [comparison.samples[name] for name in comparison.sources],
    }
    kernels = _kernels(comparison)
    page = _template("comparison").render(
        title=title,
        verdict=comparison.verdict,
        data=_table(sources if data is None else data),
        overlap=_overlap(comparison),
        notes=list(notes),
        models=_table(_models(comparison)),
        warnings=comparison.warnings,
        failures=comparison.failures,
        headline=comparison.headline,
        shares=_table(_shares(comparison)),
        kernels=_table(
            {name: column[:MAX_TABLE_ROWS] for name, column in kernels.items()},
            len(kernels.get("kernel", [])),
        ),
        importance=_table(_renamed(comparison.importance(), _IMPORTANCE_COLUMNS)),
        methods=_methods(comparison),
        settings=_table(_pairs(settings, "setting", "value")),
        files=_table(_pairs(files, "file", "SHA-256")),
        fingerprint=comparison.plan.get("data", "not known"),
        versions=installed_versions() | dict(comparison.plan.get("versions", {})),
    )
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, page.encode("utf-8"))
    return path


def _models(comparison: Comparison) -> dict[str, list[Any]]:
    table = _renamed(comparison.frame(), _MODEL_COLUMNS)
    return {comparison.scoring if name == "score" else name: table[name] for name in table}


def _renamed(frame: Any, names: Mapping[str, str]) -> dict[str, list[Any]]:
    """Columns by the names that readers see; what is left of rounding is zero."""
    floats = frame.select_dtypes("float")
    exact = frame.assign(**{name: floats[name].round(12) + 0.0 for name in floats})  # no -0.0
    return {names[name]: list(exact[name]) for name in names if name in frame}


def _pairs(mapping: Mapping[str, str] | None, first: str, second: str) -> dict[str, list[Any]]:
    return {first: list(mapping or {}), second: list((mapping or {}).values())}


def _shares(comparison: Comparison) -> dict[str, list[Any]]:
    """Mean share and spread of every source, and its share in each of a few folds."""
    if comparison.headline not in comparison.models:
        return {"source": []}
    shares = comparison.shares()
    table = {
        "source": [str(name) for name in shares.index],
        "mean": list(shares.mean(axis=1)),
        "lowest": list(shares.min(axis=1)),
        "highest": list(shares.max(axis=1)),
    }
    if shares.shape[1] <= _MOST_FOLDS:
        table |= {str(fold): list(shares[fold]) for fold in shares}
    return table


def _kernels(comparison: Comparison) -> dict[str, list[Any]]:
    """Mean share, spread and frequency of every kernel, heaviest first."""
    if comparison.headline not in comparison.models:
        return {"kernel": []}
    table = comparison.stability().sort_values("mean", ascending=False, kind="stable")
    return {
        "kernel": [str(name) for name in table.index],
        "mean": list(table["mean"]),
        "sd": list(table["sd"]),
        "used": [f"{share:.0%} of folds" for share in table["selected"]],
    }


def _overlap(comparison: Comparison) -> str:
    counts = ", ".join(f"{name} {comparison.samples[name]}" for name in comparison.sources)
    return (
        f"Of {comparison.n_samples} samples with a target, {comparison.n_complete} have every "
        f"source; by source: {counts}."
    )


def _methods(comparison: Comparison) -> str:
    """A paragraph for a paper, with the numbers filled in."""
    done = [r for r in comparison.results if r["role"] == "model"]
    sizes = [(r["n_train"], r["n_test"]) for r in done]
    n_train, n_test = np.round(np.mean(sizes, axis=0)).astype(int) if sizes else (0, 0)
    learned = f"Models were compared by nested cross-validation with {comparison.n_folds} outer "
    learned += f"folds of about {n_train} training and {n_test} test samples; "
    learned += "missing values, scales of columns and all parameters were learned inside the "
    learned += f"training part of each fold. The score is {comparison.scoring}. "
    tests = "Differences were judged by the corrected resampled t-test (Nadeau and Bengio, 2003) "
    tests += "and by the Bayesian correlated t-test (Corani and Benavoli, 2015), with differences "
    tests += f"up to {comparison.rope:g} taken for practically equal."
    p = comparison.permutation_p_value
    return learned + tests + ("" if p is None else f" The permutation p-value is {p:.3g}.")
