"""The Q-norm: any quadratic form of the weights, so that kernels may repel or tie each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import linprog

from .._component import Array
from .._linalg import nonnegative_minimiser
from .._validation import check_definite, check_square, check_symmetric, has_cholesky
from ._powers import FEASIBLE, divide, nonnegative
from ._ratio_step import conic_ratio_minimiser, ratio_minimiser
from .base import Regularizer, available_when
from .lp_norm import check_form

_METHODS = ("newton", "socp")
_KKT = 1e-12  # relative error forgiven in the optimality of dual weights
_FLAT = 1e-10  # eigenvalues below this, relative to the largest, give no penalty


@dataclass(repr=False, eq=False)
class QNorm(Regularizer):
    r"""Let kernels interact: bound or penalise any quadratic form of the weights.

    Positive entries of Q off the diagonal discourage two kernels from being used together,
    negative ones tie them. A matrix of ones is the 1-norm, the identity the 2-norm.

    Parameters
    ----------
    Q : array of shape (n_kernels, n_kernels) or Interaction
        Symmetric and positive semi-definite, or a rule that builds such a matrix from the training
        data, such as ``DualCovariance()``; estimators apply the rule inside ``fit``.
    form : {"ivanov", "tikhonov"}, default="ivanov"
        Whether :math:`d^\top Q d` is bounded by one or added to the objective.
    method : {"newton", "socp"}, default="newton"
        How weights follow from norms; "socp" asks a conic solver, slowly, for reference.

    Notes
    -----
    With :math:`x_m = \|f_m\|^2` and :math:`Q = R R^\top`, the penalised and the bounded form are

    .. math:: h(d) = d^\top Q d, \qquad \Omega(G) = \tfrac14 \omega(G)^2 \qquad\text{and}\qquad
              h(d) = \iota(d^\top Q d \le 1), \qquad \Omega(G) = \omega(G),

    .. math:: \omega(G) = \max_{d \ge 0,\, d^\top Q d \le 1} d^\top G = \min_{Ru \ge G} \|u\| .

    The optimal weights minimise :math:`\sum_m x_m/d_m + d^\top Q d` ([H12]_, Problem (8)), scaled
    to the unit sphere in the bounded form. The objective has ½ h(d): what [H12]_, Eq. (3), adds as
    :math:`\beta^\top Q \beta` is ``QNorm(2 * Q, form="tikhonov")``. The closed form
    :math:`\omega(G) = \sqrt{G^\top Q^{-1} G}` printed there holds only where
    :math:`Q^{-1} G \ge 0`.

    Q may be singular as long as no weights :math:`d \ge 0` but zero have :math:`Q d = 0`. A graph
    Laplacian alone gives equal weights no penalty: add a ridge or a block term.

    Examples
    --------
    >>> import numpy as np
    >>> rivals = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> QNorm(rivals).optimal_weights(np.array([4.0, 1.0, 4.0])).round(3)
    array([0.538, 0.273, 0.61 ])
    """

    Q: Any
    form: str = "ivanov"
    method: str = "newton"

    examples: ClassVar = (
        {"Q": np.ones((6, 6))},
        {"Q": np.eye(6), "form": "tikhonov"},
        {"Q": np.kron(np.eye(3), [[2.0, -1.0], [-1.0, 1.5]]) + 0.2},
        {"Q": np.kron([[1.0, 0.6], [0.6, 1.0]], np.eye(3) + 0.3), "form": "tikhonov"},
    )

    def check(self) -> None:
        """Raise ValueError where the parameters are out of range."""
        check_form(self.form, "QNorm")
        if self.method not in _METHODS:
            raise ValueError(f"QNorm: method must be one of {_METHODS}, got {self.method!r}.")
        if self._is_rule:
            return
        if hasattr(self.Q, "toarray") or np.ndim(self.Q) != 2:
            raise TypeError(
                f"QNorm: Q must be an array of shape (n_kernels, n_kernels) or a rule such as "
                f"DualCovariance(), got {self.Q!r}; make a sparse matrix dense with Q.toarray()."
            )
        Q = self._matrix
        check_square(Q, "Q")
        check_symmetric(Q, "Q")
        check_definite(Q, "Q")
        if (d := free_direction(Q)) is not None:
            raise ValueError(
                f"QNorm: Q gives no penalty to weights on the kernels {_some(np.flatnonzero(d))} "
                "together (Q d = 0), so that the problem has no minimum; add a ridge, "
                "Q + 0.01 * np.eye(len(Q)), or a block term such as SourceBlocks()."
            )

    @property
    def _is_rule(self) -> bool:
        return hasattr(self.Q, "matrix") and not isinstance(self.Q, type)

    def for_training(self, problem: Any, sources: Sequence[str]) -> Regularizer:
        """The regularizer with the matrix that its rule, if it has one, builds from a problem."""
        return replace(self, Q=self.Q.matrix(problem, sources)) if self._is_rule else self

    def check_n_kernels(self, n_kernels: int) -> None:
        """Raise ValueError where the parameters do not fit this many kernels."""
        if self._is_rule:
            raise ValueError(
                f"QNorm: Q={self.Q!r} is a rule for estimators, which apply it to their training "
                "data; here pass its matrix(problem, sources)."
            )
        if len(self._matrix) != n_kernels:
            raise ValueError(
                f"QNorm: Q must have one row per kernel; it has {len(self._matrix)} rows for "
                f"{n_kernels} kernels."
            )

    @property
    def _matrix(self) -> Array:
        return np.asarray(self.Q, dtype=np.float64)

    @property
    def _bounded(self) -> bool:
        return self.form == "ivanov"

    @property
    def _degree(self) -> float:
        """The degree of homogeneity of the penalty."""
        return 2.0

    @property
    def _penalty_scale(self) -> float:
        """The penalty where the norm is one."""
        return 1.0

    @property
    def sparse(self) -> bool:
        """Whether the best weight of a kernel can be exactly zero: not where all attract."""
        Q = self._matrix
        return bool(np.any(Q[~np.eye(len(Q), dtype=bool)] > 0))

    def _gauge(self, d: Array) -> float:
        """The norm whose square is the penalty and whose unit ball is the constraint."""
        scale = float(np.max(np.abs(d)))
        unit = divide(d, scale)
        return scale * float(np.sqrt(max(float(unit @ self._matrix @ unit), 0.0)))

    @available_when(lambda self: self._bounded)
    def norm(self, d: Array) -> float:
        """The norm of the weights, which the constraint keeps at most 1."""
        return self._gauge(nonnegative(d))

    def value(self, d: Array) -> float:
        """The penalty h(d); inf outside its domain."""
        if np.any(d < 0):
            return np.inf
        size = self._gauge(d)
        if self._bounded:
            return 0.0 if size <= 1 + FEASIBLE else np.inf
        return size**2 if size < 1e150 else np.inf

    def optimal_weights(self, sq_norms: Array) -> Array:
        """The weights that attain g at the given squared norms."""
        x = nonnegative(sq_norms)
        minimiser = conic_ratio_minimiser if self.method == "socp" else ratio_minimiser
        d = minimiser(x, self._matrix)
        return divide(d, self._gauge(d)) if self._bounded else d

    def block_norm(self, sq_norms: Array) -> float:
        """The block norm g(x)."""
        x = nonnegative(sq_norms)
        d = self.optimal_weights(x)
        ratios = float(np.sum(divide(x, d)))
        return 0.5 * ratios if self._bounded else 0.5 * (ratios + self.value(d))

    def _dual_norm(self, G: Array) -> tuple[float, Array]:
        r"""The norm :math:`\omega(G)`, never understated, and the weights on the sphere."""
        largest = float(np.max(G))
        if largest == 0:
            return 0.0, np.zeros(len(G))
        G, Q = G / largest, self._matrix
        size = float(np.max(np.diag(Q)))
        d = nonnegative_minimiser(Q / size, G, G > 0) / size  # max dᵀG − ½ dᵀQd
        image = Q @ d
        short = image + _KKT < G  # where the weights are optimal, Qd ≥ G
        excess = float(np.max(G[short] / np.maximum(image[short], _KKT), initial=1.0))
        size = self._gauge(d)
        return largest * excess * size, d / size

    def dual_value(self, G: Array) -> float:
        """The dual term Ω(G)."""
        return self.dual_ray(G)(1.0)

    def dual_ray(self, G: Array) -> Callable[[float], float]:
        """The function c ↦ Ω(c² G), a power of c."""
        omega = self._dual_norm(nonnegative(G))[0]
        if self._bounded:
            return lambda c: c**2 * omega
        return lambda c: min((c**2 * omega / 2) ** 2, np.inf) if omega < 1e150 else np.inf

    def dual_scale(self, G: Array) -> float:
        """The largest c in (0, 1] for which Ω(c² G) is finite."""
        if self._bounded:
            return 1.0
        omega = self._dual_norm(nonnegative(G))[0]
        return min(1.0, float(np.sqrt(1e149 / omega))) if omega > 0 else 1.0

    def gradient(self, d: Array) -> Array:
        r"""The gradient of :math:`d^\top Q d`, or of half of it in the bounded form."""
        return np.asarray(self._bend * (self._matrix @ nonnegative(d)))

    def hessian(self, d: Array) -> Array:
        r"""The Hessian of :math:`d^\top Q d`, or of half of it in the bounded form."""
        return self._bend * self._matrix

    @property
    def _bend(self) -> float:
        return 1.0 if self._bounded else 2.0


def free_direction(Q: Array) -> Array | None:
    r"""Weights :math:`d \ge 0` of sum one with :math:`Q d = 0`, or None where there are none.

    Notes
    -----
    There are none where Q is positive definite, or where :math:`Q \mathbf 1 > 0`; otherwise a
    linear program looks for them in the null space of Q.
    """
    size = float(np.max(np.diag(Q)))
    if np.min(Q.sum(axis=1)) > _FLAT * size or has_cholesky(Q, -_FLAT * size):
        return None
    eigenvalues, vectors = eigh(Q)
    N = vectors[:, eigenvalues <= _FLAT * max(eigenvalues[-1], 0.0)]
    if not N.size:
        return None
    sums = N.sum(axis=0)
    found = linprog(
        -sums,
        A_ub=np.vstack([-N, sums]),
        b_ub=np.append(np.zeros(len(Q)), 1.0),
        bounds=(None, None),
    )
    d = N @ found.x
    return np.where(d > 1e-6, d, 0.0) if -found.fun > 0.5 else None


def _some(kernels: Any) -> str:
    """The first few of a list of numbers, in words."""
    shown = ", ".join(str(m) for m in kernels[:5])
    return shown if len(kernels) <= 5 else f"{shown}, … ({len(kernels)} in all)"
