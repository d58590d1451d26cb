"""Mixed norms over groups of kernels: choose sources, families or widths as a whole."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .._component import Array
from ._powers import HUGE, TINY, Index, conjugate_order, divide, group_norms, nonnegative, power
from .base import Atoms, Curvature, Regularizer, available_when
from .lp_norm import LpNorm, check_form


@dataclass(repr=False)
class GroupNorm(Regularizer):
    r"""Select or balance whole groups of kernels, such as all kernels of one data source.

    Parameters
    ----------
    groups : "source" or sequence of labels, one per kernel
        Kernels with equal labels form a group; by default those of one data source, which
        estimators know.
    within : float, default=inf
        Order of the norm inside a group, from 1 (sparse) to infinity (equal weights).
    across : float, default=1.0
        Order of the norm over groups, finite and at least 1; 1 selects few groups.
    form : {"tikhonov", "ivanov"}, default="tikhonov"
        Whether the mixed norm is added to the objective or bounded by one.

    Notes
    -----
    With p = ``within``, s = ``across``, :math:`x_m = \|f_m\|^2`, :math:`A_g = \|x_g\|_{p/(1+p)}`,

    .. math:: h(d) = \tfrac1s \sum_g \|d_g\|_p^s, \quad
              d_m = \delta_g \frac{x_m^{1/(1+p)}}{(\sum_{k \in g} x_k^{p/(1+p)})^{1/p}}, \quad
              \Omega(G) = \tfrac1{s^*} \sum_g \|G_g\|_{p^*}^{s^*},

    where :math:`\delta` are the weights of ``LpNorm(p=across, form=form)`` at A; that regularizer
    at A, :math:`\|d_g\|_p` and :math:`\|G_g\|_{p^*}` gives g, h and :math:`\Omega` in both forms.
    With ``within=inf`` it is ``LpNorm(p=across)`` on the kernels summed by group.

    Examples
    --------
    >>> import numpy as np
    >>> reg = GroupNorm(groups=["scan", "scan", "genes"])
    >>> reg.optimal_weights(np.array([9.0, 16.0, 0.0]))
    array([5., 5., 0.])
    """

    groups: str | Sequence[Hashable] = "source"
    within: float = np.inf
    across: float = 1.0
    form: str = "tikhonov"

    examples: ClassVar = (
        {"groups": [0, 0, 1, 1, 1, 2]},
        {"groups": list("abcabc"), "across": 2.0, "form": "ivanov"},
        {"groups": [0, 0, 1, 1, 1, 2], "within": 1.0, "across": 2.0},
        {"groups": [0, 0, 1, 1, 1, 2], "within": 3.0, "across": 1.0},
        {"groups": [0, 1, 1, 1, 0, 2], "within": 2.0, "across": 1.5},
        {"groups": [0, 1, 1, 1, 0, 2], "within": 1.5, "across": 3.0, "form": "ivanov"},
    )

    @property
    def selects_kernels(self) -> bool:
        """Whether kernels drop out one by one, or with their group."""
        return self.within == 1

    def check(self) -> None:
        """Raise ValueError where the parameters are out of range."""
        check_form(self.form, "GroupNorm")
        if not self.within >= 1:
            raise ValueError(f"GroupNorm: within must be at least 1, got {self.within}.")
        if not 1 <= self.across < np.inf:
            raise ValueError(f"GroupNorm: across must be finite and at least 1, got {self.across}.")

    def for_training(self, problem: Any, sources: Sequence[str]) -> Regularizer:
        """The regularizer whose groups are the sources of the kernels, if that was asked for."""
        return replace(self, groups=list(sources)) if self._by_source else self

    @property
    def _by_source(self) -> bool:
        return isinstance(self.groups, str) and self.groups == "source"

    def check_n_kernels(self, n_kernels: int) -> None:
        """Raise ValueError where the parameters do not fit this many kernels."""
        if self._by_source:
            raise ValueError(
                "GroupNorm: groups='source' is for estimators, which know where kernels come "
                "from; pass one label per kernel."
            )
        if len(self.groups) != n_kernels:
            raise ValueError(
                f"GroupNorm: groups must hold one label per kernel; it has {len(self.groups)} "
                f"labels for {n_kernels} kernels."
            )

    @property
    def _index(self) -> Index:
        """The number of the group of each kernel, in order of first appearance."""
        number = {label: g for g, label in enumerate(dict.fromkeys(self.groups))}
        return np.array([number[label] for label in self.groups], dtype=np.intp)

    @property
    def _n_groups(self) -> int:
        return len(set(self.groups))

    @property
    def _outer(self) -> LpNorm:
        """The regularizer over groups."""
        return LpNorm(p=self.across, form=self.form)

    @property
    def _degree(self) -> float:
        """The degree of homogeneity of the penalty."""
        return self.across

    @property
    def _penalty_scale(self) -> float:
        """The penalty where the norm is one."""
        return 1 / self.across

    @property
    def _smooth_dual(self) -> bool:
        return self.within > 1 and self.across > 1

    def _norms(self, v: Array, order: float) -> Array:
        return group_norms(nonnegative(v), self._index, self._n_groups, order)

    def _gauge(self, d: Array) -> float:
        """The norm whose power is the penalty and whose unit ball is the constraint."""
        return self._outer._gauge(self._norms(d, self.within))

    @available_when(lambda self: self.form == "ivanov")
    def norm(self, d: Array) -> float:
        """The mixed norm of the weights, which the constraint keeps at most 1."""
        return self._gauge(d)

    def value(self, d: Array) -> float:
        """The penalty h(d); inf outside its domain."""
        return np.inf if np.any(d < 0) else self._outer.value(self._norms(d, self.within))

    def _group_sq_norms(self, sq_norms: Array) -> Array:
        p = self.within
        return self._norms(sq_norms, 1.0 if np.isinf(p) else p / (1 + p))  # A_g

    def optimal_weights(self, sq_norms: Array) -> Array:
        """The weights that attain g at the given squared norms."""
        share = nonnegative(sq_norms) ** (1 / (1 + self.within))  # x^(1/(1+p))
        share = divide(share, self._norms(share, self.within)[self._index])
        delta = self._outer.optimal_weights(self._group_sq_norms(sq_norms))
        return np.asarray(delta[self._index] * share)

    def block_norm(self, sq_norms: Array) -> float:
        """The block norm g(x)."""
        return self._outer.block_norm(self._group_sq_norms(sq_norms))

    def _dual_norms(self, G: Array) -> Array:
        return self._norms(G, conjugate_order(self.within))  # ‖G_g‖_p*

    def dual_value(self, G: Array) -> float:
        """The dual term Ω(G); inf where it is."""
        return self._outer.dual_value(self._dual_norms(G))

    def dual_scale(self, G: Array) -> float:
        """The largest c in (0, 1] for which Ω(c² G) is finite."""
        return self._outer.dual_scale(self._dual_norms(G))

    def zero_scale(self, G: Array) -> float:
        """The largest c for which Ω(c² G) = 0."""
        return self._outer.zero_scale(self._dual_norms(G))

    def initial_weights(self, n_kernels: int) -> Array:
        """Positive feasible weights to start from."""
        sizes = np.bincount(self._index)
        delta = self._outer.initial_weights(self._n_groups) * sizes ** (-1 / self.within)
        return np.asarray(delta[self._index])

    def atoms(self, n_kernels: int) -> Atoms | None:
        """An exact reduction to a simpler regularizer, or None."""
        if not np.isinf(self.within):
            return None
        return Atoms(np.eye(self._n_groups)[:, self._index], self._outer)

    @available_when(lambda self: np.isfinite(self.within))
    def gradient(self, d: Array) -> Array:
        r"""The gradient of :math:`\tfrac1s \sum_g \|d_g\|_p^s`."""
        N = self._norms(d, self.within)[self._index]
        scale = np.minimum(power(N, self.across - 1), HUGE)
        return np.asarray(scale * power(divide(nonnegative(d), N), self.within - 1))  # N^(s-1) v

    def subgradient(self, d: Array, G: Array) -> Array:
        """The gradient; for a group that is off, what its norm and G have in common."""
        slope = self.gradient(d)
        if self.across > 1:
            return slope
        off = (self._norms(d, self.within) == 0)[self._index]
        excess = np.maximum(self._dual_norms(G), 1.0)[self._index]  # of the ball of subgradients
        return np.where(off, G / excess, slope)

    @available_when(lambda self: np.isfinite(self.within))
    def hessian(self, d: Array) -> Array:
        r"""The Hessian of :math:`\tfrac1s \sum_g \|d_g\|_p^s`, kept finite at zero."""
        p, s, index = self.within, self.across, self._index
        N = np.maximum(self._norms(d, p), TINY)[index]
        ratio = np.maximum(d / N, TINY)
        bend = np.minimum(power(N, s - 2), HUGE)
        v = power(ratio, p - 1)  # ∂N_g/∂d_m
        same = index[:, None] == index
        H = np.where(same, (s - p) * bend * np.outer(v, v), 0.0)  # (s-p) N^(s-2) v vᵀ
        H[np.diag_indices_from(H)] += (p - 1) * bend * power(ratio, p - 2) if p > 1 else 0.0
        return H

    def _dual_shares(self, G: Array) -> tuple[Array, Array]:
        """The norms of the groups of G and their gradients, (G_m/N_g)^(1/(p-1))."""
        N = self._dual_norms(G)
        a = 1 / (self.within - 1)
        return N, power(divide(nonnegative(G), N[self._index]), a)

    @available_when(lambda self: self._smooth_dual)
    def dual_weights(self, G: Array) -> Array:
        r"""The weights that attain :math:`\Omega(G)`, which are its gradient."""
        N, w = self._dual_shares(G)
        return np.asarray(self._outer.dual_weights(N)[self._index] * w)

    @available_when(lambda self: self._smooth_dual)
    def dual_curvature(self, G: Array) -> Curvature:
        """The Jacobian of ``dual_weights``, of rank one per group beside its diagonal."""
        N, w = self._dual_shares(G)
        index, a = self._index, 1 / (self.within - 1)
        delta, outer = self._outer.dual_weights(N), self._outer.dual_curvature(N)
        D = a * np.minimum(divide(delta[index] * w, nonnegative(G)), HUGE)  # δ_g ∂w_m/∂G_m
        W = w[:, None] * np.eye(self._n_groups)[index]
        s = outer.D - a * np.minimum(divide(delta, N), HUGE)
        return Curvature(D, np.hstack([W, W @ outer.U]), np.concatenate([s, outer.s]))
