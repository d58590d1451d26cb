"""save_report: one HTML file that says whether combining sources helps, and shows why."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from .._versions import installed_versions
from ..comparison import Comparison
from .certificates import certificate_section
from .data import data_section
from .features import features_section
from .importance import importance_section
from .methods import methods_section
from .models import models_section
from .page import Columns, save_sections
from .predictions import predictions_section
from .redundancy import redundancy_section
from .samples import samples_section
from .weights import weights_section


def save_report(
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

    It loads nothing from elsewhere, escapes every text, and is written as a whole or not at all.

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
    >>> from multikernel.report import save_report
    >>> rng = np.random.default_rng(0)
    >>> X = {"good": rng.normal(size=(60, 2)), "useless": rng.normal(size=(60, 2))}
    >>> y = np.where(X["good"][:, 0] > 0, "patient", "control")
    >>> result = mk.compare(X, y, models=["uniform sum"], cv=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = save_report(f"{folder}/report.html", result).read_text("utf-8")
    >>> "good alone" in page
    True
    """
    if not isinstance(comparison, Comparison):
        raise TypeError(
            "save_report needs the path first and then a comparison: save_report('report.html', "
            f"result); got {type(comparison).__name__} for the comparison."
        )
    sections = [
        data_section(comparison, data, notes),
        models_section(comparison),
        weights_section(comparison),
        redundancy_section(comparison),
        importance_section(comparison),
        predictions_section(comparison),
        samples_section(comparison),
        features_section(comparison),
        certificate_section(comparison),
        methods_section(comparison, settings, files),
    ]
    return save_sections(
        path,
        title=title,
        lead=comparison.verdict,
        sections=[section for section in sections if section is not None],
        versions=installed_versions() | dict(comparison.plan.get("versions", {})),
    )
