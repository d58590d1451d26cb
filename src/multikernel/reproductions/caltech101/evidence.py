"""Kernel weights that maximise the evidence of Gaussian noise, of many kernels quickly."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._component import Array
from ..._warnings import unsaid
from ...banks import Bank
from ...banks.base import Index
from ...bayes import BayesProblem, Evaluation, InformationNewton, State
from ...likelihoods import Gaussian

_UPDATES = 30  # of all kernels, before the few that are left are looked at alone
_KEPT = 100  # kernels at most that are looked at alone
_NOTHING = 1e-5  # share of the degrees of freedom below which a kernel is not
_ADMITTED = 50  # kernels at most that come back in one round
_EXCESS = 1e-2  # of q over t, relative: a kernel without weight that has more comes back
_ROUNDS = 10


def evaluate(bank: Bank, y: Array, noise_var: float, d: Array) -> Evaluation:
    """The evidence at some weights."""
    return Evaluation(_problem(bank, y, noise_var), _state(y, noise_var, d))


def updated_weights(bank: Bank, y: Array, noise_var: float) -> Array:
    r"""MacKay's update of the weights (Eq. (23) of the paper), a number of times from equal ones.

    Notes
    -----
    :math:`d_m \leftarrow d_m\, q_m / t_m` with :math:`q_m = \alpha^\top K_m \alpha` and
    :math:`t_m = \operatorname{tr}(P K_m)`.
    """
    d = np.full(bank.n_kernels, 1.0 / bank.n_kernels)
    for _ in range(_UPDATES):
        e = evaluate(bank, y, noise_var, d)
        q = bank.quadratic(e.alpha)
        d = d * np.divide(q, e.t, out=np.zeros_like(q), where=e.t > 0)  # d ← d q / t
    return d


def settled_weights(bank: Bank, y: Array, noise_var: float, d: Array, tol: float) -> Array:
    """Weights from which no kernel would move by much, found on the few that matter.

    Newton steps lead the kernels with weight to their fixed point; then those without weight that
    would raise the evidence come back, until there are none.
    """
    for k in range(_ROUNDS):
        e = evaluate(bank, y, noise_var, d)
        excess = np.where(d > 0, 0.0, bank.quadratic(e.alpha) - (1 + _EXCESS) * e.t)
        wanting = _largest(excess, _ADMITTED, 0.0)
        if k > 0 and not len(wanting):
            break
        chosen = np.union1d(_largest(d * e.t, _KEPT, _NOTHING * len(y)), wanting)
        found = _newton(bank.select(chosen), y, noise_var, d[chosen], tol) if len(chosen) else 0.0
        d = np.zeros_like(d)
        d[chosen] = found
    return d


def _newton(bank: Bank, y: Array, noise_var: float, d: Array, tol: float) -> Array:
    with unsaid(ConvergenceWarning):  # the next round goes on
        method = InformationNewton(tol=tol, max_iter=50)
        found = method.infer(_problem(bank, y, noise_var), _state(y, noise_var, d))
    return found.weights


def _largest(values: Array, n: int, least: float) -> Index:
    """The positions of the n largest values, of those above some least one."""
    first = np.argsort(-values)[:n]
    return first[values[first] > least]


def _problem(bank: Bank, y: Array, noise_var: float) -> BayesProblem:
    return BayesProblem(bank, y, Gaussian(noise_var), learn_likelihood=False)


def _state(y: Array, noise_var: float, d: Array) -> State:
    return State(d, Gaussian(noise_var), np.full(y.shape, noise_var))
