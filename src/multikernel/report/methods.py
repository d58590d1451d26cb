"""Methods and reproducibility: a paragraph for a paper, settings, files and hashes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ._frames import pairs
from .page import Section

if TYPE_CHECKING:
    from ..comparison import Comparison


def methods_section(
    comparison: Comparison,
    settings: Mapping[str, str] | None,
    files: Mapping[str, str] | None,
) -> Section:
    """What was done, in words that a paper can use, and what it takes to do it again."""
    parts = []
    if settings:
        parts.append(
            Section("", table=pairs(settings, "setting", "value"), caption="What was asked for.")
        )
    if files:
        parts.append(
            Section("", table=pairs(files, "file", "SHA-256"), caption="Files that were read.")
        )
    fingerprint = f"Fingerprint of the data: {comparison.plan.get('data', 'not known')}."
    return Section("Methods", (_paragraph(comparison), fingerprint), parts=tuple(parts))


def _paragraph(comparison: Comparison) -> str:
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
