"""Rademacher complexity of weights kept in a ball: its value by sampling, and upper bounds."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from .._component import Array
from ..banks import Bank
from ..regularizers import Regularizer
from ..regularizers._powers import conjugate_order, nonnegative, p_norm
from ._spectrum import definite_spectrum

_ETA = 23 / 22  # constant of the moments of quadratic forms in signs
_MAX_ENUMERATED = 16  # samples, for 2^15 vectors of signs
_BATCH_ENTRIES = 1 << 22  # numbers in the products of a batch of signs with all kernels


class RademacherEstimate(NamedTuple):
    """A Rademacher complexity with the standard error of its estimate, 0 where it is exact."""

    value: float
    standard_error: float
    n_draws: int


def rademacher_complexity(
    bank: Bank,
    regularizer: Regularizer,
    *,
    n_draws: int | Literal["all"] = 1000,
    random_state: int | np.random.RandomState | None = None,
) -> RademacherEstimate:
    r"""Estimate how well the functions that a bound on the weights allows can fit pure noise.

    Parameters
    ----------
    bank : Bank
        The kernels on the samples.
    regularizer : Regularizer
        One that bounds a norm of the weights, such as ``LpNorm(p=2, form="ivanov")``.
    n_draws : int or "all", default=1000
        Random vectors of signs, at least 2; "all" enumerates them and is exact, for up to 16
        samples.
    random_state : int, RandomState or None, default=None
        Seed of the signs.

    Returns
    -------
    estimate : RademacherEstimate
        ``value``, ``standard_error`` and ``n_draws``.

    Notes
    -----
    The empirical Rademacher complexity of all functions of norm at most one in the space of a
    combined kernel :math:`\sum_m d_m K_m`, with weights :math:`d \ge 0` within the bound, is

    .. math:: \hat R = \frac1n \mathbb E_\sigma \sqrt{\Omega(G(\sigma))}, \qquad
              G_m(\sigma) = \sigma^\top K_m \sigma, \quad \sigma \in \{-1, 1\}^n \text{ uniform},

    with the dual term :math:`\Omega` of the regularizer. The mean over random signs is unbiased.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import LpNorm, PackedBank
    >>> bank = PackedBank.from_grams([np.eye(4), np.ones((4, 4))])
    >>> estimate = rademacher_complexity(bank, LpNorm(p=1, form="ivanov"), n_draws="all")
    >>> round(estimate.value, 6), estimate.standard_error
    (0.5625, 0.0)
    """
    _check_bounded(regularizer, bank, "rademacher_complexity")
    signs = _sign_vectors(bank.n_samples, n_draws, random_state)
    roots = np.sqrt([regularizer.dual_value(G) for G in _quadratic_forms(bank, signs)])
    roots /= bank.n_samples  # √Ω(G(σ)) / n
    error = 0.0 if n_draws == "all" else float(np.std(roots, ddof=1) / np.sqrt(len(roots)))
    return RademacherEstimate(float(np.mean(roots)), error, len(roots))


def rademacher_bound(bank: Bank, regularizer: Regularizer) -> float:
    r"""Bound the Rademacher complexity from above without sampling.

    Parameters
    ----------
    bank : Bank
        The kernels on the samples.
    regularizer : Regularizer
        One that bounds a p-norm of the weights (it has ``p``), see :func:`lp_bound`, or a Q-norm
        (it has ``Q``), see :func:`q_bound`.

    Returns
    -------
    bound : float
        Never below the value that :func:`rademacher_complexity` estimates.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import LpNorm, PackedBank
    >>> bank = PackedBank.from_grams([np.eye(4), np.ones((4, 4))])
    >>> round(rademacher_bound(bank, LpNorm(p=2, form="ivanov")), 4)
    0.8598
    """
    _check_bounded(regularizer, bank, "rademacher_bound")
    if hasattr(regularizer, "Q"):
        return q_bound(regularizer.Q, second_moments(bank), bank.n_samples)
    if hasattr(regularizer, "p"):
        traces = bank.traces(np.eye(bank.n_samples))
        return lp_bound(traces, regularizer.p, bank.n_samples)
    raise TypeError(
        f"rademacher_bound knows p-norms and Q-norms of the weights, not {regularizer!r}; estimate "
        "its complexity with rademacher_complexity."
    )


def lp_bound(traces: Any, p: float, n_samples: int) -> float:
    r"""Bound the Rademacher complexity of weights with :math:`\|d\|_p \le 1` by traces alone.

    Parameters
    ----------
    traces : array-like of shape (n_kernels,)
        Traces of the kernels.
    p : float
        Order of the norm, at least 1.
    n_samples : int
        Number of samples, n.

    Notes
    -----
    With :math:`1/p + 1/p^* = 1`, integer :math:`p^*` and :math:`u_m = \operatorname{tr} K_m`,

    .. math:: \hat R \le \frac1n \sqrt{\eta_0\, p^* \|u\|_{p^*}}, \qquad \eta_0 = \tfrac{23}{22}.

    The norm stands inside the root; outside, as in [H12]_, Eq. (5), the bound fails for kernels of
    small trace. For any other :math:`p^*`, infinity included, every integer order :math:`r \le p^*`
    gives a valid bound, since :math:`\|G\|_{p^*} \le \|G\|_r`: the smallest of them is returned.

    Examples
    --------
    >>> round(lp_bound([4.0, 4.0], p=2, n_samples=4), 4)
    0.8598
    """
    u = nonnegative(traces)
    if not p >= 1:
        raise ValueError(f"lp_bound: p must be at least 1, got {p}.")
    bounds = [r * p_norm(u, r) for r in _orders(conjugate_order(p), len(u))]  # r ‖u‖_r
    return float(np.sqrt(_ETA * min(bounds))) / n_samples


def q_bound(Q: Any, S: Any, n_samples: int) -> float:
    r"""Bound the Rademacher complexity of weights with :math:`d^\top Q d \le 1`.

    Parameters
    ----------
    Q : array-like of shape (n_kernels, n_kernels)
        Positive definite penalty matrix.
    S : array-like of shape (n_kernels, n_kernels)
        Second moments of the quadratic forms, see :func:`second_moments`.
    n_samples : int
        Number of samples, n.

    Notes
    -----
    By Jensen's inequality, and leaving out :math:`d \ge 0`,

    .. math:: \hat R \le \frac1n \big(\mathbb E\, G^\top Q^{-1} G\big)^{1/4}
              = \frac1n \big[\operatorname{tr}(Q^{-1} S)\big]^{1/4}.

    Examples
    --------
    >>> import numpy as np
    >>> round(q_bound(np.eye(2), [[16.0, 16.0], [16.0, 40.0]], n_samples=4), 4)
    0.6839
    """
    eigenvalues, V = definite_spectrum(Q, "q_bound")
    S = np.asarray(S, dtype=np.float64)
    if S.shape != (len(V), len(V)):
        raise ValueError(f"S must have the shape of Q, {(len(V), len(V))}, got {S.shape}.")
    trace = np.sum(np.sum(V * (S @ V), axis=0) / eigenvalues)  # tr(Q⁻¹S) = Σ_i v_iᵀS v_i / λ_i
    return float(trace**0.25) / n_samples


def second_moments(bank: Bank) -> Array:
    r"""The means of :math:`G_k G_l` over random signs, exactly; takes about 2 M bank passes.

    Parameters
    ----------
    bank : Bank
        The kernels on the samples.

    Returns
    -------
    S : array of shape (n_kernels, n_kernels)

    Notes
    -----
    With :math:`G_m = \sigma^\top K_m \sigma` and :math:`u_m = \operatorname{tr} K_m`,

    .. math:: S_{kl} = \mathbb E[G_k G_l] = u_k u_l
              + 2 \big(\langle K_k, K_l \rangle_F - \textstyle\sum_i K_{k,ii} K_{l,ii}\big).

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import PackedBank
    >>> second_moments(PackedBank.from_grams([np.eye(4), np.ones((4, 4))]))
    array([[16., 16.],
           [16., 40.]])
    """
    M, n = bank.n_kernels, bank.n_samples
    products, diagonals = np.empty((M, M)), np.empty((M, n))
    for m, unit in enumerate(np.eye(M)):
        K = bank.combine(unit)
        products[m], diagonals[m] = bank.traces(K), np.diagonal(K)  # ⟨K_m, K_l⟩_F for all l
    u = diagonals.sum(axis=1)
    S: Array = np.outer(u, u) + 2 * (products - diagonals @ diagonals.T)
    return (S + S.T) / 2


def _check_bounded(regularizer: Regularizer, bank: Bank, owner: str) -> None:
    if not hasattr(regularizer, "norm"):
        raise TypeError(
            f"{owner} needs a bound on the weights (regularizer.norm), which {regularizer!r} "
            "lacks; use a regularizer with form='ivanov', such as LpNorm(p=2, form='ivanov')."
        )
    regularizer.check()
    regularizer.check_n_kernels(bank.n_kernels)


def _sign_vectors(n: int, n_draws: int | Literal["all"], random_state: Any) -> Array:
    """Rows of signs: random ones, or all of them up to a change of all signs at once."""
    if n_draws != "all":
        if n_draws < 2:
            raise ValueError(f"n_draws must be at least 2 or 'all', got {n_draws}.")
        bits = check_random_state(random_state).randint(2, size=(n_draws, n))
        return np.asarray(2.0 * bits - 1.0)
    if n > _MAX_ENUMERATED:
        raise ValueError(
            f"n_draws='all' enumerates the signs of at most {_MAX_ENUMERATED} samples, got {n}; "
            "pass a number of draws."
        )
    numbers = np.arange(2 ** (n - 1))[:, np.newaxis]  # G(σ) = G(-σ), so the last sign stays +1
    return 1.0 - 2.0 * (numbers >> np.arange(n) & 1)


def _quadratic_forms(bank: Bank, signs: Array) -> Array:
    """The forms σᵀK_mσ of every row of signs, shape (n_draws, M), one bank pass per batch."""
    size = max(1, _BATCH_ENTRIES // (bank.n_kernels * bank.n_samples))
    batches = [signs[start : start + size].T for start in range(0, len(signs), size)]
    forms = [np.einsum("nt,mnt->tm", batch, bank.apply(batch)) for batch in batches]
    return np.asarray(np.maximum(np.concatenate(forms), 0.0))


def _orders(order: float, n_kernels: int) -> list[int]:
    """The orders r of valid bounds: p* itself if it is an integer, else all worth trying below."""
    if np.isfinite(order) and np.isclose(order, round(order), rtol=1e-12, atol=0.0):
        return [round(order)]
    enough = int(np.ceil(np.log(n_kernels))) + 1  # r ‖u‖_r increases from r = log M on
    return list(range(1, int(min(order, enough)) + 1))
