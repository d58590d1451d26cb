"""Multi-task coupling: how much of each kernel the tasks share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from .._component import Array
from ._powers import FEASIBLE, divide, nonnegative
from .base import Atoms, Curvature, Regularizer, available_when
from .lp_norm import LpNorm


class LearnedSharing(NamedTuple):
    """The block norm of the one-parameter form and the sharing that attains it."""

    block_norm: float
    sharing: float


def learned_sharing(
    sq_norms_tasks_sum: float, sq_norm_shared: float, n_tasks: int
) -> LearnedSharing:
    r"""Eliminate the sharing of the one-parameter form at given norms.

    Parameters
    ----------
    sq_norms_tasks_sum : float
        Sum of the squared norms of the task functions.
    sq_norm_shared : float
        Squared norm of the shared function.
    n_tasks : int
        Number of tasks, T.

    Returns
    -------
    LearnedSharing
        ``block_norm`` and ``sharing``, the weight of the shared kernel; the task kernels have
        weight T (1 - sharing).

    Notes
    -----
    With :math:`a = \sqrt{\tfrac1T \sum_{m \le T} x_m}` and :math:`b = \sqrt{x_{T+1}}` ([TS10]_,
    Corollary 5), :math:`g = \tfrac12 (a + b)^2` at sharing :math:`b / (a + b)`. This is the
    :math:`\ell_1` constraint on the *two* kernels :math:`T \sum_{m \le T} K_m` and :math:`K`. As
    :math:`K \preceq T\,\mathrm{blockdiag}(K)`, the fully separate tasks always win: **learned from
    data, the sharing is zero**, so it must be chosen by cross-validation or by the general form.

    Examples
    --------
    >>> learned_sharing(sq_norms_tasks_sum=8.0, sq_norm_shared=1.0, n_tasks=2)
    LearnedSharing(block_norm=4.5, sharing=0.3333333333333333)
    """
    a, b = np.sqrt(sq_norms_tasks_sum / n_tasks), np.sqrt(sq_norm_shared)
    return LearnedSharing(float((a + b) ** 2 / 2), float(divide(b, a + b)))


def _general(name: str) -> Callable[[Any], bool]:
    """Whether every kernel has its own weight and the regularizer over them has the method."""
    return lambda self: self.sharing is None and hasattr(self._over, name)


@dataclass(repr=False)
class TaskCoupling(Regularizer):
    r"""Couple the tasks of a multi-task problem through shared kernels.

    The kernels come in blocks, one per base kernel: its ``n_tasks`` task kernels, which are the
    base kernel within one task and zero elsewhere, and then the base kernel itself, shared by all.

    Parameters
    ----------
    n_tasks : int
        Number of tasks, T.
    sharing : float in [0, 1] or None, default=None
        None learns a weight for every kernel. A number fixes the weights inside each block: T (1 -
        sharing) for the task kernels, sharing for the shared one; 0 separates the tasks, 1 pools
        them.
    over : Regularizer or None, default=None
        Regularizer over all kernels (``sharing=None``) or over the base kernels;
        ``LpNorm(p=1, form="ivanov")`` by default.

    Notes
    -----
    The general form is ``over`` on all :math:`P (T + 1)` kernels. The one-parameter form is
    ``over`` on the P kernels :math:`T (1 - s) \sum_{m \le T} K_{pm} + s K_p`. The sharing s is a
    hyper-parameter: learned, it always degenerates to zero (see :func:`learned_sharing`).

    Examples
    --------
    >>> import numpy as np
    >>> TaskCoupling(n_tasks=2, sharing=0.25).optimal_weights(np.array([1.0, 2.0, 3.0]))
    array([1.5 , 1.5 , 0.25])
    """

    n_tasks: int
    sharing: float | None = None
    over: Regularizer | None = None

    examples: ClassVar = (
        {"n_tasks": 2},
        {"n_tasks": 5},
        {"n_tasks": 2, "sharing": 0.3},
        {"n_tasks": 2, "sharing": 0.7, "over": LpNorm(p=2.0)},
        {"n_tasks": 5, "sharing": 0.5},
    )

    def check(self) -> None:
        """Raise ValueError where the parameters are out of range."""
        if self.n_tasks < 1:
            raise ValueError(f"TaskCoupling: n_tasks must be at least 1, got {self.n_tasks}.")
        if self.sharing is not None and not 0 <= self.sharing <= 1:
            raise ValueError(
                f"TaskCoupling: sharing must be None or lie in [0, 1], got {self.sharing}."
            )
        self._over.check()

    def check_n_kernels(self, n_kernels: int) -> None:
        """Raise ValueError where the parameters do not fit this many kernels."""
        if n_kernels == 0 or n_kernels % (self.n_tasks + 1):
            raise ValueError(
                f"TaskCoupling: the number of kernels must be a multiple of n_tasks + 1 = "
                f"{self.n_tasks + 1} (the task kernels, then the shared one), got {n_kernels}."
            )
        fixed = self.sharing is not None
        self._over.check_n_kernels(n_kernels // (self.n_tasks + 1) if fixed else n_kernels)

    def for_training(self, problem: Any, sources: Sequence[str]) -> Regularizer:
        """The coupling whose regularizer is ready for the kernels that it sees."""
        if self.sharing is not None:
            mixed = problem.mixed(np.kron(np.eye(len(sources)), self._pattern))
            return replace(self, over=self._over.for_training(mixed, sources))
        labels = [source for source in sources for _ in range(self.n_tasks + 1)]
        return replace(self, over=self._over.for_training(problem, labels))

    @property
    def convex(self) -> bool:
        """Whether h is convex in the weights."""
        return self._over.convex

    @property
    def separable(self) -> bool:
        """Whether h and g are sums of one term per kernel."""
        return self.sharing is None and self._over.separable

    @property
    def upper_bound(self) -> float:
        """The supremum of a weight where h is finite."""
        return self._over.upper_bound if self.sharing is None else np.inf

    @property
    def active_threshold(self) -> float:
        """The value of √G_m below which a weight is zero at the optimum."""
        return self._over.active_threshold if self.sharing is None else 0.0

    @property
    def _over(self) -> Regularizer:
        return LpNorm(p=1.0, form="ivanov") if self.over is None else self.over

    @property
    def _pattern(self) -> Array:
        """The weights of one block per unit of its base kernel."""
        if self.sharing is None:
            return np.ones(1)
        return np.append(np.full(self.n_tasks, self.n_tasks * (1 - self.sharing)), self.sharing)

    def _spread(self, d: Array) -> Array:
        return np.outer(d, self._pattern).ravel()

    def _pool(self, G: Array) -> Array:
        pattern = self._pattern
        return np.asarray(np.reshape(G, (-1, len(pattern))) @ pattern)  # G̃_p = Σ_m T_pm G_m

    def _pool_sq_norms(self, sq_norms: Array) -> Array:
        pattern = self._pattern
        x = nonnegative(sq_norms).reshape(-1, len(pattern))
        return np.asarray(np.sum(divide(x, pattern), axis=1))  # x̃_p = Σ_m x_m / T_pm

    def value(self, d: Array) -> float:
        """The penalty h(d); inf outside its domain."""
        pattern = self._pattern
        blocks = np.reshape(d, (-1, len(pattern)))
        base = blocks @ pattern / (pattern @ pattern)  # d̃ with d = Tᵀd̃, if there is one
        if np.any(np.abs(blocks - np.outer(base, pattern)) > FEASIBLE * np.max(np.abs(d))):
            return np.inf
        return self._over.value(base)

    def optimal_weights(self, sq_norms: Array) -> Array:
        """The weights that attain g at the given squared norms."""
        return self._spread(self._over.optimal_weights(self._pool_sq_norms(sq_norms)))

    def block_norm(self, sq_norms: Array) -> float:
        """The block norm g(x)."""
        pattern = self._pattern
        excluded = np.reshape(sq_norms, (-1, len(pattern)))[:, pattern == 0]
        if np.any(excluded > 0):  # a function on a kernel of weight zero
            return np.inf
        return self._over.block_norm(self._pool_sq_norms(sq_norms))

    def dual_value(self, G: Array) -> float:
        """The dual term Ω(G); inf where it is."""
        return self._over.dual_value(self._pool(nonnegative(G)))

    def dual_scale(self, G: Array) -> float:
        """The largest c in (0, 1] for which Ω(c² G) is finite."""
        return self._over.dual_scale(self._pool(nonnegative(G)))

    def zero_scale(self, G: Array) -> float:
        """The largest c for which Ω(c² G) = 0."""
        return self._over.zero_scale(self._pool(nonnegative(G)))

    def initial_weights(self, n_kernels: int) -> Array:
        """Positive feasible weights to start from."""
        return self._spread(self._over.initial_weights(n_kernels // len(self._pattern)))

    def atoms(self, n_kernels: int) -> Atoms | None:
        """An exact reduction to a simpler regularizer, or None."""
        if self.sharing is None:
            return Atoms(np.eye(n_kernels), self._over)
        n_base = n_kernels // (self.n_tasks + 1)
        return Atoms(np.kron(np.eye(n_base), self._pattern), self._over)

    @available_when(_general("norm"))
    def norm(self, d: Array) -> float:
        """The norm of the weights, which the constraint keeps at most 1."""
        return cast(float, self._over.norm(d))

    @available_when(_general("gradient"))
    def gradient(self, d: Array) -> Array:
        """The gradient of the penalty over all kernels."""
        return cast(Array, self._over.gradient(d))

    @available_when(_general("hessian"))
    def hessian(self, d: Array) -> Array:
        """The Hessian of the penalty over all kernels."""
        return cast(Array, self._over.hessian(d))

    @available_when(_general("dual_weights"))
    def dual_weights(self, G: Array) -> Array:
        """The weights that attain the dual term."""
        return cast(Array, self._over.dual_weights(G))

    @available_when(_general("dual_curvature"))
    def dual_curvature(self, G: Array) -> Curvature:
        """The Jacobian of ``dual_weights``."""
        return cast(Curvature, self._over.dual_curvature(G))

    @available_when(_general("prox"))
    def prox(self, r: Array, step: Array | float) -> Array:
        """The proximal map of the block norm in the norms."""
        return cast(Array, self._over.prox(r, step))

    @available_when(_general("prox_derivative"))
    def prox_derivative(self, r: Array, step: Array | float) -> Array:
        """The elementwise derivative of ``prox`` in r."""
        return cast(Array, self._over.prox_derivative(r, step))
