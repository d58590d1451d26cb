"""Methods and reproducibility: a paragraph for a paper, settings, files and hashes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..comparison.whole import AS_GIVEN, DEFAULT
from ._frames import pairs
from .page import Section

if TYPE_CHECKING:
    from ..comparison import Comparison

_PREPARATIONS = {
    DEFAULT: "missing values replaced by the mean of the column, columns scaled to zero mean and "
    "unit variance",
    AS_GIVEN: "as given",
}
_TESTS = (
    "C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning 52, "
    "239–281. The corrected resampled t-test.",
    "G. Corani and A. Benavoli (2015). A Bayesian approach for comparing cross-validated "
    "algorithms on multiple data sets. Machine Learning 100, 285–304. Probabilities of "
    "practical equality.",
)
_CITED = {  # by what the names of models hold
    "elastic net": "R. Tomioka and T. Suzuki (2010). Sparsity-accuracy trade-off in MKL. "
    "arXiv:1001.2615. Multiple kernel learning with an elastic net.",
    "block 1-norm": "A. Rakotomamonjy, F. Bach, S. Canu and Y. Grandvalet (2008). SimpleMKL. "
    "Journal of Machine Learning Research 9, 2491–2521. The block 1-norm.",
    "MKL, lp": "M. Kloft, U. Brefeld, S. Sonnenburg and A. Zien (2011). lp-norm multiple kernel "
    "learning. Journal of Machine Learning Research 12, 953–997. The lp-norms.",
    "Q-norm": "C. Hinrichs, V. Singh, J. Peng and S. C. Johnson (2012). Q-MKL: matrix-induced "
    "regularization in multi-kernel learning with applications to neuroimaging. Advances in Neural "
    "Information Processing Systems 25. The Q-norm.",
    "probabilistic": "H. Nickisch and M. Seeger (2011). Multiple kernel learning: a unifying "
    "probabilistic viewpoint. arXiv:1103.0897. Weights by the evidence.",
    "Bayesian": "M. Gönen (2012). A Bayesian multiple kernel learning framework for single and "
    "multiple output regression. Proceedings of the 20th European Conference on Artificial "
    "Intelligence. A posterior of the weights.",
    "alignment": "C. Cortes, M. Mohri and A. Rostamizadeh (2012). Algorithms for learning kernels "
    "based on centered alignment. Journal of Machine Learning Research 13, 795–828. Alignment.",
    "margin": "F. Aiolli and M. Donini (2015). EasyMKL: a scalable multiple kernel learning "
    "algorithm. Neurocomputing 169, 215–224. Weights by margins.",
}


def methods_section(
    comparison: Comparison,
    settings: Mapping[str, str] | None,
    files: Mapping[str, str] | None,
) -> Section:
    """What was done, in words that a paper can use, and what it takes to do it again."""
    parts = [_preparation_table(comparison), _citations(comparison)]
    if settings:
        parts.append(
            Section("", table=pairs(settings, "setting", "value"), caption="What was asked for.")
        )
    if files:
        parts.append(
            Section("", table=pairs(files, "file", "SHA-256"), caption="Files that were read.")
        )
    fingerprint = f"Fingerprint of the data: {comparison.plan.get('data', 'not known')}."
    return Section(
        "Methods",
        (_paragraph(comparison), fingerprint),
        parts=tuple(part for part in parts if part is not None),
    )


def _paragraph(comparison: Comparison) -> str:
    """A paragraph for a paper, with the numbers filled in."""
    done = [r for r in comparison.results if r["role"] == "model"]
    sizes = [(r["n_train"], r["n_test"]) for r in done]
    n_train, n_test = np.round(np.mean(sizes, axis=0)).astype(int) if sizes else (0, 0)
    learned = f"Models were compared by nested cross-validation with {comparison.n_folds} outer "
    if (n_done := len({r["fold"] for r in done})) < comparison.n_folds:
        learned += f"folds, of which {n_done} were done, "
    else:
        learned += "folds "
    learned += f"of about {n_train} training and {n_test} test samples; "
    learned += f"{_learned(comparison)} learned inside the training part of each fold. "
    learned += f"The score is {comparison.scoring}. "
    tests = "Differences were judged by the corrected resampled t-test (Nadeau and Bengio, 2003) "
    tests += "and by the Bayesian correlated t-test (Corani and Benavoli, 2015), with differences "
    tests += f"up to {comparison.rope:g} taken for practically equal."
    p = comparison.permutation_p_value
    return learned + tests + ("" if p is None else f" The permutation p-value is {p:.3g}.")


def _learned(comparison: Comparison) -> str:
    """What was learned in the folds: of kernels given as matrices there are no columns."""
    if (comparison.whole or {}).get("prepared", {}) is None:
        return (
            "the sources are kernels, given as matrices without columns to prepare, whose scales, "
            "like all parameters, were"
        )
    return "missing values, scales of columns and all parameters were"


def _preparation_table(comparison: Comparison) -> Section | None:
    """How the columns of every source were prepared, where that is known."""
    prepared = (comparison.whole or {}).get("prepared")
    if not prepared:
        return None
    words = {source: _PREPARATIONS.get(text, text) for source, text in prepared.items()}
    caption = "What was done to every source, by the training samples of each fold alone."
    table = pairs(words, "source", "preparation")
    return Section("Preparation of sources", table=table, caption=caption, folded=True)


def _citations(comparison: Comparison) -> Section:
    """The works behind the tests, and behind the models that were compared."""
    found = [
        text for words, text in _CITED.items() if any(words in model for model in comparison.models)
    ]
    return Section("Works to cite", (*_TESTS, *found), folded=True)
