"""The table of all objectives of probabilistic kernel learning at one choice of weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._component import Array
from ..likelihoods import Likelihood
from .base import BayesProblem
from .start import first_state
from .taxonomy_evidence import phi_mlm
from .taxonomy_laplace import phi_laplace
from .taxonomy_objectives import (
    Objective,
    phi_gau,
    phi_map,
    phi_map_gau,
    phi_mkl,
    phi_rr,
    phi_vb,
)
from .weight_step import violation

__all__ = [
    "Objective",
    "Row",
    "Taxonomy",
    "phi_gau",
    "phi_laplace",
    "phi_map",
    "phi_map_gau",
    "phi_mkl",
    "phi_mlm",
    "phi_rr",
    "phi_vb",
    "taxonomy",
]

_JITTER = 1e-6  # by default, relative to the mean diagonal of the combined kernel


class Row(NamedTuple):
    """One objective: its value, what it says of the evidence, and how stationary it is."""

    objective: str
    value: float
    bound: str  # of minus twice the log evidence: "exact", "upper" or "no"
    stationarity: float
    note: str
    gradient: Array


@dataclass(frozen=True, repr=False)
class Taxonomy:
    """All objectives at one choice of weights, as a table.

    Attributes
    ----------
    rows : tuple of Row
        One for each objective, with value, bound, stationarity, note and gradient.
    weights : array of shape (n_kernels,)
        Where they were evaluated.
    likelihood : Likelihood
    """

    rows: tuple[Row, ...]
    weights: Array
    likelihood: Likelihood

    def __getitem__(self, objective: str) -> Row:
        for row in self.rows:
            if row.objective == objective:
                return row
        known = ", ".join(row.objective for row in self.rows)
        raise KeyError(f"no objective {objective!r}; there are {known}")

    def frame(self) -> Any:
        """The table as a pandas DataFrame, indexed by objective."""
        import pandas as pd

        columns = ["objective", "value", "bound", "stationarity", "note"]
        return pd.DataFrame([row[:5] for row in self.rows], columns=columns).set_index("objective")

    def __str__(self) -> str:
        used, M = np.count_nonzero(self.weights), len(self.weights)
        title = f"Objectives (−2 ln scale) under {self.likelihood!r}, {used} of {M} kernels in use"
        head = f"{'objective':10}{'value':>14}  {'bound':6}{'stationarity':>13}  note"
        lines = [
            f"{r.objective:10}{r.value:>14.4f}  {r.bound:6}{r.stationarity:>13.1e}  {r.note}"
            for r in self.rows
        ]
        return "\n".join([title, head, *(line.rstrip() for line in lines)])

    __repr__ = __str__


def taxonomy(
    source: Any,
    d: Array | None = None,
    *,
    likelihood: Likelihood | None = None,
    lam: float | None = None,
    p: float = 1.0,
    jitter: float | None = None,
    random_state: int = 0,
) -> Taxonomy:
    r"""What every objective of probabilistic kernel learning says of the same weights.

    Parameters
    ----------
    source : fitted estimator or BayesProblem
        An estimator with ``problem_``, ``weights_`` and ``likelihood_``, or the problem itself.
    d : array of shape (n_kernels,), default=None
        Weights; by default those fitted, or equal shares.
    likelihood : Likelihood, default=None
        By default the one fitted, or that of the problem.
    lam : float, default=None
        Strength of the penalty of MKL; by default :math:`n / \sum_m d_m`, the mean of the slopes at
        which it touches joint MAP.
    p : float, default=1.0
        Power of that penalty.
    jitter : float, default=None
        Added to the diagonal for joint MAP; by default that of the estimator, or
        1e-6 of the mean diagonal.
    random_state : int, default=0
        Of the sampled evidence.

    Returns
    -------
    table : Taxonomy
        It prints as a table; ``frame()`` gives the numbers. Hyper-priors are left out.

    Notes
    -----
    The names are those of [NS11]_, Table 2: MLM is minus twice the log evidence, VB its variational
    upper bound, LA its Laplace approximation. MAP (joint mode of latent values and weights) and MKL
    bound neither. Stationarity is the largest :math:`|d_m g_m|` of weights above zero, and for the
    others what they would gain by all the variance, per target: 0 at a stationary point.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.banks import PackedBank
    >>> from multikernel.bayes import BayesProblem
    >>> from multikernel.bayes.taxonomy import taxonomy
    >>> from multikernel.likelihoods import Gaussian
    >>> bank = PackedBank.from_grams([np.eye(3), np.ones((3, 3))])
    >>> y = np.array([[1.0], [2.0], [1.5]])
    >>> table = taxonomy(BayesProblem(bank, y, Gaussian(0.5), fit_intercept=False), [0.5, 1.0])
    >>> table.frame()["bound"].to_dict()["VB"]
    'exact'
    >>> bool(np.isclose(table["MLM"].value - table["GAU"].value, 3 * np.log(2 * np.pi)))
    True
    """
    problem, weights, noise = _unpack(source, d, likelihood)
    if jitter is None:
        jitter = getattr(source, "jitter", None)
    if lam is None:
        lam, p = getattr(source, "strength", None), getattr(source, "p", p)
    K_mean = float(np.sum(weights * problem.kernel_scales))  # mean diagonal of K
    settings = _Settings(
        lam=float(problem.y.size / (p * np.sum(weights**p) or 1.0)) if lam is None else lam,
        p=p,
        jitter=_JITTER * (K_mean or 1.0) if jitter is None else jitter,
        random_state=random_state,
    )
    rows = tuple(_rows(problem, weights, noise, settings))
    return Taxonomy(rows, weights, noise)


class _Settings(NamedTuple):
    lam: float
    p: float
    jitter: float
    random_state: int


class _Entry(NamedTuple):
    """How to compute a row."""

    name: str
    compute: Callable[..., Objective]
    settings: dict[str, Any]
    bound: str
    note: str


def _unpack(
    source: Any, d: Array | None, likelihood: Likelihood | None
) -> tuple[BayesProblem, Array, Likelihood]:
    """The problem, the weights and the likelihood at which the table is made."""
    problem, fitted = _problem_of(source)
    problem.check()
    if likelihood is None:
        likelihood = problem.likelihood if fitted is None else fitted.likelihood_
    if d is None:
        d = first_state(problem).d if fitted is None else fitted.weights_
    weights = np.asarray(d, dtype=float)
    M = problem.bank.n_kernels
    if weights.shape != (M,) or not np.all((weights >= 0) & np.isfinite(weights)):
        raise ValueError(f"d must hold {M} finite weights >= 0, one for each kernel, got {d!r}.")
    return problem, weights, likelihood


def _problem_of(source: Any) -> tuple[BayesProblem, Any]:
    """The problem, and the estimator that was fitted to it or None."""
    if isinstance(source, BayesProblem):
        return source, None
    what = type(source).__name__
    if not hasattr(source, "fit"):
        raise TypeError(f"taxonomy needs a fitted estimator or a BayesProblem, got {what}.")
    check_is_fitted(source)
    problem = getattr(source, "problem_", None)
    if not isinstance(problem, BayesProblem):
        raise TypeError(
            f"taxonomy needs one BayesProblem in problem_, which this {what} lacks; pass a "
            "probabilistic estimator, just fitted, whose outputs share their weights, or one of "
            "its problems."
        )
    return problem, source


def _rows(
    problem: BayesProblem, d: Array, likelihood: Likelihood, settings: _Settings
) -> Iterator[Row]:
    for entry in _entries(problem, likelihood, settings):
        try:
            found = entry.compute(
                problem.bank,
                problem.y,
                likelihood,
                d,
                fit_intercept=problem.fit_intercept,
                **entry.settings,
            )
        except (TypeError, ValueError) as reason:  # an objective that these data do not have
            nothing = np.full(len(d), np.nan)
            yield Row(entry.name, np.nan, entry.bound, np.nan, _first_clause(reason), nothing)
            continue
        note = f"± {found.error:.1e}, {entry.note}" if found.error else entry.note
        left = _stationarity(problem, d, found.gradient)
        yield Row(entry.name, found.value, entry.bound, left, note, found.gradient)


def _entries(
    problem: BayesProblem, likelihood: Likelihood, settings: _Settings
) -> Iterator[_Entry]:
    gaussian = likelihood.is_gaussian
    penalty = {"lam": settings.lam, "p": settings.p}
    penalty_note = f"λ = {settings.lam:.3g}, p = {settings.p:g}"
    jitter = {"jitter": settings.jitter}
    jitter_note = f"jitter = {settings.jitter:.1e}"
    seed = {"random_state": settings.random_state}
    exact = "exact" if gaussian else "no"
    yield _Entry("MLM", phi_mlm, seed, "exact", "the evidence itself")
    bound = "exact" if gaussian else "upper"
    yield _Entry("VB", phi_vb, {}, bound, "variational bound")
    yield _Entry("LA", phi_laplace, {}, exact, "Laplace approximation")
    yield _Entry("MAP", phi_map, jitter, "no", f"joint mode, {jitter_note}")
    yield _Entry("MKL", phi_mkl, penalty, "no", f"penalised, {penalty_note}")
    if gaussian:
        yield _Entry("GAU", phi_gau, {}, "no", "MLM without its constant")
        yield _Entry("MAP/GAU", phi_map_gau, jitter, "no", "MAP without its constant")
        yield _Entry("RR", phi_rr, penalty, "no", "MKL without its constant")


def _first_clause(reason: Exception) -> str:
    return f"not available: {str(reason).split(';')[0]}"


def _stationarity(problem: BayesProblem, d: Array, gradient: Array) -> float:
    """The violation per target, where a kernel without weight may get all the variance."""
    variance = float(np.sum(d * problem.kernel_scales)) or 1.0
    return violation(d, gradient, variance / problem.kernel_scales) / problem.y.size
